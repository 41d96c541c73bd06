//! Where RFC 3986 and RFC 2396 read a reference differently.

use super::{Legacy, LegacyAuthority, LegacyForm, parse_rfc2396};
use crate::uri::{HostKind, UriError, parse};

/// How the two grammars differ on a reference; the first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Valid by RFC 3986; this is the fault by RFC 2396.
    OnlyRfc3986(UriError),
    /// Valid by RFC 2396; this is the fault by RFC 3986.
    OnlyRfc2396(UriError),
    /// RFC 3986 reads a host, and perhaps a port and user information, where RFC 2396 reads a
    /// registry-based name. It begins at this byte.
    Registry(u32),
    /// RFC 3986 reads a query where RFC 2396 reads a part of the opaque part. Its `?` is at this
    /// byte.
    OpaqueQuery(u32),
    /// RFC 3986 reads a registered name where RFC 2396 reads an IPv4 address. It begins at this
    /// byte.
    Ipv4(u32),
}

impl Difference {
    /// The stable names, in the order in which they apply.
    pub const NAMES: [&'static str; 5] =
        ["only-rfc3986", "only-rfc2396", "registry", "opaque-query", "ipv4"];

    /// The stable name used in machine output.
    pub const fn name(self) -> &'static str {
        Difference::NAMES[match self {
            Difference::OnlyRfc3986(_) => 0,
            Difference::OnlyRfc2396(_) => 1,
            Difference::Registry(_) => 2,
            Difference::OpaqueQuery(_) => 3,
            Difference::Ipv4(_) => 4,
        }]
    }

    /// The byte of the reference at which the readings diverge, counted from 0.
    pub const fn at(self) -> u32 {
        match self {
            Difference::OnlyRfc3986(error) | Difference::OnlyRfc2396(error) => error.at,
            Difference::Registry(at) | Difference::OpaqueQuery(at) | Difference::Ipv4(at) => at,
        }
    }

    /// The fault by one of the grammars, if only the other accepts the reference.
    pub const fn error(self) -> Option<UriError> {
        match self {
            Difference::OnlyRfc3986(error) | Difference::OnlyRfc2396(error) => Some(error),
            _ => None,
        }
    }

    /// Describes it in one sentence.
    pub fn message(self) -> String {
        match self {
            Difference::OnlyRfc3986(error) => {
                format!(
                    "valid by RFC 3986 only; by RFC 2396 {}: {}",
                    error.kind,
                    error.kind.message()
                )
            }
            Difference::OnlyRfc2396(error) => {
                format!(
                    "valid by RFC 2396 only; by RFC 3986 {}: {}",
                    error.kind,
                    error.kind.message()
                )
            }
            Difference::Registry(_) => {
                "RFC 3986 reads a host here, RFC 2396 a registry-based name without host and port"
                    .to_owned()
            }
            Difference::OpaqueQuery(_) => {
                "RFC 3986 reads a query here, RFC 2396 goes on with the opaque part".to_owned()
            }
            Difference::Ipv4(_) => {
                "RFC 3986 reads a registered name here, RFC 2396 an IPv4 address".to_owned()
            }
        }
    }
}

/// How the two grammars differ on `text`; `None` if they read it alike, or both reject it.
///
/// An opaque part that is a path to RFC 3986, and a server that is an authority, are not
/// differences: the bytes are the same (RFC 3986, D.2).
///
/// ```
/// use uriscan::rfc2396::Legacy;
/// use uriscan_core::rfc2396::differ::{Difference, difference};
/// let legacy = Legacy::default();
/// assert_eq!(difference(b"http://a_b/", legacy), Some(Difference::Registry(7)));
/// assert_eq!(difference(b"mailto:a@b?subject=x", legacy), Some(Difference::OpaqueQuery(10)));
/// assert_eq!(difference(b"http://a.b/c;d?e#f", legacy), None);
/// ```
pub fn difference(text: &[u8], legacy: Legacy) -> Option<Difference> {
    let (new, old) = match (parse(text), parse_rfc2396(text, legacy)) {
        (Ok(new), Ok(old)) => (new, old),
        (Ok(_), Err(error)) => return Some(Difference::OnlyRfc3986(error)),
        (Err(error), Ok(_)) => return Some(Difference::OnlyRfc2396(error)),
        (Err(_), Err(_)) => return None,
    };
    if old.authority == LegacyAuthority::RegName {
        return Some(Difference::Registry(old.authority_start));
    }
    if old.form == LegacyForm::OpaquePart && new.path_end != new.query_end {
        return Some(Difference::OpaqueQuery(new.path_end));
    }
    let is_address = old.authority == LegacyAuthority::Ipv4;
    (is_address && new.host_kind != HostKind::Ipv4).then_some(Difference::Ipv4(old.host_start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uri::UriErrorKind;

    #[test]
    fn each_difference_has_its_name_and_position() {
        let plain = Legacy::default();
        for (text, name, at) in [
            ("a:", "only-rfc3986", 2),
            ("http://[::1]/", "only-rfc3986", 7),
            ("http://h:8x/", "only-rfc2396", 10),
            ("http://u@v@w/", "only-rfc2396", 10),
            ("http://a_b:80/", "registry", 7),
            ("//%41/", "registry", 2),
            ("http://:80/", "registry", 7),
            ("http://1.2.3/", "registry", 7),
            ("mailto:a@b?c", "opaque-query", 10),
            ("a:?b", "opaque-query", 2),
            ("http://u@256.1.1.1/", "ipv4", 9),
            ("http://01.2.3.4/", "ipv4", 7),
        ] {
            let found = difference(text.as_bytes(), plain).unwrap();
            assert_eq!((found.name(), found.at()), (name, at), "{text}");
            assert!(!found.message().is_empty());
        }
        for text in [
            "",
            "?y",
            "#",
            "a/b;c?d",
            "http://h",
            "http://1.2.3.4:80/",
            "file:///x",
            "mailto:a@b",
            "a b",
            "//[::1",
            "http://h.",
        ] {
            assert_eq!(difference(text.as_bytes(), plain), None, "{text}");
        }
        let brackets = Legacy { has_rfc2732: true };
        assert_eq!(difference(b"http://[::1]/", brackets), None);
        assert_eq!(
            difference(b"/?[", brackets).unwrap().error().unwrap().kind,
            UriErrorKind::Bracket
        );
        assert_eq!(difference(b"http://1.2.3.0004/", brackets).unwrap().name(), "registry");
    }
}
