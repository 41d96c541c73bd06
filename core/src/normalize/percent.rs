//! Percent-encoding normalization (RFC 3986 sections 6.2.2.1, 6.2.2.2 and 2.3).
//!
//! An encoded unreserved character is decoded; the digits of any other percent-encoding become upper case.
//! Nothing is ever decoded twice: the cursor steps over its own output, so `%25%34%31` is `%2541`
//! and not `%41`. Reserved characters and bytes of no class stay encoded: `%2F` is data and `/` is
//! a delimiter.

use crate::grammar::class::{ByteClass, UNRESERVED};

/// The value of one hexadecimal digit, as the strict parser has verified.
fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        // Bit 5 is the case of an ASCII letter.
        _ => (digit | 0x20) - b'a' + 10,
    }
}

/// The byte that the percent-encoding `%` `high` `low` encodes. Both are hexadecimal digits.
pub(crate) fn decode(high: u8, low: u8) -> u8 {
    nibble(high) << 4 | nibble(low)
}

/// Appends `text`, a component whose every `%` is followed by two digits, to `out`.
pub(crate) fn normalize_into(text: &[u8], out: &mut Vec<u8>) {
    normalize_by(UNRESERVED, text, out);
}

/// [`normalize_into`] for a grammar whose unreserved characters are `unreserved`.
#[inline]
pub(crate) fn normalize_by(unreserved: ByteClass, text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(percent) = memchr::memchr(b'%', rest) {
        let (before, triplet) = rest.split_at(percent);
        out.extend_from_slice(before);
        push_encoded(decode(triplet[1], triplet[2]), unreserved, out);
        rest = &triplet[3..];
    }
    out.extend_from_slice(rest);
}

/// Appends `%` and the two upper-case digits of `byte` (6.2.2.1).
pub fn push_triplet(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// The bytes of `text` with its percent-encodings decoded, once; other bytes are unchanged.
pub fn decoded(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(percent) = memchr::memchr(b'%', rest) {
        decoded.extend_from_slice(&rest[..percent]);
        let encoded = triplet(rest, percent);
        decoded.push(encoded.unwrap_or(b'%'));
        rest = &rest[percent + if encoded.is_some() { 3 } else { 1 }..];
    }
    decoded.extend_from_slice(rest);
    decoded
}

/// [`decoded`], each byte with whether it was encoded.
#[cfg(feature = "bulk")]
pub(crate) fn decode_each(text: &[u8]) -> impl Iterator<Item = (u8, bool)> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let (byte, encoded) = (*text.get(at)?, triplet(text, at));
        at += if encoded.is_some() { 3 } else { 1 };
        Some((encoded.unwrap_or(byte), encoded.is_some()))
    })
}

/// The byte that the percent-encoding at `at` encodes, if there is one.
pub(crate) fn triplet(text: &[u8], at: usize) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match text.get(at..)? {
        [b'%', high, low, ..] => Some((digit(*high)? << 4 | digit(*low)?) as u8),
        _ => None,
    }
}

/// Appends `byte`, as a percent-encoding unless it is one of `plain`.
pub fn push_encoded(byte: u8, plain: ByteClass, out: &mut Vec<u8>) {
    if plain.has(byte) {
        out.push(byte);
    } else {
        push_triplet(byte, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(text: &str) -> String {
        let mut out = b"kept".to_vec();
        normalize_into(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap().strip_prefix("kept").unwrap().to_owned()
    }

    #[test]
    fn every_byte_is_decoded_exactly_when_it_is_unreserved() {
        for byte in 0..=255u8 {
            let upper = format!("%{byte:02X}");
            let expected = match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    char::from(byte).to_string()
                }
                _ => upper.clone(),
            };
            assert_eq!(normalized(&upper), expected);
            assert_eq!(normalized(&format!("%{byte:02x}")), expected);
        }
    }

    #[test]
    fn all_percent_encodings_and_nothing_else_are_decoded() {
        assert_eq!(decoded(b"a%41%c3%A9%zz%4%2525%"), b"aA\xC3\xA9%zz%4%25%");
    }

    #[test]
    fn nothing_is_decoded_twice() {
        assert_eq!(normalized("%25%34%31"), "%2541");
        assert_eq!(normalized("%2541"), "%2541");
        assert_eq!(normalized("%25%36%31x%7e"), "%2561x~");
    }
}
