//! SSSE3: four lanes.

use core::arch::x86_64::*;

use super::registers::{Registers, operations};
use super::{BLOCK, MAX_LANES, Words32};
use crate::simd::ssse3::Ssse3;

/// Returns `order`, hidden from the optimizer.
///
/// LLVM replaces a shuffle that exchanges halves of words with two, which is slower in a chain of
/// operations.
#[inline(always)]
pub(super) fn opaque(order: __m128i) -> __m128i {
    let mut order = order;
    if !cfg!(miri) {
        // SAFETY: no instruction at all, which touches neither memory nor flags.
        unsafe {
            core::arch::asm!("/* {0} */", inout(xmm_reg) order, options(pure, nomem, nostack, preserves_flags));
        }
    }
    order
}

impl Words32 for Ssse3 {
    const LANES: usize = 4;

    type Words = __m128i;

    operations! {
        fn splat(value: u32) -> __m128i { _mm_set1_epi32(value.cast_signed()) }

        fn gather(values: &[u32; MAX_LANES]) -> __m128i {
            _mm_loadu_si128(values.first_chunk::<4>().expect("16 words").as_ptr().cast())
        }

        fn add(a: __m128i, b: __m128i) -> __m128i { _mm_add_epi32(a, b) }

        fn xor(a: __m128i, b: __m128i) -> __m128i { _mm_xor_si128(a, b) }

        // The two halves of every word change places.
        fn rotate_16(a: __m128i) -> __m128i {
            let order = _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
            _mm_shuffle_epi8(a, opaque(order))
        }

        fn rotate_12(a: __m128i) -> __m128i {
            _mm_or_si128(_mm_srli_epi32::<12>(a), _mm_slli_epi32::<20>(a))
        }

        // The lowest byte of every word becomes the highest.
        fn rotate_8(a: __m128i) -> __m128i {
            let order = _mm_setr_epi8(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12);
            _mm_shuffle_epi8(a, order)
        }

        fn rotate_7(a: __m128i) -> __m128i {
            _mm_or_si128(_mm_srli_epi32::<7>(a), _mm_slli_epi32::<25>(a))
        }
    }
}

impl Registers for Ssse3 {
    operations! {
        fn read(block: &[u8; BLOCK], part: usize) -> __m128i {
            _mm_loadu_si128(block.as_chunks::<16>().0[part].as_ptr().cast())
        }

        fn write(register: __m128i, out: &mut [[u8; 16]]) {
            _mm_storeu_si128(out[0].as_mut_ptr().cast(), register);
        }

        fn and(a: __m128i, b: __m128i) -> __m128i { _mm_and_si128(a, b) }

        fn zip_words(a: __m128i, b: __m128i) -> [__m128i; 2] {
            [_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)]
        }

        fn zip_pairs(a: __m128i, b: __m128i) -> [__m128i; 2] {
            [_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)]
        }
    }
}
