//! The records of a chunk with the numbers of their lines.

use super::scan::Found;
use crate::index::Index;
use crate::survivors::ClassMode;

/// The records of a chunk that have a key, with their lines.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    pub(super) keyed: Found,
    /// Their lines, counted from 0 in the chunk; of rows of tables the bytes before them.
    pub(super) lines: Vec<u32>,
    /// Lines of the chunk, those without a record included; or bytes.
    pub(super) line_count: u64,
    /// Lines before the chunk, in all sources; or bytes.
    pub(super) position: u64,
    /// Rows after their values as sort keys, if these are needed, and where each ends.
    sorted: (Vec<u8>, Vec<usize>),
}

impl AsMut<Found> for Numbered {
    fn as_mut(&mut self) -> &mut Found {
        &mut self.keyed
    }
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

    /// Numbers the rows of a table by the bytes before them in the chunk, whose text of `len` bytes is followed by decoded
    /// values; with their values as sort keys if these decide.
    pub(super) fn number_rows(&mut self, (text, len): (&[u8], usize), has_sort_keys: bool) {
        let Found { spans, table, .. } = &self.keyed;
        self.line_count = len as u64;
        self.lines.clear();
        self.lines.extend(table.rows.iter().map(|row| row.start));
        let (keyed, ends) = &mut self.sorted;
        keyed.clear();
        ends.clear();
        if !has_sort_keys {
            return;
        }
        for (value, row) in spans.iter().zip(&table.rows) {
            ClassMode::push_key(value.of(text), keyed);
            keyed.extend_from_slice(row.of(text));
            ends.push(keyed.len());
        }
    }

    /// The number of the line of the record of `row`, counted from 0 over all sources.
    #[inline(always)]
    pub(super) fn position_of(&self, row: usize) -> u64 {
        self.position + u64::from(self.lines[row])
    }

    /// The record of `row` in the `text` of the chunk.
    #[inline(always)]
    pub(super) fn text<'t>(&'t self, row: usize, text: &'t [u8]) -> &'t [u8] {
        let (keyed, ends) = &self.sorted;
        match ends.get(row) {
            None => self.keyed.written()[row].of(text),
            Some(&end) => &keyed[row.checked_sub(1).map_or(0, |before| ends[before])..end],
        }
    }
}
