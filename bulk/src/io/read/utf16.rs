//! Text in UTF-16, with a byte order mark or without one, read as UTF-8.

use std::io::{self, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_16BE, UTF_16LE};

use uriscan_core::extract::Format;

/// Number of bytes that are read at a time.
const PIECE: usize = 16 << 10;

/// The encoding of data that begin with `head`, if they are text in UTF-16 with a byte order mark.
///
/// Pages are left as they are: they are decoded when they are searched, and positions are those of the file. Otherwise
/// a mark alone decides, unless many control characters or the mark of UTF-32 follow it. `\xFF\xFE` before text that is
/// all ASCII is not a mark either: as UTF-16 it would be letters that no one uses together.
pub(crate) fn encoding(head: &[u8]) -> Option<&'static Encoding> {
    let (encoding, unit): (_, fn([u8; 2]) -> u16) = match head {
        [0xFF, 0xFE, 0, 0, ..] => return None,
        [0xFF, 0xFE, ..] => (UTF_16LE, u16::from_le_bytes),
        [0xFE, 0xFF, ..] => (UTF_16BE, u16::from_be_bytes),
        _ => return unmarked(head),
    };
    let (units, _) = head[2..].as_chunks();
    let count = units.len();
    let units = || units.iter().map(|&bytes| unit(bytes));
    let is_space = |unit: u16| matches!(unit, 0x09..=0x0D | 0x20);
    let is_control =
        |unit: &u16| *unit < 0x20 && !is_space(*unit) || *unit == 0x7F || *unit >= 0xFFFE;
    let is_wide = units().any(|unit| unit < 0x80) || !head[2..].is_ascii() || head.len() == 2;
    // Text may have colours of a terminal, or records that end in NUL.
    let is_text = is_wide && 4 * units().filter(is_control).count() <= count;
    (is_text && Format::of_head(head) != Format::Html).then_some(encoding)
}

/// The encoding of data that begin with `head`, if they are text in UTF-16 without a byte order mark: at least half of
/// the characters are of ASCII, and none is a control character. Pages that begin with a tag are decoded later.
fn unmarked(head: &[u8]) -> Option<&'static Encoding> {
    /// Records of one byte that end in NUL are not text of that length.
    const LEAST: usize = 8;
    let (units, _) = head.as_chunks();
    let is_text = |unit: fn([u8; 2]) -> u16| {
        let is_ascii = |unit: &u16| matches!(unit, 0x09 | 0x0A | 0x0D | 0x20..=0x7E);
        let ascii = units.iter().filter(|&&bytes| is_ascii(&unit(bytes))).count();
        let is_char = |unit: u16| is_ascii(&unit) || (0xA0..0xFFFE).contains(&unit);
        2 * ascii >= units.len() && units.iter().all(|&bytes| is_char(unit(bytes)))
    };
    let encoding = match units {
        [[_, 0], ..] | [_, [_, 0], ..] if is_text(u16::from_le_bytes) => UTF_16LE,
        [[0, _], ..] | [_, [0, _], ..] if is_text(u16::from_be_bytes) => UTF_16BE,
        _ => return None,
    };
    (units.len() >= LEAST && Format::of_head(head) != Format::Html).then_some(encoding)
}

/// Whether data that begin with `head` are text in UTF-32, with a byte order mark or without one.
pub(crate) fn is_utf32(head: &[u8]) -> bool {
    const MARK: u32 = 0xFEFF;
    let (units, _) = head.as_chunks();
    let is_text = |unit: fn([u8; 4]) -> u32| {
        let is_char = |unit: u32| {
            let is_blank = matches!(unit, 0x09 | 0x0A | 0x0D);
            is_blank || unit >= 0x20 && char::from_u32(unit).is_some()
        };
        let is_marked = units.first().is_some_and(|&bytes| unit(bytes) == MARK);
        (is_marked || units.len() > 1) && units.iter().all(|&bytes| is_char(unit(bytes)))
    };
    is_text(u32::from_le_bytes) || is_text(u32::from_be_bytes)
}

/// The text of `inner`, in UTF-8 with its byte order mark. Lone surrogates, and half a unit at the end, become U+FFFD.
pub(crate) struct Utf16<R> {
    inner: R,
    decoder: Decoder,
    raw: Vec<u8>,
    text: Vec<u8>,
    /// The bytes of `text` that are returned already.
    given: usize,
    is_at_end: bool,
}

impl<R: Read> Utf16<R> {
    pub(crate) fn new(inner: R, encoding: &'static Encoding) -> Utf16<R> {
        Utf16 {
            inner,
            decoder: encoding.new_decoder_without_bom_handling(),
            raw: vec![0; PIECE],
            text: Vec::new(),
            given: 0,
            is_at_end: false,
        }
    }

    /// Decodes the next bytes of `inner`.
    fn next_piece(&mut self) -> io::Result<()> {
        let count = self.inner.read(&mut self.raw)?;
        self.is_at_end = count == 0;
        self.given = 0;
        self.text.resize(self.decoder.max_utf8_buffer_length(count).unwrap_or(4 * PIECE), 0);
        let (result, _, len, _) =
            self.decoder.decode_to_utf8(&self.raw[..count], &mut self.text, self.is_at_end);
        debug_assert_eq!(result, CoderResult::InputEmpty);
        self.text.truncate(len);
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() && !self.is_at_end {
            self.next_piece()?;
        }
        let left = &self.text[self.given..];
        let count = left.len().min(out.len());
        out[..count].copy_from_slice(&left[..count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        format!("\u{FEFF}{text}").encode_utf16().flat_map(bytes).collect()
    }

    /// Returns a few bytes at a time.
    struct Drips(io::Cursor<Vec<u8>>, usize);

    impl Read for Drips {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let most = out.len().min(self.1);
            self.0.read(&mut out[..most])
        }
    }

    #[test]
    fn text_is_decoded_whatever_the_pieces() {
        let text = "http://h/a\r\nhttp://h/\u{E9}\u{4E2D}\u{1F600}\n".repeat(900);
        for bytes in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
            let wide = in_utf16(&text, bytes);
            let encoding = encoding(&wide[..512]).unwrap();
            for (piece, room) in [(1, 1), (3, 5), (1 << 20, 3), (1 << 20, 1 << 20)] {
                let mut reader = Utf16::new(Drips(io::Cursor::new(wide.clone()), piece), encoding);
                let (mut found, mut buffer) = (Vec::new(), vec![0; room]);
                loop {
                    match reader.read(&mut buffer).unwrap() {
                        0 => break,
                        count => found.extend_from_slice(&buffer[..count]),
                    }
                }
                assert!(found == format!("\u{FEFF}{text}").as_bytes(), "{piece} {room}");
            }
        }
    }

    #[test]
    fn half_a_character_is_replaced_and_not_dropped() {
        for (end, expected) in [(&b"x\0\x3D\xD8"[..], "x\u{FFFD}"), (b"x\0y", "x\u{FFFD}")] {
            let wide = [b"\xFF\xFE", end].concat();
            let mut text = String::new();
            Utf16::new(&wide[..], UTF_16LE).read_to_string(&mut text).unwrap();
            assert_eq!(text, format!("\u{FEFF}{expected}"));
        }
    }

    #[test]
    fn utf_32_is_recognized() {
        for (text, expected) in [
            (&b"\xFF\xFE\0\0h\0\0\0"[..], true),
            (b"\0\0\xFE\xFF\0\0\0h", true),
            (b"h\0\0\0t\0\0\0", true),
            (b"\0\0\0h\0\0\0\n\0\0\0h", true),
            (b"\xFF\xFE\0\0", true),
            (b"\xFF\xFE\0\0\x01\0\0\0", false),
            (b"h\0\0\0\x01\0\0\0", false),
            (b"h\0t\0t\0p\0", false),
            (b"http://h/", false),
            (b"h\0\0\0", false),
            (b"\0\0\0\0\0\0\0\0", false),
            (b"", false),
        ] {
            assert_eq!(is_utf32(text), expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn a_mark_before_text_is_recognized() {
        for (text, expected) in [
            (&b"\xFF\xFEh\0t\0"[..], Some(UTF_16LE)),
            (b"\xFE\xFF\0\r\0\n\0h", Some(UTF_16BE)),
            (b"\xFF\xFE\x03\x26\n\0", Some(UTF_16LE)),
            // Chinese text without any ASCII, a tag, half a unit, nothing.
            (b"\xFF\xFE\x2D\x4E\x87\x65\x8C\xFF", Some(UTF_16LE)),
            (b"\xFE\xFF\0<\0!", Some(UTF_16BE)),
            (b"\xFE\xFF\0h\0", Some(UTF_16BE)),
            (b"\xFF\xFE", Some(UTF_16LE)),
            // A page, UTF-32, text in ASCII, binary data, no mark.
            (b"\xFF\xFE<\0p\0>\0", None),
            (b"\xFF\xFE\0\0h\0\0\0", None),
            (b"\xFF\xFEhttp://h/\n", None),
            (b"\xFF\xFEh\n", None),
            (b"\xFF\xFEh\0\x01\0", None),
            (b"h\0t\0", None),
            (b"h\0t\0t\0p\0:\0/\0/\0h\0\n", Some(UTF_16LE)),
            (b"\0h\0t\0t\0p\0:\0/\0/\0h\0\n", Some(UTF_16BE)),
            (b"\x2D\x4E \0h\0t\0t\0p\0:\0/\0/\0h\0\n\0", Some(UTF_16LE)),
            (b"h\0\0\0t\0\0\0t\0\0\0p\0\0\0:\0\0\0", None),
            (b"http://h/\0http://h/\0", None),
            (b"\xFF", None),
            (b"", None),
        ] {
            assert_eq!(encoding(text), expected, "{}", text.escape_ascii());
        }
    }
}
