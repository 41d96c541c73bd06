//! Links in the strings of JSON texts.

use std::borrow::Cow;

use super::value::Values;
use super::{Links, sniff};
use crate::chunk::Span;

/// Maximum number of nested objects whose member names are tracked; in deeper ones only the own name counts.
const DEEPEST: usize = 128;

/// Appends the links in the strings of the text of `values`, line by line: see [`line()`]. A line that is not of JSON is searched
/// as text, unless `fields` are selected. Returns whether the text breaks off within its last line.
pub(crate) fn lines(values: &mut Values<'_>, fields: &[String], links: &mut Links) -> bool {
    let content = values.content();
    let mut start = 0;
    while start < content.len() && !links.is_full(start) {
        let found = memchr::memchr(b'\n', &content[start..]);
        let end = found.map_or(content.len(), |at| start + at);
        let is_json = may_begin(&content[start..end]);
        if is_json {
            line(values, fields, start, end, links);
            if fields.is_empty()
                && let Some(at) = text_after(&content[start..end])
            {
                let span = Span { start: (start + at) as u32, end: end as u32 };
                values.take_text(span, links);
            }
        } else if fields.is_empty() {
            values.take_text(Span { start: start as u32, end: end as u32 }, links);
        }
        if found.is_none() {
            return is_json && breaks_off(&content[start..]);
        }
        start = end + 1;
    }
    false
}

/// Whether a source that begins with `text` is JSON: an object or an array and what may follow its brackets, on the same line
/// or later ones; or lines after a comment or a line that is cut off, if half of the lines are objects.
pub(super) fn is_json(text: &[u8]) -> bool {
    match text {
        [b'{', rest @ ..] => {
            let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
            matches!(line.trim_ascii().first(), None | Some(b'"' | b'{' | b'}' | b'[' | b']'))
        }
        [b'[', ..] => is_array(text),
        _ => are_objects(text),
    }
}

/// Whether an array begins at the start of `text`. What logs and prose have in brackets is not an array: `[12:00] `, `[1] `, `[x]`.
fn is_array(text: &[u8]) -> bool {
    let is_bracket = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'[';
    let at = text.iter().position(|byte| !is_bracket(byte)).unwrap_or(text.len());
    let mut rest = &text[at..];
    // Numbers and names, up to something that decides.
    loop {
        match rest {
            [] => return text.len() > 1,
            [b'"' | b'{' | b'[', ..] => return true,
            [b']', after @ ..] => return is_closed(after),
            _ => {}
        }
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",]".contains(byte);
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        if !is_scalar(&rest[..end]) {
            return false;
        }
        rest = rest[end..].trim_ascii_start();
        match rest {
            [b',', after @ ..] => rest = after.trim_ascii_start(),
            [] | [b']', ..] => {}
            _ => return false,
        }
    }
}

/// Whether the text that follows the end of an array goes on as JSON does, or on another line.
fn is_closed(after: &[u8]) -> bool {
    let line = after.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
    matches!(line.first(), None | Some(b',' | b']'))
}

/// Whether half of the lines of `text` are objects as a whole. The last one may be cut off.
fn are_objects(text: &[u8]) -> bool {
    let mut lines = sniff::lines(text).map(<[u8]>::trim_ascii).peekable();
    let (mut objects, mut others) = (0, 0);
    while let Some(line) = lines.next() {
        let is_last = lines.peek().is_none();
        match line {
            [] => {}
            [b'{', rest @ ..] if rest.trim_ascii_start().starts_with(b"\"") => {
                objects += usize::from(is_last || line.ends_with(b"}"));
                others += usize::from(!is_last && !line.ends_with(b"}"));
            }
            _ => others += usize::from(!is_last),
        }
    }
    objects > 0 && objects >= others
}

/// Whether `line` begins as a line of a JSON text does: with a value, a name, or what is between them.
fn may_begin(line: &[u8]) -> bool {
    let mut rest = line.trim_ascii_start();
    loop {
        return match rest {
            [b'"' | b'{' | b'}' | b']' | b':', ..] | [] => true,
            // An array, or what a log has in brackets.
            [b'[' | b',', inner @ ..] => {
                rest = inner.trim_ascii_start();
                continue;
            }
            [b'-' | b'0'..=b'9' | b't' | b'f' | b'n', ..] => {
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",]}".contains(byte);
                let end = rest.iter().position(is_end).unwrap_or(rest.len());
                let after = rest[end..].trim_ascii_start();
                is_scalar(&rest[..end]) && matches!(after, [] | [b',' | b']' | b'}', ..])
            }
            _ => false,
        };
    }
}

/// Where the text after the last string, object or array of `line` begins, if there is one that is not of JSON.
fn text_after(line: &[u8]) -> Option<usize> {
    let at = memchr::memrchr3(b'"', b'}', b']', line)? + 1;
    let words = line[at..].split(|byte| !byte.is_ascii_alphabetic());
    let is_json = |word: &[u8]| matches!(word, b"" | b"e" | b"E" | b"true" | b"false" | b"null");
    if words.into_iter().all(is_json) {
        return None;
    }
    // It may be in a string that does not end.
    let mut from = 0;
    while let Some(quote) = memchr::memchr(b'"', line.get(from..)?) {
        from = string_end(line, from + quote + 1).0 + 1;
        if from > line.len() {
            return None;
        }
    }
    Some(at)
}

/// Whether `word` is a number or a literal name of JSON.
fn is_scalar(word: &[u8]) -> bool {
    matches!(word, b"true" | b"false" | b"null")
        || word.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
            && core::str::from_utf8(word).is_ok_and(|word| word.parse::<f64>().is_ok())
}

/// Whether `line`, the end of a text, leaves a string, an object or an array open, or is a member of an object that does not end.
fn breaks_off(line: &[u8]) -> bool {
    let (mut at, mut depth) = (0, 0u64);
    while let Some(&byte) = line.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let end = string_end(line, at).0;
                if end >= line.len() || depth == 0 && is_name(line, end + 1) {
                    return true;
                }
                at = end + 1;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth > 0 || line.trim_ascii_end().last() == Some(&b',')
}

/// Appends the links in the strings between `at` and `end`: in all values and names, or in the
/// values of members whose name is in `fields`, at any depth; `a.b` is a member `b` of a member
/// `a`.
///
/// The bytes between strings are not validated, and strings do not cross lines. Escapes are
/// decoded.
pub(crate) fn line(
    values: &mut Values<'_>,
    fields: &[String],
    mut at: usize,
    end: usize,
    links: &mut Links,
) {
    let content = &values.content()[..end];
    let mut members =
        Members { fields, has_paths: fields.iter().any(|f| f.contains('.')), ..Members::default() };
    while let Some(start) = members.next_string(content, at) {
        let (end, is_escaped) = string_end(content, start);
        at = end + 1;
        if !fields.is_empty() && is_name(content, at) {
            members.name(&content[start..end]);
        } else if fields.is_empty() || members.is_wanted {
            let span = Span { start: start as u32, end: end as u32 };
            let made = is_escaped.then(|| decoded(span.of(content)));
            values.take(span, made.as_deref(), links);
        }
    }
}

/// Tracks the members to which values belong.
#[derive(Default)]
struct Members<'t> {
    fields: &'t [String],
    /// Whether a field has a `.` in it, so that nested names matter.
    has_paths: bool,
    /// The last name in each of the enclosing objects, at most [`DEEPEST`] of them.
    names: Vec<&'t [u8]>,
    /// Number of enclosing objects.
    depth: usize,
    /// Whether the last name is a field; several values follow in an array.
    is_wanted: bool,
}

impl<'t> Members<'t> {
    /// Offset of the next string, after its opening quote.
    fn next_string(&mut self, text: &'t [u8], mut at: usize) -> Option<usize> {
        if !self.has_paths {
            return memchr::memchr(b'"', text.get(at..)?).map(|skipped| at + skipped + 1);
        }
        loop {
            at += memchr::memchr3(b'"', b'{', b'}', text.get(at..)?)? + 1;
            match text[at - 1] {
                b'"' => return Some(at),
                b'{' => {
                    self.depth += 1;
                    if self.depth <= DEEPEST {
                        self.names.resize(self.depth, b"");
                    }
                }
                _ => {
                    self.depth = self.depth.saturating_sub(1);
                    self.names.truncate(self.depth);
                    self.update_wanted();
                }
            }
        }
    }

    /// Sets the name of the values that follow.
    fn name(&mut self, name: &'t [u8]) {
        if self.has_paths && (1..=DEEPEST).contains(&self.depth) {
            self.names.truncate(self.depth - 1);
            self.names.push(name);
            self.update_wanted();
        } else {
            self.is_wanted = self.fields.iter().any(|field| field.as_bytes() == name);
        }
    }

    fn update_wanted(&mut self) {
        let Some((last, outer)) = self.names.split_last() else { return };
        self.is_wanted = self.fields.iter().any(|field| {
            let field = field.as_bytes();
            field == *last || is_path(field, last, outer)
        });
    }
}

/// Whether `field` consists of the last names of `outer` and of `last`, joined by dots.
fn is_path(field: &[u8], last: &[u8], outer: &[&[u8]]) -> bool {
    let mut rest = field.strip_suffix(last);
    for name in outer.iter().rev() {
        let Some(before) = rest.and_then(|rest| rest.strip_suffix(b".")) else { return false };
        if before == *name {
            return true;
        }
        rest = before.strip_suffix(*name);
    }
    false
}

/// The end of the string that begins at `start`, and whether it holds escapes.
pub(super) fn string_end(text: &[u8], start: usize) -> (usize, bool) {
    let (mut at, mut is_escaped) = (start, false);
    while let Some(found) = memchr::memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        at += found;
        if text[at] == b'"' {
            return (at, is_escaped);
        }
        is_escaped = true;
        at += 2;
    }
    (text.len(), is_escaped)
}

/// Whether the string that ends before `at` is the name of a member.
pub(super) fn is_name(text: &[u8], at: usize) -> bool {
    text.get(at..).unwrap_or_default().iter().find(|byte| !byte.is_ascii_whitespace())
        == Some(&b':')
}

/// `raw` with its escapes decoded (RFC 8259 section 7); invalid ones are unchanged.
pub(super) fn decoded(raw: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &raw[at..]) {
        out.extend_from_slice(&raw[at..at + found]);
        at += found;
        let (c, len) = escape(&raw[at..]).unwrap_or((Some('\\'), 1));
        let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        at += len;
    }
    out.extend_from_slice(&raw[at..]);
    out.into()
}

/// The character of the escape at the start of `raw`, and its length; half a pair of surrogates is none. `None` if there is no
/// escape.
pub(crate) fn escape(raw: &[u8]) -> Option<(Option<char>, usize)> {
    let c = match raw.get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{C}',
        &byte @ (b'"' | b'\\' | b'/') => char::from(byte),
        _ => return unicode(raw),
    };
    Some((Some(c), 2))
}

/// That of the `\uXXXX`, or pair of them, at the start of `raw`.
fn unicode(raw: &[u8]) -> Option<(Option<char>, usize)> {
    let unit = |raw: &[u8]| {
        let digits = raw.strip_prefix(b"\\u")?.get(..4)?;
        digits.iter().try_fold(0, |sum, &digit| Some(sum * 16 + char::from(digit).to_digit(16)?))
    };
    let first: u32 = unit(raw)?;
    if (0xD800..0xDC00).contains(&first)
        && let Some(second @ 0xDC00..0xE000) = unit(&raw[6..])
    {
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return Some((char::from_u32(code), 12));
    }
    Some((char::from_u32(first), 6))
}
