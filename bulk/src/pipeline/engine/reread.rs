//! The second pass over the sources: writes the records at given positions.
//!
//! Fresh memory costs more than reading a file again that the system still has in its cache: half a second for a
//! gigabyte of texts, of which the second pass takes a tenth.

use memchr::memchr;

use super::driver::{Job, Reading, run_here};
use super::invalid::LongRecord;
use super::work::{ChunkWork, Worker};
use super::writer::RecordWriter;
use crate::io::{Chunk, Shape, Source};
use crate::pipeline::engine::rows::RowFinder;
use crate::pipeline::{Error, OnInvalid, Report, Select, Settings, Sinks};
use crate::survivors::{Survivors, Window};
use uriscan_core::chunk::{Padded, Span};
use uriscan_core::index::{low_bits, trim};
use uriscan_core::row::{self, PassedRow};
use uriscan_core::simd::{BLOCK, Isa, Task};

/// What positions count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes before a record, in all sources.
    Bytes,
    /// Lines before it, in all sources.
    Lines,
}

/// The second pass over some sources.
pub(crate) struct Reread<'r> {
    pub(crate) writer: &'r RecordWriter,
    /// What becomes of overlong records.
    pub(crate) on_invalid: OnInvalid,
    pub(crate) unit: Unit,
    pub(crate) survivors: Survivors,
    pub(crate) settings: Settings,
    /// Finds rows, if the records are rows of tables.
    pub(crate) rows: Option<RowFinder>,
}

impl Reread<'_> {
    /// Reads `sources` and writes; the report counts what was written, and what was withheld.
    pub(crate) fn write(
        mut self,
        sources: Vec<Source>,
        sinks: &mut Sinks<'_>,
    ) -> Result<Report, Error> {
        let settings = self.settings;
        run_here(&mut self, sources, &settings, &mut Sinks::new(sinks.out))
    }

    /// Writes the rows at the positions of survivors, and those that are passed on in any case.
    fn write_rows(&self, work: &mut ChunkWork<KeptRecords>) {
        let ChunkWork { chunk, rows, out, report, .. } = work;
        let text = chunk.text.padded().content();
        let KeptRecords { window, table, are_lines, .. } = rows;
        let mut passed = table.passed.iter().copied().peekable();
        let pass = |passed: PassedRow, out: &mut Vec<u8>| {
            self.writer.push_passed((passed, table.header), text, out);
        };
        for &(offset, count) in self.survivors.find(window) {
            if !self.writer.select().has(count) {
                report.withheld += 1;
                continue;
            }
            let offset = offset as u32;
            while let Some(other) = passed.next_if(|other| other.row.start < offset) {
                pass(other, out);
            }
            if *are_lines {
                let line = &text[offset as usize..];
                let end = memchr(b'\n', line).unwrap_or(line.len());
                self.writer.push_row(&line[..end], count, out);
            } else {
                let at = table.rows.partition_point(|row| row.start < offset);
                if let Some(row) = table.rows.get(at) {
                    self.writer.push_row(row.of(text), count, out);
                }
            }
            report.written += 1;
        }
        passed.for_each(|other| pass(other, out));
    }

    #[inline(never)]
    fn write_records(&self, work: &mut ChunkWork<KeptRecords>) {
        let ChunkWork { chunk, rows, out, report, .. } = work;
        let text = chunk.text.padded();
        let mut results = self.writer.results();
        out.reserve(text.len() + 1);
        let KeptRecords { ends, window, .. } = rows;
        for &(offset, count) in self.survivors.find(window) {
            if !self.writer.select().has(count) {
                report.withheld += 1;
                continue;
            }
            let offset = offset as usize;
            let (start, end) = match self.unit {
                Unit::Lines => (offset.checked_sub(1).map_or(0, |i| ends[i] + 1), ends[offset]),
                Unit::Bytes => {
                    let len = memchr(self.settings.record_end, &text.content()[offset..]);
                    (offset as u32, len.map_or(text.len(), |len| offset + len) as u32)
                }
            };
            report.written += 1;
            results.push_in(text, trim(text.padded(), Span { start, end }), count, out);
        }
    }
}

/// The survivors of a chunk.
#[derive(Debug, Default)]
pub(crate) struct KeptRecords {
    /// Where each line ends, as an offset in the chunk, if lines are counted.
    ends: Vec<u32>,
    window: Window,
    /// The rows, if they are those of a table, unless they are lines.
    table: row::FoundRows,
    are_lines: bool,
}

/// Finds where the lines of `text` end.
struct FindLineEnds<'a> {
    text: Padded<'a>,
    record_end: u8,
    ends: &'a mut Vec<u32>,
}

impl Task for FindLineEnds<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let FindLineEnds { text, record_end, ends } = self;
        ends.clear();
        for at in (0..text.len()).step_by(BLOCK) {
            let mut found = isa.equal(text.block(at), record_end) & low_bits(text.len() - at);
            let count = ends.len() + found.count_ones() as usize;
            // More than two lines rarely end in a block: two are written without asking.
            for _ in 0..2 {
                ends.push((at + found.trailing_zeros() as usize) as u32);
                found &= found.wrapping_sub(1);
            }
            while found != 0 {
                ends.push((at + found.trailing_zeros() as usize) as u32);
                found &= found - 1;
            }
            ends.truncate(count);
        }
        // A last line may have no end.
        if text.content().last().is_some_and(|&last| last != record_end) {
            ends.push(text.len() as u32);
        }
    }
}

impl Job for Reread<'_> {
    type Rows = KeptRecords;

    fn reading(&self) -> Reading {
        Reading { cut: self.rows.as_ref().map(RowFinder::cut), ..Reading::default() }
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, _worker: &mut Worker, work: &mut ChunkWork<KeptRecords>) {
        if let Some(finder) = &self.rows {
            work.rows.are_lines = finder.knows_lines_of(&work.chunk);
            work.rows.table.clear();
            if !work.rows.are_lines {
                let len = work.chunk.text.padded().len();
                finder.find(isa, &mut work.chunk, &mut work.rows.table);
                work.chunk.text.set_len(len);
            }
        }
        if self.unit == Unit::Bytes {
            return;
        }
        let text = work.chunk.text.padded();
        isa.call(FindLineEnds {
            text,
            record_end: self.settings.record_end,
            ends: &mut work.rows.ends,
        });
    }

    fn commit(&mut self, batch: &mut [ChunkWork<KeptRecords>]) -> Result<(), Error> {
        for ChunkWork { chunk, rows, .. } in batch {
            let len = match (self.unit, chunk.shape) {
                (Unit::Bytes, _) => chunk.text.padded().len() as u64,
                (Unit::Lines, Shape::Records) => rows.ends.len() as u64,
                (Unit::Lines, Shape::LongFirst) => 1,
                (Unit::Lines, Shape::LongRest | Shape::LongLast) => 0,
            };
            self.survivors.advance(len, &mut rows.window)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn emit<I: Isa>(&self, _isa: I, _worker: &mut Worker, work: &mut ChunkWork<KeptRecords>) {
        match self.rows {
            Some(_) => self.write_rows(work),
            None => self.write_records(work),
        }
    }

    fn on_invalid(&self) -> OnInvalid {
        match (self.on_invalid, self.writer.select()) {
            (OnInvalid::Pass, Select::All | Select::Unique) => OnInvalid::Pass,
            // Reported and diverted the first time.
            _ => OnInvalid::Drop,
        }
    }

    fn long_record(&self, _chunk: &Chunk) -> LongRecord {
        self.writer.long_record()
    }
}
