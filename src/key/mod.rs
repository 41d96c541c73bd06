//! Floor 5: 128-bit keys of canonical bytes.
//!
//! Equal keys stand for equal canonical forms. Two different forms share a key by
//! chance with odds of about `n * n / 2^129` for `n` forms: 1.5e-19 for ten thousand
//! million. The hash is XXH3-128 under a seed that is random per run unless one is
//! given. A secret seed makes collisions hard to aim at from outside, but XXH3 is no
//! cryptographic hash: do not rely on it against someone who sees the keys.

mod blake3;
mod public;

pub use public::{PublicHash, PublicHasher};
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

/// A 128-bit key; never [`Key::VACANT`], which tables use for a free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u128);

impl Key {
    /// The value that no key has.
    pub const VACANT: u128 = 0;

    /// Appends the key as 32 lower-case hexadecimal digits.
    pub fn write_hex(self, out: &mut Vec<u8>) {
        for byte in self.0.to_be_bytes() {
            let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
            out.extend([digit(byte >> 4), digit(byte & 15)]);
        }
    }
}

impl core::fmt::LowerHex for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Turns canonical bytes into keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hasher {
    seed: u64,
    /// What the hash is seeded with: `seed`, or more than that.
    state: u64,
}

impl Hasher {
    /// The name of the hash, written wherever keys are kept.
    pub const NAME: &'static str = "xxh3-128";

    /// A hasher whose keys are the same in every run.
    pub fn with_seed(seed: u64) -> Hasher {
        Hasher { seed, state: seed }
    }

    /// A hasher with a seed from the system's randomness, another one at each call.
    pub fn random() -> Hasher {
        use std::hash::{BuildHasher, Hasher as _, RandomState};
        Hasher::with_seed(RandomState::new().build_hasher().finish())
    }

    /// The seed that it was made with.
    pub fn seed(self) -> u64 {
        self.seed
    }

    /// A hasher for keys that mean something else: under another `meaning` equal bytes have other keys.
    ///
    /// ```
    /// use uriscan::key::Hasher;
    /// let hasher = Hasher::with_seed(7);
    /// assert_ne!(hasher.under(1).key(b"http://h/"), hasher.under(2).key(b"http://h/"));
    /// assert_eq!(hasher.under(1).seed(), 7);
    /// ```
    #[must_use]
    pub fn under(self, meaning: u128) -> Hasher {
        Hasher { state: xxh3_64_with_seed(&meaning.to_le_bytes(), self.seed), ..self }
    }

    /// The key of `canonical`.
    ///
    /// ```
    /// use uriscan::key::Hasher;
    /// let hasher = Hasher::with_seed(7);
    /// assert_eq!(hasher.key(b"http://h/"), hasher.key(b"http://h/"));
    /// assert_ne!(hasher.key(b"http://h/"), Hasher::with_seed(8).key(b"http://h/"));
    /// ```
    #[inline(always)]
    pub fn key(self, canonical: &[u8]) -> Key {
        let hash = xxh3_128_with_seed(canonical, self.state);
        // One value in 2^128 is taken from its neighbour so that tables have a free one.
        Key(if hash == Key::VACANT { 1 } else { hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys may be kept outside, so they must never change. Lengths around XXH3's own thresholds.
    #[test]
    fn keys_are_frozen() {
        let text: Vec<u8> = (0..300).map(|i| b'a' + (i % 26) as u8).collect();
        let keys = [0, 3, 8, 16, 17, 128, 129, 240, 241, 300]
            .map(|len| format!("{:x}", Hasher::with_seed(1).key(&text[..len])));
        assert_eq!(keys, FROZEN);
    }

    /// So must those under a rule set.
    #[test]
    fn keys_under_a_meaning_are_frozen() {
        let key =
            Hasher::with_seed(1).under(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef).key(b"http://h/");
        assert_eq!(format!("{key:x}"), "62915f8f9be343bc429a10c79e43c564");
    }

    // From the reference implementation, by way of Python's xxhash.
    const FROZEN: [&str; 10] = [
        "d9265cc53bb2b9ae6131b78f753823cd",
        "7577b06fae9ee3ed6b4467b443c76228",
        "00e05b8d98d20a158a38889f73f51c93",
        "d1247db7d4987ba5400f927385b830cb",
        "41b2e465fee2f190dec79bec251fff96",
        "0e184cf1e7cc2ef53009389b22ff91bb",
        "35d553b7cb13ae832692386cf9e37bb7",
        "0b3e2d3f01544b144ea7ab883b143187",
        "f2d1e8caea1ef85e29bd37a968ec1dc4",
        "890377507ccffe8c9b3c1857d76c8425",
    ];
}
