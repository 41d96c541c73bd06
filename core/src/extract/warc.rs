//! Records of a WARC archive (ISO 28500), versions 0.17 to 1.1, or of an ARC archive, and the links in them.

mod pages;

use super::arc;
use super::body::{Sort, body, decoded_body, is_media};
use super::charset;
use super::coding::{self, Decoded};
use super::fault::{BodyFault, Document, LONGEST_BASE};
use super::how::How;
use super::{Context, ExtractorOptions, Fault, Links, page, sniff};
use crate::chunk::{Padded, Span};
use crate::grammar::has_prefix;

pub use pages::{Archived, ArchivedPage, archived_pages};

/// One record: its header fields and the position of its block.
#[derive(Debug)]
pub struct WarcRecord<'t> {
    header: &'t [u8],
    /// That of an ARC archive.
    line: Option<arc::Line<'t>>,
    /// Offset of the block from the first byte of the record.
    block: usize,
    /// Offset after the block. Line ends follow, which are read before the next record: two, in an ARC archive one, but some writers
    /// count them with the block, and others leave more.
    block_end: usize,
}

/// Maximum size of a header in bytes.
const LONGEST_HEADER: usize = 1 << 20;

/// The extent of a record, according to its header.
pub enum Extent<'t> {
    /// The header is incomplete.
    Open,
    /// No record begins here.
    Broken,
    /// A record, whose block may extend past the text.
    Record(WarcRecord<'t>),
}

/// Bytes of line ends before a record, at most.
const MOST_ENDS: usize = 64;

/// The offset in `text` after the line ends at `at`.
pub fn after_ends(text: &[u8], at: usize) -> usize {
    let is_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
    let rest = text.get(at..).unwrap_or_default();
    at.saturating_add(rest.iter().take(MOST_ENDS).take_while(is_end).count())
}

/// What `text` begins with.
pub fn extent(text: &[u8]) -> Extent<'_> {
    if !is_begin(text) && !may_begin(text) {
        return match arc::begins(text) {
            arc::Begins::Record(line) => WarcRecord::of_line(text, line),
            arc::Begins::Open => Extent::Open,
            arc::Begins::Other => Extent::Broken,
        };
    }
    let head = &text[..text.len().min(LONGEST_HEADER)];
    let mut ends = memchr::memchr_iter(b'\n', head);
    let (header_end, block) = loop {
        let Some(at) = ends.next() else {
            return if head.len() == LONGEST_HEADER { Extent::Broken } else { Extent::Open };
        };
        if let Some(block) = after_empty_line(head, at) {
            break (at + 1, block);
        } else if is_begin(&head[at + 1..]) {
            // The next record begins before the end of the header.
            return Extent::Broken;
        }
    };
    let header = &text[..header_end];
    let length =
        field(header, b"content-length").and_then(|value| str::from_utf8(value).ok()?.parse().ok());
    match length.and_then(|length: usize| block.checked_add(length)) {
        Some(block_end) => Extent::Record(WarcRecord { header, line: None, block, block_end }),
        None => Extent::Broken,
    }
}

/// What records begin with, before a version. Version 0.17 is the first with these headers.
const MAGIC: &[u8] = b"WARC/";

/// Whether a record of a WARC archive begins `text`. Later versions than those that are known are read like these.
fn is_begin(text: &[u8]) -> bool {
    let Some(version) = text.strip_prefix(MAGIC) else { return false };
    let major = version.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match &version[major..] {
        [b'.', ..] if version.starts_with(b"0") => {
            version.starts_with(b"0.17") || version.starts_with(b"0.18")
        }
        [b'.', minor, ..] => major > 0 && minor.is_ascii_digit(),
        _ => false,
    }
}

/// Whether a record may begin with `text`, the last bytes that are there.
fn may_begin(text: &[u8]) -> bool {
    /// Bytes of a version that decide.
    const LONGEST: usize = 5;
    match text.strip_prefix(MAGIC) {
        Some(version) => {
            let is_of_it = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
            version.len() <= LONGEST && version.iter().all(is_of_it)
        }
        None => MAGIC.starts_with(text),
    }
}

/// Whether a source that begins with `head` is a WARC or an ARC archive.
pub fn is_archive(head: &[u8]) -> bool {
    is_begin(head)
        || head.starts_with(b"filedesc://") && matches!(arc::begins(head), arc::Begins::Record(_))
}

/// The length of the header fields at the start of `text`, and the offset after the empty line.
fn header_end(text: &[u8]) -> Option<(usize, usize)> {
    memchr::memchr_iter(b'\n', text)
        .find_map(|at| after_empty_line(text, at).map(|block| (at + 1, block)))
}

/// The offset after the empty line that follows the line end at `at`, if there is one.
fn after_empty_line(text: &[u8], at: usize) -> Option<usize> {
    match &text[at + 1..] {
        [b'\r', b'\n', ..] => Some(at + 3),
        [b'\n', ..] => Some(at + 2),
        _ => None,
    }
}

/// The value of the field `name`, given in lower case, of `header`, trimmed.
pub(crate) fn field<'t>(header: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    sniff::lines(header).find_map(|line| value_of(line, name))
}

/// The media type that the fields `Content-Type` of `header` name, and its character set: of several, the last one that is a type counts,
/// with the character set of an earlier one of the same type if it has none (the Fetch Standard, "extract a MIME type").
fn media_type(header: &[u8]) -> (&[u8], charset::Declared) {
    let essence = |value: &[u8]| {
        let end = memchr::memchr(b';', value).unwrap_or(value.len());
        value[..end].trim_ascii().to_ascii_lowercase()
    };
    let (mut media, mut charset) = (&b""[..], None);
    let values = sniff::lines(header).filter_map(|line| value_of(line, b"content-type"));
    for value in values.flat_map(|value| value.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii)
    {
        let is_type = memchr::memchr(b'/', &essence(value)).is_some_and(|at| at > 0);
        if !is_type && !media.is_empty() || essence(value) == b"*/*" {
            continue;
        }
        let own = charset::of_content_type(value);
        charset = own.or(charset.filter(|_| essence(value) == essence(media)));
        media = value;
    }
    (media, charset)
}

/// The value of the field on `line` if this is its name.
fn value_of<'t>(line: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    // Most lines already differ in the byte in place of the `:`.
    let (typed, value) = (line.get(..name.len())?, line.get(name.len() + 1..)?);
    (line[name.len()] == b':' && typed.eq_ignore_ascii_case(name)).then(|| value.trim_ascii())
}

impl<'t> WarcRecord<'t> {
    /// The record of an ARC archive that `line` begins.
    fn of_line(text: &'t [u8], line: arc::Line<'t>) -> Extent<'t> {
        match line.block.checked_add(line.length) {
            Some(block_end) => Extent::Record(WarcRecord {
                header: &text[..line.block],
                line: Some(line),
                block: line.block,
                block_end,
            }),
            None => Extent::Broken,
        }
    }

    /// The offset after the record, and before the line ends that follow it.
    pub fn end(&self) -> usize {
        self.block_end
    }

    /// The type of the record, and the media type of its `block`.
    fn kind(&self, block: &[u8]) -> (&'t [u8], &'t [u8]) {
        match &self.line {
            None => (
                field(self.header, b"warc-type").unwrap_or_default(),
                field(self.header, b"content-type").unwrap_or_default(),
            ),
            Some(_) if block.starts_with(b"HTTP/") => (b"response", b"application/http"),
            Some(line) if line.url.starts_with(b"filedesc:") => (b"warcinfo", line.media),
            Some(line) => (b"resource", line.media),
        }
    }

    /// The target URI of the record.
    fn target(&self) -> Option<&'t [u8]> {
        if let Some(line) = &self.line {
            return Some(line.url).filter(|url| !url.starts_with(b"filedesc:"));
        }
        let target = field(self.header, b"warc-target-uri")?;
        // Some writers follow an early draft and enclose it in `<` and `>`.
        Some(
            target
                .strip_prefix(b"<")
                .and_then(|target| target.strip_suffix(b">"))
                .unwrap_or(target),
        )
    }
}

/// Offset of the first record in `text` from `from` on.
pub fn next_record(text: &[u8], from: usize) -> Option<usize> {
    let starts = memchr::memchr_iter(b'\n', text.get(from..)?).map(|at| from + at + 1);
    starts.into_iter().find(|&at| {
        is_begin(&text[at..]) || matches!(arc::begins(&text[at..]), arc::Begins::Record(_))
    })
}

/// The end of the garbage in `text`: where a record begins, or may begin at the end of `text`.
pub fn garbage_end(text: &[u8]) -> Option<usize> {
    next_record(text, 0).or_else(|| {
        let last = memchr::memrchr(b'\n', text)?;
        let rest = &text[last + 1..];
        (may_begin(rest) || matches!(arc::begins(rest), arc::Begins::Open)).then_some(last)
    })
}

/// Appends the links of the records of `text`: those in pages and texts, or the target URIs of the
/// records if `only_targets`. Garbage is counted and skipped.
pub(crate) fn records(how: How<'_>, text: Padded<'_>, links: &mut Links) {
    let content = text.content();
    let mut at = after_ends(content, 0);
    while at < content.len() && !links.is_full(at) {
        match extent(&content[at..]) {
            Extent::Record(record) => {
                let end = at.saturating_add(record.block_end);
                let is_cut = end > content.len();
                let end = end.min(content.len());
                let block = Span { start: (at + record.block).min(end) as u32, end: end as u32 };
                if !one(how, text, at, &record, block, links) {
                    return links.leave(at);
                }
                if is_cut {
                    // The archive is truncated here; the rest of the block was searched.
                    links.omitted.broken += 1;
                }
                at = after_ends(content, at.saturating_add(record.end()));
            }
            Extent::Broken | Extent::Open => {
                // Some writers leave more line ends after a record.
                if !content[at..].iter().all(u8::is_ascii_whitespace) {
                    links.omitted.broken += 1;
                }
                at = next_record(content, at).unwrap_or(content.len());
            }
        }
    }
}

/// Searches a record; returns whether it was, and not left for later.
fn one(
    how: How<'_>,
    text: Padded<'_>,
    at: usize,
    record: &WarcRecord<'_>,
    block: Span,
    links: &mut Links,
) -> bool {
    let target = record.target();
    let (kind, media) = record.kind(block.of(text.content()));
    let ExtractorOptions { warc_types, media_types, .. } = how.options;
    let is_type = |name: &String| name.as_bytes().eq_ignore_ascii_case(kind);
    if !warc_types.is_empty() && !warc_types.iter().any(is_type) {
        return true;
    }
    if !media_types.is_empty() && !has_media(media_types, media, block.of(text.content())) {
        return true;
    }
    if how.options.warc_targets {
        if let Some(target) = target {
            let start = target.as_ptr().addr() - text.content().as_ptr().addr();
            let span = Span { start: start as u32, end: (start + target.len()) as u32 };
            how.absolute_to(None).push(target, span, Context::Target, links);
        }
        return true;
    }
    let is = |name: &[u8]| kind.eq_ignore_ascii_case(name);
    let found = Record { how, text, at: at as u32, target };
    if is(b"response") && has_prefix(media, b"application/http") {
        return found.response(block, links);
    } else if (is(b"resource") || is(b"conversion") || is(b"metadata"))
        && let Some(sort) = Sort::of(media)
    {
        let sort = (sort, charset::of_content_type(media));
        found.search(block.len(), links, |how, links| body(how, (text, block), sort, links));
    }
    true
}

/// A record that is searched.
struct Record<'a> {
    how: How<'a>,
    text: Padded<'a>,
    /// Where it begins.
    at: u32,
    /// Its own URI.
    target: Option<&'a [u8]>,
}

/// Whether a record of type `media` with this `block` is of one of `types`: if it is a message of
/// HTTP, its body.
fn has_media(types: &[String], media: &[u8], block: &[u8]) -> bool {
    let media = match header_end(block).filter(|_| has_prefix(media, b"application/http")) {
        Some((header_len, _)) => media_type(&block[..header_len]).0,
        None => media,
    };
    is_media(types, media)
}

impl Record<'_> {
    /// Searches a document of `len` bytes with `find`, which gets its base: the URI of the record, unless that is too long,
    /// which is counted if there are references.
    fn search(&self, len: usize, links: &mut Links, find: impl FnOnce(How<'_>, &mut Links)) {
        let target = self.target.unwrap_or_default();
        let document = || Document { at: Some(self.at), target: Fault::shown(target) };
        links.search(document, len, |links| {
            let before = links.relative();
            let base = self.target.filter(|target| target.len() <= LONGEST_BASE);
            find(self.how.with_base(base), links);
            if target.len() > LONGEST_BASE && links.relative() > before {
                links.count_base(target.len());
            }
        });
    }

    /// Searches the HTTP response at `block`; returns whether it was, and not left for later.
    fn response(&self, block: Span, links: &mut Links) -> bool {
        let text = self.text;
        let message = block.of(text.content());
        // A header that breaks off has links, too.
        let end = header_end(message);
        let (header_len, start) = end.unwrap_or((message.len(), message.len()));
        let header = &message[..header_len];
        let (media, charset) = media_type(header);
        let payload = Span { start: block.start + start as u32, end: block.end };
        let decoded =
            Sort::of(media).map(|sort| (sort, self.decoded(header, payload, sort, links)));
        if matches!(decoded, Some((_, Body::Left))) {
            return false;
        }
        if end.is_none() && !message.is_empty() {
            links.count_fault(Fault::of_body(self.at, b"", self.target, BodyFault::Partial));
        }
        self.search(header_len, links, |how, links| {
            header_links(how, (header, block.start), links);
        });
        match decoded {
            Some((sort, Body::Plain)) => self.search(payload.len(), links, |how, links| {
                body(how, (text, payload), (sort, charset), links);
            }),
            // Decoded from the payload; its links get that position.
            Some((sort, Body::Made(plain, is_whole))) => {
                self.search(plain.len(), links, |how, links| {
                    decoded_body(how, (plain, !is_whole), (sort, charset), payload, links);
                });
            }
            Some((_, Body::Left | Body::Unknown)) | None => {}
        }
        true
    }

    /// The body at `payload`, without its codings; faults in them are counted.
    fn decoded(&self, header: &[u8], payload: Span, sort: Sort, links: &mut Links) -> Body {
        let (is_chunked, codings) = codings_of(header);
        let codings = &codings[..];
        let bytes = payload.of(self.text.content());
        let whole = if is_chunked { unchunked(bytes) } else { None };
        let is_cut = match &whole {
            Some((_, is_whole)) => !is_whole,
            None => codings.is_empty() && is_shorter(bytes, header),
        };
        let whole = whole.map(|(whole, _)| whole);
        let coded = whole.as_deref().unwrap_or(bytes);
        if !links.is_alone() && memchr::memchr(b',', codings).is_some() {
            // Each of several codings may expand.
            return Body::Left;
        }
        let times = self.how.options.max_expansion.unwrap_or(MAX_EXPANSION);
        let allowed = (coded.len() as u64).saturating_mul(times).clamp(SMALL, coding::MOST);
        let most = if links.is_alone() { allowed } else { allowed.min(LARGE) };
        let (body, fault) = match coding::decoded(codings, coded, most, |it| sort.is_like(it)) {
            Decoded::Plain => (whole.map_or(Body::Plain, |whole| Body::Made(whole, !is_cut)), None),
            Decoded::Made { is_whole: true, text } => (Body::Made(text, !is_cut), None),
            Decoded::Made { text, .. } if text.len() as u64 == most && most < allowed => {
                return Body::Left;
            }
            Decoded::Made { text, .. } => {
                let is_over = text.len() as u64 == allowed && allowed < coding::MOST;
                let what = if is_over { BodyFault::Expands(times) } else { BodyFault::Partial };
                (Body::Made(text, false), Some(what))
            }
            Decoded::Unknown => (Body::Unknown, Some(BodyFault::Unknown)),
        };
        if let Some(what) = fault.or(is_cut.then_some(BodyFault::Partial)) {
            links.count_fault(Fault::of_body(self.at, codings, self.target, what));
        }
        body
    }
}

/// A body without its codings.
enum Body {
    /// As it stands.
    Plain,
    /// Decoded, and whether it is whole.
    Made(Vec<u8>, bool),
    /// It cannot be decoded.
    Unknown,
    /// It is large, and left for later.
    Left,
}

/// Bytes of decoded bodies that are many at a time, each of which is searched alone.
const LARGE: u64 = 2 << 20;

/// How many times its coded bytes a body may have, unless [`ExtractorOptions::max_expansion`] says so, and how many bytes
/// it may have in any case.
const MAX_EXPANSION: u64 = 256;
const SMALL: u64 = 1 << 20;

/// Adds the links in the `header` of a response, which is at an offset of the text: those of
/// `Location` and `Content-Location` (RFC 9110 sections 10.2.2 and 8.7), `Link` (RFC 8288) and `Refresh`.
fn header_links(how: How<'_>, (header, at): (&[u8], u32), links: &mut Links) {
    let mut absolute = None;
    let mut push = |typed: &[u8], context| {
        let absolute = absolute.get_or_insert_with(|| how.absolute());
        let start = at + (typed.as_ptr().addr() - header.as_ptr().addr()) as u32;
        let span = Span { start, end: start + typed.len() as u32 };
        absolute.push(typed, span, context, links);
    };
    for line in sniff::lines(header)
        .filter(|line| line.first().is_some_and(|byte| b"lLrRcC".contains(byte)))
    {
        if let Some(location) = value_of(line, b"location").filter(|value| !value.is_empty()) {
            push(location, Context::Location);
        } else if let Some(value) = value_of(line, b"link") {
            each_link(value, |one| push(one, Context::Link));
        } else if let Some(one) = value_of(line, b"refresh").and_then(page::refresh) {
            push(one, Context::Refresh);
        } else if let Some(value) = value_of(line, b"content-location").filter(|it| !it.is_empty())
        {
            push(value, Context::ContentLocation);
        }
    }
}

/// Calls `found` with each target of the field `Link`: `<target>; name="value", ...`.
pub(super) fn each_link<'t>(value: &'t [u8], mut found: impl FnMut(&'t [u8])) {
    let mut rest = value;
    while let Some(target) = rest.trim_ascii_start().strip_prefix(b"<") {
        let Some(close) = memchr::memchr(b'>', target) else { return };
        found(&target[..close]);
        rest = &target[close + 1..];
        // The comma that ends it, but not one in a quoted value.
        let mut is_quoted = false;
        let end = rest.iter().position(|&byte| {
            is_quoted ^= byte == b'"';
            byte == b',' && !is_quoted
        });
        rest = end.map_or(&[], |end| &rest[end + 1..]);
    }
}

/// Whether the body of a response with this `header` is chunked, and its other codings, in the order in which they were
/// applied: those of the content, and those of the transfer.
fn codings_of(header: &[u8]) -> (bool, Vec<u8>) {
    let mut codings = field(header, b"content-encoding").unwrap_or_default().to_vec();
    let transfer = field(header, b"transfer-encoding").unwrap_or_default();
    let mut names = transfer.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).peekable();
    while let Some(name) = names.next() {
        // It may have parameters.
        if names.peek().is_none() && has_prefix(name, b"chunked") {
            return (true, codings);
        }
        if !name.is_empty() && !name.eq_ignore_ascii_case(b"identity") {
            codings.extend_from_slice(if codings.is_empty() { b"" } else { b", " });
            codings.extend_from_slice(name);
        }
    }
    (false, codings)
}

/// Whether a body that is neither chunked nor coded lacks bytes that its `header` announces. A response to `HEAD` has none.
fn is_shorter(body: &[u8], header: &[u8]) -> bool {
    let announced = field(header, b"content-length").and_then(|text| str::from_utf8(text).ok());
    let announced: Option<u64> = announced.and_then(|text| text.parse().ok());
    !body.is_empty() && announced.is_some_and(|announced| (body.len() as u64) < announced)
}

/// `bytes` without the chunked transfer coding (RFC 9112 section 7.1), and whether its last chunk is there; `None` if they are
/// not chunked, as in archives that were decoded but kept the header. What follows a fault is taken as it is.
fn unchunked(bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let line = memchr::memchr(b'\n', rest);
        let size = rest[..line.unwrap_or(rest.len())].split(|&byte| byte == b';').next()?;
        let size = str::from_utf8(size.trim_ascii()).ok();
        let size = size.and_then(|size| usize::from_str_radix(size, 16).ok());
        let (size, end) = match (size, line) {
            (Some(0), _) => return Some((out, true)),
            (Some(size), Some(end)) => (size, end),
            _ if rest.len() == bytes.len() => return None,
            _ => {
                out.extend_from_slice(if line.is_some() { rest } else { b"" });
                return Some((out, false));
            }
        };
        rest = &rest[end + 1..];
        out.extend_from_slice(&rest[..size.min(rest.len())]);
        if size > rest.len() {
            return Some((out, false));
        }
        rest = &rest[size..];
        rest = rest.strip_prefix(b"\r").unwrap_or(rest);
        rest = rest.strip_prefix(b"\n").unwrap_or(rest);
    }
}

#[cfg(test)]
mod tests;
