//! SSSE3: four lanes.

use core::arch::x86_64::*;

use super::{BLOCK, BLOCK_WORDS, Lanes32, MAX_LANES, mask_of};
use crate::simd::ssse3::Ssse3;

const LANES: usize = 4;

/// Quarter `quarter` of `block`.
#[inline(always)]
fn load(block: &[u8; BLOCK], quarter: usize) -> __m128i {
    let quarter = &block.as_chunks::<16>().0[quarter];
    // SAFETY: the reference covers the 16 bytes read; SSE2 is part of x86-64.
    unsafe { _mm_loadu_si128(quarter.as_ptr().cast()) }
}

/// Quarter `quarter` of `block`, zero from byte `len` of the block on.
#[inline(always)]
fn load_start(block: &[u8; BLOCK], len: u32, quarter: usize) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_and_si128(load(block, quarter), load(mask_of(len), quarter)) }
}

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

/// Transposes four rows of four words.
#[inline(always)]
fn transpose([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        let (ab_low, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
        [
            _mm_unpacklo_epi64(ab_low, cd_low),
            _mm_unpackhi_epi64(ab_low, cd_low),
            _mm_unpacklo_epi64(ab_high, cd_high),
            _mm_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

/// Combines four quarters, of four words each, to the words of a block.
#[inline(always)]
fn joined(quarters: [[__m128i; 4]; 4]) -> [__m128i; BLOCK_WORDS] {
    let [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]] = quarters;
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

impl Lanes32 for Ssse3 {
    const LANES: usize = LANES;

    type Words = __m128i;

    #[inline(always)]
    fn splat(self, value: u32) -> __m128i {
        // SAFETY: the token is proof of SSSE3. The same holds for the methods below.
        unsafe { _mm_set1_epi32(value.cast_signed()) }
    }

    #[inline(always)]
    fn gather(self, values: &[u32; MAX_LANES]) -> __m128i {
        // SAFETY: as above; the array covers the 4 words read.
        unsafe { _mm_loadu_si128(values.as_ptr().cast()) }
    }

    #[inline(always)]
    fn add(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: as above.
        unsafe { _mm_add_epi32(a, b) }
    }

    #[inline(always)]
    fn xor(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: as above.
        unsafe { _mm_xor_si128(a, b) }
    }

    #[inline(always)]
    fn rotate_16(self, a: __m128i) -> __m128i {
        // SAFETY: as above. The two halves of every word change places.
        unsafe {
            let order = _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
            _mm_shuffle_epi8(a, opaque(order))
        }
    }

    #[inline(always)]
    fn rotate_12(self, a: __m128i) -> __m128i {
        // SAFETY: as above.
        unsafe { _mm_or_si128(_mm_srli_epi32::<12>(a), _mm_slli_epi32::<20>(a)) }
    }

    #[inline(always)]
    fn rotate_8(self, a: __m128i) -> __m128i {
        // SAFETY: as above. The lowest byte of every word becomes the highest.
        unsafe {
            let order = _mm_setr_epi8(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12);
            _mm_shuffle_epi8(a, order)
        }
    }

    #[inline(always)]
    fn rotate_7(self, a: __m128i) -> __m128i {
        // SAFETY: as above.
        unsafe { _mm_or_si128(_mm_srli_epi32::<7>(a), _mm_slli_epi32::<25>(a)) }
    }

    #[inline(always)]
    fn load(self, blocks: &[&[u8; BLOCK]; MAX_LANES]) -> [__m128i; BLOCK_WORDS] {
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
    ) -> [__m128i; BLOCK_WORDS] {
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
    fn store(self, words: [__m128i; 4], out: &mut [[u8; 16]; MAX_LANES]) {
        let [a, b, c, d] = transpose(words);
        // SAFETY: as above; the array covers the 64 bytes written.
        unsafe {
            let out = out.as_mut_ptr().cast::<__m128i>();
            _mm_storeu_si128(out, a);
            _mm_storeu_si128(out.add(1), b);
            _mm_storeu_si128(out.add(2), c);
            _mm_storeu_si128(out.add(3), d);
        }
    }
}
