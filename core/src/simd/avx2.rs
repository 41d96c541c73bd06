//! AVX2: a block is two registers.

use core::arch::x86_64::*;

use super::block::{block_classes, block_sketch, block_tests};
use super::table::{NibbleTables, PLAIN_NIBBLES, SIMPLE_NIBBLES};
use super::{BLOCK, Backend, Isa, Masks, Sketch, Summary, Task, field};

/// Proof that the CPU has this module's features.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
        && field::clmul::is_available()
}

/// Runs `task` with this backend.
///
/// # Safety
/// [`is_available`] must have returned true.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,pclmulqdq,popcnt")]
pub(super) unsafe fn run<T: Task>(task: T) -> T::Output {
    task.run(Avx2(()))
}

type Pair = [__m256i; 2];

#[inline(always)]
fn load(block: &[u8; BLOCK]) -> Pair {
    // SAFETY: the reference covers the 2 x 32 bytes read; a caller holds this backend's token.
    unsafe {
        [
            _mm256_loadu_si256(block.as_ptr().cast()),
            _mm256_loadu_si256(block.as_ptr().add(32).cast()),
        ]
    }
}

/// The top bits of the bytes that a test returns for each half.
///
/// A macro, since a function would take a closure, and a closure with many call sites is not always
/// inlined: it is then compiled without the features of this backend, and every intrinsic in it is
/// a call.
macro_rules! mask {
    ($pair:expr, |$v:ident| $test:expr) => {{
        let [$v, second] = $pair;
        let mut mask = top_bits($test);
        let $v = second;
        mask |= top_bits($test) << 32;
        super::opaque(mask)
    }};
}

#[inline(always)]
fn top_bits(v: __m256i) -> u64 {
    // SAFETY: a caller holds this backend's token.
    u64::from(unsafe { _mm256_movemask_epi8(v) }.cast_unsigned())
}

/// 0xFF where a byte is `byte`.
#[inline(always)]
fn equal(v: __m256i, byte: u8) -> __m256i {
    // SAFETY: a caller holds this backend's token.
    unsafe { _mm256_cmpeq_epi8(v, _mm256_set1_epi8(byte.cast_signed())) }
}

/// 0xFF where one of two tests succeeds.
#[inline(always)]
fn or(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: a caller holds this backend's token.
    unsafe { _mm256_or_si256(a, b) }
}

/// 0xFF where a byte is one of the `count` (at most 127) from `first` on.
#[inline(always)]
fn in_range(v: __m256i, first: u8, count: i8) -> __m256i {
    // SAFETY: a caller holds this backend's token. The range is moved to the bottom of the signed
    // bytes, where one signed comparison tests both ends.
    unsafe {
        let first = first.wrapping_add(128).cast_signed();
        let offset = _mm256_sub_epi8(v, _mm256_set1_epi8(first));
        _mm256_cmpgt_epi8(_mm256_set1_epi8(i8::MIN + count), offset)
    }
}

/// `table` in both halves of a register.
#[inline(always)]
fn twice(table: &[u8; 16]) -> __m256i {
    // SAFETY: a caller holds this backend's token, and the table is 16 bytes long.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())) }
}

/// 0xFF where a byte is not in the class of `tables`.
#[inline(always)]
fn outside(v: __m256i, tables: &NibbleTables) -> __m256i {
    // SAFETY: a caller holds this backend's token.
    unsafe {
        // The shuffle returns 0 where bit 7 of the byte is set: no class has non-ASCII bytes.
        let low = _mm256_shuffle_epi8(twice(&tables.low), v);
        let nibble = _mm256_and_si256(_mm256_srli_epi16::<4>(v), _mm256_set1_epi8(0x0F));
        let high = _mm256_shuffle_epi8(twice(&tables.high), nibble);
        _mm256_cmpeq_epi8(_mm256_and_si256(low, high), _mm256_setzero_si256())
    }
}

/// See [`Isa::window`]; shared with the AVX-512 backend.
#[inline(always)]
pub(super) fn window(low: &Summary, high: &Summary, shift: u32) -> Summary {
    let mut out = Summary::default();
    // SAFETY: each reference covers the four words read or written (`Summary` holds four words
    // and nothing else), and a caller holds a token of AVX2. A count of 64 shifts everything out,
    // as `shift == 0` needs.
    unsafe {
        let right = _mm_cvtsi32_si128(shift.cast_signed());
        let left = _mm_cvtsi32_si128(64 - shift.cast_signed());
        let low = _mm256_srl_epi64(_mm256_loadu_si256(core::ptr::from_ref(low).cast()), right);
        let high = _mm256_sll_epi64(_mm256_loadu_si256(core::ptr::from_ref(high).cast()), left);
        _mm256_storeu_si256((&raw mut out).cast(), _mm256_or_si256(low, high));
    }
    out
}

impl Isa for Avx2 {
    const BACKEND: Backend = Backend::Avx2;

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
    fn window(self, low: &Summary, high: &Summary, shift: u32) -> Summary {
        window(low, high, shift)
    }

    #[inline(always)]
    fn product_sum(self, text: &[u8; field::PIECE], len: usize, key: &field::PieceKey) -> u128 {
        // SAFETY: the caller holds this backend's token, which needs the instructions.
        unsafe { field::clmul::product_sum_by_pairs(text, len, key) }
    }

    #[inline(always)]
    fn multiply(self, a: u128, b: u128) -> u128 {
        // SAFETY: the caller holds this backend's token, which needs the instructions.
        unsafe { field::clmul::multiply(a, b) }
    }
}
