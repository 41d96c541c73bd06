//! The set of keys.

use core::sync::atomic::Ordering;

use super::rows::{LOOK_AHEAD, PARTITIONS, Rows};
use super::table::Table;
use crate::key::Key;
use crate::threads;

/// A set of keys in memory, 16 bytes a key and free slots.
///
/// ```
/// use uriscan_core::dedup::{Rows, Set};
/// use uriscan::key::Hasher;
/// let hasher = Hasher::random();
/// let mut rows = Rows::default();
/// for text in ["a", "b", "a"] {
///     rows.push(hasher.key(text.as_bytes()));
/// }
/// rows.partition();
/// let mut set = Set::new();
/// set.insert(&[&rows]);
/// assert_eq!([rows.is_first(0), rows.is_first(1), rows.is_first(2)], [true, true, false]);
/// assert_eq!(set.len(), 2);
/// ```
pub struct Set {
    tables: Vec<Table>,
    expected: usize,
    /// Bytes that a table should not exceed.
    most: usize,
}

impl Default for Set {
    fn default() -> Set {
        Set::new()
    }
}

impl Set {
    /// An empty set.
    pub fn new() -> Set {
        let tables = (0..PARTITIONS).map(|_| Table::new()).collect();
        Set { tables, expected: 0, most: usize::MAX }
    }

    /// Sets how many bytes the set may hold for keys, a limit that it respects as long as what is inserted
    /// [`Set::fits`].
    pub fn limit_to(&mut self, bytes: usize) {
        self.most = bytes / PARTITIONS;
    }

    /// Whether the rows of `chunks` can be inserted within [`Set::limit_to`].
    ///
    /// Every chunk must have been through [`Rows::partition`] since its last row came.
    pub fn fits(&self, chunks: &[&Rows]) -> bool {
        self.tables.iter().enumerate().all(|(partition, table)| {
            let more = chunks.iter().map(|rows| rows.run(partition).len()).sum();
            table.fits(more, self.most)
        })
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.tables.iter().map(Table::len).sum()
    }

    /// Whether the set holds no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory held for keys.
    pub fn memory_bytes(&self) -> usize {
        self.tables.iter().map(Table::memory_bytes).sum()
    }

    /// Sets the estimated final number of keys; 0 if unknown. A
    /// wrong guess costs some time or some memory, nothing else.
    pub fn expect(&mut self, keys: u64) {
        self.expected = usize::try_from(keys).unwrap_or(0);
    }

    /// Inserts the rows of all `chunks` in order, on the current rayon pool; each row's result is
    /// then in [`Rows::is_first`].
    ///
    /// Every chunk must have been through [`Rows::partition`] since its last row came.
    pub fn insert(&mut self, chunks: &[&Rows]) {
        // A little more than its share for each, as partitions are not filled alike.
        let (expected, most) = (self.expected / PARTITIONS * 33 / 32, self.most);
        for (partition, table) in self.tables.iter_mut().enumerate() {
            let more = chunks.iter().map(|rows| rows.run(partition).len()).sum();
            table.map_ahead(more, expected, most);
        }
        threads::each(&mut self.tables, |partition, table| {
            // The keys of this partition again, some way ahead, so that memory is asked for in time.
            let mut ahead = chunks.iter().flat_map(|rows| &rows.sorted_keys[rows.run(partition)]);
            for &key in ahead.by_ref().take(LOOK_AHEAD) {
                table.prefetch(key);
            }
            for rows in chunks {
                let run = rows.run(partition);
                table.reserve(run.len(), expected, most);
                let sorted_rows = &rows.sorted_rows[run.clone()];
                let keys = rows.sorted_keys[run].iter().copied();
                table.insert_all(keys, &mut ahead, |i, _, is_new| {
                    let row = sorted_rows[i] as usize;
                    rows.is_first[row].store(u8::from(is_new), Ordering::Relaxed);
                });
            }
        });
    }

    /// Inserts the rows of all `chunks` as long as there is room within [`Set::limit_to`], on the current rayon pool,
    /// and calls `missing` for each whose key was not there, with what the caller keeps beside its partition: the
    /// chunk, as an index into `chunks`, the row and its key. `beside` has [`Rows::PARTITIONS`] of these.
    ///
    /// A key that found no room is missing again each time it comes. Rows of one partition come in their order; no
    /// result is written. Every chunk must have been through [`Rows::partition`] since its last row came.
    pub fn insert_within<P: Send>(
        &mut self,
        chunks: &[&Rows],
        beside: &mut [P],
        missing: impl Fn(&mut P, usize, usize, Key) + Sync,
    ) {
        /// Keys for which room is made at a time: many may be the same.
        const PIECE: usize = 256;
        let most = self.most;
        let mut partitions: Vec<(&mut Table, &mut P)> =
            self.tables.iter_mut().zip(beside).collect();
        threads::each(&mut partitions, |partition, (table, beside)| {
            let mut ahead = chunks.iter().flat_map(|rows| &rows.sorted_keys[rows.run(partition)]);
            for &key in ahead.by_ref().take(LOOK_AHEAD) {
                table.prefetch(key);
            }
            for (chunk, rows) in chunks.iter().enumerate() {
                let run = rows.run(partition);
                let (keys, rows) = (&rows.sorted_keys[run.clone()], &rows.sorted_rows[run]);
                for (keys, rows) in keys.chunks(PIECE).zip(rows.chunks(PIECE)) {
                    if table.fits(keys.len(), most) {
                        table.reserve(keys.len(), 0, most);
                        table.insert_all(keys.iter().copied(), &mut ahead, |i, _, is_new| {
                            if is_new {
                                missing(beside, chunk, rows[i] as usize, Key(keys[i]));
                            }
                        });
                        continue;
                    }
                    for (&key, &row) in keys.iter().zip(rows) {
                        if let Some(&key) = ahead.next() {
                            table.prefetch(key);
                        }
                        if table.find(key).is_none() {
                            missing(beside, chunk, row as usize, Key(key));
                        }
                    }
                }
            }
        });
    }
}

impl core::fmt::Debug for Set {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Set").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::partition_of;
    use super::*;
    use crate::key::Hasher;
    use std::collections::BTreeMap;

    /// The plain oracle: the first row of each key, in order.
    fn first_rows(keys: &[Key]) -> Vec<bool> {
        let mut seen = BTreeMap::new();
        keys.iter().enumerate().map(|(row, key)| *seen.entry(*key).or_insert(row) == row).collect()
    }

    #[test]
    fn a_set_agrees_with_a_tree_map_however_rows_are_cut() {
        let hasher = Hasher::random();
        let keys: Vec<Key> =
            (0..50_000u32).map(|i| hasher.key(&(i * i % 30_011).to_le_bytes())).collect();
        let expected = first_rows(&keys);
        for chunk_rows in [1usize, 7, 1000, 50_000] {
            let mut set = Set::new();
            let mut found = Vec::new();
            for batch in keys.chunks(chunk_rows * 5) {
                let chunks: Vec<Rows> = batch
                    .chunks(chunk_rows)
                    .map(|keys| {
                        let mut rows = Rows::default();
                        keys.iter().for_each(|&key| rows.push(key));
                        rows.partition();
                        rows
                    })
                    .collect();
                set.insert(&chunks.iter().collect::<Vec<_>>());
                found.extend(
                    chunks.iter().flat_map(|rows| (0..rows.len()).map(|i| rows.is_first(i))),
                );
            }
            assert_eq!(found, expected, "{chunk_rows} rows a chunk");
            assert_eq!(set.len(), expected.iter().filter(|&&first| first).count());
        }
    }

    /// Rows of the keys of these numbers.
    fn rows_of(numbers: impl Iterator<Item = u32>, hasher: &Hasher) -> Rows {
        let mut rows = Rows::default();
        numbers.for_each(|i| rows.push(hasher.key(&i.to_le_bytes())));
        rows.partition();
        rows
    }

    /// The chunks and rows that are missing, sorted.
    fn missing(set: &mut Set, chunks: &[Rows]) -> Vec<(usize, usize)> {
        let mut beside = vec![Vec::new(); PARTITIONS];
        let rows: Vec<&Rows> = chunks.iter().collect();
        set.insert_within(&rows, &mut beside, |list, chunk, row, key| {
            assert_eq!(key, chunks[chunk].key(row));
            list.push((chunk, row));
        });
        assert!(beside.iter().all(|list| list.is_sorted()));
        let mut found = beside.concat();
        found.sort();
        found
    }

    #[test]
    fn a_full_set_respects_its_limit_and_reports_missing_keys() {
        let hasher = Hasher::random();
        let mut set = Set::new();
        set.limit_to(0);
        assert!(set.fits(&[]) && !set.fits(&[&rows_of(0..1, &hasher)]));
        set.limit_to(1 << 20);
        let mut next = 0;
        loop {
            let rows = rows_of(next..next + 500, &hasher);
            if !set.fits(&[&rows]) {
                break;
            }
            set.insert(&[&rows]);
            next += 500;
        }
        assert!(next > 30_000 && set.memory_bytes() <= 1 << 20, "{next}");
        let chunks =
            [rows_of(next - 300..next + 200, &hasher), rows_of(next + 200..next + 20_000, &hasher)];
        let expected: Vec<_> =
            (300..500).map(|row| (0, row)).chain((0..19_800).map(|row| (1, row))).collect();
        assert_eq!(missing(&mut set, &chunks), expected);
        assert!(set.memory_bytes() <= 1 << 20);
        assert!(missing(&mut set, &chunks).len() > 10_000, "there was no room for most");
    }

    #[test]
    fn a_repeated_key_is_missing_once_while_there_is_room() {
        let hasher = Hasher::random();
        let mut set = Set::new();
        set.limit_to(1 << 20);
        let chunks = [rows_of((0..9_000).map(|i| i % 3), &hasher), rows_of(0..3, &hasher)];
        assert_eq!(missing(&mut set, &chunks), [(0, 0), (0, 1), (0, 2)]);
        assert_eq!(missing(&mut set, &chunks), []);
    }

    #[test]
    fn rows_report_their_memory() {
        let mut rows = Rows::default();
        assert!(rows.is_empty() && rows.memory_bytes() == 0);
        (1..=10_000).for_each(|i| rows.push(Key(i)));
        rows.partition();
        assert!(!rows.is_empty());
        // A key twice, the number of its row, and whether it is the first one.
        let least = rows.len() * (2 * 16 + 4 + 1);
        assert!((least..2 * least).contains(&rows.memory_bytes()), "{}", rows.memory_bytes());
    }

    #[test]
    fn partitions_are_used_evenly() {
        let hasher = Hasher::random();
        let mut counts = [0u32; PARTITIONS];
        for i in 0..64_000u32 {
            counts[partition_of(hasher.key(&i.to_le_bytes()).0)] += 1;
        }
        assert!(counts.iter().all(|&count| (1800..2200).contains(&count)), "{counts:?}");
    }
}
