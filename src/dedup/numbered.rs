//! One partition of a set that numbers its keys: a table of 128-bit keys with a number beside each.
//!
//! The twin of [`super::table`], in which a cache line holds four keys. Here it holds three and
//! their numbers, so that a key and its number come with one access to memory.

use super::table::{LINE, MIN_SLOTS, Slots, grown_slots, home};
use crate::key::Key;
use crate::simd::prefetch;

/// Keys of a line; the last slot of it holds their numbers, 32 bits each, the first lowest.
const KEYS: usize = LINE - 1;

/// Keys numbered from 0 in the order in which they came.
pub(super) struct NumberedTable {
    slots: Slots,
    used: usize,
    /// Grow when `used` reaches this.
    limit: usize,
}

impl NumberedTable {
    pub(super) fn new() -> NumberedTable {
        NumberedTable::with_places(MIN_SLOTS)
    }

    /// A table with places for `count` keys, of which three quarters are ever taken.
    fn with_places(count: usize) -> NumberedTable {
        let slots = Slots::zeroed(count.div_ceil(KEYS) * LINE);
        let limit = slots.get().len() / LINE * KEYS / 4 * 3;
        NumberedTable { slots, used: 0, limit }
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Bytes of memory held for keys and numbers.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(self.slots.get())
    }

    /// Asks for the memory that inserting `key` will touch.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: u128) {
        let slots = self.slots.get();
        prefetch(slots, home(key, slots.len() / LINE) * LINE);
    }

    /// Makes room for `more` keys. `expected` is the number that this table is thought to hold in the
    /// end, or 0.
    #[inline(always)]
    pub(super) fn reserve(&mut self, more: usize, expected: usize) {
        if self.used + more > self.limit {
            self.grow(more, expected);
        }
    }

    /// Inserts `key`, for which [`NumberedTable::reserve`] made room; gives its number, and whether it
    /// was not there.
    #[inline(always)]
    pub(super) fn insert(&mut self, key: u128) -> (u32, bool) {
        // 2^32 keys in a partition are 100 GB of them.
        let (number, is_new) = insert(self.slots.get_mut(), key, self.used as u32);
        self.used += usize::from(is_new);
        (number, is_new)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize, expected: usize) {
        let places = self.slots.get().len() / LINE * KEYS;
        let wanted = grown_slots(places, self.used + more, expected);
        let mut grown = NumberedTable::with_places(wanted);
        let slots = grown.slots.get_mut();
        for line in self.slots.get().as_chunks::<LINE>().0 {
            for (i, &key) in line[..KEYS].iter().enumerate() {
                if key != Key::VACANT {
                    insert(slots, key, number(line, i));
                }
            }
        }
        grown.used = self.used;
        *self = grown;
    }
}

/// The number of the key in place `i` of `line`.
#[inline(always)]
fn number(line: &[u128; LINE], i: usize) -> u32 {
    (line[KEYS] >> (32 * i)) as u32
}

/// Looks for `key` in `slots`, which have a free place, and puts it there under `new_number` if it is
/// missing; gives its number and whether it was.
#[inline(always)]
fn insert(slots: &mut [u128], key: u128, new_number: u32) -> (u32, bool) {
    let lines = slots.as_chunks_mut::<LINE>().0;
    let mut at = home(key, lines.len());
    loop {
        let line = &mut lines[at];
        // As in `table`: the lowest hit is the key, or the first free place.
        let mut hits = 0u32;
        for (i, &slot) in line[..KEYS].iter().enumerate() {
            hits |= u32::from((slot == key) | (slot == Key::VACANT)) << i;
        }
        if hits != 0 {
            let i = hits.trailing_zeros() as usize % LINE;
            let is_new = line[i] == Key::VACANT;
            if is_new {
                line[i] = key;
                line[KEYS] |= u128::from(new_number) << (32 * i);
            }
            return (number(line, i), is_new);
        }
        at += 1;
        if at == lines.len() {
            at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn agrees_with_a_tree_map_through_many_growths() {
        let mut table = NumberedTable::new();
        let mut oracle: BTreeMap<u128, u32> = BTreeMap::new();
        let mut state = 1u128;
        for round in 0..400 {
            table.reserve(round, 0);
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
    fn homes_at_the_very_end_wrap_around() {
        let mut table = NumberedTable::new();
        let keys: Vec<u128> = (0..100).map(|i| u128::from(u64::MAX) | (i + 1) << 64).collect();
        table.reserve(2 * keys.len(), 0);
        for is_new in [true, false] {
            for (i, &key) in keys.iter().enumerate() {
                assert_eq!(table.insert(key), (i as u32, is_new));
            }
        }
    }
}
