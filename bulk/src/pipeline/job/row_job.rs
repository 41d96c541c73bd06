//! The job that writes a row about each record with its line number: components, faults, differences.

use crate::io::read::origins::{RecordOrigin, RecordOrigins};
use crate::io::write::diagnostic::Position;
use crate::io::write::paint::Paint;
use crate::io::{Chunk, Source};
use crate::pipeline::engine::driver::{Job, Reading, run};
use crate::pipeline::engine::invalid::LongRecord;
use crate::pipeline::engine::work::{ChunkWork, Worker, record_at};
use crate::pipeline::{Error, OnInvalid, Report, Settings, Sinks};
use uriscan_core::repair::{Repairs, repair};
use uriscan_core::simd::Isa;
use uriscan_core::uri::bulk::{parse_each_with, parse_record};
use uriscan_core::uri::{Components, UriError, UriErrorKind, parse};

/// The rows to write about records.
pub(crate) trait Rows: Sync {
    /// Appends the rows about the records of a chunk, and counts them.
    fn of_chunk<I: Isa>(
        &self,
        isa: I,
        worker: &mut Worker,
        position: Position<'_>,
        work: &mut ChunkWork<()>,
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

/// What says where the records of the sources of a job are.
pub(crate) struct Positions {
    names: Vec<String>,
    /// Where the records come from, of lists that are made of others.
    origins: Vec<Option<RecordOrigins>>,
    record_end: u8,
    has_context: bool,
    paint: Paint,
}

impl Positions {
    /// Positions in `sources`, which have not been opened.
    pub(crate) fn new(sources: &[Source], settings: &Settings) -> Positions {
        let origins: Vec<_> = sources.iter().map(|source| source.origins.clone()).collect();
        origins.iter().flatten().for_each(RecordOrigins::ask_for);
        Positions {
            names: sources.iter().map(|source| source.name.clone()).collect(),
            origins,
            record_end: settings.record_end,
            has_context: settings.has_context,
            paint: Paint { is_on: settings.has_colour },
        }
    }

    /// The beginning of `chunk`, whose records come from `origins`.
    pub(crate) fn of<'p>(&'p self, chunk: &Chunk, origins: &'p [RecordOrigin]) -> Position<'p> {
        let start = Position::new(&self.names[chunk.source], chunk.line);
        Position { origins, has_context: self.has_context, paint: self.paint, ..start }
    }

    /// Where the records of the chunk in `work` come from, if it is one of a list that is made of another source: those
    /// that it has, as some of its records are not kept, or it is the rest of a chunk; or else the next ones of its source.
    pub(crate) fn take_origins<R>(&self, work: &mut ChunkWork<R>) -> Vec<RecordOrigin> {
        let ChunkWork { chunk, origins: left, .. } = work;
        if !left.is_empty() {
            return std::mem::take(left);
        }
        let Some(origins) = &self.origins[chunk.source] else { return Vec::new() };
        let text = chunk.text.padded().content();
        origins.take(chunk.line, memchr::memchr_iter(self.record_end, text).count())
    }
}

struct RowJob<R> {
    rows: R,
    positions: Positions,
    max_record: usize,
}

pub(crate) fn run_rows(
    rows: impl Rows + Send,
    sources: Vec<Source>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let positions = Positions::new(&sources, settings);
    let mut job = RowJob { rows, positions, max_record: settings.max_record };
    run(&mut job, sources, settings, sinks)
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
        let error = UriError::new(UriErrorKind::TooLong, self.max_record);
        let text = chunk.text.padded().content();
        let position = Position { is_piece: true, ..self.positions.of(chunk, &[]) };
        self.rows.of_fault(position, text, error, &mut row);
        LongRecord::Row(row)
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<()>) {
        let origins = self.positions.take_origins(work);
        let position = self.positions.of(&work.chunk, &origins);
        self.rows.of_chunk(isa, worker, position, work);
        if work.room.cut.is_some() || work.is_filtered {
            work.origins = origins;
        }
    }
}

/// Whether `sources` are lists of links, whose rows name the file, the column and the context.
pub(crate) fn is_of_links(sources: &[Source]) -> bool {
    sources.iter().any(|source| source.origins.is_some())
}

/// Calls `row` for each record of a chunk that begins at `position`, with its position, its text and its components or error;
/// `row` returns whether it wrote something. A record that `repairs` make a URI-reference is passed as repaired.
#[inline(always)]
pub(crate) fn each_parsed<I: Isa>(
    isa: I,
    worker: &mut Worker,
    (record_end, repairs): (u8, Repairs),
    position: Position<'_>,
    work: &mut ChunkWork<()>,
    row: impl Fn(Position<'_>, &[u8], Result<Components, UriError>, &mut Vec<u8>) -> bool,
) {
    let ChunkWork { chunk, out, report, room, .. } = work;
    let mut repaired = Vec::new();
    let text = chunk.text.padded();
    let lines = parse_each_with(isa, &mut worker.index, text, record_end, |found| {
        if room.is_full(out.len(), found.line_start) {
            return false;
        }
        report.records += 1;
        let indent = (found.start - found.line_start) as u64;
        let position = position.of_record(found.line as u64, indent);
        let needs_no_repair = found.result.is_ok() && !repairs.change_valid(found.bytes);
        let (text, result) = match found.result {
            result if needs_no_repair => (found.bytes, result),
            result => match repair_parts(found.bytes, result, repairs, &mut repaired) {
                Ok((parts, is_changed)) => {
                    report.repaired += u64::from(is_changed);
                    (&repaired[..], Ok(parts))
                }
                Err(error) => {
                    report.invalid.add(error.kind);
                    (found.bytes, Err(error))
                }
            },
        };
        // Called once, so that it is inlined into the loop.
        report.written += u64::from(row(position, text, result, out));
        true
    });
    report.blank = lines as u64 - report.records;
}

/// Calls `row` for the records of a chunk that are not URI-references, as [`each_parsed`] without repairs does, and only counts the
/// others: components are found of few.
#[inline(always)]
pub(crate) fn each_fault<I: Isa>(
    isa: I,
    worker: &mut Worker,
    record_end: u8,
    position: Position<'_>,
    work: &mut ChunkWork<()>,
    row: impl Fn(Position<'_>, &[u8], UriError, &mut Vec<u8>) -> bool,
) {
    let ChunkWork { chunk, out, report, room, .. } = work;
    let Worker { index, split, spans, .. } = worker;
    let text = chunk.text.padded();
    index.build_with(isa, text, record_end);
    spans.clear();
    spans.extend(index.spans());
    split.split(isa, text, index, spans, true);
    let mut lines = spans.len();
    for seen in split.others() {
        let number = seen.number() as usize;
        let whole = spans[number];
        if seen.has_form(isa, &text.padded()[whole.start as usize..], whole.len()) {
            continue;
        }
        let (span, record) = record_at(text, index, whole);
        if record.is_empty() {
            report.blank += 1;
            continue;
        }
        let Err(error) = parse_record(isa, record) else { continue };
        if room.is_full(out.len(), whole.start as usize) {
            lines = number;
            break;
        }
        report.invalid.add(error.kind);
        let position = position.of_record(number as u64, (span.start - whole.start).into());
        report.written += u64::from(row(position, record.bytes(), error, out));
    }
    report.records = lines as u64 - report.blank;
}

/// Replaces `repaired` by `text`, whose components or error are `parsed`, with those of `repairs` that it needs, and gives its
/// components and whether it is changed. Fails if it is not a URI-reference then either, with what is still wrong.
#[cold]
#[inline(never)]
fn repair_parts(
    text: &[u8],
    parsed: Result<Components, UriError>,
    repairs: Repairs,
    repaired: &mut Vec<u8>,
) -> Result<(Components, bool), UriError> {
    if let (true, Err(error)) = (repairs.is_empty(), parsed) {
        return Err(error);
    }
    let changes = repair(text, repairs, repaired)?;
    Ok((parse(repaired)?, !changes.is_empty()))
}
