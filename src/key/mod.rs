//! Floor 5: 128-bit keys of canonical bytes.
//!
//! Equal keys stand for equal canonical forms. There are two kinds, and neither can be bent by whoever writes the URIs:
//!
//! - **Public keys** ([`PublicHasher`]) leave the process: in files, columns, sets on disk. They are the first 16 bytes of
//!   BLAKE3 (or SHA-256) of the canonical form, the same on every machine, and anyone can check them. To find two
//!   forms with one key takes about 2^64 evaluations; to find a form with the key of one of `n` pages that are there takes
//!   2^128 / `n`.
//! - **Run keys** ([`Hasher`]) are what tables in memory hold, and temporary files. They depend on 256 secret bits
//!   that are drawn for each run and never leave it, so nobody can choose forms whose keys meet, or lie together in a table.
//!   See `ARCHITECTURE.md` for what is assumed and what follows.

mod blake3;
mod public;
mod secret;

pub use public::{PublicHash, PublicHasher};
pub use secret::Hasher;

/// A 128-bit key; never [`Key::VACANT`] where it is a run key, which tables use for a free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u128);

impl Key {
    /// The value that no run key has.
    pub const VACANT: u128 = 0;

    /// Appends the key as 32 lower-case hexadecimal digits.
    #[inline]
    pub fn write_hex(self, out: &mut Vec<u8>) {
        // Arithmetic instead of a table, so that it is done for all digits at once.
        let digit = |nibble: u8| b'0' + nibble + u8::from(nibble > 9) * (b'a' - b'9' - 1);
        let mut digits = [0; 32];
        for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(self.0.to_be_bytes()) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        out.extend_from_slice(&digits);
    }
}

impl core::fmt::LowerHex for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
