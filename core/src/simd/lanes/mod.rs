//! Vectors of 32-bit words, one word per record, for hashing many records at a time.
//!
//! A backend has 1, 4, 8 or 16 lanes. Values for each record are passed in arrays of [`MAX_LANES`],
//! of which a backend uses the first [`Words32::LANES`].

pub(super) mod scalar;

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512vbmi;
#[cfg(target_arch = "aarch64")]
pub(super) mod neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod registers;
#[cfg(target_arch = "x86_64")]
pub(super) mod ssse3;
#[cfg(test)]
mod tests;

use super::BLOCK;

/// The maximum number of lanes of any backend.
pub const MAX_LANES: usize = 16;

/// Number of 32-bit words in a block.
pub const BLOCK_WORDS: usize = BLOCK / size_of::<u32>();

/// Arithmetic on vectors of 32-bit words. As for [`Isa`](super::Isa), a value of the implementing
/// type is proof that the CPU has the instructions.
pub trait Words32: super::sealed::Sealed + Copy + Send + Sync {
    /// Number of words in a vector, at most [`MAX_LANES`].
    const LANES: usize;

    /// A vector of [`Words32::LANES`] words.
    type Words: Copy;

    /// `value` in every lane.
    fn splat(self, value: u32) -> Self::Words;

    /// `values[i]` in lane `i`.
    fn gather(self, values: &[u32; MAX_LANES]) -> Self::Words;

    /// The sums, modulo 2^32.
    fn add(self, a: Self::Words, b: Self::Words) -> Self::Words;

    /// The bitwise differences.
    fn xor(self, a: Self::Words, b: Self::Words) -> Self::Words;

    /// Every word rotated to the right by 16 bits.
    fn rotate_16(self, a: Self::Words) -> Self::Words;

    /// Every word rotated to the right by 12 bits.
    fn rotate_12(self, a: Self::Words) -> Self::Words;

    /// Every word rotated to the right by 8 bits.
    fn rotate_8(self, a: Self::Words) -> Self::Words;

    /// Every word rotated to the right by 7 bits.
    fn rotate_7(self, a: Self::Words) -> Self::Words;
}

/// The exchange of words between vectors and records.
pub trait Lanes32: Words32 {
    /// Vector `w` has in lane `i` the little-endian word `w` of `blocks[i]`.
    fn load(self, blocks: &[&[u8; BLOCK]; MAX_LANES]) -> [Self::Words; BLOCK_WORDS];

    /// Like [`Lanes32::load`], with zeros for the bytes of `blocks[i]` from `lens[i]` on.
    ///
    /// A length above [`BLOCK`] counts as [`BLOCK`].
    fn load_starts(
        self,
        blocks: &[&[u8; BLOCK]; MAX_LANES],
        lens: &[u32; MAX_LANES],
    ) -> [Self::Words; BLOCK_WORDS];

    /// Writes lane `i` of the four vectors to `out[i]`, as four little-endian words.
    fn store(self, words: [Self::Words; 4], out: &mut [[u8; 16]; MAX_LANES]);
}
