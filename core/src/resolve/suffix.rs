//! Suffix references (RFC 3986 section 4.5): `www.w3.org/Addressing/`, as people write them,
//! without a scheme.
//!
//! They have the syntax of a relative path, so they are read only without a base and only on
//! request. There is no standard set of heuristics; this is the one used here. A text is a suffix
//! reference if the part before the first `/`, `?` or `#` is a host, with or without a port:
//!
//! - The host is a name: two or more labels separated by dots, of letters, digits, `-` and `_`. No
//!   label has a `-` at either end or more than 63 bytes; the last one has two bytes or more and
//!   begins with a letter; a final dot is allowed. Or the host is an IPv4 address of four decimal
//!   numbers, an IPv6 address in brackets, or `localhost`.
//! - The port is `:` and a decimal number from 0 to 65535, of at most five digits.
//!
//! So `index.html` is read as a host: without a base nothing distinguishes it from `example.org`.
//! User information is not guessed, as `joe@example.com` is a mail address; nor are encoded names.
//! With a port the text is read as a suffix although the grammar would see a scheme in it:
//! `www.w3.org:80/` and `localhost:8080` are hosts, `tel:5551212` and `a:80` are URIs.

use core::fmt;

use crate::grammar::class::{ALPHA, DIGIT, SCHEME};
use crate::uri::dots::{guard_against_authority, remove_dot_segments};
use crate::uri::{Components, UriError, UriErrorKind, parse, parse_ipv4, parse_ipv6};

/// Completes suffix references with a scheme.
///
/// ```
/// use uriscan::resolve::Suffix;
/// let suffix = Suffix::new("https").unwrap();
/// let mut out = Vec::new();
/// suffix.complete_into(b"www.w3.org/Addressing/", &mut out).unwrap();
/// assert_eq!(out, b"https://www.w3.org/Addressing/");
/// assert!(suffix.complete_into(b"../Addressing/", &mut out).is_err());
/// assert!(Suffix::new("no scheme").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suffix {
    /// The scheme, and `://`.
    prefix: Vec<u8>,
}

/// A text that is not a scheme (3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoScheme;

impl fmt::Display for NoScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scheme is a letter followed by letters, digits, '+', '-' and '.'")
    }
}

impl core::error::Error for NoScheme {}

impl Suffix {
    /// Completes suffix references with `scheme`.
    ///
    /// # Errors
    /// If `scheme` is not a scheme (3.1).
    pub fn new(scheme: &str) -> Result<Suffix, NoScheme> {
        let bytes = scheme.as_bytes();
        let is_scheme = bytes.first().is_some_and(|&first| ALPHA.has(first))
            && bytes.iter().all(|&byte| SCHEME.has(byte));
        let prefix = [bytes, b"://"].concat();
        if is_scheme { Ok(Suffix { prefix }) } else { Err(NoScheme) }
    }

    /// The scheme, as given.
    pub fn scheme(&self) -> &str {
        let scheme = self.prefix.strip_suffix(b"://").unwrap_or(&self.prefix);
        // A scheme is ASCII.
        str::from_utf8(scheme).unwrap_or_default()
    }

    /// Appends the target of `text` to `out`: the completed URI if `text` is a suffix reference, or
    /// `text` itself if it is a URI. Dot segments are removed from the path of either (5.2.2).
    ///
    /// # Errors
    /// Those of [`crate::uri::parse`]; [`UriErrorKind::Relative`] at byte 0 for any other relative
    /// reference. `out` is unchanged then.
    pub fn complete_into(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), UriError> {
        let kept = out.len();
        let added = if is_suffix(text) { &self.prefix[..] } else { b"" };
        out.extend_from_slice(added);
        out.extend_from_slice(text);
        let judged = match parse(&out[kept..]) {
            Ok(parts) if parts.is_uri() => Ok(parts),
            Ok(_) => Err(UriError { kind: UriErrorKind::Relative, at: 0 }),
            // The added prefix is valid.
            Err(error) => Err(UriError { at: error.at - added.len() as u32, ..error }),
        };
        match judged {
            Ok(parts) => {
                remove_own_dot_segments(&parts, kept, out);
                Ok(())
            }
            Err(error) => {
                out.truncate(kept);
                Err(error)
            }
        }
    }
}

/// Removes the dot segments of the URI `out[start..]`, whose components are `parts`.
fn remove_own_dot_segments(parts: &Components, start: usize, out: &mut Vec<u8>) {
    let path_start = start + parts.path_start as usize;
    let rest = out.split_off(start + parts.path_end as usize);
    remove_dot_segments(out, path_start);
    if parts.authority_start == 0 {
        guard_against_authority(out, path_start);
    }
    out.extend_from_slice(&rest);
}

/// Whether `text` begins with a host, and perhaps a port, up to the first `/`, `?` or `#`.
pub(crate) fn is_suffix(text: &[u8]) -> bool {
    let end = text.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(text.len());
    let authority = &text[..end];
    if let Some(literal) = authority.strip_prefix(b"[") {
        let Some(close) = literal.iter().position(|&byte| byte == b']') else { return false };
        let port = &literal[close + 1..];
        return parse_ipv6(&literal[..close]).is_some()
            && (port.is_empty() || port.strip_prefix(b":").is_some_and(is_port));
    }
    match authority.iter().position(|&byte| byte == b':') {
        // A scheme has no digits after it in most URIs.
        Some(colon) => is_port(&authority[colon + 1..]) && is_host(&authority[..colon]),
        None => is_host(authority),
    }
}

fn is_port(digits: &[u8]) -> bool {
    (1..=5).contains(&digits.len())
        && digits.iter().all(|&byte| DIGIT.has(byte))
        && digits.iter().fold(0u32, |number, digit| number * 10 + u32::from(digit - b'0')) <= 65_535
}

fn is_host(host: &[u8]) -> bool {
    if host.eq_ignore_ascii_case(b"localhost") || parse_ipv4(host).is_some() {
        return true;
    }
    let name = host.strip_suffix(b".").unwrap_or(host);
    let labels = || name.split(|&byte| byte == b'.');
    let is_label = |label: &[u8]| {
        let is_inside = |byte: u8| ALPHA.has(byte) || DIGIT.has(byte) || b"-_".contains(&byte);
        (1..=63).contains(&label.len())
            && label.iter().all(|&byte| is_inside(byte))
            && label[0] != b'-'
            && label[label.len() - 1] != b'-'
    };
    let is_top = |label: &[u8]| label.len() >= 2 && ALPHA.has(label[0]);
    labels().count() >= 2 && labels().all(is_label) && labels().next_back().is_some_and(is_top)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(text: &str) -> Result<String, UriError> {
        let mut out = b"kept".to_vec();
        let result = Suffix::new("https").unwrap().complete_into(text.as_bytes(), &mut out);
        let out = String::from_utf8(out).unwrap().strip_prefix("kept").unwrap().to_owned();
        assert!(result.is_ok() || out.is_empty());
        result.map(|()| out)
    }

    #[test]
    fn suffixes_are_completed() {
        for (text, expected) in [
            ("www.w3.org/Addressing/", "https://www.w3.org/Addressing/"),
            ("example.org", "https://example.org"),
            ("example.org.", "https://example.org."),
            ("Example.ORG:8080/a/../b?q#f", "https://Example.ORG:8080/b?q#f"),
            ("localhost:8080", "https://localhost:8080"),
            ("localhost/x", "https://localhost/x"),
            ("192.0.2.1/x", "https://192.0.2.1/x"),
            ("[2001:db8::1]:443/x", "https://[2001:db8::1]:443/x"),
            ("[::1]", "https://[::1]"),
            ("index.html", "https://index.html"),
            ("a_b.example?q", "https://a_b.example?q"),
            ("xn--bcher-kva.example#f", "https://xn--bcher-kva.example#f"),
        ] {
            assert_eq!(completed(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn uris_stay_and_others_are_rejected() {
        for (text, expected) in [
            ("http://h/a/./b", "http://h/a/b"),
            ("tel:5551212", "tel:5551212"),
            ("a:80", "a:80"),
            ("a.b:80", "a.b:80"),
            ("www.w3.org:", "www.w3.org:"),
            ("www.w3.org:99999/", "www.w3.org:99999/"),
            ("www.w3.org:65536", "www.w3.org:65536"),
            ("mailto:joe@example.com", "mailto:joe@example.com"),
            ("foo:/.//b", "foo:/.//b"),
        ] {
            assert_eq!(completed(text).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "",
            "a",
            "a/b.example",
            "/a.example",
            "../a.example",
            "//a.example",
            "?a.example",
            "joe@example.com",
            "a..b",
            ".a.b",
            "-a.bc",
            "a-.bc",
            "1.2.3",
            "1.2.3.256",
            "a.1b",
            "a.b",
            "b%C3%BCcher.example",
            "a.example..",
        ] {
            let relative = UriError { kind: UriErrorKind::Relative, at: 0 };
            assert_eq!(completed(text), Err(relative), "{text}");
        }
        let error = completed("a.example/x y").unwrap_err();
        assert_eq!((error.kind, error.at), (UriErrorKind::Space, 11));
        let error = completed("[::1").unwrap_err();
        assert_eq!((error.kind, error.at), (UriErrorKind::Bracket, 0));
        let error = completed("[::1]x").unwrap_err();
        assert_eq!((error.kind, error.at), (UriErrorKind::Bracket, 0));
        let error = completed("[::g]:80").unwrap_err();
        assert_eq!((error.kind, error.at), (UriErrorKind::Bracket, 0));
    }
}
