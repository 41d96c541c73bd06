//! When the keys of a run were first seen: a file with one time for each key, in the order of the
//! keys.
//!
//! A [file of blocks](super::blocks) of numbers of 32 bits, big-endian: seconds since 1970. Its
//! facts: the digest of the keys it belongs to, in two numbers, the earliest time and the latest.

use std::path::Path;

use super::blocks::{self, BLOCK, BlockWriter, Blocks, Kind};
use super::error::SetError;
use super::names;
use crate::time::Timestamp;

/// Size of a time in bytes.
const WIDTH: usize = 4;

static KIND: Kind = Kind {
    magic: b"uriscan times 2\n",
    width: WIDTH as u64,
    facts: 4,
    bound: 2,
    suffix: names::TIMES,
    stranger: "it does not begin like a file of times",
    damaged: "the checksum of a block of times is wrong",
};

/// Indexes of the earliest and the latest time in the facts.
const EARLIEST: usize = 2;
const LATEST: usize = 3;

/// The error for times that do not match the facts.
const RANGE: &str = "the header does not match the times";

/// The facts that bind times to their keys.
fn bound_to(keys: &Blocks) -> [u64; EARLIEST] {
    [(keys.digest() >> 64) as u64, keys.digest() as u64]
}

/// Reads the times of a run.
#[derive(Debug)]
pub(super) struct Times(Blocks);

impl Times {
    /// Opens the times at `path`, which belong to `keys`.
    ///
    /// # Errors
    /// If they cannot be read, are damaged outside the times, or belong to other keys.
    pub(super) fn open(path: &Path, keys: &Blocks) -> Result<Times, SetError> {
        Times::of(Blocks::open(path, &KIND)?, keys)
    }

    fn of(times: Blocks, keys: &Blocks) -> Result<Times, SetError> {
        let facts = times.facts();
        if facts[..EARLIEST] != bound_to(keys) || times.len() != keys.len() {
            return Err(SetError::damaged(times.path(), "they belong to other keys", 16));
        }
        if facts[EARLIEST] > facts[LATEST] || facts[LATEST] > u64::from(u32::MAX) {
            return Err(outside(&times));
        }
        Ok(Times(times))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Size of the file in bytes.
    pub(super) fn file_bytes(&self) -> u64 {
        self.0.file_bytes()
    }

    /// The earliest and the latest; `None` if there are no keys.
    pub(super) fn range(&self) -> Option<(Timestamp, Timestamp)> {
        let time = |fact: usize| Timestamp(self.0.facts()[fact] as u32);
        (self.0.len() > 0).then(|| (time(EARLIEST), time(LATEST)))
    }

    /// Calls `found` with the times at `places`, which rise, and the value that accompanies each
    /// position.
    pub(super) fn read<T>(
        &self,
        places: impl IntoIterator<Item = (u64, T)>,
        mut found: impl FnMut(T, Timestamp),
    ) -> Result<(), SetError> {
        let (mut bytes, mut held) = (Vec::new(), None);
        let range = self.0.facts()[EARLIEST]..=self.0.facts()[LATEST];
        for (place, beside) in places {
            let block = place / KIND.block_items();
            if held != Some(block) {
                self.0.read(block..block + 1, &mut bytes)?;
                held = Some(block);
            }
            let at = (place % KIND.block_items()) as usize * WIDTH;
            let time = u32::from_be_bytes(bytes[at..at + WIDTH].try_into().expect("4 bytes"));
            if !range.contains(&u64::from(time)) {
                let at = BLOCK as u64 + place * WIDTH as u64;
                return Err(SetError::damaged(self.path(), RANGE, at));
            }
            found(beside, Timestamp(time));
        }
        Ok(())
    }

    /// Reads everything; returns all damage.
    pub(super) fn verify(&self) -> Result<Vec<SetError>, SetError> {
        let mut range: Option<(u32, u32)> = None;
        let mut damages = self.0.verify(|_, bytes| {
            for time in bytes.chunks_exact(WIDTH) {
                let time = u32::from_be_bytes(time.try_into().expect("4 bytes"));
                let (first, last) = range.unwrap_or((time, time));
                range = Some((first.min(time), last.max(time)));
            }
        })?;
        let found = range.map(|(first, last)| (Timestamp(first), Timestamp(last)));
        if damages.is_empty() && found != self.range() {
            damages.push(outside(&self.0));
        }
        Ok(damages)
    }
}

fn outside(times: &Blocks) -> SetError {
    let at = blocks::FACTS + 8 * EARLIEST;
    SetError::damaged(times.path(), RANGE, at as u64)
}

/// Times being written.
#[derive(Debug)]
pub(super) struct TimesWriter {
    blocks: BlockWriter,
    /// The earliest and the latest.
    range: (Timestamp, Timestamp),
}

impl TimesWriter {
    /// Creates a file in `directory`.
    pub(super) fn new(directory: &Path) -> Result<TimesWriter, SetError> {
        let blocks = BlockWriter::new(directory, &KIND)?;
        Ok(TimesWriter { blocks, range: (Timestamp(u32::MAX), Timestamp(0)) })
    }

    /// Adds times, at most a block of them.
    pub(super) fn push(&mut self, times: impl Iterator<Item = Timestamp>) -> Result<(), SetError> {
        let range = &mut self.range;
        self.blocks.push(times.map(|time| {
            *range = (range.0.min(time), range.1.max(time));
            time.0.to_be_bytes()
        }))
    }

    /// Finishes the file, which belongs to `keys`, like [`BlockWriter::finish`].
    pub(super) fn finish(self, keys: &Blocks, is_durable: bool) -> Result<Times, SetError> {
        let (first, last) = if keys.len() > 0 { self.range } else { (Timestamp(0), Timestamp(0)) };
        let [high, low] = bound_to(keys);
        let facts = [high, low, u64::from(first.0), u64::from(last.0)];
        Times::of(self.blocks.finish(&facts, is_durable)?, keys)
    }
}
