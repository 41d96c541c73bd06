//! Records under RFC 2396, and where RFC 3986 reads them differently.

mod rows;

use super::check::CheckFormat;
use super::row_job::{Rows, is_of_links, run_rows};
use crate::io::write::diagnostic::{self, Position};
use crate::io::{Source, write::json, write::link_fields};
use crate::pipeline::engine::work::{ChunkWork, Worker, record_at};
use crate::pipeline::{Error, Report, Settings, Sinks};
use rows::{LegacyRow, tsv_error_row, tsv_header};
use uriscan_core::index::Record;
use uriscan_core::rfc2396::differ::{Difference, difference};
use uriscan_core::rfc2396::{Legacy, parse_by, parse_rfc2396};
use uriscan_core::simd::Isa;
use uriscan_core::uri::UriError;

/// What is reported about every record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyQuestion {
    /// Its components, as a JSON object; `params` are a list for each segment of the path. A record that is
    /// not a URI-reference yields `{"line":4,"error":{"kind":"space","at":17}}`.
    PartsJsonl,
    /// The same as tab-separated values under a heading, `params` as in JSON.
    PartsTsv,
    /// Whether it is a URI-reference, as [`crate::pipeline::check()`] reports it.
    Check(CheckFormat),
    /// How RFC 3986 and RFC 2396 read it differently ([`Difference`]): three lines about each that they do,
    /// or for every record `{"line":1,"differ":"registry","at":7,"error":null}`, with `null` for `differ` and `at` when
    /// they do not.
    Differ(CheckFormat),
}

/// Answers `question` by RFC 2396 for every record of `sources` that is not blank.
///
/// The report's `invalid` counts what is not a URI-reference by RFC 2396, by kind, except for
/// [`LegacyQuestion::Differ`] what is valid under neither grammar; its `differing` counts what they read differently.
///
/// ```
/// use uriscan::rfc2396::Legacy;
/// use uriscan_bulk::{io::Source, pipeline::{LegacyQuestion, Settings, Sinks, inspect_rfc2396}};
/// let list = Source::new("list", &b"mailto:a@b?c\n"[..]);
/// let mut out = Vec::new();
/// let question = LegacyQuestion::PartsJsonl;
/// inspect_rfc2396(vec![list], question, Legacy::default(), &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert!(out.starts_with(br#"{"line":1,"scheme":"mailto","opaque_part":"a@b?c","#));
/// ```
///
/// # Errors
/// See [`Error`].
pub fn inspect_rfc2396(
    sources: Vec<Source>,
    question: LegacyQuestion,
    legacy: Legacy,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    if question == LegacyQuestion::PartsTsv {
        let mut header = Vec::new();
        tsv_header(&mut header);
        if is_of_links(&sources) {
            link_fields::into_header(&mut header);
        }
        sinks.out.write_all(&header).map_err(Error::write)?;
    }
    run_rows(
        LegacyReport { question, legacy, record_end: settings.record_end },
        sources,
        settings,
        sinks,
    )
}

struct LegacyReport {
    question: LegacyQuestion,
    legacy: Legacy,
    record_end: u8,
}

impl LegacyReport {
    /// Appends the report on a record, if there is one; returns whether there is.
    #[inline(always)]
    fn answer<I: Isa>(
        &self,
        isa: I,
        position: Position<'_>,
        record: Record<'_>,
        report: &mut Report,
        out: &mut Vec<u8>,
    ) -> bool {
        let (line, text) = (position.line, record.bytes());
        if let LegacyQuestion::Differ(format) = self.question {
            return self.differ(format, position, text, report, out);
        }
        match (self.question, parse_by(isa, record, self.legacy)) {
            (LegacyQuestion::PartsJsonl, Ok(parts)) => {
                LegacyRow { line, text, parts }.json_into(out);
            }
            (LegacyQuestion::PartsTsv, Ok(parts)) => {
                LegacyRow { line, text, parts }.tsv_into(out);
            }
            (LegacyQuestion::Check(CheckFormat::Jsonl), Ok(parts)) => {
                let has_fragment = parts.query_end != parts.len;
                json::kind_row(line, parts.is_absolute(), has_fragment, out);
            }
            (_, Ok(_)) => return false,
            (_, Err(error)) => {
                report.invalid.add(error.kind);
                self.of_fault(position, text, error, out);
            }
        }
        true
    }

    fn differ(
        &self,
        format: CheckFormat,
        position: Position<'_>,
        text: &[u8],
        report: &mut Report,
        out: &mut Vec<u8>,
    ) -> bool {
        let found = difference(text, self.legacy);
        report.differing += u64::from(found.is_some());
        let error = match found {
            Some(found) => found.error(),
            None => parse_rfc2396(text, self.legacy).err(),
        };
        if let (None, Some(error)) = (found, error) {
            report.invalid.add(error.kind);
        }
        match (format, found) {
            (CheckFormat::Jsonl, found) => {
                let found = found.map(|found: Difference| (found.name(), found.at()));
                json::differ_row(position.line, found, error, out);
                true
            }
            (_, Some(found)) => {
                diagnostic::write_named(
                    position,
                    text,
                    found.at(),
                    found.name(),
                    &found.message(),
                    out,
                );
                true
            }
            (_, None) => false,
        }
    }
}

impl Rows for LegacyReport {
    #[inline(always)]
    fn of_chunk<I: Isa>(
        &self,
        isa: I,
        worker: &mut Worker,
        position: Position<'_>,
        work: &mut ChunkWork<()>,
    ) {
        let index = &mut worker.index;
        let ChunkWork { chunk, out, report, room, .. } = work;
        let text = chunk.text.padded();
        index.build_with(isa, text, self.record_end);
        for (number, line) in index.spans().enumerate() {
            if room.is_full(out.len(), line.start as usize) {
                break;
            }
            let (span, record) = record_at(text, index, line);
            if record.is_empty() {
                report.blank += 1;
                continue;
            }
            report.records += 1;
            let indent = u64::from(span.start - line.start);
            let position = position.of_record(number as u64, indent);
            let start = out.len();
            report.written += u64::from(self.answer(isa, position, record, report, out));
            match self.question {
                LegacyQuestion::PartsTsv => link_fields::into_row(position, start, out),
                LegacyQuestion::PartsJsonl
                | LegacyQuestion::Check(CheckFormat::Jsonl)
                | LegacyQuestion::Differ(CheckFormat::Jsonl) => {
                    link_fields::into_object(position, start, out);
                }
                LegacyQuestion::Check(CheckFormat::Text)
                | LegacyQuestion::Differ(CheckFormat::Text) => {}
            }
        }
    }

    fn of_fault(
        &self,
        position: Position<'_>,
        text: &[u8],
        error: UriError,
        out: &mut Vec<u8>,
    ) -> bool {
        match self.question {
            LegacyQuestion::PartsJsonl => json::error_row(position.line, error, out),
            LegacyQuestion::PartsTsv => tsv_error_row(position.line, error, out),
            LegacyQuestion::Check(CheckFormat::Jsonl) => {
                json::check_row(position.line, Err(&error), out);
            }
            LegacyQuestion::Differ(CheckFormat::Jsonl) => {
                json::differ_row(position.line, None, Some(error), out);
            }
            LegacyQuestion::Check(_) => diagnostic::write(position, text, error, out),
            // What neither grammar takes is read alike.
            LegacyQuestion::Differ(_) => return false,
        }
        true
    }
}
