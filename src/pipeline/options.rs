//! What jobs that compare records are asked for.

use super::{Equivalence, Error, Keep, MemoryLimit, OnInvalid, Select};
use crate::key::{Hasher, PublicHash};

/// What is written for the first record of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emit {
    /// Its own bytes.
    #[default]
    Original,
    /// Its canonical form; an invalid record has none and is written as it is.
    Normalized,
    /// Its public key, as 32 hexadecimal digits; zeros for a record too long to be judged.
    Key,
}

/// What is equivalent and what is written.
#[derive(Clone, Debug)]
pub struct DedupOptions {
    /// What makes two records one.
    pub equivalence: Equivalence,
    /// What is written for each class.
    pub emit: Emit,
    /// What becomes of invalid records.
    pub on_invalid: OnInvalid,
    /// Makes the keys of the run. They depend on its secrets; no result does.
    pub hasher: Hasher,
    /// The hash for public keys, where those are needed: for [`Emit::Key`] and sets on disk.
    pub hash: PublicHash,
    /// What memory may be taken; without it as much as there are keys for.
    pub limit: Option<MemoryLimit>,
    /// Take a new record for an old one with a chance of this at most, between 0 and 1, for an eighth of the
    /// memory ([`ApproxSet`](crate::dedup::ApproxSet)); `limit` is not looked at then.
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

impl DedupOptions {
    /// The hasher for the keys of a run; with `needs_public` one that they can be turned back by.
    pub(super) fn run_hasher(&self, needs_public: bool) -> Result<Hasher, Error> {
        let equivalence = &self.equivalence;
        if needs_public {
            equivalence.require_targets()?;
        }
        let public = needs_public.then(|| equivalence.public_hasher(self.hash));
        Ok(equivalence.run_hasher(&self.hasher, public))
    }
}

/// What is equivalent, what is kept and what is written.
#[derive(Clone, Debug, Default)]
pub struct ClassOptions {
    /// As for [`crate::pipeline::dedup()`].
    pub dedup: DedupOptions,
    /// Which record of a class is kept.
    pub keep: Keep,
    /// Which classes are written.
    pub select: Select,
    /// Write the number of records before each line, right-aligned to seven columns, and a space.
    pub count: bool,
    /// Compare the canonical forms of two records wherever they have one key, instead of trusting 128 bits; if two
    /// differ, they are in two classes.
    pub verify: bool,
}
