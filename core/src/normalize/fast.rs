//! The fast path: classifies a record by its masks, and rewrites it in 64-byte stores.
//!
//! [`canonical`] returns exactly the result of the reference path, or `None`. Most records are
//! canonical already; the result is then the record itself, or a prefix of it, and nothing is
//! copied.

use core::ops::Range;

use super::Options;
use super::level::Level;
use crate::grammar::{PathForm, SchemeFacts, scheme_facts};
use crate::index::{Bits, Record, low_bits};
use crate::simd::{BLOCK, Isa};
use crate::uri::dots::remove_dot_segments_in_blocks;
use crate::uri::fast::{Plain, Triplets, decode, plain, scan, triplet_work};

/// Where the canonical form of a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Canonical {
    /// A prefix of the record itself, of this length.
    InPlace(usize),
    /// A prefix of the scratch buffer, of this length.
    InScratch(usize),
}

/// The changes that a record needs; none if every flag is off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Lower the case of scheme and host.
    lower: bool,
    /// Drop the port and its colon.
    pub(crate) drop_port: bool,
    /// Put a `/` in place of an empty path.
    root: bool,
    /// Normalize percent-encodings.
    pub(crate) triplets: Triplets,
    /// Remove dot segments.
    pub(crate) dots: bool,
    /// Offset of the port's `:`, or of the path.
    pub(crate) host_end: usize,
    /// Offset of the path.
    pub(crate) path_start: usize,
}

impl Plan {
    #[inline(always)]
    fn changes_nothing(&self) -> bool {
        !(self.lower | self.drop_port | self.root | self.triplets.work | self.dots)
    }
}

/// The canonical form of a record that is not empty, or `None` if the reference path has to decide.
#[inline(always)]
pub(crate) fn canonical<I: Isa>(
    isa: I,
    options: Options,
    record: Record<'_>,
    scratch: &mut Vec<u8>,
) -> Option<Canonical> {
    let (plan, end) = plan(isa, options, record)?;
    if options.level == Level::String {
        return Some(Canonical::InPlace(end));
    }
    Some(carry_out(isa, &plan, record, end, scratch))
}

/// The changes that a record, which is not empty, needs, and where it ends without a dropped
/// fragment; `None` if the reference path has to decide.
#[inline(always)]
pub(crate) fn plan<I: Isa>(isa: I, options: Options, record: Record<'_>) -> Option<(Plan, usize)> {
    match plain(isa, record) {
        Some(plain) => Some((plan_plain(options.level, record, &plain)?, record.len())),
        None => plan_scanned(isa, options, record),
    }
}

/// Applies `plan` to the first `end` bytes of the record.
#[inline(always)]
pub(crate) fn carry_out<I: Isa>(
    isa: I,
    plan: &Plan,
    record: Record<'_>,
    end: usize,
    scratch: &mut Vec<u8>,
) -> Canonical {
    if plan.changes_nothing() {
        return Canonical::InPlace(end);
    }
    Canonical::InScratch(rewrite(isa, plan, record, end, scratch))
}

/// The changes that a plain record needs.
#[inline(always)]
fn plan_plain(level: Level, record: Record<'_>, plain: &Plain) -> Option<Plan> {
    let &Plain { scheme_end, host_end, path_start, upper_head, triplets, .. } = plain;
    let mut plan = Plan {
        lower: upper_head,
        drop_port: false,
        root: false,
        triplets,
        dots: triplets.dot,
        host_end,
        path_start,
    };
    if level >= Level::Scheme {
        plan.root = path_start == record.len() || record.byte(path_start) != b'/';
        if host_end != path_start {
            let default_port = if scheme_end == 4 { 80 } else { 443 };
            plan.drop_port = drops_port(record, host_end..path_start, default_port)?;
        }
    }
    Some(plan)
}

/// The changes that a record that is not plain needs, and where it ends without a dropped fragment.
#[inline(always)]
fn plan_scanned<I: Isa>(isa: I, options: Options, record: Record<'_>) -> Option<(Plan, usize)> {
    let scan = scan(isa, record)?;
    let c = &scan.components;
    let end = if options.drop_fragment { c.query_end } else { c.len } as usize;
    let mut plan = Plan {
        lower: scan.upper_head,
        drop_port: false,
        root: false,
        triplets: scan.triplets,
        dots: scan.dots | scan.triplets.dot,
        host_end: c.host_end as usize,
        path_start: c.path_start as usize,
    };
    if options.level == Level::String {
        return Some((plan, end));
    }
    if c.authority_start == 0 && plan.dots {
        if c.path_start < c.len && record.byte(plan.path_start) == b'/' {
            // Removing dot segments might make the path look like an authority.
            return None;
        }
        // A rootless path keeps its dot segments.
        plan.dots = false;
    }
    if options.level >= Level::Scheme {
        let is_empty_path = c.authority_start != 0 && c.path_start == c.path_end;
        let (default_port, is_root) = if scan.is_http {
            (if c.scheme_end == 4 { 80 } else { 443 }, true)
        } else {
            let facts = scheme_facts(&record.block(0)[..c.scheme_end as usize]);
            let has_authority = c.authority_start != 0;
            let host_len = has_authority.then_some(c.host_end - c.host_start);
            if facts.is_some_and(|facts| needs_reference_path(facts, host_len)) {
                return None;
            }
            // Not in the table: the generic rules of RFC 3986 apply.
            let port = facts.and_then(|facts| facts.default_port);
            (port.map_or(u32::MAX, u32::from), facts.is_none_or(|facts| facts.empty_path_is_root))
        };
        plan.root = is_empty_path && is_root;
        if c.host_end != c.path_start {
            plan.drop_port = drops_port(record, plan.host_end..plan.path_start, default_port)?;
        }
    }
    Some((plan, end))
}

/// Whether the port at `port` (its `:` and all digits) is dropped at level `scheme`; `None` if the
/// reference path has to rewrite it.
#[inline(always)]
fn drops_port(record: Record<'_>, port: Range<usize>, default_port: u32) -> Option<bool> {
    let digits = &record.block(0)[port.start + 1..port.end];
    if digits.len() > 9 {
        return None;
    }
    let number = digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    let drops = digits.is_empty() || number == default_port;
    let has_leading_zero = digits.len() > 1 && digits[0] == b'0';
    (drops || !has_leading_zero).then_some(drops)
}

/// Whether a scheme's own rules may change more than case, port and empty path of a URI whose host has `host_len`
/// bytes; `None` without an authority.
fn needs_reference_path(facts: &SchemeFacts, host_len: Option<u32>) -> bool {
    let may_be_default = |host: &str| host_len.is_none_or(|len| len as usize == host.len());
    facts.path_form != PathForm::Generic || facts.default_host.is_some_and(may_be_default)
}

/// Writes the first `end` bytes of the record to `scratch` with the changes of `plan`; returns the
/// new length.
#[inline(always)]
fn rewrite<I: Isa>(
    isa: I,
    plan: &Plan,
    record: Record<'_>,
    end: usize,
    scratch: &mut Vec<u8>,
) -> usize {
    // Two blocks are always stored after the authority, and one `/` may be added.
    if scratch.len() < end + 4 * BLOCK {
        scratch.resize(end + 4 * BLOCK, 0);
    }
    let out = scratch.as_mut_slice();

    // The scheme and the authority are in the first block. Bytes after them that are lower-cased
    // here are written again below. None of this is worth a branch.
    let head: &mut [u8; BLOCK] = out.first_chunk_mut().expect("scratch holds a block");
    for (to, from) in head.iter_mut().zip(record.block(0)) {
        *to = from.to_ascii_lowercase();
    }
    let path = if plan.drop_port { plan.host_end } else { plan.path_start };
    out[path] = b'/';
    let mut to = path + usize::from(plan.root);
    let from = plan.path_start..end;
    to = if plan.triplets.work {
        copy_triplets(isa, &plan.triplets, record, from, out, to)
    } else {
        copy(record, from, out, to)
    };
    if plan.dots { remove_dot_segments_in_blocks(isa, out, path, path, to) } else { to }
}

/// Copies the bytes `from` of the record to byte `to` of `out`, block by block; returns the new
/// `to`.
#[inline(always)]
fn copy(record: Record<'_>, from: Range<usize>, out: &mut [u8], to: usize) -> usize {
    // Copies two blocks unconditionally, since few records need more; surplus bytes are
    // overwritten. Copies in half blocks, because a store of a whole one nearly always straddles
    // two cache lines.
    const HALF: usize = BLOCK / 2;
    for at in [0, HALF, BLOCK, BLOCK + HALF] {
        out[to + at..][..HALF].copy_from_slice(&record.block(from.start + at)[..HALF]);
    }
    let mut done = 2 * BLOCK;
    while done < from.len() {
        out[to + done..][..BLOCK].copy_from_slice(record.block(from.start + done));
        done += BLOCK;
    }
    to + from.len()
}

/// Copies a short range like [`copy`]: the gap between two percent-encodings.
#[inline(always)]
fn copy_gap(record: Record<'_>, from: Range<usize>, out: &mut [u8], to: usize) -> usize {
    let mut done = 0;
    while done < from.len() {
        out[to + done..][..BLOCK].copy_from_slice(record.block(from.start + done));
        done += BLOCK;
    }
    to + from.len()
}

/// Copies the bytes `from` of the record to byte `to` of `out`, with percent-encodings in canonical form.
#[inline(always)]
fn copy_triplets<I: Isa>(
    isa: I,
    triplets: &Triplets,
    record: Record<'_>,
    from: Range<usize>,
    out: &mut [u8],
    mut to: usize,
) -> usize {
    // Bytes before `copied` are written or dropped. There are no percent-encodings before the path.
    let mut copied = from.start;
    for at in (0..from.end).step_by(BLOCK) {
        let work = match triplets.first.get(at / BLOCK) {
            Some(&work) => work,
            None => {
                let percents = isa.equal(record.block(at), b'%') & low_bits(record.len() - at);
                triplet_work(isa, record, at, percents).unwrap_or_default()
            }
        };
        for bit in Bits(work.lower | work.decode) {
            let triplet = at + bit as usize;
            if triplet >= from.end {
                break;
            }
            to = copy_gap(record, copied..triplet, out, to);
            if work.decode >> bit & 1 != 0 {
                out[to] = decode(record, triplet);
                to += 1;
            } else {
                out[to] = b'%';
                out[to + 1] = record.byte(triplet + 1).to_ascii_uppercase();
                out[to + 2] = record.byte(triplet + 2).to_ascii_uppercase();
                to += 3;
            }
            copied = triplet + 3;
        }
    }
    copy(record, copied..from.end, out, to)
}
