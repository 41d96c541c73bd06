//! The fast road of the audit: which records have nothing to find, by the masks of the index.
//!
//! [`is_quiet`] is wrong on the safe side only: where it says yes, [`super::audit`] finds nothing
//! (the tests compare the two on every backend). Most records of most lists are quiet, and cost
//! little more than their parse.

use super::{decoded, host, path, port, secret, triplet};
use crate::grammar::class::UNRESERVED;
use crate::grammar::scheme_facts;
use crate::index::{Bits, Record, low_bits};
use crate::simd::{BLOCK, Isa};
use crate::uri::{Components, fast};

/// A segment longer than that is not looked at here when it holds needless triplets.
const LONG_SEGMENT: usize = 256;

/// Whether no rule has anything to say of `record`, which is not empty.
#[inline(always)]
pub(crate) fn is_quiet<I: Isa>(isa: I, record: Record<'_>) -> bool {
    let Some(parts) = fast::components(isa, record) else { return false };
    let text = record.bytes();
    if !head_is_quiet(text, &parts) {
        return false;
    }
    let (path_start, path_end) = (parts.path_start as usize, parts.path_end as usize);
    let from_root = parts.path_start != parts.path_end && text[path_start] == b'/';
    let mut dot_before = 0;
    let mut known = Known::default();
    for at in (path_start / BLOCK * BLOCK..text.len()).step_by(BLOCK) {
        let summary = record.window(isa, at);
        let block = record.block(at);
        let behind_host = low_bits(text.len() - at) & !low_bits(path_start.saturating_sub(at));
        let in_path = behind_host & low_bits(path_end.saturating_sub(at));

        // Triplets, and dots that may begin a dot segment or a name of dots.
        let look = summary.look & behind_host;
        if look != 0 && !look_is_quiet(text, at, look, &parts, &mut known) {
            return false;
        }
        // Names of devices stand behind slashes; without a slash in front, the first one does not.
        if from_root
            && Bits(summary.slash & in_path)
                .any(|bit| may_be_device(record, at + bit as usize, path_end))
        {
            return false;
        }
        let equals = isa.equal(block, b'=') & behind_host;
        if Bits(equals).any(|bit| secret::may_be_secret(text, at + bit as usize))
            && !known.has_no_secrets(text, &parts)
        {
            return false;
        }
        // `..` in a query.
        let dots = isa.equal(block, b'.');
        if dots & (dots << 1 | dot_before) & behind_host & !in_path != 0 {
            return false;
        }
        dot_before = dots >> 63;
    }
    true
}

/// Whether scheme and authority are such that no rule is about them.
fn head_is_quiet(text: &[u8], parts: &Components) -> bool {
    if parts.authority_start != 0 {
        // No userinfo, an ordinary name, and a port of no interest, if any.
        parts.host_start == parts.authority_start
            && (parts.host_end == parts.path_start || port_is_quiet(text, parts))
            && host::is_ordinary(&text[parts.host_start as usize..parts.host_end as usize])
            || is_file_without_host(text, parts)
    } else {
        // A scheme without segments, which browsers have no rules for.
        let facts = parts.scheme(text).and_then(scheme_facts);
        facts.is_some_and(|facts| !facts.dns_host && !facts.empty_path_is_root)
    }
}

#[inline(never)]
fn port_is_quiet(text: &[u8], parts: &Components) -> bool {
    let digits = &text[parts.host_end as usize + 1..parts.path_start as usize];
    port::warning(parts.scheme(text), digits).is_none()
}

fn is_file_without_host(text: &[u8], parts: &Components) -> bool {
    parts.path_start == parts.authority_start
        && text.get(..7).is_some_and(|head| head.eq_ignore_ascii_case(b"file://"))
}

/// What has been found out about a whole record, which may not be asked once for each of its bytes.
#[derive(Default)]
struct Known {
    /// The dot segments of the path stay below the root.
    dots_are_fine: bool,
    /// No parameter has the name of a secret.
    has_no_secrets: bool,
}

impl Known {
    /// Whether no parameter of path, query and fragment is secret.
    #[inline(never)]
    fn has_no_secrets(&mut self, text: &[u8], parts: &Components) -> bool {
        use secret::{Part, each_parameter};
        if !self.has_no_secrets {
            let mut is_any = false;
            let mut note = |component, part| each_parameter(component, part, |_, _| is_any = true);
            note(parts.path(text), Part::Path);
            note(parts.query(text).unwrap_or_default(), Part::Query);
            note(parts.fragment(text).unwrap_or_default(), Part::Query);
            self.has_no_secrets = !is_any;
        }
        self.has_no_secrets
    }
}

/// Whether the bytes of the block at `at` whose bits are set in `look` are of no interest.
fn look_is_quiet(text: &[u8], at: usize, look: u64, parts: &Components, known: &mut Known) -> bool {
    Bits(look).all(|bit| byte_is_quiet(text, at + bit as usize, parts, known))
}

/// Whether the byte at `at`, a `%`, a `#` or a dot behind a slash, is of no interest.
#[inline]
fn byte_is_quiet(text: &[u8], at: usize, parts: &Components, known: &mut Known) -> bool {
    let (path_start, path_end) = (parts.path_start as usize, parts.path_end as usize);
    match text[at] {
        b'%' => triplet_is_quiet(text, at, parts, known),
        b'.' => {
            let path = &text[path_start..path_end];
            at >= path_end || dot_is_quiet(path, at - path_start, &mut known.dots_are_fine)
        }
        _ => true,
    }
}

/// Whether the dot at `at`, the first byte of a segment of `path`, is of no interest: that of a name, or
/// of a dot segment below the root. `dots_are_fine` is set once all of them have been followed.
fn dot_is_quiet(path: &[u8], at: usize, dots_are_fine: &mut bool) -> bool {
    match path[at + 1..] {
        [] | [b'/', ..] => true,
        [b'.'] | [b'.', b'/', ..] => {
            *dots_are_fine = *dots_are_fine || path::stays_below_root(path);
            *dots_are_fine
        }
        [b'.', ..] => false,
        // `/.well-known` is a name; what is encoded is looked at by itself.
        _ => true,
    }
}

/// Whether the triplet at `at` is free text: what it stands for is neither acted upon nor misread.
fn triplet_is_quiet(text: &[u8], at: usize, parts: &Components, known: &mut Known) -> bool {
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
        // A letter may be one of a device or of a parameter, a dot may be one of two.
        _ if at < path_end => {
            let start = memchr::memrchr(b'/', &text[path_start..at]);
            let start = start.map_or(path_start, |slash| path_start + slash + 1);
            let end = memchr::memchr(b'/', &text[at..path_end]).map_or(path_end, |end| at + end);
            // A long segment may hold many triplets, which would all ask for it.
            end - start <= LONG_SEGMENT && path::segment_is_quiet(&text[start..end])
        }
        b'.' => false,
        // In the value of a parameter it is of no interest, in a name if that is not a secret's.
        _ => {
            let before = text[path_end..at].iter().rev();
            before.take(32).find(|byte| b"&;?#=".contains(byte)) == Some(&b'=')
                || known.has_no_secrets(text, parts)
        }
    }
}

/// Whether a name of a device, or one that is written with triplets, may stand behind the slash at `slash`.
#[inline(always)]
fn may_be_device(record: Record<'_>, slash: usize, path_end: usize) -> bool {
    let start: &[u8; 4] = record.block(slash + 1).first_chunk().expect("4 of 64 bytes");
    let three = u32::from_le_bytes(*start) & 0x00FF_FFFF | 0x0020_2020;
    const fn name(text: &[u8; 3]) -> u32 {
        u32::from_le_bytes([text[0], text[1], text[2], 0])
    }
    const NAMES: [u32; 6] =
        [name(b"con"), name(b"prn"), name(b"aux"), name(b"nul"), name(b"com"), name(b"lpt")];
    let is_name = NAMES.iter().fold(false, |is_name, &name| is_name | (name == three));
    is_name && segment_is_device(&record.bytes()[slash + 1..path_end])
}

#[inline(never)]
fn segment_is_device(rest: &[u8]) -> bool {
    let end = memchr::memchr(b'/', rest).unwrap_or(rest.len());
    path::is_device(&decoded(&rest[..end]))
}
