//! AArch64 Advanced SIMD: four lanes.

use core::arch::aarch64::*;

use super::{BLOCK, BLOCK_WORDS, Lanes32, MAX_LANES, mask_of};
use crate::simd::neon::Neon;

const LANES: usize = 4;

/// Quarter `quarter` of `block`. The byte order is little-endian, as on all of Rust's AArch64
/// targets with Advanced SIMD.
#[inline(always)]
fn load(block: &[u8; BLOCK], quarter: usize) -> uint32x4_t {
    let quarter = &block.as_chunks::<16>().0[quarter];
    // SAFETY: the reference covers the 16 bytes read; Advanced SIMD is part of AArch64.
    unsafe { vreinterpretq_u32_u8(vld1q_u8(quarter.as_ptr())) }
}

/// Quarter `quarter` of `block`, zero from byte `len` of the block on.
#[inline(always)]
fn load_start(block: &[u8; BLOCK], len: u32, quarter: usize) -> uint32x4_t {
    // SAFETY: Advanced SIMD is part of AArch64.
    unsafe { vandq_u32(load(block, quarter), load(mask_of(len), quarter)) }
}

/// Transposes four rows of four words.
#[inline(always)]
fn transpose([a, b, c, d]: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
    // SAFETY: Advanced SIMD is part of AArch64.
    unsafe {
        let (ab_even, ab_odd) = (wide(vtrn1q_u32(a, b)), wide(vtrn2q_u32(a, b)));
        let (cd_even, cd_odd) = (wide(vtrn1q_u32(c, d)), wide(vtrn2q_u32(c, d)));
        [
            vreinterpretq_u32_u64(vtrn1q_u64(ab_even, cd_even)),
            vreinterpretq_u32_u64(vtrn1q_u64(ab_odd, cd_odd)),
            vreinterpretq_u32_u64(vtrn2q_u64(ab_even, cd_even)),
            vreinterpretq_u32_u64(vtrn2q_u64(ab_odd, cd_odd)),
        ]
    }
}

/// The same bits as 64-bit words.
#[inline(always)]
fn wide(v: uint32x4_t) -> uint64x2_t {
    // SAFETY: Advanced SIMD is part of AArch64.
    unsafe { vreinterpretq_u64_u32(v) }
}

/// Combines four quarters, of four words each, to the words of a block.
#[inline(always)]
fn joined(quarters: [[uint32x4_t; 4]; 4]) -> [uint32x4_t; BLOCK_WORDS] {
    let [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]] = quarters;
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

impl Lanes32 for Neon {
    const LANES: usize = LANES;

    type Words = uint32x4_t;

    #[inline(always)]
    fn splat(self, value: u32) -> uint32x4_t {
        // SAFETY: Advanced SIMD is part of AArch64. The same holds for the methods below.
        unsafe { vdupq_n_u32(value) }
    }

    #[inline(always)]
    fn gather(self, values: &[u32; MAX_LANES]) -> uint32x4_t {
        // SAFETY: as above; the array covers the 4 words read.
        unsafe { vld1q_u32(values.as_ptr()) }
    }

    #[inline(always)]
    fn add(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: as above.
        unsafe { vaddq_u32(a, b) }
    }

    #[inline(always)]
    fn xor(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: as above.
        unsafe { veorq_u32(a, b) }
    }

    #[inline(always)]
    fn rotate_16(self, a: uint32x4_t) -> uint32x4_t {
        // SAFETY: as above. The two halves of every word change places.
        unsafe { vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(a))) }
    }

    #[inline(always)]
    fn rotate_12(self, a: uint32x4_t) -> uint32x4_t {
        // SAFETY: as above.
        unsafe { vsriq_n_u32::<12>(vshlq_n_u32::<20>(a), a) }
    }

    #[inline(always)]
    fn rotate_8(self, a: uint32x4_t) -> uint32x4_t {
        // SAFETY: as above.
        unsafe { vsriq_n_u32::<8>(vshlq_n_u32::<24>(a), a) }
    }

    #[inline(always)]
    fn rotate_7(self, a: uint32x4_t) -> uint32x4_t {
        // SAFETY: as above.
        unsafe { vsriq_n_u32::<7>(vshlq_n_u32::<25>(a), a) }
    }

    #[inline(always)]
    fn load(self, blocks: &[&[u8; BLOCK]; MAX_LANES]) -> [uint32x4_t; BLOCK_WORDS] {
        // A macro, as a closure that is not inlined would be compiled without the features of this
        // backend.
        macro_rules! quarter {
            ($quarter:literal) => {
                transpose([
                    load(blocks[0], $quarter),
                    load(blocks[1], $quarter),
                    load(blocks[2], $quarter),
                    load(blocks[3], $quarter),
                ])
            };
        }
        joined([quarter!(0), quarter!(1), quarter!(2), quarter!(3)])
    }

    #[inline(always)]
    fn load_starts(
        self,
        blocks: &[&[u8; BLOCK]; MAX_LANES],
        lens: &[u32; MAX_LANES],
    ) -> [uint32x4_t; BLOCK_WORDS] {
        macro_rules! quarter {
            ($quarter:literal) => {
                transpose([
                    load_start(blocks[0], lens[0], $quarter),
                    load_start(blocks[1], lens[1], $quarter),
                    load_start(blocks[2], lens[2], $quarter),
                    load_start(blocks[3], lens[3], $quarter),
                ])
            };
        }
        joined([quarter!(0), quarter!(1), quarter!(2), quarter!(3)])
    }

    #[inline(always)]
    fn store(self, words: [uint32x4_t; 4], out: &mut [[u8; 16]; MAX_LANES]) {
        let columns = transpose(words);
        for (out, column) in out.iter_mut().zip(columns) {
            // SAFETY: as above; the array covers the 16 bytes written.
            unsafe { vst1q_u8(out.as_mut_ptr(), vreinterpretq_u8_u32(column)) };
        }
    }
}
