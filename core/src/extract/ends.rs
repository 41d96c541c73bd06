//! Where a link ends: brackets, quotes, punctuation, non-ASCII letters, and `<` `>` around it.

use unicode_normalization::char::is_combining_mark;

use super::scheme::HOST_START;
use super::{Options, refang};
use crate::grammar::ByteClass;
use crate::grammar::class::{ALPHA, SCHEME, URI_BYTE};

/// Maximum number of bytes between `<` and `>` of a link that is broken across lines.
pub(crate) const LONGEST_WRAPPED: usize = 4096;

/// The end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// Offset after its last byte.
    pub(crate) at: usize,
    /// It holds white space, to be dropped.
    pub(crate) is_broken: bool,
}

/// The end of the link that begins at `start`, with its scheme before `from`. `stop` is the first
/// byte from there on that is not a URI byte, or is a bracket or a `)`, or with `splits` that
/// [`is_split`]; `text` ends at the [`quote_limit`]. `None` if nothing of the link remains.
#[inline(never)]
pub(crate) fn end(
    options: &Options,
    splits: bool,
    text: &[u8],
    start: usize,
    from: usize,
    stop: usize,
) -> Option<End> {
    let left = start.checked_sub(1).map(|at| text[at]);
    if let Some(end) = wrapped(options, text, start, from) {
        return Some(end);
    }
    let mut stop = match text.get(stop) {
        Some(b'(' | b')' | b'[' | b']') => balanced(options, splits, text, from),
        Some(0x80..) if options.unicode => balanced(options, splits, text, from),
        _ => stop,
    };
    while stop > from {
        match text[stop - 1] {
            b'.' | b',' | b':' | b';' | b'!' | b'?' | b'\'' | b'(' | b'[' => stop -= 1,
            byte @ (b'*' | b'_' | b'~') if left == Some(byte) => stop -= 1,
            _ => break,
        }
    }
    (stop > from).then_some(End { at: stop, is_broken: false })
}

/// Whether a link begins directly after the `,` or `;` at `at`: a scheme, `://`, and more. It ends
/// the link before it.
#[inline(never)]
pub(super) fn is_split(text: &[u8], at: usize) -> bool {
    /// No registered scheme is longer.
    const LONGEST_SCHEME: usize = 40;
    let rest = &text[at + 1..];
    if !rest.first().is_some_and(|&byte| ALPHA.has(byte)) {
        return false;
    }
    let head = &rest[..rest.len().min(LONGEST_SCHEME)];
    let end = head.iter().position(|&byte| !SCHEME.has(byte)).unwrap_or(head.len());
    matches!(&rest[end..], [b':', b'/', b'/', first, ..] if *first == b'/' || HOST_START.has(*first))
}

/// Whether a link with `left` before it simply ends at its first non-URI byte, after `last` and
/// before `next`, which is not a bracket opened in the link. [`end`] then returns the same.
#[inline(always)]
pub(super) fn is_usual(left: u8, last: u8, next: u8) -> bool {
    const OPENING: ByteClass = ByteClass::of(b"'<:*_~");
    const TRAILING: ByteClass = ByteClass::of(b".,:;!?'([");
    const BRACKET: ByteClass = ByteClass::of(b"([");
    // A non-ASCII byte does not end an IRI.
    !OPENING.has(left) && !TRAILING.has(last) && !BRACKET.has(next) && next < 0x80
}

/// The latest possible end of the link that begins at `start`: the next `'`, if a `'` directly
/// precedes the link.
#[inline]
pub(crate) fn quote_limit(text: &[u8], start: usize, from: usize) -> usize {
    match start.checked_sub(1).map(|at| text[at]) {
        Some(b'\'') => memchr::memchr(b'\'', &text[from..]).map_or(text.len(), |at| from + at),
        _ => text.len(),
    }
}

/// Where in a link a `[` is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It may begin an address.
    Host,
    /// It begins what follows the link: a note, a closing tag, the text of a link.
    Path,
    /// It may be part of a name, as in `?a[]=1`.
    Rest,
}

/// The end of a link that extends to the first byte that no link may hold, or to a bracket that is not part of it, or with
/// `splits` to a byte that [`is_split`].
fn balanced(options: &Options, splits: bool, text: &[u8], from: usize) -> usize {
    let (mut round, mut square) = (0usize, 0usize);
    let mut part = match text[..from] {
        [.., b'/', b'/'] => Part::Host,
        // Without an authority, anything may follow.
        [.., b':'] => Part::Rest,
        // A host without a scheme has ended.
        _ => Part::Path,
    };
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        let open = match byte {
            b'(' | b')' => &mut round,
            b'[' if !holds_bracket(options, text, from, at, part) => break,
            b'[' | b']' => &mut square,
            0x80.. if options.unicode => match letter_len(&text[at..]) {
                0 => break,
                len => {
                    at += len;
                    continue;
                }
            },
            b',' | b';' if splits && is_split(text, at) => break,
            byte if URI_BYTE.has(byte) => {
                part = match byte {
                    b'/' if part == Part::Host => Part::Path,
                    b'?' | b'#' => Part::Rest,
                    _ => part,
                };
                at += 1;
                continue;
            }
            _ => break,
        };
        match byte {
            b'(' | b'[' => *open += 1,
            _ if *open == 0 => break,
            _ => *open -= 1,
        }
        at += 1;
    }
    at
}

/// Whether the `[` at `at`, in this part of the link from `from` on, is part of the link.
fn holds_bracket(options: &Options, text: &[u8], from: usize, at: usize, part: Part) -> bool {
    let rest = &text[at..];
    if options.refang && refang::is_hidden(rest) {
        return true;
    }
    match part {
        Part::Host => at == from || text[at - 1] == b'@',
        Part::Path => false,
        Part::Rest => !rest.starts_with(b"[/"),
    }
}

/// The length of the character at the start of `text` if it may be part of an IRI in prose: a letter, a digit, a mark of a
/// letter, or a joiner between letters. Punctuation and the full-width forms of ASCII (U+FF00 to U+FFEF) end a link,
/// and so does a byte that is not UTF-8.
pub(super) fn letter_len(text: &[u8]) -> usize {
    let is_letter = |c: char| {
        (c.is_alphanumeric() || is_combining_mark(c)) && !('\u{FF00}'..='\u{FFEF}').contains(&c)
    };
    let mut chars = chars_of(text);
    match chars.next() {
        Some(c) if is_letter(c) => c.len_utf8(),
        Some(c @ ('\u{200C}' | '\u{200D}')) if chars.next().is_some_and(is_letter) => c.len_utf8(),
        _ => 0,
    }
}

/// The length of the character at the end of `text`, if [`letter_len`] allows one that is not ASCII.
pub(super) fn letter_before(text: &[u8]) -> Option<usize> {
    let tail = &text[text.len().saturating_sub(4)..];
    let start = tail.iter().rposition(|byte| byte & 0xC0 != 0x80)?;
    let character = &tail[start..];
    (character[0] >= 0x80 && letter_len(character) == character.len()).then_some(character.len())
}

/// The first characters of `text`, as far as it is UTF-8: two at least.
fn chars_of(text: &[u8]) -> core::str::Chars<'_> {
    let head = &text[..text.len().min(8)];
    head.utf8_chunks().next().map_or("", |chunk| chunk.valid()).chars()
}

/// The end of a link between `<` (or `<URL:`) and `>`, which includes brackets and punctuation,
/// since the delimiters define the end.
///
/// With [`Options::unwrap`], white space around a single line break is skipped. A hyphen before the
/// break stays, since it is unknown whether the typesetter added it.
fn wrapped(options: &Options, text: &[u8], start: usize, from: usize) -> Option<End> {
    let before = &text[..start];
    let is_open = before.ends_with(b"<")
        || matches!(before, [.., b'<', b'U' | b'u', b'R' | b'r', b'L' | b'l', b':']);
    if !is_open {
        return None;
    }
    let limit = text.len().min(from + LONGEST_WRAPPED);
    let mut at = from;
    let mut is_broken = false;
    while at < limit {
        match text[at] {
            b'>' => return (at > from).then_some(End { at, is_broken }),
            b' ' | b'\t' | b'\r' | b'\n' if options.unwrap => {
                let space = &text[at..limit];
                let len = space.iter().position(|byte| !b" \t\r\n".contains(byte))?;
                if space[..len].iter().filter(|&&byte| byte == b'\n').count() != 1 {
                    return None;
                }
                is_broken = true;
                at += len;
            }
            0x80.. if options.unicode => match letter_len(&text[at..]) {
                0 => return None,
                len => at += len,
            },
            byte if URI_BYTE.has(byte) => at += 1,
            _ => return None,
        }
    }
    None
}

/// Whether a link between `<` and `>` may continue across the line end before `at`; returns the
/// offset of its `<`.
///
/// Cutting a text where the result is `None` does not change its links.
pub fn wrapped_cut(text: &[u8], at: usize) -> Option<usize> {
    let start = memchr::memrchr2(b'<', b'>', &text[..at]).filter(|&mark| text[mark] == b'<')?;
    let inside = &text[start + 1..at];
    let scheme = match inside {
        [b'U' | b'u', b'R' | b'r', b'L' | b'l', b':', rest @ ..] => rest,
        _ => inside,
    };
    let len = scheme.iter().position(|&byte| !SCHEME.has(byte))?;
    let from = start + 1 + inside.len() - scheme.len() + len + 1;
    let is_open = len > 0 && scheme[len] == b':' && at <= from + 2 + LONGEST_WRAPPED;
    is_open.then_some(start)
}
