//! The keys of runs and sorted lists in one order: all of them, without those of others, or what all have.

use rayon::prelude::*;

use super::cursor::{Cursor, retain};
use super::error::SetError;
use super::run::{BLOCK_KEYS, Run, key_at};

/// Keys of a slice, about: what one thread works on at a time.
const SLICE: u64 = 1 << 17;

/// Keys in rising order, none twice.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sorted<'a> {
    Run(&'a Run),
    Keys(&'a [u128]),
}

impl Sorted<'_> {
    fn len(self) -> u64 {
        match self {
            Sorted::Run(run) => run.len(),
            Sorted::Keys(keys) => keys.len() as u64,
        }
    }

    /// Appends the keys from `first` on and below `end`, if there is an end.
    fn append(self, first: u128, end: Option<u128>, out: &mut Vec<u128>) -> Result<(), SetError> {
        match self {
            Sorted::Keys(keys) => {
                let below = |limit: u128| keys.partition_point(|&key| key < limit);
                out.extend_from_slice(&keys[below(first)..end.map_or(keys.len(), below)]);
                Ok(())
            }
            Sorted::Run(run) => {
                let place = |key: u128| Ok(Cursor::new(run, 1, key, key).seek(key)?.0);
                let (start, end) = (place(first)?, end.map_or(Ok(run.len()), place)?);
                let (first_block, mut bytes) = (start / BLOCK_KEYS, Vec::new());
                run.read_blocks(first_block..end.div_ceil(BLOCK_KEYS), &mut bytes)?;
                let skipped = (start - first_block * BLOCK_KEYS) as usize;
                let count = (end - start) as usize;
                out.extend((skipped..skipped + count).map(|i| key_at(&bytes, i)));
                Ok(())
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

/// Calls `take` with the union of `sorted`, or what is left of it, some thousand keys at a time and rising; gives
/// the number of keys.
///
/// # Errors
/// When runs cannot be read or are damaged; what `take` gives.
pub(super) fn combine<E: From<SetError> + Send>(
    sorted: &[Sorted<'_>],
    but: But<'_>,
    mut take: impl FnMut(&[u128]) -> Result<(), E> + Send,
) -> Result<u64, E> {
    let total: u64 = sorted.iter().map(|keys| keys.len()).sum();
    let slices = (total / SLICE).max(1).next_power_of_two();
    let at_once = 2 * rayon::current_num_threads() as u64;
    // Where slice `i` begins; beyond the last one nothing does.
    let start = |i: u64| {
        let shift = 128 - slices.trailing_zeros();
        if i == 0 { Some(0) } else { (i < slices).then(|| u128::from(i) << shift) }
    };
    let make = |i: u64| slice(sorted, but, start(i).unwrap_or_default(), start(i + 1));
    let mut written = 0;
    let mut waiting: Vec<Vec<u128>> = Vec::new();
    for first in (0..slices).step_by(at_once as usize) {
        let end = slices.min(first + at_once);
        let (done, made) = rayon::join(
            || waiting.iter().try_for_each(|keys| take(keys)),
            || (first..end).into_par_iter().map(make).collect::<Result<Vec<_>, _>>(),
        );
        done?;
        waiting = made?;
        written += waiting.iter().map(|keys| keys.len() as u64).sum::<u64>();
    }
    waiting.iter().try_for_each(|keys| take(keys))?;
    Ok(written)
}

/// What is left of the keys from `first` on and below `end`.
fn slice(
    sorted: &[Sorted<'_>],
    but: But<'_>,
    first: u128,
    end: Option<u128>,
) -> Result<Vec<u128>, SetError> {
    let mut keys = Vec::new();
    for one in sorted {
        one.append(first, end, &mut keys)?;
    }
    if sorted.len() > 1 {
        // Runs one behind the other, which a stable sort takes for what they are.
        keys.sort();
        keys.dedup();
    }
    match but {
        But::Not(runs) => runs.iter().try_for_each(|run| retain(run, &mut keys, false))?,
        But::In(sets) => {
            for runs in sets {
                retain_held(runs, &mut keys)?;
            }
        }
    }
    Ok(keys)
}

/// Leaves those of `keys` that one of `runs` at least holds.
fn retain_held(runs: &[Run], keys: &mut Vec<u128>) -> Result<(), SetError> {
    if let [run] = runs {
        return retain(run, keys, true);
    }
    let mut held = Vec::new();
    for run in runs {
        let mut found = keys.clone();
        retain(run, &mut found, true)?;
        held.extend(found);
    }
    held.sort();
    held.dedup();
    *keys = held;
    Ok(())
}
