//! The records of a list that a filter keeps.

use std::sync::Arc;

use crate::io::Source;
use crate::io::read::keeper::Keeper;
use crate::io::read::origins::RecordOrigin;
use crate::pipeline::Equivalence;
use uriscan_core::chunk::{PaddedBuf, Span};
use uriscan_core::extract::{Cause, Filter, Filtered};
use uriscan_core::index::trim;

/// `source` with those of its records that `filter` keeps, for any job that reads lists.
///
/// What is filtered is the record as `equivalence` reads it: resolved against its base, and repaired. Blank lines are
/// omitted. Lines, columns and offsets that a job names are those in `source`. A record that is too long to be parsed has no
/// property that the filter knows.
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
    let keeper: Arc<dyn Keeper> = Arc::new(Kept { filter: filter.clone(), equivalence });
    Source { keeper: Some(keeper), ..source }
}

/// Keeps the records that a filter keeps, as an equivalence reads them.
#[derive(Debug)]
struct Kept {
    filter: Filter,
    equivalence: Option<Equivalence>,
}

impl Kept {
    #[inline(always)]
    fn cause(&self, record: &[u8]) -> Option<Cause> {
        match &self.equivalence {
            None => self.filter.cause(record),
            Some(equivalence) => self.filter.cause(&equivalence.target(record)),
        }
    }
}

impl Keeper for Kept {
    fn keep(
        &self,
        text: &mut PaddedBuf,
        (line, byte): (u64, u64),
        record_end: u8,
        mut origins: Option<&mut Vec<RecordOrigin>>,
    ) -> Filtered {
        let mut filtered = Filtered::default();
        let mut note = |number: u64, start: usize, record: u32| {
            let origin = RecordOrigin {
                line: line + number,
                indent: u64::from(record) - start as u64,
                byte: byte + u64::from(record),
                context: None,
                is_literal: true,
            };
            origins.iter_mut().for_each(|origins| origins.push(origin));
        };
        let len = text.padded().len();
        let text_only = self.filter.by_texts(record_end).filter(|_| self.equivalence.is_none());
        let (room, cause_of_others) = (text.room(), text_only.and_then(|it| it.cause_of_others()));
        // Where the next record may begin that has to be looked at; the cause of those before it is known.
        let next_look = |from: usize, room: &[u8]| {
            text_only.map_or(from, |texts| texts.find(&room[..len], from).unwrap_or(len))
        };
        let (mut start, mut number, mut look) = (0, 0, next_look(0, room));
        // Records that are kept are moved together, as many at a time as follow one another: those from `from` on go to `to`.
        let (mut from, mut to) = (0, 0);
        while start < len {
            let end = memchr::memchr(record_end, &room[start..len]).map_or(len, |at| start + at);
            let next = len.min(end + 1);
            let span = trim(room, Span { start: start as u32, end: end as u32 });
            let is_kept = !span.is_empty() && {
                let cause = if end <= look { cause_of_others } else { self.cause(span.of(room)) };
                cause.into_iter().for_each(|cause| filtered.add(cause));
                cause.is_none()
            };
            if is_kept {
                note(number, start, span.start);
            } else {
                room.copy_within(from..start, to);
                (from, to) = (next, to + start - from);
            }
            if look < next {
                look = next_look(next, room);
            }
            (start, number) = (next, number + 1);
        }
        room.copy_within(from..len, to);
        text.set_len(to + len - from);
        filtered
    }

    fn cause_of_overlong(&self) -> Option<Cause> {
        self.filter.cause_of_overlong()
    }
}
