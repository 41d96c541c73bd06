//! CSV and TSV: the fields of every row as text, uninterpreted.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use csv_core::ReadRecordResult;

use super::line::LONGEST;
use crate::NO_ROWS;
use crate::unit::{BATCH_BYTES, MOST_COLUMNS, batch_rows};
use crate::{Dialect, TableFormat};
use uriscan_bulk::error::Error;
use uriscan_bulk::error::ErrorKind;
use uriscan_core::extract::quotes::{AFTER_QUOTE, Quotes};

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// Reads rows to batches of columns of text, one for each field of the first row; an empty field is null.
pub(crate) struct Separated<R> {
    fields: Fields<R>,
    schema: SchemaRef,
    rows: usize,
    /// Whether the row that was read last has not been taken yet.
    is_pending: bool,
}

impl<R: Read> Separated<R> {
    /// Rows of `reader`, a table called `table` in this format, in batches of `rows`, or of fewer
    /// if these exceed [`BATCH_BYTES`]. Fails if there is no header, or without one, no row.
    pub(crate) fn new(
        reader: R,
        (dialect, format): (Dialect, TableFormat),
        table: &str,
        rows: usize,
    ) -> Result<Separated<R>, Error> {
        let mut fields = Fields::new(reader, (dialect, format), table)?;
        if !fields.read()? {
            let what = match dialect.has_header {
                true => "the header, the row with the names of columns, is missing",
                false => NO_ROWS,
            };
            return Err(Error::read(table, what));
        }
        if fields.count > MOST_COLUMNS {
            let count = fields.count;
            return Err(fields.wrong(
                ErrorKind::Columns,
                format!("has {count} columns, more than {MOST_COLUMNS}"),
            ));
        }
        let name = |field| match dialect.has_header {
            true => fields.text(field).map(str::to_owned),
            false => Ok(format!("column_{}", field + 1)),
        };
        let columns =
            (0..fields.count).map(|field| Ok(Field::new(name(field)?, DataType::Utf8, true)));
        let schema = Schema::new(columns.collect::<Result<Vec<_>, Error>>()?);
        fields.expected = Some(fields.count);
        let (is_pending, rows) = (!dialect.has_header, batch_rows(fields.count, rows));
        Ok(Separated { fields, schema: Arc::new(schema), rows, is_pending })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        let fields = &mut self.fields;
        let mut columns: Vec<StringBuilder> =
            self.schema.fields().iter().map(|_| StringBuilder::with_capacity(0, 0)).collect();
        let (mut rows, mut bytes) = (0, 0);
        while rows < self.rows && bytes < BATCH_BYTES {
            if !std::mem::take(&mut self.is_pending) && !fields.read()? {
                break;
            }
            for (field, column) in columns.iter_mut().enumerate() {
                let text = fields.text(field)?;
                column.append_option((!text.is_empty()).then_some(text));
            }
            rows += 1;
            bytes += fields.len;
        }
        if rows == 0 {
            return Ok(None);
        }
        let columns = columns.iter_mut().map(|column| -> ArrayRef { ArrayBuilder::finish(column) });
        Ok(Some(RecordBatch::try_new(self.schema.clone(), columns.collect())?))
    }
}

impl<R: Read> Iterator for Separated<R> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

/// The fields of one row after the other.
struct Fields<R> {
    reader: BufReader<R>,
    core: csv_core::Reader,
    /// What the parser does not look at: it takes what follows a closing quote for a part of the field.
    quotes: Option<Quotes>,
    table: String,
    /// The number of fields of a row, once the header is read.
    expected: Option<usize>,
    /// The fields of the last row, concatenated in the first `len` bytes, and their ends, in the first `count` elements.
    text: Vec<u8>,
    len: usize,
    ends: Vec<usize>,
    count: usize,
    /// Whether that row ended with a line, as the parser counts them.
    ends_line: bool,
    is_done: bool,
}

impl<R: Read> Fields<R> {
    fn new(
        reader: R,
        (dialect, format): (Dialect, TableFormat),
        table: &str,
    ) -> Result<Fields<R>, Error> {
        let mut core = csv_core::ReaderBuilder::new();
        let (delimiter, quote) = dialect.of(format)?.unwrap_or((b',', None));
        core.delimiter(delimiter);
        match quote {
            Some(quote) => core.quote(quote),
            None => core.quoting(false),
        };
        Ok(Fields {
            reader: BufReader::with_capacity(BUFFER_BYTES, reader),
            core: core.build(),
            quotes: quote.map(|quote| Quotes::new(delimiter, quote)),
            table: table.to_owned(),
            expected: None,
            text: vec![0; 1 << 10],
            len: 0,
            ends: vec![0; 1 << 4],
            count: 0,
            ends_line: false,
            is_done: false,
        })
    }

    /// Reads a row; `false` at the end. Blank lines are skipped.
    fn read(&mut self) -> Result<bool, Error> {
        (self.len, self.count) = (0, 0);
        while !self.is_done {
            let input = self.reader.fill_buf().map_err(|error| Error::read(&self.table, error))?;
            let is_end = input.is_empty();
            // An extra line end at the end of the input ends a last row without one; it has no other effect outside quotes.
            let input = if is_end { b"\n" } else { input };
            let (text, ends) = (&mut self.text[self.len..], &mut self.ends[self.count..]);
            let (result, taken, written, ended) = self.core.read_record(input, text, ends);
            let quoted = self.quotes.as_mut().map_or(Ok(()), |quotes| quotes.take(&input[..taken]));
            let rest = quoted.err().map(|at| memchr::memchr_iter(b'\n', &input[at..taken]).count());
            self.ends_line = result == ReadRecordResult::Record && input[..taken].ends_with(b"\n");
            self.reader.consume(if is_end { 0 } else { taken });
            self.len += written;
            self.count += ended;
            if let Some(rest) = rest {
                let line = self.core.line() - rest as u64;
                return Err(self.wrong(ErrorKind::Row, format!("{AFTER_QUOTE}, on line {line}")));
            }
            match result {
                ReadRecordResult::Record => return self.refuse_other_widths().map(|()| true),
                ReadRecordResult::OutputFull if self.len > LONGEST => {
                    let what = format!(
                        "the row has more than {} MiB, or a quote in it is never closed",
                        LONGEST >> 20
                    );
                    return Err(self.wrong(ErrorKind::LongRow, what));
                }
                ReadRecordResult::OutputFull => {
                    self.text.resize((2 * self.text.len()).min(LONGEST + 1), 0);
                }
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::InputEmpty | ReadRecordResult::End if is_end => {
                    self.is_done = true;
                    if self.len > 0 {
                        return Err(
                            self.wrong(ErrorKind::Row, "a quote in this row is never closed")
                        );
                    }
                }
                ReadRecordResult::InputEmpty | ReadRecordResult::End => {}
            }
        }
        Ok(false)
    }

    fn refuse_other_widths(&self) -> Result<(), Error> {
        match self.expected {
            Some(expected) if expected != self.count => {
                let what = format!(
                    "expected {expected} field{}, found {}",
                    if expected == 1 { "" } else { "s" },
                    self.count
                );
                Err(self.wrong(ErrorKind::Row, what))
            }
            _ => Ok(()),
        }
    }

    /// Field number `field`, from 0, of the last row.
    fn text(&self, field: usize) -> Result<&str, Error> {
        let start = if field == 0 { 0 } else { self.ends[field - 1] };
        std::str::from_utf8(&self.text[start..self.ends[field]])
            .map_err(|_| {
                self.wrong(ErrorKind::Row, format!(
                    "invalid UTF-8 in field {}; `iconv -t UTF-8 -f WINDOWS-1252` converts the table, if it is in that encoding",
                    field + 1
                ))
            })
    }

    /// The error `what` in the last row, with the line in which it begins.
    fn wrong(&self, kind: ErrorKind, what: impl Into<String>) -> Error {
        let within = memchr::memchr_iter(b'\n', &self.text[..self.len]).count() as u64;
        let line = self.core.line() - within - u64::from(self.ends_line);
        Error::text(kind, what).of_source(&*self.table).in_line(line)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use proptest::prelude::*;

    use super::*;
    use crate::Quote;

    /// The names and the rows of `text`, read by so many bytes and rows at a time.
    fn read(text: &[u8], rows: usize) -> Result<Vec<Vec<Option<String>>>, String> {
        read_as(Dialect::default(), text, rows)
    }

    fn read_as(
        dialect: Dialect,
        text: &[u8],
        rows: usize,
    ) -> Result<Vec<Vec<Option<String>>>, String> {
        let message = |error: Error| error.to_string();
        let table =
            Separated::new(text, (dialect, TableFormat::Csv), "t", rows).map_err(message)?;
        let names = table.schema();
        let mut read =
            vec![names.fields().iter().map(|field| Some(field.name().clone())).collect()];
        for batch in table {
            let batch = batch.map_err(message)?;
            for row in 0..batch.num_rows() {
                let value = |column: &ArrayRef| {
                    column.is_valid(row).then(|| column.as_string::<i32>().value(row).to_owned())
                };
                read.push(batch.columns().iter().map(value).collect());
            }
        }
        Ok(read)
    }

    #[test]
    fn a_malformed_row_is_reported_with_its_first_line() {
        for (text, what) in [
            (&b""[..], "t: the header, the row"),
            (b"\n\n", "t: the header, the row"),
            (b"a,b\n1\n", "t:2: expected 2 fields, found 1"),
            (b"a,b\r\n\"x\r\ny\",2\r\n\r\n1,2,3\r\n", "t:5: expected 2 fields, found 3"),
            (b"a,b\n\n\"x\n\n\",2\n1,2,3", "t:6: expected 2 fields, found 3"),
            (b"a,b\n1,2\n3,\"4\n5,6\n", "t:3: a quote in this row is never closed"),
            (b"a,\"b\n1,2", "t:1: a quote in this row is never closed"),
            (b"a,b\n\"", "t:2: a quote in this row is never closed"),
            (b"a,b\n1,\xFF\n", "t:2: invalid UTF-8 in field 2"),
            (b"a,b\n1,2\n\xC3,\xA9\n", "t:3: invalid UTF-8 in field 1"),
            (b"a,\xFF\n", "t:1: invalid UTF-8 in field 2"),
            (
                b"a,\"b\"c\n",
                "t:1: the closing quote of a field is followed by neither a delimiter nor the end of the row, on line 1",
            ),
            (b"a,b\r\n\r\n\"x\r\n\"y\r\nz\",1\r\n", "t:3: the closing quote"),
            (
                b"a,b\n\n1,\"oops\n2,1\n3,\"4\"\n",
                "t:3: the closing quote of a field is followed by neither a delimiter nor the end of the row, on line 5",
            ),
            (b"a,b\n1,\"2\" \n", "t:2: the closing quote"),
            (b"a,b\n1,\"2\"x", "t:2: the closing quote"),
        ] {
            let error = read(text, 10).unwrap_err();
            assert!(error.starts_with(what), "{error}, not {what}");
        }
        let open = [&b"a\n\""[..], &b"\nx".repeat(LONGEST)].concat();
        assert!(read(&open, 10).unwrap_err().starts_with("t:2: the row has more than"));
    }

    #[test]
    fn quotes_hold_anything_and_the_last_line_end_may_be_missing() {
        let rows = read(b"a,b\n\"x,\"\"\n\",\n\n2,\"3\"", 1).unwrap();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(rows, [[some("a"), some("b")], [some("x,\"\n"), None], [some("2"), some("3")]]);
    }

    #[test]
    fn a_dialect_decides_about_delimiters_quotes_and_the_header() {
        let some = |text: &str| Some(text.to_owned());
        let dialect = Dialect::default().delimiter(b'|').quote(b'\'').has_header(false);
        for rows in 1..4 {
            let read = read_as(dialect, b"'a|b'|it's\nc|'''\n'\n", rows).unwrap();
            let names = [some("column_1"), some("column_2")];
            assert_eq!(read, [names, [some("a|b"), some("it's")], [some("c"), some("'\n")]]);
            let unquoted = Dialect::default().quote(Quote::None);
            let read = read_as(unquoted, b"a,b\n\"c,\"d\n", rows).unwrap();
            assert_eq!(read[1..], [[some("\"c"), some("\"d")]]);
        }
        for (text, what) in [
            (&b""[..], "t: the number of columns is unknown"),
            (b"a|b\nc\n", "t:2: expected 2 fields, found 1"),
            (b"a|'b\nc", "t:1: a quote in this row is never closed"),
            (b"\xFF|b\nc", "t:1: invalid UTF-8 in field 1"),
        ] {
            let error = read_as(dialect, text, 10).unwrap_err();
            assert!(error.starts_with(what), "{error}, not {what}");
        }
    }

    proptest! {
        /// Fields that are written in quotes are read unchanged.
        #[test]
        fn any_text_in_quotes_comes_back(
            rows in prop::collection::vec(prop::collection::vec("[ -~\n\r\"é]{0,9}", 3), 1..9),
            ends in prop::sample::select(vec!["\n", "\r\n"]),
            at_once in 1..4usize,
        ) {
            let mut text = format!("a,b,c{ends}");
            for row in &rows {
                let quoted = row.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\"")));
                text += &quoted.collect::<Vec<_>>().join(",");
                text += ends;
            }
            let read = read(text.as_bytes(), at_once).unwrap();
            let some = |text: String| (!text.is_empty()).then_some(text);
            let expected: Vec<Vec<Option<String>>> =
                rows.into_iter().map(|row| row.into_iter().map(some).collect()).collect();
            prop_assert_eq!(&read[1..], &expected[..]);
        }
    }
}
