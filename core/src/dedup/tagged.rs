//! A set whose keys carry a few marks, which add up: on which levels of the ladder a form was met.
//!
//! All keys of a partition have the same top bits. The marks stand in their place, so that a key and its marks come
//! with one access to memory, and take no more of it than a key.

use std::sync::{Mutex, PoisonError};

use super::rows::{KeysOf, LOOK_AHEAD, PARTITIONS, Rows};
use super::table::{LINE, Layout, Table};
use crate::threads;

/// Bits of a key that are the same in all keys of a partition.
const BITS: u32 = PARTITIONS.trailing_zeros();

/// Their place.
const SHIFT: u32 = u128::BITS - BITS;

/// Keys with marks.
pub(super) struct Tagged;

impl Layout for Tagged {
    const KEYS: usize = LINE;
    const MARKS: u128 = !0 << SHIFT;

    #[inline(always)]
    fn number(_: &[u128; LINE], _: usize) -> u32 {
        0
    }

    #[inline(always)]
    fn set_number(_: &mut [u128; LINE], _: usize, _: u32) {}
}

/// A set of keys, each with marks: [`TaggedSet::MARKS`] of them at most.
pub struct TaggedSet {
    tables: Vec<Table<Tagged>>,
    expected: usize,
}

impl Default for TaggedSet {
    fn default() -> TaggedSet {
        TaggedSet { tables: (0..PARTITIONS).map(|_| Table::new()).collect(), expected: 0 }
    }
}

impl TaggedSet {
    /// How many marks there are.
    pub const MARKS: u32 = BITS;

    /// Number of keys.
    pub fn number_of_keys(&self) -> usize {
        self.tables.iter().map(Table::len).sum()
    }

    /// As [`super::Set::expect`].
    pub fn expect(&mut self, keys: u64) {
        self.expected = usize::try_from(keys).unwrap_or(0);
    }

    /// Inserts the rows of all `chunks`, on the current rayon pool, each with its marks: bits, at least one.
    ///
    /// Every chunk must have been through [`Rows::partition`] since its last row came.
    pub fn insert(&mut self, chunks: &[(&Rows, &[u8])]) {
        // A little more than its share for each, as partitions are not filled alike.
        let (expected, most) = (self.expected / PARTITIONS * 33 / 32, usize::MAX);
        let rows: Vec<&Rows> = chunks.iter().map(|(rows, _)| *rows).collect();
        for (partition, table) in self.tables.iter_mut().enumerate() {
            let more = rows.iter().map(|rows| rows.run(partition).len()).sum();
            table.map_ahead(more, expected, most);
        }
        threads::each(&mut self.tables, |partition, table| {
            let mut ahead = KeysOf::new(&rows, partition);
            for &key in ahead.by_ref().take(LOOK_AHEAD) {
                table.prefetch(key);
            }
            for (rows, marks) in chunks {
                let run = rows.run(partition);
                table.reserve(run.len(), expected, most);
                let keys = rows.sorted_keys[run.clone()].iter();
                let marked = keys.zip(&rows.sorted_rows[run]).map(|(&key, &row)| {
                    key & !Tagged::MARKS | u128::from(marks[row as usize]) << SHIFT
                });
                table.insert_all(marked, &mut ahead, |_, _, _| ());
            }
        });
    }

    /// How many keys have each mark, by its number; on the current rayon pool.
    pub fn counts(&mut self) -> [u64; Self::MARKS as usize] {
        let all = Mutex::new([0; Self::MARKS as usize]);
        threads::each(&mut self.tables, |_, table| {
            // The number of slots by their marks; a vacant slot has none.
            let mut by_marks = [0u64; PARTITIONS];
            table.slots().iter().for_each(|key| by_marks[(key >> SHIFT) as usize] += 1);
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            for (mark, sum) in all.iter_mut().enumerate() {
                let counts = by_marks.iter().enumerate();
                *sum +=
                    counts.map(|(marks, count)| (marks as u64 >> mark & 1) * count).sum::<u64>();
            }
        });
        all.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl core::fmt::Debug for TaggedSet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TaggedSet").field("len", &self.number_of_keys()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Hasher, Key};
    use std::collections::BTreeMap;

    #[test]
    fn marks_add_up_as_in_a_tree_map_through_many_growths() {
        let hasher = Hasher::random();
        let (mut set, mut oracle) = (TaggedSet::default(), BTreeMap::<Key, u8>::new());
        for batch in 0..6u32 {
            let chunks: Vec<(Rows, Vec<u8>)> = [0, 1, 700, 60_000]
                .map(|count| {
                    let (mut rows, mut marks) = (Rows::default(), Vec::new());
                    for i in 0..count {
                        let key = hasher.key(&(batch * 900 + i * i % 50_021).to_le_bytes());
                        let mark = 1 + (i % 31) as u8;
                        rows.push(key);
                        marks.push(mark);
                        *oracle.entry(key).or_default() |= mark;
                    }
                    rows.partition();
                    (rows, marks)
                })
                .into();
            set.insert(&chunks.iter().map(|(rows, marks)| (rows, &marks[..])).collect::<Vec<_>>());
            assert_eq!(set.number_of_keys(), oracle.len());
            for (mark, count) in set.counts().into_iter().enumerate() {
                let expected = oracle.values().filter(|&&marks| marks >> mark & 1 != 0).count();
                assert_eq!(count, expected as u64);
            }
        }
    }

    #[test]
    fn keys_that_differ_in_the_upper_half_only_are_distinct() {
        // And those whose lower half is that of a free place.
        for low in [0u128, 1] {
            let mut set = TaggedSet::default();
            let mut rows = Rows::default();
            (1..=40u128).for_each(|high| rows.push(Key(high << 64 | low)));
            rows.partition();
            for marks in [[1; 40], [2; 40]] {
                set.insert(&[(&rows, &marks)]);
            }
            assert_eq!((set.number_of_keys(), set.counts()), (40, [40, 40, 0, 0, 0]));
        }
    }
}
