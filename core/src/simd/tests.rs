//! Tests every backend against the scalar one, and the scalar one against the grammar.

use super::scalar::Scalar;
use super::table::{PLAIN, PLAIN_NIBBLES, SIMPLE};
use super::*;

struct Classify<'a>(&'a [u8; BLOCK], u8);

impl Task for Classify<'_> {
    type Output = (Masks, Sketch, [u64; 3], (u64, u64));
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let sketch = isa.sketch(self.0, self.1);
        let members = isa.members(self.0, &PLAIN_NIBBLES);
        let others = [isa.equal(self.0, b'-'), isa.letters(self.0), members];
        (isa.classify(self.0), sketch, others, isa.hex_digits(self.0))
    }
}

struct Window<'a>(&'a Summary, &'a Summary, u32);

impl Task for Window<'_> {
    type Output = Summary;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Summary {
        isa.window(self.0, self.1, self.2)
    }
}

/// Blocks with every byte value at every position, followed by mixed ones.
fn blocks() -> impl Iterator<Item = [u8; BLOCK]> {
    let rotations = (0..=255u8)
        .map(|first| core::array::from_fn(|i| first.wrapping_add((i as u8).wrapping_mul(5))));
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mixed = (0..500).map(move |_| {
        core::array::from_fn(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            b"/:@?#%ABZ.[]az09fF-~\n\0 \xE9\x7F"[(state >> 33) as usize % 25]
        })
    });
    rotations.chain(mixed)
}

#[test]
fn scalar_masks_agree_with_the_grammar() {
    for block in blocks() {
        let masks = Scalar.classify(&block);
        let Sketch { summary, dot, record_end } = Scalar.sketch(&block, b'\n');
        let letters = Scalar.letters(&block);
        let members = Scalar.members(&block, &PLAIN_NIBBLES);
        for (i, &byte) in block.iter().enumerate() {
            let bit = |class: usize| masks[class] >> i & 1 != 0;
            assert_eq!(bit(class::SLASH), byte == b'/');
            assert_eq!(bit(class::COLON_AT), byte == b':' || byte == b'@');
            assert_eq!(bit(class::QUESTION), byte == b'?');
            assert_eq!(bit(class::HASH), byte == b'#');
            assert_eq!(bit(class::PERCENT), byte == b'%');
            assert_eq!(bit(class::UPPER), byte.is_ascii_uppercase());
            assert_eq!(bit(class::DOT), byte == b'.');
            assert_eq!(bit(class::ODD), !PLAIN.has(byte));
            let is = |word: u64| word >> i & 1 != 0;
            assert_eq!(is(summary.look), !SIMPLE.has(byte));
            assert_eq!(is(summary.slash), byte == b'/');
            assert_eq!(is(summary.question), byte == b'?');
            assert_eq!(is(summary.head), byte == b':' || byte == b'@' || byte.is_ascii_uppercase());
            assert_eq!(is(letters), byte.is_ascii_alphabetic());
            assert_eq!(is(members), PLAIN.has(byte));
            assert_eq!(is(dot), byte == b'.');
            assert_eq!(is(record_end), byte == b'\n');
        }
    }
}

#[test]
fn every_backend_agrees_with_scalar() {
    for kernels in Kernels::available() {
        for block in blocks() {
            for end in [b'\n', 0] {
                assert_eq!(
                    kernels.run(Classify(&block, end)),
                    Classify(&block, end).run(Scalar),
                    "{:?} on {block:?}",
                    kernels.backend()
                );
            }
        }
    }
}

#[test]
fn windows_are_the_summaries_of_the_shifted_bytes() {
    let text: Vec<u8> = blocks().take(300).flatten().collect();
    for kernels in Kernels::available() {
        for at in (0..text.len() - 3 * BLOCK).step_by(61) {
            let block = |i: usize| text[i..i + BLOCK].first_chunk::<BLOCK>().unwrap();
            let aligned = at / BLOCK * BLOCK;
            let low = Scalar.sketch(block(aligned), b'\n').summary;
            let high = Scalar.sketch(block(aligned + BLOCK), b'\n').summary;
            let expected = Scalar.sketch(block(at), b'\n').summary;
            let window = kernels.run(Window(&low, &high, (at % BLOCK) as u32));
            assert_eq!(window, expected, "{:?} at {at}", kernels.backend());
        }
    }
}

#[test]
fn names_are_unique_and_round_trip() {
    for backend in Backend::ALL {
        assert_eq!(Backend::from_name(backend.name()), Some(backend));
    }
    assert_eq!(Backend::from_name("mmx"), None);
    assert_eq!(Kernels::detect(), Kernels::available().last().unwrap());
}
