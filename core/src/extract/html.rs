//! The tags of an HTML document, as defined by the tokenizer of the HTML standard (section 13.2.5):
//! no tree, no text, only the attributes of start tags and their positions.
//!
//! Comments, `script`, `style`, `textarea`, `title` and the like hold no tags. A tag that is cut
//! off by the end of the document does not count. `<![CDATA[` is a bogus comment, as it is outside
//! of foreign content.

use memchr::{memchr, memchr2};

use super::attribute::matters;

/// An attribute: its name as written, and its value without quotes, with character references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attribute<'t> {
    pub(crate) name: &'t [u8],
    pub(crate) value: &'t [u8],
    /// Offset of the value in the document; without a value, of the text after the name.
    pub(crate) at: usize,
}

/// Receives the tags that the tokenizer finds.
pub(crate) trait Tags<'t> {
    /// Called for a `<` at `at` that may begin a tag. Returns the offset of the next `<` to
    /// process, which is `at` or later.
    fn skip(&mut self, at: usize) -> usize;

    /// Whether an attribute of this name is of interest.
    fn matters(&self, tag: &[u8], attribute: &[u8]) -> bool {
        matters(tag, attribute)
    }

    /// Called with the range of the text of the last start tag, if there are no tags in it.
    fn raw(&mut self, _start: usize, _end: usize) {}

    /// Called for a start tag with its name and those of its attributes that matter
    /// ([`Tags::matters`]), up to a limit. Of attributes with the same name, only the first is included, so a tag of any
    /// length takes little memory.
    fn start(&mut self, name: &'t [u8], attributes: &[Attribute<'t>]);
}

/// Calls `tags` for every start tag of `text`, in order.
pub(crate) fn start_tags<'t>(text: &'t [u8], tags: &mut impl Tags<'t>) {
    let mut attributes = Vec::new();
    let mut at = 0;
    while let Some(skipped) = memchr(b'<', &text[at..]) {
        let open = tags.skip(at + skipped);
        if open == text.len() {
            return;
        }
        at = match text.get(open + 1) {
            Some(b'!') if text[open..].starts_with(b"<!--") => comment_end(text, open + 4),
            Some(b'!' | b'?') => after(text, open + 2, b'>'),
            Some(b'/') => match text.get(open + 2) {
                Some(byte) if byte.is_ascii_alphabetic() => {
                    attributes.clear();
                    match tag(text, open + 2, |_, _| false, &mut attributes) {
                        Some((_, end)) => end,
                        None => return,
                    }
                }
                Some(_) => after(text, open + 2, b'>'),
                None => return,
            },
            Some(byte) if byte.is_ascii_alphabetic() => {
                attributes.clear();
                let matters = |tag: &[u8], attribute: &[u8]| tags.matters(tag, attribute);
                let found = tag(text, open + 1, matters, &mut attributes);
                let Some((name, end)) = found else { return };
                tags.start(name, &attributes);
                let raw_end = raw_text_end(text, name, end);
                if raw_end > end {
                    tags.raw(end, raw_end);
                }
                raw_end
            }
            Some(_) => open + 1,
            None => return,
        };
    }
}

/// The offset after the first `byte` from `from` on, or the end.
fn after(text: &[u8], from: usize, byte: u8) -> usize {
    text.get(from..).and_then(|rest| memchr(byte, rest)).map_or(text.len(), |at| from + at + 1)
}

/// The end of the comment whose text begins at `from`.
pub(super) fn comment_end(text: &[u8], from: usize) -> usize {
    let rest = &text[from..];
    if rest.starts_with(b">") {
        return from + 1;
    } else if rest.starts_with(b"->") {
        return from + 2;
    }
    let mut at = from;
    while let Some(dash) = text.get(at..).and_then(|rest| memchr(b'-', rest)) {
        at += dash;
        match &text[at..] {
            [b'-', b'-', b'>', ..] => return at + 3,
            [b'-', b'-', b'!', b'>', ..] => return at + 4,
            _ => at += 1,
        }
    }
    text.len()
}

/// Maximum number of attributes of a tag that are of interest.
const MOST_ATTRIBUTES: usize = 256;

/// Reads the tag whose name begins at `start`, and appends its attributes that matter; returns its
/// name, and the offset after its `>`. `None` if the document ends before.
pub(super) fn tag<'t>(
    text: &'t [u8],
    start: usize,
    matters: impl Fn(&[u8], &[u8]) -> bool,
    attributes: &mut Vec<Attribute<'t>>,
) -> Option<(&'t [u8], usize)> {
    let mut at = start;
    while !matches!(text.get(at)?, b'\t' | b'\n' | b'\x0C' | b'\r' | b' ' | b'/' | b'>') {
        at += 1;
    }
    let tag = &text[start..at];
    loop {
        while matches!(text.get(at)?, b'\t' | b'\n' | b'\x0C' | b'\r' | b' ' | b'/') {
            at += 1;
        }
        if text[at] == b'>' {
            return Some((tag, at + 1));
        }
        let attribute = at;
        // A `=` at its beginning is part of the name.
        at += 1;
        while !matches!(text.get(at)?, b'\t' | b'\n' | b'\x0C' | b'\r' | b' ' | b'/' | b'>' | b'=')
        {
            at += 1;
        }
        let name = &text[attribute..at];
        let is_new = || !attributes.iter().any(|a| a.name.eq_ignore_ascii_case(name));
        let counts = attributes.len() < MOST_ATTRIBUTES && matters(tag, name) && is_new();
        let name_end = at;
        at = skip_space(text, at)?;
        if text[at] != b'=' {
            if counts {
                attributes.push(Attribute { name, value: b"", at: name_end });
            }
            continue;
        }
        at = skip_space(text, at + 1)?;
        let (value, end) = match text[at] {
            quote @ (b'"' | b'\'') => {
                let len = memchr(quote, &text[at + 1..])?;
                (at + 1..at + 1 + len, at + 2 + len)
            }
            _ => {
                let start = at;
                while !matches!(text.get(at)?, b'\t' | b'\n' | b'\x0C' | b'\r' | b' ' | b'>') {
                    at += 1;
                }
                (start..at, at)
            }
        };
        if counts {
            attributes.push(Attribute { name, value: &text[value.clone()], at: value.start });
        }
        at = end;
    }
}

fn skip_space(text: &[u8], mut at: usize) -> Option<usize> {
    while matches!(text.get(at)?, b'\t' | b'\n' | b'\x0C' | b'\r' | b' ') {
        at += 1;
    }
    Some(at)
}

/// The end of the raw text that begins at `from`, after the start tag `name`.
fn raw_text_end(text: &[u8], name: &[u8], from: usize) -> usize {
    const RAW: [&[u8]; 8] =
        [b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes"];
    if !matches!(name.len(), 3 | 5..=10) {
        return from;
    }
    if name.eq_ignore_ascii_case(b"script") {
        return script_end(text, from);
    }
    if name.eq_ignore_ascii_case(b"plaintext") {
        return text.len();
    }
    if !RAW.iter().any(|raw| raw.eq_ignore_ascii_case(name)) {
        return from;
    }
    let mut at = from;
    while let Some(skipped) = memchr(b'<', &text[at..]) {
        at += skipped;
        if is_tag(&text[at..], b"</", name) {
            return at;
        }
        at += 1;
    }
    text.len()
}

/// Whether `text` begins with `open`, `name` and a byte that ends a tag name.
fn is_tag(text: &[u8], open: &[u8], name: &[u8]) -> bool {
    let end = open.len() + name.len();
    text.starts_with(open)
        && text.len() > end
        && text[open.len()..end].eq_ignore_ascii_case(name)
        && matches!(text[end], b'\t' | b'\n' | b'\x0C' | b'\r' | b' ' | b'/' | b'>')
}

/// The end of the script that begins at `from`: at its end tag, but not at one in a
/// `<!-- <script> -->`.
fn script_end(text: &[u8], from: usize) -> usize {
    let (mut is_escaped, mut is_double) = (false, false);
    let mut at = from;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let next = if is_escaped { memchr2(b'<', b'-', rest) } else { memchr(b'<', rest) };
        let Some(skipped) = next else { return text.len() };
        at += skipped;
        let rest = &text[at..];
        if rest[0] == b'-' {
            if rest.starts_with(b"-->") {
                (is_escaped, is_double) = (false, false);
            }
        } else if is_tag(rest, b"</", b"script") {
            if !is_double {
                return at;
            }
            is_double = false;
        } else if is_escaped && is_tag(rest, b"<", b"script") {
            is_double = true;
        } else if !is_escaped && rest.starts_with(b"<!--") {
            is_escaped = true;
            // Its dashes may also be those of the end: `<!-->`.
            at += 1;
        }
        at += 1;
    }
}
