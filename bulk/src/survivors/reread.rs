//! Where survivors are, for sources that are read a second time to write them.

use std::sync::Arc;

use super::StoreError;
use super::file::SpillFile;
use super::run::{PositionedRun, RunReader};
use super::store::ClassStore;
use uriscan_core::dedup::Classes;

/// The positions of survivors, each with the number of records of its class.
pub struct Survivors<'s> {
    from: From<'s>,
    /// Positions of records without a key, each a class of its own; rising.
    alone: std::vec::IntoIter<u64>,
    /// Where the next window begins.
    at: u64,
}

enum From<'s> {
    /// In memory, with the number of survivors of each partition before the next window.
    Held {
        stores: Vec<&'s ClassStore>,
        next: Vec<usize>,
    },
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
    /// For each partition in memory the number of survivors before the window.
    first: Vec<usize>,
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
        found.extend((0..).zip(&*counts).map(|(i, &count)| (i, count)).filter(|&(_, n)| n > 0));
    }
}

impl<'s> Survivors<'s> {
    pub(super) fn held(classes: &'s Classes<ClassStore>) -> Survivors<'s> {
        let stores: Vec<&ClassStore> = classes.partitions().collect();
        let next = vec![0; stores.len()];
        Survivors::new(From::Held { stores, next })
    }

    pub(super) fn spilled(
        runs: Vec<PositionedRun>,
        file: Arc<SpillFile>,
    ) -> Result<Survivors<'s>, StoreError> {
        let runs = runs.into_iter().map(|run| run.into_reader(&file));
        Ok(Survivors::new(From::Spilled { runs: runs.collect::<Result<_, StoreError>>()?, file }))
    }

    fn new(from: From<'s>) -> Survivors<'s> {
        Survivors { from, alone: Vec::new().into_iter(), at: 0 }
    }

    /// The same, and the records at the positions `alone`, which rise.
    pub fn with_alone(self, alone: Vec<u64>) -> Survivors<'s> {
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
        match &mut self.from {
            From::Held { stores, next } => {
                window.first.clone_from(next);
                for (store, next) in stores.iter().zip(next) {
                    *next += store.survivors_from(*next, window.end).count();
                }
            }
            From::Spilled { runs, file } => {
                for run in runs {
                    while let Some(position) = run.position().filter(|&at| at < window.end) {
                        window.found.push((position - window.start, run.count()));
                        run.advance(file)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The survivors in `window`: their offsets in it, which rise, and the numbers of records of their classes. None are of
    /// classes that earlier runs have seen. May be called once, by any thread.
    pub fn find<'w>(&self, window: &'w mut Window) -> &'w [(u64, u64)] {
        if let From::Held { stores, .. } = &self.from {
            for (store, &first) in stores.iter().zip(&window.first) {
                let survivors = store.survivors_from(first, window.end);
                let survivors =
                    survivors.map(|(at, class)| (at - window.start, store.count(class)));
                window.found.extend(survivors.filter(|&(_, count)| count > 0));
            }
        }
        window.sort();
        &window.found
    }
}
