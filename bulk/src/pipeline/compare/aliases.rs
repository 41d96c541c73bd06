//! Level 6.2.4: evidence that one URI represents another.

use std::collections::HashMap;

use uriscan_core::alias::AliasTable;
use uriscan_core::key::{Hasher, Key};

/// Pairs of URIs, the first of which represents the second, such as redirects that were seen.
///
/// Chains are followed to their end. Canonical forms are compared, so a pair applies to every spelling of its
/// first URI. Takes 40 bytes per pair, plus the targets if they are kept.
#[derive(Debug)]
pub struct Aliases {
    pub(crate) table: AliasTable,
    pub(crate) hasher: Hasher,
    pub(crate) digest: [u8; 32],
    /// The canonical forms of the right sides, by key, if they are kept.
    pub(crate) targets: Option<HashMap<u128, Box<[u8]>>>,
}

named! {
    /// Why a row of a file of aliases is ignored.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum AliasFault {
        /// It does not have two columns, or the members `from` and `to`.
        Malformed = "malformed",
        /// One of the two is not a URI.
        Invalid = "invalid",
        /// Another row has another target for the same URI.
        Conflict = "conflict",
        /// It is part of a cycle.
        Loop = "loop",
    }
}

impl AliasFault {
    /// The explanation in one sentence.
    pub const fn message(self) -> &'static str {
        match self {
            AliasFault::Malformed => "a row has two columns, from and to; nothing is merged by it",
            AliasFault::Invalid => "one of the two is not a URI; nothing is merged by it",
            AliasFault::Conflict => {
                "another row maps this URI to another target; it is mapped to none"
            }
            AliasFault::Loop => "this leads into a circle; the URI is mapped to none",
        }
    }
}

impl Aliases {
    /// The table of keys.
    pub fn table(&self) -> &AliasTable {
        &self.table
    }

    /// A hash of the pairs, the same in any order of them and under any hash of keys: BLAKE3 of the public keys of all
    /// of them, sorted.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Whether the canonical forms of the right sides are kept.
    pub fn has_targets(&self) -> bool {
        self.targets.is_some()
    }

    /// The hash of the keys.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// The key of what the canonical form `form` represents.
    #[inline]
    pub(crate) fn key(&self, form: &[u8]) -> Key {
        self.table.target(self.hasher.key(form))
    }

    /// The canonical form of what `form` represents, if targets are kept.
    pub(crate) fn form<'a>(&'a self, form: &'a [u8]) -> &'a [u8] {
        let Some(targets) = &self.targets else { return form };
        targets.get(&self.key(form).0).map_or(form, |target| target)
    }
}
