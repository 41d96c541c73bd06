//! Writes runs.

use std::path::Path;

use super::blocks::BlockWriter;
use super::entry::Entry;
use super::error::SetError;
use super::run::{BLOCK_KEYS, KIND, PARTITIONS, Run, bounds_of, partition_of};
use super::times::TimesWriter;

/// A run being written, to files that are removed unless it is finished.
#[derive(Debug)]
pub(super) struct RunWriter {
    keys: BlockWriter,
    times: Option<TimesWriter>,
    counts: Vec<u64>,
    last: Option<u128>,
}

impl RunWriter {
    /// Creates a run in `directory`, with the times of its keys if `is_dated`.
    pub(super) fn new(directory: &Path, is_dated: bool) -> Result<RunWriter, SetError> {
        let times = is_dated.then(|| TimesWriter::new(directory)).transpose()?;
        let keys = BlockWriter::new(directory, &KIND)?;
        Ok(RunWriter { keys, times, counts: vec![0; PARTITIONS], last: None })
    }

    /// Adds entries, whose keys rise and are above the earlier ones; they have times if the run
    /// has.
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

    /// Finishes the run. If it is to be durable, it is on disk and has its names when this returns, but they may still be
    /// lost until the directory is on disk too; otherwise it goes with the process, and its files have no names.
    pub(super) fn finish(self, is_durable: bool) -> Result<Run, SetError> {
        let keys = self.keys.finish(&bounds_of(&self.counts), is_durable)?;
        let times = self.times.map(|times| times.finish(&keys, is_durable)).transpose()?;
        Ok(Run::of(keys, times))
    }
}
