//! The rows of CSV (RFC 4180) and TSV: where each ends, how many fields it has, and where one of them is.

use super::{Fault, RawValue};
use crate::chunk::Span;
use crate::index::low_bits;
use crate::simd::{BLOCK, Isa, Task};

/// The bytes between the fields of a row, and around those that need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separators {
    /// The byte between two fields.
    pub delimiter: u8,
    /// None for fields without quotes.
    pub quote: Option<u8>,
}

const AFTER_QUOTE: &str =
    "the closing quote of a field is followed by neither a delimiter nor the end of the row";
const OPEN_QUOTE: &str = "a quote in this row is never closed";
const BARE_RETURN: &str = "a carriage return that is not in quotes does not end a line";

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Without the line feed that ends it.
    pub(crate) whole: Span,
    /// Where the next one begins.
    pub(crate) next: usize,
    /// Whether a line feed ends it.
    pub(crate) is_ended: bool,
    pub(crate) fields: usize,
    pub(crate) fault: Option<Fault>,
}

impl Row {
    /// Whether there is nothing in it, not even quotes.
    pub(crate) fn is_blank(&self, text: &[u8]) -> bool {
        matches!(self.whole.of(text), b"" | b"\r")
    }
}

/// The rows of a text, one after the other.
pub(crate) struct Rows<'t, I> {
    isa: I,
    text: &'t [u8],
    separators: Separators,
    /// Where the next row begins.
    at: usize,
    /// The offset of the block that is looked at, and what is left of its marks.
    block: usize,
    marks: u64,
}

impl<'t, I: Isa> Rows<'t, I> {
    /// Those of `text`, which begins with a row.
    #[inline(always)]
    pub(crate) fn new(isa: I, text: &'t [u8], separators: Separators) -> Self {
        // Most tables have no quotes, and need not look for them.
        let quote = separators.quote.filter(|&quote| memchr::memchr(quote, text).is_some());
        let separators = Separators { quote, ..separators };
        let mut rows = Rows { isa, text, separators, at: 0, block: 0, marks: 0 };
        rows.marks = rows.marks_of(0);
        rows
    }

    /// The bytes of the block at `at` that end fields or rows, or may be quotes.
    #[inline(always)]
    fn marks_of(&self, at: usize) -> u64 {
        let mut last = [0; BLOCK];
        let block = block_at(self.text, at, &mut last);
        let Separators { delimiter, quote } = self.separators;
        let mut marks = self.isa.equal(block, delimiter)
            | self.isa.equal(block, b'\n')
            | self.isa.equal(block, b'\r');
        if let Some(quote) = quote {
            marks |= self.isa.equal(block, quote);
        }
        marks & low_bits(self.text.len().saturating_sub(at))
    }

    #[inline(always)]
    fn next_mark(&mut self) -> Option<usize> {
        while self.marks == 0 {
            self.block += BLOCK;
            if self.block >= self.text.len() {
                return None;
            }
            self.marks = self.marks_of(self.block);
        }
        let at = self.block + self.marks.trailing_zeros() as usize;
        self.marks &= self.marks - 1;
        Some(at)
    }

    /// The next row, of which `each` receives the fields with their numbers from 0; `None` after the last one.
    #[inline(always)]
    pub(crate) fn next_row(&mut self, mut each: impl FnMut(usize, RawValue)) -> Option<Row> {
        let (text, start) = (self.text, self.at);
        if start >= text.len() {
            return None;
        }
        let Separators { delimiter, quote } = self.separators;
        let (mut fields, mut fault) = (0, None);
        let mut field = Field::at(start);
        let (end, is_ended) = loop {
            let Some(at) = self.next_mark() else {
                if !field.is_open() {
                    break (text.len(), false);
                }
                fault = fault.or(Some(Fault::new(OPEN_QUOTE)));
                // The line end that ends the text is not part of the row.
                break (text.len() - usize::from(text.ends_with(b"\n")), false);
            };
            let byte = text[at];
            if Some(byte) == quote {
                field.quote(at);
                continue;
            }
            if field.is_open() {
                continue;
            }
            if field.closed.is_some_and(|closed| closed + 1 != at) && !field.returns {
                fault = fault.or(Some(Fault::new(AFTER_QUOTE).at(at)));
                (field.closed, field.is_quoted) = (None, false);
            }
            if byte == delimiter {
                each(fields, field.raw(at));
                fields += 1;
                field = Field::at(at + 1);
            } else if byte == b'\n' {
                break (at, true);
            } else if text.get(at + 1).is_none_or(|&next| next == b'\n') {
                field.returns = true;
            } else {
                fault = fault.or(Some(Fault::new(BARE_RETURN)));
            }
        };
        // A closing quote is the last byte, or stands before the line end.
        let last = end - usize::from(field.returns);
        if field.closed.is_some_and(|closed| closed + 1 != last) {
            fault = fault.or(Some(Fault::new(AFTER_QUOTE).at(last)));
            (field.closed, field.is_quoted) = (None, false);
        }
        each(fields, field.raw(last));
        self.at = if is_ended { end + 1 } else { text.len() };
        let whole = Span { start: start as u32, end: end as u32 };
        Some(Row { whole, next: self.at, is_ended, fields: fields + 1, fault })
    }
}

/// A field that is being read.
#[derive(Clone, Copy)]
struct Field {
    start: usize,
    is_quoted: bool,
    /// Where its last quote is, if it may be the closing one.
    closed: Option<usize>,
    is_escaped: bool,
    /// Whether a carriage return ends its row.
    returns: bool,
}

impl Field {
    #[inline(always)]
    fn at(start: usize) -> Field {
        Field { start, is_quoted: false, closed: None, is_escaped: false, returns: false }
    }

    /// Whether delimiters and line ends belong to it.
    #[inline(always)]
    fn is_open(&self) -> bool {
        self.is_quoted && self.closed.is_none()
    }

    /// Takes the quote at `at`.
    #[inline(always)]
    fn quote(&mut self, at: usize) {
        if at == self.start {
            self.is_quoted = true;
        } else if self.is_open() {
            self.closed = Some(at);
        } else if self.is_quoted && self.closed == Some(at - 1) {
            (self.closed, self.is_escaped) = (None, true);
        }
    }

    /// Where its text is, if it ends at `end`.
    #[inline(always)]
    fn raw(&self, end: usize) -> RawValue {
        let (start, end) = match self.closed {
            Some(closed) => (self.start + 1, closed),
            None => (self.start, end),
        };
        let span = Span { start: start as u32, end: end as u32 };
        RawValue { span, is_escaped: self.is_escaped && self.closed.is_some() }
    }
}

/// The end of the last row of `text` that a line feed ends; `text` begins with a row.
#[inline(always)]
pub(crate) fn last_end<I: Isa>(isa: I, text: &[u8], separators: Separators) -> Option<usize> {
    let last_line = memchr::memrchr(b'\n', text)? + 1;
    match separators.quote {
        Some(quote) if memchr::memchr(quote, text).is_some() => {
            let by_quotes = last_end_by_quotes(isa, text, (separators.delimiter, quote));
            by_quotes.unwrap_or_else(|| last_end_by_rows(isa, text, separators))
        }
        _ => Some(last_line),
    }
}

/// [`last_end`] row by row.
#[inline(always)]
fn last_end_by_rows<I: Isa>(isa: I, text: &[u8], separators: Separators) -> Option<usize> {
    let (mut rows, mut end) = (Rows::new(isa, text, separators), None);
    while let Some(row) = rows.next_row(|_, _| {}) {
        if row.is_ended {
            end = Some(row.next);
        }
    }
    end
}

/// [`last_end`] where every second quote ends what the one before began; `None` if a quote stands where a field may not be quoted.
#[inline(always)]
fn last_end_by_quotes<I: Isa>(
    isa: I,
    text: &[u8],
    (delimiter, quote): (u8, u8),
) -> Option<Option<usize>> {
    // Whether the byte before is in quotes, in each bit; and whether a field may begin after it.
    let (mut was_quoted, mut may_begin, mut end) = (0, 1, None);
    for at in (0..text.len()).step_by(BLOCK) {
        let mut last = [0; BLOCK];
        let block = block_at(text, at, &mut last);
        let inside = low_bits(text.len() - at);
        let quotes = isa.equal(block, quote) & inside;
        let lines = isa.equal(block, b'\n') & inside;
        let is_quoted = parity(quotes) ^ was_quoted;
        // A field, or the rest of one after a quote that is doubled.
        let before = isa.equal(block, delimiter) | lines | quotes;
        if quotes & is_quoted & !(before << 1 | may_begin) != 0 {
            return None;
        }
        let ended = lines & !is_quoted;
        if ended != 0 {
            end = Some(at + BLOCK - ended.leading_zeros() as usize);
        }
        (was_quoted, may_begin) = (0u64.wrapping_sub(is_quoted >> 63), before >> 63);
    }
    Some(end)
}

/// For each bit, whether the number of bits of `mask` up to it is odd.
#[inline(always)]
fn parity(mut mask: u64) -> u64 {
    for step in [1, 2, 4, 8, 16, 32] {
        mask ^= mask << step;
    }
    mask
}

/// The block of `text` at `at`, with zeros after the end, in `last` if it has them.
#[inline(always)]
fn block_at<'b>(text: &'b [u8], at: usize, last: &'b mut [u8; BLOCK]) -> &'b [u8; BLOCK] {
    let rest = &text[at.min(text.len())..];
    match rest.first_chunk() {
        Some(block) => block,
        None => {
            last[..rest.len()].copy_from_slice(rest);
            last
        }
    }
}

/// [`last_end`] on a backend.
pub(super) struct LastEnd<'a> {
    pub(super) text: &'a [u8],
    pub(super) separators: Separators,
}

impl Task for LastEnd<'_> {
    type Output = Option<usize>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Option<usize> {
        last_end(isa, self.text, self.separators)
    }
}

/// Appends `text`, the inside of a field in quotes, with doubled quotes reduced to one.
pub(super) fn unescape(text: &[u8], quote: u8, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(quote, rest) {
        out.extend_from_slice(&rest[..=at]);
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simd::Kernels;

    struct Both<'a>(&'a [u8], Separators);

    impl Task for Both<'_> {
        type Output = [Option<usize>; 2];
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Self::Output {
            [last_end(isa, self.0, self.1), last_end_by_rows(isa, self.0, self.1)]
        }
    }

    /// The end of the last row, by all ways and backends.
    fn end(text: &str) -> Option<usize> {
        let separators = Separators { delimiter: b',', quote: Some(b'"') };
        let run = |kernels: Kernels| kernels.run(Both(text.as_bytes(), separators));
        let found: Vec<_> = Kernels::available().flat_map(run).collect();
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{text:?} {found:?}");
        found[0]
    }

    #[test]
    fn rows_end_outside_of_quotes() {
        let filler = "x".repeat(61);
        for head in ["", "a,b\n", &filler, &format!("{filler},\"{filler}\",\n")] {
            for (row, expected) in [
                ("a,b", None),
                ("a,b\nc", Some(4)),
                ("\"a\nb\"\nc", Some(6)),
                ("\"a\nb\nc", None),
                ("\"\"\"\n\"\"\"\nc", Some(8)),
                ("a,\"\"\n\"b\n", Some(5)),
                // Not one that quotes a field.
                ("a\"b\nc\n", Some(6)),
                ("\"a\"b\"\nc\n", Some(8)),
            ] {
                let is_row = head.is_empty() || head.ends_with('\n');
                let found = end(&format!("{head}{row}"));
                let before = head.rfind('\n').map(|at| at + 1);
                assert!(
                    !is_row || found == expected.map(|at| head.len() + at).or(before),
                    "{head} {row}"
                );
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_last_end_by_quotes_is_that_by_rows(
            text in "([a,\\n]{0,60}|[a,\"\\r\\n]{0,9}|(\"([a,\\n]|\"\"){0,40}\"(,|\\n|\\r\\n|a)?)){0,9}",
        ) {
            end(&text);
        }
    }
}
