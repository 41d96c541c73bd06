//! Content codings of HTTP (RFC 9110 section 8.4): decodes the body of an archived response.

/// Maximum number of bytes of a body that are decoded.
pub(super) const MOST: u64 = 64 << 20;

/// Maximum number of nested codings that are decoded.
const MOST_CODINGS: usize = 4;

/// Number of bytes that show whether a body is coded.
const HEAD_BYTES: usize = 512;

/// A decoded body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    /// The body has no codings.
    Plain,
    /// These bytes; not all of them if the body exceeds the limit or is truncated.
    Made { text: Vec<u8>, is_whole: bool },
    /// The coding is unknown, or not the one that was used.
    Unknown,
}

/// Decodes `bytes`, coded with `codings`, the value of a `Content-Encoding`; returns up to `most`
/// bytes.
///
/// A body that is the document itself, although the header names a coding, is used unchanged: some
/// archives were decoded and kept the header. Such a body must be text, in any encoding if it cannot
/// be decoded, and `is_document` must confirm that it is of the expected type; the absence of control
/// characters alone does not prove that.
pub(super) fn decoded(
    codings: &[u8],
    bytes: &[u8],
    most: u64,
    is_document: impl Fn(&[u8]) -> bool,
) -> Decoded {
    if bytes.is_empty() {
        return Decoded::Plain;
    }
    let names = codings.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let names = names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"));
    let mut result = Decoded::Plain;
    // The last coding was applied last.
    for (i, name) in names.rev().enumerate() {
        let (bytes, was_whole) = match &result {
            Decoded::Made { text, is_whole } => (&text[..], *is_whole),
            _ => (bytes, true),
        };
        let may_be_document = has_no_controls(bytes) && is_document(bytes);
        if may_be_document && is_text(bytes) {
            break;
        }
        result = match Coding::of(name).filter(|_| i < MOST_CODINGS).map(|of| of.undo(bytes, most))
        {
            Some((text, is_whole)) if is_whole || !text.is_empty() && !may_be_document => {
                Decoded::Made { text, is_whole: is_whole && was_whole }
            }
            _ if may_be_document => break,
            _ => return Decoded::Unknown,
        };
    }
    result
}

/// Whether `bytes` begin without control characters except white space and those of ISO-2022-JP: text, in any encoding
/// that extends ASCII. Coded bytes hardly ever do, and those of gzip and zstd never.
fn has_no_controls(bytes: &[u8]) -> bool {
    let is_of_text =
        |byte: &u8| !byte.is_ascii_control() || byte.is_ascii_whitespace() || *byte == 0x1B;
    bytes[..bytes.len().min(HEAD_BYTES)].iter().all(is_of_text) && !bytes.starts_with(ZSTD)
}

/// The magic number of zstd (RFC 8878 section 3.1.1).
const ZSTD: &[u8] = b"\x28\xB5\x2F\xFD";

/// Whether `bytes`, which [`has_no_controls`], begin in UTF-8 or mostly in ASCII.
fn is_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let is_utf8 = match str::from_utf8(head) {
        Ok(_) => true,
        // The last character may be truncated.
        Err(error) => error.error_len().is_none() && head.len() < bytes.len(),
    };
    let is_mostly_ascii = || 3 * head.iter().filter(|byte| !byte.is_ascii()).count() <= head.len();
    is_utf8 || is_mostly_ascii()
}

/// A supported coding.
enum Coding {
    Gzip,
    Deflate,
    Zstd,
    Brotli,
}

impl Coding {
    /// The coding with this `name`, in any case.
    fn of(name: &[u8]) -> Option<Coding> {
        Some(match &name.to_ascii_lowercase()[..] {
            b"gzip" | b"x-gzip" => Coding::Gzip,
            b"deflate" => Coding::Deflate,
            b"zstd" => Coding::Zstd,
            b"br" => Coding::Brotli,
            _ => return None,
        })
    }

    /// Decodes the first `most` bytes of `bytes`, as far as possible; returns them, and whether
    /// they are complete.
    fn undo(self, bytes: &[u8], most: u64) -> (Vec<u8>, bool) {
        match self {
            Coding::Gzip => read(flate2::bufread::MultiGzDecoder::new(bytes), most, |_| 0),
            // The standard requires zlib, but some servers have always omitted its frame.
            Coding::Deflate if has_zlib_frame(bytes) => {
                read(flate2::bufread::ZlibDecoder::new(bytes), most, |it| it.get_ref().len())
            }
            Coding::Deflate => {
                read(flate2::bufread::DeflateDecoder::new(bytes), most, |it| it.get_ref().len())
            }
            Coding::Zstd => match zstd::stream::read::Decoder::with_buffer(bytes) {
                Ok(decoder) => read(decoder, most, |_| 0),
                Err(_) => (Vec::new(), false),
            },
            Coding::Brotli => brotli(bytes, most),
        }
    }
}

/// RFC 1950 section 2.2.
fn has_zlib_frame(bytes: &[u8]) -> bool {
    matches!(bytes, &[method, flags, ..] if method & 15 == 8 && u16::from_be_bytes([method, flags]) % 31 == 0)
}

/// Reads the first `most` bytes from `decoder`; returns them, and whether they are complete, with
/// no input `left`. The bytes before a fault count: archives hold truncated bodies.
fn read<D: std::io::Read>(
    mut decoder: D,
    most: u64,
    left: impl Fn(&D) -> usize,
) -> (Vec<u8>, bool) {
    use std::io::Read;
    let mut out = Vec::new();
    let has_ended = decoder.by_ref().take(most + 1).read_to_end(&mut out).is_ok();
    let is_whole = has_ended && out.len() as u64 <= most && left(&decoder) == 0;
    out.truncate(most as usize);
    (out, is_whole)
}

/// [`read`] for brotli, which has neither a magic number nor a checksum: many texts begin like an
/// empty stream with garbage after it.
fn brotli(bytes: &[u8], most: u64) -> (Vec<u8>, bool) {
    use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
    let alloc = StandardAlloc::default;
    let mut state = BrotliState::new(alloc(), alloc(), alloc());
    let (mut left, mut at, mut total) = (bytes.len(), 0, 0);
    let (mut out, mut piece) = (Vec::new(), vec![0; 16 << 10]);
    loop {
        let (mut room, mut len) = (piece.len(), 0);
        let result = BrotliDecompressStream(
            &mut left, &mut at, bytes, &mut room, &mut len, &mut piece, &mut total, &mut state,
        );
        out.extend_from_slice(&piece[..len]);
        let is_whole = match result {
            BrotliResult::NeedsMoreOutput if out.len() as u64 <= most => continue,
            BrotliResult::ResultSuccess => left == 0 && out.len() as u64 <= most,
            _ => false,
        };
        out.truncate(most as usize);
        return (out, is_whole);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::super::body::Sort;
    use super::*;

    fn decoded(codings: &[u8], bytes: &[u8], most: u64) -> Decoded {
        super::decoded(codings, bytes, most, |bytes| Sort::Page.is_like(bytes))
    }

    const PAGE: &[u8] = b"<a href=http://h/1><a href=http://h/2><a href=http://h/3><p class=x>";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut to = GzEncoder::new(Vec::new(), Compression::fast());
        to.write_all(text).unwrap();
        to.finish().unwrap()
    }

    fn coded() -> Vec<(&'static str, Vec<u8>)> {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(PAGE).unwrap();
        raw.write_all(PAGE).unwrap();
        // The page in one uncompressed meta-block (RFC 7932 section 9.2), followed by the empty
        // last one.
        let len = PAGE.len() as u32 - 1;
        let head = len << 4 | 1 << 20;
        let mut brotli = head.to_le_bytes()[..3].to_vec();
        brotli.extend_from_slice(PAGE);
        brotli.push(3);
        vec![
            ("gzip", gzip(PAGE)),
            (" X-GZIP ", gzip(PAGE)),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", raw.finish().unwrap()),
            ("zstd", zstd::encode_all(PAGE, 1).unwrap()),
            ("br", brotli),
            ("zstd, identity,gzip", gzip(&zstd::encode_all(PAGE, 1).unwrap())),
        ]
    }

    #[test]
    fn codings_are_decoded() {
        for (name, bytes) in coded() {
            let whole = Decoded::Made { text: PAGE.to_vec(), is_whole: true };
            assert_eq!(decoded(name.as_bytes(), &bytes, PAGE.len() as u64), whole, "{name}");
        }
    }

    #[test]
    fn omissions_are_reported() {
        for (name, bytes) in coded() {
            if name.contains(',') {
                // A truncated text is not valid input of the second decoder.
                continue;
            }
            let part = Decoded::Made { text: PAGE[..40].to_vec(), is_whole: false };
            assert_eq!(decoded(name.as_bytes(), &bytes, 40), part, "{name}");
            match decoded(name.as_bytes(), &bytes[..bytes.len() - 6], 1000) {
                Decoded::Made { text, is_whole } => {
                    assert!(!is_whole && PAGE.starts_with(&text), "{name}");
                }
                other => assert_eq!(other, Decoded::Unknown, "{name}"),
            }
        }
    }

    #[test]
    fn undecodable_bytes_are_not_treated_as_text() {
        let noise: Vec<u8> = (0..200u32).map(|i| (i * i * 7 + 3) as u8).collect();
        for name in ["compress", "br", "gzip", "deflate", "zstd", "x", "gzip,gzip"] {
            assert_eq!(decoded(name.as_bytes(), &noise, 1000), Decoded::Unknown, "{name}");
        }
        let deep = ["gzip"; 6].join(",");
        let bytes = (0..6).fold(PAGE.to_vec(), |bytes, _| gzip(&bytes));
        assert_eq!(decoded(deep.as_bytes(), &bytes, 1000), Decoded::Unknown);
    }

    #[test]
    fn bytes_that_are_neither_coded_nor_the_document_are_unknown() {
        for name in ["br", "gzip", "deflate", "zstd", "compress"] {
            for body in [&b"garbage"[..], b"not compressed at all", b"x", &b"a b c ".repeat(200)] {
                assert_eq!(decoded(name.as_bytes(), body, 1000), Decoded::Unknown, "{name}");
            }
            // Noise with a `<` in it, but without control characters.
            let noise: Vec<u8> = b"<".iter().copied().chain(0xA0..=0xFE).collect();
            assert_eq!(decoded(name.as_bytes(), &noise, 1000), Decoded::Unknown, "{name}");
            assert_eq!(decoded(name.as_bytes(), b"", 1000), Decoded::Plain, "{name}");
        }
        let latin = b"<p>caf\xE9 cr\xE8me br\xFBl\xE9e";
        assert_eq!(decoded(b"gzip", latin, 1000), Decoded::Plain);
        let cut = "<p>".to_owned() + &"\u{20AC}".repeat(400);
        assert_eq!(decoded(b"gzip", cut.as_bytes(), 1000), Decoded::Plain);
    }

    #[test]
    fn a_decoded_page_in_any_encoding_is_used_unchanged() {
        let text = "\u{0413}\u{043E}\u{0432}\u{043E}\u{0440}\u{0438} \u{65E5}\u{672C}".repeat(90);
        for charset in
            ["EUC-JP", "gbk", "koi8-r", "windows-1251", "shift_jis", "iso-2022-jp", "big5"]
        {
            let charset = encoding_rs::Encoding::for_label(charset.as_bytes()).unwrap();
            let page = charset.encode(&format!("<title>{text}</title><a href=x>")).0.into_owned();
            for name in ["gzip", "br", "deflate", "zstd", "x-gzip", "compress"] {
                assert_eq!(
                    decoded(name.as_bytes(), &page, 1 << 20),
                    Decoded::Plain,
                    "{name} {}",
                    charset.name()
                );
            }
            // Its coded form is decoded, whole or truncated.
            let coded = gzip(&page);
            let whole = Decoded::Made { text: page.clone(), is_whole: true };
            assert_eq!(decoded(b"gzip", &coded, 1 << 20), whole);
            let part = decoded(b"gzip", &coded[..coded.len() - 9], 1 << 20);
            assert!(matches!(part, Decoded::Made { is_whole: false, .. }), "{part:?}");
        }
    }

    #[test]
    fn text_is_used_unchanged() {
        for name in ["", "identity", "gzip", "br", "x, y"] {
            assert_eq!(decoded(name.as_bytes(), PAGE, 1000), Decoded::Plain, "{name}");
        }
        assert_eq!(decoded(b"", b"\0\x01", 1000), Decoded::Plain);
    }
}
