//! Counts of texts that come many at a time, exact as long as there is room, then of the frequent ones.
//!
//! The texts of a part of the input are counted where they are found ([`Counts`]), and parts are added up in any order.
//! When that takes too much at the end of a window of the input, the texts with the lowest counts are dropped, and
//! begin at 0 if they come again (as in the summaries of Misra and Gries, 1982, which can be merged). What a window is
//! does not depend on how the input is cut into parts, so the result depends on the input and the limit only.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use super::keep_first;
use uriscan_core::chunk::Prefix;
use uriscan_core::dedup::{Classes, ProbedRun, Rows};
use uriscan_core::key::{Hasher, Key};
use uriscan_core::simd::{Isa, Task, prefetch};

/// Bytes that a text takes beside its own.
const ENTRY: usize = 80;

/// How many of the last texts are looked at before a text is taken for a new one.
pub(super) const RECENT: usize = 1 << 12;

/// The last texts of a [`Counts`], by a hash: the number of each, from 1.
pub(crate) type Recent = Vec<u32>;

/// How often each text occurs in a part of the input. A text may be there several times, with a count each.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    rows: Rows,
    text: Vec<u8>,
    ends: Vec<usize>,
    counts: Vec<u64>,
}

impl Counts {
    /// Forgets all, and memory that the last texts did not need.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.text.shrink_to(2 * self.text.len());
        self.text.clear();
        self.ends.clear();
        self.counts.clear();
    }

    /// Makes `recent` ready for texts of a `Counts` that is empty.
    pub(crate) fn forget(recent: &mut Recent) {
        recent.clear();
        recent.resize(RECENT, 0);
    }

    /// Counts `text` as often as `count` says.
    #[inline]
    pub(crate) fn add(&mut self, recent: &mut Recent, text: &[u8], count: u64) {
        // Whoever writes texts that share a place only makes the list longer.
        let place = &mut recent[xxh3_64(text) as usize % RECENT];
        if let Some(number) = (*place as usize).checked_sub(1)
            && self.get(number) == text
        {
            self.counts[number] += count;
            return;
        }
        self.push(text, count);
        *place = self.counts.len() as u32;
    }

    fn push(&mut self, text: &[u8], count: u64) {
        self.text.extend_from_slice(text);
        self.ends.push(self.text.len());
        self.counts.push(count);
    }

    /// To be called after the last text, and before [`Frequent::add`].
    pub(crate) fn partition(&mut self, hasher: &Hasher) {
        hasher.kernels().run(KeysOf { counts: self, hasher });
        self.rows.partition();
    }

    fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }
}

/// Makes the keys of all texts.
struct KeysOf<'c> {
    counts: &'c mut Counts,
    hasher: &'c Hasher,
}

impl Task for KeysOf<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let KeysOf { counts: Counts { rows, text, ends, .. }, hasher } = self;
        rows.clear();
        rows.resize(ends.len());
        let mut start = 0;
        for (number, &end) in ends.iter().enumerate() {
            // Keys are made faster where the next text may be read.
            let text = Prefix::new(&text[start..], end - start);
            rows.set_key(number, hasher.key_by(isa, text));
            start = end;
        }
    }
}

/// The texts of a partition, by their numbers.
#[derive(Debug, Default)]
struct PartitionCounts {
    counts: Vec<u64>,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl PartitionCounts {
    fn text(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    /// Keeps the texts that occur `least` times, and the `keys` of these, in their order; calls `on_drop` for all others.
    fn retain(&mut self, least: u64, keys: &mut Vec<Key>, mut on_drop: impl FnMut(&[u8], u64)) {
        let (mut kept, mut at, mut start) = (0, 0, 0);
        for number in 0..keys.len() {
            let (count, end) = (self.counts[number], self.ends[number]);
            if count < least {
                on_drop(&self.text[start..end], count);
            } else {
                self.text.copy_within(start..end, at);
                at += end - start;
                (self.counts[kept], self.ends[kept], keys[kept]) = (count, at, keys[number]);
                kept += 1;
            }
            start = end;
        }
        self.text.truncate(at);
        self.counts.truncate(kept);
        self.ends.truncate(kept);
        keys.truncate(kept);
    }
}

/// The counts of all parts.
#[derive(Debug)]
pub(crate) struct Frequent {
    classes: Classes<PartitionCounts>,
    /// Bytes of memory that the counts may take at the end of a window.
    limit: usize,
    /// A count is too low by this at most.
    missed: u64,
}

/// The most frequent texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MostFrequent {
    /// With their counts, the highest first, then by text.
    pub(crate) texts: Vec<(Vec<u8>, u64)>,
    /// The number of different texts; `None` if some were dropped.
    pub(crate) distinct: Option<u64>,
    /// A count is too low by this at most; 0 if none was dropped.
    pub(crate) missed: u64,
}

impl Frequent {
    /// Counts within `limit` bytes of memory, and those of the texts of a window.
    pub(crate) fn new(limit: usize) -> Frequent {
        Frequent { classes: within(limit), limit, missed: 0 }
    }

    /// Adds the counts of `parts`, on the current rayon pool.
    pub(crate) fn add(&mut self, parts: &[&Counts]) {
        let rows: Vec<&Rows> = parts.iter().map(|part| &part.rows).collect();
        self.classes.insert_runs(&rows, |partition, ProbedRun { chunk, firsts, further }| {
            let part = parts[chunk];
            further.iter().for_each(|&(class, _)| prefetch(&partition.counts, class as usize));
            for &row in firsts {
                partition.counts.push(part.counts[row as usize]);
                partition.text.extend_from_slice(part.get(row as usize));
                partition.ends.push(partition.text.len());
            }
            for &(class, row) in further {
                partition.counts[class as usize] += part.counts[row as usize];
            }
        });
    }

    /// Ends a window: drops the texts with the lowest counts if there is no room for all, and calls `on_drop` for each,
    /// on the current rayon pool. Returns what that has made of the texts of each partition.
    pub(crate) fn end_window<D: Default + Send>(
        &mut self,
        on_drop: impl Fn(&mut D, &[u8], u64) + Sync,
    ) -> Vec<D> {
        if self.bytes() <= self.limit {
            return Vec::new();
        }
        let least = self.least_kept();
        self.missed += least - 1;
        let dropped: Mutex<Vec<D>> = Mutex::default();
        self.classes.retain(|partition, keys| {
            let mut all = D::default();
            partition.retain(least, keys, |text, count| on_drop(&mut all, text, count));
            dropped.lock().unwrap_or_else(PoisonError::into_inner).push(all);
        });
        dropped.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lowest count of which all texts are kept: with those that occur more often they take half of the room.
    fn least_kept(&self) -> u64 {
        /// Nearly all texts occur less often.
        const FEW: usize = 256;
        let (mut few, mut bytes) = ([0; FEW], BTreeMap::<u64, usize>::new());
        for partition in self.classes.partitions() {
            for (number, &count) in partition.counts.iter().enumerate() {
                let sum = match few.get_mut(count as usize) {
                    Some(sum) => sum,
                    None => bytes.entry(count).or_default(),
                };
                *sum += ENTRY + partition.text(number).len();
            }
        }
        bytes.extend((0..).zip(few).filter(|&(_, bytes)| bytes > 0));
        let (mut sum, mut least) = (0, u64::MAX);
        for (count, more) in bytes.into_iter().rev() {
            sum += more;
            if sum > self.limit / 2 {
                return count + 1;
            }
            least = count;
        }
        least
    }

    fn bytes(&self) -> usize {
        let text: usize = self.classes.partitions().map(|partition| partition.text.len()).sum();
        self.classes.len() * ENTRY + text
    }

    /// Calls `each` with each text and its count, in no order.
    pub(crate) fn each(&self, mut each: impl FnMut(&[u8], u64)) {
        for partition in self.classes.partitions() {
            for (number, &count) in partition.counts.iter().enumerate() {
                each(partition.text(number), count);
            }
        }
    }

    /// The `most` texts that occur most often.
    pub(crate) fn most(&self, most: usize) -> MostFrequent {
        let partitions: Vec<&PartitionCounts> = self.classes.partitions().collect();
        let mut all = numbers(&partitions);
        let distinct = (self.missed == 0).then_some(all.len() as u64);
        keep_first(&mut all, most, |a, b| order(&partitions, *a).cmp(&order(&partitions, *b)));
        let text = |(at, number): (usize, usize)| {
            (partitions[at].text(number).to_vec(), partitions[at].counts[number])
        };
        MostFrequent { texts: all.into_iter().map(text).collect(), distinct, missed: self.missed }
    }
}

/// No texts, in tables that grow no further than needed for `limit` bytes.
fn within(limit: usize) -> Classes<PartitionCounts> {
    let mut classes = Classes::new();
    // Beyond that they grow by what each batch needs, which takes time and spares memory.
    classes.limit_to(limit / 2);
    classes
}

/// All texts: the partition of each, and its number there.
fn numbers(partitions: &[&PartitionCounts]) -> Vec<(usize, usize)> {
    let of = |(at, partition): (usize, &&PartitionCounts)| {
        (0..partition.counts.len()).map(move |number| (at, number))
    };
    partitions.iter().enumerate().flat_map(of).collect()
}

/// The order of texts: by count, the highest first, then by text.
fn order<'h>(
    partitions: &[&'h PartitionCounts],
    (at, number): (usize, usize),
) -> (Reverse<u64>, &'h [u8]) {
    (Reverse(partitions[at].counts[number]), partitions[at].text(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The oracle: a map of texts, sorted and cut at the end of each window.
    fn slow(windows: &[Vec<String>], limit: usize) -> (Vec<(Vec<u8>, u64)>, u64) {
        let (mut map, mut missed) = (BTreeMap::<&str, u64>::new(), 0);
        for (i, window) in windows.iter().enumerate() {
            window.iter().for_each(|text| *map.entry(text).or_default() += 1);
            let bytes = |text: &str| ENTRY + text.len();
            if i + 1 < windows.len() && map.keys().map(|text| bytes(text)).sum::<usize>() > limit {
                let size = |least: u64| -> usize {
                    let kept = map.iter().filter(|&(_, &count)| count >= least);
                    kept.map(|(text, _)| bytes(text)).sum()
                };
                let least = (1..).find(|&least| size(least) <= limit / 2).unwrap();
                map.retain(|_, count| *count >= least);
                missed += least - 1;
            }
        }
        let mut all: Vec<_> =
            map.into_iter().map(|(text, count)| (text.as_bytes().to_vec(), count)).collect();
        all.sort_by(|a, b| (Reverse(a.1), &a.0).cmp(&(Reverse(b.1), &b.0)));
        (all, missed)
    }

    #[test]
    fn counts_agree_with_a_map_however_windows_are_cut() {
        let text = |i: u32| format!("text {}", (i * i % 997) * (i % 3));
        let windows: Vec<Vec<String>> =
            (0..12).map(|w| (w * 700..(w + 1) * 700).map(text).collect()).collect();
        for limit in [0, 3_000, 20_000, 1 << 20] {
            let expected = slow(&windows, limit);
            for size in [1, 13, 400] {
                let (mut frequent, hasher) = (Frequent::new(limit), Hasher::random());
                for (i, window) in windows.iter().enumerate() {
                    if i > 0 {
                        frequent.end_window(|(), _, _| ());
                    }
                    let parts: Vec<Counts> = window
                        .chunks(size)
                        .map(|texts| {
                            let (mut counts, mut recent) = (Counts::default(), Recent::new());
                            Counts::forget(&mut recent);
                            texts
                                .iter()
                                .for_each(|text| counts.add(&mut recent, text.as_bytes(), 1));
                            counts.partition(&hasher);
                            counts
                        })
                        .collect();
                    frequent.add(&parts.iter().collect::<Vec<_>>());
                }
                let found = frequent.most(usize::MAX);
                assert_eq!(
                    (&found.texts, found.missed),
                    (&expected.0, expected.1),
                    "{limit} {size}"
                );
                let first = frequent.most(3);
                assert_eq!(first.texts, expected.0[..3]);
                assert_eq!(found.distinct.is_some(), expected.1 == 0);
            }
        }
    }

    #[test]
    fn counts_are_too_low_by_at_most_the_missed_ones() {
        let (mut frequent, hasher) = (Frequent::new(2_000), Hasher::random());
        let mut recent = Recent::new();
        for window in 0..50u32 {
            let mut counts = Counts::default();
            Counts::forget(&mut recent);
            for i in 0..100 {
                counts.add(&mut recent, format!("rare {window} {i}").as_bytes(), 1);
                counts.add(&mut recent, format!("often {}", i % 5).as_bytes(), 1);
            }
            counts.partition(&hasher);
            frequent.add(&[&counts]);
            frequent.end_window(|(), _, _| ());
        }
        let MostFrequent { texts, missed, .. } = frequent.most(5);
        for (text, count) in texts {
            assert!(text.starts_with(b"often") && count <= 1_000 && count + missed >= 1_000);
        }
    }
}
