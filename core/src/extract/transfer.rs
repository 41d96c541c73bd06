//! Transfer encodings (RFC 2045 section 6) and character sets of parts of messages.

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;

use super::charset::Declared;

/// The transfer encoding of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// The bytes are those of the part.
    Identity,
    Base64,
    QuotedPrintable,
    /// Another one, such as `x-uuencode`.
    Unknown,
}

impl Encoding {
    /// The encoding that the value of a `Content-Transfer-Encoding` names.
    pub(super) fn of(value: &[u8]) -> Encoding {
        let value = value.trim_ascii();
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b";(".contains(byte);
        let name = &value[..value.iter().position(ends).unwrap_or(value.len())];
        match &name.to_ascii_lowercase()[..] {
            b"" | b"7bit" | b"8bit" | b"binary" => Encoding::Identity,
            b"base64" => Encoding::Base64,
            b"quoted-printable" => Encoding::QuotedPrintable,
            _ => Encoding::Unknown,
        }
    }
}

/// A decoded part.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) text: Vec<u8>,
    /// Offset in the coded bytes of the first one that is not of the encoding.
    pub(super) fault: Option<usize>,
}

/// Decodes base64 up to the first byte that is not of its alphabet; white space is skipped.
pub(super) fn base64(bytes: &[u8]) -> Decoded {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    let is_of_it = |&byte: &u8| is_digit(byte) || byte == b'=' || byte.is_ascii_whitespace();
    let end = bytes.iter().position(|byte| !is_of_it(byte)).unwrap_or(bytes.len());
    let text = base64_decode(&bytes[..end]).unwrap_or_default();
    // Six bits that are left over belong to a byte that is missing.
    let last = memchr::memrchr(b'=', &bytes[..end]).map_or(0, |at| at + 1);
    let digits = bytes[last..end].iter().filter(|&&byte| is_digit(byte)).count();
    let is_cut = end < bytes.len() || digits % 4 == 1;
    Decoded { text, fault: is_cut.then_some(end) }
}

/// Decodes quoted-printable. A `=` that begins neither a byte nor a line end stays.
pub(super) fn quoted_printable(bytes: &[u8]) -> Decoded {
    let mut text = Vec::with_capacity(bytes.len());
    let (mut at, mut fault) = (0, None);
    while let Some(found) = memchr::memchr(b'=', &bytes[at..]) {
        text.extend_from_slice(&bytes[at..at + found]);
        at += found;
        let after = &bytes[at + 1..];
        if let Some(byte) = hex_byte(after) {
            text.push(byte);
            at += 3;
        } else if let Some(len) = line_end(after) {
            at += 1 + len;
        } else {
            text.push(b'=');
            fault = fault.or(Some(at));
            at += 1;
        }
    }
    text.extend_from_slice(&bytes[at..]);
    Decoded { text, fault }
}

/// The byte whose two hexadecimal digits `text` begins with.
fn hex_byte(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

/// The length of the line end that `text` begins with, and of white space before it.
fn line_end(text: &[u8]) -> Option<usize> {
    /// White space that is added on the way; more is text.
    const MOST_SPACE: usize = 80;
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let space = text.iter().take(MOST_SPACE).position(|byte| !is_space(byte));
    match space {
        Some(len) => (text[len] == b'\n').then_some(len + 1),
        None => (text.len() < MOST_SPACE).then_some(text.len()),
    }
}

/// The character set of this name; that of mail by default, which is often untrue, is none.
pub(super) fn charset(name: &str) -> Declared {
    let name = name.trim();
    let is_default = ["us-ascii", "ascii"].iter().any(|it| name.eq_ignore_ascii_case(it));
    encoding_rs::Encoding::for_label(name.as_bytes()).filter(|_| !is_default)
}

/// `text`, which is in `charset`, in UTF-8, if that is UTF-7: mail alone has it, and it is all ASCII.
pub(super) fn in_utf8(charset: &str, text: &[u8]) -> Option<String> {
    let charset = charset.trim().to_ascii_lowercase();
    let is_utf7 = charset.starts_with("utf-7") || charset == "csutf7";
    is_utf7.then(|| charset_decoder(b"utf-7")).flatten().map(|decode| decode(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &[u8]) -> Decoded {
        Decoded { text: text.to_vec(), fault: None }
    }

    #[test]
    fn names_of_encodings_are_read_as_they_are_written() {
        for (value, encoding) in [
            (&b" BASE64 \r"[..], Encoding::Base64),
            (b"Quoted-Printable; x", Encoding::QuotedPrintable),
            (b"8bit (as it is)", Encoding::Identity),
            (b"", Encoding::Identity),
            (b"x-uuencode", Encoding::Unknown),
        ] {
            assert_eq!(Encoding::of(value), encoding);
        }
    }

    #[test]
    fn base64_is_decoded_up_to_a_fault() {
        assert_eq!(base64(b"aHR0cDovL2gv\r\n"), plain(b"http://h/"));
        assert_eq!(base64(b"aHR0cDovL2g\n"), plain(b"http://h"));
        assert_eq!(base64(b"aHR0cDovL2g= YQ=="), plain(b"http://ha"));
        assert_eq!(base64(b""), plain(b""));
        let part = |text: &[u8], fault| Decoded { text: text.to_vec(), fault: Some(fault) };
        assert_eq!(base64(b"aHR0cDovL2gv\n--\nsee"), part(b"http://h/", 13));
        assert_eq!(base64(b"aHR0c"), part(b"htt", 5));
    }

    #[test]
    fn quoted_printable_keeps_what_is_not_of_it() {
        for (coded, text) in [
            (&b"http://h/?a=3Db=\r\nc=\nd= \t\ne"[..], &b"http://h/?a=bcde"[..]),
            (b"=c3=A9=", b"\xC3\xA9"),
            (b"=  ", b""),
        ] {
            assert_eq!(quoted_printable(coded), plain(text));
        }
        let found = quoted_printable(b"a=3D?b=x&c=");
        assert_eq!(found, Decoded { text: b"a=?b=x&c".to_vec(), fault: Some(6) });
        let wide = [&b"="[..], &[b' '; 100], b"\n"].concat();
        assert_eq!(quoted_printable(&wide), Decoded { text: wide.clone(), fault: Some(0) });
    }

    #[test]
    fn character_sets_are_decoded_where_that_matters() {
        assert_eq!(in_utf8("UTF-7", b"http:+AC8-/h/").as_deref(), Some("http://h/"));
        assert_eq!(in_utf8("utf-8", b"http:+AC8-/h/"), None);
        assert_eq!(charset(" Shift_JIS "), Some(encoding_rs::SHIFT_JIS));
        assert_eq!(charset("ISO-8859-1"), Some(encoding_rs::WINDOWS_1252));
        assert_eq!(["us-ascii", "ASCII", "x-none", ""].map(charset), [None; 4]);
    }
}
