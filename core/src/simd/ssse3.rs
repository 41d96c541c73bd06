//! SSSE3: a block is four registers.

use core::arch::x86_64::*;

use super::block::{block_classes, block_sketch, block_tests};
use super::table::{NibbleTables, PLAIN_NIBBLES, SIMPLE_NIBBLES};
use super::{BLOCK, Backend, Isa, Masks, Sketch, Summary, Task, field};

/// Proof that the CPU has this module's features.
#[derive(Clone, Copy)]
pub(super) struct Ssse3(());

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("ssse3") && field::clmul::is_available()
}

/// Runs `task` with this backend.
///
/// # Safety
/// [`is_available`] must have returned true.
#[inline(never)]
#[target_feature(enable = "pclmulqdq,ssse3")]
pub(super) unsafe fn run<T: Task>(task: T) -> T::Output {
    task.run(Ssse3(()))
}

type Quad = [__m128i; 4];

#[inline(always)]
fn load(block: &[u8; BLOCK]) -> Quad {
    let quarters = block.as_ptr().cast::<__m128i>();
    // SAFETY: the reference covers the 4 x 16 bytes read; SSE2 is part of x86-64.
    unsafe {
        [
            _mm_loadu_si128(quarters),
            _mm_loadu_si128(quarters.add(1)),
            _mm_loadu_si128(quarters.add(2)),
            _mm_loadu_si128(quarters.add(3)),
        ]
    }
}

/// The top bits of the bytes that a test returns for each quarter.
///
/// A macro, since a function would take a closure, and a closure with many call sites is not always
/// inlined: it is then compiled without the features of this backend, and every intrinsic in it is
/// a call.
macro_rules! mask {
    ($quad:expr, |$v:ident| $test:expr) => {{
        let [$v, second, third, fourth] = $quad;
        let mut mask = top_bits($test);
        let $v = second;
        mask |= top_bits($test) << 16;
        let $v = third;
        mask |= top_bits($test) << 32;
        let $v = fourth;
        mask |= top_bits($test) << 48;
        crate::simd::opaque(mask)
    }};
}

#[inline(always)]
fn top_bits(v: __m128i) -> u64 {
    // SAFETY: SSE2 is part of x86-64.
    u64::from(unsafe { _mm_movemask_epi8(v) }.cast_unsigned())
}

/// 0xFF where a byte is `byte`.
#[inline(always)]
fn equal(v: __m128i, byte: u8) -> __m128i {
    // SAFETY: a caller holds this backend's token.
    unsafe { _mm_cmpeq_epi8(v, _mm_set1_epi8(byte.cast_signed())) }
}

/// 0xFF where one of two tests succeeds.
#[inline(always)]
fn or(a: __m128i, b: __m128i) -> __m128i {
    // SAFETY: a caller holds this backend's token.
    unsafe { _mm_or_si128(a, b) }
}

/// 0xFF where a byte is one of the `count` (at most 127) from `first` on.
#[inline(always)]
fn in_range(v: __m128i, first: u8, count: i8) -> __m128i {
    // SAFETY: a caller holds this backend's token. The range is moved to the bottom of the signed
    // bytes, where one signed comparison tests both ends.
    unsafe {
        let first = first.wrapping_add(128).cast_signed();
        let offset = _mm_sub_epi8(v, _mm_set1_epi8(first));
        _mm_cmpgt_epi8(_mm_set1_epi8(i8::MIN + count), offset)
    }
}

/// 0xFF where a byte is not in the class of `tables`.
#[inline(always)]
fn outside(v: __m128i, tables: &NibbleTables) -> __m128i {
    // SAFETY: a caller holds this backend's token, and the tables are 16 bytes long.
    unsafe {
        let low_table = _mm_loadu_si128(tables.low.as_ptr().cast());
        let high_table = _mm_loadu_si128(tables.high.as_ptr().cast());
        // The shuffle returns 0 where bit 7 of the byte is set: no class has non-ASCII bytes.
        let low = _mm_shuffle_epi8(low_table, v);
        let nibble = _mm_and_si128(_mm_srli_epi16::<4>(v), _mm_set1_epi8(0x0F));
        let high = _mm_shuffle_epi8(high_table, nibble);
        _mm_cmpeq_epi8(_mm_and_si128(low, high), _mm_setzero_si128())
    }
}

/// The tests that the floors above use. Not inlined, as few CPUs have nothing better than SSSE3:
/// inlined into all tasks, with four registers for each block, they took longer to compile than
/// those of the other backends.
mod out_of_line {
    use super::*;

    block_classes!(#[inline(never)] #[target_feature(enable = "pclmulqdq,ssse3")] pub(super) ());
    block_tests!(#[inline(never)] #[target_feature(enable = "pclmulqdq,ssse3")] pub(super) ());

    #[inline(never)]
    #[target_feature(enable = "pclmulqdq,ssse3")]
    pub(super) fn bytes(block: &[u8; BLOCK], byte: u8) -> u64 {
        mask!(load(block), |v| equal(v, byte))
    }
}

impl Isa for Ssse3 {
    const BACKEND: Backend = Backend::Ssse3;

    #[inline(always)]
    fn classify(self, block: &[u8; BLOCK]) -> Masks {
        // SAFETY: the token is proof of SSSE3.
        unsafe { out_of_line::classify(block) }
    }

    block_sketch!();

    #[inline(always)]
    fn equal(self, block: &[u8; BLOCK], byte: u8) -> u64 {
        // SAFETY: the token is proof of SSSE3.
        unsafe { out_of_line::bytes(block, byte) }
    }

    #[inline(always)]
    fn letters(self, block: &[u8; BLOCK]) -> u64 {
        // SAFETY: the token is proof of SSSE3.
        unsafe { out_of_line::letters(block) }
    }

    #[inline(always)]
    fn members(self, block: &[u8; BLOCK], tables: &NibbleTables) -> u64 {
        // SAFETY: the token is proof of SSSE3.
        unsafe { out_of_line::members(block, tables) }
    }

    #[inline(always)]
    fn hex_digits(self, block: &[u8; BLOCK]) -> (u64, u64) {
        // SAFETY: the token is proof of SSSE3.
        unsafe { out_of_line::hex_digits(block) }
    }

    #[inline(always)]
    fn product_sum(self, text: &[u8; field::PIECE], len: usize, key: &field::PieceKey) -> u128 {
        // SAFETY: the caller holds this backend's token, which needs the instructions.
        unsafe { field::clmul::product_sum(text, len, key) }
    }

    #[inline(always)]
    fn multiply(self, a: u128, b: u128) -> u128 {
        // SAFETY: the caller holds this backend's token, which needs the instructions.
        unsafe { field::clmul::multiply(a, b) }
    }
}
