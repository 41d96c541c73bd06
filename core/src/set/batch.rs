//! Batched look-ups of keys.

use std::sync::atomic::{AtomicBool, Ordering};

use super::cursor::Cursor;
use super::error::SetError;
use super::store::KeySet;
use crate::key::Key;
use crate::threads;
use crate::time::Timestamp;

/// Approximate number of keys in a share, which one thread sorts and looks up.
const SHARE: usize = 1 << 12;

/// Least number of keys that are distributed to shares together: few enough to stay in a cache.
const PIECE: usize = 1 << 16;

/// Some of the keys with their numbers, grouped by share.
struct Dealt {
    keys: Vec<(Key, usize)>,
    /// Where each share begins, followed by the end.
    starts: Vec<usize>,
}

impl KeySet {
    /// Returns, for each of `keys`, whether it is in the set.
    ///
    /// Runs on the current rayon pool. A batch of keys is faster than single look-ups, because it
    /// is sorted first.
    ///
    /// ```
    /// use uriscan::key::{PublicHash, PublicHasher};
    /// use uriscan::set::{Meaning, SetWriter};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let directory = tempfile::tempdir()?;
    /// let hasher = PublicHasher::new(PublicHash::Blake3);
    /// let mut set = SetWriter::create(&directory.path().join("seen.set"), Meaning::new(PublicHash::Blake3, ""))?;
    /// let mut keys = set.loader(1 << 20)?;
    /// keys.push([hasher.key(b"http://a/"), hasher.key(b"http://b/")])?;
    /// assert_eq!(set.add(keys)?, 2);
    /// let queries = [hasher.key(b"http://c/"), hasher.key(b"http://a/")];
    /// assert_eq!(set.set().contains(&queries)?, [false, true]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn contains(&self, keys: &[Key]) -> Result<Vec<bool>, SetError> {
        for run in &self.runs {
            run.expect(keys.len() as u64)?;
        }
        let shares = (keys.len() / SHARE).max(1).next_power_of_two();
        // More shares need larger pieces, so that the table of offsets stays small compared to the
        // keys.
        let piece = PIECE.max(16 * shares);
        let pieces: Vec<Dealt> =
            threads::map(keys.chunks(piece).enumerate(), |(i, keys)| deal(keys, i * piece, shares));
        let found: Vec<AtomicBool> = (0..keys.len()).map(|_| AtomicBool::default()).collect();
        let done = threads::map(0..shares, |share| {
            let mut queries = Vec::new();
            for Dealt { keys, starts } in &pieces {
                queries.extend_from_slice(&keys[starts[share]..starts[share + 1]]);
            }
            self.find(&mut queries, |i| found[i].store(true, Ordering::Relaxed))
        });
        done.into_iter().collect::<Result<(), _>>()?;
        Ok(found.into_iter().map(AtomicBool::into_inner).collect())
    }

    /// Calls `hit` with the number of each of the keys that is in the set, on this thread. May sort
    /// `queries`; look-ups are the faster the denser the keys are.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn find(
        &self,
        queries: &mut [(Key, usize)],
        mut hit: impl FnMut(usize),
    ) -> Result<(), SetError> {
        self.runs.iter().try_for_each(|run| run.find(queries, &mut hit))
    }

    /// Calls `found` with the number of each of the keys that is in the set, and the time at which
    /// it was first seen, on this thread; never for a set without times. Sorts `queries`.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn find_dated(
        &self,
        queries: &mut [(Key, usize)],
        mut found: impl FnMut(usize, Timestamp),
    ) -> Result<(), SetError> {
        queries.sort_unstable_by_key(|&(key, _)| key);
        let (Some(&(first, _)), Some(&(last, _))) = (queries.first(), queries.last()) else {
            return Ok(());
        };
        let mut places = Vec::new();
        let mut is_found = vec![false; queries.len()];
        for (run, times) in self.runs.iter().filter_map(|run| Some((run, run.times()?))) {
            let mut cursor = Cursor::new(run, queries.len(), first.0, last.0);
            for (&(key, i), is_found) in queries.iter().zip(&mut is_found) {
                let (place, is_there) = cursor.seek(key.0)?;
                if is_there {
                    // The choice between two times is up to the caller.
                    if std::mem::replace(is_found, true) {
                        return Err(run.shares_a_key());
                    }
                    places.push((place, i));
                }
            }
            times.read(places.drain(..), &mut found)?;
        }
        Ok(())
    }
}

/// Distributes `keys`, which are numbered from `first` on, to shares by their leading bits.
fn deal(keys: &[Key], first: usize, shares: usize) -> Dealt {
    // A power of two, so that this many leading bits select the share.
    let bits = shares.trailing_zeros();
    let share_of = |key: Key| key.0.checked_shr(u128::BITS - bits).unwrap_or_default() as usize;
    let mut starts = vec![0; shares + 1];
    for &key in keys {
        starts[share_of(key) + 1] += 1;
    }
    for share in 0..shares {
        starts[share + 1] += starts[share];
    }
    let mut places = starts.clone();
    let mut dealt = vec![(Key(Key::VACANT), 0); keys.len()];
    for (i, &key) in keys.iter().enumerate() {
        let place = &mut places[share_of(key)];
        dealt[*place] = (key, first + i);
        *place += 1;
    }
    Dealt { keys: dealt, starts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{PublicHash, PublicHasher};
    use crate::set::{Meaning, SetWriter};

    #[test]
    fn every_key_of_many_pieces_and_shares_gets_its_own_result() {
        let hasher = PublicHasher::new(PublicHash::Blake3);
        let key = |i: u64| hasher.key(&i.to_le_bytes());
        let directory = tempfile::tempdir().unwrap();
        let mut set =
            SetWriter::create(&directory.path().join("s"), Meaning::new(PublicHash::Blake3, ""))
                .unwrap();
        // Runs of more blocks than are read at once, and of a single one.
        for (first, count) in [(0, 40_000u64), (40_000, 100)] {
            let mut loader = set.loader(1 << 20).unwrap();
            loader.push((first..first + count).map(key)).unwrap();
            set.add(loader).unwrap();
        }
        // Unordered, with repeated keys, and with the least and greatest possible key.
        let numbers = (0..3 * PIECE as u64 + 5).map(|i| i * 7919 % 90_000);
        let (mut queries, mut expected): (Vec<Key>, Vec<bool>) =
            numbers.map(|i| (key(i), i < 40_100)).unzip();
        queries.extend([Key(1), Key(u128::MAX)]);
        expected.extend([false, false]);
        assert!(queries.len() / SHARE > 1);
        assert!(set.set().contains(&queries).unwrap() == expected);
        set.set_mut().hold(u64::MAX);
        assert!(set.set().contains(&queries).unwrap() == expected);
        assert!(set.set().contains(&[]).unwrap().is_empty());
    }
}
