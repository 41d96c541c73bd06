//! The exclusive writer of a set, and how a set is replaced.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::Meaning;
use super::combine::{But, Sorted, combine};
use super::directory::{self, remove};
use super::entry::{Dated, Entry};
use super::error::{At, Fault, SetError};
use super::loader::Loader;
use super::manifest::{Listed, MAX_RUNS, Manifest};
use super::run::Run;
use super::run_writer::RunWriter;
use super::store::{KeySet, expect_distinct};
use crate::time::Timestamp;
use uriscan_files::{self as files, File};

/// Write access to a set; there is at most one writer.
#[derive(Debug)]
pub struct SetWriter {
    set: KeySet,
    /// Holds the lock.
    _lock: File,
    /// Whether the directory holds no set yet.
    is_new: bool,
    /// Locked while names in the directory change.
    gate: Option<&'static Mutex<()>>,
}

impl SetWriter {
    /// Creates an empty set in `directory`, which must not exist, or be empty. The set exists from
    /// the first addition or [`SetWriter::commit`] on. A directory in which a killed process had
    /// started to create a set counts as empty.
    ///
    /// # Errors
    /// [`Fault::Exists`] if there is a set or a file already, [`Fault::NotEmpty`] if the directory
    /// holds other files; if the set cannot be created.
    pub fn create(directory: &Path, meaning: Meaning) -> Result<SetWriter, SetError> {
        SetWriter::begin(directory, meaning, false)
    }

    /// Like [`SetWriter::create`], for a set that records when each key was first seen, in 4 more
    /// bytes per key. Added keys get the time of their [`Loader`]; of several times for a key, also
    /// when sets are merged, the earliest is kept.
    ///
    /// ```
    /// use uriscan::key::{PublicHash, PublicHasher};
    /// use uriscan::set::{Meaning, SetWriter, Timestamp};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let directory = tempfile::tempdir()?;
    /// let hasher = PublicHasher::new(PublicHash::Blake3);
    /// let path = directory.path().join("seen.set");
    /// let mut set = SetWriter::create_dated(&path, Meaning::new(PublicHash::Blake3, ""))?;
    /// let (a, b) = (hasher.key(b"http://a/"), hasher.key(b"http://b/"));
    /// for (day, keys) in [("2026-03-01", vec![a]), ("2026-03-02", vec![a, b])] {
    ///     let mut loader = set.loader_at(1 << 20, day.parse()?)?;
    ///     loader.push(keys)?;
    ///     set.add(loader)?;
    /// }
    /// let mut found = Vec::new();
    /// set.set().find_dated(&mut [(b, 0), (a, 1)], |i, time| found.push((i, time)))?;
    /// found.sort();
    /// assert_eq!(found, [(0, "2026-03-02".parse()?), (1, "2026-03-01".parse()?)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`SetWriter::create`].
    pub fn create_dated(directory: &Path, meaning: Meaning) -> Result<SetWriter, SetError> {
        SetWriter::begin(directory, meaning, true)
    }

    fn begin(directory: &Path, meaning: Meaning, is_dated: bool) -> Result<SetWriter, SetError> {
        if !meaning.fits() {
            let what = "the rules are too long for a set: their text has more than 4 MiB";
            return Err(SetError::new(directory, Fault::Io(io::Error::other(what))));
        }
        let lock = directory::claim(directory)?;
        let set = KeySet { directory: directory.to_owned(), meaning, is_dated, runs: Vec::new() };
        // From here on, what is there is removed if anything fails.
        let writer = SetWriter { set, _lock: lock, is_new: true, gate: None };
        directory::begin(directory)?;
        directory::sweep(directory, &[])?;
        Ok(writer)
    }

    /// Opens the set in `directory` for writing, and removes the temporary files of killed writers.
    ///
    /// # Errors
    /// As for [`KeySet::open`]; [`Fault::Busy`] if there is another writer.
    pub fn open(directory: &Path) -> Result<SetWriter, SetError> {
        // Reports a missing set rather than a lock that cannot be created.
        KeySet::open(directory)?;
        let lock = directory::lock(directory)?;
        let set = KeySet::open(directory)?;
        let kept: Vec<&Path> = set.runs.iter().flat_map(Run::paths).collect();
        directory::sweep(directory, &kept)?;
        Ok(SetWriter { set, _lock: lock, is_new: false, gate: None })
    }

    /// The set, with all additions.
    pub fn set(&self) -> &KeySet {
        &self.set
    }

    /// The set, for [`KeySet::hold`].
    pub fn set_mut(&mut self) -> &mut KeySet {
        &mut self.set
    }

    /// Locks `gate` whenever the set changes on disk. A signal handler that holds it can end the process between two
    /// such changes, after [`abandon`](super::abandon).
    pub fn change_under(&mut self, gate: &'static Mutex<()>) {
        self.gate = Some(gate);
    }

    fn gate(&self) -> Option<MutexGuard<'static, ()>> {
        self.gate.map(|gate| gate.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What takes keys to be added, and holds `bytes` of them in memory, about; more are sorted in the directory of
    /// the set. If the set keeps times, the keys are seen now.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn loader(&self, bytes: usize) -> Result<Loader, SetError> {
        self.loader_at(bytes, Timestamp::of(SystemTime::now()))
    }

    /// Like [`SetWriter::loader`], for keys first seen at `time`, which a set without times
    /// ignores.
    ///
    /// # Errors
    /// As for [`SetWriter::loader`].
    pub fn loader_at(&self, bytes: usize, time: Timestamp) -> Result<Loader, SetError> {
        Loader::new(&self.set.directory, bytes, self.set.is_dated.then_some(time))
    }

    /// Adds the keys; returns the number of new ones. On return they are on disk. A key that the set
    /// has with a later time gets the earlier one, for which the whole set is written again.
    ///
    /// # Errors
    /// If the set cannot be read, is damaged, or cannot be written; it is then unchanged.
    pub fn add(&mut self, keys: Loader) -> Result<u64, SetError> {
        let latest = self.set.first_seen_range().map(|(_, latest)| latest);
        if keys.earliest().zip(latest).is_some_and(|(earliest, latest)| earliest < latest) {
            return self.add_earlier(keys);
        }
        let mut writer = RunWriter::new(&self.set.directory, self.set.is_dated)?;
        let existing: Vec<&Run> = self.set.runs.iter().collect();
        let added = keys.write(&existing, &mut writer)?;
        if added == 0 {
            if self.is_new {
                self.commit()?;
            }
            return Ok(0);
        }
        if self.set.runs.len() < MAX_RUNS {
            self.replace(0, Some(writer))?;
        } else {
            let delta = writer.finish(false)?;
            self.fold(&delta)?;
        }
        Ok(added)
    }

    /// [`SetWriter::add`] for keys of which the set may have some with a later time.
    fn add_earlier(&mut self, keys: Loader) -> Result<u64, SetError> {
        let mut writer = RunWriter::new(&self.set.directory, self.set.is_dated)?;
        if keys.write(&[], &mut writer)? == 0 {
            return Ok(0);
        }
        let delta = writer.finish(false)?;
        let before = self.set.len();
        let runs: Vec<&Run> = self.set.runs.iter().chain([&delta]).collect();
        let (writer, written) = self.combined(&runs, But::Not(&[]))?;
        self.replace(self.set.runs.len(), Some(writer))?;
        Ok(written.saturating_sub(before))
    }

    /// Merges all runs into one, so that sets with the same keys and meaning have identical files.
    ///
    /// # Errors
    /// As for [`SetWriter::add`].
    pub fn compact(&mut self) -> Result<(), SetError> {
        if self.set.runs.len() < 2 {
            return if self.is_new { self.commit() } else { Ok(()) };
        }
        let runs: Vec<&Run> = self.set.runs.iter().collect();
        let (writer, written) = self.combined(&runs, But::Not(&[]))?;
        expect_distinct(&self.set.runs, written)?;
        self.replace(self.set.runs.len(), Some(writer))
    }

    /// Fills the new set with the union of `sets`.
    ///
    /// # Errors
    /// As for [`SetWriter::add`]; [`Fault::Differs`] for a set with another meaning.
    pub fn fill_with_all(&mut self, sets: &[KeySet]) -> Result<u64, SetError> {
        let runs: Vec<&Run> = sets.iter().flat_map(|set| &set.runs).collect();
        self.fill(sets, &runs, But::Not(&[]))
    }

    /// Fills the new set with the keys of the first of `sets` that no other one holds.
    ///
    /// # Errors
    /// As for [`SetWriter::fill_with_all`].
    pub fn fill_with_difference(&mut self, sets: &[KeySet]) -> Result<u64, SetError> {
        let (first, others) = sets.split_at(1.min(sets.len()));
        let runs: Vec<&Run> = first.iter().flat_map(|set| &set.runs).collect();
        let others: Vec<&Run> = others.iter().flat_map(|set| &set.runs).collect();
        self.fill(sets, &runs, But::Not(&others))
    }

    /// Fills the new set with the intersection of `sets`.
    ///
    /// # Errors
    /// As for [`SetWriter::fill_with_all`].
    pub fn fill_with_common(&mut self, sets: &[KeySet]) -> Result<u64, SetError> {
        // The smallest set is read and looked up in the others; with times, all are read, since any
        // may have the earliest time.
        let shortest = (0..sets.len()).min_by_key(|&i| sets[i].len()).unwrap_or_default();
        let is_gone_through = |i: &usize| *i == shortest || self.set.is_dated;
        let is_asked = |i: &usize| *i != shortest || self.set.is_dated;
        let all = 0..sets.len();
        let runs: Vec<&Run> =
            all.clone().filter(is_gone_through).flat_map(|i| &sets[i].runs).collect();
        let others: Vec<&[Run]> = all.filter(is_asked).map(|i| &sets[i].runs[..]).collect();
        self.fill(sets, &runs, But::In(&others))
    }

    fn fill(&mut self, sets: &[KeySet], runs: &[&Run], but: But<'_>) -> Result<u64, SetError> {
        for set in sets {
            set.expect(&self.set.meaning)?;
            set.expect_dated(self.set.is_dated)?;
            self.set.meaning.prefer(set.meaning());
        }
        let (writer, written) = self.combined(runs, but)?;
        match written {
            0 => self.commit()?,
            _ => self.replace(self.set.runs.len(), Some(writer))?,
        }
        Ok(written)
    }

    /// Writes the restricted union of `runs`; returns the run and its number of keys.
    pub(super) fn combined(
        &self,
        runs: &[&Run],
        but: But<'_>,
    ) -> Result<(RunWriter, u64), SetError> {
        fn write<E: Entry>(
            runs: &[&Run],
            but: But<'_>,
            writer: &mut RunWriter,
        ) -> Result<u64, SetError> {
            let sorted: Vec<Sorted<'_, E>> = runs.iter().copied().map(Sorted::Run).collect();
            combine(&sorted, but, |entries| writer.push(entries))
        }
        let mut writer = RunWriter::new(&self.set.directory, self.set.is_dated)?;
        let written = match self.set.is_dated {
            true => write::<Dated>(runs, but, &mut writer)?,
            false => write::<u128>(runs, but, &mut writer)?,
        };
        Ok((writer, written))
    }

    /// Merges `delta` and the small runs into one.
    fn fold(&mut self, delta: &Run) -> Result<(), SetError> {
        self.set.runs.sort_by_key(Run::len);
        // Each run also takes those below it that are as large together, so that every key is
        // copied only a few times.
        let mut sum = delta.len();
        let mut count = 0;
        for run in &self.set.runs {
            if count > 0 && run.len() > 2 * sum {
                break;
            }
            sum += run.len();
            count += 1;
        }
        let small: Vec<&Run> = self.set.runs[..count].iter().chain([delta]).collect();
        let (writer, _) = self.combined(&small, But::Not(&[]))?;
        self.replace(count, Some(writer))
    }

    /// Puts the run of `writer`, if there is one, in place of the first `count` runs of the set.
    pub(super) fn replace(
        &mut self,
        count: usize,
        writer: Option<RunWriter>,
    ) -> Result<(), SetError> {
        let _held = self.gate();
        let replaced = self.replace_held(count, writer);
        self.settle(replaced)
    }

    fn replace_held(&mut self, count: usize, writer: Option<RunWriter>) -> Result<(), SetError> {
        let run = writer.map(|writer| writer.finish(true)).transpose()?;
        let old: Vec<Run> = self.set.runs.splice(..count, run).collect();
        self.commit_held()?;
        let kept: Vec<&Path> = self.set.runs.iter().flat_map(Run::paths).collect();
        old.iter().flat_map(Run::paths).filter(|path| !kept.contains(path)).try_for_each(remove)
    }

    /// Changes the set by `change`, and writes it to the directory.
    pub(super) fn change(
        &mut self,
        change: impl FnOnce(&mut KeySet) -> Result<(), SetError>,
    ) -> Result<(), SetError> {
        let _held = self.gate();
        let changed = change(&mut self.set).and_then(|()| self.commit_held());
        self.settle(changed)
    }

    /// Writes the current state to the directory.
    ///
    /// # Errors
    /// If it cannot be written; the set on disk is then unchanged.
    pub fn commit(&mut self) -> Result<(), SetError> {
        self.change(|_| Ok(()))
    }

    /// After a change that failed: the set is what is on the disk, and files that it does not name are removed. A new
    /// set is removed as a whole when this is dropped.
    fn settle<T>(&mut self, done: Result<T, SetError>) -> Result<T, SetError> {
        if done.is_err() && !self.is_new {
            // Where that fails, too, the next writer does it.
            if let Ok(set) = KeySet::open(&self.set.directory) {
                let kept: Vec<&Path> = set.runs.iter().flat_map(Run::paths).collect();
                let _ = directory::sweep(&self.set.directory, &kept);
                self.set = set;
            }
        }
        done
    }

    /// [`SetWriter::commit`] by one who holds the gate.
    fn commit_held(&mut self) -> Result<(), SetError> {
        // Runs of the same keys come in the same order.
        self.set.runs.sort_by_key(|run| (std::cmp::Reverse(run.len()), run.digest()));
        let name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let listed = |run: &Run| Listed {
            keys: name(run.path()),
            len: run.len(),
            times: run.times().map(|times| name(times.path())),
        };
        let KeySet { meaning, directory, is_dated, runs } = &self.set;
        let runs = runs.iter().map(listed).collect();
        Manifest { is_dated: *is_dated, runs, meaning: meaning.clone() }.replace(directory)?;
        if std::mem::replace(&mut self.is_new, false) {
            let parent = self.set.directory.parent().filter(|it| !it.as_os_str().is_empty());
            let parent = parent.unwrap_or(Path::new("."));
            files::sync_directory(parent).at(parent)?;
        }
        Ok(())
    }
}

impl Drop for SetWriter {
    fn drop(&mut self) {
        if self.is_new {
            // The creation failed. If the files cannot be removed, the next process that creates a
            // set here will do so.
            let _ = directory::clear(&self.set.directory);
        }
    }
}
