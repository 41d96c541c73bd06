//! The definition of a record, for all peers: one reference per line, white space around it not
//! part of it (RFC 3986 Appendix C), empty lines skipped. The same rule as uriscan's, so that
//! counts differ only where the definitions of equivalence do.

use memchr::memchr_iter;
use std::ops::Range;

/// Whether `trim_ascii` keeps the byte; VT is trimmed too, as ASCII counts it as white space.
fn is_text(byte: &u8) -> bool {
    !matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The range of the record on a line (without its LF), or `None` if there is only white space.
fn span(line: &[u8]) -> Option<Range<usize>> {
    Some(line.iter().position(is_text)?..line.iter().rposition(is_text)? + 1)
}

/// The record on a line, or `None`.
pub(crate) fn record(line: &[u8]) -> Option<&[u8]> {
    Some(&line[span(line)?])
}

/// The ranges of the records of a text, in order; the last line needs no LF.
pub(crate) fn spans(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    memchr_iter(b'\n', text).chain(std::iter::once(text.len())).filter_map(move |end| {
        let found = span(&text[start..end]).map(|span| start + span.start..start + span.end);
        // Not past the end: a final LF is followed by one more, empty line.
        start = (end + 1).min(text.len());
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_empty_lines_are_no_records() {
        let text = b"http://a/\r\n\n  \t\nb\n\x0b c d \x0b\x0c\n\nlast";
        let found: Vec<&[u8]> = spans(text).map(|span| &text[span]).collect();
        let expected: [&[u8]; 4] = [b"http://a/", b"b", b"c d", b"last"];
        assert_eq!(found, expected);
    }

    #[test]
    fn no_record_follows_a_final_line_end() {
        assert_eq!(spans(b"a\n").count(), 1);
        assert_eq!(spans(b"\n").count(), 0);
        assert_eq!(spans(b"").count(), 0);
    }
}
