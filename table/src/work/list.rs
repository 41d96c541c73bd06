//! A column of a table as a list of records, or a table of pairs as one.

use std::io::{self, Read};

use arrow_array::ArrayRef;

use super::pairs::{self, Pairs};
use crate::TableFormat;
use crate::job::{Job, Task};
use crate::read::input::Input;
use crate::read::reader::Reader;
use uriscan_arrow::{Columns, each_value, spelled_out};
use uriscan_bulk::error::Error;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{push_field, push_value};
use uriscan_core::index::trimmed;

/// The values of `column` of the table `input` as a source of records, each followed by `record_end`; null is a blank line.
///
/// A `record_end` within a value becomes another control character, so a value is one record in any case. NUL is the best
/// choice: repairs leave it alone, while they remove line feeds.
///
/// ```
/// use uriscan_bulk::pipeline::{Equivalence, OnInvalid, Settings, Sinks, normalize};
/// use uriscan_table::{Input, TableFormat, column_source};
///
/// let csv = "id,url\n1,HTTP://h\n2,\n3,http://h/x\n";
/// let input = Input::stream("list", TableFormat::Csv, csv.as_bytes());
/// let (settings, mut out) = (Settings::default(), Vec::new());
/// let sources = vec![column_source(input, "url", settings.record_end)];
/// normalize(sources, &Equivalence::default(), OnInvalid::Pass, &settings, &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"http://h/\n\nhttp://h/x\n");
/// ```
pub fn column_source(input: Input, column: &str, record_end: u8) -> Source {
    let column = column.to_owned();
    source(input, record_end, |input| {
        let job = Job::new(column, Task::Copy, Columns::default(), TableFormat::Jsonl);
        let mut reader = Reader::open(input, &job)?;
        reader.read_only_target();
        Ok((reader, job.column, Content::Fields(Vec::new())))
    })
}

/// The pairs in the table `input`, as [`crate::ClassTable`] writes them, as a source of records, each followed by `record_end`: a
/// record and its survivor with a tab between, as [`uriscan_bulk::pipeline::explain()`] reads them. The other columns are ignored.
///
/// ```
/// use uriscan_bulk::pipeline::{ExplainFormat, ExplainOptions, Settings, Sinks, explain};
/// use uriscan_table::{Input, TableFormat, pair_source};
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
    source(input, record_end, |input| {
        let (reader, pairs) = pairs::open(input)?;
        Ok((reader, pairs::RECORD.to_owned(), Content::Pairs(pairs)))
    })
}

/// The rows of the table `input` as a source of lines of fields with a tab between them: the value of `column`, and those of the
/// columns `more`, which hold text; an empty field for `None`. Rows without a value of `column` are blank lines.
///
/// ```
/// use std::io::Read;
/// use uriscan_table::{Input, TableFormat, fields_source};
///
/// let input = Input::stream("list", TableFormat::Csv, &b"id,url,sum\n1,http://h,a\n2,http://i,\n3,,b\n"[..]);
/// let mut text = String::new();
/// (fields_source(input, "url", &[Some("sum"), None]).open)().unwrap().read_to_string(&mut text).unwrap();
/// assert_eq!(text, "http://h\ta\t\nhttp://i\t\t\n\n");
/// ```
pub fn fields_source(input: Input, column: &str, more: &[Option<&str>]) -> Source {
    let column = column.to_owned();
    let more: Vec<Option<String>> = more.iter().map(|name| name.map(str::to_owned)).collect();
    source(input, b'\n', move |input| {
        let reader = pairs::open_columns(input, &column)?;
        let fields = pairs::fields(&reader, &more)?;
        Ok((reader, column, Content::Fields(fields)))
    })
}

/// The values that `open` finds in `input`, with the name of the column that they are in, as a source of records.
fn source(
    input: Input,
    record_end: u8,
    open: impl FnOnce(Input) -> Result<(Reader, String, Content), Error> + Send + 'static,
) -> Source {
    let name = input.name().to_owned();
    let of_error = name.clone();
    let read = move || -> io::Result<Box<dyn Read + Send>> {
        let (reader, column, content) = open(input).map_err(|error| io_error(&of_error, &error))?;
        Ok(Box::new(Values { reader, column, content, record_end, text: Vec::new(), at: 0 }))
    };
    Source::opened_by(name, read)
}

/// What a row becomes.
enum Content {
    Pairs(Pairs),
    /// The value of the column, and those of others, by number.
    Fields(Vec<Option<usize>>),
}

/// The values of a column, read one unit of the table at a time.
struct Values {
    reader: Reader,
    column: String,
    content: Content,
    record_end: u8,
    /// The values of a unit, of which those before `at` have been read.
    text: Vec<u8>,
    at: usize,
}

impl Values {
    /// Reads the next units until one has values; at the end none has.
    fn fill(&mut self) -> Result<(), Error> {
        self.text.clear();
        self.at = 0;
        while self.text.is_empty() {
            let units = self.reader.next_unit()?;
            if units.is_empty() {
                if self.reader.lacks_column() {
                    return Err(Error::no_member(self.reader.name(), &self.column));
                }
                return Ok(());
            }
            for batch in units.iter().flatten() {
                let (end, text) = (self.record_end, &mut self.text);
                let columns = match &self.content {
                    Content::Pairs(pairs) => {
                        let push = |value: &[u8], by| push_value(value, end, by, text);
                        pairs.each(batch, end, push)?;
                        continue;
                    }
                    Content::Fields(columns) => columns,
                };
                let values = spelled_out(&self.reader.target().values(batch)?)?;
                let spelled = |column: &usize| pairs::as_text(batch.column(*column));
                let more: Vec<Option<ArrayRef>> = columns
                    .iter()
                    .map(|it| it.as_ref().map(spelled).transpose())
                    .collect::<Result<_, _>>()?;
                let mut more: Vec<_> =
                    more.iter().map(|it| it.as_ref().map(|it| each_value(it))).collect();
                let ended_by = if columns.is_empty() { end } else { b'\t' };
                for value in each_value(&values) {
                    let start = text.len();
                    push_value(trimmed(value.unwrap_or_default()), end, ended_by, text);
                    let is_blank = text.len() == start + 1;
                    for (i, column) in (1..).zip(&mut more) {
                        let value = column.as_mut().and_then(Iterator::next).flatten();
                        let ended_by = if i < columns.len() { b'\t' } else { end };
                        push_field(trimmed(value.unwrap_or_default()), ended_by, text);
                    }
                    if is_blank {
                        text.truncate(start);
                        text.push(end);
                    }
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
fn io_error(name: &str, error: &Error) -> io::Error {
    let text = error.to_string();
    let what = text.strip_prefix(name).and_then(|text| text.strip_prefix(": "));
    io::Error::other(what.unwrap_or(&text).to_owned())
}
