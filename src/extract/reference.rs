//! From what stands in an attribute or a field to a URI.

use std::borrow::Cow;

use crate::grammar::class::{ALPHA, SCHEME, URI_BYTE, WHITE_SPACE};
use crate::resolve::BaseUri;

/// `typed` without white space around it and without tabs and line ends in it, and with every byte that no
/// URI may hold percent-encoded (RFC 3987 section 3.1 for UTF-8).
pub(crate) fn encoded(typed: &[u8]) -> Cow<'_, [u8]> {
    let is_space = |byte: &u8| WHITE_SPACE.has(*byte);
    let start = typed.iter().position(|byte| !is_space(byte)).unwrap_or(typed.len());
    let end = typed.iter().rposition(|byte| !is_space(byte)).map_or(start, |at| at + 1);
    let typed = &typed[start..end];
    if typed.iter().all(|&byte| URI_BYTE.has(byte)) {
        return Cow::Borrowed(typed);
    }
    let mut out = Vec::with_capacity(typed.len() + 16);
    for &byte in typed {
        if URI_BYTE.has(byte) {
            out.push(byte);
        } else if !matches!(byte, b'\t' | b'\n' | b'\r') {
            const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
            out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
    Cow::Owned(out)
}

/// The scheme of `reference`, if it has one.
pub(crate) fn scheme(reference: &[u8]) -> Option<&[u8]> {
    let colon = reference.iter().position(|&byte| !SCHEME.has(byte))?;
    (reference[colon] == b':' && colon > 0 && ALPHA.has(reference[0])).then(|| &reference[..colon])
}

/// Makes URIs of references, by a base if there is one.
#[derive(Debug)]
pub(crate) struct Absolute {
    base: Option<BaseUri>,
}

impl Absolute {
    /// With the base `base`, or without; what is no URI is no base.
    pub(crate) fn new(base: Option<&[u8]>) -> Absolute {
        Absolute { base: base.and_then(|base| BaseUri::new(base).ok()) }
    }

    /// Appends the URI that `reference`, which is [`encoded`] and has no scheme, stands for (section 5.2); `false` when
    /// there is no base or it is no reference.
    pub(crate) fn resolve(&self, reference: &[u8], out: &mut Vec<u8>) -> bool {
        self.base.as_ref().is_some_and(|base| base.append_target(reference, out).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_need_a_base_that_is_a_uri() {
        let mut out = Vec::new();
        assert!(Absolute::new(Some(b"http://a/b/c")).resolve(b"../g", &mut out));
        assert_eq!(out, b"http://a/g");
        out.clear();
        for (base, reference) in [(None, "g"), (Some("/b"), "g"), (Some("http://a/"), "//[")] {
            assert!(
                !Absolute::new(base.map(str::as_bytes)).resolve(reference.as_bytes(), &mut out)
            );
        }
        assert_eq!(out, b"");
    }

    #[test]
    fn what_no_uri_holds_is_encoded() {
        assert_eq!(*encoded(b" http://h/a b\n"), *b"http://h/a%20b");
        assert_eq!(*encoded("/\t\u{E9}|%41%".as_bytes()), *b"/%C3%A9%7C%41%");
        assert!(matches!(encoded(b"\tx:y "), Cow::Borrowed(b"x:y")));
        assert_eq!(scheme(b"a+b:c"), Some(&b"a+b"[..]));
        assert_eq!([scheme(b":c"), scheme(b"1a:c"), scheme(b"/a:c"), scheme(b"a")], [None; 4]);
    }
}
