//! Links of files whose lines are folded: calendars (iCalendar, RFC 5545), vCards (RFC 6350) and LDIF (RFC 2849).
//!
//! A line that begins with white space goes on with the one before it. Escaped commas and the like are decoded, and so are
//! values in base64 (LDIF) and quoted-printable (vCard 2.1).

use super::how::How;
use super::transfer;
use super::{Context, Links, fragment};
use crate::chunk::{Padded, PaddedBuf, Span};
use crate::grammar::has_prefix;

/// Whether a source that begins with `text` has folded lines: a calendar, a vCard, or LDIF.
pub(super) fn is_folded(text: &[u8]) -> bool {
    const BEGINS: [&[u8]; 2] = [b"BEGIN:VCALENDAR", b"BEGIN:VCARD"];
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let line = lines.find(|line| !line.is_empty() && line[0] != b'#').unwrap_or_default();
    BEGINS.iter().any(|word| line.eq_ignore_ascii_case(word))
        || has_prefix(line, b"dn:") && lines.next().is_some_and(|next| next.contains(&b':'))
        || has_prefix(line, b"version: 1") && line.len() == 10
}

/// The end of the last line of `content` that does not go on in the next one, if that is there.
pub fn last_folded_end(content: &[u8]) -> Option<usize> {
    let mut to = content.len();
    loop {
        let at = memchr::memrchr(b'\n', &content[..to])?;
        if content.get(at + 1).is_some_and(|&next| !is_fold(next)) && !is_soft(&content[..at]) {
            return Some(at + 1);
        }
        to = at;
    }
}

/// Whether a line that begins with `byte` goes on with the one before it.
fn is_fold(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Whether `line` ends with a soft line break of quoted-printable.
fn is_soft(line: &[u8]) -> bool {
    line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"=")
}

/// Appends the links of the lines of `text` to `links`.
pub(super) fn lines(how: How<'_>, text: Padded<'_>, links: &mut Links) {
    let how = how.with_base(None);
    let content = text.content();
    let mut plain = PaddedBuf::default();
    let mut start = 0;
    while start < content.len() && !links.is_full(start) {
        let end = line_end(content, start);
        let line = &content[start..end];
        let span = Span { start: start as u32, end: end as u32 };
        start = end;
        match value(line) {
            Some(value) if fragment::is_html(&value) => {
                let value = (&value[..], Context::Field);
                fragment::search(how, value, |_| span, links);
            }
            Some(value) => {
                plain.set(&value);
                how.finder.find_made(how.kernels, plain.padded(), span, Context::Field, links);
            }
            None => how.find(text, span, Context::Field, links),
        }
    }
}

/// The end of the line of `content` that begins at `start` with all lines that continue it.
fn line_end(content: &[u8], start: usize) -> usize {
    let is_quoted = is_quoted_printable(&content[start..]);
    let mut at = start;
    while let Some(len) = memchr::memchr(b'\n', &content[at..]) {
        let line = &content[at..at + len];
        at += len + 1;
        let goes_on = content.get(at).is_some_and(|&next| is_fold(next));
        let is_continued = goes_on || is_quoted && is_soft(line);
        if !is_continued {
            return at;
        }
    }
    content.len()
}

/// Whether the parameters before the value of the line at the start of `text` say that it is quoted-printable.
fn is_quoted_printable(text: &[u8]) -> bool {
    const NAME: &[u8] = b"QUOTED-PRINTABLE";
    const LONGEST: usize = 200;
    let head = &text[..text.len().min(LONGEST)];
    let end = head.iter().position(|byte| b":\n".contains(byte)).unwrap_or(head.len());
    head[..end].windows(NAME.len()).any(|part| part.eq_ignore_ascii_case(NAME))
}

/// `line` without its folds and escapes; `None` if it has none.
fn value(line: &[u8]) -> Option<Vec<u8>> {
    let name = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
    let is_base64 = line[name..].starts_with(b"::");
    let is_quoted = is_quoted_printable(line);
    let inner = line.strip_suffix(b"\n").unwrap_or(line);
    let is_folded = memchr::memchr(b'\n', inner).is_some();
    if !is_folded && !is_base64 && !is_quoted && memchr::memchr(b'\\', line).is_none() {
        return None;
    }
    if is_quoted {
        return Some(transfer::quoted_printable(line).text);
    }
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'\r', [b'\n', next, after @ ..]) | (b'\n', [next, after @ ..]) if is_fold(*next) => {
                rest = after;
                if let (b'\r', [b'\n', _, after @ ..]) = (first, tail) {
                    rest = after;
                }
            }
            (b'\\', [b'n' | b'N', after @ ..]) => {
                out.push(b'\n');
                rest = after;
            }
            (b'\\', [byte @ (b',' | b';' | b':' | b'\\'), after @ ..]) => {
                out.push(*byte);
                rest = after;
            }
            _ => out.push(*first),
        }
    }
    match is_base64 {
        true => Some(transfer::base64(out.get(name + 2..).unwrap_or_default().trim_ascii()).text),
        false => Some(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_unfolded_and_decoded() {
        for (line, expected) in [
            ("URL:http://h/a\r\n", None),
            ("URL:http://h/a\r\n bc\r\n", Some("URL:http://h/abc\r\n")),
            ("URL:http://h/a\n\tbc\n  d\n", Some("URL:http://h/abc d\n")),
            ("X:a\\,b\\;c\\nd\\\\e\\x\n", Some("X:a,b;c\nd\\e\\x\n")),
            ("u:: aHR0cDovL2\n gvYQ==\n", Some("http://h/a")),
            (
                "URL;ENCODING=quoted-printable:http://h/?a=3Db=\n&c\n",
                Some("URL;ENCODING=quoted-printable:http://h/?a=b&c\n"),
            ),
            ("", None),
        ] {
            let found = value(line.as_bytes()).map(|value| String::from_utf8(value).unwrap());
            assert_eq!(found.as_deref(), expected, "{line}");
            assert_eq!(line_end(line.as_bytes(), 0), line.len());
        }
    }

    #[test]
    fn files_end_where_a_line_does_not_go_on() {
        assert_eq!(last_folded_end(b"a\n b\nc"), Some(5));
        assert_eq!(last_folded_end(b"a\nb\n c\n d\n"), Some(2));
        assert_eq!(last_folded_end(b"a\nb\n"), Some(2));
        assert_eq!(last_folded_end(b"a=\nb=\r\nc"), None);
        assert_eq!(last_folded_end(b"a\n"), None);
    }
}
