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
    text: &'t [u8],
    bytes: Cow<'t, [u8]>,
    /// Of each byte, in how many layers it is encoded. Empty if none is.
    depths: Vec<u8>,
    /// The ends of the path and of the query.
    path_end: usize,
    query_end: usize,
}

impl<'t> Layers<'t> {
    pub(super) fn of(text: &'t [u8]) -> Layers<'t> {
        if memchr::memchr(b'%', text).is_none() {
            return Layers::with(text, Cow::Borrowed(text), Vec::new());
        }
        let mut bytes = Vec::with_capacity(text.len());
        let mut depths = Vec::with_capacity(text.len());
        let mut at = 0;
        while let Some(len) = memchr::memchr(b'%', &text[at..]) {
            bytes.extend_from_slice(&text[at..at + len]);
            depths.resize(bytes.len(), 0);
            let unit = Unit::at(text, at + len);
            bytes.push(unit.byte);
            depths.push(unit.depth);
            at += len + unit.len;
        }
        bytes.extend_from_slice(&text[at..]);
        depths.resize(bytes.len(), 0);
        Layers::with(text, Cow::Owned(bytes), depths)
    }

    fn with(text: &'t [u8], bytes: Cow<'t, [u8]>, depths: Vec<u8>) -> Layers<'t> {
        let mut layers = Layers { text, bytes, depths, path_end: 0, query_end: 0 };
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

    pub(super) fn path_end(&self) -> usize {
        self.path_end
    }

    pub(super) fn query_end(&self) -> usize {
        self.query_end
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
    pub(super) fn places(&self) -> Places<'t> {
        let is_encoded = !self.depths.is_empty();
        Places { text: self.text, is_encoded, raw: 0, decoded: 0 }
    }
}

/// Maps offsets of decoded bytes to those of the text; offsets must rise.
pub(super) struct Places<'t> {
    text: &'t [u8],
    is_encoded: bool,
    raw: usize,
    decoded: usize,
}

impl Places<'_> {
    pub(super) fn of(&mut self, at: usize) -> usize {
        if !self.is_encoded {
            return at;
        }
        while self.decoded < at {
            self.raw += Unit::at(self.text, self.raw).len;
            self.decoded += 1;
        }
        self.raw
    }
}

/// A byte as a text has it.
struct Unit {
    byte: u8,
    depth: u8,
    /// Bytes of the text that encode it.
    len: usize,
}

impl Unit {
    /// The one that begins at `at`. A percent sign that is encoded may begin the next triplet.
    fn at(text: &[u8], at: usize) -> Unit {
        let mut unit = Unit { byte: text[at], depth: 0, len: 1 };
        while unit.byte == b'%' {
            // Of an encoded percent sign, its last digit takes the place of the sign.
            let digits = text.get(at + unit.len..at + unit.len + 2);
            let Some(byte) = digits.and_then(|digits| triplet(&[b'%', digits[0], digits[1]], 0))
            else {
                break;
            };
            unit.byte = byte;
            unit.depth = (unit.depth + 1).min(MOST as u8);
            unit.len += 2;
        }
        unit
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
    fn places_are_those_of_the_text() {
        let text = b"a%252Fb%41c";
        let layers = Layers::of(text);
        let mut places = layers.places();
        let found: Vec<usize> = (0..=5).map(|at| places.of(at)).collect();
        assert_eq!((layers.bytes(), found), (&b"a/bAc"[..], vec![0, 1, 6, 7, 10, 11]));
    }
}
