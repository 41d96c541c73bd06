//! Runs brought together in the order of their positions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::StoreError;
use super::file::SpillFile;
use super::run::{PositionedRun, RunReader};

/// Bytes that are gathered before they are handed on.
const GATHERED: usize = 128 << 10;

/// Runs that are merged.
#[derive(Default)]
pub(super) struct Merge {
    runs: Vec<RunReader>,
    /// The positions of the runs that have not ended, with their numbers.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    gathered: Vec<u8>,
}

impl Merge {
    /// A merge of `runs`, which are in `file`.
    pub(super) fn new(runs: Vec<PositionedRun>, file: &SpillFile) -> Result<Merge, StoreError> {
        let runs = runs.into_iter().map(|run| run.into_reader(file));
        let runs = runs.collect::<Result<Vec<_>, StoreError>>()?;
        let position =
            |(number, run): (usize, &RunReader)| Some(Reverse((run.position()?, number)));
        let next = runs.iter().enumerate().filter_map(position).collect();
        Ok(Merge { runs, next, gathered: Vec::new() })
    }

    /// Hands on all entries before the position `end`, in order.
    pub(super) fn up_to(
        &mut self,
        end: u64,
        file: &SpillFile,
        mut hand_on: impl FnMut(&[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        while let Some(mut next) = self.next.peek_mut() {
            let Reverse((position, number)) = *next;
            if position >= end {
                break;
            }
            let run = &mut self.runs[number];
            self.gathered.extend_from_slice(run.bytes());
            if self.gathered.len() >= GATHERED {
                hand_on(&self.gathered)?;
                self.gathered.clear();
            }
            run.advance(file)?;
            match run.position() {
                Some(position) => *next = Reverse((position, number)),
                None => drop(PeekMut::pop(next)),
            }
        }
        hand_on(&self.gathered)?;
        self.gathered.clear();
        Ok(())
    }
}
