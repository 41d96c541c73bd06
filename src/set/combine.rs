//! The entries of runs and sorted lists in one order: all of them, without the keys of others, or what all have.

use super::cursor::{Cursor, retain};
use super::entry::{Entry, sort_by};
use super::error::SetError;
use super::run::Run;
use crate::threads;

/// Keys of a slice, about: what one thread works on at a time.
const SLICE: u64 = 1 << 17;

/// Entries whose keys rise, none twice.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sorted<'a, E> {
    Run(&'a Run),
    Entries(&'a [E]),
}

impl<E: Entry> Sorted<'_, E> {
    fn len(self) -> u64 {
        match self {
            Sorted::Run(run) => run.len(),
            Sorted::Entries(entries) => entries.len() as u64,
        }
    }

    /// Appends those with keys from `first` on and below `end`, if there is an end.
    fn append(self, first: u128, end: Option<u128>, out: &mut Vec<E>) -> Result<(), SetError> {
        match self {
            Sorted::Entries(entries) => {
                let below = |limit: u128| entries.partition_point(|entry| entry.key() < limit);
                out.extend_from_slice(&entries[below(first)..end.map_or(entries.len(), below)]);
                Ok(())
            }
            Sorted::Run(run) => {
                let place = |key: u128| Ok(Cursor::new(run, 1, key, key).seek(key)?.0);
                E::read(run, place(first)?, end.map_or(Ok(run.len()), place)?, out)
            }
        }
    }
}

/// What is left of the union of some keys.
#[derive(Clone, Copy, Debug)]
pub(super) enum But<'a> {
    /// All but what one of these holds.
    Not(&'a [&'a Run]),
    /// What one run at least of each of these holds.
    In(&'a [&'a [Run]]),
}

/// Calls `take` with the union of `sorted`, or what is left of it, some thousand entries at a time and rising; of those
/// with one key, with the least. Gives their number.
///
/// # Errors
/// When runs cannot be read or are damaged; what `take` gives.
pub(super) fn combine<E: Entry, X: From<SetError> + Send>(
    sorted: &[Sorted<'_, E>],
    but: But<'_>,
    mut take: impl FnMut(&[E]) -> Result<(), X> + Send,
) -> Result<u64, X> {
    let total: u64 = sorted.iter().map(|entries| entries.len()).sum();
    let slices = (total / SLICE).max(1).next_power_of_two();
    let at_once = 2 * rayon::current_num_threads() as u64;
    // Where slice `i` begins; beyond the last one nothing does.
    let start = |i: u64| {
        let shift = 128 - slices.trailing_zeros();
        if i == 0 { Some(0) } else { (i < slices).then(|| u128::from(i) << shift) }
    };
    let make = |i: u64| slice(sorted, but, start(i).unwrap_or_default(), start(i + 1));
    let mut written = 0;
    let mut waiting: Vec<Vec<E>> = Vec::new();
    for first in (0..slices).step_by(at_once as usize) {
        let end = slices.min(first + at_once);
        let (done, made) = threads::both(
            || waiting.iter().try_for_each(|entries| take(entries)),
            || threads::map(first..end, make),
        );
        done?;
        waiting = made.into_iter().collect::<Result<_, _>>()?;
        written += waiting.iter().map(|entries| entries.len() as u64).sum::<u64>();
    }
    waiting.iter().try_for_each(|entries| take(entries))?;
    Ok(written)
}

/// What is left of the entries with keys from `first` on and below `end`.
fn slice<E: Entry>(
    sorted: &[Sorted<'_, E>],
    but: But<'_>,
    first: u128,
    end: Option<u128>,
) -> Result<Vec<E>, SetError> {
    let mut entries = Vec::new();
    for one in sorted {
        one.append(first, end, &mut entries)?;
    }
    if sorted.len() > 1 {
        // Runs one behind the other, which a stable sort takes for what they are.
        sort_by(&mut entries, <[E]>::sort);
    }
    match but {
        But::Not(runs) => runs.iter().try_for_each(|run| retain(run, &mut entries, false))?,
        But::In(sets) => {
            for runs in sets {
                retain_held(runs, &mut entries)?;
            }
        }
    }
    Ok(entries)
}

/// Leaves those of `entries` whose keys one of `runs` at least holds.
fn retain_held<E: Entry>(runs: &[Run], entries: &mut Vec<E>) -> Result<(), SetError> {
    if let [run] = runs {
        return retain(run, entries, true);
    }
    let mut held = Vec::new();
    for run in runs {
        let mut found = entries.clone();
        retain(run, &mut found, true)?;
        held.extend(found);
    }
    sort_by(&mut held, <[E]>::sort);
    *entries = held;
    Ok(())
}
