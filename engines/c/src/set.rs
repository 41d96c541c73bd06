//! Sets of what has been seen: deduplication in memory, and across runs.

use core::ffi::c_char;
use std::path::PathBuf;
use std::sync::Arc;

use uriscan::key::Key;
use uriscan::trimmed;

use crate::border::{Place, bytes, call, free, handle, values};
use crate::disk::Disk;
use crate::equivalence::{Forms, LONGEST, UriscanEquivalence};
use crate::error::{Failure, UriscanError};
use crate::memory::Memory;

/// No equivalent text was seen before.
pub const URISCAN_NEW: u8 = 0;
/// An equivalent text was seen before.
pub const URISCAN_SEEN: u8 = 1;
/// The text is blank, or it is invalid and the equivalence has `on_invalid=drop`: it is not counted.
pub const URISCAN_SKIPPED: u8 = 2;

/// To look up only.
pub const URISCAN_READ: i32 = 0;
/// To add, too: the set is made where there is none, and no other process can write to it.
pub const URISCAN_UPDATE: i32 = 1;

/// What has been seen: 16 bytes a group of equivalent texts, and free room. All threads may use it at the same time.
pub struct UriscanSet {
    forms: Arc<Forms>,
    keys: Keys,
}

enum Keys {
    Memory(Memory),
    Disk(Disk),
}

/// What a text is to a set.
#[derive(Clone, Copy)]
enum Found {
    Key(Key),
    /// Too long for a key: equivalent to no other, as everywhere else.
    TooLong,
    Skipped,
}

impl UriscanSet {
    fn found(&self, text: &[u8]) -> Result<Found, Failure> {
        let record = trimmed(text);
        if record.is_empty() {
            return Ok(Found::Skipped);
        }
        let key = match &self.keys {
            _ if record.len() > LONGEST => return Ok(Found::TooLong),
            Keys::Memory(memory) => self.forms.form(text, |form| Ok(memory.key(form))),
            Keys::Disk(_) => self.forms.key(text),
        };
        match key {
            Ok(key) => Ok(Found::Key(key)),
            Err(Failure::Dropped) => Ok(Found::Skipped),
            Err(failure) => Err(failure),
        }
    }

    /// What `uriscan_set_insert` reports of each of `found`; the keys `stay` in the set, or do not.
    fn results(&self, found: &[Found], stay: bool) -> Result<Vec<u8>, Failure> {
        let keys = || {
            found.iter().filter_map(|found| match found {
                Found::Key(key) => Some(*key),
                _ => None,
            })
        };
        let are_new: Vec<bool> = match &self.keys {
            Keys::Memory(memory) if stay => keys().map(|key| memory.insert(key)).collect(),
            Keys::Memory(memory) => keys().map(|key| !memory.contains(key)).collect(),
            Keys::Disk(disk) => disk.are_new(&keys().collect::<Vec<_>>(), stay)?,
        };
        let mut are_new = are_new.into_iter();
        let result = |found: &Found| match found {
            Found::Skipped => URISCAN_SKIPPED,
            Found::TooLong => URISCAN_NEW,
            Found::Key(_) if are_new.next() == Some(true) => URISCAN_NEW,
            Found::Key(_) => URISCAN_SEEN,
        };
        Ok(found.iter().map(result).collect())
    }

    /// [`UriscanSet::results`] of one text, without lists for a set in memory.
    fn result(&self, text: &[u8], stay: bool) -> Result<u8, Failure> {
        let found = self.found(text)?;
        let is_new = match (&self.keys, found) {
            (Keys::Memory(memory), Found::Key(key)) if stay => memory.insert(key),
            (Keys::Memory(memory), Found::Key(key)) => !memory.contains(key),
            _ => return Ok(self.results(&[found], stay)?[0]),
        };
        Ok(if is_new { URISCAN_NEW } else { URISCAN_SEEN })
    }
}

/// Makes an empty set in memory. `uriscan_set_free` frees it; the equivalence may be freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_set_new(
    equivalence: *const UriscanEquivalence,
    set: *mut *mut UriscanSet,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let place = unsafe { Place::new(set, core::ptr::null_mut())? };
        // SAFETY: the same.
        let forms = unsafe { handle(equivalence)? }.forms().clone();
        place.give(UriscanSet { forms, keys: Keys::Memory(Memory::new()) });
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Opens a set on disk, such as `uriscan set` and `uriscan dedup --update` make: a directory, whose `path` is in UTF-8 (on Unix
/// any bytes). `mode` is `URISCAN_READ` or `URISCAN_UPDATE`. Its keys must have been made under the same options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_set_open(
    equivalence: *const UriscanEquivalence,
    path: *const c_char,
    path_length: usize,
    mode: i32,
    set: *mut *mut UriscanSet,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let place = unsafe { Place::new(set, core::ptr::null_mut())? };
        // SAFETY: the same.
        let path = path_of(unsafe { bytes(path, path_length)? })?;
        // SAFETY: the same.
        let forms = unsafe { handle(equivalence)? }.forms().clone();
        let update = match mode {
            URISCAN_READ => false,
            URISCAN_UPDATE => true,
            _ => return Err(Failure::Argument("the mode is URISCAN_READ or URISCAN_UPDATE")),
        };
        let disk = Disk::open(&path, &forms.meaning(), update)?;
        place.give(UriscanSet { forms, keys: Keys::Disk(disk) });
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Result<PathBuf, Failure> {
    use std::os::unix::ffi::OsStrExt;
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Result<PathBuf, Failure> {
    let path = core::str::from_utf8(bytes);
    path.map(PathBuf::from).map_err(|_| Failure::Argument("the path is not UTF-8"))
}

/// Frees the set; NULL is allowed. What was not committed to a set on disk is lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_set_free(set: *mut UriscanSet) {
    // SAFETY: it is what `uriscan_set_new` or `uriscan_set_open` gave, or NULL.
    unsafe { free(set) }
}

/// Adds `text`, and writes to `result` whether it is `URISCAN_NEW`, `URISCAN_SEEN` or `URISCAN_SKIPPED`. A set on disk keeps it
/// in memory until `uriscan_set_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_set_insert(
    set: *const UriscanSet,
    text: *const c_char,
    text_length: usize,
    result: *mut u8,
    error: *mut UriscanError,
) -> i32 {
    // SAFETY: see the text of the crate.
    unsafe { one(set, text, text_length, result, true, error) }
}

/// Writes to `result` what `uriscan_set_insert` would, and adds nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_set_contains(
    set: *const UriscanSet,
    text: *const c_char,
    text_length: usize,
    result: *mut u8,
    error: *mut UriscanError,
) -> i32 {
    // SAFETY: see the text of the crate.
    unsafe { one(set, text, text_length, result, false, error) }
}

/// Adds `count` texts in order, which stand one after the other in `texts`: number `i` from `offsets[i]` to before
/// `offsets[i + 1]`, so there are `count + 1` offsets, which do not fall. Writes a result for each to `results`, an array of
/// `count` bytes. If it fails, nothing is added, and nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_set_insert_batch(
    set: *const UriscanSet,
    texts: *const c_char,
    offsets: *const usize,
    count: usize,
    results: *mut u8,
    error: *mut UriscanError,
) -> i32 {
    // SAFETY: see the text of the crate.
    unsafe { several(set, texts, offsets, count, results, true, error) }
}

/// Writes to `results` what `uriscan_set_insert` would for each text by itself, and adds nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_set_contains_batch(
    set: *const UriscanSet,
    texts: *const c_char,
    offsets: *const usize,
    count: usize,
    results: *mut u8,
    error: *mut UriscanError,
) -> i32 {
    // SAFETY: see the text of the crate.
    unsafe { several(set, texts, offsets, count, results, false, error) }
}

/// Writes what was added to the set on disk; `added`, unless it is NULL, gets the number of new groups. On return they are on
/// disk; if it fails, the set is unchanged, and it may be called again. A set in memory has nothing to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_set_commit(
    set: *const UriscanSet,
    added: *mut u64,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        let mut ignored = 0;
        let added = if added.is_null() { &raw mut ignored } else { added };
        // SAFETY: see the text of the crate.
        let (place, set) = unsafe { (Place::new(added, 0)?, handle(set)?) };
        match &set.keys {
            Keys::Memory(_) => {}
            Keys::Disk(disk) => place.put(disk.commit()?),
        }
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Writes the number of groups in the set to `count`, with those that were not committed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_set_count(
    set: *const UriscanSet,
    count: *mut u64,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let (place, set) = unsafe { (Place::new(count, 0)?, handle(set)?) };
        place.put(match &set.keys {
            Keys::Memory(memory) => memory.len(),
            Keys::Disk(disk) => disk.len(),
        });
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Inserts one text, or looks it up.
///
/// # Safety
/// As for all functions.
unsafe fn one(
    set: *const UriscanSet,
    text: *const c_char,
    text_length: usize,
    result: *mut u8,
    stay: bool,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let place = unsafe { Place::new(result, URISCAN_SKIPPED)? };
        // SAFETY: the same.
        let (set, text) = unsafe { (handle(set)?, bytes(text, text_length)?) };
        place.put(set.result(text, stay)?);
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Inserts several texts, or looks them up.
///
/// # Safety
/// As for all functions.
unsafe fn several(
    set: *const UriscanSet,
    texts: *const c_char,
    offsets: *const usize,
    count: usize,
    results: *mut u8,
    stay: bool,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let set = unsafe { handle(set)? };
        if count == 0 {
            return Ok(());
        }
        if results.is_null() {
            return Err(Failure::Argument("the pointer for results is NULL"));
        }
        let number = count.checked_add(1).ok_or(Failure::Argument("there are too many texts"))?;
        // SAFETY: the same; there are `count + 1` offsets.
        let offsets = unsafe { values(offsets, number)? };
        // SAFETY: the same; the last offset is the length of all texts.
        let texts = unsafe { bytes(texts, offsets[count])? };
        let found = |(row, ends): (usize, &[usize])| {
            let text = texts.get(ends[0]..ends[1]);
            let text = text.ok_or(Failure::Argument("the offsets of the texts fall"))?;
            set.found(text).map_err(|failure| failure.in_row(row))
        };
        let found: Vec<Found> =
            offsets.windows(2).enumerate().map(found).collect::<Result<_, _>>()?;
        let written = set.results(&found, stay)?;
        // SAFETY: `results` has room for `count` of them, as the caller promises, and is not memory of ours.
        unsafe { core::ptr::copy_nonoverlapping(written.as_ptr(), results, count) }
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}
