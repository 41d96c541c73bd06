//! What the records of an archive say about the pages of their URLs: which content they had, and what else is the same page.

use std::borrow::Cow;

use super::{
    Extent, WarcRecord, after_ends, codings_of, extent, field, header_end, is_shorter, media_type,
    next_record,
};
use super::{unchunked, value_of};
use crate::extract::attribute;
use crate::extract::body::Sort;
use crate::extract::coding::{self, Decoded};
use crate::extract::html::{Attribute, Tags, start_tags};
use crate::extract::sniff;
use crate::grammar::{byte_words, has_prefix};
use crate::resolve::{BaseUri, Options, Resolver};

/// What an archived response says about the page of a URL. All fields but the first may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivedPage<'t> {
    /// The URL, as the record has it.
    pub url: &'t [u8],
    /// A digest of the content: that of the record, or one of the decoded body.
    pub digest: Cow<'t, [u8]>,
    /// The URL that the page names as its canonical one.
    pub canonical: Cow<'t, [u8]>,
    /// The URL that it redirects to.
    pub location: &'t [u8],
    /// The lists of parameters without meaning that a robots.txt declares, each of names with `&` between them.
    pub clean: Vec<Vec<u8>>,
}

/// What a record about a URL is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Archived<'t> {
    /// A page, or a redirect.
    Page(ArchivedPage<'t>),
    /// An error, or the response of something that is not a web server.
    Other,
    /// Text or metadata that was made of a response, as archives called WET and WAT have.
    Derived,
}

/// Bytes of a body that are decoded: a thread needs a few times as many, beside the record. A larger one says nothing by its content.
const MOST_DECODED: usize = 4 << 20;

/// Calls `each` for the responses and resources of the archive `text`, which begins with a record, and for what was made of some;
/// returns the number of places that are not records.
pub fn archived_pages(text: &[u8], each: &mut dyn FnMut(&Archived<'_>)) -> u64 {
    let (mut at, mut broken) = (after_ends(text, 0), 0);
    while at < text.len() {
        match extent(&text[at..]) {
            Extent::Record(record) => {
                let end = at.saturating_add(record.block_end).min(text.len());
                let block = &text[(at + record.block).min(end)..end];
                // What was cut off has another content than the page.
                let is_whole = at.saturating_add(record.block_end) <= text.len();
                broken += u64::from(!is_whole);
                if let Some(found) = archived(&record, block).filter(|_| is_whole) {
                    each(&found);
                }
                at = after_ends(text, at.saturating_add(record.end()));
            }
            Extent::Broken | Extent::Open => {
                broken += u64::from(!text[at..].iter().all(u8::is_ascii_whitespace));
                at = next_record(text, at).unwrap_or(text.len());
            }
        }
    }
    broken
}

/// What a record is; `None` if it says nothing of a URL, as requests.
fn archived<'t>(record: &WarcRecord<'t>, block: &'t [u8]) -> Option<Archived<'t>> {
    let url = record.target()?;
    let (kind, media) = record.kind(block);
    let is = |name: &[u8]| kind.eq_ignore_ascii_case(name);
    let digest = field(record.header, b"warc-payload-digest").unwrap_or_default();
    let page = match (is(b"resource"), is(b"revisit"), is(b"response")) {
        (true, ..) => Some(of_content(url, digest, media, &Body::whole(block))),
        (_, true, _) if block.is_empty() => Some(of_digest(url, digest)),
        // Some writers name another type.
        (_, is_revisit, is_response) if is_revisit || is_response => {
            let is_http = has_prefix(media, b"application/http") || block.starts_with(b"HTTP/");
            is_http.then(|| of_message(url, digest, is_revisit, block)).flatten()
        }
        _ if is(b"conversion") || is(b"metadata") => return Some(Archived::Derived),
        _ => return None,
    };
    // A digest of what was left of the content is not that of the content. A revisit has the digest of another record, and leaves out the
    // content, which some writers call truncated.
    let is_cut = !is(b"revisit")
        && field(record.header, b"warc-truncated").is_some_and(|why| !why.is_empty());
    let page = page.map(|page| match is_cut {
        true => ArchivedPage { digest: Cow::Borrowed(b""), ..page },
        false => page,
    });
    Some(page.map_or(Archived::Other, Archived::Page))
}

/// The page of the message of HTTP in `block`, if it has one.
fn of_message<'t>(
    url: &'t [u8],
    digest: &'t [u8],
    is_revisit: bool,
    block: &'t [u8],
) -> Option<ArchivedPage<'t>> {
    let (header_len, start) = header_end(block).unwrap_or((block.len(), block.len()));
    let (header, payload) = (&block[..header_len], &block[start..]);
    match status(header)? {
        300..=399 => {
            let location = field(header, b"location").filter(|value| !value.is_empty())?;
            Some(ArchivedPage { url, location, ..ArchivedPage::default() })
        }
        200 if is_revisit => Some(of_digest(url, digest)),
        200 => {
            let body = Body::of(header, payload);
            let page = of_content(url, digest, media_type(header).0, &body);
            let mut links = link_headers(header);
            if !links.is_empty() {
                links.extend(Some(page.canonical.to_vec()).filter(|href| !href.is_empty()));
                return Some(ArchivedPage { canonical: only(url, links).into(), ..page });
            }
            Some(page)
        }
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

fn of_digest<'t>(url: &'t [u8], digest: &'t [u8]) -> ArchivedPage<'t> {
    ArchivedPage { url, digest: digest.into(), ..ArchivedPage::default() }
}

/// The page whose content, of this `media` type, is `body`.
fn of_content<'t>(
    url: &'t [u8],
    digest: &'t [u8],
    media: &[u8],
    body: &Body<'_>,
) -> ArchivedPage<'t> {
    let text = &body.text[..];
    let is_page = Sort::of(media) == Some(Sort::Page);
    let canonical = if is_page { link_element(url, text) } else { Vec::new() };
    let canonical = Cow::Owned(canonical);
    let clean = if is_robots(url) { clean_params(text) } else { Vec::new() };
    ArchivedPage { url, digest: own_digest(digest, body), canonical, location: b"", clean }
}

/// `digest`, or one of `body` if there is none; nothing for no content, and for one that is not whole.
fn own_digest<'t>(digest: &'t [u8], body: &Body<'_>) -> Cow<'t, [u8]> {
    match digest {
        _ if body.text.is_empty() => Cow::Borrowed(b""),
        b"" if !body.is_whole => Cow::Borrowed(b""),
        b"" => Cow::Owned(blake3::hash(&body.text).to_hex().as_bytes().to_vec()),
        digest => Cow::Borrowed(digest),
    }
}

/// A body without its codings; as it stands if they are unknown.
struct Body<'t> {
    text: Cow<'t, [u8]>,
    /// Whether nothing of it was cut off, or left out because it is too large.
    is_whole: bool,
}

impl<'t> Body<'t> {
    fn whole(text: &'t [u8]) -> Body<'t> {
        Body { text: Cow::Borrowed(text), is_whole: true }
    }

    /// That of the message with this `header`.
    fn of(header: &[u8], payload: &'t [u8]) -> Body<'t> {
        let (is_chunked, codings) = codings_of(header);
        let head = &payload[..payload.len().min(MOST_DECODED)];
        let plain = match unchunked(head).filter(|_| is_chunked) {
            Some((text, is_whole)) => {
                let is_whole = is_whole && head.len() == payload.len();
                Body { text: Cow::Owned(text), is_whole }
            }
            None => {
                let is_whole = !(codings.is_empty() && is_shorter(payload, header));
                Body { text: Cow::Borrowed(payload), is_whole }
            }
        };
        let sort = Sort::of(media_type(header).0);
        let is_like = |bytes: &[u8]| sort.is_some_and(|sort| sort.is_like(bytes));
        match coding::decoded(&codings, &plain.text, MOST_DECODED as u64, is_like) {
            Decoded::Made { text, is_whole } => {
                Body { text: Cow::Owned(text), is_whole: is_whole && plain.is_whole }
            }
            Decoded::Plain | Decoded::Unknown => plain,
        }
    }
}

/// The only one of `links` in the page of `url`; nothing if there are several that differ, which search engines ignore, too.
fn only(url: &[u8], mut links: Vec<Vec<u8>>) -> Vec<u8> {
    links.dedup();
    let first = links.first().map(|link| absolute(url, link));
    match links.iter().all(|link| Some(absolute(url, link)) == first) {
        true => links.into_iter().next().unwrap_or_default(),
        false => Vec::new(),
    }
}

/// `reference` in a document of `base`; as it is if it cannot be resolved.
fn absolute(base: &[u8], reference: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let resolver = BaseUri::new(base).map(|base| Resolver::new(base, Options::default()));
    match resolver.map(|mut resolver| resolver.resolve_into(reference, &mut out)) {
        Ok(Ok(_)) => out,
        _ => reference.to_vec(),
    }
}

/// The targets of `Link: <target>; rel="canonical"` in `header` that are about its own page.
fn link_headers(header: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
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
            let mut params = params.split(|&byte| byte == b';');
            let is_anchor =
                |param: &[u8]| param.trim_ascii().to_ascii_lowercase().starts_with(b"anchor");
            if params.clone().any(is_canonical) && !params.any(is_anchor) {
                found.push(target.trim_ascii().to_vec());
            }
        }
    }
    found
}

/// Whether one of the words of a `rel` is `canonical`.
fn has_canonical(rel: &[u8]) -> bool {
    let words = rel.split(|byte| byte.is_ascii_whitespace() || b"\"',".contains(byte));
    words.into_iter().any(|word| word.eq_ignore_ascii_case(b"canonical"))
}

/// The `href` of the only `<link rel=canonical>` in the head of the page of `url`, as the base of the page makes it.
fn link_element(url: &[u8], page: &[u8]) -> Vec<u8> {
    let page = &page[..head_end(page)];
    let mut found =
        Canonical { page, hrefs: Vec::new(), base: None, is_over: false, is_in_template: false };
    start_tags(page, &mut found);
    let Canonical { mut hrefs, base, .. } = found;
    if let Some(base) = base {
        let base = absolute(url, &base);
        hrefs = hrefs.iter().map(|href| absolute(&base, href)).collect();
    }
    only(url, hrefs)
}

/// Where the end tag of a head begins, if there is one: an element after it is not in the head.
fn head_end(page: &[u8]) -> usize {
    const TAG: &[u8] = b"</head";
    let mut starts = memchr::memchr_iter(b'<', page);
    starts.find(|&at| has_prefix(&page[at..], TAG)).unwrap_or(page.len())
}

/// Canonical links of a page that are compared.
const MOST_LINKS: usize = 16;

/// Looks for a canonical link.
struct Canonical<'t> {
    page: &'t [u8],
    hrefs: Vec<Vec<u8>>,
    base: Option<Vec<u8>>,
    /// The head ends before what comes.
    is_over: bool,
    /// What comes is in a template, which is not part of the page.
    is_in_template: bool,
}

/// The elements of a head. Any other one ends it.
const OF_HEAD: [&[u8]; 12] =
    byte_words("base basefont bgsound head html link meta noframes noscript script style title");

impl<'t> Tags<'t> for Canonical<'t> {
    fn skip(&mut self, at: usize) -> usize {
        if self.is_over {
            return self.page.len();
        }
        if !std::mem::take(&mut self.is_in_template) {
            return at;
        }
        let end = after_template(&self.page[at..]);
        end.map_or(self.page.len(), |end| at + end)
    }

    fn matters(&self, tag: &[u8], attribute: &[u8]) -> bool {
        let is = |name: &[u8]| attribute.eq_ignore_ascii_case(name);
        tag.eq_ignore_ascii_case(b"link") && (is(b"rel") || is(b"href"))
            || tag.eq_ignore_ascii_case(b"base") && is(b"href")
    }

    fn start(&mut self, name: &'t [u8], attributes: &[Attribute<'t>]) {
        let is = |element: &[u8]| name.eq_ignore_ascii_case(element);
        let value = |name: &[u8]| {
            let found = attributes.iter().find(|it| it.name.eq_ignore_ascii_case(name));
            found.map_or(&b""[..], |attribute| attribute.value)
        };
        self.is_in_template = is(b"template");
        self.is_over |= !self.is_in_template && !OF_HEAD.iter().any(|element| is(element));
        if is(b"link") && has_canonical(value(b"rel")) {
            let href = attribute::decoded(value(b"href")).trim_ascii().to_vec();
            if !href.is_empty() && self.hrefs.len() < MOST_LINKS {
                self.hrefs.push(href);
            }
        } else if is(b"base") && self.base.is_none() {
            let href = attribute::decoded(value(b"href")).trim_ascii().to_vec();
            self.base = Some(href).filter(|href| !href.is_empty());
        }
    }
}

/// Where the `<` is with which `text`, in a template, goes on after it; templates may be within it.
fn after_template(text: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (1, 0);
    loop {
        at += memchr::memchr(b'<', &text[at..])?;
        let rest = &text[at + 1..];
        if depth == 0 {
            return Some(at);
        }
        depth = match (has_prefix(rest, b"/template"), has_prefix(rest, b"template")) {
            (true, _) => depth - 1,
            (_, true) => depth + 1,
            _ => depth,
        };
        at += 1;
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

    #[test]
    fn a_canonical_link_counts_in_the_head_if_it_is_the_only_one() {
        let link = "<link rel=canonical href=/a>";
        for (page, expected) in [
            (link.to_owned(), "/a"),
            (format!("<html><head><title><p></title><script>'<p>'</script>{link}"), "/a"),
            (format!("<!-- <p> --><META name=a>{link}{link}<p>"), "/a"),
            (format!("{link}<link rel=canonical href=/b>"), ""),
            (format!("{link}<body><link rel=canonical href=/b>"), "/a"),
            (format!("<link rel=canonical href=''>{link}"), "/a"),
            (format!("<template>{link}</template>"), ""),
            (format!("<template><link rel=canonical href=/b></TEMPLATE>{link}"), "/a"),
            (format!("<template><template></template><p>{link}</template>"), ""),
            (format!("<template><template></template></template>{link}"), "/a"),
            (format!("<template>{link}"), ""),
            (format!("<svg>{link}</svg>"), ""),
            (format!("<p>{link}"), ""),
            (format!("</head>{link}"), ""),
            (format!("<head></HEAD><body></body></html>{link}"), ""),
            ("<base href=/v/><link rel=canonical href=p>".to_owned(), "http://h/v/p"),
            ("<link rel=canonical href=p><base href=http://i/x>".to_owned(), "http://i/p"),
            (format!("{link}<link rel=canonical href=http://h/a>"), "/a"),
            (format!("<div hidden>{link}</div>"), ""),
            (format!("<noscript>{link}</noscript>"), "/a"),
            (format!("<!--{link}-->"), ""),
            (format!("<script>{link}</script>"), ""),
            (format!("<textarea>{link}</textarea>"), ""),
        ] {
            let found = link_element(b"http://h/", page.as_bytes());
            assert_eq!(String::from_utf8_lossy(&found), expected, "{page}");
        }
    }

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
        let broken = archived_pages(archive.as_bytes(), &mut |archived| {
            let Archived::Page(page) = archived else { return };
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
    fn a_body_that_expands_is_decoded_in_part_and_says_nothing_by_its_content() {
        use std::io::Write;
        let page = "<link rel=canonical href=/a>".to_owned() + &" ".repeat(20 << 20);
        let coding = flate2::Compression::fast();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), coding);
        gzip.write_all(page.as_bytes()).unwrap();
        let coded = gzip.finish().unwrap();
        let header =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n";
        let body = Body::of(header, &coded);
        assert_eq!((body.text.len(), body.is_whole), (MOST_DECODED, false));
        let found = of_content(b"http://h/b", b"", b"text/html", &body);
        assert_eq!((&*found.digest, &*found.canonical), (&b""[..], &b"/a"[..]));
        // A digest of the archive is that of all of it.
        let found = of_content(b"http://h/b", b"sha1:B", b"text/html", &Body::of(header, &coded));
        assert_eq!(&*found.digest, b"sha1:B");
        let chunks = format!("{:x}\r\n{page}\r\n0\r\n\r\n", page.len());
        let body =
            Body::of(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunks.as_bytes());
        assert!(body.text.len() <= MOST_DECODED && !body.is_whole);
        let cut = Body::of(header, &coded[..coded.len() / 8]);
        assert!(!cut.is_whole && !cut.text.is_empty());
    }

    #[test]
    fn responses_of_any_type_are_found_and_those_without_a_page_too() {
        let of_type = |kind: &str, media: &str, block: &str| {
            record(kind, "http://h/a", "", block)
                .replace("application/http;msgtype=response", media)
        };
        let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nx";
        let link = "<link rel=canonical href=/b>";
        let archive = [
            of_type("response", "application/octet-stream", page),
            of_type("response", "text/dns", "20261127 h. 60 IN A 192.0.2.1"),
            of_type("response", "application/http", "HTTP/1.1 404 Not Found\r\n\r\nx"),
            of_type("response", "application/http", "no header"),
            of_type("resource", "text/html", link),
            of_type("metadata", "application/warc-fields", "via: http://h/"),
            of_type("request", "application/http", "GET / HTTP/1.1\r\n\r\n"),
            of_type("conversion", "text/plain", "text"),
        ];
        let mut found = Vec::new();
        archived_pages(archive.concat().as_bytes(), &mut |it| {
            found.push(match it {
                Archived::Page(page) => (page.digest.len(), page.canonical.to_vec()),
                Archived::Other => (0, b"other".to_vec()),
                Archived::Derived => (0, b"derived".to_vec()),
            });
        });
        let other = (0, b"other".to_vec());
        let resource = (64, b"/b".to_vec());
        let derived = (0, b"derived".to_vec());
        let mut expected = vec![(64, Vec::new()), other.clone(), other.clone(), other, resource];
        expected.extend([derived.clone(), derived]);
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_cut_off_or_broken_is_counted_and_says_nothing() {
        let whole = record("response", "http://h/a", "sha1:A", "HTTP/1.1 200 OK\r\n\r\nlong body");
        let cut = &whole[..whole.len() - 9];
        assert_eq!(pages(cut), (Vec::new(), 1));
        assert_eq!(pages(&format!("noise\r\n{whole}")).0.len(), 1);
        assert_eq!(pages("").1, 0);
    }

    #[test]
    fn the_digest_of_a_revisit_counts_though_its_content_is_left_out() {
        for block in ["", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"] {
            let revisit = record("revisit", "http://h/a", "sha1:A", block);
            let cut = revisit.replacen("WARC-Type", "WARC-Truncated: length\r\nWARC-Type", 1);
            let mut found = Vec::new();
            archived_pages(cut.as_bytes(), &mut |archived| {
                if let Archived::Page(page) = archived {
                    found.push(page.digest.to_vec());
                }
            });
            assert_eq!(found, [b"sha1:A"], "{block}");
        }
    }

    #[test]
    fn a_body_that_was_cut_off_when_it_was_archived_says_nothing_by_its_content() {
        let short = record(
            "response",
            "http://h/a",
            "",
            "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nthe beginning",
        );
        let cut =
            |record: String| record.replacen("WARC-Type", "WARC-Truncated: length\r\nWARC-Type", 1);
        let body = "HTTP/1.1 200 OK\r\n\r\nthe beginning";
        for archive in [
            short,
            cut(record("response", "http://h/a", "", body)),
            cut(record("response", "http://h/a", "sha1:A", body)),
        ] {
            let (found, broken) = pages(&archive);
            assert_eq!((&*found[0][0], &*found[0][1], broken), ("http://h/a", "", 0), "{archive}");
        }
    }
}
