//! A set that forgets what its keys are: less memory, and now and then a new key is taken for an old one.

use fastbloom::BloomFilter;

use super::rows::{PARTITIONS, Rows};
use crate::threads;

/// Least number of keys for which the first filter of a partition is made.
const MIN_KEYS: usize = 1 << 10;

/// A set of keys in Bloom filters: about `1.44 * log2(1 / rate)` bits a key, 14 at a rate of 0.001, and up to
/// three times that while it grows. It never takes an old key for a new one; a new one is taken for an old one
/// with a chance of `rate` at most.
///
/// ```
/// use uriscan_core::dedup::{Rows, ApproxSet};
/// use uriscan::key::Hasher;
/// let hasher = Hasher::random();
/// let mut rows = Rows::default();
/// for text in ["a", "b", "a"] {
///     rows.push(hasher.key(text.as_bytes()));
/// }
/// rows.partition();
/// let mut set = ApproxSet::new(1e-6, 0);
/// set.insert(&[&rows]);
/// assert_eq!([rows.is_first(0), rows.is_first(1), rows.is_first(2)], [true, true, false]);
/// ```
#[derive(Debug)]
pub struct ApproxSet {
    partitions: Vec<Filters>,
    rate: f64,
}

/// The filters of a partition: each for twice the keys and at half the rate of the one before, so that the rates
/// of all together stay below what was asked for, however many keys come.
#[derive(Debug)]
struct Filters {
    full: Vec<BloomFilter>,
    last: BloomFilter,
    /// Keys that the last one is made for, and those that it takes still.
    size: usize,
    left: usize,
    /// The rate of the last one.
    rate: f64,
}

impl Filters {
    fn new(rate: f64, size: usize) -> Filters {
        let last = filter(rate, size);
        Filters { full: Vec::new(), last, size, left: size, rate }
    }

    /// Inserts a key; returns whether it is new, with the chance of error that the filter has.
    fn insert(&mut self, key: u128) -> bool {
        // The high half picks the partition.
        let hash = key as u64;
        if self.full.iter().any(|filter| filter.contains_hash(hash)) || self.last.insert_hash(hash)
        {
            return false;
        }
        self.left -= 1;
        if self.left == 0 {
            self.grow();
        }
        true
    }

    #[cold]
    fn grow(&mut self) {
        (self.rate, self.size) = (self.rate / 2.0, self.size * 2);
        let full = std::mem::replace(&mut self.last, filter(self.rate, self.size));
        self.full.push(full);
        self.left = self.size;
    }
}

fn filter(rate: f64, size: usize) -> BloomFilter {
    // Keys are hashes: the filter is given them as they are, and its own hasher is never asked.
    BloomFilter::with_false_pos(rate).seed(&0).expected_items(size)
}

impl ApproxSet {
    /// An empty one that errs at `rate`, between 0 and 1, at most; made for `expected` keys as far as one can
    /// guess, 0 for no idea.
    pub fn new(rate: f64, expected: u64) -> ApproxSet {
        let expected = usize::try_from(expected).unwrap_or(0) / PARTITIONS * 33 / 32;
        let filters = || Filters::new(rate / 2.0, expected.max(MIN_KEYS));
        ApproxSet { partitions: (0..PARTITIONS).map(|_| filters()).collect(), rate }
    }

    /// The chance at most with which a new key is taken for an old one.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Bytes of memory held for keys.
    pub fn memory_bytes(&self) -> usize {
        let filters = self.partitions.iter().flat_map(|it| it.full.iter().chain([&it.last]));
        filters.map(|filter| filter.num_bits() / 8).sum()
    }

    /// Inserts the rows of all `chunks` in order, as [`super::Set::insert`] does.
    pub fn insert(&mut self, chunks: &[&Rows]) {
        threads::each(&mut self.partitions, |partition, filters| {
            for rows in chunks {
                for (key, row) in rows.in_partition(partition) {
                    rows.set_first(row, filters.insert(key.0));
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Hasher;

    /// Inserts the keys of these numbers; gives how many were found new.
    fn insert(set: &mut ApproxSet, numbers: std::ops::Range<u64>) -> usize {
        let hasher = Hasher::with_secret([3; 32]);
        let mut rows = Rows::default();
        numbers.for_each(|i| rows.push(hasher.key(&i.to_le_bytes())));
        rows.partition();
        set.insert(&[&rows]);
        (0..rows.len()).filter(|&row| rows.is_first(row)).count()
    }

    #[test]
    fn known_keys_are_never_new_and_new_ones_rarely_taken_for_known() {
        for (rate, expected) in [(0.01, 0), (0.01, 200_000), (0.0001, 0)] {
            let mut set = ApproxSet::new(rate, expected);
            assert_eq!(set.rate(), rate);
            let (count, mut new) = (400_000, 0);
            for start in (0..count).step_by(50_000) {
                new += insert(&mut set, start..start + 50_000);
                assert_eq!(insert(&mut set, start..start + 50_000), 0, "what is in stays in");
            }
            assert_eq!(insert(&mut set, 0..count), 0);
            let errors = count as f64 - new as f64;
            assert!(errors <= 1.2 * rate * count as f64 + 10.0, "{errors} at {rate}");
            let bits = 8.0 * set.memory_bytes() as f64 / count as f64;
            assert!(bits < 3.0 * 1.44 * (8.0 / rate).log2(), "{bits} bits a key at {rate}");
        }
    }
}
