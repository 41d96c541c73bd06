//! The records of a list that a filter keeps.

use std::sync::Arc;

use crate::io::Source;
use crate::io::read::keeper::Keeper;
use crate::io::read::origins::RecordOrigin;
use crate::pipeline::Equivalence;
use uriscan_core::chunk::{PaddedBuf, Prefix, Span};
use uriscan_core::extract::{Cause, Filter, Filtered, Texts};
use uriscan_core::index::{low_bits, trim};
use uriscan_core::simd::{BLOCK, Isa, Kernels, Task};

/// `source` with those of its records that `filter` keeps, for any job that reads lists.
///
/// What is filtered is the record as `equivalence` reads it: resolved against its base, and repaired. Blank lines are
/// omitted. Lines, columns and offsets that a job names are those in `source`. A record that is too long to be parsed has no
/// property that the filter knows. If `source` is filtered already, a record must be kept by both.
/// [`crate::pipeline::Report::filtered`] counts what is omitted.
///
/// ```
/// use uriscan::extract::{Filter, Property};
/// use uriscan_bulk::io::Source;
/// use uriscan_bulk::pipeline::{Equivalence, OnInvalid, Settings, Sinks, normalize, records_of};
/// let (by, settings) = (Equivalence::default(), Settings::default());
/// let list = Source::new("a", &b"http://h\nHTTP://i\n"[..]);
/// let filter = Filter::default().only(Property::host("i").unwrap());
/// let kept = records_of(list, &filter, &by);
/// let mut out = Vec::new();
/// let report = normalize(vec![kept], &by, OnInvalid::Pass, &settings, &mut Sinks::new(&mut out));
/// assert_eq!(out, b"http://i/\n");
/// assert_eq!(report.unwrap().filtered.total(), 1);
/// ```
pub fn records_of(source: Source, filter: &Filter, equivalence: &Equivalence) -> Source {
    let is_read = equivalence.context.is_some() || !equivalence.repairs.is_empty();
    let equivalence = is_read.then(|| equivalence.clone());
    let before = source.keeper.clone();
    let keeper: Arc<dyn Keeper> = Arc::new(Kept { filter: filter.clone(), equivalence, before });
    Source { keeper: Some(keeper), ..source }
}

/// Keeps the records that a filter keeps, as an equivalence reads them.
#[derive(Debug)]
struct Kept {
    filter: Filter,
    equivalence: Option<Equivalence>,
    /// What must keep a record, too.
    before: Option<Arc<dyn Keeper>>,
}

impl Keeper for Kept {
    fn keep(
        &self,
        text: &mut PaddedBuf,
        start: (u64, u64),
        record_end: u8,
        origins: Option<&mut Vec<RecordOrigin>>,
        kernels: Kernels,
    ) -> Filtered {
        let len = text.padded().len();
        let Kept { filter, equivalence, before } = self;
        let is_alone = equivalence.is_none() && before.is_none();
        let texts = filter.by_texts(record_end).filter(|_| is_alone);
        let room = text.room();
        let (left, filtered) =
            kernels.run(Keep { kept: self, texts, room, len, record_end, start, origins });
        text.set_len(left);
        filtered
    }

    fn cause(&self, record: &[u8]) -> Option<Cause> {
        let of_before = self.before.as_ref().and_then(|before| before.cause(record));
        of_before.or_else(|| match &self.equivalence {
            None => self.filter.cause(record),
            Some(equivalence) => self.filter.cause(&equivalence.target(record)),
        })
    }

    fn cause_of_overlong(&self) -> Option<Cause> {
        let of_before = self.before.as_ref().and_then(|before| before.cause_of_overlong());
        of_before.or_else(|| self.filter.cause_of_overlong())
    }
}

/// Removes what is not kept from the first `len` bytes of `room`; gives the number of bytes that are left.
struct Keep<'k> {
    kept: &'k Kept,
    /// The texts by which the filter decides, if it does so by nothing else.
    texts: Option<Texts<'k>>,
    room: &'k mut [u8],
    len: usize,
    record_end: u8,
    /// The line and the byte of the first record.
    start: (u64, u64),
    origins: Option<&'k mut Vec<RecordOrigin>>,
}

impl Task for Keep<'_> {
    type Output = (usize, Filtered);

    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) -> (usize, Filtered) {
        let mut filtered = Filtered::default();
        let cause_of_others = self.texts.and_then(Texts::cause_of_others);
        let mut ends = RecordEnds { byte: self.record_end, len: self.len, block: 0, found: 0 };
        ends.look(isa, self.room);
        let (mut start, mut number, mut look) = (0, 0, self.next_look(0));
        // Records that are kept are moved together, as many at a time as follow one another: those from `from` on go to `to`.
        let (mut from, mut to) = (0, 0);
        while start < self.len {
            let end = ends.next(isa, self.room);
            let next = self.len.min(end + 1);
            let span = trim(self.room, Span { start: start as u32, end: end as u32 });
            let is_kept = !span.is_empty() && {
                let cause = if end <= look { cause_of_others } else { self.cause(isa, span) };
                cause.into_iter().for_each(|cause| filtered.add(cause));
                cause.is_none()
            };
            if is_kept {
                self.note(number, start, span);
            } else {
                self.room.copy_within(from..start, to);
                (from, to) = (next, to + start - from);
            }
            if look < next {
                look = self.next_look(next);
            }
            (start, number) = (next, number + 1);
        }
        self.room.copy_within(from..self.len, to);
        (to + self.len - from, filtered)
    }
}

impl Keep<'_> {
    #[inline(always)]
    fn cause<I: Isa>(&self, isa: I, span: Span) -> Option<Cause> {
        match self.kept {
            Kept { filter, equivalence: None, before: None } => {
                let record = Prefix::new(&self.room[span.start as usize..], span.len());
                filter.cause_by(isa, record)
            }
            kept => kept.cause(span.of(self.room)),
        }
    }

    /// Where, from `from` on, the next record may begin that has to be looked at; the cause of those before it is known.
    #[inline(always)]
    fn next_look(&self, from: usize) -> usize {
        let content = &self.room[..self.len];
        self.texts.map_or(from, |texts| texts.find(content, from).unwrap_or(self.len))
    }

    /// Notes where the record at `span` stood, in the line that begins at `start` and has this number.
    #[inline(always)]
    fn note(&mut self, number: u64, start: usize, span: Span) {
        let Some(origins) = &mut self.origins else { return };
        origins.push(RecordOrigin {
            line: self.start.0 + number,
            indent: u64::from(span.start) - start as u64,
            byte: self.start.1 + u64::from(span.start),
            context: None,
            is_literal: true,
        });
    }
}

/// The ends of records, one after the other.
struct RecordEnds {
    byte: u8,
    /// Of the text.
    len: usize,
    /// Where the block begins that was looked at, and those of its ends that are still to come.
    block: usize,
    found: u64,
}

impl RecordEnds {
    #[inline(always)]
    fn look<I: Isa>(&mut self, isa: I, text: &[u8]) {
        let rest = &text[self.block..];
        self.found = low_bits(self.len - self.block)
            & match rest.first_chunk() {
                Some(block) => isa.equal(block, self.byte),
                None => {
                    let mut block = [0; BLOCK];
                    block[..rest.len()].copy_from_slice(rest);
                    isa.equal(&block, self.byte)
                }
            };
    }

    /// The next one; the end of the text after the last.
    #[inline(always)]
    fn next<I: Isa>(&mut self, isa: I, text: &[u8]) -> usize {
        while self.found == 0 {
            if self.len - self.block <= BLOCK {
                return self.len;
            }
            self.block += BLOCK;
            self.look(isa, text);
        }
        let at = self.block + self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        at
    }
}
