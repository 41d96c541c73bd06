//! Options of jobs that compare records.

use crate::pipeline::{Equivalence, Error, Keep, MemoryLimit, OnInvalid, Select};
use uriscan_core::key::{Hasher, PublicHash};

/// What is written for the first record of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emit {
    /// Its own bytes.
    #[default]
    Original,
    /// Its canonical form; an invalid record has none and is written unchanged.
    Normalized,
    /// Its public key, as 32 hexadecimal digits; zeros for an overlong record.
    Key,
}

/// What is equivalent and what is written.
///
/// ```
/// use uriscan_bulk::io::Source;
/// use uriscan::normalize::{Options, Level};
/// use uriscan_bulk::pipeline::{DedupOptions, Emit, Settings, Sinks, dedup};
/// let options = DedupOptions::default().equivalence(Options::new(Level::Syntax).into()).emit(Emit::Normalized);
/// let list = Source::new("list", &b"HTTP://h/%7ea\nhttp://h/~a\n"[..]);
/// let mut out = Vec::new();
/// dedup(vec![list], &options, &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"http://h/~a\n");
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct DedupOptions {
    /// When two records are equivalent.
    pub equivalence: Equivalence,
    /// What is written for each class.
    pub emit: Emit,
    /// The policy on invalid records.
    pub on_invalid: OnInvalid,
    /// Makes the keys of the run. They depend on its secrets; no result does.
    pub hasher: Hasher,
    /// The hash for public keys, where those are needed: for [`Emit::Key`] and sets on disk.
    pub hash: PublicHash,
    /// The memory limit; `None` for no limit.
    pub limit: Option<MemoryLimit>,
    /// The highest probability, between 0 and 1, with which a new record may be mistaken for a duplicate; keys then
    /// take an eighth of the memory ([`ApproxSet`](uriscan_core::dedup::ApproxSet)), and `limit` does not apply.
    pub approximate: Option<f64>,
}

impl Default for DedupOptions {
    fn default() -> DedupOptions {
        DedupOptions {
            equivalence: Equivalence::default(),
            emit: Emit::default(),
            on_invalid: OnInvalid::default(),
            hasher: Hasher::random(),
            hash: PublicHash::default(),
            limit: None,
            approximate: None,
        }
    }
}

setters! { DedupOptions
    {
        equivalence: Equivalence, emit: Emit, on_invalid: OnInvalid, hasher: Hasher,
        hash: PublicHash,
    }
    into { limit: Option<MemoryLimit>, approximate: Option<f64> }
}

impl DedupOptions {
    /// The hasher for the keys of a run; with `needs_public` one that they can be turned back by.
    pub(crate) fn run_hasher(&self, needs_public: bool) -> Result<Hasher, Error> {
        let equivalence = &self.equivalence;
        if needs_public {
            equivalence.require_targets()?;
        }
        let public = needs_public.then(|| equivalence.public_hasher(self.hash));
        Ok(equivalence.run_hasher(&self.hasher, public))
    }
}

/// What is equivalent, what is kept and what is written.
///
/// ```
/// use uriscan_bulk::io::Source;
/// use uriscan_bulk::pipeline::{ClassOptions, Keep, Settings, Sinks, classes};
/// let options = ClassOptions::default().keep(Keep::Last).count(true);
/// let list = Source::new("list", &b"http://h\nhttp://h/\n"[..]);
/// let mut out = Vec::new();
/// classes(vec![list], &options, &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"      2 http://h/\n");
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct ClassOptions {
    /// As for [`crate::pipeline::dedup()`].
    pub dedup: DedupOptions,
    /// Which record of a class is kept.
    pub keep: Keep,
    /// Which classes are written.
    pub select: Select,
    /// Write the number of records before each line, right-aligned to seven columns, and a space.
    pub count: bool,
}

setters! { ClassOptions { dedup: DedupOptions, keep: Keep, select: Select, count: bool } }
