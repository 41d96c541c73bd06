//! What is one, which record of a class is kept, and which classes are written.

use crate::pipeline::DedupOptions;

/// Which record of a class is kept, its survivor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Keep {
    /// The first one.
    #[default]
    First,
    /// The last one.
    Last,
    /// The one of the fewest bytes; the first of equals.
    Shortest,
    /// The first one that begins with `https:` as it is written, whatever a base or a repair would make of
    /// it; the first one if there is none.
    Https,
    /// The one whose bytes come first when all are sorted.
    Min,
    /// The one whose bytes come last.
    Max,
}

impl Keep {
    /// Whether records are compared by their ranks.
    #[inline]
    pub(super) fn has_ranks(self) -> bool {
        matches!(self, Keep::Shortest | Keep::Https)
    }

    /// Whether the records themselves are compared, so that they have to be held.
    #[inline]
    pub(super) fn has_order(self) -> bool {
        matches!(self, Keep::Min | Keep::Max)
    }

    /// How good a record is: the first one of the lowest rank is kept.
    pub(super) fn rank(self, text: &[u8]) -> u32 {
        match self {
            Keep::First | Keep::Last | Keep::Min | Keep::Max => 0,
            // A record of a chunk fits 32 bits.
            Keep::Shortest => text.len() as u32,
            Keep::Https => {
                let scheme = text.get(..6);
                u32::from(!scheme.is_some_and(|s| s.eq_ignore_ascii_case(b"https:")))
            }
        }
    }
}

/// Which classes are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Select {
    /// All of them.
    #[default]
    All,
    /// Those with two records and more.
    Repeated,
    /// Those with one record.
    Unique,
}

impl Select {
    /// Whether a class of `count` records is written.
    pub(crate) fn has(self, count: u64) -> bool {
        match self {
            Select::All => true,
            Select::Repeated => count > 1,
            Select::Unique => count == 1,
        }
    }
}

/// What is one, what is kept and what is written.
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
