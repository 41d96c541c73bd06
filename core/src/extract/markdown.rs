//! Links of a Markdown document by CommonMark: inline, by reference, in `< >`, images, and URIs in
//! its text and HTML.

use std::borrow::Cow;
use std::sync::Mutex;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use super::charset::UTF8;
use super::fault::MOST_MARKS;
use super::how::How;
use super::{Context, Fault, Links, page};
use crate::chunk::{Padded, PaddedBuf, Span};

/// Documents with this many marks are parsed one at a time, whatever the number of threads.
const MANY_MARKS: usize = MOST_MARKS / 16;

/// Held while parsing a document with many marks.
static LARGE: Mutex<()> = Mutex::new(());

/// The number of bytes of `text` for which the parser may add nodes to its tree: delimiters of
/// inlines, line ends, and markers of lists and quotes. The tree never has more than a few nodes
/// for each.
fn marks(text: &[u8]) -> usize {
    let is_before_space =
        |at: usize| text.get(at + 1).is_none_or(|byte| byte.is_ascii_whitespace());
    let is_mark = |at: usize| match text[at] {
        b'[' | b']' | b'*' | b'_' | b'`' | b'<' | b'>' | b'&' | b'\\' | b'|' | b'\n' => true,
        b'\r' => text.get(at + 1) != Some(&b'\n'),
        b'-' | b'+' => is_before_space(at),
        b'.' | b')' => at > 0 && text[at - 1].is_ascii_digit() && is_before_space(at),
        _ => false,
    };
    (0..text.len()).filter(|&at| is_mark(at)).count()
}

/// Appends the links of the Markdown document `text` to `links`: destinations, resolved against
/// `base`; URIs in its text, but not in code; and the references in the attributes of its HTML.
///
/// Bytes that are not UTF-8 are read as `?`. A document with more than [`MOST_MARKS`] marks is
/// searched as plain text, and counted.
pub(super) fn document(how: How<'_>, text: Padded<'_>, links: &mut Links) {
    let marks = marks(text.content());
    if marks > MOST_MARKS {
        links.count_fault(Fault::Marks(marks));
        return how.finder.find_all(how.kernels, text, links);
    }
    // The holder never waits for anything, so the lock is released soon.
    let _one_at_a_time = (marks > MANY_MARKS)
        .then(|| LARGE.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    let typed = characters(text.content());
    let mut absolute = how.absolute();
    // Nesting depth in links, whose text holds no links, and in blocks of code.
    let (mut in_links, mut in_code) = (0usize, false);
    // Pending text: the parser splits it where emphasis might begin.
    let mut open = Span::default();
    // The lines of a block of HTML.
    let mut block: Vec<Span> = Vec::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    for (event, range) in Parser::new_ext(&typed, options).into_offset_iter() {
        let span = Span { start: range.start as u32, end: range.end as u32 };
        if let Event::Text(_) = event
            && in_links == 0
            && !in_code
        {
            if open.end != span.start {
                how.find(text, open, Context::Text, links);
                open = span;
            }
            open.end = span.end;
            continue;
        }
        how.find(text, core::mem::take(&mut open), Context::Text, links);
        match event {
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                in_links += 1;
                let context = context(link_type);
                let is_mail = link_type == LinkType::Email && !dest_url.starts_with("mailto:");
                let target: Cow<'_, str> =
                    if is_mail { format!("mailto:{dest_url}").into() } else { (&*dest_url).into() };
                absolute.push(target.as_bytes(), span, context, links);
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                absolute.push(dest_url.as_bytes(), span, Context::Image, links);
            }
            Event::End(TagEnd::Link) => in_links = in_links.saturating_sub(1),
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::InlineHtml(_) => html(how, text, &[span], links),
            // The lines of a block belong together: a tag or a comment may go on over several.
            Event::Html(_) => match block.last_mut() {
                Some(last) if last.end == span.start => last.end = span.end,
                _ => block.push(span),
            },
            Event::End(TagEnd::HtmlBlock) => {
                html(how, text, &core::mem::take(&mut block), links);
            }
            _ => {}
        }
    }
    how.find(text, open, Context::Text, links);
}

/// Adds the links of the HTML that stands in `pieces` of `text`, with something else between them: the
/// marks of a quote or a list.
fn html(how: How<'_>, text: Padded<'_>, pieces: &[Span], links: &mut Links) {
    let (Some(head), Some(tail)) = (pieces.first(), pieces.last()) else { return };
    let all = Span { start: head.start, end: tail.end };
    if pieces.len() == 1 {
        let first = links.len();
        let part = text.part(all.start as usize, all.len());
        page::page(how, (part, UTF8), None, links);
        return links.shift(first, all.start);
    }
    let joined: Vec<u8> = pieces.iter().flat_map(|span| span.of(text.content())).copied().collect();
    let buf = PaddedBuf::from_content(&joined);
    let found = Links::of_part(joined.len(), |found| {
        page::page(how, (buf.padded(), UTF8), None, found);
    });
    links.take_made(&found, &joined, |_| all);
}

fn context(kind: LinkType) -> Context {
    match kind {
        LinkType::Inline => Context::Inline,
        LinkType::Autolink | LinkType::Email => Context::Autolink,
        _ => Context::Reference,
    }
}

/// `text` as characters, with every byte at the same offset.
pub(super) fn characters(text: &[u8]) -> Cow<'_, str> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::PaddedBuf;
    use crate::extract::Extractor;
    use crate::simd::Kernels;

    fn links(text: &str) -> Links {
        let buf = PaddedBuf::from_content(text.as_bytes());
        let mut links = Links::new();
        let how = Extractor::default();
        document(how.how(Kernels::detect(), Some(b"http://b/")), buf.padded(), &mut links);
        links
    }

    #[test]
    fn html_goes_on_over_the_lines_of_its_block() {
        for (text, expected) in [
            ("<!-- \n<img src=no>\n\n[x](/no)\n-->\n[y](/1)\n", &["http://b/1"][..]),
            ("<p\nclass=x><a\nhref=/1\n>x</a>\n", &["http://b/1"]),
            (
                "> <div\n> class=x><a\n> href=/1>x</a>\n> <img src=/2>\n",
                &["http://b/1", "http://b/2"],
            ),
            ("- <!-- <img src=no>\n  <img src=no> -->\n  [y](/1)\n", &["http://b/1"]),
        ] {
            let found = links(text);
            let found = found.iter(text.as_bytes()).map(|(_, uri)| str::from_utf8(uri).unwrap());
            assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn every_construct_that_takes_nodes_has_marks() {
        // The parser's events correspond to its nodes.
        let units = [
            "[",
            "]",
            "![",
            "[a](",
            "[a](b)",
            "*a",
            "*a ",
            "_a ",
            "`a",
            "`a`",
            "<",
            "<a",
            "<a>",
            "&amp;",
            "&#1;",
            "\\[",
            "\\*a",
            "a\n",
            "-\n",
            "- a\n",
            "- ",
            "+ ",
            "> ",
            "> a\n",
            "1. ",
            "1) ",
            "1)\n",
            "# a\n",
            "[a]: b\n",
            "[^a]",
            "[^a]: b\n\n",
            "[]",
            "[a][b]",
            "**a**",
            "    a\n",
            "```\n",
            "---\n",
            "a\n---\n",
            "***\n",
            "<!-- -->",
            "<p>\n",
            "|a|b|\n",
            "|a|b|\n|-|-|\n",
            "a\r",
            "- - a\n",
            "1.\t",
            "+\r\n",
            "a  \n",
            "a\\\n",
            "<http://h/>",
            "~~a~~",
            "$a$",
            "\u{a0}a",
            "a\n\n",
            "> - a\n",
            "\t- a\n",
        ];
        for head in ["", "[a]: /b\n\n", "|a|b|c|\n|-|-|-|\n"] {
            for unit in units {
                let count = |repeats: usize| {
                    let text = head.to_owned() + &unit.repeat(repeats);
                    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
                    (Parser::new_ext(&text, options).count(), marks(text.as_bytes()))
                };
                let ((few, few_marks), (many, many_marks)) = (count(100), count(1100));
                // The parser pads short rows of wide tables, up to a limit.
                let (events, marks) = (many.saturating_sub(few), many_marks - few_marks);
                assert!(
                    events <= 12 * marks + 16,
                    "{head:?} {unit:?}: {events} events, {marks} marks"
                );
            }
        }
    }

    #[test]
    fn too_many_marks_are_reported_and_the_text_is_searched() {
        let document = |marks: usize| "[x](y) <http://h/>\n".to_owned() + &"[".repeat(marks - 5);
        let found = links(&document(MOST_MARKS));
        assert_eq!((found.len(), found.omitted().unparsed), (2, 0));
        let text = document(MOST_MARKS + 1);
        let found = links(&text);
        assert_eq!((found.len(), found.omitted().unparsed), (1, 1));
        assert_eq!(found.faults(), [Fault::Marks(MOST_MARKS + 1)]);
        assert_eq!(found.iter(text.as_bytes()).next().unwrap().1, b"http://h/");
    }
}
