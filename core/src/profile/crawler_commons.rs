//! `crawler-commons`: the form of a URL by `BasicURLNormalizer` of crawler-commons (1.4, with its
//! defaults), according to its documentation and its table of cases.
//!
//! - Without a scheme, the text before a first `/` is a host: `http://` is prepended. Schemes other
//!   than `http`, `https`, `ftp` and `file` are rejected.
//! - The fragment and the userinfo are dropped. Scheme and host are in lower case, the host without
//!   percent-encodings, in A-labels, without a final dot; a default or empty port is dropped; without a host
//!   so is the `//`. The bytes of a decoded host are not checked: it may hold a backslash or
//!   quotes.
//! - Percent-encodings of unreserved characters are decoded, the digits of others are in upper case. Bytes
//!   that no URI may hold are encoded, also `[`, `]` and a stray `%`, but not a backslash.
//! - Empty and dot segments of the path are removed, unless `java.net.URI` rejects the URL, as it
//!   does with a backslash, or with quotes in the host; an empty path is `/`.
//! - Parameters without a name are dropped, and so is the `=` before an empty value; the others are
//!   sorted by name, in their order if names are equal; an empty query is dropped.
//! - The authority of a `file` URL, with its userinfo and the case of its host, is unchanged if
//!   nothing else in the URL changes. Otherwise host and port are rewritten, without userinfo and,
//!   if there is no host, without `//`.
//!
//! Not followed, since Java's result would merge different hosts or is not a URL of the same host;
//! these are rejected: a host in which a percent-encoding encodes `:`, `@`, `/`, `?`, `#` or a control
//! character; an authority with more than one `@`, or with a backslash before it; a URL without a
//! host whose path keeps a `//` in place of a host. Also rejected are a `file` URL whose path does
//! not begin with `/`, a host with an empty label or a space, and a non-ASCII host that UTS #46
//! rejects.

use memchr::{memchr, memchr2, memrchr};

use crate::grammar::class::{ByteClass, UNRESERVED};
use crate::grammar::has_pair;
use crate::index::Record;
use crate::normalize::fast::{self, Canonical};
use crate::normalize::percent::{decode_each, push_encoded, triplet};
use crate::normalize::{LONGEST_NAME, Level, Options};
use crate::simd::Isa;
use crate::uri::{UriError, UriErrorKind};

/// ASCII characters that are not encoded in paths and queries.
const PLAIN: ByteClass = UNRESERVED.or(ByteClass::of(b":/?@!$&'()*+,;=\\"));

/// Characters that are not encoded in a host, and are valid there.
const NAME: ByteClass = UNRESERVED.or(ByteClass::of(b"!$&'()*+,;="));

/// Characters that Java also accepts in a host, and that no URI holds.
const ODD_NAME: ByteClass = ByteClass::of(b"\\\"<>^`{|}");

const REFUSED: UriError = UriError { kind: UriErrorKind::Profile, at: 0 };

/// Buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    query: Vec<u8>,
    /// Where the name of each parameter begins, where it ends, and where the parameter ends.
    params: Vec<[u32; 3]>,
    /// A `file` URL with only the changes that make it a URL.
    escaped: Vec<u8>,
}

/// The form of `record`: a prefix of its own bytes, or bytes in `out`.
#[inline(always)]
pub(super) fn form<'a, I: Isa>(
    isa: I,
    record: Record<'a>,
    scratch: &mut Scratch,
    out: &'a mut Vec<u8>,
) -> Result<&'a [u8], UriError> {
    match fast_form(isa, record, out) {
        Some(Canonical::InPlace(len)) => Ok(&record.bytes()[..len]),
        Some(Canonical::InScratch(len)) => Ok(&out[..len]),
        None => any_form(record.bytes(), scratch, out),
    }
}

/// The canonical form of a web URI, without its fragment, if it is the form here, too.
#[inline(always)]
fn fast_form<I: Isa>(isa: I, record: Record<'_>, out: &mut Vec<u8>) -> Option<Canonical> {
    let options = Options { level: Level::Scheme, drop_fragment: true };
    let (plan, end) = fast::plan(isa, options, record)?;
    if plan.dots {
        return None;
    }
    let canonical = fast::carry_out(isa, &plan, record, end, out);
    let form = match canonical {
        Canonical::InPlace(len) => &record.bytes()[..len],
        Canonical::InScratch(len) => &out[..len],
    };
    is_tidy(form).then_some(canonical)
}

/// Whether the canonical form `uri`, without dot segments that were removed, is that of a web URI with nothing to be dropped or
/// sorted: no empty label, segment or query, no parameter without a name or with an empty value.
fn is_tidy(uri: &[u8]) -> bool {
    let Some(after) = uri.strip_prefix(b"https://").or(uri.strip_prefix(b"http://")) else {
        return false;
    };
    let Some(path) = memchr(b'/', after) else { return false };
    let (authority, rest) = after.split_at(path);
    let host = &authority[..memchr(b':', authority).unwrap_or(path)];
    if matches!(host, [] | [b'.', ..] | [.., b'.']) || has_pair(host, *b"..") {
        return false;
    }
    let mark = memchr(b'?', rest).unwrap_or(rest.len());
    if has_pair(&rest[..mark], *b"//") {
        return false;
    }
    let mut last = &b""[..];
    rest.get(mark + 1..).is_none_or(|query| {
        query.split(|&byte| byte == b'&').all(|param| {
            let name = memchr(b'=', param).unwrap_or(param.len());
            let before = core::mem::replace(&mut last, &param[..name]);
            name > 0 && name + 1 != param.len() && before <= last
        })
    })
}

/// Replaces `out` with the form of `text`.
fn any_form<'a>(
    text: &[u8],
    scratch: &mut Scratch,
    out: &'a mut Vec<u8>,
) -> Result<&'a [u8], UriError> {
    out.clear();
    let from = text.iter().position(|&byte| byte > b' ').unwrap_or(text.len());
    let to = text.iter().rposition(|&byte| byte > b' ').map_or(from, |last| last + 1);
    let text = &text[from..to];
    let text = &text[..memchr(b'#', text).unwrap_or(text.len())];
    str::from_utf8(text)
        .map_err(|error| UriError { at: (from + error.valid_up_to()) as u32, ..REFUSED })?;
    if text.is_empty() {
        return Err(REFUSED);
    }

    let (scheme, mut rest) = match scheme_len(text) {
        Some(len) => {
            out.extend_from_slice(&text[..len]);
            out.make_ascii_lowercase();
            (scheme(out).ok_or(REFUSED)?, &text[len + 1..])
        }
        None => (Scheme { name: b"http", port: b"80" }, text),
    };
    let has_scheme = !out.is_empty();
    out.clear();
    if scheme.name == b"file" {
        file_into(text, rest, scratch, out)?;
        return Ok(out);
    }
    out.extend_from_slice(scheme.name);
    out.push(b':');
    let after = if has_scheme { rest.strip_prefix(b"//") } else { Some(rest) };
    if let Some(after) = after {
        let end = memchr2(b'/', b'?', after).unwrap_or(after.len());
        out.extend_from_slice(b"//");
        let start = out.len();
        authority_into(&after[..end], &scheme, out)?;
        rest = &after[end..];
        if out.len() == start {
            out.truncate(start - 2);
        }
    } else if !rest.is_empty() && rest[0] != b'/' {
        return Err(REFUSED);
    }

    let is_odd = out.iter().any(|&byte| ODD_NAME.has(byte));
    let path = out.len();
    path_and_query_into(rest, is_odd, scratch, out);
    // A path that keeps its `//` would be read as a host.
    if path == scheme.name.len() + 1 && out[path..].starts_with(b"//") {
        return Err(REFUSED);
    }
    Ok(out)
}

/// Appends the form of a `file` URL; `text` is all of it, and `rest` follows its `file:`.
fn file_into(
    text: &[u8],
    rest: &[u8],
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<(), UriError> {
    let after = rest.strip_prefix(b"//");
    let end = after.map_or(0, |after| memchr2(b'/', b'?', after).unwrap_or(after.len()));
    let (authority, rest) = after.unwrap_or(rest).split_at(end);
    let at = memchr(b'@', authority);
    let host = &authority[at.map_or(0, |at| at + 1)..];
    let colon = memchr(b':', host).unwrap_or(host.len());
    let (host, port) = (&host[..colon], host.get(colon + 1..).unwrap_or_default());
    let is_other_host = at != memrchr(b'@', authority)
        || at.is_some_and(|at| memchr(b'\\', &authority[..at]).is_some());
    let has_root = rest.first().is_none_or(|&byte| byte == b'/' || after.is_some());
    if is_other_host
        || memchr(b'[', authority).is_some()
        || !port.iter().all(u8::is_ascii_digit)
        || !has_root
    {
        return Err(REFUSED);
    }

    out.extend_from_slice(b"file:");
    let head = out.len();
    let is_odd = memchr(b'\\', authority).is_some();
    path_and_query_into(rest, is_odd, scratch, out);
    let escaped = &mut scratch.escaped;
    escaped.clear();
    escape_into(rest, escaped);
    let is_same = text.starts_with(b"file") && *escaped == out[head..];
    escaped.clear();
    if is_same {
        if after.is_some() {
            escaped.extend_from_slice(b"//");
            escape_into(authority, escaped);
        }
    } else if !host.is_empty() || !port.is_empty() {
        escaped.extend_from_slice(b"//");
        escape_into(host, escaped);
        if !port.is_empty() {
            escaped.push(b':');
            escaped.extend_from_slice(port_number(port));
        }
    }
    // A path that keeps its `//` would be read as a host.
    if escaped.is_empty() && out[head..].starts_with(b"//") {
        return Err(REFUSED);
    }
    out.splice(head..head, escaped.iter().copied());
    Ok(())
}

/// Appends path and query. Segments are unchanged if the head of the URL or the output here holds
/// bytes that `java.net.URI` rejects.
fn path_and_query_into(rest: &[u8], is_odd: bool, scratch: &mut Scratch, out: &mut Vec<u8>) {
    let head = out.len();
    let mark = memchr(b'?', rest).unwrap_or(rest.len());
    encode_into(&rest[..mark], out);
    if out.len() == head || !is_odd && memchr(b'\\', rest).is_none() {
        tidy_path(head, out);
    }
    query_into(rest.get(mark + 1..).unwrap_or_default(), scratch, out);
}

/// The digits of a port without leading zeros.
fn port_number(port: &[u8]) -> &[u8] {
    port.iter().position(|&digit| digit != b'0').map_or(&b"0"[..], |at| &port[at..])
}

struct Scheme {
    name: &'static [u8],
    port: &'static [u8],
}

fn scheme(name: &[u8]) -> Option<Scheme> {
    const KNOWN: [(&[u8], &[u8]); 4] =
        [(b"http", b"80"), (b"https", b"443"), (b"ftp", b"21"), (b"file", b"")];
    KNOWN.into_iter().find(|(known, _)| *known == name).map(|(name, port)| Scheme { name, port })
}

/// The length of the scheme, if there is one: it is followed by a `/`, or Java knows it. Anything
/// else is a host before a port.
fn scheme_len(text: &[u8]) -> Option<usize> {
    const OTHERS: [&[u8]; 4] = [b"mailto", b"jar", b"jmod", b"jrt"];
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let len = text.iter().position(|byte| !is_inside(byte))?;
    if text[len] != b':' || !text[0].is_ascii_alphabetic() {
        return None;
    }
    let name = text[..len].to_ascii_lowercase();
    let is_known = scheme(&name).is_some() || OTHERS.contains(&&name[..]);
    (is_known || text.get(len + 1) == Some(&b'/')).then_some(len)
}

/// Appends host and port.
fn authority_into(authority: &[u8], scheme: &Scheme, out: &mut Vec<u8>) -> Result<(), UriError> {
    let at = memchr(b'@', authority);
    let is_other_host = at != memrchr(b'@', authority)
        || at.is_some_and(|at| memchr(b'\\', &authority[..at]).is_some());
    if is_other_host {
        return Err(REFUSED);
    }
    let host = &authority[at.map_or(0, |at| at + 1)..];
    let literal = if host.first() == Some(&b'[') { memchr(b']', host).ok_or(REFUSED)? } else { 0 };
    let colon = memchr(b':', &host[literal..]).map_or(host.len(), |at| literal + at);
    let (host, port) = (&host[..colon], host.get(colon + 1..).unwrap_or_default());
    if literal > 0 {
        if literal + 1 != host.len() || crate::uri::host_kind(host).is_none() {
            return Err(REFUSED);
        }
        out.extend(host.iter().map(u8::to_ascii_lowercase));
    } else {
        name_into(host, out)?;
    }
    if !port.iter().all(u8::is_ascii_digit) {
        return Err(REFUSED);
    }
    let digits = port_number(port);
    if !port.is_empty() && digits != scheme.port {
        out.push(b':');
        out.extend_from_slice(digits);
    }
    Ok(())
}

/// Appends a host that is not an IP literal.
fn name_into(host: &[u8], out: &mut Vec<u8>) -> Result<(), UriError> {
    let start = out.len();
    for (byte, is_encoded) in decode_each(host) {
        if byte == b'%' && !is_encoded {
            return Err(REFUSED);
        }
        out.push(if is_encoded { byte } else { byte.to_ascii_lowercase() });
    }
    if !out[start..].is_ascii() {
        let name = str::from_utf8(&out[start..]).map_err(|_| REFUSED)?;
        if name.len() > LONGEST_NAME {
            return Err(REFUSED);
        }
        let ascii = idna::domain_to_ascii(name).map_err(|_| REFUSED)?;
        out.truncate(start);
        out.extend_from_slice(ascii.as_bytes());
    }
    out[start..].make_ascii_lowercase();
    if !out[start..].iter().all(|&byte| NAME.or(ODD_NAME).has(byte)) {
        return Err(REFUSED);
    }
    if out.len() > start + 1 && out.ends_with(b".") {
        out.pop();
    }
    let has_empty_label = out[start..].split(|&byte| byte == b'.').any(<[u8]>::is_empty);
    if has_empty_label && out.len() > start { Err(REFUSED) } else { Ok(()) }
}

/// Appends `text` with all bytes encoded that are not plain, and its percent-encodings unchanged.
fn escape_into(text: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < text.len() {
        let len = if triplet(text, at).is_some() { 3 } else { 1 };
        match &text[at..at + len] {
            &[byte] => push_encoded(byte, PLAIN, out),
            triplet => out.extend_from_slice(triplet),
        }
        at += len;
    }
}

/// Appends `text` with its percent-encodings normalized and all other bytes encoded that are not plain.
fn encode_into(text: &[u8], out: &mut Vec<u8>) {
    for (byte, is_encoded) in decode_each(text) {
        push_encoded(byte, if is_encoded { UNRESERVED } else { PLAIN }, out);
    }
}

/// Removes empty and dot segments of the path from `start` on.
fn tidy_path(start: usize, out: &mut Vec<u8>) {
    if out.len() == start {
        out.push(b'/');
        return;
    }
    // Writing never gets ahead of reading.
    let (mut to, mut from) = (start, start);
    let mut is_open = false;
    while from < out.len() {
        let end = memchr(b'/', &out[from + 1..]).map_or(out.len(), |at| from + 1 + at);
        is_open = matches!(&out[from + 1..end], b"" | b"." | b"..");
        match &out[from + 1..end] {
            b"" | b"." => {}
            b".." => to = start + memrchr(b'/', &out[start..to]).unwrap_or(0),
            _ => {
                out.copy_within(from..end, to);
                to += end - from;
            }
        }
        from = end;
    }
    out.truncate(to);
    if is_open {
        out.push(b'/');
    }
}

/// Appends `?` and the parameters, if any remain.
fn query_into(query: &[u8], scratch: &mut Scratch, out: &mut Vec<u8>) {
    let Scratch { query: text, params, .. } = scratch;
    text.clear();
    encode_into(query, text);
    params.clear();
    let mut start = 0;
    for param in text.split(|&byte| byte == b'&') {
        let name_len = memchr(b'=', param).unwrap_or(param.len());
        let len = if name_len + 1 == param.len() { name_len } else { param.len() };
        if name_len > 0 {
            params.push([start, start + name_len, start + len].map(|at| at as u32));
        }
        start += param.len() + 1;
    }
    // Offsets are in order, so parameters with the same name keep theirs.
    let name = |param: &[u32; 3]| &text[param[0] as usize..param[1] as usize];
    params.sort_unstable_by(|a, b| name(a).cmp(name(b)).then(a[0].cmp(&b[0])));
    for (i, &[start, _, end]) in params.iter().enumerate() {
        out.push(if i == 0 { b'?' } else { b'&' });
        out.extend_from_slice(&text[start as usize..end as usize]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::{Profile, Profiler};
    use crate::simd::Kernels;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_form_is_found_as_without_that_of_rfc_3986(
            head in "(http|HTTPS|ftp|file|foo)(://|:/|:|)",
            host in "([aB._-]{1,4}|u@h|h%41|\\[::1\\]|h\\\\)?(:(80|443|081|8|))?",
            path in "(/(\\.|\\.\\.|[aB]{0,2}|%7e|%2f|%|'|\\\\|:a)){0,4}",
            rest in "(\\?((a|b|c%3d|)(=|)(1|%41|)&?){0,4})?(#[a?/]{0,2})?",
            has_long_host in any::<bool>(),
        ) {
            let long = if has_long_host { "a.".repeat(40) } else { String::new() };
            let text = format!("{head}{long}{host}{path}{rest}").into_bytes();
            let (mut scratch, mut out) = (Scratch::default(), Vec::new());
            let expected = any_form(&text, &mut scratch, &mut out);
            for kernels in Kernels::available() {
                let mut profiler = Profiler::with_kernels(Profile::CrawlerCommons, kernels);
                prop_assert_eq!(profiler.form(&text), expected, "{}", text.escape_ascii());
            }
        }
    }
}
