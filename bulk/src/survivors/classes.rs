//! Classes of records, gathered in memory as long as they have room there, and in partitions on disk from then on.

use std::sync::{Mutex, PoisonError};

use super::StoreError;
use super::file::SpillDir;
use super::keep::{ClassMode, Record, Select};
use super::limit::Budget;
use super::partitions::{PARTITIONS, Partitions, Row};
use super::positions::Positions;
use super::resolve::{Counts, FOR_TEXT, Resolved, Resolver};
use super::seen::{Seen, SeenClasses};
use super::store::{ClassStore, Member};
use super::streamed::StreamedClasses;
use super::write::{FoundClasses, From};
use super::writer::{ClassWriter, Wanted};
use uriscan_core::chunk::Prefix;
use uriscan_core::dedup::{Classes, CountedKeys, Rows};
use uriscan_core::key::{Hasher, Key};
use uriscan_core::set::SetError;
use uriscan_core::threads;

/// Some records, chunk by chunk.
pub trait Batch: Sync {
    /// The keys of each chunk, in partitions.
    fn keys(&self) -> Vec<&Rows>;

    fn record(&self, chunk: usize, row: usize) -> Record<'_>;

    /// The position of a record, if it can be had without a look at the record.
    fn position(&self, chunk: usize, row: usize) -> u64 {
        self.record(chunk, row).0
    }

    /// Approximate size of all records in bytes.
    fn bytes(&self) -> usize;
}

pub struct ClassSet<'s> {
    mode: ClassMode,
    classes: Classes<ClassStore>,
    /// In place of classes, if first records survive and their positions are all that is kept.
    counted: Option<CountedKeys>,
    records: u64,
    seen: Option<SeenClasses<'s>>,
    budget: Option<Budget>,
    /// What had no room in memory.
    spill: Option<Partitions>,
    /// Records since memory was empty.
    gathered: u64,
    /// The position from which on records are still to be written.
    start: u64,
    /// Records that spill at once, before classes are gathered in memory again.
    direct: u64,
}

/// After classes in memory of which hardly any had a second record, this many times as many records spill at once: to gather
/// them first would be for nothing.
const DIRECT: u64 = 4;

impl<'s> ClassSet<'s> {
    /// No classes, to be gathered in `mode` within `budget`.
    pub fn new(mode: ClassMode, budget: Option<Budget>) -> ClassSet<'s> {
        let is_counted = mode.is_counted_only() && !mode.has_texts;
        ClassSet {
            mode,
            classes: Classes::new(),
            counted: is_counted.then(CountedKeys::new),
            records: 0,
            seen: None,
            budget,
            spill: None,
            gathered: 0,
            start: 0,
            direct: 0,
        }
    }

    /// The same without what is in `seen`, by keys of `hasher`; classes that are written are those of `select`.
    pub fn without(self, seen: Option<Seen<'s>>, select: Select, hasher: Hasher) -> ClassSet<'s> {
        ClassSet { seen: seen.map(|seen| SeenClasses::new(seen, select, hasher)), ..self }
    }

    /// Number of classes so far; of those that are counted only, an upper bound.
    pub(crate) fn len(&self) -> usize {
        self.counted.as_ref().map_or(self.classes.len(), CountedKeys::len)
    }

    /// Where records spill to, if they have.
    #[cfg(test)]
    pub(super) fn spill_dir(&self) -> Option<&SpillDir> {
        self.spill.as_ref().map(|spill| &spill.dir)
    }

    /// Adds the records of a batch. About `expected` classes will come in all, 0 if unknown, and
    /// about `more` bytes of texts, if that is known. Fails when there is no space on the disk.
    pub fn insert(
        &mut self,
        batch: &impl Batch,
        expected: u64,
        more: Option<u64>,
    ) -> Result<(), StoreError> {
        let (mode, keys) = (self.mode, batch.keys());
        let count = keys.iter().map(|rows| rows.len()).sum();
        self.records += count as u64;
        if !self.make_room(batch, &keys, count, more)? {
            return self.spill_batch(batch, &keys);
        }
        self.gathered += count as u64;
        if let Some(counted) = &mut self.counted {
            let most = self.budget.as_ref().map_or(usize::MAX, Budget::key_bytes) as u64;
            counted.expect(expected.min(most / CountedKeys::BYTES_PER_KEY));
            counted.insert(&keys, |chunk, row| batch.position(chunk, row));
            return Ok(());
        }
        self.classes.expect(expected);
        let record = |chunk, row| batch.record(chunk, row);
        // Under a limit, memory grows as it is needed. Partitions are not filled alike.
        let share = if self.budget.is_none() { expected / Rows::PARTITIONS as u64 } else { 0 };
        let share = (share + share / 32) as usize;
        self.classes.insert_runs(&keys, |store, run| {
            store.expect(mode, run.firsts.len(), share);
            store.add_run(mode, run, record);
        });
        if !mode.is_counted_only() {
            let mut stores = self.classes.partitions_mut();
            threads::each(&mut stores, |_, store| store.add_waiting(mode, record));
        }
        Ok(())
    }

    /// Makes room in memory for a batch of `count` records; says whether there is any, and the records are to be gathered.
    fn make_room(
        &mut self,
        batch: &impl Batch,
        keys: &[&Rows],
        count: usize,
        more: Option<u64>,
    ) -> Result<bool, StoreError> {
        if self.direct > 0 {
            self.direct = self.direct.saturating_sub(count as u64);
            return Ok(false);
        }
        if self.fits(batch, keys) {
            return Ok(true);
        }
        let (records, classes) = (self.gathered, self.len() as u64);
        self.spill_classes(more)?;
        // Members have rows of their own, so nothing is gained by gathering them first.
        if self.mode.has_members {
            self.direct = u64::MAX;
        } else if classes > records / 2 {
            self.direct = DIRECT * records;
        }
        if self.direct == 0 && !self.fits(batch, keys) {
            self.direct = DIRECT * count as u64;
        }
        Ok(self.direct == 0)
    }

    /// Whether a batch has room in memory.
    fn fits(&mut self, batch: &impl Batch, keys: &[&Rows]) -> bool {
        let Some(budget) = &mut self.budget else { return true };
        if let Some(counted) = &mut self.counted {
            return budget.has_room_for_rows(counted, keys);
        }
        let mode = self.mode;
        let texts = if mode.has_texts { batch.bytes() } else { 0 };
        let held = |store: &ClassStore, more| store.memory_bytes(mode, more);
        budget.has_room(&mut self.classes, keys, texts, held)
    }

    /// Goes on after `written`, classes whose records so far have been written, and for which memory is full: all further
    /// records spill, of about `more` bytes. Their positions are not 0. `kept` appends what is kept of a record with this text,
    /// which is empty where it is the canonical form of the class. Fails when there is no space on the disk.
    pub(crate) fn follow(
        &mut self,
        mut written: StreamedClasses,
        kept: impl Fn(&[u8], &mut Vec<u8>) + Sync,
        more: Option<u64>,
    ) -> Result<(), StoreError> {
        (self.records, self.start, self.direct) = (written.len() as u64, 1, u64::MAX);
        self.begin_spill(more)?;
        let Some(spill) = &mut self.spill else { return Ok(()) };
        let (file, groups) = spill.shared();
        written.take_each(|partition, keys, texts| {
            let mut group = groups[partition].lock().unwrap_or_else(PoisonError::into_inner);
            let mut bytes = Vec::new();
            for (class, key) in (0..).zip(keys) {
                bytes.clear();
                kept(texts.get(class).map_or(&[], Prefix::bytes), &mut bytes);
                group.push(&Row { key, position: 0, count: 1, rank: 0, bytes: &bytes }, file);
            }
        });
        drop(groups);
        spill.fault()
    }

    /// Makes files to which records spill, if there are none, and there is a limit.
    fn begin_spill(&mut self, more: Option<u64>) -> Result<(), StoreError> {
        let (Some(budget), None, mode) = (&self.budget, &self.spill, self.mode) else {
            return Ok(());
        };
        let dir = SpillDir::new(&budget.limit.temp_dir);
        // A guess, and on the low side.
        dir.need(more.unwrap_or(0) / if mode.has_texts { 1 } else { 8 })?;
        self.spill = Some(Partitions::new(dir, Some(mode), budget.limit.buffer_bytes())?);
        Ok(())
    }

    /// Spills all classes in memory, a row for each.
    fn spill_classes(&mut self, more: Option<u64>) -> Result<(), StoreError> {
        self.begin_spill(more)?;
        let ClassSet { mode, classes, counted, spill: Some(spill), .. } = self else {
            return Ok(());
        };
        let (file, groups) = spill.shared();
        if let Some(counted) = counted {
            counted.settle();
            counted.map(|partition, counted| {
                let mut group = groups[partition].lock().unwrap_or_else(PoisonError::into_inner);
                for (key, position, count) in counted.in_order() {
                    group.push(&Row { key, position, count, rank: 0, bytes: &[] }, file);
                }
            });
        }
        classes.take_by_number(|partition, keys, store| {
            let mut group = groups[partition].lock().unwrap_or_else(PoisonError::into_inner);
            each_row(*mode, &keys, store, |row| group.push(row, file));
        });
        drop(groups);
        *classes = Classes::new();
        self.gathered = 0;
        spill.fault()
    }

    fn spill_batch(&mut self, batch: &impl Batch, keys: &[&Rows]) -> Result<(), StoreError> {
        let mode = self.mode;
        let Some(spill) = &mut self.spill else { return Ok(()) };
        let Partitions { file, groups, .. } = &mut *spill;
        threads::each(groups, |partition, group| {
            for (chunk, rows) in keys.iter().enumerate() {
                for (key, row) in rows.in_partition(partition) {
                    let (position, bytes) = batch.record(chunk, row);
                    let rank = mode.rank(bytes);
                    let bytes = if mode.has_texts { bytes } else { &[] };
                    group.push(&Row { key, position, count: 1, rank, bytes }, file);
                }
            }
        });
        spill.fault()
    }

    /// What came of all records, which have positions below `end`; `writer` writes what is `wanted`.
    pub fn finish<'w>(
        mut self,
        end: u64,
        wanted: Wanted,
        writer: &'w dyn ClassWriter,
    ) -> Result<FoundClasses<'w>, StoreError> {
        if self.spill.is_some() {
            self.spill_classes(None)?;
        }
        if let (Some(mut counted), None) = (self.counted.take(), &self.spill) {
            let all = counted.settle() as u64;
            let (positions, new) = positions(counted, self.seen.as_ref(), end)?;
            let counts = Counts { classes: new, seen: all - new, ..Counts::default() };
            let (mode, from) = ((self.mode, writer), From::Counted(positions));
            return Ok(FoundClasses::new(from, mode, self.records, counts));
        }
        let ClassSet { mode, mut classes, records, seen, budget, spill, start, .. } = self;
        let (Some(Partitions { dir, file: rows, groups }), Some(budget)) = (spill, budget) else {
            let all = classes.len() as u64;
            let new = seal(&mut classes, wanted, seen.as_ref())?;
            let counts = Counts { classes: new, seen: all - new, ..Counts::default() };
            return Ok(FoundClasses::new(
                From::held(classes, end),
                (mode, writer),
                records,
                counts,
            ));
        };
        drop(classes);
        let (rest, to) = (budget.rest(), dir.file()?);
        // A part of it is for the runs that are written, of which each partition has three.
        let room = rest / 4 * 3 / rayon::current_num_threads();
        let capacity = (rest / 8 / (3 * PARTITIONS)).clamp(64, 64 << 10);
        let (seen, to_file) = (seen.as_ref(), &to);
        let resolver = Resolver { writer, mode, start, wanted, seen, to: to_file, room, capacity };
        let resolved = Partitions::resolve(groups, &rows, room / FOR_TEXT, &resolver)?;
        let (runs, counts) = Resolved::apart(resolved);
        let from = From::spilled(runs, to, wanted)?;
        let mut found = FoundClasses::new(from, (mode, writer), records, counts);
        found.spilled = dir.written();
        Ok(found)
    }
}

/// Makes all stores ready to be read, and marks what was seen; gives the number of classes that were not.
fn seal(
    classes: &mut Classes<ClassStore>,
    wanted: Wanted,
    seen: Option<&SeenClasses<'_>>,
) -> Result<u64, StoreError> {
    threads::each(&mut classes.partitions_mut(), |_, store| {
        store.seal(wanted.lines || wanted.dupes || wanted.clusters);
    });
    let new = Mutex::new(Ok(classes.len() as u64));
    if let Some(seen) = seen {
        classes.by_number(|_, keys, store| {
            let found = seen.mark(&keys, store);
            let mut new = new.lock().unwrap_or_else(PoisonError::into_inner);
            match (&mut *new, found) {
                (Ok(new), Ok(found)) => *new -= found,
                (Ok(_), Err(error)) => *new = Err(StoreError::Set(error)),
                (Err(_), _) => {}
            }
        });
    }
    new.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The positions, below `end`, of the first records of keys that were not seen, and how many these are.
fn positions(
    mut counted: CountedKeys,
    seen: Option<&SeenClasses<'_>>,
    end: u64,
) -> Result<(Vec<Positions>, u64), SetError> {
    let made = counted.map(|_, counted| {
        let found = || counted.iter().map(|(_, position, count)| (position, count));
        let Some(seen) = seen else {
            return Ok((Positions::new(end, found), counted.len() as u64));
        };
        let keys: Vec<Key> = counted.iter().map(|(key, ..)| key).collect();
        let mut counts: Vec<u64> = found().map(|(_, count)| count).collect();
        let new = (counts.len() as u64) - seen.mark(&keys, &mut counts)?;
        let left = || found().zip(&counts).map(|((position, _), &count)| (position, count));
        Ok((Positions::new(end, left), new))
    });
    let made: Vec<(Positions, u64)> = made.into_iter().collect::<Result<_, SetError>>()?;
    let new = made.iter().map(|(_, new)| new).sum();
    Ok((made.into_iter().map(|(positions, _)| positions).collect(), new))
}

/// Hands all that is in `store` to `push`: a row for each record if members are kept, for each class if not.
fn each_row(mode: ClassMode, keys: &[Key], mut store: ClassStore, mut push: impl FnMut(&Row<'_>)) {
    store.seal(true);
    let all = 0..u64::MAX;
    let row_of = |member: &Member| {
        let (key, bytes) = (keys[member.class as usize], store.bytes_of(member));
        Row { key, position: member.position, count: 1, rank: mode.rank(bytes), bytes }
    };
    let mut members = store.members(all.clone()).iter().peekable();
    for (position, class) in store.survivors(all) {
        while let Some(member) = members.next_if(|member| member.position < position) {
            push(&row_of(member));
        }
        let bytes = if mode.has_texts { store.bytes(class) } else { &[] };
        let count = if mode.has_members { 1 } else { store.count(class) };
        push(&Row { key: keys[class as usize], position, count, rank: store.rank(class), bytes });
    }
    members.for_each(|member| push(&row_of(member)));
}
