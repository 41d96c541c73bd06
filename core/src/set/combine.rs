//! Merges the entries of runs and sorted lists: union, difference, intersection.

use std::ops::Range;

use super::cursor::{Cursor, retain};
use super::entry::{Entry, sort_by};
use super::error::SetError;
use super::run::Run;
use crate::threads;

/// Approximate number of keys in a slice, the unit of work of one thread.
const SLICE: u64 = 1 << 17;

/// Maximum number of entries in a slice. Hashed keys never come close to it, but a crafted run may have all its
/// keys in a narrow range, and it must fit in memory too.
const LIMIT: u64 = 4 * SLICE;

/// Entries in strictly rising order of keys.
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

    /// The number of entries with keys below `key`, or of all without one.
    fn place(self, key: Option<u128>) -> Result<u64, SetError> {
        let Some(key) = key else { return Ok(self.len()) };
        match self {
            Sorted::Run(run) => Ok(Cursor::new(run, 1, key, key).seek(key)?.0),
            Sorted::Entries(entries) => {
                Ok(entries.partition_point(|entry| entry.key() < key) as u64)
            }
        }
    }

    /// Appends the entries at `places`, which are those of `keys`.
    fn append(self, places: Range<u64>, keys: &Keys, out: &mut Vec<E>) -> Result<(), SetError> {
        let start = out.len();
        match self {
            Sorted::Entries(entries) => {
                out.extend_from_slice(&entries[places.start as usize..places.end as usize]);
            }
            Sorted::Run(run) => {
                E::read(run, places.start, places.end, out)?;
                // Entries that are read at once rise. If they are also within their slice, the
                // whole run rises.
                let ends = [out[start..].first(), out[start..].last()];
                if !ends.into_iter().flatten().all(|entry| keys.contains(entry.key())) {
                    return Err(run.falls(places.start));
                }
            }
        }
        Ok(())
    }
}

/// The keys from `first` on and below `end`, if any.
#[derive(Clone, Copy, Debug)]
struct Keys {
    first: u128,
    end: Option<u128>,
}

impl Keys {
    fn contains(&self, key: u128) -> bool {
        key >= self.first && self.end.is_none_or(|end| key < end)
    }

    /// The two halves, if there is more than one key.
    fn halves(self) -> Option<[Keys; 2]> {
        let last = self.end.map_or(u128::MAX, |end| end - 1);
        let middle = self.first + (last - self.first).div_ceil(2);
        let halves = [Keys { end: Some(middle), ..self }, Keys { first: middle, ..self }];
        (middle > self.first).then_some(halves)
    }
}

/// A part of the merge.
struct Slice {
    keys: Keys,
    /// The positions of the entries with these keys in each of the inputs.
    places: Vec<Range<u64>>,
}

/// Divides `sorted` into consecutive slices, which cover every entry once.
struct Slices<'s, 'a, E> {
    sorted: &'s [Sorted<'a, E>],
    /// Number of parts of the key space, all of the same size: a power of two.
    parts: u64,
    /// Number of parts begun.
    begun: u64,
    /// Ranges that were split off because they were too large; the next one is last.
    cut: Vec<Keys>,
    /// Where the next slice begins in each of the inputs.
    places: Vec<u64>,
}

impl<'s, 'a, E: Entry> Slices<'s, 'a, E> {
    fn new(sorted: &'s [Sorted<'a, E>]) -> Self {
        let total: u64 = sorted.iter().map(|entries| entries.len()).sum();
        let parts = (total / SLICE).max(1).next_power_of_two();
        Slices { sorted, parts, begun: 0, cut: Vec::new(), places: vec![0; sorted.len()] }
    }

    fn next_keys(&mut self) -> Option<Keys> {
        if let Some(keys) = self.cut.pop() {
            return Some(keys);
        }
        if self.begun == self.parts {
            return None;
        }
        self.begun += 1;
        let shift = 128 - self.parts.trailing_zeros();
        // Where a part begins; `None` after the last one.
        let start = |i: u64| match i {
            0 => Some(0),
            _ => (i < self.parts).then(|| u128::from(i) << shift),
        };
        let first = start(self.begun - 1).unwrap_or_default();
        Some(Keys { first, end: start(self.begun) })
    }

    fn next(&mut self) -> Result<Option<Slice>, SetError> {
        let Some(mut keys) = self.next_keys() else { return Ok(None) };
        loop {
            let mut places = Vec::with_capacity(self.sorted.len());
            for (sorted, &start) in self.sorted.iter().zip(&self.places) {
                let end = sorted.place(keys.end)?;
                match sorted {
                    Sorted::Run(run) if end < start => return Err(run.falls(end)),
                    _ => places.push(start..end),
                }
            }
            let count: u64 = places.iter().map(|places| places.end - places.start).sum();
            match keys.halves() {
                Some([half, other]) if count > LIMIT => {
                    self.cut.push(other);
                    keys = half;
                }
                _ => {
                    self.places = places.iter().map(|places| places.end).collect();
                    return Ok(Some(Slice { keys, places }));
                }
            }
        }
    }

    /// Returns at most `count` slices.
    fn some(&mut self, count: usize) -> Result<Vec<Slice>, SetError> {
        let mut slices = Vec::new();
        while slices.len() < count {
            match self.next()? {
                Some(slice) => slices.push(slice),
                None => break,
            }
        }
        Ok(slices)
    }
}

/// Restricts a union.
#[derive(Clone, Copy, Debug)]
pub(super) enum But<'a> {
    /// To keys in none of these runs.
    Not(&'a [&'a Run]),
    /// To keys that each of these sets holds in at least one of its runs.
    In(&'a [&'a [Run]]),
}

/// Calls `take` with the union of `sorted`, restricted by `but`, some thousand entries at a time
/// and in rising order; of entries with the same key, with the least. Returns the number of
/// entries.
pub(super) fn combine<E: Entry, X: From<SetError> + Send>(
    sorted: &[Sorted<'_, E>],
    but: But<'_>,
    mut take: impl FnMut(&[E]) -> Result<(), X> + Send,
) -> Result<u64, X> {
    let at_once = 2 * rayon::current_num_threads();
    let mut slices = Slices::new(sorted);
    let mut written = 0;
    let mut waiting: Vec<Vec<E>> = Vec::new();
    loop {
        let some = slices.some(at_once)?;
        if some.is_empty() {
            break;
        }
        let (done, made) = threads::both(
            || waiting.iter().try_for_each(|entries| take(entries)),
            || threads::map(some, |slice| make(sorted, but, &slice)),
        );
        done?;
        waiting = made.into_iter().collect::<Result<_, _>>()?;
        written += waiting.iter().map(|entries| entries.len() as u64).sum::<u64>();
    }
    waiting.iter().try_for_each(|entries| take(entries))?;
    Ok(written)
}

/// The restricted entries of a slice.
fn make<E: Entry>(
    sorted: &[Sorted<'_, E>],
    but: But<'_>,
    slice: &Slice,
) -> Result<Vec<E>, SetError> {
    let mut entries = Vec::new();
    for (one, places) in sorted.iter().zip(&slice.places) {
        one.append(places.clone(), &slice.keys, &mut entries)?;
    }
    if sorted.len() > 1 {
        // Consecutive sorted runs, which a stable sort detects.
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

/// Keeps those of `entries` whose keys are in at least one of `runs`.
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
