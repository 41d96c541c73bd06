//! Recognizes documents in UTF-16.

/// The order of the bytes of a code unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// The order of bytes of a document in UTF-16, by its byte order mark or its first tag; `None` for
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_in_utf_16_are_recognized() {
        for text in [&b"\xFF\xFE\0\0<\0\0\0"[..], b"<\0\0\0", b"<\0a", b"a\0b\0", b"", b"<a h"] {
            assert_eq!(order(text), None, "{text:?}");
        }
        assert_eq!(order(b"<\0?\0x\0"), Some(Order::Little));
        assert_eq!(order(b"\0<\0a\0>"), Some(Order::Big));
    }
}
