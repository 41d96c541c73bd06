//! Collects keys, in any order, for a set: sorted in memory, or in spilled runs if there are many.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::combine::{But, Sorted, combine};
use super::entry::{Dated, Entry, sort_by};
use super::error::SetError;
use super::run::Run;
use super::run_writer::RunWriter;
use crate::key::Key;
use crate::time::Timestamp;

/// Collects keys, in bounded memory.
#[derive(Debug)]
pub struct Loader(Gathered);

/// The sorter for a set without times, or for one with times.
#[derive(Debug)]
enum Gathered {
    Keys(Sorter<u128>),
    /// With the time of keys that come without one, and the earliest of all.
    Dated(Sorter<Dated>, Timestamp, Timestamp),
}

impl Loader {
    /// Creates a loader that holds about `bytes` in memory, and spills sorted runs to `directory`.
    /// Keys are first seen at `time`, if the set records it.
    pub(super) fn new(
        directory: &Path,
        bytes: usize,
        time: Option<Timestamp>,
    ) -> Result<Loader, SetError> {
        Ok(Loader(match time {
            None => Gathered::Keys(Sorter::new(directory, bytes)?),
            Some(time) => Gathered::Dated(Sorter::new(directory, bytes)?, time, time),
        }))
    }

    /// Adds keys, in any order; duplicates are allowed.
    ///
    /// # Errors
    /// If keys have to be spilled and cannot be written.
    pub fn push(&mut self, keys: impl IntoIterator<Item = Key>) -> Result<(), SetError> {
        self.push_by(keys, <[u128]>::par_sort_unstable, <[Dated]>::par_sort_unstable)
    }

    /// Like [`Loader::push`], but on the calling thread alone, for a loader behind a lock: a thread
    /// of a pool that waits for others runs other tasks meanwhile, and those might acquire the lock
    /// again.
    pub fn push_alone(&mut self, keys: impl IntoIterator<Item = Key>) -> Result<(), SetError> {
        self.push_by(keys, <[u128]>::sort_unstable, <[Dated]>::sort_unstable)
    }

    fn push_by(
        &mut self,
        keys: impl IntoIterator<Item = Key>,
        sort_keys: fn(&mut [u128]),
        sort_dated: fn(&mut [Dated]),
    ) -> Result<(), SetError> {
        let keys = keys.into_iter().map(|key| key.0);
        match &mut self.0 {
            Gathered::Keys(sorter) => sorter.push(keys, sort_keys),
            Gathered::Dated(sorter, time, _) => {
                let first_seen = *time;
                sorter.push(keys.map(|key| Dated { key, first_seen }), sort_dated)
            }
        }
    }

    /// Adds keys with the times at which they were first seen; of several times for a key the
    /// earliest is kept. A set without times ignores them.
    ///
    /// # Errors
    /// As for [`Loader::push`].
    pub fn push_dated(
        &mut self,
        keys: impl IntoIterator<Item = (Key, Timestamp)>,
    ) -> Result<(), SetError> {
        let keys = keys.into_iter();
        match &mut self.0 {
            Gathered::Keys(sorter) => {
                sorter.push(keys.map(|(key, _)| key.0), <[u128]>::par_sort_unstable)
            }
            Gathered::Dated(sorter, _, earliest) => {
                let dated = keys.map(|(key, first_seen)| {
                    *earliest = first_seen.min(*earliest);
                    Dated { key: key.0, first_seen }
                });
                sorter.push(dated, <[Dated]>::par_sort_unstable)
            }
        }
    }

    /// A time that none of the keys was first seen before, if times are recorded.
    pub(super) fn earliest(&self) -> Option<Timestamp> {
        match self.0 {
            Gathered::Keys(_) => None,
            Gathered::Dated(_, _, earliest) => Some(earliest),
        }
    }

    /// Writes all keys that no run of `but` holds to `writer`; returns their number.
    pub(super) fn write(self, but: &[&Run], writer: &mut RunWriter) -> Result<u64, SetError> {
        match self.0 {
            Gathered::Keys(sorter) => sorter.write(but, writer),
            Gathered::Dated(sorter, ..) => sorter.write(but, writer),
        }
    }
}

/// Sorts entries in bounded memory.
#[derive(Debug)]
struct Sorter<E> {
    entries: Vec<E>,
    /// Maximum number of entries held in memory.
    limit: usize,
    /// Runs on disk, in files without names in the directory.
    spilled: Vec<Run>,
    directory: PathBuf,
}

impl<E: Entry> Sorter<E> {
    fn new(directory: &Path, bytes: usize) -> Result<Sorter<E>, SetError> {
        // Fails now, not after the input is read, where nothing can be written.
        RunWriter::new(directory, E::IS_DATED)?;
        let limit = (bytes / size_of::<E>()).max(1 << 10);
        let directory = directory.to_owned();
        Ok(Sorter { entries: Vec::new(), limit, spilled: Vec::new(), directory })
    }

    fn push(
        &mut self,
        entries: impl Iterator<Item = E>,
        sort: fn(&mut [E]),
    ) -> Result<(), SetError> {
        for entry in entries {
            if self.entries.len() >= self.limit {
                self.make_room(sort)?;
            }
            self.entries.push(entry);
        }
        Ok(())
    }

    /// Sorts the held entries, and spills them unless that frees enough memory.
    #[cold]
    fn make_room(&mut self, sort: fn(&mut [E])) -> Result<(), SetError> {
        sort_by(&mut self.entries, sort);
        if self.entries.len() > self.limit / 2 {
            let mut writer = RunWriter::new(&self.directory, E::IS_DATED)?;
            writer.push(&self.entries)?;
            self.spilled.push(writer.finish(false)?);
            self.entries.clear();
        }
        Ok(())
    }

    /// [`Loader::write`].
    fn write(mut self, but: &[&Run], writer: &mut RunWriter) -> Result<u64, SetError> {
        sort_by(&mut self.entries, <[E]>::par_sort_unstable);
        let spilled = self.spilled.iter().map(Sorted::Run);
        let sorted: Vec<_> = spilled.chain([Sorted::Entries(&self.entries)]).collect();
        combine(&sorted, But::Not(but), |entries| writer.push(entries))
    }
}
