//! Keys with a number beside each, in the order in which they came.
//!
//! Where a line of a [`super::table`] holds four keys, it holds three and their numbers here, so that a
//! key and its number come with one access to memory.

use super::table::{LINE, Layout};

/// Keys of a line; the last slot of it holds their numbers, 32 bits each, the first lowest.
const KEYS: usize = LINE - 1;

/// Keys numbered from 0.
pub(super) struct Numbered;

impl Layout for Numbered {
    const KEYS: usize = KEYS;

    #[inline(always)]
    fn number(line: &[u128; LINE], i: usize) -> u32 {
        (line[KEYS] >> (32 * i)) as u32
    }

    #[inline(always)]
    fn set_number(line: &mut [u128; LINE], i: usize, number: u32) {
        line[KEYS] |= u128::from(number) << (32 * i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dedup::table::{MIN_SLOTS, Table};
    use std::collections::BTreeMap;

    #[test]
    fn a_numbered_table_agrees_with_a_tree_map_through_many_growths() {
        let mut table = Table::<Numbered>::new();
        let mut oracle: BTreeMap<u128, u32> = BTreeMap::new();
        let mut state = 1u128;
        for round in 0..400 {
            table.reserve(round, 0, usize::MAX);
            for _ in 0..round {
                state =
                    state.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(1);
                // Few bits, so that keys repeat, spread over both halves.
                let bits = state >> 111;
                let key = (bits << 64 | bits << 47) | 1;
                let next = oracle.len() as u32;
                let is_new = !oracle.contains_key(&key);
                assert_eq!(table.insert(key), (*oracle.entry(key).or_insert(next), is_new));
            }
            assert_eq!(table.len(), oracle.len());
        }
        assert!(table.len() > 10 * MIN_SLOTS);
    }

    #[test]
    fn probing_wraps_around_at_the_end_of_the_table() {
        let mut table = Table::<Numbered>::new();
        let keys: Vec<u128> = (0..100).map(|i| u128::from(u64::MAX) | (i + 1) << 64).collect();
        table.reserve(2 * keys.len(), 0, usize::MAX);
        for is_new in [true, false] {
            for (i, &key) in keys.iter().enumerate() {
                assert_eq!(table.insert(key), (i as u32, is_new));
            }
        }
    }
}
