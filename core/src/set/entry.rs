//! Items to sort, merge and write: keys alone, or with the times at which they were first seen.

use super::error::SetError;
use super::run::{BLOCK_KEYS, Run, key_at};
use crate::time::Timestamp;

/// A key, or a key and a time. Of two entries with the same key, the lesser one is kept.
pub(super) trait Entry: Copy + Ord + Send + Sync {
    /// Whether it has a time.
    const IS_DATED: bool;

    fn key(self) -> u128;

    /// When the key was first seen, if recorded.
    fn time(self) -> Option<Timestamp>;

    /// Appends the entries of a run from number `start` on and before number `end` to `out`.
    fn read(run: &Run, start: u64, end: u64, out: &mut Vec<Self>) -> Result<(), SetError>;
}

/// A key and when it was first seen; orders by key, then by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dated {
    pub(super) key: u128,
    pub(super) first_seen: Timestamp,
}

impl Entry for u128 {
    const IS_DATED: bool = false;

    #[inline(always)]
    fn key(self) -> u128 {
        self
    }

    #[inline(always)]
    fn time(self) -> Option<Timestamp> {
        None
    }

    fn read(run: &Run, start: u64, end: u64, out: &mut Vec<u128>) -> Result<(), SetError> {
        if start == end {
            return Ok(());
        }
        let (first_block, mut bytes) = (start / BLOCK_KEYS, Vec::new());
        run.read_blocks(first_block..end.div_ceil(BLOCK_KEYS), &mut bytes)?;
        let skipped = (start - first_block * BLOCK_KEYS) as usize;
        let count = (end - start) as usize;
        out.extend((skipped..skipped + count).map(|i| key_at(&bytes, i)));
        Ok(())
    }
}

impl Entry for Dated {
    const IS_DATED: bool = true;

    #[inline(always)]
    fn key(self) -> u128 {
        self.key
    }

    #[inline(always)]
    fn time(self) -> Option<Timestamp> {
        Some(self.first_seen)
    }

    fn read(run: &Run, start: u64, end: u64, out: &mut Vec<Dated>) -> Result<(), SetError> {
        let (mut keys, mut times) = (Vec::new(), Vec::new());
        u128::read(run, start, end, &mut keys)?;
        if let Some(file) = run.times() {
            file.read((start..end).map(|place| (place, ())), |(), time| times.push(time))?;
        }
        out.extend(keys.into_iter().zip(times).map(|(key, first_seen)| Dated { key, first_seen }));
        Ok(())
    }
}

/// Sorts `entries` with `sort`, and keeps one of each key.
pub(super) fn sort_by<E: Entry>(entries: &mut Vec<E>, sort: fn(&mut [E])) {
    sort(entries);
    entries.dedup_by_key(|entry| entry.key());
}
