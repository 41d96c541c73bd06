//! Documents inside archives, messages and the like, searched by their media type.

use super::charset::{self, Declared};
use super::how::How;
use super::json;
use super::value::Values;
use super::{Context, Links, css, extras, folded, markup, sniff, xml};
use crate::chunk::{Padded, PaddedBuf, Span};
use crate::grammar::has_prefix;

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

/// Searches the document at `span` of `text`, in the character set that the message around it declares; the base is its own
/// URI.
pub(super) fn body(
    how: How<'_>,
    (text, span): (Padded<'_>, Span),
    (sort, charset): (Sort, Declared),
    links: &mut Links,
) {
    let first = links.len();
    let part = text.part(span.start as usize, span.len());
    if sort == Sort::Page {
        extras::page_and_parts(how, (part, charset), how.options.page_parts, links);
    } else {
        charset::search_text((part, charset), links, |part, links| {
            in_utf8(how, part, sort, links);
        });
    }
    links.shift(first, span.start);
}

/// [`body`] for a document that was decoded, whose links are all at `place`. Those that may go on after what `is_cut` are
/// dropped.
pub(super) fn decoded_body(
    how: How<'_>,
    (text, is_cut): (Vec<u8>, bool),
    sort: (Sort, Declared),
    place: Span,
    links: &mut Links,
) {
    let buf = PaddedBuf::from_bytes(text);
    let text = buf.padded();
    let whole = Span { start: 0, end: text.len() as u32 };
    let mut found = Links::of_part(text.len(), |found| body(how, (text, whole), sort, found));
    if is_cut {
        found.drop_cut(text.content(), false);
    }
    links.take_made(&found, text.content(), |_| place);
}

/// Searches the document `part`, which is not a page.
fn in_utf8(how: How<'_>, part: Padded<'_>, sort: Sort, links: &mut Links) {
    match sort {
        Sort::Json => json_body(how, part, links),
        Sort::Xml if xml::is_document(part.content()) => xml::document(how, part, links),
        Sort::Xml if sniff::begins_with_tag(part.content()) => markup::tokens(how, part, links),
        Sort::Css => css::sheet(how, part, links),
        Sort::Folded => folded::lines(how, part, links),
        Sort::Page | Sort::Xml | Sort::Text => {
            let whole = Span { start: 0, end: part.len() as u32 };
            how.find(part, whole, Context::Text, links);
        }
    }
}

/// Searches JSON: as a file of it, and the members `url` for references. In WAT, the metadata of archives, the links of a page
/// are in such members, and the rest is about the archive.
fn json_body(how: How<'_>, text: Padded<'_>, links: &mut Links) {
    let url = ["url".to_owned()];
    let first = links.len();
    let content = text.content();
    let is_wat =
        [&b"{\"Container\":"[..], b"{\"Envelope\":"].iter().any(|it| content.starts_with(it));
    let values = Values::new(how, text, true);
    let mut values = if is_wat { values } else { values.of_relative() };
    json::lines(&mut values, &url, links);
    if !is_wat {
        json::lines(&mut Values::new(how, text, false), &[], links);
        links.sort_from(first);
    }
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
