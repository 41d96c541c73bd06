//! `surt:ia`: the form of a URI in the Wayback Machine's index, beyond reversing the host.
//!
//! It decodes first, then removes what seldom matters, and encodes the few bytes that would break a
//! line. Every step works on the end of the output, from a `start` on.

use std::io::Write as _;

use memchr::{memchr, memrchr};

use super::parts::Parts;
use super::{Scratch, reversed, session};
use crate::grammar::has_pair;

/// Appends the form of a URI with these parts, `is_plain` if it is valid and nothing in it is encoded.
pub(super) fn write(parts: &Parts<'_>, is_plain: bool, scratch: &mut Scratch, out: &mut Vec<u8>) {
    let Scratch { text, params } = scratch;
    let decode_into = |component: &[u8], out: &mut Vec<u8>| match is_plain {
        true => out.extend_from_slice(component),
        false => decode_into(component, out),
    };
    let encode = |start, spare: &mut _, out: &mut _| {
        if !is_plain {
            encode(start, spare, out);
        }
    };
    text.clear();
    decode_into(parts.host.unwrap_or_default(), text);
    text.make_ascii_lowercase();
    tidy_host(text);
    let has_host = !text.is_empty();
    if has_host {
        let start = out.len();
        let inside = text.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]"));
        reversed(inside.unwrap_or(text), out);
        encode(start, text, out);
        if let Some(port) = parts.port.filter(|port| is_written(parts.scheme, port)) {
            out.push(b':');
            out.extend_from_slice(port);
        }
        out.push(b')');
    } else {
        let start = out.len();
        out.extend_from_slice(parts.scheme);
        out[start..].make_ascii_lowercase();
        out.push(b':');
    }

    let start = out.len();
    decode_into(parts.path, out);
    out[start..].make_ascii_lowercase();
    if has_host {
        tidy_segments(start, out);
    }
    session::drop_segments(start, out);
    if out.len() > start + 1 && out.ends_with(b"/") {
        out.pop();
    }
    if has_host && out.len() == start {
        out.push(b'/');
    }
    encode(start, text, out);

    if let Some(query) = parts.query {
        out.push(b'?');
        let start = out.len();
        decode_into(query, out);
        out[start..].make_ascii_lowercase();
        session::drop_params(start, out);
        if out.len() == start {
            out.pop();
        } else {
            sort_params(start, params, text, out);
            encode(start, text, out);
        }
    }
}

/// Whether `port` is written: the default port of `http` and `https` is not, nor is 0.
fn is_written(scheme: &[u8], port: &[u8]) -> bool {
    let digits = port.iter().position(|&digit| digit != b'0').map_or(&[][..], |at| &port[at..]);
    let is_default = (digits == b"80" && scheme.eq_ignore_ascii_case(b"http"))
        || (digits == b"443" && scheme.eq_ignore_ascii_case(b"https"));
    !digits.is_empty() && !is_default
}

/// Appends `component` with its percent-encodings decoded, and then those that decoding produces, until
/// there are none.
///
/// Percent-encodings do not overlap, so the order of decoding does not matter: each is decoded as soon as
/// its last digit is written.
fn decode_into(component: &[u8], out: &mut Vec<u8>) {
    let Some(first) = memchr(b'%', component) else {
        out.extend_from_slice(component);
        return;
    };
    let start = out.len();
    out.extend_from_slice(&component[..first]);
    for &byte in &component[first..] {
        out.push(byte);
        while let [.., b'%', high, low] = out[start..]
            && let (Some(high), Some(low)) = (hex_value(high), hex_value(low))
        {
            out.truncate(out.len() - 3);
            out.push(high << 4 | low);
        }
    }
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

fn is_encoded(byte: u8) -> bool {
    byte <= b' ' || byte >= 0x7F || byte == b'#' || byte == b'%'
}

/// Encodes the bytes from `start` on that need it; digits are in lower case.
fn encode(start: usize, spare: &mut Vec<u8>, out: &mut Vec<u8>) {
    // Canonical forms hold no such bytes except decoded ones.
    let Some(first) = out[start..].iter().position(|&byte| is_encoded(byte)) else { return };
    spare.clear();
    spare.extend_from_slice(&out[start + first..]);
    out.truncate(start + first);
    for &byte in spare.iter() {
        if is_encoded(byte) {
            let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
            out.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
        } else {
            out.push(byte);
        }
    }
}

/// Removes the dots around a host, all but one between labels, and one label `www`, with or without
/// digits, if something follows it; writes IPv4 addresses as dotted decimal.
fn tidy_host(host: &mut Vec<u8>) {
    if host.first() == Some(&b'.') || host.last() == Some(&b'.') || has_pair(host, *b"..") {
        let mut before = b'.';
        host.retain(|&byte| std::mem::replace(&mut before, byte) != b'.' || byte != b'.');
        if host.last() == Some(&b'.') {
            host.pop();
        }
    }
    if host.last().is_some_and(u8::is_ascii_digit)
        && let Some(octets) = ipv4(host)
    {
        host.clear();
        let [a, b, c, d] = octets;
        // Writing to a vector does not fail.
        let _ = write!(host, "{a}.{b}.{c}.{d}");
    } else if let Some(after) = host.strip_prefix(b"www") {
        let digits = after.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(after.len());
        if after.get(digits) == Some(&b'.') {
            host.drain(..b"www.".len() + digits);
        }
    }
}

/// The address that `host` means to `inet_aton`: up to four numbers, decimal or, with a leading 0,
/// octal; the last one fills the remaining bytes. A single number is decimal, and wraps.
fn ipv4(host: &[u8]) -> Option<[u8; 4]> {
    if host.iter().all(u8::is_ascii_digit) {
        let wrap =
            |sum: u32, &digit: &u8| sum.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
        return Some(host.iter().fold(0, wrap).to_be_bytes());
    }
    let count = 1 + host.iter().filter(|&&byte| byte == b'.').count();
    if count > 4 {
        return None;
    }
    let mut address = 0u64;
    for (i, part) in host.split(|&byte| byte == b'.').enumerate() {
        let radix = if part.len() > 1 && part[0] == b'0' { 8 } else { 10 };
        let mut number = 0u64;
        for &digit in part {
            number = number * radix + u64::from(char::from(digit).to_digit(radix as u32)?);
            if number > u64::from(u32::MAX) {
                return None;
            }
        }
        let bytes = if i + 1 == count { 5 - count } else { 1 };
        if part.is_empty() || number >> (8 * bytes) != 0 {
            return None;
        }
        address = address << (8 * bytes) | number;
    }
    Some((address as u32).to_be_bytes())
}

/// Removes empty segments and dot segments of the path from `start` on, and for `..` also the
/// segment before.
fn tidy_segments(start: usize, out: &mut Vec<u8>) {
    let path = &out[start..];
    if path.first() != Some(&b'/') {
        return;
    }
    if !has_pair(path, *b"//") && !has_pair(path, *b"/.") {
        return;
    }
    // Writing never gets ahead of reading.
    let (mut to, mut from) = (start, start);
    while from < out.len() {
        let end = memchr(b'/', &out[from + 1..]).map_or(out.len(), |at| from + 1 + at);
        match &out[from + 1..end] {
            b"" | b"." => {}
            b".." if to > start && !out[start..to].ends_with(b"/..") => {
                to = start + memrchr(b'/', &out[start..to]).unwrap_or(0);
            }
            _ => {
                out.copy_within(from..end, to);
                to += end - from;
            }
        }
        from = end;
    }
    out.truncate(to);
    if to == start {
        out.push(b'/');
    }
}

/// Sorts the parameters from `start` on: by name, then by the rest.
fn sort_params(start: usize, params: &mut Vec<(u32, u32)>, text: &mut Vec<u8>, out: &mut Vec<u8>) {
    if memchr(b'&', &out[start..]).is_none() {
        return;
    }
    text.clear();
    text.extend_from_slice(&out[start..]);
    params.clear();
    let mut at = 0;
    for param in text.split(|&byte| byte == b'&') {
        params.push((at as u32, (at + param.len()) as u32));
        at += param.len() + 1;
    }
    let param = |&(from, to): &(u32, u32)| {
        let param = &text[from as usize..to as usize];
        param.split_at(memchr(b'=', param).unwrap_or(param.len()))
    };
    if params.is_sorted_by_key(param) {
        return;
    }
    params.sort_unstable_by(|a, b| param(a).cmp(&param(b)));
    out.truncate(start);
    for (i, &(from, to)) in params.iter().enumerate() {
        if i > 0 {
            out.push(b'&');
        }
        out.extend_from_slice(&text[from as usize..to as usize]);
    }
}
