//! `whatwg`: the serialization of the WHATWG URL parser, as the `url` crate has it.
//!
//! Most records are `http` or `https` URIs of RFC 3986 about which the two agree but for a few things,
//! and these need no parser: scheme and host go to lower case, a default port and dot
//! segments go, an empty path becomes `/`, and triplets stay as they are, which is the one
//! difference. The crate has the word on all others.

use core::ops::Range;

use url::Url;

use crate::grammar::class::{ALPHA, ByteClass, DIGIT};
use crate::index::Record;
use crate::normalize::fast::{self, Canonical};
use crate::normalize::{Options, Rung};
use crate::simd::Isa;
use crate::uri::{ErrorKind, UriError, parse_ipv4};

/// What the parser makes of `record`: its own bytes, or bytes in `out`.
#[inline(always)]
pub(super) fn form<'a, I: Isa>(
    isa: I,
    record: Record<'a>,
    out: &'a mut Vec<u8>,
) -> Result<&'a [u8], UriError> {
    match fast_form(isa, record, out) {
        Some(Canonical::InPlace(len)) => Ok(&record.bytes()[..len]),
        Some(Canonical::InScratch(len)) => Ok(&out[..len]),
        None => by_crate(record.bytes(), out),
    }
}

#[inline(always)]
fn fast_form<I: Isa>(isa: I, record: Record<'_>, out: &mut Vec<u8>) -> Option<Canonical> {
    let options = Options { rung: Rung::Scheme, drop_fragment: false };
    let (mut plan, end) = fast::plan(isa, options, record)?;
    let port = if plan.drop_port { plan.host_end } else { plan.path_start };
    // A triplet that encodes a dot may be part of a dot segment.
    if plan.triplets.dot || !agrees(record.bytes(), plan.host_end..port) {
        return None;
    }
    plan.triplets.work = false;
    Some(fast::carry_out(isa, &plan, record, end, out))
}

/// Whether `uri`, valid, without userinfo, is one about which RFC 3986 and WHATWG agree but for triplets: its host ends
/// where `port` starts, the port that is kept and its `:`.
fn agrees(uri: &[u8], port: Range<usize>) -> bool {
    // A default port and all else that depends on the scheme is the same in both for these.
    let colon = uri.iter().take(6).position(|&byte| byte == b':').unwrap_or(0);
    let scheme = &uri[..colon];
    let is_special = [&b"http"[..], b"https", b"ws", b"wss", b"ftp"]
        .iter()
        .any(|name| scheme.eq_ignore_ascii_case(name));
    if !is_special || !uri[colon..].starts_with(b"://") || port.start < colon + 3 {
        return false;
    }
    let digits = uri.get(port.start + 1..port.end).unwrap_or_default();
    let number = digits.iter().fold(0u64, |number, digit| number * 10 + u64::from(digit - b'0'));
    // In the query of these schemes an apostrophe is encoded. Where it stands hardly matters: it is rare.
    number <= u64::from(u16::MAX)
        && is_settled(&uri[colon + 3..port.start])
        && memchr::memchr(b'\'', uri).is_none()
}

/// Whether `host` is the same to both but for its case: no name that IDNA looks into, no number but an
/// address as it should be.
fn is_settled(host: &[u8]) -> bool {
    let (mut before, mut is_plain, mut last_label) = (b'.', true, 0);
    for (at, &byte) in host.iter().enumerate() {
        // `--` is what A-labels have, and hardly any others.
        is_plain &= HOST[usize::from(byte)] && !(byte == b'-' && before == b'-');
        if byte == b'.' {
            last_label = at + 1;
        }
        before = byte;
    }
    match host.get(last_label) {
        None => false,
        Some(b'0'..=b'9') => is_plain && parse_ipv4(host).is_some(),
        Some(_) => is_plain,
    }
}

/// Letters, digits, `-`, `.` and `_`.
const HOST: [bool; 256] = ALPHA.or(DIGIT).or(ByteClass::of(b"-._")).table();

/// The answer of the crate.
#[cold]
#[inline(never)]
fn by_crate<'a>(text: &[u8], out: &'a mut Vec<u8>) -> Result<&'a [u8], UriError> {
    let refused = |at: usize| UriError { kind: ErrorKind::Profile, at: at as u32 };
    let text = str::from_utf8(text).map_err(|error| refused(error.valid_up_to()))?;
    let url = Url::parse(text).map_err(|_| refused(0))?;
    out.clear();
    out.extend_from_slice(url.as_str().as_bytes());
    Ok(out)
}
