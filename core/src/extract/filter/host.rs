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
