//! Tables that are kept elsewhere than in a file: the footer of a Parquet file is read first, then of each unit the column
//! chunks that are needed, in one piece where they are close to each other, and nothing else.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, Length};

use uriscan_files::Stored;

/// Bytes of the end that are read at once: footers are rarely longer.
const TAIL: u64 = 256 << 10;

/// Bytes that are read although they are not needed, if that saves a request.
const GAP: u64 = 1 << 20;

/// Bytes of the row groups of a unit at most, before decompression.
const MOST_BYTES: u64 = 4 << 30;

/// Bytes that [`Seekable`] reads at once.
const BLOCK: u64 = 8 << 20;

/// Ranges of a content, in memory.
#[derive(Clone)]
pub(crate) struct Ranges(Arc<Held>);

struct Held {
    stored: Arc<dyn Stored>,
    /// Parts by their offset, in order.
    parts: Vec<(u64, Bytes)>,
    bytes: u64,
    /// Whether what is not in memory is read on demand.
    reads_on: bool,
}

impl Ranges {
    /// The end of the content, for its footer.
    pub(crate) fn tail(stored: &Arc<dyn Stored>) -> io::Result<Ranges> {
        let bytes = length(stored)?;
        let start = bytes.saturating_sub(TAIL);
        let parts = vec![(start, Bytes::from(stored.read(start..bytes)?))];
        Ok(Ranges(Arc::new(Held { stored: stored.clone(), parts, bytes, reads_on: true })))
    }

    /// The chunks of the columns of `groups` that `columns` selects; a range that is wholly in `tail` is not read again.
    pub(crate) fn of_groups<'g>(
        (stored, tail): (&Arc<dyn Stored>, Option<&Ranges>),
        groups: impl Iterator<Item = &'g RowGroupMetaData>,
        columns: &ProjectionMask,
    ) -> io::Result<Ranges> {
        let bytes = length(stored)?;
        let mut needed = Vec::new();
        for group in groups {
            let chunks = group.columns().iter().enumerate();
            for (_, column) in chunks.filter(|(leaf, _)| columns.leaf_included(*leaf)) {
                let (start, len) = column.byte_range();
                // What extends past the end is found when the pages are checked.
                let end = start.saturating_add(len).min(bytes);
                needed.push(start.min(end)..end);
            }
        }
        let needed = merged(needed);
        if needed.iter().map(|range| range.end - range.start).sum::<u64>() > MOST_BYTES {
            let what = format!("a row group has more than {MOST_BYTES} bytes; write smaller ones");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let read = |range: Range<u64>| {
            let held = tail.and_then(|tail| tail.part(&range)).map(Ok);
            let bytes = held.unwrap_or_else(|| stored.read(range.clone()).map(Bytes::from))?;
            Ok((range.start, bytes))
        };
        let parts = needed.into_iter().map(read).collect::<io::Result<_>>()?;
        Ok(Ranges(Arc::new(Held { stored: stored.clone(), parts, bytes, reads_on: false })))
    }

    /// The length of the content.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Whether all of the content is in memory.
    pub(crate) fn is_whole(&self) -> bool {
        self.part(&(0..self.0.bytes)).is_some()
    }

    /// The bytes of `range`, if they are in memory in one part.
    fn part(&self, range: &Range<u64>) -> Option<Bytes> {
        let length = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        self.held(range.start).filter(|held| held.len() >= length).map(|held| held.slice(..length))
    }

    /// What is in memory from `start` on, in one part.
    fn held(&self, start: u64) -> Option<Bytes> {
        let after = self.0.parts.partition_point(|(first, _)| *first <= start);
        let (first, part) = self.0.parts.get(after.checked_sub(1)?)?;
        let skip = usize::try_from(start - first).ok()?;
        (skip < part.len()).then(|| part.slice(skip..))
    }

    pub(crate) fn at(&self, start: u64) -> At {
        At { ranges: self.clone(), at: start }
    }
}

fn length(stored: &Arc<dyn Stored>) -> io::Result<u64> {
    stored.bytes().ok_or_else(|| io::Error::other("the server does not announce the length"))
}

/// `ranges` in order, those that are close to each other as one.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(GAP) => {
                last.end = last.end.max(range.end);
            }
            _ => merged.push(range),
        }
    }
    merged
}

impl Length for Ranges {
    fn len(&self) -> u64 {
        self.0.bytes
    }
}

impl ChunkReader for Ranges {
    type T = At;

    fn get_read(&self, start: u64) -> Result<At> {
        Ok(self.at(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if let Some(held) = self.held(start).filter(|held| held.len() >= length) {
            return Ok(held.slice(..length));
        }
        let end = start.checked_add(length as u64).filter(|end| *end <= self.0.bytes);
        match end {
            Some(end) if self.0.reads_on => Ok(self.0.stored.read(start..end)?.into()),
            _ => Err(ParquetError::EOF("a range is not within its column chunk".to_owned())),
        }
    }
}

pub(crate) struct At {
    ranges: Ranges,
    at: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let held = match self.ranges.held(self.at) {
            Some(held) => held,
            None if self.at >= self.ranges.bytes() => return Ok(0),
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
        };
        let count = held.len().min(buffer.len());
        buffer[..count].copy_from_slice(&held[..count]);
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for At {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = target(to, self.at, self.ranges.bytes())?;
        Ok(self.at)
    }
}

/// A content as a file that is read from anywhere, a block at a time.
pub(crate) struct Seekable {
    stored: Arc<dyn Stored>,
    bytes: u64,
    at: u64,
    /// The block that was read last, and its offset.
    block: (u64, Vec<u8>),
}

impl Seekable {
    pub(crate) fn new(stored: Arc<dyn Stored>) -> io::Result<Seekable> {
        let bytes = length(&stored)?;
        Ok(Seekable { stored, bytes, at: 0, block: (0, Vec::new()) })
    }
}

impl Read for Seekable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.bytes || buffer.is_empty() {
            return Ok(0);
        }
        let (start, block) = &self.block;
        if self.at < *start || self.at >= start + block.len() as u64 {
            let end = self.bytes.min(self.at + BLOCK);
            self.block = (self.at, self.stored.read(self.at..end)?);
        }
        let (start, block) = &self.block;
        let mut held = &block[usize::try_from(self.at - start).unwrap_or(block.len())..];
        let count = held.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Seekable {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = target(to, self.at, self.bytes)?;
        Ok(self.at)
    }
}

/// Where `to` leads from `at` in a content of so many `bytes`.
fn target(to: SeekFrom, at: u64, bytes: u64) -> io::Result<u64> {
    let target = match to {
        SeekFrom::Start(at) => Some(at),
        SeekFrom::End(by) => bytes.checked_add_signed(by),
        SeekFrom::Current(by) => at.checked_add_signed(by),
    };
    target.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_are_close_are_read_as_one() {
        let far = 3 * GAP;
        let ranges = vec![far..far + 5, 10..20, 0..10, 30..40, 35..36, 7..7];
        assert_eq!(merged(ranges), [0..40, far..far + 5]);
    }
}
