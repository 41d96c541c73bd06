//! A text with its character references decoded, once, and where they were.

use std::borrow::Cow;

use crate::grammar::character_reference;

/// A reference that was decoded.
struct Reference {
    /// Where its character begins in the decoded text, and where that ends.
    start: u32,
    end: u32,
    /// Where it begins in the text, and where it ends.
    from: u32,
    to: u32,
}

/// A text with its references decoded, and where they were.
pub(super) struct Decoded<'t> {
    pub(super) text: Cow<'t, [u8]>,
    references: Vec<Reference>,
}

impl<'t> Decoded<'t> {
    /// `text`, of which nothing is decoded.
    pub(super) fn unchanged(text: &'t [u8]) -> Decoded<'t> {
        Decoded { text: Cow::Borrowed(text), references: Vec::new() }
    }

    /// `text`, decoded once.
    pub(super) fn of(text: &'t [u8]) -> Decoded<'t> {
        let (mut out, mut references, mut at) = (Vec::new(), Vec::new(), 0);
        for from in memchr::memchr_iter(b'&', text) {
            let Some((c, len)) = character_reference(&text[from..]) else { continue };
            out.extend_from_slice(&text[at..from]);
            let start = out.len();
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            at = from + len;
            // A record is shorter than 4 GiB, and its references take four times its bytes at most.
            let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let (start, end) = (place(start), place(out.len()));
            references.push(Reference { start, end, from: place(from), to: place(at) });
        }
        if references.is_empty() {
            return Decoded::unchanged(text);
        }
        out.extend_from_slice(&text[at..]);
        Decoded { text: Cow::Owned(out), references }
    }

    /// Where the first reference begins in the text before, and the bytes of all of them; `None` if there is none.
    pub(super) fn made(&self) -> Option<(usize, u32)> {
        let bytes = self.references.iter().map(|found| found.to - found.from).sum();
        Some((self.references.first()?.from as usize, bytes))
    }

    /// The offset in the text before of the byte at `at`.
    pub(super) fn place(&self, at: usize) -> usize {
        let before = self.references.partition_point(|found| found.start as usize <= at);
        match before.checked_sub(1).map(|last| &self.references[last]) {
            None => at,
            Some(found) if at < found.end as usize => found.from as usize,
            Some(found) => found.to as usize + (at - found.end as usize),
        }
    }

    /// The ranges of the decoded text that references represented, in order.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (usize, usize)> {
        self.references.iter().map(|found| (found.start as usize, found.end as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_decoded_once_and_its_bytes_keep_their_positions() {
        let text = b"a&amp;amp;b&#xe9;c&x;d";
        let decoded = Decoded::of(text);
        assert_eq!(*decoded.text, *"a&amp;b\u{E9}c&x;d".as_bytes());
        assert_eq!(decoded.made(), Some((1, 11)));
        let places: Vec<usize> = (0..decoded.text.len()).map(|at| decoded.place(at)).collect();
        assert_eq!(places, [0, 1, 6, 7, 8, 9, 10, 11, 11, 17, 18, 19, 20, 21]);
        assert!(Decoded::of(b"a&b=1").made().is_none());
    }
}
