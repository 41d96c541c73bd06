//! Recognizes pages by their first bytes, with the table of the MIME Sniffing Standard (section
//! 7.1).

use super::charset;
use super::html::comment_end;
use crate::grammar::byte_words;

/// How surely the first bytes of a source show that it is a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Other formats may begin like this: Markdown with a `<div>` or a comment.
    Likely,
    /// Only pages begin like this.
    Certain,
}

/// Beginnings of pages only.
const CERTAIN: [&[u8]; 6] = [
    b"!doctype html",
    b"html",
    b"head",
    b"body",
    b"title",
    // The bookmarks that a browser exports.
    b"!doctype netscape-bookmark-file-1",
];
/// The other elements of the table.
const LIKELY: [&[u8]; 11] =
    [b"script", b"iframe", b"h1", b"div", b"font", b"table", b"a", b"style", b"br", b"p", b"b"];
/// More elements, for what follows a comment: that alone makes a page by the standard, but other
/// XML documents, and texts, begin with comments too.
const AFTER_COMMENT: [&[u8]; 22] = byte_words(
    "meta link base noscript main nav header footer form ul ol dl img span h2 h3 center pre hr i \
     em strong",
);

/// Whether a source that begins with `head`, in UTF-8 or UTF-16, is a page; comments, white space,
/// byte order marks and XML declarations before its first tag are skipped.
pub(super) fn page(head: &[u8]) -> Option<Sign> {
    match charset::by_mark(head) {
        Some(Some(wide)) => narrow_page(wide.decode_without_bom_handling(head).0.as_bytes()),
        _ => narrow_page(head),
    }
}

/// The lines of `text` with their ends.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    core::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        start += len;
        Some(&rest[..len])
    })
}

/// Whether `text` begins with a `<`, after white space or a byte order mark.
pub(super) fn begins_with_tag(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    text.trim_ascii_start().starts_with(b"<")
}

/// What precedes the first tag of a document.
struct Prolog<'t> {
    has_comment: bool,
    is_xml: bool,
    /// The text after it.
    rest: &'t [u8],
}

/// The prolog of the document that begins with `head`; `None` if a declaration in it has no end.
fn prolog(head: &[u8]) -> Option<Prolog<'_>> {
    let rest = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let mut prolog = Prolog { has_comment: false, is_xml: false, rest };
    loop {
        let text = prolog.rest.trim_ascii_start();
        prolog.rest = if text.starts_with(b"<!--") {
            prolog.has_comment = true;
            &text[comment_end(text, 4)..]
        } else if text.starts_with(b"<?xml") {
            prolog.is_xml = true;
            &text[memchr::memmem::find(text, b"?>")? + 2..]
        } else {
            prolog.rest = text;
            return Some(prolog);
        };
    }
}

/// The name of the first element of the XML document that begins with `head`.
pub(super) fn root(head: &[u8]) -> Option<&[u8]> {
    let mut rest = prolog(head)?.rest;
    if rest.starts_with(b"<!DOCTYPE") {
        rest = prolog(&rest[memchr::memchr(b'>', rest)? + 1..])?.rest;
    }
    let name = rest.strip_prefix(b"<")?;
    let end = name.iter().position(|&byte| byte.is_ascii_whitespace() || b"/>".contains(&byte))?;
    Some(&name[..end])
}

/// Whether `head`, which may begin a page, has more links of Markdown, `](http://h/)`, than attributes with links: documents
/// in Markdown often begin with a tag.
pub(super) fn has_marked_links(head: &[u8]) -> bool {
    const STARTS: [&[u8]; 6] = [b"http:", b"https:", b"/", b"./", b"../", b"#"];
    let marked = memchr::memmem::find_iter(head, b"](")
        .filter(|at| STARTS.iter().any(|start| head[at + 2..].starts_with(start)));
    let attributes = memchr::memmem::find_iter(head, b"href=").count()
        + memchr::memmem::find_iter(head, b"src=").count();
    marked.count() > attributes
}

fn narrow_page(head: &[u8]) -> Option<Sign> {
    let Prolog { has_comment, is_xml, rest: text } = prolog(head)?;
    if text.is_empty() {
        return (has_comment && !is_xml).then_some(Sign::Likely);
    }
    let begins = |name: &&[u8]| {
        let end = 1 + name.len();
        text.len() > end
            && text[0] == b'<'
            && text[1..end].eq_ignore_ascii_case(name)
            && matches!(text[end], b'\t' | b'\n' | b'\x0C' | b'\r' | b' ' | b'/' | b'>')
    };
    if CERTAIN.iter().any(begins) {
        return Some(Sign::Certain);
    }
    let is_likely = LIKELY.iter().any(begins) || has_comment && AFTER_COMMENT.iter().any(begins);
    is_likely.then_some(Sign::Likely)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_standard_is_known() {
        for name in ["!DOCTYPE HTML", "html", "HEAD", "body", "Title"] {
            for end in [" lang=en>", ">", "\n>"] {
                assert_eq!(page(format!("<{name}{end}").as_bytes()), Some(Sign::Certain), "{name}");
            }
        }
        for name in LIKELY {
            let name = String::from_utf8_lossy(name);
            for text in [format!("<{name}>"), format!("\n <{} x", name.to_uppercase())] {
                assert_eq!(page(text.as_bytes()), Some(Sign::Likely), "{text}");
            }
        }
        for text in ["", "<", "<!doctype htmlx>", "<para>", "<abbr", "a <p>", "<rss>", "<?php ?>"] {
            assert_eq!(page(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn links_of_markdown_outnumber_attributes() {
        for (text, expected) in [
            ("<p align=center>x</p>\n\n[a](http://h/a) http://h/b", true),
            ("<div><img src='i.png'></div>\n[a](#a)\n- [b](/b) [c](../c)", true),
            ("<div><a href='/x'>y</a></div>\n[a](#a)", false),
            ("<script>f[0](x); g[1](/r/)</script><a href=x><img src=y>", false),
            ("<p>text", false),
            ("", false),
        ] {
            assert_eq!(has_marked_links(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn what_may_precede_the_first_tag_is_skipped() {
        for before in [
            "\u{FEFF}",
            "\u{FEFF} \n",
            "<!-- c -->",
            "<!-- a --> <!-- <p> -->\n",
            "<!-->",
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n",
            "<?xml version='1.0'?><?xml-stylesheet href='x'?><!-- c -->",
        ] {
            assert_eq!(page(format!("{before}<HTML>").as_bytes()), Some(Sign::Certain), "{before}");
            assert_eq!(page(format!("{before}<p>").as_bytes()), Some(Sign::Likely), "{before}");
            assert_eq!(page(format!("{before}<project>").as_bytes()), None, "{before}");
            assert_eq!(page(format!("{before}text").as_bytes()), None, "{before}");
        }
        assert_eq!(page(b"<!-- c --><ul><li>"), Some(Sign::Likely));
        assert_eq!(page(b"<ul><li>"), None);
        assert_eq!(page(b"<!-- open"), Some(Sign::Likely), "as in the standard");
        assert_eq!(page(b"<?xml version='1.0'?><!-- open"), None);
        assert_eq!(page(b"<?xml open"), None);
    }
}
