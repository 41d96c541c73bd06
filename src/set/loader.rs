//! Keys in any order on their way into a set: sorted in memory, or in runs aside when there are many.

use std::path::Path;

use rayon::prelude::*;
use tempfile::TempDir;

use super::combine::{But, Sorted, combine};
use super::error::{At, SetError};
use super::run::{Run, RunWriter};
use crate::key::Key;

/// What the names of directories for sorting begin with.
pub(super) const PREFIX: &str = "sort-";

/// Gathers keys, in bounded memory.
#[derive(Debug)]
pub struct Loader {
    keys: Vec<u128>,
    /// Keys that are held in memory at the most.
    limit: usize,
    /// Runs that were written aside, and where.
    aside: Vec<Run>,
    directory: TempDir,
}

impl Loader {
    /// A loader that holds `bytes` in memory, about, and sorts what is more in `directory`.
    pub(super) fn new(directory: &Path, bytes: usize) -> Result<Loader, SetError> {
        let mut builder = tempfile::Builder::new();
        let directory =
            builder.prefix(PREFIX).suffix(".partial").tempdir_in(directory).at(directory)?;
        let limit = (bytes / size_of::<u128>()).max(1 << 10);
        Ok(Loader { keys: Vec::new(), limit, aside: Vec::new(), directory })
    }

    /// Adds keys, in any order, and as often as they come.
    ///
    /// # Errors
    /// When keys have to be written aside and cannot.
    pub fn push(&mut self, keys: impl IntoIterator<Item = Key>) -> Result<(), SetError> {
        self.push_by(keys, <[u128]>::par_sort_unstable)
    }

    /// The same on the calling thread alone, for a loader behind a lock: a thread of a pool that waits for others takes up
    /// other work meanwhile, and that might ask for the lock again.
    pub(crate) fn push_alone(
        &mut self,
        keys: impl IntoIterator<Item = Key>,
    ) -> Result<(), SetError> {
        self.push_by(keys, <[u128]>::sort_unstable)
    }

    fn push_by(
        &mut self,
        keys: impl IntoIterator<Item = Key>,
        sort: fn(&mut [u128]),
    ) -> Result<(), SetError> {
        for key in keys {
            if self.keys.len() >= self.limit {
                self.make_room(sort)?;
            }
            self.keys.push(key.0);
        }
        Ok(())
    }

    /// Sorts what is held, and writes it aside if that does not give much room.
    #[cold]
    fn make_room(&mut self, sort: fn(&mut [u128])) -> Result<(), SetError> {
        sort(&mut self.keys);
        self.keys.dedup();
        if self.keys.len() > self.limit / 2 {
            let mut writer = RunWriter::new(self.directory.path())?;
            writer.push(&self.keys)?;
            self.aside.push(writer.finish_for_now()?);
            self.keys.clear();
        }
        Ok(())
    }

    /// Writes all keys that none of `but` holds to `writer`; gives their number.
    pub(super) fn write(mut self, but: &[&Run], writer: &mut RunWriter) -> Result<u64, SetError> {
        self.keys.par_sort_unstable();
        self.keys.dedup();
        let aside = self.aside.iter().map(Sorted::Run);
        let sorted: Vec<Sorted<'_>> = aside.chain([Sorted::Keys(&self.keys)]).collect();
        combine(&sorted, But::Not(but), |keys| writer.push(keys))
    }
}
