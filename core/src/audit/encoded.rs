//! Triplets (RFC 3986 sections 7.2 and 7.3): the effects of decoding a component.

use super::{Detail, Found, Rule, triplet};
use crate::grammar::class::UNRESERVED;

/// The component that holds the triplets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Userinfo,
    Host,
    Path,
    /// A path without segments, such as that of `mailto:`.
    Opaque,
    Query,
}

/// Checks the triplets of `text`, a component that starts at byte `start` of the record.
pub(super) fn check(text: &[u8], start: usize, part: Part, found: &mut Found<'_>) {
    let mut at = if part == Part::Host { zone_start(text) } else { 0 };
    while let Some(percent) = memchr::memchr(b'%', &text[at..]) {
        at += percent;
        let Some(byte) = triplet(text, at) else {
            at += 1;
            continue;
        };
        at += check_one(text, at, byte, start, part, found);
    }
}

/// Where the zone of an IPv6 address begins in `host`, which is after a percent sign that has to be encoded (RFC 6874 section 2); 0 if
/// there is none.
fn zone_start(host: &[u8]) -> usize {
    let end = || {
        let inside = host.strip_prefix(b"[")?.strip_suffix(b"]")?;
        let len = memchr::memchr(b'%', inside).filter(|&at| triplet(inside, at) == Some(b'%'))?;
        let address = core::str::from_utf8(&inside[..len]).ok()?;
        address.parse::<core::net::Ipv6Addr>().ok().map(|_| 1 + len + 3)
    };
    end().unwrap_or(0)
}

/// [`check`] for a query. With `has_body`, for `mailto:` and `sms:`, the parameter `body` may hold
/// line breaks, which must be encoded there (RFC 6068 section 5, RFC 5724 section 2.2).
pub(super) fn check_query(query: &[u8], start: usize, has_body: bool, found: &mut Found<'_>) {
    if !has_body {
        return check(query, start, Part::Query, found);
    }
    let mut at = 0;
    for parameter in query.split(|&byte| byte == b'&') {
        let is_body = parameter.get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"body="));
        if !is_body {
            check(parameter, start + at, Part::Query, found);
        }
        at += parameter.len() + 1;
    }
}

/// Checks the triplet of `byte` at `at` of `text`; returns the number of bytes to advance.
fn check_one(
    text: &[u8],
    at: usize,
    byte: u8,
    start: usize,
    part: Part,
    found: &mut Found<'_>,
) -> usize {
    // A query holds free text, with its line breaks and percent signs.
    let is_text = part == Part::Query;
    let mut len = 3;
    let rule = match byte {
        0 => Some(Rule::EncodedNul),
        b'\r' | b'\n' => {
            while let Some(b'\r' | b'\n') = triplet(text, at + len) {
                len += 3;
            }
            Some(Rule::EncodedLineBreak)
        }
        0x01..=0x1F | 0x7F => Some(Rule::EncodedControl),
        b'%' => doubly_encoded(text, at).map(|end| {
            len = end - at;
            Rule::DoubleEncoding
        }),
        0x80..=0xFF => overlong(text, at, byte).map(|sequence| {
            len = sequence;
            Rule::OverlongUtf8
        }),
        _ if part == Part::Host && UNRESERVED.has(byte) => Some(Rule::EncodedHost),
        _ if part == Part::Host => Some(Rule::EncodedDelimiter),
        b'/' if part == Part::Path => Some(Rule::EncodedSlash),
        b'\\' if part == Part::Path => Some(Rule::EncodedBackslash),
        _ => None,
    };
    if let Some(rule) = rule {
        let severity = if is_text { rule.severity().lower() } else { rule.severity() };
        let range = start + at..start + at + len;
        found.add_as(rule, severity, range, Detail::None);
    }
    // Two percent signs may share digits: the bytes after an encoded one are checked as well.
    if rule == Some(Rule::DoubleEncoding) { 3 } else { len }
}

/// The end of the triplet that a second decoding would find after the `%25` at `at`.
fn doubly_encoded(text: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 3;
    for _ in 0..2 {
        let (byte, len) = match triplet(text, end) {
            Some(byte) => (byte, 3),
            None => (*text.get(end)?, 1),
        };
        if !byte.is_ascii_hexdigit() {
            return None;
        }
        end += len;
    }
    Some(end)
}

/// The length of the overlong sequence of UTF-8 that begins with the triplet of `first` at `at`:
/// one for a character that needs fewer bytes (RFC 3629 section 3).
fn overlong(text: &[u8], at: usize, first: u8) -> Option<usize> {
    let (count, second) = match first {
        0xC0 | 0xC1 => (2, 0x80..=0xBF),
        0xE0 => (3, 0x80..=0x9F),
        0xF0 => (4, 0x80..=0x8F),
        _ => return None,
    };
    let is_second = triplet(text, at + 3).is_some_and(|byte| second.contains(&byte));
    let continues = |i: usize| triplet(text, at + 3 * i).is_some_and(|byte| byte & 0xC0 == 0x80);
    (is_second && (2..count).all(continues)).then_some(3 * count)
}
