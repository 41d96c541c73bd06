//! The keys of a run in memory, with a table of where those with the same leading bits begin.
//!
//! Keys are hashes, so a few have the same leading bits. A look-up reads one entry of the table and one or two cache lines of
//! keys; both are asked for ahead, since look-ups come in no order and would wait for each of them.

use crate::key::Key;
use crate::simd::prefetch;

/// Size of a key in bytes.
const KEY: usize = size_of::<u128>();

/// Most keys with the same leading bits, on average; half as many at least.
const SAME: usize = 8;

/// Keys with the same leading bits above which they are bisected: only in a file that was made for it.
const FEW: usize = 64;

/// Look-ups between asking for an entry of the table and asking for the keys, and between that and reading them.
const LOOK_AHEAD: usize = 12;

/// All keys of a run.
#[derive(Debug)]
pub(super) struct Resident {
    /// The keys, as they stand in the file.
    bytes: Vec<u8>,
    /// The number of keys before those with given leading bits, for each value of these, and of all keys.
    starts: Vec<u32>,
    /// How far a key is shifted to leave the leading bits.
    shift: u32,
}

impl Resident {
    /// The keys in `bytes`, which rise, if they can be counted in 32 bits.
    pub(super) fn new(bytes: Vec<u8>) -> Option<Resident> {
        let count = u32::try_from(bytes.len() / KEY).ok()?;
        let values = (count as usize).div_ceil(SAME).next_power_of_two();
        let shift = u128::BITS - values.trailing_zeros();
        let mut resident = Resident { bytes, starts: vec![0; values + 1], shift };
        for key in resident.bytes.as_chunks::<KEY>().0 {
            let value = value_of(u128::from_be_bytes(*key), shift);
            resident.starts[value + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut resident.starts {
            sum += *start;
            *start = sum;
        }
        Some(resident)
    }

    /// Bytes of memory for so many keys.
    pub(super) fn bytes_for(keys: u64) -> u64 {
        let values = keys.div_ceil(SAME as u64).next_power_of_two();
        keys * KEY as u64 + (values + 1) * size_of::<u32>() as u64
    }

    /// The keys, as they stand in the file.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[inline(always)]
    fn value(&self, key: u128) -> usize {
        value_of(key, self.shift)
    }

    /// Calls `hit` with the number of each of the keys that is there.
    pub(super) fn find(&self, queries: &[(Key, usize)], hit: &mut impl FnMut(usize)) {
        for (at, &(key, number)) in queries.iter().enumerate() {
            if let Some((key, _)) = queries.get(at + 2 * LOOK_AHEAD) {
                prefetch(&self.starts, self.value(key.0));
            }
            if let Some((key, _)) = queries.get(at + LOOK_AHEAD) {
                let start = self.starts[self.value(key.0)] as usize * KEY;
                prefetch(&self.bytes, start);
                prefetch(&self.bytes, start + 64);
            }
            if self.has(key.0) {
                hit(number);
            }
        }
    }

    #[inline(always)]
    fn has(&self, key: u128) -> bool {
        let value = self.value(key);
        let [start, end] = [value, value + 1].map(|value| self.starts[value] as usize);
        let keys = &self.bytes.as_chunks::<KEY>().0[start..end];
        let wanted = key.to_be_bytes();
        if keys.len() > FEW {
            return keys.binary_search(&wanted).is_ok();
        }
        // Where it stands cannot be foreseen: all are compared.
        keys.iter().fold(false, |found, key| found | (*key == wanted))
    }
}

/// The leading bits of `key`, which a shift by `shift` leaves.
#[inline(always)]
fn value_of(key: u128, shift: u32) -> usize {
    // All bits are shifted out where there is but one value.
    key.checked_shr(shift).unwrap_or_default() as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn agrees_with_a_tree_for_any_distribution_of_keys() {
        let spread = |i: u128| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        let near = |i: u128| u128::MAX - i;
        let low = |i: u128| i;
        for count in [0, 1, 7, 8, 9, 64, 65, 5000] {
            for key_of in [spread as fn(u128) -> u128, near, low] {
                let keys: BTreeSet<u128> = (0..count).map(key_of).collect();
                let bytes = keys.iter().flat_map(|key| key.to_be_bytes()).collect();
                let resident = Resident::new(bytes).unwrap();
                assert!(
                    resident.starts.len() as u64 * 4 + resident.bytes.len() as u64
                        == Resident::bytes_for(keys.len() as u64)
                );
                let mut asked: Vec<u128> = (0..2 * count).map(key_of).rev().collect();
                asked.extend([0, 1, u128::MAX, u128::MAX >> 1]);
                let queries: Vec<_> = asked.iter().map(|&key| Key(key)).zip(0..).collect();
                let mut found = vec![false; asked.len()];
                resident.find(&queries, &mut |number| found[number] = true);
                let expected: Vec<bool> = asked.iter().map(|key| keys.contains(key)).collect();
                assert_eq!(found, expected, "{count}");
            }
        }
    }
}
