//! Text without the rows that do not fit, before it is read as columns.
//!
//! Which rows fit is decided as for rows that pass as they are ([`uriscan_core::row`]), and more strictly: columns hold UTF-8, and
//! JSON as RFC 8259 has it. A row that is omitted leaves its line ends, which are blank lines to readers, so that the lines
//! after it keep their numbers.

use std::io::{self, Read, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_schema::DataType;
use serde::de::IgnoredAny;

use super::line::{LONGEST, no_object};
use super::members::Members;
use crate::TableFormat;
use crate::job::{Job, Task};
use uriscan_arrow::Columns;
use uriscan_bulk::error::Error;
use uriscan_bulk::io::write::json;
use uriscan_bulk::pipeline::{Canonicalizer, Equivalence, Report, reason, row_at};
use uriscan_bulk::survivors::{SpillStream, StoreError};
use uriscan_core::chunk::{PaddedBuf, Span};
use uriscan_core::extract::Filter;
use uriscan_core::row::{
    self, Fault, FoundRows, HEADER_BYTES, Layout, OnBadRow, TextFormat, TextTable,
};
use uriscan_core::simd::{Isa, Kernels, Task as OnBackend};

/// Bytes that are read at a time.
const READ_BYTES: usize = 256 << 10;

/// Bytes of rejects that are held; more are in a file until they are taken.
const HELD_BYTES: usize = if cfg!(test) { 64 } else { 1 << 20 };

/// The rows that were omitted from the tables of a run. Clones share them.
#[derive(Clone)]
pub(crate) struct Omitted {
    /// Whether they are kept as objects of JSON. Those with an invalid URI, which are omitted later, are among them.
    has_rejects: bool,
    state: Arc<Mutex<State>>,
}

struct State {
    report: Report,
    held: Vec<u8>,
    /// What was held before, if there was too much of it, in a file of this directory.
    spilled: Option<SpillStream>,
    temp_dir: PathBuf,
}

impl Omitted {
    /// None so far; what is too much to be held is put into an unnamed file in `temp_dir`.
    pub(crate) fn new(has_rejects: bool, temp_dir: &Path) -> Omitted {
        let (report, held, temp_dir) = (Report::default(), Vec::new(), temp_dir.to_owned());
        let state = State { report, held, spilled: None, temp_dir };
        Omitted { has_rejects, state: Arc::new(Mutex::new(state)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the rows of `text` that were `found` not to fit, or to have an invalid URI; it begins on a `line` of the table called
    /// `name`.
    fn add(
        &self,
        (name, line): (&str, u64),
        text: &[u8],
        found: &mut FoundRows,
    ) -> Result<(), StoreError> {
        let State { report, held, spilled, temp_dir } = &mut *self.state();
        report.bad_rows += found.bad_rows;
        report.bad_lines += found.bad_lines;
        if !self.has_rejects {
            return Ok(());
        }
        found.join_invalid();
        for (row, line, what) in found.reasons(text, line) {
            json::reject((name, line), &what, row.of(text), held);
        }
        if held.len() > HELD_BYTES {
            let stream = match spilled {
                Some(stream) => stream,
                None => spilled.insert(SpillStream::in_directory(temp_dir)?),
            };
            stream.write_all(held).map_err(|error| stream.fault(error))?;
            held.clear();
        }
        Ok(())
    }

    /// Writes the objects since this was last called to `out`.
    pub(crate) fn write_rejects(&self, out: &mut dyn Write) -> Result<(), Error> {
        let State { held, spilled, .. } = &mut *self.state();
        if let Some(mut stream) = spilled.take() {
            io::copy(&mut stream, out).map_err(Error::write)?;
        }
        out.write_all(held).map_err(Error::write)?;
        held.clear();
        Ok(())
    }

    pub(crate) fn report(&self) -> Report {
        self.state().report
    }
}

/// A reader of a table without the rows that do not fit.
pub(crate) struct Fitting<R> {
    inner: R,
    name: String,
    table: TextTable,
    /// Unknown until the first row is there.
    layout: Option<Layout>,
    /// Names of members that are added to objects which stay such.
    added: Vec<String>,
    /// What tells which URIs are invalid, if rows with these are among the rejects.
    judge: Option<Judge>,
    omitted: Option<Omitted>,
    /// What was read and is not whole rows yet, and how long it must be until it is looked at again.
    text: Vec<u8>,
    enough: usize,
    /// Text of rows that fit, and how much of it was taken.
    ready: Vec<u8>,
    at: usize,
    found: FoundRows,
    /// Whether members of objects become columns.
    are_columns: bool,
    has_begun: bool,
    lines: u64,
    is_over: bool,
    /// Whether all passes: what reads it says what is wrong.
    gives_up: bool,
}

impl<R: Read> Fitting<R> {
    /// Rows of `inner`, text of a table called `name` in this `format`, for `job`; what is omitted
    /// is put into `omitted`. Fails if tables of this format have no such rows.
    pub(crate) fn new(
        inner: R,
        (format, name): (TableFormat, &str),
        job: &Job,
        omitted: Option<Omitted>,
    ) -> Result<Fitting<R>, Error> {
        let of_text = match format {
            TableFormat::Csv => TextFormat::Csv,
            TableFormat::Tsv => TextFormat::Tsv,
            TableFormat::Jsonl => TextFormat::Jsonl,
            _ => {
                let what = format!("{name}: rows of {} always fit", format.name());
                return Err(Error::unsupported(what));
            }
        };
        let table = TextTable::new(of_text, &*job.column);
        let table = table.has_header(job.dialect.has_header).on_bad_row(OnBadRow::Skip);
        let table = match job.dialect.of(format)? {
            // What other members cannot be, their readers would say of each row.
            None => table.with(job.with.clone()).keep_by(job.deciding().map(str::to_owned)),
            Some((delimiter, quote)) => table.delimiter(delimiter).quote(Some(quote)),
        };
        let added = job.added(&DataType::Utf8).into_iter().map(|(name, _)| name);
        let is_judged = omitted.as_ref().is_some_and(|omitted| omitted.has_rejects);
        let judge = (is_judged && job.drops_invalid).then(|| Judge::new(job));
        let mut found = FoundRows::default();
        (found.takes_blank, found.reports_bad) = (true, true);
        Ok(Fitting {
            inner,
            name: name.to_owned(),
            table: table.keeps_blank(true),
            layout: (of_text == TextFormat::Jsonl).then(Layout::default),
            added: added.collect(),
            judge,
            omitted,
            text: Vec::new(),
            enough: 0,
            ready: Vec::new(),
            at: 0,
            found,
            are_columns: job.to != TableFormat::Jsonl,
            has_begun: false,
            lines: 0,
            is_over: false,
            gives_up: false,
        })
    }

    /// Reads more, and moves whole rows of it to what is ready.
    fn fill(&mut self) -> io::Result<()> {
        let before = self.text.len();
        self.text.resize(before + READ_BYTES, 0);
        let read = self.inner.read(&mut self.text[before..]);
        self.text.truncate(before + *read.as_ref().unwrap_or(&0));
        self.is_over = read? == 0;
        if self.text.len() < self.enough && !self.is_over {
            return Ok(());
        }
        if self.layout.is_none() && !self.gives_up {
            let has_head = Layout::is_shown(&self.table, &self.text);
            if !has_head && !self.is_over && self.text.len() < HEADER_BYTES {
                return Ok(());
            }
            let head = &self.text[..self.text.len().min(HEADER_BYTES)];
            let layout = Layout::of_head(&self.table, head);
            self.layout =
                Some(layout.map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))?);
        }
        let end = match self.gives_up || self.is_over {
            true => Some(self.text.len()),
            false => self.table.last_end(&self.text),
        };
        match end {
            Some(end) => {
                self.enough = 0;
                let rest = self.text.split_off(end);
                let rows = mem::replace(&mut self.text, rest);
                return self.pass(rows);
            }
            None => {
                // A row so long is looked at some times, and not at each reading.
                self.enough = 2 * self.text.len();
                self.gives_up = self.text.len() > LONGEST;
            }
        }
        Ok(())
    }

    /// Moves those of `rows`, whole ones, that fit to what is ready.
    fn pass(&mut self, rows: Vec<u8>) -> io::Result<()> {
        let Some(layout) = self.layout.as_ref().filter(|_| !self.gives_up) else {
            self.ready = rows;
            return Ok(());
        };
        let mut text = PaddedBuf::from_content(&rows);
        let Fitting { table, found, .. } = self;
        let how = (layout, !mem::replace(&mut self.has_begun, true));
        Kernels::detect().run(Find { table, how, text: &mut text, found });
        if !self.are_columns {
            table.refuse_members(&rows, &self.added, found);
        }
        let is_json = table.format == TextFormat::Jsonl;
        if is_json || str::from_utf8(&rows).is_err() {
            let are_columns = self.are_columns;
            let check = |row: Span, _: &mut FoundRows| match is_json {
                false => utf8(row.of(&rows)).map(drop),
                true => require_json(utf8(row.of(&rows))?, are_columns),
            };
            table.refuse_where(&rows, found, check);
        }
        // What is unreadable was found after the others.
        found.join_invalid();
        let mut passed = 0;
        for (row, _) in &found.bad {
            self.ready.extend_from_slice(&rows[passed..row.start as usize]);
            self.ready.extend(row.of(&rows).iter().filter(|byte| **byte == b'\n'));
            passed = row.end as usize;
        }
        self.ready.extend_from_slice(&rows[passed..]);
        if let Some(judge) = &mut self.judge {
            judge.find_invalid(text.padded().content(), found);
        }
        if let Some(omitted) = &self.omitted {
            let added = omitted.add((&self.name, self.lines + 1), &rows, found);
            added.map_err(|error| io::Error::other(error.to_string()))?;
        }
        self.lines += found.lines;
        Ok(())
    }
}

impl<R: Read> Read for Fitting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.ready.len() {
            if self.is_over {
                return Ok(0);
            }
            self.ready.clear();
            self.at = 0;
            self.fill()?;
        }
        let read = (&self.ready[self.at..]).read(buffer)?;
        self.at += read;
        Ok(read)
    }
}

fn utf8(row: &[u8]) -> Result<&str, Fault> {
    str::from_utf8(row).map_err(|error| {
        Fault::from(format!("invalid UTF-8 at column {}", error.valid_up_to() + 1))
    })
}

/// Ensures that the object `line` is as RFC 8259 has it, also where no value of interest depends on that, and has values for columns if
/// its members become some.
fn require_json(line: &str, are_columns: bool) -> Result<(), Fault> {
    let is_unicode = row::unescape_json(line.as_bytes(), &mut Vec::new()).is_some();
    if !is_unicode {
        return Err(Fault::new("a string is not valid Unicode"));
    }
    if are_columns {
        return Members::default()
            .look(line.trim_matches([' ', '\t', '\r', '\n']), false)
            .map_err(Fault::from);
    }
    serde_json::from_str::<IgnoredAny>(line)
        .map(drop)
        .map_err(|error| Fault::from(no_object(&error)))
}

/// [`TextTable::find`] on a backend.
struct Find<'a> {
    table: &'a TextTable,
    how: (&'a Layout, bool),
    text: &'a mut PaddedBuf,
    found: &'a mut FoundRows,
}

impl OnBackend for Find<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Find { table, how, text, found } = self;
        table.find(isa, how, text, &mut |_| true, found);
        table.find_others(isa, how.0, text.padded().content(), found);
    }
}

/// Tells which URIs that a job reads are invalid.
struct Judge {
    canonicalizer: Canonicalizer<Equivalence>,
    filter: Option<Filter>,
    /// Whether white space is an invalid URI, and not one that is missing.
    has_blank: bool,
}

impl Judge {
    fn new(job: &Job) -> Judge {
        let Columns { equivalence, kernels, .. } = &job.columns;
        let canonicalizer = Canonicalizer::new(equivalence.clone(), *kernels);
        let has_blank = !matches!(job.task, Task::Dedup | Task::Classes(_));
        Judge { canonicalizer, filter: job.filter.clone(), has_blank }
    }

    /// Finds the rows with an invalid URI among those `found` in `text`.
    fn find_invalid(&mut self, text: &[u8], found: &mut FoundRows) {
        for (row, value) in found.rows.iter().zip(&found.values) {
            if *value == row::NULL || value.is_empty() && !self.has_blank {
                continue;
            }
            let uri = value.of(text);
            let Err(error) = self.canonicalizer.valid_form(uri) else { continue };
            if self.filter.as_ref().is_none_or(|filter| filter.cause(uri).is_none()) {
                let (_, (row, error)) = row_at(text, (*row, *value), error);
                found.invalid.push((row, reason(error).into()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, run_with};
    use uriscan_bulk::pipeline::Sinks;

    /// What is written of `text`, what is rejected, and the report, where bytes come so many at a time.
    fn ran(text: &[u8], from: TableFormat, job: &Job, bytes: usize) -> (String, String, Report) {
        struct Slow(io::Cursor<Vec<u8>>, usize);
        impl Read for Slow {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let most = self.1.min(buffer.len());
                self.0.read(&mut buffer[..most])
            }
        }
        let input = Input::stream("t", from, Slow(io::Cursor::new(text.to_vec()), bytes));
        let (mut out, mut rejects) = (Vec::new(), Vec::new());
        let sinks = Sinks::new(&mut out).rejects(&mut rejects);
        let report = run_with(vec![input], job, None, sinks).unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(out), text(rejects), report)
    }

    fn job(to: TableFormat) -> Job {
        let job = Job::new("url", Task::Copy, Columns::default(), to);
        job.skips_bad_rows(std::env::temp_dir())
    }

    #[test]
    fn rows_that_do_not_fit_are_omitted_and_reported_with_their_line_however_bytes_come() {
        let csv = b"url,n\nhttp://h/1,1,2\n\"http://h/2\",\"3\n4\"\n\nhttp://h/4\nhttp://h/5,\xFF\n\"http://h/6\"x,1\nhttp://h/7,7";
        let expected =
            "{\"url\":\"http://h/2\",\"n\":\"3\\n4\"}\n{\"url\":\"http://h/7\",\"n\":\"7\"}\n";
        for bytes in [1, 2, 7, 1 << 20] {
            let (out, rejects, report) =
                ran(csv, TableFormat::Csv, &job(TableFormat::Jsonl), bytes);
            assert_eq!(out, expected, "{bytes}");
            let lines: Vec<_> =
                rejects.lines().map(|line| line.split(",\"row\"").next().unwrap()).collect();
            let reason = |line: u64, what: &str| {
                format!("{{\"source\":\"t\",\"line\":{line},\"reason\":\"{what}\"")
            };
            let quote = "the closing quote of a field is followed by neither a delimiter nor the end of the row, on line 8";
            let expected = [
                reason(2, "expected 2 fields, found 3"),
                reason(6, "expected 2 fields, found 1"),
                reason(7, "invalid UTF-8 at column 12"),
                reason(8, quote),
            ];
            assert_eq!(lines, expected, "{bytes}");
            assert_eq!((report.bad_rows, report.bad_lines, report.records), (4, 4, 2));
        }
    }

    #[test]
    fn lines_that_are_no_json_are_omitted_where_members_become_columns_and_where_they_stay() {
        let lines = "{\"url\":\"a:1\",\"x\":NaN}\n{\"url\":\"a:2\"\n{\"url\":\"a:3\",\"x\":\"\\ud800\"}\n[]\n\
                     {\"url\":\"a:4\",\"x\":1,\"x\":2}\n{\"url\":\"a:5\",\"x\":1e400}\n{\"url\":\"a:7\"}\n{\"url\":\"a:6\"";
        let (out, rejects, _) =
            ran(lines.as_bytes(), TableFormat::Jsonl, &job(TableFormat::Jsonl), 3);
        assert_eq!(
            out,
            "{\"url\":\"a:4\",\"x\":1,\"x\":2}\n{\"url\":\"a:5\",\"x\":1e400}\n{\"url\":\"a:7\"}\n"
        );
        assert_eq!(rejects.lines().count(), 5);
        let (out, rejects, report) =
            ran(lines.as_bytes(), TableFormat::Jsonl, &job(TableFormat::Csv), 3);
        assert_eq!(out, "url\na:7\n");
        assert!(rejects.contains("the member x occurs twice"), "{rejects}");
        assert_eq!(report.bad_rows, 7);
    }

    #[test]
    fn rows_with_an_invalid_uri_are_among_the_rejects_unless_a_filter_omits_them() {
        let csv = b"url\nhttp://%zz\nhttp://h\nftp://%zz\n1,2\n";
        let mut job = job(TableFormat::Csv).drops_invalid(true);
        job.task = Task::Dedup;
        let (out, rejects, report) = ran(csv, TableFormat::Csv, &job, 100);
        assert_eq!((&*out, rejects.lines().count()), ("url\nhttp://h\n", 3));
        assert_eq!((report.records, report.invalid.total(), report.bad_rows), (3, 2, 1));
        let only = Filter::default().only(uriscan_core::extract::Property::scheme("http").unwrap());
        let (_, rejects, report) = ran(csv, TableFormat::Csv, &job.filter(only), 100);
        assert_eq!((rejects.lines().count(), report.invalid.total()), (2, 1));
    }
}
