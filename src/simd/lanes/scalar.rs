//! Four lanes in plain Rust, which compilers turn into vectors where the baseline CPU has them.

use super::{BLOCK, BLOCK_WORDS, Lanes32, MAX_LANES};
use crate::simd::scalar::Scalar;

const LANES: usize = 4;

#[inline(always)]
fn map2(a: [u32; LANES], b: [u32; LANES], f: impl Fn(u32, u32) -> u32) -> [u32; LANES] {
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])]
}

impl Lanes32 for Scalar {
    const LANES: usize = LANES;

    type Words = [u32; LANES];

    #[inline(always)]
    fn splat(self, value: u32) -> Self::Words {
        [value; LANES]
    }

    #[inline(always)]
    fn gather(self, values: &[u32; MAX_LANES]) -> Self::Words {
        [values[0], values[1], values[2], values[3]]
    }

    #[inline(always)]
    fn add(self, a: Self::Words, b: Self::Words) -> Self::Words {
        map2(a, b, u32::wrapping_add)
    }

    #[inline(always)]
    fn xor(self, a: Self::Words, b: Self::Words) -> Self::Words {
        map2(a, b, |a, b| a ^ b)
    }

    #[inline(always)]
    fn rotate_16(self, a: Self::Words) -> Self::Words {
        a.map(|word| word.rotate_right(16))
    }

    #[inline(always)]
    fn rotate_12(self, a: Self::Words) -> Self::Words {
        a.map(|word| word.rotate_right(12))
    }

    #[inline(always)]
    fn rotate_8(self, a: Self::Words) -> Self::Words {
        a.map(|word| word.rotate_right(8))
    }

    #[inline(always)]
    fn rotate_7(self, a: Self::Words) -> Self::Words {
        a.map(|word| word.rotate_right(7))
    }

    #[inline(always)]
    fn load(self, blocks: &[&[u8; BLOCK]; MAX_LANES]) -> [Self::Words; BLOCK_WORDS] {
        let mut words = [[0; LANES]; BLOCK_WORDS];
        for (lane, block) in blocks[..LANES].iter().enumerate() {
            for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
                word[lane] = u32::from_le_bytes(*bytes);
            }
        }
        words
    }

    #[inline(always)]
    fn load_starts(
        self,
        blocks: &[&[u8; BLOCK]; MAX_LANES],
        lens: &[u32; MAX_LANES],
    ) -> [Self::Words; BLOCK_WORDS] {
        let mut starts = [[0; BLOCK]; LANES];
        for (lane, start) in starts.iter_mut().enumerate() {
            let len = (lens[lane] as usize).min(BLOCK);
            start[..len].copy_from_slice(&blocks[lane][..len]);
        }
        let mut cut = *blocks;
        for (block, start) in cut.iter_mut().zip(&starts) {
            *block = start;
        }
        self.load(&cut)
    }

    #[inline(always)]
    fn store(self, words: [Self::Words; 4], out: &mut [[u8; 16]; MAX_LANES]) {
        for (lane, out) in out[..LANES].iter_mut().enumerate() {
            for (bytes, word) in out.as_chunks_mut::<4>().0.iter_mut().zip(words) {
                *bytes = word[lane].to_le_bytes();
            }
        }
    }
}
