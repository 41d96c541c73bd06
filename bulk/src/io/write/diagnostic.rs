//! Diagnostics for people: the position, the fault, and a caret under the byte.
//!
//! ```text
//! list.txt:3:11: space: a URI may not hold spaces; write %20
//!   http://a/b c
//!             ^
//! ```

use super::paint::{Paint, RED, push_escaped};
use super::row::push_decimal;
use crate::io::read::origins::RecordOrigin;
use uriscan_core::extract::Context;
use uriscan_core::uri::UriError;

/// Maximum number of columns of a record that are shown, without ellipses.
const WINDOW: usize = 100;
/// Number of columns before the fault if the record is truncated.
const BEFORE: usize = 60;
const INDENT: &str = "  ";
const CUT: &str = "…";

/// The position of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position<'a> {
    /// The name of the source.
    pub(crate) source: &'a str,
    /// The line in it, counted from 1.
    pub(crate) line: u64,
    /// Length in bytes of the line before the record.
    pub(crate) indent: u64,
    /// The record continues after these bytes.
    pub(crate) is_piece: bool,
    /// Where the records of a chunk come from, by their lines in it; none for a list that was read as it is.
    pub(crate) origins: &'a [RecordOrigin],
    /// Where this record comes from, if that is known.
    pub(crate) origin: Option<&'a RecordOrigin>,
    /// Name the context of a link in messages.
    pub(crate) has_context: bool,
    pub(crate) paint: Paint,
}

impl<'a> Position<'a> {
    /// The beginning of the line `line` of `source`.
    pub(crate) fn new(source: &'a str, line: u64) -> Position<'a> {
        Position {
            source,
            line,
            indent: 0,
            is_piece: false,
            origins: &[],
            origin: None,
            has_context: false,
            paint: Paint::default(),
        }
    }

    /// That of the record `lines` after this one, which begins after `indent` bytes of its line.
    #[inline(always)]
    pub(crate) fn of_record(self, lines: u64, indent: u64) -> Position<'a> {
        match self.origins.get(lines as usize) {
            None => Position { line: self.line + lines, indent, ..self },
            Some(origin) => {
                Position { line: origin.line, indent: origin.indent, origin: Some(origin), ..self }
            }
        }
    }

    /// The column of the byte `at` of the record, counted from 1; that of its first byte if it is not written there as it is.
    pub(crate) fn column(&self, at: u32) -> u64 {
        let is_literal = self.origin.is_none_or(|origin| origin.is_literal);
        self.indent + if is_literal { u64::from(at) } else { 0 } + 1
    }

    /// The column and the context of a link.
    pub(crate) fn link(&self) -> Option<(u64, Context)> {
        let context = self.origin?.context?;
        Some((self.indent + 1, context))
    }

    /// Appends the context of a link to a message, if it is wanted.
    pub(crate) fn push_context(&self, out: &mut Vec<u8>) {
        if let (true, Some((_, context))) = (self.has_context, self.link()) {
            for text in [" (in ", context.name(), ")"] {
                out.extend_from_slice(text.as_bytes());
            }
        }
    }
}

/// Appends three lines about the fault of `record`.
///
/// The column is that of the byte in its line, counted from 1. Characters that a terminal does not
/// show as one column of text are escaped: controls and bytes that are not UTF-8 as `\x00` (tab, CR
/// and LF as `\t`, `\r`, `\n`), non-ASCII characters other than letters and digits as `\u{2028}`. A
/// record of more than 100 columns is truncated around the fault, with `…` for the omitted parts.
pub(crate) fn write(position: Position<'_>, record: &[u8], error: UriError, out: &mut Vec<u8>) {
    write_named(position, record, error.at, error.kind.name(), error.kind.message(), out);
}

/// [`write()`] for anything with a position, a name and a message.
pub(crate) fn write_named(
    position: Position<'_>,
    record: &[u8],
    at: u32,
    name: &str,
    message: &str,
    out: &mut Vec<u8>,
) {
    let fault = (at as usize).min(record.len());
    push_escaped(position.source.as_bytes(), usize::MAX, out);
    out.push(b':');
    push_decimal(position.line, out);
    out.push(b':');
    push_decimal(position.column(at), out);
    out.extend_from_slice(b": ");
    position.paint.push(RED, name.as_bytes(), out);
    out.extend_from_slice(b": ");
    out.extend_from_slice(message.as_bytes());
    position.push_context(out);
    out.push(b'\n');

    excerpt(record, fault, position.is_piece, (INDENT, position.paint), out);
}

/// Appends `record`, truncated around byte `at` if it is long, and a line with a caret under that
/// byte; both after `indent`. `is_piece` means that the record continues after these bytes.
pub(crate) fn excerpt(
    record: &[u8],
    at: usize,
    is_piece: bool,
    (indent, paint): (&str, Paint),
    out: &mut Vec<u8>,
) {
    let at = at.min(record.len());
    out.extend_from_slice(indent.as_bytes());
    // Everything before a fault is valid and therefore ASCII, so bytes are columns there. If not,
    // the caret is still under the counted column.
    let start = if record.len() <= WINDOW {
        0
    } else {
        (record.len() - WINDOW).min(at.saturating_sub(BEFORE))
    };
    let mut columns = 0;
    if start > 0 {
        out.extend_from_slice(CUT.as_bytes());
        columns += 1;
    }
    let (_, before) = push_escaped(&record[start..at], usize::MAX, out);
    columns += before;
    let (shown, _) = push_escaped(&record[at..], WINDOW.saturating_sub(before), out);
    if at + shown < record.len() || is_piece {
        out.extend_from_slice(CUT.as_bytes());
    }
    out.push(b'\n');
    out.extend(core::iter::repeat_n(b' ', indent.len() + columns));
    paint.push(RED, b"^", out);
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use uriscan_core::uri::{UriErrorKind, parse};

    fn text_of(record: &[u8]) -> String {
        let position = Position { indent: 2, ..Position::new("list", 3) };
        let mut out = Vec::new();
        write(position, record, parse(record).unwrap_err(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_caret_is_under_the_byte() {
        for (record, expected) in [
            (
                &b"http://a/b c"[..],
                "list:3:13: space: a URI may not hold spaces; write %20\n  http://a/b c\n            ^\n",
            ),
            (b"a\tb", "list:3:4: control: a URI may not hold control characters\n  a\\tb\n   ^\n"),
            (b"\0", "list:3:3: control: a URI may not hold control characters\n  \\x00\n  ^\n"),
            (
                b"ab\x1b[1m\x7f",
                "list:3:5: control: a URI may not hold control characters\n  ab\\x1b[1m\\x7f\n    ^\n",
            ),
            (
                "x/é\u{202e}\u{85}".as_bytes(),
                "list:3:5: non-ascii: a URI holds ASCII only; percent-encode the UTF-8 bytes\n  x/é\\u{202e}\\u{85}\n    ^\n",
            ),
            (
                b"x/\xff\xc3",
                "list:3:5: non-ascii: a URI holds ASCII only; percent-encode the UTF-8 bytes\n  x/\\xff\\xc3\n    ^\n",
            ),
            (
                b"http://h/%",
                "list:3:12: percent: '%' is not followed by two hexadecimal digits\n  http://h/%\n           ^\n",
            ),
            (b":", "list:3:3: scheme: there is no valid scheme before the first ':'\n  :\n  ^\n"),
        ] {
            assert_eq!(text_of(record), expected);
        }
    }

    /// The line of the record and the column of the caret in it, in characters from 0.
    fn record_and_caret(text: &str) -> (Vec<char>, usize) {
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        (lines[1].chars().collect(), lines[2].find('^').unwrap())
    }

    #[test]
    fn long_records_are_truncated_around_the_fault() {
        for before in [0, 1, 59, 60, 61, 99, 100, 101, 5000] {
            for after in [0, 1, 39, 40, 41, 99, 100, 5000] {
                let record = format!("{}|{}", "b".repeat(before), "a".repeat(after));
                let text = text_of(record.as_bytes());
                let (line, caret) = record_and_caret(&text);
                assert_eq!(line[caret], '|', "{text}");
                let middle: String = line[2..].iter().filter(|c| **c != '…').collect();
                assert!(record.contains(&middle));
                assert_eq!(middle.len(), record.len().min(WINDOW), "{before} {after}");
                let first = record.starts_with(&middle);
                assert_eq!(line[2] == '…', !first);
                assert_eq!(line[line.len() - 1] == '…', !record.ends_with(&middle));
            }
        }
    }

    #[test]
    fn a_window_of_escapes_stays_a_window() {
        let text = text_of(&[&b"abc"[..], &[0; 1_000_000]].concat());
        let (line, caret) = record_and_caret(&text);
        assert_eq!(line[caret..caret + 4], ['\\', 'x', '0', '0']);
        assert!(line.len() <= WINDOW + 4, "{text}");
        let text = text_of(&[&b"abc"[..], "é".repeat(1_000_000).as_bytes()].concat());
        assert!(record_and_caret(&text).0.len() <= WINDOW + 4, "{text}");
    }

    #[test]
    fn a_piece_of_a_record_shows_that_it_continues() {
        let position = Position { is_piece: true, ..Position::new("a\nb", 1) };
        let mut out = Vec::new();
        let error = UriError::new(UriErrorKind::TooLong, 5);
        write(position, b"abcde", error, &mut out);
        let expected =
            "a\\nb:1:6: too-long: the record is longer than the limit\n  abcde…\n       ^\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
