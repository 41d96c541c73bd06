//! AVX-512: sixteen lanes, a register for each block.

use core::arch::x86_64::*;

use super::{BLOCK, BLOCK_WORDS, Lanes32, MAX_LANES};
use crate::simd::avx512::{Avx512, load};

const LANES: usize = 16;

/// `block`, zero from byte `len` on.
#[inline(always)]
fn load_start(block: &[u8; BLOCK], len: u32) -> __m512i {
    // SAFETY: the reference covers the 64 bytes that may be read; a caller holds this backend's token,
    // which speaks for BMI2 too.
    unsafe { _mm512_maskz_loadu_epi8(_bzhi_u64(u64::MAX, len.min(64)), block.as_ptr().cast()) }
}

/// Transposes four rows of four words in each quarter of the registers.
#[inline(always)]
fn transpose_quarters([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: a caller holds this backend's token.
    unsafe {
        let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        [
            _mm512_unpacklo_epi64(ab_low, cd_low),
            _mm512_unpackhi_epi64(ab_low, cd_low),
            _mm512_unpacklo_epi64(ab_high, cd_high),
            _mm512_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

/// Transposes four rows of four quarters.
#[inline(always)]
fn transpose_of_quarters([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: a caller holds this backend's token.
    unsafe {
        let (ab_low, ab_high) =
            (_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0xEE>(a, b));
        let (cd_low, cd_high) =
            (_mm512_shuffle_i32x4::<0x44>(c, d), _mm512_shuffle_i32x4::<0xEE>(c, d));
        [
            _mm512_shuffle_i32x4::<0x88>(ab_low, cd_low),
            _mm512_shuffle_i32x4::<0xDD>(ab_low, cd_low),
            _mm512_shuffle_i32x4::<0x88>(ab_high, cd_high),
            _mm512_shuffle_i32x4::<0xDD>(ab_high, cd_high),
        ]
    }
}

/// Transposes sixteen rows of sixteen words.
#[inline(always)]
fn transpose(rows: [__m512i; LANES]) -> [__m512i; BLOCK_WORDS] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = rows;
    let [ad0, ad1, ad2, ad3] = transpose_quarters([a, b, c, d]);
    let [eh0, eh1, eh2, eh3] = transpose_quarters([e, f, g, h]);
    let [il0, il1, il2, il3] = transpose_quarters([i, j, k, l]);
    let [mp0, mp1, mp2, mp3] = transpose_quarters([m, n, o, p]);
    // Quarter `q` of these is word `4 * q + w` of four blocks.
    let [w0, w4, w8, w12] = transpose_of_quarters([ad0, eh0, il0, mp0]);
    let [w1, w5, w9, w13] = transpose_of_quarters([ad1, eh1, il1, mp1]);
    let [w2, w6, w10, w14] = transpose_of_quarters([ad2, eh2, il2, mp2]);
    let [w3, w7, w11, w15] = transpose_of_quarters([ad3, eh3, il3, mp3]);
    [w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15]
}

impl Lanes32 for Avx512 {
    const LANES: usize = LANES;

    type Words = __m512i;

    #[inline(always)]
    fn splat(self, value: u32) -> __m512i {
        // SAFETY: the token is proof of AVX-512 F. The same holds for the methods below.
        unsafe { _mm512_set1_epi32(value.cast_signed()) }
    }

    #[inline(always)]
    fn gather(self, values: &[u32; MAX_LANES]) -> __m512i {
        // SAFETY: as above; the array covers the 16 words read.
        unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
    }

    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_add_epi32(a, b) }
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_xor_si512(a, b) }
    }

    #[inline(always)]
    fn rotate_16(self, a: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_ror_epi32::<16>(a) }
    }

    #[inline(always)]
    fn rotate_12(self, a: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_ror_epi32::<12>(a) }
    }

    #[inline(always)]
    fn rotate_8(self, a: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_ror_epi32::<8>(a) }
    }

    #[inline(always)]
    fn rotate_7(self, a: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_ror_epi32::<7>(a) }
    }

    #[inline(always)]
    fn load(self, blocks: &[&[u8; BLOCK]; MAX_LANES]) -> [__m512i; BLOCK_WORDS] {
        transpose([
            load(blocks[0]),
            load(blocks[1]),
            load(blocks[2]),
            load(blocks[3]),
            load(blocks[4]),
            load(blocks[5]),
            load(blocks[6]),
            load(blocks[7]),
            load(blocks[8]),
            load(blocks[9]),
            load(blocks[10]),
            load(blocks[11]),
            load(blocks[12]),
            load(blocks[13]),
            load(blocks[14]),
            load(blocks[15]),
        ])
    }

    #[inline(always)]
    fn load_starts(
        self,
        blocks: &[&[u8; BLOCK]; MAX_LANES],
        lens: &[u32; MAX_LANES],
    ) -> [__m512i; BLOCK_WORDS] {
        transpose([
            load_start(blocks[0], lens[0]),
            load_start(blocks[1], lens[1]),
            load_start(blocks[2], lens[2]),
            load_start(blocks[3], lens[3]),
            load_start(blocks[4], lens[4]),
            load_start(blocks[5], lens[5]),
            load_start(blocks[6], lens[6]),
            load_start(blocks[7], lens[7]),
            load_start(blocks[8], lens[8]),
            load_start(blocks[9], lens[9]),
            load_start(blocks[10], lens[10]),
            load_start(blocks[11], lens[11]),
            load_start(blocks[12], lens[12]),
            load_start(blocks[13], lens[13]),
            load_start(blocks[14], lens[14]),
            load_start(blocks[15], lens[15]),
        ])
    }

    #[inline(always)]
    fn store(self, words: [__m512i; 4], out: &mut [[u8; 16]; MAX_LANES]) {
        // Quarter `q` of register `w` is lane `4 * q + w`.
        let [a, b, c, d] = transpose_of_quarters(transpose_quarters(words));
        // SAFETY: as above; the array covers the 256 bytes written.
        unsafe {
            let out = out.as_mut_ptr().cast::<__m512i>();
            _mm512_storeu_si512(out, a);
            _mm512_storeu_si512(out.add(1), b);
            _mm512_storeu_si512(out.add(2), c);
            _mm512_storeu_si512(out.add(3), d);
        }
    }
}
