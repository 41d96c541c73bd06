//! Converts the content of an attribute or a field to a URI.

use std::borrow::Cow;

use crate::chunk::{Padded, Span};
use crate::grammar::class::{ALPHA, SCHEME, URI_BYTE, WHITE_SPACE};
use crate::index::{Index, Record};
use crate::normalize::percent::push_triplet;
use crate::resolve::{BaseUri, Options, Resolver, append_usual_target};
use crate::simd::{Isa, Kernels};

static IS_URI_BYTE: [bool; 256] = URI_BYTE.table();

/// `typed` without white space around it, without tabs and line ends in it, and with every byte
/// percent-encoded that no URI may hold (RFC 3987 section 3.1 for UTF-8).
pub(crate) fn encoded(typed: &[u8]) -> Cow<'_, [u8]> {
    let is_space = |byte: &u8| WHITE_SPACE.has(*byte);
    let start = typed.iter().position(|byte| !is_space(byte)).unwrap_or(typed.len());
    let end = typed.iter().rposition(|byte| !is_space(byte)).map_or(start, |at| at + 1);
    let typed = &typed[start..end];
    // No branch for each byte, since nearly always all of them are read anyway.
    if typed.iter().fold(true, |all, &byte| all & IS_URI_BYTE[usize::from(byte)]) {
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

/// The scheme of `reference`, if it has one.
pub(crate) fn scheme(reference: &[u8]) -> Option<&[u8]> {
    let colon = reference.iter().position(|&byte| !SCHEME.has(byte))?;
    (reference[colon] == b':' && colon > 0 && ALPHA.has(reference[0])).then(|| &reference[..colon])
}

/// Resolves references against a base, if there is one.
#[derive(Debug)]
pub(crate) struct Absolute {
    resolver: Option<Resolver>,
    target: Vec<u8>,
    /// An empty index: common references are read without one.
    index: Index,
}

impl Absolute {
    /// Creates a resolver with or without `base`; a text that is not a URI is ignored.
    pub(crate) fn new(kernels: Kernels, base: Option<&[u8]>) -> Absolute {
        let base = base.and_then(|base| BaseUri::new(base).ok());
        let resolver = |base| Resolver::with_kernels(base, Options::default(), kernels);
        Absolute { resolver: base.map(resolver), target: Vec::new(), index: Index::new() }
    }

    /// The scheme of the base.
    pub(crate) fn scheme(&self) -> Option<&[u8]> {
        scheme(self.resolver.as_ref()?.base().as_bytes())
    }

    /// Whether there is a base.
    pub(crate) fn has_base(&self) -> bool {
        self.resolver.is_some()
    }

    /// The target of `reference`, which is [`encoded`] and has no scheme (section 5.2); `None` if
    /// there is no base or it is not a reference.
    pub(crate) fn resolve(&mut self, reference: &[u8]) -> Option<&[u8]> {
        self.target.clear();
        self.resolver.as_mut()?.resolve_into(reference, &mut self.target).ok()?;
        Some(&self.target)
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_need_a_base_that_is_a_uri() {
        for kernels in Kernels::available() {
            let mut absolute = Absolute::new(kernels, Some(b"http://a/b/c"));
            assert_eq!(absolute.resolve(b"../g"), Some(&b"http://a/g"[..]));
            assert_eq!(absolute.resolve(b"h"), Some(&b"http://a/b/h"[..]));
            for (base, reference) in [(None, "g"), (Some("/b"), "g"), (Some("http://a/"), "//[")] {
                let mut absolute = Absolute::new(kernels, base.map(str::as_bytes));
                assert_eq!(absolute.resolve(reference.as_bytes()), None);
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
