//! Bytes of a source in memory, padded so that a whole block can be read at any byte.

/// Number of readable bytes past the content, at least.
pub const PAD: usize = 256;

const BLOCK: usize = 64;

/// Bytes, a length, and the promise that [`PAD`] more bytes can be read.
///
/// The bytes past the content have no meaning (they may belong to earlier content).
#[derive(Clone, Copy, Debug)]
pub struct Padded<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl<'a> Padded<'a> {
    /// The first `len` bytes of `bytes`, or `None` if there are fewer than [`Padded::needed`]
    /// bytes.
    pub fn new(bytes: &'a [u8], len: usize) -> Option<Padded<'a>> {
        (bytes.len() >= Padded::needed(len)).then_some(Padded { bytes, len })
    }

    /// How long a slice must be to hold `len` bytes of content with their padding.
    pub const fn needed(len: usize) -> usize {
        len.next_multiple_of(BLOCK) + PAD
    }

    /// The `len` bytes of content from byte `start` on; the bytes after them are their padding.
    ///
    /// # Panics
    /// If the content ends before.
    #[inline]
    pub fn part(self, start: usize, len: usize) -> Padded<'a> {
        assert!(start <= self.len && len <= self.len - start);
        Padded { bytes: &self.bytes[start..], len }
    }

    /// Length of the content in bytes.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether the content is empty.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Where `part` begins in this content, if it is a part of it.
    ///
    /// ```
    /// use uriscan::PaddedBuf;
    /// let text = PaddedBuf::from_content(b"abcd");
    /// let text = text.padded();
    /// assert_eq!(text.offset_of(&text.content()[1..3]), Some(1));
    /// assert_eq!(text.offset_of(b"bc"), None);
    /// ```
    #[inline(always)]
    pub fn offset_of(self, part: &[u8]) -> Option<usize> {
        let start = part.as_ptr().addr().wrapping_sub(self.bytes.as_ptr().addr());
        (start <= self.len && part.len() <= self.len - start).then_some(start)
    }

    /// The content without its padding.
    #[inline(always)]
    pub fn content(self) -> &'a [u8] {
        &self.bytes[..self.len]
    }

    /// The content and its padding.
    #[inline(always)]
    pub fn padded(self) -> &'a [u8] {
        self.bytes
    }

    /// Appends the content to `out` in whole blocks, which is faster than byte by byte for short
    /// content.
    ///
    /// ```
    /// use uriscan::PaddedBuf;
    /// let mut out = b"a".to_vec();
    /// PaddedBuf::from_content(b"bc").padded().append_to(&mut out);
    /// assert_eq!(out, b"abc");
    /// ```
    #[inline(always)]
    pub fn append_to(self, out: &mut Vec<u8>) {
        let end = out.len() + self.len;
        out.reserve(self.len + BLOCK);
        for at in (0..self.len).step_by(BLOCK) {
            out.extend_from_slice(self.block(at));
        }
        // Drops the surplus of the last block.
        out.truncate(end);
    }

    /// The 64 bytes from `at` on, which may reach into the padding.
    ///
    /// # Panics
    /// If `at` is more than `PAD - 64` bytes past the content.
    #[inline(always)]
    pub fn block(self, at: usize) -> &'a [u8; BLOCK] {
        self.bytes[at..].first_chunk().expect("a block within the padding")
    }
}

/// A prefix of a slice; the bytes after it may be read, but have no meaning.
///
/// Code that reads whole words need not check where the prefix ends, as long as the slice is long
/// enough. It [derefs](core::ops::Deref) to the prefix.
///
/// ```
/// use uriscan_core::chunk::Prefix;
/// let prefix = Prefix::new(b"http://h/ and more", 9);
/// assert_eq!(prefix.bytes(), b"http://h/");
/// assert_eq!(prefix.slack()[9..], *b" and more");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Prefix<'a> {
    slack: &'a [u8],
    len: usize,
}

/// Bytes that [`Prefix::append_to`] copies of a prefix that is no longer.
pub const SHORT_PREFIX: usize = 2 * BLOCK;

impl<'a> Prefix<'a> {
    /// The first `len` bytes of `slack`.
    ///
    /// # Panics
    /// If `slack` is shorter.
    #[inline(always)]
    pub fn new(slack: &'a [u8], len: usize) -> Prefix<'a> {
        assert!(len <= slack.len());
        Prefix { slack, len }
    }

    /// Length of the prefix in bytes.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether the prefix is empty.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The bytes of the prefix.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        &self.slack[..self.len]
    }

    /// The bytes of the prefix, and all bytes that may be read after them.
    #[inline(always)]
    pub fn slack(self) -> &'a [u8] {
        self.slack
    }

    /// Appends the bytes of the prefix to `out`. Of one of at most [`SHORT_PREFIX`] bytes as many as that are copied, where they may be
    /// read, and the surplus is dropped, so `out` needs room for them.
    ///
    /// ```
    /// use uriscan_core::chunk::Prefix;
    /// let mut out = b"a".to_vec();
    /// Prefix::new(&[b'b'; 300], 2).append_to(&mut out);
    /// Prefix::new(b"c", 1).append_to(&mut out);
    /// assert_eq!(out, b"abbc");
    /// ```
    #[inline(always)]
    pub fn append_to(self, out: &mut Vec<u8>) {
        match self.slack.first_chunk::<SHORT_PREFIX>() {
            Some(block) if self.len <= SHORT_PREFIX => {
                let end = out.len() + self.len;
                out.extend_from_slice(block);
                out.truncate(end);
            }
            _ => out.extend_from_slice(self.bytes()),
        }
    }
}

impl<'a> From<&'a [u8]> for Prefix<'a> {
    fn from(bytes: &'a [u8]) -> Prefix<'a> {
        Prefix { slack: bytes, len: bytes.len() }
    }
}

impl<'a> From<&'a Vec<u8>> for Prefix<'a> {
    fn from(bytes: &'a Vec<u8>) -> Prefix<'a> {
        Prefix::from(&bytes[..])
    }
}

impl<'a> From<Padded<'a>> for Prefix<'a> {
    #[inline(always)]
    fn from(text: Padded<'a>) -> Prefix<'a> {
        Prefix { slack: text.bytes, len: text.len }
    }
}

impl core::ops::Deref for Prefix<'_> {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        self.bytes()
    }
}

/// A reusable buffer whose content is [`Padded`].
#[derive(Clone, Debug, Default)]
pub struct PaddedBuf {
    bytes: Vec<u8>,
    len: usize,
}

impl PaddedBuf {
    /// An empty buffer with room for `capacity` bytes of content.
    pub fn with_capacity(capacity: usize) -> PaddedBuf {
        PaddedBuf { bytes: vec![0; Padded::needed(capacity)], len: 0 }
    }

    /// A buffer that holds a copy of `content`.
    ///
    /// ```
    /// use uriscan::PaddedBuf;
    /// assert_eq!(PaddedBuf::from_content(b"http://h/").padded().content(), b"http://h/");
    /// ```
    pub fn from_content(content: &[u8]) -> PaddedBuf {
        let needed = Padded::needed(content.len());
        let mut bytes = Vec::with_capacity(needed);
        bytes.extend_from_slice(content);
        bytes.resize(needed, 0);
        PaddedBuf { bytes, len: content.len() }
    }

    /// A buffer that holds `content`, whose memory it takes.
    pub fn from_bytes(content: Vec<u8>) -> PaddedBuf {
        let (len, mut bytes) = (content.len(), content);
        bytes.resize(Padded::needed(len), 0);
        PaddedBuf { bytes, len }
    }

    /// Replaces the content with a copy of `content`; allocates only to grow.
    #[inline]
    pub fn set(&mut self, content: &[u8]) {
        self.reserve(content.len());
        self.bytes[..content.len()].copy_from_slice(content);
        self.len = content.len();
    }

    /// Grows the capacity to `capacity` bytes of content; keeps the content and the rest of the
    /// room.
    #[inline]
    pub fn reserve(&mut self, capacity: usize) {
        let needed = Padded::needed(capacity);
        if self.bytes.len() + self.bytes.len() / 2 < needed {
            // Memory that is allocated as zeros need not be written twice. The room may hold data
            // beyond the content.
            let mut bytes = vec![0; needed];
            bytes[..self.bytes.len()].copy_from_slice(&self.bytes);
            self.bytes = bytes;
        } else if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
    }

    /// Appends `more` to the content; allocates only to grow.
    #[cfg(feature = "bulk")]
    pub(crate) fn append(&mut self, more: &[u8]) {
        let (start, end) = (self.len, self.len + more.len());
        self.reserve(end);
        self.bytes[start..end].copy_from_slice(more);
        self.len = end;
    }

    /// Number of bytes of content that fit without growing.
    pub fn capacity(&self) -> usize {
        self.bytes.len().saturating_sub(PAD) / BLOCK * BLOCK
    }

    /// The room for content, to be filled by the caller; [`PaddedBuf::set_len`] then sets the
    /// length of the content.
    pub fn room(&mut self) -> &mut [u8] {
        let capacity = self.capacity();
        &mut self.bytes[..capacity]
    }

    /// Makes the first `len` bytes of [`PaddedBuf::room`] the content.
    ///
    /// # Panics
    /// If `len` exceeds the capacity.
    pub fn set_len(&mut self, len: usize) {
        assert!(len <= self.capacity());
        self.len = len;
    }

    /// The content with its padding.
    #[inline(always)]
    pub fn padded(&self) -> Padded<'_> {
        Padded { bytes: &self.bytes, len: self.len }
    }
}

/// A range of bytes within a chunk: `start` inclusive, `end` exclusive, from the chunk's first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Number of bytes.
    #[inline(always)]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the span is empty.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The bytes of the span in `chunk`.
    #[inline(always)]
    pub fn of(self, chunk: &[u8]) -> &[u8] {
        &chunk[self.start as usize..self.end as usize]
    }
}
