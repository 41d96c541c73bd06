//! AVX-512 VBMI: one permutation of a 128-byte table returns every class bit of 64 bytes.

use core::arch::x86_64::*;

use super::table::{CLASS_BITS, NibbleTables};
use super::{BLOCK, Backend, Isa, Masks, Sketch, Summary, Task, avx512, class, field};

/// Proof that the CPU has this module's features, which include those of `avx512`.
#[derive(Clone, Copy)]
pub(super) struct Avx512Vbmi(());

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512vbmi")
        && field::clmul::is_wide_available()
        && avx512::is_available()
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

/// The bytes of `v` in which `bit` is set.
#[inline(always)]
fn with_bit(v: __m512i, bit: usize) -> u64 {
    // SAFETY: a caller holds this backend's token.
    unsafe { _mm512_test_epi8_mask(v, _mm512_set1_epi8((1u8 << bit).cast_signed())) }
}

impl Isa for Avx512Vbmi {
    const BACKEND: Backend = Backend::Avx512Vbmi;

    type Lanes = avx512::Avx512;

    #[inline(always)]
    fn lanes(self) -> avx512::Avx512 {
        // The features of this backend include those of `avx512`.
        avx512::Avx512(())
    }

    #[inline(always)]
    fn classify(self, block: &[u8; BLOCK]) -> Masks {
        let v = avx512::load(block);
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

    #[inline(always)]
    fn sketch(self, block: &[u8; BLOCK], record_end: u8) -> Sketch {
        avx512::sketch(avx512::load(block), record_end)
    }

    #[inline(always)]
    fn equal(self, block: &[u8; BLOCK], byte: u8) -> u64 {
        avx512::equal(avx512::load(block), byte)
    }

    #[inline(always)]
    fn letters(self, block: &[u8; BLOCK]) -> u64 {
        avx512::letters(avx512::load(block))
    }

    #[inline(always)]
    fn members(self, block: &[u8; BLOCK], tables: &NibbleTables) -> u64 {
        !avx512::outside(avx512::load(block), tables)
    }

    #[inline(always)]
    fn hex_digits(self, block: &[u8; BLOCK]) -> (u64, u64) {
        avx512::hex_digits(avx512::load(block))
    }

    #[inline(always)]
    fn window(self, low: &Summary, high: &Summary, shift: u32) -> Summary {
        avx512::window(low, high, shift)
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
