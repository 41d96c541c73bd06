//! What is around a record and cannot be seen: spaces beyond ASCII, and characters without a width.

use core::ops::Range;

/// Whether `c` is a space beyond ASCII, or an invisible character that means nothing at the end of a text.
///
/// A variation selector or a tag is not one, since it changes the character before it.
const fn is_padding(c: char) -> bool {
    // Spaces: `White_Space` of Unicode.
    let is_space = matches!(
        c,
        '\u{85}' | '\u{A0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200A}' | '\u{2028}' | '\u{2029}' | '\u{202F}' | '\u{205F}' | '\u{3000}'
    );
    // Soft hyphen, marks of direction, joiners, which join nothing there, and the byte order mark.
    let is_invisible = matches!(
        c,
        '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}'
    );
    is_space || is_invisible
}

/// The part of `text` without padding around it, and without white space beside that; all of it if it is not UTF-8.
pub(super) fn without(text: &[u8]) -> Range<usize> {
    let whole = 0..text.len();
    let Ok(text) = str::from_utf8(text) else { return whole };
    let is_outside = |c: char| is_padding(c) || c.is_ascii_whitespace() || c == '\u{B}';
    let after = text.trim_start_matches(is_outside);
    let start = match &text[..text.len() - after.len()] {
        before if before.contains(is_padding) => before.len(),
        _ => 0,
    };
    let before = text[start..].trim_end_matches(is_outside);
    let end = start + before.len();
    match text[end..].contains(is_padding) {
        true => start..end,
        false => start..text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_found_at_the_ends_only() {
        for (text, kept) in [
            ("a\u{A0}", "a"),
            ("\u{FEFF}a", "a"),
            ("\u{3000} \u{200B}a\u{A0}b \u{2060}\u{200D}", "a\u{A0}b"),
            ("\u{202A}a\u{202C}\t", "a"),
            (" a ", " a "),
            ("\u{A0} a ", "a "),
            ("\u{2764}\u{FE0F}", "\u{2764}\u{FE0F}"),
            ("\u{A0}\u{200B}", ""),
            ("", ""),
        ] {
            assert_eq!(&text[without(text.as_bytes())], kept, "{text:?}");
        }
        assert_eq!(without(b"\xA0"), 0..1);
        let spaces = ('\u{80}'..=char::MAX).filter(|c| c.is_whitespace());
        assert!(spaces.clone().count() > 15 && spaces.clone().all(is_padding));
    }
}
