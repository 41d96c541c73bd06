//! One constant per byte-valued rule of RFC 3986 Appendix A.
//!
//! A [`ByteClass`] is a set of ASCII bytes; no byte of 0x80 and above is in any
//! class of the grammar, so 128 bits hold it. `%` belongs to none of the
//! composed classes: `pct-encoded` is three bytes and is checked by itself.

/// A set of ASCII bytes, as the two halves of a 128-bit bitmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteClass(u128);

impl ByteClass {
    /// The class of exactly the bytes in `bytes`, all below 0x80.
    pub const fn of(bytes: &[u8]) -> ByteClass {
        let mut bits = 0u128;
        let mut i = 0;
        while i < bytes.len() {
            assert!(bytes[i] < 0x80, "a grammar class holds ASCII only");
            bits |= 1 << bytes[i];
            i += 1;
        }
        ByteClass(bits)
    }

    /// The class of all bytes from `first` to `last`, both inclusive and below 0x80.
    pub const fn range(first: u8, last: u8) -> ByteClass {
        assert!(first <= last && last < 0x80);
        let mut bits = 0u128;
        let mut byte = first;
        while byte <= last {
            bits |= 1 << byte;
            byte += 1;
        }
        ByteClass(bits)
    }

    /// The union of two classes (`/` in ABNF).
    pub const fn or(self, other: ByteClass) -> ByteClass {
        ByteClass(self.0 | other.0)
    }

    /// The bytes of `self` that are not in `other`.
    pub const fn without(self, other: ByteClass) -> ByteClass {
        ByteClass(self.0 & !other.0)
    }

    /// Whether `byte` is in the class. Bytes of 0x80 and above never are.
    ///
    /// ```
    /// use uriscan_core::grammar::class::UNRESERVED;
    /// assert!(UNRESERVED.has(b'~') && !UNRESERVED.has(b'/') && !UNRESERVED.has(0xE9));
    /// ```
    #[inline(always)]
    pub const fn has(self, byte: u8) -> bool {
        // Two words instead of one of 128 bits: shifting those takes many instructions.
        let word = if byte & 0x40 == 0 { self.0 as u64 } else { (self.0 >> 64) as u64 };
        byte < 0x80 && word >> (byte & 0x3F) & 1 != 0
    }

    /// The class as a table indexed by the byte, for scalar loops.
    pub const fn table(self) -> [bool; 256] {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 128 {
            table[byte] = self.has(byte as u8);
            byte += 1;
        }
        table
    }
}

/// `ALPHA = %x41-5A / %x61-7A`
pub const ALPHA: ByteClass = UPPER.or(ByteClass::range(b'a', b'z'));
/// The upper-case half of `ALPHA`.
pub const UPPER: ByteClass = ByteClass::range(b'A', b'Z');
/// `DIGIT = %x30-39`
pub const DIGIT: ByteClass = ByteClass::range(b'0', b'9');
/// `HEXDIG`, in either case (RFC 5234 section 2.3: ABNF strings ignore case).
pub const HEXDIG: ByteClass =
    DIGIT.or(ByteClass::range(b'A', b'F')).or(ByteClass::range(b'a', b'f'));
/// `unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~"`
pub const UNRESERVED: ByteClass = ALPHA.or(DIGIT).or(ByteClass::of(b"-._~"));
/// `gen-delims = ":" / "/" / "?" / "#" / "[" / "]" / "@"`
pub const GEN_DELIMS: ByteClass = ByteClass::of(b":/?#[]@");
/// `sub-delims = "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="`
pub const SUB_DELIMS: ByteClass = ByteClass::of(b"!$&'()*+,;=");
/// `reserved = gen-delims / sub-delims`
pub const RESERVED: ByteClass = GEN_DELIMS.or(SUB_DELIMS);
/// The bytes after the first of `scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )`
pub const SCHEME: ByteClass = ALPHA.or(DIGIT).or(ByteClass::of(b"+-."));
/// `userinfo = *( unreserved / pct-encoded / sub-delims / ":" )`, without `pct-encoded`
pub const USERINFO: ByteClass = UNRESERVED.or(SUB_DELIMS).or(ByteClass::of(b":"));
/// `reg-name = *( unreserved / pct-encoded / sub-delims )`, without `pct-encoded`
pub const REG_NAME: ByteClass = UNRESERVED.or(SUB_DELIMS);
/// The bytes after the dot of `IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )`
pub const IP_FUTURE: ByteClass = UNRESERVED.or(SUB_DELIMS).or(ByteClass::of(b":"));
/// `pchar = unreserved / pct-encoded / sub-delims / ":" / "@"`, without `pct-encoded`
pub const PCHAR: ByteClass = UNRESERVED.or(SUB_DELIMS).or(ByteClass::of(b":@"));
/// The bytes of a path: `pchar` and `/`, without `pct-encoded`
pub const PATH: ByteClass = PCHAR.or(ByteClass::of(b"/"));
/// `query = *( pchar / "/" / "?" )`, and `fragment` alike, without `pct-encoded`
pub const QUERY: ByteClass = PCHAR.or(ByteClass::of(b"/?"));
/// Every byte that may occur in a URI: `reserved / unreserved / "%"`
pub const URI_BYTE: ByteClass = RESERVED.or(UNRESERVED).or(ByteClass::of(b"%"));
/// ASCII white space that may surround a record (Appendix C): space, tab, LF, VT, FF, CR.
pub const WHITE_SPACE: ByteClass = ByteClass::of(b" \t\n\x0b\x0c\r");

/// Whether `text` has the two bytes of `pair`, one directly after the other.
#[inline]
pub(crate) fn has_pair(text: &[u8], pair: [u8; 2]) -> bool {
    // Without an early end the loop is one over blocks.
    let pairs = text.iter().zip(text.iter().skip(1));
    pairs.fold(false, |has, (&first, &second)| has | (first == pair[0]) & (second == pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_two_bytes_one_after_the_other() {
        for (text, expected) in
            [("a//", true), ("//", true), ("/a/", false), ("/", false), ("", false)]
        {
            assert_eq!(has_pair(text.as_bytes(), *b"//"), expected, "{text}");
        }
    }

    #[test]
    fn classes_have_the_sizes_the_rfc_gives_them() {
        let size = |class: ByteClass| (0..=255u8).filter(|&b| class.has(b)).count();
        assert_eq!(size(ALPHA), 52);
        assert_eq!(size(HEXDIG), 22);
        assert_eq!(size(UNRESERVED), 66);
        assert_eq!(size(RESERVED), 18);
        assert_eq!(size(PCHAR), 66 + 11 + 2);
        assert_eq!(size(URI_BYTE), 66 + 18 + 1);
    }

    #[test]
    fn table_agrees_with_has() {
        for byte in 0..=255u8 {
            assert_eq!(PCHAR.table()[usize::from(byte)], PCHAR.has(byte));
        }
    }
}
