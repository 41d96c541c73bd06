//! Rows of text tables as records. A row is the bytes that are written, and the value of one of its columns is the
//! URI that is compared.

mod csv;
pub mod decimal;
mod json;
mod layout;
mod others;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::chunk::{PaddedBuf, Span};
use crate::index::{trim, trimmed};
use crate::simd::{Isa, Kernels};

pub use csv::Separators;
pub use json::unescape as unescape_json;
pub use layout::other_delimiter;
pub use layout::{HEADER_BYTES, Layout};
pub(crate) use others::OtherColumns;

named! {
    /// The format of a text table whose rows are read as records.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TextFormat {
        /// Comma-separated values (RFC 4180), or with another delimiter.
        Csv = "csv",
        /// Tab-separated values without quotes.
        Tsv = "tsv",
        /// A JSON object per line.
        Jsonl = "jsonl",
        /// Lines of fields with white space between them.
        Fields = "fields",
    }
}

/// What becomes of a row that does not fit: one of CSV with more or fewer fields than the header, or a stray quote; a
/// line that is not a JSON object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadRow {
    /// It ends the run.
    #[default]
    Fail,
    /// It is omitted, and counted.
    Skip,
    /// It is written as it is, at its position, and counted.
    Pass,
}

/// A text table, and the column of it that has the URIs.
///
/// ```
/// use uriscan::row::{TextFormat, TextTable};
/// let table = TextTable::new(TextFormat::Csv, "url").delimiter(Some(b';'));
/// assert_eq!((table.delimiter, table.has_header), (Some(b';'), true));
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct TextTable {
    /// The format.
    pub format: TextFormat,
    /// The column of URIs: of CSV and TSV its name in the header, or else its number from 1; of JSON lines the name of
    /// a member, or a path to it, as `page.url` or `links.1`; of fields their number from 1.
    pub column: String,
    /// The byte between the fields of CSV; a comma by default.
    pub delimiter: Option<u8>,
    /// The byte around fields of CSV and TSV that need it; by default a quotation mark in CSV, and none in TSV.
    pub quote: Option<Option<u8>>,
    /// Whether the first row of CSV and TSV has the names of the columns. Then all sources have the same one.
    pub has_header: bool,
    /// Whether rows without a URI are written at their position: null, and white space alone.
    pub keeps_blank: bool,
    /// What becomes of rows that do not fit.
    pub on_bad_row: OnBadRow,
    /// Columns, named as [`TextTable::column`] is, whose values must be equal, too, where rows are compared. Strings of
    /// JSON lines are compared as they are decoded, and other values as they are written; no value is equal to no value.
    pub with: Vec<String>,
    /// The column whose values decide which row of a group is kept, by `Keep::Min` and
    /// `Keep::Max`, instead of the URIs. Decimal numbers are compared by value, and are less than other text.
    pub keep_by: Option<String>,
}

setters! { TextTable
    { has_header: bool, keeps_blank: bool, on_bad_row: OnBadRow, with: Vec<String> }
    into { delimiter: Option<u8>, quote: Option<Option<u8>>, keep_by: Option<String> }
}

impl TextTable {
    /// A table of this `format` with the URIs in `column`, and a header if it is CSV or TSV.
    pub fn new(format: TextFormat, column: impl Into<String>) -> TextTable {
        TextTable {
            format,
            column: column.into(),
            delimiter: None,
            quote: None,
            has_header: true,
            keeps_blank: false,
            on_bad_row: OnBadRow::default(),
            with: Vec::new(),
            keep_by: None,
        }
    }

    /// Ensures that fields can be told apart.
    ///
    /// # Errors
    /// A sentence, when delimiter and quote cannot be these.
    pub fn check(&self) -> Result<(), &'static str> {
        let is_fit = |byte: u8| byte.is_ascii() && byte != b'\r' && byte != b'\n';
        match self.separators() {
            Some(_)
                if self.format == TextFormat::Tsv
                    && self.delimiter.is_some_and(|it| it != b'\t') =>
            {
                Err("the delimiter of tsv is a tab; with another one, the format is csv")
            }
            Some(Separators { delimiter, quote })
                if !is_fit(delimiter) || !quote.is_none_or(|it| is_fit(it) && it != delimiter) =>
            {
                Err("delimiter and quote must be two ASCII characters, and no line ends")
            }
            _ => Ok(()),
        }
    }

    /// What separates fields, if this is a table of CSV or TSV.
    pub fn separators(&self) -> Option<Separators> {
        let (delimiter, quote) = match self.format {
            TextFormat::Csv => (self.delimiter.unwrap_or(b','), Some(b'"')),
            TextFormat::Tsv => (b'\t', None),
            TextFormat::Jsonl | TextFormat::Fields => return None,
        };
        Some(Separators { delimiter, quote: self.quote.unwrap_or(quote) })
    }

    /// Where the last whole row of `text` ends, which begins with a row.
    pub fn last_end(&self, text: &[u8]) -> Option<usize> {
        match self.separators() {
            Some(separators) => Kernels::detect().run(csv::LastEnd { text, separators }),
            None => memchr::memrchr(b'\n', text).map(|at| at + 1),
        }
    }

    /// Replaces `found` by the rows of `text`, whole rows of a source with this `layout`; the first one is a header if
    /// `is_first`. Values that have to be decoded are appended to `text`. Rows whose URI `keeps` does not select are omitted.
    #[inline(always)]
    pub fn find<I: Isa>(
        &self,
        isa: I,
        (layout, is_first): (&Layout, bool),
        text: &mut PaddedBuf,
        keeps: &mut dyn FnMut(&[u8]) -> bool,
        found: &mut FoundRows,
    ) {
        found.clear();
        let padded = text.padded();
        let (content, len) = (padded.content(), padded.len() as u32);
        let mut search = Search { table: self, text: padded.padded(), len, keeps, found };
        match self.separators() {
            Some(separators) => search.separated(isa, content, separators, (layout, is_first)),
            None => search.lines(content, layout),
        }
        text.append(&found.decoded);
    }

    /// Makes the rows of JSON lines in `text` that have a member of one of these `names` rows that do not fit.
    pub fn refuse_members(&self, text: &[u8], names: &[String], found: &mut FoundRows) {
        if self.format != TextFormat::Jsonl {
            return;
        }
        // Without one of these names as it is written, and without an escape, a row need not be read again.
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let has_name = |bytes: &[u8]| {
            quoted.iter().any(|name| memchr::memmem::find(bytes, name.as_bytes()).is_some())
        };
        let has_escape = |bytes: &[u8]| memchr::memchr(b'\\', bytes).is_some();
        let (is_named, is_escaped) = (has_name(text), has_escape(text));
        if !is_named && !is_escaped {
            return;
        }
        let fault = |row: Span| {
            let bytes = row.of(text);
            if !(is_escaped && has_escape(bytes) || is_named && has_name(bytes)) {
                return None;
            }
            let line = json::trim(text, row).of(text);
            let name = names.iter().find(|name| json::has(line, name) == Ok(true))?;
            Some(Fault::from(format!("a member {name} already exists")))
        };
        self.refuse_where(text, found, |row, _| fault(row).map_or(Ok(()), Err));
        // Rows without a URI get the members, too.
        let passed = std::mem::take(&mut found.passed);
        for passed in passed {
            match fault(passed.row).filter(|_| passed.fits) {
                None => found.passed.push(passed),
                Some(fault) => self.refuse(text, (passed.row, fault), found),
            }
        }
        found.bad.sort_by_key(|(row, _)| row.start);
        found.passed.sort_by_key(|passed| passed.row.start);
    }

    /// Makes the rows of which `check` says what is wrong rows that do not fit.
    #[inline(always)]
    pub fn refuse_where(
        &self,
        text: &[u8],
        found: &mut FoundRows,
        mut check: impl FnMut(Span, &mut FoundRows) -> Result<(), Fault>,
    ) {
        let (mut rows, mut values) =
            (std::mem::take(&mut found.rows), std::mem::take(&mut found.values));
        // The first one ends the run.
        let mut first = found.bad.first().map_or(u32::MAX, |(row, _)| row.start);
        let mut kept = 0;
        for at in 0..rows.len() {
            let row = rows[at];
            match check(row, found) {
                Ok(()) => {
                    (rows[kept], values[kept]) = (row, values[at]);
                    kept += 1;
                }
                Err(fault) => {
                    if self.on_bad_row == OnBadRow::Fail && row.start < first {
                        found.bad.clear();
                        first = row.start;
                    }
                    self.refuse(text, (row, fault), found);
                }
            }
        }
        rows.truncate(kept);
        values.truncate(kept);
        (found.rows, found.values) = (rows, values);
        found.passed.sort_by_key(|passed| passed.row.start);
    }

    /// Takes a row that does not fit.
    #[cold]
    fn refuse(&self, text: &[u8], (row, fault): (Span, Fault), found: &mut FoundRows) {
        if self.on_bad_row == OnBadRow::Pass {
            found.passed.push(PassedRow { row, fits: false });
        }
        found.bad_rows += 1;
        found.bad_lines += 1 + memchr::memchr_iter(b'\n', row.of(text)).count() as u64;
        let ends_run = self.on_bad_row == OnBadRow::Fail && found.bad.is_empty();
        if found.reports_bad || ends_run {
            found.bad.push((row, fault));
        }
    }
}

/// The span of the value of a row without one.
pub const NULL: Span = Span { start: u32::MAX, end: u32::MAX };

/// Where the text of a value is, and whether it has to be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawValue {
    pub(crate) span: Span,
    pub(crate) is_escaped: bool,
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(crate) what: Cow<'static, str>,
    /// The offset in the text at which that is seen, if the row has other lines as well.
    pub(crate) at: Option<usize>,
}

impl Fault {
    /// `what` is wrong with the row.
    pub fn new(what: &'static str) -> Fault {
        Fault { what: Cow::Borrowed(what), at: None }
    }

    fn at(self, at: usize) -> Fault {
        Fault { at: Some(at), ..self }
    }
}

impl From<String> for Fault {
    fn from(what: String) -> Fault {
        Fault { what: Cow::Owned(what), at: None }
    }
}

/// A row that is in no class, and is written at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassedRow {
    /// The row, without its line feed.
    pub row: Span,
    /// Whether it has the fields of the table, as the header and rows without a URI do.
    pub fits: bool,
}

/// The rows of a chunk. Reusable.
#[derive(Debug, Default)]
pub struct FoundRows {
    /// The rows that have a URI, without their line feeds.
    pub rows: Vec<Span>,
    /// The URIs of these.
    pub values: Vec<Span>,
    /// The header.
    pub header: Option<Span>,
    /// Rows that are written whatever the others are.
    pub passed: Vec<PassedRow>,
    /// The number of rows that do not fit.
    pub bad_rows: u64,
    /// The number of lines that these are on.
    pub bad_lines: u64,
    /// Whether all of these are reported, one by one; else the first one is, if it ends the run.
    pub reports_bad: bool,
    /// Those that are reported.
    pub bad: Vec<(Span, Fault)>,
    /// Rows whose URI is invalid, if these are reported as the bad ones are.
    pub invalid: Vec<(Span, Fault)>,
    /// How many rows have no URI.
    pub blank: u64,
    /// Whether these are among the rows, null if [`TextTable::keeps_blank`], and others as if they had an empty one.
    pub takes_blank: bool,
    /// How many objects there are.
    pub objects: u64,
    /// How many of these do not even have the member.
    pub missing: u64,
    /// How many line feeds there are.
    pub lines: u64,
    /// What the rows have in other columns.
    pub others: OtherColumns,
    /// The values that had to be decoded.
    decoded: Vec<u8>,
}

impl FoundRows {
    /// Puts the rows with an invalid URI among those that do not fit, in order.
    pub fn join_invalid(&mut self) {
        self.bad.append(&mut self.invalid);
        self.bad.sort_by_key(|(row, _)| row.start);
    }

    /// The rows of `text` that are reported, each with the line on which it begins, where the text begins on line
    /// `first`, and what is wrong with it.
    pub fn reasons(&self, text: &[u8], first: u64) -> impl Iterator<Item = (Span, u64, String)> {
        let newlines = |text: &[u8]| memchr::memchr_iter(b'\n', text).count() as u64;
        let (mut line, mut counted) = (first, 0);
        self.bad.iter().map(move |(row, fault)| {
            let start = row.start as usize;
            line += newlines(&text[counted..start]);
            counted = start;
            let at = fault.at.map(|at| line + newlines(&text[start..at]));
            let on_line = at.map_or_else(String::new, |at| format!(", on line {at}"));
            (*row, line, format!("{}{on_line}", fault.what))
        })
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        let FoundRows { rows, values, passed, bad, invalid, others, decoded, .. } = self;
        [rows, values].into_iter().for_each(Vec::clear);
        passed.clear();
        others.clear();
        [bad, invalid].into_iter().for_each(Vec::clear);
        decoded.clear();
        (self.header, self.lines, self.blank) = (None, 0, 0);
        (self.bad_rows, self.bad_lines, self.objects, self.missing) = (0, 0, 0, 0);
    }
}

/// What finds the rows of a chunk.
struct Search<'a> {
    table: &'a TextTable,
    /// The text of the chunk and what may be read after it.
    text: &'a [u8],
    /// Length of the content of the chunk.
    len: u32,
    keeps: &'a mut dyn FnMut(&[u8]) -> bool,
    found: &'a mut FoundRows,
}

impl Search<'_> {
    #[inline(always)]
    fn separated<I: Isa>(
        &mut self,
        isa: I,
        content: &[u8],
        separators: Separators,
        (layout, is_first): (&Layout, bool),
    ) {
        self.found.lines = memchr::memchr_iter(b'\n', content).count() as u64;
        let mut is_header = is_first && self.table.has_header;
        // An empty field is null.
        let has_text = |raw: &RawValue| !raw.span.is_empty();
        let mut rows = csv::Rows::new(isa, content, separators);
        loop {
            let mut value = None;
            let note = |number, raw| {
                if number == layout.column {
                    value = Some(raw);
                }
            };
            let Some(row) = rows.next_row(note) else { break };
            if row.is_blank(content) {
                // No row of CSV; also of tables with one column.
                self.found.blank += u64::from(!is_header);
                continue;
            }
            if std::mem::take(&mut is_header) {
                self.found.header = Some(row.whole);
                continue;
            }
            let fault = match row.fault {
                None if row.fields != layout.fields => Some(layout.wrong_width(row.fields)),
                fault => fault,
            };
            match (fault, value) {
                (None, Some(raw)) => {
                    self.take(row.whole, Some(raw).filter(has_text), |text, out| {
                        csv::unescape(text, separators.quote.unwrap_or_default(), out);
                        Some(())
                    });
                }
                (fault, _) => self.bad(row.whole, fault.unwrap_or(layout.wrong_width(row.fields))),
            }
        }
    }

    #[inline(always)]
    fn lines(&mut self, content: &[u8], layout: &Layout) {
        let mut start = 0;
        while start < content.len() {
            let end = memchr::memchr(b'\n', &content[start..]);
            self.found.lines += u64::from(end.is_some());
            let end = end.map_or(content.len(), |at| start + at);
            let row = Span { start: start as u32, end: end as u32 };
            start = end + 1;
            let line = trim(self.text, row);
            if line.is_empty() {
                self.found.blank += 1;
                continue;
            }
            match self.table.format {
                TextFormat::Jsonl => self.object(row, json::trim(self.text, row)),
                _ => match layout.field(line.of(self.text)) {
                    Ok(at) => {
                        let span = Span { start: line.start + at.start, end: line.start + at.end };
                        let raw = RawValue { span, is_escaped: false };
                        self.take(row, Some(raw), |_, _| None);
                    }
                    Err(fault) => self.bad(row, fault),
                },
            }
        }
    }

    /// Takes the row of JSON lines whose object is at `line`.
    #[inline(always)]
    fn object(&mut self, row: Span, line: Span) {
        let moved = |raw: RawValue| {
            let Span { start, end } = raw.span;
            RawValue { span: Span { start: line.start + start, end: line.start + end }, ..raw }
        };
        let value = json::value(line.of(self.text), &self.table.column);
        self.found.objects += u64::from(value.is_ok());
        match value {
            Ok(json::Value::Text(raw) | json::Value::Other(raw)) => {
                self.take(row, Some(moved(raw)), json::unescape);
            }
            Ok(json::Value::Null) => self.take(row, None, json::unescape),
            Ok(json::Value::Missing) => {
                self.found.missing += 1;
                self.take(row, None, json::unescape);
            }
            Err(fault) => self.bad(row, fault),
        }
    }

    /// Takes a row that fits, with its value, which `decode` decodes where that is necessary.
    #[inline(always)]
    fn take(
        &mut self,
        row: Span,
        raw: Option<RawValue>,
        decode: impl Fn(&[u8], &mut Vec<u8>) -> Option<()>,
    ) {
        let FoundRows { rows, values, decoded, passed, blank, takes_blank, .. } = &mut *self.found;
        let (value, bytes) = match raw {
            Some(RawValue { span, is_escaped: false }) if !span.is_empty() => {
                let span = trim(self.text, span);
                (span, span.of(self.text))
            }
            Some(RawValue { span, is_escaped: true }) => {
                let before = decoded.len();
                if decode(span.of(self.text), decoded).is_none() {
                    decoded.truncate(before);
                    let what = format!("the member {} is not valid Unicode", self.table.column);
                    return self.bad(row, Fault::from(what));
                }
                let text = trimmed(&decoded[before..]);
                let start = text.as_ptr().addr() - decoded.as_ptr().addr();
                let end = (start + text.len()) as u32;
                // Moved to the end of the text when all rows are known.
                (Span { start: start as u32, end }, text)
            }
            _ => (Span::default(), &b""[..]),
        };
        if bytes.is_empty() && *takes_blank {
            *blank += u64::from(raw.is_none());
            if raw.is_some() || self.table.keeps_blank {
                rows.push(row);
                values.push(if raw.is_some() { Span::default() } else { NULL });
            }
        } else if bytes.is_empty() {
            *blank += 1;
            if self.table.keeps_blank {
                passed.push(PassedRow { row, fits: true });
            }
        } else if (self.keeps)(bytes) {
            let is_decoded = raw.is_some_and(|raw| raw.is_escaped);
            let moved = if is_decoded { self.len } else { 0 };
            rows.push(row);
            values.push(Span { start: value.start + moved, end: value.end + moved });
        }
    }

    #[cold]
    fn bad(&mut self, row: Span, fault: Fault) {
        self.table.refuse(self.text, (row, fault), self.found);
    }
}
