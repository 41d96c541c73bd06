//! Space-Saving: the frequent texts of a stream in bounded memory (Metwally, Agrawal, El Abbadi 2005), here for texts
//! of any length: the limit is one of bytes, not of entries.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{TextCount, TopTexts, keep_first};
use uriscan_core::key::Key;

/// Bytes that a text takes beside its own: here, or in exact counts while they move here.
pub(super) const ENTRY: usize = 192;

#[derive(Debug)]
struct Entry {
    key: Key,
    text: Box<[u8]>,
    count: u64,
    error: u64,
    /// The position at which the text was taken in; decides among equal counts.
    first: u64,
    /// Its place in the heap.
    place: u32,
}

/// The counts of texts. When there is no room for another one, those with the lowest count make room, and the new one
/// inherits the highest count that was ever dropped, as its error.
#[derive(Debug)]
pub(super) struct SpaceSaving {
    entries: Vec<Entry>,
    /// Numbers of entries, the one with the lowest count first.
    heap: Vec<u32>,
    by_key: HashMap<Key, u32>,
    bytes: usize,
    most_bytes: usize,
    /// The highest count of an entry that was dropped.
    dropped: u64,
}

impl SpaceSaving {
    /// No counts; they will take at most `most_bytes`, or else as much as one text.
    pub(super) fn new(most_bytes: usize) -> SpaceSaving {
        SpaceSaving {
            entries: Vec::new(),
            heap: Vec::new(),
            by_key: HashMap::new(),
            bytes: 0,
            most_bytes,
            dropped: 0,
        }
    }

    /// Counts one occurrence of `text`, which has this key, at `position`.
    pub(super) fn add(&mut self, key: Key, text: &[u8], position: u64) {
        if let Some(&number) = self.by_key.get(&key) {
            let entry = &mut self.entries[number as usize];
            entry.count += 1;
            let place = entry.place as usize;
            self.sink(place);
            return;
        }
        while !self.heap.is_empty() && self.bytes + ENTRY + text.len() > self.most_bytes {
            self.drop_lowest();
        }
        self.insert(key, text, (self.dropped + 1, self.dropped, position));
    }

    /// Takes in a text that is not there, with its true count; nothing may have been dropped.
    pub(super) fn insert_exact(&mut self, key: Key, text: &[u8], count: u64, first: u64) {
        self.insert(key, text, (count, 0, first));
    }

    fn insert(&mut self, key: Key, text: &[u8], (count, error, first): (u64, u64, u64)) {
        self.bytes += ENTRY + text.len();
        let (number, place) = (self.entries.len() as u32, self.heap.len() as u32);
        self.entries.push(Entry { key, text: text.into(), count, error, first, place });
        self.heap.push(number);
        self.by_key.insert(key, number);
        self.rise(place as usize);
    }

    fn drop_lowest(&mut self) {
        let number = self.heap.swap_remove(0);
        if let Some(&moved) = self.heap.first() {
            self.entries[moved as usize].place = 0;
            self.sink(0);
        }
        let entry = self.entries.swap_remove(number as usize);
        self.dropped = self.dropped.max(entry.count);
        self.bytes -= ENTRY + entry.text.len();
        self.by_key.remove(&entry.key);
        // The last entry has taken its number.
        if let Some(moved) = self.entries.get(number as usize) {
            self.heap[moved.place as usize] = number;
            self.by_key.insert(moved.key, number);
        }
    }

    /// The order of the heap. No two entries are equal, so which one is dropped does not depend on how they were moved.
    fn rank(&self, place: usize) -> (u64, u64) {
        let entry = &self.entries[self.heap[place] as usize];
        (entry.count, entry.first)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        for place in [a, b] {
            self.entries[self.heap[place] as usize].place = place as u32;
        }
    }

    /// Moves the entry at `place` towards the root, to where it belongs.
    fn rise(&mut self, mut place: usize) {
        while place > 0 && self.rank(place) < self.rank((place - 1) / 2) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    /// Moves the entry at `place` away from the root, to where it belongs.
    fn sink(&mut self, mut place: usize) {
        loop {
            let children = (2 * place + 1..2 * place + 3).filter(|&child| child < self.heap.len());
            let Some(least) = children.min_by_key(|&child| self.rank(child)) else { return };
            if self.rank(place) < self.rank(least) {
                return;
            }
            self.swap(place, least);
            place = least;
        }
    }

    /// The `most` texts that occur most often.
    pub(super) fn most(self, most: usize) -> TopTexts {
        let SpaceSaving { mut entries, dropped, .. } = self;
        let distinct = (dropped == 0).then_some(entries.len() as u64);
        keep_first(&mut entries, most, |a, b| {
            (Reverse(a.count), &a.text).cmp(&(Reverse(b.count), &b.text))
        });
        let counted =
            |Entry { text, count, error, .. }| TextCount { text: text.into(), count, error };
        TopTexts { texts: entries.into_iter().map(counted).collect(), distinct, error: dropped }
    }

    /// Bytes taken, by the measure of the limit.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
