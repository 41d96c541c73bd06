//! The links in the strings of JSON texts.

use std::borrow::Cow;

use super::reference::{Absolute, encoded, scheme};
use super::{Context, Finder, Links, page};
use crate::chunk::{Padded, PaddedBuf, Span};
use crate::simd::Kernels;

/// Appends the links in the strings of `text`, line by line: of all values and names, or of the values of members that
/// are called one of `fields`, at any depth.
///
/// What stands between strings is not judged, and no string goes beyond its line. Escapes are decoded. The value of a
/// field that is a URI as a whole is taken as one; with `base`, a relative reference too.
pub(crate) fn lines(
    finder: &Finder,
    kernels: Kernels,
    text: Padded<'_>,
    fields: &[String],
    base: Option<&[u8]>,
    links: &mut Links,
) {
    let content = text.content();
    let mut strings = Strings {
        finder,
        kernels,
        text,
        fields,
        has_base: base.is_some(),
        absolute: Absolute::new(base),
        plain: PaddedBuf::default(),
    };
    let mut start = 0;
    while start < content.len() {
        let end = memchr::memchr(b'\n', &content[start..]).map_or(content.len(), |at| start + at);
        strings.line(start, end, links);
        start = end + 1;
    }
}

struct Strings<'a> {
    finder: &'a Finder,
    kernels: Kernels,
    text: Padded<'a>,
    fields: &'a [String],
    has_base: bool,
    absolute: Absolute,
    /// A string without its escapes.
    plain: PaddedBuf,
}

impl Strings<'_> {
    /// Looks into the strings of `content[at..end]`.
    fn line(&mut self, mut at: usize, end: usize, links: &mut Links) {
        let content = &self.text.content()[..end];
        // Whether the name before asks for the values that follow; several follow in an array.
        let mut is_wanted = self.fields.is_empty();
        while let Some(skipped) = memchr::memchr(b'"', content.get(at..).unwrap_or_default()) {
            let start = at + skipped + 1;
            let (end, is_escaped) = string_end(content, start);
            at = end + 1;
            let raw = &content[start..end];
            if !self.fields.is_empty() && is_name(content, at) {
                is_wanted = self.fields.iter().any(|field| field.as_bytes() == raw);
            } else if is_wanted {
                self.value(Span { start: start as u32, end: end as u32 }, is_escaped, links);
            }
        }
    }

    /// Looks into the string at `span`.
    fn value(&mut self, span: Span, is_escaped: bool, links: &mut Links) {
        let Strings { finder, kernels, text, fields, has_base, absolute, plain } = self;
        let raw = span.of(text.content());
        let decoded = if is_escaped { decoded(raw) } else { raw.into() };
        if !fields.is_empty() && is_whole(&decoded, *has_base) {
            let schemes = &finder.options().schemes;
            page::push(schemes, absolute, &decoded, span, Context::Field, links);
        } else if is_escaped {
            plain.set(&decoded);
            finder.find_made(*kernels, plain.padded(), span, Context::Field, links);
        } else {
            finder.find_span(*kernels, *text, span, Context::Field, links);
        }
    }
}

/// Where the string that begins at `start` ends, and whether there are escapes in it.
fn string_end(text: &[u8], start: usize) -> (usize, bool) {
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
fn is_name(text: &[u8], at: usize) -> bool {
    text.get(at..).unwrap_or_default().iter().find(|byte| !byte.is_ascii_whitespace())
        == Some(&b':')
}

/// Whether `value` as a whole is a URI, or a relative reference where those count.
fn is_whole(value: &[u8], has_base: bool) -> bool {
    if value.is_empty() || value.iter().any(u8::is_ascii_whitespace) {
        return false;
    }
    match scheme(&encoded(value)) {
        Some(_) => crate::uri::parse(&encoded(value)).is_ok(),
        None => has_base,
    }
}

/// `raw` with its escapes decoded (RFC 8259 section 7); wrong ones stay as they are.
fn decoded(raw: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &raw[at..]) {
        out.extend_from_slice(&raw[at..at + found]);
        at += found;
        let one = match raw.get(at + 1) {
            Some(b'n') => Some(b'\n'),
            Some(b't') => Some(b'\t'),
            Some(b'r') => Some(b'\r'),
            Some(b'b') => Some(8),
            Some(b'f') => Some(12),
            Some(&byte @ (b'"' | b'\\' | b'/')) => Some(byte),
            _ => None,
        };
        if let Some(byte) = one {
            out.push(byte);
            at += 2;
        } else if let Some((c, len)) = unicode(&raw[at..]) {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            at += len;
        } else {
            out.push(b'\\');
            at += 1;
        }
    }
    out.extend_from_slice(&raw[at..]);
    out.into()
}

/// The character of the `\uXXXX`, or pair of them, at the start of `raw`, and its length there.
fn unicode(raw: &[u8]) -> Option<(char, usize)> {
    let unit = |raw: &[u8]| {
        let digits = raw.strip_prefix(b"\\u")?.get(..4)?;
        digits.iter().try_fold(0, |sum, &digit| Some(sum * 16 + char::from(digit).to_digit(16)?))
    };
    let first: u32 = unit(raw)?;
    if (0xD800..0xDC00).contains(&first)
        && let Some(second @ 0xDC00..0xE000) = unit(&raw[6..])
    {
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return char::from_u32(code).map(|c| (c, 12));
    }
    Some((char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6))
}
