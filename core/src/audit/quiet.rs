//! The fast path of the audit: finds out by marks which rules a record needs.
//!
//! [`screen`] errs on the safe side only: where it returns `None`, [`super::audit`] finds nothing, and rules that `Looks` leaves
//! out find nothing either (the tests compare them on every backend). Most records of most lists are quiet, and cost little more
//! than parsing.

use super::exact::by_appendix_b;
use super::looks::{Hint, Looks};
use super::{Marks, address, host, names, path, port, redact, shape, triplet};
use crate::chunk::Span;
use crate::grammar::class::{SCHEME, UNRESERVED};
use crate::grammar::scheme_facts;
use crate::index::Record;
use crate::simd::Isa;
use crate::uri::fast::Plain;
use crate::uri::{Components, fast, parse};

#[cfg(test)]
mod tests;

/// Longer segments are not examined here if they hold needless triplets.
const LONG_SEGMENT: usize = 256;

/// `None` if no rule reports anything in `record`, which is not empty and follows those that `marks` was asked for before.
#[inline(always)]
pub fn screen<I: Isa>(isa: I, record: Record<'_>, marks: &mut Marks) -> Option<Hint> {
    let Span { start, .. } = record.span();
    let marks = marks.within(record.span());
    let text = record.bytes();
    let has_marks = !marks.iter().all(|&mark| begins_word(text, (mark - start) as usize));
    let (parts, is_ordinary) = match fast::plain(isa, record) {
        Some(plain) => {
            let name = plain.scheme_end + 3..plain.host_end;
            let is_ordinary =
                is_own_port(text, &plain) && host::is_ordinary_in(isa, record.block(0), name);
            if is_ordinary && !has_marks {
                return None;
            }
            (plain.components(isa, record), is_ordinary)
        }
        None => match fast::components_by_scan(isa, record) {
            Some(parts) => (parts, is_ordinary_head(isa, record, &parts)),
            None => return screen_others(text, start, marks),
        },
    };
    let mut looks = if is_ordinary { Looks::NONE } else { of_head(text, &parts, true) };
    let mut names = 0;
    if has_marks {
        let of_marks = of_marks(text, start, marks, &parts);
        (looks, names) = (looks.or(of_marks.0), of_marks.1);
    }
    (looks != Looks::NONE).then_some(Hint { parsed: Some((parts, None)), looks, names })
}

/// Whether the mark at `at` is a slash before a word that begins like a device, as `/company` does: nothing to look at.
#[inline(always)]
fn begins_word(text: &[u8], at: usize) -> bool {
    text[at] == b'/' && path::is_word(&text[at + 1..])
}

/// Whether the record has no port, an empty one, or that of its scheme as everybody writes it.
#[inline(always)]
fn is_own_port(text: &[u8], plain: &Plain) -> bool {
    let own: &[u8] = if plain.scheme_end == "https".len() { b":443" } else { b":80" };
    let port = &text[plain.host_end..plain.path_start];
    port.len() < 2 || port == own
}

/// [`screen`] for what the fast paths do not handle.
#[inline(never)]
fn screen_others(text: &[u8], start: u32, marks: &[u32]) -> Option<Hint> {
    let (parts, error) = match parse(text) {
        Ok(parts) => (parts, None),
        Err(error) => (by_appendix_b(text), Some(error)),
    };
    // Of what is invalid, a percent sign may encode nothing, or a part of what another one encodes.
    let is_odd = |at: usize| text[at] == b'\\' || triplet(text, at).is_none();
    let (looks, names) = if error.is_some() && memchr::memchr2_iter(b'%', b'\\', text).any(is_odd) {
        (Looks::ALL, usize::MAX)
    } else {
        let (looks, names) = of_marks(text, start, marks, &parts);
        (of_head(text, &parts, error.is_none()).or(looks), names)
    };
    let is_quiet = looks == Looks::NONE && error.is_none();
    (!is_quiet).then_some(Hint { parsed: Some((parts, error)), looks, names })
}

/// Whether a valid record has an authority of an ordinary name, without userinfo, and without a port or with a harmless one.
#[inline(always)]
fn is_ordinary_head<I: Isa>(isa: I, record: Record<'_>, parts: &Components) -> bool {
    let name = parts.host_start as usize..parts.host_end as usize;
    parts.authority_start != 0
        && parts.host_start == parts.authority_start
        && host::is_ordinary_in(isa, record.block(0), name)
        && (parts.host_end == parts.path_start || port_is_quiet(record.bytes(), parts))
}

/// What has to be looked at because of the scheme, the authority, and a path without a slash at its beginning.
#[inline(never)]
fn of_head(text: &[u8], parts: &Components, is_valid: bool) -> Looks {
    let scheme = parts.scheme(text);
    let Some(name) = parts.host(text) else {
        let facts = scheme.and_then(scheme_facts);
        let is_opaque = facts.is_some_and(|facts| !facts.dns_host && !facts.empty_path_is_root);
        // The marks of segments are slashes.
        let has_bare_segment = !is_opaque && !matches!(parts.path(text), [] | [b'/', ..]);
        let is_special = scheme.is_some_and(host::is_special);
        return Looks::HEAD.when(is_special).or(Looks::PATH.when(has_bare_segment));
    };
    let is_quiet = parts.host_start == parts.authority_start
        && (host::is_ordinary(name) || is_valid && has_no_name(text, parts))
        && (parts.host_end == parts.path_start || port_is_quiet(text, parts));
    Looks::HEAD.when(!is_quiet)
}

fn port_is_quiet(text: &[u8], parts: &Components) -> bool {
    let digits = &text[parts.host_end as usize + 1..parts.path_start as usize];
    port::warning(parts.scheme(text), digits).is_none()
}

/// Whether the host is a public IPv4 address, or that of a file, which has none.
fn has_no_name(text: &[u8], parts: &Components) -> bool {
    parts.host(text).is_some_and(address::is_public_ipv4)
        || parts.path_start == parts.authority_start
            && text.get(..7).is_some_and(|head| head.eq_ignore_ascii_case(b"file://"))
}

/// What has to be looked at because of `marks`, which are those of `text` and count from `start` bytes before it; and how many of them
/// end a name.
#[inline(never)]
fn of_marks(text: &[u8], start: u32, marks: &[u32], parts: &Components) -> (Looks, usize) {
    let (path_start, path_end) = (parts.path_start as usize, parts.path_end as usize);
    let path = &text[path_start..path_end];
    // The dot segments of the path have been followed, and stay below the root.
    let mut dots_are_fine = false;
    let (mut looks, mut names, mut is_encoded) = (Looks::NONE, 0, None);
    for at in marks.iter().map(|&mark| (mark - start) as usize) {
        let is_in_path = (path_start..path_end).contains(&at);
        looks = looks.or(match text[at] {
            b'%' => of_triplet(text, at, parts, looks),
            b'=' => {
                names += 1;
                let is_parameter = names::follows_secret_name(text, at, at < path_end);
                Looks::NAMES.or(Looks::PARAMETERS.when(is_parameter))
            }
            b'/' => {
                let is_device = || path::begins_with_device(&path[at + 1 - path_start..]);
                Looks::PATH.when(is_in_path && is_device())
            }
            b'.' if is_in_path => {
                let is_quiet = looks.has(Looks::PATH)
                    || dots_are_quiet(path, at - path_start, &mut dots_are_fine);
                Looks::PATH.when(!is_quiet)
            }
            b'.' => Looks::TRAVERSAL.when(at >= path_end),
            b';' => Looks::ENTITIES,
            // What is known is not asked for again: some of the questions scan all that precedes.
            _ if looks.has(Looks::SECRETS) => Looks::NONE,
            b'@' => Looks::SECRETS.when(may_end_userinfo(text, at, parts)),
            b'"' | b'\'' => Looks::SECRETS,
            _ => {
                let is_encoded = *is_encoded.get_or_insert_with(|| text.contains(&b'%'));
                Looks::SECRETS.when(shape::may_begin_at(text, at, is_encoded))
            }
        });
    }
    // Most of what looks like that is something else.
    let masked = Looks::SECRETS.or(Looks::NAMES);
    let is_empty =
        looks.without(masked) == Looks::NONE && looks.has(masked) && !redact::holds_secret(text);
    (if is_empty { Looks::NONE } else { looks }, names)
}

/// Whether a userinfo may end with the `@` at `at`: it follows slashes or the colon of a scheme, perhaps encoded.
fn may_end_userinfo(text: &[u8], at: usize, parts: &Components) -> bool {
    /// More is not looked at here.
    const LONGEST: usize = 256;
    /// Schemes are shorter; each `@` would look at all of a longer one.
    const LONGEST_SCHEME: usize = 32;
    // Of an authority, the end is looked at, too: after an empty one or an empty port, a slash is the second one.
    let tail = if parts.authority_start > 0 { 2 } else { 0 };
    let before = text.get(parts.path_start as usize - tail..at);
    let is_in_authority = at < parts.path_start as usize;
    let Some(before) = before.filter(|before| !is_in_authority && before.len() <= LONGEST) else {
        return true;
    };
    // What precedes the first colon of an invalid record may be more than a scheme: `http%3A%2F%2Fu:p@h`.
    let scheme = parts.scheme(text);
    let is_scheme =
        |name: &[u8]| name.len() <= LONGEST_SCHEME && name.iter().all(|&byte| SCHEME.has(byte));
    if !scheme.is_none_or(is_scheme) {
        return true;
    }
    // What is not a scheme may end with one.
    let ends_special = |name: &[u8]| (0..name.len()).any(|at| host::is_special(&name[at..]));
    let is_after_scheme = parts.authority_start == 0
        && scheme.is_some_and(|name| before.starts_with(b"/") || ends_special(name));
    is_after_scheme
        || before.iter().any(|byte| b":%\\".contains(byte))
        || before.windows(2).any(|two| two == b"//")
}

/// Whether the two dots at `at` of `path` need no report: they begin no segment, or are a dot segment below the root. `dots_are_fine`
/// is set once all dot segments have been followed.
fn dots_are_quiet(path: &[u8], at: usize, dots_are_fine: &mut bool) -> bool {
    // The second dot may be that of the next record.
    let (true, Some(rest)) = (path[..at].ends_with(b"/"), path.get(at + 2..)) else { return true };
    let is_segment = matches!(rest, [] | [b'/', ..]);
    *dots_are_fine = *dots_are_fine || is_segment && path::stays_below_root(path);
    is_segment && *dots_are_fine
}

/// What has to be looked at because of the triplet at `at`, besides `known`.
fn of_triplet(text: &[u8], at: usize, parts: &Components, known: Looks) -> Looks {
    let (path_start, path_end) = (parts.path_start as usize, parts.path_end as usize);
    let Some(byte) = triplet(text, at) else { return Looks::ALL };
    let second = || triplet(text, at + 3).unwrap_or(0);
    let is_acted_upon = match byte {
        0x00..=0x1F | 0x7F | 0xC0 | 0xC1 => true,
        b'%' => redact::encodes_twice(text, at),
        0xE0 => second() < 0xA0,
        0xF0 => second() < 0x90,
        _ => false,
    };
    let of_component = if at < path_start || at >= parts.query_end as usize {
        // The rules of the authority look at all of it, and none at the triplets of a fragment.
        Looks::NONE
    } else if at >= path_end {
        // What follows in a value may be part of two dots.
        Looks::ENCODED.when(is_acted_upon).or(Looks::TRAVERSAL.when(b".%".contains(&byte)))
    } else if is_acted_upon || b"/\\".contains(&byte) {
        Looks::ENCODED.or(Looks::PATH)
    } else {
        let is_needless = UNRESERVED.has(byte) && !known.has(Looks::PATH);
        Looks::PATH.when(is_needless && !segment_is_quiet(text, at, parts))
    };
    of_component.or(Looks::SECRETS.when(redact::is_of_secret(text, at, byte)))
}

/// Whether the segment with the needless triplet at `at` is neither a dot segment nor the name of a device.
fn segment_is_quiet(text: &[u8], at: usize, parts: &Components) -> bool {
    let (path_start, path_end) = (parts.path_start as usize, parts.path_end as usize);
    let start = memchr::memrchr(b'/', &text[path_start..at]);
    let start = start.map_or(path_start, |slash| path_start + slash + 1);
    let end = memchr::memchr(b'/', &text[at..path_end]).map_or(path_end, |end| at + end);
    // A long segment may hold many triplets, each of which would scan it.
    end - start <= LONG_SEGMENT && path::segment_is_quiet(&text[start..end])
}
