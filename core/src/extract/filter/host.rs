//! Hosts of URIs in the form in which filters compare them.

use core::net::{Ipv4Addr, Ipv6Addr};

use crate::chunk::Prefix;
use crate::index::low_bits;
use crate::normalize::dns_to_ascii;
use crate::normalize::percent::{decoded, push_triplet};
use crate::simd::{BLOCK, Isa, Sketch};
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

/// A host in the form in which hosts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Host<'h> {
    pub(super) name: &'h [u8],
    /// Its last two labels, or all of it.
    pub(super) base: &'h [u8],
}

impl<'h> Host<'h> {
    pub(super) fn new(name: &'h [u8]) -> Host<'h> {
        // Names are short: a search by vectors would take longer.
        let mut dots = (0..name.len()).rev().filter(|&at| name[at] == b'.').skip(1);
        Host { name, base: &name[dots.next().map_or(0, |dot| dot + 1)..] }
    }

    /// That of `record`, if it begins as nearly all do: with `http://` or `https://`, a name in lower case that is the whole authority,
    /// and the path or the query.
    #[inline(always)]
    pub(super) fn usual<I: Isa>(isa: I, record: Prefix<'h>) -> Option<Host<'h>> {
        let text = record.slack();
        let rest = text.strip_prefix(b"http")?;
        let start = 7 + usize::from(rest.first() == Some(&b's'));
        let (head, authority) = text.split_at_checked(start)?;
        let (block, left) = (authority.first_chunk()?, record.len().checked_sub(start)?);
        let Sketch { summary, dot, .. } = isa.sketch(block, b'\n');
        let len = left.min((summary.slash | summary.question).trailing_zeros() as usize);
        let seen = low_bits(len);
        let dots = dot & seen;
        let is_usual = (summary.look | summary.head) & seen == 0 && head.ends_with(b"://");
        // The dot of the root is not compared.
        if !is_usual || len >= BLOCK || dots > seen >> 1 {
            return None;
        }
        let before_last = dots & low_bits(dots.checked_ilog2().unwrap_or(0) as usize);
        let base = before_last.checked_ilog2().map_or(0, |dot| dot as usize + 1);
        Some(Host { name: &authority[..len], base: &authority[base..len] })
    }
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
    use crate::simd::{Kernels, Task};

    struct Usual<'t>(&'t [u8], usize);

    impl<'t> Task for Usual<'t> {
        type Output = Option<Host<'t>>;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Option<Host<'t>> {
            Host::usual(isa, Prefix::new(self.0, self.1))
        }
    }

    /// The usual host of `uri`, whatever follows it, on all backends.
    fn check_usual(uri: &str) -> Option<String> {
        let mut found = Vec::new();
        for after in ["/\n", "a", ".b/", "?", "\u{e9}"] {
            let text = format!("{uri}{after}{}", "x".repeat(100));
            for kernels in Kernels::available() {
                // Nothing is read beyond a text that ends.
                let alone = kernels.run(Usual(uri.as_bytes(), uri.len()));
                assert!(uri.len() >= BLOCK || alone.is_none());
                let usual = kernels.run(Usual(text.as_bytes(), uri.len()));
                if let Some(usual) = usual {
                    let host = host(uri.as_bytes()).unwrap().to_ascii_lowercase();
                    assert_eq!(usual, Host::new(without_dots(&host)), "{uri:?} before {after:?}");
                }
                found.push(usual.map(|host| String::from_utf8(host.name.to_vec()).unwrap()));
            }
        }
        found.dedup();
        assert_eq!(found.len(), 1, "{uri:?}: {found:?}");
        found.pop().flatten()
    }

    #[test]
    fn some_hosts_are_usual() {
        for (uri, expected) in [
            ("http://h.example/x", Some("h.example")),
            ("https://a.h.example/x", Some("a.h.example")),
            ("https://h?a:b@c", Some("h")),
            ("http://h", Some("h")),
            ("http://.h", Some(".h")),
            ("http://a..h", Some("a..h")),
            ("http://", Some("")),
            ("http:///", Some("")),
            ("http://H.example/", None),
            ("http://h#", None),
            ("http://h:80/", None),
            ("http://u@h/", None),
            ("http://h./", None),
            ("http://.", None),
            ("http://%68/", None),
            ("http://[::1]/", None),
            ("http://h\\@i/", None),
            ("HTTP://h/", None),
            ("httpss://h/", None),
            ("http", None),
            ("http:/", None),
            ("https:/", None),
            ("https//:h", None),
            ("ftp://h/", None),
        ] {
            assert_eq!(check_usual(uri).as_deref(), expected, "{uri}");
        }
        assert!(check_usual(&format!("http://{}/", "a".repeat(63))).is_some());
        assert!(check_usual(&format!("http://{}/", "a".repeat(64))).is_none());
    }

    proptest! {
        #[test]
        fn usual_hosts_are_those_that_are_compared(
            uri in "(http|https|HTTP|x)(://|:/|:)([aB.:@%\\[\\]/?#\\\\ é_!-]|%2[Ee]|[a-z]{30}){0,9}",
        ) {
            check_usual(&uri);
        }
    }
}
