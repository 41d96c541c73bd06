//! Removal of session ids for `surt:ia`. All text is in lower case here.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};
use memchr::{memchr, memrchr};

/// Names; each `=` is followed by [`NAMED_LEN`] letters and digits.
const NAMED: [&[u8]; 3] = [b"jsessionid=", b"phpsessid=", b"sid="];
const NAMED_LEN: usize = 32;
const ASP: &[u8] = b"aspsessionid";

/// Length of the shortest name with its value.
const SHORTEST: usize = NAMED_LEN + 4;

static SID: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"sid="));
static SESSION_ID: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"sessionid"));

/// Removes the last session id of each kind, and the `&` after it, from the query from `start` on.
///
/// The front of a parameter that ends in one stays, and so does the `&` before one at the end of
/// the query.
pub(super) fn drop_params(start: usize, out: &mut Vec<u8>) {
    let query = &out[start..];
    if query.len() >= SHORTEST && [&*SID, &*SESSION_ID].iter().any(|it| it.find(query).is_some()) {
        for name in NAMED {
            drop_last(start, out, |param| named_len(param, name));
        }
        drop_last(start, out, asp_len);
    }
    drop_cold_fusion(start, out);
}

/// Removes the end of the last parameter for which `len_of` returns the length of such an end.
fn drop_last(start: usize, out: &mut Vec<u8>, len_of: impl Fn(&[u8]) -> Option<usize>) {
    let mut end = out.len();
    loop {
        let from = memrchr(b'&', &out[start..end]).map_or(start, |at| start + at + 1);
        if let Some(len) = len_of(&out[from..end]) {
            let after = (end + 1).min(out.len());
            out.drain(end - len..after);
            return;
        }
        if from == start {
            return;
        }
        end = from - 1;
    }
}

fn is_alphanumeric(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9')
}

/// The length of `name` and its value at the end of `param`.
fn named_len(param: &[u8], name: &[u8]) -> Option<usize> {
    let (front, value) = param.split_at_checked(param.len().checked_sub(NAMED_LEN)?)?;
    let is_one = front.ends_with(name) && value.iter().all(|&byte| is_alphanumeric(byte));
    is_one.then_some(name.len() + NAMED_LEN)
}

/// The length of `aspsessionid`, 8 letters, `=` and 24 letters at the end of `param`.
fn asp_len(param: &[u8]) -> Option<usize> {
    const TAIL: usize = 8 + 1 + 24;
    let (front, tail) = param.split_at_checked(param.len().checked_sub(TAIL)?)?;
    let has_shape = tail.iter().enumerate().all(|(i, &byte)| match i {
        8 => byte == b'=',
        _ => byte.is_ascii_lowercase(),
    });
    (front.ends_with(ASP) && has_shape).then_some(ASP.len() + TAIL)
}

/// Removes the last `cfid=...&cftoken=...`.
fn drop_cold_fusion(start: usize, out: &mut Vec<u8>) {
    const SECOND: &[u8] = b"&cftoken=";
    let mut rest = out.len();
    while let Some(at) = memrchr(b'&', &out[start..rest]) {
        let second = start + at;
        if !out[second..].starts_with(SECOND) {
            rest = second;
            continue;
        }
        let value = second + SECOND.len();
        let end = memchr(b'&', &out[value..]).map_or(out.len(), |at| value + at);
        let param = memrchr(b'&', &out[start..second]).map_or(start, |at| start + at + 1);
        // A value has at least one byte.
        let first = memmem::rfind(&out[param..second.saturating_sub(1).max(param)], b"cfid=");
        if let Some(first) = first.filter(|_| end > value) {
            let after = (end + 1).min(out.len());
            out.drain(param + first..after);
            return;
        }
        rest = second;
    }
}

/// Removes the last segment of the path from `start` on that is a session id of ASP.NET, first of
/// the form `(s(...))`, then of the form `(...)`, if a name with `.aspx` follows.
pub(super) fn drop_segments(start: usize, out: &mut Vec<u8>) {
    if memchr(b'(', &out[start..]).is_some() && memmem::find(&out[start..], b".aspx").is_some() {
        drop_segment(start, out, is_lettered);
        drop_segment(start, out, is_bare);
    }
}

fn drop_segment(start: usize, out: &mut Vec<u8>, is_session: fn(&[u8]) -> bool) {
    const PAGE: &[u8] = b".aspx";
    let path = &out[start..];
    let mut end = path.len();
    // The search for a page from `known` on has failed already.
    let mut known = path.len();
    while let Some(slash) = memrchr(b'/', &path[..end]) {
        // The segment from `from` to `end`, and what follows its `/`.
        let (from, after) = (slash + 1, end + 1);
        end = slash;
        if after > path.len() || !is_session(&path[from..after - 1]) {
            continue;
        }
        let window = &path[after..(known + PAGE.len()).min(path.len()).max(after)];
        let page = memmem::find(window.get(1..).unwrap_or_default(), PAGE).map(|at| at + 1);
        let mark = memchr(b'?', window).unwrap_or(window.len());
        if page.is_some_and(|page| page < mark) {
            out.drain(start + from..start + after);
            return;
        }
        known = after;
    }
}

/// 24 letters and digits.
fn is_token(text: &[u8]) -> bool {
    text.len() == 24 && text.iter().all(|&byte| is_alphanumeric(byte))
}

/// `(` 24 letters and digits `)`.
fn is_bare(segment: &[u8]) -> bool {
    let inside = segment.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")"));
    inside.is_some_and(is_token)
}

/// `(`, one or more of a letter and a bare id, `)`.
///
fn is_lettered(segment: &[u8]) -> bool {
    let inside = segment.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")"));
    inside.is_some_and(|inside| {
        let groups = inside.chunks(27);
        !inside.is_empty()
            && groups.into_iter().all(|group| group[0].is_ascii_lowercase() && is_bare(&group[1..]))
    })
}
