//! The repairs within components, and where in the text a byte of the result comes from.

use super::{Repair, Repairer};
use crate::context::Context;
use crate::grammar::class::{ByteClass, PATH, QUERY, SCHEME, USERINFO};
use crate::grammar::scheme_facts;
use crate::normalize::dns_to_ascii;
use crate::normalize::percent::{push_triplet, triplet};
use crate::uri::split;

/// What has been written of a text.
pub(super) struct Output<'o> {
    pub(super) out: &'o mut Vec<u8>,
    /// Whether everything that is at fault in a component by itself has been repaired.
    pub(super) is_repaired: bool,
    /// The offset in what is written whose origin is sought.
    sought: usize,
    /// The last offsets in what is written, up to that one, and in the text, from which on bytes are the same.
    last: (usize, usize),
}

impl Output<'_> {
    /// Nothing yet; `out` is empty. Of the byte that will be written at `sought` the origin is noted.
    pub(super) fn new(out: &mut Vec<u8>, sought: usize) -> Output<'_> {
        Output { out, is_repaired: true, sought, last: (0, 0) }
    }

    /// The offset in the text of what the byte at the offset that is sought comes from.
    pub(super) fn origin(&self) -> usize {
        let (written, from) = self.last;
        from + (self.sought - written)
    }

    /// Appends bytes of the text that stay as they are.
    fn keep(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Notes that what is written next comes from the bytes of the text from `at` on.
    fn goes_on_at(&mut self, at: usize) {
        if self.out.len() <= self.sought {
            self.last = (self.out.len(), at);
        }
    }
}

impl Repairer {
    /// Writes `text`, component by component. From a byte on that may not be repaired, a component is written as it is,
    /// so that this is the first fault in it.
    pub(super) fn components(
        &mut self,
        context: Option<&Context>,
        text: &[u8],
        to: &mut Output<'_>,
    ) {
        let slashed = self.slashed(text);
        let text = slashed.as_deref().unwrap_or(text);
        let parts = split(text);
        let mut at = 0;
        if let Some(scheme) = parts.scheme {
            at = scheme.len() + 1;
            to.keep(&text[..at]);
        }
        let scheme = parts.scheme.or_else(|| context?.scheme());
        let is_dns = scheme.and_then(scheme_facts).is_some_and(|facts| facts.dns_host);
        let mut path = parts.path;
        if let Some(authority) = parts.authority {
            to.keep(b"//");
            at += 2;
            let after_userinfo = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
            if after_userinfo > 0 {
                self.encode(&authority[..after_userinfo - 1], at, USERINFO, false, to);
                to.keep(b"@");
            }
            self.hostport(&authority[after_userinfo..], at + after_userinfo, is_dns, to);
            at += authority.len();
        } else if let (None, Some(Context::Suffix(_)), true) = (parts.scheme, context, is_dns) {
            let host = self.suffix_host(path, to);
            at += host;
            path = &path[host..];
        }
        self.encode(path, at, PATH, false, to);
        at += path.len();
        for (delimiter, part) in [(b'?', parts.query), (b'#', parts.fragment)] {
            let Some(part) = part else { continue };
            to.keep(&[delimiter]);
            self.encode(part, at + 1, QUERY, delimiter == b'?', to);
            at += 1 + part.len();
        }
    }

    /// `text` with slashes for the backslashes that browsers treat as slashes, if there are any.
    fn slashed(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        const SPECIAL: [&[u8]; 6] = [b"http", b"https", b"ws", b"wss", b"ftp", b"file"];
        let colon = text.iter().position(|&byte| !SCHEME.has(byte))?;
        let is_special = SPECIAL.iter().any(|name| name.eq_ignore_ascii_case(&text[..colon]));
        if text[colon] != b':' || !is_special || !self.repairs.has(Repair::Backslash) {
            return None;
        }
        let end = memchr::memchr2(b'?', b'#', text).unwrap_or(text.len());
        memchr::memchr(b'\\', &text[..end])?;
        let mut slashed = text.to_vec();
        for at in memchr::memchr_iter(b'\\', &text[..end]) {
            slashed[at] = b'/';
            let _ = self.make(Repair::Backslash, at);
        }
        Some(slashed)
    }

    /// Writes host and port. Only non-ASCII bytes of a host are mapped: a space in a name is a
    /// fault, and not a way to write one.
    fn hostport(&mut self, text: &[u8], start: usize, is_dns: bool, to: &mut Output<'_>) {
        let colon = memchr::memchr(b':', text).unwrap_or(text.len());
        let (host, port) = text.split_at(colon);
        if host.is_ascii() || host.starts_with(b"[") {
            to.keep(text);
            return;
        }
        // Stray percent signs stay, and remain a fault.
        let has_stray = memchr::memchr_iter(b'%', host).any(|at| triplet(host, at).is_none());
        const ASCII: ByteClass = ByteClass::range(0, 127);
        let begin = to.out.len();
        self.encode(host, start, ASCII, false, to);
        if is_dns
            && !has_stray
            && to.is_repaired
            && let Some(name) = dns_to_ascii(&to.out[begin..])
        {
            to.out.truncate(begin);
            to.keep(name.as_bytes());
            to.goes_on_at(start + host.len());
        }
        to.keep(port);
    }

    /// Writes the host that `path` begins with, if it is one beyond ASCII that has A-labels, as people write it without
    /// a scheme; returns its length. What is not a suffix reference with the A-labels remains relative.
    fn suffix_host(&mut self, path: &[u8], to: &mut Output<'_>) -> usize {
        let end = path.iter().position(|byte| b"/:".contains(byte)).unwrap_or(path.len());
        let host = &path[..end];
        let is_iri = !host.is_ascii() && iri_length(host, false) == host.len();
        let is_mapped = is_iri && !host.contains(&b'%') && self.repairs.has(Repair::Iri);
        let Some(name) = is_mapped.then(|| dns_to_ascii(host)).flatten() else { return 0 };
        let first = host.iter().position(|byte| !byte.is_ascii()).unwrap_or_default();
        for at in (first..end).filter(|&at| !host[at].is_ascii()) {
            let _ = self.make(Repair::Iri, at);
        }
        to.keep(name.as_bytes());
        to.goes_on_at(end);
        end
    }

    /// Writes `part`, which starts at `start`, with percent-encodings for bytes that are not in `class`.
    fn encode(
        &mut self,
        part: &[u8],
        start: usize,
        class: ByteClass,
        is_query: bool,
        to: &mut Output<'_>,
    ) {
        let iri_end = if part.is_ascii() { part.len() } else { iri_length(part, is_query) };
        let mut kept = 0;
        for (i, &byte) in part.iter().enumerate() {
            if class.has(byte) || byte == b'%' && triplet(part, i).is_some() {
                continue;
            }
            to.keep(&part[kept..i]);
            kept = i + 1;
            let repair = match byte {
                b'%' => Some(Repair::Percent),
                0x80.. => Some(Repair::Iri).filter(|_| i < iri_end),
                b' ' => Some(Repair::Space),
                b'\\' => Some(Repair::Backslash),
                b'[' | b']' => Some(Repair::Bracket),
                b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}' => Some(Repair::Byte),
                _ => None,
            };
            if repair.and_then(|repair| self.make(repair, start + i)).is_none() {
                to.is_repaired = false;
                to.keep(&part[i..]);
                return;
            }
            push_triplet(byte, to.out);
            to.goes_on_at(start + kept);
        }
        to.keep(&part[kept..]);
    }
}

/// The length of the longest beginning of `part` whose characters an IRI may hold there, apart from ASCII.
fn iri_length(part: &[u8], is_query: bool) -> usize {
    let text = part.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let is_taken = |c: char| c.is_ascii() || is_iri_character(c, is_query);
    text.char_indices().find(|&(_, c)| !is_taken(c)).map_or(text.len(), |(at, _)| at)
}

/// `ucschar` of RFC 3987 section 2.2, and `iprivate` in a query, without the characters that
/// section 4.1 forbids.
///
fn is_iri_character(c: char, is_query: bool) -> bool {
    match c as u32 {
        // LRM, RLM, LRE, RLE, PDF, LRO, RLO.
        0x200E | 0x200F | 0x202A..=0x202E => false,
        0xA0..=0xD7FF | 0xF900..=0xFDCF | 0xFDF0..=0xFFEF => true,
        0xE000..=0xF8FF | 0xF_0000..=0xF_FFFD | 0x10_0000..=0x10_FFFD => is_query,
        0xE_0000..=0xE_0FFF => false,
        code @ 0x1_0000..=0xE_FFFD => code & 0xFFFE != 0xFFFE,
        _ => false,
    }
}
