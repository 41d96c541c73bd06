//! What the records of an archive say about the pages of their URLs: which content they had, and what else is the same page.

use std::borrow::Cow;

use super::{Extent, WarcRecord, codings_of, extent, field, header_end, media_type, next_record};
use super::{unchunked, value_of};
use crate::extract::attribute;
use crate::extract::body::{Sort, has_prefix};
use crate::extract::coding::{self, Decoded};
use crate::extract::html::{Attribute, Tags, start_tags};
use crate::extract::sniff;

/// What an archived response says about the page of a URL. All fields but the first may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ArchivedPage<'t> {
    /// The URL, as the record has it.
    pub(crate) url: &'t [u8],
    /// A digest of the content: that of the record, or one of the decoded body.
    pub(crate) digest: Cow<'t, [u8]>,
    /// The URL that the page names as its canonical one.
    pub(crate) canonical: Cow<'t, [u8]>,
    /// The URL that it redirects to.
    pub(crate) location: &'t [u8],
    /// The lists of parameters without meaning that a robots.txt declares, each of names with `&` between them.
    pub(crate) clean: Vec<Vec<u8>>,
}

/// Calls `each` for the pages of the archive `text`, which begins with a record; returns the number of places that are not
/// records.
pub(crate) fn archived_pages(text: &[u8], each: &mut dyn FnMut(&ArchivedPage<'_>)) -> u64 {
    let (mut at, mut broken) = (0, 0);
    while at < text.len() {
        match extent(&text[at..]) {
            Extent::Record(record) => {
                let end = at.saturating_add(record.block_end).min(text.len());
                let block = &text[(at + record.block).min(end)..end];
                // What was cut off has another content than the page.
                let is_whole = at.saturating_add(record.block_end) <= text.len();
                broken += u64::from(!is_whole);
                if let Some(page) = page_of(&record, block).filter(|_| is_whole) {
                    each(&page);
                }
                at = at.saturating_add(record.end());
            }
            Extent::Broken | Extent::Open => {
                broken += u64::from(!text[at..].iter().all(u8::is_ascii_whitespace));
                at = next_record(text, at).unwrap_or(text.len());
            }
        }
    }
    broken
}

/// The page of a record; `None` if it has none.
fn page_of<'t>(record: &WarcRecord<'t>, block: &'t [u8]) -> Option<ArchivedPage<'t>> {
    let url = record.target()?;
    let (kind, media) = record.kind(block);
    let is = |name: &[u8]| kind.eq_ignore_ascii_case(name);
    let digest = field(record.header, b"warc-payload-digest").unwrap_or_default();
    if is(b"resource") {
        let digest = own_digest(digest, block);
        return Some(ArchivedPage { url, digest, ..ArchivedPage::default() });
    }
    let is_revisit = is(b"revisit");
    if !(is(b"response") || is_revisit) {
        return None;
    }
    if block.is_empty() && is_revisit {
        return Some(ArchivedPage { url, digest: digest.into(), ..ArchivedPage::default() });
    }
    if !has_prefix(media, b"application/http") {
        return None;
    }
    let (header_len, start) = header_end(block).unwrap_or((block.len(), block.len()));
    let (header, payload) = (&block[..header_len], &block[start..]);
    match status(header)? {
        300..=399 => {
            let location = field(header, b"location").filter(|value| !value.is_empty())?;
            Some(ArchivedPage { url, location, ..ArchivedPage::default() })
        }
        200 if is_revisit => {
            Some(ArchivedPage { url, digest: digest.into(), ..ArchivedPage::default() })
        }
        200 => Some(of_response(url, digest, header, payload)),
        _ => None,
    }
}

/// The status of the response with this `header`.
fn status(header: &[u8]) -> Option<u16> {
    let line = sniff::lines(header).next()?;
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    words.next().filter(|version| version.starts_with(b"HTTP/"))?;
    str::from_utf8(words.next()?.trim_ascii()).ok()?.parse().ok()
}

/// The page of a response with status 200.
fn of_response<'t>(
    url: &'t [u8],
    digest: &'t [u8],
    header: &'t [u8],
    payload: &'t [u8],
) -> ArchivedPage<'t> {
    let body = body_of(header, payload);
    let mut canonical = link_header(header);
    let is_page = Sort::of(media_type(header).0) == Some(Sort::Page);
    if canonical.is_empty() && is_page {
        canonical = Cow::Owned(link_element(&body));
    }
    let clean = if is_robots(url) { clean_params(&body) } else { Vec::new() };
    ArchivedPage { url, digest: own_digest(digest, &body), canonical, location: b"", clean }
}

/// `digest`, or one of `content` if there is none; nothing for no content.
fn own_digest<'t>(digest: &'t [u8], content: &[u8]) -> Cow<'t, [u8]> {
    match digest {
        _ if content.is_empty() => Cow::Borrowed(b""),
        b"" => Cow::Owned(blake3::hash(content).to_hex().as_bytes().to_vec()),
        digest => Cow::Borrowed(digest),
    }
}

/// The body without its codings; as it stands if they are unknown.
fn body_of<'t>(header: &[u8], payload: &'t [u8]) -> Cow<'t, [u8]> {
    let (is_chunked, codings) = codings_of(header);
    let plain = match unchunked(payload).filter(|_| is_chunked) {
        Some((plain, _)) => Cow::Owned(plain),
        None => Cow::Borrowed(payload),
    };
    let sort = Sort::of(media_type(header).0);
    let is_like = |bytes: &[u8]| sort.is_some_and(|sort| sort.is_like(bytes));
    match coding::decoded(&codings, &plain, coding::MOST, is_like) {
        Decoded::Made { text, .. } => Cow::Owned(text),
        Decoded::Plain | Decoded::Unknown => plain,
    }
}

/// The target of the first `Link: <target>; rel="canonical"` of `header`.
fn link_header(header: &[u8]) -> Cow<'_, [u8]> {
    for value in sniff::lines(header).filter_map(|line| value_of(line, b"link")) {
        let mut rest = value;
        while let Some(open) = memchr::memchr(b'<', rest) {
            let Some(close) = memchr::memchr(b'>', &rest[open..]) else { break };
            let target = &rest[open + 1..open + close];
            rest = &rest[open + close + 1..];
            let params = &rest[..memchr::memchr(b'<', rest).unwrap_or(rest.len())];
            let is_canonical = |param: &[u8]| {
                let mut parts = param.splitn(2, |&byte| byte == b'=').map(<[u8]>::trim_ascii);
                parts.next().is_some_and(|name| name.eq_ignore_ascii_case(b"rel"))
                    && parts.next().is_some_and(has_canonical)
            };
            if params.split(|&byte| byte == b';').any(is_canonical) {
                return Cow::Borrowed(target);
            }
        }
    }
    Cow::Borrowed(b"")
}

/// Whether one of the words of a `rel` is `canonical`.
fn has_canonical(rel: &[u8]) -> bool {
    let words = rel.split(|byte| byte.is_ascii_whitespace() || b"\"',".contains(byte));
    words.into_iter().any(|word| word.eq_ignore_ascii_case(b"canonical"))
}

/// The `href` of the first `<link rel=canonical>` of a page.
fn link_element(page: &[u8]) -> Vec<u8> {
    let mut found = Canonical { end: page.len(), href: None };
    start_tags(page, &mut found);
    found.href.unwrap_or_default()
}

/// Looks for a canonical link.
struct Canonical {
    end: usize,
    href: Option<Vec<u8>>,
}

impl<'t> Tags<'t> for Canonical {
    fn skip(&mut self, at: usize) -> usize {
        if self.href.is_some() { self.end } else { at }
    }

    fn matters(&self, tag: &[u8], attribute: &[u8]) -> bool {
        let is = |name: &[u8]| attribute.eq_ignore_ascii_case(name);
        tag.eq_ignore_ascii_case(b"link") && (is(b"rel") || is(b"href"))
    }

    fn start(&mut self, name: &'t [u8], attributes: &[Attribute<'t>]) {
        let value = |name: &[u8]| {
            let found = attributes.iter().find(|it| it.name.eq_ignore_ascii_case(name));
            found.map_or(&b""[..], |attribute| attribute.value)
        };
        if name.eq_ignore_ascii_case(b"link") && has_canonical(value(b"rel")) {
            let href = attribute::decoded(value(b"href"));
            self.href = Some(href.trim_ascii().to_vec()).filter(|href| !href.is_empty());
        } else if name.eq_ignore_ascii_case(b"body") {
            // It is in the head.
            self.href.get_or_insert_default();
        }
    }
}

fn is_robots(url: &[u8]) -> bool {
    let parts = crate::uri::split(url);
    parts.path == b"/robots.txt" && parts.query.is_none()
}

/// The lists of names in the lines `Clean-param: names [path]` of a robots.txt.
fn clean_params(robots: &[u8]) -> Vec<Vec<u8>> {
    /// Lists that are read.
    const MOST: usize = 100;
    let lines = robots.split(|&byte| byte == b'\n' || byte == b'\r');
    let lists = lines.filter_map(|line| {
        let line = &line[..memchr::memchr(b'#', line).unwrap_or(line.len())];
        let names = value_of(line.trim_ascii(), b"clean-param")?;
        let names = names.split(u8::is_ascii_whitespace).next()?;
        Some(names.to_vec()).filter(|names| !names.is_empty())
    });
    lists.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: &str, url: &str, digest: &str, block: &str) -> String {
        let digest = if digest.is_empty() {
            String::new()
        } else {
            format!("WARC-Payload-Digest: {digest}\r\n")
        };
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n{digest}Content-Type: application/http;msgtype=response\r\n\
             Content-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    }

    fn pages(archive: &str) -> (Vec<[String; 5]>, u64) {
        let mut found = Vec::new();
        let broken = archived_pages(archive.as_bytes(), &mut |page| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let clean = page.clean.iter().map(|names| text(names)).collect::<Vec<_>>().join(" ");
            found.push([
                text(page.url),
                text(&page.digest),
                text(&page.canonical),
                text(page.location),
                clean,
            ]);
        });
        (found, broken)
    }

    #[test]
    fn records_say_what_is_the_same() {
        let archive = [
            record("request", "http://h/q", "", "GET / HTTP/1.1\r\n\r\n"),
            record("response", "http://h/a", "sha1:A", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><!-- <link rel=canonical href=no> --><LINK REL='x Canonical' HREF='/a?b&amp;c'><body><link rel=canonical href=z>"),
            record("response", "http://h/b", "sha1:B", "HTTP/1.1 200 OK\r\nLink: <x>; rel=prev, </b>; rel=\"canonical\"\r\n\r\nb"),
            record("response", "http://h/c", "", "HTTP/1.1 301 Moved\r\nLocation: /d\r\n\r\n"),
            record("response", "http://h/e", "sha1:E", "HTTP/1.1 404 Not Found\r\n\r\nno"),
            record("revisit", "http://h/f", "sha1:B", "HTTP/1.1 200 OK\r\n\r\n"),
            record("response", "http://h/empty", "sha1:0", "HTTP/1.1 200 OK\r\n\r\n"),
            record("response", "http://h/robots.txt", "sha1:R", "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nClean-param: ref&src /shop\n# Clean-param: x\nclean-param: sid\n"),
        ]
        .concat();
        let (found, broken) = pages(&archive);
        let expected = [
            ["http://h/a", "sha1:A", "/a?b&c", "", ""],
            ["http://h/b", "sha1:B", "/b", "", ""],
            ["http://h/c", "", "", "/d", ""],
            ["http://h/f", "sha1:B", "", "", ""],
            ["http://h/empty", "", "", "", ""],
            ["http://h/robots.txt", "sha1:R", "", "", "ref&src sid"],
        ];
        assert_eq!((found, broken), (expected.map(|row| row.map(str::to_owned)).to_vec(), 0));
    }

    #[test]
    fn a_body_without_a_digest_gets_one_of_what_it_is_without_its_codings() {
        let plain = record("response", "http://h/a", "", "HTTP/1.1 200 OK\r\n\r\nWiki");
        let chunked = record(
            "response",
            "http://h/a",
            "",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nWiki\r\n0\r\n\r\n",
        );
        let (plain, chunked) = (pages(&plain).0, pages(&chunked).0);
        assert!(plain == chunked && plain[0][1].len() == 64);
    }

    #[test]
    fn what_is_cut_off_or_broken_is_counted_and_says_nothing() {
        let whole = record("response", "http://h/a", "sha1:A", "HTTP/1.1 200 OK\r\n\r\nlong body");
        let cut = &whole[..whole.len() - 9];
        assert_eq!(pages(cut), (Vec::new(), 1));
        assert_eq!(pages(&format!("noise\r\n{whole}")).0.len(), 1);
        assert_eq!(pages("").1, 0);
    }
}
