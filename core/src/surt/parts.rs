//! The components of a valid URI, by its delimiters.

use memchr::{memchr, memchr2, memchr3, memrchr};

use crate::uri::parse_ipv4;

/// The components, as defined by Appendix B and section 3.2.
#[derive(Clone, Copy, Debug, Default)]
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
