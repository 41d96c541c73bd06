//! Look-up tables, computed from the byte classes of the grammar at compile time.

use super::class;
use crate::grammar::ByteClass;
use crate::grammar::class::{UPPER, URI_BYTE};

/// The bytes that fast paths handle: every URI byte except brackets. Its complement is
/// [`class::ODD`].
pub const PLAIN: ByteClass = URI_BYTE.without(ByteClass::of(b"[]"));

/// The bytes of a plain record: no percent-encodings and no fragment either. Its complement, with the dots
/// that follow a slash, is [`super::Summary::look`].
pub const SIMPLE: ByteClass = PLAIN.without(ByteClass::of(b"%#"));

/// Two 16-entry tables that test membership in a set of ASCII bytes with byte shuffles:
/// `low[b & 15] & high[b >> 4] != 0` exactly if `b` is in the set.
#[derive(Clone, Copy)]
pub struct NibbleTables {
    /// By low nibble: bit `h` is set when the byte `h << 4 | low` is in the set.
    pub low: [u8; 16],
    /// By high nibble: `1 << h`, or 0 from 8 up.
    pub high: [u8; 16],
}

/// The nibble tables of `set`.
pub const fn nibble_tables(set: ByteClass) -> NibbleTables {
    let mut low = [0u8; 16];
    let mut high = [0u8; 16];
    let mut h = 0;
    while h < 8 {
        high[h] = 1 << h;
        let mut l = 0;
        while l < 16 {
            if set.has((h << 4 | l) as u8) {
                low[l] |= 1 << h;
            }
            l += 1;
        }
        h += 1;
    }
    NibbleTables { low, high }
}

/// The tables of [`PLAIN`].
pub const PLAIN_NIBBLES: NibbleTables = nibble_tables(PLAIN);
/// The tables of [`SIMPLE`].
pub const SIMPLE_NIBBLES: NibbleTables = nibble_tables(SIMPLE);

/// The longest array that [`first_bytes`] has masks of.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const MOST_MASKED: usize = 128;

/// The masks of all lengths: the first `len` bytes from `MOST_MASKED - len` on are 0xFF.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
static MASKS: [u8; 2 * MOST_MASKED] = {
    let mut masks = [0; 2 * MOST_MASKED];
    let mut i = 0;
    while i < MOST_MASKED {
        masks[i] = 0xFF;
        i += 1;
    }
    masks
};

/// The mask that keeps the first `len` bytes of `N`, at most 128; all of them when `len` is above `N`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(super) fn first_bytes<const N: usize>(len: usize) -> &'static [u8; N] {
    const { assert!(N <= MOST_MASKED) };
    MASKS[MOST_MASKED - len.min(N)..].first_chunk().expect("the table is twice as long")
}

/// The class bits of every byte: bit `c` of `CLASS_BITS[b]` is set if `b` is of class `c`.
pub const CLASS_BITS: [u8; 256] = class_bits();

const fn class_bits() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        let mut bits = 0;
        bits |= ((byte == b'/') as u8) << class::SLASH;
        bits |= ((byte == b':' || byte == b'@') as u8) << class::COLON_AT;
        bits |= ((byte == b'?') as u8) << class::QUESTION;
        bits |= ((byte == b'#') as u8) << class::HASH;
        bits |= ((byte == b'%') as u8) << class::PERCENT;
        bits |= (UPPER.has(byte) as u8) << class::UPPER;
        bits |= ((byte == b'.') as u8) << class::DOT;
        bits |= (!PLAIN.has(byte) as u8) << class::ODD;
        table[i] = bits;
        i += 1;
    }
    table
}

/// [`CLASS_BITS`] with the eight bits spread over the eight bytes of a word (bit `c` in byte `c`).
pub const CLASS_LANES: [u64; 256] = class_lanes();

const fn class_lanes() -> [u64; 256] {
    let mut table = [0u64; 256];
    let mut i = 0;
    while i < 256 {
        let mut c = 0;
        while c < class::COUNT {
            table[i] |= ((CLASS_BITS[i] >> c & 1) as u64) << (8 * c);
            c += 1;
        }
        i += 1;
    }
    table
}

const _: () = {
    let mut i = 0;
    while i < 256 {
        let hit = PLAIN_NIBBLES.low[i & 15] & PLAIN_NIBBLES.high[i >> 4] != 0;
        assert!(hit == PLAIN.has(i as u8), "the nibble tables must hold exactly the class");
        let hit = SIMPLE_NIBBLES.low[i & 15] & SIMPLE_NIBBLES.high[i >> 4] != 0;
        assert!(hit == SIMPLE.has(i as u8), "the nibble tables must hold exactly the class");
        i += 1;
    }
};
