//! Queries of the fast paths on one block of a record.

use super::components::HostKind;
use super::host::parse_ipv4;
use crate::index::{Bits, Record};
use crate::simd::BLOCK;

/// `at` plus the position of the lowest bit of `word`, or `u32::MAX` when there is none.
#[inline(always)]
pub(super) fn bit_at(at: usize, word: u64) -> u32 {
    if word == 0 { u32::MAX } else { at as u32 + word.trailing_zeros() }
}

/// The kind of a host that is not an IP literal.
#[inline(always)]
pub(super) fn kind_of_name(host: &[u8]) -> HostKind {
    // An IPv4 address ends in a digit; few names do.
    match host.last() {
        Some(b'0'..=b'9') if parse_ipv4(host).is_some() => HostKind::Ipv4,
        _ => HostKind::RegName,
    }
}

/// The offset of the `:` before the port; `None` for an authority with user information or with a
/// port that is not all digits. `colons_ats` is not 0.
#[inline(always)]
pub(super) fn port_colon(block: &[u8; BLOCK], colons_ats: u64, path_start: usize) -> Option<usize> {
    let colon = colons_ats.trailing_zeros() as usize;
    let is_single = colons_ats & (colons_ats - 1) == 0;
    let is_port = is_single
        && block[colon] == b':'
        && block[colon + 1..path_start].iter().all(u8::is_ascii_digit);
    is_port.then_some(colon)
}

/// Whether one of the dots in the block at byte `at`, each after a slash, begins a dot segment of the path.
#[inline(always)]
pub(super) fn any_dot_segment(record: Record<'_>, at: usize, dots: u64, path_end: u32) -> bool {
    Bits(dots)
        .map(|bit| at + bit as usize)
        .take_while(|&dot| (dot as u32) < path_end)
        .any(|dot| is_dot_segment(record, dot))
}

/// Whether the dot at byte `dot` of the record, which follows a slash, begins a `.` or `..` segment.
#[inline(always)]
fn is_dot_segment(record: Record<'_>, dot: usize) -> bool {
    let ends_at = |at: usize| at >= record.len() || matches!(record.byte(at), b'/' | b'?' | b'#');
    ends_at(dot + 1) || (record.byte(dot + 1) == b'.' && ends_at(dot + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_ends_in_a_digit_need_not_be_an_address() {
        for (host, expected) in [
            ("1.2.3.4", HostKind::Ipv4),
            ("255.255.255.255", HostKind::Ipv4),
            ("256.2.3.4", HostKind::RegName),
            ("1.2.3", HostKind::RegName),
            ("1.2.3.4.5", HostKind::RegName),
            ("host1", HostKind::RegName),
            ("1.2.3.4.", HostKind::RegName),
            ("", HostKind::RegName),
        ] {
            assert_eq!(kind_of_name(host.as_bytes()), expected, "{host:?}");
        }
    }
}
