//! Diagnostics for people: the position, the fault, and a caret under the byte.
//!
//! ```text
//! list.txt:3:11: space: a URI may not hold spaces; write %20
//!   http://a/b c
//!             ^
//! ```

use super::row::push_decimal;
use crate::shown::escape;
use crate::uri::UriError;

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
    push_decimal(position.indent + u64::from(at) + 1, out);
    for text in [": ", name, ": ", message, "\n"] {
        out.extend_from_slice(text.as_bytes());
    }

    excerpt(record, fault, position.is_piece, INDENT, out);
}

/// Appends `record`, truncated around byte `at` if it is long, and a line with a caret under that
/// byte; both after `indent`. `is_piece` means that the record continues after these bytes.
pub(super) fn excerpt(record: &[u8], at: usize, is_piece: bool, indent: &str, out: &mut Vec<u8>) {
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
    out.extend_from_slice(b"^\n");
}

/// Appends `bytes`, escaped, as far as they fit into `columns`, but at least one character; returns
/// the number of bytes and of columns.
pub(super) fn push_escaped(bytes: &[u8], columns: usize, out: &mut Vec<u8>) -> (usize, usize) {
    let (mut taken, mut used) = (0, 0);
    let mut push = |text: &str, len: usize| {
        let width = text.chars().count();
        let fits = taken == 0 || used + width <= columns;
        if fits {
            out.extend_from_slice(text.as_bytes());
            (taken, used) = (taken + len, used + width);
        }
        fits
    };
    // More bytes never fit, so a long rest need not be decoded.
    let bytes = &bytes[..bytes.len().min(columns.saturating_mul(4).max(4))];
    'all: for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let text = match c {
                c if c.is_alphanumeric() || c == ' ' || c.is_ascii_graphic() => c.to_string(),
                c => escape(c),
            };
            if !push(&text, c.len_utf8()) {
                break 'all;
            }
        }
        for byte in chunk.invalid() {
            if !push(&format!("\\x{byte:02x}"), 1) {
                break 'all;
            }
        }
    }
    (taken, used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uri::{ErrorKind, parse};

    fn shown(record: &[u8]) -> String {
        let position = Position { source: "list", line: 3, indent: 2, is_piece: false };
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
            assert_eq!(shown(record), expected);
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
                let text = shown(record.as_bytes());
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
        let text = shown(&[&b"abc"[..], &[0; 1_000_000]].concat());
        let (line, caret) = record_and_caret(&text);
        assert_eq!(line[caret..caret + 4], ['\\', 'x', '0', '0']);
        assert!(line.len() <= WINDOW + 4, "{text}");
        let text = shown(&[&b"abc"[..], "é".repeat(1_000_000).as_bytes()].concat());
        assert!(record_and_caret(&text).0.len() <= WINDOW + 4, "{text}");
    }

    #[test]
    fn a_piece_of_a_record_shows_that_it_continues() {
        let position = Position { source: "a\nb", line: 1, indent: 0, is_piece: true };
        let mut out = Vec::new();
        let error = UriError { kind: ErrorKind::TooLong, at: 5 };
        write(position, b"abcde", error, &mut out);
        let expected =
            "a\\nb:1:6: too-long: the record is longer than the limit\n  abcde…\n       ^\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
