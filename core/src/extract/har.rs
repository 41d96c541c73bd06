//! HTTP archives of browsers (HAR 1.2): the requested URLs, and the links of the responses.
//!
//! The JSON is not validated. Only the names of the enclosing objects matter, as for members that
//! are selected in JSON lines.

use std::borrow::Cow;

use super::body::{Sort, body, decoded_body, is_media};
use super::charset::{self, Declared, UTF8};
use super::fault::LONGEST_BASE;
use super::how::How;
use super::transfer::{self, Decoded};
use super::{Context, Fault, Links, PartFault, json, page, warc};
use crate::chunk::{Padded, Span};

/// Maximum number of nested objects whose names are tracked; deeper ones hold no links.
const DEEPEST: usize = 6;

/// Appends the links of the archive `text` to `links`, entry by entry. References are resolved
/// against the URL of their request.
pub(super) fn archive(how: How<'_>, text: Padded<'_>, links: &mut Links) {
    let (names, entry) = (Vec::new(), Entry::default());
    Archive { how, text, names, depth: 0, entry, links }.read();
}

/// A string of the document.
#[derive(Clone, Copy)]
struct Text {
    span: Span,
    is_escaped: bool,
}

/// The strings of an entry that matter.
#[derive(Default)]
struct Entry {
    url: Option<Text>,
    redirect: Option<Text>,
    /// The fields of the response that hold links.
    fields: Vec<(Context, Text)>,
    /// Name and value of the field that is being read.
    field: (Option<Text>, Option<Text>),
    media: Option<Text>,
    body: Option<Text>,
    encoding: Option<Text>,
}

struct Archive<'a, 'l> {
    how: How<'a>,
    text: Padded<'a>,
    /// The last name in each of the enclosing objects, at most [`DEEPEST`] of them.
    names: Vec<&'a [u8]>,
    /// Number of enclosing objects.
    depth: usize,
    entry: Entry,
    links: &'l mut Links,
}

impl<'a> Archive<'a, '_> {
    fn read(&mut self) {
        let content = self.text.content();
        let mut at = 0;
        while let Some(found) =
            memchr::memchr3(b'"', b'{', b'}', content.get(at..).unwrap_or_default())
        {
            at += found + 1;
            match content[at - 1] {
                b'{' => {
                    self.depth += 1;
                    self.names.resize(self.depth.min(DEEPEST), b"");
                }
                b'}' => self.close(),
                _ => {
                    let (end, is_escaped) = json::string_end(content, at);
                    let span = Span { start: at as u32, end: end as u32 };
                    at = end + 1;
                    if json::is_name(content, at) {
                        if (1..=DEEPEST).contains(&self.depth) {
                            self.names[self.depth - 1] = span.of(content);
                        }
                    } else {
                        self.take(Text { span, is_escaped });
                    }
                }
            }
        }
        self.finish();
        if self.depth > 0 {
            self.links.count_fault(Fault::CutOff(content.len() as u32));
        }
    }

    fn close(&mut self) {
        let path = path(&self.names, self.depth);
        let is_entry = path.len() == 1;
        if matches!(path, [b"response", b"headers", _]) {
            self.finish_field();
        }
        self.depth = self.depth.saturating_sub(1);
        self.names.truncate(self.depth);
        if is_entry {
            self.finish();
        }
    }

    /// Takes note of a string, the value of the current member. One that breaks off is read if it is a body.
    fn take(&mut self, text: Text) {
        let entry = &mut self.entry;
        let path = path(&self.names, self.depth);
        if text.span.end as usize == self.text.len() && !path.ends_with(&[b"content", b"text"]) {
            return;
        }
        *match path {
            [b"request", b"url"] => &mut entry.url,
            [b"response", b"redirectURL"] => &mut entry.redirect,
            [b"response", b"headers", b"name"] => &mut entry.field.0,
            [b"response", b"headers", b"value"] => &mut entry.field.1,
            [b"response", b"content", b"mimeType"] => &mut entry.media,
            [b"response", b"content", b"text"] => &mut entry.body,
            [b"response", b"content", b"encoding"] => &mut entry.encoding,
            _ => return,
        } = Some(text);
    }

    fn value(&self, text: Text) -> Cow<'a, [u8]> {
        let raw = text.span.of(self.text.content());
        if text.is_escaped { json::decoded(raw) } else { Cow::Borrowed(raw) }
    }

    fn finish_field(&mut self) {
        let (Some(name), Some(value)) = core::mem::take(&mut self.entry.field) else { return };
        let context = match &self.value(name).to_ascii_lowercase()[..] {
            b"location" => Context::Location,
            b"link" => Context::Link,
            b"refresh" => Context::Refresh,
            b"content-location" => Context::ContentLocation,
            _ => return,
        };
        self.entry.fields.push((context, value));
    }

    /// Adds the links of the entry.
    fn finish(&mut self) {
        let entry = core::mem::take(&mut self.entry);
        let media = entry.media.map(|media| self.value(media)).unwrap_or_default();
        let types = &self.how.options.media_types;
        if !types.is_empty() && !is_media(types, &media) {
            return;
        }
        let first = self.links.len();
        let url = entry.url.map(|url| self.value(url));
        if let (Some(text), Some(url)) = (entry.url, &url) {
            self.push(None, url, text.span, Context::Target);
        }
        let base = url.as_deref().filter(|url| url.len() <= LONGEST_BASE);
        let before = self.links.relative();
        let mut locations = Vec::new();
        for (context, text) in entry.fields {
            let value = self.value(text);
            match context {
                Context::Link => {
                    warc::each_link(&value, |one| self.push(base, one, text.span, context));
                }
                Context::Refresh => {
                    if let Some(one) = page::refresh(&value) {
                        self.push(base, one, text.span, context);
                    }
                }
                _ => self.push(base, &value, text.span, context),
            }
            if context == Context::Location {
                locations.push(value);
            }
        }
        if let Some(text) = entry.redirect {
            // Browsers repeat the field `Location` here.
            let value = self.value(text);
            if !value.is_empty() && !locations.contains(&value) {
                self.push(base, &value, text.span, Context::Location);
            }
        }
        if let (Some(text), Some(sort)) = (entry.body, Sort::of(&media)) {
            let encoding = entry.encoding.map(|encoding| self.value(encoding)).unwrap_or_default();
            self.body(text, (sort, charset::of_content_type(&media)), &encoding, base);
        }
        if let (Some(url), None) = (&url, base)
            && self.links.relative() > before
        {
            self.links.count_base(url.len());
        }
        self.links.sort_from(first);
    }

    fn push(&mut self, base: Option<&[u8]>, typed: &[u8], span: Span, context: Context) {
        self.how.absolute_to(base).push(typed, span, context, self.links);
    }

    /// Searches the body of a response.
    fn body(
        &mut self,
        at: Text,
        (sort, mut charset): (Sort, Declared),
        encoding: &[u8],
        base: Option<&[u8]>,
    ) {
        let (text, how) = (self.text, self.how.with_base(base));
        let mut value = self.value(at);
        if encoding.eq_ignore_ascii_case(b"base64") {
            let Decoded { text, fault } = transfer::base64(&value);
            if let Some(fault) = fault {
                // Where it is, unless there are escapes before it.
                let at = if at.is_escaped { at.span.start } else { at.span.start + fault as u32 };
                self.links.count_fault(Fault::Part { at, what: PartFault::Body });
            }
            value = text.into();
        } else {
            // The text, and not its bytes, is in the archive.
            charset = UTF8;
        }
        let sort = (sort, charset);
        let is_cut = at.span.end as usize == text.len();
        match value {
            Cow::Borrowed(_) => body(how, (text, at.span), sort, self.links),
            Cow::Owned(value) => decoded_body(how, (value, is_cut), sort, at.span, self.links),
        }
    }
}

/// The names that lead from an entry to the current member; empty outside of entries.
fn path<'p, 't>(names: &'p [&'t [u8]], depth: usize) -> &'p [&'t [u8]] {
    match names {
        [b"log", b"entries", path @ ..] if depth <= DEEPEST => path,
        _ => &[],
    }
}

/// Whether a source that begins with `head` is an HTTP archive: an object with the member `log`,
/// an object that begins with one of its members.
pub(super) fn is_archive(head: &[u8]) -> bool {
    const MEMBERS: [&[u8]; 5] = [b"version", b"creator", b"browser", b"pages", b"entries"];
    let mut rest = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    for token in [&b"{"[..], b"\"log\"", b":", b"{", b"\""] {
        let Some(next) = rest.trim_ascii_start().strip_prefix(token) else { return false };
        rest = next;
    }
    MEMBERS.iter().any(|name| rest.strip_prefix(*name).is_some_and(|rest| rest.starts_with(b"\"")))
}
