//! Sets in their directories: reading them, and replacing what they are.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::Meaning;
use super::batch;
use super::combine::{But, Sorted, combine, each_part};
use super::error::{At, Fault, SetError};
use super::loader::{self, Loader};
use super::manifest::{self, Manifest, is_absence, sync_directory};
use super::run::{KEY, Run, RunWriter, SUFFIX, key_at};
use crate::key::Key;

/// The file that writers lock.
const LOCK: &str = "lock";

/// Runs of a set; one more, and the small ones are made into one.
const MAX_RUNS: usize = 9;

/// How often a reader looks again when runs vanish because a writer has made others of them.
const TRIES: usize = 100;

/// A set of keys on disk, as it was when it was opened. Writers do not disturb it.
#[derive(Debug)]
pub struct KeySet {
    directory: PathBuf,
    meaning: Meaning,
    note: Option<String>,
    /// No key is in two of them.
    runs: Vec<Run>,
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
            let Manifest { runs, note, meaning } = Manifest::read(directory)?;
            let opened: Result<Vec<Run>, SetError> =
                runs.iter().map(|(name, keys)| open_run(&directory.join(name), *keys)).collect();
            tries += 1;
            match opened {
                Ok(runs) => {
                    let directory = directory.to_owned();
                    return Ok(KeySet { directory, meaning, note, runs });
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

    /// What the one who wrote last has noted ([`SetWriter::add_noting`]).
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
    /// use uriscan::key::Hasher;
    /// use uriscan::set::{Meaning, SetWriter};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let directory = tempfile::tempdir()?;
    /// let hasher = Hasher::with_seed(0);
    /// let mut set = SetWriter::create(&directory.path().join("seen.set"), Meaning::new(hasher, ""))?;
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
        batch::contains(self, keys)
    }

    /// Calls `hit` with the number beside each of the keys that is in the set, on this thread. Sorts what is
    /// `asked`; the fewer keys lie between two of them, the faster it is.
    ///
    /// # Errors
    /// When it cannot be read or is damaged.
    pub fn find(&self, asked: &mut [(Key, usize)], hit: impl FnMut(usize)) -> Result<(), SetError> {
        batch::find(self, asked, hit)
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Calls `take` with all keys, in rising order, some thousand at a time.
    ///
    /// # Errors
    /// When it cannot be read or is damaged; what `take` gives.
    pub fn each_key<E: From<SetError>>(
        &self,
        mut take: impl FnMut(&mut dyn Iterator<Item = Key>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut part =
            |bytes: &[u8]| take(&mut (0..bytes.len() / KEY).map(|i| Key(key_at(bytes, i))));
        match &self.runs[..] {
            [] => Ok(()),
            [run] => each_part(run, &mut part),
            runs => {
                let aside = tempfile::tempdir().at(&std::env::temp_dir())?;
                let mut writer = RunWriter::new(aside.path())?;
                let sorted: Vec<Sorted<'_>> = runs.iter().map(Sorted::Run).collect();
                combine(&sorted, But::Not(&[]), &mut writer)?;
                each_part(&writer.finish_for_now()?, &mut part)
            }
        }
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
        Ok(damages)
    }
}

fn open_run(path: &Path, keys: u64) -> Result<Run, SetError> {
    let run = Run::open(path)?;
    match run.len() == keys {
        true => Ok(run),
        false => {
            Err(SetError::damaged(path, "it has another number of keys than the set says", 16))
        }
    }
}

/// The one who may write to a set.
#[derive(Debug)]
pub struct SetWriter {
    set: KeySet,
    /// Locked as long as this lives.
    _lock: File,
    /// Whether the directory holds no set yet.
    is_new: bool,
}

impl SetWriter {
    /// Makes an empty set in `directory`, which must not be there, or be empty. It is there once something was
    /// added or [`SetWriter::commit`] was called; before, there is nothing.
    ///
    /// # Errors
    /// When something is there already, or a directory cannot be made.
    pub fn create(directory: &Path, meaning: Meaning) -> Result<SetWriter, SetError> {
        match fs::create_dir(directory) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let is_begun =
                    directory.join(LOCK).exists() && !directory.join(manifest::NAME).exists();
                let is_empty =
                    || fs::read_dir(directory).is_ok_and(|mut files| files.next().is_none());
                if !is_begun && !is_empty() {
                    return Err(SetError::new(directory, Fault::Exists));
                }
            }
            Err(error) => return Err(SetError::new(directory, Fault::Io(error))),
        }
        let lock = lock(directory)?;
        if directory.join(manifest::NAME).exists() {
            return Err(SetError::new(directory, Fault::Exists));
        }
        sweep(directory, &[])?;
        let (note, runs) = (None, Vec::new());
        let set = KeySet { directory: directory.to_owned(), meaning, note, runs };
        Ok(SetWriter { set, _lock: lock, is_new: true })
    }

    /// Opens the set in `directory` to add to it, and removes what a writer that was killed has left.
    ///
    /// # Errors
    /// As [`KeySet::open`]; [`Fault::Busy`] when there is another writer.
    pub fn open(directory: &Path) -> Result<SetWriter, SetError> {
        // The message of a lock that cannot be made would not be the right one.
        KeySet::open(directory)?;
        let lock = lock(directory)?;
        let set = KeySet::open(directory)?;
        sweep(directory, &set.runs)?;
        Ok(SetWriter { set, _lock: lock, is_new: false })
    }

    /// The set, with all that was added.
    pub fn set(&self) -> &KeySet {
        &self.set
    }

    /// The set, for [`KeySet::hold`].
    pub fn set_mut(&mut self) -> &mut KeySet {
        &mut self.set
    }

    /// What takes keys to be added, and holds `bytes` of them in memory, about; more are sorted in the directory of
    /// the set.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn loader(&self, bytes: usize) -> Result<Loader, SetError> {
        Loader::new(&self.set.directory, bytes)
    }

    /// Adds the keys; gives the number of those that were not there. When this comes back they are on the disk.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or cannot be written; then the set is what it was.
    pub fn add(&mut self, keys: Loader) -> Result<u64, SetError> {
        let mut writer = RunWriter::new(&self.set.directory)?;
        let existing: Vec<&Run> = self.set.runs.iter().collect();
        let added = keys.write(&existing, &mut writer)?;
        if added == 0 {
            if self.is_new {
                self.commit()?;
            }
            return Ok(0);
        }
        if self.set.runs.len() < MAX_RUNS {
            self.replace(0, writer.finish()?)?;
        } else {
            let delta = writer.finish_for_now()?;
            self.fold(&delta)?;
        }
        Ok(added)
    }

    /// [`SetWriter::add`], and `note`, a line without its end, becomes [`KeySet::note`]: both or none, at whatever
    /// moment the process ends.
    ///
    /// # Errors
    /// As [`SetWriter::add`].
    pub fn add_noting(&mut self, keys: Loader, note: &str) -> Result<u64, SetError> {
        self.set.note = Some(note.replace('\n', " "));
        let added = self.add(keys)?;
        if added == 0 {
            self.commit()?;
        }
        Ok(added)
    }

    /// Removes the set, and the directory unless something else is in it.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn destroy(self) -> Result<(), SetError> {
        let directory = self.set.directory.clone();
        // From now on there is no set; what is left after a kill is removed by the next one who makes one here.
        remove(&directory.join(manifest::NAME))?;
        sweep(&directory, &[])?;
        remove(&directory.join(LOCK))?;
        let _ = fs::remove_dir(&directory);
        Ok(())
    }

    /// Makes one run of all, so that the files of sets with the same keys and meaning are the same.
    ///
    /// # Errors
    /// As [`SetWriter::add`].
    pub fn compact(&mut self) -> Result<(), SetError> {
        if self.set.runs.len() < 2 {
            return if self.is_new { self.commit() } else { Ok(()) };
        }
        let mut writer = RunWriter::new(&self.set.directory)?;
        let sorted: Vec<Sorted<'_>> = self.set.runs.iter().map(Sorted::Run).collect();
        combine(&sorted, But::Not(&[]), &mut writer)?;
        self.replace(self.set.runs.len(), writer.finish()?)
    }

    /// Makes the new set what `sets` hold together.
    ///
    /// # Errors
    /// As [`SetWriter::add`]; [`Fault::Differs`] for a set of another meaning.
    pub fn fill_with_all(&mut self, sets: &[KeySet]) -> Result<u64, SetError> {
        let sorted = sets.iter().flat_map(KeySet::runs).map(Sorted::Run);
        self.fill(sets, &sorted.collect::<Vec<_>>(), But::Not(&[]))
    }

    /// Makes the new set what the first of `sets` holds and no other does.
    ///
    /// # Errors
    /// As [`SetWriter::fill_with_all`].
    pub fn fill_with_difference(&mut self, sets: &[KeySet]) -> Result<u64, SetError> {
        let (first, others) = sets.split_at(1.min(sets.len()));
        let sorted: Vec<Sorted<'_>> =
            first.iter().flat_map(KeySet::runs).map(Sorted::Run).collect();
        let others: Vec<&Run> = others.iter().flat_map(KeySet::runs).collect();
        self.fill(sets, &sorted, But::Not(&others))
    }

    /// Makes the new set what all of `sets` hold.
    ///
    /// # Errors
    /// As [`SetWriter::fill_with_all`].
    pub fn fill_with_common(&mut self, sets: &[KeySet]) -> Result<u64, SetError> {
        // The shortest is gone through, the others are asked.
        let shortest = (0..sets.len()).min_by_key(|&i| sets[i].len()).unwrap_or_default();
        let sorted: Vec<Sorted<'_>> = sets
            .get(shortest)
            .map(KeySet::runs)
            .unwrap_or_default()
            .iter()
            .map(Sorted::Run)
            .collect();
        let others: Vec<&[Run]> =
            (0..sets.len()).filter(|&i| i != shortest).map(|i| sets[i].runs()).collect();
        self.fill(sets, &sorted, But::In(&others))
    }

    fn fill(
        &mut self,
        sets: &[KeySet],
        sorted: &[Sorted<'_>],
        but: But<'_>,
    ) -> Result<u64, SetError> {
        for set in sets {
            set.expect(&self.set.meaning)?;
        }
        let mut writer = RunWriter::new(&self.set.directory)?;
        let written = combine(sorted, but, &mut writer)?;
        match written {
            0 => self.commit()?,
            _ => self.replace(self.set.runs.len(), writer.finish()?)?,
        }
        Ok(written)
    }

    /// Makes one run of `delta` and the small runs.
    fn fold(&mut self, delta: &Run) -> Result<(), SetError> {
        self.set.runs.sort_by_key(Run::len);
        // Each takes those below it along that are as large together: so every key is copied a few times only.
        let mut sum = delta.len();
        let mut count = 0;
        for run in &self.set.runs {
            if count > 0 && run.len() > 2 * sum {
                break;
            }
            sum += run.len();
            count += 1;
        }
        let mut writer = RunWriter::new(&self.set.directory)?;
        let small = self.set.runs[..count].iter().chain([delta]);
        combine(&small.map(Sorted::Run).collect::<Vec<_>>(), But::Not(&[]), &mut writer)?;
        let run = writer.finish()?;
        self.replace(count, run)?;
        remove(delta.path())
    }

    /// Makes `run`, which is on the disk, part of the set in place of the first `count` runs.
    fn replace(&mut self, count: usize, run: Run) -> Result<(), SetError> {
        let old: Vec<Run> = self.set.runs.splice(..count, [run]).collect();
        self.commit()?;
        old.iter()
            .filter(|old| self.set.runs.iter().all(|run| run.path() != old.path()))
            .try_for_each(|old| remove(old.path()))
    }

    /// Makes the set in the directory what it is here.
    ///
    /// # Errors
    /// When it cannot be written; then it is still what it was.
    pub fn commit(&mut self) -> Result<(), SetError> {
        // Runs of the same keys come in the same order.
        self.set.runs.sort_by_key(|run| (std::cmp::Reverse(run.len()), run.digest()));
        let name = |run: &Run| {
            let name = run.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, run.len())
        };
        let runs = self.set.runs.iter().map(name).collect();
        let KeySet { note, meaning, directory, .. } = &self.set;
        Manifest { runs, note: note.clone(), meaning: meaning.clone() }.replace(directory)?;
        if std::mem::replace(&mut self.is_new, false) {
            let parent = self.set.directory.parent().filter(|it| !it.as_os_str().is_empty());
            sync_directory(parent.unwrap_or(Path::new(".")))?;
        }
        Ok(())
    }
}

impl Drop for SetWriter {
    fn drop(&mut self) {
        if self.is_new {
            // Nothing came of it. If it cannot be removed, the next one who makes a set here will.
            let _ = sweep(&self.set.directory, &[]);
            let _ = fs::remove_file(self.set.directory.join(LOCK));
            let _ = fs::remove_dir(&self.set.directory);
        }
    }
}

fn lock(directory: &Path) -> Result<File, SetError> {
    let path = directory.join(LOCK);
    let file = File::options().create(true).truncate(false).write(true).open(&path).at(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SetError::new(directory, Fault::Busy)),
        Err(TryLockError::Error(error)) => Err(SetError::new(&path, Fault::Io(error))),
    }
}

/// Removes what writers that were killed have left in `directory`; needs the lock.
fn sweep(directory: &Path, runs: &[Run]) -> Result<(), SetError> {
    for entry in fs::read_dir(directory).at(directory)? {
        let path = entry.at(directory)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_run = name.ends_with(SUFFIX) && runs.iter().all(|run| run.path() != path);
        let is_partial = name.ends_with(".partial");
        if is_partial && name.starts_with(loader::PREFIX) {
            fs::remove_dir_all(&path).at(&path)?;
        } else if is_run || is_partial {
            remove(&path)?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), SetError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SetError::new(path, Fault::Io(error)))
        }
        _ => Ok(()),
    }
}
