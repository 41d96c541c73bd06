//! The scalar backend: plain Rust, the reference for the others.

use super::table::{CLASS_LANES, NibbleTables, SIMPLE};
use super::{BLOCK, Backend, Isa, Masks, Sketch, Summary, Task, class};

/// The token of the scalar backend, which needs no proof.
#[derive(Clone, Copy, Debug)]
pub struct Scalar;

/// Runs `task` with this backend.
#[inline(never)]
pub(super) fn run<T: Task>(task: T) -> T::Output {
    task.run(Scalar)
}

/// Loops over bytes are not inlined: a call costs little compared to them, and tasks hold no
/// copies.
impl Isa for Scalar {
    const BACKEND: Backend = Backend::Scalar;

    #[inline(never)]
    fn classify(self, block: &[u8; BLOCK]) -> Masks {
        let mut masks = [0u64; class::COUNT];
        for (group, bytes) in block.as_chunks::<8>().0.iter().enumerate() {
            // Byte lane `c` of `lanes` gathers the mask of class `c` for these eight bytes.
            let mut lanes = 0u64;
            for (i, &byte) in bytes.iter().enumerate() {
                lanes |= CLASS_LANES[usize::from(byte)] << i;
            }
            for (mask, lane) in masks.iter_mut().zip(lanes.to_le_bytes()) {
                *mask |= u64::from(lane) << (8 * group);
            }
        }
        masks
    }

    #[inline(always)]
    fn sketch(self, block: &[u8; BLOCK], record_end: u8) -> Sketch {
        let masks = self.classify(block);
        Sketch {
            summary: Summary {
                look: masks[class::ODD] | masks[class::PERCENT] | masks[class::HASH],
                slash: masks[class::SLASH],
                question: masks[class::QUESTION],
                head: masks[class::COLON_AT] | masks[class::UPPER],
            },
            dot: masks[class::DOT],
            record_end: self.equal(block, record_end),
        }
    }

    #[inline(never)]
    fn equal(self, block: &[u8; BLOCK], byte: u8) -> u64 {
        mask_of(block, |b| b == byte)
    }

    #[inline(never)]
    fn letters(self, block: &[u8; BLOCK]) -> u64 {
        mask_of(block, |b| b.is_ascii_alphabetic())
    }

    #[inline(never)]
    fn members(self, block: &[u8; BLOCK], tables: &NibbleTables) -> u64 {
        let NibbleTables { low, high } = tables;
        mask_of(block, |b| low[usize::from(b & 15)] & high[usize::from(b >> 4)] != 0)
    }

    #[inline(never)]
    fn hex_digits(self, block: &[u8; BLOCK]) -> (u64, u64) {
        (
            mask_of(block, |b| b.is_ascii_digit() || matches!(b, b'A'..=b'F')),
            mask_of(block, |b| matches!(b, b'a'..=b'f')),
        )
    }
}

#[inline(always)]
fn mask_of(block: &[u8; BLOCK], is_in: impl Fn(u8) -> bool) -> u64 {
    let mut mask = 0;
    for (i, &byte) in block.iter().enumerate() {
        mask |= u64::from(is_in(byte)) << i;
    }
    mask
}

const _: () = {
    // `sketch` combines `look` from classes; it must be the complement of `SIMPLE`.
    let mut byte = 0;
    while byte < 256 {
        let lanes = CLASS_LANES[byte];
        let look =
            lanes >> (8 * class::ODD) | lanes >> (8 * class::PERCENT) | lanes >> (8 * class::HASH);
        assert!((look & 1 == 0) == SIMPLE.has(byte as u8));
        byte += 1;
    }
};
