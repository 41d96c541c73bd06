//! Converts the content of an attribute or a field to a URI.

use std::borrow::Cow;

use super::charset::{self, Declared};
use super::{Context, Links, Schemes};
use crate::chunk::{Padded, Span};
use crate::grammar::class::{ALPHA, SCHEME, URI_BYTE, WHITE_SPACE};
use crate::index::{Index, Record};
use crate::normalize::percent::push_triplet;
use crate::resolve::{BaseUri, Options, Resolver, append_usual_target, resolve_any};
use crate::simd::{Isa, Kernels};
use crate::uri::{parse, split};

/// `typed` without white space around it, without tabs and line ends in it, and with every byte
/// percent-encoded that no URI may hold (RFC 3987 section 3.1 for UTF-8).
pub(crate) fn encoded(typed: &[u8]) -> Cow<'_, [u8]> {
    let is_space = |byte: &u8| WHITE_SPACE.has(*byte);
    let start = typed.iter().position(|byte| !is_space(byte)).unwrap_or(typed.len());
    let end = typed.iter().rposition(|byte| !is_space(byte)).map_or(start, |at| at + 1);
    let typed = &typed[start..end];
    if is_of_uri(typed) {
        return Cow::Borrowed(typed);
    }
    let mut out = Vec::with_capacity(typed.len() + 16);
    for &byte in typed {
        if URI_BYTE.has(byte) {
            out.push(byte);
        } else if !matches!(byte, b'\t' | b'\n' | b'\r') {
            push_triplet(byte, &mut out);
        }
    }
    Cow::Owned(out)
}

/// Whether every byte of `text` may occur in a URI ([`URI_BYTE`]).
fn is_of_uri(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk::<16>() else {
        return text.iter().all(|&byte| URI_BYTE.has(byte));
    };
    // The compiler makes comparisons of whole blocks from these; a table is read byte by byte.
    let mut others = [0; 16];
    let mut add = |block: &[u8; 16]| {
        for (other, &byte) in others.iter_mut().zip(block) {
            let is_one_of =
                |bytes: [u8; 6]| bytes.iter().fold(0, |is, &it| is | u8::from(byte == it));
            let is_graphic = byte.wrapping_sub(b'!') <= b'~' - b'!';
            *other |= u8::from(!is_graphic)
                | is_one_of(*b"\"<>\\^`")
                | u8::from(byte.wrapping_sub(b'{') < 3);
        }
    };
    text.as_chunks::<16>().0.iter().for_each(&mut add);
    add(last);
    others == [0; 16]
}

/// The scheme of `reference`, if it has one.
pub(crate) fn scheme(reference: &[u8]) -> Option<&[u8]> {
    let colon = reference.iter().position(|&byte| !SCHEME.has(byte))?;
    (reference[colon] == b':' && colon > 0 && ALPHA.has(reference[0])).then(|| &reference[..colon])
}

/// Whether references are resolved against `text`, which is [`encoded`]: it has a scheme, and its
/// authority is valid if there is one. The rest need not be.
pub(crate) fn is_base(text: &[u8]) -> bool {
    let parts = split(text);
    let path = parts.path.as_ptr().addr() - text.as_ptr().addr();
    parse(&text[..path]).is_ok_and(|parts| parts.is_uri())
}

/// Resolves references against a base, if there is one.
#[derive(Debug)]
pub(crate) struct Absolute<'s> {
    /// Those of the links that are added.
    schemes: &'s Schemes,
    /// The base; empty if there is none.
    base: Vec<u8>,
    /// For a base that is valid.
    resolver: Option<Resolver>,
    target: Vec<u8>,
    /// An empty index: common references are read without one.
    index: Index,
    /// The character set of queries; `None` for UTF-8.
    charset: Declared,
    /// Whether references are links as they are without a base.
    pub(super) keeps_relative: bool,
}

impl<'s> Absolute<'s> {
    /// Creates a resolver with or without `base`; one that is not [`is_base`] is ignored.
    pub(crate) fn new(schemes: &'s Schemes, kernels: Kernels, base: Option<&[u8]>) -> Absolute<'s> {
        let base = base.map(|base| encoded(base).into_owned()).unwrap_or_default();
        let base = if is_base(&base) { base } else { Vec::new() };
        let valid = BaseUri::new(&base).ok();
        let resolver = |base| Resolver::with_kernels(base, Options::default(), kernels);
        let resolver = valid.map(resolver);
        let (target, index) = (Vec::new(), Index::new());
        Absolute { schemes, base, resolver, target, index, charset: None, keeps_relative: false }
    }

    /// With `keeps_relative`, references are added as they are without a base.
    pub(super) fn keeping_relative(self, keeps_relative: bool) -> Absolute<'s> {
        Absolute { keeps_relative, ..self }
    }

    /// Encodes queries in `charset`, that of a page.
    pub(super) fn with_charset(self, charset: Declared) -> Absolute<'s> {
        Absolute { charset, ..self }
    }

    /// `typed`, which is [`encoded`], with its query in the character set of queries.
    fn encoded<'t>(&self, typed: &'t [u8]) -> Cow<'t, [u8]> {
        let Some(charset) = self.charset.filter(|_| !typed.is_ascii()) else {
            return encoded(typed);
        };
        let scheme = scheme(typed.trim_ascii_start()).or_else(|| self.scheme());
        match charset::with_query(typed, charset, scheme) {
            Cow::Borrowed(typed) => encoded(typed),
            Cow::Owned(typed) => Cow::Owned(encoded(&typed).into_owned()),
        }
    }

    /// The base; empty if there is none.
    pub(crate) fn base(&self) -> &[u8] {
        &self.base
    }

    /// The scheme of the base.
    pub(crate) fn scheme(&self) -> Option<&[u8]> {
        scheme(&self.base)
    }

    /// Whether links of this `scheme` are added.
    pub(crate) fn allows(&self, scheme: &[u8]) -> bool {
        self.schemes.allows(scheme)
    }

    /// Whether relative references are links: there is a base, or they are kept as they are.
    pub(crate) fn takes_relative(&self) -> bool {
        self.has_base() || self.keeps_relative
    }

    /// The scheme by which references are read: of those that are kept as they are without a base, that of pages.
    pub(crate) fn scheme_of_references(&self) -> Option<&[u8]> {
        self.scheme().or(self.keeps_relative.then_some(b"http"))
    }

    /// Whether there is a base.
    pub(crate) fn has_base(&self) -> bool {
        !self.base.is_empty()
    }

    /// The target of `reference`, which is [`encoded`] and has no scheme (section 5.2); `None` if
    /// there is no base.
    ///
    /// References in use need not be valid (`?a[]=1`, `x?100%`). They are resolved by their
    /// delimiters, and hold then what they held before, as in browsers.
    pub(crate) fn resolve(&mut self, reference: &[u8]) -> Option<&[u8]> {
        let Absolute { base, resolver, target, .. } = self;
        if base.is_empty() {
            return None;
        }
        target.clear();
        let resolved = resolver.as_mut().map(|it| it.resolve_into(reference, target));
        if !matches!(resolved, Some(Ok(()))) {
            resolve_any(base, reference, target);
        }
        Some(target)
    }

    /// Appends the result of [`Absolute::resolve`] to `out` if `reference` is of a common kind,
    /// which its raw bytes show. Otherwise returns `None` and leaves `out` unchanged.
    #[inline(always)]
    pub(crate) fn append_usual<I: Isa>(
        &self,
        isa: I,
        reference: Padded<'_>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let base = self.resolver.as_ref()?.base().view();
        let whole = Span { start: 0, end: reference.len() as u32 };
        append_usual_target(isa, &base, Record::new(reference, &self.index, whole), out)
    }

    /// Adds the link for `typed`, which was read from `span`.
    pub(crate) fn push(&mut self, typed: &[u8], span: Span, context: Context, links: &mut Links) {
        let schemes = self.schemes;
        let reference = self.encoded(typed);
        match scheme(&reference) {
            Some(scheme) if !schemes.allows(scheme) => {}
            Some(_) => links.push_made(span, context, |out| out.extend_from_slice(&reference)),
            None => {
                let keeps_relative = self.keeps_relative;
                let Some(target) = self.resolve(&reference) else {
                    if !keeps_relative {
                        links.relative += 1;
                    } else if !reference.is_empty() {
                        links.push_made(span, context, |out| out.extend_from_slice(&reference));
                    }
                    return;
                };
                if scheme(target).is_some_and(|scheme| schemes.allows(scheme)) {
                    links.push_made(span, context, |out| out.extend_from_slice(target));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_need_a_base() {
        for kernels in Kernels::available() {
            let mut absolute = Absolute::new(&Schemes::Known, kernels, Some(b"http://a/b/c"));
            assert_eq!(absolute.resolve(b"../g"), Some(&b"http://a/g"[..]));
            assert_eq!(absolute.resolve(b"h"), Some(&b"http://a/b/h"[..]));
            for base in [None, Some(&b"/b"[..]), Some(b"1:/b"), Some(b"http://[/b"), Some(b"")] {
                assert_eq!(Absolute::new(&Schemes::Known, kernels, base).resolve(b"g"), None);
            }
        }
    }

    #[test]
    fn neither_reference_nor_base_need_be_valid() {
        for (base, reference, target) in [
            ("http://a/b/c?d", "?e[]=1", "http://a/b/c?e[]=1"),
            ("http://a/b/c", "../x[1].html", "http://a/x[1].html"),
            ("http://a/b/c", "p?x=100%", "http://a/b/p?x=100%"),
            ("http://a/b/c", "p#a#b", "http://a/b/p#a#b"),
            ("http://a/b/c", "1:%", "http://a/b/1:%"),
            ("http://a/b/c", "a%20b:c", "http://a/b/a%20b:c"),
            ("http://a/b/c", "//[", "http://["),
            ("http://a/b[1]/c?d[]=%", "g", "http://a/b[1]/g"),
            ("http://a/b[1]/c?d[]=%#f#", "", "http://a/b[1]/c?d[]=%"),
            ("http://a/b c/d", "g", "http://a/b%20c/g"),
        ] {
            let mut absolute =
                Absolute::new(&Schemes::Known, Kernels::detect(), Some(base.as_bytes()));
            let found = absolute.resolve(reference.as_bytes()).map(String::from_utf8_lossy);
            assert_eq!(found.as_deref(), Some(target), "{base} {reference}");
        }
    }

    #[test]
    fn texts_of_uris_have_no_other_byte_anywhere() {
        for len in 0..50 {
            let text = vec![b'~'; len];
            assert!(is_of_uri(&text));
            for at in 0..len {
                for byte in 0..=255 {
                    let text = [&text[..at], &[byte], &text[at + 1..]].concat();
                    assert_eq!(is_of_uri(&text), URI_BYTE.has(byte), "{byte} at {at} of {len}");
                }
            }
        }
    }

    #[test]
    fn bytes_that_no_uri_holds_are_encoded() {
        assert_eq!(*encoded(b" http://h/a b\n"), *b"http://h/a%20b");
        assert_eq!(*encoded("/\t\u{E9}|%41%".as_bytes()), *b"/%C3%A9%7C%41%");
        assert!(matches!(encoded(b"\tx:y "), Cow::Borrowed(b"x:y")));
        assert_eq!(scheme(b"a+b:c"), Some(&b"a+b"[..]));
        assert_eq!([scheme(b":c"), scheme(b"1a:c"), scheme(b"/a:c"), scheme(b"a")], [None; 4]);
    }
}
