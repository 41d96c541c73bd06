//! Keys with the numbers of their classes, one part of all keys after the other.

use super::numbered::Numbered;
use super::table::Table;
use crate::key::Key;

/// Numbers keys from 0 in the order in which they come. Reusable: memory that was touched once is cheap.
///
/// ```
/// use uriscan_core::dedup::Numbering;
/// use uriscan::key::Key;
/// let mut numbering = Numbering::new();
/// numbering.reserve(3);
/// let found = [7, 8, 7].map(|key| numbering.number(Key(key)));
/// assert_eq!(found, [(0, true), (1, true), (0, false)]);
/// ```
pub struct Numbering {
    table: Table<Numbered>,
}

impl Default for Numbering {
    fn default() -> Numbering {
        Numbering::new()
    }
}

impl core::fmt::Debug for Numbering {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Numbering").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl Numbering {
    /// Has seen no key.
    pub fn new() -> Numbering {
        Numbering { table: Table::new() }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that are held.
    pub fn memory_bytes(&self) -> usize {
        self.table.memory_bytes()
    }

    /// The keys by their numbers.
    pub fn by_number(&self) -> Vec<Key> {
        self.table.by_number()
    }

    /// Forgets all keys. Keeps the memory, unless `keys` keys need far less of it.
    pub fn clear(&mut self, keys: usize) {
        if self.table.memory_bytes() / 4 > Numbering::BYTES_PER_KEY * keys {
            self.table = Table::new();
        } else {
            self.table.clear();
        }
    }

    /// Makes room for `more` keys.
    pub fn reserve(&mut self, more: usize) {
        self.table.reserve(more, 0, 0);
    }

    /// Approximate memory in bytes of a key, if room was made for all of them at once.
    pub const BYTES_PER_KEY: usize = 29;

    /// Asks for the memory that numbering `key` will touch.
    #[inline(always)]
    pub fn prefetch(&self, key: Key) {
        self.table.prefetch(key.0);
    }

    /// The number of `key`, which is not zero and for which [`Numbering::reserve`] made room; and whether it was not
    /// there before.
    #[inline(always)]
    pub fn number(&mut self, key: Key) -> (u32, bool) {
        self.table.insert(key.0)
    }

    /// The number of `key`, if it has one.
    #[inline(always)]
    pub fn find(&self, key: Key) -> Option<u32> {
        self.table.find(key.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_numbering_agrees_with_a_tree_map_part_by_part() {
        let key = |i: u128| Key((i * i % 7_919 + 1).wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64));
        let mut numbering = Numbering::new();
        for part in [40_000, 3, 20_000] {
            let mut oracle = BTreeMap::new();
            numbering.clear(part as usize);
            assert!(numbering.is_empty());
            numbering.reserve(part as usize);
            let bytes = numbering.table.memory_bytes();
            for i in 0..part {
                let next = oracle.len() as u32;
                let is_new = !oracle.contains_key(&key(i));
                let number = *oracle.entry(key(i)).or_insert(next);
                assert_eq!(numbering.number(key(i)), (number, is_new));
            }
            assert_eq!(numbering.len(), oracle.len());
            assert!(!numbering.is_empty());
            let keys = numbering.by_number();
            assert!(oracle.iter().all(|(&key, &number)| keys[number as usize] == key));
            assert_eq!(numbering.table.memory_bytes(), bytes, "there was room");
        }
    }

    #[test]
    fn a_table_that_is_far_too_large_is_freed() {
        let mut numbering = Numbering::new();
        numbering.reserve(100_000);
        let bytes = numbering.table.memory_bytes();
        numbering.clear(100_000);
        assert_eq!(numbering.table.memory_bytes(), bytes);
        numbering.clear(10);
        assert!(numbering.table.memory_bytes() < bytes / 4);
    }
}
