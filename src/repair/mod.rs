//! Floor 5: maps IRIs to URIs (RFC 3987 section 3.1), and repairs records as found in logs and
//! pages, by named and documented changes, each of which is reported.
//!
//! Only records that are not URI-references get here, so valid records cost nothing and are never
//! changed. A record is repaired completely or not at all: the result is a URI-reference, or the
//! record stays invalid.
//!
//! # The mapping of IRIs
//!
//! A character beyond ASCII becomes the triplets of its UTF-8; in a host it becomes part of an
//! A-label (IDNA, UTS #46) if the scheme uses DNS and the name has A-labels. Unicode is **not**
//! normalized, as step 1c of the section requires for text that is in a Unicode encoding already.
//! The characters of `ucschar` are accepted, and in a query those of `iprivate`; bytes that are not
//! UTF-8 and bidirectional formatting characters (4.1) are rejected.

#[cfg(test)]
mod tests;

use crate::grammar::class::{ByteClass, PATH, QUERY, SCHEME, USERINFO};
use crate::grammar::scheme_facts;
use crate::normalize::dns_to_ascii;
use crate::normalize::percent::{push_triplet, triplet};
use crate::uri::{UriError, parse, split};

named! {
    /// A change that makes a record a URI-reference.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Repair {
        /// Characters beyond ASCII become triplets, in a DNS host A-labels (RFC 3987 section 3.1).
        Iri = "iri",
        /// A pair of `""`, `''`, `` `` `` or `<>` around the record, and `URL:` in the latter, are
        /// removed (Appendix C).
        Quotes = "quotes",
        /// Tabs and line breaks inside are removed (Appendix C).
        LineBreak = "line-break",
        /// A space becomes `%20`.
        Space = "space",
        /// `"`, `<`, `>`, `^`, `` ` ``, `{`, `|` and `}` become triplets.
        Byte = "byte",
        /// A backslash becomes a slash before the query of `http`, `https`, `ws`, `wss`, `ftp` and `file`, as in
        /// browsers; elsewhere `%5C`.
        Backslash = "backslash",
        /// `[` and `]` outside of an IP literal become `%5B` and `%5D`.
        Bracket = "bracket",
        /// A `%` without two hexadecimal digits after it becomes `%25`.
        Percent = "percent",
    }
}

/// A set of repairs that may be made; empty by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Repairs(u8);

impl Repairs {
    /// Every repair except the mapping of IRIs, which must be requested by itself.
    pub fn all_but_iri() -> Repairs {
        Repair::ALL[1..].iter().fold(Repairs::default(), |all, &repair| all.with(repair))
    }

    /// These repairs and `repair`.
    #[must_use]
    pub const fn with(self, repair: Repair) -> Repairs {
        Repairs(self.0 | 1 << repair as u8)
    }

    /// The union of the two sets.
    #[must_use]
    pub const fn or(self, other: Repairs) -> Repairs {
        Repairs(self.0 | other.0)
    }

    /// Whether the set holds `repair`.
    pub const fn has(self, repair: Repair) -> bool {
        self.0 >> repair as u8 & 1 != 0
    }

    /// Whether the set is empty.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A repair that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The kind of repair.
    pub repair: Repair,
    /// Offset in bytes from the start of the record of the first changed byte.
    pub at: u32,
    /// Number of changed bytes.
    pub count: u32,
}

/// Replaces `out` with `text`, a record that is not a URI-reference, after the repairs in `repairs`
/// that it needs. Returns the repairs that were made, each once, in the order of [`Repair::ALL`].
///
/// ```
/// use uriscan::repair::{Repair, Repairs, repair};
/// let mut out = Vec::new();
/// let changes = repair(b"\"http://h\\a b?c=100%\"", Repairs::all_but_iri(), &mut out).unwrap();
/// assert_eq!(out, b"http://h/a%20b?c=100%25");
/// let made: Vec<&str> = changes.iter().map(|change| change.repair.name()).collect();
/// assert_eq!(made, ["quotes", "space", "backslash", "percent"]);
///
/// let iri = Repairs::default().with(Repair::Iri);
/// repair("http://bücher.example/é".as_bytes(), iri, &mut out).unwrap();
/// assert_eq!(out, b"http://xn--bcher-kva.example/%C3%A9");
/// ```
///
/// A valid `text` is copied unchanged, without repairs.
///
/// # Errors
/// Those of [`parse`] for `text`, if these repairs do not make it a URI-reference; `out` is empty
/// then.
pub fn repair(text: &[u8], repairs: Repairs, out: &mut Vec<u8>) -> Result<Vec<Change>, UriError> {
    out.clear();
    let Err(error) = parse(text) else {
        out.extend_from_slice(text);
        return Ok(Vec::new());
    };
    let mut work = Work { repairs, made: [None; Repair::ALL.len()] };
    let (from, plain) = work.without_dirt(text);
    let is_done = work.components(&plain, out).is_some() && parse(out).is_ok();
    if !is_done {
        out.clear();
        return Err(error);
    }
    let changes = Repair::ALL.into_iter().zip(work.made);
    let changes = changes.filter_map(|(repair, made)| made.map(|(at, count)| (repair, at, count)));
    let in_text = |(repair, at, count): (Repair, usize, u32)| {
        let at = match repair {
            Repair::Quotes => at,
            Repair::LineBreak => at + from,
            _ => from + place_in(&text[from..], at, repairs),
        };
        Change { repair, at: u32::try_from(at).unwrap_or(u32::MAX), count }
    };
    Ok(changes.map(in_text).collect())
}

/// The offset in `text` of byte `at` of the result of [`Work::without_dirt`].
fn place_in(text: &[u8], at: usize, repairs: Repairs) -> usize {
    let is_kept = |byte: u8| !repairs.has(Repair::LineBreak) || !is_line_break(byte);
    let mut kept = text.iter().enumerate().filter(|&(_, &byte)| is_kept(byte));
    kept.nth(at).map_or(text.len(), |(i, _)| i)
}

const fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\r' | b'\n' | 0x0B | 0x0C)
}

struct Work {
    repairs: Repairs,
    /// For each repair the offset of the first changed byte, and the number of changed bytes.
    made: [Option<(usize, u32)>; Repair::ALL.len()],
}

impl Work {
    /// Notes that `repair` is made at `at`; `None` if it may not be.
    fn make(&mut self, repair: Repair, at: usize) -> Option<()> {
        let made = self.made[repair as usize].get_or_insert((at, 0));
        made.1 = made.1.saturating_add(1);
        self.repairs.has(repair).then_some(())
    }

    /// `text` without quotes around it and line breaks in it, and the number of bytes removed from
    /// its start.
    fn without_dirt(&mut self, text: &[u8]) -> (usize, Vec<u8>) {
        let mut inner = text;
        let mut from = 0;
        if self.repairs.has(Repair::Quotes)
            && let [first, within @ .., last] = text
            && matches!((first, last), (b'"', b'"') | (b'\'', b'\'') | (b'`', b'`') | (b'<', b'>'))
        {
            self.made[Repair::Quotes as usize] = Some((0, 2));
            let within = within.trim_ascii_start();
            let is_url = *first == b'<'
                && within.get(..4).is_some_and(|label| label.eq_ignore_ascii_case(b"URL:"));
            let within = if is_url { &within[4..] } else { within };
            inner = within.trim_ascii_start();
            from = text.len() - 1 - inner.len();
            inner = inner.trim_ascii_end();
        }
        if !self.repairs.has(Repair::LineBreak) {
            return (from, inner.to_vec());
        }
        let mut plain = Vec::with_capacity(inner.len());
        for (at, &byte) in inner.iter().enumerate() {
            if is_line_break(byte) {
                let _ = self.make(Repair::LineBreak, at);
            } else {
                plain.push(byte);
            }
        }
        (from, plain)
    }

    /// Appends `text` to `out`, component by component; `None` if a byte may not be repaired.
    fn components(&mut self, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let slashed = self.slashed(text);
        let text = slashed.as_deref().unwrap_or(text);
        let parts = split(text);
        let mut at = 0;
        let facts = parts.scheme.and_then(scheme_facts);
        if let Some(scheme) = parts.scheme {
            at = scheme.len() + 1;
            out.extend_from_slice(&text[..at]);
        }
        if let Some(authority) = parts.authority {
            out.extend_from_slice(b"//");
            at += 2;
            let after_userinfo = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
            if after_userinfo > 0 {
                self.encode(&authority[..after_userinfo - 1], at, USERINFO, false, out)?;
                out.push(b'@');
            }
            let is_dns = facts.is_some_and(|facts| facts.dns_host);
            self.hostport(&authority[after_userinfo..], at + after_userinfo, is_dns, out)?;
            at += authority.len();
        }
        self.encode(parts.path, at, PATH, false, out)?;
        at += parts.path.len();
        for (delimiter, part) in [(b'?', parts.query), (b'#', parts.fragment)] {
            let Some(part) = part else { continue };
            out.push(delimiter);
            self.encode(part, at + 1, QUERY, delimiter == b'?', out)?;
            at += 1 + part.len();
        }
        Some(())
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

    /// Appends host and port. Only non-ASCII bytes of a host are mapped: a space in a name is a
    /// fault, and not a way to write one.
    fn hostport(
        &mut self,
        text: &[u8],
        start: usize,
        is_dns: bool,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let colon = memchr::memchr(b':', text).unwrap_or(text.len());
        if text.is_ascii() || text.starts_with(b"[") || !text[colon..].is_ascii() {
            out.extend_from_slice(text);
            return Some(());
        }
        let (host, port) = text.split_at(colon);
        // Stray percent signs stay, and remain a fault.
        let has_stray = memchr::memchr_iter(b'%', host).any(|at| triplet(host, at).is_none());
        if has_stray {
            out.extend_from_slice(text);
            return Some(());
        }
        const ASCII: ByteClass = ByteClass::range(0, 127);
        let mut encoded = Vec::with_capacity(3 * host.len());
        self.encode(host, start, ASCII, false, &mut encoded)?;
        match dns_to_ascii(&encoded) {
            Some(name) if is_dns => out.extend_from_slice(name.as_bytes()),
            _ => out.extend_from_slice(&encoded),
        }
        out.extend_from_slice(port);
        Some(())
    }

    /// Appends `part`, which starts at `start`, with triplets for bytes that are not in `class`.
    fn encode(
        &mut self,
        part: &[u8],
        start: usize,
        class: ByteClass,
        is_query: bool,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        if !part.is_ascii() {
            let is_taken = |c: char| c.is_ascii() || is_iri_character(c, is_query);
            if !str::from_utf8(part).ok()?.chars().all(is_taken) {
                return None;
            }
        }
        for (i, &byte) in part.iter().enumerate() {
            if class.has(byte) {
                out.push(byte);
                continue;
            }
            let repair = match byte {
                b'%' if triplet(part, i).is_some() => {
                    out.push(byte);
                    continue;
                }
                b'%' => Repair::Percent,
                0x80.. => Repair::Iri,
                b' ' => Repair::Space,
                b'\\' => Repair::Backslash,
                b'[' | b']' => Repair::Bracket,
                b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}' => Repair::Byte,
                _ => return None,
            };
            self.make(repair, start + i)?;
            push_triplet(byte, out);
        }
        Some(())
    }
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
