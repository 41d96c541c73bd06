//! Keys with the number of their rows and the position of the first one.

use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::{Mutex, PoisonError};

use super::parts::{Entry, Index, Part, Parts, WORTH};
use super::rows::{PARTITIONS, Rows};
use crate::key::Key;
use crate::threads;

/// Keys with the number of their rows and the position of the first one: 24 bytes each. As many are for each row that waits; no more of
/// them wait than there are keys, except for the rows of the last chunk.
///
/// ```
/// use uriscan_core::dedup::{CountedKeys, Rows};
/// use uriscan::key::Hasher;
/// let hasher = Hasher::random();
/// let mut rows = Rows::default();
/// for text in ["a", "b", "a"] {
///     rows.push(hasher.key(text.as_bytes()));
/// }
/// rows.partition();
/// let mut keys = CountedKeys::new();
/// keys.insert(&[&rows], |_, row| row as u64);
/// assert_eq!(keys.settle(), 2);
/// let mut found: Vec<(u64, u64)> = keys
///     .map(|_, counted| counted.iter().map(|(_, position, count)| (position, count)).collect::<Vec<_>>())
///     .concat();
/// found.sort();
/// assert_eq!(found, [(0, 2), (1, 1)]);
/// ```
pub struct CountedKeys {
    partitions: Vec<Parts>,
    /// Estimated final number of keys of a partition.
    expected: usize,
    /// One for each thread.
    indexes: Mutex<Vec<Index>>,
}

impl Default for CountedKeys {
    fn default() -> CountedKeys {
        CountedKeys::new()
    }
}

impl CountedKeys {
    /// No keys.
    pub fn new() -> CountedKeys {
        let partitions = (0..PARTITIONS).map(|_| Parts::new()).collect();
        CountedKeys { partitions, expected: 0, indexes: Mutex::default() }
    }

    /// Number of keys, if no row waits; more if some do.
    pub fn len(&self) -> usize {
        self.partitions.iter().map(Parts::len).sum()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows that wait, which may be of keys that are there.
    pub fn waiting(&self) -> usize {
        self.partitions.iter().map(Parts::waiting).sum()
    }

    /// Bytes of memory for a key, and for a row that waits.
    pub const BYTES_PER_KEY: u64 = 2 * size_of::<Entry>() as u64;

    /// Sets the estimated final number of keys. A wrong guess costs some time or some memory, nothing else.
    pub fn expect(&mut self, keys: u64) {
        self.expected = (keys / PARTITIONS as u64) as usize;
    }

    /// Inserts the rows of all `chunks`, on the current rayon pool. `position` gives that of a row, by its chunk and its number
    /// in it: positions are below 2^51 and rise from row to row and from chunk to chunk.
    ///
    /// Every chunk must have been through [`Rows::partition`] since its last row came.
    pub fn insert(&mut self, chunks: &[&Rows], position: impl Fn(usize, usize) -> u64 + Sync) {
        let CountedKeys { partitions, expected, indexes } = self;
        threads::each(partitions, |partition, parts| {
            let mut index = take(indexes);
            parts.expect(*expected, &mut index);
            for (chunk, rows) in chunks.iter().enumerate() {
                let run = rows.run(partition);
                let keys = rows.sorted_keys[run.clone()].iter().zip(&rows.sorted_rows[run]);
                parts.add(keys.map(|(&key, &row)| (key, position(chunk, row as usize))));
                // Rows of one key after the other come to one partition: they are not to take its memory.
                parts.settle(WORTH, &mut index);
            }
            give_back(indexes, index);
        });
    }

    /// Counts all rows that wait, on the current rayon pool. Gives the number of keys.
    pub fn settle(&mut self) -> usize {
        let CountedKeys { partitions, indexes, .. } = self;
        threads::each(partitions, |_, parts| {
            let mut index = take(indexes);
            parts.settle(0, &mut index);
            give_back(indexes, index);
        });
        self.len()
    }

    /// Bytes of memory held for keys and for rows that wait, as they may be once the rows of `chunks` have come.
    pub fn memory_bytes(&self, chunks: &[&Rows]) -> usize {
        let of_partition = |(i, parts): (usize, &Parts)| {
            parts.memory_bytes(chunks.iter().map(|rows| rows.run(i).len()).sum())
        };
        self.partitions.iter().enumerate().map(of_partition).sum()
    }

    /// Makes something of the keys of each partition and its number, on the current rayon pool. They are freed one after the other;
    /// none is left.
    pub fn map<T: Send>(&mut self, make: impl Fn(usize, Counted) -> T + Sync) -> Vec<T> {
        threads::map(self.partitions.iter_mut().enumerate(), |(partition, parts)| {
            make(partition, Counted(core::mem::replace(parts, Parts::new())))
        })
    }
}

impl core::fmt::Debug for CountedKeys {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CountedKeys").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// An index that was used before, if there is one.
fn take(indexes: &Mutex<Vec<Index>>) -> Index {
    indexes.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
}

fn give_back(indexes: &Mutex<Vec<Index>>, index: Index) {
    indexes.lock().unwrap_or_else(PoisonError::into_inner).push(index);
}

/// The keys of one partition.
pub struct Counted(Parts);

impl Counted {
    /// Number of keys and of rows that wait.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys, each with the position of its first row and the number of its rows, in no order; no row may wait.
    pub fn iter(&self) -> impl Iterator<Item = (Key, u64, u64)> + '_ {
        self.0.parts.iter().flat_map(|part| self.of_part(part))
    }

    /// [`Counted::iter`], in the order of the positions.
    pub fn in_order(&self) -> impl Iterator<Item = (Key, u64, u64)> + '_ {
        let mut rest: Vec<_> =
            self.0.parts.iter().map(|part| self.of_part(part).peekable()).collect();
        let mut next = BinaryHeap::new();
        let position_of = |&(_, position, _): &(Key, u64, u64)| Reverse(position);
        next.extend(
            rest.iter_mut()
                .enumerate()
                .filter_map(|(i, rest)| Some((position_of(rest.peek()?), i))),
        );
        core::iter::from_fn(move || {
            let mut least = next.peek_mut()?;
            let rest = &mut rest[least.1];
            let found = rest.next()?;
            match rest.peek() {
                Some(after) => least.0 = position_of(after),
                None => drop(PeekMut::pop(least)),
            }
            Some(found)
        })
    }

    fn of_part<'c>(&'c self, part: &'c Part) -> impl Iterator<Item = (Key, u64, u64)> + 'c {
        self.0.of_part(part).map(|(key, position, count)| (Key(key), position, count))
    }
}

#[cfg(test)]
mod tests;
