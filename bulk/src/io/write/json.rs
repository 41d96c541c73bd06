//! Rows as JSON, one object per line.
//!
//! Written without `serde_json`, whose output it equals byte for byte (see the tests): the strings
//! are known to need no escapes (see [`Row`]) and the shape is fixed, while `serde_json` examines
//! every byte again and took six times as long for a row.

use std::io::Write;

use super::row::{Field, Row, push_decimal};
use uriscan_core::explain::Step;
use uriscan_core::uri::{Components, UriError};

/// Appends the object of a valid reference and a line feed.
#[inline]
pub(crate) fn row(row: &Row<'_>, out: &mut Vec<u8>) {
    // Names, quotes and `null`s are 210 bytes; most bytes of the record are written at most twice, as
    // the authority and the query are also written in parts.
    out.reserve(256 + 2 * row.text.len());
    out.extend_from_slice(b"{\"line\":");
    push_decimal(row.line, out);
    macro_rules! member {
        ($name:literal, $field:ident) => {
            match row.value(Field::$field) {
                Some(text) => {
                    out.extend_from_slice(concat!(",\"", $name, "\":\"").as_bytes());
                    out.extend_from_slice(text);
                    out.push(b'"');
                }
                None => out.extend_from_slice(concat!(",\"", $name, "\":null").as_bytes()),
            }
        };
    }
    member!("scheme", Scheme);
    member!("authority", Authority);
    member!("userinfo", Userinfo);
    member!("host", Host);
    member!("port", Port);
    member!("path", Path);
    member!("query", Query);
    member!("fragment", Fragment);
    member!("host_kind", HostKind);
    member!("domain", Domain);
    member!("suffix", Suffix);
    out.extend_from_slice(b",\"params\":");
    if !row.push(Field::Params, out) {
        out.extend_from_slice(b"null");
    }
    out.extend_from_slice(b"}\n");
}

/// Appends the object of a record that is not a URI-reference and a line feed.
pub(crate) fn error_row(line: u64, error: UriError, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"line\":");
    push_decimal(line, out);
    out.extend_from_slice(b",\"error\":");
    push_error(error, out);
    out.extend_from_slice(b"}\n");
}

/// Appends the result of a check for a valid reference and a line feed.
#[inline]
pub(crate) fn kind_row(line: u64, has_scheme: bool, has_fragment: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"line\":");
    push_decimal(line, out);
    out.extend_from_slice(b",\"kind\":");
    out.extend_from_slice(match (has_scheme, has_fragment) {
        (false, _) => b"\"relative-ref\"",
        (true, false) => b"\"absolute-uri\"",
        (true, true) => b"\"uri\"",
    });
    out.extend_from_slice(b",\"error\":null}\n");
}

/// Appends the difference of two grammars on a record, and the faults by one of them or by both.
pub(crate) fn differ_row(
    line: u64,
    differ: Option<(&str, u32)>,
    error: Option<UriError>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"{\"line\":");
    push_decimal(line, out);
    match differ {
        Some((name, at)) => {
            out.extend_from_slice(b",\"differ\":\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\",\"at\":");
            push_decimal(at.into(), out);
        }
        None => out.extend_from_slice(b",\"differ\":null,\"at\":null"),
    }
    out.extend_from_slice(b",\"error\":");
    match error {
        Some(error) => push_error(error, out),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b"}\n");
}

/// Appends the result of a check for a record and a line feed.
#[inline]
pub(crate) fn check_row(line: u64, result: Result<&Components, &UriError>, out: &mut Vec<u8>) {
    match result {
        Ok(parts) => kind_row(line, parts.is_uri(), !parts.is_absolute_uri(), out),
        Err(error) => {
            out.extend_from_slice(b"{\"line\":");
            push_decimal(line, out);
            out.extend_from_slice(b",\"kind\":null,\"error\":");
            push_error(*error, out);
            out.extend_from_slice(b"}\n");
        }
    }
}

/// Appends the object of a class of `count` records up to its members.
pub(crate) fn cluster_start(kept: &[u8], count: u64, out: &mut Vec<u8>) {
    out.push(b'{');
    push_text("kept", "kept_hex", kept, out);
    out.extend_from_slice(b",\"count\":");
    push_decimal(count, out);
    out.extend_from_slice(b",\"members\":[");
}

/// Appends a member of a class.
pub(crate) fn cluster_member(
    (source, line): (&str, u64),
    text: &[u8],
    level: &str,
    steps: &[&Step],
    out: &mut Vec<u8>,
) {
    push_place(source, line, out);
    out.push(b',');
    push_text("uri", "hex", text, out);
    push_level(level, steps, out);
}

/// Appends the end of a class, and a line feed.
pub(crate) fn cluster_end(out: &mut Vec<u8>) {
    out.extend_from_slice(b"]}\n");
}

/// Appends the class of a record of `bytes` that is over the size limit, and a line feed.
pub(crate) fn long_cluster(source: &str, line: u64, bytes: u64, level: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"kept\":null,\"count\":1,\"members\":[");
    push_place(source, line, out);
    out.extend_from_slice(b",\"uri\":null,\"bytes\":");
    push_decimal(bytes, out);
    push_level(level, &[], out);
    cluster_end(out);
}

/// Appends the row of a table that is rejected for this `reason`, and a line feed.
pub fn reject((source, line): (&str, u64), reason: &str, row: &[u8], out: &mut Vec<u8>) {
    push_place(source, line, out);
    out.extend_from_slice(b",\"reason\":");
    push_string(reason, out);
    out.push(b',');
    push_text("row", "hex", row, out);
    out.extend_from_slice(b"}\n");
}

fn push_place(source: &str, line: u64, out: &mut Vec<u8>) {
    if out.last() == Some(&b'}') {
        out.push(b',');
    }
    out.extend_from_slice(b"{\"source\":");
    push_string(source, out);
    out.extend_from_slice(b",\"line\":");
    push_decimal(line, out);
}

/// Appends the last members of an object, and its end.
fn push_level(level: &str, steps: &[&Step], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"level\":\"");
    out.extend_from_slice(level.as_bytes());
    out.extend_from_slice(b"\",\"rules\":[");
    for (i, step) in steps.iter().enumerate() {
        out.extend_from_slice(if i == 0 { b"\"" } else { b",\"" });
        out.extend_from_slice(step.name.as_bytes());
        out.push(b'"');
    }
    out.extend_from_slice(b"]}");
}

/// Appends the member `name` for any bytes: as text, or null and hexadecimal digits as `hex_name`.
fn push_text(name: &str, hex_name: &str, bytes: &[u8], out: &mut Vec<u8>) {
    let push_name = |name: &str, out: &mut Vec<u8>| {
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
    };
    push_name(name, out);
    if is_plain(bytes) {
        return push_plain(bytes, out);
    }
    if let Ok(text) = str::from_utf8(bytes) {
        return push_string(text, out);
    }
    out.extend_from_slice(b"null,");
    push_name(hex_name, out);
    out.push(b'"');
    if bytes.len() > LONG {
        out.reserve_exact(2 * bytes.len() + AFTER);
    }
    for byte in bytes {
        // Writing to a vector does not fail.
        let _ = write!(out, "{byte:02x}");
    }
    out.push(b'"');
}

/// Appends `text` as a JSON string.
pub(crate) fn push_string(text: &str, out: &mut Vec<u8>) {
    if is_plain(text.as_bytes()) {
        return push_plain(text.as_bytes(), out);
    }
    if text.len() > LONG {
        out.reserve_exact(escaped_len(text) + AFTER);
    }
    // Writing to a vector does not fail, and every string can be serialized.
    let _ = serde_json::to_writer(out, text);
}

/// Appends a text that [`is_plain`] as a JSON string.
#[inline]
fn push_plain(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(text);
    out.push(b'"');
}

/// Whether `text` is not long, ASCII, and holds nothing that is written as an escape: nearly all are.
#[inline]
fn is_plain(text: &[u8]) -> bool {
    const BLOCK: usize = 16;
    // Without an early end within a block there is one comparison of all its bytes.
    let has_special = |block: &[u8]| {
        let is_special =
            |byte: u8| !(b' '..0x80).contains(&byte) | (byte == b'"') | (byte == b'\\');
        block.iter().fold(false, |has, &byte| has | is_special(byte))
    };
    let blocks = text.as_chunks::<BLOCK>().0;
    let is_special = match text.last_chunk::<BLOCK>() {
        Some(last) => blocks.iter().any(|block| has_special(block)) || has_special(last),
        None => has_special(text),
    };
    !is_special && text.len() <= LONG
}

/// Bytes of a text for which a vector is not grown by doubling: it would take three times its bytes for a while.
const LONG: usize = 64 << 10;

/// Bytes for what follows a long text.
const AFTER: usize = 4 << 10;

/// Bytes of `text` as a string of JSON.
fn escaped_len(text: &str) -> usize {
    let of = |byte: &u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => 2,
        0..0x20 => 6,
        _ => 1,
    };
    2 + text.as_bytes().iter().map(of).sum::<usize>()
}

fn push_error(error: UriError, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"kind\":\"");
    out.extend_from_slice(error.kind.name().as_bytes());
    out.extend_from_slice(b"\",\"at\":");
    push_decimal(error.at.into(), out);
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;
    use uriscan_core::uri::{UriErrorKind, parse};

    /// The same row, to be written by `serde_json`.
    #[derive(Serialize)]
    struct Plain<'t> {
        line: u64,
        scheme: Option<&'t str>,
        authority: Option<&'t str>,
        userinfo: Option<&'t str>,
        host: Option<&'t str>,
        port: Option<&'t str>,
        path: Option<&'t str>,
        query: Option<&'t str>,
        fragment: Option<&'t str>,
        host_kind: Option<&'t str>,
        domain: Option<&'t str>,
        suffix: Option<&'t str>,
        params: Option<Vec<(&'t str, Option<&'t str>)>>,
    }

    fn params(query: &str) -> Vec<(&str, Option<&str>)> {
        let all = query.split('&').map(|param| match param.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (param, None),
        });
        if query.is_empty() { Vec::new() } else { all.collect() }
    }

    fn by_serde(row: &Row<'_>, out: &mut Vec<u8>) {
        let text = |field| row.value(field).map(|bytes| str::from_utf8(bytes).unwrap());
        let plain = Plain {
            line: row.line,
            scheme: text(Field::Scheme),
            authority: text(Field::Authority),
            userinfo: text(Field::Userinfo),
            host: text(Field::Host),
            port: text(Field::Port),
            path: text(Field::Path),
            query: text(Field::Query),
            fragment: text(Field::Fragment),
            host_kind: text(Field::HostKind),
            domain: text(Field::Domain),
            suffix: text(Field::Suffix),
            params: text(Field::Query).map(params),
        };
        serde_json::to_writer(&mut *out, &plain).unwrap();
        out.push(b'\n');
    }

    fn both(reference: &str, line: u64) -> (String, String) {
        let text = reference.as_bytes();
        let row = Row::new(line, text, parse(text).unwrap());
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        super::row(&row, &mut ours);
        by_serde(&row, &mut theirs);
        (String::from_utf8(ours).unwrap(), String::from_utf8(theirs).unwrap())
    }

    #[test]
    fn rows_equal_the_output_of_serde_json() {
        // Every byte that a reference may hold, and each component absent, empty and not empty.
        let every =
            "s://-._~!$&'()*+,;=%2F@h:1/-._~!$&'()*+,;=:@%00/AZaz09?/?-._~!$&'()*+,;=:@#/?!$'";
        let mut seen = std::collections::BTreeSet::new();
        for scheme in ["", "a:"] {
            for authority in ["", "//", "//@", "//u@h:", "//[::1]:1", "//1.2.3.4", "//[v1.x]"] {
                for rest in ["", "/", "/p?", "/p?q&a=&q=1=2", "?#", "#f"] {
                    let (ours, theirs) = both(&format!("{scheme}{authority}{rest}"), 7);
                    assert_eq!(ours, theirs);
                    seen.insert(ours);
                }
            }
        }
        assert_eq!(seen.len(), 2 * 7 * 6);
        let (ours, theirs) = both(every, u64::MAX);
        assert_eq!(ours, theirs);
    }

    #[test]
    fn long_strings_take_no_more_memory_than_their_bytes() {
        let all: String = (0..0x200).filter_map(char::from_u32).collect();
        for text in [all.repeat(300), "\u{1}".repeat(LONG + 1)] {
            let mut out = Vec::new();
            push_string(&text, &mut out);
            assert_eq!(out, serde_json::to_vec(&text).unwrap());
            assert_eq!(out.len(), escaped_len(&text));
            assert!(out.capacity() <= out.len() + 2 * AFTER);
        }
    }

    #[test]
    fn error_rows_are_json_for_every_kind() {
        for kind in UriErrorKind::ALL {
            let mut out = Vec::new();
            let error = UriError::new(kind, usize::MAX);
            error_row(3, error, &mut out);
            check_row(3, Err(&error), &mut out);
            let error = serde_json::json!({"kind": kind.name(), "at": u32::MAX});
            let lines: Vec<serde_json::Value> = out
                .split_inclusive(|&b| b == b'\n')
                .map(|l| serde_json::from_slice(l).unwrap())
                .collect();
            assert_eq!(lines[0], serde_json::json!({"line": 3, "error": error}));
            assert_eq!(lines[1], serde_json::json!({"line": 3, "kind": null, "error": error}));
        }
    }
}
