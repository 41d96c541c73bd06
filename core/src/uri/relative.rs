//! The fast path for relative references: components read off class masks.
//!
//! Like the other fast paths (`uri/fast.rs`), it understands a record completely or returns `None`.
//! It handles all five forms of a `relative-ref` (4.2): network-path, absolute-path and
//! relative-path references, a query or a fragment alone, and the empty one. Left to the reference
//! path: a first segment or an authority that ends beyond the first 64 bytes, an authority with
//! user information, an IP literal or percent-encodings, and anything invalid.

use super::block::{any_dot_segment, bit_at, kind_of_name, port_colon};
use super::components::{Components, HostKind};
use crate::index::{Record, low_bits};
use crate::simd::{BLOCK, Isa, class};

/// A valid relative reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relative {
    /// Its components; there is no scheme.
    pub(crate) components: Components,
    /// The path has a complete segment `.` or `..`, possibly at its start.
    pub(crate) dots: bool,
}

/// Reads a record, which may be empty.
#[inline(always)]
pub(crate) fn relative<I: Isa>(isa: I, record: Record<'_>) -> Option<Relative> {
    let len = record.len();
    let block = record.block(0);
    let first = record.classify(isa, 0);
    let inside = low_bits(len);
    let stops = (first[class::SLASH] | first[class::QUESTION] | first[class::HASH]) & inside;

    // 1. A colon in the first segment ends a scheme, or is a fault.
    let before = stops.wrapping_sub(1) & !stops & inside;
    let has_colon = first[class::COLON_AT] & before != 0 && isa.equal(block, b':') & before != 0;
    if has_colon || (stops == 0 && len > BLOCK) {
        return None;
    }

    // 2. The authority.
    let mut c = Components { len: len as u32, ..Components::default() };
    if len >= 2 && block[0] == b'/' && block[1] == b'/' {
        let stops = stops & !0b11;
        let authority = stops.wrapping_sub(1) & !stops & inside & !0b11;
        if first[class::PERCENT] & authority != 0 || (stops == 0 && len > BLOCK) {
            return None;
        }
        let path_start = (stops.trailing_zeros() as usize).min(len);
        let mut host_end = path_start;
        let colons_ats = first[class::COLON_AT] & authority;
        if colons_ats != 0 {
            host_end = port_colon(block, colons_ats, path_start)?;
        }
        c.host_kind = kind_of_name(&block[2..host_end]);
        (c.authority_start, c.host_start) = (2, 2);
        (c.host_end, c.path_start) = (host_end as u32, path_start as u32);
    } else {
        c.host_kind = HostKind::None;
    }

    // 3. The rest, block by block; few references have more than one.
    let path_start = c.path_start as usize;
    let (mut query_at, mut hash_at, mut hash_count) = (u32::MAX, u32::MAX, 0);
    // A dot at the very start begins a segment too; none begins in an authority.
    let mut slash_before = u64::from(path_start == 0);
    let mut not_path = low_bits(path_start);
    let mut dots = false;
    let (mut at, mut masks) = (0, first);
    loop {
        let inside = low_bits(len - at);
        let hashes = masks[class::HASH] & inside;
        hash_count += hashes.count_ones();
        if masks[class::ODD] & inside != 0 || hash_count > 1 {
            return None;
        }
        let percents = masks[class::PERCENT] & inside;
        if percents != 0 && !are_triplets(isa, record, at, percents) {
            return None;
        }
        hash_at = hash_at.min(bit_at(at, hashes));
        query_at = query_at.min(bit_at(at, masks[class::QUESTION] & inside));
        let begins =
            masks[class::DOT] & (masks[class::SLASH] << 1 | slash_before) & inside & !not_path;
        if begins != 0 {
            dots |= any_dot_segment(record, at, begins, query_at.min(hash_at));
        }
        slash_before = masks[class::SLASH] >> 63;
        not_path = 0;
        at += BLOCK;
        if at >= len {
            break;
        }
        masks = record.classify(isa, at);
    }
    c.query_end = hash_at.min(len as u32);
    c.path_end = query_at.min(c.query_end);
    Some(Relative { components: c, dots })
}

/// Whether each of the `%` of the block at byte `at`, the bits of `percents`, begins a percent-encoding.
#[inline(always)]
fn are_triplets<I: Isa>(isa: I, record: Record<'_>, at: usize, percents: u64) -> bool {
    let (upper1, lower1) = isa.hex_digits(record.block(at + 1));
    let (upper2, lower2) = isa.hex_digits(record.block(at + 2));
    // Both digits must be in the record: the bytes after it may be digits of something else.
    let whole = low_bits(record.len().saturating_sub(at + 2));
    percents & !((upper1 | lower1) & (upper2 | lower2) & whole) == 0
}
