//! A run: a file of keys in rising order, and, in a set that records them, a file of the times at
//! which they were first seen.
//!
//! The keys are a [file of blocks](super::blocks): 16 bytes each, big-endian, in strictly rising
//! order. Its facts: for each of the 256 first bytes of a key, and for the end, the number of keys
//! before it.
//!
//! Reading blocks yields keys that rise and match the facts, or an error. So a key that is not
//! found is not in the run: it is between two adjacent keys ([`super::cursor`]). The one fault that
//! a look-up can miss is a key out of order in a block that it does not read; everything that reads
//! the whole run detects it.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::blocks::{self, BLOCK, Blocks, Kind};
use super::error::SetError;
use super::held::Held;
use super::names;
use super::times::{Times, TimesWriter};
use crate::time::Timestamp;

/// Size of a key in bytes.
pub(super) const KEY: usize = 16;

/// Number of keys in a block.
pub(super) const BLOCK_KEYS: u64 = (BLOCK / KEY) as u64;

/// Number of partitions, by the first byte of a key.
pub(super) const PARTITIONS: usize = 256;

pub(super) static KIND: Kind = Kind {
    magic: b"uriscan keys 2\n\0",
    width: KEY as u64,
    facts: PARTITIONS + 1,
    bound: 0,
    suffix: names::KEYS,
    stranger: "it does not begin like a file of keys",
    damaged: "the checksum of a block of keys is wrong",
};

/// The key number `i` of `bytes`.
#[inline(always)]
pub(super) fn key_at(bytes: &[u8], i: usize) -> u128 {
    let bytes = &bytes[i * KEY..][..KEY];
    u128::from_be_bytes(bytes.try_into().expect("16 bytes"))
}

/// The error for keys that do not match the facts.
const COUNTS: &str = "the header does not match the keys";

/// Offset in the file of key number `i` of a run.
fn offset_of(i: u64) -> u64 {
    BLOCK as u64 + i * KEY as u64
}

/// The index of the first key of `bytes` that is not above the one before it.
fn first_fall(bytes: &[u8]) -> Option<usize> {
    // Comparing the first halves takes a few instructions per key, and suffices for all runs of
    // hashed keys.
    let (keys, _) = bytes.as_chunks::<KEY>();
    let half = |key: &[u8; KEY]| (u128::from_be_bytes(*key) >> 64) as u64;
    let (first, others) = keys.split_first()?;
    let mut last = half(first);
    let mut rises = 0;
    for key in others {
        let half = half(key);
        // A count needs one addition with carry; a branch or a flag would need more.
        rises += usize::from(last < half);
        last = half;
    }
    if rises == others.len() {
        return None;
    }
    (1..keys.len()).find(|&i| key_at(bytes, i - 1) >= key_at(bytes, i))
}

/// The partition of `key`.
#[inline(always)]
pub(super) fn partition_of(key: u128) -> usize {
    (key >> 120) as usize
}

/// An open run; its files never change.
#[derive(Debug)]
pub(super) struct Run {
    /// The keys; the facts are the numbers of keys before each partition, and of all.
    keys: Blocks,
    /// In a set that records them.
    times: Option<Times>,
    pub(super) held: Held,
    /// A bit for each block whose keys were found to rise.
    rising: Vec<AtomicU64>,
}

impl Run {
    /// Opens the run with its keys at `keys`, and their times at `times`, if any.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged outside the keys, which are checked when they are read.
    pub(super) fn open(keys: &Path, times: Option<&Path>) -> Result<Run, SetError> {
        let keys = Blocks::open(keys, &KIND)?;
        let bounds = keys.facts();
        let is_ours = bounds[0] == 0 && bounds[PARTITIONS] == keys.len() && bounds.is_sorted();
        if !is_ours {
            let what = "the header has impossible numbers of keys";
            return Err(SetError::damaged(keys.path(), what, blocks::FACTS as u64));
        }
        let times = times.map(|path| Times::open(path, &keys)).transpose()?;
        Ok(Run::of(keys, times))
    }

    pub(super) fn of(keys: Blocks, times: Option<Times>) -> Run {
        let words = keys.count().div_ceil(u64::from(u64::BITS));
        let rising = (0..words).map(|_| AtomicU64::new(0)).collect();
        Run { keys, times, held: Held::default(), rising }
    }

    /// Number of keys.
    pub(super) fn len(&self) -> u64 {
        self.keys.len()
    }

    /// The path of the keys.
    pub(super) fn path(&self) -> &Path {
        self.keys.path()
    }

    /// The paths of all its files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        [self.keys.path()].into_iter().chain(self.times.as_ref().map(Times::path))
    }

    /// The digest of these keys, which identifies them.
    pub(super) fn digest(&self) -> u128 {
        self.keys.digest()
    }

    /// The error for a run that shares a key with another run of its set.
    pub(super) fn shares_a_key(&self) -> SetError {
        let what = "it shares a key with another file of keys of this set";
        SetError::damaged(self.path(), what, offset_of(0))
    }

    /// The times at which the keys were first seen, if recorded.
    pub(super) fn times(&self) -> Option<&Times> {
        self.times.as_ref()
    }

    /// Gives all keys of a run without times the same one, in a file of `directory`.
    pub(super) fn date(&mut self, directory: &Path, time: Timestamp) -> Result<(), SetError> {
        let (mut writer, mut left) = (TimesWriter::new(directory)?, self.len());
        while left > 0 {
            let count = left.min(BLOCK_KEYS);
            writer.push((0..count).map(|_| time))?;
            left -= count;
        }
        self.times = Some(writer.finish(&self.keys, true)?);
        Ok(())
    }

    /// Size of the files in bytes.
    pub(super) fn file_bytes(&self) -> u64 {
        self.keys.file_bytes() + self.times.as_ref().map_or(0, Times::file_bytes)
    }

    /// Number of blocks of keys.
    pub(super) fn blocks(&self) -> u64 {
        self.keys.count()
    }

    /// All keys, if they are in memory.
    pub(super) fn resident(&self) -> Option<&[u8]> {
        self.held.keys.get()?.as_deref()
    }

    /// The approximate number of keys below `key`, assuming an even distribution.
    pub(super) fn guess(&self, key: u128) -> u64 {
        let (partition, bounds) = (partition_of(key), self.keys.facts());
        let (start, end) = (bounds[partition], bounds[partition + 1]);
        let fraction = u128::from((key >> 56) as u64);
        start + ((u128::from(end - start) * fraction) >> 64) as u64
    }

    /// The number of blocks by which [`Run::guess`] is rarely wrong if keys are evenly distributed:
    /// within a partition, the number of keys below a given one deviates by half of the square root
    /// of their number.
    pub(super) fn guess_error(&self) -> u64 {
        1 + (self.len() / PARTITIONS as u64).isqrt() / BLOCK_KEYS
    }

    /// Replaces `bytes` with those of a range of blocks, after checking that they are intact, and
    /// that their keys rise and match the header.
    pub(super) fn read_blocks(
        &self,
        blocks: Range<u64>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), SetError> {
        if let Some(resident) = self.resident() {
            let place = self.keys.bytes_of(blocks);
            bytes.clear();
            bytes.extend_from_slice(&resident[place.start as usize..place.end as usize]);
            return Ok(());
        }
        self.keys.read(blocks.clone(), bytes)?;
        self.expect_rising(blocks.start, bytes)
    }

    /// Fills `bytes` with those of whole blocks, from number `first` on, after the same checks.
    pub(super) fn read_rising(&self, first: u64, bytes: &mut [u8]) -> Result<(), SetError> {
        self.keys.read_into(first, bytes)?;
        self.expect_rising(first, bytes)
    }

    /// Checks that the keys `bytes`, of blocks from number `first` on, rise and match the header.
    fn expect_rising(&self, first: u64, bytes: &[u8]) -> Result<(), SetError> {
        let start = first * BLOCK_KEYS;
        match first_fall(bytes) {
            Some(i) => Err(self.falls(start + i as u64)),
            None => self.expect_facts(start, bytes),
        }
    }

    /// The same for look-ups, which read a block repeatedly: the order of its keys is checked only
    /// once.
    pub(super) fn read_again(
        &self,
        blocks: Range<u64>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), SetError> {
        self.keys.read(blocks.clone(), bytes)?;
        let mut last = None;
        for (number, block) in blocks.clone().zip(bytes.chunks(BLOCK)) {
            let (word, bit) = (&self.rising[(number / 64) as usize], 1 << (number % 64));
            let start = number * BLOCK_KEYS;
            if word.load(Ordering::Relaxed) & bit == 0 {
                if let Some(i) = first_fall(block) {
                    return Err(self.falls(start + i as u64));
                }
                word.fetch_or(bit, Ordering::Relaxed);
            }
            if last.is_some_and(|last| last >= key_at(block, 0)) {
                return Err(self.falls(start));
            }
            last = Some(key_at(block, block.len() / KEY - 1));
        }
        self.expect_facts(blocks.start * BLOCK_KEYS, bytes)
    }

    /// The error for key number `i`, which is not above the one before it.
    pub(super) fn falls(&self, i: u64) -> SetError {
        SetError::damaged(self.path(), "the keys do not rise", offset_of(i))
    }

    /// Checks that the keys `bytes`, which rise and of which the first is number `start`, match the
    /// facts.
    fn expect_facts(&self, start: u64, bytes: &[u8]) -> Result<(), SetError> {
        let count = bytes.len() / KEY;
        if count == 0 {
            return Ok(());
        }
        let (bounds, end) = (self.keys.facts(), start + count as u64);
        let partition_at = |i: usize| partition_of(key_at(bytes, i));
        let (first, last) = (partition_at(0), partition_at(count - 1));
        // As keys rise, only those at the ends of partitions need checking.
        let is_at_bound = |partition: usize| {
            let bound = bounds[partition];
            let at = bound.wrapping_sub(start) as usize;
            (start + 1..end).contains(&bound)
                && partition_at(at - 1) < partition
                && partition_at(at) >= partition
        };
        let fits = bounds[first] <= start
            && end <= bounds[last + 1]
            && (first + 1..=last).all(is_at_bound);
        match fits {
            true => Ok(()),
            false => Err(SetError::damaged(self.path(), COUNTS, offset_of(start))),
        }
    }

    /// Reads everything; returns all damage, with positions.
    pub(super) fn verify(&self) -> Result<Vec<SetError>, SetError> {
        let (mut counts, mut last, mut fall) = (vec![0; PARTITIONS], None, None);
        let mut damages = self.keys.verify(|block, bytes| {
            for i in 0..bytes.len() / KEY {
                let key = key_at(bytes, i);
                counts[partition_of(key)] += 1;
                if last.replace(key).is_some_and(|last| last >= key) && fall.is_none() {
                    fall = Some(block * BLOCK_KEYS + i as u64);
                }
            }
        })?;
        if damages.is_empty() {
            damages.extend(fall.map(|i| self.falls(i)));
        }
        if damages.is_empty() && bounds_of(&counts) != self.keys.facts() {
            damages.push(SetError::damaged(self.path(), COUNTS, blocks::FACTS as u64));
        }
        if let Some(times) = &self.times {
            damages.extend(times.verify()?);
        }
        Ok(damages)
    }
}

/// The number of keys before each partition, and of all.
pub(super) fn bounds_of(counts: &[u64]) -> Vec<u64> {
    let mut sum = 0;
    let starts = counts.iter().map(|count| {
        sum += count;
        sum - count
    });
    let mut bounds: Vec<u64> = starts.collect();
    bounds.push(sum);
    bounds
}
