//! AVX2: eight lanes.

use core::arch::x86_64::*;

use super::registers::{Registers, operations};
use super::ssse3::opaque;
use super::{BLOCK, MAX_LANES, Words32};
use crate::simd::avx2::Avx2;

impl Words32 for Avx2 {
    const LANES: usize = 8;

    type Words = __m256i;

    operations! {
        fn splat(value: u32) -> __m256i { _mm256_set1_epi32(value.cast_signed()) }

        fn gather(values: &[u32; MAX_LANES]) -> __m256i {
            _mm256_loadu_si256(values.first_chunk::<8>().expect("16 words").as_ptr().cast())
        }

        fn add(a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi32(a, b) }

        fn xor(a: __m256i, b: __m256i) -> __m256i { _mm256_xor_si256(a, b) }

        // The two halves of every word change places.
        fn rotate_16(a: __m256i) -> __m256i {
            let order = _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
            _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(opaque(order)))
        }

        fn rotate_12(a: __m256i) -> __m256i {
            _mm256_or_si256(_mm256_srli_epi32::<12>(a), _mm256_slli_epi32::<20>(a))
        }

        // The lowest byte of every word becomes the highest.
        fn rotate_8(a: __m256i) -> __m256i {
            let order = _mm_setr_epi8(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12);
            _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(order))
        }

        fn rotate_7(a: __m256i) -> __m256i {
            _mm256_or_si256(_mm256_srli_epi32::<7>(a), _mm256_slli_epi32::<25>(a))
        }
    }
}

impl Registers for Avx2 {
    operations! {
        fn read(block: &[u8; BLOCK], part: usize) -> __m256i {
            _mm256_loadu_si256(block.as_chunks::<32>().0[part].as_ptr().cast())
        }

        fn write(register: __m256i, out: &mut [[u8; 16]]) {
            _mm256_storeu_si256(out.as_chunks_mut::<2>().0[0].as_mut_ptr().cast(), register);
        }

        fn and(a: __m256i, b: __m256i) -> __m256i { _mm256_and_si256(a, b) }

        fn zip_words(a: __m256i, b: __m256i) -> [__m256i; 2] {
            [_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)]
        }

        fn zip_pairs(a: __m256i, b: __m256i) -> [__m256i; 2] {
            [_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)]
        }

        fn transpose_quarters([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
            let first = _mm256_permute2x128_si256::<0x20>(a, b);
            let second = _mm256_permute2x128_si256::<0x31>(a, b);
            let third = _mm256_permute2x128_si256::<0x20>(c, d);
            let fourth = _mm256_permute2x128_si256::<0x31>(c, d);
            [first, second, third, fourth]
        }
    }
}
