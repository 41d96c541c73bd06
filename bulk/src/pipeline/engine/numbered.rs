//! The records of a chunk with the numbers of their lines.

use super::scan::KeyedRecords;
use crate::io::read::origins::RecordOrigin;
use crate::survivors::ClassMode;
use uriscan_core::chunk::{Padded, Prefix};
use uriscan_core::index::Index;
use uriscan_core::row::PassedRow;

/// The records of a chunk that have a key, with their lines.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    pub(crate) keyed: KeyedRecords,
    /// Their lines, counted from 0 in the chunk; or the bytes before them.
    pub(crate) lines: Vec<u32>,
    /// Lines of the chunk, those without a record included; or bytes.
    pub(crate) line_count: u64,
    /// Lines before the chunk, in all sources; or bytes.
    pub(crate) position: u64,
    /// What decides of each row, and what else is kept of it, if something does, and where that ends.
    sorted: (Vec<u8>, Vec<usize>),
}

/// What is kept of the rows of a table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeptRows {
    /// What decides which one is kept, if not their order: a sort key before the rest.
    pub(crate) sorted_by: Option<SortedBy>,
    /// Whether URIs are kept, before the rows.
    pub(crate) has_uris: bool,
    /// Whether they are read again: then positions are bytes of the sources, and not lines, and of rows only what decides is kept.
    pub(crate) is_reread: bool,
}

/// What decides which row of a class is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortedBy {
    Uri,
    /// The values of another column; the least of them, or the greatest.
    Column {
        is_least: bool,
    },
}

/// Counts the lines of a text.
struct Lines<'t> {
    text: &'t [u8],
    at: usize,
    count: u32,
}

impl Lines<'_> {
    fn of(text: &[u8]) -> Lines<'_> {
        Lines { text, at: 0, count: 0 }
    }

    /// How many lines end before the byte `at`, which is not before the last one.
    fn before(&mut self, at: usize) -> u32 {
        self.count += memchr::memchr_iter(b'\n', &self.text[self.at..at]).count() as u32;
        self.at = at;
        self.count
    }
}

impl Numbered {
    /// Numbers the records one after the other, where lines do not matter.
    pub(crate) fn number_in_order(&mut self) {
        let records = self.keyed.spans.len() as u32;
        self.lines.clear();
        self.lines.extend(0..records);
        self.line_count = records.into();
    }

    /// Finds the lines of the records in the chunk, whose index is `index`.
    pub(crate) fn number(&mut self, index: &Index) {
        if self.keyed.spans.len() == index.record_count() {
            return self.number_in_order();
        }
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

    /// Makes the lines of [`Numbered::number`] those of the `origins` of all lines, in a chunk that begins at the line `first` and has
    /// as many lines.
    pub(crate) fn number_by(&mut self, origins: &[RecordOrigin], (first, lines): (u64, u64)) {
        for line in &mut self.lines {
            *line = (origins[*line as usize].line - first) as u32;
        }
        self.line_count = lines;
    }

    /// Numbers the rows of a table in the chunk, whose text of `len` bytes is followed by decoded values, and makes
    /// what is kept of them.
    pub(crate) fn number_rows(&mut self, (text, len): (&[u8], usize), kept: KeptRows) {
        let KeyedRecords { spans, table, .. } = &self.keyed;
        self.lines.clear();
        if !kept.is_reread {
            let mut lines = Lines::of(text);
            self.lines.extend(table.rows.iter().map(|row| lines.before(row.start as usize)));
            self.line_count = u64::from(lines.before(len));
            self.line_count += u64::from(text[..len].last().is_some_and(|&last| last != b'\n'));
        } else {
            self.lines.extend(table.rows.iter().map(|row| row.start));
            self.line_count = len as u64;
        }
        let (keyed, ends) = &mut self.sorted;
        keyed.clear();
        ends.clear();
        if kept.sorted_by.is_none() && !kept.has_uris {
            return;
        }
        for (number, (value, row)) in spans.iter().zip(&table.rows).enumerate() {
            match kept.sorted_by {
                None => {}
                Some(SortedBy::Uri) => ClassMode::push_key(value.of(text), keyed),
                Some(SortedBy::Column { is_least }) => {
                    let deciding = table.others.deciding(number);
                    // No value is kept only where there is nothing else.
                    let is_last = [u8::from(deciding.is_empty() == is_least)];
                    ClassMode::push_key_of([&is_last, deciding], keyed);
                }
            }
            if kept.has_uris {
                ClassMode::push_key(value.of(text), keyed);
            }
            if !kept.is_reread {
                keyed.extend_from_slice(row.of(text));
            }
            ends.push(keyed.len());
        }
    }

    /// Where the rows that are in no class are in the `text` of the chunk, as positions within the chunk.
    pub(crate) fn passed(&self, text: &[u8], kept: KeptRows) -> Vec<u64> {
        let mut lines = Lines::of(text);
        let place = |passed: &PassedRow| match kept.is_reread {
            true => u64::from(passed.row.start),
            false => u64::from(lines.before(passed.row.start as usize)),
        };
        self.keyed.table.passed.iter().map(place).collect()
    }

    /// The number of the line of the record of `row`, counted from 0 over all sources.
    #[inline(always)]
    pub(crate) fn position_of(&self, row: usize) -> u64 {
        self.position + u64::from(self.lines[row])
    }

    /// The URI of `row` in the `text` of the chunk.
    #[inline(always)]
    pub(crate) fn uri<'t>(&self, row: usize, text: Padded<'t>) -> Prefix<'t> {
        let span = self.keyed.spans[row];
        Prefix::new(&text.padded()[span.start as usize..], span.len())
    }

    /// The bytes that [`Numbered::text`] gives of all records in a text of `len` bytes.
    pub(crate) fn kept_bytes(&self, len: usize) -> usize {
        if self.sorted.1.is_empty() { len } else { self.sorted.0.len() }
    }

    /// What is kept of the record of `row` in the `text` of the chunk.
    #[inline(always)]
    pub(crate) fn text<'t>(&'t self, row: usize, text: &'t [u8]) -> &'t [u8] {
        let (keyed, ends) = &self.sorted;
        match ends.get(row) {
            None => self.keyed.written()[row].of(text),
            Some(&end) => &keyed[row.checked_sub(1).map_or(0, |before| ends[before])..end],
        }
    }
}
