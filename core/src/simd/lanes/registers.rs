//! What [`Lanes32`] does with blocks, written once over the registers of any instruction set.
//!
//! A register consists of quarters of 16 bytes: four words. Blocks are transposed in two steps: the
//! words within each quarter of four registers, then the quarters.

use super::{BLOCK, BLOCK_WORDS, Lanes32, MAX_LANES, Words32};
use crate::simd::table::first_bytes;

/// Number of words in a quarter, and of registers in a step of a transposition.
const STEP: usize = 4;

/// The operations on registers of [`Words32::LANES`] words, a multiple of four.
pub trait Registers: Words32 {
    /// Register number `part` of those that `block` fills.
    fn read(self, block: &[u8; BLOCK], part: usize) -> Self::Words;

    /// Like [`read`](Registers::read), with zeros for the bytes of `block` from `len` on.
    #[inline(always)]
    fn read_start(self, block: &[u8; BLOCK], len: u32, part: usize) -> Self::Words {
        self.and(self.read(block, part), self.read(first_bytes(len as usize), part))
    }

    /// Writes the quarters of a register to `out`, which begins with as many arrays.
    fn write(self, register: Self::Words, out: &mut [[u8; 16]]);

    /// The bits that both have.
    fn and(self, a: Self::Words, b: Self::Words) -> Self::Words;

    /// In each quarter: the first word of `a`, that of `b`, and the second words of both; then the
    /// third and fourth words.
    fn zip_words(self, a: Self::Words, b: Self::Words) -> [Self::Words; 2];

    /// In each quarter: the first two words of `a` and of `b`; then the last two.
    fn zip_pairs(self, a: Self::Words, b: Self::Words) -> [Self::Words; 2];

    /// Takes the registers in groups of as many as one has quarters, and transposes the quarters of
    /// each group: with one quarter, nothing.
    #[inline(always)]
    fn transpose_quarters(self, rows: [Self::Words; STEP]) -> [Self::Words; STEP] {
        rows
    }
}

/// Methods that a backend implements by its instructions, without `self`, in one block each.
///
/// The bodies are unsafe code. What makes them sound is that `self` is proof of the backend's
/// instructions, and that each array or slice which they read or write through a pointer has just
/// been cut to the length of a register, or has it by its type.
macro_rules! operations {
    ($(fn $name:ident($($argument:tt)*) $(-> $result:ty)? { $($body:tt)* })*) => {$(
        #[inline(always)]
        fn $name(self, $($argument)*) $(-> $result)? {
            // SAFETY: see above.
            unsafe { $($body)* }
        }
    )*};
}

pub(super) use operations;

/// Transposes four rows of four words in each quarter.
#[inline(always)]
fn transpose_words<R: Registers>(r: R, [a, b, c, d]: [R::Words; STEP]) -> [R::Words; STEP] {
    let [ab_low, ab_high] = r.zip_words(a, b);
    let [cd_low, cd_high] = r.zip_words(c, d);
    let [first, second] = r.zip_pairs(ab_low, cd_low);
    let [third, fourth] = r.zip_pairs(ab_high, cd_high);
    [first, second, third, fourth]
}

/// The words of blocks from their registers: the first of each block, then the second of each, and
/// so on.
#[inline(always)]
fn transpose<R: Registers>(r: R, parts: [R::Words; BLOCK_WORDS]) -> [R::Words; BLOCK_WORDS] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = parts;
    let [a, b, c, d] = transpose_words(r, [a, b, c, d]);
    let [e, f, g, h] = transpose_words(r, [e, f, g, h]);
    let [i, j, k, l] = transpose_words(r, [i, j, k, l]);
    let [m, n, o, p] = transpose_words(r, [m, n, o, p]);
    let [a, e, i, m] = r.transpose_quarters([a, e, i, m]);
    let [b, f, j, n] = r.transpose_quarters([b, f, j, n]);
    let [c, g, k, o] = r.transpose_quarters([c, g, k, o]);
    let [d, h, l, p] = r.transpose_quarters([d, h, l, p]);
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

// Loops instead of closures: one that is not inlined would be compiled without the features of the
// backend.
impl<R: Registers> Lanes32 for R {
    #[inline(always)]
    fn load(self, blocks: &[&[u8; BLOCK]; MAX_LANES]) -> [R::Words; BLOCK_WORDS] {
        let mut parts = [self.splat(0); BLOCK_WORDS];
        for (i, part) in parts.iter_mut().enumerate() {
            *part = self.read(blocks[i % R::LANES], i / R::LANES);
        }
        transpose(self, parts)
    }

    #[inline(always)]
    fn load_starts(
        self,
        blocks: &[&[u8; BLOCK]; MAX_LANES],
        lens: &[u32; MAX_LANES],
    ) -> [R::Words; BLOCK_WORDS] {
        let mut parts = [self.splat(0); BLOCK_WORDS];
        for (i, part) in parts.iter_mut().enumerate() {
            let lane = i % R::LANES;
            *part = self.read_start(blocks[lane], lens[lane], i / R::LANES);
        }
        transpose(self, parts)
    }

    #[inline(always)]
    fn store(self, words: [R::Words; STEP], out: &mut [[u8; 16]; MAX_LANES]) {
        let rows = self.transpose_quarters(transpose_words(self, words));
        let quarters = R::LANES / STEP;
        for (i, row) in rows.into_iter().enumerate() {
            // Before the second step, quarter `q` of register `w` was lane `4 * q + w`.
            let lane = i % quarters * STEP + i / quarters * quarters;
            self.write(row, &mut out[lane..]);
        }
    }
}
