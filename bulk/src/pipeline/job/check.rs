//! Which records are URI-references, of which kind, and the errors of the others.

use super::row_job::{Rows, each_fault, each_parsed, run_rows};
use crate::io::write::diagnostic::{self, Position};
use crate::io::{Source, write::json, write::link_fields};
use crate::pipeline::engine::work::{ChunkWork, Worker};
use crate::pipeline::{Error, Report, Settings, Sinks};
use uriscan_core::repair::Repairs;
use uriscan_core::simd::Isa;
use uriscan_core::uri::UriError;

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

/// Checks every record of `sources` that is not blank by the grammar of RFC 3986, Appendix A; one that only `repairs` make
/// a URI-reference is checked as repaired.
///
/// The report's `invalid` counts what is not a URI-reference, by kind; its `written` counts the records
/// about which something was written.
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{CheckFormat, Settings, Sinks, check}};
/// use uriscan::repair::Repairs;
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
    let rows = Check { format, repairs, record_end: settings.record_end };
    run_rows(rows, sources, settings, sinks)
}

struct Check {
    format: CheckFormat,
    repairs: Repairs,
    record_end: u8,
}

impl Rows for Check {
    #[inline(always)]
    fn of_chunk<I: Isa>(
        &self,
        isa: I,
        worker: &mut Worker,
        position: Position<'_>,
        work: &mut ChunkWork<()>,
    ) {
        if self.format == CheckFormat::Text && self.repairs.is_empty() {
            let of_fault = |position: Position<'_>, text: &[u8], error, out: &mut Vec<u8>| {
                self.of_fault(position, text, error, out)
            };
            return each_fault(isa, worker, self.record_end, position, work, of_fault);
        }
        let how = (self.record_end, self.repairs);
        each_parsed(isa, worker, how, position, work, |position, text, result, out| match result {
            Ok(parts) => match self.format {
                CheckFormat::Jsonl => {
                    let start = out.len();
                    json::check_row(position.line, Ok(&parts), out);
                    link_fields::into_object(position, start, out);
                    true
                }
                CheckFormat::Text => false,
            },
            Err(error) => self.of_fault(position, text, error, out),
        });
    }

    fn of_fault(
        &self,
        position: Position<'_>,
        text: &[u8],
        error: UriError,
        out: &mut Vec<u8>,
    ) -> bool {
        match self.format {
            CheckFormat::Jsonl => {
                let start = out.len();
                json::check_row(position.line, Err(&error), out);
                link_fields::into_object(position, start, out);
            }
            CheckFormat::Text => diagnostic::write(position, text, error, out),
        }
        true
    }
}
