//! Paths as file systems see them (RFC 3986 section 7.3): ways up, and names of devices.

use super::{Detail, Found, Rule, decoded};

/// Judges the segments of `path`, which starts at byte `start` of the record.
pub(super) fn judge(path: &[u8], start: usize, found: &mut Found<'_>) {
    let mut at = 0;
    // Segments that a `..` could still take away.
    let mut depth = 0usize;
    let from_root = path.starts_with(b"/");
    for (i, segment) in path.split(|&byte| byte == b'/').enumerate() {
        let range = start + at..start + at + segment.len();
        at += segment.len() + 1;
        if i == 0 && from_root {
            continue;
        }
        let is_raw = !segment.contains(&b'%');
        let once = if is_raw { segment.into() } else { std::borrow::Cow::Owned(decoded(segment)) };
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

/// Whether a segment, decoded once, goes up when a server decodes it, splits it, or cuts its
/// parameters off (`..;a`).
fn goes_up(once: &[u8], was_encoded: bool) -> bool {
    let is_up = |text: &[u8]| {
        text.split(|byte| b"/\\".contains(byte))
            .any(|piece| piece == b".." || piece.starts_with(b"..;"))
    };
    is_up(once) || was_encoded && once.contains(&b'%') && is_up(&decoded(once))
}

/// Judges the values of the parameters of `query`, which starts at byte `start` of the record.
pub(super) fn judge_query(query: &[u8], start: usize, found: &mut Found<'_>) {
    let mut at = 0;
    for parameter in query.split(|byte| b"&;".contains(byte)) {
        let value = memchr::memchr(b'=', parameter).map_or(0, |equals| equals + 1);
        let once = decoded(&parameter[value..]);
        if once.windows(2).any(|two| two == b"..") || once.contains(&b'%') {
            let is_up = |text: &[u8]| {
                let mut pieces = text.split(|byte| b"/\\".contains(byte));
                // A mere `..` is no path.
                text.len() > 2 && pieces.any(|piece| piece == b"..")
            };
            if is_up(&once) || is_up(&decoded(&once)) {
                let range = start + at + value..start + at + parameter.len();
                found.add(Rule::TraversalQuery, range, Detail::None);
            }
        }
        at += parameter.len() + 1;
    }
}

/// Whether a segment that is written with triplets, or begins with a dot, is of no interest. `segment` may hold
/// no encoded slash or backslash.
pub(super) fn segment_is_quiet(segment: &[u8]) -> bool {
    let once = decoded(segment);
    // A parameter may have a secret's name.
    !once.starts_with(b".") && !once.contains(&b';') && !is_device(&once)
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

/// The names that Windows gives to devices, with any extension, and in any folder.
const DEVICES: [&[u8]; 6] = [b"con", b"prn", b"aux", b"nul", b"conin$", b"conout$"];

/// Whether `segment` names a device: one of [`DEVICES`], `COM` or `LPT` and a digit, in any case and
/// whatever follows a `.` or `:`; or three dots, which the RFC names beside them.
pub(super) fn is_device(segment: &[u8]) -> bool {
    // Nearly every name is told by its first byte.
    if !matches!(
        segment.first(),
        Some(b'a' | b'c' | b'l' | b'n' | b'p' | b'A' | b'C' | b'L' | b'N' | b'P' | b'.')
    ) {
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
