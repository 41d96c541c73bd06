//! Maps IRIs to URIs (RFC 3987 section 3.1), and repairs records as found in logs and
//! pages, by named and documented changes, each of which is reported.

mod components;
mod entity;
mod padding;
#[cfg(test)]
mod tests;

use core::ops::Range;
use std::borrow::Cow;

use crate::context::Context;
use crate::grammar::class::URI_BYTE;
use crate::grammar::has_reference;
use crate::normalize::percent::{push_triplet, triplet};
use crate::uri::{UriError, UriErrorKind, parse};
use components::Output;
use entity::Decoded;

named! {
    /// A change that makes a record a URI-reference.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Repair {
        /// Characters beyond ASCII become percent-encodings, in a DNS host A-labels (RFC 3987 section 3.1).
        Iri = "iri",
        /// Character references of HTML become their characters, once: `&amp;`, `&#38;`, `&#x26;`. What no URI may hold
        /// becomes percent-encodings. The only repair that changes valid records.
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
        /// `"`, `<`, `>`, `^`, `` ` ``, `{`, `|` and `}` become percent-encodings.
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
/// If these repairs do not make `text` a URI-reference: the first fault, as [`parse`] orders them, that they leave,
/// with its position in `text`; `out` is empty then.
///
/// ```
/// use uriscan::repair::{Repair, Repairs, repair};
/// use uriscan::uri::{UriErrorKind, parse};
/// let text = "http://h/é b".as_bytes();
/// let error = parse(text).unwrap_err();
/// assert_eq!((error.kind, error.at), (UriErrorKind::NonAscii, 9));
/// let iri = Repairs::default().with(Repair::Iri);
/// let error = repair(text, iri, &mut Vec::new()).unwrap_err();
/// assert_eq!((error.kind, error.at), (UriErrorKind::Space, 11));
/// ```
pub fn repair(text: &[u8], repairs: Repairs, out: &mut Vec<u8>) -> Result<Vec<Change>, UriError> {
    repair_in(None, text, repairs, out)
}

/// [`repair`] of a reference that `context` gives its scheme, which decides how its host is mapped, if it has none itself.
///
/// # Errors
/// As [`repair`].
pub fn repair_in(
    context: Option<&Context>,
    text: &[u8],
    repairs: Repairs,
    out: &mut Vec<u8>,
) -> Result<Vec<Change>, UriError> {
    out.clear();
    let parsed = parse(text);
    let is_too_long = parsed.is_err_and(|error| error.kind == UriErrorKind::TooLong);
    if is_too_long || parsed.is_ok() && !repairs.change_valid(text) {
        parsed?;
        out.extend_from_slice(text);
        return Ok(Vec::new());
    }
    let decoded = match repairs.has(Repair::Entity) {
        true => Decoded::of(text),
        false => Decoded::unchanged(text),
    };
    let mut work = Repairer { repairs, made: [None; Repair::ALL.len()] };
    work.made[Repair::Entity as usize] = decoded.made();
    let inner = work.without_wrapping(&decoded.text);
    let plain = work.plain(&decoded, inner.clone());
    let is_same = matches!(plain, Cow::Borrowed(_));
    let place = |work: &Repairer, at: usize| match is_same {
        true => inner.start + at,
        false => work.offset_in(&decoded, inner.clone(), at),
    };
    let mut written = Output::new(out, 0);
    work.components(context, &plain, &mut written);
    let is_repaired = written.is_repaired;
    let left = parse(out);
    let in_text = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    if left.is_err() || !is_repaired {
        out.clear();
        if let (Err(_), Err(error)) = (parsed, left) {
            // Where everything comes from would take many times as much memory as the text.
            let mut again = Output::new(out, error.at as usize);
            work.components(context, &plain, &mut again);
            let origin = again.origin();
            out.clear();
            let at = decoded.place(place(&work, origin));
            return Err(UriError { at: in_text(at), ..error });
        }
        parsed?;
        out.extend_from_slice(text);
        return Ok(Vec::new());
    }
    let changes = Repair::ALL.into_iter().zip(work.made);
    let changes = changes.filter_map(|(repair, made)| made.map(|(at, count)| (repair, at, count)));
    let of_change = |(repair, at, count): (Repair, usize, u32)| {
        let at = match repair {
            Repair::Entity => at,
            Repair::Quotes | Repair::Padding | Repair::LineBreak => decoded.place(at),
            _ => decoded.place(place(&work, at)),
        };
        Change { repair, at: in_text(at), count }
    };
    Ok(changes.map(of_change).collect())
}

/// `text` with its character references decoded, whether it is valid or not; what no URI may hold becomes
/// percent-encodings.
pub fn decode(text: &[u8]) -> Cow<'_, [u8]> {
    let decoded = Decoded::of(text);
    if decoded.made().is_none() {
        return Cow::Borrowed(text);
    }
    let whole = 0..decoded.text.len();
    let mut work = Repairer { repairs: Repairs::default(), made: [None; Repair::ALL.len()] };
    Cow::Owned(work.plain(&decoded, whole).into_owned())
}

const fn is_line_break(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\r' | b'\n' | 0x0B | 0x0C)
}

/// What becomes of a byte before components are looked at.
enum ByteAction {
    Keep,
    Drop,
    Encode,
}

struct Repairer {
    repairs: Repairs,
    /// For each repair the offset of the first changed byte, and the number of changed bytes.
    made: [Option<(usize, u32)>; Repair::ALL.len()],
}

impl Repairer {
    /// Notes that `repair` is made at `at`; `None` if it may not be.
    fn make(&mut self, repair: Repair, at: usize) -> Option<()> {
        let made = self.made[repair as usize].get_or_insert((at, 0));
        made.1 = made.1.saturating_add(1);
        self.repairs.has(repair).then_some(())
    }

    /// The part of `text` without padding and quotes around it.
    fn without_wrapping(&mut self, text: &[u8]) -> Range<usize> {
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

    /// The bytes of `inner`, a part of the decoded text, without line breaks; decoded characters that no URI may hold
    /// are percent-encodings. Borrowed if they are all of its bytes.
    fn plain<'d>(&mut self, decoded: &'d Decoded<'_>, inner: Range<usize>) -> Cow<'d, [u8]> {
        let text = &decoded.text[inner.clone()];
        let has_line_break = self.repairs.has(Repair::LineBreak)
            && text.iter().fold(false, |has, &byte| has | is_line_break(byte));
        if decoded.made().is_none() && !has_line_break {
            return Cow::Borrowed(text);
        }
        let mut plain = Vec::with_capacity(inner.len());
        let mut dropped = None;
        self.each(decoded, inner, |at, byte, action| match action {
            ByteAction::Keep => plain.push(byte),
            ByteAction::Encode => push_triplet(byte, &mut plain),
            ByteAction::Drop => dropped.get_or_insert((at, 0_u32)).1 += 1,
        });
        self.made[Repair::LineBreak as usize] = dropped;
        Cow::Owned(plain)
    }

    /// The offset in the decoded text of byte `at` of what [`Repairer::plain`] gives for the same `inner`.
    fn offset_in(&self, decoded: &Decoded<'_>, inner: Range<usize>, at: usize) -> usize {
        let (mut place, mut end) = (inner.end, 0);
        self.each(decoded, inner, |i, _, action| {
            end += match action {
                ByteAction::Keep => 1,
                ByteAction::Encode => 3,
                ByteAction::Drop => 0,
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
        mut found: impl FnMut(usize, u8, ByteAction),
    ) {
        let mut ranges = decoded.ranges().peekable();
        for at in inner {
            while ranges.next_if(|&(_, end)| end <= at).is_some() {}
            let is_decoded = ranges.peek().is_some_and(|&(start, _)| start <= at);
            let byte = decoded.text[at];
            let action = match byte {
                _ if is_line_break(byte) && self.repairs.has(Repair::LineBreak) => ByteAction::Drop,
                _ if is_decoded && !self.may_stay(&decoded.text, at) => ByteAction::Encode,
                _ => ByteAction::Keep,
            };
            found(at, byte, action);
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
}
