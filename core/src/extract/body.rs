//! Documents inside archives, messages and the like, searched by their media type.

use super::charset::{self, Declared};
use super::json;
use super::value::Values;
use super::{Context, Extractor, Finder, Links, css, extras, folded, markup, sniff, xml};
use crate::chunk::{Padded, Span};
use crate::simd::Kernels;

/// Types of JSON that neither begin with `application/json` nor end in `+json`.
const JSON: [&[u8]; 4] =
    [b"text/json", b"application/x-json", b"application/x-ndjson", b"application/ndjson"];
/// Types of scripts that are not of text.
const SCRIPTS: [&[u8]; 3] =
    [b"application/javascript", b"application/x-javascript", b"application/ecmascript"];

/// Types of files with folded lines.
const FOLDED: [&[u8]; 5] =
    [b"text/calendar", b"text/vcard", b"text/x-vcard", b"text/directory", b"application/ldif"];

/// How to search a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Page,
    Json,
    /// A sitemap, a feed, or other XML.
    Xml,
    Css,
    /// A calendar, vCards or LDIF.
    Folded,
    Text,
}

impl Sort {
    /// The kind of documents of type `media`; `None` for those that are not searched.
    pub(super) fn of(media: &[u8]) -> Option<Sort> {
        let is = |name: &[u8]| has_prefix(media, name);
        let end = memchr::memchr(b';', media).unwrap_or(media.len());
        let name = media[..end].trim_ascii().to_ascii_lowercase();
        if is(b"text/html") || is(b"application/xhtml") {
            Some(Sort::Page)
        } else if JSON.contains(&&name[..]) || is(b"application/json") || name.ends_with(b"+json") {
            Some(Sort::Json)
        } else if is(b"text/xml") || is(b"application/xml") || name.ends_with(b"+xml") {
            Some(Sort::Xml)
        } else if is(b"text/css") {
            Some(Sort::Css)
        } else if FOLDED.contains(&&name[..]) {
            Some(Sort::Folded)
        } else if is(b"text/") || SCRIPTS.contains(&&name[..]) || is(b"application/warc-fields") {
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
            Sort::Xml => sniff::begins_with_tag(bytes),
            Sort::Css | Sort::Folded | Sort::Text => true,
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
        extras::page_and_parts(schemes, kernels, (part, charset), parts, target, links);
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
        Sort::Json => json_body(finder, kernels, part, target, links),
        Sort::Xml if xml::is_document(part.content()) => {
            xml::document(&finder.options().schemes, kernels, part, target, links);
        }
        Sort::Xml if sniff::begins_with_tag(part.content()) => {
            markup::tokens(finder, kernels, part, target, links);
        }
        Sort::Css => css::sheet(&finder.options().schemes, kernels, part, target, links),
        Sort::Folded => folded::lines(finder, kernels, part, links),
        Sort::Page | Sort::Xml | Sort::Text => {
            let whole = Span { start: 0, end: part.len() as u32 };
            finder.find_span(kernels, part, whole, Context::Text, links);
        }
    }
}

/// Searches JSON: as a file of it, and the members `url` for references. In WAT, the metadata of archives, the links of a page
/// are in such members, and the rest is about the archive.
fn json_body(
    finder: &Finder,
    kernels: Kernels,
    text: Padded<'_>,
    target: Option<&[u8]>,
    links: &mut Links,
) {
    let url = ["url".to_owned()];
    let first = links.len();
    let content = text.content();
    let is_wat =
        [&b"{\"Container\":"[..], b"{\"Envelope\":"].iter().any(|it| content.starts_with(it));
    let values = Values::new(finder, kernels, text, true, target);
    let mut values = if is_wat { values } else { values.of_relative() };
    json::lines(&mut values, &url, links);
    if !is_wat {
        json::lines(&mut Values::new(finder, kernels, text, false, target), &[], links);
        links.sort_from(first);
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
