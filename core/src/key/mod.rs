//! 128-bit keys of canonical bytes.

mod blake3;
mod public;
mod secret;

pub use public::{PublicHash, PublicHasher};
pub use secret::Hasher;

/// A 128-bit key. A run key is never [`Key::VACANT`], which tables use for a free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u128);

impl Key {
    /// The value that no run key has.
    pub const VACANT: u128 = 0;

    /// Appends the key as 32 lower-case hexadecimal digits.
    #[inline]
    pub fn write_hex(self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.hex().as_flattened());
    }

    /// The key as 32 lower-case hexadecimal digits.
    #[inline]
    pub fn hex(self) -> [[u8; 8]; 4] {
        let word = |shift: u32| hex_digits((self.0 >> shift) as u32);
        [word(96), word(64), word(32), word(0)]
    }
}

/// The eight hexadecimal digits of `word`, computed in parallel in the bytes of a wider one.
#[inline]
fn hex_digits(word: u32) -> [u8; 8] {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let mut nibbles = u64::from(word);
    nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF;
    nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF;
    nibbles = (nibbles | nibbles << 4) & (15 * ONES);
    // 10 and above carry into the fifth bit when 6 is added.
    let letters = ((nibbles + 6 * ONES) >> 4) & ONES;
    let digits = nibbles + u64::from(b'0') * ONES + letters * u64::from(b'a' - b'9' - 1);
    digits.to_be_bytes()
}

/// As 32 lower-case hexadecimal digits, as the program writes it.
impl core::fmt::Display for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_standard_library() {
        let mut state = 1u128;
        for _ in 0..10_000 {
            state = state.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(1);
            let mut out = b"x".to_vec();
            Key(state).write_hex(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("x{:032x}", state));
        }
    }
}
