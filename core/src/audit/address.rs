//! Addresses (RFC 3986 section 7.4): rare forms of IPv4, and addresses that outsiders should not
//! use.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::borrow::Cow;

use super::host::{is_localhost, to_ascii};
use super::{Detail, Found, Rule, decoded};
use crate::grammar::SchemeFacts;
use crate::uri::{parse_ipv4, parse_ipv6};

/// Returns the address that the C function `inet_aton` reads `host` as, octets in the order
/// written, or `None`.
///
/// One to four numbers separated by dots, each decimal, octal (after `0`) or hexadecimal (after
/// `0x`); the last one fills the remaining octets. This accepts more than an `IPv4address` (3.2.2).
///
/// ```
/// use uriscan::audit::inet_aton;
/// assert_eq!(inet_aton(b"0x7f.1"), Some([127, 0, 0, 1]));
/// assert_eq!(inet_aton(b"017700000001"), Some([127, 0, 0, 1]));
/// assert_eq!(inet_aton(b"192.168.257"), Some([192, 168, 1, 1]));
/// assert_eq!(inet_aton(b"1.2.3.256"), None);
/// ```
pub fn inet_aton(host: &[u8]) -> Option<[u8; 4]> {
    let mut address = 0u32;
    let mut parts = host.split(|&byte| byte == b'.').peekable();
    for octet in 0..4 {
        let part = number(parts.next()?)?;
        let room = 8 * (4 - octet);
        if parts.peek().is_none() {
            let fits = room == 32 || part < 1 << room;
            return fits.then(|| (address | part).to_be_bytes());
        }
        if part > 0xFF {
            return None;
        }
        address |= part << (room - 8);
    }
    None
}

/// One number in the syntax of C, if it fits in 32 bits.
fn number(text: &[u8]) -> Option<u32> {
    let (digits, radix) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', digits @ ..] if !digits.is_empty() => (digits, 8),
        digits => (digits, 10),
    };
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u32, |value, &digit| {
        let digit = char::from(digit).to_digit(radix)?;
        value.checked_mul(radix)?.checked_add(digit)
    })
}

/// Checks the host `name`, which starts at byte `start` of the record.
pub(super) fn check(name: &[u8], start: usize, facts: Option<&SchemeFacts>, found: &mut Found<'_>) {
    let range = start..start + name.len();
    let address = match name.strip_prefix(b"[") {
        Some(literal) => {
            // A zone is invalid here, but common.
            let end = literal.iter().position(|byte| b"]%".contains(byte));
            let groups = parse_ipv6(&literal[..end.unwrap_or(literal.len())]);
            groups.map(|groups| IpAddr::from(Ipv6Addr::from(groups)))
        }
        None => parse_ipv4(name).map(|octets| IpAddr::from(Ipv4Addr::from(octets))),
    };
    if let Some(address) = address {
        return check_address(address, range, found);
    }
    let is_file = facts.is_some_and(|facts| facts.default_host.is_some());
    let plain = plain_name(name);
    let plain = plain.strip_suffix(b".").unwrap_or(&plain);
    if let Some(octets) = inet_aton(plain) {
        let address = IpAddr::from(Ipv4Addr::from(octets));
        found.add(Rule::RareIpv4, range.clone(), Detail::Address(address));
        check_address(address, range, found);
    } else if is_localhost(plain) && !is_file {
        // RFC 6761 section 6.3. Clients do not connect to the host of a `file` URI.
        found.add(Rule::AddressLoopback, range, Detail::None);
    }
}

/// The bytes of a host after a client has decoded and mapped it.
fn plain_name(name: &[u8]) -> Cow<'_, [u8]> {
    if name.iter().all(|&byte| byte != b'%' && byte.is_ascii()) {
        return Cow::Borrowed(name);
    }
    let once = decoded(name);
    if once.is_ascii() {
        // Case does not matter in an address.
        return Cow::Owned(once);
    }
    match to_ascii(&once) {
        Some(ascii) => Cow::Owned(ascii.into_bytes()),
        None => Cow::Owned(once),
    }
}

fn check_address(address: IpAddr, range: core::ops::Range<usize>, found: &mut Found<'_>) {
    if let Some((rule, address)) = class_of(address) {
        found.add(rule, range, Detail::Address(address));
    }
}

/// The rule that warns about `address`, and the address in question: the IPv4 address that an IPv6
/// address embeds, if any.
pub(super) fn class_of(address: IpAddr) -> Option<(Rule, IpAddr)> {
    let rule = match address {
        IpAddr::V4(v4) => class_of_ipv4(v4)?,
        IpAddr::V6(v6) => {
            if let Some(v4) = embedded(v6) {
                // Even a public one: writing it this way is suspicious.
                let rule = class_of_ipv4(v4).unwrap_or(Rule::AddressSpecial);
                return Some((rule, v4.into()));
            }
            class_of_ipv6(v6)?
        }
    };
    Some((rule, address))
}

/// Whether the host `name` is an IPv4 address that no rule warns about.
pub(super) fn is_public_ipv4(name: &[u8]) -> bool {
    let address = parse_ipv4(name).map(Ipv4Addr::from);
    address.is_some_and(|address| class_of_ipv4(address).is_none())
}

/// Classes of the registry of special-purpose addresses (RFC 6890).
fn class_of_ipv4(address: Ipv4Addr) -> Option<Rule> {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (127, ..) => Some(Rule::AddressLoopback),
        // 100.64/10 is for carrier-grade NAT (RFC 6598).
        (10, ..) | (172, 16..=31, _) | (192, 168, _) | (100, 64..=127, _) => {
            Some(Rule::AddressPrivate)
        }
        (169, 254, _) => Some(Rule::AddressLinkLocal),
        // This network, benchmarks, documentation, multicast, reserved, broadcast.
        (0, ..) | (198, 18 | 19, _) | (192, 0, 0 | 2) | (198, 51, 100) | (203, 0, 113) => {
            Some(Rule::AddressSpecial)
        }
        (224.., ..) => Some(Rule::AddressSpecial),
        _ => None,
    }
}

fn class_of_ipv6(address: Ipv6Addr) -> Option<Rule> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(Rule::AddressLoopback),
        // Unique local (RFC 4193), and its predecessor, site-local (RFC 3879).
        [0xFC00..=0xFDFF | 0xFEC0..=0xFEFF, ..] => Some(Rule::AddressPrivate),
        [0xFE80..=0xFEBF, ..] => Some(Rule::AddressLinkLocal),
        // Unspecified, documentation, discard-only, multicast.
        [0, 0, 0, 0, 0, 0, 0, 0]
        | [0x2001, 0xDB8, ..]
        | [0x100, 0, 0, 0, ..]
        | [0xFF00..=0xFFFF, ..] => Some(Rule::AddressSpecial),
        _ => None,
    }
}

/// The IPv4 address that a mapped (`::ffff:0:0/96`), compatible (`::/96`), translated
/// (`64:ff9b::/96`) or 6to4 (`2002::/16`) address embeds.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let ipv4 = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xFFFF, high, low] => Some(ipv4(high, low)),
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0, high, low] => Some(ipv4(high, low)),
        [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => Some(ipv4(high, low)),
        [0x2002, high, low, ..] => Some(ipv4(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn addresses_of_7_4() {
        let loopback = Some([127, 0, 0, 1]);
        for (host, address) in [
            ("127.0.0.1", loopback),
            ("127.1", loopback),
            ("127.0.1", loopback),
            ("2130706433", loopback),
            ("0x7f000001", loopback),
            ("0X7F.0.0.1", loopback),
            ("0177.0.0.1", loopback),
            ("017700000001", loopback),
            ("0x7f.0.0x0.01", loopback),
            ("00000000000177.1", loopback),
            ("10.65535", Some([10, 0, 255, 255])),
            ("192.168.65535", Some([192, 168, 255, 255])),
            ("172.16.1", Some([172, 16, 0, 1])),
            ("4294967295", Some([255, 255, 255, 255])),
            ("0", Some([0, 0, 0, 0])),
            ("1.16777215", Some([1, 255, 255, 255])),
            ("4294967296", None),
            ("1.16777216", None),
            ("1.2.65536", None),
            ("1.2.3.256", None),
            ("256.1", None),
            ("1.2.3.4.5", None),
            ("1.2.3.", None),
            ("1..2", None),
            ("", None),
            (".", None),
            ("08.1", None),
            ("0x", None),
            ("0xg", None),
            ("1.2.3.4a", None),
            ("-1", None),
            (" 1", None),
            ("1e3", None),
        ] {
            assert_eq!(inet_aton(host.as_bytes()), address, "{host}");
        }
    }

    #[test]
    fn classes_of_addresses() {
        use Rule::{AddressLinkLocal, AddressLoopback, AddressPrivate, AddressSpecial};
        for (address, class) in [
            ("127.255.255.254", Some(AddressLoopback)),
            ("10.0.0.1", Some(AddressPrivate)),
            ("172.15.0.1", None),
            ("172.16.0.1", Some(AddressPrivate)),
            ("172.31.255.255", Some(AddressPrivate)),
            ("172.32.0.1", None),
            ("192.168.1.1", Some(AddressPrivate)),
            ("192.167.1.1", None),
            ("100.64.0.1", Some(AddressPrivate)),
            ("100.128.0.1", None),
            ("169.254.169.254", Some(AddressLinkLocal)),
            ("0.0.0.0", Some(AddressSpecial)),
            ("192.0.2.1", Some(AddressSpecial)),
            ("224.0.0.1", Some(AddressSpecial)),
            ("255.255.255.255", Some(AddressSpecial)),
            ("8.8.8.8", None),
            ("::1", Some(AddressLoopback)),
            ("::", Some(AddressSpecial)),
            ("fc00::1", Some(AddressPrivate)),
            ("fdff::1", Some(AddressPrivate)),
            ("fe80::1", Some(AddressLinkLocal)),
            ("febf::1", Some(AddressLinkLocal)),
            ("fec0::1", Some(AddressPrivate)),
            ("ff02::1", Some(AddressSpecial)),
            ("2001:db8::1", Some(AddressSpecial)),
            ("2606:4700::1", None),
            ("::ffff:127.0.0.1", Some(AddressLoopback)),
            ("::ffff:10.1.2.3", Some(AddressPrivate)),
            ("::ffff:8.8.8.8", Some(AddressSpecial)),
            ("::7f00:1", Some(AddressLoopback)),
            ("64:ff9b::a9fe:a9fe", Some(AddressLinkLocal)),
            ("2002:c0a8:101::", Some(AddressPrivate)),
        ] {
            let found = class_of(address.parse().unwrap()).map(|(rule, _)| rule);
            assert_eq!(found, class, "{address}");
        }
        let inner = class_of("::ffff:10.1.2.3".parse().unwrap()).unwrap().1;
        assert_eq!(inner.to_string(), "10.1.2.3");
    }

    /// The address by another implementation of the same rules, that of browsers, which also accept
    /// a final dot and an empty hexadecimal number.
    fn by_browser(host: &str) -> Option<[u8; 4]> {
        match url::Url::parse(&format!("http://{host}/")).ok()?.host()? {
            url::Host::Ipv4(address) => Some(address.octets()),
            _ => None,
        }
    }

    proptest! {
        #[test]
        fn agrees_with_browsers(
            parts in proptest::collection::vec("(0|0x|0X)?[0-9]{1,4}|0x[0-9a-fA-F]{1,8}|0[0-7]{1,12}|[0-9]{8,11}", 1..5),
        ) {
            let host = parts.join(".");
            prop_assert_eq!(inet_aton(host.as_bytes()), by_browser(&host), "{}", host);
        }

        #[test]
        fn agrees_with_browsers_on_any_small_text(host in "[0-9xXa.]{1,9}") {
            let has_empty_part = host.split('.').any(|part| part.is_empty() || part.eq_ignore_ascii_case("0x"));
            if !has_empty_part {
                prop_assert_eq!(inet_aton(host.as_bytes()), by_browser(&host), "{}", host);
            }
        }
    }
}
