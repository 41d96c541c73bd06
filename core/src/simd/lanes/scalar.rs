//! One lane: plain words, for every CPU.

use super::{BLOCK, BLOCK_WORDS, Lanes32, MAX_LANES, Words32};
use crate::simd::scalar::Scalar;

impl Words32 for Scalar {
    const LANES: usize = 1;

    type Words = u32;

    #[inline(always)]
    fn splat(self, value: u32) -> u32 {
        value
    }

    #[inline(always)]
    fn gather(self, values: &[u32; MAX_LANES]) -> u32 {
        values[0]
    }

    #[inline(always)]
    fn add(self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn xor(self, a: u32, b: u32) -> u32 {
        a ^ b
    }

    #[inline(always)]
    fn rotate_16(self, a: u32) -> u32 {
        a.rotate_right(16)
    }

    #[inline(always)]
    fn rotate_12(self, a: u32) -> u32 {
        a.rotate_right(12)
    }

    #[inline(always)]
    fn rotate_8(self, a: u32) -> u32 {
        a.rotate_right(8)
    }

    #[inline(always)]
    fn rotate_7(self, a: u32) -> u32 {
        a.rotate_right(7)
    }
}

impl Lanes32 for Scalar {
    #[inline(always)]
    fn load(self, blocks: &[&[u8; BLOCK]; MAX_LANES]) -> [u32; BLOCK_WORDS] {
        let mut words = [0; BLOCK_WORDS];
        for (word, bytes) in words.iter_mut().zip(blocks[0].as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        words
    }

    #[inline(always)]
    fn load_starts(
        self,
        blocks: &[&[u8; BLOCK]; MAX_LANES],
        lens: &[u32; MAX_LANES],
    ) -> [u32; BLOCK_WORDS] {
        let mut start = [0; BLOCK];
        let len = (lens[0] as usize).min(BLOCK);
        start[..len].copy_from_slice(&blocks[0][..len]);
        let mut blocks = *blocks;
        blocks[0] = &start;
        self.load(&blocks)
    }

    #[inline(always)]
    fn store(self, words: [u32; 4], out: &mut [[u8; 16]; MAX_LANES]) {
        for (bytes, word) in out[0].as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
    }
}
