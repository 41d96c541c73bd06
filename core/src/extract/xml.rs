//! Links of sitemaps (sitemaps.org) and feeds (RSS, Atom, OPML): XML documents in which known
//! elements and attributes hold URIs.
//!
//! Names count without their prefix, since every site chooses its own. Entities of the document
//! itself are not expanded.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::attribute::decoded;
use super::charset::UTF8;
use super::fault::LONGEST_BASE;
use super::how::How;
use super::markdown::characters;
use super::page;
use super::reference::{Absolute, encoded, scheme};
use super::sniff;
use super::{Context, Detail, Fault, Links};
use crate::chunk::{Padded, PaddedBuf, Span};

/// Maximum number of nested elements with a base of their own; others are ignored.
const DEEPEST_BASE: usize = 32;
/// Maximum number of bytes of a `lastmod` or `priority`; longer ones are ignored.
const LONGEST_DETAIL: usize = 40;

/// Appends the links of the sitemap or feed `text` to `links`, resolved against the `xml:base` of
/// their element or against the document's own URI.
///
/// Bytes that are not UTF-8 are read as `?` in attributes. What follows the first fault of a document that is not
/// well-formed is not searched, and reported.
pub(super) fn document(how: How<'_>, text: Padded<'_>, links: &mut Links) {
    let typed = characters(text.content());
    let mut reader = Reader::from_str(&typed);
    let config = reader.config_mut();
    (config.check_end_names, config.allow_unmatched_ends) = (false, true);
    config.allow_dangling_amp = true;
    let mut document = Document {
        how,
        bases: vec![(0, how.absolute())],
        depth: 0,
        entry: Context::Loc,
        open: None,
        about: About::default(),
        links,
    };
    // The name of the first element while it is open: other elements need not be closed.
    let (mut root, mut has_root) = (None, false);
    loop {
        let at = reader.buffer_position();
        let event = reader.read_event();
        let end = reader.buffer_position();
        match event {
            Ok(Event::Start(tag)) => {
                if !std::mem::replace(&mut has_root, true) {
                    root = Some(tag.name().as_ref().to_owned());
                }
                document.start(&tag, at, end);
            }
            Ok(Event::Empty(tag)) => {
                has_root = true;
                document.start(&tag, at, end);
                document.end(end);
            }
            Ok(Event::End(tag)) => {
                root = root.filter(|root| *root != *tag.name().as_ref());
                document.end(at);
            }
            // The bytes themselves, which need not be UTF-8.
            Ok(Event::Text(_) | Event::GeneralRef(_)) => {
                document.text(&text.content()[at as usize..end as usize]);
            }
            Ok(Event::CData(section)) => {
                let start = at as usize + b"<![CDATA[".len();
                document.section(&text.content()[start..start + section.len()]);
            }
            Ok(Event::Eof) if has_root && root.is_none() => return,
            Ok(Event::Eof) => return links.count_fault(Fault::Xml(end as u32)),
            Ok(_) => {}
            Err(_) => return links.count_fault(Fault::Xml(end as u32)),
        }
    }
}

/// The state within a document.
struct Document<'a> {
    how: How<'a>,
    /// The bases of the enclosing elements that have one, each with its depth.
    bases: Vec<(usize, Absolute<'a>)>,
    /// The number of enclosing elements.
    depth: usize,
    /// The kind of link that a `loc` holds.
    entry: Context,
    open: Option<Open>,
    /// What the entry says about its location.
    about: About,
    links: &'a mut Links,
}

/// What the entry of a sitemap says about its location, which may precede or follow that.
#[derive(Default)]
struct About {
    /// The number of the note of its location.
    note: Option<usize>,
    lastmod: Vec<u8>,
    priority: Vec<u8>,
}

/// An element whose text is a link, or a page.
struct Open {
    content: Content,
    /// Its name.
    element: Box<str>,
    /// Offset of its text.
    start: u64,
    /// Its text, with character references.
    text: Vec<u8>,
}

/// The meaning of the text of an element.
#[derive(Clone, Copy)]
enum Content {
    Link(Context),
    /// HTML, with its markup escaped.
    Page,
    Lastmod,
    Priority,
}

impl<'a> Document<'a> {
    fn base(&mut self) -> &mut Absolute<'a> {
        let last = self.bases.len() - 1;
        &mut self.bases[last].1
    }

    fn push(&mut self, element: &str, typed: &[u8], span: Span, context: Context) {
        let before = self.links.len();
        let last = self.bases.len() - 1;
        let absolute = &mut self.bases[last].1;
        absolute.push(typed, span, context, self.links);
        if self.links.len() == before {
            return;
        }
        let is_location = matches!(context, Context::Loc | Context::Sitemap);
        let About { lastmod, priority, .. } = &self.about;
        let (lastmod, priority) =
            if is_location { (&lastmod[..], &priority[..]) } else { Default::default() };
        let note = self.links.note(Detail { element: element.as_bytes(), lastmod, priority });
        if is_location {
            self.about.note = note;
        }
    }

    /// Takes note of what an entry says about its location.
    fn note(&mut self) {
        if let About { note: Some(note), lastmod, priority } = &self.about {
            self.links.add_to_note(*note, lastmod, priority);
        }
    }

    /// A start tag from `at` to `end`.
    fn start(&mut self, tag: &BytesStart<'_>, at: u64, end: u64) {
        self.depth += 1;
        self.open = None;
        let name = tag.local_name();
        let name = name.as_ref();
        self.entry = match name {
            "sitemap" => Context::Sitemap,
            "image" => Context::Image,
            "url" => Context::Loc,
            _ => self.entry,
        };
        if matches!(name, "url" | "sitemap") {
            self.about = About::default();
        }
        let mut content = content(name, self.entry);
        let span = Span { start: at as u32, end: end as u32 };
        // An error is only that of the attribute after the good ones.
        for attribute in tag.html_attributes().with_checks(false).map_while(Result::ok) {
            let key = attribute.key.as_ref();
            let value = decoded(attribute.value.as_bytes());
            if key == "xml:base" {
                self.enter_base(&value);
            } else if key == "isPermaLink" && *value == *b"false" {
                content = None;
            } else if let Some(context) = of_attribute(name, attribute.key.local_name().as_ref()) {
                self.push(name, &value, span, context);
            }
        }
        self.open = content.map(|content| {
            let element = name.into();
            Open { content, element, start: end, text: Vec::new() }
        });
    }

    /// Resolves further references of the element against `value`.
    fn enter_base(&mut self, value: &[u8]) {
        let own = encoded(value);
        let target = match scheme(&own) {
            Some(_) => Some(own.to_vec()),
            None => self.base().resolve(&own).map(<[u8]>::to_vec),
        };
        let target = target.filter(|_| self.bases.len() < DEEPEST_BASE);
        if let Some(target) = &target
            && target.len() > LONGEST_BASE
        {
            return self.links.count_base(target.len());
        }
        if let Some(target) = target {
            let absolute = self.how.absolute_to(Some(&target));
            if absolute.has_base() {
                self.bases.push((self.depth, absolute));
            }
        }
    }

    fn text(&mut self, text: &[u8]) {
        if let Some(open) = &mut self.open {
            open.text.extend_from_slice(text);
        }
    }

    /// The content of a CDATA section, in which `&` is a character like any other.
    fn section(&mut self, text: &[u8]) {
        for (i, part) in text.split(|&byte| byte == b'&').enumerate() {
            if i > 0 {
                self.text(b"&amp;");
            }
            self.text(part);
        }
    }

    /// An end tag at `at`.
    fn end(&mut self, at: u64) {
        if let Some(Open { content, element, start, text }) = self.open.take() {
            let text = decoded(&text);
            let span = Span { start: start as u32, end: at as u32 };
            match content {
                Content::Page => self.page(&text, span),
                Content::Link(Context::Guid) if scheme(text.trim_ascii_start()).is_none() => {}
                Content::Link(_) if text.trim_ascii().is_empty() => {}
                Content::Link(context) => self.push(&element, &text, span, context),
                Content::Lastmod if is_brief(&text) => {
                    self.about.lastmod = text.trim_ascii().to_vec();
                    self.note();
                }
                Content::Priority if is_brief(&text) => {
                    self.about.priority = text.trim_ascii().to_vec();
                    self.note();
                }
                Content::Lastmod | Content::Priority => {}
            }
        }
        if self.bases.len() > 1 && self.bases.last().is_some_and(|&(depth, _)| depth == self.depth)
        {
            self.bases.pop();
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// Adds the links of the page `text`, which was read from `span`.
    fn page(&mut self, text: &[u8], span: Span) {
        if memchr::memchr(b'<', text).is_none() {
            return;
        }
        let buf = PaddedBuf::from_content(text);
        let base = Some(self.base().base().to_vec());
        let found = Links::of_part(text.len(), |found| {
            let how = self.how.with_base(base.as_deref());
            page::page(how, (buf.padded(), UTF8), None, found);
        });
        self.links.take_made(&found, text, |_| span);
    }
}

/// Whether `text` may be a date or a number: it is short, and nothing in it needs to be escaped.
fn is_brief(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let is_of_it = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.:".contains(byte);
    text.len() <= LONGEST_DETAIL && text.iter().all(is_of_it)
}

/// The meaning of the text of the element `name` in an `entry` of this kind, if any.
fn content(name: &str, entry: Context) -> Option<Content> {
    Some(Content::Link(match name {
        "loc" => entry,
        "link" | "origLink" => Context::Link,
        "guid" => Context::Guid,
        "comments" | "commentRss" => Context::Comments,
        "url" | "icon" | "logo" => Context::Image,
        "content_loc" | "player_loc" | "thumbnail_loc" => Context::Media,
        "uri" => Context::Author,
        "description" | "encoded" | "summary" | "content" => return Some(Content::Page),
        "lastmod" => return Some(Content::Lastmod),
        "priority" => return Some(Content::Priority),
        _ => return None,
    }))
}

/// The kind of link in the attribute `name` of the element `tag`, if any.
fn of_attribute(tag: &str, name: &str) -> Option<Context> {
    Some(match (tag, name) {
        ("link", "href") => Context::Link,
        (_, "href") => Context::Href,
        (_, "src") => Context::Src,
        ("enclosure", "url") => Context::Enclosure,
        ("outline", "url" | "xmlUrl" | "htmlUrl") => Context::Outline,
        ("source", "url") => Context::Link,
        (_, "url") => Context::Media,
        _ => return None,
    })
}

/// Whether `text` begins like a sitemap or a feed.
pub(super) fn is_document(text: &[u8]) -> bool {
    const ROOTS: [&[u8]; 6] = [b"urlset", b"sitemapindex", b"rss", b"RDF", b"feed", b"opml"];
    let Some(name) = sniff::root(text) else { return false };
    let local = name.rsplit(|&byte| byte == b':').next().unwrap_or_default();
    ROOTS.contains(&local)
}
