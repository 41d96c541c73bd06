//! One row per record, in order: its components, or its error.

use super::row_job::{Rows, each_parsed, is_of_links, run_rows};
use crate::io::write::diagnostic::Position;
use crate::io::write::row::Row;
use crate::io::{Source, Template, write::json, write::link_fields, write::tsv};
use crate::pipeline::engine::work::{ChunkWork, Worker};
use crate::pipeline::{Error, OnInvalid, Report, Settings, Sinks};
use uriscan_core::repair::Repairs;
use uriscan_core::simd::Isa;
use uriscan_core::uri::UriError;

/// The shape of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// A JSON object a line, with the names of [`crate::io::Field::OF_ROW`] in that order. An undefined
    /// component is `null`, an empty one `""`. A record that is not a URI-reference gives
    /// `{"line":4,"error":{"kind":"space","at":17}}`.
    Jsonl,
    /// Tab-separated values under a line of column names: those of [`crate::io::Field::OF_ROW`], and
    /// `error`. An undefined component is `\N`, an empty one is empty. A record that is not a
    /// URI-reference has `\N` in every column but `line` and `error`, which is `space@17`.
    Tsv,
    /// The expanded template, and the record end of the settings. An undefined component expands to nothing,
    /// like an empty one. A record that is not a URI-reference has no row; it is counted in
    /// [`Report::invalid`].
    Template(Template),
}

/// Writes a row for every record of `sources` that is not blank; relative references are valid.
///
/// A record that only `repairs` make a URI-reference has the row of its repaired form and counts as valid. (The row does not
/// show this; [`uriscan_core::repair::repair`] does.)
///
/// A row's `line` is the number of its record's line in its own source, counted from 1, blank lines included.
///
/// ```
/// use uriscan_bulk::{io::{Source, Template}, pipeline::{RowFormat, Settings, Sinks, parse}};
/// use uriscan::repair::Repairs;
/// let list = || vec![Source::new("list", &b"http://h:80?q\n\n//a b\n"[..])];
/// let rows = |format| {
///     let mut out = Vec::new();
///     let (repairs, settings) = (Repairs::default(), Settings::default());
///     let report = parse(list(), &format, repairs, &settings, &mut Sinks::new(&mut out)).unwrap();
///     assert_eq!((report.records, report.blank, report.invalid.total()), (2, 1, 1));
///     String::from_utf8(out).unwrap()
/// };
/// assert_eq!(
///     rows(RowFormat::Jsonl),
///     concat!(
///         r#"{"line":1,"scheme":"http","authority":"h:80","userinfo":null,"host":"h","port":"80","#,
///         r#""path":"","query":"q","fragment":null,"host_kind":"reg-name","domain":null,"suffix":"h","params":[["q",null]]}"#, "\n",
///         r#"{"line":3,"error":{"kind":"space","at":3}}"#, "\n",
///     )
/// );
/// assert_eq!(rows(RowFormat::Template(Template::new("{host} {port}").unwrap())), "h 80\n");
/// ```
///
/// # Errors
/// See [`Error`].
pub fn parse(
    sources: Vec<Source>,
    format: &RowFormat,
    repairs: Repairs,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    if *format == RowFormat::Tsv {
        let mut header = Vec::new();
        tsv::header(&mut header);
        if is_of_links(&sources) {
            link_fields::into_header(&mut header);
        }
        sinks.out.write_all(&header).map_err(Error::write)?;
    }
    let rows = Parse { format, repairs, record_end: settings.record_end };
    run_rows(rows, sources, settings, sinks)
}

struct Parse<'a> {
    format: &'a RowFormat,
    repairs: Repairs,
    record_end: u8,
}

impl Parse<'_> {
    /// Appends the row of a valid record.
    #[inline(always)]
    fn row(&self, position: Position<'_>, row: &Row<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        match self.format {
            RowFormat::Jsonl => {
                json::row(row, out);
                link_fields::into_object(position, start, out);
            }
            RowFormat::Tsv => {
                tsv::row(row, out);
                link_fields::into_row(position, start, out);
            }
            RowFormat::Template(template) => {
                template.fill(position, row, out);
                out.push(self.record_end);
            }
        }
    }
}

impl Rows for Parse<'_> {
    #[inline(always)]
    fn of_chunk<I: Isa>(
        &self,
        isa: I,
        worker: &mut Worker,
        position: Position<'_>,
        work: &mut ChunkWork<()>,
    ) {
        let how = (self.record_end, self.repairs);
        each_parsed(isa, worker, how, position, work, |position, text, result, out| match result {
            Ok(parts) => {
                self.row(position, &Row::new(position.line, text, parts), out);
                true
            }
            Err(error) => self.of_fault(position, text, error, out),
        });
    }

    fn of_fault(
        &self,
        position: Position<'_>,
        _text: &[u8],
        error: UriError,
        out: &mut Vec<u8>,
    ) -> bool {
        let start = out.len();
        match self.format {
            RowFormat::Jsonl => {
                json::error_row(position.line, error, out);
                link_fields::into_object(position, start, out);
            }
            RowFormat::Tsv => {
                tsv::error_row(position.line, error, out);
                link_fields::into_row(position, start, out);
            }
            RowFormat::Template(_) => return false,
        }
        true
    }

    fn on_invalid(&self) -> OnInvalid {
        match self.format {
            RowFormat::Jsonl | RowFormat::Tsv => OnInvalid::Pass,
            RowFormat::Template(_) => OnInvalid::Drop,
        }
    }
}
