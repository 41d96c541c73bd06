//! Tests the lanes of every backend against plain arithmetic on each word.

use super::{BLOCK, BLOCK_WORDS, MAX_LANES};
use crate::simd::{Isa, Kernels, Task};

/// All operations on the given blocks and values; results as written by [`super::Lanes32::store`].
struct Operations<'a> {
    blocks: [&'a [u8; BLOCK]; MAX_LANES],
    lens: [u32; MAX_LANES],
}

/// Per lane: whole blocks, starts of blocks, and ten results of operations on their first two
/// words.
type Results = (usize, Vec<[[u8; 16]; MAX_LANES]>);

impl Task for Operations<'_> {
    type Output = Results;
    #[inline(always)]
    fn run<I: Isa>(self, l: I) -> Results {
        let whole = l.load(&self.blocks);
        let starts = l.load_starts(&self.blocks, &self.lens);
        let (a, b) = (whole[0], whole[1]);
        let zero = l.splat(0);
        let results = [
            [l.add(a, b), l.xor(a, b), l.rotate_16(a), l.rotate_12(a)],
            [l.rotate_8(a), l.rotate_7(a), l.gather(&self.lens), l.splat(0x0102_0304)],
            [a, zero, zero, b],
        ];
        let words = whole.into_iter().chain(starts).chain(results.into_iter().flatten());
        let words: Vec<_> = words.collect();
        let mut out = Vec::new();
        for words in words.as_chunks::<4>().0 {
            let mut lanes = [[0xAA; 16]; MAX_LANES];
            l.store(*words, &mut lanes);
            out.push(lanes);
        }
        (I::LANES, out)
    }
}

/// The expected content of lane `lane`, four words in each result.
fn expected(block: &[u8; BLOCK], len: u32, values: u32) -> Vec<[u8; 16]> {
    let words_of = |bytes: &[u8; BLOCK]| -> [u32; BLOCK_WORDS] {
        core::array::from_fn(|i| u32::from_le_bytes(bytes.as_chunks::<4>().0[i]))
    };
    let mut start = [0; BLOCK];
    let len = (len as usize).min(BLOCK);
    start[..len].copy_from_slice(&block[..len]);
    let whole = words_of(block);
    let (a, b) = (whole[0], whole[1]);
    let mut words = whole.to_vec();
    words.extend(words_of(&start));
    words.extend([a.wrapping_add(b), a ^ b, a.rotate_right(16), a.rotate_right(12)]);
    words.extend([a.rotate_right(8), a.rotate_right(7), values, 0x0102_0304]);
    words.extend([a, 0, 0, b]);
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.as_chunks::<16>().0.to_vec()
}

#[test]
fn every_backend_agrees_with_word_by_word_arithmetic() {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let bytes: [[u8; BLOCK]; 3 * MAX_LANES] = core::array::from_fn(|_| {
        core::array::from_fn(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
    });
    let lens = (0..=BLOCK as u32).chain([65, 1000, u32::MAX]);
    for kernels in Kernels::available() {
        for (round, first) in lens.clone().enumerate() {
            let blocks = core::array::from_fn(|lane| &bytes[(round + lane) % bytes.len()]);
            let lens = core::array::from_fn(|lane| first.wrapping_add(lane as u32 * 7));
            let (count, results) = kernels.run(Operations { blocks, lens });
            assert!(count.is_power_of_two() && count <= MAX_LANES, "{:?}", kernels.backend());
            for lane in 0..MAX_LANES {
                let got: Vec<_> = results.iter().map(|result| result[lane]).collect();
                let expected = if lane < count {
                    expected(blocks[lane], lens[lane], lens[lane])
                } else {
                    // Unchanged.
                    //
                    vec![[0xAA; 16]; got.len()]
                };
                assert_eq!(got, expected, "{:?}, lane {lane}", kernels.backend());
            }
        }
    }
}
