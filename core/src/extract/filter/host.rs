//! Hosts of URIs in the form in which filters compare them.

use core::net::{Ipv4Addr, Ipv6Addr};

use crate::normalize::dns_to_ascii;
use crate::normalize::percent::{decoded, push_triplet};
use crate::uri::split::split_head;

/// Whether `host` is an address, below which there are no names.
pub(super) fn is_address(host: &[u8]) -> bool {
    let is_ipv4 = || str::from_utf8(host).is_ok_and(|host| host.parse::<Ipv4Addr>().is_ok());
    host.starts_with(b"[") || host.last().is_some_and(u8::is_ascii_digit) && is_ipv4()
}

/// `host` without the dots at its end.
pub(super) fn without_dots(host: &[u8]) -> &[u8] {
    let end = host.iter().rposition(|&byte| byte != b'.').map_or(0, |last| last + 1);
    &host[..end]
}

/// What a byte is in the authority of a usual URI.
const IN_AUTHORITY: [InAuthority; 256] = {
    let mut of = [InAuthority::Other; 256];
    let mut byte = 0x21;
    while byte < 0x7F {
        of[byte] = match byte as u8 {
            b'/' | b'?' | b'#' => InAuthority::End,
            b'%' | b'@' | b':' | b'[' | b']' | b'\\' => InAuthority::Other,
            _ => InAuthority::Name,
        };
        byte += 1;
    }
    of
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum InAuthority {
    Name,
    End,
    /// What may make the host another one than the bytes before it.
    Other,
}

/// The host of `uri` in the form in which hosts are compared, written to `room`, if `uri` begins as nearly all do: with `http://` or
/// `https://`, a name as it is written, and the path.
#[inline]
pub(super) fn usual_host<'r>(uri: &[u8], room: &'r mut [u8]) -> Option<&'r [u8]> {
    let rest = uri.strip_prefix(b"http")?;
    let after = rest.strip_prefix(b"s").unwrap_or(rest).strip_prefix(b"://")?;
    let mut len = 0;
    for (&byte, lower) in after.iter().zip(&mut *room) {
        match IN_AUTHORITY[usize::from(byte)] {
            InAuthority::Name => *lower = byte.to_ascii_lowercase(),
            InAuthority::End => break,
            InAuthority::Other => return None,
        }
        len += 1;
    }
    let is_whole = len < room.len() && room[..len].last() != Some(&b'.');
    is_whole.then_some(&room[..len])
}

/// The host of `uri`, as it is written.
pub(super) fn host(uri: &[u8]) -> Option<&[u8]> {
    let (_, authority, _) = split_head(uri);
    let authority = authority?;
    let after = memchr::memrchr(b'@', authority).map_or(authority, |at| &authority[at + 1..]);
    let end = match after.first() {
        Some(b'[') => memchr::memchr(b']', after).map_or(after.len(), |at| at + 1),
        _ => memchr::memchr(b':', after).unwrap_or(after.len()),
    };
    Some(&after[..end])
}

/// `name` in lower case, without the dot of the root, with A-labels for what is not ASCII; an IPv6 address as RFC 5952
/// writes it.
pub(super) fn comparable(name: &[u8]) -> String {
    if let [b'[', address @ .., b']'] = name {
        let address = str::from_utf8(address).ok().and_then(|it| it.parse::<Ipv6Addr>().ok());
        if let Some(address) = address {
            return format!("[{address}]");
        }
    }
    let plain = decoded(name);
    let mut out = String::with_capacity(plain.len());
    for label in labels(&plain) {
        if !out.is_empty() {
            out.push('.');
        }
        match label.is_ascii() {
            true => out.push_str(&String::from_utf8_lossy(label).to_ascii_lowercase()),
            false => push_mapped(label, &mut out),
        }
    }
    out.truncate(out.trim_end_matches('.').len());
    out
}

/// The labels of `name`: a dot, or what IDNA maps to one, is between them.
fn labels(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    const DOTS: [&str; 3] = ["\u{3002}", "\u{FF0E}", "\u{FF61}"];
    let mut rest = Some(name);
    core::iter::from_fn(move || {
        let text = rest?;
        let is_dot = |at: usize| DOTS.iter().any(|dot| text[at..].starts_with(dot.as_bytes()));
        let ends = |at: usize| match text[at] {
            b'.' => Some((at, 1)),
            0xE3 | 0xEF if is_dot(at) => Some((at, 3)),
            _ => None,
        };
        let Some((end, len)) = (0..text.len()).find_map(ends) else { return rest.take() };
        rest = Some(&text[end + len..]);
        Some(&text[..end])
    })
}

/// Appends the A-label of `label`, or the label itself if it has none.
fn push_mapped(label: &[u8], out: &mut String) {
    let mut coded = Vec::with_capacity(3 * label.len());
    for &byte in label {
        match byte {
            b'%' | 0x80.. => push_triplet(byte, &mut coded),
            _ => coded.push(byte.to_ascii_lowercase()),
        }
    }
    match dns_to_ascii(&coded) {
        Some(mapped) => out.push_str(&mapped),
        None => out.push_str(&String::from_utf8_lossy(label).to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn some_hosts_are_usual() {
        for (uri, expected) in [
            ("http://H.Example/x", Some("h.example")),
            ("https://h?a:b@c", Some("h")),
            ("http://h", Some("h")),
            ("http://", Some("")),
            ("http:///", Some("")),
            ("http://h:80/", None),
            ("http://u@h/", None),
            ("http://h./", None),
            ("http://%68/", None),
            ("http://[::1]/", None),
            ("http://h\\@i/", None),
            ("HTTP://h/", None),
            ("httpss://h/", None),
            ("ftp://h/", None),
        ] {
            let found = usual_host(uri.as_bytes(), &mut [0; 64]).map(|host| host.to_vec());
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{uri}");
        }
        let long = format!("http://{}/", "a".repeat(64));
        assert!(usual_host(long.as_bytes(), &mut [0; 64]).is_none());
        assert!(usual_host(&long.as_bytes()[1..], &mut [0; 64]).is_none());
    }

    proptest! {
        #[test]
        fn usual_hosts_are_those_that_are_compared(
            uri in "(http|https|HTTP|x)(://|:/|:)([aB.:@%\\[\\]/?#\\\\ é_!-]|%2[Ee]){0,9}",
        ) {
            if let Some(usual) = usual_host(uri.as_bytes(), &mut [0; 64]) {
                let host = host(uri.as_bytes()).unwrap();
                let expected = comparable(host);
                prop_assert_eq!(expected.as_bytes(), usual, "{}", uri);
            }
        }
    }
}
