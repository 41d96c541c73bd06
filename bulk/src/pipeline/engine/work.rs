//! A chunk on its way through the pipeline, and what a thread keeps.

use std::io;

use super::pending::Pending;
use crate::io::read::origins::RecordOrigin;
use crate::io::{Chunk, Shape};
use crate::pipeline::Settings;
use crate::pipeline::compare::equivalence::Scratch;
use crate::pipeline::report::Report;
use crate::pipeline::survey;
use uriscan_core::audit::Marks;
use uriscan_core::chunk::{Padded, PaddedBuf, Span};
use uriscan_core::index::{Index, Record, trim};
use uriscan_core::normalize::Split;
use uriscan_core::uri::UriError;

/// What a thread keeps from chunk to chunk.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    /// The buffer for chunks that are not revisited: it stays in the caches of the thread.
    pub(crate) text: PaddedBuf,
    pub(crate) index: Index,
    pub(crate) split: Split,
    /// Numbers of records that need more than the usual changes.
    pub(crate) others: Vec<u32>,
    pub(crate) spans: Vec<Span>,
    /// Numbers of records without a row.
    pub(crate) holes: Vec<u32>,
    pub(crate) scratch: Scratch,
    pub(crate) pending: Pending,
    /// Canonical forms, each with a record end.
    pub(crate) forms: Vec<u8>,
    /// The index of these.
    pub(crate) form_index: Index,
    /// Where an audit looks.
    pub(crate) marks: Marks,
    pub(crate) survey: survey::Scratch,
}

/// How much a scan may write before it leaves the rest of its chunk, to be scanned when that has been written.
#[derive(Debug, Default)]
pub(crate) struct OutputRoom {
    /// In bytes.
    pub(crate) most: usize,
    /// Where the records begin that were left.
    pub(crate) cut: Option<usize>,
    /// Whether no other chunk is scanned at the same time.
    pub(crate) is_alone: bool,
    /// The number of the row that is written next, of those that have no room.
    pub(crate) next: usize,
}

impl OutputRoom {
    /// Whether `bytes` of output are so many that the records from offset `at` of the chunk on are left.
    #[inline(always)]
    pub(crate) fn is_full(&mut self, bytes: usize, at: usize) -> bool {
        let is_full = bytes > self.most;
        if is_full {
            self.cut = Some(at);
        }
        is_full
    }
}

/// Appends the last records of a chunk, with a record end also after one that the chunk ends in.
pub(crate) fn push_rest(rest: &[u8], record_end: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(rest);
    if rest.last().is_some_and(|&last| last != record_end) {
        out.push(record_end);
    }
}

/// One chunk on its way through the pipeline, with everything that belongs to it. Reused.
#[derive(Debug, Default)]
pub(crate) struct ChunkWork<R> {
    pub(crate) chunk: Chunk,
    /// What the job found in the chunk.
    pub(crate) rows: R,
    pub(crate) out: Vec<u8>,
    pub(crate) rejects: Vec<u8>,
    /// Lines for omitted records.
    pub(crate) dupes: Vec<u8>,
    /// There is more to be written than has room in the buffers.
    pub(crate) has_rest: bool,
    pub(crate) room: OutputRoom,
    /// Where the records of the chunk come from, if it is one of a list made of another source, and that is asked for.
    pub(crate) origins: Vec<RecordOrigin>,
    /// Whether only some of its records are kept; and if their origins are asked for, the line of the first record of the source
    /// and the number of lines before the others were removed.
    pub(crate) is_filtered: bool,
    pub(crate) lines_before: Option<(u64, u64)>,
    pub(crate) report: Report,
    /// The first record that the job must not go past: its span and what is wrong.
    pub(crate) stop: Option<(Span, UriError)>,
    /// What is wrong in the chunk, while the rest of it was worked on: `Fault::MOST` sentences at most.
    pub(crate) faults: Vec<String>,
    /// Why the chunk could not be read.
    pub(crate) fault: Option<io::Error>,
    /// What a survey finds in the chunk, if there is one.
    pub(crate) survey: Option<Box<survey::Part>>,
}

impl<R> ChunkWork<R> {
    /// Forgets what was found in its chunk.
    pub(crate) fn clear(&mut self) {
        self.out.clear();
        self.rejects.clear();
        self.dupes.clear();
        (self.stop, self.fault, self.has_rest, self.room.cut) = (None, None, false, None);
        self.faults.clear();
        self.report = Report { bytes: self.chunk.len() as u64, ..Report::default() };
    }

    /// Removes the records of the chunk that are not kept. Where the others stood is noted if that is asked for, or lines are counted.
    pub(crate) fn keep(&mut self, settings: &Settings, has_origins: bool) {
        let &Settings { record_end, kernels, .. } = settings;
        let has_origins = has_origins || self.chunk.line > 0;
        self.origins.clear();
        self.lines_before = None;
        self.is_filtered = self.chunk.keeper.is_some();
        if self.is_filtered && has_origins {
            let text = self.chunk.text.padded().content();
            let is_open = text.last().is_some_and(|&last| last != record_end);
            let is_last = is_open && self.chunk.shape == Shape::Records;
            let ends = memchr::memchr_iter(record_end, text).count() as u64;
            let lines = ends + u64::from(is_last);
            self.lines_before = Some((self.chunk.line, lines));
        }
        let origins = has_origins.then_some(&mut self.origins);
        let filtered = self.chunk.keep(record_end, origins, kernels);
        self.report.filtered += &filtered.unwrap_or_default();
    }

    /// Makes what the scan left the chunk; returns whether it left something.
    pub(crate) fn next_part(&mut self, record_end: u8) -> bool {
        let Some(at) = self.room.cut.take() else { return false };
        let lines = self.chunk.remove_front(at, record_end);
        self.origins.drain(..lines.min(self.origins.len()));
        true
    }
}

/// The record of an indexed chunk at `span`, white space around it trimmed.
#[inline(always)]
pub(crate) fn record_at<'a>(text: Padded<'a>, index: &'a Index, span: Span) -> (Span, Record<'a>) {
    let span = trim(text.padded(), span);
    (span, Record::new(text, index, span))
}
