//! Messages (RFC 5322) and their parts (MIME, RFC 2045 and 2046).
//!
//! The structure is read here, in one pass over the lines, so that time is linear and memory
//! bounded whatever a message claims; fields and character sets are decoded by `mail_parser`.

use core::ops::Range;
use std::rc::Rc;

use mail_parser::HeaderValue;
use mail_parser::parsers::MessageStream;

use super::body::{Sort, body, decoded_body};
use super::charset::UTF8;
use super::fault::LONGEST_BASE;
use super::how::How;
use super::reference::{encoded, is_base, scheme};
use super::transfer::{self, Decoded, Encoding};
use super::{Context, Fault, Links, PartFault};
use crate::chunk::{Padded, PaddedBuf, Span};
use crate::grammar::byte_words;

/// Maximum number of multiparts in one another; the parts of deeper ones are searched as text.
const DEEPEST: usize = 32;
/// Maximum number of messages in one another that are encoded, which needs memory for each.
const DEEPEST_ENCODED: usize = 3;
/// Maximum number of bytes of the value of a field that is decoded.
const LONGEST_VALUE: usize = 2 << 10;

/// Fields that hold links (RFC 2369 and 5064).
const FIELDS: [&[u8]; 7] = byte_words(
    "list-archive list-help list-owner list-post list-subscribe list-unsubscribe archived-at",
);

/// Appends the links of the message at `range` of `text` to `links`.
pub(super) fn message(how: How<'_>, text: Padded<'_>, range: Range<usize>, links: &mut Links) {
    let first = links.len();
    let part = text.part(range.start, range.len());
    let place = Place::From(range.start as u32);
    Message { how, text: part, place, level: 0, open: Vec::new(), links }.read();
    links.shift(first, range.start as u32);
}

/// The name of the field on `line`, if it is one: graphic characters before a `:`. A line that
/// begins with a URL is none.
pub(super) fn field_name(line: &[u8]) -> Option<&[u8]> {
    let name = &line[..line.iter().position(|byte| !byte.is_ascii_graphic() || *byte == b':')?];
    let value = line[name.len()..].strip_prefix(b":")?;
    (!name.is_empty() && !value.starts_with(b"//")).then_some(name)
}

/// Where a message is in the source.
#[derive(Clone, Copy)]
enum Place {
    /// From this offset on.
    From(u32),
    /// In a coded part that begins at this offset.
    Coded(u32),
}

impl Place {
    fn of(self, at: usize) -> u32 {
        match self {
            Place::From(start) => start + at as u32,
            Place::Coded(start) => start,
        }
    }
}

/// A message that is being read.
struct Message<'a, 'l> {
    how: How<'a>,
    text: Padded<'a>,
    place: Place,
    /// The number of encoded messages around it.
    level: usize,
    /// The multiparts that are open, the outermost first.
    open: Vec<Multipart>,
    links: &'l mut Links,
}

struct Multipart {
    boundary: Vec<u8>,
    /// Whether its parts are messages by default.
    is_digest: bool,
    /// The base of its parts.
    base: Base,
}

/// The URI against which references are resolved.
type Base = Option<Rc<[u8]>>;

/// The fields of a part that matter.
#[derive(Default)]
struct Fields<'t> {
    content_type: Option<&'t [u8]>,
    encoding: Option<&'t [u8]>,
    base: Option<&'t [u8]>,
    location: Option<&'t [u8]>,
}

/// What the `Content-Type` of a part says.
struct Media {
    /// Such as `text/html`.
    name: String,
    boundary: Vec<u8>,
    charset: String,
    /// Whether lines that end with a space go on in the next one, without it (`format=flowed; delsp=yes`, RFC 3676).
    is_flowed: bool,
}

/// How the body of a part is coded.
#[derive(Clone, Copy)]
struct Coding<'t> {
    encoding: Encoding,
    charset: &'t str,
    is_flowed: bool,
}

/// A line that ends a part.
struct Delimiter {
    /// The number of the multipart to which it belongs.
    number: usize,
    /// Whether the multipart ends with it.
    is_last: bool,
    /// Where the part before it ends, and the next one begins.
    end: usize,
    next: usize,
}

impl Message<'_, '_> {
    /// Adds the links of all parts.
    fn read(&mut self) {
        let content = self.text.content();
        let outer: Base = self.how.base.map(Rc::from);
        // The whole message is the first part; `is_nested` after the header of a part that is one.
        let (mut at, mut is_nested) = (0, false);
        while at < content.len() {
            let (fields, start) = self.header(content, at);
            let parent = self.open.last();
            let base = parent.map_or(&outer, |parent| &parent.base);
            let base = own_base(self.how, &fields, base);
            let is_digest = !is_nested && parent.is_some_and(|parent| parent.is_digest);
            let media = media(fields.content_type, is_digest);
            let encoding = fields.encoding.map_or(Encoding::Identity, Encoding::of);
            let is_message = matches!(&media.name[..], "message/rfc822" | "message/global");
            is_nested = is_message && encoding == Encoding::Identity;
            if is_nested {
                // Its header follows. It ends where the part ends.
                at = start;
                continue;
            }
            let (number, end) = self.end_of_part(at, start, &media, &base);
            if let Some(first) = end.as_ref().filter(|end| number == Some(end.number)) {
                at = self.after(first);
                continue;
            }
            let part = start..end.as_ref().map_or(content.len(), |end| end.end);
            let how = self.how.with_base(base.as_deref());
            let Media { charset, is_flowed, .. } = &media;
            let coding = Coding { encoding, charset, is_flowed: *is_flowed };
            if is_message {
                self.encoded(part, coding, how);
            } else if media.name.starts_with("multipart/") {
                // Without a delimiter; such parts are not encoded.
                let coding = Coding { encoding: Encoding::Identity, ..coding };
                self.leaf(part, Sort::Text, coding, how);
            } else if let Some(sort) = sort(&media.name) {
                self.leaf(part, sort, coding, how);
            }
            at = end.map_or(content.len(), |end| self.after(&end));
        }
        if !self.open.is_empty() {
            self.fault(content.len(), PartFault::CutOff);
        }
    }

    /// The delimiter after the body that begins at `start`. A multipart is opened if that is its
    /// own, and its number is returned, too.
    fn end_of_part(
        &mut self,
        at: usize,
        start: usize,
        media: &Media,
        base: &Base,
    ) -> (Option<usize>, Option<Delimiter>) {
        let number = self.open.len();
        if !media.name.starts_with("multipart/") || media.boundary.is_empty() {
            return (None, self.delimiter(start));
        } else if number == DEEPEST {
            self.fault(at, PartFault::Nesting);
            return (None, self.delimiter(start));
        }
        let is_digest = media.name == "multipart/digest";
        let boundary = media.boundary.clone();
        self.open.push(Multipart { boundary, is_digest, base: base.clone() });
        let end = self.delimiter(start);
        if end.as_ref().is_none_or(|end| end.number != number) {
            self.open.pop();
        }
        (Some(number), end)
    }

    /// Closes what `delimiter` ends; returns where the next part begins.
    fn after(&mut self, delimiter: &Delimiter) -> usize {
        self.open.truncate(delimiter.number + 1);
        let (mut next, mut is_last) = (delimiter.next, delimiter.is_last);
        // What follows the last part of a multipart belongs to none.
        while is_last {
            self.open.pop();
            let Some(delimiter) = self.delimiter(next) else { return self.text.len() };
            self.open.truncate(delimiter.number + 1);
            (next, is_last) = (delimiter.next, delimiter.is_last);
        }
        next
    }

    /// The first delimiter of an open multipart in the lines from `from` on.
    fn delimiter(&self, from: usize) -> Option<Delimiter> {
        if self.open.is_empty() {
            return None;
        }
        let content = self.text.content();
        let first = content[from..].starts_with(b"--").then_some(from);
        let later = memchr::memmem::find_iter(&content[from..], b"\n--").map(|at| from + at + 1);
        first.into_iter().chain(later).find_map(|at| {
            let next = line_end(content, at);
            let (number, is_last) = self.delimits(&content[at..next])?;
            // The line end before it belongs to it.
            let end = content[from..at].strip_suffix(b"\n").map_or(at, |text| from + text.len());
            let end = if content[from..end].ends_with(b"\r") { end - 1 } else { end };
            Some(Delimiter { number, is_last, end, next })
        })
    }

    /// The number of the open multipart whose delimiter `line` is, and whether it is its last one.
    fn delimits(&self, line: &[u8]) -> Option<(usize, bool)> {
        let line = line.strip_prefix(b"--")?.trim_ascii_end();
        self.open.iter().enumerate().rev().find_map(|(number, multipart)| {
            match line.strip_prefix(&multipart.boundary[..])? {
                b"" => Some((number, false)),
                b"--" => Some((number, true)),
                _ => None,
            }
        })
    }

    /// The fields of the header at `at` of `content`, and where the body begins. Adds the links in
    /// the header.
    fn header<'t>(&mut self, content: &'t [u8], at: usize) -> (Fields<'t>, usize) {
        let (mut fields, mut line) = (Fields::default(), at);
        while line < content.len() {
            let mut next = line_end(content, line);
            let text = &content[line..next];
            if text == b"\n" || text == b"\r\n" {
                return (fields, next);
            }
            if let Some(name) = field_name(text).filter(|_| self.delimits(text).is_none()) {
                while matches!(content.get(next), Some(b' ' | b'\t')) {
                    next = line_end(content, next);
                }
                let value = line + name.len() + 1..next;
                self.field(&name.to_ascii_lowercase(), content, value, &mut fields);
            } else if line > at || !(text.starts_with(b"From ") || text.starts_with(b">From ")) {
                // The empty line is missing.
                return (fields, line);
            }
            line = next;
        }
        (fields, content.len())
    }

    /// Takes note of the field `name` with the value at `range` of `content`, or adds its links.
    fn field<'t>(
        &mut self,
        name: &[u8],
        content: &'t [u8],
        range: Range<usize>,
        fields: &mut Fields<'t>,
    ) {
        let value = &content[range.clone()];
        let first = match name {
            b"content-type" => &mut fields.content_type,
            b"content-transfer-encoding" => &mut fields.encoding,
            b"content-base" => &mut fields.base,
            b"content-location" => &mut fields.location,
            _ if FIELDS.contains(&name) => return self.field_links(value, range),
            _ => return,
        };
        first.get_or_insert(value);
    }

    /// Adds the links of a `value` at `range`: those in `<` and `>`, or one without them.
    fn field_links(&mut self, value: &[u8], range: Range<usize>) {
        let words = has_words(value).then(|| decoded_words(value));
        let value = words.as_deref().unwrap_or(value);
        let mut absolute = self.how.absolute_to(None);
        let mut push = |typed: &[u8], at: usize| {
            let span = match words {
                Some(_) => Span { start: range.start as u32, end: range.end as u32 },
                None => {
                    let start = (range.start + at) as u32;
                    Span { start, end: start + typed.len() as u32 }
                }
            };
            absolute.push(&without_space(typed), span, Context::Header, self.links);
        };
        let mut at = 0;
        let mut has_brackets = false;
        while let Some(open) = memchr::memchr(b'<', &value[at..]) {
            has_brackets = true;
            at += open + 1;
            let Some(len) = memchr::memchr(b'>', &value[at..]) else { break };
            push(&value[at..at + len], at);
            at += len + 1;
        }
        let start = value.len() - value.trim_ascii_start().len();
        let bare = value[start..].split(u8::is_ascii_whitespace).next().unwrap_or_default();
        if !has_brackets && scheme(bare).is_some() {
            push(bare, start);
        }
    }

    /// Searches a message that is encoded.
    fn encoded(&mut self, part: Range<usize>, coding: Coding<'_>, how: How<'_>) {
        let bytes = &self.text.content()[part.clone()];
        let decode = match coding.encoding {
            Encoding::Base64 => transfer::base64,
            Encoding::QuotedPrintable => transfer::quoted_printable,
            _ => return self.leaf(part, Sort::Text, coding, how),
        };
        if self.level == DEEPEST_ENCODED {
            self.fault(part.start, PartFault::Nesting);
            return self.leaf(part, Sort::Text, coding, how);
        }
        let Decoded { text, fault } = decode(bytes);
        let buf = PaddedBuf::from_content(&text);
        let is_cut = self.links.is_cut() && part.end == self.text.len();
        let found = Links::of_part(text.len(), |links| {
            links.set_cut(is_cut);
            let place = Place::Coded(self.place.of(part.start));
            let (text, level) = (buf.padded(), self.level + 1);
            Message { how, text, place, level, open: Vec::new(), links }.read();
        });
        self.links.take_made(&found, &text, |_| span(&part));
        self.links.describe_parts(&found);
        self.rest(part, coding, fault, how);
    }

    /// Searches the body of a part as `sort`.
    fn leaf(&mut self, part: Range<usize>, sort: Sort, coding: Coding<'_>, how: How<'_>) {
        let bytes = &self.text.content()[part.clone()];
        let (mut plain, mut fault) = (None, None);
        match coding.encoding {
            Encoding::Identity => {}
            Encoding::Unknown => self.fault(part.start, PartFault::Encoding),
            Encoding::Base64 | Encoding::QuotedPrintable => {
                let is_base64 = coding.encoding == Encoding::Base64;
                let decode = if is_base64 { transfer::base64 } else { transfer::quoted_printable };
                let decoded = decode(bytes);
                (plain, fault) = (Some(decoded.text), decoded.fault);
            }
        }
        let mut charset = transfer::charset(coding.charset);
        if let Some(text) = transfer::in_utf8(coding.charset, plain.as_deref().unwrap_or(bytes)) {
            (plain, charset) = (Some(text.into_bytes()), UTF8);
        }
        if coding.is_flowed {
            plain = Some(joined(plain.as_deref().unwrap_or(bytes)));
        }
        let sort = (sort, charset);
        let is_cut = self.links.is_cut() && part.end == self.text.len();
        match plain {
            None => body(how, (self.text, span(&part)), sort, self.links),
            Some(plain) => decoded_body(how, (plain, is_cut), sort, span(&part), self.links),
        }
        self.rest(part, coding, fault, how);
    }

    /// Reports the `fault` in the encoding of a part, and searches what could not be decoded.
    fn rest(&mut self, part: Range<usize>, coding: Coding<'_>, fault: Option<usize>, how: How<'_>) {
        let Some(fault) = fault.map(|at| part.start + at) else { return };
        if coding.encoding == Encoding::QuotedPrintable {
            return self.fault(fault, PartFault::QuotedPrintable);
        }
        self.fault(fault, PartFault::Base64);
        let content = self.text.content();
        let line = memchr::memrchr(b'\n', &content[part.start..fault]);
        let rest = line.map_or(part.start, |at| part.start + at + 1)..part.end;
        body(how, (self.text, span(&rest)), (Sort::Text, None), self.links);
    }

    fn fault(&mut self, at: usize, what: PartFault) {
        self.links.count_fault(Fault::Part { at: self.place.of(at), what });
    }
}

/// How a part of type `media` is searched; `None` if it is not.
fn sort(media: &str) -> Option<Sort> {
    // Such as the report about a delivery.
    let is_report = media.starts_with("message/");
    Sort::of(media.as_bytes()).or(is_report.then_some(Sort::Text))
}

/// Reads the value of a `Content-Type`. What is missing or broken is text, or in a digest a message.
fn media(value: Option<&[u8]>, is_digest: bool) -> Media {
    let value = value.map(|value| [&value[..value.len().min(LONGEST_VALUE)], b"\n"].concat());
    let parsed = value.as_deref().map(|value| MessageStream::new(value).parse_content_type());
    let name = if is_digest { "message/rfc822" } else { "text/plain" }.to_owned();
    let mut media = Media { name, boundary: Vec::new(), charset: String::new(), is_flowed: false };
    if let Some(HeaderValue::ContentType(parsed)) = &parsed
        && let Some(subtype) = parsed.subtype()
    {
        media.name = format!("{}/{subtype}", parsed.ctype()).to_ascii_lowercase();
        let value = |name| parsed.attribute(name).unwrap_or_default();
        media.boundary = value("boundary").trim_end().as_bytes().to_vec();
        media.charset = value("charset").to_owned();
        let is = |name, text: &str| value(name).eq_ignore_ascii_case(text);
        media.is_flowed = is("format", "flowed") && is("delsp", "yes");
    }
    media
}

/// `text` with its flowed lines joined, without the marks of quotes within them (RFC 3676 section 4.2).
fn joined(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut is_open = false;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        let unquoted = &content[content.iter().take_while(|&&byte| byte == b'>').count()..];
        let unstuffed = unquoted.strip_prefix(b" ").unwrap_or(unquoted);
        let start = if is_open { unstuffed } else { content };
        is_open = unstuffed.ends_with(b" ") && unstuffed != b"-- ";
        match start.strip_suffix(b" ").filter(|_| is_open) {
            Some(start) => out.extend_from_slice(start),
            None => out.extend_from_slice(&[start, b"\n"].concat()),
        }
    }
    out
}

/// The base of a part with `fields` in one with the base `outer`: its `Content-Base` or
/// `Content-Location` (RFC 2557) if they have an authority, as those of saved pages have.
fn own_base(how: How<'_>, fields: &Fields<'_>, outer: &Base) -> Base {
    let mut base = outer.clone();
    for value in [fields.base, fields.location].into_iter().flatten() {
        if value.len() > LONGEST_BASE {
            continue;
        }
        let typed = without_space(value);
        let own = encoded(typed.trim_ascii());
        match scheme(&own) {
            Some(scheme) if own[scheme.len()..].starts_with(b"://") && is_base(&own) => {
                base = Some(Rc::from(&*own));
            }
            Some(_) => {}
            None => {
                let mut absolute = how.absolute_to(base.as_deref());
                let target = absolute.resolve(&own).filter(|target| target.len() <= LONGEST_BASE);
                base = target.map(Rc::from).or(base);
            }
        }
    }
    base
}

/// `typed` without white space and quotes, in which values are folded and enclosed.
fn without_space(typed: &[u8]) -> Vec<u8> {
    typed.iter().copied().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'"').collect()
}

/// Whether `value` has encoded words (RFC 2047), which some servers make of long URLs.
fn has_words(value: &[u8]) -> bool {
    value.len() <= LONGEST_VALUE && memchr::memmem::find(value, b"=?").is_some()
}

/// `value` with its encoded words decoded.
fn decoded_words(value: &[u8]) -> Vec<u8> {
    let value = [value, b"\n"].concat();
    match MessageStream::new(&value).parse_unstructured() {
        HeaderValue::Text(text) => text.as_bytes().to_vec(),
        _ => Vec::new(),
    }
}

fn span(range: &Range<usize>) -> Span {
    Span { start: range.start as u32, end: range.end as u32 }
}

/// The offset after the line of `text` that begins at `at`.
fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len + 1)
}
