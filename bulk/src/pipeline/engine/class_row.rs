//! Rows of omitted records and of the members of classes: values for callers who make tables of them.
//!
//! Rows are made by many threads, and spill to disk beyond the memory limit. On their way to the caller, who takes them one after the
//! other, they are bytes: their length, then numbers, and texts after their lengths. Texts are not escaped, and nothing is parsed.

use std::fmt;
use std::io::{self, Write};

use crate::survivors::varint;
use uriscan_core::key::Key;

/// An omitted record ([`crate::pipeline::Sinks::dupes`]), or a member of a class ([`crate::pipeline::Sinks::clusters`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassRow<'r> {
    /// The name of the source.
    pub source: &'r str,
    /// The line or the row in it, from 1.
    pub line: u64,
    /// The record; none if it is over the size limit.
    pub record: Option<&'r [u8]>,
    /// The length of a record over the size limit.
    pub bytes: Option<u64>,
    /// The record that is kept; none of a class that an earlier run has seen, or of a record over the size limit.
    pub kept: Option<&'r [u8]>,
    /// The records of the class; 0 of an omitted record.
    pub count: u64,
    /// The lowest level at which the two are equivalent, `rules` and of an omitted record their names, or `seen`.
    pub level: &'r str,
    /// The steps that make a member equivalent to the record that is kept.
    pub rules: Vec<&'r str>,
    /// The public key ([`crate::pipeline::DedupOptions::hash`]).
    pub key: Option<Key>,
}

/// Takes rows, in the order of the lines that would be written instead.
pub trait TakeRows: Send {
    /// Takes the next row.
    ///
    /// # Errors
    /// If it cannot be written.
    fn take(&mut self, row: &ClassRow<'_>) -> io::Result<()>;
}

/// What takes omitted records, or classes.
#[derive(Debug)]
pub struct ClassSink<'a>(Form<'a>);

enum Form<'a> {
    Text(&'a mut (dyn Write + Send)),
    /// Rows, and the beginning of one whose end is still to come.
    Rows(&'a mut dyn TakeRows, Vec<u8>),
}

impl<'a> ClassSink<'a> {
    /// Takes them as text.
    pub fn text(to: &'a mut (dyn Write + Send)) -> ClassSink<'a> {
        ClassSink(Form::Text(to))
    }

    /// Takes a row for each record, with its public key.
    ///
    /// ```
    /// use uriscan_bulk::io::Source;
    /// use uriscan_bulk::pipeline::{ClassOptions, ClassRow, ClassSink, Settings, Sinks, TakeRows, classes};
    /// struct Lines(Vec<u64>);
    /// impl TakeRows for Lines {
    ///     fn take(&mut self, row: &ClassRow<'_>) -> std::io::Result<()> {
    ///         assert_eq!((row.source, row.kept, row.level), ("list", Some(&b"http://h"[..]), "syntax"));
    ///         self.0.push(row.line);
    ///         Ok(())
    ///     }
    /// }
    /// let list = Source::new("list", &b"http://h\nHTTP://h\n"[..]);
    /// let (mut out, mut lines) = (Vec::new(), Lines(Vec::new()));
    /// let mut sinks = Sinks::new(&mut out);
    /// sinks.dupes = Some(ClassSink::rows(&mut lines));
    /// classes(vec![list], &ClassOptions::default(), &Settings::default(), &mut sinks).unwrap();
    /// assert_eq!(lines.0, [2]);
    /// ```
    pub fn rows(to: &'a mut dyn TakeRows) -> ClassSink<'a> {
        ClassSink(Form::Rows(to, Vec::new()))
    }

    pub(crate) fn takes_rows(&self) -> bool {
        matches!(self.0, Form::Rows(..))
    }
}

impl fmt::Debug for Form<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if let Form::Text(_) = self { "Text" } else { "Rows" })
    }
}

/// Takes what was appended to buffers: text, or rows, which may be cut anywhere.
impl Write for ClassSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Form::Text(to) => to.write(bytes),
            Form::Rows(to, cut) => {
                take_rows(bytes, cut, |row| to.take(&row))?;
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Form::Text(to) => to.flush(),
            Form::Rows(..) => Ok(()),
        }
    }
}

/// Bytes that say how long the rest of a row is.
const LENGTH: usize = size_of::<u64>();

impl ClassRow<'_> {
    /// Appends the row.
    pub(super) fn push(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; LENGTH]);
        let text = |text: Option<&[u8]>, out: &mut Vec<u8>| {
            varint::push(text.map_or(0, |text| text.len() as u64 + 1), out);
            // A long one is not to take twice its bytes.
            let text = text.unwrap_or_default();
            if text.len() > LONG {
                out.reserve_exact(text.len() + AFTER);
            }
            out.extend_from_slice(text);
        };
        text(self.record, out);
        text(self.kept, out);
        text(Some(self.source.as_bytes()), out);
        text(Some(self.level.as_bytes()), out);
        for number in [self.line, self.bytes.map_or(0, |bytes| bytes + 1), self.count] {
            varint::push(number, out);
        }
        text(self.key.map(|Key(key)| key.to_le_bytes()).as_ref().map(|key| &key[..]), out);
        self.rules.iter().for_each(|rule| text(Some(rule.as_bytes()), out));
        let len = (out.len() - start - LENGTH) as u64;
        out[start..start + LENGTH].copy_from_slice(&len.to_le_bytes());
    }

    /// The row that [`ClassRow::push`] has made these bytes of.
    fn of(bytes: &[u8]) -> ClassRow<'_> {
        let mut rest = Rest { bytes, at: LENGTH };
        ClassRow {
            record: rest.text(),
            kept: rest.text(),
            source: rest.name(),
            level: rest.name(),
            line: rest.number(),
            bytes: rest.number().checked_sub(1),
            count: rest.number(),
            key: rest.text().and_then(|key| Some(Key(u128::from_le_bytes(key.try_into().ok()?)))),
            rules: std::iter::from_fn(|| (rest.at < bytes.len()).then(|| rest.name())).collect(),
        }
    }
}

/// What is not read yet of a row.
struct Rest<'r> {
    bytes: &'r [u8],
    at: usize,
}

impl<'r> Rest<'r> {
    fn number(&mut self) -> u64 {
        varint::take(self.bytes, &mut self.at)
    }

    fn text(&mut self) -> Option<&'r [u8]> {
        let len = self.number().checked_sub(1)?;
        let start = self.at;
        self.at += len as usize;
        Some(&self.bytes[start..self.at])
    }

    fn name(&mut self) -> &'r str {
        str::from_utf8(self.text().unwrap_or_default()).unwrap_or_default()
    }
}

/// Texts of more bytes get memory for no more than they need, and this many for what follows.
const LONG: usize = 64 << 10;
const AFTER: usize = 4 << 10;

/// Hands on the rows in `cut` and the `bytes` that follow it, and leaves there the beginning of one that is not complete.
fn take_rows(
    mut bytes: &[u8],
    cut: &mut Vec<u8>,
    mut take: impl FnMut(ClassRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    while !bytes.is_empty() {
        if cut.is_empty()
            && let Some((row, after)) = len_of(bytes).and_then(|len| bytes.split_at_checked(len))
        {
            take(ClassRow::of(row))?;
            bytes = after;
            continue;
        }
        let missing = len_of(cut).unwrap_or(LENGTH) - cut.len();
        let (now, after) = bytes.split_at(missing.min(bytes.len()));
        cut.reserve_exact(missing);
        cut.extend_from_slice(now);
        bytes = after;
        if len_of(cut) == Some(cut.len()) {
            take(ClassRow::of(&std::mem::take(cut)))?;
        }
    }
    Ok(())
}

/// Bytes of the row that begins like this, if enough of it is there to say.
fn len_of(bytes: &[u8]) -> Option<usize> {
    Some(LENGTH + u64::from_le_bytes(*bytes.first_chunk()?) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_may_be_cut_anywhere() {
        let row = ClassRow {
            source: "a",
            line: u64::MAX,
            record: Some(b"\xFF\"\n"),
            bytes: None,
            kept: None,
            count: 0,
            level: "seen",
            rules: Vec::new(),
            key: Some(Key(7)),
        };
        let (kept, key) = (Some(&b""[..]), None);
        let rules = vec!["www", "trailing-slash"];
        let member = ClassRow { record: None, bytes: Some(0), kept, count: 3, rules, key, ..row };
        let rows = [row.clone(), member.clone(), row, member];
        let mut bytes = Vec::new();
        rows.iter().for_each(|row| row.push(&mut bytes));
        for len in 1..=bytes.len() {
            let (mut cut, mut found) = (Vec::new(), 0);
            for piece in bytes.chunks(len) {
                let take = |row: ClassRow<'_>| {
                    assert_eq!(row, rows[found], "{len}");
                    found += 1;
                    Ok(())
                };
                take_rows(piece, &mut cut, take).unwrap();
            }
            assert!(found == rows.len() && cut.is_empty(), "{len}");
        }
    }
}
