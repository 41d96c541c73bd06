//! Hosts that are DNS names, in their ASCII form: UTS #46, non-transitional (RFC 3986 section
//! 3.2.2: a name "intended for DNS" that is not ASCII is UTF-8, percent-encoded).
//!
//! Called only for a host that holds encoded bytes of 0x80 and above. A host of ASCII is unchanged,
//! `xn--` labels included: they are lower case by then, and UTS #46 either rejects them or returns
//! them as they are (a test checks this).
//!
//! The mapping is rejected, and the host stays as at the level `syntax`, if the result might be a
//! different host than intended:
//! - a percent-encoding of an ASCII byte remains: reserved characters in a host are data, and DNS names have
//!   none;
//! - the bytes are not UTF-8, or UTS #46 rejects them;
//! - the name has an empty label (other than the last) or one of more than 63 bytes, so it is not a
//!   DNS name; neither is one of more than [`LONGEST_NAME`] bytes, which is not mapped at all;
//! - the mapping produces a byte that a `reg-name` may hold only encoded (U+2100 maps to `a/c`);
//! - the mapping produces an IPv4 address (full-width digits), which is not a name.

#[cfg(feature = "idna")]
use core::net::Ipv4Addr;

#[cfg(feature = "idna")]
use idna::AsciiDenyList;
#[cfg(feature = "idna")]
use idna::uts46::{DnsLength, Hyphens, Uts46};

#[cfg(feature = "idna")]
use super::percent;
#[cfg(feature = "idna")]
use crate::grammar::class::{REG_NAME, UPPER};

/// Bytes of the longest name that is mapped. The DNS has none of more than 255, and each of these is made of at most
/// four characters of four bytes, except for those that the mapping drops.
#[cfg(feature = "idna")]
pub(crate) const LONGEST_NAME: usize = 4096;

/// Whether browsers find a host in `text` that is to be mapped and is longer than any that is.
#[cfg(feature = "bulk")]
pub(crate) fn has_long_name(text: &[u8]) -> bool {
    const SPECIAL: [&[u8]; 6] = [b"http", b"https", b"ws", b"wss", b"ftp", b"file"];
    let Some(colon) = memchr::memchr(b':', text).filter(|_| text.len() > LONGEST_NAME) else {
        return false;
    };
    let is_letter = |byte: &u8| byte.is_ascii_graphic();
    let scheme: Vec<u8> = text[..colon].iter().copied().filter(is_letter).collect();
    if !SPECIAL.iter().any(|name| name.eq_ignore_ascii_case(&scheme)) {
        return false;
    }
    let rest = &text[colon + 1..];
    let is_before = |byte: &u8| b"/\\\t\r\n".contains(byte);
    let rest = &rest[rest.iter().position(|byte| !is_before(byte)).unwrap_or(rest.len())..];
    let end = rest.iter().position(|byte| b"/\\?#".contains(byte)).unwrap_or(rest.len());
    let host = memchr::memrchr(b'@', &rest[..end]).map_or(&rest[..end], |at| &rest[at + 1..end]);
    let is_coded = |two: &[u8]| two[0] == b'%' && b"89ABCDEFabcdef".contains(&two[1]);
    host.len() > LONGEST_NAME && (!host.is_ascii() || host.windows(2).any(is_coded))
}

/// Where a byte of 0x80 or above is encoded in `host`, if builds without the tables cannot tell its form.
pub(crate) fn unmapped(host: &[u8]) -> Option<usize> {
    match cfg!(feature = "idna") {
        true => None,
        false => host
            .windows(2)
            .position(|two| two[0] == b'%' && !two[1].is_ascii_digit() | (two[1] >= b'8')),
    }
}

/// No host has another form without the tables: see [`unmapped`].
#[cfg(not(feature = "idna"))]
pub(crate) fn to_ascii(_: &[u8]) -> Option<String> {
    None
}

/// The ASCII form of `host`, a `reg-name` normalized at the level `syntax`, with at least one `%`;
/// `None` if it has no other form.
#[cfg(feature = "idna")]
pub(crate) fn to_ascii(host: &[u8]) -> Option<String> {
    if host.len() > 3 * LONGEST_NAME {
        return None;
    }
    let mut decoded = Vec::with_capacity(host.len());
    let mut rest = host;
    while let Some(percent) = memchr::memchr(b'%', rest) {
        let (before, triplet) = rest.split_at(percent);
        decoded.extend_from_slice(before);
        let byte = percent::decode(triplet[1], triplet[2]);
        if byte.is_ascii() {
            return None;
        }
        decoded.push(byte);
        rest = &triplet[3..];
    }
    decoded.extend_from_slice(rest);

    // Hyphens are allowed anywhere, as in browsers: `r3---a` and `-x` are in use. No further ASCII
    // is denied here: the class below does that, and `_` is in use as well.
    let name = str::from_utf8(&decoded).ok().filter(|name| name.len() <= LONGEST_NAME)?;
    let mapped = Uts46::new()
        .to_ascii(
            name.as_bytes(),
            AsciiDenyList::EMPTY,
            Hyphens::Allow,
            DnsLength::VerifyAllowRootDot,
        )
        .ok()?;
    let class = const { REG_NAME.without(UPPER) };
    let plain = !mapped.is_empty() && mapped.bytes().all(|byte| class.has(byte));
    (plain && mapped.parse::<Ipv4Addr>().is_err()).then(|| mapped.into_owned())
}

#[cfg(all(test, feature = "idna"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ascii(host: &str) -> Option<String> {
        let mut encoded = Vec::new();
        for byte in host.bytes() {
            if byte.is_ascii() {
                encoded.push(byte);
            } else {
                percent::push_triplet(byte, &mut encoded);
            }
        }
        to_ascii(&encoded)
    }

    #[test]
    fn names_become_a_labels() {
        let cases = [
            ("bücher.de", "xn--bcher-kva.de"),
            ("BÜCHER.de", "xn--bcher-kva.de"),
            // Non-transitional: U+00DF is a letter in its own right.
            ("faß.de", "xn--fa-hia.de"),
            ("日本語.jp", "xn--wgv71a119e.jp"),
            ("日本語。jp", "xn--wgv71a119e.jp"),
            ("bücher.de.", "xn--bcher-kva.de."),
            ("ｅｘａｍｐｌｅ.com", "example.com"),
            ("_a.ü", "_a.xn--tda"),
            ("exam\u{ad}ple.com", "example.com"),
        ];
        for (host, expected) in cases {
            assert_eq!(ascii(host).as_deref(), Some(expected), "{host}");
        }
    }

    #[test]
    fn doubtful_names_are_rejected() {
        let long = format!("ü{}.de", "a".repeat(80));
        let cases = [
            "a%2Fü",
            "a%20ü",
            "a%25ü",
            "\u{ad}",
            "a.\u{ad}.b",
            "ü..de",
            "\u{2100}.de",
            "ａ％41",
            "ａ／b",
            "ａ＠b",
            "１２７.0.0.1",
            "xn--a.ü",
            "\u{fffd}",
            "a\u{200d}b",
            &long,
        ];
        for host in cases {
            assert_eq!(ascii(host), None, "{host}");
        }
        assert_eq!(to_ascii(b"a%C3"), None);
        assert_eq!(to_ascii(b"a%FF.de"), None);
    }

    proptest! {
        #[test]
        fn ascii_names_have_no_other_form(labels in prop::collection::vec("(xn--)?[a-z0-9-]{0,12}", 1..4)) {
            let host = labels.join(".");
            let mapped =
                Uts46::new().to_ascii(host.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Ignore);
            if let Ok(mapped) = mapped {
                prop_assert_eq!(&*mapped, host.as_str());
            }
        }

        #[test]
        fn the_ascii_form_of_an_ascii_form_is_itself(host in "[a-z\u{a0}-\u{24f}\u{3b1}-\u{3c9}\u{ff01}-\u{ff5e}。.]{1,12}") {
            if let Some(mapped) = ascii(&host) {
                prop_assert!(!mapped.contains('%'));
                let again =
                    Uts46::new().to_ascii(mapped.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Ignore);
                prop_assert_eq!(again.as_deref().ok(), Some(mapped.as_str()));
            }
        }
    }
}

#[cfg(all(test, not(feature = "idna")))]
mod tests_without_tables {
    use crate::normalize::{Level, normalize_exact};
    use crate::uri::UriErrorKind;

    #[test]
    fn names_that_are_not_ascii_have_no_form_at_level_scheme() {
        let mut out = Vec::new();
        for (uri, at) in [
            ("http://b%C3%BCcher.de/", 8),
            ("http://u@a.%e3%81%82:80", 11),
            ("http://b\u{fc}cher/", 8),
        ] {
            let error =
                normalize_exact(uri.as_bytes(), Level::Scheme, false, &mut out).unwrap_err();
            assert_eq!(
                (error.kind, error.at, &out[..]),
                (UriErrorKind::NonAscii, at, &b""[..]),
                "{uri}"
            );
            assert_eq!(crate::normalize(uri).unwrap_err(), error);
        }
        for uri in ["http://a%2Fb/%C3%BC", "urn:x:%C3%BC", "s://%C3%BC/"] {
            assert_eq!(crate::normalize(uri).unwrap(), uri);
        }
    }
}
