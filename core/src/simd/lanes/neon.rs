//! AArch64 Advanced SIMD: four lanes. The byte order is little-endian, as on all of Rust's AArch64
//! targets with Advanced SIMD.

use core::arch::aarch64::*;

use super::registers::{Registers, operations};
use super::{BLOCK, MAX_LANES, Words32};
use crate::simd::neon::Neon;

impl Words32 for Neon {
    const LANES: usize = 4;

    type Words = uint32x4_t;

    operations! {
        fn splat(value: u32) -> uint32x4_t { vdupq_n_u32(value) }

        fn gather(values: &[u32; MAX_LANES]) -> uint32x4_t {
            vld1q_u32(values.first_chunk::<4>().expect("16 words").as_ptr())
        }

        fn add(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t { vaddq_u32(a, b) }

        fn xor(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t { veorq_u32(a, b) }

        // The two halves of every word change places.
        fn rotate_16(a: uint32x4_t) -> uint32x4_t {
            vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(a)))
        }

        fn rotate_12(a: uint32x4_t) -> uint32x4_t { vsriq_n_u32::<12>(vshlq_n_u32::<20>(a), a) }

        fn rotate_8(a: uint32x4_t) -> uint32x4_t { vsriq_n_u32::<8>(vshlq_n_u32::<24>(a), a) }

        fn rotate_7(a: uint32x4_t) -> uint32x4_t { vsriq_n_u32::<7>(vshlq_n_u32::<25>(a), a) }
    }
}

impl Registers for Neon {
    operations! {
        fn read(block: &[u8; BLOCK], part: usize) -> uint32x4_t {
            vreinterpretq_u32_u8(vld1q_u8(block.as_chunks::<16>().0[part].as_ptr()))
        }

        fn write(register: uint32x4_t, out: &mut [[u8; 16]]) {
            vst1q_u8(out[0].as_mut_ptr(), vreinterpretq_u8_u32(register));
        }

        fn and(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t { vandq_u32(a, b) }

        fn zip_words(a: uint32x4_t, b: uint32x4_t) -> [uint32x4_t; 2] {
            [vzip1q_u32(a, b), vzip2q_u32(a, b)]
        }

        fn zip_pairs(a: uint32x4_t, b: uint32x4_t) -> [uint32x4_t; 2] {
            let (a, b) = (vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(b));
            [vreinterpretq_u32_u64(vzip1q_u64(a, b)), vreinterpretq_u32_u64(vzip2q_u64(a, b))]
        }
    }
}
