//! A deduplicator for URIs that come one by one, whose keys last on disk.

use std::path::Path;

use crate::pipeline::Equivalence;
use crate::pipeline::compare::equivalence::Canonicalizer;
use uriscan_core::dedup::Numbering;
use uriscan_core::index::trimmed;
use uriscan_core::key::{Key, PublicHash, PublicHasher};
use uriscan_core::set::{Meaning, SetError, SetWriter};
use uriscan_core::simd::Kernels;

/// Bytes of keys that are sorted in memory when they are written.
const LOADER_BYTES: usize = 16 << 20;

/// [`crate::pipeline::Deduplicator`] on a set: finds the first URI of each group of equivalent ones, of those in the set and of all since.
///
/// The set is one of the program, as `--seen` and `uriscan set` have it. What is inserted is held, about 30 bytes for each group,
/// until [`SetDeduplicator::commit`] writes it; without that, it is forgotten. There is one writer of a set at a time.
///
/// ```
/// use uriscan::{Equivalence, SetDeduplicator};
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("urls.set");
/// let mut seen = SetDeduplicator::open(&path, Equivalence::default())?;
/// assert!(seen.insert("http://h")? && !seen.insert("HTTP://H:80/")?);
/// assert_eq!(seen.commit()?, 1);
/// drop(seen);
/// let mut seen = SetDeduplicator::open(&path, Equivalence::default())?;
/// assert!(seen.contains("http://h/")? && seen.insert("http://h/x")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SetDeduplicator {
    canonicalizer: Canonicalizer<Equivalence>,
    hasher: PublicHasher,
    set: SetWriter,
    /// The keys that the set does not have yet.
    new: Numbering,
}

impl std::fmt::Debug for SetDeduplicator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let directory = self.set.set().directory();
        f.debug_struct("SetDeduplicator").field("directory", &directory).finish_non_exhaustive()
    }
}

impl SetDeduplicator {
    /// The set in `directory`, which is made, with the first [`SetDeduplicator::commit`], if it is not there.
    ///
    /// # Errors
    /// As [`SetWriter::open`] and [`SetWriter::create`]; [`uriscan_core::set::Fault::Differs`] if its keys are those of another equivalence.
    pub fn open(
        directory: &Path,
        equivalence: impl Into<Equivalence>,
    ) -> Result<SetDeduplicator, SetError> {
        let equivalence = equivalence.into();
        let set = match SetWriter::open(directory) {
            Ok(set) => set,
            Err(error) if error.is_vacant() => {
                SetWriter::create(directory, equivalence.meaning(PublicHash::Blake3))?
            }
            Err(error) => return Err(error),
        };
        SetDeduplicator::on(set, equivalence)
    }

    /// On `set`, which may have keys by any of the public hashes.
    ///
    /// # Errors
    /// [`uriscan_core::set::Fault::Differs`] if its keys are those of another equivalence.
    pub fn on(
        set: SetWriter,
        equivalence: impl Into<Equivalence>,
    ) -> Result<SetDeduplicator, SetError> {
        let equivalence = equivalence.into();
        let hash = set.set().meaning().hash();
        set.set().expect(&equivalence.meaning(hash))?;
        let hasher = equivalence.public_hasher(hash);
        let canonicalizer = Canonicalizer::new(equivalence, Kernels::detect());
        Ok(SetDeduplicator { canonicalizer, hasher, set, new: Numbering::new() })
    }

    /// Whether `uri` is the first of its group, which from now on has been seen.
    ///
    /// # Errors
    /// If the set cannot be read, or is damaged.
    pub fn insert<T: AsRef<[u8]> + ?Sized>(&mut self, uri: &T) -> Result<bool, SetError> {
        let key = self.key(uri.as_ref());
        if self.new.find(key).is_some() || self.set.set().contains(&[key])? == [true] {
            return Ok(false);
        }
        self.new.reserve(1);
        self.new.number(key);
        Ok(true)
    }

    /// For each of `uris` whether it is the first of its group, as [`SetDeduplicator::insert`] says for one after the other: faster, as
    /// the set is searched once for all of them.
    ///
    /// # Errors
    /// If the set cannot be read, or is damaged. None of them has been seen then.
    pub fn insert_all<T: AsRef<[u8]>>(&mut self, uris: &[T]) -> Result<Vec<bool>, SetError> {
        let keys: Vec<Key> = uris.iter().map(|uri| self.key(uri.as_ref())).collect();
        let stored = self.set.set().contains(&keys)?;
        self.new.reserve(keys.len());
        let is_first = |(key, is_stored): (Key, bool)| !is_stored && self.new.number(key).1;
        Ok(keys.into_iter().zip(stored).map(is_first).collect())
    }

    /// Whether a URI of the group of `uri` has been seen.
    ///
    /// # Errors
    /// If the set cannot be read, or is damaged.
    pub fn contains<T: AsRef<[u8]> + ?Sized>(&mut self, uri: &T) -> Result<bool, SetError> {
        let key = self.key(uri.as_ref());
        Ok(self.new.find(key).is_some() || self.set.set().contains(&[key])? == [true])
    }

    /// Number of groups that have been seen.
    pub fn len(&self) -> u64 {
        self.set.set().len() + self.new.len() as u64
    }

    /// Whether nothing has been seen.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the keys of what was inserted since the last time, and returns their number. On return they are on disk.
    ///
    /// # Errors
    /// If they cannot be written. Then they are still held.
    pub fn commit(&mut self) -> Result<u64, SetError> {
        let mut loader = self.set.loader(LOADER_BYTES)?;
        loader.push(self.new.by_number())?;
        let added = self.set.add(loader)?;
        self.set.commit()?;
        self.new = Numbering::new();
        Ok(added)
    }

    /// What the keys of the set mean.
    pub fn meaning(&self) -> &Meaning {
        self.set.set().meaning()
    }

    /// The key of the group of `uri`, which is not zero.
    fn key(&mut self, uri: &[u8]) -> Key {
        let uri = trimmed(uri);
        let SetDeduplicator { canonicalizer, hasher, .. } = self;
        let key = match canonicalizer.valid_form(uri).map(<[u8]>::to_vec) {
            Ok(form) => hasher.key(canonicalizer.equivalence().aliased(&form)),
            Err(_) => hasher.key(uri),
        };
        Key(key.0.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Source;
    use crate::pipeline::{DedupOptions, Deduplicator, Seen, Settings, Sinks, dedup_unseen};
    use uriscan_core::normalize::{Level, Options};

    const URLS: [&str; 7] =
        ["http://h", "HTTP://H:80/", " http://h/%7Ea\n", "http://h/~a", "a b", "a b", "http://h/x"];

    #[test]
    fn it_finds_what_one_in_memory_finds_and_remembers_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let mut memory = Deduplicator::default();
        let expected: Vec<bool> = URLS.iter().map(|url| memory.insert(url)).collect();
        let mut seen = SetDeduplicator::open(&path, Equivalence::default()).unwrap();
        let first: Vec<bool> = URLS.iter().map(|url| seen.insert(url).unwrap()).collect();
        assert_eq!(first, expected);
        assert_eq!((seen.len(), seen.commit().unwrap(), seen.len()), (4, 4, 4));
        drop(seen);
        let mut seen = SetDeduplicator::open(&path, Equivalence::default()).unwrap();
        assert_eq!(seen.insert_all(&URLS).unwrap(), [false; 7]);
        assert_eq!(seen.insert_all(&["http://n", "http://n/"]).unwrap(), [true, false]);
        assert!(seen.contains("http://n").unwrap() && !seen.contains("http://o").unwrap());
        // Not written.
        drop(seen);
        let mut seen = SetDeduplicator::open(&path, Equivalence::default()).unwrap();
        assert!(!seen.contains("http://n").unwrap());
    }

    #[test]
    fn its_keys_are_those_of_runs_with_a_set() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let mut seen = SetDeduplicator::open(&path, Equivalence::default()).unwrap();
        seen.insert_all(&URLS[..6]).unwrap();
        seen.commit().unwrap();
        drop(seen);
        let set = uriscan_core::set::KeySet::open(&path).unwrap();
        let list = Source::new("list", std::io::Cursor::new(URLS.map(|url| url.trim()).join("\n")));
        let mut out = Vec::new();
        let (options, settings) = (DedupOptions::default(), Settings::default());
        let mut sinks = Sinks::new(&mut out);
        dedup_unseen(vec![list], &options, Seen::new(&set), &settings, &mut sinks).unwrap();
        assert_eq!(out, b"http://h/x\n");
    }

    #[test]
    fn a_set_of_another_equivalence_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        SetDeduplicator::open(&path, Equivalence::default()).unwrap().commit().unwrap();
        let error = SetDeduplicator::open(&path, Options::new(Level::Syntax)).unwrap_err();
        assert!(matches!(error.fault, uriscan_core::set::Fault::Differs(_)), "{error}");
    }
}
