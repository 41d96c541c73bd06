//! References in style sheets: `url()` and `@import` (CSS Syntax Module Level 3), and strings in `image-set()` and `src()`.

use super::how::How;
use super::reference::Absolute;
use super::{Context, Links};
use crate::chunk::{Padded, Span};
use crate::grammar::has_prefix;

/// Appends the references of the style sheet `text` to `links`, resolved against its own
/// URI. A fragment alone (`url(#id)`) refers to the document that is styled, and is skipped.
pub(super) fn sheet(how: How<'_>, text: Padded<'_>, links: &mut Links) {
    part(&mut how.absolute(), text.content(), |at| at, links);
}

/// [`sheet`] for a part of a document; `place` returns the offset in it of an offset of `content`.
pub(super) fn part(
    absolute: &mut Absolute<'_>,
    content: &[u8],
    place: impl Fn(u32) -> u32,
    links: &mut Links,
) {
    references(content, |start, end, context| {
        let typed = unescaped(&content[start..end]);
        if !typed.is_empty() && !typed.starts_with(b"#") {
            let span = Span { start: place(start as u32), end: place(end as u32) };
            absolute.push(&typed, span, context, links);
        }
    });
}

/// Calls `found` with the range of each reference of `text`, in order.
fn references(text: &[u8], mut found: impl FnMut(usize, usize, Context)) {
    let mut at = 0;
    // Whether a string is the reference of an `@import`.
    let mut is_import = false;
    // The number of open brackets, and of those around the content of the function whose strings are references.
    let (mut depth, mut of_references) = (0u32, None);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'/' if text[at..].starts_with(b"/*") => {
                let end = memchr::memmem::find(&text[at + 2..], b"*/");
                at = end.map_or(text.len(), |end| at + end + 4);
                continue;
            }
            b'"' | b'\'' => {
                let end = string_end(text, at + 1, byte);
                if core::mem::take(&mut is_import) {
                    found(at + 1, end, Context::Import);
                } else if of_references == Some(depth) {
                    found(at + 1, end, Context::Url);
                }
                at = end + 1;
                continue;
            }
            b'@' => is_import = has_prefix(&text[at + 1..], b"import"),
            b'u' | b'U' if begins_url(text, at) => {
                let (start, end, next) = url(text, at + b"url(".len());
                // Its `)` follows.
                depth += 1;
                let is_import = core::mem::take(&mut is_import);
                found(start, end, if is_import { Context::Import } else { Context::Url });
                at = next;
                continue;
            }
            b';' | b'{' | b'}' => (is_import, depth, of_references) = (false, 0, None),
            b'(' => {
                depth += 1;
                if of_references.is_none() && ends_with_function(&text[..at]) {
                    of_references = Some(depth);
                }
            }
            b')' => {
                of_references = of_references.filter(|&open| open != depth);
                depth = depth.saturating_sub(1);
            }
            b'\\' => at += 1,
            _ => {}
        }
        at += 1;
    }
}

/// Whether `text` ends with the name of a function whose strings are references.
fn ends_with_function(text: &[u8]) -> bool {
    let names: [&[u8]; 2] = [b"image-set", b"src"];
    names.iter().any(|name| {
        let (before, last) = text.split_at(text.len().saturating_sub(name.len()));
        let before = before.strip_suffix(b"-webkit-").unwrap_or(before);
        last.eq_ignore_ascii_case(name) && !before.last().is_some_and(|&byte| is_name(byte))
    })
}

/// Whether `byte` may be part of a name.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_\\".contains(&byte) || byte >= 0x80
}

/// Whether a `url(` that is not the end of a longer name begins at `at`.
fn begins_url(text: &[u8], at: usize) -> bool {
    has_prefix(&text[at..], b"url(")
        && !at.checked_sub(1).is_some_and(|before| is_name(text[before]))
}

/// The range of the reference of the `url(` whose content begins at `from`, and the offset after
/// it.
fn url(text: &[u8], from: usize) -> (usize, usize, usize) {
    let space = text[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let start = from + space;
    if let Some(&quote @ (b'"' | b'\'')) = text.get(start) {
        let end = string_end(text, start + 1, quote);
        return (start + 1, end, end + 1);
    }
    let mut end = start;
    while let Some(&byte) = text.get(end) {
        match byte {
            b')' | b'"' | b'\'' | b'(' => break,
            _ if byte.is_ascii_whitespace() => break,
            b'\\' => end += escape_len(&text[end + 1..]),
            _ => {}
        }
        end += 1;
    }
    let end = end.min(text.len());
    (start, end, end)
}

/// The end of the string that begins at `from`: its quote, or the line end that breaks it off.
fn string_end(text: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from;
    while let Some(found) = memchr::memchr3(quote, b'\n', b'\\', text.get(at..).unwrap_or_default())
    {
        at += found;
        if text[at] != b'\\' {
            return at;
        }
        at += 2;
    }
    text.len()
}

/// `typed` with its escapes decoded: up to six hexadecimal digits and a space, or any character.
fn unescaped(typed: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if memchr::memchr(b'\\', typed).is_none() {
        return typed.into();
    }
    let mut out = Vec::with_capacity(typed.len());
    let mut rest = typed;
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            out.push(*first);
            continue;
        }
        let digits = hex_digits(rest);
        if digits == 0 {
            // An escaped line end is dropped; another character is itself.
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            continue;
        }
        let digit = |&byte: &u8| char::from(byte).to_digit(16).unwrap_or(0);
        let code = rest[..digits].iter().fold(0, |code, byte| code * 16 + digit(byte));
        let c = char::from_u32(code).filter(|&c| c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[escape_len(rest)..];
    }
    out.into()
}

/// The length of what the backslash before `rest` escapes: up to six hexadecimal digits and a
/// space, or one byte.
fn escape_len(rest: &[u8]) -> usize {
    match hex_digits(rest) {
        0 => 1,
        digits => digits + usize::from(rest.get(digits).is_some_and(u8::is_ascii_whitespace)),
    }
}

fn hex_digits(rest: &[u8]) -> usize {
    rest.iter().take(6).take_while(|byte| byte.is_ascii_hexdigit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        references(text.as_bytes(), |start, end, context| {
            let typed = unescaped(&text.as_bytes()[start..end]);
            all.push(format!("{} {}", context.name(), String::from_utf8_lossy(&typed)));
        });
        all
    }

    #[test]
    fn references_are_those_of_the_syntax() {
        let text = r#"@charset "no"; @import "a.css"; @IMPORT url(b.css) screen; /* url(no) @import "no" */
            p { background: URL( "c d.png" ) , url('e.png'), url( f.png ) no; content: "url(no)" 'url(no)' }
            @import/**/'g.css'; q { src: xurl(no) url(h\)i.png) url(\26 x\2f y) url(\zz) } @media "no" { }
            r { a: url() url("j"#;
        let expected = [
            "import a.css",
            "import b.css",
            "url c d.png",
            "url e.png",
            "url f.png",
            "import g.css",
            "url h)i.png",
            "url &x/y",
            "url zz",
            "url ",
            "url j",
        ];
        assert_eq!(found(text), expected);
        let sets = r#"a: image-set("b" 1x, url(c) 2x, 'd' type("no")) "no"; e: -webkit-image-set( "f" ); x-image-set("no");
            src: SRC("g") format("no") local('no'); i: image-set("h"} j: "no""#;
        let expected = ["url b", "url c", "url d", "url f", "url g", "url h"];
        assert_eq!(found(sets), expected);
        assert_eq!(found("a: url(b"), ["url b"]);
        assert_eq!(found("a: url(\\"), ["url "]);
        assert_eq!(found("@import \"a\nb\"; url(c)"), ["import a"]);
        assert_eq!(found("/* url(a)"), [""; 0]);
    }
}
