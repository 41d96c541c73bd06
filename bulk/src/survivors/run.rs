//! Runs: entries that are written one after the other to a spill file, and read back in that order.

use std::ops::Range;

use super::StoreError;
use super::file::SpillFile;
use super::varint;

/// Entries in the order in which they were pushed, on disk except for the last of them. No entry crosses from one block into
/// the next.
#[derive(Debug)]
pub(super) struct Run {
    /// The offset of each block on disk, and its length.
    blocks: Vec<(u64, u32)>,
    /// What is not yet written.
    last: Vec<u8>,
    /// Bytes that are gathered before they are written.
    capacity: usize,
}

impl Run {
    /// An empty run that gathers blocks of `capacity` bytes.
    pub(super) fn new(capacity: usize) -> Run {
        Run { blocks: Vec::new(), last: Vec::new(), capacity }
    }

    /// The buffer to append an entry of `most` bytes at most to.
    #[inline]
    pub(super) fn entry(
        &mut self,
        most: usize,
        file: &SpillFile,
    ) -> Result<&mut Vec<u8>, StoreError> {
        if self.last.len() + most > self.last.capacity() {
            self.make_room(most, file)?;
        }
        Ok(&mut self.last)
    }

    #[cold]
    fn make_room(&mut self, len: usize, file: &SpillFile) -> Result<(), StoreError> {
        self.write(file)?;
        // Room for a longer entry is not kept.
        if self.last.capacity() != self.capacity || len > self.capacity {
            self.last = Vec::with_capacity(self.capacity.max(len));
        }
        Ok(())
    }

    /// Writes what was gathered if it is more than a block should be: each of many runs would keep a long entry until the
    /// next one comes.
    #[inline]
    pub(super) fn write_long(&mut self, file: &SpillFile) -> Result<(), StoreError> {
        if self.last.len() <= self.capacity {
            return Ok(());
        }
        self.write(file)?;
        self.last = Vec::new();
        Ok(())
    }

    fn write(&mut self, file: &SpillFile) -> Result<(), StoreError> {
        if !self.last.is_empty() {
            let at = file.append(&[&self.last])?;
            self.blocks.push((at, self.last.len() as u32));
            self.last.clear();
        }
        Ok(())
    }

    /// Writes what was gathered, unless all of it is in memory, and frees the memory that is not needed.
    pub(super) fn finish(&mut self, file: &SpillFile) -> Result<(), StoreError> {
        if !self.blocks.is_empty() {
            self.write(file)?;
        }
        self.last.shrink_to_fit();
        self.blocks.shrink_to_fit();
        Ok(())
    }

    /// Calls `each` for all blocks in their order.
    pub(super) fn read(
        &self,
        file: &SpillFile,
        mut each: impl FnMut(&[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut buffer = Vec::new();
        for &(at, len) in &self.blocks {
            buffer.resize(len as usize, 0);
            file.read(&mut buffer, at)?;
            each(&buffer)?;
        }
        each(&self.last)
    }
}

/// A run whose entries have positions that never fall.
#[derive(Debug)]
pub(super) struct PositionedRun {
    run: Run,
    /// The position of the last entry.
    last: u64,
}

impl PositionedRun {
    /// An empty run that gathers blocks of `capacity` bytes.
    pub(super) fn new(capacity: usize) -> PositionedRun {
        PositionedRun { run: Run::new(capacity), last: 0 }
    }

    /// Adds an entry at `position`. A long one becomes several at the same position.
    #[inline]
    pub(super) fn push(
        &mut self,
        position: u64,
        bytes: &[u8],
        file: &SpillFile,
    ) -> Result<(), StoreError> {
        let (first, rest) = bytes.split_at(bytes.len().min(self.run.capacity));
        let out = self.run.entry(2 * varint::MAX_BYTES + first.len(), file)?;
        varint::push(position - self.last, out);
        varint::push(first.len() as u64, out);
        out.extend_from_slice(first);
        self.last = position;
        if rest.is_empty() { Ok(()) } else { self.push_more(rest, file) }
    }

    #[cold]
    fn push_more(&mut self, bytes: &[u8], file: &SpillFile) -> Result<(), StoreError> {
        bytes.chunks(self.run.capacity).try_for_each(|piece| self.push(self.last, piece, file))
    }

    /// Adds the entry of the survivor of `count` records; see [`RunReader::count`].
    #[inline]
    pub(super) fn push_count(
        &mut self,
        position: u64,
        count: u64,
        file: &SpillFile,
    ) -> Result<(), StoreError> {
        let mut bytes = Vec::new();
        // Most are alone.
        if count != 1 {
            varint::push(count, &mut bytes);
        }
        self.push(position, &bytes, file)
    }

    pub(super) fn finish(&mut self, file: &SpillFile) -> Result<(), StoreError> {
        self.run.finish(file)
    }

    /// Reads the run; the reader stands at the first entry.
    pub(super) fn into_reader(self, file: &SpillFile) -> Result<RunReader, StoreError> {
        let Run { blocks, last, .. } = self.run;
        let mut reader = RunReader {
            blocks: blocks.into_iter(),
            last: Some(last),
            block: Vec::new(),
            entry: 0..0,
            position: Some(0),
        };
        reader.advance(file)?;
        Ok(reader)
    }
}

#[derive(Debug)]
pub(super) struct RunReader {
    blocks: std::vec::IntoIter<(u64, u32)>,
    last: Option<Vec<u8>>,
    block: Vec<u8>,
    /// Where in the block the bytes of the entry are.
    entry: Range<usize>,
    position: Option<u64>,
}

impl RunReader {
    /// The position of the entry; `None` at the end.
    #[inline]
    pub(super) fn position(&self) -> Option<u64> {
        self.position
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.block[self.entry.clone()]
    }

    /// The number that [`PositionedRun::push_count`] was given.
    #[inline]
    pub(super) fn count(&self) -> u64 {
        if self.entry.is_empty() { 1 } else { varint::take(self.bytes(), &mut 0) }
    }

    /// Goes on to the next entry.
    #[inline]
    pub(super) fn advance(&mut self, file: &SpillFile) -> Result<(), StoreError> {
        let mut at = self.entry.end;
        if at == self.block.len() {
            at = 0;
            if !self.refill(file)? {
                self.position = None;
                return Ok(());
            }
        }
        let distance = varint::take(&self.block, &mut at);
        let len = varint::take(&self.block, &mut at) as usize;
        self.position = self.position.map(|before| before + distance);
        self.entry = at..at + len;
        Ok(())
    }

    /// Reads the next block; `false` if there is none.
    #[cold]
    fn refill(&mut self, file: &SpillFile) -> Result<bool, StoreError> {
        self.entry = 0..0;
        match self.blocks.next() {
            Some((at, len)) => {
                self.block.resize(len as usize, 0);
                file.read(&mut self.block, at)?;
            }
            None => self.block = self.last.take().unwrap_or_default(),
        }
        Ok(!self.block.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::SpillDir;
    use super::*;

    #[test]
    fn entries_come_back_whatever_their_length() {
        let dir = tempfile::tempdir().unwrap();
        let file = SpillDir::new(dir.path()).file().unwrap();
        for (count, capacity) in [(0u64, 10), (1, 10), (3000, 10), (3000, 1 << 10), (9, 1 << 20)] {
            let entry = |i: u64| (i * i / 3, vec![b'a' + (i % 26) as u8; (i * 7 % 40) as usize]);
            let (mut run, mut positioned) = (Run::new(capacity), PositionedRun::new(capacity));
            let (mut expected, mut expected_positioned) = (Vec::new(), Vec::new());
            for (position, text) in (0..count).map(entry) {
                let out = run.entry(text.len() + 1, &file).unwrap();
                out.extend_from_slice(&text);
                out.push(b'-');
                positioned.push(position, &text, &file).unwrap();
                expected.extend_from_slice(&text);
                expected.push(b'-');
                expected_positioned.extend(text.iter().map(|&byte| (position, byte)));
            }
            run.finish(&file).unwrap();
            positioned.finish(&file).unwrap();
            let mut found = Vec::new();
            run.read(&file, |block| {
                assert!(block.is_empty() || block.ends_with(b"-"), "entries are whole");
                found.extend_from_slice(block);
                Ok(())
            })
            .unwrap();
            assert!(found == expected);
            let mut found = Vec::new();
            let mut reader = positioned.into_reader(&file).unwrap();
            while let Some(position) = reader.position() {
                assert!(reader.bytes().len() <= capacity);
                found.extend(reader.bytes().iter().map(|&byte| (position, byte)));
                reader.advance(&file).unwrap();
            }
            assert!(found == expected_positioned);
            reader.advance(&file).unwrap();
            assert_eq!(reader.position(), None);
        }
    }

    #[test]
    fn counts_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = SpillDir::new(dir.path()).file().unwrap();
        let mut run = PositionedRun::new(64);
        let counts = [1, 2, 300, 1, u64::MAX];
        (0..).zip(counts).for_each(|(i, count)| run.push_count(i, count, &file).unwrap());
        let mut reader = run.into_reader(&file).unwrap();
        for count in counts {
            assert_eq!(reader.count(), count);
            reader.advance(&file).unwrap();
        }
    }
}
