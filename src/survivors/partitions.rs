//! Rows that spilled, in partitions by the bits of their keys, so that each partition can be resolved by itself.

use std::sync::{Mutex, PoisonError};

use super::StoreError;
use super::file::{SpillDir, SpillFile};
use super::keep::ClassMode;
use super::run::Run;
use super::varint;
use crate::dedup::{Numbering, Rows};
use crate::key::Key;
use crate::threads;

/// Bits of a key that number the partition of a set in memory, its top ones.
const GROUP_BITS: u32 = Rows::PARTITIONS.trailing_zeros();

/// Further bits that number the partition on disk within it.
const PART_BITS: u32 = 2;

/// Least number of bytes of a partition that are written at once.
const LEAST: usize = 256;

/// A record that spilled, or the survivor so far of several records of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row<'t> {
    pub(super) key: Key,
    pub(super) position: u64,
    /// Records that it represents.
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

/// The partitions on disk of one partition in memory.
#[derive(Debug)]
pub(super) struct Group {
    parts: [Partition; 1 << PART_BITS],
    fault: Option<StoreError>,
}

/// Rows whose keys have the same top bits, in the order of their positions.
#[derive(Debug)]
pub(super) struct Partition {
    run: Run,
    /// Of classes; nothing but keys and positions are kept otherwise.
    mode: Option<ClassMode>,
    pub(super) rows: u64,
    /// Bytes of all texts.
    pub(super) text_bytes: u64,
    /// Bytes of the longest text.
    longest: usize,
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
        let capacity = (bytes / (Rows::PARTITIONS << PART_BITS)).max(LEAST);
        let part = || Partition {
            run: Run::new(capacity),
            mode,
            rows: 0,
            text_bytes: 0,
            longest: 0,
            last: 0,
        };
        let group = || Group { parts: [(); 1 << PART_BITS].map(|()| part()), fault: None };
        let groups = (0..Rows::PARTITIONS).map(|_| group()).collect();
        Ok(Partitions { file: dir.file()?, dir, groups })
    }

    /// The first error of a group.
    pub(super) fn fault(&mut self) -> Result<(), StoreError> {
        self.groups.iter_mut().find_map(|group| group.fault.take()).map_or(Ok(()), Err)
    }

    /// Calls `resolve` for each partition, in as many passes as `passes` says, on all threads, with a table that has room for
    /// the keys of the pass; gives what came of all passes. Partitions with texts above `most_text` bytes are resolved one
    /// after the other: each thread takes many times its longest text.
    pub(super) fn resolve<T: Send>(
        groups: Vec<Group>,
        most_text: usize,
        passes: impl Fn(&Partition) -> u64 + Sync,
        resolve: impl Fn(&Partition, Pass, &mut Numbering) -> Result<T, StoreError> + Sync,
    ) -> Result<Vec<T>, StoreError> {
        // As many as there are threads.
        let tables: Mutex<Vec<Numbering>> = Mutex::default();
        let parts: Vec<Partition> = groups.into_iter().flat_map(|group| group.parts).collect();
        let one = |part: &Partition| {
            let used = tables.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut table = used.unwrap_or_default();
            let of = passes(part);
            let rows = (part.rows / of) as usize;
            let done: Result<Vec<T>, StoreError> = (0..of)
                .map(|number| {
                    table.clear(rows);
                    table.reserve(rows);
                    resolve(part, Pass { number, of }, &mut table)
                })
                .collect();
            tables.lock().unwrap_or_else(PoisonError::into_inner).push(table);
            done
        };
        let resolved = threads::map(parts, |part: Partition| match part.longest > most_text {
            true => Err(part),
            false => Ok(one(&part)),
        });
        let resolved = resolved.into_iter().map(|done| done.unwrap_or_else(|long| one(&long)));
        let resolved = resolved.collect::<Result<Vec<_>, StoreError>>()?;
        Ok(resolved.into_iter().flatten().collect())
    }
}

impl Group {
    /// The partitions.
    pub(super) fn parts(&self) -> &[Partition] {
        &self.parts
    }

    /// Adds a row; an error is kept for [`Partitions::fault`].
    #[inline]
    pub(super) fn push(&mut self, row: &Row<'_>, file: &SpillFile) {
        let shift = 128 - GROUP_BITS - PART_BITS;
        let part = &mut self.parts[(row.key.0 >> shift) as usize % (1 << PART_BITS)];
        if let Err(error) = part.push(row, file) {
            self.fault.get_or_insert(error);
        }
    }
}

/// Some of the keys of a partition, by the bits after those that they share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    number: u64,
    pub(super) of: u64,
}

impl Pass {
    #[inline]
    fn has(self, key: Key) -> bool {
        let shift = 128 - GROUP_BITS - PART_BITS - self.of.trailing_zeros();
        (key.0 >> shift) as u64 % self.of == self.number
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
    pub(super) fn read(
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

    /// Calls `each` for the rows of a pass, with the table of their keys, which has room for them and in which they are being
    /// looked up.
    pub(super) fn read_pass(
        &self,
        pass: Pass,
        table: &mut Numbering,
        file: &SpillFile,
        mut each: impl FnMut(&mut Numbering, &Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.read(file, |rows| {
            let rows = || rows.iter().filter(|row| pass.has(row.key));
            let mut count = 0;
            rows().for_each(|row| {
                table.prefetch(row.key);
                count += 1;
            });
            table.reserve(count);
            rows().try_for_each(|row| each(table, row))
        })
    }

    /// In how many passes, a power of two, rows that need `needed` bytes of memory are resolved so that each pass has room in
    /// `room` bytes.
    pub(super) fn passes(needed: u64, room: usize) -> u64 {
        /// Bytes of memory below which more passes are not worth while.
        const LEAST: u64 = 64 << 10;
        // Passes are not filled quite alike.
        needed.div_ceil((room as u64 / 8 * 7).max(LEAST)).max(1).next_power_of_two()
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
