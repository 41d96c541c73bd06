//! The fast paths of parsing: components read off masks.
//!
//! [`plain`] handles plain records by the index alone; [`scan`] classifies the record again and
//! handles nearly all other URIs; [`relative`] handles relative references. Each of them either
//! understands a record completely (the record is then valid, and the result is that of
//! [`super::strict::parse`]) or returns `None`, and the reference path decides. It never reports an
//! error itself, so errors are the same on every backend. Not handled here, all rare: user
//! information, IP literals, percent-encoding in an authority, an authority that ends beyond the
//! first 64 bytes, and anything invalid.

use super::block::{any_dot_segment, bit_at, kind_of_name, port_colon};
use super::components::{Components, HostKind};
use super::relative::relative;
use crate::grammar::class::{ALPHA, SCHEME, UNRESERVED};
use crate::index::{Bits, Record, low_bits};
use crate::simd::{BLOCK, Isa, Masks, class};

/// The components, and hints of what normalization has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scan {
    /// The components, including `host_kind`.
    pub(crate) components: Components,
    /// Upper case in the scheme or the host.
    pub(crate) upper_head: bool,
    /// What the percent-encodings need.
    pub(crate) triplets: Triplets,
    /// The path holds a dot segment.
    pub(crate) dots: bool,
    /// The scheme is `http` (4 bytes) or `https` (5 bytes), in any case.
    pub(crate) is_http: bool,
}

const LOWER: u64 = 0x2020_2020_2020_2020;
const HTTPS: u64 = u64::from_le_bytes(*b"https://");
const HTTP: u64 = u64::from_le_bytes(*b"http://\0");

/// An `http` or `https` URI that needs no closer look: no fragment, no dot after a slash, no user
/// information, percent-encodings in path and query only. Most records are plain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    /// Offset of the scheme's `:`.
    pub(crate) scheme_end: usize,
    /// Offset of the port's `:`, or of the path.
    pub(crate) host_end: usize,
    /// Offset of the path.
    pub(crate) path_start: usize,
    /// Upper case in the scheme or the host.
    pub(crate) upper_head: bool,
    /// What the percent-encodings need.
    pub(crate) triplets: Triplets,
    /// The `?` of the first 128 bytes.
    questions: [u64; 2],
}

/// Returns the record, which is not empty, as a [`Plain`] if it is one. Uses almost only the index.
#[inline(always)]
pub(crate) fn plain<I: Isa>(isa: I, record: Record<'_>) -> Option<Plain> {
    let len = record.len();
    let first = record.window(isa, 0);
    let second = record.window(isa, BLOCK);
    let inside = [low_bits(len), low_bits(len.saturating_sub(BLOCK))];
    let look = [first.look & inside[0], second.look & inside[1]];
    let block = record.block(0);
    let (is_http, is_https) = http_scheme(block, len);
    let (scheme_end, head_end) = (4 + usize::from(is_https), 7 + usize::from(is_https));
    let stops = (first.slash | first.question) & inside[0] & (!0 << head_end);
    if !is_http || (stops == 0 && len > BLOCK) {
        return None;
    }
    let before_path = stops.wrapping_sub(1) & !stops & inside[0];
    let mut triplets = Triplets::default();
    if look[0] | look[1] != 0 {
        // Only percent-encodings outside the authority can be left.
        let percents = [isa.equal(block, b'%'), isa.equal(record.block(BLOCK), b'%')];
        let others = (look[0] & (!percents[0] | before_path)) | (look[1] & !percents[1]);
        if others != 0 {
            return None;
        }
        triplets.note(isa, record, 0, look[0])?;
        triplets.note(isa, record, BLOCK, look[1])?;
    }
    let path_start = (stops.trailing_zeros() as usize).min(len);
    let mut host_end = path_start;
    let mut upper_head = false;
    let head = first.head & before_path & !(1 << scheme_end);
    if head != 0 {
        if isa.equal(block, b'@') & head != 0 {
            return None;
        }
        let colons = isa.equal(block, b':') & head;
        if colons != 0 {
            host_end = port_colon(block, colons, path_start)?;
        }
        upper_head = head != colons;
    }
    for at in (2 * BLOCK..len).step_by(BLOCK) {
        let look = record.window(isa, at).look & low_bits(len - at);
        if look != 0 {
            if look & !isa.equal(record.block(at), b'%') != 0 {
                return None;
            }
            triplets.note(isa, record, at, look)?;
        }
    }
    let questions = [first.question & inside[0], second.question & inside[1]];
    Some(Plain { scheme_end, host_end, path_start, upper_head, triplets, questions })
}

impl Plain {
    /// The components of `record`, the one that [`plain`] accepted.
    #[inline(always)]
    pub(crate) fn components<I: Isa>(&self, isa: I, record: Record<'_>) -> Components {
        let len = record.len();
        let host_start = self.scheme_end + 3;
        let mut query_at = first_bit(self.questions);
        for at in (2 * BLOCK..len).step_by(BLOCK) {
            let questions = record.window(isa, at).question & low_bits(len - at);
            query_at = query_at.min(bit_at(at, questions));
        }
        Components {
            scheme_end: self.scheme_end as u32,
            authority_start: host_start as u32,
            host_start: host_start as u32,
            host_end: self.host_end as u32,
            path_start: self.path_start as u32,
            path_end: query_at.min(len as u32),
            query_end: len as u32,
            len: len as u32,
            host_kind: kind_of_name(&record.block(0)[host_start..self.host_end]),
        }
    }
}

/// The components of a record that a fast path handles, which is then valid.
#[inline(always)]
pub(crate) fn components<I: Isa>(isa: I, record: Record<'_>) -> Option<Components> {
    match plain(isa, record) {
        Some(plain) => Some(plain.components(isa, record)),
        None => components_by_scan(isa, record),
    }
}

/// [`components`] of a record that is not [`plain`].
#[inline(always)]
pub(crate) fn components_by_scan<I: Isa>(isa: I, record: Record<'_>) -> Option<Components> {
    match scan(isa, record) {
        Some(scan) => Some(scan.components),
        None => relative(isa, record).map(|relative| relative.components),
    }
}

/// Whether the block begins with `http://` or `https://` in any case, and whether with the latter.
///
/// Setting bit 5 makes letters lower case and keeps `:` and `/`; the few other bytes that it maps
/// to those are odd ones, which no caller accepts. Any byte may follow the last record of the
/// content, slashes too, so the length is checked.
#[inline(always)]
fn http_scheme(block: &[u8; BLOCK], len: usize) -> (bool, bool) {
    let head = u64::from_le_bytes(*block.first_chunk().expect("8 of 64 bytes")) | LOWER;
    let is_https = (head == HTTPS) & (len >= 8);
    (is_https | (head << 8 == HTTP << 8) & (len >= 7), is_https)
}

/// Scans a record that is not empty and not [`plain`].
///
/// Written with few unpredictable branches: the first 128 bytes are read at once, whatever the
/// length, and conditions are combined before they are tested.
#[inline(always)]
pub(crate) fn scan<I: Isa>(isa: I, record: Record<'_>) -> Option<Scan> {
    let len = record.len();
    let first = record.classify(isa, 0);
    let second = record.classify(isa, BLOCK);
    let inside = [low_bits(len), low_bits(len.saturating_sub(BLOCK))];

    // 1. The scheme.
    let block = record.block(0);
    let Head { is_http, scheme_end, end: head_end, has_authority } = head(block, &first, len)?;

    // 2. The authority: up to the first of `/?#`, within the first block.
    let after_head = !0 << head_end;
    let mut stops = (first[class::SLASH] | first[class::QUESTION] | first[class::HASH])
        & inside[0]
        & after_head;
    if !has_authority {
        stops = 1 << head_end;
    }
    if stops == 0 && len > BLOCK {
        return None;
    }
    // All bits if there is no stop; the authority then reaches to the end.
    let before_path = stops.wrapping_sub(1) & !stops;
    let path_start = (stops.trailing_zeros() as usize).min(len);
    let authority = before_path & after_head & inside[0];

    // 3. Cases for the reference path.
    let hashes = [first[class::HASH] & inside[0], second[class::HASH] & inside[1]];
    let odd = (first[class::ODD] & inside[0])
        | (second[class::ODD] & inside[1])
        | (first[class::PERCENT] & authority);
    let hash_count = hashes[0].count_ones() + hashes[1].count_ones();
    if odd != 0 || hash_count > 1 {
        return None;
    }

    // 4. Host and port.
    let mut host_end = path_start;
    let colons_ats = first[class::COLON_AT] & authority;
    if colons_ats != 0 {
        host_end = port_colon(block, colons_ats, path_start)?;
    }
    let host_kind =
        if has_authority { kind_of_name(&block[head_end..host_end]) } else { HostKind::None };

    // 5. Where query and fragment begin, percent-encodings, and dot segments.
    let questions = [first[class::QUESTION] & inside[0], second[class::QUESTION] & inside[1]];
    let mut marks = Marks {
        hash_count,
        hash_at: first_bit(hashes),
        query_at: first_bit(questions),
        ..Marks::default()
    };
    marks.triplets.note(isa, record, 0, first[class::PERCENT] & inside[0])?;
    marks.triplets.note(isa, record, BLOCK, second[class::PERCENT] & inside[1])?;
    marks.note_first_dots(record, [&first, &second], [inside[0] & !before_path, inside[1]]);
    if len > 2 * BLOCK {
        marks.note_rest(isa, record, second[class::SLASH] >> 63)?;
    }
    let Marks { hash_at, query_at, triplets, mut has_dots, .. } = marks;
    // A rootless path may begin with a dot segment without a slash before it.
    has_dots |= !has_authority && record.byte(path_start) == b'.' && path_start < len;

    let query_end = hash_at.min(len as u32);
    let components = Components {
        scheme_end: scheme_end as u32,
        authority_start: if has_authority { head_end as u32 } else { 0 },
        host_start: head_end as u32,
        host_end: host_end as u32,
        path_start: path_start as u32,
        path_end: query_at.min(query_end),
        query_end,
        len: len as u32,
        host_kind,
    };
    let upper_head = first[class::UPPER] & before_path & inside[0] != 0;
    Some(Scan { components, upper_head, triplets, dots: has_dots, is_http })
}

/// The scheme, and where the host begins, or the path if there is no authority.
struct Head {
    is_http: bool,
    scheme_end: usize,
    end: usize,
    has_authority: bool,
}

/// The head of the record whose first block has these `masks`; `None` if it takes the reference path to find it.
#[inline(always)]
fn head(block: &[u8; BLOCK], masks: &Masks, len: usize) -> Option<Head> {
    let (is_http, is_https) = http_scheme(block, len);
    let (mut scheme_end, mut end) = (4 + usize::from(is_https), 7 + usize::from(is_https));
    let mut has_authority = true;
    if !is_http {
        scheme_end = other_scheme(block, masks, len)?;
        has_authority =
            len > scheme_end + 2 && block[scheme_end + 1] == b'/' && block[scheme_end + 2] == b'/';
        end = scheme_end + 1 + 2 * usize::from(has_authority);
    }
    Some(Head { is_http, scheme_end, end, has_authority })
}

/// What is found after the authority, block by block.
#[derive(Default)]
struct Marks {
    hash_count: u32,
    /// Of the first `#`, beyond the record if there is none; so for `?`.
    hash_at: u32,
    query_at: u32,
    triplets: Triplets,
    has_dots: bool,
}

impl Marks {
    /// Notes whether one of the `dots` after slashes in the block at byte `at` begins a dot segment of the path.
    #[inline(always)]
    fn note_dots(&mut self, record: Record<'_>, at: usize, dots: u64) {
        self.has_dots |= any_dot_segment(record, at, dots, self.query_at.min(self.hash_at));
    }

    /// The same of the first two blocks, which have these `masks`, among the bytes `inside`.
    #[inline(always)]
    fn note_first_dots(&mut self, record: Record<'_>, masks: [&Masks; 2], inside: [u64; 2]) {
        let [first, second] = masks.map(|masks| (masks[class::DOT], masks[class::SLASH]));
        let dots = [
            first.0 & (first.1 << 1) & inside[0],
            second.0 & (second.1 << 1 | first.1 >> 63) & inside[1],
        ];
        if dots[0] | dots[1] != 0 {
            self.note_dots(record, 0, dots[0]);
            self.note_dots(record, BLOCK, dots[1]);
        }
    }

    /// Adds the blocks after the second, before which there is a slash if `slash_before` is 1.
    #[inline(always)]
    fn note_rest<I: Isa>(
        &mut self,
        isa: I,
        record: Record<'_>,
        mut slash_before: u64,
    ) -> Option<()> {
        let len = record.len();
        for at in (2 * BLOCK..len).step_by(BLOCK) {
            let masks = record.classify(isa, at);
            let inside = low_bits(len - at);
            let hashes = masks[class::HASH] & inside;
            self.hash_count += hashes.count_ones();
            if masks[class::ODD] & inside != 0 || self.hash_count > 1 {
                return None;
            }
            self.hash_at = self.hash_at.min(bit_at(at, hashes));
            self.query_at = self.query_at.min(bit_at(at, masks[class::QUESTION] & inside));
            self.triplets.note(isa, record, at, masks[class::PERCENT] & inside)?;
            let after_slash = masks[class::SLASH] << 1 | slash_before;
            slash_before = masks[class::SLASH] >> 63;
            self.note_dots(record, at, masks[class::DOT] & after_slash & inside);
        }
        Some(())
    }
}

/// The position of the lowest bit of two consecutive words, at least 128 if there is none.
#[inline(always)]
fn first_bit(words: [u64; 2]) -> u32 {
    let (low, high) = (words[0].trailing_zeros(), 64 + words[1].trailing_zeros());
    if words[0] != 0 {
        low
    } else if words[1] != 0 {
        high
    } else {
        u32::MAX
    }
}

/// The work that the percent-encodings of a record need; all of them are valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Triplets {
    /// Some need work, or would on their own.
    pub(crate) work: bool,
    /// One of them encodes a dot.
    pub(crate) dot: bool,
    /// The work in the first two blocks; the others are scanned again.
    pub(crate) first: [TripletWork; 2],
}

impl Triplets {
    /// Adds those in the block at byte `at`, whose `%` are the bits of `percents`; `None` if one of
    /// them is not a percent-encoding.
    #[inline(always)]
    fn note<I: Isa>(&mut self, isa: I, record: Record<'_>, at: usize, percents: u64) -> Option<()> {
        if percents != 0 {
            let work = triplet_work(isa, record, at, percents)?;
            self.work |= work.lower | work.decode != 0;
            self.dot |= Bits(work.decode).any(|bit| decode(record, at + bit as usize) == b'.');
            if at < 2 * BLOCK {
                self.first[at / BLOCK] = work;
            }
        }
        Some(())
    }
}

/// Offset of the scheme's `:`, for a scheme other than http(s); `None` if there is no certain one.
#[inline(never)]
fn other_scheme(block: &[u8; BLOCK], masks: &Masks, len: usize) -> Option<usize> {
    let colon = masks[class::COLON_AT].trailing_zeros() as usize;
    // The `//` after it is then in the block too; no known scheme is as long.
    if colon == 0 || colon >= len.min(BLOCK - 4) || block[colon] != b':' {
        return None;
    }
    let scheme = &block[..colon];
    (ALPHA.has(scheme[0]) && scheme.iter().all(|&byte| SCHEME.has(byte))).then_some(colon)
}

/// Which percent-encodings of a block need work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TripletWork {
    /// A digit in lower case.
    pub(crate) lower: u64,
    /// Encodes an unreserved byte.
    pub(crate) decode: u64,
}

/// Examines the percent-encodings whose `%` are the bits of `triplets`, from byte `at` of the record on;
/// `None` if one of them is not a percent-encoding.
#[inline(always)]
pub(crate) fn triplet_work<I: Isa>(
    isa: I,
    record: Record<'_>,
    at: usize,
    triplets: u64,
) -> Option<TripletWork> {
    let (upper1, lower1) = isa.hex_digits(record.block(at + 1));
    let (upper2, lower2) = isa.hex_digits(record.block(at + 2));
    // Both digits must be in the record: the bytes after it may be digits of something else.
    let whole = low_bits(record.len().saturating_sub(at + 2));
    if triplets & !((upper1 | lower1) & (upper2 | lower2) & whole) != 0 {
        return None;
    }
    let lower = triplets & (lower1 | lower2);
    let mut decodes = 0;
    for bit in Bits(triplets) {
        decodes |= u64::from(UNRESERVED.has(decode(record, at + bit as usize))) << bit;
    }
    Some(TripletWork { lower, decode: decodes })
}

/// The byte that the valid percent-encoding at byte `at` of the record encodes.
#[inline(always)]
pub(crate) fn decode(record: Record<'_>, at: usize) -> u8 {
    hex_value(record.byte(at + 1)) << 4 | hex_value(record.byte(at + 2))
}

/// The byte that the percent-encoding at the beginning of `text` encodes, if it is valid.
#[cfg(feature = "bulk")]
#[inline(always)]
pub(crate) fn decoded_byte(text: &[u8]) -> u8 {
    hex_value(text[1]) << 4 | hex_value(text[2])
}

/// The value of a hexadecimal digit.
#[inline(always)]
fn hex_value(digit: u8) -> u8 {
    // Letters have bit 6 set and their low nibble counts from 1.
    (digit & 15) + (digit >> 6) * 9
}

#[cfg(test)]
mod tests;
