//! `file` URLs by the WHATWG URL Standard, state by state of its parser.
//!
//! The `url` crate departs from the standard here: it drops the host before a drive letter, so that
//! `file://example.net/C:/x` would be `file:///C:/x`, and empty segments at the start of a path, so
//! that `file:////etc/passwd` would be `file:///etc/passwd`. Hosts are parsed by the crate.

use url::Host;

use crate::grammar::class::{ByteClass, UNRESERVED};
use crate::normalize::percent::push_encoded;

/// What the query percent-encode set of special schemes leaves alone (section 1.3 of the standard).
const QUERY: ByteClass = UNRESERVED.or(ByteClass::of(b"!$%&()*+,/:;=?@[\\]^`{|}"));

/// What the path percent-encode set leaves alone.
const PATH: ByteClass = UNRESERVED.or(ByteClass::of(b"!$%&'()*+,/:;=@[\\]|"));

/// What the fragment percent-encode set leaves alone.
const FRAGMENT: ByteClass = UNRESERVED.or(ByteClass::of(b"!#$%&'()*+,/:;=?@[\\]^{|}"));

/// What `text`, cleaned by [`clean`], has after `file:`, in any case; `None` for another scheme.
pub(super) fn after_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    scheme.eq_ignore_ascii_case("file").then_some(rest)
}

/// `text` as the parser reads it: without C0 controls and spaces around, and without tabs and line ends;
/// `None` where its first letter is that of another scheme.
pub(super) fn clean(text: &str) -> Option<String> {
    let text = text.trim_matches(|c| c <= ' ');
    text.starts_with(['f', 'F']).then(|| text.replace(['\t', '\n', '\r'], ""))
}

/// Appends the serialization of the `file` URL that has `rest` after its `file:`; `None` where the
/// standard fails. `out` is of no use then.
pub(super) fn write(rest: &str, out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(b"file://");
    let is_slash = |byte: Option<&u8>| matches!(byte, Some(b'/' | b'\\'));
    let bytes = rest.as_bytes();
    // The file state, the file slash state and the file host state.
    let mut path_at = 0;
    if is_slash(bytes.first()) {
        path_at = 1;
        if is_slash(bytes.get(1)) {
            let host = &rest[2..];
            let host = &host[..host.find(['/', '\\', '?', '#']).unwrap_or(host.len())];
            path_at = 2;
            // What looks like a drive is the first segment of the path.
            if !is_drive(host.as_bytes()) {
                path_at += host.len();
                host_into(host, out)?;
                // The path start state steps over one slash.
                path_at += usize::from(is_slash(bytes.get(path_at)));
            }
        }
    }
    let tail = &bytes[path_at..];
    let hash = memchr::memchr(b'#', tail).unwrap_or(tail.len());
    let mark = memchr::memchr(b'?', &tail[..hash]).unwrap_or(hash);
    path_into(&tail[..mark], out);
    for (part, plain) in [(&tail[mark..hash], QUERY), (&tail[hash..], FRAGMENT)] {
        if let Some((&delimiter, part)) = part.split_first() {
            out.push(delimiter);
            part.iter().for_each(|&byte| push_encoded(byte, plain, out));
        }
    }
    Some(())
}

/// Appends a host; one that is empty or `localhost` is none.
fn host_into(host: &str, out: &mut Vec<u8>) -> Option<()> {
    if host.is_empty() {
        return Some(());
    }
    let host = Host::parse(host).ok()?.to_string();
    if host != "localhost" {
        out.extend_from_slice(host.as_bytes());
    }
    Some(())
}

/// Appends `path`, the segments of the path state, a `/` before each.
fn path_into(path: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let mut segments = path.split(|byte| b"/\\".contains(byte)).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            _ if is_dots(segment, 2) => {
                shorten(out, start);
                if is_last {
                    out.push(b'/');
                }
            }
            _ if is_dots(segment, 1) => {
                if is_last {
                    out.push(b'/');
                }
            }
            &[letter, _] if out.len() == start && is_drive(segment) => {
                out.extend_from_slice(&[b'/', letter, b':']);
            }
            _ => {
                out.push(b'/');
                segment.iter().for_each(|&byte| push_encoded(byte, PATH, out));
            }
        }
    }
}

/// Drops the last segment of the path `out[start..]`, unless that is a drive and all there is.
fn shorten(out: &mut Vec<u8>, start: usize) {
    let last = memchr::memrchr(b'/', &out[start..]).map_or(start, |slash| start + slash);
    let is_root_drive = last == start
        && matches!(&out[start..], [b'/', letter, b':'] if letter.is_ascii_alphabetic());
    if !is_root_drive {
        out.truncate(last);
    }
}

/// Whether `segment` is `count` dots, each plain or encoded.
fn is_dots(segment: &[u8], count: usize) -> bool {
    let mut rest = segment;
    let mut dots = 0;
    while let [b'.', after @ ..] | [b'%', b'2', b'e' | b'E', after @ ..] = rest {
        (rest, dots) = (after, dots + 1);
    }
    rest.is_empty() && dots == count
}

/// Whether `segment` is a Windows drive letter: a letter, and `:` or `|`.
fn is_drive(segment: &[u8]) -> bool {
    matches!(segment, [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}
