//! The keys of a chunk, sorted into partitions.

use core::sync::atomic::{AtomicU8, Ordering};

use crate::key::Key;

/// Partitions of the set. Enough for many threads, few enough that a run of one chunk's keys
/// is worth a look ahead.
pub(super) const PARTITIONS: usize = 32;

/// Keys between asking for a slot's memory and using it: about what a core can have under way, twice.
pub(super) const LOOK_AHEAD: usize = 24;

/// The partition of `key`: its top bits. [`super::table::Table`] uses the low half.
#[inline(always)]
pub(super) fn partition_of(key: u128) -> usize {
    (key >> (128 - PARTITIONS.trailing_zeros())) as usize
}

/// The keys of one chunk, row by row, and whether each was new to the set. Reusable.
#[derive(Debug, Default)]
pub struct Rows {
    keys: Vec<u128>,
    /// The keys again, partition by partition, each in row order, and the rows they stand in.
    pub(super) sorted_keys: Vec<u128>,
    pub(super) sorted_rows: Vec<u32>,
    /// Where each partition begins in the sorted ones, and the end.
    bounds: Vec<u32>,
    /// 1 where the row's key was new, 0 where not. Atomic since partitions write in parallel, each its own rows.
    pub(super) is_first: Vec<AtomicU8>,
}

impl Rows {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.keys.clear();
    }

    /// Adds a row.
    #[inline(always)]
    pub fn push(&mut self, key: Key) {
        self.keys.push(key.0);
    }

    /// Makes it `count` rows, whose keys are those of [`Rows::set_key`].
    pub fn resize(&mut self, count: usize) {
        self.keys.resize(count, Key::VACANT);
    }

    /// Sets the key of `row`.
    #[inline(always)]
    pub fn set_key(&mut self, row: usize, key: Key) {
        self.keys[row] = key.0;
    }

    /// Removes `rows`, which ascend.
    pub fn remove(&mut self, rows: &[u32]) {
        remove_at(&mut self.keys, rows);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key of `row`.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn key(&self, row: usize) -> Key {
        Key(self.keys[row])
    }

    /// The partition that the key of `row` is in.
    #[inline]
    pub fn partition_of(&self, row: usize) -> usize {
        partition_of(self.keys[row])
    }

    /// Whether [`super::Set::insert`] found the key of `row` new, that is, this row is the first of its class.
    ///
    /// # Panics
    /// When there is no such row.
    #[inline(always)]
    pub fn is_first(&self, row: usize) -> bool {
        self.is_first[row].load(Ordering::Relaxed) != 0
    }

    /// Sorts the rows into partitions; needed before [`super::Set::insert`], and may run in parallel per chunk.
    pub fn partition(&mut self) {
        let mut next = [0u32; PARTITIONS];
        for &key in &self.keys {
            next[partition_of(key)] += 1;
        }
        self.bounds.clear();
        let mut sum = 0;
        for count in &mut next {
            self.bounds.push(sum);
            sum += core::mem::replace(count, sum);
        }
        self.bounds.push(sum);
        let len = self.keys.len();
        if self.sorted_keys.len() < len {
            self.sorted_keys.resize(len, Key::VACANT);
            self.sorted_rows.resize(len, 0);
        }
        let (keys, rows) = (&mut self.sorted_keys[..len], &mut self.sorted_rows[..len]);
        for (row, &key) in self.keys.iter().enumerate() {
            let at = &mut next[partition_of(key)];
            keys[*at as usize] = key;
            rows[*at as usize] = row as u32;
            *at += 1;
        }
        if self.is_first.len() < self.keys.len() {
            self.is_first.resize_with(self.keys.len(), AtomicU8::default);
        }
    }

    /// Number of partitions.
    pub const PARTITIONS: usize = PARTITIONS;

    /// The keys of a partition and their rows, in the order of the rows.
    ///
    /// [`Rows::partition`] must have been called since the last row came.
    pub fn in_partition(&self, partition: usize) -> impl Iterator<Item = (Key, usize)> + '_ {
        let run = self.run(partition);
        let keys = self.sorted_keys[run.clone()].iter().map(|&key| Key(key));
        keys.zip(self.sorted_rows[run].iter().map(|&row| row as usize))
    }

    /// Sets whether `row` is the first of its class, for callers that look it up in more than one [`super::Set`].
    ///
    /// # Panics
    /// When there is no such row.
    pub fn set_first(&self, row: usize, is_first: bool) {
        self.is_first[row].store(u8::from(is_first), Ordering::Relaxed);
    }

    /// Bytes of memory held for rows.
    pub fn memory_bytes(&self) -> usize {
        16 * (self.keys.capacity() + self.sorted_keys.capacity())
            + 4 * (self.sorted_rows.capacity() + self.bounds.capacity())
            + self.is_first.capacity()
    }

    /// Where a partition is in the sorted rows: nowhere if [`Rows::partition`] was never called, as after a chunk that
    /// could not be read.
    pub(super) fn run(&self, partition: usize) -> core::ops::Range<usize> {
        match self.bounds.get(partition..partition + 2) {
            Some(&[start, end]) => start as usize..end as usize,
            _ => 0..0,
        }
    }
}

/// The keys of all chunks in one partition, in order.
pub(super) struct KeysOf<'c> {
    run: core::slice::Iter<'c, u128>,
    rest: core::slice::Iter<'c, &'c Rows>,
    partition: usize,
}

impl<'c> KeysOf<'c> {
    pub(super) fn new(chunks: &'c [&'c Rows], partition: usize) -> KeysOf<'c> {
        KeysOf { run: [].iter(), rest: chunks.iter(), partition }
    }
}

impl<'c> Iterator for KeysOf<'c> {
    type Item = &'c u128;

    #[inline(always)]
    fn next(&mut self) -> Option<&'c u128> {
        loop {
            if let Some(key) = self.run.next() {
                return Some(key);
            }
            let rows = self.rest.next()?;
            self.run = rows.sorted_keys[rows.run(self.partition)].iter();
        }
    }
}

/// Removes the items of `list` at `places`, which ascend.
pub fn remove_at<T: Copy>(list: &mut Vec<T>, places: &[u32]) {
    let Some(&first) = places.first() else { return };
    let mut places = places.iter().map(|&place| place as usize).peekable();
    let (first, mut kept) = (first as usize, first as usize);
    for at in first..list.len() {
        if places.next_if_eq(&at).is_none() {
            list[kept] = list[at];
            kept += 1;
        }
    }
    list.truncate(kept);
}
