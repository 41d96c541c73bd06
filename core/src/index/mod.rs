//! The structural index of a chunk: where records end, and a summary of every block.
//!
//! One pass over the bytes. The summaries suffice for plain records; a record that needs a closer
//! look is classified again from its own first byte on ([`Record::classify`]).

use crate::chunk::{Padded, Prefix, Span};
use crate::grammar::class::WHITE_SPACE;
use crate::simd::{BLOCK, Isa, Kernels, Masks, Summary, Task, class};

/// The summaries of a chunk, block by block, and its record ends. Reusable: building again
/// allocates only to grow.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// One entry per block, and zero entries after them ([`SPARE`]).
    summaries: Vec<Summary>,
    /// Offsets at which records end, in order; the first `records` count.
    ends: Vec<u32>,
    records: usize,
    blocks: usize,
    len: usize,
}

/// Number of zero entries after the summaries: the first two windows of a record may be read, and
/// each of them touches two blocks.
const SPARE: usize = 3;

impl Index {
    /// An empty index.
    pub fn new() -> Index {
        Index::default()
    }

    /// Indexes `text`, whose records end at each byte `record_end` (LF or NUL).
    ///
    /// ```
    /// use uriscan_core::index::Index;
    /// use uriscan::{Kernels, PaddedBuf};
    /// let text = PaddedBuf::from_content(b"http://a/\nhttp://b/\n");
    /// let mut index = Index::new();
    /// index.build(Kernels::detect(), text.padded(), b'\n');
    /// assert_eq!(index.spans().count(), 2);
    /// ```
    pub fn build(&mut self, kernels: Kernels, text: Padded<'_>, record_end: u8) {
        kernels.run(Build(self, text, record_end));
    }

    /// Indexes `text`, all of which is one record.
    ///
    /// # Panics
    /// If it is longer than `u32::MAX` bytes.
    pub fn only_record<'a>(&'a mut self, kernels: Kernels, text: Padded<'a>) -> Record<'a> {
        let end = u32::try_from(text.len()).expect("a record of no more than 4 GiB");
        self.build(kernels, text, b'\n');
        Record::new(text, self, Span { start: 0, end })
    }

    /// [`Index::build`] for a task that already runs on `isa`, in a function of its own.
    #[inline(always)]
    pub fn build_with<I: Isa>(&mut self, isa: I, text: Padded<'_>, record_end: u8) {
        isa.call(Build(self, text, record_end));
    }

    #[inline(always)]
    fn build_here<I: Isa>(&mut self, isa: I, text: Padded<'_>, record_end: u8) {
        let blocks = text.len().div_ceil(BLOCK);
        if self.summaries.len() < blocks + SPARE {
            self.summaries.resize(blocks + SPARE, Summary::default());
        }
        (self.blocks, self.len, self.records) = (blocks, text.len(), 0);
        let bytes = text.padded().as_chunks::<BLOCK>().0;
        let mut slash_before = 0;
        for (i, block) in bytes[..blocks].iter().enumerate() {
            let sketch = isa.sketch(block, record_end);
            let slash = sketch.summary.slash;
            let dots = sketch.dot & (slash << 1 | slash_before);
            slash_before = slash >> 63;
            self.summaries[i] = Summary { look: sketch.summary.look | dots, ..sketch.summary };
            // A record end in the padding does not count.
            let inside = if i + 1 == blocks { low_bits(text.len() - i * BLOCK) } else { !0 };
            self.push_ends(i * BLOCK, sketch.record_end & inside);
        }
        self.summaries[blocks..blocks + SPARE].fill(Summary::default());
        let last = self.records.checked_sub(1).map_or(0, |i| self.ends[i] as usize + 1);
        if last < text.len() {
            self.push_ends(text.len(), 1);
        }
    }

    /// Notes the record ends of the block at byte `at`, the set bits of `ends`.
    #[inline(always)]
    fn push_ends(&mut self, at: usize, mut ends: u64) {
        if self.ends.len() < self.records + BLOCK {
            self.ends.resize(2 * self.records + 2 * BLOCK, 0);
        }
        let count = ends.count_ones() as usize;
        // More than two records rarely end in a block: two are written unconditionally, which
        // avoids a mispredicted branch; a surplus entry is overwritten.
        let places = &mut self.ends[self.records..][..BLOCK];
        places[0] = (at + ends.trailing_zeros() as usize) as u32;
        ends &= ends.wrapping_sub(1);
        places[1] = (at + ends.trailing_zeros() as usize) as u32;
        if count > 2 {
            for place in &mut places[1..count] {
                *place = (at + ends.trailing_zeros() as usize) as u32;
                ends &= ends.wrapping_sub(1);
            }
        }
        self.records += count;
    }

    /// The summary of the 64 bytes from `at` on; bits past the content have no meaning.
    ///
    /// # Panics
    /// If `at` is more than a block past the content.
    #[inline(always)]
    pub fn window<I: Isa>(&self, isa: I, at: usize) -> Summary {
        let pair = &self.summaries[at / BLOCK..][..2];
        isa.window(&pair[0], &pair[1], (at % BLOCK) as u32)
    }

    /// The summaries of the 128 bytes from `at` on, as by [`Index::window`].
    ///
    /// # Panics
    /// If `at` is after the content.
    #[inline(always)]
    pub(crate) fn windows<I: Isa>(&self, isa: I, at: usize) -> [Summary; 2] {
        let [first, second, third] = &self.summaries[at / BLOCK..][..3] else { unreachable!() };
        let shift = (at % BLOCK) as u32;
        [isa.window(first, second, shift), isa.window(second, third, shift)]
    }

    /// Length in bytes of the indexed content.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the indexed content is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of records, including a last one without a record end.
    pub fn record_count(&self) -> usize {
        self.records
    }

    /// The records in order, without their ends, white space not yet trimmed.
    #[inline(always)]
    pub fn spans(&self) -> impl ExactSizeIterator<Item = Span> + '_ {
        let mut start = 0;
        self.ends[..self.records].iter().map(move |&end| {
            let span = Span { start, end };
            start = end + 1;
            span
        })
    }
}

/// Indexes a text.
struct Build<'a, 'b>(&'a mut Index, Padded<'b>, u8);

impl Task for Build<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.0.build_here(isa, self.1, self.2);
    }
}

/// The offsets of all `:/?#@[]` (the `gen-delims` of 2.2) of `text`, in order.
///
/// ```
/// use uriscan_core::index::delimiters;
/// use uriscan::{Kernels, PaddedBuf};
/// let text = PaddedBuf::from_content(b"//u@[::1]/?#");
/// assert_eq!(delimiters(Kernels::detect(), text.padded()), [0, 1, 3, 4, 5, 6, 8, 9, 10, 11]);
/// ```
pub fn delimiters(kernels: Kernels, text: Padded<'_>) -> Vec<u32> {
    struct Find<'a>(Padded<'a>);
    impl Task for Find<'_> {
        type Output = Vec<u32>;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Vec<u32> {
            let mut found = Vec::new();
            let bytes = self.0.padded();
            for at in (0..self.0.len()).step_by(BLOCK) {
                let block = self.0.block(at);
                let masks = isa.classify(block);
                let brackets = isa.equal(block, b'[') | isa.equal(block, b']');
                let all = masks[class::SLASH]
                    | masks[class::COLON_AT]
                    | masks[class::QUESTION]
                    | masks[class::HASH]
                    | brackets;
                found.extend(Bits(all & low_bits(self.0.len() - at)).map(|bit| at as u32 + bit));
            }
            debug_assert!(found.iter().all(|&at| b":/?#@[]".contains(&bytes[at as usize])));
            found
        }
    }
    kernels.run(Find(text))
}

/// One record of an indexed chunk: its bytes and their index.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    text: Padded<'a>,
    index: &'a Index,
    start: usize,
    len: usize,
}

impl<'a> Record<'a> {
    /// The record at `span` of `text`, which `index` was built from.
    #[inline(always)]
    pub fn new(text: Padded<'a>, index: &'a Index, span: Span) -> Record<'a> {
        Record { text, index, start: span.start as usize, len: span.len() }
    }

    /// Length in bytes.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether the record is empty.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Its place in the chunk.
    #[cfg(feature = "bulk")]
    #[inline(always)]
    pub(crate) fn span(self) -> Span {
        Span { start: self.start as u32, end: (self.start + self.len) as u32 }
    }

    /// The bytes of the record.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        &self.text.content()[self.start..self.start + self.len]
    }

    /// The bytes of the record; the bytes after them are their padding.
    #[inline(always)]
    pub fn padded(self) -> Padded<'a> {
        self.text.part(self.start, self.len)
    }

    /// The first `len` bytes of the record, and the bytes that may be read after them.
    ///
    /// # Panics
    /// If `len` bytes cannot be read.
    #[inline(always)]
    pub fn prefix(self, len: usize) -> Prefix<'a> {
        Prefix::new(&self.text.padded()[self.start..], len)
    }

    /// The byte at `at`, which may be after the record, but not after the padding.
    #[inline(always)]
    pub fn byte(self, at: usize) -> u8 {
        self.text.padded()[self.start + at]
    }

    /// The 64 bytes from byte `at` of the record on; they may extend past the record.
    #[inline(always)]
    pub fn block(self, at: usize) -> &'a [u8; BLOCK] {
        self.text.block(self.start + at)
    }

    /// The summary of [`Record::block`] by the index; bits past the record belong to other records.
    #[inline(always)]
    pub fn window<I: Isa>(self, isa: I, at: usize) -> Summary {
        self.index.window(isa, self.start + at)
    }

    /// The class masks of [`Record::block`]; bits past the record belong to other records.
    #[inline(always)]
    pub fn classify<I: Isa>(self, isa: I, at: usize) -> Masks {
        isa.classify(self.block(at))
    }
}

/// The set bits of a word, lowest first.
#[derive(Clone, Copy, Debug)]
pub struct Bits(pub u64);

impl Iterator for Bits {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// A word whose lowest `count` bits are set; all bits if `count` is 64 or more.
#[inline(always)]
pub fn low_bits(count: usize) -> u64 {
    if count >= 64 { !0 } else { !(!0 << count) }
}

/// `span` without the ASCII white space around it (Appendix C); `text` is the chunk.
#[inline(always)]
pub fn trim(text: &[u8], span: Span) -> Span {
    // White space is at most a space. One look at both ends suffices for nearly every record.
    let (first, last) = (text[span.start as usize], text[(span.end as usize).saturating_sub(1)]);
    if first > b' ' && last > b' ' { span } else { trim_each(text, span) }
}

/// The record that `text` is: without the ASCII white space around it (RFC 3986, Appendix C).
///
/// ```
/// assert_eq!(uriscan::trimmed(b" http://h/ \r\n"), b"http://h/");
/// ```
#[inline]
pub fn trimmed(text: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| !WHITE_SPACE.has(*byte);
    let end = text.iter().rposition(is_part).map_or(0, |last| last + 1);
    &text[text[..end].iter().position(is_part).unwrap_or(end)..end]
}

#[inline(never)]
fn trim_each(text: &[u8], mut span: Span) -> Span {
    while span.start < span.end && WHITE_SPACE.has(text[span.end as usize - 1]) {
        span.end -= 1;
    }
    while span.start < span.end && WHITE_SPACE.has(text[span.start as usize]) {
        span.start += 1;
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::PaddedBuf;

    fn spans_of(text: &[u8], record_end: u8, kernels: Kernels) -> Vec<Vec<u8>> {
        let buf = PaddedBuf::from_content(text);
        let mut index = Index::new();
        index.build(kernels, buf.padded(), record_end);
        index.spans().map(|span| span.of(text).to_vec()).collect()
    }

    fn split(text: &[u8], record_end: u8) -> Vec<Vec<u8>> {
        let mut records: Vec<_> = text.split(|&b| b == record_end).map(<[u8]>::to_vec).collect();
        if records.last().is_some_and(Vec::is_empty) {
            records.pop();
        }
        records
    }

    #[test]
    fn spans_are_the_lines_at_every_length() {
        for kernels in Kernels::available() {
            for len in 0..300 {
                for gap in [1, 2, 7, 63, 64, 65, 200] {
                    let text: Vec<u8> =
                        (0..len).map(|i| if i % gap == gap - 1 { b'\n' } else { b'x' }).collect();
                    assert_eq!(spans_of(&text, b'\n', kernels), split(&text, b'\n'));
                }
            }
        }
    }

    #[test]
    fn the_padding_never_ends_a_record() {
        for kernels in Kernels::available() {
            assert_eq!(spans_of(b"a\0b", 0, kernels), [b"a", b"b"]);
            assert_eq!(spans_of(b"", 0, kernels), Vec::<Vec<u8>>::new());
        }
    }

    #[test]
    fn delimiters_are_found_at_every_alignment() {
        for shift in 0..130 {
            let mut text = vec![b'a'; shift];
            text.extend(b"http://u@[::1]:80/p?q#f \xFF|");
            let buf = PaddedBuf::from_content(&text);
            let expected: Vec<u32> = (0..text.len())
                .filter(|&i| b":/?#@[]".contains(&text[i]))
                .map(|i| i as u32)
                .collect();
            for kernels in Kernels::available() {
                assert_eq!(delimiters(kernels, buf.padded()), expected);
            }
        }
    }

    #[test]
    fn trim_takes_ascii_white_space_only() {
        let text = b" \t\r a\xA0 \x0b\x0c";
        let span = trim(text, Span { start: 0, end: text.len() as u32 });
        assert_eq!(span.of(text), b"a\xA0");
        assert!(trim(b"  ", Span { start: 0, end: 2 }).is_empty());
        assert_eq!(
            (trimmed(text), trimmed(b" \n"), trimmed(b"")),
            (&b"a\xA0"[..], &b""[..], &b""[..])
        );
    }
}
