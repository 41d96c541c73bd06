//! References in pages that are read on request: in style sheets, in JSON-LD, in the metadata of
//! Open Graph and the like, and in `data-*` attributes.

use super::attribute::decoded;
use super::html::{Attribute, Tags, start_tags};
use super::reference::{self, Absolute, scheme};
use super::value::Values;
use super::{Context, Finder, Links, Options, Schemes, css, json};
use crate::chunk::{Padded, Span};
use crate::simd::Kernels;

/// Parts of pages that are read besides the attributes that hold references.
///
/// ```
/// use uriscan::extract::PageParts;
/// let parts = PageParts::default().css(true).meta(true);
/// assert!(parts.css && !parts.json_ld);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct PageParts {
    /// `url()` and `@import` in `style` elements and attributes.
    pub css: bool,
    /// Members of JSON-LD that hold URLs, such as `url` and `sameAs`.
    pub json_ld: bool,
    /// The `content` of `meta` elements for URLs, such as `og:image` and `twitter:player`.
    pub meta: bool,
    /// `data-*` attributes whose value looks like a reference.
    pub data: bool,
}

setters! { PageParts { css: bool, json_ld: bool, meta: bool, data: bool } }

impl PageParts {
    /// Whether no such part is read.
    pub fn is_empty(self) -> bool {
        self == PageParts::default()
    }
}

/// Members of JSON-LD that hold URLs in the vocabulary of schema.org.
const MEMBERS: [&str; 14] = [
    "@id",
    "url",
    "contentUrl",
    "embedUrl",
    "thumbnailUrl",
    "downloadUrl",
    "installUrl",
    "image",
    "logo",
    "sameAs",
    "item",
    "mainEntityOfPage",
    "target",
    "license",
];
/// What the last part of the name of a `meta` element for a URL is.
const PROPERTIES: [&[u8]; 9] = [
    b"url",
    b"image",
    b"video",
    b"audio",
    b"secure_url",
    b"src",
    b"player",
    b"stream",
    b"see_also",
];

/// Appends the links in `parts` of the page `text` to `links`, resolved against `base`.
pub(super) fn extras(
    schemes: &Schemes,
    kernels: Kernels,
    text: Padded<'_>,
    parts: PageParts,
    base: Option<&[u8]>,
    links: &mut Links,
) {
    let mut places = Places { parts, found: Vec::new(), raw: None };
    start_tags(text.content(), &mut places);
    let finder = Finder::new(Options::default().schemes(schemes.clone()));
    let members = MEMBERS.map(str::to_owned);
    let mut absolute = Absolute::new(kernels, base);
    let mut values = Values::new(&finder, kernels, text, true, base).of_context(Context::JsonLd);
    for (context, span) in places.found {
        let typed = span.of(text.content());
        match context {
            Context::JsonLd => {
                let mut at = span.start as usize;
                for line in typed.split_inclusive(|&byte| byte == b'\n') {
                    json::line(&mut values, &members, at, at + line.len(), links);
                    at += line.len();
                }
            }
            // The content of an element, and a value with character references.
            Context::Style if text.content()[span.end as usize..].starts_with(b"<") => {
                css::part(schemes, &mut absolute, typed, |at| span.start + at, links);
            }
            Context::Style => {
                let value = decoded(typed);
                let is_coded = matches!(value, std::borrow::Cow::Owned(_));
                let place = |at| if is_coded { span.start } else { span.start + at };
                css::part(schemes, &mut absolute, &value, place, links);
            }
            _ => reference::push(schemes, &mut absolute, &decoded(typed), span, context, links),
        }
    }
}

/// The places that may hold links.
struct Places {
    parts: PageParts,
    found: Vec<(Context, Span)>,
    /// What the text of the last element is, if it has no tags.
    raw: Option<Context>,
}

impl<'t> Tags<'t> for Places {
    fn skip(&mut self, at: usize) -> usize {
        at
    }

    fn matters(&self, tag: &[u8], attribute: &[u8]) -> bool {
        let is = |name: &[u8]| attribute.eq_ignore_ascii_case(name);
        let of = |name: &[u8]| tag.eq_ignore_ascii_case(name);
        self.parts.css && is(b"style")
            || self.parts.json_ld && is(b"type") && of(b"script")
            || self.parts.data && has_prefix(attribute, b"data-")
            || self.parts.meta
                && of(b"meta")
                && (is(b"content") || is(b"property") || is(b"name") || is(b"itemprop"))
    }

    fn start(&mut self, tag: &'t [u8], attributes: &[Attribute<'t>]) {
        let is_json_ld = |attribute: &Attribute<'_>| {
            attribute.name.eq_ignore_ascii_case(b"type")
                && attribute.value.trim_ascii().eq_ignore_ascii_case(b"application/ld+json")
        };
        self.raw = if tag.eq_ignore_ascii_case(b"style") {
            Some(Context::Style).filter(|_| self.parts.css)
        } else if tag.eq_ignore_ascii_case(b"script") && attributes.iter().any(is_json_ld) {
            Some(Context::JsonLd)
        } else {
            None
        };
        for attribute in attributes {
            let is = |name: &[u8]| attribute.name.eq_ignore_ascii_case(name);
            let context = if is(b"style") {
                Context::Style
            } else if is(b"content") && attributes.iter().any(is_of_url) {
                Context::Meta
            } else if has_prefix(attribute.name, b"data-") && is_reference(attribute.value) {
                Context::DataAttribute
            } else {
                continue;
            };
            self.push(context, attribute.at, attribute.at + attribute.value.len());
        }
    }

    fn raw(&mut self, start: usize, end: usize) {
        if let Some(context) = self.raw.take() {
            self.push(context, start, end);
        }
    }
}

impl Places {
    fn push(&mut self, context: Context, start: usize, end: usize) {
        self.found.push((context, Span { start: start as u32, end: end as u32 }));
    }
}

/// Whether the `meta` element with this attribute holds a URL.
fn is_of_url(attribute: &Attribute<'_>) -> bool {
    let names: [&[u8]; 3] = [b"property", b"name", b"itemprop"];
    let is_name = names.iter().any(|name| attribute.name.eq_ignore_ascii_case(name));
    let value = attribute.value.trim_ascii();
    let last = value.rsplit(|&byte| byte == b':').next().unwrap_or_default();
    let is_prefixed = last.len() < value.len() || attribute.name.eq_ignore_ascii_case(b"itemprop");
    is_name && is_prefixed && PROPERTIES.iter().any(|name| name.eq_ignore_ascii_case(last))
}

/// Whether the value of a `data-*` attribute looks like a reference: it begins with a scheme and
/// `://`, or like a path, and has no white space.
fn is_reference(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let starts: [&[u8]; 3] = [b"/", b"./", b"../"];
    let is_path = value.len() > 1 && starts.iter().any(|start| value.starts_with(start));
    let has_scheme = scheme(value).is_some_and(|it| value[it.len()..].starts_with(b"://"));
    (is_path || has_scheme) && !value.iter().any(u8::is_ascii_whitespace)
}

fn has_prefix(text: &[u8], prefix: &[u8]) -> bool {
    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}
