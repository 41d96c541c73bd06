//! Which records are URI-references, of which kind, and what is wrong with the others.

use super::driver::{Job, Slot, Worker, run};
use super::parse::mend;
use super::{Error, OnInvalid, Report, Settings, Sinks};
use crate::io::diagnostic::{self, Place};
use crate::io::{Chunk, Source, json};
use crate::repair::Repairs;
use crate::simd::Isa;
use crate::uri::bulk::parse_each_with;
use crate::uri::{ErrorKind, UriError};

/// What a check writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckFormat {
    /// A JSON object for every record: `{"line":1,"kind":"uri","error":null}`. The kind is
    /// `absolute-uri` (a URI without fragment, section 4.3), `uri` (one with a fragment), `relative-ref`
    /// (4.2), or `null` beside an error, `{"kind":"space","at":17}`.
    Jsonl,
    /// Nothing for a valid record; for another three lines: `source:line:column: kind: message`,
    /// the record, and a caret under the byte at fault. Columns count bytes of the line from 1. What
    /// a terminal cannot show is escaped, and a long record is cut around the fault.
    #[default]
    Text,
}

/// Judges every record of `sources` that is not blank by RFC 3986 Appendix A, strictly; one that is no
/// URI-reference, but is one with `repairs`, as what it is then.
///
/// The report's `invalid` counts what is no URI-reference, by kind; its `written` counts the records
/// about which something was written.
///
/// ```
/// use uriscan::{io::Source, pipeline::{CheckFormat, Settings, Sinks, check}, repair::Repairs};
/// let list = Source::new("list", &b"http://h/#f\nhttp://a/b c\n"[..]);
/// let mut out = Vec::new();
/// let (repairs, settings) = (Repairs::default(), Settings::default());
/// let report = check(vec![list], CheckFormat::Text, repairs, &settings, &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(report.invalid.total(), 1);
/// assert_eq!(
///     String::from_utf8(out).unwrap(),
///     "list:2:11: space: a URI may not hold spaces; write %20\n  http://a/b c\n            ^\n"
/// );
/// ```
///
/// # Errors
/// See [`Error`].
pub fn check(
    sources: Vec<Source>,
    format: CheckFormat,
    repairs: Repairs,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let mut job = Check {
        format,
        repairs,
        names: sources.iter().map(|source| source.name.clone()).collect(),
        record_end: settings.record_end,
        max_record: settings.max_record,
    };
    run(&mut job, sources, settings, sinks)
}

struct Check {
    format: CheckFormat,
    repairs: Repairs,
    /// The names of the sources, by their number.
    names: Vec<String>,
    record_end: u8,
    max_record: usize,
}

impl Job for Check {
    type Rows = ();

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<()>) {
        let Slot { chunk, out, report, .. } = slot;
        let mut mended = Vec::new();
        let lines = parse_each_with(
            isa,
            &mut worker.index,
            chunk.text.padded(),
            self.record_end,
            |found| {
                report.records += 1;
                let line = chunk.line + found.line as u64;
                let result = found.result.or_else(|error| {
                    match mend(found.bytes, self.repairs, &mut mended) {
                        Some(parts) => {
                            report.repaired += 1;
                            Ok(parts)
                        }
                        None => {
                            report.invalid.add(error.kind);
                            Err(error)
                        }
                    }
                });
                match (self.format, result) {
                    (CheckFormat::Jsonl, result) => json::check_row(line, result.as_ref(), out),
                    (CheckFormat::Text, Ok(_)) => return,
                    (CheckFormat::Text, Err(error)) => {
                        let place = Place {
                            source: &self.names[chunk.source],
                            line,
                            indent: (found.start - found.line_start) as u64,
                            is_piece: false,
                        };
                        diagnostic::write(place, found.bytes, error, out);
                    }
                }
                report.written += 1;
            },
        );
        report.blank = lines as u64 - report.records;
    }

    fn needs_lines(&self) -> bool {
        true
    }

    fn on_invalid(&self) -> OnInvalid {
        OnInvalid::Pass
    }

    fn long_record_row(&self, chunk: &Chunk) -> Option<Vec<u8>> {
        let mut row = Vec::new();
        let error = UriError::new(ErrorKind::TooLong, self.max_record);
        match self.format {
            CheckFormat::Jsonl => json::check_row(chunk.line, Err(&error), &mut row),
            CheckFormat::Text => {
                let source = &self.names[chunk.source];
                let place = Place { source, line: chunk.line, indent: 0, is_piece: true };
                diagnostic::write(place, chunk.text.padded().content(), error, &mut row);
            }
        }
        Some(row)
    }
}
