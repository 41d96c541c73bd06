//! Documents inside archives, messages and the like, searched by their media type.

use super::charset::{self, Declared};
use super::json;
use super::value::Values;
use super::{Context, Extractor, Links, css, page, xml};
use crate::chunk::{Padded, Span};
use crate::simd::Kernels;

/// Whether `media` is the type of a feed, such as `application/rss+xml`.
fn is_feed(media: &[u8]) -> bool {
    let names: [&[u8]; 3] =
        [b"application/rss+xml", b"application/atom+xml", b"application/rdf+xml"];
    names.iter().any(|name| has_prefix(media, name))
}

/// How to search a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Page,
    Json,
    /// A sitemap, a feed, or other XML, of which only texts are searched.
    Xml,
    Css,
    Text,
}

impl Sort {
    /// The kind of documents of type `media`; `None` for those that are not searched.
    pub(super) fn of(media: &[u8]) -> Option<Sort> {
        let is = |name: &[u8]| has_prefix(media, name);
        if is(b"text/html") || is(b"application/xhtml") {
            Some(Sort::Page)
        } else if is(b"application/json") {
            Some(Sort::Json)
        } else if is(b"text/xml") || is(b"application/xml") || is_feed(media) {
            Some(Sort::Xml)
        } else if is(b"text/css") {
            Some(Sort::Css)
        } else if is(b"text/") || is(b"application/warc-fields") {
            Some(Sort::Text)
        } else {
            None
        }
    }

    /// Whether `bytes`, which are text, may be such a document.
    pub(super) fn is_like(self, bytes: &[u8]) -> bool {
        let after_mark = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        match self {
            Sort::Page => memchr::memchr_iter(b'<', bytes).any(|at| {
                bytes
                    .get(at + 1)
                    .is_some_and(|&byte| byte.is_ascii_alphabetic() || b"!/?".contains(&byte))
            }),
            Sort::Json => matches!(after_mark.trim_ascii_start().first(), Some(b'{' | b'[' | b'"')),
            Sort::Xml => after_mark.trim_ascii_start().starts_with(b"<"),
            Sort::Css | Sort::Text => true,
        }
    }
}

/// Searches the document at `span` of `text`, in the character set that the message around it declares; `target` is its own
/// URI.
pub(super) fn body(
    extractor: &Extractor,
    kernels: Kernels,
    (text, span): (Padded<'_>, Span),
    (sort, charset): (Sort, Declared),
    target: Option<&[u8]>,
    links: &mut Links,
) {
    let first = links.len();
    let part = text.part(span.start as usize, span.len());
    if sort == Sort::Page {
        let (parts, schemes) =
            (extractor.options().page_parts, &extractor.finder().options().schemes);
        page::page(schemes, kernels, (part, charset), parts, target, links);
    } else {
        charset::search_text((part, charset), links, |part, links| {
            in_utf8(extractor, kernels, part, sort, target, links);
        });
    }
    links.shift(first, span.start);
}

/// Searches the document `part`, which is not a page.
fn in_utf8(
    extractor: &Extractor,
    kernels: Kernels,
    part: Padded<'_>,
    sort: Sort,
    target: Option<&[u8]>,
    links: &mut Links,
) {
    let finder = extractor.finder();
    match sort {
        Sort::Json => {
            // WAT: the links of a page are in members with this name.
            let mut values = Values::new(finder, kernels, part, true, target);
            json::lines(&mut values, &["url".to_owned()], links);
        }
        Sort::Xml if xml::is_document(part.content()) => {
            xml::document(&finder.options().schemes, kernels, part, target, links);
        }
        Sort::Css => css::sheet(&finder.options().schemes, kernels, part, target, links),
        Sort::Page | Sort::Xml | Sort::Text => {
            let whole = Span { start: 0, end: part.len() as u32 };
            finder.find_span(kernels, part, whole, Context::Text, links);
        }
    }
}

/// Whether `text` begins with `prefix`, in any case.
pub(super) fn has_prefix(text: &[u8], prefix: &[u8]) -> bool {
    text.len() >= prefix.len() && text[..prefix.len()].eq_ignore_ascii_case(prefix)
}

/// Whether `media`, such as `text/html; charset=utf-8`, is one of `types`.
pub(super) fn is_media(types: &[String], media: &[u8]) -> bool {
    let end = memchr::memchr(b';', media).unwrap_or(media.len());
    let media = media[..end].trim_ascii_end();
    types.iter().any(|name| match name.strip_suffix('*') {
        Some(start) => has_prefix(media, start.as_bytes()),
        None => name.as_bytes().eq_ignore_ascii_case(media),
    })
}
