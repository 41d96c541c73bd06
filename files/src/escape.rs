//! Escapes text from outside for printing: names of files and archive members, URIs, names
//! in rule files and sets.
//!
//! A terminal acts on control characters; characters that set the direction of text or have no
//! width make a line read as something else. They are written as escapes, as in records
//! (the module `io` of `uriscan`). Nothing else is changed.

use std::fmt::{self, Write};

/// Escapes control characters, line ends included, and characters that are invisible or change the
/// direction of others.
///
/// ```
/// use uriscan_files::escape::escaped;
/// assert_eq!(escaped("résumé \x1b[2J\n.txt").to_string(), r"résumé \x1b[2J\n.txt");
/// assert_eq!(escaped("a\u{202e}gpj.exe").to_string(), r"a\u{202e}gpj.exe");
/// ```
pub fn escaped(text: &str) -> impl fmt::Display + '_ {
    Escaped(text)
}

/// [`escaped`] for bytes; bytes that are not UTF-8 are written as `\xff`.
pub fn escaped_bytes(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        // Writing to a `String` does not fail.
        let _ = write!(out, "{}", Escaped(chunk.valid()));
        chunk.invalid().iter().for_each(|byte| {
            let _ = write!(out, "\\x{byte:02x}");
        });
    }
    out
}

/// A number of things, given what one of them is called: `1 byte`, `2 bytes`.
pub fn counted(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// The escape for `c`.
pub fn escape(c: char) -> String {
    match c {
        '\t' | '\r' | '\n' => c.escape_default().to_string(),
        c if c.is_ascii() => format!("\\x{:02x}", u32::from(c)),
        c => c.escape_unicode().to_string(),
    }
}

struct Escaped<'t>(&'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, c)) = rest.char_indices().find(|&(_, c)| is_hidden(c)) {
            f.write_str(&rest[..at])?;
            f.write_str(&escape(c))?;
            rest = &rest[at + c.len_utf8()..];
        }
        f.write_str(rest)
    }
}

/// Whether a terminal acts on `c` or shows nothing for it: control and format characters, and line
/// separators.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{AD}'
                | '\u{600}'..='\u{605}'
                | '\u{61C}'
                | '\u{6DD}'
                | '\u{70F}'
                | '\u{180E}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{FEFF}'
                | '\u{FFF9}'..='\u{FFFB}'
                | '\u{1D173}'..='\u{1D17A}'
                | '\u{E0000}'..='\u{E007F}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_their_number() {
        let texts = [0, 1, 2].map(|count| counted(count, "byte"));
        assert_eq!(texts, ["0 bytes", "1 byte", "2 bytes"]);
    }

    #[test]
    fn no_character_that_a_terminal_acts_on_remains() {
        for c in (0..=0x2FFF).chain(0xFE00..=0xFFFF).chain(0xE_0000..=0xE_0080) {
            let Some(c) = char::from_u32(c) else { continue };
            let shown = escaped(&format!("a{c}b")).to_string();
            assert!(!shown.contains(is_hidden), "{shown:?}");
            assert!(shown.starts_with('a') && shown.ends_with('b'));
            assert_eq!(shown.chars().count() == 3, !is_hidden(c), "{shown:?}");
        }
        let (bell, csi) = ("\x07\x1b]0;x\x07", "\u{9b}2J");
        assert_eq!(escaped(&[bell, csi].concat()).to_string(), r"\x07\x1b]0;x\x07\u{9b}2J");
    }

    #[test]
    fn other_text_is_unchanged() {
        for text in ["", "http://h/?a=b#c", "a b – “c” 日本 é 😀 \\x1b", "/tmp/a'b\"c"] {
            assert_eq!(escaped(text).to_string(), text);
            assert_eq!(escaped_bytes(text.as_bytes()), text);
        }
        assert_eq!(escaped_bytes(b"a\xFF\x1b\xC3"), r"a\xff\x1b\xc3");
    }
}
