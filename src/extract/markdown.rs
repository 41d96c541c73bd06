//! The links of a Markdown document, as CommonMark has them: inline, by reference, in `< >`, images, and what stands in its text and HTML.

use std::borrow::Cow;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use super::reference::Absolute;
use super::{Context, Finder, Links, page};
use crate::chunk::{Padded, Span};
use crate::simd::Kernels;

/// Appends the links of the Markdown document `text` to `links`: destinations, made absolute by `base`; URIs in its text, but not in code;
/// and the references in the attributes of HTML in it.
///
/// What is no UTF-8 is read as `?`.
pub(crate) fn document(
    finder: &Finder,
    kernels: Kernels,
    text: Padded<'_>,
    base: Option<&[u8]>,
    links: &mut Links,
) {
    let typed = characters(text.content());
    let schemes = &finder.options().schemes;
    let mut absolute = Absolute::new(kernels, base);
    // How deep in links, whose text holds none, and in blocks of code.
    let (mut in_links, mut in_code) = (0usize, false);
    // Text that is not done with: the parser cuts it where emphasis might begin.
    let mut open = Span::default();
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    for (event, range) in Parser::new_ext(&typed, options).into_offset_iter() {
        let span = Span { start: range.start as u32, end: range.end as u32 };
        if let Event::Text(_) = event
            && in_links == 0
            && !in_code
        {
            if open.end != span.start {
                finder.find_span(kernels, text, open, Context::Text, links);
                open = span;
            }
            open.end = span.end;
            continue;
        }
        finder.find_span(kernels, text, core::mem::take(&mut open), Context::Text, links);
        match event {
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                in_links += 1;
                let context = context(link_type);
                let is_mail = link_type == LinkType::Email && !dest_url.starts_with("mailto:");
                let target: Cow<'_, str> =
                    if is_mail { format!("mailto:{dest_url}").into() } else { (&*dest_url).into() };
                page::push(schemes, &mut absolute, target.as_bytes(), span, context, links);
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                page::push(
                    schemes,
                    &mut absolute,
                    dest_url.as_bytes(),
                    span,
                    Context::Image,
                    links,
                );
            }
            Event::End(TagEnd::Link) => in_links = in_links.saturating_sub(1),
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Html(_) | Event::InlineHtml(_) => {
                let first = links.len();
                let part = text.part(span.start as usize, span.len());
                page::page(schemes, kernels, part, base, links);
                links.shift(first, span.start);
            }
            _ => {}
        }
    }
    finder.find_span(kernels, text, open, Context::Text, links);
}

fn context(kind: LinkType) -> Context {
    match kind {
        LinkType::Inline => Context::Inline,
        LinkType::Autolink | LinkType::Email => Context::Autolink,
        _ => Context::Reference,
    }
}

/// `text` as characters, every byte at its place.
fn characters(text: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(text) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| '?'));
    }
    out.into()
}
