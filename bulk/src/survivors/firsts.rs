//! The first record of each class, found as records come, and at the end for those that spilled.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::StoreError;
use super::file::{SpillDir, SpillFile};
use super::limit::Budget;
use super::merge::joined;
use super::partitions::{Outcome, Partition, Partitions, Resolve, Rest, Row};
use super::reread::Survivors;
use super::run::PositionedRun;
use super::seen::{NewKeys, Seen, forget};
use uriscan_core::dedup::{ApproxSet, Numbering, Rows, Set};
use uriscan_core::key::Hasher;
use uriscan_core::set::Loader;
use uriscan_core::threads;

/// The keys of all records so far.
enum Keys {
    Exact(Set),
    Approximate(ApproxSet),
}

/// Says of each record whether it is the first of its class.
///
/// When keys exceed the memory limit, records that the set knows are duplicates; of all others, the key and the position spill
/// to disk, in partitions by the bits of the keys. The set goes on to learn keys as long as it has room, so that a key that comes
/// again and again spills once. At the end the set is dropped, and each partition is resolved by itself, which gives the
/// positions of first records.
pub struct FirstSet<'s> {
    keys: Keys,
    hasher: Hasher,
    seen: Option<Seen<'s>>,
    budget: Option<Budget>,
    spill: Option<Partitions>,
    /// Classes so far that are in `seen`.
    seen_classes: AtomicU64,
}

impl<'s> FirstSet<'s> {
    /// No records, with keys by `hasher`, an exact set within `budget`, and without what is in `seen`.
    pub fn new(hasher: Hasher, seen: Option<Seen<'s>>, budget: Option<Budget>) -> FirstSet<'s> {
        let seen_classes = AtomicU64::new(0);
        FirstSet { keys: Keys::Exact(Set::new()), hasher, seen, budget, spill: None, seen_classes }
    }

    /// The same with an approximate set, which never spills.
    pub fn approximate(self, set: ApproxSet) -> FirstSet<'s> {
        FirstSet { keys: Keys::Approximate(set), budget: None, ..self }
    }

    /// The number of classes that earlier runs have seen; complete when what has spilled is resolved.
    pub fn seen(&self) -> u64 {
        self.seen_classes.load(Ordering::Relaxed)
    }

    /// The number of classes in memory; 0 for an approximate set.
    pub(crate) fn len(&self) -> usize {
        match &self.keys {
            Keys::Exact(set) => set.len(),
            Keys::Approximate(_) => 0,
        }
    }

    /// Sets the estimated final number of classes; 0 if unknown.
    pub(crate) fn expect(&mut self, classes: u64) {
        if let Keys::Exact(set) = &mut self.keys {
            set.expect(classes);
        }
    }

    /// Whether some records have spilled. From then on, all others have to.
    pub fn has_spilled(&self) -> bool {
        self.spill.is_some()
    }

    /// Where records spill to, if they do.
    pub fn spill_dir(&self) -> Option<&SpillDir> {
        self.spill.as_ref().map(|spill| &spill.dir)
    }

    /// Whether `chunks` have room in memory, if their buffers take so many bytes.
    pub fn fits(&mut self, chunks: &[&Rows], buffers: usize) -> bool {
        let (Some(budget), Keys::Exact(set)) = (&mut self.budget, &mut self.keys) else {
            return true;
        };
        budget.note_batch(buffers, set.memory_bytes());
        set.limit_to(budget.key_bytes());
        set.fits(chunks)
    }

    /// From now on, records spill that the set does not know. About `more` are still to come, if
    /// that is not 0. Fails when there is no space on the disk.
    pub fn begin_spill(&mut self, more: u64) -> Result<(), StoreError> {
        let Some(budget) = &self.budget else { return Ok(()) };
        let dir = SpillDir::new(&budget.limit.temp_dir);
        // The number is a guess; half of it is hardly too many.
        dir.need(more / 2 * 20)?;
        self.spill = Some(Partitions::new(dir, None, budget.limit.buffer_bytes())?);
        Ok(())
    }

    /// Inserts the rows of all `chunks` in order; [`Rows::is_first`] says which are the first of their class. On error none is.
    #[inline]
    pub fn insert(&mut self, chunks: &[&Rows]) -> Result<(), StoreError> {
        match &mut self.keys {
            Keys::Exact(set) => set.insert(chunks),
            Keys::Approximate(set) => set.insert(chunks),
        }
        let Some(seen) = &mut self.seen else { return Ok(()) };
        match seen.resolve(&self.hasher, chunks) {
            Ok(count) => *self.seen_classes.get_mut() += count,
            Err(error) => {
                // Nobody knows which of these are new.
                chunks.iter().for_each(|rows| forget(rows));
                return Err(StoreError::Set(error));
            }
        }
        Ok(())
    }

    /// Spills what of `chunks` the set does not know, marked if the one on disk knows it; `position` is that of a row of a chunk, and
    /// rises from row to row and from call to call.
    pub fn spill(
        &mut self,
        chunks: &[&Rows],
        position: impl Fn(usize, usize) -> u64 + Sync,
    ) -> Result<(), StoreError> {
        let (Some(spill), Keys::Exact(set)) = (&mut self.spill, &mut self.keys) else {
            return Ok(());
        };
        let Partitions { file, groups, .. } = spill;
        let row = |chunk, row, key, is_known| {
            let position = marked(position(chunk, row), is_known);
            Row { key, position, count: 1, rank: 0, bytes: &[] }
        };
        match &self.seen {
            None => set.insert_within(chunks, groups, |group, chunk, i, key| {
                group.push(&row(chunk, i, key, false), file);
            }),
            Some(seen) => {
                chunks.iter().for_each(|rows| forget(rows));
                let mut beside = [(); Rows::PARTITIONS];
                set.insert_within(chunks, &mut beside, |(), chunk, row, _| {
                    chunks[chunk].set_first(row, true);
                });
                let unknown =
                    |rows: &&Rows| (0..rows.len()).map(|_| AtomicBool::default()).collect();
                let known: Vec<Vec<AtomicBool>> = chunks.iter().map(unknown).collect();
                seen.look_up(&self.hasher, chunks, |chunk, row| {
                    known[chunk][row].store(true, Ordering::Relaxed);
                })?;
                threads::each(groups, |partition, group| {
                    for (chunk, rows) in chunks.iter().enumerate() {
                        let firsts = rows.in_partition(partition);
                        for (key, i) in firsts.filter(|&(_, row)| rows.is_first(row)) {
                            let is_known = known[chunk][i].load(Ordering::Relaxed);
                            group.push(&row(chunk, i, key, is_known), file);
                        }
                    }
                });
            }
        }
        spill.fault()
    }

    /// Resolves what has spilled: the first records of it, and their number; `None` if nothing has. The set of keys is
    /// dropped.
    pub fn resolve(&mut self) -> Result<Option<(Survivors, u64)>, StoreError> {
        self.keys = Keys::Exact(Set::new());
        let (Some(spill), Some(budget)) = (self.spill.take(), &self.budget) else {
            return Ok(None);
        };
        let Partitions { dir, file, groups } = spill;
        let (hasher, room) = (&self.hasher, budget.rest() / rayon::current_num_threads());
        let to = dir.file()?;
        let new_keys = self.seen.as_mut().and_then(|seen| seen.new_keys.as_deref_mut());
        let resolver = Resolver { hasher, new_keys: new_keys.map(Mutex::new), room, to: &to };
        let found = Partitions::resolve(groups, &file, usize::MAX, &resolver)?;
        *self.seen_classes.get_mut() += found.iter().map(|found| found.seen).sum::<u64>();
        let count = found.iter().map(|found| found.new).sum();
        let runs = found.into_iter().map(|found| found.run).collect();
        Ok(Some((Survivors::spilled(runs, Arc::new(to))?, count)))
    }
}

/// Finds the first records among those that spilled.
struct Resolver<'r, 'l> {
    hasher: &'r Hasher,
    /// Takes the keys of first records.
    new_keys: Option<Mutex<&'l mut Loader>>,
    /// Bytes of memory for a partition.
    room: usize,
    /// Where the positions are written.
    to: &'r SpillFile,
}

/// The first records of a partition.
struct Firsts {
    /// Their positions.
    run: PositionedRun,
    /// Their number, and that of the classes that earlier runs have seen.
    new: u64,
    seen: u64,
}

impl Resolve for Resolver<'_, '_> {
    type Found = Firsts;

    fn room(&self) -> usize {
        self.room
    }

    fn most_keys(&self, part: &Partition) -> usize {
        part.keys_in(self.room / 8 * 7, 0, 0)
    }

    fn resolve(
        &self,
        part: &Partition,
        most: usize,
        table: &mut Numbering,
        rest: &mut Rest<'_>,
    ) -> Result<Outcome<Firsts>, StoreError> {
        let mut firsts = Firsts { run: PositionedRun::new(RUN_BYTES), new: 0, seen: 0 };
        let mut keys = self.new_keys.as_ref().map(|loader| NewKeys::new(loader, self.hasher));
        part.read_ahead(table, rest.file(), |table, row| {
            if table.len() >= most {
                return match table.find(row.key) {
                    Some(_) => Ok(()),
                    None => rest.push(row),
                };
            }
            let (position, is_seen) = unmarked(row.position);
            if !table.number(row.key).1 {
                return Ok(());
            }
            if is_seen {
                firsts.seen += 1;
                return Ok(());
            }
            firsts.new += 1;
            firsts.run.push(position, &[], self.to)?;
            keys.as_mut().map_or(Ok(()), |keys| keys.push(row.key))
        })?;
        keys.map_or(Ok(()), |mut keys| keys.flush())?;
        firsts.run.finish(self.to)?;
        Ok(Outcome::Found(firsts))
    }

    fn join(&self, all: Vec<Firsts>) -> Result<Firsts, StoreError> {
        let [new, seen] = [|firsts: &Firsts| firsts.new, |firsts: &Firsts| firsts.seen]
            .map(|count| all.iter().map(count).sum());
        let runs = all.into_iter().map(|firsts| firsts.run).collect();
        Ok(Firsts { run: joined(runs, RUN_BYTES, self.to)?, new, seen })
    }
}

/// A position in a spill file, with a mark for rows that earlier runs have seen. Marked positions are in the same order.
fn marked(position: u64, is_seen: bool) -> u64 {
    position << 1 | u64::from(is_seen)
}

/// A position and its mark.
fn unmarked(position: u64) -> (u64, bool) {
    (position >> 1, position & 1 == 1)
}

/// Bytes of a block of positions.
const RUN_BYTES: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::limit::MemoryLimit;
    use super::super::reread::Window;
    use super::*;

    #[test]
    fn agrees_with_a_tree_set_in_any_memory() {
        let dir = tempfile::tempdir().unwrap();
        let hasher = Hasher::random();
        let key = |row: u64| hasher.key(&(row * row % 20_003).to_le_bytes());
        // Positions with gaps, some of them beyond 32 bits.
        let position = |row: u64| row * 3 + (row / 20_000) * (5 << 32);
        for (bytes, set_bytes) in [(1 << 16, 1), (1 << 20, 100_000), (64 << 20, 150_000)] {
            let limit =
                MemoryLimit { set_bytes: Some(set_bytes), ..MemoryLimit::new(bytes, dir.path()) };
            let budget = Some(Budget::of_process(limit));
            let mut set = FirstSet::new(hasher.clone(), None, budget);
            let mut seen = BTreeSet::new();
            let (mut expected, mut spilled_from) = (Vec::new(), u64::MAX);
            for start in (0..60_000).step_by(1_000) {
                let mut chunks = [Rows::default(), Rows::default()];
                for row in start..start + 1_000 {
                    chunks[usize::from(row >= start + 400)].push(key(row));
                }
                chunks.iter_mut().for_each(Rows::partition);
                let rows: Vec<&Rows> = chunks.iter().collect();
                if !set.has_spilled() && !set.fits(&rows, 0) {
                    set.begin_spill(0).unwrap();
                    spilled_from = start;
                }
                let number = |chunk, row: usize| start + 400 * chunk as u64 + row as u64;
                match set.has_spilled() {
                    false => set.insert(&rows).unwrap(),
                    true => set.spill(&rows, |chunk, row| position(number(chunk, row))).unwrap(),
                }
                for row in start..start + 1_000 {
                    let is_first = seen.insert(key(row));
                    if set.has_spilled() && is_first {
                        expected.push(position(row));
                    } else if !set.has_spilled() {
                        let chunk = usize::from(row >= start + 400);
                        let at = (row - start) as usize - 400 * chunk;
                        assert_eq!(chunks[chunk].is_first(at), is_first);
                    }
                }
            }
            assert!(spilled_from < 60_000, "{bytes}");
            let (mut survivors, count) = set.resolve().unwrap().unwrap();
            assert_eq!(count, expected.len() as u64);
            let (mut found, mut window) = (Vec::new(), Window::default());
            let mut start = 0;
            for len in [1, 63, 20_000, 4 << 32, 60 << 32] {
                survivors.advance(len, &mut window).unwrap();
                found.extend(survivors.find(&mut window).iter().map(|&(at, _)| start + at));
                start += len;
            }
            assert!(found == expected, "{bytes}");
        }
    }
}
