//! What of a run is held in memory, and what is known of its look-ups.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use memmap2::MmapMut;

use super::tags::Tags;

/// What is held of a run.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Nothing once it was found that they cannot be held; the same for the keys.
    pub(super) tags: OnceLock<Option<Tags>>,
    /// The keys, in the bytes of the file.
    pub(super) keys: OnceLock<Option<MmapMut>>,
    pub(super) may: May,
    /// Look-ups that were expected so far, those that were made, and how many of these found their tag, or without tags their key.
    pub(super) expected: AtomicU64,
    pub(super) made: AtomicU64,
    pub(super) there: AtomicU64,
}

/// What may be held.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum May {
    #[default]
    Nothing,
    Tags,
    Keys,
}
