//! Pages in UTF-16.

use crate::chunk::Span;

/// The order of the bytes of a code unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// The order of bytes of a page in UTF-16, by its byte order mark or its first tag; `None` for
/// anything else.
pub(super) fn order(text: &[u8]) -> Option<Order> {
    let begins_tag = |byte: u8| byte.is_ascii_alphabetic() || byte == b'!' || byte == b'?';
    match *text.first_chunk()? {
        // The mark of UTF-32 begins with that of UTF-16.
        [0xFF, 0xFE, 0, 0] => None,
        [0xFF, 0xFE, ..] => Some(Order::Little),
        [0xFE, 0xFF, ..] => Some(Order::Big),
        [b'<', 0, first, 0] if begins_tag(first) => Some(Order::Little),
        [0, b'<', 0, first] if begins_tag(first) => Some(Order::Big),
        _ => None,
    }
}

/// `text` in UTF-8, with its byte order mark. Lone surrogates become U+FFFD, and a last odd byte is
/// dropped.
pub(super) fn decoded(text: &[u8], order: Order) -> Vec<u8> {
    let (units, _) = text.as_chunks();
    let units = units.iter().map(|&unit| match order {
        Order::Little => u16::from_le_bytes(unit),
        Order::Big => u16::from_be_bytes(unit),
    });
    let mut out = Vec::with_capacity(text.len() / 2 + text.len() / 8);
    for c in char::decode_utf16(units) {
        let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    out
}

/// Finds the positions in a text in UTF-16 of spans of its [`decoded`] form.
pub(super) struct Positions<'t> {
    decoded: &'t [u8],
    /// A position in it, and the same position in the original.
    at: u32,
    original: u32,
    /// The last span, and its original.
    last: (Span, Span),
}

impl<'t> Positions<'t> {
    pub(super) fn new(decoded: &'t [u8]) -> Positions<'t> {
        Positions { decoded, at: 0, original: 0, last: (Span::default(), Span::default()) }
    }

    /// The original of `span`, which begins where the previous one ended or later, or equals it.
    pub(super) fn original(&mut self, span: Span) -> Span {
        if span != self.last.0 {
            let start = self.advance(span.start);
            self.last = (span, Span { start, end: self.advance(span.end) });
        }
        self.last.1
    }

    fn advance(&mut self, to: u32) -> u32 {
        let passed = self.decoded.get(self.at as usize..to as usize).unwrap_or_default();
        let units: u32 = passed
            .iter()
            .map(|&byte| match byte {
                0x80..0xC0 => 0,
                0xF0.. => 2,
                _ => 1,
            })
            .sum();
        self.original += 2 * units;
        self.at = self.at.max(to);
        self.original
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_those_of_the_original() {
        let text = "\u{FEFF}<a href='\u{E9}\u{4E2D}\u{1F600}x'>\u{1F600}<a href=y>";
        for order in [Order::Little, Order::Big] {
            let bytes = |unit: u16| match order {
                Order::Little => unit.to_le_bytes(),
                Order::Big => unit.to_be_bytes(),
            };
            let mut wide: Vec<u8> = text.encode_utf16().flat_map(bytes).collect();
            wide.push(0);
            assert_eq!(super::order(&wide), Some(order));
            let narrow = decoded(&wide, order);
            assert_eq!(narrow, text.as_bytes());
            let mut positions = Positions::new(&narrow);
            for part in ["href", "\u{E9}\u{4E2D}\u{1F600}x", "x", "y"] {
                let start = text.rfind(part).unwrap() as u32;
                let span = Span { start, end: start + part.len() as u32 };
                if start < positions.at {
                    positions = Positions::new(&narrow);
                }
                for _ in 0..2 {
                    let found = positions.original(span);
                    assert_eq!(decoded(found.of(&wide), order), part.as_bytes());
                }
            }
        }
        assert_eq!(decoded(b"\x00\xD8<\x00", Order::Little), "\u{FFFD}<".as_bytes());
    }

    #[test]
    fn only_pages_in_utf_16_are_recognized() {
        for text in [&b"\xFF\xFE\0\0<\0\0\0"[..], b"<\0\0\0", b"<\0a", b"a\0b\0", b"", b"<a h"] {
            assert_eq!(order(text), None, "{text:?}");
        }
        assert_eq!(order(b"<\0?\0x\0"), Some(Order::Little));
        assert_eq!(order(b"\0<\0a\0>"), Some(Order::Big));
    }
}
