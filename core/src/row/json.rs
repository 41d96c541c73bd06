//! The value of a member of the object that a line of JSON lines is (RFC 8259).
//!
//! The line is read as strictly as a parser does, except for what no value of interest depends on: strings other than
//! the value are not decoded, and `NaN` and infinities, which several writers have, are taken for numbers.

use core::ops::Range;

use super::{Fault, RawValue};
use crate::chunk::Span;
use crate::extract::json::escape;
use crate::grammar::equal_bytes;

/// How many objects and arrays may be within each other.
const DEEPEST: usize = 128;

pub(crate) const NO_OBJECT: &str = "not a JSON object, which every line must be";

/// The value of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// There is no such member.
    Missing,
    Null,
    /// A string, without its quotes.
    Text(RawValue),
    /// A value of another type, as it is written.
    Other(RawValue),
}

/// The value in the object `line`, which is trimmed, that `path` leads to: the member of this name, or by names of
/// members and numbers of values in arrays, from 1, with dots between them; the longest name comes first. Positions are
/// those in `line`.
///
/// # Errors
/// When the line is not an object, or a member on the path occurs twice.
pub(crate) fn value(line: &[u8], path: &str) -> Result<Value, Fault> {
    if line.first() != Some(&b'{') {
        return Err(Fault::new(NO_OBJECT));
    }
    let mut reader = Reader { text: line, at: 0 };
    let found = reader.search(Some(path.as_bytes()), 0).and_then(|found| {
        reader.white();
        if reader.at == line.len() { Ok(found) } else { Err(reader.wrong("trailing characters")) }
    })?;
    let found = match (found.value, found.outer) {
        _ if found.is_twice => Err(()),
        (Some(part), _) => Ok(Some(part)),
        (None, Some((rest, part))) => value_at(line, part, rest),
        (None, None) => Ok(None),
    };
    let twice = |()| match path.contains('.') {
        true => Fault::from(format!("a member on the path {path} occurs twice")),
        false => Fault::from(format!("the member {path} occurs twice")),
    };
    Ok(match found.map_err(twice)? {
        None => Value::Missing,
        Some(part) => of_part(line, part),
    })
}

/// Whether the object `line`, which is trimmed, has a member of this very `name`.
///
/// # Errors
/// When the line is not an object.
pub(crate) fn has(line: &[u8], name: &str) -> Result<bool, Fault> {
    if line.first() != Some(&b'{') {
        return Err(Fault::new(NO_OBJECT));
    }
    let mut reader = Reader { text: line, at: 0 };
    Ok(reader.search(Some(name.as_bytes()), 0)?.value.is_some())
}

/// The value that is written at `part` of `line`.
fn of_part(line: &[u8], Part { range, is_escaped }: Part) -> Value {
    match &line[range.clone()] {
        b"null" => Value::Null,
        [b'"', .., b'"'] => {
            Value::Text(RawValue { span: span(range.start + 1..range.end - 1), is_escaped })
        }
        _ => Value::Other(RawValue { span: span(range), is_escaped: false }),
    }
}

fn span(range: Range<usize>) -> Span {
    Span { start: range.start as u32, end: range.end as u32 }
}

/// A value in a line.
#[derive(Clone)]
struct Part {
    range: Range<usize>,
    /// Whether it is a string with escapes.
    is_escaped: bool,
}

/// What `path` leads to from the value at `part` of `line`.
fn value_at(line: &[u8], Part { range, .. }: Part, path: &[u8]) -> Result<Option<Part>, ()> {
    // It was read before, with what is around it.
    let mut reader = Reader { text: &line[..range.end], at: range.start };
    match line[range.start] {
        b'[' => {
            let dot = memchr::memchr(b'.', path);
            let (number, rest) = match dot {
                Some(dot) => (&path[..dot], Some(&path[dot + 1..])),
                None => (path, None),
            };
            let number = core::str::from_utf8(number).ok().and_then(|it| it.parse::<usize>().ok());
            let found = number.filter(|&it| it > 0).map(|it| reader.element(it)).transpose();
            match (found.map_err(drop)?.flatten(), rest) {
                (Some(part), Some(rest)) => value_at(line, part, rest),
                (found, _) => Ok(found),
            }
        }
        b'{' => {
            let found = reader.search(Some(path), 0).map_err(drop)?;
            match (found.value, found.outer) {
                _ if found.is_twice => Err(()),
                (None, Some((rest, part))) => value_at(line, part, rest),
                (found, _) => Ok(found),
            }
        }
        _ => Ok(None),
    }
}

/// The findings in an object.
#[derive(Default)]
struct MemberSearch<'p> {
    /// The value of the member whose name is the path.
    value: Option<Part>,
    /// The value of the member with the longest name that the path begins with, and the rest of the path.
    outer: Option<(&'p [u8], Part)>,
    is_twice: bool,
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    #[cold]
    fn wrong(&self, what: &str) -> Fault {
        Fault::from(format!("not a JSON object: {what} at column {}", self.at + 1))
    }

    #[inline(always)]
    fn byte(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn white(&mut self) {
        while matches!(self.byte(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// Takes `byte`, which `what` names, after white space.
    #[inline(always)]
    fn take(&mut self, byte: u8, what: &str) -> Result<(), Fault> {
        self.white();
        if self.byte() != byte || self.at >= self.text.len() {
            return Err(self.wrong(what));
        }
        self.at += 1;
        Ok(())
    }

    /// Takes a string; gives the range between its quotes, and whether there are escapes in it.
    #[inline(always)]
    fn string(&mut self) -> Result<(Range<usize>, bool), Fault> {
        self.take(b'"', "a string is missing")?;
        let (start, mut is_escaped) = (self.at, false);
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(found) = quote_or_backslash(rest) else {
                self.at = self.text.len();
                return Err(self.wrong("a string is never closed"));
            };
            self.at += found + 1;
            if rest[found] == b'"' {
                return Ok((start..self.at - 1, is_escaped));
            }
            (self.at, is_escaped) = (self.at + 1, true);
        }
    }

    /// Takes a value, which is within `depth` others.
    #[inline(always)]
    fn value(&mut self, depth: usize) -> Result<Part, Fault> {
        self.white();
        let (start, mut is_escaped) = (self.at, false);
        match self.byte() {
            b'"' => is_escaped = self.string()?.1,
            b'{' | b'[' => self.container(depth)?,
            _ => self.scalar()?,
        }
        Ok(Part { range: start..self.at, is_escaped })
    }

    /// Takes an object or an array. In a function of its own, because it calls itself.
    #[inline(never)]
    fn container(&mut self, depth: usize) -> Result<(), Fault> {
        if depth == DEEPEST {
            return Err(self.wrong("too many objects or arrays within each other"));
        }
        if self.byte() == b'{' {
            self.search(None, depth)?;
        } else {
            self.values(0, depth)?;
        }
        Ok(())
    }

    /// Takes a number or a name.
    #[inline(always)]
    fn scalar(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while matches!(self.byte(), b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.') {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        let is_value = match word {
            b"true" | b"false" | b"null" | b"NaN" | b"Infinity" | b"-Infinity" => true,
            _ => is_number(word),
        };
        if is_value {
            return Ok(());
        }
        self.at = start;
        Err(self.wrong("a value is missing"))
    }

    /// Takes an array; gives its value number `wanted`, from 1, if there is one.
    #[inline(always)]
    fn values(&mut self, wanted: usize, depth: usize) -> Result<Option<Part>, Fault> {
        self.take(b'[', "an array is missing")?;
        let mut found = None;
        self.white();
        if self.byte() == b']' {
            self.at += 1;
            return Ok(found);
        }
        for number in 1.. {
            let value = self.value(depth + 1)?;
            if number == wanted {
                found = Some(value);
            }
            self.white();
            if self.byte() == b']' {
                self.at += 1;
                break;
            }
            self.take(b',', "a comma or ] is missing")?;
        }
        Ok(found)
    }

    fn element(&mut self, number: usize) -> Result<Option<Part>, Fault> {
        self.values(number, 0)
    }

    /// Takes an object; finds in it what `path` leads to, if there is one.
    #[inline(always)]
    fn search<'p>(
        &mut self,
        path: Option<&'p [u8]>,
        depth: usize,
    ) -> Result<MemberSearch<'p>, Fault> {
        let mut found = MemberSearch::default();
        self.take(b'{', "an object is missing")?;
        self.white();
        if self.byte() == b'}' {
            self.at += 1;
            return Ok(found);
        }
        loop {
            let (name, is_escaped) = self.string()?;
            self.take(b':', "a colon is missing")?;
            let value = self.value(depth + 1)?;
            if let Some(path) = path {
                let name = &self.text[name];
                match is_escaped {
                    false => found.note(path, name, value),
                    true => {
                        let mut text = Vec::new();
                        if unescape(name, &mut text).is_some() {
                            found.note(path, &text, value);
                        }
                    }
                }
            }
            self.white();
            if self.byte() == b'}' {
                self.at += 1;
                return Ok(found);
            }
            self.take(b',', "a comma or } is missing")?;
        }
    }
}

impl<'p> MemberSearch<'p> {
    /// Notes the member `name` with this value, if `path` begins with it.
    #[inline(always)]
    fn note(&mut self, path: &'p [u8], name: &[u8], value: Part) {
        // Most begin with another letter, and need no call.
        if !name.is_empty() && name.first() != path.first() {
            return;
        }
        match path.strip_prefix(name) {
            Some(b"") => self.is_twice |= self.value.replace(value).is_some(),
            Some([b'.', rest @ ..]) => match &self.outer {
                Some((before, _)) if before.len() < rest.len() => {}
                Some((before, _)) if before.len() == rest.len() => self.is_twice = true,
                _ => self.outer = Some((rest, value)),
            },
            _ => {}
        }
    }
}

/// Where the first quote or backslash of `text` is.
#[inline(always)]
fn quote_or_backslash(text: &[u8]) -> Option<usize> {
    // Most names are short, and a search in so few bytes takes longer than to look at them.
    if let Some(&word) = text.first_chunk() {
        let word = u64::from_le_bytes(word);
        let found = equal_bytes(word, b'"') | equal_bytes(word, b'\\');
        if found != 0 {
            return Some(found.trailing_zeros() as usize / 8);
        }
    }
    memchr::memchr2(b'"', b'\\', text)
}

/// Whether `word` is a number.
#[inline(always)]
fn is_number(word: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = word.strip_prefix(b"-").unwrap_or(word);
    let whole = digits(rest);
    if whole == 0 || whole > 1 && rest[0] == b'0' {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', exponent @ ..] => exponent,
            _ => exponent,
        };
        let count = digits(exponent);
        return count > 0 && count == exponent.len();
    }
    rest.is_empty()
}

/// The span without the white space of JSON around it: there are other control characters that end no line, and are none.
#[inline(always)]
pub(super) fn trim(text: &[u8], mut span: Span) -> Span {
    let is_white = |at: u32| matches!(text[at as usize], b' ' | b'\t' | b'\r');
    while span.start < span.end && is_white(span.end - 1) {
        span.end -= 1;
    }
    while span.start < span.end && is_white(span.start) {
        span.start += 1;
    }
    span
}

/// Appends the string `raw`, without its quotes, decoded; `None` if an escape in it represents no character.
pub fn unescape(raw: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let (c, len) = escape(&rest[at..])?;
        out.extend_from_slice(c?.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[at + len..];
    }
    out.extend_from_slice(rest);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::quote_or_backslash;

    #[test]
    fn quotes_and_backslashes_are_found_in_each_place() {
        for len in 0..40 {
            for at in 0..=len {
                for (found, after) in [(b'"', b'\\'), (b'\\', b'"'), (b'"', b'!')] {
                    // Bytes that differ from them in one bit, too.
                    let near = [b'#', b']', 0xA2, 0xDC];
                    let mut text: Vec<u8> = (0..len).map(|i| near[i % near.len()]).collect();
                    let expected = text.get_mut(at).map(|byte| *byte = found).map(|()| at);
                    text.get_mut(at + 1).into_iter().for_each(|byte| *byte = after);
                    assert_eq!(quote_or_backslash(&text), expected, "{}", text.escape_ascii());
                }
            }
        }
    }
}
