//! AVX-512: sixteen lanes, a register for each block.

use core::arch::x86_64::*;

use super::registers::{Registers, operations};
use super::{BLOCK, MAX_LANES, Words32};
use crate::simd::avx512vbmi::Avx512Vbmi;

impl Words32 for Avx512Vbmi {
    const LANES: usize = 16;

    type Words = __m512i;

    operations! {
        fn splat(value: u32) -> __m512i { _mm512_set1_epi32(value.cast_signed()) }

        fn gather(values: &[u32; MAX_LANES]) -> __m512i {
            _mm512_loadu_si512(values.as_ptr().cast())
        }

        fn add(a: __m512i, b: __m512i) -> __m512i { _mm512_add_epi32(a, b) }

        fn xor(a: __m512i, b: __m512i) -> __m512i { _mm512_xor_si512(a, b) }

        fn rotate_16(a: __m512i) -> __m512i { _mm512_ror_epi32::<16>(a) }

        fn rotate_12(a: __m512i) -> __m512i { _mm512_ror_epi32::<12>(a) }

        fn rotate_8(a: __m512i) -> __m512i { _mm512_ror_epi32::<8>(a) }

        fn rotate_7(a: __m512i) -> __m512i { _mm512_ror_epi32::<7>(a) }
    }
}

impl Registers for Avx512Vbmi {
    operations! {
        fn read(block: &[u8; BLOCK], _part: usize) -> __m512i {
            _mm512_loadu_si512(block.as_ptr().cast())
        }

        // The token is proof of BMI2 too; bytes that the mask drops are not read.
        fn read_start(block: &[u8; BLOCK], len: u32, _part: usize) -> __m512i {
            _mm512_maskz_loadu_epi8(_bzhi_u64(u64::MAX, len.min(64)), block.as_ptr().cast())
        }

        fn write(register: __m512i, out: &mut [[u8; 16]]) {
            _mm512_storeu_si512(out.as_chunks_mut::<4>().0[0].as_mut_ptr().cast(), register);
        }

        fn and(a: __m512i, b: __m512i) -> __m512i { _mm512_and_si512(a, b) }

        fn zip_words(a: __m512i, b: __m512i) -> [__m512i; 2] {
            [_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)]
        }

        fn zip_pairs(a: __m512i, b: __m512i) -> [__m512i; 2] {
            [_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)]
        }

        fn transpose_quarters([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
            let ab_low = _mm512_shuffle_i32x4::<0x44>(a, b);
            let ab_high = _mm512_shuffle_i32x4::<0xEE>(a, b);
            let cd_low = _mm512_shuffle_i32x4::<0x44>(c, d);
            let cd_high = _mm512_shuffle_i32x4::<0xEE>(c, d);
            let first = _mm512_shuffle_i32x4::<0x88>(ab_low, cd_low);
            let second = _mm512_shuffle_i32x4::<0xDD>(ab_low, cd_low);
            let third = _mm512_shuffle_i32x4::<0x88>(ab_high, cd_high);
            let fourth = _mm512_shuffle_i32x4::<0xDD>(ab_high, cd_high);
            [first, second, third, fourth]
        }
    }
}
