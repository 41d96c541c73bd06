//! The strict parser: `URI-reference` of RFC 3986 Appendix A, and where a text departs from it.
//!
//! One pass from left to right over class tables, no recursion, no allocation, time linear in the
//! length. It is the reference implementation: the fast paths must return the same [`Components`]
//! and the same [`UriError`].
//!
//! # How the text is split
//!
//! 1. A `scheme` and its `:` at the start make the text a URI; otherwise it is a relative-ref.
//! 2. `//` next makes an authority, which ends before the first `/`, `?` or `#`.
//!    * userinfo ends at the **first** `@` in the authority;
//!    * a host that begins with `[` is an IP literal up to the first `]`;
//!    * any other host ends at the first `:` after the userinfo; the rest is the port.
//! 3. The path ends at the first `?` or `#`, the query at the first `#`.
//!
//! The path rules then need no code of their own: after an authority a path is empty or begins with
//! `/`, without one it cannot begin with `//`, and step 1 leaves only one invalid path, a
//! relative-ref whose first segment holds a colon (`path-noscheme`).

use super::host::{literal_kind, name_kind};
use super::{Components, HostKind, UriError, UriErrorKind};
use crate::grammar::class::{
    ALPHA, ByteClass, DIGIT, HEXDIG, PATH, PCHAR, QUERY, REG_NAME, SCHEME, USERINFO,
};

/// Membership of every byte in the classes of the parts, one bit each, so that all loops share
/// four cache lines.
static CLASSES: [u8; 256] = class_bits();
const IN_SCHEME: u8 = 1;
const IN_FIRST_SEGMENT: u8 = 1 << 1;
const IN_USERINFO: u8 = 1 << 2;
const IN_REG_NAME: u8 = 1 << 3;
const IN_PATH: u8 = 1 << 4;
const IN_QUERY: u8 = 1 << 5;
const IN_HEXDIG: u8 = 1 << 6;
/// `/`, `?` and `#`, which end an authority (3.2).
const ENDS_AUTHORITY: u8 = 1 << 7;

/// `segment-nz-nc = 1*( unreserved / pct-encoded / sub-delims / "@" )`, without `pct-encoded`.
const SEGMENT_NZ_NC: ByteClass = PCHAR.without(ByteClass::of(b":"));

const fn class_bits() -> [u8; 256] {
    let classes = [
        (SCHEME, IN_SCHEME),
        (SEGMENT_NZ_NC, IN_FIRST_SEGMENT),
        (USERINFO, IN_USERINFO),
        (REG_NAME, IN_REG_NAME),
        (PATH, IN_PATH),
        (QUERY, IN_QUERY),
        (HEXDIG, IN_HEXDIG),
        (ByteClass::of(b"/?#"), ENDS_AUTHORITY),
    ];
    let mut bits = [0; 256];
    let mut i = 0;
    while i < classes.len() {
        let mut byte = 0;
        while byte < 128 {
            if classes[i].0.has(byte) {
                bits[byte as usize] |= classes[i].1;
            }
            byte += 1;
        }
        i += 1;
    }
    bits
}

#[inline(always)]
fn is_in(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// Parses `text` as a `URI-reference` (4.1) and validates every byte of it.
///
/// Surrounding white space, a byte order mark or a line end is part of `text` and therefore an
/// error; callers strip what does not belong to the reference. Use [`Components::is_uri`] and
/// [`Components::is_absolute_uri`] to find out which rule matched.
///
/// ```
/// use uriscan::uri::{UriErrorKind, HostKind, parse};
/// let text = b"https://user@example.com:8042/over/there?name=ferret#nose";
/// let c = parse(text).unwrap();
/// assert_eq!(c.scheme(text), Some(&b"https"[..]));
/// assert_eq!(c.userinfo(text), Some(&b"user"[..]));
/// assert_eq!(c.host(text), Some(&b"example.com"[..]));
/// assert_eq!(c.host_kind, HostKind::RegName);
/// assert_eq!(c.port(text), Some(&b"8042"[..]));
/// assert_eq!(c.path(text), b"/over/there");
///
/// let error = parse(b"http://a/b c").unwrap_err();
/// assert_eq!((error.kind, error.at), (UriErrorKind::Space, 10));
/// ```
///
/// # Which error is reported
///
/// The parts are checked in the order scheme or first segment, userinfo, host, port, path,
/// query, fragment, each from its first byte; the first fault ends the parse.
///
/// | part | fault | kind | `at` |
/// | --- | --- | --- | --- |
/// | any but IP literal and port | `%` without two hexadecimal digits | [`Percent`](UriErrorKind::Percent) | the `%` |
/// | any but IP literal and port | a byte the part may not hold | by the byte | the byte |
/// | first segment | all bytes before its `:` are fine in a path but make no scheme | [`Scheme`](UriErrorKind::Scheme) | the first byte no scheme may hold there |
/// | IP literal | no `]`, or neither IPv6address nor IPvFuture within | [`IpLiteral`](UriErrorKind::IpLiteral) | the `[` |
/// | after the `]` | a byte other than `:` and `@` | [`IpLiteral`](UriErrorKind::IpLiteral) | the byte |
/// | port | a byte other than a digit and `@` | [`Port`](UriErrorKind::Port) | the byte |
/// | host, after the `]`, port | a second `@` | [`Delimiter`](UriErrorKind::Delimiter) | the `@` |
///
/// "By the byte" is `Space`, `Control`, `NonAscii`, `Bracket`, `Byte`, or `Delimiter` for a
/// second `@` or `#`. Two consequences: `a b:c` is a `Space` at 1, not a `Scheme`; and
/// `//[::1]@h` is a `Bracket` at 2, because its userinfo is `[::1]`.
///
/// # Errors
///
/// The first fault in that order, with its
/// position in bytes from the start of `text`. [`UriErrorKind::TooLong`], at `u32::MAX`, if the text
/// is longer than `u32::MAX` bytes; this is checked first. Never [`UriErrorKind::Relative`].
pub fn parse(text: &[u8]) -> Result<Components, UriError> {
    let mut c = Components { len: checked_len(text.len())?, ..Components::default() };

    // 1. scheme
    let mut at = 0;
    if let Some(colon) = scheme(text)? {
        c.scheme_end = offset(colon);
        at = colon + 1;
    }

    // 2. authority
    if text[at..].starts_with(b"//") {
        at = authority(text, at + 2, &mut c)?;
    } else {
        c.host_start = offset(at);
        c.host_end = offset(at);
    }

    // 3. path, query, fragment: each run ends at the delimiter of the next one, at the end of the
    //    text, or at a fault, which no later part consumes.
    c.path_start = offset(at);
    at = run(text, at, IN_PATH);
    c.path_end = offset(at);
    if text.get(at) == Some(&b'?') {
        at = run(text, at + 1, IN_QUERY);
    }
    c.query_end = offset(at);
    if text.get(at) == Some(&b'#') {
        at = run(text, at + 1, IN_QUERY);
    }
    if at < text.len() { Err(fault(text, at)) } else { Ok(c) }
}

/// The length as an offset, if every offset into the text fits in 32 bits.
fn checked_len(len: usize) -> Result<u32, UriError> {
    u32::try_from(len).map_err(|_| UriError { kind: UriErrorKind::TooLong, at: u32::MAX })
}

/// A position in a text whose length passed [`checked_len`].
#[inline(always)]
fn offset(at: usize) -> u32 {
    debug_assert!(u32::try_from(at).is_ok());
    at as u32
}

/// The error of the byte at `at`, which its part may not hold.
#[cold]
fn fault(text: &[u8], at: usize) -> UriError {
    UriError::new(UriErrorKind::of_byte(text[at]), at)
}

/// The end of the longest run of bytes of `class` and of `pct-encoded` that starts at `at`.
#[inline(always)]
fn run(text: &[u8], mut at: usize, class: u8) -> usize {
    loop {
        while at < text.len() && is_in(text[at], class) {
            at += 1;
        }
        match text.get(at..) {
            Some([b'%', high, low, ..]) if is_in(*high, IN_HEXDIG) && is_in(*low, IN_HEXDIG) => {
                at += 3;
            }
            _ => return at,
        }
    }
}

/// The offset of the `:` after the scheme; `None` for a relative-ref.
#[inline(always)]
fn scheme(text: &[u8]) -> Result<Option<usize>, UriError> {
    let mut at = 0;
    while at < text.len() && is_in(text[at], IN_SCHEME) {
        at += 1;
    }
    if text.get(at) == Some(&b':') && ALPHA.has(text[0]) {
        return Ok(Some(at));
    }
    no_scheme(text).map(|()| None)
}

/// Rejects a relative-ref whose first segment holds a colon (4.2, `path-noscheme`).
///
fn no_scheme(text: &[u8]) -> Result<(), UriError> {
    let end = run(text, 0, IN_FIRST_SEGMENT);
    match text.get(end) {
        None | Some(b'/' | b'?' | b'#') => Ok(()),
        Some(b':') => {
            let refused = |at: usize| !is_in(text[at], IN_SCHEME) || at == 0 && !ALPHA.has(text[0]);
            // One exists, or there would be a scheme; an empty run leaves the colon itself.
            let at = (0..end).find(|&at| refused(at)).unwrap_or(end);
            Err(UriError::new(UriErrorKind::Scheme, at))
        }
        Some(_) => Err(fault(text, end)),
    }
}

/// Checks the authority that starts at `start`, notes its offsets, and returns its end (3.2).
#[inline(always)]
fn authority(text: &[u8], start: usize, c: &mut Components) -> Result<usize, UriError> {
    let mut at_sign = None;
    let mut end = start;
    while end < text.len() && !is_in(text[end], ENDS_AUTHORITY) {
        if text[end] == b'@' && at_sign.is_none() {
            at_sign = Some(end);
        }
        end += 1;
    }
    let text = &text[..end];
    let mut host_start = start;
    if let Some(at_sign) = at_sign {
        let fault_at = run(text, start, IN_USERINFO);
        if fault_at != at_sign {
            return Err(fault(text, fault_at));
        }
        host_start = at_sign + 1;
    }
    let (host_end, kind) = host(text, host_start)?;
    if host_end < end {
        port(text, host_end + 1)?;
    }
    c.authority_start = offset(start);
    c.host_start = offset(host_start);
    c.host_end = offset(host_end);
    c.host_kind = kind;
    Ok(end)
}

/// The end and kind of the host at `start` in a `text` that ends with its authority. A host
/// that does not end there is followed by `:` (3.2.2).
#[inline(always)]
fn host(text: &[u8], start: usize) -> Result<(usize, HostKind), UriError> {
    if text.get(start) == Some(&b'[') {
        return ip_literal(text, start);
    }
    let end = run(text, start, IN_REG_NAME);
    match text.get(end) {
        None | Some(b':') => Ok((end, name_kind(&text[start..end]))),
        Some(_) => Err(fault(text, end)),
    }
}

/// [`host`] for a host that begins with `[`.
fn ip_literal(text: &[u8], start: usize) -> Result<(usize, HostKind), UriError> {
    let inside = &text[start + 1..];
    let close = inside.iter().position(|&byte| byte == b']');
    let kind = close.and_then(|close| literal_kind(&inside[..close]));
    let (Some(close), Some(kind)) = (close, kind) else {
        return Err(UriError::new(UriErrorKind::IpLiteral, start));
    };
    let end = start + 1 + close + 1;
    match text.get(end) {
        None | Some(b':') => Ok((end, kind)),
        // An `@` here is always a second one: the first ended the userinfo.
        Some(b'@') => Err(UriError::new(UriErrorKind::Delimiter, end)),
        Some(_) => Err(UriError::new(UriErrorKind::IpLiteral, end)),
    }
}

/// Checks `port = *DIGIT`, from `start` to the end of `text` (3.2.3).
fn port(text: &[u8], start: usize) -> Result<(), UriError> {
    match text[start..].iter().position(|&byte| !DIGIT.has(byte)) {
        None => Ok(()),
        Some(skip) => {
            let at = start + skip;
            let second_at_sign = text[at] == b'@';
            let kind = if second_at_sign { UriErrorKind::Delimiter } else { UriErrorKind::Port };
            Err(UriError::new(kind, at))
        }
    }
}

#[cfg(test)]
mod tests;
