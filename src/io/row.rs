//! One parsed reference as a row: its fields, their names and their order.

use crate::uri::Components;

/// A field of a row, in the order in which formats write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The line in its source, counted from 1, blank lines included.
    Line,
    /// The scheme, without its `:`.
    Scheme,
    /// The authority, without its `//`.
    Authority,
    /// The user information, without its `@`.
    Userinfo,
    /// The host, an IP literal with its brackets.
    Host,
    /// The port, as text, without its `:`.
    Port,
    /// The path; always defined.
    Path,
    /// The query, without its `?`.
    Query,
    /// The fragment, without its `#`.
    Fragment,
    /// The kind of the host: `reg-name`, `ipv4`, `ipv6` or `ipvfuture`.
    HostKind,
}

impl Field {
    /// All fields, in order.
    pub const ALL: [Field; 10] = [
        Field::Line,
        Field::Scheme,
        Field::Authority,
        Field::Userinfo,
        Field::Host,
        Field::Port,
        Field::Path,
        Field::Query,
        Field::Fragment,
        Field::HostKind,
    ];

    /// The stable name used in columns, JSON and templates.
    pub const fn name(self) -> &'static str {
        match self {
            Field::Line => "line",
            Field::Scheme => "scheme",
            Field::Authority => "authority",
            Field::Userinfo => "userinfo",
            Field::Host => "host",
            Field::Port => "port",
            Field::Path => "path",
            Field::Query => "query",
            Field::Fragment => "fragment",
            Field::HostKind => "host_kind",
        }
    }

    /// The field with this `name`, if any.
    pub fn from_name(name: &str) -> Option<Field> {
        Field::ALL.into_iter().find(|field| field.name() == name)
    }
}

/// A valid reference and its line.
///
/// All its values are ASCII without controls, `"` and `\`, since no rule of Appendix A allows such
/// a byte. Formats therefore need no escapes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'t> {
    pub(crate) line: u64,
    pub(crate) text: &'t [u8],
    pub(crate) parts: Components,
}

impl<'t> Row<'t> {
    /// The text of `field`; `None` if it is undefined, and for [`Field::Line`], which is a number.
    #[inline(always)]
    pub(crate) fn value(&self, field: Field) -> Option<&'t [u8]> {
        let Row { text, parts, .. } = *self;
        match field {
            Field::Line => None,
            Field::Scheme => parts.scheme(text),
            Field::Authority => parts.authority(text),
            Field::Userinfo => parts.userinfo(text),
            Field::Host => parts.host(text),
            Field::Port => parts.port(text),
            Field::Path => Some(parts.path(text)),
            Field::Query => parts.query(text),
            Field::Fragment => parts.fragment(text),
            Field::HostKind => parts.host_kind.name().map(str::as_bytes),
        }
    }
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
    fn numbers_are_written_as_the_standard_library_does() {
        for number in [0, 1, 9, 10, 99, 100, 12_345, u64::from(u32::MAX), u64::MAX] {
            let mut out = b"<".to_vec();
            push_decimal(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("<{number}"));
        }
    }
}
