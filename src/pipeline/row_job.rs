//! The job of what writes something about every record, with the number of its line: components, faults, differences.

use super::driver::{Job, Reading, run};
use super::invalid::LongRecord;
use super::slot::{Slot, Worker};
use super::{Error, OnInvalid, Report, Settings, Sinks};
use crate::io::diagnostic::Place;
use crate::io::{Chunk, Source};
use crate::repair::{Repairs, repair};
use crate::simd::Isa;
use crate::uri::bulk::parse_each_with;
use crate::uri::{Components, ErrorKind, UriError, parse};

/// What is written about records.
pub(super) trait Rows: Sync {
    /// Appends what there is to write about the records of a chunk, and counts them.
    fn of_chunk<I: Isa>(&self, isa: I, worker: &mut Worker, place: Place<'_>, slot: &mut Slot<()>);

    /// Appends what there is to write about a record that is invalid; whether there is something.
    fn of_fault(&self, place: Place<'_>, text: &[u8], error: UriError, out: &mut Vec<u8>) -> bool;

    /// What becomes of records that cannot be judged.
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
    fn place(&self, chunk: &Chunk, is_piece: bool) -> Place<'_> {
        let source = &self.names[chunk.source];
        Place { source, line: chunk.line, indent: 0, is_piece }
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
        self.rows.of_fault(self.place(chunk, true), text, error, &mut row);
        LongRecord::Row(row)
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<()>) {
        let place = Place { line: slot.chunk.line, ..self.place(&slot.chunk, false) };
        self.rows.of_chunk(isa, worker, place, slot);
    }
}

/// Calls `row` for each record of a chunk that begins at `place`, with its place, its text and its components or what is wrong with
/// it; it says whether it wrote something. A record that is a URI-reference with `repairs` only is what it is then.
#[inline(always)]
pub(super) fn each_parsed<I: Isa>(
    isa: I,
    worker: &mut Worker,
    (record_end, repairs): (u8, Repairs),
    place: Place<'_>,
    slot: &mut Slot<()>,
    row: impl Fn(Place<'_>, &[u8], Result<Components, UriError>, &mut Vec<u8>) -> bool,
) {
    let Slot { chunk, out, report, .. } = slot;
    let mut mended = Vec::new();
    let text = chunk.text.padded();
    let lines = parse_each_with(isa, &mut worker.index, text, record_end, |found| {
        report.records += 1;
        let indent = (found.start - found.line_start) as u64;
        let place = Place { line: place.line + found.line as u64, indent, ..place };
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
        // In one place, so that it is compiled into the loop.
        report.written += u64::from(row(place, text, result, out));
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
