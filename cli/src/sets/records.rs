//! Sets that take part in a job: opened before it begins, changed when all it has written is in its place.

use std::path::PathBuf;

use uriscan::key::PublicHash;
use uriscan::pipeline::{ClassOptions, DedupOptions, MemberOptions, Seen};
use uriscan::set::{Fault, KeySet, Loader, Meaning, SetError, Timestamp};

use super::LOAD_BYTES;
use super::writing::Writing;
use crate::args;
use crate::config::{Config, Job};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::{by_profile, equivalence, on_invalid};

/// Keys of a set that are held in memory for look-ups, in bytes.
const HOLD_BYTES: u64 = 512 << 20;

/// What a job does with a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetUse {
    pub(crate) path: PathBuf,
    pub(crate) does: SetDoes,
    /// Whether the set keeps times, or has to.
    pub(crate) first_seen: bool,
    /// When what is added was first seen, if not now.
    pub(crate) at: Option<Timestamp>,
    /// The hash that was asked for; otherwise that of the set, if it is there.
    pub(crate) hash: Option<PublicHash>,
}

/// The same, without the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetDoes {
    /// The set is made.
    Create,
    /// Keys are added.
    Add,
    /// The set is asked.
    Ask,
    /// The set is asked, and made if it is not there, and what was not in it is added.
    AskAndAdd,
}

/// Which records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Those that are in the set.
    In,
    /// Those that are not.
    NotIn,
    /// Those that are, and since when.
    FirstSeen,
}

/// What `set` is to do with URIs.
///
/// # Errors
/// When the arguments contradict each other.
pub(crate) fn of_set(
    command: args::SetCommand,
    environment: &Environment,
) -> Result<Config, Failure> {
    let filled = |filling: args::Filling| {
        let args::Filling { records, input, work, reporting } = filling;
        let destination = args::Destination { output: None };
        (records, args::Common { input, destination, work, reporting })
    };
    let used = |path, does| SetUse { path, does, first_seen: false, at: None, hash: None };
    let (set, hash, asked, (records, common)) = match command {
        args::SetCommand::Create(args::Create { set, hash, first_seen, at, filling }) => {
            let set = SetUse { first_seen, at, ..used(set, SetDoes::Create) };
            (set, hash.public(), None, filled(filling))
        }
        args::SetCommand::Add(args::Add { set, at, filling }) => {
            let set = SetUse { first_seen: at.is_some(), at, ..used(set, SetDoes::Add) };
            (set, PublicHash::default(), None, filled(filling))
        }
        args::SetCommand::Has(args::Has { set, invert_match, first_seen, records, common }) => {
            let set = SetUse { first_seen, ..used(set, SetDoes::Ask) };
            let asked = match (first_seen, invert_match) {
                (true, _) => Asked::FirstSeen,
                (_, true) => Asked::NotIn,
                (_, false) => Asked::In,
            };
            (set, PublicHash::default(), Some(asked), (records, common))
        }
        // `sets::run` does them.
        _ => return Err(Failure::new("reads no records")),
    };
    let (on_invalid, rejects) = on_invalid(&records.invalid)?;
    let options = MemberOptions {
        equivalence: by_profile(equivalence(&records.equivalence)?, &records.profile)?,
        hash,
        on_invalid,
    };
    let job = match asked {
        None => Job::Collect(options),
        Some(asked) => Job::Members(options, asked),
    };
    let strict = records.invalid.strictness.strict;
    let mut config = Config::of_job(job, rejects, common, strict, environment)?;
    config.set = Some(set);
    config.with_evidence(&records.equivalence)?.reading(&records.from, &records.equivalence)
}

/// The set of a job.
#[derive(Debug)]
pub(crate) enum SetAtWork {
    Read(KeySet),
    Write(Writing, Loader),
}

/// Gives the job of `config` the hash of its set, or of its checkpoint, unless another one was asked for.
///
/// # Errors
/// When there is no such set.
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

/// Bytes of memory for keys of the set that are looked up, and for keys on their way into it: shares of the limit, if
/// there is one.
pub(crate) fn shares(job: &Job) -> (u64, usize) {
    match job {
        Job::Dedup(DedupOptions { limit: Some(limit), .. })
        | Job::Classes(ClassOptions { dedup: DedupOptions { limit: Some(limit), .. }, .. }) => {
            (HOLD_BYTES.min(limit.bytes as u64 / 4), LOAD_BYTES.min(limit.bytes / 8))
        }
        _ => (HOLD_BYTES, LOAD_BYTES),
    }
}

/// Opens the set of `config`, if it names one.
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
            writer.set_mut().hold(hold)?;
            writing(writer)?
        }
        SetDoes::Ask => {
            let mut set = KeySet::open(path)?;
            set.expect(&meaning)?;
            if *first_seen {
                set.expect_dated(true)?;
            }
            set.hold(hold)?;
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

    /// What takes keys to be added.
    pub(crate) fn loader(&mut self) -> Option<&mut Loader> {
        match self {
            SetAtWork::Read(_) => None,
            SetAtWork::Write(_, loader) => Some(loader),
        }
    }

    /// What decides on new records.
    pub(crate) fn seen(&mut self) -> Seen<'_> {
        match self {
            SetAtWork::Read(set) => Seen { set, new_keys: None },
            SetAtWork::Write(writer, loader) => Seen { set: writer.set(), new_keys: Some(loader) },
        }
    }

    /// Adds the keys, once all results are where they belong; gives the number of new ones and of all.
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
