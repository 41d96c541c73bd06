//! Case normalization (RFC 3986 section 6.2.2.1) of the case-insensitive parts: scheme, host, and
//! the parts that a scheme declares.

/// Appends `text`, which holds no percent-encodings, in lower case to `out`.
pub(crate) fn lower_into(text: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(text);
    out[start..].make_ascii_lowercase();
}

/// Lower-cases the ASCII letters of `text` outside percent-encodings.
///
/// `text` is normalized, so the digits of its percent-encodings stay upper case.
pub(crate) fn lower_outside_triplets(text: &mut [u8]) {
    let mut rest = text;
    while let Some(percent) = memchr::memchr(b'%', rest) {
        let (before, triplet) = rest.split_at_mut(percent);
        before.make_ascii_lowercase();
        rest = &mut triplet[3..];
    }
    rest.make_ascii_lowercase();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encodings_keep_their_case() {
        let mut text = b"A%2FB%C3%9CC".to_vec();
        lower_outside_triplets(&mut text);
        assert_eq!(text, b"a%2Fb%C3%9Cc");
    }

    #[test]
    fn earlier_output_is_unchanged() {
        let mut out = b"Kept".to_vec();
        lower_into(b"A+b.C", &mut out);
        assert_eq!(out, b"Kepta+b.c");
    }
}
