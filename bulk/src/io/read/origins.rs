//! Where the records of a generated list come from.
//!
//! A list of the links in a page has lines of its own. Its source notes the [`RecordOrigin`] of each record, and rows about records
//! name that instead of the line in the list. So they do of the records that a filter keeps.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use uriscan_core::extract::Context;

/// Where a record of a list comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordOrigin {
    /// Its line, counted from 1.
    pub(crate) line: u64,
    /// Length in bytes of the line before it.
    pub(crate) indent: u64,
    /// Its first byte in the source, counted from 0.
    pub(crate) byte: u64,
    /// Of a link, what it was found in.
    pub(crate) context: Option<Context>,
    /// The record is the bytes at this origin. Otherwise it was made of them: resolved, decoded or escaped.
    pub(crate) is_literal: bool,
}

/// The origins of the records of a list, by their lines in it; a list and those who read it share them.
///
/// They are noted only for a reader that asks for them, and taken once, so that only those of records under way are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordOrigins {
    untaken: Arc<Mutex<Untaken>>,
    are_asked_for: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct Untaken {
    /// Lines of the list so far.
    lines: u64,
    /// Blocks by their first line, each with how many of its origins have not been taken.
    blocks: BTreeMap<u64, (Vec<RecordOrigin>, usize)>,
}

impl RecordOrigins {
    /// Has the origins noted of a list that is opened from now on. They must be taken, or they fill memory.
    pub(crate) fn ask_for(&self) {
        self.are_asked_for.store(true, Ordering::Relaxed);
    }

    pub(crate) fn are_asked_for(&self) -> bool {
        self.are_asked_for.load(Ordering::Relaxed)
    }

    /// Notes the origins of the next lines.
    pub(crate) fn push(&self, origins: Vec<RecordOrigin>) {
        let mut untaken = self.untaken.lock().unwrap_or_else(PoisonError::into_inner);
        let first = untaken.lines + 1;
        untaken.lines += origins.len() as u64;
        if !origins.is_empty() {
            let left = origins.len();
            untaken.blocks.insert(first, (origins, left));
        }
    }

    /// Takes the origins of `count` lines from the line `first` on, counted from 1.
    pub(crate) fn take(&self, first: u64, count: usize) -> Vec<RecordOrigin> {
        let mut taken = Vec::with_capacity(count);
        let mut untaken = self.untaken.lock().unwrap_or_else(PoisonError::into_inner);
        let end = first + count as u64;
        while first + (taken.len() as u64) < end {
            let next = first + taken.len() as u64;
            let Some((&start, (origins, left))) = untaken.blocks.range_mut(..=next).next_back()
            else {
                break;
            };
            let from = (next - start) as usize;
            let to = origins.len().min((end - start) as usize);
            if from >= to {
                break;
            }
            taken.extend_from_slice(&origins[from..to]);
            *left -= to - from;
            if *left == 0 {
                untaken.blocks.remove(&start);
            }
        }
        taken
    }
}

#[cfg(test)]
impl RecordOrigins {
    /// How many have been noted and not taken.
    pub(crate) fn left(&self) -> usize {
        self.untaken.lock().unwrap().blocks.values().map(|(_, left)| left).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(line: u64) -> RecordOrigin {
        RecordOrigin { line, indent: 0, byte: 0, context: None, is_literal: true }
    }

    #[test]
    fn origins_are_taken_once_and_in_any_order() {
        let origins = RecordOrigins::default();
        origins.push((1..=3).map(origin).collect());
        origins.push(Vec::new());
        origins.push((4..=9).map(origin).collect());
        let lines = |first, count| -> Vec<u64> {
            origins.take(first, count).iter().map(|origin| origin.line).collect()
        };
        assert_eq!(lines(3, 4), [3, 4, 5, 6]);
        assert_eq!(lines(1, 2), [1, 2]);
        assert_eq!(origins.untaken.lock().unwrap().blocks.len(), 1);
        assert_eq!(lines(7, 9), [7, 8, 9]);
        assert_eq!(lines(10, 1), [0; 0]);
        assert_eq!(origins.left(), 0);
    }
}
