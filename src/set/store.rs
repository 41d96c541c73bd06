//! Sets in their directories, to be read.

use std::path::{Path, PathBuf};

use super::Meaning;
use super::batch;
use super::combine::{But, Sorted, combine};
use super::entry::Dated;
use super::error::{Difference, Fault, SetError};
use super::file::is_absence;
use super::manifest::{Listed, Manifest};
use super::run::{KEY, Run};
use super::times::{Times, Timestamp};
use crate::key::Key;

/// How often a reader looks again when runs vanish because a writer has made others of them.
const TRIES: usize = 100;

/// A set of keys on disk, as it was when it was opened. Writers do not disturb it.
#[derive(Debug)]
pub struct KeySet {
    pub(super) directory: PathBuf,
    pub(super) meaning: Meaning,
    pub(super) note: Option<String>,
    pub(super) is_dated: bool,
    /// No key is in two of them.
    pub(super) runs: Vec<Run>,
}

impl KeySet {
    /// Opens the set in `directory`.
    ///
    /// # Errors
    /// When there is none, it cannot be read, or it is damaged in what is not keys. Keys are checked when
    /// they are read.
    pub fn open(directory: &Path) -> Result<KeySet, SetError> {
        let mut tries = 0;
        loop {
            let Manifest { is_dated, runs, note, meaning } = Manifest::read(directory)?;
            let opened: Result<Vec<Run>, SetError> =
                runs.iter().map(|listed| open_run(directory, listed)).collect();
            tries += 1;
            match opened {
                Ok(runs) => {
                    let directory = directory.to_owned();
                    return Ok(KeySet { directory, meaning, note, is_dated, runs });
                }
                Err(SetError { fault: Fault::Io(error), path }) if is_absence(&error) => {
                    // Unless a writer was here, a run is missing.
                    let is_same = Manifest::read(directory)?.runs == runs;
                    if is_same || tries == TRIES {
                        return Err(SetError::damaged(&path, "this run is missing", 0));
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What its keys mean.
    pub fn meaning(&self) -> &Meaning {
        &self.meaning
    }

    /// What the one who wrote last has noted ([`super::SetWriter::add_noting`]).
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Sees to it that its keys have the meaning `asked` for.
    ///
    /// # Errors
    /// [`Fault::Differs`] when they have another one.
    pub fn expect(&self, asked: &Meaning) -> Result<(), SetError> {
        match self.meaning.difference(asked) {
            None => Ok(()),
            Some(difference) => Err(SetError::new(&self.directory, Fault::Differs(difference))),
        }
    }

    /// Whether it tells when its keys were first seen ([`super::SetWriter::create_dated`]).
    pub fn is_dated(&self) -> bool {
        self.is_dated
    }

    /// Sees to it that it tells when keys were first seen, or does not.
    ///
    /// # Errors
    /// [`Fault::Differs`] when it is otherwise.
    pub fn expect_dated(&self, is_dated: bool) -> Result<(), SetError> {
        let fact = |is_told: bool| is_told.then(|| FIRST_SEEN.to_owned());
        let difference = Difference { set: fact(self.is_dated), asked: fact(is_dated) };
        match self.is_dated == is_dated {
            true => Ok(()),
            false => Err(SetError::new(&self.directory, Fault::Differs(difference))),
        }
    }

    /// The earliest and the latest time at which a key was first seen; `None` if there is none, or it is not told.
    pub fn first_seen_range(&self) -> Option<(Timestamp, Timestamp)> {
        let ranges = self.runs.iter().filter_map(|run| run.times().and_then(Times::range));
        ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Number of keys.
    pub fn len(&self) -> u64 {
        self.runs.iter().map(Run::len).sum()
    }

    /// Whether it holds no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of keys of each run.
    pub fn run_lengths(&self) -> impl ExactSizeIterator<Item = u64> {
        self.runs.iter().map(Run::len)
    }

    /// Bytes on disk.
    pub fn file_bytes(&self) -> u64 {
        self.runs.iter().map(Run::file_bytes).sum()
    }

    /// Takes runs into memory as long as they are no more than `bytes` together, for look-ups one by one,
    /// which are several times as fast then.
    ///
    /// # Errors
    /// When they cannot be read or are damaged.
    pub fn hold(&mut self, bytes: u64) -> Result<(), SetError> {
        let mut left = bytes;
        for run in &mut self.runs {
            let needed = run.len() * KEY as u64;
            if needed > left {
                continue;
            }
            if run.resident().is_none() {
                run.make_resident()?;
            }
            left -= needed;
        }
        Ok(())
    }

    /// For each of `keys`, whether it is in the set.
    ///
    /// On the current rayon pool. Many keys at once are faster than one by one: they are sorted first.
    ///
    /// ```
    /// use uriscan::key::{PublicHash, PublicHasher};
    /// use uriscan::set::{Meaning, SetWriter};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let directory = tempfile::tempdir()?;
    /// let hasher = PublicHasher::new(PublicHash::Blake3);
    /// let mut set = SetWriter::create(&directory.path().join("seen.set"), Meaning::new(PublicHash::Blake3, ""))?;
    /// let mut keys = set.loader(1 << 20)?;
    /// keys.push([hasher.key(b"http://a/"), hasher.key(b"http://b/")])?;
    /// assert_eq!(set.add(keys)?, 2);
    /// let asked = [hasher.key(b"http://c/"), hasher.key(b"http://a/")];
    /// assert_eq!(set.set().contains(&asked)?, [false, true]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it cannot be read or is damaged.
    pub fn contains(&self, keys: &[Key]) -> Result<Vec<bool>, SetError> {
        batch::contains(&self.runs, keys)
    }

    /// Calls `hit` with the number beside each of the keys that is in the set, on this thread. Sorts what is
    /// `asked`; the fewer keys lie between two of them, the faster it is.
    ///
    /// # Errors
    /// When it cannot be read or is damaged.
    pub fn find(&self, asked: &mut [(Key, usize)], hit: impl FnMut(usize)) -> Result<(), SetError> {
        batch::find(&self.runs, asked, hit)
    }

    /// Calls `told` with the number beside each of the keys that is in the set and the time at which it was first seen,
    /// on this thread; never for a set that does not tell. Sorts what is `asked`.
    ///
    /// # Errors
    /// When it cannot be read or is damaged.
    pub fn find_dated(
        &self,
        asked: &mut [(Key, usize)],
        told: impl FnMut(usize, Timestamp),
    ) -> Result<(), SetError> {
        batch::find_dated(&self.runs, asked, told)
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Calls `take` with all keys, in rising order, some thousand at a time; on the current rayon pool.
    ///
    /// # Errors
    /// When it cannot be read or is damaged; what `take` gives.
    pub fn each_key<E: From<SetError> + Send>(
        &self,
        mut take: impl FnMut(&mut dyn Iterator<Item = Key>) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let sorted: Vec<Sorted<'_, u128>> = self.runs.iter().map(Sorted::Run).collect();
        let take = |keys: &[u128]| take(&mut keys.iter().map(|&key| Key(key)));
        let found = combine(&sorted, But::Not(&[]), take)?;
        Ok(expect_distinct(&self.runs, found)?)
    }

    /// The same, each key with the time at which it was first seen; nothing for a set that does not tell.
    ///
    /// # Errors
    /// As [`KeySet::each_key`].
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

    /// Reads everything and gives all damages that there are.
    ///
    /// # Errors
    /// When something cannot be read.
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

/// Sees to it that `runs` of one set have no key in common, as they have `found` different ones.
///
/// # Errors
/// When they have: then numbers of keys are wrong.
pub(super) fn expect_distinct(runs: &[Run], found: u64) -> Result<(), SetError> {
    match runs.last() {
        Some(run) if found != runs.iter().map(Run::len).sum::<u64>() => Err(run.shares_a_key()),
        _ => Ok(()),
    }
}

/// What is said of a set that tells when its keys were first seen.
const FIRST_SEEN: &str = "first-seen";

fn open_run(directory: &Path, listed: &Listed) -> Result<Run, SetError> {
    let times = listed.times.as_ref().map(|name| directory.join(name));
    let run = Run::open(&directory.join(&listed.keys), times.as_deref())?;
    if run.len() != listed.len {
        let what = "it has another number of keys than the set says";
        return Err(SetError::damaged(run.path(), what, 16));
    }
    Ok(run)
}
