//! Removes keys from a set, and begins to record times in one that has none.
//!
//! Runs that keep all their keys stay as they are; the others are replaced by one run of the keys that stay.

use super::combine::{But, Sorted, combine};
use super::entry::Dated;
use super::error::SetError;
use super::loader::Loader;
use super::run::Run;
use super::run_writer::RunWriter;
use super::store::expect_distinct;
use super::times::Times;
use super::writer::SetWriter;
use crate::time::Timestamp;

impl SetWriter {
    /// Removes the keys; returns the number of those that were in the set, and of all that were given. On return the change
    /// is on disk.
    ///
    /// Takes time proportional to the keys, and to the runs that held one.
    ///
    /// ```
    /// use uriscan::key::{PublicHash, PublicHasher};
    /// use uriscan::set::{Meaning, SetWriter};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let directory = tempfile::tempdir()?;
    /// let hasher = PublicHasher::new(PublicHash::Blake3);
    /// let (a, b, c) = (hasher.key(b"http://a/"), hasher.key(b"http://b/"), hasher.key(b"http://c/"));
    /// let mut set = SetWriter::create(&directory.path().join("seen.set"), Meaning::new(PublicHash::Blake3, ""))?;
    /// let mut keys = set.loader(1 << 20)?;
    /// keys.push([a, b])?;
    /// set.add(keys)?;
    /// let mut keys = set.loader(1 << 20)?;
    /// keys.push([b, c])?;
    /// assert_eq!(set.remove(keys)?, (1, 2));
    /// assert_eq!(set.set().contains(&[a, b])?, [true, false]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the set cannot be read, is damaged, or cannot be written; it is then unchanged.
    pub fn remove(&mut self, keys: Loader) -> Result<(u64, u64), SetError> {
        let mut writer = RunWriter::new(self.set().directory(), self.set().is_dated())?;
        let given = keys.write(&[], &mut writer)?;
        let gone = writer.finish(false)?;
        let (mut removed, mut affected) = (0, Vec::new());
        for run in &self.set().runs {
            let held = [std::slice::from_ref(run)];
            let sorted = [Sorted::Run(&gone)];
            let count = combine(&sorted, But::In(&held), |_: &[u128]| Ok::<_, SetError>(()))?;
            if count > 0 {
                removed += count;
                affected.push(run.digest());
            }
        }
        let count = self.bring_forward(|run| affected.contains(&run.digest()));
        if count == 0 {
            return Ok((0, given));
        }
        let runs: Vec<&Run> = self.set().runs[..count].iter().collect();
        let (writer, written) = self.combined(&runs, But::Not(&[&gone]))?;
        expect_distinct(&self.set().runs[..count], written + removed)?;
        self.replace(count, (written > 0).then_some(writer))?;
        Ok((removed, given))
    }

    /// Removes the keys that were first seen before `time`; returns their number. On return the change is on disk. A set
    /// without times has none of them.
    ///
    /// # Errors
    /// As for [`SetWriter::remove`].
    pub fn prune(&mut self, time: Timestamp) -> Result<u64, SetError> {
        let is_older = |run: &Run| {
            run.times().and_then(Times::range).is_some_and(|(earliest, _)| earliest < time)
        };
        let count = self.bring_forward(is_older);
        if count == 0 {
            return Ok(0);
        }
        let runs = &self.set().runs[..count];
        let before: u64 = runs.iter().map(Run::len).sum();
        let mut writer = RunWriter::new(self.set().directory(), true)?;
        let sorted: Vec<Sorted<'_, Dated>> = runs.iter().map(Sorted::Run).collect();
        let (mut kept, mut stays): (u64, Vec<Dated>) = (0, Vec::new());
        let found = combine::<_, SetError>(&sorted, But::Not(&[]), |entries: &[Dated]| {
            stays.clear();
            stays.extend(entries.iter().filter(|entry| entry.first_seen >= time));
            kept += stays.len() as u64;
            writer.push(&stays)
        })?;
        expect_distinct(runs, found)?;
        self.replace(count, (kept > 0).then_some(writer))?;
        Ok(before - kept)
    }

    /// Lets a set without times record them from now on; its keys were first seen at `time`, as far as the set knows. On
    /// return the change is on disk. The keys themselves are not written again.
    ///
    /// ```
    /// use uriscan::key::{PublicHash, PublicHasher};
    /// use uriscan::set::{Meaning, SetWriter, Timestamp};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let directory = tempfile::tempdir()?;
    /// let hasher = PublicHasher::new(PublicHash::Blake3);
    /// let mut set = SetWriter::create(&directory.path().join("seen.set"), Meaning::new(PublicHash::Blake3, ""))?;
    /// for (time, key) in [(7, b"http://a/"), (9, b"http://b/")] {
    ///     let mut keys = set.loader_at(1 << 20, Timestamp(time))?;
    ///     keys.push([hasher.key(key)])?;
    ///     set.add(keys)?;
    ///     if !set.set().is_dated() {
    ///         set.date(Timestamp(8))?;
    ///     }
    /// }
    /// assert_eq!(set.set().first_seen_range(), Some((Timestamp(8), Timestamp(9))));
    /// assert_eq!(set.prune(Timestamp(9))?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Fault::Differs`](super::Fault::Differs) if it records times already; if it cannot be written, and then it is
    /// unchanged.
    pub fn date(&mut self, time: Timestamp) -> Result<(), SetError> {
        self.set().expect_dated(false)?;
        self.change(|set| {
            let directory = set.directory.clone();
            set.runs.iter_mut().try_for_each(|run| run.date(&directory, time))?;
            set.is_dated = true;
            Ok(())
        })
    }

    /// Moves the runs that `is_chosen` to the front; returns their number.
    fn bring_forward(&mut self, is_chosen: impl Fn(&Run) -> bool) -> usize {
        let runs = &mut self.set_mut().runs;
        runs.sort_by_key(|run| !is_chosen(run));
        runs.iter().take_while(|run| is_chosen(run)).count()
    }
}
