//! Character sets of documents, by the Encoding Standard: decoded to UTF-8 where they are another one.
//!
//! In order of precedence, as in browsers: a byte order mark, the `Content-Type` of the message around the document, the
//! document's own declaration. Bytes of documents without any of these stay as they are.

use std::borrow::Cow;

use encoding_rs::{
    CoderResult, EncoderResult, Encoding, ISO_2022_JP, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE,
    WINDOWS_1252, X_USER_DEFINED,
};

use super::html::{Attribute, Tags, start_tags};
use super::{Links, attribute, wide};
use crate::chunk::{Padded, PaddedBuf, Span};
use crate::normalize::percent::push_triplet;

/// A character set.
pub(super) type Charset = &'static Encoding;

/// The character set that a message or a document declares, if it does.
pub(super) type Declared = Option<Charset>;

pub(super) const UTF8: Declared = Some(UTF_8);

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Number of first bytes of a page in which its character set is declared, and in which browsers still heed it.
const PAGE_HEAD: usize = 1024;
const LATE_HEAD: usize = 64 << 10;

/// The character set that `value` names, such as `text/html; charset=utf-8` (the HTML standard, "extracting a character
/// encoding from a meta element").
pub(super) fn of_content_type(value: &[u8]) -> Declared {
    const NAME: &[u8] = b"charset";
    let mut rest = value;
    loop {
        let at = rest.windows(NAME.len()).position(|part| part.eq_ignore_ascii_case(NAME))?;
        rest = &rest[at + NAME.len()..];
        let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else { continue };
        let value = value.trim_ascii_start();
        let label = match value.first()? {
            quote @ (b'"' | b'\'') => {
                let value = &value[1..];
                &value[..memchr::memchr(*quote, value)?]
            }
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b';';
                &value[..value.iter().position(ends).unwrap_or(value.len())]
            }
        };
        return Encoding::for_label(label);
    }
}

/// The character set from which the page `text` is decoded, if it is not searched as it is. `outer` is that of the message
/// around it.
pub(super) fn of_page(text: &[u8], outer: Declared) -> Declared {
    let declared = || of_meta(text).or_else(|| of_xml(text));
    by_mark(text).unwrap_or_else(|| outer.or_else(declared)).filter(|of| is_other(of, text))
}

/// Whether the page `text` may be read as another one if it is decoded, even if its references are all ASCII.
pub(super) fn may_shift(text: &[u8], outer: Declared) -> bool {
    const ESCAPE: u8 = 0x1B;
    let head = &text[..text.len().min(PAGE_HEAD)];
    outer == Some(ISO_2022_JP)
        || memchr::memchr(ESCAPE, head).is_some()
        || matches!(head, [0xFE | 0xFF | 0, ..] | [_, 0, ..])
}

/// The character set from which `text`, which is not a page, is decoded, if it is not searched as it is.
fn of_text(text: &[u8], outer: Declared) -> Declared {
    let declared = || of_xml(text).or_else(|| of_sheet(text));
    let charset = by_mark(text).unwrap_or_else(|| outer.or_else(declared));
    charset.filter(|of| is_other(of, text)).filter(|&of| {
        let ascii = match of == ISO_2022_JP {
            true => Encoding::iso_2022_jp_ascii_valid_up_to(text),
            false => Encoding::ascii_valid_up_to(text),
        };
        of == UTF_16LE || of == UTF_16BE || ascii < text.len()
    })
}

/// What the first bytes of `text` alone decide: `Some(None)` for UTF-8.
pub(super) fn by_mark(text: &[u8]) -> Option<Declared> {
    if text.starts_with(MARK) {
        return Some(None);
    }
    wide::order(text).map(|order| {
        Some(match order {
            wide::Order::Little => UTF_16LE,
            wide::Order::Big => UTF_16BE,
        })
    })
}

/// Whether `text` in `charset` may be other text than the same bytes in UTF-8.
fn is_other(charset: &Charset, text: &[u8]) -> bool {
    match *charset {
        charset if charset == UTF_8 || charset == REPLACEMENT => false,
        // Many that are called so are not.
        charset if charset == UTF_16LE || charset == UTF_16BE => {
            text[..text.len().min(PAGE_HEAD)].contains(&0)
        }
        _ => true,
    }
}

/// The character set that a `meta` element of the page `text` declares.
fn of_meta(text: &[u8]) -> Declared {
    [PAGE_HEAD, LATE_HEAD].into_iter().find_map(|most| {
        let mut meta = Meta(None);
        start_tags(&text[..text.len().min(most)], &mut meta);
        meta.0
    })
}

/// Takes the first declaration.
struct Meta(Declared);

impl<'t> Tags<'t> for Meta {
    fn skip(&mut self, at: usize) -> usize {
        at
    }

    fn matters(&self, tag: &[u8], name: &[u8]) -> bool {
        let names: [&[u8]; 3] = [b"charset", b"content", b"http-equiv"];
        self.0.is_none()
            && tag.eq_ignore_ascii_case(b"meta")
            && names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    fn start(&mut self, tag: &'t [u8], attributes: &[Attribute<'t>]) {
        if self.0.is_some() || !tag.eq_ignore_ascii_case(b"meta") {
            return;
        }
        let value = |name: &[u8]| {
            let found = attributes.iter().find(|it| it.name.eq_ignore_ascii_case(name));
            found.map(|it| attribute::decoded(it.value))
        };
        let is_type =
            || value(b"http-equiv").is_some_and(|it| it.eq_ignore_ascii_case(b"content-type"));
        let charset = match value(b"charset") {
            Some(label) => Encoding::for_label(&label),
            None => value(b"content").filter(|_| is_type()).and_then(|it| of_content_type(&it)),
        };
        self.0 = charset.map(of_ascii);
    }
}

/// `charset`, declared in bytes that are read as ASCII.
fn of_ascii(charset: Charset) -> Charset {
    if charset == UTF_16LE || charset == UTF_16BE {
        UTF_8
    } else if charset == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        charset
    }
}

/// The character set in the XML declaration of `text`.
fn of_xml(text: &[u8]) -> Declared {
    let rest = text.strip_prefix(b"<?xml")?;
    let rest = &rest[..memchr::memmem::find(&rest[..rest.len().min(PAGE_HEAD)], b"?>")?];
    let at = memchr::memmem::find(rest, b"encoding")?;
    let rest = rest[at + b"encoding".len()..].trim_ascii_start().strip_prefix(b"=")?;
    let rest = rest.trim_ascii_start();
    let quote = *rest.first().filter(|byte| b"\"'".contains(byte))?;
    let label = &rest[1..];
    Encoding::for_label(&label[..memchr::memchr(quote, label)?]).map(of_ascii)
}

/// The character set in the `@charset` of the style sheet `text` (CSS Syntax Module Level 3, section 3.2).
fn of_sheet(text: &[u8]) -> Declared {
    let label = text.strip_prefix(b"@charset \"")?;
    let end = memchr::memmem::find(&label[..label.len().min(PAGE_HEAD)], b"\";")?;
    Encoding::for_label(&label[..end]).map(of_ascii)
}

/// Appends the links that `find` finds in `text`, which is not a page, and is decoded if it declares a character set or
/// `outer` says so.
pub(super) fn search_text(
    (text, outer): (Padded<'_>, Declared),
    links: &mut Links,
    find: impl FnOnce(Padded<'_>, &mut Links),
) {
    if let Some(charset) = of_text(text.content(), outer) {
        return search(text, charset, links, find);
    }
    let mark = if text.content().starts_with(MARK) { MARK.len() } else { 0 };
    let first = links.len();
    find(text.part(mark, text.len() - mark), links);
    links.shift(first, mark as u32);
}

/// Appends the links that `find` finds in `text`, decoded from `charset`, at their positions in `text`.
pub(super) fn search(
    text: Padded<'_>,
    charset: Charset,
    links: &mut Links,
    find: impl FnOnce(Padded<'_>, &mut Links),
) {
    let source = text.content();
    // Parsers of XML do not count a mark.
    let mark = if matches!(source, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) { 2 } else { 0 };
    let source = &source[mark..];
    let (plain, _) = charset.decode_without_bom_handling(source);
    let plain = PaddedBuf::from_bytes(plain.into_owned().into_bytes());
    let plain = plain.padded();
    let found = Links::of_part(plain.len(), |found| find(plain, found));
    let positions = Positions::new(source, charset, found.positions());
    let place = |at| positions.of(at) + mark as u32;
    let span = |span: Span| Span { start: place(span.start), end: place(span.end) };
    links.take_made(&found, plain.content(), span);
    links.describe_malformed(&found, place);
}

/// Positions in a text, and in the same text before it was decoded.
struct Positions {
    decoded: Vec<u32>,
    original: Vec<u32>,
}

impl Positions {
    /// Finds the positions in `source` of those `decoded`, in any order, in one pass.
    fn new(source: &[u8], charset: Charset, mut decoded: Vec<u32>) -> Positions {
        decoded.sort_unstable();
        decoded.dedup();
        let mut walk = Walk {
            source,
            decoder: charset.new_decoder_without_bom_handling(),
            room: vec![0; 16 << 10],
            read: 0,
            written: 0,
        };
        let original = decoded.iter().map(|&at| walk.advance(at as usize) as u32).collect();
        Positions { decoded, original }
    }

    /// The position for `decoded`, one of those that were given.
    fn of(&self, decoded: u32) -> u32 {
        self.decoded.binary_search(&decoded).map_or(0, |at| self.original[at])
    }
}

/// Decodes a text once more, to see how long its characters were.
struct Walk<'t> {
    source: &'t [u8],
    decoder: encoding_rs::Decoder,
    room: Vec<u8>,
    /// The bytes that have been read, and written.
    read: usize,
    written: usize,
}

impl Walk<'_> {
    /// Reads until `to` bytes are written; returns how many have been read.
    fn advance(&mut self, to: usize) -> usize {
        /// Bytes that a byte becomes at most.
        const MOST: usize = 3;
        /// Bytes that may be written for bytes before.
        const MORE: usize = 8;
        while self.written < to && self.read < self.source.len() {
            let sure = (to - self.written).saturating_sub(MORE) / MOST;
            let count = sure.clamp(1, self.room.len() / MOST - MORE);
            let end = (self.read + count).min(self.source.len());
            let piece = &self.source[self.read..end];
            let (result, read, written, _) =
                self.decoder.decode_to_utf8(piece, &mut self.room, false);
            debug_assert_eq!((result, read), (CoderResult::InputEmpty, piece.len()));
            (self.read, self.written) = (end, self.written + written);
        }
        self.read
    }
}

/// `typed`, a reference in a page in `charset`, with its query as browsers send it: characters that are not ASCII are
/// percent-encoded in that character set, and as a character reference if it lacks them (the URL Standard, "percent-encode
/// after encoding"). `scheme` is that of the reference, or of its base: only those of the web have such queries.
pub(super) fn with_query<'t>(
    typed: &'t [u8],
    charset: Charset,
    scheme: Option<&[u8]>,
) -> Cow<'t, [u8]> {
    const SCHEMES: [&[u8]; 4] = [b"http", b"https", b"ftp", b"file"];
    let fragment = memchr::memchr(b'#', typed).unwrap_or(typed.len());
    let query = memchr::memchr(b'?', &typed[..fragment]).map_or(fragment, |at| at + 1);
    let is_of_web =
        || scheme.is_some_and(|it| SCHEMES.iter().any(|name| name.eq_ignore_ascii_case(it)));
    let text = str::from_utf8(&typed[query..fragment]);
    let Some(mut text) = text.ok().filter(|text| !text.is_ascii() && is_of_web()) else {
        return Cow::Borrowed(typed);
    };
    let mut out = typed[..query].to_vec();
    let mut encoder = charset.output_encoding().new_encoder();
    let mut room = [0; 1024];
    let (mut before, mut is_wide) = (0, false);
    loop {
        let (result, read, written) =
            encoder.encode_from_utf8_without_replacement(text, &mut room, true);
        for &byte in &room[..written] {
            match byte {
                b'#' | 0x1B => push_triplet(byte, &mut out),
                // In the special-query percent-encode set, here parts of characters. What is typed is encoded with the link.
                b'"' | b'\'' | b'<' | b'>' if is_wide => push_triplet(byte, &mut out),
                _ if byte.is_ascii() => out.push(byte),
                _ => push_triplet(byte, &mut out),
            }
            // Of the character sets that are written, only ISO-2022-JP has escapes: `$` begins characters of two bytes.
            if before == 0x1B {
                is_wide = byte == b'$';
            }
            before = byte;
        }
        text = &text[read..];
        match result {
            EncoderResult::InputEmpty => break,
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(c) => {
                out.extend_from_slice(format!("%26%23{}%3B", u32::from(c)).as_bytes());
            }
        }
    }
    out.extend_from_slice(&typed[fragment..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests;
