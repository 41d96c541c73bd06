//! `whatwg`: the serialization of the WHATWG URL parser.
//!
//! The `url` crate parses, except where it departs from the standard. `file` URLs have a parser of
//! their own ([`whatwg_file`]), and so have paths in which the crate keeps a segment that looks
//! like a drive; `^` is encoded in paths that are lists of segments, and so is a space at the end
//! of one that is not, before `?` or `#`. One difference remains: the crate rejects some A-labels
//! that do not decode (`xn--`), which the standard now accepts; such records are compared by their
//! bytes.
//!
//! Most records are `http` or `https` URIs of RFC 3986, on which the two nearly agree, and these
//! need no parser: scheme and host become lower case, a default port and dot segments are dropped,
//! an empty path becomes `/`. The one difference is that percent-encodings are unchanged. Nearly all take
//! the fast path of normalization. Those with a port to be rewritten, with encoded dot segments or
//! with percent-encodings in the host take a simple path, as do those without segments (`mailto:`). The
//! crate parses all others.

use core::ops::Range;
use std::borrow::Cow;

use url::{Position, Url};

use super::whatwg_file;
use crate::grammar::class::{ALPHA, ByteClass, DIGIT};
use crate::index::{Record, low_bits};
use crate::normalize::fast::{self, Canonical};
use crate::normalize::percent::decoded;
use crate::normalize::{Level, Options, has_long_name};
use crate::simd::table::{NibbleTables, nibble_tables};
use crate::simd::{BLOCK, Isa};
use crate::uri::dots::remove_dot_segments;
use crate::uri::fast::components;
use crate::uri::{Components, UriError, UriErrorKind, parse, parse_ipv4};

/// The result of the parser for `record`: its own bytes, or bytes in `out`.
#[inline(always)]
pub(super) fn form<'a, I: Isa>(
    isa: I,
    record: Record<'a>,
    out: &'a mut Vec<u8>,
) -> Result<&'a [u8], UriError> {
    match fast_form(isa, record, out) {
        Some(Canonical::InPlace(len)) => return Ok(&record.bytes()[..len]),
        Some(Canonical::InScratch(len)) => return Ok(&out[..len]),
        None => {}
    }
    let parts = components(isa, record);
    if write_plainly(record.bytes(), parts, out).is_some() {
        return Ok(out);
    }
    by_crate(record.bytes(), out)
}

#[inline(always)]
fn fast_form<I: Isa>(isa: I, record: Record<'_>, out: &mut Vec<u8>) -> Option<Canonical> {
    let options = Options { level: Level::Scheme, drop_fragment: false };
    let (mut plan, end) = fast::plan(isa, options, record)?;
    let port = if plan.drop_port { plan.host_end } else { plan.path_start };
    // A percent-encoding that encodes a dot may be part of a dot segment.
    if plan.triplets.dot || !agrees(isa, record, plan.host_end..port) {
        return None;
    }
    plan.triplets.work = false;
    Some(fast::carry_out(isa, &plan, record, end, out))
}

/// Replaces `out` with the result of the parser for `uri`, component by component; `None` if only
/// the crate can decide. `parts` are its components, if they are known already.
#[inline(never)]
fn write_plainly(uri: &[u8], parts: Option<Components>, out: &mut Vec<u8>) -> Option<()> {
    let parts = parts.or_else(|| parse(uri).ok())?;
    let scheme = parts.scheme(uri)?;
    let Some(default_port) = default_port(scheme) else {
        // A path that is not a list of segments is unchanged, and so is the rest.
        let is_opaque = parts.authority_start == 0 && !parts.path(uri).starts_with(b"/");
        if !is_opaque || scheme.eq_ignore_ascii_case(b"file") {
            return None;
        }
        out.clear();
        out.extend(scheme.iter().map(u8::to_ascii_lowercase));
        out.extend_from_slice(&uri[scheme.len()..]);
        return Some(());
    };
    let host = parts.host(uri)?;
    let is_encoded = memchr::memchr(b'%', host).is_some();
    let host = if is_encoded { Cow::Owned(decoded(host)) } else { Cow::Borrowed(host) };
    let has_userinfo = parts.host_start != parts.authority_start;
    if has_userinfo || !is_plain_host(&host) || memchr::memchr(b'\'', uri).is_some() {
        return None;
    }
    let digits = parts.port(uri).unwrap_or_default();
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    // The port 0 keeps a zero.
    let digits = &digits[zeros.min(digits.len().saturating_sub(1))..];
    let number = if digits.len() > 5 { u64::MAX } else { number(digits) };
    if number > u64::from(u16::MAX) {
        return None;
    }

    out.clear();
    out.extend(scheme.iter().map(u8::to_ascii_lowercase));
    out.extend_from_slice(b"://");
    out.extend(host.iter().map(u8::to_ascii_lowercase));
    if !digits.is_empty() && number != u64::from(default_port) {
        out.push(b':');
        out.extend_from_slice(digits);
    }
    let start = out.len();
    push_path(parts.path(uri), out);
    remove_dot_segments(out, start);
    out.extend_from_slice(&uri[parts.path_end as usize..]);
    Some(())
}

/// Appends `path`, which is empty or begins with `/`, with encoded dot segments decoded; `/` for an
/// empty one.
fn push_path(path: &[u8], out: &mut Vec<u8>) {
    out.push(b'/');
    for (i, segment) in path.get(1..).unwrap_or_default().split(|&byte| byte == b'/').enumerate() {
        if i > 0 {
            out.push(b'/');
        }
        let is_short = segment.len() <= "%2e%2e".len();
        match is_short.then(|| decoded(segment)).as_deref() {
            Some(b".") => out.push(b'.'),
            Some(b"..") => out.extend_from_slice(b".."),
            _ => out.extend_from_slice(segment),
        }
    }
}

/// Schemes that are special by the standard, except `file`, and their default ports.
const SPECIAL: [(&[u8], u16); 5] =
    [(b"http", 80), (b"https", 443), (b"ws", 80), (b"wss", 443), (b"ftp", 21)];

fn default_port(scheme: &[u8]) -> Option<u16> {
    SPECIAL.iter().find(|(name, _)| name.eq_ignore_ascii_case(scheme)).map(|&(_, port)| port)
}

/// The value of a few digits.
fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// Whether RFC 3986 and WHATWG agree on `record`, a valid URI without userinfo, apart from
/// percent-encodings. Its host ends where `port` starts, the port that is kept and its `:`.
#[inline(always)]
fn agrees<I: Isa>(isa: I, record: Record<'_>, port: Range<usize>) -> bool {
    // The default port and all other scheme-specific rules are the same in both for these schemes.
    let block = record.block(0);
    let colons = isa.equal(block, b':');
    let colon = (colons.trailing_zeros() as usize).min(BLOCK - 3);
    let is_http = colon == 4 + usize::from(block[4] | 0x20 == b's')
        && block[..4].eq_ignore_ascii_case(b"http");
    if !is_http && default_port(&block[..colon]).is_none()
        || block[colon + 1..colon + 3] != *b"//"
        || port.start < colon + 3
    {
        return false;
    }
    let has_port = port.start < port.end;
    // In the query of these schemes an apostrophe is encoded. Its position hardly matters: it is
    // rare.
    let mut apostrophes = 0;
    for at in (0..record.len()).step_by(BLOCK) {
        apostrophes |= isa.equal(record.block(at), b'\'') & low_bits(record.len() - at);
    }
    apostrophes == 0
        && is_plain_host_in(isa, block, colon + 3..port.start)
        && !(has_port && number(&block[port.start + 1..port.end]) > u64::from(u16::MAX))
}

/// [`is_plain_host`] for the host at `host` of `block`, by masks.
#[inline(always)]
fn is_plain_host_in<I: Isa>(isa: I, block: &[u8; BLOCK], host: Range<usize>) -> bool {
    let bits = low_bits(host.end) & !low_bits(host.start);
    let dots = isa.equal(block, b'.') & bits;
    let hyphens = isa.equal(block, b'-') & bits;
    let known = isa.members(block, &HOST_NIBBLES) & bits;
    if known != bits || hyphens & hyphens << 1 != 0 {
        return false;
    }
    let last_label = if dots == 0 { host.start } else { 64 - dots.leading_zeros() as usize };
    if last_label >= host.end {
        return false;
    }
    !block[last_label].is_ascii_digit() || parse_ipv4(&block[host]).is_some()
}

/// Whether `host` is the same to both except for its case: not a name that IDNA would map, and not
/// a number other than a valid address.
fn is_plain_host(host: &[u8]) -> bool {
    let (mut before, mut is_plain, mut last_label) = (b'.', true, 0);
    for (at, &byte) in host.iter().enumerate() {
        // `--` is typical of A-labels, and rare elsewhere.
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
const HOST_BYTE: ByteClass = ALPHA.or(DIGIT).or(ByteClass::of(b"-._"));
const HOST: [bool; 256] = HOST_BYTE.table();
static HOST_NIBBLES: NibbleTables = nibble_tables(HOST_BYTE);

/// The result of the crate, or that of the standard where they differ.
#[cold]
#[inline(never)]
fn by_crate<'a>(text: &[u8], out: &'a mut Vec<u8>) -> Result<&'a [u8], UriError> {
    let refused = |at: usize| UriError { kind: UriErrorKind::Profile, at: at as u32 };
    let text = str::from_utf8(text).map_err(|error| refused(error.valid_up_to()))?;
    out.clear();
    if has_long_name(text.as_bytes()) {
        return Err(refused(0));
    }
    let cleaned = whatwg_file::clean(text);
    if let Some(rest) = whatwg_file::after_scheme(&cleaned) {
        return whatwg_file::write(rest, out).map(|()| &out[..]).ok_or(refused(0));
    }
    let url = Url::parse(text).map_err(|_| refused(0))?;
    if let Some(path) = whatwg_file::path_with_drive(&cleaned, &url) {
        let head = if url.has_authority() { Position::BeforePath } else { Position::AfterScheme };
        for part in [&url[..head], &path, &url[Position::AfterPath..]] {
            out.extend_from_slice(part.as_bytes());
        }
        return Ok(out);
    }
    let (path, tail) = (url.path(), &url[Position::AfterPath..]);
    let path = if !url.cannot_be_a_base() {
        if path.contains('^') { Cow::Owned(path.replace('^', "%5E")) } else { Cow::Borrowed(path) }
    } else if let Some(front) = path.strip_suffix(' ').filter(|_| !tail.is_empty()) {
        Cow::Owned(format!("{front}%20"))
    } else {
        Cow::Borrowed(path)
    };
    for part in [&url[..Position::BeforePath], &path, tail] {
        out.extend_from_slice(part.as_bytes());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simd::{Kernels, Task};

    proptest! {
        #[test]
        fn masks_recognize_plain_hosts(host in "([a-zA-Z0-9._-]{0,8}|[!-~]{0,4}|[0-9]{1,3}(\\.[0-9]{1,3}){3}\\.?)", at_end in any::<bool>()) {
            struct Ask<'a>(&'a [u8; BLOCK], Range<usize>);
            impl Task for Ask<'_> {
                type Output = bool;
                #[inline(always)]
                fn run<I: Isa>(self, isa: I) -> bool {
                    is_plain_host_in(isa, self.0, self.1)
                }
            }
            let at = if at_end { BLOCK - host.len() } else { 7 };
            let mut block = [b'a'; BLOCK];
            block[at..at + host.len()].copy_from_slice(host.as_bytes());
            for kernels in Kernels::available() {
                let by_masks = kernels.run(Ask(&block, at..at + host.len()));
                prop_assert_eq!(by_masks, is_plain_host(host.as_bytes()), "{}", host);
            }
        }
    }
}
