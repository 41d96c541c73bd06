//! Rows with a base and a reference: tab-separated, or one JSON object per line.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use uriscan_core::chunk::Span;
use uriscan_core::uri::{UriError, UriErrorKind};

/// Where a row holds its base and its reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fields {
    /// In tab-separated columns, counted from 1. ASCII white space around a column is not part of
    /// it.
    Tsv {
        /// The column of the base.
        base: usize,
        /// The column of the reference.
        reference: usize,
    },
    /// In members of a JSON object, both strings. Of duplicate names the last one counts.
    Jsonl {
        /// The name of the base, or the path of names to it: `page.url` is the member `url` of `page`.
        base: String,
        /// The name of the reference, or the path to it.
        reference: String,
    },
}

/// The columns number `base` and `reference`, from 1, of the line at `line` of `text`.
///
/// # Errors
/// [`UriErrorKind::Field`] at the end of a line that has fewer columns.
pub(crate) fn columns(
    text: &[u8],
    line: Span,
    base: usize,
    reference: usize,
) -> Result<(Span, Span), UriError> {
    let (mut found_base, mut found_reference) = (None, None);
    let mut start = line.start;
    for column in 1..=base.max(reference) {
        let rest = Span { start, end: line.end };
        let end = memchr::memchr(b'\t', rest.of(text)).map_or(line.end, |tab| start + tab as u32);
        let span = Span { start, end };
        if column == base {
            found_base = Some(span);
        }
        if column == reference {
            found_reference = Some(span);
        }
        if end == line.end {
            break;
        }
        start = end + 1;
    }
    match (found_base, found_reference) {
        (Some(base), Some(reference)) => Ok((base, reference)),
        _ => Err(UriError::new(UriErrorKind::Field, line.len())),
    }
}

/// A string of a JSON object, and its position in the line unless it had to be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member<'l> {
    pub(crate) text: Cow<'l, str>,
    pub(crate) at: Option<usize>,
}

/// The strings `base` and `reference` of the object in `line`.
///
/// # Errors
/// [`UriErrorKind::Field`] at the position where the line is not JSON, or at its start if it has no
/// such strings.
pub(crate) fn members<'l>(
    line: &'l [u8],
    base: &str,
    reference: &str,
) -> Result<(Member<'l>, Member<'l>), UriError> {
    let mut reader = serde_json::Deserializer::from_slice(line);
    let found = Paths([Some(base), Some(reference)])
        .deserialize(&mut reader)
        .and_then(|found| reader.end().map(|()| found));
    match found {
        Ok([Some(base), Some(reference)]) => {
            let placed = |text: Cow<'l, str>| {
                let at = match &text {
                    // A borrowed string is a part of the line.
                    Cow::Borrowed(part) => {
                        (part.as_ptr() as usize).checked_sub(line.as_ptr() as usize)
                    }
                    Cow::Owned(_) => None,
                };
                Member { text, at }
            };
            Ok((placed(base), placed(reference)))
        }
        Ok(_) => Err(UriError::new(UriErrorKind::Field, 0)),
        Err(error) if error.is_data() => Err(UriError::new(UriErrorKind::Field, 0)),
        Err(error) => Err(UriError::new(UriErrorKind::Field, error.column().saturating_sub(1))),
    }
}

/// Reads the strings with these paths from an object, and skips the others. A path is a name, or names joined by dots
/// for a member of a member; a name with dots comes first.
struct Paths<'n>([Option<&'n str>; 2]);

type Strings<'de> = [Option<Cow<'de, str>>; 2];

impl<'de> DeserializeSeed<'de> for Paths<'_> {
    type Value = Strings<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Paths<'_> {
    type Value = Strings<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut found, mut below) = (Strings::default(), Strings::default());
        while let Some(name) = map.next_key_seed(Text)? {
            let rest = self.0.map(|path| path?.strip_prefix(&*name));
            let is_named = rest.map(|rest| rest == Some(""));
            if is_named != [false; 2] {
                let text = map.next_value_seed(Text)?;
                for (found, _) in found.iter_mut().zip(is_named).filter(|(_, is_named)| *is_named) {
                    *found = Some(text.clone());
                }
                continue;
            }
            let paths = rest.map(|rest| rest?.strip_prefix('.'));
            if paths == [None; 2] {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let inner = map.next_value_seed(MembersOf(Paths(paths)))?;
            below.iter_mut().zip(inner).for_each(|(old, new)| *old = new.or(old.take()));
        }
        let mut below = below.into_iter();
        Ok(found.map(|found| found.or(below.next().flatten())))
    }
}

/// Reads strings from a value if it is an object, and skips any other.
struct MembersOf<'n>(Paths<'n>);

impl<'de> DeserializeSeed<'de> for MembersOf<'_> {
    type Value = Strings<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for MembersOf<'_> {
    type Value = Strings<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        self.0.visit_map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Strings::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Strings::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Strings::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Strings::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Strings::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Strings::default())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Strings::default())
    }
}

/// A string, borrowed if it has no escapes.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_columns(line: &str, base: usize, reference: usize) -> Result<(&str, &str), UriError> {
        let span = Span { start: 0, end: line.len() as u32 };
        let text = |span: Span| str::from_utf8(span.of(line.as_bytes())).unwrap();
        columns(line.as_bytes(), span, base, reference).map(|(b, r)| (text(b), text(r)))
    }

    #[test]
    fn columns_are_counted_from_one() {
        assert_eq!(of_columns("b\tr", 1, 2), Ok(("b", "r")));
        assert_eq!(of_columns("r\tx\tb\ty", 3, 1), Ok(("b", "r")));
        assert_eq!(of_columns("b\t", 1, 2), Ok(("b", "")));
        assert_eq!(of_columns("\tr", 1, 2), Ok(("", "r")));
        assert_eq!(of_columns("b", 1, 1), Ok(("b", "b")));
        let missing = |at| Err(UriError::new(UriErrorKind::Field, at));
        assert_eq!(of_columns("b", 1, 2), missing(1));
        assert_eq!(of_columns("a\tb", 1, 3), missing(3));
    }

    #[test]
    fn members_are_found_among_others() {
        let line = br#" {"n": [1, {"base": 2}], "href":"../a", "base" : "http:\/\/h\/"} "#;
        let (base, reference) = members(line, "base", "href").unwrap();
        assert_eq!((&base.text[..], base.at), ("http://h/", None));
        assert_eq!((&reference.text[..], reference.at), ("../a", Some(33)));
        assert_eq!(&line[33..37], b"../a");
        let (base, reference) = members(br#"{"x":"1","x":"2"}"#, "x", "x").unwrap();
        assert_eq!((&base.text[..], &reference.text[..]), ("2", "2"));
    }

    #[test]
    fn paths_lead_to_members_of_members() {
        let picked = |line: &'static str, base, reference| {
            members(line.as_bytes(), base, reference).map(|(b, r)| (b.text, r.text))
        };
        let line =
            r#"{"page":{"a":[1],"url":"b","in":{"x":"y"}},"href":"r","page.q":"q","n":null}"#;
        for (base, reference, expected) in [
            ("page.url", "href", Some(("b", "r"))),
            ("page.url", "page.in.x", Some(("b", "y"))),
            ("href", "page.q", Some(("r", "q"))),
            ("page.none", "href", None),
            ("n.x", "href", None),
            ("page.in", "href", None),
            ("page.", "href", None),
        ] {
            let found = picked(line, base, reference).ok();
            let expected = expected.map(|(b, r): (&str, &str)| (b.into(), r.into()));
            assert_eq!(found, expected, "{base} {reference}");
        }
        // A name with a dot comes before a path, whatever their order.
        for line in [r#"{"a.b":"1","a":{"b":"2"}}"#, r#"{"a":{"b":"2"},"a.b":"1"}"#] {
            assert_eq!(picked(line, "a.b", "a.b").unwrap().0, "1");
        }
        for line in [r#"{"a":1,"b":"x"}"#, r#"{"a":true,"b":"x"}"#, r#"{"a":-1.5,"b":"x"}"#] {
            assert!(picked(line, "a.c", "b").is_err(), "{line}");
        }
    }

    #[test]
    fn other_objects_are_rejected() {
        for (line, at) in [
            (&br#"{"base":"b"}"#[..], 0),
            (br#"{"base":1,"href":"r"}"#, 0),
            (br#"["base","href"]"#, 0),
            (br#"{"base":"b","href":"r""#, 21),
            (br#"{"base":"b","href":"r"} x"#, 24),
            (b"{\"base\":\"b\",\"href\":\"\xFF\"}", 20),
            (b"http://h/", 0),
        ] {
            let error = members(line, "base", "href").unwrap_err();
            assert_eq!(error.kind, UriErrorKind::Field);
            assert_eq!(error.at, at, "{}", line.escape_ascii());
        }
        let deep = "[".repeat(100_000);
        assert!(members(format!("{{\"x\":{deep}").as_bytes(), "base", "href").is_err());
    }
}
