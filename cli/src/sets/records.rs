//! The set of a job: opened before the run, updated after its results are in place.

use uriscan::key::PublicHash;
use uriscan::pipeline::{ClassOptions, DedupOptions, Seen};
use uriscan::set::{Fault, KeySet, Loader, Meaning, SetError};

use super::writing::{LOAD_BYTES, Writing};
use crate::config::{Config, Job, SetDoes, SetUse};
use crate::exit::Failure;
use crate::memory;

/// Bytes of keys that may be held in memory for look-ups where neither a limit nor the memory of the machine is known.
const HOLD_BYTES: u64 = 512 << 20;

/// The set of a job.
#[derive(Debug)]
pub(crate) enum SetAtWork {
    Read(KeySet),
    Write(Writing, Loader),
}

/// Sets the hash of the job of `config` to that of its set, unless another one was requested.
///
/// # Errors
/// When the set cannot be opened.
pub(crate) fn choose_hash(config: &mut Config) -> Result<(), Failure> {
    let Some(SetUse { path, does, hash, .. }) = &config.set else { return Ok(()) };
    let of_set = match (does, KeySet::open(path)) {
        (SetDoes::Create, _) => return Ok(()),
        (_, Ok(set)) => set.meaning().hash(),
        (SetDoes::AskAndAdd, Err(SetError { fault: Fault::NotASet, .. })) => return Ok(()),
        (_, Err(error)) => return Err(error.into()),
    };
    if hash.is_none() {
        *hash_of(&mut config.job) = of_set;
    }
    Ok(())
}

fn hash_of(job: &mut Job) -> &mut PublicHash {
    match job {
        Job::Dedup(options) | Job::Classes(ClassOptions { dedup: options, .. }) => {
            &mut options.hash
        }
        Job::Collect(options) | Job::Members(options, _) => &mut options.hash,
        _ => unreachable!("no other job is given a set"),
    }
}

fn meaning_of(job: &Job) -> Meaning {
    match job {
        Job::Dedup(options) | Job::Classes(ClassOptions { dedup: options, .. }) => {
            options.equivalence.meaning(options.hash)
        }
        Job::Collect(options) | Job::Members(options, _) => {
            options.equivalence.meaning(options.hash)
        }
        _ => unreachable!("no other job is given a set"),
    }
}

/// Bytes of memory for looking keys up and for adding keys: shares of the limit, which is half of the machine's memory if
/// none was given.
pub(crate) fn shares(job: &Job) -> (u64, usize) {
    match job {
        Job::Dedup(DedupOptions { limit: Some(limit), .. })
        | Job::Classes(ClassOptions { dedup: DedupOptions { limit: Some(limit), .. }, .. }) => {
            (limit.bytes as u64 / 4, LOAD_BYTES.min(limit.bytes / 8))
        }
        _ => (memory::of_machine().map_or(HOLD_BYTES, |bytes| bytes / 8), LOAD_BYTES),
    }
}

/// Opens the set of `config`, if any.
///
/// # Errors
/// When it cannot be opened, or its keys mean something else.
pub(crate) fn open(config: &Config) -> Result<Option<SetAtWork>, Failure> {
    let Some(SetUse { path, does, first_seen, at, .. }) = &config.set else { return Ok(None) };
    let meaning = meaning_of(&config.job);
    let (hold, load) = shares(&config.job);
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

impl SetAtWork {
    /// The set, as it was before the job.
    pub(crate) fn set(&self) -> &KeySet {
        match self {
            SetAtWork::Read(set) => set,
            SetAtWork::Write(writer, _) => writer.set(),
        }
    }

    /// The loader of new keys.
    pub(crate) fn loader(&mut self) -> Option<&mut Loader> {
        match self {
            SetAtWork::Read(_) => None,
            SetAtWork::Write(_, loader) => Some(loader),
        }
    }

    /// The set for deduplication.
    pub(crate) fn seen(&mut self) -> Seen<'_> {
        match self {
            SetAtWork::Read(set) => Seen::new(set),
            SetAtWork::Write(writer, loader) => Seen::new(writer.set()).new_keys(loader),
        }
    }

    /// Adds the keys, after the results are in place; returns the number of new ones and of all.
    pub(crate) fn finish(self) -> Result<Option<(u64, u64)>, SetError> {
        match self {
            SetAtWork::Read(_) => Ok(None),
            SetAtWork::Write(mut writer, loader) => {
                let added = writer.add(loader)?;
                Ok(Some((added, writer.set().len())))
            }
        }
    }
}
