//! Links in scripts and their strings, where slashes and other characters are escaped: `https:\/\/h\/a`, `\u002F`, `\x2F`.

use super::scheme::HOST_START;
use crate::chunk::Span;
use crate::grammar::class::{SCHEME, URI_BYTE};

/// Maximum number of backslashes of an escape: each level of quoting doubles them.
const MOST_BACKSLASHES: usize = 8;
/// Maximum number of bytes of a scheme that are examined.
const LONGEST_SCHEME: usize = 40;

/// The character that the escape at the start of `text` represents, and its length.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    let slashes = text.iter().take(MOST_BACKSLASHES).take_while(|&&byte| byte == b'\\').count();
    let digits = |from: usize, count: usize| {
        let digits = text.get(from..from + count)?;
        digits.iter().try_fold(0, |sum, &digit| Some(sum * 16 + char::from(digit).to_digit(16)?))
    };
    match text.get(slashes)? {
        _ if slashes == 0 => None,
        b'/' => Some(('/', slashes + 1)),
        b'u' => Some((char::from_u32(digits(slashes + 1, 4)?)?, slashes + 5)),
        b'x' => Some((char::from_u32(digits(slashes + 1, 2)?)?, slashes + 3)),
        _ => None,
    }
}

/// The byte of a link that `text` begins with, escaped or not, and how many bytes it takes.
fn byte(text: &[u8]) -> Option<(u8, usize)> {
    match text.first()? {
        b'\\' => {
            let (c, len) = escape(text)?;
            let byte = u8::try_from(c).ok().filter(|&byte| URI_BYTE.has(byte))?;
            Some((byte, len))
        }
        &byte if URI_BYTE.has(byte) => Some((byte, 1)),
        _ => None,
    }
}

/// Whether an escape at the start of `text` continues a link.
#[inline]
pub(super) fn goes_on(text: &[u8]) -> bool {
    text.first() == Some(&b'\\') && byte(text).is_some()
}

/// Whether `text`, what follows the `:` of a scheme, begins with two slashes of which the first is escaped, and a host.
pub(super) fn is_authority(text: &[u8]) -> bool {
    let Some((b'/', first)) = byte(text).filter(|_| text.starts_with(b"\\")) else { return false };
    let Some((b'/', second)) = byte(&text[first..]) else { return false };
    byte(&text[first + second..]).is_some_and(|(byte, _)| HOST_START.has(byte))
}

/// A part of a text without its escapes, and with the byte before it.
pub(super) struct Run {
    pub(super) text: Vec<u8>,
    start: usize,
    /// The number of its bytes that are as they were: those up to the `:`.
    plain: u32,
    /// Offset of its end.
    pub(super) end: usize,
    /// Whether an escape follows it that patterns have, but no strings: `http:\/\/h\.example\/`.
    pub(super) is_pattern: bool,
}

impl Run {
    /// The run around `colon`, from `floor` on.
    pub(super) fn around(text: &[u8], floor: usize, colon: usize) -> Run {
        let before = text[floor..colon].iter().rev().take(LONGEST_SCHEME);
        let scheme = before.take_while(|byte| SCHEME.has(**byte)).count();
        let start = (colon - scheme).saturating_sub(1).max(floor);
        let mut out = text[start..=colon].to_vec();
        let mut end = colon + 1;
        while let Some((byte, len)) = byte(&text[end..]) {
            out.push(byte);
            end += len;
        }
        // It may be that of a `<` before the link.
        out.extend(text.get(end).filter(|&&byte| byte == b'>'));
        let is_pattern = match text[end..] {
            [b'\\', next, ..] if next.is_ascii_alphanumeric() => b"dDsSwWB".contains(&next),
            [b'\\', next, ..] => !b"\"'\\<>&` ".contains(&next),
            _ => false,
        };
        Run { text: out, start, plain: (colon + 1 - start) as u32, end, is_pattern }
    }

    /// Returns the positions in `text` of spans in this run, which come in order.
    pub(super) fn positions<'t>(&self, text: &'t [u8]) -> impl FnMut(Span) -> Span + use<'t> {
        let (mut at, mut made, plain) = (self.start, 0, self.plain);
        let mut offset = move |target: u32| {
            while made < target {
                let escape = byte(&text[at..]).filter(|_| made >= plain);
                at += escape.map_or(1, |(_, len)| len);
                made += 1;
            }
            at as u32
        };
        move |span| {
            let start = offset(span.start);
            Span { start, end: offset(span.end) }
        }
    }
}
