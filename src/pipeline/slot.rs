//! A chunk on its way through the pipeline, and what a thread keeps.

use std::io;

use super::equivalence::Scratch;
use super::pending::Pending;
use super::report::Report;
use super::survey;
use crate::audit::Marks;
use crate::chunk::{Padded, PaddedBuf, Span};
use crate::index::{Index, Record, trim};
use crate::io::Chunk;
use crate::io::places::Place;
use crate::normalize::Split;
use crate::rules::Known;
use crate::uri::UriError;

/// What a thread keeps from chunk to chunk.
#[derive(Debug, Default)]
pub(super) struct Worker {
    /// The buffer for chunks that are not revisited: it stays in the caches of the thread.
    pub(super) text: PaddedBuf,
    pub(super) index: Index,
    pub(super) split: Split,
    /// Numbers of records that need more than the usual changes.
    pub(super) others: Vec<u32>,
    pub(super) spans: Vec<Span>,
    /// Numbers of records without a row.
    pub(super) holes: Vec<u32>,
    pub(super) scratch: Scratch,
    pub(super) pending: Pending,
    /// Canonical forms, each with a record end.
    pub(super) forms: Vec<u8>,
    /// The index of these.
    pub(super) form_index: Index,
    /// Hosts that were looked up in the public suffix list.
    pub(super) known: Known,
    /// Where an audit looks.
    pub(super) marks: Marks,
    pub(super) survey: survey::Scratch,
}

/// How much a scan may write before it leaves the rest of its chunk, to be scanned when that has been written.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// In bytes.
    pub(super) most: usize,
    /// Where the records begin that were left.
    pub(super) cut: Option<usize>,
    /// Whether no other chunk is scanned at the same time.
    pub(super) is_alone: bool,
    /// The number of the row that is written next, of those that have no room.
    pub(super) next: usize,
}

impl Room {
    /// Whether `bytes` of output are so many that the records from offset `at` of the chunk on are left.
    #[inline(always)]
    pub(super) fn is_full(&mut self, bytes: usize, at: usize) -> bool {
        let is_full = bytes > self.most;
        if is_full {
            self.cut = Some(at);
        }
        is_full
    }
}

/// One chunk on its way through the pipeline, with everything that belongs to it. Reused.
#[derive(Debug, Default)]
pub(super) struct Slot<R> {
    pub(super) chunk: Chunk,
    /// What the job found in the chunk.
    pub(super) rows: R,
    pub(super) out: Vec<u8>,
    pub(super) rejects: Vec<u8>,
    /// Lines for omitted records.
    pub(super) dupes: Vec<u8>,
    /// There is more to be written than has room in the buffers.
    pub(super) has_rest: bool,
    pub(super) room: Room,
    /// Where the records of a cut chunk come from, if it is one of a list made of another source.
    pub(super) places: Vec<Place>,
    pub(super) report: Report,
    /// The first record that the job must not go past: its span and what is wrong.
    pub(super) stop: Option<(Span, UriError)>,
    /// What is wrong in the chunk, while the rest of it was worked on: `Fault::MOST` sentences at most.
    pub(super) faults: Vec<String>,
    /// Why the chunk could not be read.
    pub(super) fault: Option<io::Error>,
    /// What a survey finds in the chunk, if there is one.
    pub(super) survey: Option<Box<survey::Part>>,
}

impl<R> Slot<R> {
    /// Forgets what was found in its chunk.
    pub(super) fn clear(&mut self) {
        self.out.clear();
        self.rejects.clear();
        self.dupes.clear();
        (self.stop, self.fault, self.has_rest, self.room.cut) = (None, None, false, None);
        self.faults.clear();
        self.report = Report { bytes: self.chunk.len() as u64, ..Report::default() };
    }

    /// Makes what the scan left the chunk; returns whether it left something.
    pub(super) fn next_part(&mut self, record_end: u8) -> bool {
        let Some(at) = self.room.cut.take() else { return false };
        let lines = self.chunk.remove_front(at, record_end);
        self.places.drain(..lines.min(self.places.len()));
        true
    }
}

/// The record of an indexed chunk at `span`, white space around it trimmed.
#[inline(always)]
pub(super) fn record_at<'a>(text: Padded<'a>, index: &'a Index, span: Span) -> (Span, Record<'a>) {
    let span = trim(text.padded(), span);
    (span, Record::new(text, index, span))
}
