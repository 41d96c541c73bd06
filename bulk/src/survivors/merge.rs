//! Runs brought together in the order of their positions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::StoreError;
use super::file::SpillFile;
use super::run::{PositionedRun, RunReader};

/// Bytes that are gathered before they are handed on.
const GATHERED: usize = 128 << 10;

#[derive(Default)]
pub(super) struct Merge {
    runs: Vec<RunReader>,
    /// The positions of the runs that have not ended, with their numbers.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    gathered: Vec<u8>,
}

impl Merge {
    pub(super) fn new(runs: Vec<PositionedRun>, file: &SpillFile) -> Result<Merge, StoreError> {
        let runs = runs.into_iter().map(|run| run.into_reader(file));
        let runs = runs.collect::<Result<Vec<_>, StoreError>>()?;
        let position =
            |(number, run): (usize, &RunReader)| Some(Reverse((run.position()?, number)));
        let next = runs.iter().enumerate().filter_map(position).collect();
        Ok(Merge { runs, next, gathered: Vec::new() })
    }

    /// The next entry: its position and its bytes; `None` at the end.
    #[inline]
    pub(super) fn entry(&self) -> Option<(u64, &[u8])> {
        let &Reverse((position, number)) = self.next.peek()?;
        Some((position, self.runs[number].bytes()))
    }

    /// Goes on to the entry after [`Merge::entry`].
    #[inline]
    pub(super) fn advance(&mut self, file: &SpillFile) -> Result<(), StoreError> {
        let Some(mut next) = self.next.peek_mut() else { return Ok(()) };
        let Reverse((_, number)) = *next;
        let run = &mut self.runs[number];
        run.advance(file)?;
        match run.position() {
            Some(position) => *next = Reverse((position, number)),
            None => drop(PeekMut::pop(next)),
        }
        Ok(())
    }

    /// Hands on all entries before the position `end`, in order.
    pub(super) fn up_to(
        &mut self,
        end: u64,
        file: &SpillFile,
        mut hand_on: impl FnMut(&[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut gathered = std::mem::take(&mut self.gathered);
        while let Some((_, bytes)) = self.entry().filter(|&(position, _)| position < end) {
            gathered.extend_from_slice(bytes);
            if gathered.len() >= GATHERED {
                hand_on(&gathered)?;
                gathered.clear();
            }
            self.advance(file)?;
        }
        hand_on(&gathered)?;
        gathered.clear();
        self.gathered = gathered;
        Ok(())
    }
}

/// One run of the entries of all `runs`, which are in `file`; entries at the same position are in the order of the runs.
pub(super) fn joined(
    runs: Vec<PositionedRun>,
    capacity: usize,
    file: &SpillFile,
) -> Result<PositionedRun, StoreError> {
    let mut joined = PositionedRun::new(capacity);
    let mut merge = Merge::new(runs, file)?;
    while let Some((position, bytes)) = merge.entry() {
        joined.push(position, bytes, file)?;
        merge.advance(file)?;
    }
    joined.finish(file)?;
    Ok(joined)
}
