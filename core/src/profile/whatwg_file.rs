//! `file` URLs by the WHATWG URL Standard, state by state of its parser.
//!
//! The `url` crate departs from the standard here: it drops the host before a drive letter, so that
//! `file://example.net/C:/x` would be `file:///C:/x`, and empty segments at the start of a path, so
//! that `file:////etc/passwd` would be `file:///etc/passwd`. Hosts are parsed by the crate.

use url::{Host, Url};

use crate::grammar::class::{ByteClass, UNRESERVED};
use crate::normalize::percent::push_encoded;

/// The bytes that are not in the query percent-encode set of special schemes (section 1.3 of the
/// standard).
const QUERY: ByteClass = UNRESERVED.or(ByteClass::of(b"!$%&()*+,/:;=?@[\\]^`{|}"));

/// The bytes that are not in the path percent-encode set.
const PATH: ByteClass = UNRESERVED.or(ByteClass::of(b"!$%&'()*+,/:;=@[\\]|"));

/// The bytes that are not in the fragment percent-encode set.
const FRAGMENT: ByteClass = UNRESERVED.or(ByteClass::of(b"!#$%&'()*+,/:;=?@[\\]^{|}"));

/// The rest of `text`, cleaned by [`clean`], after `file:`, in any case; `None` for another scheme.
pub(super) fn after_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    scheme.eq_ignore_ascii_case("file").then_some(rest)
}

/// `text` as the parser reads it: without C0 controls and spaces around, and without tabs and line ends.
pub(super) fn clean(text: &str) -> String {
    text.trim_matches(|c| c <= ' ').replace(['\t', '\n', '\r'], "")
}

/// The path of `url`, which the crate parsed from `text`, cleaned by [`clean`], with the text
/// between scheme and path if `url` has no authority; `None` if the crate's path is right, as it is
/// where the path is not a list of segments. The crate keeps a segment that looks like a drive if
/// `..` follows it, which is right for `file` URLs only.
pub(super) fn path_with_drive(text: &str, url: &Url) -> Option<String> {
    let is_separator = |byte: u8| byte == b'/' || byte == b'\\' && url.is_special();
    let bytes = text.as_bytes();
    if url.cannot_be_a_base()
        || !bytes
            .windows(4)
            .any(|at| is_drive(&at[1..3]) && is_separator(at[0]) && is_separator(at[3]))
    {
        return None;
    }
    let mut at = url.scheme().len() + 1;
    if url.is_special() {
        at += bytes[at..].iter().take_while(|&&byte| is_separator(byte)).count();
    } else if url.has_authority() {
        at += "//".len();
    }
    let end = bytes[at..]
        .iter()
        .position(|byte| b"?#".contains(byte))
        .map_or(bytes.len(), |len| at + len);
    if url.has_authority() {
        at += bytes[at..end].iter().position(|&byte| is_separator(byte))?;
    }
    let mut path = Vec::new();
    // The path start state skips one slash.
    path_into(&bytes[at + 1..end], is_separator, false, &mut path);
    let prefix: &[u8] = if url.has_authority() { b"" } else { b":" };
    let guard: &[u8] = if !prefix.is_empty() && path.starts_with(b"//") { b"/." } else { b"" };
    path.splice(..0, [prefix, guard].concat());
    String::from_utf8(path).ok()
}

/// Appends the serialization of the `file` URL that has `rest` after its `file:`; `None` if the
/// standard fails, and then `out` is meaningless.
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
            // A text that looks like a drive is the first segment of the path.
            if !is_drive(host.as_bytes()) {
                path_at += host.len();
                host_into(host, out)?;
                // The path start state skips one slash.
                path_at += usize::from(is_slash(bytes.get(path_at)));
            }
        }
    }
    let tail = &bytes[path_at..];
    let hash = memchr::memchr(b'#', tail).unwrap_or(tail.len());
    let mark = memchr::memchr(b'?', &tail[..hash]).unwrap_or(hash);
    path_into(&tail[..mark], |byte| b"/\\".contains(&byte), true, out);
    for (part, plain) in [(&tail[mark..hash], QUERY), (&tail[hash..], FRAGMENT)] {
        if let Some((&delimiter, part)) = part.split_first() {
            out.push(delimiter);
            part.iter().for_each(|&byte| push_encoded(byte, plain, out));
        }
    }
    Some(())
}

/// Appends a host; an empty one or `localhost` is dropped.
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

/// Appends `path`, the segments of the path state, each after a `/`. In a `file` URL a first
/// segment that looks like a drive is one.
fn path_into(path: &[u8], is_separator: impl Fn(u8) -> bool, is_file: bool, out: &mut Vec<u8>) {
    let start = out.len();
    let mut segments = path.split(|&byte| is_separator(byte)).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            _ if is_dots(segment, 2) => {
                shorten(out, start, is_file);
                if is_last {
                    out.push(b'/');
                }
            }
            _ if is_dots(segment, 1) => {
                if is_last {
                    out.push(b'/');
                }
            }
            &[letter, _] if is_file && out.len() == start && is_drive(segment) => {
                out.extend_from_slice(&[b'/', letter, b':']);
            }
            _ => {
                out.push(b'/');
                segment.iter().for_each(|&byte| push_encoded(byte, PATH, out));
            }
        }
    }
}

/// Drops the last segment of the path `out[start..]`, unless it is the drive of a `file` URL and
/// the only one.
fn shorten(out: &mut Vec<u8>, start: usize, is_file: bool) {
    let last = memchr::memrchr(b'/', &out[start..]).map_or(start, |slash| start + slash);
    let is_root_drive = is_file
        && last == start
        && matches!(&out[start..], [b'/', letter, b':'] if letter.is_ascii_alphabetic());
    if !is_root_drive {
        out.truncate(last);
    }
}

/// Whether `segment` consists of `count` dots, each plain or encoded.
///
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
