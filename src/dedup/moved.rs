//! Keys that are the same and may not be taken for one another.

use std::collections::HashMap;

use super::numbered::Numbered;
use super::table::Table;
use crate::key::Key;

/// The keys that were moved, since something else has theirs: by chance one pair in 2^128, so there are none. With what
/// they were before.
#[derive(Debug, Default)]
pub(super) struct Moved(HashMap<u128, u128>);

impl Moved {
    /// Inserts `key` into `table`, which has room for it; gives its number, and whether it is new. If `is_same` says of its
    /// number that something else has it, the next key is tried, within the same partition.
    #[inline(always)]
    pub(super) fn insert(
        &mut self,
        table: &mut Table<Numbered>,
        key: u128,
        mut is_same: impl FnMut(u32) -> bool,
    ) -> (u32, bool) {
        let (number, is_new) = table.insert(key);
        if is_new || is_same(number) {
            return (number, is_new);
        }
        self.insert_elsewhere(table, key, &mut is_same)
    }

    #[cold]
    fn insert_elsewhere(
        &mut self,
        table: &mut Table<Numbered>,
        key: u128,
        is_same: &mut dyn FnMut(u32) -> bool,
    ) -> (u32, bool) {
        let mut other = key;
        loop {
            // Partitions go by the high half.
            let low = (other as u64).wrapping_add(1);
            other = other >> 64 << 64 | u128::from(low);
            if other == Key::VACANT {
                continue;
            }
            let (number, is_new) = table.insert(other);
            if is_new {
                self.0.insert(other, key);
            }
            if is_new || is_same(number) {
                return (number, is_new);
            }
        }
    }

    /// The keys of `table` by their numbers, as they were before they were moved.
    pub(super) fn keys_of(&self, table: &Table<Numbered>) -> Vec<Key> {
        let original = |key: u128| self.0.get(&key).copied().unwrap_or(key);
        table.by_number().into_iter().map(|key| Key(original(key))).collect()
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_the_same_key_has_a_number_of_its_own() {
        let (mut table, mut moved) = (Table::<Numbered>::new(), Moved::default());
        let mut names: Vec<&str> = Vec::new();
        let top = u128::from(u64::MAX);
        for (key, name, number) in [
            (7, "a", 0),
            (7, "b", 1),
            (8, "c", 2),
            (7, "b", 1),
            (8, "c", 2),
            (7, "a", 0),
            (top, "d", 3),
            (top, "e", 4),
            (top, "e", 4),
        ] {
            table.reserve(1, 0, usize::MAX);
            let found = moved.insert(&mut table, key, |number| names[number as usize] == name);
            assert_eq!(found, (number, number as usize == names.len()), "{name}");
            if found.1 {
                names.push(name);
            }
        }
        assert_eq!(moved.keys_of(&table), [7, 7, 8, top, top].map(Key));
    }

    #[test]
    fn a_moved_key_stays_in_its_partition() {
        let (mut table, mut moved) = (Table::<Numbered>::new(), Moved::default());
        let key = 5 << 64 | 7;
        for number in 0..3 {
            assert_eq!(moved.insert(&mut table, key, |_| false), (number, true));
            assert!(table.contains(key + u128::from(number)));
        }
    }
}
