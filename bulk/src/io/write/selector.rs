//! Parts of a reference by their names: a component, a parameter of the query, a segment of the path.

use std::borrow::Cow;

use super::row::{Field, Row};
use uriscan_core::normalize::percent::{decoded, push_triplet};
use uriscan_core::shape::Shaper;

/// A part of a reference.
///
/// - The name of a [`Field`].
/// - `query:NAME`: the value of the first parameter with this name in the query, as it is written; empty if it has no
///   `=`. Parameters are separated by `&`. Names are compared decoded, so `query:a b` is the value of `a+b` and
///   `a%20b`.
/// - `segment:N`: the segment of the path with this number, from 1, or from the end if it is negative. The path
///   `/a/b/` has three, of which the last one is empty.
/// - `shape`: the [shape](uriscan_core::shape) of the reference; `shape:slugs` also types segments of words.
/// - With `:decoded` after a parameter or a segment, its percent-encodings are decoded, once, and each `+` of a
///   parameter is a space. What would not be text stays encoded: control characters, and what is not UTF-8.
///
/// ```
/// use uriscan_bulk::io::Selector;
/// assert!(["host", "query:q", "query:q:decoded", "segment:-1"].iter().all(|name| Selector::new(name).is_some()));
/// assert!(["", "hots", "query:", "segment:0", "path:decoded"].iter().all(|name| Selector::new(name).is_none()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Field(Field),
    /// The parameter with this name, and whether it is decoded.
    Query(Vec<u8>, bool),
    /// The segment with this number, and whether it is decoded.
    Segment(i32, bool),
    /// The shape, and whether segments of words are typed.
    Shape(bool),
}

impl From<Field> for Selector {
    fn from(field: Field) -> Selector {
        Selector(Kind::Field(field))
    }
}

impl Selector {
    /// The forms of names other than those of fields, for messages.
    pub const OTHERS: &'static str =
        "query:NAME, query:NAME:decoded, segment:N, segment:N:decoded, shape, shape:slugs";

    /// The part with this name, or `None`.
    pub fn new(name: &str) -> Option<Selector> {
        if let Some(field) = Field::from_name(name) {
            return Some(field.into());
        }
        match name {
            "shape" => return Some(Selector(Kind::Shape(false))),
            "shape:slugs" => return Some(Selector(Kind::Shape(true))),
            _ => {}
        }
        let (kind, rest) = name.split_once(':')?;
        let (what, is_decoded) = match rest.strip_suffix(":decoded") {
            Some(what) => (what, true),
            None => (rest, false),
        };
        match kind {
            "query" if !what.is_empty() => {
                Some(Selector(Kind::Query(plain(what.as_bytes(), true).into_owned(), is_decoded)))
            }
            "segment" => {
                let number = what.parse::<i32>().ok().filter(|&number| number != 0)?;
                Some(Selector(Kind::Segment(number, is_decoded)))
            }
            _ => None,
        }
    }

    /// The field, if it is one.
    pub fn field(&self) -> Option<Field> {
        match self.0 {
            Kind::Field(field) => Some(field),
            Kind::Query(..) | Kind::Segment(..) | Kind::Shape(_) => None,
        }
    }

    /// Appends this part of `row`; `false` if it is undefined.
    #[inline]
    pub fn push(&self, row: &Row<'_>, out: &mut Vec<u8>) -> bool {
        let (value, is_decoded, is_form) = match &self.0 {
            Kind::Field(field) => return row.push(*field, out),
            Kind::Shape(slugs) => {
                Shaper::default().slugs(*slugs).append(row.text, row.parts(), out);
                return true;
            }
            Kind::Query(name, is_decoded) => {
                let query = row.value(Field::Query).unwrap_or_default();
                (parameter(query, name), *is_decoded, true)
            }
            Kind::Segment(number, is_decoded) => {
                let path = row.value(Field::Path).unwrap_or_default();
                (segment(path, *number), *is_decoded, false)
            }
        };
        let Some(value) = value else { return false };
        match is_decoded {
            true => push_decoded(value, is_form, out),
            false => out.extend_from_slice(value),
        }
        true
    }
}

/// `text` without percent-encodings, and in a form with spaces for `+`.
fn plain(text: &[u8], is_form: bool) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'%', b'+', text).is_none() {
        return Cow::Borrowed(text);
    }
    let spaced = text.iter().map(|&byte| if byte == b'+' && is_form { b' ' } else { byte });
    Cow::Owned(decoded(&spaced.collect::<Vec<u8>>()))
}

fn parameter<'q>(query: &'q [u8], name: &[u8]) -> Option<&'q [u8]> {
    query.split(|&byte| byte == b'&').find_map(|param| {
        let end = memchr::memchr(b'=', param).unwrap_or(param.len());
        let is_named = !param.is_empty() && *plain(&param[..end], true) == *name;
        is_named.then(|| param.get(end + 1..).unwrap_or_default())
    })
}

fn segment(path: &[u8], number: i32) -> Option<&[u8]> {
    if path.is_empty() {
        return None;
    }
    let mut segments = path.strip_prefix(b"/").unwrap_or(path).split(|&byte| byte == b'/');
    let before = usize::try_from(number.unsigned_abs()).ok()? - 1;
    if number > 0 { segments.nth(before) } else { segments.nth_back(before) }
}

/// Appends `value` decoded; control characters and what is not UTF-8 stay encoded.
fn push_decoded(value: &[u8], is_form: bool, out: &mut Vec<u8>) {
    let push_encoded = |bytes: &[u8], out: &mut Vec<u8>| {
        bytes.iter().for_each(|&byte| push_triplet(byte, out));
    };
    for chunk in plain(value, is_form).utf8_chunks() {
        for c in chunk.valid().chars() {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).as_bytes();
            match c.is_control() {
                true => push_encoded(bytes, out),
                false => out.extend_from_slice(bytes),
            }
        }
        push_encoded(chunk.invalid(), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uriscan_core::uri::parse;

    fn selected(name: &str, reference: &str) -> Option<String> {
        let row = Row::new(1, reference.as_bytes(), parse(reference.as_bytes()).unwrap());
        let mut out = Vec::new();
        let is_defined = Selector::new(name).unwrap().push(&row, &mut out);
        assert!(is_defined || out.is_empty());
        is_defined.then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn parameters_are_found_by_their_decoded_names() {
        let uri = "http://h/?a=1&q=x+y%20%C3%A9&q=2&%71=3&b&c=&n+m=4&=5&d:e=6";
        for (name, expected) in [
            ("query:a", Some("1")),
            ("query:q", Some("x+y%20%C3%A9")),
            ("query:q:decoded", Some("x y \u{E9}")),
            ("query:%71", Some("x+y%20%C3%A9")),
            ("query:b", Some("")),
            ("query:c", Some("")),
            ("query:n m", Some("4")),
            ("query:n%20m:decoded", Some("4")),
            ("query:d:e", Some("6")),
            ("query:d", None),
            ("query:A", None),
            ("query:decoded", None),
        ] {
            assert_eq!(selected(name, uri).as_deref(), expected, "{name}");
        }
        assert_eq!(selected("query:q", "http://h/#?q=1"), None);
        assert_eq!(selected("query:%71", "?%71=1").as_deref(), Some("1"));
    }

    #[test]
    fn segments_have_numbers_from_both_ends() {
        for (path, number, expected) in [
            ("/a/b%2Fc/", 1, Some("a")),
            ("/a/b%2Fc/", 2, Some("b%2Fc")),
            ("/a/b%2Fc/", 3, Some("")),
            ("/a/b%2Fc/", 4, None),
            ("/a/b%2Fc/", -1, Some("")),
            ("/a/b%2Fc/", -3, Some("a")),
            ("/a/b%2Fc/", -4, None),
            ("a/b", 1, Some("a")),
            ("/", 1, Some("")),
            ("", 1, None),
            ("//h//x", 1, Some("")),
            ("//h//x", 2, Some("x")),
            ("/a", i32::MIN, None),
        ] {
            assert_eq!(
                selected(&format!("segment:{number}"), path).as_deref(),
                expected,
                "{path} {number}"
            );
        }
        assert_eq!(selected("segment:2:decoded", "/a/b%2Fc+d").as_deref(), Some("b/c+d"));
    }

    #[test]
    fn decoded_values_are_text_of_one_line() {
        for (value, expected) in [
            ("%0A%0d%09%00%7F", "%0A%0D%09%00%7F"),
            ("%C2%85%FF%C3", "%C2%85%FF%C3"),
            ("%2541", "%41"),
            ("%22%5C%7B", "\"\\{"),
            ("%F0%9F%98%80", "\u{1F600}"),
        ] {
            assert_eq!(
                selected("query:q:decoded", &format!("?q={value}")).as_deref(),
                Some(expected)
            );
        }
    }

    #[test]
    fn names_of_unknown_parts_are_rejected() {
        for name in [
            "",
            "hots",
            "Host",
            "query:",
            "query::decoded",
            "segment:",
            "segment:0",
            "segment:x",
            "segment:1:",
            "segment:99999999999",
            "path:decoded",
            "fragment:a",
        ] {
            assert_eq!(Selector::new(name), None, "{name}");
        }
        assert_eq!(Selector::new("host"), Some(Field::Host.into()));
    }
}
