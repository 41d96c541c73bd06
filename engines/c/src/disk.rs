//! A set of keys on disk, and the keys that were added since the last commit.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use uriscan::key::Key;
use uriscan::set::{KeySet, Meaning, SetError, SetWriter};

use crate::error::Failure;

/// Bytes of keys of the set that are held in memory for look-ups, and of keys on their way into it.
const HOLD_BYTES: u64 = 512 << 20;
const LOAD_BYTES: usize = 256 << 20;

/// A set on disk.
pub(crate) struct Disk(Mutex<Open>);

struct Open {
    store: Store,
    /// Keys since the last commit, by the secret hash of the standard library: public keys can be chosen in part.
    added: HashSet<Key>,
}

enum Store {
    Read(KeySet),
    Write(SetWriter),
}

impl Disk {
    /// The set at `path`, whose keys have this meaning. To `update` it, it is made where there is none; no other process can
    /// then write to it.
    pub(crate) fn open(path: &Path, meaning: &Meaning, update: bool) -> Result<Disk, SetError> {
        let store = match update {
            false => {
                let mut set = KeySet::open(path)?;
                set.expect(meaning)?;
                set.hold(HOLD_BYTES);
                Store::Read(set)
            }
            true => {
                let mut writer = match SetWriter::open(path) {
                    Err(error) if error.is_vacant() => SetWriter::create(path, meaning.clone())?,
                    writer => writer?,
                };
                writer.set().expect(meaning)?;
                writer.set_mut().hold(HOLD_BYTES);
                Store::Write(writer)
            }
        };
        Ok(Disk(Mutex::new(Open { store, added: HashSet::new() })))
    }

    fn open_now(&self) -> MutexGuard<'_, Open> {
        // Keys are added as a whole, and the set on disk is the old one or the new one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether each of `keys` was not there. They are now, if they are to `stay`; of equal ones the first was not there.
    pub(crate) fn are_new(&self, keys: &[Key], stay: bool) -> Result<Vec<bool>, Failure> {
        let mut open = self.open_now();
        let Open { store, added } = &mut *open;
        let set = match store {
            Store::Read(_) if stay => {
                return Err(Failure::Argument(
                    "the set was opened to be read; open it with URISCAN_UPDATE",
                ));
            }
            Store::Read(set) => set,
            Store::Write(writer) => writer.set(),
        };
        let mut are_new = vec![true; keys.len()];
        if !set.is_empty() {
            set.expect_look_ups(keys.len())?;
            let mut queries: Vec<(Key, usize)> = keys.iter().copied().zip(0..).collect();
            set.find(&mut queries, |i| are_new[i] = false)?;
        }
        for (key, is_new) in keys.iter().zip(&mut are_new).filter(|(_, is_new)| **is_new) {
            *is_new = if stay { added.insert(*key) } else { !added.contains(key) };
        }
        Ok(are_new)
    }

    /// Adds the keys to the set on disk; returns how many there are.
    pub(crate) fn commit(&self) -> Result<u64, Failure> {
        let mut open = self.open_now();
        let Open { store, added } = &mut *open;
        let Store::Write(writer) = store else {
            return Err(Failure::Argument(
                "the set was opened to be read; open it with URISCAN_UPDATE",
            ));
        };
        let mut loader = writer.loader(LOAD_BYTES)?;
        loader.push(added.iter().copied())?;
        let count = writer.add(loader)?;
        added.clear();
        writer.set_mut().hold(HOLD_BYTES);
        Ok(count)
    }

    pub(crate) fn len(&self) -> u64 {
        let open = self.open_now();
        let set = match &open.store {
            Store::Read(set) => set,
            Store::Write(writer) => writer.set(),
        };
        set.len() + open.added.len() as u64
    }
}
