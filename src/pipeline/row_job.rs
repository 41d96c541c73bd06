//! The job that writes a row about each record with its line number: components, faults, differences.

use super::driver::{Job, Reading, run};
use super::invalid::LongRecord;
use super::slot::{Slot, Worker};
use super::{Error, OnInvalid, Report, Settings, Sinks};
use crate::io::diagnostic::Position;
use crate::io::{Chunk, Source};
use crate::repair::{Repairs, repair};
use crate::simd::Isa;
use crate::uri::bulk::parse_each_with;
use crate::uri::{Components, ErrorKind, UriError, parse};

/// The rows to write about records.
pub(super) trait Rows: Sync {
    /// Appends the rows about the records of a chunk, and counts them.
    fn of_chunk<I: Isa>(
        &self,
        isa: I,
        worker: &mut Worker,
        position: Position<'_>,
        slot: &mut Slot<()>,
    );

    /// Appends the row about an invalid record, if there is one; returns whether there is.
    fn of_fault(
        &self,
        position: Position<'_>,
        text: &[u8],
        error: UriError,
        out: &mut Vec<u8>,
    ) -> bool;

    /// The policy on overlong records.
    fn on_invalid(&self) -> OnInvalid {
        OnInvalid::Pass
    }
}

/// The job.
struct RowJob<R> {
    rows: R,
    /// The names of the sources, by their number.
    names: Vec<String>,
    max_record: usize,
}

/// Writes `rows` about the records of `sources`.
pub(super) fn run_rows(
    rows: impl Rows + Send,
    sources: Vec<Source>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let names = sources.iter().map(|source| source.name.clone()).collect();
    let mut job = RowJob { rows, names, max_record: settings.max_record };
    run(&mut job, sources, settings, sinks)
}

impl<R: Rows> RowJob<R> {
    /// The beginning of a chunk.
    fn position(&self, chunk: &Chunk, is_piece: bool) -> Position<'_> {
        let source = &self.names[chunk.source];
        Position { source, line: chunk.line, indent: 0, is_piece }
    }
}

impl<R: Rows> Job for RowJob<R> {
    type Rows = ();

    fn reading(&self) -> Reading {
        Reading::with_lines()
    }

    fn on_invalid(&self) -> OnInvalid {
        self.rows.on_invalid()
    }

    fn long_record(&self, chunk: &Chunk) -> LongRecord {
        let mut row = Vec::new();
        let error = UriError::new(ErrorKind::TooLong, self.max_record);
        let text = chunk.text.padded().content();
        self.rows.of_fault(self.position(chunk, true), text, error, &mut row);
        LongRecord::Row(row)
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<()>) {
        let position = Position { line: slot.chunk.line, ..self.position(&slot.chunk, false) };
        self.rows.of_chunk(isa, worker, position, slot);
    }
}

/// Calls `row` for each record of a chunk that begins at `position`, with its position, its text and its components or error;
/// `row` returns whether it wrote something. A record that `repairs` make a URI-reference is passed as repaired.
#[inline(always)]
pub(super) fn each_parsed<I: Isa>(
    isa: I,
    worker: &mut Worker,
    (record_end, repairs): (u8, Repairs),
    position: Position<'_>,
    slot: &mut Slot<()>,
    row: impl Fn(Position<'_>, &[u8], Result<Components, UriError>, &mut Vec<u8>) -> bool,
) {
    let Slot { chunk, out, report, .. } = slot;
    let mut mended = Vec::new();
    let text = chunk.text.padded();
    let lines = parse_each_with(isa, &mut worker.index, text, record_end, |found| {
        report.records += 1;
        let indent = (found.start - found.line_start) as u64;
        let position = Position { line: position.line + found.line as u64, indent, ..position };
        let (text, result) = match found.result {
            Ok(parts) => (found.bytes, Ok(parts)),
            Err(error) => match mend(found.bytes, repairs, &mut mended) {
                Some(parts) => {
                    report.repaired += 1;
                    (&mended[..], Ok(parts))
                }
                None => {
                    report.invalid.add(error.kind);
                    (found.bytes, Err(error))
                }
            },
        };
        // Called once, so that it is inlined into the loop.
        report.written += u64::from(row(position, text, result, out));
    });
    report.blank = lines as u64 - report.records;
}

/// Replaces `mended` by `text`, which is not a URI-reference, with those of `repairs` that it needs, and gives
/// its components; `None` if it is not a URI-reference then either.
#[cold]
#[inline(never)]
fn mend(text: &[u8], repairs: Repairs, mended: &mut Vec<u8>) -> Option<Components> {
    if repairs.is_empty() {
        return None;
    }
    repair(text, repairs, mended).ok()?;
    parse(mended).ok()
}
