//! A text without its percent-encoding, whatever the number of layers: `%252F` is a slash, as `%2F` and `/` are.
//!
//! Owns the decoded bytes, and knows of each in how many layers it was encoded, since what is encoded once more is the
//! content of what is not; and where path and query of the text end. It never fails: a `%` that encodes nothing is itself.

use std::borrow::Cow;

use super::triplet;

/// Number of layers that are distinguished; deeper ones count as the last.
pub(super) const MOST: usize = 7;

/// The bytes of a text, decoded.
pub(super) struct Layers<'t> {
    bytes: Cow<'t, [u8]>,
    /// Of each byte, in how many layers it is encoded. Empty if none is.
    depths: Vec<u8>,
    /// Of each byte that is encoded, the bytes of the text that encode it.
    lens: Vec<usize>,
    /// The ends of the path and of the query.
    pub(super) path_end: usize,
    pub(super) query_end: usize,
}

impl<'t> Layers<'t> {
    pub(super) fn of(text: &'t [u8]) -> Layers<'t> {
        if memchr::memchr(b'%', text).is_none() {
            return Layers::with(Cow::Borrowed(text), Vec::new(), Vec::new());
        }
        let Decoded { bytes, depths, lens } = Decoded::of(text);
        Layers::with(Cow::Owned(bytes), depths, lens)
    }

    fn with(bytes: Cow<'t, [u8]>, depths: Vec<u8>, lens: Vec<usize>) -> Layers<'t> {
        let mut layers = Layers { bytes, depths, lens, path_end: 0, query_end: 0 };
        layers.query_end = layers.first_plain(b'#', layers.bytes.len());
        layers.path_end = layers.first_plain(b'?', layers.query_end);
        layers
    }

    /// Where `byte` is first, not encoded, or else `end`.
    fn first_plain(&self, byte: u8, end: usize) -> usize {
        let mut found = memchr::memchr_iter(byte, &self.bytes[..end]);
        found.find(|&at| self.depth(at) == 0).unwrap_or(end)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// In how many layers the byte at `at` is encoded.
    pub(super) fn depth(&self, at: usize) -> usize {
        self.depths.get(at).copied().unwrap_or(0).into()
    }

    /// The end of the component that has the byte at `at`.
    pub(super) fn component_end(&self, at: usize) -> usize {
        match at {
            at if at < self.path_end => self.path_end,
            at if at < self.query_end => self.query_end,
            _ => self.bytes.len(),
        }
    }

    /// Whether `&` separates parameters at `at` in this layer: after the path, or nested.
    pub(super) fn has_parameters(&self, at: usize, depth: usize) -> bool {
        at > self.path_end || depth > 0
    }

    /// Where bytes are in the text.
    pub(super) fn places(&self) -> Places<'_> {
        Places { depths: &self.depths, lens: self.lens.iter(), raw: 0, decoded: 0 }
    }
}

/// Maps offsets of decoded bytes to those of the text; offsets must rise.
pub(super) struct Places<'l> {
    depths: &'l [u8],
    lens: core::slice::Iter<'l, usize>,
    raw: usize,
    decoded: usize,
}

impl Places<'_> {
    pub(super) fn of(&mut self, at: usize) -> usize {
        if self.depths.is_empty() {
            return at;
        }
        while self.decoded < at {
            self.raw += match self.depths[self.decoded] {
                0 => 1,
                _ => self.lens.next().copied().unwrap_or(1),
            };
            self.decoded += 1;
        }
        self.raw
    }
}

/// A text while it is decoded. What has become of its first bytes ends with no triplet, so that each byte is put there once:
/// a digit may be encoded as well, as in `%25%33%44`.
#[derive(Default)]
struct Decoded {
    bytes: Vec<u8>,
    depths: Vec<u8>,
    lens: Vec<usize>,
}

impl Decoded {
    fn of(text: &[u8]) -> Decoded {
        let mut decoded = Decoded::default();
        decoded.bytes.reserve(text.len());
        decoded.depths.reserve(text.len());
        let mut rest = text;
        while let [first, after @ ..] = rest {
            let awaits_digits = matches!(decoded.bytes[..], [.., b'%'] | [.., b'%', _]);
            // What is encoded once, as most is.
            if !awaits_digits && let Some(byte) = triplet(rest, 0).filter(|byte| *byte != b'%') {
                decoded.bytes.push(byte);
                decoded.depths.push(1);
                decoded.lens.push(3);
                rest = &rest[3..];
                continue;
            }
            if *first == b'%' || awaits_digits {
                decoded.push(*first);
                rest = after;
                continue;
            }
            let len = memchr::memchr(b'%', rest).unwrap_or(rest.len());
            decoded.bytes.extend_from_slice(&rest[..len]);
            decoded.depths.resize(decoded.bytes.len(), 0);
            rest = &rest[len..];
        }
        decoded
    }

    /// Appends a byte of the text, and decodes what ends with it.
    fn push(&mut self, byte: u8) {
        self.bytes.push(byte);
        self.depths.push(0);
        while let [.., b'%', high, low] = self.bytes[..]
            && let Some(byte) = triplet(&[b'%', high, low], 0)
        {
            let (mut depth, mut len) = (0, 0);
            for _ in 0..3 {
                let own = self.depths.pop().unwrap_or(0);
                len += if own == 0 { 1 } else { self.lens.pop().unwrap_or(1) };
                depth = own.max(depth);
                self.bytes.pop();
            }
            self.bytes.push(byte);
            self.depths.push((depth + 1).min(MOST as u8));
            self.lens.push(len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_decoded_in_all_layers() {
        for (text, bytes, depths) in [
            ("", "", &[][..]),
            ("a/b", "a/b", &[0, 0, 0]),
            ("%2F%252f%25252F", "///", &[1, 2, 3]),
            ("a%41%2541b", "aAAb", &[0, 1, 2, 0]),
            ("%", "%", &[0]),
            ("%2", "%2", &[0, 0]),
            ("%25", "%", &[1]),
            ("%25zz%2g", "%zz%2g", &[1, 0, 0, 0, 0, 0]),
            ("%2525252", "%2", &[3, 0]),
            // Of what is encoded, digits may be encoded, too, by whatever encodes all bytes.
            ("a%25%33%44b", "a=b", &[0, 2, 0]),
            ("%25%32%46%2%46", "//", &[2, 2]),
            ("%25%32%35%33%44", "=", &[3]),
            ("%%33D%%%34%30", "=%@", &[2, 0, 2]),
            ("%%32%353d", "=", &[3]),
        ] {
            let layers = Layers::of(text.as_bytes());
            let found: Vec<usize> = (0..bytes.len()).map(|at| layers.depth(at)).collect();
            assert_eq!((layers.bytes(), &found[..]), (bytes.as_bytes(), depths), "{text}");
        }
        let deep = format!("%{}2F", "25".repeat(300));
        let layers = Layers::of(deep.as_bytes());
        assert_eq!((layers.bytes(), layers.depth(0)), (&b"/"[..], MOST));
    }

    #[test]
    fn what_is_encoded_once_is_decoded_as_byte_by_byte() {
        let pieces = ["%", "%2", "%25", "%41", "%2F", "a", "4", "F", "%%", "%zz"];
        for number in 0..10_000 {
            let digits = [number, number / 10, number / 100, number / 1_000];
            let text = digits.map(|digit| pieces[digit % 10]).concat();
            let mut slow = Decoded::default();
            text.bytes().for_each(|byte| slow.push(byte));
            let Decoded { bytes, depths, lens } = Decoded::of(text.as_bytes());
            assert_eq!((bytes, depths, lens), (slow.bytes, slow.depths, slow.lens), "{text}");
        }
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = b"a%252Fb%41c";
        let layers = Layers::of(text);
        let mut places = layers.places();
        let found: Vec<usize> = (0..=5).map(|at| places.of(at)).collect();
        assert_eq!((layers.bytes(), found), (&b"a/bAc"[..], vec![0, 1, 6, 7, 10, 11]));
        let layers = Layers::of(b"%25%32%46a%%%34%30b");
        let mut places = layers.places();
        let found: Vec<usize> = (0..=5).map(|at| places.of(at)).collect();
        assert_eq!((layers.bytes(), found), (&b"/a%@b"[..], vec![0, 9, 10, 11, 18, 19]));
    }
}
