//! The host (RFC 3986 sections 3.2.2, 6.2.2.1 and 6.2.3).

use super::{case, idna, ip, percent};
use crate::uri::HostKind;

/// Appends `host`, with the brackets of a literal, in lower case (6.2.2.1) and with percent-encodings
/// normalized: `%45X` is `ex`, and percent-encodings that stay encoded have upper-case digits.
pub(crate) fn syntax_into(host: &[u8], kind: HostKind, out: &mut Vec<u8>) {
    let start = out.len();
    match kind {
        // Decoded letters are lower-cased too: the host is case-insensitive, however written.
        HostKind::RegName => {
            percent::normalize_into(host, out);
            case::lower_outside_triplets(&mut out[start..]);
        }
        // Addresses and literals hold no percent-encodings.
        _ => case::lower_into(host, out),
    }
}

/// Appends `host` as at the level `scheme`: [`syntax_into`], and an IPv6 literal in the form of RFC
/// 5952. If `dns` is true, the host is a DNS name, and its A-labels are written.
pub(crate) fn scheme_into(host: &[u8], kind: HostKind, dns: bool, out: &mut Vec<u8>) {
    if kind == HostKind::Ipv6 {
        return ip::canonical_ipv6_into(host, out);
    }
    let start = out.len();
    syntax_into(host, kind, out);
    if dns
        && memchr::memchr(b'%', &out[start..]).is_some()
        && let Some(name) = idna::to_ascii(&out[start..])
    {
        out.truncate(start);
        out.extend_from_slice(name.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(host: &str, kind: HostKind) -> (String, String) {
        let (mut syntax, mut scheme) = (Vec::new(), Vec::new());
        syntax_into(host.as_bytes(), kind, &mut syntax);
        scheme_into(host.as_bytes(), kind, true, &mut scheme);
        (String::from_utf8(syntax).unwrap(), String::from_utf8(scheme).unwrap())
    }

    #[cfg(feature = "idna")]
    #[test]
    fn every_kind_of_host_is_normalized() {
        let cases = [
            ("", HostKind::RegName, "", ""),
            ("EX%41mple.%43OM", HostKind::RegName, "example.com", "example.com"),
            ("a%2fB", HostKind::RegName, "a%2Fb", "a%2Fb"),
            ("B%c3%9cCHER", HostKind::RegName, "b%C3%9Ccher", "xn--bcher-kva"),
            ("b%C3%BCcher", HostKind::RegName, "b%C3%BCcher", "xn--bcher-kva"),
            ("127.0.0.1", HostKind::Ipv4, "127.0.0.1", "127.0.0.1"),
            ("[2001:DB8:0::1]", HostKind::Ipv6, "[2001:db8:0::1]", "[2001:db8::1]"),
            ("[V1.X]", HostKind::IpFuture, "[v1.x]", "[v1.x]"),
        ];
        for (host, kind, syntax, scheme) in cases {
            assert_eq!(both(host, kind), (syntax.to_owned(), scheme.to_owned()), "{host}");
        }
    }
}
