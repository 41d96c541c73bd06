//! The first of each key among keys that were put aside, part by part.

use super::LOOK_AHEAD;
use super::table::{Bare, Table, room_in};

/// Tells which keys are the first of their kind. Reusable: memory that was touched once is cheap.
///
/// ```
/// use uriscan::dedup::Firsts;
/// let (mut firsts, mut found) = (Firsts::new(), Vec::new());
/// firsts.take(&[7, 8, 7], usize::MAX, |_| true, |row| found.push(row));
/// firsts.take(&[9, 8], usize::MAX, |_| true, |row| found.push(row));
/// assert_eq!(found, [0, 1, 0]);
/// ```
pub struct Firsts {
    table: Table<Bare>,
}

impl Default for Firsts {
    fn default() -> Firsts {
        Firsts::new()
    }
}

impl core::fmt::Debug for Firsts {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Firsts").field("len", &self.table.len()).finish_non_exhaustive()
    }
}

impl Firsts {
    /// Has seen no key.
    pub fn new() -> Firsts {
        Firsts { table: Table::new() }
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Makes room for `keys` keys at once, which takes less memory than to grow.
    pub fn reserve(&mut self, keys: usize) {
        self.table.reserve(keys, 0, usize::MAX);
    }

    /// The number of keys, none of them zero, that can be taken within `bytes` of memory.
    pub fn room(bytes: usize) -> usize {
        room_in::<Bare>(bytes)
    }

    /// Takes those of `keys`, none of which is zero, that `is_wanted` says, and calls `first` with the place of each
    /// that was not there before. Memory grows up to `most` bytes, unless more is needed.
    #[inline(always)]
    pub fn take(
        &mut self,
        keys: &[u128],
        most: usize,
        is_wanted: impl Fn(u128) -> bool,
        mut first: impl FnMut(usize),
    ) {
        // Pieces far smaller than a table, so that room for all of one is no waste.
        const PIECE: usize = 1 << 12;
        for (number, piece) in keys.chunks(PIECE).enumerate() {
            let wanted = piece.iter().filter(|&&key| is_wanted(key)).count();
            self.table.reserve(wanted, 0, most);
            let mut ahead = piece.iter().filter(|&&key| is_wanted(key));
            for &key in ahead.by_ref().take(LOOK_AHEAD) {
                self.table.prefetch(key);
            }
            for (i, &key) in piece.iter().enumerate().filter(|&(_, &key)| is_wanted(key)) {
                if let Some(&key) = ahead.next() {
                    self.table.prefetch(key);
                }
                if self.table.insert(key).1 {
                    first(number * PIECE + i);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_tree_set_in_one_go_or_in_parts() {
        let keys: Vec<u128> = (0..40_000u128)
            .map(|i| (i * i % 7_919 + 1).wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645))
            .collect();
        let mut seen = BTreeSet::new();
        let expected: Vec<usize> = (0..keys.len()).filter(|&i| seen.insert(keys[i])).collect();
        let mut firsts = Firsts::new();
        for parts in [1, 2, 4] {
            let mut found = Vec::new();
            for part in 0..parts {
                firsts.clear();
                for (number, piece) in keys.chunks(9_000).enumerate() {
                    let is_wanted = |key: u128| (key >> 100) % parts == part;
                    firsts.take(piece, 0, is_wanted, |i| found.push(number * 9_000 + i));
                }
            }
            found.sort();
            assert_eq!(found, expected, "{parts} parts");
        }
    }

    #[test]
    fn what_has_room_keeps_to_the_memory() {
        for bytes in [1 << 18, 1 << 20, 6 << 20] {
            let mut firsts = Firsts::new();
            let key =
                |i: usize| (i as u128 + 1).wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645);
            let keys: Vec<u128> = (0..Firsts::room(bytes)).map(key).collect();
            firsts.take(&keys, bytes, |_| true, |_| ());
            assert!(firsts.table.memory_bytes() <= bytes, "{bytes}");
        }
        assert_eq!(Firsts::room(0), 0);
    }
}
