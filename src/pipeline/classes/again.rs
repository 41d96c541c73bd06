//! Results written while the sources are read a second time, so that no text is held until then.
//!
//! Fresh memory costs more than reading a file again that the system still has: half a second for a
//! gigabyte of texts, where the second reading takes a tenth of that.

use memchr::memchr_iter;

use super::shelf::Shelf;
use super::{Emit, OnInvalid, Report, Select, Sinks, Sorting};
use crate::chunk::Span;
use crate::index::trim;
use crate::io::{Chunk, Shape, Source};
use crate::pipeline::Error;
use crate::pipeline::driver::{Job, Slot, Worker, run_here};
use crate::pipeline::equivalence::Judge;
use crate::pipeline::map::unjudged_key;
use crate::simd::Isa;

impl Sorting {
    /// Writes everything; `sources` are those that were read, once more.
    pub(super) fn write_again(
        &mut self,
        sources: Vec<Source>,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        self.seal(report);
        let shelves: Vec<&Shelf> = self.classes.partitions().collect();
        let next = vec![0; shelves.len()];
        let mut job = Reading { sorting: self, shelves, lines: 0, next };
        let written = run_here(&mut job, sources, &self.settings, &mut Sinks::new(sinks.out))?;
        report.written = written.written;
        report.withheld = written.withheld;
        if self.options.select == Select::Repeated {
            report.withheld += self.long_count;
        }
        Ok(())
    }
}

/// The job of the second reading.
struct Reading<'s> {
    sorting: &'s Sorting,
    shelves: Vec<&'s Shelf>,
    /// Lines read so far, in all sources.
    lines: u64,
    /// For each shelf the number of survivors before these.
    next: Vec<usize>,
}

/// The lines of a chunk.
#[derive(Debug, Default)]
struct Lines {
    /// Lines before the chunk, in all sources.
    position: u64,
    /// Where each ends, as an offset in the chunk.
    ends: Vec<u32>,
    /// For each shelf the number of survivors before the chunk.
    first: Vec<usize>,
    /// For each line the shelf of the class that survives in it and the number of the class, or [`NOBODY`].
    survivors: Vec<(u32, u32)>,
}

/// No class survives here.
const NOBODY: (u32, u32) = (u32::MAX, 0);

impl Job for Reading<'_> {
    type Rows = Lines;

    #[inline(always)]
    fn scan<I: Isa>(&self, _isa: I, _worker: &mut Worker, slot: &mut Slot<Lines>) {
        let text = slot.chunk.text.padded().content();
        let record_end = self.sorting.settings.record_end;
        let ends = &mut slot.rows.ends;
        ends.clear();
        ends.extend(memchr_iter(record_end, text).map(|end| end as u32));
        if text.last().is_some_and(|&last| last != record_end) {
            ends.push(text.len() as u32);
        }
    }

    fn settle(&mut self, slots: &mut [Slot<Lines>]) {
        for slot in slots {
            match slot.chunk.shape {
                Shape::Records => {}
                Shape::LongFirst => {
                    self.lines += 1;
                    continue;
                }
                Shape::LongRest | Shape::LongLast => continue,
            }
            slot.rows.position = self.lines;
            slot.rows.first.clone_from(&self.next);
            self.lines += slot.rows.ends.len() as u64;
            for (shelf, next) in self.shelves.iter().zip(&mut self.next) {
                *next += shelf.survivors_from(*next, self.lines).count();
            }
        }
    }

    #[inline(always)]
    fn emit<I: Isa>(&self, _isa: I, _worker: &mut Worker, slot: &mut Slot<Lines>) {
        self.write_survivors(slot);
    }

    fn on_invalid(&self) -> OnInvalid {
        let options = &self.sorting.options;
        match (options.dedup.on_invalid, options.select) {
            (OnInvalid::Pass, Select::All | Select::Unique) => OnInvalid::Pass,
            // Told and diverted the first time.
            _ => OnInvalid::Drop,
        }
    }

    fn long_record_row(&self, _chunk: &Chunk) -> Option<Vec<u8>> {
        (self.sorting.options.dedup.emit == Emit::Key).then(|| {
            let mut row = self.long_record_head();
            row.extend(unjudged_key(self.sorting.settings.record_end));
            row
        })
    }

    fn long_record_head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        self.sorting.push_count(1, &mut head);
        head
    }
}

impl Reading<'_> {
    #[inline(never)]
    fn write_survivors(&self, slot: &mut Slot<Lines>) {
        let Slot { chunk, rows, out, report, .. } = slot;
        let Lines { position, ends, first, survivors } = rows;
        let end = *position + ends.len() as u64;
        survivors.clear();
        survivors.resize(ends.len(), NOBODY);
        for ((number, shelf), &first) in (0..).zip(&self.shelves).zip(&*first) {
            for (at, class) in shelf.survivors_from(first, end) {
                survivors[(at - *position) as usize] = (number, class);
            }
        }
        let text = chunk.text.padded();
        let Sorting { options, settings, .. } = self.sorting;
        let mut judge = Judge::new(&options.dedup.equivalence, settings.kernels);
        out.reserve(text.len());
        let mut start = 0;
        for (&survivor, &end) in survivors.iter().zip(&*ends) {
            let line = Span { start, end };
            start = end + 1;
            if survivor == NOBODY {
                continue;
            }
            let (number, class) = survivor;
            let count = self.shelves[number as usize].count(class);
            if !options.select.has(count) {
                report.withheld += 1;
                continue;
            }
            report.written += 1;
            let record = trim(text.padded(), line).of(text.content());
            self.sorting.push_result(record, count, &mut judge, out);
        }
    }
}
