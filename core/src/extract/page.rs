//! Links of an HTML document.

use std::borrow::Cow;

use url::Url;

use super::attribute::{context, decoded};
use super::charset::{self, Declared};
use super::fault::LONGEST_BASE;
use super::how::How;
use super::html::{Attribute, Tags, start_tags};
use super::reference::{Absolute, encoded, is_base, scheme};
use super::{Context, Links, regular_tags};
use crate::chunk::{Padded, Span};
use crate::index::low_bits;
use crate::simd::{BLOCK, Isa, Task, class};

/// Appends the links of the HTML document `text` to `links`: the references in its attributes,
/// resolved against the `<base>` of the document or its own URI, and what `more` adds.
///
/// Character references are decoded. Bytes that no URI may hold are percent-encoded. Relative
/// references without a base are counted and skipped. The document is decoded from the character set
/// that `outer` names, or that it declares.
pub(super) fn page(
    how: How<'_>,
    (text, outer): (Padded<'_>, Declared),
    more: Option<More<'_>>,
    links: &mut Links,
) {
    let page = Page { how, more };
    let before = links.mark();
    // The references of nearly all pages are ASCII, and do not depend on the character set.
    let is_decided = more.is_some() || charset::may_shift(text.content(), outer);
    let found = match is_decided {
        true => charset::of_page(text.content(), outer),
        false => page.read(text, Reading::Undecided(outer), links),
    };
    match found {
        Some(charset) => {
            links.back_to(&before);
            charset::search(text, charset, links, |text, links| {
                page.read(text, Reading::Decided(found), links);
            });
        }
        None if is_decided => {
            page.read(text, Reading::Decided(None), links);
        }
        None => {}
    }
}

/// The character set of a page.
#[derive(Clone, Copy)]
enum Reading {
    /// Decided where a reference is not ASCII; that of the message around the page.
    Undecided(Declared),
    /// UTF-8; what it was decoded from.
    Decided(Declared),
}

/// Appends links of a page in UTF-8, which it gets with its base.
pub(super) type More<'a> = &'a dyn Fn(Padded<'_>, Option<&[u8]>, &mut Links);

/// How pages are read.
struct Page<'a> {
    how: How<'a>,
    more: Option<More<'a>>,
}

impl Page<'_> {
    /// Appends the links of `text`. Returns the character set from which it is to be decoded first, if there is one.
    fn read(&self, text: Padded<'_>, mut reading: Reading, links: &mut Links) -> Declared {
        let &Page { how: how @ How { kernels, base, .. }, more } = self;
        let take =
            |at, found: &mut Vec<(Context, Span)>| regular_tags::take(kernels, text, at, found);
        let (found, own_base) = places(text, links.take_places(), take);
        // The base applies to the whole document, also to the text before it.
        let mut absolute_base = Vec::new();
        let page_scheme = base.and_then(scheme);
        let own_base = own_base.map(|typed| with_slashes(decoded(typed), page_scheme));
        let to_decode = own_base.as_deref().and_then(|typed| reading.decide(text, typed));
        if to_decode.is_some() {
            links.give_back_places(found);
            return to_decode;
        }
        if let Some(own) = own_base.map(|typed| encoded(&typed).into_owned()) {
            match scheme(&own) {
                Some(_) => absolute_base = own,
                None => {
                    let mut absolute = how.absolute();
                    absolute_base.extend_from_slice(absolute.resolve(&own).unwrap_or_default());
                }
            }
        }
        if absolute_base.len() > LONGEST_BASE {
            links.count_base(absolute_base.len());
            absolute_base.clear();
        }
        let base = match own_base_of(&absolute_base) {
            // Only a fragment can be resolved against it, as against `mailto:a@h`.
            Some(own) if own.cannot_be_a_base() => None,
            Some(_) => Some(&*absolute_base),
            None => base,
        };
        let mut absolute = how.absolute_to(base);
        if let Reading::Decided(charset) = reading {
            absolute = absolute.with_charset(charset);
        }
        let first = links.len();
        let references = References { text, found: &found, absolute, reading, links };
        let to_decode = kernels.run(references);
        links.give_back_places(found);
        if let Some(more) = more {
            more(text, base, links);
            links.sort_from(first);
        }
        to_decode
    }
}

impl Reading {
    /// Decides it for the page `text` if `typed`, a reference in it, is not ASCII; returns the character set from which it is
    /// to be decoded.
    fn decide(&mut self, text: Padded<'_>, typed: &[u8]) -> Declared {
        const ESCAPE: u8 = 0x1B;
        let Reading::Undecided(outer) = *self else { return None };
        if typed.is_ascii() && memchr::memchr(ESCAPE, typed).is_none() {
            return None;
        }
        let charset = charset::of_page(text.content(), outer);
        *self = Reading::Decided(None);
        charset
    }
}

/// Appends the positions in `text` that may hold a link, in order, to `found`; returns the
/// reference of its `<base>`.
///
/// `take` reads tags from the `<` at an offset on and adds the positions that may hold a link. It
/// returns the offset of the first tag that it leaves to the tokenizer.
pub(super) fn places<'t>(
    text: Padded<'t>,
    found: Vec<(Context, Span)>,
    take: impl FnMut(usize, &mut Vec<(Context, Span)>) -> usize,
) -> (Vec<(Context, Span)>, Option<&'t [u8]>) {
    let mut places = Places { take, found, own_base: None };
    start_tags(text.content(), &mut places);
    (places.found, places.own_base)
}

struct Places<'t, F> {
    take: F,
    found: Vec<(Context, Span)>,
    own_base: Option<&'t [u8]>,
}

impl<'t, F: FnMut(usize, &mut Vec<(Context, Span)>) -> usize> Tags<'t> for Places<'t, F> {
    fn skip(&mut self, at: usize) -> usize {
        (self.take)(at, &mut self.found)
    }

    fn start(&mut self, tag: &'t [u8], attributes: &[Attribute<'t>]) {
        if tag.eq_ignore_ascii_case(b"base") {
            // The first one with a reference counts.
            let href = || attributes.iter().find(|a| a.name.eq_ignore_ascii_case(b"href"));
            self.own_base = self.own_base.or_else(|| href().map(|attribute| attribute.value));
            return;
        }
        for attribute in attributes {
            if let Some(context) = context(tag, attribute.name)
                && (context != Context::Refresh || is_refresh(attributes))
            {
                let (start, end) = (attribute.at, attribute.at + attribute.value.len());
                self.found.push((context, Span { start: start as u32, end: end as u32 }));
            }
        }
    }
}

/// Creates links from the positions found.
struct References<'a> {
    text: Padded<'a>,
    found: &'a [(Context, Span)],
    absolute: Absolute<'a>,
    reading: Reading,
    links: &'a mut Links,
}

impl Task for References<'_> {
    type Output = Declared;

    /// Stops where the page turns out to be in another character set, and returns that.
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) -> Declared {
        let allows_base = self.absolute.scheme().is_some_and(|scheme| self.absolute.allows(scheme));
        for &(context, span) in self.found {
            let is_one = !matches!(context, Context::Srcset | Context::Refresh);
            if !(is_one && self.usual(isa, allows_base, span, context)) {
                let to_decode = self.any(span, context);
                if to_decode.is_some() {
                    return to_decode;
                }
            }
        }
        None
    }
}

impl References<'_> {
    /// Adds the link at `span` if that is easy: nothing is to be decoded or encoded, and it is a
    /// URI or, against a base with an allowed scheme, a common kind of reference. Returns whether
    /// it was; [`References::any`] would add the same link.
    #[inline(always)]
    fn usual<I: Isa>(&mut self, isa: I, allows_base: bool, span: Span, context: Context) -> bool {
        let typed = self.text.part(span.start as usize, span.len());
        let (mut has_reference, mut has_odd) = (false, false);
        for at in (0..typed.len()).step_by(BLOCK) {
            let (block, within) = (typed.block(at), low_bits(typed.len() - at));
            has_reference |= isa.equal(block, b'&') & within != 0;
            has_odd |= isa.classify(block)[class::ODD] & within != 0;
        }
        if has_reference || has_odd {
            return false;
        }
        if allows_base && let Some(made) = self.links.made() {
            let start = made.len();
            if self.absolute.append_usual(isa, typed, made).is_some() {
                self.links.push_made_from(start, span, context);
                return true;
            }
        }
        match scheme(typed.content()) {
            Some(scheme) if self.absolute.allows(scheme) => self.links.push(span, context),
            Some(_) => {}
            None if self.absolute.has_base() => return false,
            None if self.absolute.keeps_relative && typed.is_empty() => {}
            None if self.absolute.keeps_relative => self.links.push(span, context),
            None => self.links.relative += 1,
        }
        true
    }

    /// Adds the links at `span`, unless the page is to be decoded from the character set that is returned.
    #[inline(never)]
    fn any(&mut self, span: Span, context: Context) -> Declared {
        let References { text, absolute, reading, links, .. } = self;
        let value = decoded(span.of(text.content()));
        let to_decode = reading.decide(*text, &value);
        if to_decode.is_some() {
            return to_decode;
        }
        let mut push_one = |typed: Cow<'_, [u8]>| {
            let typed = with_slashes(typed, absolute.scheme_of_references());
            absolute.push(&typed, span, context, links);
        };
        match context {
            Context::Srcset => srcset(&value, |one| push_one(one.into())),
            Context::Refresh => {
                if let Some(one) = refresh(&value) {
                    push_one(one.into());
                }
            }
            _ => push_one(value),
        }
        None
    }
}

/// The base of a document that says `text`, unless HTML ignores it (section 4.2.3 of that standard): if the URL Standard
/// cannot parse it, or its scheme is `data` or `javascript`.
fn own_base_of(text: &[u8]) -> Option<Url> {
    let text = str::from_utf8(text).ok().filter(|text| is_base(text.as_bytes()))?;
    Url::parse(text).ok().filter(|url| !["data", "javascript"].contains(&url.scheme()))
}

/// `typed` with slashes for the backslashes before its query and fragment, if its scheme or that of
/// the base is one for which browsers read them so (the URL Standard: special schemes).
fn with_slashes<'t>(typed: Cow<'t, [u8]>, base_scheme: Option<&[u8]>) -> Cow<'t, [u8]> {
    const SPECIAL: [&[u8]; 6] = [b"http", b"https", b"ws", b"wss", b"ftp", b"file"];
    if memchr::memchr(b'\\', &typed).is_none() {
        return typed;
    }
    let end = typed.iter().position(|byte| b"?#".contains(byte)).unwrap_or(typed.len());
    let own_scheme = scheme(typed.trim_ascii_start());
    let is_special = own_scheme
        .or(base_scheme)
        .is_some_and(|scheme| SPECIAL.iter().any(|name| name.eq_ignore_ascii_case(scheme)));
    if !is_special {
        return typed;
    }
    let mut out = typed.into_owned();
    for byte in &mut out[..end] {
        if *byte == b'\\' {
            *byte = b'/';
        }
    }
    out.into()
}

/// Whether the `meta` element with `attributes` is a refresh.
fn is_refresh(attributes: &[Attribute<'_>]) -> bool {
    attributes
        .iter()
        .find(|attribute| attribute.name.eq_ignore_ascii_case(b"http-equiv"))
        .is_some_and(|attribute| decoded(attribute.value).eq_ignore_ascii_case(b"refresh"))
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0C' | b'\r' | b' ')
}

/// Calls `found` with each URL of a `srcset` (the HTML standard, 4.8.4.2.1 "parsing a srcset attribute").
pub(super) fn srcset(value: &[u8], mut found: impl FnMut(&[u8])) {
    let mut at = 0;
    while at < value.len() {
        if is_space(value[at]) || value[at] == b',' {
            at += 1;
            continue;
        }
        let len = value[at..].iter().position(|&byte| is_space(byte)).unwrap_or(value.len() - at);
        let url = &value[at..at + len];
        at += len;
        let end = url.iter().rposition(|&byte| byte != b',').map_or(0, |last| last + 1);
        found(&url[..end]);
        if end < url.len() {
            continue;
        }
        // A descriptor extends to a comma that is not in parentheses.
        let mut is_inside = false;
        while at < value.len() {
            match value[at] {
                b',' if !is_inside => break,
                b'(' => is_inside = true,
                b')' => is_inside = false,
                _ => {}
            }
            at += 1;
        }
    }
}

/// The URL of a refresh (the HTML standard, "shared declarative refresh steps"), if any.
pub(super) fn refresh(value: &[u8]) -> Option<&[u8]> {
    let skip = |rest: &'_ [u8], is: fn(u8) -> bool| {
        rest.iter().position(|&byte| !is(byte)).unwrap_or(rest.len())
    };
    let rest = &value[skip(value, is_space)..];
    let digits = skip(rest, |byte| byte.is_ascii_digit());
    if digits == 0 && rest.first() != Some(&b'.') {
        return None;
    }
    let rest = &rest[skip(rest, |byte| byte.is_ascii_digit() || byte == b'.')..];
    let has_mark = rest.first().is_some_and(|&byte| is_space(byte) || byte == b';' || byte == b',');
    let rest = &rest[skip(rest, is_space)..];
    let rest = rest.strip_prefix(b";").or(rest.strip_prefix(b",")).unwrap_or(rest);
    let rest = &rest[skip(rest, is_space)..];
    if !has_mark || rest.is_empty() {
        return None;
    }
    let mut url = rest;
    if rest.len() >= 3 && rest[..3].eq_ignore_ascii_case(b"url") {
        let after = &rest[3..];
        let after = &after[skip(after, is_space)..];
        if let Some(after) = after.strip_prefix(b"=") {
            url = &after[skip(after, is_space)..];
        }
    }
    if let Some(quote @ (b'"' | b'\'')) = url.first() {
        let inner = &url[1..];
        url = &inner[..memchr::memchr(*quote, inner).unwrap_or(inner.len())];
    }
    Some(url)
}
