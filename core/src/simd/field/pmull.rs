//! GF(2^128) by PMULL of AArch64, a part of its cryptographic extension, which nearly every CPU
//! has.

use core::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

use super::{PIECE, PieceKey, REDUCTION, mark_of};
use crate::simd::table::first_bytes;

/// See [`crate::simd::Isa::multiply`].
#[inline(always)]
pub(in crate::simd) fn multiply(a: u128, b: u128) -> u128 {
    if is_aarch64_feature_detected!("aes") {
        // SAFETY: PMULL belongs to the feature `aes`, which the CPU has.
        unsafe { multiply_fast(a, b) }
    } else {
        super::multiply(a, b)
    }
}

/// See [`crate::simd::Isa::product_sum`].
#[inline(always)]
pub(in crate::simd) fn product_sum(text: &[u8; PIECE], len: usize, key: &PieceKey) -> u128 {
    if is_aarch64_feature_detected!("aes") {
        // SAFETY: as above.
        unsafe { product_sum_fast(text, len, key) }
    } else {
        super::product_sum(text, len, key)
    }
}

/// An unreduced product: its low half, its high half, and the part to be added across the two.
#[derive(Clone, Copy, Default)]
struct Product {
    low: u128,
    high: u128,
    middle: u128,
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn product(a: u128, b: u128) -> Product {
    let (a_low, a_high, b_low, b_high) = (a as u64, (a >> 64) as u64, b as u64, (b >> 64) as u64);
    Product {
        low: vmull_p64(a_low, b_low),
        high: vmull_p64(a_high, b_high),
        middle: vmull_p64(a_low, b_high) ^ vmull_p64(a_high, b_low),
    }
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn reduced(Product { low, high, middle }: Product) -> u128 {
    let (low, high) = (low ^ (middle << 64), high ^ (middle >> 64));
    let folded = vmull_p64((high >> 64) as u64, REDUCTION);
    let high = high as u64 ^ (folded >> 64) as u64;
    low ^ (folded << 64) ^ vmull_p64(high, REDUCTION)
}

#[target_feature(enable = "neon,aes")]
fn multiply_fast(a: u128, b: u128) -> u128 {
    reduced(product(a, b))
}

#[target_feature(enable = "neon,aes")]
fn product_sum_fast(text: &[u8; PIECE], len: usize, key: &PieceKey) -> u128 {
    let (text, mask) = (text.as_chunks::<16>().0, first_bytes::<PIECE>(len).as_chunks::<16>().0);
    let word = |i: usize| {
        let (text, mask) = (u128::from_le_bytes(text[i]), u128::from_le_bytes(mask[i]));
        (text & mask) ^ key[i]
    };
    let mut sum = Product::default();
    for i in 0..4 {
        let mark = if i == 3 { u128::from(mark_of(len)) << 120 } else { 0 };
        let next = product(word(i), word(i + 4) ^ mark);
        sum.low ^= next.low;
        sum.high ^= next.high;
        sum.middle ^= next.middle;
    }
    reduced(sum)
}
