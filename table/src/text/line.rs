//! The lines of a table of JSON lines, one by one.

use std::io::{BufRead, Read};

use uriscan_bulk::error::Error;
use uriscan_bulk::error::ErrorKind;
use uriscan_core::index::trimmed;

/// Bytes of the longest line, without its end: what [`uriscan_bulk::pipeline::Settings::max_record`] is when nothing is said.
pub(crate) const LONGEST: usize = if cfg!(test) { 4 << 10 } else { 64 << 20 };

/// Reads lines that are not blank.
pub(crate) struct LineReader<R> {
    reader: R,
    table: String,
    /// Of the last line that was read, from 1.
    number: u64,
    line: Vec<u8>,
}

impl<R: BufRead> LineReader<R> {
    pub(crate) fn new(reader: R, table: &str) -> LineReader<R> {
        LineReader { reader, table: table.to_owned(), number: 0, line: Vec::new() }
    }

    /// The next line that is not blank, without the white space of JSON around it; `None` at the
    /// end. Fails when it cannot be read, is longer than [`LONGEST`], or is not UTF-8.
    pub(crate) fn next(&mut self) -> Result<Option<&str>, Error> {
        while self.read()? {
            if !trimmed(&self.line).is_empty() {
                return self.text().map(Some);
            }
        }
        Ok(None)
    }

    /// What is wrong with the line that was read last: it is not an object, or does not fit the columns.
    pub(crate) fn wrong(&self, what: String) -> Error {
        let is_object = !what.starts_with(NOT_AN_OBJECT);
        self.error(if is_object { ErrorKind::Columns } else { ErrorKind::Row }, what)
    }

    fn error(&self, kind: ErrorKind, what: String) -> Error {
        Error::text(kind, what).of_source(&*self.table).in_line(self.number)
    }

    /// The error for a member called `name` of the line that was read last, which is to be added.
    pub(crate) fn exists(&self, name: &str) -> Error {
        Error::exists(&self.table, format!("member {name}")).in_line(self.number)
    }

    /// The number of the line that was read last, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Reads a line; there is none at the end.
    fn read(&mut self) -> Result<bool, Error> {
        self.line.clear();
        // One more for the end, and one to see that there is more.
        let mut limited = self.reader.by_ref().take(LONGEST as u64 + 2);
        let read = limited.read_until(b'\n', &mut self.line);
        if read.map_err(|error| Error::read(&self.table, error))? == 0 {
            return Ok(false);
        }
        self.number += 1;
        if self.line.strip_suffix(b"\n").unwrap_or(&self.line).len() > LONGEST {
            let what = format!("the line has more than {} MiB", LONGEST >> 20);
            return Err(self.error(ErrorKind::LongRow, what));
        }
        Ok(true)
    }

    fn text(&self) -> Result<&str, Error> {
        let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let indent = self.line.iter().position(is_text).unwrap_or(self.line.len());
        let end = self.line.iter().rposition(is_text).map_or(indent, |last| last + 1);
        let line = &self.line[indent..end];
        std::str::from_utf8(line).map_err(|error| {
            let column = indent + error.valid_up_to() + 1;
            self.error(ErrorKind::Row, format!("invalid UTF-8 at column {column}"))
        })
    }
}

/// How errors begin for what is not an object.
const NOT_AN_OBJECT: &str = "not a JSON object";

/// The error for a line of another kind.
pub(crate) const NO_OBJECT: &str = "not a JSON object, which every line must be";

/// The error for a malformed object; `error` is that of the parser.
pub(crate) fn no_object(error: &serde_json::Error) -> String {
    // The parser always counts line 1.
    let text = error.to_string();
    let what = text.strip_suffix(&format!(" at line {} column {}", error.line(), error.column()));
    match what {
        Some(what) => format!("{NOT_AN_OBJECT}: {what} at column {}", error.column()),
        None => format!("{NOT_AN_OBJECT}: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Result<Vec<(u64, String)>, String> {
        let mut reader = LineReader::new(text, "t");
        let mut lines = Vec::new();
        while let Some(line) = reader.next().map_err(|error| error.to_string())? {
            let line = line.to_owned();
            lines.push((reader.number(), line));
        }
        Ok(lines)
    }

    #[test]
    fn blank_lines_are_counted_and_skipped() {
        assert_eq!(lines(b"\n a\t\r\n  \nb").unwrap(), [(2, "a".to_owned()), (4, "b".to_owned())]);
        assert_eq!(lines(b"").unwrap(), []);
        assert_eq!(lines(b"\x0C\n {}\x0C\r\n").unwrap(), [(2, "{}\x0C".to_owned())]);
    }

    #[test]
    fn invalid_text_is_reported_with_its_position() {
        assert_eq!(lines(b"a\n b\xFFc\n").unwrap_err(), "t:2: invalid UTF-8 at column 3");
        assert_eq!(lines(b"\xE2\x82").unwrap_err(), "t:1: invalid UTF-8 at column 1");
    }

    #[test]
    fn a_line_is_as_long_as_the_limit_and_no_longer() {
        let longest = [&b"a".repeat(LONGEST)[..], b"\nb"].concat();
        assert_eq!(lines(&longest).unwrap().len(), 2);
        assert_eq!(lines(&longest[..LONGEST]).unwrap().len(), 1);
        for more in [&b"a\nb"[..], b"a", b" \n"] {
            let long = [&longest[..LONGEST], more].concat();
            assert!(lines(&long).unwrap_err().starts_with("t:1: the line has more than"));
        }
    }
}
