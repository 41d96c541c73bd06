//! AArch64 Advanced SIMD: a block is four registers; masks are gathered by weighted pairwise sums.

use core::arch::aarch64::*;

use super::block::{block_classes, block_sketch, block_tests};
use super::table::{NibbleTables, PLAIN_NIBBLES, SIMPLE_NIBBLES};
use super::{BLOCK, Backend, Isa, Masks, Sketch, Summary, Task, field};

/// The token of this backend; Advanced SIMD is part of AArch64.
#[derive(Clone, Copy)]
pub(super) struct Neon(());

/// Runs `task` with this backend.
///
/// # Safety
/// No requirements on AArch64; `unsafe` so that all backends have the same signature.
#[inline(never)]
#[target_feature(enable = "neon")]
pub(super) unsafe fn run<T: Task>(task: T) -> T::Output {
    task.run(Neon(()))
}

type Quad = [uint8x16_t; 4];

#[inline(always)]
fn load(block: &[u8; BLOCK]) -> Quad {
    let start = block.as_ptr();
    // SAFETY: the reference covers the 4 x 16 bytes read.
    unsafe {
        [vld1q_u8(start), vld1q_u8(start.add(16)), vld1q_u8(start.add(32)), vld1q_u8(start.add(48))]
    }
}

/// One bit per byte, from the bytes 0x00 or 0xFF that a test returns for each quarter.
///
/// A macro, since a function would take a closure, and a closure with many call sites is not always
/// inlined: it is then compiled without the features of this backend, and every intrinsic in it is
/// a call.
macro_rules! mask {
    ($quad:expr, |$v:ident| $test:expr) => {{
        let mut tested = $quad;
        for quarter in &mut tested {
            let $v = *quarter;
            *quarter = $test;
        }
        gathered(tested)
    }};
}

/// One bit per byte from bytes 0x00 or 0xFF.
#[inline(always)]
fn gathered(v: Quad) -> u64 {
    const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: Advanced SIMD is part of AArch64, and `WEIGHTS` is 16 bytes long.
    unsafe {
        let weights = vld1q_u8(WEIGHTS.as_ptr());
        // Three rounds of pairwise addition combine eight weighted bytes into one.
        let first = vpaddq_u8(vandq_u8(v[0], weights), vandq_u8(v[1], weights));
        let second = vpaddq_u8(vandq_u8(v[2], weights), vandq_u8(v[3], weights));
        let sums = vpaddq_u8(first, second);
        let sums = vpaddq_u8(sums, sums);
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(sums))
    }
}

/// 0xFF where a byte is `byte`.
#[inline(always)]
fn equal(v: uint8x16_t, byte: u8) -> uint8x16_t {
    // SAFETY: Advanced SIMD is part of AArch64.
    unsafe { vceqq_u8(v, vdupq_n_u8(byte)) }
}

/// 0xFF where one of two tests succeeds.
#[inline(always)]
fn or(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    // SAFETY: Advanced SIMD is part of AArch64.
    unsafe { vorrq_u8(a, b) }
}

/// 0xFF where a byte is one of the `count` from `first` on.
#[inline(always)]
fn in_range(v: uint8x16_t, first: u8, count: u8) -> uint8x16_t {
    // SAFETY: Advanced SIMD is part of AArch64.
    unsafe { vcltq_u8(vsubq_u8(v, vdupq_n_u8(first)), vdupq_n_u8(count)) }
}

/// 0xFF where a byte is not in the class of `tables`.
#[inline(always)]
fn outside(v: uint8x16_t, tables: &NibbleTables) -> uint8x16_t {
    // SAFETY: Advanced SIMD is part of AArch64, and the tables are 16 bytes long.
    unsafe {
        let low = vqtbl1q_u8(vld1q_u8(tables.low.as_ptr()), vandq_u8(v, vdupq_n_u8(0x0F)));
        // `high` is 0 from 8 up: no class has non-ASCII bytes.
        let high = vqtbl1q_u8(vld1q_u8(tables.high.as_ptr()), vshrq_n_u8::<4>(v));
        vceqzq_u8(vandq_u8(low, high))
    }
}

impl Isa for Neon {
    const BACKEND: Backend = Backend::Neon;

    block_classes!(
        #[inline(always)]
        (self,)
    );

    block_tests!(
        #[inline(always)]
        (self,)
    );

    block_sketch!();

    #[inline(always)]
    fn equal(self, block: &[u8; BLOCK], byte: u8) -> u64 {
        mask!(load(block), |v| equal(v, byte))
    }

    #[inline(always)]
    fn product_sum(self, text: &[u8; field::PIECE], len: usize, key: &field::PieceKey) -> u128 {
        field::pmull::product_sum(text, len, key)
    }

    #[inline(always)]
    fn multiply(self, a: u128, b: u128) -> u128 {
        field::pmull::multiply(a, b)
    }
}
