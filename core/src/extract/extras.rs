//! References in pages that are read on request: in style sheets, in JSON-LD, in the metadata of
//! Open Graph and the like, in scripts, and in `data-*` and other attributes.

use super::attribute::decoded;
use super::charset::{self, Declared};
use super::how::How;
use super::html::{Attribute, Tags, start_tags};
use super::reference::scheme;
use super::value::Values;
use super::{Context, Finder, Links, Options, css, json, page};
use crate::chunk::{Padded, PaddedBuf, Span};
use crate::grammar::{byte_words, has_prefix, words};

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
    /// The links in inline scripts, as in text.
    pub script: bool,
    /// Attributes that refer to something else than the usual ones: `ping`, `manifest`, `xlink:href`, `data-src` and
    /// `data-srcset`, and the page in a `srcdoc`.
    pub attributes: bool,
}

setters! { PageParts {
    css: bool, json_ld: bool, meta: bool, data: bool, script: bool, attributes: bool,
} }

impl PageParts {
    /// Whether no such part is read.
    pub fn is_empty(self) -> bool {
        self == PageParts::default()
    }
}

/// Members of JSON-LD that hold URLs in the vocabulary of schema.org.
const MEMBERS: [&str; 14] = words(
    "@id url contentUrl embedUrl thumbnailUrl downloadUrl installUrl image logo sameAs item \
     mainEntityOfPage target license",
);
/// What the last part of the name of a `meta` element for a URL is.
const PROPERTIES: [&[u8]; 9] =
    byte_words("url image video audio secure_url src player stream see_also");

/// Appends the links of the page `text` and those in `parts` of it to `links`: see [`page::page`].
pub(super) fn page_and_parts(
    how: How<'_>,
    page: (Padded<'_>, Declared),
    parts: PageParts,
    links: &mut Links,
) {
    let more = |text: Padded<'_>, base: Option<&[u8]>, links: &mut Links| {
        extras(how.with_base(base), text, parts, links);
    };
    let more: Option<page::More<'_>> = if parts.is_empty() { None } else { Some(&more) };
    page::page(how, page, more, links);
}

/// Appends the links in `parts` of the page `text` to `links`.
fn extras(how: How<'_>, text: Padded<'_>, parts: PageParts, links: &mut Links) {
    let mut places = Places { parts, found: Vec::new(), raw: None };
    start_tags(text.content(), &mut places);
    let schemes = &how.finder.options().schemes;
    let finder = Finder::new(Options::default().schemes(schemes.clone()));
    let how = How { finder: &finder, ..how };
    let members = MEMBERS.map(str::to_owned);
    let (mut absolute, mut of_styles) = (how.absolute(), how.absolute());
    let mut values = Values::new(how, text, true).of_context(Context::JsonLd);
    let mut push = |typed: &[u8], span: Span, context: Context, links: &mut Links| {
        absolute.push(typed, span, context, links);
    };
    for (place, span) in places.found {
        let typed = span.of(text.content());
        match place {
            Place::JsonLd => {
                let mut at = span.start as usize;
                for line in typed.split_inclusive(|&byte| byte == b'\n') {
                    json::line(&mut values, &members, at, at + line.len(), links);
                    at += line.len();
                }
            }
            Place::Script => how.find(text, span, Context::Script, links),
            Place::Sheet => css::part(&mut of_styles, typed, |at| span.start + at, links),
            Place::Style => {
                let value = decoded(typed);
                let is_coded = matches!(value, std::borrow::Cow::Owned(_));
                let place = |at| if is_coded { span.start } else { span.start + at };
                css::part(&mut of_styles, &value, place, links);
            }
            Place::Page => {
                let inner = PaddedBuf::from_content(&decoded(typed));
                let inner = inner.padded();
                // A page in a page in a page is not read.
                let parts = parts.attributes(false);
                let found = Links::of_part(inner.len(), |found| {
                    page_and_parts(how, (inner, charset::UTF8), parts, found);
                });
                links.take_made(&found, inner.content(), |_| span);
            }
            Place::Srcset => page::srcset(&decoded(typed), |one| {
                push(one, span, Context::Attribute, links);
            }),
            Place::Ping => {
                let value = decoded(typed);
                let all = value.split(u8::is_ascii_whitespace).filter(|one| !one.is_empty());
                all.for_each(|one| push(one, span, Context::Attribute, links));
            }
            Place::One(context) => push(&decoded(typed), span, context, links),
        }
    }
}

/// What may hold links.
#[derive(Clone, Copy)]
enum Place {
    /// A style sheet, the content of an element.
    Sheet,
    /// The style of an element.
    Style,
    JsonLd,
    Script,
    /// A page with its character references escaped.
    Page,
    /// References and their conditions.
    Srcset,
    /// References with white space between them.
    Ping,
    /// A reference.
    One(Context),
}

/// What the attribute of this name of the element `tag` is, if it is one of [`PageParts::attributes`].
fn place_of(tag: &[u8], attribute: &[u8]) -> Option<Place> {
    const OF_ONE: [&[u8]; 13] = byte_words(
        "xlink:href data-src data-href data-url data-original data-original-src data-lazy \
         data-lazy-src data-full-src data-background data-poster lowsrc dynsrc",
    );
    const OF_SEVERAL: [&[u8]; 3] = [b"data-srcset", b"data-lazy-srcset", b"data-original-set"];
    let is = |name: &[u8]| attribute.eq_ignore_ascii_case(name);
    if is(b"ping") {
        Some(Place::Ping)
    } else if is(b"srcdoc") {
        Some(Place::Page)
    } else if OF_SEVERAL.into_iter().any(is) {
        Some(Place::Srcset)
    } else if OF_ONE.into_iter().any(is) || is(b"manifest") && tag.eq_ignore_ascii_case(b"html") {
        Some(Place::One(Context::Attribute))
    } else {
        None
    }
}

/// The places that may hold links.
struct Places {
    parts: PageParts,
    found: Vec<(Place, Span)>,
    /// What the text of the last element is, if it has no tags.
    raw: Option<Place>,
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
            || self.parts.attributes && place_of(tag, attribute).is_some()
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
            Some(Place::Sheet).filter(|_| self.parts.css)
        } else if tag.eq_ignore_ascii_case(b"script") && attributes.iter().any(is_json_ld) {
            Some(Place::JsonLd)
        } else if tag.eq_ignore_ascii_case(b"script") && self.parts.script {
            Some(Place::Script)
        } else {
            None
        };
        for attribute in attributes {
            let is = |name: &[u8]| attribute.name.eq_ignore_ascii_case(name);
            let of_attributes = place_of(tag, attribute.name).filter(|_| self.parts.attributes);
            let place = if let Some(place) = of_attributes {
                if matches!(attribute.value.trim_ascii().first(), None | Some(b'#')) {
                    continue;
                }
                place
            } else if is(b"style") {
                Place::Style
            } else if is(b"content") && attributes.iter().any(is_of_url) {
                Place::One(Context::Meta)
            } else if has_prefix(attribute.name, b"data-") && is_reference(attribute.value) {
                Place::One(Context::DataAttribute)
            } else {
                continue;
            };
            self.push(place, attribute.at, attribute.at + attribute.value.len());
        }
    }

    fn raw(&mut self, start: usize, end: usize) {
        if let Some(place) = self.raw.take() {
            self.push(place, start, end);
        }
    }
}

impl Places {
    fn push(&mut self, place: Place, start: usize, end: usize) {
        self.found.push((place, Span { start: start as u32, end: end as u32 }));
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
