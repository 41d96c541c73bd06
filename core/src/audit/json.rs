//! Members of JSON objects, of objects in JavaScript and of the like, in URIs: `{"token":"..."}`, also inside a string, as
//! `{\"token\":\"...\"}`.

use core::ops::Range;

use super::layers::Layers;
use crate::grammar::class::{ALPHA, ByteClass, DIGIT};

/// Bytes of a name that are looked at.
const LONGEST: usize = 64;

/// White space of JSON; forms encode a space as `+`.
const SPACE: ByteClass = ByteClass::of(b" \t\r\n+");

/// The name of the member whose colon follows `text`: a string, or a word after `{` or `,`.
pub(super) fn name_before(text: &[u8]) -> Option<&[u8]> {
    const WORD: ByteClass = ALPHA.or(DIGIT).or(ByteClass::of(b"_-$"));
    let text = without_spaces(text);
    let text = &text[text.len().saturating_sub(LONGEST)..];
    match text {
        [name @ .., quote @ (b'"' | b'\'')] => {
            // Without an opening quote, the last bytes decide.
            Some(memchr::memrchr(*quote, name).map_or(name, |open| &name[open + 1..]))
        }
        _ => {
            let before = text.iter().rposition(|&byte| !WORD.has(byte))?;
            let begins = b"{,".contains(&text[before]) || SPACE.has(text[before]);
            begins.then(|| &text[before + 1..])
        }
    }
}

/// `text` without the white space at its end.
fn without_spaces(text: &[u8]) -> &[u8] {
    let last = text.iter().rposition(|&byte| !SPACE.has(byte));
    &text[..last.map_or(0, |last| last + 1)]
}

/// The value after the colon at `colon`, if it is neither empty nor an object.
pub(super) fn value_after(text: &Layers<'_>, colon: usize) -> Option<Range<usize>> {
    let end = text.component_end(colon);
    let skipped = |from: usize, skip: ByteClass| {
        let rest = text.bytes()[from..end].iter();
        from + rest.take_while(|&&byte| skip.has(byte)).count()
    };
    let start = skipped(colon + 1, SPACE);
    let quote = skipped(start, ByteClass::of(b"\\"));
    let is_name_quoted =
        matches!(without_spaces(&text.bytes()[..colon]).last(), Some(b'"' | b'\''));
    let value = match text.bytes().get(quote)? {
        _ if quote >= end => return None,
        b'"' | b'\'' => quote + 1..string_end(text, quote, quote - start, end),
        // `sort=pass:asc` is none.
        _ if !is_name_quoted => return None,
        _ if text.bytes()[start] == b'[' => {
            start + 1..bare_end(text, start + 1, end, ByteClass::of(b"]"))
        }
        _ => start..bare_value_end(text, start, end),
    };
    let is_nothing = [&b""[..], b"null", b"true", b"false"].contains(&&text.bytes()[value.clone()]);
    (!is_nothing).then_some(value)
}

/// The end of the string after `quote`, which follows so many backslashes: the next quote after no more of them.
fn string_end(text: &Layers<'_>, quote: usize, escapes: usize, end: usize) -> usize {
    let depth = text.depth(quote);
    let mut backslashes = 0;
    for at in quote + 1..end {
        match text.bytes()[at] {
            b'\\' => {
                backslashes += 1;
                continue;
            }
            byte if byte == text.bytes()[quote] && backslashes <= escapes => {
                return at - backslashes;
            }
            // The end of the parameter: the string has none.
            b'&' if text.depth(at) < depth => return at,
            _ => {}
        }
        backslashes = 0;
    }
    end
}

/// The end of the value that begins at `start` without a quote. If one follows, what precedes it was white space of some kind, and
/// the value includes the string with its quotes: what is left of it would begin another one.
fn bare_value_end(text: &Layers<'_>, start: usize, end: usize) -> usize {
    let mut at = start;
    loop {
        let quote = bare_end(text, at, end, ByteClass::of(b",}]& \"{"));
        if quote == end || text.bytes()[quote] != b'"' {
            return quote;
        }
        let before = text.bytes()[at..quote].iter().rev();
        let escapes = before.take_while(|&&byte| byte == b'\\').count();
        let close = string_end(text, quote, escapes, end);
        let closing = text.bytes()[close..end].iter().take_while(|&&byte| byte == b'\\').count();
        at = close + closing;
        match text.bytes()[at..end].first() {
            Some(b'"') => at += 1,
            // The string has no end but that of its parameter.
            _ => return at,
        }
    }
}

/// The end of what begins at `start`, before one of `ends`.
fn bare_end(text: &Layers<'_>, start: usize, end: usize, ends: ByteClass) -> usize {
    let rest = &text.bytes()[start..end];
    start + rest.iter().position(|&byte| ends.has(byte)).unwrap_or(rest.len())
}
