//! Functions on single components, which both paths use.

use std::borrow::Cow;

use super::hosts::is_public_suffix;

/// The pages that `index-page` drops by default.
pub(crate) const INDEX_PAGES: &str = "index.html,index.htm,index.shtml,index.php,index.asp,index.aspx,\
    index.jsp,default.html,default.htm,default.asp,default.aspx";

/// Where the authority begins, if `form` is an `http` or `https` URI with an authority. Crawlers
/// fetch nothing else, so rules change no other schemes, except for fragments.
#[inline]
pub(super) fn web_authority(form: &[u8]) -> Option<usize> {
    // Setting bit 5 makes letters lower case and keeps `:` and `/`. Other bytes that it maps to
    // these do not occur in URIs.
    const LOWER: u64 = 0x2020_2020_2020_2020;
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    const HTTP: u64 = u64::from_le_bytes(*b"http://\0");
    let Some(head) = form.first_chunk() else {
        return form.eq_ignore_ascii_case(b"http://").then_some(7);
    };
    let head = u64::from_le_bytes(*head) | LOWER;
    if head == HTTPS { Some(8) } else { (head << 8 == HTTP << 8).then_some(7) }
}

/// Offsets of the start and the end of the host in an authority.
#[inline]
pub(super) fn host_in(authority: &[u8]) -> (usize, usize) {
    let start = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
    let host = &authority[start..];
    // Skips the colons inside an IP literal.
    let literal = if host.first() == Some(&b'[') { memchr::memchr(b']', host) } else { None };
    let from = literal.unwrap_or(0);
    let end = memchr::memchr(b':', &host[from..]).map_or(host.len(), |colon| from + colon);
    (start, start + end)
}

/// `host` in lower case and without a final dot, like the hosts of packs.
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
    let mut len = 0;
    while let Some((label, rest)) = host[len..].split_at_checked(4) {
        if !label.eq_ignore_ascii_case(b"www.") {
            break;
        }
        let name = folded(rest);
        if name.is_empty() || !is_plain_name(&name) || is_public_suffix(&name) {
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

/// Whether `path` holds dot segments, as it may at rung `string`. Rules for paths then skip it: the
/// meaning of a segment depends on the segments after it.
pub(super) fn has_dot_segment(path: &[u8]) -> bool {
    path.split(|&byte| byte == b'/').any(is_dot_segment)
}

/// The name of a parameter: the bytes before its first `=`.
#[inline]
pub(super) fn name_of(param: &[u8]) -> &[u8] {
    &param[..memchr::memchr(b'=', param).unwrap_or(param.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("www.", 0),
            ("www", 0),
            ("", 0),
            ("www2.example.com", 0),
            ("wwww.example.com", 0),
            ("www.%C3%A9.com", 0),
        ] {
            assert_eq!(www_len(host.as_bytes()), len, "{host}");
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
