//! The components of a valid URI, by its delimiters.

use memchr::{memchr, memchr2, memchr3, memrchr};

use crate::uri::parse_ipv4;
#[cfg(feature = "bulk")]
use crate::{
    chunk::Prefix,
    simd::Isa,
    uri::cuts::{Cuts, web_authority},
};

/// The components, as defined by Appendix B and section 3.2.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Parts<'a> {
    pub(super) scheme: &'a [u8],
    pub(super) userinfo: Option<&'a [u8]>,
    /// `None` without an authority.
    pub(super) host: Option<&'a [u8]>,
    pub(super) port: Option<&'a [u8]>,
    pub(super) path: &'a [u8],
    pub(super) query: Option<&'a [u8]>,
    /// Path, query and fragment with their delimiters.
    pub(super) after_authority: &'a [u8],
}

impl<'a> Parts<'a> {
    /// The components of `uri`; unspecified for other bytes.
    pub(super) fn of(uri: &'a [u8]) -> Parts<'a> {
        let mut parts = Parts::default();
        let scheme_end = memchr(b':', uri).unwrap_or(uri.len());
        parts.scheme = &uri[..scheme_end];
        let mut rest = uri.get(scheme_end + 1..).unwrap_or_default();
        if let Some(after) = rest.strip_prefix(b"//") {
            let end = memchr3(b'/', b'?', b'#', after).unwrap_or(after.len());
            parts.set_authority(&after[..end]);
            rest = &after[end..];
        }
        parts.after_authority = rest;
        let end = memchr2(b'?', b'#', rest).unwrap_or(rest.len());
        parts.path = &rest[..end];
        if rest.get(end) == Some(&b'?') {
            let query = &rest[end + 1..];
            parts.query = Some(&query[..memchr(b'#', query).unwrap_or(query.len())]);
        }
        parts
    }

    /// [`Parts::of`] of a form after which bytes may be read.
    #[cfg(feature = "bulk")]
    #[inline(always)]
    pub(super) fn by<I: Isa>(isa: I, uri: Prefix<'a>) -> Parts<'a> {
        let bytes = uri.bytes();
        let Some(start) = web_authority(bytes) else { return Parts::of(bytes) };
        let Cuts { host_start, host_end, path_start, path_end, query_end, .. } =
            Cuts::find_by(isa, uri, start);
        let after_first = |from: usize, to: usize| (from < to).then(|| &bytes[from + 1..to]);
        Parts {
            scheme: &bytes[..start - 3],
            userinfo: (start < host_start).then(|| &bytes[start..host_start - 1]),
            host: Some(&bytes[host_start..host_end]),
            port: after_first(host_end, path_start),
            path: &bytes[path_start..path_end],
            query: after_first(path_end, query_end),
            after_authority: &bytes[path_start..],
        }
    }

    fn set_authority(&mut self, authority: &'a [u8]) {
        let mut host = authority;
        if let Some(at) = memrchr(b'@', authority) {
            self.userinfo = Some(&authority[..at]);
            host = &authority[at + 1..];
        }
        let literal = if host.first() == Some(&b'[') { memchr(b']', host) } else { None };
        let from = literal.unwrap_or(0);
        if let Some(colon) = memchr(b':', &host[from..]) {
            self.port = Some(&host[from + colon + 1..]);
            host = &host[..from + colon];
        }
        self.host = Some(host);
    }

    /// Whether the host is an address, whose parts are not reversed.
    pub(super) fn is_address(&self) -> bool {
        self.host.is_some_and(|host| match host.first() {
            Some(b'[') => true,
            Some(b'0'..=b'9') => parse_ipv4(host).is_some(),
            _ => false,
        })
    }
}

#[cfg(all(test, feature = "bulk"))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simd::{Kernels, Task};

    struct By<'a>(Prefix<'a>);

    impl<'a> Task for By<'a> {
        type Output = Parts<'a>;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Parts<'a> {
            Parts::by(isa, self.0)
        }
    }

    proptest! {
        #[test]
        fn parts_by_masks_are_those_of_a_search(
            uri in "(http|HTTPS|foo):(//)?(u?:?@)?([a-c.]{0,50}|\\[::1\\])(:[0-9]{0,4})?(/[a/]{0,9}){0,3}(\\?[a&?/]{0,9})?(#[a?]{0,9})?",
            more in "[/?#@:a]{0,70}",
        ) {
            let slack = format!("{uri}{more}");
            for kernels in Kernels::available() {
                let found = kernels.run(By(Prefix::new(slack.as_bytes(), uri.len())));
                prop_assert_eq!(found, Parts::of(uri.as_bytes()), "{}", uri);
            }
        }
    }
}
