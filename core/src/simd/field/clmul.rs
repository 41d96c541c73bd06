//! GF(2^128) by PCLMULQDQ, 16 bytes at a time, and by VPCLMULQDQ, 64 bytes at a time.

use core::arch::x86_64::*;

use super::{PIECE, PieceKey, REDUCTION, mark_of};
use crate::simd::table::first_bytes;

/// Whether the CPU has the instruction that [`product_sum`] and [`multiply`] need.
pub(in crate::simd) fn is_available() -> bool {
    is_x86_feature_detected!("pclmulqdq")
}

/// An unreduced product: its low half, its high half, and the part to be added across the two.
#[derive(Clone, Copy)]
struct Product {
    low: __m128i,
    high: __m128i,
    middle: __m128i,
}

/// The product of two polynomials.
///
/// # Safety
/// The CPU has PCLMULQDQ.
#[inline(always)]
unsafe fn product(a: __m128i, b: __m128i) -> Product {
    // SAFETY: the caller answers for the instruction.
    unsafe {
        Product {
            low: _mm_clmulepi64_si128::<0x00>(a, b),
            high: _mm_clmulepi64_si128::<0x11>(a, b),
            middle: _mm_xor_si128(
                _mm_clmulepi64_si128::<0x01>(a, b),
                _mm_clmulepi64_si128::<0x10>(a, b),
            ),
        }
    }
}

/// The remainder of a product.
///
/// # Safety
/// The CPU has PCLMULQDQ.
#[inline(always)]
unsafe fn reduced(Product { low, high, middle }: Product) -> u128 {
    // SAFETY: the caller answers for the instruction; the others are SSE2, which is part of x86-64.
    unsafe {
        let low = _mm_xor_si128(low, _mm_slli_si128::<8>(middle));
        let high = _mm_xor_si128(high, _mm_srli_si128::<8>(middle));
        let by = _mm_cvtsi64_si128(REDUCTION.cast_signed());
        let folded = _mm_clmulepi64_si128::<0x01>(high, by);
        let high = _mm_xor_si128(high, _mm_srli_si128::<8>(folded));
        let low = _mm_xor_si128(low, _mm_slli_si128::<8>(folded));
        word(_mm_xor_si128(low, _mm_clmulepi64_si128::<0x00>(high, by)))
    }
}

#[inline(always)]
fn word(v: __m128i) -> u128 {
    // SAFETY: both are 16 bytes of plain data.
    unsafe { core::mem::transmute::<__m128i, u128>(v) }
}

#[inline(always)]
fn register(word: u128) -> __m128i {
    // SAFETY: both are 16 bytes of plain data.
    unsafe { core::mem::transmute::<u128, __m128i>(word) }
}

/// See [`crate::simd::Isa::multiply`].
///
/// # Safety
/// The CPU has PCLMULQDQ.
#[inline(always)]
pub(in crate::simd) unsafe fn multiply(a: u128, b: u128) -> u128 {
    // SAFETY: the caller answers for the instruction.
    unsafe { reduced(product(register(a), register(b))) }
}

/// See [`crate::simd::Isa::product_sum`].
///
/// # Safety
/// The CPU has PCLMULQDQ.
#[inline(always)]
pub(in crate::simd) unsafe fn product_sum(text: &[u8; PIECE], len: usize, key: &PieceKey) -> u128 {
    let mask = first_bytes(len);
    let mark = register(u128::from(mark_of(len)) << 120);
    // SAFETY: the caller answers for PCLMULQDQ; the others are SSE2, which is part of x86-64.
    unsafe {
        let mut sum = product(keyed(text, mask, key, 0), keyed(text, mask, key, 4));
        for i in 1..3 {
            let next = product(keyed(text, mask, key, i), keyed(text, mask, key, i + 4));
            sum = added(sum, next);
        }
        let last = _mm_xor_si128(keyed(text, mask, key, 7), mark);
        reduced(added(sum, product(keyed(text, mask, key, 3), last)))
    }
}

/// Word number `i` of `text`, masked by `mask`, added to that of `key`.
#[inline(always)]
fn keyed(text: &[u8; PIECE], mask: &[u8; PIECE], key: &PieceKey, i: usize) -> __m128i {
    let (text, mask) = (&text.as_chunks::<16>().0[i], &mask.as_chunks::<16>().0[i]);
    // SAFETY: each reference covers the 16 bytes that are read; SSE2 is part of x86-64.
    unsafe {
        let text = _mm_loadu_si128(text.as_ptr().cast());
        let mask = _mm_loadu_si128(mask.as_ptr().cast());
        _mm_xor_si128(_mm_and_si128(text, mask), register(key[i]))
    }
}

/// The sum of two products.
#[inline(always)]
fn added(a: Product, b: Product) -> Product {
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        Product {
            low: _mm_xor_si128(a.low, b.low),
            high: _mm_xor_si128(a.high, b.high),
            middle: _mm_xor_si128(a.middle, b.middle),
        }
    }
}

/// Like [`product_sum`], with two words per load.
///
/// # Safety
/// The CPU has AVX2 and PCLMULQDQ.
#[inline(always)]
pub(in crate::simd) unsafe fn product_sum_by_pairs(
    text: &[u8; PIECE],
    len: usize,
    key: &PieceKey,
) -> u128 {
    let mask = first_bytes(len);
    let mark = register(u128::from(mark_of(len)) << 120);
    // SAFETY: the caller answers for the instructions.
    unsafe {
        let (a, b) = (keyed_pair(text, mask, key, 0), keyed_pair(text, mask, key, 1));
        let (c, d) = (keyed_pair(text, mask, key, 2), keyed_pair(text, mask, key, 3));
        let sum = product(_mm256_castsi256_si128(a), _mm256_castsi256_si128(c));
        let next = product(_mm256_castsi256_si128(b), _mm256_castsi256_si128(d));
        let sum = added(sum, next);
        let (a, b) = (_mm256_extracti128_si256::<1>(a), _mm256_extracti128_si256::<1>(b));
        let (c, d) = (_mm256_extracti128_si256::<1>(c), _mm256_extracti128_si256::<1>(d));
        let sum = added(sum, product(a, c));
        reduced(added(sum, product(b, _mm_xor_si128(d, mark))))
    }
}

/// Words number `2 * i` and `2 * i + 1` of `text`, as by [`keyed`].
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
unsafe fn keyed_pair(text: &[u8; PIECE], mask: &[u8; PIECE], key: &PieceKey, i: usize) -> __m256i {
    let (text, mask) = (&text.as_chunks::<32>().0[i], &mask.as_chunks::<32>().0[i]);
    let key = &key.as_chunks::<2>().0[i];
    // SAFETY: each reference covers the 32 bytes that are read; the caller answers for the instructions.
    unsafe {
        let text = _mm256_loadu_si256(text.as_ptr().cast());
        let mask = _mm256_loadu_si256(mask.as_ptr().cast());
        let key = _mm256_loadu_si256(key.as_ptr().cast());
        _mm256_xor_si256(_mm256_and_si256(text, mask), key)
    }
}

/// Whether the CPU has the instructions that [`product_sum_wide`] needs.
pub(in crate::simd) fn is_wide_available() -> bool {
    is_available() && is_x86_feature_detected!("vpclmulqdq")
}

/// Like [`product_sum`], four products at a time.
///
/// # Safety
/// The CPU has AVX-512 F, BW, DQ and VL, VPCLMULQDQ and PCLMULQDQ.
#[inline(always)]
pub(in crate::simd) unsafe fn product_sum_wide(
    text: &[u8; PIECE],
    len: usize,
    key: &PieceKey,
) -> u128 {
    let len = len.min(PIECE);
    let is_whole = u64::from(len == PIECE);
    let (first, second) = (low_bits(len), low_bits(len.saturating_sub(64)));
    // SAFETY: the references cover the two words of 64 bytes that are read of each; the caller answers for the
    // instructions.
    unsafe {
        let (text, key) = (text.as_ptr(), key.as_ptr().cast::<__m512i>());
        let first = _mm512_maskz_loadu_epi8(first, text.cast());
        let second = _mm512_maskz_loadu_epi8(second, text.add(64).cast());
        let length = (len as u8).cast_signed();
        let second = _mm512_mask_set1_epi8(second, (is_whole ^ 1) << 63, length);
        let (first_key, second_key) = (_mm512_loadu_si512(key), _mm512_loadu_si512(key.add(1)));
        let a = _mm512_xor_si512(first, first_key);
        let b = _mm512_xor_si512(second, second_key);
        let low = _mm512_clmulepi64_epi128::<0x00>(a, b);
        let high = _mm512_clmulepi64_epi128::<0x11>(a, b);
        let middle = _mm512_xor_si512(
            _mm512_clmulepi64_epi128::<0x01>(a, b),
            _mm512_clmulepi64_epi128::<0x10>(a, b),
        );
        reduced(Product { low: folded(low), high: folded(high), middle: folded(middle) })
    }
}

/// A word whose lowest `count` bits are set; all bits if `count` is 64 or more.
#[inline(always)]
fn low_bits(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// The sum of the four quarters of a register.
///
/// # Safety
/// The CPU has AVX-512 F.
#[inline(always)]
unsafe fn folded(v: __m512i) -> __m128i {
    // SAFETY: the caller answers for the instructions.
    unsafe {
        let half = _mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64::<1>(v));
        _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
    }
}
