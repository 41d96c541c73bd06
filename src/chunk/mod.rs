//! Floor 0: bytes of a source in memory, padded so that a whole block may be read at any byte.

/// Readable bytes past the content, at the least.
pub const PAD: usize = 256;

const BLOCK: usize = 64;

/// Bytes, a length, and the promise that [`PAD`] more bytes can be read.
///
/// The bytes past the content are of no meaning (they may belong to an earlier content).
#[derive(Clone, Copy, Debug)]
pub struct Padded<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl<'a> Padded<'a> {
    /// The first `len` bytes of `bytes`, or `None` when fewer than [`Padded::needed`] bytes are there.
    pub fn new(bytes: &'a [u8], len: usize) -> Option<Padded<'a>> {
        (bytes.len() >= Padded::needed(len)).then_some(Padded { bytes, len })
    }

    /// How long a slice must be to hold `len` bytes of content with their padding.
    pub const fn needed(len: usize) -> usize {
        len.next_multiple_of(BLOCK) + PAD
    }

    /// The `len` bytes of content from byte `start` on; what follows them is their padding.
    ///
    /// # Panics
    /// When the content holds no such bytes.
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

    /// Whether there is no content.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Where the content of `part` begins, if that is a part of this content.
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

    /// Appends the content to `out`, in whole blocks: faster than byte for byte where it is short.
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
        // What is too much is cut off again.
        out.truncate(end);
    }

    /// The 64 bytes from `at` on, which may reach into the padding.
    ///
    /// # Panics
    /// When `at` is more than `PAD - 64` bytes past the content.
    #[inline(always)]
    pub fn block(self, at: usize) -> &'a [u8; BLOCK] {
        self.bytes[at..].first_chunk().expect("a block within the padding")
    }
}

/// The first so many bytes of a slice that may be longer; the others may be read, but mean nothing.
///
/// Whoever reads whole words can do so without asking where the bytes end, as long as the slice is long enough. It
/// [derefs](core::ops::Deref) to the bytes that count.
///
/// ```
/// use uriscan::internals::chunk::Prefix;
/// let prefix = Prefix::new(b"http://h/ and more", 9);
/// assert_eq!(prefix.bytes(), b"http://h/");
/// assert_eq!(prefix.slack()[9..], *b" and more");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Prefix<'a> {
    slack: &'a [u8],
    len: usize,
}

impl<'a> Prefix<'a> {
    /// The first `len` bytes of `slack`.
    ///
    /// # Panics
    /// When there are fewer.
    #[inline(always)]
    pub fn new(slack: &'a [u8], len: usize) -> Prefix<'a> {
        assert!(len <= slack.len());
        Prefix { slack, len }
    }

    /// How many bytes count.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether no byte counts.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The bytes that count.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        &self.slack[..self.len]
    }

    /// The bytes that count, and all that may be read after them.
    #[inline(always)]
    pub fn slack(self) -> &'a [u8] {
        self.slack
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

    /// Replaces the content by a copy of `content`; allocates only to grow.
    #[inline]
    pub fn set(&mut self, content: &[u8]) {
        self.reserve(content.len());
        self.bytes[..content.len()].copy_from_slice(content);
        self.len = content.len();
    }

    /// Makes room for `capacity` bytes of content; the content stays, and what was put into the room.
    #[inline]
    pub fn reserve(&mut self, capacity: usize) {
        let needed = Padded::needed(capacity);
        if self.bytes.len() + self.bytes.len() / 2 < needed {
            // Memory that comes as zeros need not be written twice. There may be more than the content in the room.
            let mut bytes = vec![0; needed];
            bytes[..self.bytes.len()].copy_from_slice(&self.bytes);
            self.bytes = bytes;
        } else if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
    }

    /// Bytes of content that fit without growing.
    pub fn capacity(&self) -> usize {
        self.bytes.len().saturating_sub(PAD) / BLOCK * BLOCK
    }

    /// The room for content, to be filled from outside; [`PaddedBuf::set_len`] then says how much counts.
    pub fn room(&mut self) -> &mut [u8] {
        let capacity = self.capacity();
        &mut self.bytes[..capacity]
    }

    /// Declares the first `len` bytes of [`PaddedBuf::room`] the content.
    ///
    /// # Panics
    /// When `len` is more than the capacity.
    pub fn set_len(&mut self, len: usize) {
        assert!(len <= self.capacity());
        self.len = len;
    }

    /// The content, with its padding at hand.
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

    /// Whether the span holds no byte.
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
