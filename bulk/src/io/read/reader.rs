//! Reads sources into chunks: whole records only, each chunk from one source.

mod fill;

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use memchr::memchr_iter;

use super::container;
use super::cut::{Cut, Lines, Misread};
use super::deferred::{Deferred, Plain};
use super::keeper::Keeper;
use super::origins::RecordOrigin;
use super::prefetch::{Content, Sources};
use super::ready::{Wait, WaitBudget};
use super::source::{ReadError, Source};
use uriscan_core::chunk::PaddedBuf;
use uriscan_core::extract::{Filtered, Kind};
use uriscan_core::simd::Kernels;

/// The content of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Whole records.
    #[default]
    Records,
    /// The first piece of a record that is longer than the limit.
    LongFirst,
    /// A further piece of such a record, but not the last.
    LongRest,
    /// The last piece of such a record, with its record end if it has one; may be empty.
    LongLast,
}

/// Bytes of one source and their position in it.
#[derive(Debug, Default)]
pub struct Chunk {
    /// The bytes, padded.
    pub text: PaddedBuf,
    /// The index of the source, in the order given.
    pub source: usize,
    /// Offset of the first byte in the source, counted from 0, a byte order mark included.
    pub byte: u64,
    /// The same in what is kept of the source, once that is known of all chunks before.
    pub(crate) kept_byte: u64,
    /// Line number of the first record in its source, counted from 1; 0 unless the reader counts
    /// lines.
    pub line: u64,
    /// Whole records, or a piece of one.
    pub shape: Shape,
    /// The format of the source, for finding links in it.
    pub kind: Kind,
    /// Whether the source could not be read further.
    pub(crate) is_cut: bool,
    /// Whether it begins with a record that is longer than the limit, and ends within that.
    pub(crate) is_long: bool,
    /// See [`Source::base`].
    pub(crate) base: Option<Arc<[u8]>>,
    /// The bytes, if they are still to be read into `text`.
    pub(crate) later: Option<Deferred>,
    /// What is still to remove the records that are not kept.
    pub(crate) keeper: Option<Arc<dyn Keeper>>,
}

impl Chunk {
    /// Length in bytes, read or still to be read.
    pub(crate) fn len(&self) -> usize {
        self.later.as_ref().map_or(self.text.padded().len(), Deferred::len)
    }

    /// Removes the records that the source of the chunk does not keep; its offset and its line stay those in the source. The
    /// origins of what is left are added to `origins`, if they are wanted. Does nothing a second time.
    pub(crate) fn keep(
        &mut self,
        record_end: u8,
        origins: Option<&mut Vec<RecordOrigin>>,
        kernels: Kernels,
    ) -> Option<Filtered> {
        let keeper = self.keeper.take()?;
        if self.shape == Shape::Records {
            let start = (self.line, self.byte);
            return Some(keeper.keep(&mut self.text, start, record_end, origins, kernels));
        }
        let mut filtered = Filtered::default();
        if let Some(cause) = keeper.cause_of_overlong() {
            if self.shape == Shape::LongFirst {
                filtered.add(cause);
            }
            self.shape = Shape::Records;
            self.text.set_len(0);
        }
        Some(filtered)
    }

    /// Removes the first `len` bytes, which are whole records; returns how many lines they are.
    pub(crate) fn remove_front(&mut self, len: usize, record_end: u8) -> usize {
        let Chunk { text, byte, kept_byte, line, kind, is_long, .. } = self;
        *is_long = false;
        let (content, line_end) = (text.padded().content(), kind.format.line_end(record_end));
        let lines = memchr_iter(line_end, &content[..len]).count();
        let all = content.len();
        if *line > 0 {
            *line += lines as u64;
        }
        (*byte, *kind) = (*byte + len as u64, kind.after(&content[..len]));
        *kept_byte += len as u64;
        text.room().copy_within(len..all, 0);
        text.set_len(all - len);
        lines
    }
}

/// How long the producer of a source must pause before what is there decides its format.
const HEAD_WAIT: Duration = Duration::from_millis(200);

/// Maximum number of bytes of a source that are read ahead.
const MOST_EARLY: usize = 128 << 10;

/// What [`ChunkReader::fill_next`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next part of the input.
    Chunk,
    /// No whole record that could be read without waiting.
    NotReady,
    /// The end of the last source.
    End,
}

/// Reads sources, one after the other, into chunks.
pub struct ChunkReader {
    sources: Sources,
    names: Vec<String>,
    /// The bases of the sources; empty if no source has one.
    bases: Vec<Option<Arc<[u8]>>>,
    /// What keeps some of their records; empty if all are read.
    keepers: Vec<Option<Arc<dyn Keeper>>>,
    current: Option<Box<dyn Read + Send>>,
    /// Waits until more of the current source can be read, if that may take long.
    wait: Option<Wait>,
    wait_budget: WaitBudget,
    /// All of the current source, if it has been read already.
    whole: Option<PaddedBuf>,
    /// Unused buffers above the usual size, the largest last, and those that they replaced.
    large: Vec<PaddedBuf>,
    small: Vec<PaddedBuf>,
    /// The current source as a file, if its lines may be read later.
    plain: Option<Plain>,
    /// Whether the current stream is not at the start of the next chunk, since lines were left to
    /// be read later.
    is_behind: bool,
    /// Expected size in bytes of the current source.
    expected: usize,
    chunk_bytes: usize,
    /// The size of chunks at the start.
    usual_bytes: usize,
    max_record: usize,
    record_end: u8,
    cut: Box<dyn Cut>,
    /// Whether sources may have different formats, which `cut` detects.
    is_checked: bool,
    /// For the current source: its format, whether that has been detected, and
    /// [`Source::text_only`].
    kind: Kind,
    is_begun: bool,
    text_only: bool,
    binary: u64,
    /// The bytes after the last record end of the previous chunk.
    carry: Vec<u8>,
    byte: u64,
    line: u64,
    in_long_record: bool,
    counts_lines: bool,
    /// Why the current source ended early; reported after the data before it.
    failed: Option<ReadError>,
}

impl fmt::Debug for ChunkReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkReader").field("sources", &self.names).finish_non_exhaustive()
    }
}

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl ChunkReader {
    /// Creates a reader of `sources` whose chunks hold up to `chunk_bytes` (at most `max_record`),
    /// or one record of up to `max_record` without its end.
    ///
    /// A longer record is split into pieces ([`Shape`]), so memory stays bounded.
    pub fn new(
        sources: Vec<Source>,
        record_end: u8,
        chunk_bytes: usize,
        max_record: usize,
    ) -> ChunkReader {
        // A chunk above the limit would also accept whole records above it.
        let chunk_bytes = chunk_bytes.clamp(1, max_record.max(1));
        let base = |source: &Source| source.base.as_deref().map(Arc::from);
        let has_bases = sources.iter().any(|source| source.base.is_some());
        let is_filtered = sources.iter().any(|source| source.keeper.is_some());
        let keeper = |source: &Source| source.keeper.clone();
        ChunkReader {
            names: sources.iter().map(|source| source.name.clone()).collect(),
            bases: if has_bases { sources.iter().map(base).collect() } else { Vec::new() },
            keepers: if is_filtered { sources.iter().map(keeper).collect() } else { Vec::new() },
            sources: Sources::new(sources, chunk_bytes.min(MOST_EARLY)),
            current: None,
            wait: None,
            wait_budget: WaitBudget::default(),
            whole: None,
            large: Vec::new(),
            small: Vec::new(),
            plain: None,
            is_behind: false,
            expected: 0,
            chunk_bytes,
            usual_bytes: chunk_bytes,
            max_record: max_record.max(1),
            record_end,
            cut: Box::new(Lines(record_end)),
            is_checked: false,
            kind: Kind::default(),
            is_begun: false,
            text_only: false,
            binary: 0,
            carry: Vec::new(),
            byte: 0,
            line: 1,
            in_long_record: false,
            counts_lines: false,
            failed: None,
        }
    }

    /// Counts lines, which requires reading every byte.
    pub(crate) fn count_lines(&mut self) {
        self.counts_lines = true;
    }

    /// Changes the size of further chunks, which is at most that at the start.
    pub(crate) fn resize_chunks(&mut self, change: impl FnOnce(usize) -> usize) {
        self.chunk_bytes = change(self.chunk_bytes).clamp(1, self.usual_bytes);
    }

    /// Leaves lines of large plain files to be read by the consumer of the chunk ([`Deferred`]),
    /// unless lines are counted.
    pub(crate) fn read_later(&mut self) {
        self.sources.pass_on_files();
    }

    /// Uses `cut` to detect the format of sources and the ends of their records.
    pub fn cut_by(&mut self, cut: Box<dyn Cut>) {
        (self.cut, self.is_checked) = (cut, true);
    }

    /// The number of sources that were skipped because they look binary.
    pub(crate) fn binary(&self) -> u64 {
        self.binary
    }

    /// The sources so far that may have been read otherwise than was meant.
    pub(crate) fn misread(&self) -> Misread {
        self.cut.misread()
    }

    /// The name of the source with this index.
    pub(crate) fn source_name(&self, source: usize) -> &str {
        &self.names[source]
    }

    /// Fills `chunk` with the next part of the input that is to be read; returns `false` at the end of the last
    /// source.
    ///
    /// # Errors
    /// If a source cannot be opened, read or decompressed; its whole records before the fault have
    /// been returned by then. The next call continues with the next source.
    pub fn fill(&mut self, chunk: &mut Chunk) -> Result<bool, ReadError> {
        self.begin_batch();
        let is_filled = self.fill_next(chunk, true)? == Next::Chunk;
        if is_filled {
            chunk.keep(self.record_end, None, Kernels::detect());
        }
        Ok(is_filled)
    }

    /// Begins a batch of chunks, which waits for a slow producer for a short time only.
    pub(crate) fn begin_batch(&mut self) {
        self.wait_budget = WaitBudget::new();
    }

    /// Like [`ChunkReader::fill`], but leaves it to the caller to remove what is not kept ([`Chunk::keep`]), and, unless it
    /// `may_wait`, does not wait for a source that has nothing to be read for now.
    pub(crate) fn fill_next(
        &mut self,
        chunk: &mut Chunk,
        may_wait: bool,
    ) -> Result<Next, ReadError> {
        loop {
            if self.current.is_none() {
                if !may_wait && self.sources.may_wait() {
                    return Ok(Next::NotReady);
                }
                if !self.begin_next()? {
                    return Ok(Next::End);
                }
            }
            if !may_wait && !self.is_ready() {
                return Ok(Next::NotReady);
            }
            match self.fill_from_current(chunk, may_wait)? {
                Next::End => {}
                next => return Ok(next),
            }
        }
    }

    /// Whether the current source can be read without waiting.
    fn is_ready(&mut self) -> bool {
        let wait = self.wait.as_ref().filter(|_| self.failed.is_none() && self.whole.is_none());
        wait.is_none_or(|wait| self.wait_budget.is_ready(wait))
    }

    /// Makes the next source the current one; returns `false` if there is none.
    fn begin_next(&mut self) -> Result<bool, ReadError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let opened = loop {
            let Some(opened) = self.sources.next() else { return Ok(false) };
            let is_binary = opened.content.as_ref().is_err_and(container::is_binary);
            if !(opened.text_only && is_binary) {
                break opened;
            }
            self.binary += 1;
        };
        (self.text_only, self.is_begun) = (opened.text_only, false);
        self.expected = opened.bytes.and_then(|bytes| bytes.try_into().ok()).unwrap_or(0);
        (self.byte, self.line) = (0, u64::from(self.counts_lines));
        (self.plain, self.is_behind) = (opened.plain.filter(|_| !self.counts_lines), false);
        let current: Box<dyn Read + Send> =
            match opened.content.map_err(|error| self.error(error))? {
                Content::Stream(reader) => reader,
                Content::Whole(text) => {
                    self.whole = Some(text);
                    Box::new(io::empty())
                }
            };
        (self.current, self.wait) = (Some(current), opened.wait);
        Ok(true)
    }

    /// Sets the source of `chunk`, its base, and what keeps some of its records.
    fn begin_chunk(&self, chunk: &mut Chunk) {
        chunk.source = self.number();
        chunk.base = self.bases.get(chunk.source).cloned().flatten();
        chunk.keeper = self.keepers.get(chunk.source).cloned().flatten();
    }

    /// The index of the current source.
    fn number(&self) -> usize {
        self.names.len() - self.sources.len() - 1
    }

    fn error(&self, error: io::Error) -> ReadError {
        ReadError { source: self.names[self.number()].clone(), error }
    }

    /// Makes room for `most` bytes in `text`, and keeps the first `len` bytes of that room.
    fn make_room(&mut self, text: &mut PaddedBuf, most: usize, len: usize) {
        if text.capacity() < most
            && most > self.usual_bytes
            && let Some(mut other) = self.large.pop()
        {
            other.reserve(most);
            other.room()[..len].copy_from_slice(&text.room()[..len]);
            self.small.push(std::mem::replace(text, other));
        }
        text.reserve(most);
    }

    /// Keeps the buffer of `text` for the next long record if it is larger than usual and the kept
    /// buffers have at most `most` bytes: memory that is returned to the system is expensive to get
    /// again. Returns whether it did, and left a usual one.
    pub fn take_back(&mut self, text: &mut PaddedBuf, most: usize) -> bool {
        let size = text.capacity();
        let kept: usize = self.large.iter().map(PaddedBuf::capacity).sum();
        let is_kept = size > 2 * self.usual_bytes && kept + size <= most;
        if is_kept {
            let at = self.large.partition_point(|other| other.capacity() < size);
            let small = self.small.pop().unwrap_or_default();
            self.large.insert(at, std::mem::replace(text, small));
        }
        is_kept
    }
}

#[cfg(test)]
mod tests;
