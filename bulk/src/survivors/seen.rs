//! Keys that earlier runs have seen, in a set on disk.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::StoreError;
use super::keep::Select;
use super::store::ClassStore;
use uriscan_core::dedup::Rows;
use uriscan_core::key::{Hasher, Key};
use uriscan_core::set::{KeySet, Loader, SetError};
use uriscan_core::threads;

/// A set on disk that decides what is new ([`crate::pipeline::dedup_unseen`], [`crate::pipeline::classes_unseen`]).
///
/// ```
/// use uriscan_bulk::io::Source;
/// use uriscan::key::PublicHash;
/// use uriscan_bulk::pipeline::{DedupOptions, Seen, Settings, Sinks, dedup_unseen};
/// use uriscan::set::SetWriter;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let directory = tempfile::tempdir()?;
/// let options = DedupOptions::default();
/// let meaning = options.equivalence.meaning(PublicHash::Blake3);
/// let mut set = SetWriter::create(&directory.path().join("seen"), meaning)?;
/// for written in [&b"http://h/\n"[..], b""] {
///     let mut new_keys = set.loader(1 << 20)?;
///     let seen = Seen::new(set.set()).new_keys(&mut new_keys);
///     let list = Source::new("list", &b"http://h/\nHTTP://h/\n"[..]);
///     let mut out = Vec::new();
///     dedup_unseen(vec![list], &options, seen, &Settings::default(), &mut Sinks::new(&mut out))?;
///     assert_eq!(out, written);
///     set.add(new_keys)?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Seen<'s> {
    /// What was seen before.
    pub set: &'s KeySet,
    /// Takes the keys of what was not.
    pub new_keys: Option<&'s mut Loader>,
}

setters! { Seen<'s> some { new_keys: &'s mut Loader } }

impl<'s> Seen<'s> {
    /// What is in `set` is not new; keys are not collected.
    pub fn new(set: &'s KeySet) -> Seen<'s> {
        Seen { set, new_keys: None }
    }
}

impl Seen<'_> {
    /// Corrects which rows are first: none of those in the set, whose number is returned. The keys of the others are given to
    /// the loader.
    pub(super) fn resolve(&mut self, hasher: &Hasher, chunks: &[&Rows]) -> Result<u64, SetError> {
        let seen = AtomicU64::new(0);
        self.look_up(hasher, chunks, |chunk, row| {
            chunks[chunk].set_first(row, false);
            seen.fetch_add(1, Ordering::Relaxed);
        })?;
        let seen = seen.into_inner();
        let Some(loader) = &mut self.new_keys else { return Ok(seen) };
        for rows in chunks {
            let firsts = (0..rows.len()).filter(|&row| rows.is_first(row));
            loader.push(firsts.map(|row| hasher.public(rows.key(row))))?;
        }
        Ok(seen)
    }

    /// Calls `found` for each first row that is in the set, with the number of its chunk.
    pub(super) fn look_up(
        &self,
        hasher: &Hasher,
        chunks: &[&Rows],
        found: impl Fn(usize, usize) + Sync,
    ) -> Result<(), SetError> {
        let is_first = |rows: &Rows, row| rows.is_first(row);
        look_up(self.set, hasher, chunks, is_first, |chunk, row, is_in| {
            if is_in {
                found(chunk, row);
            }
        })
    }
}

/// Makes no row the first of its key.
pub(crate) fn forget(rows: &Rows) {
    (0..rows.len()).for_each(|row| rows.set_first(row, false));
}

/// Looks up the rows of all chunks that are `asked` for, and reports the answers to `found`, with the number of the chunk.
///
/// Rows come in the order of run keys, and a set is in that of public keys: they are brought into ranges of it first, so that
/// each block of the set is read once.
pub(crate) fn look_up(
    set: &KeySet,
    hasher: &Hasher,
    chunks: &[&Rows],
    asked: impl Fn(&Rows, usize) -> bool + Sync,
    found: impl Fn(usize, usize, bool) + Sync,
) -> Result<(), SetError> {
    let some = chunks.iter().flat_map(|rows| {
        let asked = (0..rows.len()).filter(|&row| asked(rows, row));
        asked.map(|row| hasher.public(rows.key(row)))
    });
    set.sample(some)?;
    let rows = chunks.iter().map(|rows| rows.len()).sum();
    if set.expect_look_ups(rows)? {
        return look_up_held(set, hasher, chunks, asked, found);
    }
    const RANGES: usize = 32;
    let range_of = |key: Key| (key.0 >> (128 - RANGES.trailing_zeros())) as usize;
    let by_range = threads::map(0..chunks.len(), |chunk| {
        let rows = chunks[chunk];
        let mut ranges: [Vec<(Key, u32)>; RANGES] = Default::default();
        for row in (0..rows.len()).filter(|&row| asked(rows, row)) {
            let key = hasher.public(rows.key(row));
            ranges[range_of(key)].push((key, row as u32));
        }
        ranges
    });
    let done = threads::map(0..RANGES, |range| {
        let mut places: Vec<(usize, u32)> = Vec::new();
        let mut keys: Vec<(Key, usize)> = Vec::new();
        for (chunk, ranges) in by_range.iter().enumerate() {
            for &(key, row) in &ranges[range] {
                keys.push((key, places.len()));
                places.push((chunk, row));
            }
        }
        let mut held = vec![false; places.len()];
        set.find(&mut keys, |i| held[i] = true)?;
        for (&(chunk, row), is_in) in places.iter().zip(held) {
            found(chunk, row as usize, is_in);
        }
        Ok(())
    });
    done.into_iter().collect()
}

/// [`look_up`] for a set in memory, where the order of look-ups makes no difference.
fn look_up_held(
    set: &KeySet,
    hasher: &Hasher,
    chunks: &[&Rows],
    asked: impl Fn(&Rows, usize) -> bool + Sync,
    found: impl Fn(usize, usize, bool) + Sync,
) -> Result<(), SetError> {
    let done = threads::map(0..chunks.len(), |chunk| {
        let rows = chunks[chunk];
        let asked = (0..rows.len()).filter(|&row| asked(rows, row));
        let mut keys: Vec<(Key, usize)> = Vec::with_capacity(rows.len());
        keys.extend(asked.map(|row| (hasher.public(rows.key(row)), row)));
        let mut is_in = vec![false; rows.len()];
        set.find(&mut keys, |row| is_in[row] = true)?;
        for (_, row) in keys {
            found(chunk, row, is_in[row]);
        }
        Ok(())
    });
    done.into_iter().collect()
}

/// Classes by their numbers.
pub(super) trait Marked {
    /// Notes that a class was seen by an earlier run, so that none of its records counts.
    fn mark_seen(&mut self, class: usize);

    /// The number of records of a class that counts.
    fn records(&self, class: usize) -> u64;
}

impl Marked for ClassStore {
    fn mark_seen(&mut self, class: usize) {
        ClassStore::mark_seen(self, class as u32);
    }

    fn records(&self, class: usize) -> u64 {
        self.count(class as u32)
    }
}

/// The numbers of records.
impl Marked for Vec<u64> {
    fn mark_seen(&mut self, class: usize) {
        self[class] = 0;
    }

    fn records(&self, class: usize) -> u64 {
        self[class]
    }
}

/// Keys on their way from all threads to a [`Loader`], as public ones.
pub(super) struct NewKeys<'s, 'l> {
    loader: &'s Mutex<&'l mut Loader>,
    hasher: &'s Hasher,
    keys: Vec<Key>,
}

impl<'s, 'l> NewKeys<'s, 'l> {
    pub(super) fn new(loader: &'s Mutex<&'l mut Loader>, hasher: &'s Hasher) -> NewKeys<'s, 'l> {
        NewKeys { loader, hasher, keys: Vec::new() }
    }

    #[inline]
    pub(super) fn push(&mut self, key: Key) -> Result<(), StoreError> {
        /// Keys that are handed on at once.
        const KEYS: usize = 1 << 12;
        self.keys.push(key);
        if self.keys.len() >= KEYS { self.flush() } else { Ok(()) }
    }

    #[cold]
    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        let mut loader = self.loader.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(loader.push_alone(self.keys.drain(..).map(|key| self.hasher.public(key)))?)
    }
}

/// [`Seen`] for classes, which are looked up once all is read.
pub(super) struct SeenClasses<'s> {
    set: &'s KeySet,
    /// Takes the keys of classes that are written.
    new_keys: Option<Mutex<&'s mut Loader>>,
    select: Select,
    /// Of the run, which public keys come from.
    hasher: Hasher,
}

impl<'s> SeenClasses<'s> {
    pub(super) fn new(seen: Seen<'s>, select: Select, hasher: Hasher) -> SeenClasses<'s> {
        SeenClasses { set: seen.set, new_keys: seen.new_keys.map(Mutex::new), select, hasher }
    }

    /// Marks the classes that were seen, and gives their number; `keys` are the keys of all classes.
    pub(super) fn mark(&self, keys: &[Key], classes: &mut impl Marked) -> Result<u64, SetError> {
        let public = keys.iter().map(|&key| self.hasher.public(key));
        let mut asked: Vec<(Key, usize)> = public.zip(0..).collect();
        let mut seen = 0;
        self.set.sample(asked.iter().map(|&(key, _)| key))?;
        self.set.expect_look_ups(keys.len())?;
        self.set.find(&mut asked, |class| {
            classes.mark_seen(class);
            seen += 1;
        })?;
        drop(asked);
        if let Some(new_keys) = &self.new_keys {
            let is_written = |class| {
                let count = classes.records(class);
                count > 0 && self.select.has(count)
            };
            let written = keys.iter().zip(0..).filter(|&(_, class)| is_written(class));
            let mut new_keys = new_keys.lock().unwrap_or_else(PoisonError::into_inner);
            new_keys.push_alone(written.map(|(&key, _)| self.hasher.public(key)))?;
        }
        Ok(seen)
    }
}
