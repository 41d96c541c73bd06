//! Where survivors are, for sources that are read a second time to write them.

use std::sync::Arc;

use super::StoreError;
use super::file::SpillFile;
use super::positions::Positions;
use super::run::{PositionedRun, RunReader};

/// The positions of survivors, each with the number of records of its class.
pub struct Survivors {
    from: From,
    /// Positions of records without a key, each a class of its own; rising.
    alone: std::vec::IntoIter<u64>,
    /// Where the next window begins.
    at: u64,
}

enum From {
    /// Of each partition in memory.
    Held(Vec<Positions>),
    Spilled {
        runs: Vec<RunReader>,
        file: Arc<SpillFile>,
    },
}

/// The survivors among some positions. Reusable.
#[derive(Debug, Default)]
pub struct Window {
    start: u64,
    end: u64,
    /// Offsets in the window, and numbers of records.
    found: Vec<(u64, u64)>,
    /// For each offset the number of records, while they are sorted.
    counts: Vec<u64>,
}

impl Window {
    /// Brings what was found into the order of the offsets.
    fn sort(&mut self) {
        let Window { start, end, found, counts, .. } = self;
        let len = (*end - *start) as usize;
        if found.is_sorted() {
            return;
        }
        // Most lines are survivors: a place for each costs less than sorting. Of most bytes there is nothing.
        if len > 8 * found.len() {
            return found.sort_unstable();
        }
        counts.clear();
        counts.resize(len, 0);
        found.drain(..).for_each(|(offset, count)| counts[offset as usize] = count);
        found.resize(len, (0, 0));
        let mut kept = 0;
        // Which lines survive cannot be foreseen, so all are written.
        for (i, &count) in (0..).zip(&*counts) {
            found[kept] = (i, count);
            kept += usize::from(count > 0);
        }
        found.truncate(kept);
    }
}

impl Survivors {
    pub(super) fn held(positions: Vec<Positions>) -> Survivors {
        Survivors::new(From::Held(positions))
    }

    pub(super) fn spilled(
        runs: Vec<PositionedRun>,
        file: Arc<SpillFile>,
    ) -> Result<Survivors, StoreError> {
        let runs = runs.into_iter().map(|run| run.into_reader(&file));
        Ok(Survivors::new(From::Spilled { runs: runs.collect::<Result<_, StoreError>>()?, file }))
    }

    fn new(from: From) -> Survivors {
        Survivors { from, alone: Vec::new().into_iter(), at: 0 }
    }

    /// The same, and the records at the positions `alone`, which rise.
    pub fn with_alone(self, alone: Vec<u64>) -> Survivors {
        Survivors { alone: alone.into_iter(), ..self }
    }

    /// Makes `window` that of the next `len` positions; the one after it is next. [`Survivors::find`] says what is in it.
    pub fn advance(&mut self, len: u64, window: &mut Window) -> Result<(), StoreError> {
        (window.start, window.end) = (self.at, self.at + len);
        self.at = window.end;
        window.found.clear();
        while let Some(&position) = self.alone.as_slice().first().filter(|&&at| at < self.at) {
            window.found.push((position - window.start, 1));
            self.alone.next();
        }
        if let From::Spilled { runs, file } = &mut self.from {
            for run in runs {
                while let Some(position) = run.position().filter(|&at| at < window.end) {
                    window.found.push((position - window.start, run.count()));
                    run.advance(file)?;
                }
            }
        }
        Ok(())
    }

    /// The survivors in `window`: their offsets in it, which rise, and the numbers of records of their classes. None are of
    /// classes that earlier runs have seen. May be called once, by any thread.
    pub fn find<'w>(&self, window: &'w mut Window) -> &'w [(u64, u64)] {
        if let From::Held(partitions) = &self.from {
            let Window { start, end, .. } = *window;
            for positions in partitions {
                positions.within(start..end, |at, count| window.found.push((at - start, count)));
            }
        }
        window.sort();
        &window.found
    }
}
