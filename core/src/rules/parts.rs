//! Functions on single components, which both paths use.

use std::borrow::Cow;

pub use crate::uri::{host_in, host_of};

/// The pages that `index-page` drops by default.
pub const INDEX_PAGES: &str = "index.html,index.htm,index.shtml,index.php,index.asp,index.aspx,\
    index.jsp,default.html,default.htm,default.asp,default.aspx";

/// The extensions that `extension` drops by default.
pub(super) const EXTENSIONS: &str = "html,htm,shtml,php,asp,aspx,jsp";

/// `host` in lower case and without a final dot, like the hosts of rules files.
#[inline]
pub(super) fn folded(host: &[u8]) -> Cow<'_, [u8]> {
    let host = host.strip_suffix(b".").unwrap_or(host);
    if host.iter().any(u8::is_ascii_uppercase) {
        Cow::Owned(host.to_ascii_lowercase())
    } else {
        Cow::Borrowed(host)
    }
}

/// Whether a host, without final dot, is clearly a name and not an address, and has no bytes that
/// might mean another name. Rules shorten hosts only to such names.
fn is_plain_name(host: &[u8]) -> bool {
    let last = host.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    last.first().is_some_and(|byte| !byte.is_ascii_digit())
        && host[0] != b'.'
        && memchr::memchr(b'%', host).is_none()
}

/// `host-dot`: whether the last byte of `host` is dropped.
#[inline]
pub(super) fn has_needless_dot(host: &[u8]) -> bool {
    host.strip_suffix(b".").is_some_and(is_plain_name)
}

/// `www`: the number of bytes to drop at the start of `host`.
#[inline]
pub(super) fn www_len(host: &[u8]) -> usize {
    let is_www = host.first_chunk::<4>().is_some_and(|label| label.eq_ignore_ascii_case(b"www."));
    match is_www && memchr::memchr(b'%', host).is_none() {
        true if host.iter().any(u8::is_ascii_uppercase) => {
            plain_www_len(&host.to_ascii_lowercase())
        }
        true => plain_www_len(host),
        false => 0,
    }
}

/// [`www_len`] of a host without upper case and triplets. There may be very many labels: the suffix is searched once.
#[inline]
pub(super) fn plain_www_len(host: &[u8]) -> usize {
    let name = host.strip_suffix(b".").unwrap_or(host);
    if !name.starts_with(b"www.") {
        return 0;
    }
    // An address, and a name with an empty label at an end, are left.
    let last = name.iter().rposition(|&byte| byte == b'.').map_or(0, |dot| dot + 1);
    if name.get(last).is_none_or(u8::is_ascii_digit) {
        return 0;
    }
    let suffix = uriscan_suffixes::suffix_start(name);
    let mut len = 0;
    while name[len..].starts_with(b"www.") {
        let rest = &name[len + 4..];
        // What is within the suffix may have a shorter one.
        let before = match suffix.checked_sub(len + 4) {
            None | Some(0) => uriscan_suffixes::suffix_start(rest),
            Some(before) => before,
        };
        if rest[0] == b'.' || before < 2 {
            break;
        }
        len += 4;
    }
    len
}

/// `https`: the replacement of the port `digits` of an `http` URI; `None` for the default port of
/// `https`, with which the URI is not changed.
#[inline]
pub(super) fn https_port(digits: &[u8]) -> Option<&[u8]> {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    match &digits[zeros..] {
        b"80" => Some(b"443"),
        b"443" => None,
        _ => Some(digits),
    }
}

/// Whether a segment is a dot segment, encoded or not.
pub(super) fn is_dot_segment(segment: &[u8]) -> bool {
    let mut rest = segment;
    let mut dots = 0;
    while let [b'.', after @ ..] | [b'%', b'2', b'e' | b'E', after @ ..] = rest {
        (rest, dots) = (after, dots + 1);
    }
    rest.is_empty() && (dots == 1 || dots == 2)
}

/// Whether `path` holds dot segments, as it may at level `string`. Rules for paths then skip it: the
/// meaning of a segment depends on the segments after it.
pub(super) fn has_dot_segment(path: &[u8]) -> bool {
    path.split(|&byte| byte == b'/').any(is_dot_segment)
}

/// `anchor`: whether `fragment`, without its `#`, is a route of a script, which shows another page for each.
#[inline]
pub(super) fn is_route(fragment: &[u8]) -> bool {
    matches!(fragment, [b'/' | b'!', ..] | [b'%', b'2', b'F' | b'f' | b'1', ..])
}

/// `anchor`: whether `fragment`, without its `#`, does not only name a place in the page: it is a route, or the rest of a
/// character reference of HTML, such as `&#38;`, in a query that was copied from a page.
#[inline]
pub(super) fn is_meaningful(fragment: &[u8]) -> bool {
    is_route(fragment) || is_rest_of_reference(fragment)
}

/// Whether a number and a semicolon are first in `fragment`. What precedes it does not matter: `empty-param` may have
/// dropped it.
fn is_rest_of_reference(fragment: &[u8]) -> bool {
    let digits = fragment.strip_prefix(b"x").or_else(|| fragment.strip_prefix(b"X"));
    let len = |text: &[u8], is_digit: fn(&u8) -> bool| {
        text.iter().position(|byte| !is_digit(byte)).filter(|&len| text[len] == b';')
    };
    let len = match digits {
        Some(digits) => len(digits, u8::is_ascii_hexdigit),
        None => len(fragment, u8::is_ascii_digit),
    };
    len.is_some_and(|len| len > 0)
}

/// The parts of a `fragment` that is a route and has a query of its own: what precedes its `?`, and what follows.
#[inline]
pub(super) fn route_query(fragment: &[u8]) -> Option<(&[u8], &[u8])> {
    let question = memchr::memchr(b'?', fragment).filter(|_| is_route(fragment))?;
    Some((&fragment[..question], &fragment[question + 1..]))
}

/// The characters that `path-decode` decodes by default: those that a path holds both encoded and not.
pub const DECODED: &str = "!$&'()*+,;=:@";

/// `path-decode`: appends `path` to `out`, with each triplet that encodes one of `chars` decoded; returns whether there
/// was one.
pub fn decode(path: &[u8], chars: &[u8], out: &mut Vec<u8>) -> bool {
    let len = out.len();
    let mut rest = path;
    while let Some(at) = memchr::memchr(b'%', rest) {
        let (before, triplet) = rest.split_at(at);
        out.extend_from_slice(before);
        let triplet = &triplet[..triplet.len().min(3)];
        let byte = match triplet {
            [_, digits @ ..] => core::str::from_utf8(digits)
                .ok()
                .filter(|digits| digits.len() == 2)
                .and_then(|digits| u8::from_str_radix(digits, 16).ok()),
            [] => None,
        };
        match byte.filter(|byte| chars.contains(byte)) {
            Some(byte) => out.push(byte),
            None => out.extend_from_slice(triplet),
        }
        rest = &rest[at + triplet.len()..];
    }
    out.extend_from_slice(rest);
    out.len() - len != path.len()
}

/// `path-case` and `param-case`: appends `path`, or a name, to `out` in lower case, except for the digits of triplets; returns whether that changes it.
pub fn fold(path: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.extend_from_slice(path);
    let mut from = start;
    for at in memchr::memchr_iter(b'%', path).map(|at| start + at).chain([out.len()]) {
        // A triplet within a triplet does not exist: `%` is not a digit.
        out[from.min(at)..at].make_ascii_lowercase();
        from = at + 3;
    }
    out[start..] != *path
}

/// `path-prefix`: the number of bytes to drop at the start of `path`. What remains begins with `/` or is empty.
#[inline]
pub(super) fn prefix_len(path: &[u8], prefixes: &[Vec<u8>]) -> usize {
    let mut len = 0;
    let fits = |rest: &[u8], prefix: &[u8]| {
        rest.strip_prefix(prefix).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
    };
    while let Some(prefix) = prefixes.iter().find(|prefix| fits(&path[len..], prefix)) {
        len += prefix.len();
    }
    len
}

/// `extension`: the last segment `last` without its extension, if that is one of `extensions`.
///
/// With parameters it stays: what is left of them could be a session id, which is dropped before.
#[inline]
pub(super) fn stem<'t>(last: &'t [u8], extensions: &[Vec<u8>]) -> Option<&'t [u8]> {
    if extensions.is_empty() {
        return None;
    }
    let dot = memchr::memrchr(b'.', last).filter(|&dot| dot > 0)?;
    let (stem, extension) = (&last[..dot], &last[dot + 1..]);
    let is_one = extensions.iter().any(|known| known == extension)
        && !is_dot_segment(stem)
        && memchr::memchr(b';', stem).is_none();
    is_one.then_some(stem)
}

/// The name of a parameter: the bytes before its first `=`.
#[inline]
pub fn name_of(param: &[u8]) -> &[u8] {
    &param[..memchr::memchr(b'=', param).unwrap_or(param.len())]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::hosts::registrable_domain;
    use super::*;

    /// The oracle of [`www_len`].
    fn www_len_label_by_label(host: &[u8]) -> usize {
        let mut len = 0;
        while let Some((label, rest)) = host[len..].split_at_checked(4) {
            let name = folded(rest);
            let is_dropped = label.eq_ignore_ascii_case(b"www.")
                && !name.is_empty()
                && is_plain_name(&name)
                && registrable_domain(&name).is_some();
            if !is_dropped {
                break;
            }
            len += 4;
        }
        len
    }

    proptest! {
        #[test]
        fn www_is_dropped_as_label_by_label(
            host in "(www\\.|WWW\\.){0,4}(([a-c]|www|%41|1|kobe|city|B)?\\.){0,3}(jp|ck|com|co\\.uk|uk|1|[a-c]{1,3}|)\\.?",
        ) {
            let len = www_len_label_by_label(host.as_bytes());
            prop_assert_eq!(www_len(host.as_bytes()), len, "{}", host);
            if !host.contains(|c: char| c == '%' || c.is_ascii_uppercase()) {
                prop_assert_eq!(plain_www_len(host.as_bytes()), len, "{}", host);
            }
        }
    }

    #[test]
    fn a_host_of_very_many_labels_takes_little_time() {
        let host = [b"www.".repeat(1 << 20), b"example.com".to_vec()].concat();
        assert_eq!(www_len(&host), 4 << 20);
    }

    #[test]
    fn www_is_dropped_while_more_than_a_public_suffix_remains() {
        for (host, len) in [
            ("www.example.com", 4),
            ("WWW.Example.COM", 4),
            ("www.example.com.", 4),
            ("www.www.example.co.uk", 8),
            ("www.com", 0),
            ("www.co.uk", 0),
            ("www.www.com", 4),
            ("www.localhost", 0),
            ("www.1.2.3.4", 0),
            ("www..com", 0),
            ("www.example..", 0),
            ("www.www.kobe..", 0),
            ("www.", 0),
            ("www", 0),
            ("", 0),
            ("www2.example.com", 0),
            ("wwww.example.com", 0),
            ("www.%C3%A9.com", 0),
        ] {
            assert_eq!(www_len(host.as_bytes()), len, "{host}");
            assert_eq!(www_len_label_by_label(host.as_bytes()), len, "{host}");
            let is_plain = !host.contains(|c: char| c == '%' || c.is_ascii_uppercase());
            assert!(!is_plain || plain_www_len(host.as_bytes()) == len, "{host}");
        }
    }

    #[test]
    fn single_dots_after_a_name_are_dropped() {
        for (host, goes) in [
            ("h.", true),
            ("example.com.", true),
            ("h", false),
            ("h..", false),
            (".", false),
            ("", false),
            ("1.2.3.4.", false),
            ("%C3%A9.", false),
            ("[::1]", false),
        ] {
            assert_eq!(has_needless_dot(host.as_bytes()), goes, "{host}");
        }
    }

    #[test]
    fn hosts_are_found_in_authorities() {
        for (authority, host) in [
            ("h", "h"),
            ("h:80", "h"),
            ("u:p@h:80", "h"),
            ("@h", "h"),
            ("[::1]", "[::1]"),
            ("u@[::1]:80", "[::1]"),
            ("", ""),
            (":80", ""),
        ] {
            let (start, end) = host_in(authority.as_bytes());
            assert_eq!(&authority[start..end], host, "{authority}");
        }
    }

    #[test]
    fn routes_and_rests_of_references_are_distinguished_from_anchors() {
        for (fragment, expected) in [
            ("/", true),
            ("/t/1", true),
            ("!", true),
            ("!/t/1", true),
            ("%2Ft", true),
            ("%21/t", true),
            ("", false),
            ("top", false),
            ("t/1", false),
            ("?t", false),
            ("%22", false),
            (":~:text=/a", false),
            ("38;id=2", true),
            ("x26;id=2", true),
            ("X3d;", true),
            ("039;s", true),
            ("38", false),
            ("38id;", false),
            (";", false),
            ("x;", false),
            ("xyz;", false),
        ] {
            assert_eq!(is_meaningful(fragment.as_bytes()), expected, "{fragment}");
        }
        assert_eq!(route_query(b"/t?a?b"), Some((&b"/t"[..], &b"a?b"[..])));
        assert_eq!(route_query(b"t?a"), None);
    }

    #[test]
    fn paths_are_decoded_and_folded_but_for_other_triplets() {
        for (path, decoded) in [
            ("/a%2Cb", "/a,b"),
            ("/%2C%3A%3B", "/,:;"),
            ("/%252C", "/%252C"),
            ("/%2F%C3%A4", "/%2F%C3%A4"),
            ("/%2", "/%2"),
            ("/%", "/%"),
            ("", ""),
        ] {
            let mut out = b"x".to_vec();
            assert_eq!(decode(path.as_bytes(), DECODED.as_bytes(), &mut out), path != decoded);
            assert_eq!(out[1..], *decoded.as_bytes(), "{path}");
        }
        for (path, folded) in [
            ("/A%2Fb%C3", "/a%2Fb%C3"),
            ("/%C3%A4A%", "/%C3%A4a%"),
            ("A%4", "a%4"),
            ("/a", "/a"),
            ("", ""),
        ] {
            let mut out = b"X".to_vec();
            assert_eq!(fold(path.as_bytes(), &mut out), path != folded, "{path}");
            assert_eq!(out[1..], *folded.as_bytes(), "{path}");
        }
    }

    #[test]
    fn prefixes_end_where_segments_end() {
        let prefixes = [b"/en".to_vec(), b"/a/b".to_vec()];
        for (path, len) in [
            ("/en/x", 3),
            ("/en", 3),
            ("/en/", 3),
            ("/enx", 0),
            ("/en/en/a/b/", 10),
            ("/x/en", 0),
            ("", 0),
            ("/a", 0),
        ] {
            assert_eq!(prefix_len(path.as_bytes(), &prefixes), len, "{path}");
        }
    }

    #[test]
    fn dot_segments_are_recognized_in_any_spelling() {
        for segment in [".", "..", "%2e", ".%2E", "%2e%2E"] {
            assert!(
                is_dot_segment(segment.as_bytes())
                    && has_dot_segment(format!("/a/{segment}").as_bytes())
            );
        }
        for segment in ["", "...", "a", ".a", "%2", "%2f", "%2e%2e%2e"] {
            assert!(!is_dot_segment(segment.as_bytes()), "{segment}");
        }
    }

    #[test]
    fn ports_of_http_become_those_of_https() {
        for (digits, port) in [
            ("", Some("")),
            ("80", Some("443")),
            ("0080", Some("443")),
            ("8080", Some("8080")),
            ("443", None),
            ("0443", None),
            ("800", Some("800")),
        ] {
            assert_eq!(https_port(digits.as_bytes()), port.map(str::as_bytes), "{digits}");
        }
    }
}
