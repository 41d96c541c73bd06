//! A run: a file of keys in rising order, and, in a set that tells them, a file of the times at which they were first seen.
//!
//! The keys are a [file of blocks](super::blocks): 16 bytes each, big-endian, rising, none twice. Its facts: for each of
//! the 256 first bytes of a key, and for the end, the number of keys before it.

use std::ops::Range;
use std::path::Path;

use super::blocks::{self, BlockWriter, Blocks, Kind};
use super::entry::Entry;
use super::error::SetError;
use super::times::{Times, TimesWriter};

/// Bytes of a key.
pub(super) const KEY: usize = 16;

/// Keys of a block.
pub(super) const BLOCK_KEYS: u64 = (blocks::BLOCK / KEY) as u64;

/// The first bytes of a key tell this many partitions apart.
const PARTITIONS: usize = 256;

static KIND: Kind = Kind {
    magic: b"uriscan keys 1\n\0",
    width: KEY as u64,
    facts: PARTITIONS + 1,
    suffix: SUFFIX,
    stranger: "it does not begin as a run of keys does",
    damaged: "the checksum of a block of keys is another",
};

/// What file names of runs end in.
pub(super) const SUFFIX: &str = ".keys";

/// The key number `i` of `bytes`.
#[inline(always)]
pub(super) fn key_at(bytes: &[u8], i: usize) -> u128 {
    let bytes = &bytes[i * KEY..][..KEY];
    u128::from_be_bytes(bytes.try_into().expect("16 bytes"))
}

/// The partition of `key`.
#[inline(always)]
fn partition_of(key: u128) -> usize {
    (key >> 120) as usize
}

/// A run that can be read; its files never change.
#[derive(Debug)]
pub(super) struct Run {
    /// The keys; its facts are the numbers of keys before each partition, and of all.
    keys: Blocks,
    /// In a set that tells them.
    times: Option<Times>,
    /// All keys, if they are held in memory.
    resident: Option<Vec<u8>>,
}

impl Run {
    /// Opens the run whose keys are at `keys`, and their times at `times` if they have any.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged in what is not keys; keys are checked when they are read.
    pub(super) fn open(keys: &Path, times: Option<&Path>) -> Result<Run, SetError> {
        let keys = Blocks::open(keys, &KIND)?;
        let times = times.map(|path| Times::open(path, &keys)).transpose()?;
        Ok(Run { keys, times, resident: None })
    }

    /// Number of keys.
    pub(super) fn len(&self) -> u64 {
        self.keys.len()
    }

    /// Where the keys are.
    pub(super) fn path(&self) -> &Path {
        self.keys.path()
    }

    /// Where everything is.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        [self.keys.path()].into_iter().chain(self.times.as_ref().map(Times::path))
    }

    /// A number that tells these keys from any other.
    pub(super) fn digest(&self) -> u64 {
        self.keys.digest()
    }

    /// When the keys were first seen, if that is told.
    pub(super) fn times(&self) -> Option<&Times> {
        self.times.as_ref()
    }

    /// Bytes of the files.
    pub(super) fn file_bytes(&self) -> u64 {
        self.keys.file_bytes() + self.times.as_ref().map_or(0, Times::file_bytes)
    }

    /// Number of blocks of keys.
    pub(super) fn blocks(&self) -> u64 {
        self.keys.count()
    }

    /// All keys, if they are in memory.
    pub(super) fn resident(&self) -> Option<&[u8]> {
        self.resident.as_deref()
    }

    /// Takes all keys into memory.
    ///
    /// # Errors
    /// When they cannot be read or are damaged.
    pub(super) fn make_resident(&mut self) -> Result<(), SetError> {
        let mut bytes = Vec::new();
        self.read_blocks(0..self.blocks(), &mut bytes)?;
        self.resident = Some(bytes);
        Ok(())
    }

    /// The number of keys below `key` or near it, as even as keys are spread.
    pub(super) fn guess(&self, key: u128) -> u64 {
        let (partition, bounds) = (partition_of(key), self.keys.facts());
        let (start, end) = (bounds[partition], bounds[partition + 1]);
        let fraction = u128::from((key >> 56) as u64);
        start + ((u128::from(end - start) * fraction) >> 64) as u64
    }

    /// The number of blocks by which [`Run::guess`] is seldom wrong, if keys are spread evenly: of the keys of a
    /// partition, the number below one differs by half of their square root.
    pub(super) fn guess_error(&self) -> u64 {
        1 + (self.len() / PARTITIONS as u64).isqrt() / BLOCK_KEYS
    }

    /// Replaces `bytes` by those of a range of blocks, which are seen to be what was written.
    ///
    /// # Errors
    /// When they cannot be read or are damaged.
    pub(super) fn read_blocks(
        &self,
        blocks: Range<u64>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), SetError> {
        let Some(resident) = &self.resident else { return self.keys.read(blocks, bytes) };
        let place = self.keys.bytes_of(blocks);
        bytes.clear();
        bytes.extend_from_slice(&resident[place.start as usize..place.end as usize]);
        Ok(())
    }

    /// Reads everything; gives all damages, each with its place.
    ///
    /// # Errors
    /// When something cannot be read at all.
    pub(super) fn verify(&self) -> Result<Vec<SetError>, SetError> {
        let (mut counts, mut last, mut fall) = (vec![0; PARTITIONS], None, None);
        let mut damages = self.keys.verify(|block, bytes| {
            for i in 0..bytes.len() / KEY {
                let key = key_at(bytes, i);
                counts[partition_of(key)] += 1;
                if last.replace(key).is_some_and(|last| last >= key) && fall.is_none() {
                    fall = Some(blocks::BLOCK as u64 * (block + 1) + (i * KEY) as u64);
                }
            }
        })?;
        if damages.is_empty() {
            let fall = fall.map(|at| SetError::damaged(self.path(), "the keys do not rise", at));
            damages.extend(fall);
        }
        if damages.is_empty() && bounds_of(&counts) != self.keys.facts() {
            let what = "the header counts other keys than there are";
            damages.push(SetError::damaged(self.path(), what, 32));
        }
        if let Some(times) = &self.times {
            damages.extend(times.verify()?);
        }
        Ok(damages)
    }
}

/// Keys before each partition, and their number.
fn bounds_of(counts: &[u64]) -> Vec<u64> {
    let mut sum = 0;
    let starts = counts.iter().map(|count| {
        sum += count;
        sum - count
    });
    let mut bounds: Vec<u64> = starts.collect();
    bounds.push(sum);
    bounds
}

/// A run that is being written, to files that vanish unless it is finished.
#[derive(Debug)]
pub(super) struct RunWriter {
    keys: BlockWriter,
    times: Option<TimesWriter>,
    counts: Vec<u64>,
    last: Option<u128>,
}

impl RunWriter {
    /// Begins a run in `directory`, with the times of its keys if it is to tell them.
    ///
    /// # Errors
    /// When no file can be made there.
    pub(super) fn new(directory: &Path, is_dated: bool) -> Result<RunWriter, SetError> {
        let times = is_dated.then(|| TimesWriter::new(directory)).transpose()?;
        let keys = BlockWriter::new(directory, &KIND)?;
        Ok(RunWriter { keys, times, counts: vec![0; PARTITIONS], last: None })
    }

    /// Adds entries, whose keys rise and are above those that were added; they have times if the run tells them.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(super) fn push<E: Entry>(&mut self, entries: &[E]) -> Result<(), SetError> {
        debug_assert!(entries.is_sorted_by(|a, b| a.key() < b.key()));
        debug_assert!(entries.first().is_none_or(|first| self.last < Some(first.key())));
        self.last = entries.last().map(|last| last.key()).or(self.last);
        let RunWriter { keys, times, counts, .. } = self;
        for piece in entries.chunks(BLOCK_KEYS as usize) {
            keys.push(piece.iter().map(|entry| {
                counts[partition_of(entry.key())] += 1;
                entry.key().to_be_bytes()
            }))?;
            if let Some(times) = times {
                times.push(piece.iter().filter_map(|entry| entry.time()))?;
            }
        }
        Ok(())
    }

    /// Finishes the run: it is on the disk and has its names when this comes back, but they may still be lost
    /// until the directory is on the disk too.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn finish(self) -> Result<Run, SetError> {
        self.end(true)
    }

    /// Finishes a run that need not outlive the process.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn finish_for_now(self) -> Result<Run, SetError> {
        self.end(false)
    }

    fn end(self, is_durable: bool) -> Result<Run, SetError> {
        let keys = self.keys.finish(&bounds_of(&self.counts), is_durable)?;
        let times = self.times.map(|times| times.finish(&keys, is_durable)).transpose()?;
        Ok(Run { keys, times, resident: None })
    }
}
