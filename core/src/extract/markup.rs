//! Links of XML of any kind: in texts, attributes and comments, whose references are decoded.
//!
//! The text is read token by token and need not be well-formed, so nothing is lost if it turns out to be something else: what
//! is not markup is searched as text. Names of namespaces and document types are not links.

use super::attribute::decoded;
use super::fragment::{self, Positions};
use super::how::How;
use super::html::{Attribute, tag};
use super::reference::{Absolute, scheme};
use super::sniff::{self, Sign};
use super::{Context, Links};
use crate::chunk::{Padded, PaddedBuf, Span};

/// The namespace of pages.
const XHTML: &[u8] = b"http://www.w3.org/1999/xhtml";

/// What begins with a `<`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// A start tag or an end tag.
    Tag,
    Comment,
    /// A CDATA section.
    Section,
    Instruction,
    Doctype,
}

/// What a `<` begins.
enum Found {
    /// A token and its end.
    Token(Token, usize),
    /// Nothing: it is text.
    Text,
    /// A token that does not end.
    Open,
}

/// What the `<` at `at` begins; `attributes` becomes those of a start tag that matter. A text that is not a token may leave some.
fn token<'t>(text: &'t [u8], at: usize, attributes: &mut Vec<Attribute<'t>>) -> Found {
    attributes.clear();
    let rest = &text[at + 1..];
    let ends = |token, from: usize, end: &[u8]| {
        let found = text.get(at + from..).and_then(|rest| memchr::memmem::find(rest, end));
        found.map_or(Found::Open, |len| Found::Token(token, at + from + len + end.len()))
    };
    match rest {
        [b'!', b'-', b'-', ..] => ends(Token::Comment, 4, b"-->"),
        [b'!', b'[', ..] if rest.starts_with(b"![CDATA[") => ends(Token::Section, 9, b"]]>"),
        [b'!', byte, ..] if byte.is_ascii_alphabetic() => {
            doctype_end(text, at).map_or(Found::Open, |end| Found::Token(Token::Doctype, end))
        }
        [b'?', byte, ..] if byte.is_ascii_alphabetic() => ends(Token::Instruction, 2, b"?>"),
        [b'/', byte, ..] if is_start(*byte) => ends(Token::Tag, 2, b">"),
        [byte, ..] if is_start(*byte) => match tag(text, at + 1, |_, _| true, attributes) {
            Some((name, end)) if is_name(name) => Found::Token(Token::Tag, end),
            Some(_) => Found::Text,
            None => Found::Open,
        },
        _ => Found::Text,
    }
}

/// The end of the document type declaration at `at`, which may have declarations between `[` and `]`.
fn doctype_end(text: &[u8], at: usize) -> Option<usize> {
    let first = at + memchr::memchr2(b'[', b'>', &text[at..])?;
    if text[first] == b'>' {
        return Some(first + 1);
    }
    let mut from = first;
    loop {
        from += memchr::memchr(b']', &text[from..])? + 1;
        let rest = text[from..].trim_ascii_start();
        if rest.starts_with(b">") {
            return Some(text.len() - rest.len() + 1);
        }
    }
}

fn is_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// Whether `name` may be the name of an element; `http:` is not.
fn is_name(name: &[u8]) -> bool {
    let is_of_it = |&byte: &u8| is_start(byte) || byte.is_ascii_digit() || b"-.:".contains(&byte);
    name.iter().all(is_of_it) && name.last() != Some(&b':')
}

/// The offset of the last tag of `content`: what precedes it is whole. `content` begins with a token or with text.
pub fn last_token_end(content: &[u8]) -> Option<usize> {
    let (mut at, mut last, mut attributes) = (0, 0, Vec::new());
    while let Some(skipped) = memchr::memchr(b'<', &content[at..]) {
        let open = at + skipped;
        at = match token(content, open, &mut attributes) {
            Found::Token(Token::Tag, end) => {
                last = open;
                end
            }
            Found::Token(_, end) => end,
            Found::Text => open + 1,
            Found::Open => break,
        };
    }
    (last > 0).then_some(last)
}

/// How surely a source that begins with `head` is XML that is neither a page nor a feed: certainly with an XML declaration or
/// a namespace, likely if its elements are nested and have no names of HTML.
pub(super) fn sign(head: &[u8]) -> Option<Sign> {
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    if text.starts_with(b"<?xml") && text.get(5).is_some_and(u8::is_ascii_whitespace) {
        return Some(Sign::Certain);
    }
    let root = sniff::root(text).filter(|root| !root.is_empty() && is_name(root))?;
    if !is_start(root[0]) {
        return None;
    }
    let at = root.as_ptr().addr() - text.as_ptr().addr();
    let mut attributes = Vec::new();
    let (_, end) = tag(text, at, |_, _| true, &mut attributes)?;
    let is_named = |attribute: &&Attribute<'_>| is_namespace(attribute.name);
    if let Some(namespace) = attributes.iter().find(is_named) {
        return (namespace.value != XHTML).then_some(Sign::Certain);
    } else if fragment::is_element(root) {
        return None;
    }
    (text[..end].ends_with(b"/>") || is_nested(&text[at - 1..])).then_some(Sign::Likely)
}

/// Whether the elements at the beginning of `text` are nested, at least one of them ends, and there is no text around them.
fn is_nested(text: &[u8]) -> bool {
    let (mut at, mut open_names, mut attributes) = (0, Vec::new(), Vec::new());
    let mut has_end = false;
    while let Some(skipped) = memchr::memchr(b'<', &text[at..]) {
        let open = at + skipped;
        if open_names.is_empty() && !text[at..open].trim_ascii().is_empty() {
            return false;
        }
        let (token, end) = match token(text, open, &mut attributes) {
            Found::Token(token, end) => (token, end),
            Found::Text => return false,
            Found::Open => break,
        };
        at = end;
        let inner = &text[open + 1..end - 1];
        if token != Token::Tag {
            continue;
        }
        if let Some(name) = inner.strip_prefix(b"/") {
            if open_names.pop() != Some(name.trim_ascii_end()) {
                return false;
            }
            has_end = true;
        } else if inner.ends_with(b"/") {
            has_end = true;
        } else {
            let is_end = |byte: &u8| byte.is_ascii_whitespace();
            open_names.push(&inner[..inner.iter().position(is_end).unwrap_or(inner.len())]);
        }
    }
    has_end && (!open_names.is_empty() || text[at..].trim_ascii().is_empty())
}

/// Whether the attribute declares a namespace.
fn is_namespace(name: &[u8]) -> bool {
    name == b"xmlns" || name.starts_with(b"xmlns:")
}

/// Appends the links of the tokens of `text` to `links`; the references in `href` and `src` are resolved.
pub(super) fn tokens(how: How<'_>, text: Padded<'_>, links: &mut Links) {
    let (absolute, options) = (how.absolute(), how.finder.options());
    let reads_all = options.bare_hosts || options.email || options.refang;
    let (plain, mixed) = (PaddedBuf::default(), Vec::new());
    Search { how, text, absolute, reads_all, plain, mixed, links }.read();
}

struct Search<'a, 'l> {
    how: How<'a>,
    text: Padded<'a>,
    absolute: Absolute<'a>,
    /// Whether there are links without a `:`.
    reads_all: bool,
    plain: PaddedBuf,
    /// A text with sections or comments in it, decoded.
    mixed: Vec<u8>,
    links: &'l mut Links,
}

impl Search<'_, '_> {
    fn read(&mut self) {
        let content = self.text.content();
        // The text since the last tag, and its part since the last token.
        let (mut start, mut from, mut is_mixed) = (0, 0, false);
        let (mut at, mut attributes) = (0, Vec::new());
        while let Some(skipped) = memchr::memchr(b'<', &content[at..]) {
            let open = at + skipped;
            let (token, end) = match token(content, open, &mut attributes) {
                Found::Token(token, end) => (token, end),
                Found::Text => {
                    at = open + 1;
                    continue;
                }
                Found::Open => break,
            };
            at = end;
            if !matches!(token, Token::Tag | Token::Doctype) {
                self.mixed.extend_from_slice(&decoded(&content[from..open]));
                if token == Token::Section {
                    self.mixed.extend_from_slice(&content[open + b"<![CDATA[".len()..end - 3]);
                } else {
                    self.value(open + 2, end - 2, Context::Element);
                }
                (from, is_mixed) = (end, true);
                continue;
            }
            self.run((start, from, open), is_mixed);
            (start, from, is_mixed) = (end, end, false);
            if self.links.is_full(open) {
                return;
            }
            match token {
                Token::Doctype => self.doctype(open, end),
                _ => self.tag(open, end, &attributes),
            }
        }
        self.run((start, from, content.len()), is_mixed);
    }

    /// Searches the text from `start` to `end`, of which what precedes `from` is in `mixed`.
    fn run(&mut self, (start, from, end): (usize, usize, usize), is_mixed: bool) {
        if !is_mixed {
            return self.value(start, end, Context::Element);
        }
        let content = self.text.content();
        let mut mixed = core::mem::take(&mut self.mixed);
        mixed.extend_from_slice(&decoded(&content[from..end]));
        let place = Span { start: start as u32, end: end as u32 };
        if self.may_hold(&mixed) {
            self.made(&mixed, Context::Element, |_| place);
        }
        mixed.clear();
        self.mixed = mixed;
    }

    /// Whether `text` may hold a link.
    fn may_hold(&self, text: &[u8]) -> bool {
        self.reads_all || memchr::memchr3(b':', b'&', b'<', text).is_some()
    }

    /// Searches a text or the value of an attribute, whose references are decoded.
    fn value(&mut self, start: usize, end: usize, context: Context) {
        let typed = &self.text.content()[start..end];
        let span = Span { start: start as u32, end: end as u32 };
        if !self.may_hold(typed) {
            return;
        }
        if memchr::memchr2(b'&', b'<', typed).is_none() {
            return self.how.find(self.text, span, context, self.links);
        }
        let value = decoded(typed);
        let mut positions = Positions::new(typed);
        self.made(&value, context, |found| positions.original(found, span.start));
    }

    /// Searches a value that is decoded; `place` returns where its parts come from.
    fn made(&mut self, value: &[u8], context: Context, place: impl FnMut(Span) -> Span) {
        if fragment::is_html(value) {
            return fragment::search(self.how, (value, context), place, self.links);
        }
        self.plain.set(value);
        let plain = self.plain.padded();
        let whole = Span { start: 0, end: value.len() as u32 };
        let found = Links::of_part(value.len(), |found| {
            self.how.find(plain, whole, context, found);
        });
        self.links.take_made(&found, value, place);
    }

    /// Searches the declarations of a document type, but not its name.
    fn doctype(&mut self, open: usize, end: usize) {
        let inner = memchr::memchr(b'[', &self.text.content()[open..end]);
        if let Some(at) = inner {
            self.value(open + at, end, Context::Element);
        }
    }

    /// Searches the values of the attributes of a tag, and what else it holds if that is not of XML.
    fn tag(&mut self, open: usize, end: usize, attributes: &[Attribute<'_>]) {
        let mut from = open + 1;
        for attribute in attributes.iter().filter(|attribute| !attribute.value.is_empty()) {
            let value_end = attribute.at + attribute.value.len();
            self.gap(from, attribute.at);
            from = value_end;
            let local = attribute.name.rsplit(|&byte| byte == b':').next().unwrap_or_default();
            match local {
                _ if is_namespace(attribute.name) => {}
                b"href" => self.reference(attribute, Context::Href),
                b"src" => self.reference(attribute, Context::Src),
                _ => self.value(attribute.at, value_end, Context::Attribute),
            }
        }
        self.gap(from, end);
    }

    /// Searches a part of a tag that holds no values.
    fn gap(&mut self, start: usize, end: usize) {
        let text = &self.text.content()[start..end];
        if memchr::memchr(b'@', text).is_some() || memchr::memmem::find(text, b"://").is_some() {
            self.value(start, end, Context::Attribute);
        }
    }

    /// Adds the reference in an attribute, or the links in it if it is something else.
    fn reference(&mut self, attribute: &Attribute<'_>, context: Context) {
        let (start, end) = (attribute.at, attribute.at + attribute.value.len());
        let value = decoded(attribute.value);
        let before = self.links.len();
        if scheme(value.trim_ascii_start()).is_none() {
            self.value(start, end, context);
            let is_fragment = matches!(value.trim_ascii().first(), None | Some(b'#'));
            if self.links.len() > before || is_fragment {
                return;
            }
        }
        let span = Span { start: start as u32, end: end as u32 };
        self.absolute.push(&value, span, context, self.links);
    }
}
