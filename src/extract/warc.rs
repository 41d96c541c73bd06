//! Records of a WARC archive (ISO 28500), versions 1.0 and 1.1, and the links in them.

use super::body::{Sort, body, has_prefix, is_media};
use super::coding::{self, Decoded};
use super::reference::{self, Absolute};
use super::{Context, Extractor, ExtractorOptions, Fault, Links};
use crate::chunk::{Padded, PaddedBuf, Span};
use crate::simd::Kernels;

/// One record: its header fields and the position of its block.
#[derive(Debug)]
pub(crate) struct WarcRecord<'t> {
    header: &'t [u8],
    /// Offset of the block from the first byte of the record.
    block: usize,
    /// Offset after the block; two line ends follow.
    block_end: usize,
}

/// Maximum size of a header in bytes.
const LONGEST_HEADER: usize = 1 << 20;

/// The extent of a record, according to its header.
pub(crate) enum Extent<'t> {
    /// The header is incomplete.
    Open,
    /// No record begins here.
    Broken,
    /// A record, whose block may extend past the text.
    Record(WarcRecord<'t>),
}

/// What `text` begins with.
pub(crate) fn extent(text: &[u8]) -> Extent<'_> {
    const MAGIC: &[u8] = b"WARC/1.";
    if !text.starts_with(&MAGIC[..MAGIC.len().min(text.len())]) {
        return Extent::Broken;
    }
    let head = &text[..text.len().min(LONGEST_HEADER)];
    let mut ends = memchr::memchr_iter(b'\n', head);
    let (header_len, block) = loop {
        let Some(at) = ends.next() else {
            return if head.len() == LONGEST_HEADER { Extent::Broken } else { Extent::Open };
        };
        if let Some(block) = after_empty_line(head, at) {
            break (at + 1, block);
        } else if head[at..].starts_with(BEGIN) {
            // The next record begins before the end of the header.
            return Extent::Broken;
        }
    };
    let header = &text[..header_len];
    let length =
        field(header, b"content-length").and_then(|value| str::from_utf8(value).ok()?.parse().ok());
    match length.and_then(|length: usize| block.checked_add(length)) {
        Some(block_end) => Extent::Record(WarcRecord { header, block, block_end }),
        None => Extent::Broken,
    }
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
    lines(header).find_map(|line| value_of(line, name))
}

/// The lines of `header`.
fn lines(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', header).chain([header.len()]);
    ends.map(move |end| &header[core::mem::replace(&mut start, end + 1)..end])
}

/// The value of the field on `line` if this is its name.
fn value_of<'t>(line: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    // Most lines already differ in the byte in place of the `:`.
    let (typed, value) = (line.get(..name.len())?, line.get(name.len() + 1..)?);
    (line[name.len()] == b':' && typed.eq_ignore_ascii_case(name)).then(|| value.trim_ascii())
}

impl WarcRecord<'_> {
    /// The offset after the record and the two line ends that belong to it.
    pub(crate) fn end(&self) -> usize {
        self.block_end.saturating_add(4)
    }

    /// The target URI of the record.
    fn target(&self) -> Option<&[u8]> {
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

/// The beginning of a record, with the line end before it.
const BEGIN: &[u8] = b"\nWARC/1.";

/// Offset of the first record in `text` from `from` on.
pub(crate) fn next_record(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    memchr::memmem::find(rest, BEGIN).map(|at| from + at + 1)
}

/// The end of the garbage in `text`: where a record begins, or may begin at the end of `text`.
pub(crate) fn garbage_end(text: &[u8]) -> Option<usize> {
    next_record(text, 0).or_else(|| {
        let longest = (BEGIN.len() - 1).min(text.len());
        (1..=longest).rev().find(|&len| text.ends_with(&BEGIN[..len])).map(|len| text.len() - len)
    })
}

/// Appends the links of the records of `text`: those in pages and texts, or the target URIs of the
/// records if `only_targets`. Garbage is counted and skipped.
pub(crate) fn records(
    extractor: &Extractor,
    kernels: Kernels,
    text: Padded<'_>,
    links: &mut Links,
) {
    let content = text.content();
    let mut at = 0;
    while at < content.len() {
        match extent(&content[at..]) {
            Extent::Record(record) => {
                let end = at.saturating_add(record.block_end);
                if end > content.len() {
                    // The archive is truncated here; the rest of the block is searched.
                    links.count_broken();
                }
                let end = end.min(content.len());
                let block = Span { start: (at + record.block).min(end) as u32, end: end as u32 };
                one(extractor, kernels, text, at, &record, block, links);
                at = at.saturating_add(record.end());
            }
            Extent::Broken | Extent::Open => {
                // Some writers leave more line ends after a record.
                if !content[at..].iter().all(u8::is_ascii_whitespace) {
                    links.count_broken();
                }
                at = next_record(content, at).unwrap_or(content.len());
            }
        }
    }
}

fn one(
    extractor: &Extractor,
    kernels: Kernels,
    text: Padded<'_>,
    at: usize,
    record: &WarcRecord<'_>,
    block: Span,
    links: &mut Links,
) {
    let target = record.target();
    let kind = field(record.header, b"warc-type").unwrap_or_default();
    let media = field(record.header, b"content-type").unwrap_or_default();
    let ExtractorOptions { warc_types, media_types, .. } = extractor.options();
    let is_type = |name: &String| name.as_bytes().eq_ignore_ascii_case(kind);
    if !warc_types.is_empty() && !warc_types.iter().any(is_type) {
        return;
    }
    if !media_types.is_empty() && !has_media(media_types, media, block.of(text.content())) {
        return;
    }
    if extractor.options().warc_targets {
        if let Some(target) = target {
            let start = at + target.as_ptr().addr() - record.header.as_ptr().addr();
            let span = Span { start: start as u32, end: (start + target.len()) as u32 };
            let schemes = &extractor.finder().options().schemes;
            let mut absolute = Absolute::new(kernels, None);
            reference::push(schemes, &mut absolute, target, span, Context::Target, links);
        }
        return;
    }
    let is = |name: &[u8]| kind.eq_ignore_ascii_case(name);
    if is(b"response") && has_prefix(media, b"application/http") {
        response(extractor, kernels, text, at, block, target, links);
    } else if (is(b"resource") || is(b"conversion") || is(b"metadata"))
        && let Some(sort) = Sort::of(media)
    {
        body(extractor, kernels, (text, block), sort, target, links);
    }
}

/// Whether a record of type `media` with this `block` is of one of `types`: if it is a message of
/// HTTP, its body.
fn has_media(types: &[String], media: &[u8], block: &[u8]) -> bool {
    let media = match header_end(block).filter(|_| has_prefix(media, b"application/http")) {
        Some((header_len, _)) => field(&block[..header_len], b"content-type").unwrap_or_default(),
        None => media,
    };
    is_media(types, media)
}

/// Searches the HTTP response at `block`, of the record that begins at byte `at`.
fn response(
    extractor: &Extractor,
    kernels: Kernels,
    text: Padded<'_>,
    at: usize,
    block: Span,
    target: Option<&[u8]>,
    links: &mut Links,
) {
    let message = block.of(text.content());
    let Some((header_len, start)) = header_end(message) else { return };
    let header = &message[..header_len];
    header_links(extractor, kernels, (header, block.start), target, links);
    let media = field(header, b"content-type").unwrap_or_default();
    let payload = Span { start: block.start + start as u32, end: block.end };
    let is_chunked =
        field(header, b"transfer-encoding").is_some_and(|value| has_prefix(value, b"chunked"));
    let codings = field(header, b"content-encoding").unwrap_or_default();
    let Some(sort) = Sort::of(media) else { return };
    let bytes = payload.of(text.content());
    let whole = if is_chunked { unchunked(bytes) } else { None };
    let fault = |is_partial| Fault::of_body(at as u32, codings, target, is_partial);
    let coded = whole.as_deref().unwrap_or(bytes);
    let plain = match coding::decoded(codings, coded, coding::MOST, |bytes| sort.is_like(bytes)) {
        Decoded::Plain => whole,
        Decoded::Made { text, is_whole } => {
            if !is_whole {
                links.count_fault(fault(true));
            }
            Some(text)
        }
        Decoded::Unknown => return links.count_fault(fault(false)),
    };
    match plain {
        None => body(extractor, kernels, (text, payload), sort, target, links),
        Some(plain) => {
            // Decoded from the payload; its links get that position.
            let buf = PaddedBuf::from_content(&plain);
            let mut found = Links::new();
            let all = Span { start: 0, end: plain.len() as u32 };
            body(extractor, kernels, (buf.padded(), all), sort, target, &mut found);
            links.take_made(&found, &plain, |_| payload);
        }
    }
}

/// Adds the links in the `header` of a response, which is at an offset of the text: those of
/// `Location` (RFC 9110 section 10.2.2) and `Link` (RFC 8288).
fn header_links(
    extractor: &Extractor,
    kernels: Kernels,
    (header, at): (&[u8], u32),
    target: Option<&[u8]>,
    links: &mut Links,
) {
    let schemes = &extractor.finder().options().schemes;
    let mut absolute = None;
    let mut push = |typed: &[u8], context| {
        let absolute = absolute.get_or_insert_with(|| Absolute::new(kernels, target));
        let start = at + (typed.as_ptr().addr() - header.as_ptr().addr()) as u32;
        let span = Span { start, end: start + typed.len() as u32 };
        reference::push(schemes, absolute, typed, span, context, links);
    };
    for line in lines(header).filter(|line| matches!(line.first(), Some(b'l' | b'L'))) {
        if let Some(location) = value_of(line, b"location").filter(|value| !value.is_empty()) {
            push(location, Context::Location);
        } else if let Some(value) = value_of(line, b"link") {
            each_link(value, |one| push(one, Context::Link));
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

/// `bytes` without the chunked transfer coding (RFC 9112 section 7.1); `None` if they are not
/// chunked, as in archives that were decoded but kept the header.
fn unchunked(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let line = memchr::memchr(b'\n', rest)?;
        let size = rest[..line].split(|&byte| byte == b';').next()?.trim_ascii();
        let size = usize::from_str_radix(str::from_utf8(size).ok()?, 16).ok()?;
        rest = &rest[line + 1..];
        if size == 0 {
            return Some(out);
        }
        let taken = size.min(rest.len());
        out.extend_from_slice(&rest[..taken]);
        rest = rest.get(size..).unwrap_or_default();
        rest = rest.strip_prefix(b"\r").unwrap_or(rest);
        rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        if rest.is_empty() {
            return Some(out);
        }
    }
}
