//! The entries of runs and sorted lists in one order: all of them, without the keys of others, or what all have.

use std::ops::Range;

use super::cursor::{Cursor, retain};
use super::entry::{Entry, sort_by};
use super::error::SetError;
use super::run::Run;
use crate::threads;

/// Keys of a slice, about: what one thread works on at a time.
const SLICE: u64 = 1 << 17;

/// Entries of a slice at the most. Those of keys that were hashed never have as many; but a run that somebody else made
/// may have all its keys in one corner, and it has to fit in memory no less.
const LIMIT: u64 = 4 * SLICE;

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

    /// The number of entries with keys below `key`, or of all.
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
                // What is read at once rises. If it is all within its slice too, the run rises as a whole.
                let ends = [out[start..].first(), out[start..].last()];
                if !ends.into_iter().flatten().all(|entry| keys.contains(entry.key())) {
                    return Err(run.falls(places.start));
                }
            }
        }
        Ok(())
    }
}

/// Keys from `first` on and below `end`, if there is an end.
#[derive(Clone, Copy, Debug)]
struct Keys {
    first: u128,
    end: Option<u128>,
}

impl Keys {
    fn contains(&self, key: u128) -> bool {
        key >= self.first && self.end.is_none_or(|end| key < end)
    }

    /// Both halves, if there is more than one key.
    fn halves(self) -> Option<[Keys; 2]> {
        let last = self.end.map_or(u128::MAX, |end| end - 1);
        let middle = self.first + (last - self.first).div_ceil(2);
        let halves = [Keys { end: Some(middle), ..self }, Keys { first: middle, ..self }];
        (middle > self.first).then_some(halves)
    }
}

/// A part of what is combined.
struct Slice {
    keys: Keys,
    /// Where the entries with these keys stand in each of the sorted.
    places: Vec<Range<u64>>,
}

/// Cuts `sorted` into slices, one after the other, which have every entry once.
struct Slices<'s, 'a, E> {
    sorted: &'s [Sorted<'a, E>],
    /// Parts of the keys that there can be, all as large: a power of two.
    parts: u64,
    /// Those that have been begun.
    begun: u64,
    /// What was cut off as too large, the next last.
    cut: Vec<Keys>,
    /// Where the next slice begins in each of the sorted.
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
        // Where a part begins; beyond the last one nothing does.
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

    /// No more than so many slices.
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

/// What is left of the entries of a slice.
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
        // Runs one after the other, which a stable sort takes for what they are.
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
