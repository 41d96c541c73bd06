//! The links of an HTML document.

use std::borrow::Cow;

use super::html::{Attribute, start_tags};
use super::reference::{Absolute, encoded, scheme};
use super::{Context, Links, Schemes, plain_tags};
use crate::chunk::{Padded, Span};
use crate::simd::Kernels;

/// Appends the links of the HTML document `text` to `links`: what stands in attributes that hold references, absolute
/// or made so by the `<base>` of the document or by `base`, its own URI.
///
/// Character references are decoded. Bytes that no URI may hold are percent-encoded. Relative references without a
/// base are counted and left out.
pub(crate) fn page(
    schemes: &Schemes,
    kernels: Kernels,
    text: Padded<'_>,
    base: Option<&[u8]>,
    links: &mut Links,
) {
    let skip = |at| plain_tags::skip(kernels, text, at);
    let content = text.content();
    let mut found = links.take_places();
    let mut own_base = None;
    start_tags(content, skip, |tag, attributes| {
        if tag.eq_ignore_ascii_case(b"base") {
            // The first that has a reference is the one.
            let href = || attributes.iter().find(|a| a.name.eq_ignore_ascii_case(b"href"));
            own_base = own_base.or_else(|| href().map(|attribute| attribute.value));
            return;
        }
        // Of attributes that are given twice the first counts.
        let mut seen = 0u64;
        for attribute in attributes {
            if let Some(context) = context(tag, attribute) {
                let bit = 1 << context as u32;
                let is_first = seen & bit == 0;
                if is_first && (context != Context::Refresh || is_refresh(attributes)) {
                    let (start, end) = (attribute.at, attribute.at + attribute.value.len());
                    found.push((context, Span { start: start as u32, end: end as u32 }));
                }
                seen |= bit;
            }
        }
    });
    // The base holds for the whole document, also for what stands before it.
    let mut absolute_base = Vec::new();
    if let Some(own) = own_base.map(|typed| encoded(&decoded(typed)).into_owned()) {
        match scheme(&own) {
            Some(_) => absolute_base = own,
            None => {
                let mut absolute = Absolute::new(kernels, base);
                absolute_base.extend_from_slice(absolute.resolve(&own).unwrap_or_default());
            }
        }
    }
    let base = if absolute_base.is_empty() { base } else { Some(&*absolute_base) };
    let mut absolute = Absolute::new(kernels, base);
    for &(context, span) in &found {
        let value = decoded(span.of(content));
        match context {
            Context::Srcset => {
                srcset(&value, |one| push(schemes, &mut absolute, one, span, context, links));
            }
            Context::Refresh => {
                if let Some(one) = refresh(&value) {
                    push(schemes, &mut absolute, one, span, context, links);
                }
            }
            _ => push(schemes, &mut absolute, &value, span, context, links),
        }
    }
    links.give_back_places(found);
}

/// Adds the link that `typed`, read from `span`, stands for.
pub(crate) fn push(
    schemes: &Schemes,
    absolute: &mut Absolute,
    typed: &[u8],
    span: Span,
    context: Context,
    links: &mut Links,
) {
    let reference = encoded(typed);
    match scheme(&reference) {
        Some(scheme) if !schemes.allows(scheme) => {}
        Some(_) => links.push_made(span, context, |out| out.extend_from_slice(&reference)),
        None => {
            let Some(target) = absolute.resolve(&reference) else {
                return links.count_relative();
            };
            if scheme(target).is_some_and(|scheme| schemes.allows(scheme)) {
                links.push_made(span, context, |out| out.extend_from_slice(target));
            }
        }
    }
}

/// The value of an attribute with its character references decoded.
fn decoded(typed: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'&', typed).is_none() {
        return Cow::Borrowed(typed);
    }
    htmlize::unescape_bytes_in(typed, htmlize::Context::Attribute)
}

/// What kind of link an attribute holds, if any; of a `content`, what it holds if [`is_refresh`].
///
/// An element has one attribute of each kind that counts, but for `srcset` and `imagesrcset`, which no element has both.
fn context(tag: &[u8], attribute: &Attribute<'_>) -> Option<Context> {
    let is = |name: &[u8]| attribute.name.eq_ignore_ascii_case(name);
    let of = |name: &[u8]| tag.eq_ignore_ascii_case(name);
    match attribute.name.len() {
        3 if is(b"src") => Some(Context::Src),
        4 if is(b"href") => Some(Context::Href),
        4 if is(b"cite") => Some(Context::Cite),
        4 if is(b"data") && of(b"object") => Some(Context::Data),
        6 if is(b"srcset") && !of(b"link") => Some(Context::Srcset),
        6 if is(b"action") && of(b"form") => Some(Context::Action),
        6 if is(b"poster") => Some(Context::Poster),
        7 if is(b"content") && of(b"meta") => Some(Context::Refresh),
        8 if is(b"longdesc") => Some(Context::Longdesc),
        10 if is(b"formaction") => Some(Context::Formaction),
        10 if is(b"background") => Some(Context::Background),
        11 if is(b"imagesrcset") && of(b"link") => Some(Context::Srcset),
        _ => None,
    }
}

/// Whether the `meta` element that has `attributes` sends elsewhere.
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
fn srcset(value: &[u8], mut found: impl FnMut(&[u8])) {
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
        // Descriptors go on to a comma that is not in parentheses.
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

/// The URL of a refresh (the HTML standard, "shared declarative refresh steps"), if there is one.
fn refresh(value: &[u8]) -> Option<&[u8]> {
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
