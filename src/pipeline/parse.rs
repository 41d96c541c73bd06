//! One row per record, in order: its components, or what is wrong with it.

use super::driver::{Job, Slot, Worker, run};
use super::{Error, OnInvalid, Report, Settings, Sinks};
use crate::io::row::Row;
use crate::io::{Chunk, Source, Template, json, tsv};
use crate::repair::{Repairs, repair};
use crate::simd::Isa;
use crate::uri::bulk::parse_each_with;
use crate::uri::{Components, ErrorKind, UriError, parse as parse_one};

/// The shape of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// A JSON object a line, with the names of [`crate::io::Field::ALL`] in that order. An undefined
    /// component is `null`, an empty one `""`. A record that is no URI-reference gives
    /// `{"line":4,"error":{"kind":"space","at":17}}`.
    Jsonl,
    /// Tab-separated values under a line of column names: those of [`crate::io::Field::ALL`], and
    /// `error`. An undefined component is `\N`, an empty one is empty. A record that is no
    /// URI-reference has `\N` in every column but `line` and `error`, which is `space@17`.
    Tsv,
    /// The template, filled, and the record end of the settings. An undefined component gives nothing,
    /// like an empty one. A record that is no URI-reference has no row; it is counted in
    /// [`Report::invalid`].
    Template(Template),
}

/// Writes a row for every record of `sources` that is not blank; relative references are as good
/// as URIs here.
///
/// A record that is no URI-reference, but is one with `repairs`, has the row of what it is then, and counts as
/// valid. (No row says so: [`repair`] tells what is done to a record.)
///
/// A row's `line` is the number of its record's line in its own source, counted from 1, blank lines included.
///
/// ```
/// use uriscan::{io::{Source, Template}, pipeline::{RowFormat, Settings, Sinks, parse}, repair::Repairs};
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
///         r#""path":"","query":"q","fragment":null,"host_kind":"reg-name"}"#, "\n",
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
        sinks.out.write_all(&header).map_err(Error::Write)?;
    }
    let mut job =
        Parse { format, repairs, record_end: settings.record_end, max_record: settings.max_record };
    run(&mut job, sources, settings, sinks)
}

struct Parse<'a> {
    format: &'a RowFormat,
    repairs: Repairs,
    record_end: u8,
    max_record: usize,
}

impl Parse<'_> {
    /// Appends the row of a valid record.
    #[inline(always)]
    fn row(&self, row: &Row<'_>, out: &mut Vec<u8>) {
        match self.format {
            RowFormat::Jsonl => json::row(row, out),
            RowFormat::Tsv => tsv::row(row, out),
            RowFormat::Template(template) => {
                template.fill(row, out);
                out.push(self.record_end);
            }
        }
    }

    /// Appends the row of an invalid record; whether there is one.
    fn error_row(&self, line: u64, error: UriError, out: &mut Vec<u8>) -> bool {
        match self.format {
            RowFormat::Jsonl => json::error_row(line, error, out),
            RowFormat::Tsv => tsv::error_row(line, error, out),
            RowFormat::Template(_) => return false,
        }
        true
    }
}

/// Replaces `mended` by `text`, which is no URI-reference, with those of `repairs` that it needs, and gives
/// its components; `None` when it is no URI-reference then either.
#[cold]
#[inline(never)]
pub(super) fn mend(text: &[u8], repairs: Repairs, mended: &mut Vec<u8>) -> Option<Components> {
    if repairs.is_empty() {
        return None;
    }
    repair(text, repairs, mended).ok()?;
    parse_one(mended).ok()
}

impl Job for Parse<'_> {
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
                match found.result {
                    Ok(parts) => {
                        self.row(&Row { line, text: found.bytes, parts }, out);
                        report.written += 1;
                    }
                    Err(error) => {
                        if let Some(parts) = mend(found.bytes, self.repairs, &mut mended) {
                            self.row(&Row { line, text: &mended, parts }, out);
                            report.written += 1;
                            report.repaired += 1;
                            return;
                        }
                        report.invalid.add(error.kind);
                        report.written += u64::from(self.error_row(line, error, out));
                    }
                }
            },
        );
        report.blank = lines as u64 - report.records;
    }

    fn needs_lines(&self) -> bool {
        true
    }

    fn on_invalid(&self) -> OnInvalid {
        match self.format {
            RowFormat::Jsonl | RowFormat::Tsv => OnInvalid::Pass,
            RowFormat::Template(_) => OnInvalid::Drop,
        }
    }

    fn long_record_row(&self, chunk: &Chunk) -> Option<Vec<u8>> {
        let mut row = Vec::new();
        let error = UriError::new(ErrorKind::TooLong, self.max_record);
        self.error_row(chunk.line, error, &mut row);
        Some(row)
    }
}
