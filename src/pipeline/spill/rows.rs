//! Rows beyond memory, for who numbers rows and keeps what is in them.

use super::MemoryLimit;
use super::aside::{Aside, Disk};
use super::heap::Heap;
use super::numbers::Numbers;
use super::positions::{Marks, Positions};
use super::tape::Tape;
use crate::dedup::{Rows, Set};
use crate::pipeline::Error;

/// Keys of rows and the numbers of these, put aside since a set was frozen.
#[derive(Debug)]
pub(crate) struct RowsAside {
    disk: Disk,
    heap: Heap,
    /// What is found, and numbers of rows that are to be kept whatever their keys are.
    found: Aside,
    kept: Numbers,
    last_kept: u64,
}

impl RowsAside {
    /// Nothing yet.
    ///
    /// # Errors
    /// When there is no place on the disk.
    pub(crate) fn begin(limit: &MemoryLimit) -> Result<RowsAside, Error> {
        let disk = Disk::new(&limit.temp_dir);
        let heap = Heap::new(&disk, limit.buffer_bytes())?;
        let found = disk.file()?;
        Ok(RowsAside { disk, heap, found, kept: Numbers::default(), last_kept: 0 })
    }

    /// Puts aside the keys in `chunks` that `set` does not know; `number` tells the number of a row of a chunk. Numbers rise from
    /// row to row and from call to call.
    pub(crate) fn take(
        &mut self,
        set: &Set,
        chunks: &[&Rows],
        number: impl Fn(usize, usize) -> u64 + Sync,
    ) -> Result<(), Error> {
        let Heap { file, groups } = &mut self.heap;
        set.find(chunks, groups, |group, chunk, row, key| {
            group.push(key, number(chunk, row), file);
        });
        self.heap.fault().map_or(Ok(()), Err)
    }

    /// Says that the row of this number is to be kept; these rise, too.
    pub(crate) fn keep(&mut self, number: u64) -> Result<(), Error> {
        let distance = number - self.last_kept;
        self.last_kept = number;
        self.kept.push(distance, &self.found)
    }

    /// A further file, whose bytes are counted with the others.
    pub(crate) fn tape(&self) -> Result<Tape, Error> {
        Tape::new(&self.disk)
    }

    /// The rows that are the first with their keys, and those to be kept. Takes about `bytes` of memory.
    pub(crate) fn finish(self, bytes: usize) -> Result<FirstRows, Error> {
        let RowsAside { disk, heap, found, kept, .. } = self;
        let (mut streams, _) = heap.firsts(&found, bytes, None)?;
        streams.push(kept);
        let mut positions = Positions::new(streams);
        positions.begin(&found)?;
        Ok(FirstRows { disk, found, positions, marks: Marks::default() })
    }
}

/// Which rows are to be kept, in their order.
#[derive(Debug)]
pub(crate) struct FirstRows {
    disk: Disk,
    found: Aside,
    positions: Positions,
    marks: Marks,
}

impl FirstRows {
    /// A bit for each of the next `count` rows, the lowest of each word first, set where the row is to be kept.
    pub(crate) fn next(&mut self, count: usize) -> Result<&[u64], Error> {
        self.positions.mark(count, &mut self.marks, &self.found)?;
        Ok(self.marks.words())
    }

    /// Bytes that were written to files.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.disk.written()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::key::Hasher;

    #[test]
    fn agrees_with_a_tree_set() {
        let dir = tempfile::tempdir().unwrap();
        let limit = MemoryLimit { set_bytes: Some(1), ..MemoryLimit::new(1 << 20, dir.path()) };
        let hasher = Hasher::random();
        let key = |row: u64| hasher.key(&(row * row % 5_003).to_le_bytes());
        let mut known = Rows::default();
        (0..100).for_each(|row| known.push(key(row)));
        known.partition();
        let mut set = Set::new();
        set.insert(&[&known]);
        let mut seen: BTreeSet<_> = (0..100).map(key).collect();

        let mut aside = RowsAside::begin(&limit).unwrap();
        let mut expected = Vec::new();
        for start in (0..20_000u64).step_by(1_000) {
            let is_odd = |row: u64| row % 777 == 5;
            let mut chunks = [Rows::default(), Rows::default()];
            for row in start..start + 1_000 {
                if is_odd(row) {
                    aside.keep(row).unwrap();
                }
                chunks[usize::from(row >= start + 400)].push(key(row));
                expected.push(seen.insert(key(row)) | is_odd(row));
            }
            chunks.iter_mut().for_each(Rows::partition);
            let chunks: Vec<&Rows> = chunks.iter().collect();
            let number = |chunk, row: usize| start + 400 * chunk as u64 + row as u64;
            aside.take(&set, &chunks, number).unwrap();
        }
        let mut firsts = aside.finish(0).unwrap();
        let mut found = Vec::new();
        for count in [1, 63, 64, 65, 19_807] {
            let words = firsts.next(count).unwrap();
            found.extend((0..count).map(|row| words[row / 64] >> (row % 64) & 1 != 0));
        }
        assert!(found == expected);
        assert!(firsts.written_bytes() > 0);
    }
}
