//! The fast path of the audit: finds records without findings by masks.
//!
//! [`screen`] errs on the safe side only: where it returns `None`, [`super::audit`] finds nothing
//! (the tests compare the two on every backend). Most records of most lists are quiet, and cost
//! little more than parsing.

use super::bare::{MARKS, holds_no_secret, token_beginnings};
use super::{host, path, port, redact, secret, shape, triplet};
use crate::grammar::class::{ByteClass, UNRESERVED};
use crate::grammar::scheme_facts;
use crate::index::{Bits, Record, low_bits};
use crate::simd::table::{NibbleTables, nibble_tables};
use crate::simd::{BLOCK, Isa};
use crate::uri::{Components, fast};

/// Longer segments are not examined here if they hold needless triplets.
const LONG_SEGMENT: usize = 256;

/// What the screen knows about a record that is not quiet; saves the reference path some work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hint {
    /// Its components, if a fast path handled it; it is valid then.
    pub(crate) parts: Option<Components>,
    /// No rule reports its scheme and authority.
    pub(crate) head_is_quiet: bool,
    /// It has nothing to mask.
    pub(crate) has_no_secret: bool,
}

/// `None` if no rule reports anything in `record`, which is not empty.
#[inline(always)]
pub(crate) fn screen<I: Isa>(isa: I, record: Record<'_>) -> Option<Hint> {
    let mut hint = Hint::default();
    if let Some(parts) = fast::components(isa, record) {
        let head_is_quiet = head_is_quiet(isa, record, &parts);
        if head_is_quiet && rest_is_quiet(isa, record, &parts) {
            return None;
        }
        (hint.parts, hint.head_is_quiet) = (Some(parts), head_is_quiet);
    }
    hint.has_no_secret = holds_no_secret(isa, record);
    Some(hint)
}

/// Whether no rule reports the scheme and authority.
#[inline(always)]
fn head_is_quiet<I: Isa>(isa: I, record: Record<'_>, parts: &Components) -> bool {
    let text = record.bytes();
    if parts.authority_start == 0 {
        return lacks_authority_to_check(text, parts);
    }
    // No userinfo, an ordinary name, and no port or a harmless one.
    let name = parts.host_start as usize..parts.host_end as usize;
    parts.host_start == parts.authority_start
        && host::is_ordinary_in(isa, record.block(0), name)
        && (parts.host_end == parts.path_start || port_is_quiet(text, parts))
        || is_file_without_host(text, parts)
}

/// Whether a record without authority has no finding in the place of the authority.
#[inline(never)]
fn lacks_authority_to_check(text: &[u8], parts: &Components) -> bool {
    match parts.scheme(text) {
        // The first segment of a path must follow a slash, since the loop runs over slashes.
        None => matches!(parts.path(text), [] | [b'/', ..]),
        // A scheme without segments and without special rules in browsers.
        Some(scheme) => {
            let facts = scheme_facts(scheme);
            facts.is_some_and(|facts| !facts.dns_host && !facts.empty_path_is_root)
        }
    }
}

#[inline(never)]
fn port_is_quiet(text: &[u8], parts: &Components) -> bool {
    let digits = &text[parts.host_end as usize + 1..parts.path_start as usize];
    port::warning(parts.scheme(text), digits).is_none()
}

#[inline(always)]
fn is_file_without_host(text: &[u8], parts: &Components) -> bool {
    parts.path_start == parts.authority_start
        && text.get(..7).is_some_and(|head| head.eq_ignore_ascii_case(b"file://"))
}

/// The bytes of a block that need a closer look, one mask for each reason.
#[derive(Clone, Copy, Debug)]
struct Looks {
    /// Triplets that may be acted upon or misread.
    triplets: u64,
    /// Slashes of the path followed by a dot.
    dots: u64,
    /// Slashes of the path followed by a possible device name.
    devices: u64,
    /// `=` preceded by a possible name of a secret.
    secrets: u64,
    /// The first of two dots after the path.
    two_dots: u64,
    /// Where a character reference may end.
    semicolons: u64,
}

impl Looks {
    #[inline(always)]
    fn any(&self) -> bool {
        self.triplets | self.dots | self.devices | self.secrets | self.two_dots | self.semicolons
            != 0
    }
}

/// Whether no rule reports path, query and fragment.
#[inline(always)]
fn rest_is_quiet<I: Isa>(isa: I, record: Record<'_>, parts: &Components) -> bool {
    let text = record.bytes();
    let (path_start, path_end) = (parts.path_start as usize, parts.path_end as usize);
    // A path that does not begin with `/` has no segments that a rule checks
    // (`lacks_authority_to_check`).
    let has_segments = path_start != path_end && text[path_start] == b'/';
    // Whether something may be masked, which is looked for in the whole record; and whether if something is encoded.
    let (mut may_hold_secret, mut is_encoded) = (false, false);
    // The dot segments of the path have been followed, and stay below the root.
    let mut dots_are_fine = false;
    for at in (path_start / BLOCK * BLOCK..text.len()).step_by(BLOCK) {
        let (block, next) = (record.block(at), record.block(at + 1));
        let inside = low_bits(text.len() - at) & !low_bits(path_start.saturating_sub(at));
        let in_path = inside & low_bits(path_end.saturating_sub(at));
        let slashes = if has_segments { isa.equal(block, b'/') & in_path } else { 0 };
        let dots_next = isa.equal(next, b'.');
        let percents = isa.equal(block, b'%') & inside;
        let looks = Looks {
            triplets: doubtful(record, at, percents, in_path),
            dots: slashes & dots_next,
            devices: slashes & before_devices(isa, record, at),
            secrets: secret_separators(text, at, isa.equal(block, b'=') & inside),
            two_dots: isa.equal(block, b'.') & dots_next & inside & !in_path,
            semicolons: isa.equal(block, b';') & inside,
        };
        if looks.any() && !looks_are_quiet(text, at, looks, parts, &mut dots_are_fine) {
            return false;
        }
        let marks = isa.members(block, &MARKS) & inside;
        is_encoded |= percents != 0;
        let tokens = token_beginnings(isa, [block, record.block(at + 1), record.block(at + 2)]);
        may_hold_secret |=
            marks != 0 || has_name(text, at, looks.secrets) || has_token(text, at, tokens & inside);
    }
    let is_ruled_out = match is_encoded {
        true => !may_hold_secret && holds_no_secret(isa, record),
        false => !may_hold_secret,
    };
    is_ruled_out || !redact::holds_secret(text)
}

/// Whether the name of a secret may end before one of `separators`, bits of the block at byte `at`, if nothing is encoded.
#[inline(always)]
fn has_name(text: &[u8], at: usize, separators: u64) -> bool {
    Bits(separators).any(|bit| secret::may_end_name(text, at + bit as usize, b"&;?#="))
}

/// Whether a token begins at one of `beginnings`, bits of the block at byte `at`.
#[inline(always)]
fn has_token(text: &[u8], at: usize, beginnings: u64) -> bool {
    Bits(beginnings).any(|bit| shape::end_of(text, at + bit as usize).is_some())
}

/// Those of the triplets at `percents`, bits of the block at byte `at`, that are not obviously free
/// text; the bits of `in_path` are those of a path.
#[inline(always)]
fn doubtful(record: Record<'_>, at: usize, percents: u64, in_path: u64) -> u64 {
    // Bytes that are suspicious in a path, and in a query.
    static IS_DOUBTFUL: [[bool; 2]; 256] = {
        let (path, query) = (DOUBTFUL.or(UNRESERVED).table(), DOUBTFUL.table());
        let mut table = [[false; 2]; 256];
        let mut byte = 0;
        while byte < 256 {
            let begins_overlong = matches!(byte, 0xC0 | 0xC1 | 0xE0 | 0xF0);
            table[byte] = [path[byte] | begins_overlong, query[byte] | begins_overlong];
            byte += 1;
        }
        table
    };
    const DOUBTFUL: ByteClass = ByteClass::range(0, 0x1F).or(ByteClass::of(b"\x7F%/\\."));
    let (mut path, mut query) = (0, 0);
    for bit in Bits(percents) {
        let byte = fast::decode(record, at + bit as usize);
        let [of_path, of_query] = IS_DOUBTFUL[usize::from(byte)];
        path |= u64::from(of_path) << bit;
        query |= u64::from(of_query) << bit;
    }
    path & in_path | query & !in_path
}

/// The bytes of the block at byte `at` that are followed by the first three letters of a device
/// name (or of some other words).
#[inline(always)]
fn before_devices<I: Isa>(isa: I, record: Record<'_>, at: usize) -> u64 {
    const fn letters(lower: &[u8], upper: &[u8]) -> NibbleTables {
        nibble_tables(ByteClass::of(lower).or(ByteClass::of(upper)))
    }
    // con, prn, aux, nul, com, lpt
    static FIRST: NibbleTables = letters(b"cpanl", b"CPANL");
    static SECOND: NibbleTables = letters(b"orup", b"ORUP");
    static THIRD: NibbleTables = letters(b"nxlmt", b"NXLMT");
    isa.members(record.block(at + 1), &FIRST)
        & isa.members(record.block(at + 2), &SECOND)
        & isa.members(record.block(at + 3), &THIRD)
}

/// Those of the `=` at `equals`, bits of the block at byte `at`, before which the name of a secret
/// may end.
#[inline(always)]
fn secret_separators(text: &[u8], at: usize, equals: u64) -> u64 {
    let mut secrets = 0;
    for bit in Bits(equals) {
        secrets |= u64::from(secret::may_be_secret(text, at + bit as usize)) << bit;
    }
    secrets
}

/// Whether the bytes of the block at `at` that are set in `looks` need no report.
#[inline(never)]
fn looks_are_quiet(
    text: &[u8],
    at: usize,
    looks: Looks,
    parts: &Components,
    dots_are_fine: &mut bool,
) -> bool {
    let (path_start, path_end) = (parts.path_start as usize, parts.path_end as usize);
    let places = |mask: u64| Bits(mask).map(|bit| at + bit as usize);
    looks.two_dots == 0
        && places(looks.dots).all(|slash| {
            let path = &text[path_start..path_end];
            slash + 1 >= path_end || dot_is_quiet(path, slash + 1 - path_start, dots_are_fine)
        })
        && places(looks.secrets)
            .all(|equals| !secret::follows_secret_name(text, equals, equals < path_end))
        && places(looks.devices).all(|slash| !path::begins_with_device(&text[slash + 1..path_end]))
        && places(looks.triplets).all(|at| triplet_is_quiet(text, at, parts))
        && !places(looks.semicolons).any(|at| ends_reference(text, at))
}

/// Whether a character reference may end at `at`, where a semicolon is.
fn ends_reference(text: &[u8], at: usize) -> bool {
    /// The bytes of the longest reference.
    const LONGEST: usize = 34;
    memchr::memrchr(b'&', &text[at.saturating_sub(LONGEST)..at]).is_some()
}

/// Whether the dot at `at`, the first byte of a segment of `path`, needs no report: it is part of a
/// name, or of a dot segment below the root. `dots_are_fine` is set once all dot segments have been
/// followed.
fn dot_is_quiet(path: &[u8], at: usize, dots_are_fine: &mut bool) -> bool {
    match path[at + 1..] {
        [] | [b'/', ..] => true,
        [b'.'] | [b'.', b'/', ..] => {
            *dots_are_fine = *dots_are_fine || path::stays_below_root(path);
            *dots_are_fine
        }
        [b'.', ..] => false,
        // `/.well-known` is a name; triplets are checked separately.
        _ => true,
    }
}

/// Whether the triplet at `at` is free text: its byte is neither acted upon nor misread.
fn triplet_is_quiet(text: &[u8], at: usize, parts: &Components) -> bool {
    let (path_start, path_end) = (parts.path_start as usize, parts.path_end as usize);
    let Some(byte) = triplet(text, at) else { return false };
    let second = || triplet(text, at + 3).unwrap_or(0);
    match byte {
        0x00..=0x1F | 0x7F | b'%' | 0xC0 | 0xC1 => false,
        0xE0 => second() >= 0xA0,
        0xF0 => second() >= 0x90,
        // In a query it may end a `..`.
        b'/' | b'\\' => at >= path_end && text[at - 1] != b'.',
        byte if !UNRESERVED.has(byte) => true,
        // It may be part of a device name, or of two dots. (Names of secrets are found by their
        // `=`.)
        byte if at >= path_end => byte != b'.',
        _ => {
            let start = memchr::memrchr(b'/', &text[path_start..at]);
            let start = start.map_or(path_start, |slash| path_start + slash + 1);
            let end = memchr::memchr(b'/', &text[at..path_end]).map_or(path_end, |end| at + end);
            // A long segment may hold many triplets, each of which would scan it.
            end - start <= LONG_SEGMENT && path::segment_is_quiet(&text[start..end])
        }
    }
}
