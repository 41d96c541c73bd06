//! What parts have to say, brought together in the order of the input.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::tape::{Placed, Playing};
use crate::pipeline::Error;
use crate::pipeline::spill::Aside;

/// Bytes that are gathered before they are handed on.
const GATHERED: usize = 128 << 10;

/// Tapes that are read side by side.
pub(in crate::pipeline::classes) struct Merge<'f> {
    file: &'f Aside,
    tapes: Vec<Playing>,
    /// The positions of the tapes that have not ended, with their numbers.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    gathered: Vec<u8>,
}

impl<'f> Merge<'f> {
    /// What is on `tapes`, which are in `file`.
    pub(in crate::pipeline::classes) fn new(
        tapes: Vec<Placed>,
        file: &'f Aside,
    ) -> Result<Merge<'f>, Error> {
        let tapes =
            tapes.into_iter().map(|tape| tape.play(file)).collect::<Result<Vec<_>, Error>>()?;
        let position =
            |(number, tape): (usize, &Playing)| Some(Reverse((tape.position()?, number)));
        let next = tapes.iter().enumerate().filter_map(position).collect();
        Ok(Merge { file, tapes, next, gathered: Vec::new() })
    }

    /// Hands on all that stands before the position `end`, in order.
    pub(in crate::pipeline::classes) fn up_to(
        &mut self,
        end: u64,
        mut hand_on: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while let Some(mut next) = self.next.peek_mut() {
            let Reverse((position, number)) = *next;
            if position >= end {
                break;
            }
            let tape = &mut self.tapes[number];
            self.gathered.extend_from_slice(tape.bytes());
            if self.gathered.len() >= GATHERED {
                hand_on(&self.gathered)?;
                self.gathered.clear();
            }
            tape.advance(self.file)?;
            match tape.position() {
                Some(position) => *next = Reverse((position, number)),
                None => drop(PeekMut::pop(next)),
            }
        }
        hand_on(&self.gathered)?;
        self.gathered.clear();
        Ok(())
    }
}
