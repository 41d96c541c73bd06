//! Read access to sets.

use std::path::{Path, PathBuf};

use super::Meaning;
use super::combine::{But, Sorted, combine};
use super::entry::Dated;
use super::error::{Difference, FIRST_SEEN, Fault, SetError};
use super::file::is_absence;
use super::manifest::{Listed, Manifest};
use super::run::Run;
use super::times::Times;
use crate::key::Key;
use crate::time::Timestamp;

/// How often a reader retries if runs disappear because a writer has merged them.
const TRIES: usize = 100;

/// A set of keys on disk, as of the time it was opened. Writers do not affect it.
#[derive(Debug)]
pub struct KeySet {
    pub(super) directory: PathBuf,
    pub(super) meaning: Meaning,
    pub(super) is_dated: bool,
    /// Runs without common keys.
    pub(super) runs: Vec<Run>,
}

impl KeySet {
    /// Opens the set in `directory`.
    ///
    /// # Errors
    /// If there is none, it cannot be read, or it is damaged outside the keys. Keys are checked
    /// when they are read.
    pub fn open(directory: &Path) -> Result<KeySet, SetError> {
        let mut tries = 0;
        loop {
            let Manifest { is_dated, runs, meaning } = Manifest::read(directory)?;
            let opened: Result<Vec<Run>, SetError> =
                runs.iter().map(|listed| open_run(directory, listed)).collect();
            tries += 1;
            match opened {
                Ok(runs) => {
                    let directory = directory.to_owned();
                    return Ok(KeySet { directory, meaning, is_dated, runs });
                }
                Err(SetError { fault: Fault::Io(error), path }) if is_absence(&error) => {
                    // If there was no writer, a run is missing.
                    let is_same = Manifest::read(directory)?.runs == runs;
                    if is_same || tries == TRIES {
                        return Err(missing(&path));
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The directory of the set.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The meaning of its keys.
    pub fn meaning(&self) -> &Meaning {
        &self.meaning
    }

    /// Checks that its keys have the meaning `requested`.
    ///
    /// # Errors
    /// [`Fault::Differs`] if they have another one.
    pub fn expect(&self, requested: &Meaning) -> Result<(), SetError> {
        match self.meaning.difference(requested) {
            None => Ok(()),
            Some(difference) => Err(SetError::new(&self.directory, Fault::Differs(difference))),
        }
    }

    /// Whether it records when its keys were first seen ([`super::SetWriter::create_dated`]).
    pub fn is_dated(&self) -> bool {
        self.is_dated
    }

    /// Checks whether it records when keys were first seen.
    ///
    /// # Errors
    /// [`Fault::Differs`] if it is not as `is_dated` requires.
    pub fn expect_dated(&self, is_dated: bool) -> Result<(), SetError> {
        let fact =
            |is_reported: bool| is_reported.then(|| FIRST_SEEN.to_owned()).into_iter().collect();
        let difference = Difference { set: fact(self.is_dated), requested: fact(is_dated) };
        match self.is_dated == is_dated {
            true => Ok(()),
            false => Err(SetError::new(&self.directory, Fault::Differs(difference))),
        }
    }

    /// The earliest and the latest time at which a key was first seen; `None` if there are no keys,
    /// or no times are recorded.
    pub fn first_seen_range(&self) -> Option<(Timestamp, Timestamp)> {
        let ranges = self.runs.iter().filter_map(|run| run.times().and_then(Times::range));
        ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Number of keys.
    pub fn len(&self) -> u64 {
        self.runs.iter().map(Run::len).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of keys of each run.
    pub fn run_lengths(&self) -> impl ExactSizeIterator<Item = u64> {
        self.runs.iter().map(Run::len)
    }

    /// Size on disk in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.runs.iter().map(Run::file_bytes).sum()
    }

    /// Allows up to `bytes` of memory for tags of the keys, once enough keys are looked up that loading them pays, and for the keys
    /// themselves, if there is room and many are found. Look-ups of single keys are then several times as fast.
    pub fn hold(&mut self, bytes: u64) {
        let left = self.runs.iter_mut().fold(bytes, |left, run| run.hold_tags(left));
        self.runs.iter_mut().fold(left, |left, run| run.hold_keys(left));
    }

    /// Looks up a few of `keys`, unless there were look-ups before, so that [`KeySet::expect_look_ups`] knows whether many are
    /// there.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn sample(&self, keys: impl Iterator<Item = Key>) -> Result<(), SetError> {
        const FEW: usize = 64;
        if self.runs.iter().all(Run::was_tried) {
            return Ok(());
        }
        self.find(&mut keys.take(FEW).zip(0..).collect::<Vec<_>>(), |_| {})
    }

    /// Prepares for `count` look-ups by [`KeySet::find`]: loads what may be held in memory ([`KeySet::hold`]) where that
    /// pays, and says whether these look-ups are as fast in any order. Runs on the current rayon pool.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn expect_look_ups(&self, count: usize) -> Result<bool, SetError> {
        for run in &self.runs {
            run.expect(count as u64)?;
        }
        Ok(self.runs.iter().all(Run::is_held))
    }

    /// Calls `take` with all keys, in rising order, some thousand at a time; runs on the current
    /// rayon pool.
    ///
    /// # Errors
    /// If it cannot be read or is damaged; the errors of `take`.
    pub fn each_key<E: From<SetError> + Send>(
        &self,
        mut take: impl FnMut(&mut dyn Iterator<Item = Key>) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let sorted: Vec<Sorted<'_, u128>> = self.runs.iter().map(Sorted::Run).collect();
        let take = |keys: &[u128]| take(&mut keys.iter().map(|&key| Key(key)));
        let found = combine(&sorted, But::Not(&[]), take)?;
        Ok(expect_distinct(&self.runs, found)?)
    }

    /// Like [`KeySet::each_key`], with the time at which each key was first seen; never calls
    /// `take` for a set without times.
    ///
    /// # Errors
    /// As for [`KeySet::each_key`].
    pub fn each_dated<E: From<SetError> + Send>(
        &self,
        mut take: impl FnMut(&mut dyn Iterator<Item = (Key, Timestamp)>) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        if !self.is_dated {
            return Ok(());
        }
        let sorted: Vec<Sorted<'_, Dated>> = self.runs.iter().map(Sorted::Run).collect();
        let take = |entries: &[Dated]| {
            take(&mut entries.iter().map(|entry| (Key(entry.key), entry.first_seen)))
        };
        let found = combine(&sorted, But::Not(&[]), take)?;
        Ok(expect_distinct(&self.runs, found)?)
    }

    /// Reads everything and returns all damage.
    ///
    /// # Errors
    /// If something cannot be read.
    pub fn verify(&self) -> Result<Vec<SetError>, SetError> {
        let mut damages = Vec::new();
        for run in &self.runs {
            damages.extend(run.verify()?);
        }
        if damages.is_empty() && self.runs.len() > 1 {
            match self.each_key::<SetError>(|_| Ok(())) {
                Err(damage @ SetError { fault: Fault::Damaged { .. }, .. }) => damages.push(damage),
                seen => seen?,
            }
        }
        Ok(damages)
    }
}

impl Meaning {
    /// Reads that of the set in `directory`, and no more of it.
    ///
    /// ```
    /// use uriscan::key::PublicHash;
    /// use uriscan::set::{Meaning, SetWriter};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("seen.set");
    /// let meaning = Meaning::new(PublicHash::Blake3, "rule www 1\n").with_rules("rules = [\"www\"]");
    /// SetWriter::create(&path, meaning.clone())?.commit()?;
    /// assert_eq!(Meaning::read(&path)?, meaning);
    /// assert_eq!(Meaning::read(&path)?.rules(), Some("rules = [\"www\"]\n"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If there is no set, it cannot be read, or what describes it is damaged.
    pub fn read(directory: &Path) -> Result<Meaning, SetError> {
        Ok(Manifest::read(directory)?.meaning)
    }
}

/// Reads all of the set in `directory` and returns all damage, also such as keeps it from being opened.
///
/// ```
/// use uriscan::key::PublicHash;
/// use uriscan::set::{Meaning, SetWriter, verify};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("seen.set");
/// SetWriter::create(&path, Meaning::new(PublicHash::Blake3, ""))?.commit()?;
/// assert!(verify(&path)?.is_empty());
/// std::fs::write(path.join("set"), "uriscan set 2\nfirst-")?;
/// assert_eq!(verify(&path)?.len(), 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If it cannot be looked at: there is no set, it has another format, or something cannot be read.
pub fn verify(directory: &Path) -> Result<Vec<SetError>, SetError> {
    let first = match KeySet::open(directory) {
        Ok(set) => return set.verify(),
        Err(error) if error.is_damage() => error,
        Err(error) => return Err(error),
    };
    let Ok(manifest) = Manifest::read(directory) else { return Ok(vec![first]) };
    let mut damages = Vec::new();
    for listed in &manifest.runs {
        match open_run(directory, listed) {
            Ok(run) => damages.extend(run.verify()?),
            Err(SetError { fault: Fault::Io(error), path }) if is_absence(&error) => {
                damages.push(missing(&path));
            }
            Err(error) if error.is_damage() => damages.push(error),
            Err(error) => return Err(error),
        }
    }
    Ok(if damages.is_empty() { vec![first] } else { damages })
}

/// The damage of a set whose file at `path` is missing.
fn missing(path: &Path) -> SetError {
    SetError::damaged(path, "this file of the set is missing", 0)
}

/// Checks that `runs` of one set have no keys in common, given that they have `found` distinct
/// ones.
///
/// # Errors
/// If they have: the numbers of keys are then wrong.
pub(super) fn expect_distinct(runs: &[Run], found: u64) -> Result<(), SetError> {
    match runs.last() {
        Some(run) if found != runs.iter().map(Run::len).sum::<u64>() => Err(run.shares_a_key()),
        _ => Ok(()),
    }
}

fn open_run(directory: &Path, listed: &Listed) -> Result<Run, SetError> {
    let times = listed.times.as_ref().map(|name| directory.join(name));
    let run = Run::open(&directory.join(&listed.keys), times.as_deref())?;
    if run.len() != listed.len {
        let what = "its number of keys differs from that in the set";
        return Err(SetError::damaged(run.path(), what, 16));
    }
    Ok(run)
}
