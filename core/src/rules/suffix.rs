//! Registrable domains and public suffixes of hosts as they are written.

use super::hosts::{has_names, is_address};

/// The longest name in the DNS; with a final dot it has one byte more.
const MOST: usize = 253;

/// The registrable domain of `host`: its public suffix and one more label. `None` for an address, for a host that is a
/// public suffix or a single label, and where it would have percent-encodings. Letters may be in any case; a final dot is
/// not part of the result.
///
/// ```
/// use uriscan::rules::registrable_domain;
/// assert_eq!(registrable_domain(b"www.Example.co.uk."), Some(&b"Example.co.uk"[..]));
/// assert_eq!(registrable_domain(b"co.uk"), None);
/// assert_eq!(registrable_domain(b"192.0.2.1"), None);
/// ```
pub fn registrable_domain(host: &[u8]) -> Option<&[u8]> {
    ends(host).domain
}

/// The public suffix of `host`: `co.uk` of `www.example.co.uk`. A top-level domain that is not in the list is one.
/// `None` for an address, and where there are percent-encodings in it or in the label before it. Letters may be in any
/// case; a final dot is not part of the result.
///
/// ```
/// use uriscan::rules::public_suffix;
/// assert_eq!(public_suffix(b"www.example.co.uk"), Some(&b"co.uk"[..]));
/// assert_eq!(public_suffix(b"localhost"), Some(&b"localhost"[..]));
/// assert_eq!(public_suffix(b"[::1]"), None);
/// ```
pub fn public_suffix(host: &[u8]) -> Option<&[u8]> {
    ends(host).suffix
}

/// The ends of a host that the public suffix list defines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends<'h> {
    /// The [`registrable_domain`].
    pub domain: Option<&'h [u8]>,
    /// The [`public_suffix`].
    pub suffix: Option<&'h [u8]>,
}

/// The ends of `host`, by one look-up in the list unless there is no domain.
pub fn ends(host: &[u8]) -> Ends<'_> {
    let host = host.strip_suffix(b".").unwrap_or(host);
    if host.is_empty() || host.len() > MOST {
        return Ends::default();
    }
    let found = if is_address(host) { None } else { uriscan_suffixes::ends(host) };
    let found = found.filter(|found| has_names(host, found));
    let Some(found) = found else { return Ends::default() };
    Ends { domain: found.domain.map(|start| &host[start..]), suffix: Some(&host[found.suffix..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_and_suffixes_are_ends_of_the_host() {
        let long = [b"a.".repeat(126), b"com".to_vec()].concat();
        for (host, domain, suffix) in [
            (&b"example.com"[..], Some(&b"example.com"[..]), Some(&b"com"[..])),
            (b"A.B.EXAMPLE.COM", Some(b"EXAMPLE.COM"), Some(b"COM")),
            (b"www.example.co.uk.", Some(b"example.co.uk"), Some(b"co.uk")),
            (b"user.github.io", Some(b"user.github.io"), Some(b"github.io")),
            (b"a.b.unknown", Some(b"b.unknown"), Some(b"unknown")),
            (b"com", None, Some(b"com")),
            (b"xn--85x722f.com.cn", Some(b"xn--85x722f.com.cn"), Some(b"com.cn")),
            (b"127.0.0.1", None, None),
            (b"a.%63o.uk", None, None),
            (b"a.co%2Euk", None, None),
            (b"%31.%32", None, None),
            (b"x%79.a.co.uk", Some(b"a.co.uk"), Some(b"co.uk")),
            (
                "a.\u{516c}\u{53f8}.cn".as_bytes(),
                Some("a.\u{516c}\u{53f8}.cn".as_bytes()),
                Some("\u{516c}\u{53f8}.cn".as_bytes()),
            ),
            (b"[2001:db8::1]", None, None),
            (b"", None, None),
            (b".", None, None),
            (&long, None, None),
        ] {
            let name = String::from_utf8_lossy(host);
            assert_eq!(registrable_domain(host), domain, "{name}");
            assert_eq!(public_suffix(host), suffix, "{name}");
        }
    }
}
