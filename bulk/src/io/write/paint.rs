//! Text of reports for people: escaped, and in the colours of one small palette.

use uriscan_files::escape::escape;

/// Faults, and what is removed.
pub(crate) const RED: &str = "31";
/// What is right, and what is added.
pub(crate) const GREEN: &str = "32";
/// Names of rules and reasons, and warnings.
pub(crate) const YELLOW: &str = "33";
/// Names of levels, and notes.
pub(crate) const CYAN: &str = "36";
/// That of other text.
pub(crate) const PLAIN: &str = "0";

/// The colours of a terminal, or none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Paint {
    pub(crate) is_on: bool,
}

impl Paint {
    /// Appends `text`, escaped, in a colour.
    pub(crate) fn push(self, colour: &str, text: &[u8], out: &mut Vec<u8>) {
        if self.is_on {
            out.extend_from_slice(b"\x1b[");
            out.extend_from_slice(colour.as_bytes());
            out.push(b'm');
        }
        push_escaped(text, usize::MAX, out);
        if self.is_on {
            out.extend_from_slice(b"\x1b[0m");
        }
    }

    /// Appends `text` in a colour and blanks up to `width`.
    pub(crate) fn push_padded(self, colour: &str, text: &str, width: usize, out: &mut Vec<u8>) {
        self.push(colour, text.as_bytes(), out);
        out.extend(std::iter::repeat_n(b' ', width.saturating_sub(text.len()) + 2));
    }
}

/// Appends `bytes`, escaped, as far as they fit into `columns`, but at least one character; returns
/// the number of bytes and of columns.
pub(crate) fn push_escaped(bytes: &[u8], columns: usize, out: &mut Vec<u8>) -> (usize, usize) {
    // More bytes never fit, so a long rest need not be decoded.
    let bytes = &bytes[..bytes.len().min(columns.saturating_mul(4).max(4))];
    // Most texts begin with characters that are shown as they are, a column each, or have no others.
    let plain = bytes.iter().take_while(|byte| (b' '..=b'~').contains(byte)).count();
    let (plain, rest) = bytes.split_at(plain.min(columns.max(1)));
    out.extend_from_slice(plain);
    let (mut taken, mut used) = (plain.len(), plain.len());
    let mut push = |text: &str, len: usize| {
        let width = text.chars().count();
        let fits = taken == 0 || used + width <= columns;
        if fits {
            out.extend_from_slice(text.as_bytes());
            (taken, used) = (taken + len, used + width);
        }
        fits
    };
    'all: for chunk in rest.utf8_chunks() {
        for c in chunk.valid().chars() {
            let text = match c {
                c if c.is_alphanumeric() || c == ' ' || c.is_ascii_graphic() => c.to_string(),
                c => escape(c),
            };
            if !push(&text, c.len_utf8()) {
                break 'all;
            }
        }
        for byte in chunk.invalid() {
            if !push(&format!("\\x{byte:02x}"), 1) {
                break 'all;
            }
        }
    }
    (taken, used)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The plain oracle, character by character.
    fn slow(bytes: &[u8], columns: usize) -> (Vec<u8>, (usize, usize)) {
        let (mut out, mut taken, mut used) = (Vec::new(), 0, 0);
        let mut shown: Vec<(String, usize)> = Vec::new();
        for chunk in bytes.utf8_chunks() {
            shown.extend(chunk.valid().chars().map(|c| match c {
                c if c.is_alphanumeric() || c == ' ' || c.is_ascii_graphic() => {
                    (c.to_string(), c.len_utf8())
                }
                c => (escape(c), c.len_utf8()),
            }));
            shown.extend(chunk.invalid().iter().map(|byte| (format!("\\x{byte:02x}"), 1)));
        }
        for (text, len) in shown {
            let width = text.chars().count();
            if taken > 0 && used + width > columns {
                break;
            }
            out.extend_from_slice(text.as_bytes());
            (taken, used) = (taken + len, used + width);
        }
        (out, (taken, used))
    }

    proptest! {
        #[test]
        fn text_is_cut_where_the_width_ends(text in "[ -~]{0,9}(\\PC|[ -~]|\u{1b}|\n){0,9}", odd in any::<bool>()) {
            let mut bytes = text.into_bytes();
            if odd {
                bytes.push(0xFF);
            }
            for columns in [0, 1, 2, 5, 9, 12, 30, usize::MAX] {
                let mut out = Vec::new();
                let found = push_escaped(&bytes, columns, &mut out);
                prop_assert_eq!((out, found), slow(&bytes, columns), "{}", columns);
            }
        }
    }
}
