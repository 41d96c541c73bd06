//! AVX-512 BW: a block is one register, and a comparison returns its mask directly.

use core::arch::x86_64::*;

use super::table::{NibbleTables, PLAIN_NIBBLES, SIMPLE_NIBBLES};
use super::{BLOCK, Backend, Isa, Masks, Sketch, Summary, Task, field};

/// Proof that the CPU has this module's features; created here and where more features are known.
#[derive(Clone, Copy)]
pub(super) struct Avx512(pub(super) ());

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && super::avx2::is_available()
}

/// Runs `task` with this backend.
///
/// # Safety
/// [`is_available`] must have returned true.
#[inline(never)]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,pclmulqdq,popcnt"
)]
pub(super) unsafe fn run<T: Task>(task: T) -> T::Output {
    task.run(Avx512(()))
}

#[inline(always)]
pub(super) fn load(block: &[u8; BLOCK]) -> __m512i {
    // SAFETY: the reference covers the 64 bytes read; a caller holds this backend's token.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// The bytes `first..first + count` of `v` as a mask.
#[inline(always)]
pub(super) fn in_range(v: __m512i, first: u8, count: i8) -> u64 {
    // SAFETY: a caller holds this backend's token. The subtraction wraps, so an
    // unsigned comparison tests both ends at once.
    unsafe {
        let offset = _mm512_sub_epi8(v, _mm512_set1_epi8(first.cast_signed()));
        _mm512_cmplt_epu8_mask(offset, _mm512_set1_epi8(count))
    }
}

#[inline(always)]
pub(super) fn equal(v: __m512i, byte: u8) -> u64 {
    // SAFETY: a caller holds this backend's token.
    unsafe { _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(byte.cast_signed())) }
}

/// `table` in all four quarters of a register.
#[inline(always)]
fn four_times(table: &[u8; 16]) -> __m512i {
    // SAFETY: a caller holds this backend's token, and the table is 16 bytes long.
    unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast())) }
}

/// The bytes of `v` that are not in the class of `tables`, as a mask.
#[inline(always)]
pub(super) fn outside(v: __m512i, tables: &NibbleTables) -> u64 {
    // SAFETY: a caller holds this backend's token.
    unsafe {
        // The shuffle returns 0 where bit 7 of the byte is set: no class has non-ASCII bytes.
        let low = _mm512_shuffle_epi8(four_times(&tables.low), v);
        let nibble = _mm512_and_si512(_mm512_srli_epi16::<4>(v), _mm512_set1_epi8(0x0F));
        let high = _mm512_shuffle_epi8(four_times(&tables.high), nibble);
        _mm512_testn_epi8_mask(low, high)
    }
}

/// The sketch of a block; shared with the VBMI backend, which has no better instructions for it.
#[inline(always)]
pub(super) fn sketch(v: __m512i, record_end: u8) -> Sketch {
    Sketch {
        summary: Summary {
            look: outside(v, &SIMPLE_NIBBLES),
            slash: equal(v, b'/'),
            question: equal(v, b'?'),
            head: equal(v, b':') | in_range(v, b'@', 27),
        },
        dot: equal(v, b'.'),
        record_end: equal(v, record_end),
    }
}

/// The bytes of `v` that are digits, in `(upper case or decimal, lower case)`.
#[inline(always)]
pub(super) fn hex_digits(v: __m512i) -> (u64, u64) {
    (in_range(v, b'0', 10) | in_range(v, b'A', 6), in_range(v, b'a', 6))
}

/// The letters of `v`.
#[inline(always)]
pub(super) fn letters(v: __m512i) -> u64 {
    in_range(v, b'A', 26) | in_range(v, b'a', 26)
}

/// See [`Isa::window`].
#[inline(always)]
pub(super) fn window(low: &Summary, high: &Summary, shift: u32) -> Summary {
    let mut out = Summary::default();
    // SAFETY: each reference covers the four words read or written (`Summary` holds four words
    // and nothing else), and a caller holds this backend's token. A count of 64 shifts everything out, as
    // `shift == 0` needs.
    unsafe {
        let right = _mm_cvtsi32_si128(shift.cast_signed());
        let left = _mm_cvtsi32_si128(64 - shift.cast_signed());
        let low = _mm256_srl_epi64(_mm256_loadu_si256(core::ptr::from_ref(low).cast()), right);
        let high = _mm256_sll_epi64(_mm256_loadu_si256(core::ptr::from_ref(high).cast()), left);
        _mm256_storeu_si256((&raw mut out).cast(), _mm256_or_si256(low, high));
    }
    out
}

impl Isa for Avx512 {
    const BACKEND: Backend = Backend::Avx512;

    type Lanes = Avx512;

    #[inline(always)]
    fn lanes(self) -> Avx512 {
        self
    }

    #[inline(always)]
    fn classify(self, block: &[u8; BLOCK]) -> Masks {
        let v = load(block);
        [
            equal(v, b'/'),
            equal(v, b':') | equal(v, b'@'),
            equal(v, b'?'),
            equal(v, b'#'),
            equal(v, b'%'),
            in_range(v, b'A', 26),
            equal(v, b'.'),
            outside(v, &PLAIN_NIBBLES),
        ]
    }

    #[inline(always)]
    fn sketch(self, block: &[u8; BLOCK], record_end: u8) -> Sketch {
        sketch(load(block), record_end)
    }

    #[inline(always)]
    fn equal(self, block: &[u8; BLOCK], byte: u8) -> u64 {
        equal(load(block), byte)
    }

    #[inline(always)]
    fn letters(self, block: &[u8; BLOCK]) -> u64 {
        letters(load(block))
    }

    #[inline(always)]
    fn members(self, block: &[u8; BLOCK], tables: &NibbleTables) -> u64 {
        !outside(load(block), tables)
    }

    #[inline(always)]
    fn hex_digits(self, block: &[u8; BLOCK]) -> (u64, u64) {
        hex_digits(load(block))
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
