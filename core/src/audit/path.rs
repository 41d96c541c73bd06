//! Paths as file systems read them (RFC 3986 section 7.3): path traversal, and device names.

use std::borrow::Cow;

use super::{Detail, Found, Rule, decoded, triplet};

/// Checks the segments of `path`, which starts at byte `start` of the record.
pub(super) fn check(path: &[u8], start: usize, found: &mut Found<'_>) {
    let mut at = 0;
    let has_triplets = memchr::memchr(b'%', path).is_some();
    // It is part of a text that is not a URI-reference.
    let has_backslash = memchr::memchr(b'\\', path).is_some();
    // Number of segments that a `..` could still remove.
    let mut depth = 0usize;
    let from_root = path.starts_with(b"/");
    for end in memchr::memchr_iter(b'/', path).chain([path.len()]) {
        let segment = &path[at..end];
        let range = start + at..start + end;
        at = end + 1;
        if end == 0 && from_root {
            continue;
        }
        let is_raw = !has_triplets || !segment.contains(&b'%');
        if is_raw && !has_backslash && !may_be_special(segment) {
            depth += 1;
            continue;
        }
        let once = if is_raw { Cow::Borrowed(segment) } else { Cow::Owned(decoded(segment)) };
        match &once[..] {
            b"." => {}
            b".." if depth == 0 && from_root => {
                found.add(Rule::AboveRoot, range.clone(), Detail::None);
            }
            b".." => depth = depth.saturating_sub(1),
            _ => depth += 1,
        }
        if matches!(&once[..], b"." | b"..") {
            if !is_raw {
                found.add(Rule::EncodedDot, range, Detail::None);
            }
            continue;
        }
        if goes_up(&once, !is_raw) {
            found.add(Rule::Traversal, range.clone(), Detail::None);
        }
        if is_device(&once) {
            found.add(Rule::DeviceName, range, Detail::None);
        }
    }
}

/// Whether a segment, decoded once, goes up if a server decodes it, splits it, or drops its
/// parameters (`..;a`).
fn goes_up(once: &[u8], was_encoded: bool) -> bool {
    let is_up = |text: &[u8]| {
        memchr::memchr(b'.', text).is_some()
            && text
                .split(|byte| b"/\\".contains(byte))
                .any(|piece| piece == b".." || piece.starts_with(b"..;"))
    };
    is_up(once) || was_encoded && once.contains(&b'%') && is_up(&decoded(once))
}

/// Checks the values of the parameters of `query`, which starts at byte `start` of the record.
pub(super) fn check_query(query: &[u8], start: usize, found: &mut Found<'_>) {
    if !may_go_up(query) {
        return;
    }
    let mut at = 0;
    for parameter in query.split(|byte| b"&;".contains(byte)) {
        let value = memchr::memchr(b'=', parameter).map_or(0, |equals| equals + 1);
        let once = decoded(&parameter[value..]);
        if (once.windows(2).any(|two| two == b"..") || once.contains(&b'%'))
            && let Some(is_above) = ascent(&once).max(ascent(&decoded(&once)))
        {
            let range = start + at + value..start + at + parameter.len();
            let severity = Rule::TraversalQuery.severity();
            let is_known = !is_above && !once.contains(&b'%');
            let severity = if is_known { severity.lower() } else { severity };
            found.add_as(Rule::TraversalQuery, severity, range, Detail::None);
        }
        at += parameter.len() + 1;
    }
}

/// Whether the path `text` goes up, and perhaps above the folder that it begins in: all that is not plainly a relative path of names may
/// be read in other ways.
fn ascent(text: &[u8]) -> Option<bool> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte);
    let (mut depth, mut is_above) = (0usize, !text.iter().all(is_plain) || text.starts_with(b"/"));
    let mut goes_up = false;
    for piece in text.split(|byte| b"/\\".contains(byte)) {
        match piece {
            b".." => {
                (goes_up, is_above) = (true, is_above || depth == 0);
                depth = depth.saturating_sub(1);
            }
            b"" | b"." => {}
            _ => depth += 1,
        }
    }
    // A mere `..` is not a path.
    (goes_up && text.len() > 2).then_some(is_above)
}

/// Whether `query` holds two dots in a row, or might after decoding once or twice.
fn may_go_up(query: &[u8]) -> bool {
    let is_dotted = |at: usize| matches!(triplet(query, at), Some(b'.' | b'%'));
    memchr::memchr_iter(b'%', query).any(is_dotted)
        || memchr::memchr_iter(b'.', query).any(|at| query.get(at + 1) == Some(&b'.'))
}

/// Whether a segment with triplets needs no report: neither dots, nor a device name. `segment` may
/// hold no encoded slash or backslash.
pub(super) fn segment_is_quiet(segment: &[u8]) -> bool {
    match decoded_head(segment) {
        [b'.', ..] => false,
        head if are_of_device(head) => !is_device(&decoded(segment)),
        _ => true,
    }
}

/// The first three bytes of `segment`, decoded; zeros after its end.
fn decoded_head(segment: &[u8]) -> [u8; 3] {
    let mut at = 0;
    [(); 3].map(|()| {
        let encoded = triplet(segment, at);
        let byte = encoded.or(segment.get(at).copied()).unwrap_or(0);
        at += if encoded.is_some() { 3 } else { 1 };
        byte
    })
}

/// Whether the first segment of `rest` is a device name; its first three bytes are not encoded.
pub(super) fn begins_with_device(rest: &[u8]) -> bool {
    if !begins_like_device(rest) || is_word(rest) {
        return false;
    }
    let end = memchr::memchr(b'/', rest).unwrap_or(rest.len());
    is_device(&decoded(&rest[..end]))
}

/// Whether `rest`, which begins with three letters of a device, is a word with these letters: most names continue with a letter, as
/// `contact` and `company` do. So do `conin$` and `conout$`.
#[inline(always)]
pub(super) fn is_word(rest: &[u8]) -> bool {
    let Some(fourth) = rest.get(3) else { return false };
    fourth.is_ascii_alphabetic() & !matches!(fourth | 0x20, b'i' | b'o')
}

/// Whether `rest` begins with three letters of a device.
pub(super) fn begins_like_device(rest: &[u8]) -> bool {
    rest.first_chunk().is_some_and(|&head| are_of_device(head))
}

/// Whether a device name may begin with these three letters, in any case.
fn are_of_device(head: [u8; 3]) -> bool {
    const HEADS: [[u8; 3]; 6] = [*b"con", *b"prn", *b"aux", *b"nul", *b"com", *b"lpt"];
    let lower = head.map(|byte| byte | 0x20);
    HEADS.iter().fold(false, |is_one, known| is_one | (*known == lower))
}

/// Whether the dot segments of `path`, none of them encoded, stay below the root.
pub(super) fn stays_below_root(path: &[u8]) -> bool {
    let mut depth = 0usize;
    path.split(|&byte| byte == b'/').skip(1).all(|segment| {
        match segment {
            b".." if depth == 0 => return false,
            b".." => depth -= 1,
            b"." => {}
            _ => depth += 1,
        }
        true
    })
}

/// The device names of Windows, with any extension, and in any folder.
const DEVICES: [&[u8]; 6] = [b"con", b"prn", b"aux", b"nul", b"conin$", b"conout$"];

/// Whether `segment`, by its first byte, may be dots or a device name. Few segments may.
fn may_be_special(segment: &[u8]) -> bool {
    matches!(
        segment.first(),
        Some(b'a' | b'c' | b'l' | b'n' | b'p' | b'A' | b'C' | b'L' | b'N' | b'P' | b'.')
    )
}

/// Whether `segment` is a device name: one of [`DEVICES`], or `COM` or `LPT` and a digit, in any
/// case and whatever follows a `.` or `:`; or three dots, which the RFC lists with them.
pub(super) fn is_device(segment: &[u8]) -> bool {
    if !may_be_special(segment) {
        return false;
    }
    let end = segment.iter().position(|byte| b".:;".contains(byte)).unwrap_or(segment.len());
    let name = segment[..end].trim_ascii_end();
    let numbered = |device: &[u8]| {
        name.len() == 4 && name[..3].eq_ignore_ascii_case(device) && name[3].is_ascii_digit()
    };
    segment == b"..."
        || DEVICES.iter().any(|device| name.eq_ignore_ascii_case(device))
        || numbered(b"com")
        || numbered(b"lpt")
}
