//! Rows that spilled, in partitions by the bits of their keys, so that each partition can be resolved by itself.
//!
//! A partition is resolved in one reading, whatever it holds: the first keys that have room in memory are numbered, and their
//! rows resolved. Rows of all other keys go to smaller partitions by further bits, which are resolved in the same way. So a
//! row is read and written again once for each level, of which there are as many as the logarithm of the number of distinct
//! keys: rows of one key are never apart, however many there are.

use std::sync::{Mutex, PoisonError};

use super::StoreError;
use super::file::{SpillDir, SpillFile};
use super::keep::ClassMode;
use super::run::Run;
use super::varint;
use uriscan_core::dedup::{Numbering, Rows};
use uriscan_core::key::Key;
use uriscan_core::threads;

/// Bits of a key that number the partition of a set in memory, its top ones.
const GROUP_BITS: u32 = Rows::PARTITIONS.trailing_zeros();

/// Further bits that number the partition on disk within it.
const PART_BITS: u32 = 2;

/// Partitions on disk.
pub(super) const PARTITIONS: usize = Rows::PARTITIONS << PART_BITS;

/// Bits that number the smaller partitions of one that has no room in memory.
const REST_BITS: u32 = 4;

/// Partitions are not divided by more bits of a key than these: keys in the upper half are random, and it has no more.
const MOST_BITS: u32 = 64;

/// Least number of bytes of a partition that are written at once.
const LEAST: usize = 256;

/// Bytes of memory below which it is not worth while to divide a partition.
pub(super) const LEAST_ROOM: usize = 64 << 10;

/// Keys of a group whose rows were the last to come.
const RECENT: usize = 256;

/// A record that spilled, or the survivor so far of several records of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row<'t> {
    pub(super) key: Key,
    pub(super) position: u64,
    pub(super) count: u64,
    /// Its rank ([`super::Keep::rank`]), if ranks decide; 0 if not.
    pub(super) rank: u32,
    /// Its bytes, if these are kept; none if not.
    pub(super) bytes: &'t [u8],
}

/// All rows: a group of partitions for each partition of the set in memory, so that these can spill at the same time.
#[derive(Debug)]
pub(super) struct Partitions {
    pub(super) dir: SpillDir,
    pub(super) file: SpillFile,
    pub(super) groups: Vec<Group>,
}

/// The partitions on disk of one partition in memory, or of a larger one on disk.
#[derive(Debug)]
pub(super) struct Group {
    parts: Vec<Partition>,
    /// Of bare keys, some that have a row already. A further row of theirs is none of the first, and is not needed.
    recent: Vec<Key>,
    fault: Option<StoreError>,
}

/// Rows whose keys have the same top bits, in the order of their positions.
#[derive(Debug)]
pub(super) struct Partition {
    run: Run,
    /// Top bits that all keys have in common.
    bits: u32,
    /// Of classes; nothing but keys and positions are kept otherwise.
    mode: Option<ClassMode>,
    rows: u64,
    text_bytes: u64,
    /// Bytes of the longest text.
    pub(super) longest: usize,
    /// The position of the last row.
    last: u64,
}

impl Partitions {
    /// No rows, in files in `dir`; buffers take `bytes` of memory at most, or a little if that is too few. `mode` is that
    /// of classes; without one, keys and positions are kept.
    pub(super) fn new(
        dir: SpillDir,
        mode: Option<ClassMode>,
        bytes: usize,
    ) -> Result<Partitions, StoreError> {
        let capacity = (bytes / PARTITIONS).max(LEAST);
        let group = || Group::new(GROUP_BITS, PART_BITS, mode, capacity);
        let groups = (0..Rows::PARTITIONS).map(|_| group()).collect();
        Ok(Partitions { file: dir.file()?, dir, groups })
    }

    /// The file, and the groups for many threads, each of which takes those of a partition of a set in memory.
    pub(super) fn shared(&mut self) -> (&SpillFile, Vec<Mutex<&mut Group>>) {
        (&self.file, self.groups.iter_mut().map(Mutex::new).collect())
    }

    /// The first error of a group.
    pub(super) fn fault(&mut self) -> Result<(), StoreError> {
        self.groups.iter_mut().find_map(|group| group.fault.take()).map_or(Ok(()), Err)
    }

    /// Resolves each partition, on all threads; gives what came of each. Those with texts above `most_text` bytes are resolved
    /// one after the other: each thread takes many times its longest text.
    pub(super) fn resolve<R: Resolve>(
        groups: Vec<Group>,
        file: &SpillFile,
        most_text: usize,
        resolver: &R,
    ) -> Result<Vec<R::Found>, StoreError> {
        // As many as there are threads.
        let tables: Mutex<Vec<Numbering>> = Mutex::default();
        let parts: Vec<Partition> = groups.into_iter().flat_map(|group| group.parts).collect();
        let one = |part: Partition| {
            let used = tables.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut table = used.unwrap_or_default();
            let done = part.resolve(file, resolver, &mut table);
            tables.lock().unwrap_or_else(PoisonError::into_inner).push(table);
            done
        };
        let resolved = threads::map(parts, |part: Partition| match part.longest > most_text {
            true => Err(part),
            false => Ok(one(part)),
        });
        resolved.into_iter().map(|done| done.unwrap_or_else(one)).collect()
    }
}

pub(super) trait Resolve: Sync {
    /// What comes of a partition.
    type Found: Send;

    /// Bytes of memory for a partition.
    fn room(&self) -> usize;

    /// The number of keys of `part` that have room in memory.
    fn most_keys(&self, part: &Partition) -> usize;

    /// Resolves the rows whose keys have room: `most` keys at most, for which `table` has places. All other rows go to `rest`.
    fn resolve(
        &self,
        part: &Partition,
        most: usize,
        table: &mut Numbering,
        rest: &mut Rest<'_>,
    ) -> Result<Outcome<Self::Found>, StoreError>;

    /// What came of all parts of a partition together.
    fn join(&self, all: Vec<Self::Found>) -> Result<Self::Found, StoreError>;
}

/// What came of the keys of a partition that have room.
pub(super) enum Outcome<F> {
    Found(F),
    /// The keys needed far more memory than was expected of them: nothing is done, and fewer are to be taken.
    TooMany,
}

/// The rows of a partition whose keys have no room in memory.
pub(super) struct Rest<'f> {
    file: &'f SpillFile,
    bits: u32,
    mode: Option<ClassMode>,
    capacity: usize,
    group: Option<Group>,
}

impl<'f> Rest<'f> {
    /// Where the rows are, and those of the partition.
    pub(super) fn file(&self) -> &'f SpillFile {
        self.file
    }

    #[inline]
    pub(super) fn push(&mut self, row: &Row<'_>) -> Result<(), StoreError> {
        let Rest { file, bits, mode, capacity, group } = self;
        let group = group.get_or_insert_with(|| Group::new(*bits, REST_BITS, *mode, *capacity));
        group.push(row, file);
        group.fault.take().map_or(Ok(()), Err)
    }

    fn finish(self) -> Result<Vec<Partition>, StoreError> {
        let mut parts = self.group.map_or(Vec::new(), |group| group.parts);
        parts.iter_mut().try_for_each(|part| part.run.finish(self.file))?;
        Ok(parts)
    }
}

impl Group {
    /// No rows, of keys whose first `bits` bits are the same; the next `part_bits` bits number the parts.
    fn new(bits: u32, part_bits: u32, mode: Option<ClassMode>, capacity: usize) -> Group {
        let part = || Partition {
            run: Run::new(capacity),
            bits: bits + part_bits,
            mode,
            rows: 0,
            text_bytes: 0,
            longest: 0,
            last: 0,
        };
        let recent = vec![Key(Key::VACANT); if mode.is_none() { RECENT } else { 0 }];
        Group { parts: (0..1 << part_bits).map(|_| part()).collect(), recent, fault: None }
    }

    /// Adds a row; an error is kept for [`Partitions::fault`].
    #[inline]
    pub(super) fn push(&mut self, row: &Row<'_>, file: &SpillFile) {
        if let Some(recent) = self.recent.get_mut(row.key.0 as usize % RECENT)
            && std::mem::replace(recent, row.key) == row.key
        {
            return;
        }
        let bits = self.parts[0].bits;
        let number = (row.key.0 >> (u128::BITS - bits)) as usize % self.parts.len();
        if let Err(error) = self.parts[number].push(row, file) {
            self.fault.get_or_insert(error);
        }
    }
}

/// Rows whose keys are looked up at the same time.
const AHEAD: usize = 64;

impl Partition {
    #[inline]
    fn push(&mut self, row: &Row<'_>, file: &SpillFile) -> Result<(), StoreError> {
        self.rows += 1;
        let most = size_of::<u128>() + 4 * varint::MAX_BYTES + row.bytes.len();
        let out = self.run.entry(most, file)?;
        out.extend_from_slice(&row.key.0.to_le_bytes());
        varint::push(row.position - std::mem::replace(&mut self.last, row.position), out);
        let Some(mode) = self.mode else { return Ok(()) };
        varint::push(row.count, out);
        if mode.keep.has_ranks() {
            varint::push(row.rank.into(), out);
        }
        if mode.has_texts {
            varint::push(row.bytes.len() as u64, out);
            out.extend_from_slice(row.bytes);
            self.text_bytes += row.bytes.len() as u64;
            self.longest = self.longest.max(row.bytes.len());
            self.run.write_long(file)?;
        }
        Ok(())
    }

    /// The row at `at` in `bytes`, which moves past it; `last` is the position of the row before, and becomes that of this one.
    #[inline]
    fn parse<'t>(&self, bytes: &'t [u8], at: &mut usize, last: &mut u64) -> Row<'t> {
        let key = bytes[*at..].first_chunk().copied().map_or(0, u128::from_le_bytes);
        *at += size_of::<u128>();
        *last += varint::take(bytes, at);
        let mut row = Row { key: Key(key), position: *last, count: 1, rank: 0, bytes: &[] };
        let Some(mode) = self.mode else { return row };
        row.count = varint::take(bytes, at);
        if mode.keep.has_ranks() {
            row.rank = varint::take(bytes, at) as u32;
        }
        if mode.has_texts {
            let len = varint::take(bytes, at) as usize;
            row.bytes = &bytes[*at..*at + len];
            *at += len;
        }
        row
    }

    /// Calls `each` for all rows in their order, some at a time.
    fn read(
        &self,
        file: &SpillFile,
        mut each: impl FnMut(&[Row<'_>]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut last = 0;
        self.run.read(file, |block| {
            let mut rows: Vec<Row<'_>> = Vec::with_capacity(AHEAD);
            let mut at = 0;
            while at < block.len() {
                rows.clear();
                while at < block.len() && rows.len() < AHEAD {
                    rows.push(self.parse(block, &mut at, &mut last));
                }
                each(&rows)?;
            }
            Ok(())
        })
    }

    /// Whether the keys have further bits that can number smaller partitions.
    pub(super) fn is_divisible(&self) -> bool {
        self.bits + REST_BITS <= MOST_BITS
    }

    /// Resolves the partition, and all smaller ones that it is divided into.
    fn resolve<R: Resolve>(
        self,
        file: &SpillFile,
        resolver: &R,
        table: &mut Numbering,
    ) -> Result<R::Found, StoreError> {
        let all = self.rows as usize;
        let mut most =
            if self.is_divisible() { resolver.most_keys(&self).clamp(1, all.max(1)) } else { all };
        let (found, rest) = loop {
            let capacity = (resolver.room() / (8 << REST_BITS)).clamp(LEAST, 64 << 10);
            let (bits, mode) = (self.bits, self.mode);
            let mut rest = Rest { file, bits, mode, capacity, group: None };
            table.clear(most);
            table.reserve(most);
            match resolver.resolve(&self, most, table, &mut rest)? {
                Outcome::Found(found) => break (found, rest.finish()?),
                Outcome::TooMany => most = (table.len() / 2).max(1),
            }
        };
        if rest.is_empty() {
            return Ok(found);
        }
        drop(self);
        let mut all = vec![found];
        for part in rest {
            all.push(part.resolve(file, resolver, table)?);
        }
        resolver.join(all)
    }

    /// Calls `each` for all rows in their order, after asking for the memory of `table` that looking up their keys will touch.
    pub(super) fn read_ahead(
        &self,
        table: &mut Numbering,
        file: &SpillFile,
        mut each: impl FnMut(&mut Numbering, &Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.read(file, |rows| {
            rows.iter().for_each(|row| table.prefetch(row.key));
            rows.iter().try_for_each(|row| each(table, row))
        })
    }

    /// How many of the keys of the partition have room in `room` bytes, if a key takes `key` bytes in the table and beside it,
    /// and each byte of text `text` bytes. The keys have texts of the usual length.
    pub(super) fn keys_in(&self, room: usize, key: usize, text: usize) -> usize {
        let (room, rows) = (room.max(LEAST_ROOM) as u64, self.rows.max(1));
        let needed = rows * (Numbering::BYTES_PER_KEY + key) as u64 + text as u64 * self.text_bytes;
        if needed <= room { rows as usize } else { (room / needed.div_ceil(rows)) as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::super::keep::Keep;
    use super::*;

    #[test]
    fn rows_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let modes = [(Keep::Shortest, true), (Keep::Shortest, false), (Keep::First, false)]
            .map(|(keep, has_texts)| Some(ClassMode { keep, has_texts, ..ClassMode::default() }));
        for mode in modes.into_iter().chain([None]) {
            let dir = SpillDir::new(dir.path());
            let mut partitions = Partitions::new(dir, mode, 0).unwrap();
            let text = [b'x'; 300];
            let has_texts = mode.is_some_and(|mode| mode.has_texts);
            let has_ranks = mode.is_some_and(|mode| mode.keep.has_ranks());
            let row = |i: u64| Row {
                key: Key(u128::from(i) << 60 | 1),
                position: i * i * i,
                count: if mode.is_some() { 1 + i % 500 } else { 1 },
                rank: if has_ranks { i as u32 * 7 } else { 0 },
                bytes: if has_texts { &text[..i as usize % 300] } else { &[] },
            };
            let Partitions { file, groups, .. } = &mut partitions;
            (0..2000).for_each(|i| groups[0].push(&row(i), file));
            assert!(partitions.fault().is_ok());
            let mut next = 0;
            let read = partitions.groups[0].parts[0].read(&partitions.file, |rows| {
                for found in rows {
                    assert_eq!(*found, row(next));
                    next += 1;
                }
                Ok(())
            });
            assert!(read.is_ok() && next == 2000);
        }
    }
}
