//! Arithmetic in GF(2^128), for unpredictable keys ([`crate::key`]).
//!
//! A `u128` represents a polynomial over GF(2), bit `i` for `x^i`; products are reduced modulo
//! `x^128 + x^7 + x^2 + x + 1`, which is irreducible (it is the polynomial of GCM and of XTS). This
//! file has the portable definition, by integer multiplication; `clmul` uses carry-less
//! multiplication on x86-64, `pmull` that of AArch64. All return the same bits.

#[cfg(target_arch = "x86_64")]
pub(super) mod clmul;
#[cfg(target_arch = "aarch64")]
pub(super) mod pmull;

/// Number of bytes that one [`product_sum`] takes.
pub(crate) const PIECE: usize = 128;

/// Number of 128-bit words in a piece.
const WORDS: usize = PIECE / 16;

/// The secret words that are added to those of a piece.
pub(crate) type PieceKey = [u128; WORDS];

/// `x^128` modulo the polynomial of the field.
const REDUCTION: u64 = 0x87;

/// The value that is XORed with the last byte of a piece: its length, or 0 for a whole piece.
///
/// The last byte of a shorter piece is otherwise zero, so pieces of different lengths differ.
#[inline(always)]
fn mark_of(len: usize) -> u8 {
    (len % PIECE) as u8
}

/// See [`super::Isa::product_sum`].
#[inline(never)]
pub(super) fn product_sum(text: &[u8; PIECE], len: usize, key: &PieceKey) -> u128 {
    let mut piece = [0; PIECE];
    let len = len.min(PIECE);
    piece[..len].copy_from_slice(&text[..len]);
    piece[PIECE - 1] ^= mark_of(len);
    let words = piece.as_chunks::<16>().0;
    let word = |i: usize| u128::from_le_bytes(words[i]) ^ key[i];
    let mut sum = [0; 2];
    for i in 0..WORDS / 2 {
        let [low, high] = multiply_unreduced(word(i), word(i + WORDS / 2));
        sum = [sum[0] ^ low, sum[1] ^ high];
    }
    reduce(sum)
}

/// See [`super::Isa::multiply`].
#[inline(never)]
pub(super) fn multiply(a: u128, b: u128) -> u128 {
    reduce(multiply_unreduced(a, b))
}

/// The product of two polynomials of degree 127 at most: its low and its high half.
fn multiply_unreduced(a: u128, b: u128) -> [u128; 2] {
    let (a_low, a_high) = (a as u64, (a >> 64) as u64);
    let (b_low, b_high) = (b as u64, (b >> 64) as u64);
    let (low, high) = (multiply_halves(a_low, b_low), multiply_halves(a_high, b_high));
    // Karatsuba: three products instead of four.
    let middle = multiply_halves(a_low ^ a_high, b_low ^ b_high) ^ low ^ high;
    [low ^ (middle << 64), high ^ (middle >> 64)]
}

/// The carry-less product of two polynomials of degree 63 at most, by integer multiplication.
///
/// Each factor is split into five, each with every fifth bit. In the product of two of these no
/// column sums to more than 13, which fits the five bits up to the next column, so nothing is
/// carried from one column to another, and the lowest bit of each is the result.
fn multiply_halves(a: u64, b: u64) -> u128 {
    const STEP: usize = 5;
    const EVERY_FIFTH: u128 = {
        let (mut mask, mut bit) = (0u128, 0);
        while bit < 128 {
            mask |= 1 << bit;
            bit += STEP;
        }
        mask
    };
    let part = |x: u64, i: usize| u128::from(x & (EVERY_FIFTH << i) as u64);
    let mut product = 0;
    for class in 0..STEP {
        let mut sum = 0;
        for i in 0..STEP {
            sum ^= part(a, i) * part(b, (class + STEP - i) % STEP);
        }
        product |= sum & (EVERY_FIFTH << class);
    }
    product
}

/// The remainder of a product, given by its low and its high half.
fn reduce([low, high]: [u128; 2]) -> u128 {
    let folded = multiply_halves((high >> 64) as u64, REDUCTION);
    let high = high as u64 ^ (folded >> 64) as u64;
    low ^ (folded << 64) ^ multiply_halves(high, REDUCTION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Isa, Kernels, Task};

    /// Multiplication by its definition, bit by bit.
    fn by_definition(a: u128, b: u128) -> u128 {
        let mut product = 0;
        for bit in (0..128).rev() {
            let carry = product >> 127;
            product = (product << 1) ^ (carry * u128::from(REDUCTION));
            product ^= (b >> bit & 1) * a;
        }
        product
    }

    fn words() -> impl Iterator<Item = u128> {
        let mut state = 0x2545_F491_4F6C_DD1Du128;
        let mixed = std::iter::repeat_with(move || {
            state = state.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(1);
            state ^ (state >> 67)
        });
        let single = (0..128).map(|bit| 1 << bit);
        [0, 1, u128::MAX, u128::from(u64::MAX)].into_iter().chain(single).chain(mixed.take(200))
    }

    struct Multiply(u128, u128);

    impl Task for Multiply {
        type Output = u128;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> u128 {
            isa.multiply(self.0, self.1)
        }
    }

    #[test]
    fn products_agree_with_the_definition() {
        for kernels in Kernels::available() {
            for (a, b) in words().zip(words().skip(3).chain(words())) {
                let name = kernels.backend().name();
                assert_eq!(kernels.run(Multiply(a, b)), by_definition(a, b), "{name} {a:x} {b:x}");
            }
        }
    }

    struct Sum<'a>(&'a [u8; PIECE], usize, &'a PieceKey);

    impl Task for Sum<'_> {
        type Output = u128;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> u128 {
            isa.product_sum(self.0, self.1, self.2)
        }
    }

    #[test]
    fn sums_of_products_agree_for_every_length_whatever_follows() {
        let mut words = words().skip(140);
        let key: PieceKey = std::array::from_fn(|_| words.next().unwrap());
        let text: [u8; PIECE] = std::array::from_fn(|i| (i * 37 + 11) as u8);
        for len in 0..=PIECE {
            let mut cut = [0; PIECE];
            cut[..len].copy_from_slice(&text[..len]);
            cut[PIECE - 1] ^= if len < PIECE { len as u8 } else { 0 };
            let word = |i: usize| u128::from_le_bytes(*cut.as_chunks().0.get(i).unwrap()) ^ key[i];
            let expected = (0..4).fold(0, |sum, i| sum ^ by_definition(word(i), word(i + 4)));
            for kernels in Kernels::available() {
                assert_eq!(kernels.run(Sum(&text, len, &key)), expected, "{:?} {len}", kernels);
                let mut noise = [0xA5; PIECE];
                noise[..len].copy_from_slice(&text[..len]);
                assert_eq!(kernels.run(Sum(&noise, len, &key)), expected, "{:?} {len}", kernels);
            }
        }
    }
}
