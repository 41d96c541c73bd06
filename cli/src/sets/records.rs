//! The set of a job: opened before the run, updated after its results are in place.

use std::fmt;
use std::path::PathBuf;

use uriscan::set::{KeySet, Loader, Meaning, SetError, Timestamp};
use uriscan_bulk::pipeline::{MemoryLimit, Seen};

use super::writing::{LOAD_BYTES, Writing};
use crate::exit::Failure;
use crate::memory;

/// Bytes of keys that may be held in memory for look-ups where neither a limit nor the memory of the machine is known.
const HOLD_BYTES: u64 = 512 << 20;

/// The set on disk that a job uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetUse {
    pub(crate) path: PathBuf,
    pub(crate) does: SetDoes,
    /// Whether the set records times, or must.
    pub(crate) first_seen: bool,
    /// The time of added keys, if not now.
    pub(crate) at: Option<Timestamp>,
}

/// What a job does with its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetDoes {
    Create,
    Add,
    Remove,
    Ask,
    /// Looks keys up and adds new ones; creates the set if it does not exist.
    AskAndAdd,
}

#[derive(Debug)]
pub(crate) enum SetAtWork {
    Read(KeySet),
    Write(Writing, Loader),
    /// The keys of the loader are removed.
    Remove(Writing, Loader),
}

/// How a run has changed its set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetChange {
    /// Keys that were added, or removed.
    pub(crate) count: u64,
    pub(crate) is_removal: bool,
    /// Distinct keys of the input, where they were to be removed.
    pub(crate) given: u64,
    /// Keys that the set has now.
    pub(crate) keys: u64,
}

/// What was removed, as a line.
impl fmt::Display for SetChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SetChange { count, given, keys, .. } = *self;
        let plural = if given == 1 { "" } else { "s" };
        writeln!(f, "removed {count} of {given} key{plural}; {keys} left")
    }
}

/// Bytes of memory for looking keys up and for adding keys: shares of the limit, which is half of the machine's memory if
/// none was given.
fn shares(limit: Option<&MemoryLimit>) -> (u64, usize) {
    match limit {
        Some(limit) => (limit.bytes as u64 / 4, LOAD_BYTES.min(limit.bytes / 8)),
        None => (memory::of_machine().map_or(HOLD_BYTES, |bytes| bytes / 8), LOAD_BYTES),
    }
}

/// Opens the set, if there is one; its keys have this `meaning`, and the memory of the run this `limit`.
pub(crate) fn open(
    set: Option<&SetUse>,
    meaning: Option<Meaning>,
    limit: Option<&MemoryLimit>,
) -> Result<Option<SetAtWork>, Failure> {
    let Some((SetUse { path, does, first_seen, at }, meaning)) = set.zip(meaning) else {
        return Ok(None);
    };
    let (hold, load) = shares(limit);
    let writing = |writer: Writing| {
        let loader = match at {
            None => writer.loader(load)?,
            Some(at) => writer.loader_at(load, *at)?,
        };
        Ok::<_, SetError>(SetAtWork::Write(writer, loader))
    };
    Ok(Some(match does {
        SetDoes::Create => writing(Writing::create(path, meaning, *first_seen)?)?,
        SetDoes::Add => {
            let writer = Writing::open(path)?;
            writer.set().expect(&meaning)?;
            if *first_seen {
                writer.set().expect_dated(true)?;
            }
            writing(writer)?
        }
        SetDoes::Remove => {
            let writer = Writing::open(path)?;
            writer.set().expect(&meaning)?;
            let loader = writer.loader(load)?;
            SetAtWork::Remove(writer, loader)
        }
        SetDoes::AskAndAdd => {
            let mut writer = Writing::open_or_create(path, meaning, false)?;
            writer.set_mut().hold(hold);
            writing(writer)?
        }
        SetDoes::Ask => {
            let mut set = KeySet::open(path)?;
            set.expect(&meaning)?;
            if *first_seen {
                set.expect_dated(true)?;
            }
            set.hold(hold);
            SetAtWork::Read(set)
        }
    }))
}

/// Removes the keys of `loader`.
/// On error, it has not changed.
pub(super) fn remove(mut writer: Writing, loader: Loader) -> Result<SetChange, SetError> {
    let (count, given) = writer.remove(loader)?;
    Ok(SetChange { count, is_removal: true, given, keys: writer.set().len() })
}

impl SetAtWork {
    /// The set, as it was before the job.
    pub(crate) fn set(&self) -> &KeySet {
        match self {
            SetAtWork::Read(set) => set,
            SetAtWork::Write(writer, _) | SetAtWork::Remove(writer, _) => writer.set(),
        }
    }

    pub(crate) fn is_changed(&self) -> bool {
        !matches!(self, SetAtWork::Read(_))
    }

    /// The loader of the keys to add or remove.
    pub(crate) fn loader(&mut self) -> Option<&mut Loader> {
        match self {
            SetAtWork::Read(_) => None,
            SetAtWork::Write(_, loader) | SetAtWork::Remove(_, loader) => Some(loader),
        }
    }

    /// The set for deduplication.
    pub(crate) fn seen(&mut self) -> Seen<'_> {
        match self {
            SetAtWork::Read(set) => Seen::new(set),
            SetAtWork::Remove(writer, _) => Seen::new(writer.set()),
            SetAtWork::Write(writer, loader) => Seen::new(writer.set()).new_keys(loader),
        }
    }

    /// Adds or removes the keys, after the results are in place.
    pub(crate) fn finish(self) -> Result<Option<SetChange>, SetError> {
        match self {
            SetAtWork::Read(_) => Ok(None),
            SetAtWork::Write(mut writer, loader) => {
                let count = writer.add(loader)?;
                let keys = writer.set().len();
                Ok(Some(SetChange { count, is_removal: false, given: 0, keys }))
            }
            SetAtWork::Remove(writer, loader) => remove(writer, loader).map(Some),
        }
    }
}
