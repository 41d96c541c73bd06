//! AVX2: eight lanes.

use core::arch::x86_64::*;

use super::ssse3::opaque;
use super::{BLOCK, BLOCK_WORDS, Lanes32, MAX_LANES, mask_of};
use crate::simd::avx2::Avx2;

const LANES: usize = 8;

/// Half `half` of `block`.
#[inline(always)]
fn load(block: &[u8; BLOCK], half: usize) -> __m256i {
    let half = &block.as_chunks::<32>().0[half];
    // SAFETY: the reference covers the 32 bytes read; a caller holds this backend's token.
    unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
}

/// Half `half` of `block`, zero from byte `len` of the block on.
#[inline(always)]
fn load_start(block: &[u8; BLOCK], len: u32, half: usize) -> __m256i {
    // SAFETY: a caller holds this backend's token.
    unsafe { _mm256_and_si256(load(block, half), load(mask_of(len), half)) }
}

/// Transposes eight rows of eight words.
#[inline(always)]
fn transpose(rows: [__m256i; LANES]) -> [__m256i; LANES] {
    let [a, b, c, d, e, f, g, h] = rows;
    let [ad0, ad1, ad2, ad3] = transpose_quarters([a, b, c, d]);
    let [eh0, eh1, eh2, eh3] = transpose_quarters([e, f, g, h]);
    // SAFETY: a caller holds this backend's token.
    unsafe {
        [
            _mm256_permute2x128_si256::<0x20>(ad0, eh0),
            _mm256_permute2x128_si256::<0x20>(ad1, eh1),
            _mm256_permute2x128_si256::<0x20>(ad2, eh2),
            _mm256_permute2x128_si256::<0x20>(ad3, eh3),
            _mm256_permute2x128_si256::<0x31>(ad0, eh0),
            _mm256_permute2x128_si256::<0x31>(ad1, eh1),
            _mm256_permute2x128_si256::<0x31>(ad2, eh2),
            _mm256_permute2x128_si256::<0x31>(ad3, eh3),
        ]
    }
}

/// Transposes four rows of four words in each half of the registers.
#[inline(always)]
fn transpose_quarters([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: a caller holds this backend's token.
    unsafe {
        let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
        [
            _mm256_unpacklo_epi64(ab_low, cd_low),
            _mm256_unpackhi_epi64(ab_low, cd_low),
            _mm256_unpacklo_epi64(ab_high, cd_high),
            _mm256_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

/// Combines two halves, of eight words each, to the words of a block.
#[inline(always)]
fn joined(first: [__m256i; LANES], second: [__m256i; LANES]) -> [__m256i; BLOCK_WORDS] {
    let [a, b, c, d, e, f, g, h] = first;
    let [i, j, k, l, m, n, o, p] = second;
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

impl Lanes32 for Avx2 {
    const LANES: usize = LANES;

    type Words = __m256i;

    #[inline(always)]
    fn splat(self, value: u32) -> __m256i {
        // SAFETY: the token is proof of AVX2. The same holds for the methods below.
        unsafe { _mm256_set1_epi32(value.cast_signed()) }
    }

    #[inline(always)]
    fn gather(self, values: &[u32; MAX_LANES]) -> __m256i {
        // SAFETY: as above; the array covers the 8 words read.
        unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
    }

    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_add_epi32(a, b) }
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_xor_si256(a, b) }
    }

    #[inline(always)]
    fn rotate_16(self, a: __m256i) -> __m256i {
        // SAFETY: as above. The two halves of every word change places.
        unsafe {
            let order = _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
            _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(opaque(order)))
        }
    }

    #[inline(always)]
    fn rotate_12(self, a: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_or_si256(_mm256_srli_epi32::<12>(a), _mm256_slli_epi32::<20>(a)) }
    }

    #[inline(always)]
    fn rotate_8(self, a: __m256i) -> __m256i {
        // SAFETY: as above. The lowest byte of every word becomes the highest.
        unsafe {
            let order = _mm_setr_epi8(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12);
            _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(order))
        }
    }

    #[inline(always)]
    fn rotate_7(self, a: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_or_si256(_mm256_srli_epi32::<7>(a), _mm256_slli_epi32::<25>(a)) }
    }

    #[inline(always)]
    fn load(self, blocks: &[&[u8; BLOCK]; MAX_LANES]) -> [__m256i; BLOCK_WORDS] {
        // A macro, as a closure that is not inlined would be compiled without the features of this
        // backend.
        macro_rules! half {
            ($half:literal) => {
                transpose([
                    load(blocks[0], $half),
                    load(blocks[1], $half),
                    load(blocks[2], $half),
                    load(blocks[3], $half),
                    load(blocks[4], $half),
                    load(blocks[5], $half),
                    load(blocks[6], $half),
                    load(blocks[7], $half),
                ])
            };
        }
        joined(half!(0), half!(1))
    }

    #[inline(always)]
    fn load_starts(
        self,
        blocks: &[&[u8; BLOCK]; MAX_LANES],
        lens: &[u32; MAX_LANES],
    ) -> [__m256i; BLOCK_WORDS] {
        macro_rules! half {
            ($half:literal) => {
                transpose([
                    load_start(blocks[0], lens[0], $half),
                    load_start(blocks[1], lens[1], $half),
                    load_start(blocks[2], lens[2], $half),
                    load_start(blocks[3], lens[3], $half),
                    load_start(blocks[4], lens[4], $half),
                    load_start(blocks[5], lens[5], $half),
                    load_start(blocks[6], lens[6], $half),
                    load_start(blocks[7], lens[7], $half),
                ])
            };
        }
        joined(half!(0), half!(1))
    }

    #[inline(always)]
    fn store(self, words: [__m256i; 4], out: &mut [[u8; 16]; MAX_LANES]) {
        let [a, b, c, d] = transpose_quarters(words);
        // SAFETY: as above; the array covers the 128 bytes written. The first half of a register is
        // one of lanes 0 to 3, the second one of lanes 4 to 7.
        unsafe {
            let out = out.as_mut_ptr().cast::<__m256i>();
            _mm256_storeu_si256(out, _mm256_permute2x128_si256::<0x20>(a, b));
            _mm256_storeu_si256(out.add(1), _mm256_permute2x128_si256::<0x20>(c, d));
            _mm256_storeu_si256(out.add(2), _mm256_permute2x128_si256::<0x31>(a, b));
            _mm256_storeu_si256(out.add(3), _mm256_permute2x128_si256::<0x31>(c, d));
        }
    }
}
