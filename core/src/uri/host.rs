//! What a host is: the `host` rule of RFC 3986 section 3.2.2, one function per alternative.
//!
//! ```text
//! host        = IP-literal / IPv4address / reg-name
//! IP-literal  = "[" ( IPv6address / IPvFuture ) "]"
//! ```
//!
//! These functions take the bytes of one host and know nothing about the reference around it.
//! A dotted quad that is not an `IPv4address` (`1.2.3.256`, `01.2.3.4`) is a `reg-name`: the first
//! alternative that matches wins, and the last one matches nearly everything.

use super::HostKind;
use crate::grammar::class::{DIGIT, HEXDIG, IP_FUTURE, REG_NAME};

const IS_HEXDIG: [bool; 256] = HEXDIG.table();
const IS_IP_FUTURE: [bool; 256] = IP_FUTURE.table();
const IS_REG_NAME: [bool; 256] = REG_NAME.table();

/// Returns the kind of `host`, a host component with the brackets of an IP literal, or `None` if no
/// alternative of the rule `host` matches. Never returns [`HostKind::None`]; the empty host is a
/// registered name.
///
/// ```
/// use uriscan::uri::{HostKind, host_kind};
/// assert_eq!(host_kind(b"192.0.2.16"), Some(HostKind::Ipv4));
/// assert_eq!(host_kind(b"192.0.2.256"), Some(HostKind::RegName));
/// assert_eq!(host_kind(b"[2001:db8::7]"), Some(HostKind::Ipv6));
/// assert_eq!(host_kind(b"[::1%25eth0]"), None);
/// ```
pub fn host_kind(host: &[u8]) -> Option<HostKind> {
    match host {
        [b'[', literal @ .., b']'] => literal_kind(literal),
        _ if is_reg_name(host) => Some(name_kind(host)),
        _ => None,
    }
}

/// The kind of the text between `[` and `]`: IPv6address or IPvFuture, or `None` for neither.
pub(crate) fn literal_kind(literal: &[u8]) -> Option<HostKind> {
    // An IPv6address never begins with "v", so the tests can run in either order.
    if is_ip_future(literal) {
        Some(HostKind::IpFuture)
    } else {
        parse_ipv6(literal).map(|_| HostKind::Ipv6)
    }
}

/// The kind of a host already known to match `reg-name`: IPv4address or, failing that, reg-name.
#[inline]
pub(crate) fn name_kind(host: &[u8]) -> HostKind {
    // Nearly every name ends in a letter; one look avoids the loop.
    match host.last() {
        Some(b'0'..=b'9') if parse_ipv4(host).is_some() => HostKind::Ipv4,
        _ => HostKind::RegName,
    }
}

/// `reg-name = *( unreserved / pct-encoded / sub-delims )`
fn is_reg_name(host: &[u8]) -> bool {
    let mut rest = host;
    loop {
        rest = match rest {
            [] => return true,
            [b'%', high, low, tail @ ..] if HEXDIG.has(*high) && HEXDIG.has(*low) => tail,
            [byte, tail @ ..] if IS_REG_NAME[usize::from(*byte)] => tail,
            _ => return false,
        };
    }
}

/// Returns the four octets of an `IPv4address`, in the order written, or `None` if `text` is not
/// one.
///
/// `dec-octet` is 0 to 255 without leading zeros, so `01.2.3.4` is not an `IPv4address`.
///
/// ```
/// use uriscan_core::uri::parse_ipv4;
/// assert_eq!(parse_ipv4(b"10.0.255.1"), Some([10, 0, 255, 1]));
/// assert_eq!(parse_ipv4(b"10.0.256.1"), None);
/// assert_eq!(parse_ipv4(b"10.0.01.1"), None);
/// ```
pub fn parse_ipv4(text: &[u8]) -> Option<[u8; 4]> {
    let (first, rest) = dec_octet(text)?;
    let mut octets = [first, 0, 0, 0];
    let mut rest = rest;
    for octet in &mut octets[1..] {
        let (value, tail) = dec_octet(rest.strip_prefix(b".")?)?;
        *octet = value;
        rest = tail;
    }
    rest.is_empty().then_some(octets)
}

/// The longest `dec-octet` at the start of `text`, and what follows it.
///
/// Taking the longest loses no match: an octet is followed by a dot or the end.
fn dec_octet(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&first, mut rest) = text.split_first()?;
    if !DIGIT.has(first) {
        return None;
    }
    let mut value = first - b'0';
    if value == 0 {
        return Some((0, rest)); // a digit after a leading zero remains, and the caller rejects it
    }
    while let Some((&digit @ b'0'..=b'9', tail)) = rest.split_first() {
        value = value.checked_mul(10)?.checked_add(digit - b'0')?;
        rest = tail;
    }
    Some((value, rest))
}

/// Returns the eight 16-bit groups of an `IPv6address` (without brackets), or `None` if `text` is
/// not one.
///
/// The nine alternatives of the rule are equivalent to this: groups of one to four hexadecimal
/// digits, the last two of which may be written as an IPv4address; either eight of them, or at most
/// seven with one `::` before, between or after them. `::` therefore represents at least one group:
/// `1:2:3:4:5:6:7::` is an address, `1:2:3:4:5:6:7:8::` is not.
///
/// ```
/// use uriscan_core::uri::parse_ipv6;
/// assert_eq!(parse_ipv6(b"2001:db8::7"), Some([0x2001, 0xdb8, 0, 0, 0, 0, 0, 7]));
/// assert_eq!(parse_ipv6(b"::ffff:1.2.3.4"), Some([0, 0, 0, 0, 0, 0xffff, 0x0102, 0x0304]));
/// assert_eq!(parse_ipv6(b"1::2::3"), None);
/// ```
pub fn parse_ipv6(text: &[u8]) -> Option<[u16; 8]> {
    let mut groups = [0u16; 8];
    let mut count = 0;
    // Number of groups before the "::", once it is found.
    let mut gap = None;
    let mut rest = text;
    if let Some(tail) = rest.strip_prefix(b"::") {
        gap = Some(0);
        rest = tail;
    }
    // Only "::" may end the address without a group after it.
    let mut may_end = gap.is_some();
    while !(rest.is_empty() && may_end) {
        let digits = rest.iter().take(5).take_while(|&&b| IS_HEXDIG[usize::from(b)]).count();
        if rest.get(digits) == Some(&b'.') {
            let [a, b, c, d] = parse_ipv4(rest)?;
            groups
                .get_mut(count..count + 2)?
                .copy_from_slice(&[u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])]);
            count += 2;
            break;
        }
        if digits == 0 || digits > 4 {
            return None;
        }
        *groups.get_mut(count)? = h16(&rest[..digits]);
        count += 1;
        rest = &rest[digits..];
        if rest.is_empty() {
            break;
        }
        rest = rest.strip_prefix(b":")?;
        may_end = false;
        if let Some(tail) = rest.strip_prefix(b":") {
            if gap.replace(count).is_some() {
                return None;
            }
            rest = tail;
            may_end = true;
        }
    }
    match gap {
        None => (count == 8).then_some(groups),
        Some(before) => {
            if count > 7 {
                return None;
            }
            // Moves the groups after the gap to the end; zeros take their places.
            groups[before..].rotate_right(8 - count);
            Some(groups)
        }
    }
}

/// The value of one to four hexadecimal digits.
fn h16(digits: &[u8]) -> u16 {
    digits.iter().fold(0, |value, &digit| {
        let nibble = match digit {
            b'0'..=b'9' => digit - b'0',
            _ => (digit | 0x20) - b'a' + 10,
        };
        value << 4 | u16::from(nibble)
    })
}

/// Whether `text` (without brackets) is an
/// `IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )`.
///
/// The `v` is case-insensitive (RFC 5234 section 2.3), and no `pct-encoded` is allowed.
///
/// ```
/// use uriscan_core::uri::is_ip_future;
/// assert!(is_ip_future(b"v1.x") && is_ip_future(b"VF0.a:b"));
/// assert!(!is_ip_future(b"v.x") && !is_ip_future(b"v1.") && !is_ip_future(b"v1.%41"));
/// ```
pub fn is_ip_future(text: &[u8]) -> bool {
    let Some((b'v' | b'V', rest)) = text.split_first() else {
        return false;
    };
    let version = rest.iter().take_while(|&&b| IS_HEXDIG[usize::from(b)]).count();
    match &rest[version..] {
        [b'.', address @ ..] => {
            version > 0
                && !address.is_empty()
                && address.iter().all(|&b| IS_IP_FUTURE[usize::from(b)])
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
