//! A column of a table as a list of records, or a table of pairs as one.

use std::io::{self, Read};

use super::TableError;
use super::job::{Job, Task};
use super::pairs::{self, Pairs};
use super::read::{Input, Reader};
use super::{TableFormat, values};
use crate::arrow::{Columns, each_value, spelled_out};
use crate::io::Source;
use crate::pipeline::push_value;

/// The values of `column` of the table `input` as a source of records, each followed by `record_end`; null is a blank line.
///
/// A `record_end` within a value becomes another control character, so a value is one record in any case. NUL is the best
/// choice: repairs leave it alone, while they remove line feeds.
///
/// ```
/// use uriscan::pipeline::{Equivalence, OnInvalid, Settings, Sinks, normalize};
/// use uriscan::table::{Input, TableFormat, column_source};
///
/// let csv = "id,url\n1,HTTP://h\n2,\n3,http://h/x\n";
/// let input = Input::stream("list", TableFormat::Csv, csv.as_bytes());
/// let (settings, mut out) = (Settings::default(), Vec::new());
/// let sources = vec![column_source(input, "url", settings.record_end)];
/// normalize(sources, &Equivalence::default(), OnInvalid::Pass, &settings, &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"http://h/\n\nhttp://h/x\n");
/// ```
pub fn column_source(input: Input, column: &str, record_end: u8) -> Source {
    let name = input.name().to_owned();
    let (of_error, column) = (name.clone(), column.to_owned());
    let read = move || -> io::Result<Box<dyn Read + Send>> {
        let job = Job::new(column, Task::Copy, Columns::default(), TableFormat::Jsonl);
        let mut reader = Reader::open(input, &job).map_err(|error| io_error(&of_error, &error))?;
        reader.read_only_target();
        let (column, pairs, text) = (job.column, None, Vec::new());
        Ok(Box::new(Values { reader, column, pairs, record_end, text, at: 0 }))
    };
    Source { open: Box::new(read), ..Source::new(name, io::empty()) }
}

/// The pairs in the table `input`, as [`super::ClassTable`] writes them, as a source of records, each followed by `record_end`: a
/// record and its survivor with a tab between, as [`crate::pipeline::explain()`] reads them. The other columns are ignored.
///
/// ```
/// use uriscan::pipeline::{ExplainFormat, ExplainOptions, Settings, Sinks, explain};
/// use uriscan::table::{Input, TableFormat, pair_source};
///
/// let csv = "line,uri,kept\n7,HTTP://h,http://h\n8,http://i,\n";
/// let input = Input::stream("list", TableFormat::Csv, csv.as_bytes());
/// let (settings, mut out) = (Settings::default(), Vec::new());
/// let options = ExplainOptions::new(ExplainFormat::Jsonl).has_pairs(true);
/// let sources = vec![pair_source(input, settings.record_end)];
/// explain(sources, &options, &settings, &mut Sinks::new(&mut out)).unwrap();
/// let text = String::from_utf8(out).unwrap();
/// let [pair, alone] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
/// assert!(pair.contains(r#""a":{"uri":"HTTP://h""#) && pair.contains(r#""level":"syntax""#));
/// assert!(alone.starts_with(r#"{"line":2,"uri":"http://i""#));
/// ```
pub fn pair_source(input: Input, record_end: u8) -> Source {
    let name = input.name().to_owned();
    let of_error = name.clone();
    let read = move || -> io::Result<Box<dyn Read + Send>> {
        let (reader, pairs) = pairs::open(input).map_err(|error| io_error(&of_error, &error))?;
        let (column, pairs, text) = (pairs::RECORD.to_owned(), Some(pairs), Vec::new());
        Ok(Box::new(Values { reader, column, pairs, record_end, text, at: 0 }))
    };
    Source { open: Box::new(read), ..Source::new(name, io::empty()) }
}

/// The values of a column, read one unit of the table at a time.
struct Values {
    reader: Reader,
    column: String,
    /// The columns of pairs, if records are pairs.
    pairs: Option<Pairs>,
    record_end: u8,
    /// The values of a unit, of which those before `at` have been read.
    text: Vec<u8>,
    at: usize,
}

impl Values {
    /// Reads the next units until one has values; at the end none has.
    fn fill(&mut self) -> Result<(), TableError> {
        self.text.clear();
        self.at = 0;
        while self.text.is_empty() {
            let units = self.reader.next_unit()?;
            if units.is_empty() {
                if self.reader.lacks_column() {
                    let (table, member) = (self.reader.name().to_owned(), self.column.clone());
                    return Err(TableError::Member { table, member });
                }
                return Ok(());
            }
            for batch in units.iter().flatten() {
                if let Some(pairs) = &self.pairs {
                    let (end, text) = (self.record_end, &mut self.text);
                    pairs.each(batch, end, |value, ended_by| {
                        push_value(value, end, ended_by, text);
                    })?;
                    continue;
                }
                let values = spelled_out(&self.reader.target().values(batch)?)?;
                for value in each_value(&values) {
                    let value = values::trimmed(value.unwrap_or_default());
                    push_value(value, self.record_end, self.record_end, &mut self.text);
                }
            }
        }
        Ok(())
    }
}

impl Read for Values {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len() {
            self.fill().map_err(|error| io_error(self.reader.name(), &error))?;
        }
        let count = (&self.text[self.at..]).read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

/// `error` of the table `name` for a reader of bytes; whoever reads it adds the name.
fn io_error(name: &str, error: &TableError) -> io::Error {
    let text = error.to_string();
    let what = text.strip_prefix(name).and_then(|text| text.strip_prefix(": "));
    io::Error::other(what.unwrap_or(&text).to_owned())
}
