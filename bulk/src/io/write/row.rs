//! One parsed reference as a row: its fields, their names and their order.

use core::cell::OnceCell;

use uriscan_core::rules::{Ends, ends};
use uriscan_core::uri::Components;

named! {
    /// A field of a row, in the order in which formats write them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Field {
        /// The line in its source, counted from 1, blank lines included.
        Line = "line",
        /// The scheme, without its `:`.
        Scheme = "scheme",
        /// The authority, without its `//`.
        Authority = "authority",
        /// The user information, without its `@`.
        Userinfo = "userinfo",
        /// The host, an IP literal with its brackets.
        Host = "host",
        /// The port, as text, without its `:`.
        Port = "port",
        /// The path; always defined.
        Path = "path",
        /// The query, without its `?`.
        Query = "query",
        /// The fragment, without its `#`.
        Fragment = "fragment",
        /// The kind of the host: `reg-name`, `ipv4`, `ipv6` or `ipvfuture`.
        HostKind = "host_kind",
        /// The registrable domain of the host, by the public suffix list; undefined for an address.
        Domain = "domain",
        /// The public suffix of the host; undefined for an address.
        Suffix = "suffix",
        /// The parameters of the query, as a JSON array of pairs of a name and a value, both as they are written:
        /// `[["a","1"],["b",null]]`. They are separated by `&`; the value is null where there is no `=`.
        Params = "params",
        /// The name of its source; in templates only.
        File = "file",
        /// The column of its first byte in its line, counted from 1; in templates only.
        Column = "column",
        /// Of a link, what it was found in; in templates only.
        Context = "context",
    }
}

impl Field {
    /// The fields of a row; the others are of templates only.
    pub const OF_ROW: &'static [Field] = Field::ALL.split_at(13).0;
}

/// A valid reference and its line.
///
/// All its values are ASCII without controls, `"` and `\`, since no rule of Appendix A allows such
/// a byte. Formats therefore need no escapes. Params, which are JSON, have quotes, too.
#[derive(Clone, Debug)]
pub struct Row<'t> {
    pub(crate) line: u64,
    pub(crate) text: &'t [u8],
    parts: Components,
    /// The registrable domain and the public suffix, once one of them was needed.
    ends: OnceCell<Ends<'t>>,
}

impl<'t> Row<'t> {
    /// The row of `text`, which has these `parts`.
    #[inline(always)]
    pub fn new(line: u64, text: &'t [u8], parts: Components) -> Row<'t> {
        Row { line, text, parts, ends: OnceCell::new() }
    }

    /// The components of the text.
    pub(crate) fn parts(&self) -> &Components {
        &self.parts
    }

    /// The text of `field`; `None` if it is undefined, and for what is not a part of the text.
    #[inline(always)]
    pub fn value(&self, field: Field) -> Option<&'t [u8]> {
        let Row { text, parts, .. } = *self;
        match field {
            Field::Line | Field::Params => None,
            Field::File | Field::Column | Field::Context => None,
            Field::Scheme => parts.scheme(text),
            Field::Authority => parts.authority(text),
            Field::Userinfo => parts.userinfo(text),
            Field::Host => parts.host(text),
            Field::Port => parts.port(text),
            Field::Path => Some(parts.path(text)),
            Field::Query => parts.query(text),
            Field::Fragment => parts.fragment(text),
            Field::HostKind => parts.host_kind.name().map(str::as_bytes),
            Field::Domain => self.ends().domain,
            Field::Suffix => self.ends().suffix,
        }
    }

    #[inline(always)]
    fn ends(&self) -> Ends<'t> {
        *self.ends.get_or_init(|| self.parts.host(self.text).map_or(Ends::default(), ends))
    }

    /// Appends `field`; `false` if it is undefined.
    #[inline(always)]
    pub(crate) fn push(&self, field: Field, out: &mut Vec<u8>) -> bool {
        match field {
            Field::Line => push_decimal(self.line, out),
            Field::Params => match self.parts.query(self.text) {
                Some(query) => push_params(query, out),
                None => return false,
            },
            field => match self.value(field) {
                Some(value) => out.extend_from_slice(value),
                None => return false,
            },
        }
        true
    }
}

/// Appends the parameters of `query`, as [`Field::Params`] has them.
fn push_params(query: &[u8], out: &mut Vec<u8>) {
    out.push(b'[');
    let all = if query.is_empty() { None } else { Some(query.split(|&byte| byte == b'&')) };
    for (i, param) in all.into_iter().flatten().enumerate() {
        out.extend_from_slice(if i == 0 { b"[\"" } else { b",[\"" });
        let end = memchr::memchr(b'=', param);
        out.extend_from_slice(&param[..end.unwrap_or(param.len())]);
        match end {
            Some(end) => {
                out.extend_from_slice(b"\",\"");
                out.extend_from_slice(&param[end + 1..]);
                out.extend_from_slice(b"\"]");
            }
            None => out.extend_from_slice(b"\",null]"),
        }
    }
    out.push(b']');
}

/// Appends `number` in decimal digits.
#[inline]
pub(crate) fn push_decimal(mut number: u64, out: &mut Vec<u8>) {
    // 2^64 has 20 digits.
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_round_trip() {
        for field in Field::ALL {
            assert_eq!(Field::from_name(field.name()), Some(field));
        }
        assert_eq!(Field::from_name("Host"), None);
    }

    #[test]
    fn params_keep_their_order_and_what_repeats() {
        for (query, expected) in [
            ("", "[]"),
            ("a", r#"[["a",null]]"#),
            ("a=", r#"[["a",""]]"#),
            (
                "b=1&a=2&b=3=4&=5&&%41;c=d",
                r#"[["b","1"],["a","2"],["b","3=4"],["","5"],["",null],["%41;c","d"]]"#,
            ),
        ] {
            let mut out = Vec::new();
            push_params(query.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn numbers_are_written_as_the_standard_library_does() {
        for number in [0, 1, 9, 10, 99, 100, 12_345, u64::from(u32::MAX), u64::MAX] {
            let mut out = b"<".to_vec();
            push_decimal(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("<{number}"));
        }
    }
}
