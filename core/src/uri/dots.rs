//! `remove_dot_segments` of RFC 3986 section 5.2.4, for resolution (5.2.2) and for path segment
//! normalization (6.2.2.3).
//!
//! Resolution follows 5.2.4 to the letter for every path. A rootless one can become absolute there:
//! the target of the reference `foo:a/../b` is `foo:/b`, since step C removes the segment `a` and
//! leaves the `/` of the next one.
//!
//! Normalization removes the dot segments of paths that begin with `/` ([`is_normalized_by_dots`])
//! and keeps those of rootless ones. The path of `urn:isbn:0451450523/../x`, of
//! `data:text/plain,foo/../bar` or of `blob:https://h/../x` is not hierarchical; the algorithm
//! would turn the first, and every other URN that ends in `/../x`, into `urn:/x`. The first byte of
//! the path decides, not the scheme, so the level `syntax` needs no knowledge of schemes and the
//! ladder nests.
//!
//! Both depart from 5.2.4 in one case: a path without authority may not begin with `//` (3.3).
//! Where removal would produce that, `/.` stays in front: `foo:/.//b` and `foo:/a/..//b` are
//! `foo:/.//b`, never `foo://b`, which has the host `b`.
//!
//! Normalization decodes percent-encodings first, so there `%2e%2e` is a dot segment; `a%2f..` is one
//! ordinary segment.

use crate::index::Bits;
use crate::simd::{BLOCK, Isa};

/// Whether `path` has a complete segment `.` or `..`, which [`remove_dot_segments`] would remove.
pub(crate) fn has_dot_segment(path: &[u8]) -> bool {
    let ends_segment = |at: usize| at >= path.len() || path[at] == b'/';
    let mut at = 0;
    while let Some(dot) = memchr::memchr(b'.', &path[at..]) {
        let dot = at + dot;
        if (dot == 0 || path[dot - 1] == b'/')
            && (ends_segment(dot + 1) || path[dot + 1] == b'.' && ends_segment(dot + 2))
        {
            return true;
        }
        at = dot + 1;
    }
    false
}

/// Whether normalization removes the dot segments of `path`: whether it begins with `/` and has some.
pub(crate) fn is_normalized_by_dots(path: &[u8]) -> bool {
    path.first() == Some(&b'/') && has_dot_segment(path)
}

/// Removes the dot segments of the path `out[start..]` in place, by steps A to E of 5.2.4.
///
/// Bytes before `start` are not read. Linear in the length of the path: a byte that `..` steps back
/// over was written before, and is removed for good.
pub(crate) fn remove_dot_segments(out: &mut Vec<u8>, start: usize) {
    let path = &mut out[start..];
    let len = path.len();
    // The input buffer is path[read..], the output buffer path[..write]; write <= read.
    let mut read = 0;
    let mut write = 0;

    // A and D apply only where the input does not begin with "/", that is, before the first
    // segment has been moved.
    loop {
        match &path[read..] {
            [b'.', b'.', b'/', ..] => read += 3,
            [b'.', b'/', ..] => read += 2,
            [b'.'] | [b'.', b'.'] => read = len,
            _ => break,
        }
    }
    // E for a first segment without "/".
    let first_end = segment_end(path, read);
    path.copy_within(read..first_end, 0);
    write += first_end - read;
    read = first_end;

    while read < len {
        let end = segment_end(path, read + 1);
        match &path[read + 1..end] {
            b"." => {}
            b".." => write = memchr::memrchr(b'/', &path[..write]).unwrap_or(0),
            // E
            _ => {
                path.copy_within(read..end, write);
                write += end - read;
                read = end;
                continue;
            }
        }
        // B and C replace the prefix with "/": the one before the next segment, or a last one.
        if end == len {
            path[write] = b'/';
            write += 1;
        }
        read = end;
    }
    out.truncate(start + write);
}

/// Where the segment that holds `path[from..]` ends: the next `/` or the end.
fn segment_end(path: &[u8], from: usize) -> usize {
    memchr::memchr(b'/', &path[from..]).map_or(path.len(), |slash| from + slash)
}

/// Removes the dot segments of the path `out[start..]`, which begins with `/`, by steps 6c to 6f of
/// RFC 2396 section 5.2: a `..` with no segment to step back over stays.
pub(crate) fn remove_dot_segments_of_rfc2396(out: &mut Vec<u8>, start: usize) {
    let path = out.split_off(start);
    let mut segments = path[1..].split(|&byte| byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            b"." if is_last => out.push(b'/'),
            b"." => {}
            b".." => {
                let before = memchr::memrchr(b'/', &out[start..]).map(|slash| start + slash);
                match before.filter(|&slash| &out[slash + 1..] != b"..") {
                    Some(slash) => {
                        out.truncate(slash);
                        if is_last {
                            out.push(b'/');
                        }
                    }
                    None => out.extend_from_slice(b"/.."),
                }
            }
            _ => {
                out.push(b'/');
                out.extend_from_slice(segment);
            }
        }
    }
}

/// [`remove_dot_segments`] by masks, for the path that begins with the `/` at `path` of the
/// reference `out[..end]`. Returns the new length. `out` is at least two blocks longer than `end`.
///
/// No dot segment begins before the `/` at `from`, which may be that at `path`.
#[inline(always)]
pub(crate) fn remove_dot_segments_in_blocks<I: Isa>(
    isa: I,
    out: &mut [u8],
    path: usize,
    from: usize,
    end: usize,
) -> usize {
    // The bytes after the end must not look like more of the path.
    out[end] = b'#';
    let mut from = from;
    let mut to = from;
    loop {
        // Moves the bytes up to the next dot segment unchanged.
        let (next, is_dots) = next_dot_segment(isa, out, from, end);
        if from != to {
            out.copy_within(from..next, to);
        }
        to += next - from;
        from = next;
        if !is_dots {
            break;
        }
        if out[from + 2] == b'.' {
            from += 3;
            while to > path {
                to -= 1;
                if out[to] == b'/' {
                    break;
                }
            }
        } else {
            from += 2;
        }
        if out[from] != b'/' {
            out[to] = b'/';
            to += 1;
            break;
        }
    }
    if from != to {
        out.copy_within(from..end, to);
    }
    to + (end - from)
}

/// Where the next `/.` or `/..` segment of `out[from..end]` begins, or where the path ends, and
/// which of them it is.
#[inline(always)]
fn next_dot_segment<I: Isa>(isa: I, out: &[u8], from: usize, end: usize) -> (usize, bool) {
    let mut at = from;
    while at < end {
        let block: &[u8; BLOCK] = out[at..].first_chunk().expect("blocks after the end");
        let next: &[u8; BLOCK] = out[at + 1..].first_chunk().expect("blocks after the end");
        let dots = isa.equal(block, b'/') & isa.equal(next, b'.');
        let stops = isa.equal(block, b'?') | isa.equal(block, b'#');
        for bit in Bits(dots | stops) {
            let found = at + bit as usize;
            if stops >> bit & 1 != 0 {
                return (found.min(end), false);
            }
            let is_end = |byte: u8| matches!(byte, b'/' | b'?' | b'#');
            if is_end(out[found + 2]) || (out[found + 2] == b'.' && is_end(out[found + 3])) {
                return (found, true);
            }
        }
        at += BLOCK;
    }
    (end, false)
}

/// Puts `/.` before the path `out[start..]` if it would be read as an authority.
///
/// Only for a path without authority; the result obeys 3.3.
pub(crate) fn guard_against_authority(out: &mut Vec<u8>, start: usize) {
    if out[start..].starts_with(b"//") {
        out.splice(start..start, *b"/.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(path: &str) -> String {
        let mut out = b"foo:".to_vec();
        out.extend_from_slice(path.as_bytes());
        remove_dot_segments(&mut out, 4);
        String::from_utf8(out).unwrap().strip_prefix("foo:").unwrap().to_owned()
    }

    #[test]
    fn dot_segments_are_removed_as_in_the_examples_of_the_rfc() {
        assert_eq!(removed("/a/b/c/./../../g"), "/a/g");
        assert_eq!(removed("mid/content=5/../6"), "mid/6");
    }

    #[test]
    fn each_step_of_the_rfc_removes_its_dot_segments() {
        let cases = [
            ("", ""),
            ("../a", "a"),
            ("./../.././a/b", "a/b"),
            ("/./a", "/a"),
            ("/a/.", "/a/"),
            ("/../a", "/a"),
            ("/a/..", "/"),
            ("/..", "/"),
            ("/.", "/"),
            (".", ""),
            ("..", ""),
            ("../..", ""),
            ("a/..", "/"),
            ("a/../b", "/b"),
            ("a/../../b", "/b"),
            ("/...", "/..."),
            ("/.a/..b/c./d..", "/.a/..b/c./d.."),
            ("/a//../b", "/a/b"),
            ("/a/../..//b", "//b"),
            ("//", "//"),
            ("..//b", "/b"),
        ];
        for (path, expected) in cases {
            assert_eq!(removed(path), expected, "{path}");
        }
    }

    #[test]
    fn a_path_is_changed_exactly_when_it_has_a_dot_segment() {
        for path in ["", "a", "/a.b/c", "/...", "/.a", "/a..", "..a/b", "/a/.../", "a%2f.."] {
            assert!(!has_dot_segment(path.as_bytes()), "{path}");
            assert_eq!(removed(path), path);
        }
        for path in [".", "..", "./a", "../a", "/.", "/..", "/a/.", "/a/./b", "/a/../b", "a/.."] {
            assert!(has_dot_segment(path.as_bytes()), "{path}");
            assert_ne!(removed(path), path);
        }
    }

    #[test]
    fn many_segments_take_linear_time() {
        let path = "/a".repeat(300_000) + &"/..".repeat(400_000) + "/z";
        assert_eq!(removed(&path), "/z");
    }
}
