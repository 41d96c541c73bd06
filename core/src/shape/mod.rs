//! The shape of a URI, with types in place of what differs from page to page.

mod date;
mod endless;
mod kind;
#[cfg(test)]
mod tests;

pub use endless::{Endless, endless};
pub use endless::{is_repeating, may_be_endless, numbers};

use core::ops::Range;

use crate::normalize::percent::decode;
use crate::uri::{Components, UriError, parse};
use kind::{
    AMPERSAND, AT, CLASS, ClassSet, DIGIT, EQUALS, PERCENT, SEMICOLON, SLASH, classes_in, is_slug,
    kind_of,
};

/// The shape of `reference`, a URI or a relative reference, as it is written.
///
/// ```
/// use uriscan::shape::shape;
/// let found = shape(b"https://h/user/17/photo/0b0f2d4e-6c1a-4f7e-9d58-2a1b3c4d5e6f.jpg?page=2&lang=en#top").unwrap();
/// assert_eq!(found, b"https://h/user/{int}/photo/{uuid}.jpg?lang={text}&page={int}");
/// assert!(shape(b"http://h/{int}").is_err(), "a shape is not a URI");
/// ```
///
/// # Errors
/// What is wrong with `reference` if it is not valid.
pub fn shape(reference: &[u8]) -> Result<Vec<u8>, UriError> {
    let parts = parse(reference)?;
    let mut out = Vec::with_capacity(reference.len());
    Shaper::default().append(reference, &parts, &mut out);
    Ok(out)
}

/// Makes shapes, one after the other; owns the buffers.
///
/// ```
/// use uriscan::shape::Shaper;
/// use uriscan::uri::parse;
/// let (uri, mut out) = (b"http://h/blog/ten-ways-to-count?a=1", Vec::new());
/// Shaper::default().slugs(true).append(uri, &parse(uri).unwrap(), &mut out);
/// assert_eq!(out, b"http://h/blog/{slug}?a={int}");
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Shaper {
    slugs: bool,
    /// The piece that is looked at, decoded.
    decoded: Vec<u8>,
    /// The parameters of a query, one after the other, and where each is.
    params: Vec<u8>,
    ranges: Vec<Range<usize>>,
}

impl Shaper {
    /// Whether segments of paths that are made of words become `{slug}`; by default they are kept.
    pub fn slugs(mut self, slugs: bool) -> Shaper {
        self.slugs = slugs;
        self
    }

    /// Appends the shape of `reference`, which is valid and has these `parts`, to `out`. Allocates only to grow its buffers.
    ///
    /// # Panics
    /// When `parts` are not those of `reference`.
    pub fn append(&mut self, reference: &[u8], parts: &Components, out: &mut Vec<u8>) {
        let scheme = parts.scheme(reference);
        if let Some(scheme) = scheme {
            out.extend_from_slice(scheme);
            out.push(b':');
        }
        if let Some(host) = parts.host(reference) {
            out.extend_from_slice(b"//");
            out.extend_from_slice(host);
        }
        if let Some(port) = parts.port(reference) {
            out.push(b':');
            out.extend_from_slice(port);
        }
        let path = parts.path(reference);
        match scheme {
            Some(scheme) if parts.authority_start == 0 && !path.starts_with(b"/") => {
                self.push_opaque(scheme, path, out);
            }
            _ => self.push_path(path, out),
        }
        if let Some(query) = parts.query(reference) {
            out.push(b'?');
            self.push_query(query, out);
        }
    }

    /// Appends what becomes of the `path` of a URI that is opaque.
    fn push_opaque(&mut self, scheme: &[u8], path: &[u8], out: &mut Vec<u8>) {
        let colon = memchr::memchr(b':', path).filter(|_| scheme.eq_ignore_ascii_case(b"urn"));
        let (namespace, value) = path.split_at(colon.map_or(0, |colon| colon + 1));
        out.extend_from_slice(namespace);
        self.push_value(value, classes_in(value), out);
    }

    fn push_path(&mut self, path: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        loop {
            let (mut end, classes) = piece(path, at, SLASH | SEMICOLON);
            self.push_segment(&path[at..end], classes, out);
            while path.get(end) == Some(&b';') {
                out.push(b';');
                end = self.push_param(path, end + 1, SLASH | SEMICOLON, out);
            }
            if end == path.len() {
                return;
            }
            out.push(b'/');
            at = end + 1;
        }
    }

    fn push_segment(&mut self, text: &[u8], classes: ClassSet, out: &mut Vec<u8>) {
        if classes & (DIGIT | AT | PERCENT) == 0 && !self.slugs {
            return out.extend_from_slice(text);
        }
        let Shaper { slugs, decoded, .. } = self;
        let plain = decode_into(text, classes, decoded);
        if let Some(kind) =
            kind_of(plain, if classes & PERCENT == 0 { classes } else { classes_in(plain) })
        {
            return out.extend_from_slice(kind);
        }
        let mut stem = plain;
        for _ in 0..MOST_EXTENSIONS {
            let Some(shorter) = without_extension(stem) else { break };
            stem = shorter;
            if let Some(kind) = kind_of(stem, classes_in(stem)) {
                out.extend_from_slice(kind);
                return out.extend_from_slice(&plain[stem.len()..]);
            }
        }
        if *slugs && is_slug(stem) {
            out.extend_from_slice(b"{slug}");
            return out.extend_from_slice(&plain[stem.len()..]);
        }
        out.extend_from_slice(text);
    }

    /// Appends what becomes of the parameter at `at` in `text`, which ends before a byte of the class `end`; gives
    /// where that is.
    fn push_param(&mut self, text: &[u8], at: usize, end: ClassSet, out: &mut Vec<u8>) -> usize {
        let (name_end, classes) = piece(text, at, end | EQUALS);
        let name = &text[at..name_end];
        let kind = self.kind(name, classes);
        out.extend_from_slice(kind.unwrap_or(name));
        if text.get(name_end) != Some(&b'=') {
            return name_end;
        }
        out.push(b'=');
        let (value_end, classes) = piece(text, name_end + 1, end);
        self.push_value(&text[name_end + 1..value_end], classes, out);
        value_end
    }

    fn push_value(&mut self, value: &[u8], classes: ClassSet, out: &mut Vec<u8>) {
        let kind = match value.first() {
            None => return,
            // Not of a URI, but of a shape.
            Some(b'{') => value,
            Some(_) => self.kind(value, classes).unwrap_or(b"{text}"),
        };
        out.extend_from_slice(kind);
    }

    fn push_query(&mut self, query: &[u8], out: &mut Vec<u8>) {
        let (mut params, mut ranges) =
            (core::mem::take(&mut self.params), core::mem::take(&mut self.ranges));
        params.clear();
        ranges.clear();
        let mut at = 0;
        loop {
            let start = params.len();
            let end = self.push_param(query, at, AMPERSAND, &mut params);
            if params.len() > start {
                ranges.push(start..params.len());
            }
            if end == query.len() {
                break;
            }
            at = end + 1;
        }
        ranges.sort_unstable_by(|a, b| params[a.clone()].cmp(&params[b.clone()]));
        ranges.dedup_by(|a, b| params[a.clone()] == params[b.clone()]);
        for (i, range) in ranges.iter().enumerate() {
            if i > 0 {
                out.push(b'&');
            }
            out.extend_from_slice(&params[range.clone()]);
        }
        (self.params, self.ranges) = (params, ranges);
    }

    /// The type of `text`, whose bytes are as `classes`.
    fn kind(&mut self, text: &[u8], classes: ClassSet) -> Option<&'static [u8]> {
        if classes & PERCENT == 0 {
            return kind_of(text, classes);
        }
        let plain = decode_into(text, classes, &mut self.decoded);
        kind_of(plain, classes_in(plain))
    }
}

/// Extensions of a segment that are looked at: `.min.js` has two.
const MOST_EXTENSIONS: usize = 2;

/// The longest extension.
const LONGEST_EXTENSION: usize = 8;

/// The end of the piece of `text` that begins at `at`, before a byte of the class `end`, and what is known of its bytes.
#[inline(always)]
fn piece(text: &[u8], at: usize, end: ClassSet) -> (usize, ClassSet) {
    let mut classes = 0;
    for (i, &byte) in text[at..].iter().enumerate() {
        let class = CLASS[usize::from(byte)];
        if class & end != 0 {
            return (at + i, classes);
        }
        classes |= class;
    }
    (text.len(), classes)
}

/// `text`, whose bytes are as `classes`, with its percent-encodings decoded, once: itself or what `decoded` is replaced by.
fn decode_into<'a>(text: &'a [u8], classes: ClassSet, decoded: &'a mut Vec<u8>) -> &'a [u8] {
    if classes & PERCENT == 0 {
        return text;
    }
    decoded.clear();
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        rest = match (first, tail) {
            (b'%', [high, low, tail @ ..])
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                decoded.push(decode(*high, *low));
                tail
            }
            _ => {
                decoded.push(first);
                tail
            }
        };
    }
    decoded
}

/// `segment` without its extension: a dot that does not begin it, and a few letters and digits, one of them a letter.
fn without_extension(segment: &[u8]) -> Option<&[u8]> {
    let dot = memchr::memrchr(b'.', segment).filter(|&dot| dot > 0)?;
    let extension = &segment[dot + 1..];
    let is_one = (1..=LONGEST_EXTENSION).contains(&extension.len())
        && extension.iter().all(u8::is_ascii_alphanumeric)
        && extension.iter().any(u8::is_ascii_alphabetic);
    is_one.then(|| &segment[..dot])
}
