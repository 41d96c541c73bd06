//! What is found in a chunk.

use core::ops::Range;

use super::overview::{Fault, FindingExample, Lengths};
use super::{Overview, Panel};
use crate::pipeline::Invalid;
use crate::pipeline::value::push_value;
use crate::top_k::Counts;
use uriscan_core::audit::Finding;
use uriscan_core::chunk::PaddedBuf;
use uriscan_core::key::Key;
use uriscan_core::uri::UriError;

/// Bytes of a window of the input, after which counts may be dropped. It is one of positions, so it does not depend on
/// how the input is cut into chunks.
pub(super) const WINDOW: u64 = if cfg!(test) { 4 << 10 } else { 8 << 20 };

/// Bytes at the beginning of the input of which all forms are counted; of the rest, so that each doubling takes as
/// long, ever fewer, which count for more.
pub(super) const ALL: u64 = if cfg!(test) { 16 << 10 } else { 16 << 20 };

/// The byte that ends a value that a job hands over; no URI holds it.
pub(super) const VALUE_END: u8 = 0;

/// How much the form of the record at `position` counts; 0 for those that do not.
#[inline(always)]
pub(super) fn weight(position: u64) -> u64 {
    let doublings = u64::BITS - (position / ALL).leading_zeros();
    let mixed = position.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let is_counted = doublings == 0 || mixed >> (u64::BITS - doublings) == 0;
    u64::from(is_counted) << doublings
}

/// The least sum of weights in an input of so many bytes that is an estimate: it is off by a fifth or so then.
pub(super) fn least_estimate(bytes: u64) -> u64 {
    32 << (u64::BITS - (bytes / ALL).leading_zeros())
}

/// What is found in a chunk, or in a batch of a table.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The position of a byte of the source less its offset.
    pub(super) start: u64,
    /// Values that the job handed over, if the records are not the lines of the chunk.
    pub(super) values: Values,
    pub(super) counted: u64,
    pub(super) absent_hosts: u64,
    pub(super) invalid: Invalid,
    /// With lines that are counted in the chunk.
    pub(super) faults: Vec<Fault>,
    pub(super) findings: Vec<FindingExample>,
    pub(super) depths: [u64; Overview::DEPTHS],
    pub(super) repeating: u64,
    pub(super) lengths: Lengths,
    /// Lines of the chunk that have been seen.
    pub(super) lines: u64,
    pieces: Vec<Piece>,
    /// Pieces in use.
    used: usize,
}

/// The part of a chunk that is in one window.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) window: u64,
    pub(super) counts: [Counts; Panel::COUNT],
    pub(super) candidates: Candidates,
}

/// Records whose groups may be in the sample.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    text: Vec<u8>,
    records: Vec<Candidate>,
}

#[derive(Debug)]
struct Candidate {
    position: u64,
    /// Of its group.
    key: Key,
    rank: u64,
    /// Where it is in the text.
    text: Range<usize>,
}

impl Candidates {
    /// Forgets all; there are many only at the beginning of the input, so their memory is not kept for long.
    fn clear(&mut self) {
        self.text.shrink_to(2 * self.text.len());
        self.records.shrink_to(2 * self.records.len());
        self.text.clear();
        self.records.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, position: u64, (key, rank): (Key, u64), text: &[u8]) {
        let start = self.text.len();
        self.text.extend_from_slice(text);
        self.records.push(Candidate { position, key, rank, text: start..self.text.len() });
    }

    /// Puts them in the order of the input.
    pub(super) fn sort(&mut self) {
        self.records.sort_by_key(|candidate| candidate.position);
    }

    /// Calls `each` with the key, the rank and the text of each.
    pub(super) fn each(&self, mut each: impl FnMut(Key, u64, &[u8])) {
        for Candidate { key, rank, text, .. } in &self.records {
            each(*key, *rank, &self.text[text.clone()]);
        }
    }
}

/// Values that a job handed over, each followed by [`VALUE_END`].
#[derive(Debug, Default)]
pub(super) struct Values {
    pub(super) is_used: bool,
    text: Vec<u8>,
    /// For each the offset in the source at which it counts, and its line in the chunk, from 0.
    pub(super) positions: Vec<(u64, u64)>,
}

impl Values {
    fn clear(&mut self) {
        self.is_used = false;
        self.text.clear();
        self.positions.clear();
    }

    /// Their text, which they have no longer.
    pub(super) fn take(&mut self) -> PaddedBuf {
        PaddedBuf::from_bytes(std::mem::take(&mut self.text))
    }
}

impl Part {
    /// Forgets everything, for a chunk whose first byte has a position of `start` more than its offset.
    pub(super) fn begin(&mut self, start: u64) {
        self.clear();
        self.start = start;
    }

    /// Forgets what was found.
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        (self.counted, self.absent_hosts, self.lines, self.used) = (0, 0, 0, 0);
        (self.invalid, self.lengths) = (Invalid::default(), Lengths::default());
        (self.depths, self.repeating) = Default::default();
        self.faults.clear();
        self.findings.clear();
    }

    /// Hands over `value`, a record that is at the offset `byte` of its source, on a line counted from 0 in the chunk.
    /// Then the lines of the chunk are not records.
    pub(crate) fn push(&mut self, value: &[u8], byte: u64, line: u64) {
        self.values.is_used = true;
        push_value(value, VALUE_END, VALUE_END, &mut self.values.text);
        self.values.positions.push((byte, line));
    }

    /// Says that the records are those that are handed over, also if there are none.
    pub(crate) fn take_values(&mut self) {
        self.values.is_used = true;
    }

    /// Notes an invalid record on a line counted from 0.
    pub(super) fn fault(&mut self, line: u64, record: &[u8], error: UriError) {
        self.invalid.add(error.kind);
        if Fault::is_wanted(&self.faults, error.kind) {
            let record = record[..record.len().min(Fault::MOST_BYTES)].to_vec();
            self.faults.push(Fault { error, source: String::new(), line: line + 1, record });
        }
    }

    /// Notes the `finding` of an audit in a record on a line counted from 0.
    pub(crate) fn finding(&mut self, line: u64, record: &[u8], finding: &Finding) {
        if FindingExample::is_wanted(&self.findings, finding.rule) {
            let &Finding { rule, severity, .. } = finding;
            // A secret that is cut may not be known as one.
            let record = if record.len() > Fault::MOST_BYTES { &[][..] } else { record };
            let (source, line) = (String::new(), self.lines + line + 1);
            let example = FindingExample { rule, severity, source, line, record: record.to_vec() };
            self.findings.push(example);
        }
    }

    /// The piece of `window`, which is that of the last one or a later one.
    pub(super) fn piece(&mut self, window: u64) -> &mut Piece {
        if self.used == 0 || self.pieces[self.used - 1].window != window {
            if self.used == self.pieces.len() {
                self.pieces.push(Piece::default());
            }
            let piece = &mut self.pieces[self.used];
            piece.window = window;
            piece.counts.iter_mut().for_each(Counts::clear);
            piece.candidates.clear();
            self.used += 1;
        }
        &mut self.pieces[self.used - 1]
    }

    /// The piece of `window`, of which there is one.
    pub(super) fn piece_of(&mut self, window: u64) -> &mut Piece {
        let number = self.pieces().iter().rposition(|piece| piece.window == window);
        &mut self.pieces[number.unwrap_or_default()]
    }

    /// The piece that was asked for last.
    #[inline(always)]
    pub(super) fn last_piece(&mut self) -> &mut Piece {
        &mut self.pieces[self.used - 1]
    }

    pub(super) fn pieces_mut(&mut self) -> impl Iterator<Item = &mut Piece> {
        self.pieces[..self.used].iter_mut()
    }

    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces[..self.used]
    }
}
