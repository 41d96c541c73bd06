//! The reference path: the canonical form of one URI, component by component.
//!
//! It parses strictly, then appends each component in its canonical form, in one forward pass. The
//! changes of each level:
//!
//! | level | changes to the reference |
//! | --- | --- |
//! | `string` | nothing |
//! | `syntax` | scheme and host in lower case, percent-encodings normalized, dot segments removed from a path that begins with `/` |
//! | `scheme` | also: empty and default ports, leading zeros of ports, the empty path after an authority, the default host, IP literals, A-labels, domains of `mailto:`, the NID of `urn:` |
//!
//! The additions of a level are a function of the form below it, so the ladder nests: equal at
//! `syntax` implies equal at `scheme`. Each component is a function of its own bytes and of the
//! scheme, so a fragment can be dropped without a change elsewhere.
//!
//! Preserved at every level, because no specification licenses the merge (6.1, 6.2.3): the order of
//! a query, `+`, an empty query or fragment, an empty userinfo, the case of a path, a trailing
//! slash, reserved characters, encoded or not, and the dot segments of a rootless path:
//! `urn:x:a/../b` and `urn:x:b` are different.
//!
//! Percent-encodings of unreserved characters are decoded for every scheme, as 2.3 requires ("URIs that
//! differ in the replacement of an unreserved character with its corresponding percent-encoded
//! US-ASCII octet are equivalent"). By RFC 8141 section 3.1, no percent-encodings are decoded when URNs are
//! compared, so that `urn:x:%61` and `urn:x:a` differ there; here they are equivalent from level
//! `syntax` on.
//!
//! One change affects more than its component: a host of encoded digits, `%31.2.3.4`, is a
//! `reg-name` before and an IPv4 address after, since the two spellings are equivalent by 2.3.

use super::{Level, case, host, idna, path_form, percent, port};
use crate::grammar::{PathForm, SchemeFacts, scheme_facts};
use crate::uri::{Components, UriError, UriErrorKind, dots, parse, split};

/// Appends the canonical form of the URI `text` at `level` to `out`, which keeps its content.
///
/// With `drop_fragment`, an opt-in rule, the fragment and its `#` are dropped.
///
/// At the level `scheme` the host of a scheme that uses DNS may hold raw UTF-8. It is treated as its
/// percent-encoded form if it has A-labels, and is an error otherwise.
///
/// # Errors
///
/// Those of [`parse`]; [`UriErrorKind::Relative`] at byte 0 for a relative reference. Without the feature `idna`, also
/// [`UriErrorKind::NonAscii`] at level `scheme` for a name of the DNS that is not ASCII, which is also written
/// `%C3%BC`. `out` is unchanged then.
///
/// ```
/// use uriscan_core::normalize::normalize_exact;
/// use uriscan::normalize::Level;
/// let mut out = Vec::new();
/// normalize_exact(b"HTTP://EXAMPLE.com:80/%7Ea/../b?#", Level::Scheme, false, &mut out).unwrap();
/// assert_eq!(out, b"http://example.com/b?#");
/// ```
pub fn normalize_exact(
    text: &[u8],
    level: Level,
    drop_fragment: bool,
    out: &mut Vec<u8>,
) -> Result<(), UriError> {
    let parts = match parse(text) {
        Ok(parts) => parts,
        Err(error) if error.kind == UriErrorKind::NonAscii && level >= Level::Scheme => {
            return normalize_raw_host(text, error, drop_fragment, out);
        }
        Err(error) => return Err(error),
    };
    if !parts.is_uri() {
        return Err(UriError::new(UriErrorKind::Relative, 0));
    }
    if level >= Level::Scheme
        && scheme_facts(&text[..parts.scheme_end as usize]).is_some_and(|facts| facts.dns_host)
        && let Some(at) = parts.host(text).and_then(idna::unmapped)
    {
        return Err(UriError::new(UriErrorKind::NonAscii, parts.host_start as usize + at));
    }
    normalize_parts(text, &parts, level, drop_fragment, out);
    Ok(())
}

/// Appends the canonical form of the URI `text`, whose components are `parts`.
pub(crate) fn normalize_parts(
    text: &[u8],
    parts: &Components,
    level: Level,
    drop_fragment: bool,
    out: &mut Vec<u8>,
) {
    let fragment = if drop_fragment { None } else { parts.fragment(text) };
    if level == Level::String {
        let end = if drop_fragment { parts.query_end } else { parts.len };
        out.extend_from_slice(&text[..end as usize]);
        return;
    }

    let scheme = &text[..parts.scheme_end as usize];
    case::lower_into(scheme, out);
    out.push(b':');

    // The generic rules of 6.2.3 apply to a scheme that is not in the table.
    let facts = if level >= Level::Scheme { scheme_facts(scheme) } else { None };
    // The scheme may define that no authority is an empty one (3.2.2).
    let is_local = facts.is_some_and(|facts| facts.default_host.is_some())
        && parts.authority_start == 0
        && parts.path(text).starts_with(b"/");
    let has_authority = parts.authority_start != 0 || is_local;
    if is_local {
        out.extend_from_slice(b"//");
    } else if has_authority {
        authority_into(text, parts, level, facts, out);
    }

    let path_start = out.len();
    percent::normalize_into(parts.path(text), out);
    if dots::is_normalized_by_dots(&out[path_start..]) {
        dots::remove_dot_segments(out, path_start);
        if !has_authority {
            dots::guard_against_authority(out, path_start);
        }
    }
    if level >= Level::Scheme {
        if has_authority {
            let root = facts.is_none_or(|facts| facts.empty_path_is_root);
            if root && out.len() == path_start {
                out.push(b'/');
            }
        } else {
            let form = facts.map_or(PathForm::Generic, |facts| facts.path_form);
            path_form::lower_parts(form, &mut out[path_start..]);
        }
    }

    for (delimiter, component) in [(b'?', parts.query(text)), (b'#', fragment)] {
        if let Some(component) = component {
            out.push(delimiter);
            percent::normalize_into(component, out);
        }
    }
}

/// Appends `//` and the authority (3.2).
fn authority_into(
    text: &[u8],
    parts: &Components,
    level: Level,
    facts: Option<&SchemeFacts>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"//");
    let userinfo = parts.userinfo(text);
    if let Some(userinfo) = userinfo {
        percent::normalize_into(userinfo, out);
        out.push(b'@');
    }

    let raw_host = &text[parts.host_start as usize..parts.host_end as usize];
    let host_start = out.len();
    let mut digits = parts.port(text);
    if level >= Level::Scheme {
        host::scheme_into(
            raw_host,
            parts.host_kind,
            facts.is_some_and(|facts| facts.dns_host),
            out,
        );
        digits = digits
            .and_then(|digits| port::canonical(digits, facts.and_then(|facts| facts.default_port)));
    } else {
        host::syntax_into(raw_host, parts.host_kind, out);
    }

    // 6.2.3: beside a userinfo or a port "the host should be given explicitly". This includes an
    // empty userinfo, since no specification makes it equivalent to none.
    let default_host = facts.and_then(|facts| facts.default_host);
    if userinfo.is_none()
        && digits.is_none()
        && default_host.is_some_and(|default| default.as_bytes() == &out[host_start..])
    {
        out.truncate(host_start);
    }
    if let Some(digits) = digits {
        out.push(b':');
        out.extend_from_slice(digits);
    }
}

/// The path for a record that [`parse`] rejected with `error` because of a byte of 0x80 or above:
/// if such bytes are in the host alone, and it is a DNS name, they are treated as percent-encoded.
///
/// Returns `error` if that does not lead to an ASCII host.
#[cold]
fn normalize_raw_host(
    text: &[u8],
    error: UriError,
    drop_fragment: bool,
    out: &mut Vec<u8>,
) -> Result<(), UriError> {
    let encoded = encode_raw_host(text).ok_or(error)?;
    // The record may have other faults, but the first one is reported.
    let parts = parse(&encoded).map_err(|_| error)?;
    let kept = out.len();
    normalize_parts(&encoded, &parts, Level::Scheme, drop_fragment, out);
    // A host that is not a DNS name, or of a scheme that does not use DNS, is still encoded.
    let mapped = raw_host(&out[kept..]).is_some_and(|(_, host)| !host.contains(&b'%'));
    if !mapped {
        out.truncate(kept);
        return Err(error);
    }
    Ok(())
}

/// `text` with the bytes of 0x80 and above in its host percent-encoded, if there are any and the host is UTF-8.
fn encode_raw_host(text: &[u8]) -> Option<Vec<u8>> {
    let (start, host) = raw_host(text).filter(|(_, host)| !host.is_ascii())?;
    str::from_utf8(host).ok()?;
    Some([&text[..start], &encode_host(host), &text[start + host.len()..]].concat())
}

/// `host` with the bytes of 0x80 and above percent-encoded.
pub(crate) fn encode_host(host: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(3 * host.len());
    for &byte in host {
        if byte.is_ascii() {
            encoded.push(byte);
        } else {
            percent::push_triplet(byte, &mut encoded);
        }
    }
    encoded
}

/// Offset of the host in `text`, and the host, by delimiters alone (Appendix B, 3.2).
pub(crate) fn raw_host(text: &[u8]) -> Option<(usize, &[u8])> {
    let parts = split(text);
    let (scheme, authority) = (parts.scheme?, parts.authority?);
    let after_userinfo = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
    let host = &authority[after_userinfo..];
    let end = memchr::memchr(b':', host).unwrap_or(host.len());
    Some((scheme.len() + "://".len() + after_userinfo, &host[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_by_their_delimiters() {
        for (text, expected) in [
            ("http://h\u{e9}:80/a@b", Some((7, "h\u{e9}"))),
            ("foo://u@v@h /", Some((10, "h "))),
            ("foo://", Some((6, ""))),
            ("foo:h", None),
            ("//h", None),
        ] {
            let expected = expected.map(|(start, host): (usize, &str)| (start, host.as_bytes()));
            assert_eq!(raw_host(text.as_bytes()), expected, "{text}");
        }
    }
}
