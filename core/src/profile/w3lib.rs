//! `w3lib`: the form of a URL by Scrapy's `w3lib.url.canonicalize_url` (2.5, with its defaults).
//!
//! It reads a URL like Python's `urlsplit`, which accepts nearly anything: non-ASCII letters,
//! spaces, a reference without a scheme. Then, in the order of the output:
//!
//! - the scheme is in lower case;
//! - both halves of the userinfo are decoded and encoded again; the host is in lower case, in
//!   A-labels if it is not ASCII, an IPv6 address in the form of RFC 5952; a port is a number, also
//!   the default one;
//! - percent-encodings of the path are decoded, except `%`, `/`, `;` and `?`, and encoded again where
//!   necessary; dot segments are removed; an empty path is `/`. The text after `;` in the last
//!   segment is unchanged in schemes that have parameters;
//! - parameters of the query are decoded (`+` is a space), sorted by name and value, and encoded
//!   again, each with its `=`; empty ones are dropped;
//! - the fragment is dropped.

use std::net::Ipv6Addr;

use memchr::{memchr, memchr2, memchr3, memrchr};

use crate::chunk::Prefix;
use crate::grammar::byte_words;
use crate::grammar::class::{ByteClass, DIGIT, UNRESERVED};
use crate::index::{Bits, Record, low_bits};
use crate::normalize::fast::{self, Canonical};
use crate::normalize::percent::{decode_each, push_encoded, triplet};
use crate::normalize::{LONGEST_NAME, Level, Options};
use crate::simd::table::{NibbleTables, nibble_tables};
use crate::simd::{BLOCK, Isa};
use crate::uri::{UriError, UriErrorKind, dots};

/// Schemes in which `\` means `/` by the WHATWG URL Standard.
const SPECIAL: [&[u8]; 6] = byte_words("ftp file http https ws wss");

/// Schemes that have parameters after `;` by Python.
const WITH_PARAMS: [&[u8]; 15] =
    byte_words("http https ftp hdl prospero imap shttp rtsp rtsps rtspu sip sips mms sftp tel");

/// Schemes that have an authority by Python: an empty one is written.
const WITH_AUTHORITY: [&[u8]; 26] = byte_words(
    "http https ftp file gopher nntp telnet imap wais mms shttp snews prospero rtsp rtsps rtspu rsync svn \
     svn+ssh sftp nfs git git+ssh ws wss itms-services",
);

/// Characters that are not encoded: in a userinfo, in a path as given, in a path, and in a
/// parameter.
const USERINFO: ByteClass = UNRESERVED.or(ByteClass::of(b"!$&'()*+,"));
const RAW: ByteClass = UNRESERVED.or(ByteClass::of(b":/?@!$&'()*+,;=%"));
const PATH: ByteClass = UNRESERVED.or(ByteClass::of(b":/?[]@!$&'()*+,;=|%"));
const PARAM: ByteClass = UNRESERVED;

/// Characters of a host, of a path and of a parameter that are in the form as they are, but for dot segments.
static PLAIN_HOST: NibbleTables =
    nibble_tables(ByteClass::range(b'a', b'z').or(DIGIT).or(ByteClass::of(b"-._")));
static PLAIN_PATH: NibbleTables = nibble_tables(UNRESERVED.or(ByteClass::of(b"/:@!$&'()*+,=")));
static PLAIN_PARAM: [bool; 256] = PARAM.table();

/// Characters that are in the form of a path as they are, although they were encoded, and of a parameter as another one.
const DECODED_IN_PATH: ByteClass = ByteClass::of(b":[]@!$&'()*+,=|");
const SPACE: ByteClass = ByteClass::of(b" ");

const REFUSED: UriError = UriError { kind: UriErrorKind::Profile, at: 0 };

/// Buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    text: Vec<u8>,
    query: Vec<u8>,
    /// Where the name of each parameter begins, where it ends, and where its value ends.
    params: Vec<[u32; 3]>,
}

/// The form of `record`: a prefix of its own bytes, or bytes in `out`.
#[inline(always)]
pub(super) fn form<'a, I: Isa>(
    isa: I,
    record: Record<'a>,
    scratch: &mut Scratch,
    out: &'a mut Vec<u8>,
) -> Result<&'a [u8], UriError> {
    let text = record.bytes();
    if let Some(len) = plain_len(isa, record.padded().into()) {
        return Ok(&text[..len]);
    }
    match fast_form(isa, record, out) {
        Some(len) => Ok(&out[..len]),
        None => any_form(text, scratch, out),
    }
}

/// The length of the form, which `out` begins with, if it can be seen at once in the canonical form by RFC 3986: where nothing is
/// encoded there, it is what this form is made of, but for the port.
#[inline(always)]
fn fast_form<I: Isa>(isa: I, record: Record<'_>, out: &mut Vec<u8>) -> Option<usize> {
    let options = Options { level: Level::Scheme, drop_fragment: true };
    let (mut plan, end) = fast::plan(isa, options, record)?;
    // The default port stays, and an empty one does not.
    plan.drop_port &= plan.path_start == plan.host_end + 1;
    match fast::carry_out(isa, &plan, record, end, out) {
        // Nothing is to be changed that could have been.
        Canonical::InPlace(_) => None,
        Canonical::InScratch(len) => plain_len(isa, Prefix::new(out, len)),
    }
}

/// The length of the form of `text` if it can be seen at once that it is a prefix: of a web URL with nothing to encode or
/// decode, without user and dot segments, whose parameters are in order. Always `None` if a block may not be read after it.
#[inline(always)]
fn plain_len<I: Isa>(isa: I, text: Prefix<'_>) -> Option<usize> {
    let (bytes, slack) = (text.bytes(), text.slack());
    let host = if bytes.starts_with(b"https://") { 8 } else { 7 };
    if host == 7 && !bytes.starts_with(b"http://") || slack.len() <= bytes.len() + BLOCK {
        return None;
    }
    let block = |at: usize| slack[at..].first_chunk::<BLOCK>().expect("there is room");
    let others = !isa.members(block(0), &PLAIN_HOST) & !low_bits(host) & low_bits(bytes.len());
    let host_end = others.trailing_zeros() as usize;
    if others == 0 || host_end == host {
        return None;
    }
    let path = match bytes[host_end] {
        b':' => host_end + 1 + plain_port(&bytes[host_end + 1..])?,
        _ => host_end,
    };
    if bytes.get(path) != Some(&b'/') {
        return None;
    }
    let mut end = bytes.len();
    for at in (path / BLOCK * BLOCK..bytes.len()).step_by(BLOCK) {
        let inside = !low_bits(path.saturating_sub(at)) & low_bits(bytes.len() - at);
        let percents = isa.equal(block(at), b'%') & inside;
        let stops = !isa.members(block(at), &PLAIN_PATH) & !percents & inside;
        if stops != 0 {
            end = at + stops.trailing_zeros() as usize;
        }
        let mut triplets = Bits(percents).map(|bit| at + bit as usize).take_while(|&at| at < end);
        if !triplets.all(|at| stays_encoded(&bytes[at..end], DECODED_IN_PATH)) {
            return None;
        }
        // The dot of a segment is a byte of the path, too.
        let inside = inside & low_bits((end - 1).saturating_sub(at));
        if isa.equal(block(at), b'/') & isa.equal(block(at + 1), b'.') & inside != 0 {
            return None;
        }
        if stops != 0 {
            break;
        }
    }
    match bytes.get(end) {
        None | Some(b'#') => Some(end),
        Some(b'?') => plain_query(&bytes[end + 1..]).map(|len| end + len),
        Some(_) => None,
    }
}

/// The length of the port that `text` begins with, before a slash, if it is one and written without zeros before it.
fn plain_port(text: &[u8]) -> Option<usize> {
    let len = text.iter().take(6).position(|&byte| byte == b'/')?;
    let number = text[..len].iter().try_fold(0, |number, &digit| {
        digit.is_ascii_digit().then(|| 10 * number + u32::from(digit - b'0'))
    })?;
    (len > 0 && (text[0] != b'0' || len == 1) && number <= u16::MAX.into()).then_some(len)
}

/// Whether `text` begins with a percent-encoding that stays as it is: in upper case, of a byte that is neither unreserved nor in
/// `decoded`.
fn stays_encoded(text: &[u8], decoded: ByteClass) -> bool {
    let is_lower = |digits: &[u8]| digits.iter().any(u8::is_ascii_lowercase);
    let byte = triplet(text, 0).filter(|_| !is_lower(&text[1..3]));
    byte.is_some_and(|byte| !UNRESERVED.or(decoded).has(byte))
}

/// The length of `?` and the form of the query at the beginning of `text`, if it is as written.
fn plain_query(text: &[u8]) -> Option<usize> {
    if matches!(text.first(), None | Some(b'#')) {
        return Some(0);
    }
    let mut last = (&b""[..], &b""[..], false);
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let name = len_while(rest, &PLAIN_PARAM);
        if rest.get(name) != Some(&b'=') {
            return None;
        }
        let (value, is_encoded) = plain_value(&rest[name + 1..])?;
        let param = (&rest[..name], &rest[name + 1..][..value], is_encoded);
        // What is encoded is compared without that.
        if param < last || param.0 == last.0 && (is_encoded || last.2) && at > 0 {
            return None;
        }
        last = param;
        at += name + 1 + value;
        match text.get(at) {
            None | Some(b'#') => return Some(1 + at),
            Some(b'&') => at += 1,
            Some(_) => return None,
        }
    }
}

/// The length of the value that `text` begins with, if it is as written, and whether something in it is encoded.
fn plain_value(text: &[u8]) -> Option<(usize, bool)> {
    let mut len = len_while(text, &PLAIN_PARAM);
    let mut is_encoded = false;
    loop {
        match text.get(len) {
            Some(b'+') => len += 1,
            Some(b'%') if stays_encoded(&text[len..], SPACE) => len += 3,
            Some(b'%') => return None,
            _ => return Some((len, is_encoded)),
        }
        is_encoded = true;
        len += len_while(&text[len..], &PLAIN_PARAM);
    }
}

/// The length of the longest prefix of `text` that has bytes of `class` only.
fn len_while(text: &[u8], class: &[bool; 256]) -> usize {
    text.iter().position(|&byte| !class[usize::from(byte)]).unwrap_or(text.len())
}

/// The form of any `text`, in `out`.
fn any_form<'a>(
    text: &[u8],
    scratch: &mut Scratch,
    out: &'a mut Vec<u8>,
) -> Result<&'a [u8], UriError> {
    out.clear();
    let Scratch { text: cleaned, query: decoded, params } = scratch;
    clean_into(text, cleaned);

    let scheme_len = scheme_len(cleaned);
    out.extend_from_slice(&cleaned[..scheme_len]);
    out.make_ascii_lowercase();
    let start = if scheme_len > 0 { scheme_len + 1 } else { 0 };
    if SPECIAL.contains(&out.as_slice()) {
        let end = memchr2(b'?', b'#', &cleaned[start..]).map_or(cleaned.len(), |at| start + at);
        cleaned[start..end].iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
    }
    let scheme = scheme_of(out);
    let mut rest = &cleaned[start..];
    if scheme_len > 0 {
        out.push(b':');
    }

    let authority_at = out.len();
    out.extend_from_slice(b"//");
    if let Some(after) = rest.strip_prefix(b"//") {
        let end = memchr3(b'/', b'?', b'#', after).unwrap_or(after.len());
        authority_into(&after[..end], out)?;
        rest = &after[end..];
    }
    let has_authority = out.len() > authority_at + 2;
    rest = &rest[..memchr(b'#', rest).unwrap_or(rest.len())];
    let (path, query) = match memchr(b'?', rest) {
        Some(mark) => (&rest[..mark], &rest[mark + 1..]),
        None => (rest, &rest[..0]),
    };

    let path_at = out.len();
    let last = memrchr(b'/', path).map_or(0, |slash| slash + 1);
    let params_at = memchr(b';', &path[last..]).filter(|_| scheme.has_params).map(|at| last + at);
    path_into(&path[..params_at.unwrap_or(path.len())], out);
    if let Some(params_at) = params_at.filter(|at| at + 1 < path.len()) {
        out.push(b';');
        path[params_at + 1..].iter().for_each(|&byte| push_encoded(byte, RAW, out));
    }
    let has_root = out[path_at..].starts_with(b"/");
    if has_authority {
        if !has_root {
            out.insert(path_at, b'/');
        }
    } else if !(out[path_at..].starts_with(b"//") || (scheme.has_authority && has_root)) {
        out.drain(authority_at..path_at);
    }
    query_into(query, decoded, params, out);
    Ok(out)
}

/// The properties of a scheme.
struct Scheme {
    has_params: bool,
    has_authority: bool,
}

fn scheme_of(name: &[u8]) -> Scheme {
    if matches!(name, b"http" | b"https") {
        return Scheme { has_params: true, has_authority: true };
    }
    Scheme {
        has_params: name.is_empty() || WITH_PARAMS.contains(&name),
        has_authority: WITH_AUTHORITY.contains(&name),
    }
}

/// Replaces `out` with `text` without controls and spaces around it, and without tabs and line ends
/// in it; bytes that are not UTF-8 are encoded.
fn clean_into(text: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let others = if text.is_ascii() { &[][..] } else { text };
    out.extend_from_slice(&text[..text.len() - others.len()]);
    for chunk in others.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        chunk.invalid().iter().for_each(|&byte| push_encoded(byte, RAW, out));
    }
    // Without an early end the loop is one over blocks.
    if out.iter().fold(false, |has, &byte| has | (byte <= b' ')) {
        let from = out.iter().position(|&byte| byte > b' ').unwrap_or(out.len());
        let to = out.iter().rposition(|&byte| byte > b' ').map_or(from, |last| last + 1);
        out.truncate(to);
        out.drain(..from);
        out.retain(|byte| !b"\t\n\r".contains(byte));
    }
}

/// The length of the scheme of `text`; 0 without one.
fn scheme_len(text: &[u8]) -> usize {
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let len = text.iter().position(|byte| !is_inside(byte)).unwrap_or(0);
    let is_scheme = text.get(len) == Some(&b':') && text[0].is_ascii_alphabetic();
    if is_scheme { len } else { 0 }
}

/// Appends the authority.
fn authority_into(authority: &[u8], out: &mut Vec<u8>) -> Result<(), UriError> {
    let at = memrchr(b'@', authority);
    let has_brackets = memchr(b'[', authority).is_some();
    if has_brackets != memchr(b']', authority).is_some() {
        return Err(REFUSED);
    }
    if let Some(at) = at {
        let (user, password) = match memchr(b':', &authority[..at]) {
            Some(colon) => (&authority[..colon], Some(&authority[colon + 1..at])),
            None => (&authority[..at], None),
        };
        again_into(user, out);
        if let Some(password) = password {
            out.push(b':');
            again_into(password, out);
        }
        out.push(b'@');
    }
    let host = &authority[at.map_or(0, |at| at + 1)..];
    let port = if has_brackets {
        literal_into(host, out)?
    } else {
        let end = memchr(b':', host).unwrap_or(host.len());
        name_into(&host[..end], out);
        host.get(end + 1..).unwrap_or_default()
    };
    if !port.is_empty() {
        let digits = str::from_utf8(port).ok().filter(|_| port.iter().all(u8::is_ascii_digit));
        let digits = digits.ok_or(REFUSED)?.trim_start_matches('0');
        let number: u16 =
            if digits.is_empty() { 0 } else { digits.parse().map_err(|_| REFUSED)? };
        out.push(b':');
        out.extend_from_slice(number.to_string().as_bytes());
    }
    Ok(())
}

/// Appends half of a userinfo, decoded and encoded again.
fn again_into(text: &[u8], out: &mut Vec<u8>) {
    decode_each(text).for_each(|(byte, _)| push_encoded(byte, USERINFO, out));
}

/// Appends a host without brackets.
fn name_into(host: &[u8], out: &mut Vec<u8>) {
    if host.is_ascii() {
        out.extend(host.iter().map(u8::to_ascii_lowercase));
        return;
    }
    // Cleaned text is UTF-8.
    let host = String::from_utf8_lossy(host);
    let ascii = (host.len() <= LONGEST_NAME).then(|| idna::domain_to_ascii(&host));
    match ascii {
        Some(Ok(ascii)) => out.extend_from_slice(ascii.as_bytes()),
        _ => out.extend_from_slice(host.to_lowercase().as_bytes()),
    }
}

/// Appends a host in brackets; returns the port.
fn literal_into<'a>(host: &'a [u8], out: &mut Vec<u8>) -> Result<&'a [u8], UriError> {
    let inside = host.strip_prefix(b"[").ok_or(REFUSED)?;
    let end = memchr(b']', inside).ok_or(REFUSED)?;
    let (literal, rest) = (&inside[..end], &inside[end + 1..]);
    let port = match rest.split_first() {
        None => &[][..],
        Some((b':', port)) => port,
        Some(_) => return Err(REFUSED),
    };
    if let Some(future) = literal.strip_prefix(b"v") {
        let digits = future.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let is_future =
            digits > 0 && future.get(digits) == Some(&b'.') && future.len() > digits + 1;
        if !is_future || !literal.is_ascii() {
            return Err(REFUSED);
        }
        let has_colon = memchr(b':', literal).is_some();
        // The brackets are dropped unless the host needs them.
        if has_colon {
            out.push(b'[');
        }
        out.extend(literal.iter().map(u8::to_ascii_lowercase));
        if has_colon {
            out.push(b']');
        }
        return Ok(port);
    }
    let zone = memchr(b'%', literal).unwrap_or(literal.len());
    let address = str::from_utf8(&literal[..zone]).ok().and_then(|text| text.parse().ok());
    let address: Ipv6Addr =
        address.filter(|_| literal.is_ascii() && zone + 1 != literal.len()).ok_or(REFUSED)?;
    out.extend_from_slice(format!("[{address}").as_bytes());
    out.extend(literal[zone..].iter().map(u8::to_ascii_lowercase));
    out.push(b']');
    Ok(port)
}

/// Appends the path without its parameters.
fn path_into(path: &[u8], out: &mut Vec<u8>) {
    if path.is_empty() {
        out.push(b'/');
        return;
    }
    let start = out.len();
    let rest = append_while(path, |byte| byte != b'%' && PATH.has(byte), out);
    for (byte, is_encoded) in decode_each(rest) {
        // Delimiters of this component stay encoded.
        let stays = is_encoded && b"%/;?".contains(&byte);
        push_encoded(byte, if stays { PARAM } else { PATH }, out);
    }
    if out[start] == b'/' {
        dots::remove_dot_segments(out, start);
    }
}

/// Appends `?` and the query, if there is a parameter that is not empty.
fn query_into(query: &[u8], decoded: &mut Vec<u8>, params: &mut Vec<[u32; 3]>, out: &mut Vec<u8>) {
    decoded.clear();
    params.clear();
    for param in query.split(|&byte| byte == b'&').filter(|param| !param.is_empty()) {
        let name_len = memchr(b'=', param).unwrap_or(param.len());
        let start = decoded.len();
        form_decode_into(&param[..name_len], decoded);
        let name_end = decoded.len();
        form_decode_into(param.get(name_len + 1..).unwrap_or_default(), decoded);
        params.push([start, name_end, decoded.len()].map(|at| at as u32));
    }
    let halves = |param: &[u32; 3]| {
        let [start, name_end, end] = param.map(|at| at as usize);
        (&decoded[start..name_end], &decoded[name_end..end])
    };
    params.sort_unstable_by(|a, b| halves(a).cmp(&halves(b)));
    for (i, param) in params.iter().enumerate() {
        out.push(if i == 0 { b'?' } else { b'&' });
        let (name, value) = halves(param);
        form_encode_into(name, out);
        out.push(b'=');
        form_encode_into(value, out);
    }
}

/// Appends the first bytes of `text`, as long as they are plain, at once; returns the rest, which is nearly always empty.
fn append_while<'t>(text: &'t [u8], is_plain: impl Fn(u8) -> bool, out: &mut Vec<u8>) -> &'t [u8] {
    let end = text.iter().position(|&byte| !is_plain(byte)).unwrap_or(text.len());
    out.extend_from_slice(&text[..end]);
    &text[end..]
}

fn form_decode_into(text: &[u8], out: &mut Vec<u8>) {
    let read =
        |(byte, is_encoded): (u8, bool)| if byte == b'+' && !is_encoded { b' ' } else { byte };
    let rest = append_while(text, |byte| !b"%+".contains(&byte), out);
    out.extend(decode_each(rest).map(read));
}

fn form_encode_into(text: &[u8], out: &mut Vec<u8>) {
    for &byte in append_while(text, |byte| PARAM.has(byte), out) {
        match byte {
            b' ' => out.push(b'+'),
            byte => push_encoded(byte, PARAM, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::{Profile, Profiler};
    use crate::simd::{Kernels, Task};

    struct PlainLen<'a>(Prefix<'a>);

    impl Task for PlainLen<'_> {
        type Output = Option<usize>;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Option<usize> {
            plain_len(isa, self.0)
        }
    }

    /// [`plain_len`] of `text` with `after` after it, the same on every backend.
    fn seen_at_once(text: &str, after: &str) -> Option<usize> {
        let slack = format!("{text}{after}");
        let prefix = Prefix::new(slack.as_bytes(), text.len());
        let found: Vec<_> =
            Kernels::available().map(|kernels| kernels.run(PlainLen(prefix))).collect();
        assert!(found.iter().all(|it| *it == found[0]), "{text}");
        found[0]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]
        #[test]
        fn what_is_seen_at_once_is_what_takes_long(
            text in "(https?|HTTP|ftp)://[a-c.A_-]{0,4}([:@][0-9a]{0,2})?(/([a-c.~:@!%;|*'=+&,\\[-]{0,3}|\\.\\.|%2e|%41|%2[F0-9]|%7c|%C3)){0,3}([?](([a-c~%+]|%7e){0,2}=?([a-c~=+%/ ]|%2[0Ff]|%3D){0,2}&?){0,3})?(#[a ?&\\t%]{0,3})?",
        ) {
            let mut out = Vec::new();
            let expected = any_form(text.as_bytes(), &mut Scratch::default(), &mut out);
            let more = "/.%:".repeat(20);
            for after in ["", &more] {
                if let Some(len) = seen_at_once(&text, after) {
                    prop_assert_eq!(expected, Ok(&text.as_bytes()[..len]));
                }
            }
            for kernels in Kernels::available() {
                let mut profiler = Profiler::with_kernels(Profile::W3lib, kernels);
                prop_assert_eq!(profiler.form(text.as_bytes()), expected, "{}", text);
            }
        }
    }

    #[test]
    fn most_urls_are_seen_at_once() {
        for (text, expected) in [
            ("http://h/", Some(9)),
            ("https://www.h.example/a/b-c.html#x%", Some(32)),
            ("http://h/?", Some(9)),
            ("http://h/?#x", Some(9)),
            ("http://h/p?a=1&b=2&b=3&c=", Some(25)),
            ("http://h/p?=&a=#x", Some(15)),
            ("http://h/p?b=2&a=1", None),
            ("http://h/p?a=2&a=1", None),
            ("http://h/p?a&b=1", None),
            ("http://h/p?a=1&&b=1", None),
            ("http://h/p?a=1&", None),
            ("http://h/p?a=b=c", None),
            ("http://h/p?a=b+c", Some(16)),
            ("http://h/p?a=%20", None),
            ("http://h/p?a=%41", None),
            ("http://h/p?a=%2f", None),
            ("http://h/p?a=%2F&b=%C3%A4+", Some(26)),
            ("http://h/p?a=%2F&a=b", None),
            ("http://h/p?a=b&a=+", None),
            ("http://h/p?%2F=a", None),
            ("http://h/%2F%25%7B%C3#%", Some(21)),
            ("http://h/%2", None),
            ("http://h/%3D", None),
            ("http://h/%41", None),
            ("http://h", None),
            ("http:///", None),
            ("http://H/", None),
            ("http://h:80/", Some(12)),
            ("http://h:0/a", Some(12)),
            ("http://h:65535/", Some(15)),
            ("http://h:65536/", None),
            ("http://h:080/", None),
            ("http://h:/", None),
            ("http://h:8a/", None),
            ("http://u@h/", None),
            ("http://h/./", None),
            ("http://h/a;b", None),
            ("http://h/a ", None),
            ("ftp://h/", None),
        ] {
            assert_eq!(seen_at_once(text, &" ".repeat(80)), expected, "{text}");
        }
    }
}
