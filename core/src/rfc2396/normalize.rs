//! Canonical forms of URIs by RFC 2396.
//!
//! | level | changes to the URI |
//! | --- | --- |
//! | `string` | nothing |
//! | `syntax` | scheme and hostname in lower case; escaped characters that are unreserved by RFC 2396, so also `!`, `*`, `'`, `(` and `)`, decoded once, other escapes in upper case; dot segments of hierarchical paths removed by steps 6c to 6f of section 5.2, so that too many `..` stay |
//! | `scheme` | also, of a server: empty and default ports, leading zeros of ports, the default host, IPv6 addresses as RFC 5952 writes them; the empty path after an authority where a scheme is known to take it for `/`; domains of `mailto:`, the NID of `urn:` |
//!
//! A registry-based name keeps its case: no specification makes it case-insensitive. Escapes are
//! decoded first, so a name that is a server after decoding is treated as one: `%41b` is `ab`. An
//! opaque part keeps its dots, and no part of it is a query. Nothing is mapped to DNS names, as a
//! host holds no escapes.

use super::grammar::UNRESERVED;
use super::{Legacy, LegacyAuthority, LegacyComponents, LegacyForm, parse_rfc2396};
use crate::grammar::{SchemeFacts, scheme_facts};
use crate::normalize::{Level, case, ip, path_form, percent, port};
use crate::uri::dots::{guard_against_authority, has_dot_segment, remove_dot_segments_of_rfc2396};
use crate::uri::{UriError, UriErrorKind};

/// Appends the canonical form of the URI `text` by RFC 2396 at `level` to `out`, which keeps its
/// content.
///
/// With `drop_fragment` the fragment and its `#` are dropped.
///
/// # Errors
/// Those of [`parse_rfc2396`]; [`UriErrorKind::Relative`] at byte 0 for a relative reference. `out` is
/// unchanged then.
///
/// ```
/// use uriscan::rfc2396::Legacy;
/// use uriscan_core::rfc2396::normalize_rfc2396;
/// use uriscan::normalize::Level;
/// let mut out = Vec::new();
/// normalize_rfc2396(b"HTTP://EXAMPLE.com:80/%7Ea%21/../b", Legacy::default(), Level::Scheme, false, &mut out).unwrap();
/// assert_eq!(out, b"http://example.com/b");
/// ```
pub fn normalize_rfc2396(
    text: &[u8],
    legacy: Legacy,
    level: Level,
    drop_fragment: bool,
    out: &mut Vec<u8>,
) -> Result<(), UriError> {
    let parts = parse_rfc2396(text, legacy)?;
    let Some(scheme) = parts.scheme(text) else {
        return Err(UriError { kind: UriErrorKind::Relative, at: 0 });
    };
    let fragment = if drop_fragment { None } else { parts.fragment(text) };
    if level == Level::String {
        let end = if drop_fragment { parts.query_end } else { parts.len };
        out.extend_from_slice(&text[..end as usize]);
        return Ok(());
    }
    case::lower_into(scheme, out);
    out.push(b':');
    let facts = if level >= Level::Scheme { scheme_facts(scheme) } else { None };
    if let Some(authority) = parts.authority(text) {
        out.extend_from_slice(b"//");
        let default_port = facts.and_then(|facts| facts.default_port);
        let default_host = facts.and_then(|facts| facts.default_host);
        authority_into(authority, legacy, level, default_port, default_host, out);
    } else if is_local(&parts, facts) {
        out.extend_from_slice(b"//");
    }
    path_into(text, &parts, level, out);
    for (delimiter, component) in [(b'?', parts.query(text)), (b'#', fragment)] {
        if let Some(component) = component {
            out.push(delimiter);
            percent::normalize_by(UNRESERVED, component, out);
        }
    }
    Ok(())
}

/// Whether the URI has no authority where the scheme means an empty one by that.
fn is_local(parts: &LegacyComponents, facts: Option<&SchemeFacts>) -> bool {
    parts.form == LegacyForm::AbsPath && facts.is_some_and(|facts| facts.default_host.is_some())
}

/// Appends the path or the opaque part.
fn path_into(text: &[u8], parts: &LegacyComponents, level: Level, out: &mut Vec<u8>) {
    let start = out.len();
    let facts = parts.scheme(text).filter(|_| level >= Level::Scheme).and_then(scheme_facts);
    percent::normalize_by(UNRESERVED, parts.path(text), out);
    if parts.form == LegacyForm::OpaquePart {
        if let Some(facts) = facts {
            // The case rules of mailto and urn apply to the text before a `?`.
            let path = &mut out[start..];
            let end = memchr::memchr(b'?', path).unwrap_or(path.len());
            path_form::lower_parts(facts.path_form, &mut path[..end]);
        }
        return;
    }
    if has_dot_segment(&out[start..]) {
        remove_dot_segments_of_rfc2396(out, start);
        if parts.form == LegacyForm::AbsPath && !is_local(parts, facts) {
            guard_against_authority(out, start);
        }
    }
    let is_root = facts.is_some_and(|facts| facts.empty_path_is_root);
    if parts.form == LegacyForm::NetPath && is_root && out.len() == start {
        out.push(b'/');
    }
}

/// Appends the authority, without `//`.
fn authority_into(
    authority: &[u8],
    legacy: Legacy,
    level: Level,
    default_port: Option<u16>,
    default_host: Option<&str>,
    out: &mut Vec<u8>,
) {
    let mut decoded = b"//".to_vec();
    percent::normalize_by(UNRESERVED, authority, &mut decoded);
    // Decoded characters are unreserved, so a reg_name may hold them anywhere.
    let parts = match parse_rfc2396(&decoded, legacy) {
        Ok(parts) if parts.host(&decoded).is_some() => parts,
        _ => return out.extend_from_slice(&decoded[2..]),
    };
    if let Some(userinfo) = parts.userinfo(&decoded) {
        out.extend_from_slice(userinfo);
        out.push(b'@');
    }
    let host = parts.host(&decoded).unwrap_or_default();
    let mut digits = parts.port(&decoded);
    let start = out.len();
    if level >= Level::Scheme {
        digits = digits.and_then(|digits| port::canonical(digits, default_port));
        if parts.authority == LegacyAuthority::Ipv6 {
            ip::canonical_ipv6_into(host, out);
        } else {
            case::lower_into(host, out);
        }
    } else {
        case::lower_into(host, out);
    }
    let is_default = default_host.is_some_and(|default| default.as_bytes() == &out[start..]);
    if is_default && digits.is_none() && parts.userinfo(&decoded).is_none() {
        out.truncate(start);
    }
    if let Some(digits) = digits {
        out.push(b':');
        out.extend_from_slice(digits);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normalized(text: &str, level: Level) -> String {
        let mut out = b"kept".to_vec();
        normalize_rfc2396(text.as_bytes(), Legacy { has_rfc2732: true }, level, false, &mut out)
            .unwrap();
        String::from_utf8(out).unwrap().strip_prefix("kept").unwrap().to_owned()
    }

    #[test]
    fn examples_have_their_form_at_each_level() {
        for (text, syntax, scheme) in [
            ("HTTP://U%21@EX.com:080/%7e/../a", "http://U!@ex.com:080/a", "http://U!@ex.com/a"),
            ("http://%41b/", "http://ab/", "http://ab/"),
            ("http://A_b:80/", "http://A_b:80/", "http://A_b:80/"),
            ("http://h", "http://h", "http://h/"),
            ("foo://h", "foo://h", "foo://h"),
            ("http://h/../../a", "http://h/../../a", "http://h/../../a"),
            ("http://h/a/./b/..", "http://h/a/", "http://h/a/"),
            ("foo:/a/..//b", "foo:/.//b", "foo:/.//b"),
            ("foo:a/../b", "foo:a/../b", "foo:a/../b"),
            ("mailto:A%28@B.c?to=X@Y", "mailto:A(@B.c?to=X@Y", "mailto:A(@b.c?to=X@Y"),
            ("urn:X:%2a%2F", "urn:X:*%2F", "urn:x:*%2F"),
            ("http://[::FFFF]/", "http://[::ffff]/", "http://[::ffff]/"),
            ("http://[1:0:0::FFFF]/", "http://[1:0:0::ffff]/", "http://[1::ffff]/"),
            ("file://LOCALHOST/x", "file://localhost/x", "file:///x"),
            ("http://h/%25%34%31", "http://h/%2541", "http://h/%2541"),
            ("http://01.2.3.4/", "http://01.2.3.4/", "http://01.2.3.4/"),
        ] {
            assert_eq!(normalized(text, Level::Syntax), syntax);
            assert_eq!(normalized(text, Level::Scheme), scheme);
            for level in Level::ALL {
                let once = normalized(text, level);
                assert_eq!(normalized(&once, level), once, "{text} at {level}");
                assert_eq!(normalized(&once, Level::Scheme), scheme, "{text}: the ladder nests");
            }
            assert_eq!(normalized(text, Level::String), text);
        }
    }

    /// What no level may change: which components there are, and of what kind.
    fn shape(text: &[u8], legacy: Legacy) -> (LegacyForm, bool, bool, usize) {
        let parts = parse_rfc2396(text, legacy).unwrap();
        let semicolons = parts.query(text).unwrap_or(b"").iter().filter(|&&b| b == b';').count();
        (parts.form, parts.query(text).is_some(), parts.fragment(text).is_some(), semicolons)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn forms_are_idempotent_and_nest(
            text in "(http|FILE|foo|mailto|urn|ftp):(//([a-zA-Z%0-9_.:@\\[\\]-]{0,10}|%4[0-9a-f]b|H:0?80|LOCALHOST:?)|)((/|)(\\.\\.?|%2e|%2E%2e|[a-c;=~]{0,2}|%7e|%2f|%3B|%21|)){0,6}(\\?[a;?/%41.]{0,4}|)(#[b%2e]{0,3}|)",
            has_rfc2732 in any::<bool>(),
            drop_fragment in any::<bool>(),
        ) {
            let legacy = Legacy { has_rfc2732 };
            let form = |text: &[u8], level| {
                let mut out = Vec::new();
                normalize_rfc2396(text, legacy, level, drop_fragment, &mut out).map(|()| out)
            };
            let text = text.as_bytes();
            let Ok(forms) = Level::ALL.iter().map(|&level| form(text, level)).collect::<Result<Vec<_>, _>>() else {
                prop_assert!(parse_rfc2396(text, legacy).is_err());
                return Ok(());
            };
            for (i, lower) in forms.iter().enumerate() {
                for (level, higher) in Level::ALL.into_iter().zip(&forms).skip(i) {
                    prop_assert_eq!(&form(lower, level).unwrap(), higher, "{} at {}", text.escape_ascii(), level);
                }
                let mut expected = shape(text, legacy);
                expected.2 &= !drop_fragment;
                // No authority is an empty one.
                if expected.0 == LegacyForm::AbsPath && lower.starts_with(b"file:///") {
                    expected.0 = LegacyForm::NetPath;
                }
                prop_assert_eq!(shape(lower, legacy), expected, "{}", text.escape_ascii());
            }
        }
    }

    #[test]
    fn forms_that_rfc_2396_does_not_merge_differ() {
        for (one, other) in [
            ("http://A_b/", "http://a_b/"),
            ("http://h/a", "http://h/../a"),
            ("http://h/%2F", "http://h//"),
            ("http://h/%3B", "http://h/;"),
            ("foo://h", "foo://h/"),
            ("mailto:a@b", "mailto:A@b"),
            ("foo:a?b", "foo:a?B"),
        ] {
            assert_ne!(normalized(one, Level::Scheme), normalized(other, Level::Scheme), "{one}");
        }
    }
}
