//! AVX-512 with VBMI: a block is one register, a comparison returns its mask directly, and one
//! permutation of a 128-byte table returns every class bit of 64 bytes.

use core::arch::x86_64::*;

use super::block::{block_sketch, block_tests};
use super::table::{CLASS_BITS, NibbleTables, SIMPLE_NIBBLES};
use super::{BLOCK, Backend, Isa, Masks, Sketch, Summary, Task, avx2, class, field};

/// Proof that the CPU has this module's features.
#[derive(Clone, Copy)]
pub(super) struct Avx512Vbmi(());

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vl")
        && field::clmul::is_wide_available()
        && avx2::is_available()
}

/// Runs `task` with this backend.
///
/// # Safety
/// [`is_available`] must have returned true.
#[inline(never)]
#[target_feature(
    enable = "avx512vbmi,avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,pclmulqdq,popcnt,vpclmulqdq"
)]
pub(super) unsafe fn run<T: Task>(task: T) -> T::Output {
    task.run(Avx512Vbmi(()))
}

#[inline(always)]
fn load(block: &[u8; BLOCK]) -> __m512i {
    // SAFETY: the reference covers the 64 bytes read; a caller holds this backend's token.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// The mask of bytes of `v` that are one of the `count` from `first` on.
#[inline(always)]
fn in_range(v: __m512i, first: u8, count: i8) -> u64 {
    // SAFETY: a caller holds this backend's token. The subtraction wraps, so an
    // unsigned comparison tests both ends at once.
    unsafe {
        let offset = _mm512_sub_epi8(v, _mm512_set1_epi8(first.cast_signed()));
        _mm512_cmplt_epu8_mask(offset, _mm512_set1_epi8(count))
    }
}

/// The mask of bytes of `v` that are `byte`.
#[inline(always)]
fn equal(v: __m512i, byte: u8) -> u64 {
    // SAFETY: a caller holds this backend's token.
    unsafe { _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(byte.cast_signed())) }
}

/// The mask of bytes for which one of two tests succeeds.
#[inline(always)]
fn or(a: u64, b: u64) -> u64 {
    a | b
}

/// `table` in all four quarters of a register.
#[inline(always)]
fn four_times(table: &[u8; 16]) -> __m512i {
    // SAFETY: a caller holds this backend's token, and the table is 16 bytes long.
    unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast())) }
}

/// The mask of bytes of `v` that are not in the class of `tables`.
#[inline(always)]
fn outside(v: __m512i, tables: &NibbleTables) -> u64 {
    // SAFETY: a caller holds this backend's token.
    unsafe {
        // The shuffle returns 0 where bit 7 of the byte is set: no class has non-ASCII bytes.
        let low = _mm512_shuffle_epi8(four_times(&tables.low), v);
        let nibble = _mm512_and_si512(_mm512_srli_epi16::<4>(v), _mm512_set1_epi8(0x0F));
        let high = _mm512_shuffle_epi8(four_times(&tables.high), nibble);
        _mm512_testn_epi8_mask(low, high)
    }
}

/// The mask of a test, which returns it.
macro_rules! mask {
    ($v:expr, |$w:ident| $test:expr) => {{
        let $w = $v;
        $test
    }};
}

/// The mask of bytes of `v` in which `bit` is set.
#[inline(always)]
fn with_bit(v: __m512i, bit: usize) -> u64 {
    // SAFETY: a caller holds this backend's token.
    unsafe { _mm512_test_epi8_mask(v, _mm512_set1_epi8((1u8 << bit).cast_signed())) }
}

impl Isa for Avx512Vbmi {
    const BACKEND: Backend = Backend::Avx512Vbmi;

    #[inline(always)]
    fn classify(self, block: &[u8; BLOCK]) -> Masks {
        let v = load(block);
        // SAFETY: the caller holds this backend's token; the two halves of the table that
        // are read are its first 128 bytes.
        let (bits, non_ascii) = unsafe {
            let first = _mm512_loadu_si512(CLASS_BITS.as_ptr().cast());
            let second = _mm512_loadu_si512(CLASS_BITS.as_ptr().add(64).cast());
            // The permutation uses seven bits of the byte; bit 7 is tested separately.
            (_mm512_permutex2var_epi8(first, v, second), _mm512_movepi8_mask(v))
        };
        let ascii = !non_ascii;
        [
            with_bit(bits, class::SLASH) & ascii,
            with_bit(bits, class::COLON_AT) & ascii,
            with_bit(bits, class::QUESTION) & ascii,
            with_bit(bits, class::HASH) & ascii,
            with_bit(bits, class::PERCENT) & ascii,
            with_bit(bits, class::UPPER) & ascii,
            with_bit(bits, class::DOT) & ascii,
            with_bit(bits, class::ODD) | non_ascii,
        ]
    }

    block_tests!(
        #[inline(always)]
        (self,)
    );

    block_sketch!();

    #[inline(always)]
    fn equal(self, block: &[u8; BLOCK], byte: u8) -> u64 {
        equal(load(block), byte)
    }

    #[inline(always)]
    fn window(self, low: &Summary, high: &Summary, shift: u32) -> Summary {
        avx2::window(low, high, shift)
    }

    #[inline(always)]
    fn product_sum(self, text: &[u8; field::PIECE], len: usize, key: &field::PieceKey) -> u128 {
        // SAFETY: the caller holds this backend's token, which needs the instructions.
        unsafe { field::clmul::product_sum_wide(text, len, key) }
    }

    #[inline(always)]
    fn multiply(self, a: u128, b: u128) -> u128 {
        // SAFETY: the caller holds this backend's token, which needs the instructions.
        unsafe { field::clmul::multiply(a, b) }
    }
}
