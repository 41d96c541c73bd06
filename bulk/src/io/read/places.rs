//! Where the records of a generated list come from.
//!
//! A list of the links in a page, or of the records that a filter keeps, has lines of its own. Its source notes the
//! [`Place`] of each record, and rows about records name that instead of the line in the list.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use uriscan_core::extract::Context;

/// Where a record of a list comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its line, counted from 1.
    pub(crate) line: u64,
    /// Length in bytes of the line before it.
    pub(crate) indent: u64,
    /// Its first byte in the source, counted from 0.
    pub(crate) byte: u64,
    /// Of a link, what it was found in.
    pub(crate) context: Option<Context>,
    /// The record is the bytes at this place. Otherwise it was made of them: resolved, decoded or escaped.
    pub(crate) is_literal: bool,
}

/// The places of the records of a list, by their lines in it; a list and those who read it share them.
///
/// They are taken once, so that only those of records under way are kept.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    noted: Arc<Mutex<Noted>>,
    are_of_links: bool,
}

#[derive(Debug, Default)]
struct Noted {
    /// Lines of the list so far.
    lines: u64,
    /// Blocks by their first line, each with how many of its places have not been taken.
    blocks: BTreeMap<u64, (Vec<Place>, usize)>,
}

impl Places {
    /// Those of a list of links, or else of records that are in a list already.
    pub(crate) fn new(are_of_links: bool) -> Places {
        Places { noted: Arc::default(), are_of_links }
    }

    pub(crate) fn are_of_links(&self) -> bool {
        self.are_of_links
    }

    /// Notes the places of the next lines.
    pub(crate) fn push(&self, places: Vec<Place>) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let first = noted.lines + 1;
        noted.lines += places.len() as u64;
        if !places.is_empty() {
            let left = places.len();
            noted.blocks.insert(first, (places, left));
        }
    }

    /// Takes the places of `count` lines from the line `first` on, counted from 1.
    pub(crate) fn take(&self, first: u64, count: usize) -> Vec<Place> {
        let mut taken = Vec::with_capacity(count);
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let end = first + count as u64;
        while first + (taken.len() as u64) < end {
            let next = first + taken.len() as u64;
            let Some((&start, (places, left))) = noted.blocks.range_mut(..=next).next_back() else {
                break;
            };
            let from = (next - start) as usize;
            let to = places.len().min((end - start) as usize);
            if from >= to {
                break;
            }
            taken.extend_from_slice(&places[from..to]);
            *left -= to - from;
            if *left == 0 {
                noted.blocks.remove(&start);
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u64) -> Place {
        Place { line, indent: 0, byte: 0, context: None, is_literal: true }
    }

    #[test]
    fn places_are_taken_once_and_in_any_order() {
        let places = Places::new(true);
        places.push((1..=3).map(place).collect());
        places.push(Vec::new());
        places.push((4..=9).map(place).collect());
        let lines = |first, count| -> Vec<u64> {
            places.take(first, count).iter().map(|place| place.line).collect()
        };
        assert_eq!(lines(3, 4), [3, 4, 5, 6]);
        assert_eq!(lines(1, 2), [1, 2]);
        assert_eq!(places.noted.lock().unwrap().blocks.len(), 1);
        assert_eq!(lines(7, 9), [7, 8, 9]);
        assert_eq!(lines(10, 1), [0; 0]);
        assert!(places.noted.lock().unwrap().blocks.is_empty());
    }
}
