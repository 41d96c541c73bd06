//! The records of a chunk with the numbers of their lines.

use super::scan::Found;
use crate::index::Index;

/// The records of a chunk that have a key, with their lines.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    pub(super) keyed: Found,
    /// Their lines, counted from 0 in the chunk.
    pub(super) lines: Vec<u32>,
    /// Lines of the chunk, those without a record included.
    pub(super) line_count: u64,
    /// Lines before the chunk, in all sources.
    pub(super) position: u64,
}

impl Numbered {
    /// Finds the lines of the records in the chunk, whose index is `index`.
    pub(super) fn number(&mut self, index: &Index) {
        self.line_count = index.record_count() as u64;
        self.lines.clear();
        let mut spans = self.keyed.spans.iter();
        let mut next = spans.next();
        for (line, whole) in (0..).zip(index.spans()) {
            // Of blank lines, and of those turned away, there is none.
            if next.is_some_and(|span| span.start < whole.end) {
                self.lines.push(line);
                next = spans.next();
            }
        }
    }

    /// The number of the line of the record of `row`, counted from 0 over all sources.
    #[inline(always)]
    pub(super) fn position_of(&self, row: usize) -> u64 {
        self.position + u64::from(self.lines[row])
    }

    /// The record of `row` in the `text` of the chunk.
    #[inline(always)]
    pub(super) fn text<'t>(&self, row: usize, text: &'t [u8]) -> &'t [u8] {
        self.keyed.spans[row].of(text)
    }
}
