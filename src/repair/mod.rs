//! Floor 5: maps IRIs to URIs (RFC 3987 section 3.1), and repairs records as found in logs and
//! pages, by named and documented changes, each of which is reported.
//!
//! Only records that are not URI-references get here, so valid records cost nothing and are never
//! changed, unless character references are to be decoded ([`Repair::Entity`]): these are valid. A
//! record is repaired completely or not at all: the result is a URI-reference, or the record stays
//! as it is.
//!
//! # The mapping of IRIs
//!
//! A character beyond ASCII becomes the triplets of its UTF-8; in a host it becomes part of an
//! A-label (IDNA, UTS #46) if the scheme uses DNS and the name has A-labels. Unicode is **not**
//! normalized, as step 1c of the section requires for text that is in a Unicode encoding already.
//! The characters of `ucschar` are accepted, and in a query those of `iprivate`; bytes that are not
//! UTF-8 and bidirectional formatting characters (4.1) are rejected.

mod entity;
mod padding;
#[cfg(test)]
mod tests;

use core::ops::Range;
use std::borrow::Cow;

use crate::grammar::class::{ByteClass, PATH, QUERY, SCHEME, URI_BYTE, USERINFO};
use crate::grammar::{has_reference, scheme_facts};
use crate::normalize::dns_to_ascii;
use crate::normalize::percent::{push_triplet, triplet};
use crate::uri::{UriError, parse, split};
use entity::Decoded;

named! {
    /// A change that makes a record a URI-reference.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Repair {
        /// Characters beyond ASCII become triplets, in a DNS host A-labels (RFC 3987 section 3.1).
        Iri = "iri",
        /// Character references of HTML become their characters, once: `&amp;`, `&#38;`, `&#x26;`. What no URI may hold
        /// becomes triplets. The only repair that changes valid records.
        Entity = "entity",
        /// Spaces and invisible characters beyond ASCII around the record are removed: U+00A0, U+200B, U+FEFF, U+3000
        /// and their kind.
        Padding = "padding",
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
pub struct Repairs(u16);

impl Repairs {
    /// Every repair except those that must be requested by themselves: the mapping of IRIs, since there are other
    /// mappings, and the decoding of character references, since it changes valid records.
    pub fn usual() -> Repairs {
        Repair::ALL[2..].iter().fold(Repairs::default(), |all, &repair| all.with(repair))
    }

    /// These repairs and `repair`.
    #[must_use]
    pub const fn with(self, repair: Repair) -> Repairs {
        Repairs(self.0 | 1 << repair as u8)
    }

    /// These repairs without `repair`.
    #[must_use]
    pub const fn without(self, repair: Repair) -> Repairs {
        Repairs(self.0 & !(1 << repair as u8))
    }

    /// Whether these repairs may change `text` although it is valid: it has a character reference, which is to be
    /// decoded.
    pub fn change_valid(self, text: &[u8]) -> bool {
        self.has(Repair::Entity) && has_reference(text)
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
/// let changes = repair(b"\"http://h\\a b?c=100%\"", Repairs::usual(), &mut out).unwrap();
/// assert_eq!(out, b"http://h/a%20b?c=100%25");
/// let made: Vec<&str> = changes.iter().map(|change| change.repair.name()).collect();
/// assert_eq!(made, ["quotes", "space", "backslash", "percent"]);
///
/// let iri = Repairs::default().with(Repair::Iri);
/// repair("http://bücher.example/é".as_bytes(), iri, &mut out).unwrap();
/// assert_eq!(out, b"http://xn--bcher-kva.example/%C3%A9");
///
/// let entity = Repairs::default().with(Repair::Entity);
/// repair(b"http://h/?a=1&#38;b=2", entity, &mut out).unwrap();
/// assert_eq!(out, b"http://h/?a=1&b=2");
/// ```
///
/// A valid `text` is copied unchanged, without repairs, unless [`Repairs::change_valid`]; then it is also copied if the
/// result of decoding it is not a URI-reference.
///
/// # Errors
/// Those of [`parse`] for `text`, if these repairs do not make it a URI-reference; `out` is empty
/// then.
pub fn repair(text: &[u8], repairs: Repairs, out: &mut Vec<u8>) -> Result<Vec<Change>, UriError> {
    out.clear();
    let parsed = parse(text);
    if parsed.is_ok() && !repairs.change_valid(text) {
        out.extend_from_slice(text);
        return Ok(Vec::new());
    }
    let decoded = match repairs.has(Repair::Entity) {
        true => Decoded::of(text),
        false => Decoded::unchanged(text),
    };
    let mut work = Work { repairs, made: [None; Repair::ALL.len()] };
    work.made[Repair::Entity as usize] = decoded.made();
    let inner = work.without_dirt(&decoded.text);
    let plain = work.plain(&decoded, inner.clone());
    let is_done = work.components(&plain, out).is_some() && parse(out).is_ok();
    if !is_done {
        out.clear();
        parsed?;
        out.extend_from_slice(text);
        return Ok(Vec::new());
    }
    let changes = Repair::ALL.into_iter().zip(work.made);
    let changes = changes.filter_map(|(repair, made)| made.map(|(at, count)| (repair, at, count)));
    let in_text = |(repair, at, count): (Repair, usize, u32)| {
        let at = match repair {
            Repair::Entity => at,
            Repair::Quotes | Repair::Padding | Repair::LineBreak => decoded.place(at),
            _ => decoded.place(work.place_in(&decoded, inner.clone(), at)),
        };
        Change { repair, at: u32::try_from(at).unwrap_or(u32::MAX), count }
    };
    Ok(changes.map(in_text).collect())
}

/// `text` with its character references decoded, whether it is valid or not; what no URI may hold becomes triplets.
pub(crate) fn decode(text: &[u8]) -> Cow<'_, [u8]> {
    let decoded = Decoded::of(text);
    if decoded.made().is_none() {
        return Cow::Borrowed(text);
    }
    let whole = 0..decoded.text.len();
    let mut work = Work { repairs: Repairs::default(), made: [None; Repair::ALL.len()] };
    Cow::Owned(work.plain(&decoded, whole))
}

const fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\r' | b'\n' | 0x0B | 0x0C)
}

/// What becomes of a byte before components are looked at.
enum Fate {
    Keep,
    Drop,
    Encode,
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

    /// The part of `text` without padding and quotes around it.
    fn without_dirt(&mut self, text: &[u8]) -> Range<usize> {
        let inner = self.without_padding(text, 0..text.len());
        if !self.repairs.has(Repair::Quotes) {
            return inner;
        }
        let [first, .., last] = text[inner.clone()] else { return inner };
        if !matches!((first, last), (b'"', b'"') | (b'\'', b'\'') | (b'`', b'`') | (b'<', b'>')) {
            return inner;
        }
        self.made[Repair::Quotes as usize] = Some((inner.start, 2));
        let within = self.trimmed(text, inner.start + 1..inner.end - 1);
        let label = &text[within.clone()];
        let is_url = first == b'<'
            && label.get(..4).is_some_and(|label| label.eq_ignore_ascii_case(b"URL:"));
        match is_url {
            true => self.trimmed(text, within.start + 4..within.end),
            false => within,
        }
    }

    /// The part `range` of `text` without white space and padding around it.
    fn trimmed(&mut self, text: &[u8], range: Range<usize>) -> Range<usize> {
        let Range { start, end } = self.without_padding(text, range);
        let part = &text[start..end];
        let start = end - part.trim_ascii_start().len();
        start..start + part.trim_ascii().len()
    }

    /// The part `range` of `text` without padding around it, if anything else is in it.
    fn without_padding(&mut self, text: &[u8], range: Range<usize>) -> Range<usize> {
        if !self.repairs.has(Repair::Padding) {
            return range;
        }
        let part = &text[range.clone()];
        let kept = padding::without(part);
        if kept.is_empty() || kept.len() == part.len() {
            return range;
        }
        let first = if kept.start > 0 { range.start } else { range.start + kept.end };
        let made = self.made[Repair::Padding as usize].get_or_insert((first, 0));
        let removed = u32::try_from(part.len() - kept.len()).unwrap_or(u32::MAX);
        made.1 = made.1.saturating_add(removed);
        range.start + kept.start..range.start + kept.end
    }

    /// The bytes of `inner`, a part of the decoded text, without line breaks; decoded characters that no URI may hold are
    /// triplets.
    fn plain(&mut self, decoded: &Decoded<'_>, inner: Range<usize>) -> Vec<u8> {
        let mut plain = Vec::with_capacity(inner.len());
        let mut dropped = None;
        self.each(decoded, inner, |at, byte, fate| match fate {
            Fate::Keep => plain.push(byte),
            Fate::Encode => push_triplet(byte, &mut plain),
            Fate::Drop => dropped.get_or_insert((at, 0_u32)).1 += 1,
        });
        self.made[Repair::LineBreak as usize] = dropped;
        plain
    }

    /// The offset in the decoded text of byte `at` of what [`Work::plain`] gives for the same `inner`.
    fn place_in(&self, decoded: &Decoded<'_>, inner: Range<usize>, at: usize) -> usize {
        let (mut place, mut end) = (inner.end, 0);
        self.each(decoded, inner, |i, _, fate| {
            end += match fate {
                Fate::Keep => 1,
                Fate::Encode => 3,
                Fate::Drop => 0,
            };
            if end > at {
                place = place.min(i);
            }
        });
        place
    }

    /// Calls `found` with each byte of `inner`, its offset, and what becomes of it.
    fn each(
        &self,
        decoded: &Decoded<'_>,
        inner: Range<usize>,
        mut found: impl FnMut(usize, u8, Fate),
    ) {
        let mut ranges = decoded.ranges().peekable();
        for at in inner {
            while ranges.next_if(|&(_, end)| end <= at).is_some() {}
            let is_decoded = ranges.peek().is_some_and(|&(start, _)| start <= at);
            let byte = decoded.text[at];
            let fate = match byte {
                _ if is_line_break(byte) && self.repairs.has(Repair::LineBreak) => Fate::Drop,
                _ if is_decoded && !self.may_stay(&decoded.text, at) => Fate::Encode,
                _ => Fate::Keep,
            };
            found(at, byte, fate);
        }
    }

    /// Whether the byte of `text` at `at`, of a decoded character, may be in a URI, or another repair looks at it.
    fn may_stay(&self, text: &[u8], at: usize) -> bool {
        match text[at] {
            b'\\' => self.repairs.has(Repair::Backslash),
            b'[' | b']' => self.repairs.has(Repair::Bracket),
            b'%' => triplet(text, at).is_some(),
            0x80.. => self.repairs.has(Repair::Iri),
            byte => URI_BYTE.has(byte),
        }
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
