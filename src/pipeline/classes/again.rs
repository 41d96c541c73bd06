//! Results written while the sources are read a second time, so that no text is held until then.
//!
//! Fresh memory costs more than reading a file again that the system still has: half a second for a
//! gigabyte of texts, where the second reading takes a tenth of that.

use memchr::memchr_iter;

use super::beyond::{Outcome, Playing};
use super::shelf::Shelf;
use super::{Emit, OnInvalid, Report, Select, Sinks, Sorting};
use crate::chunk::Span;
use crate::dedup::Classes;
use crate::index::trim;
use crate::io::{Chunk, Shape, Source};
use crate::pipeline::Error;
use crate::pipeline::driver::{Job, Slot, Worker, run_here};
use crate::pipeline::equivalence::Judge;
use crate::pipeline::map::unjudged_key;
use crate::pipeline::spill::Aside;
use crate::simd::Isa;

/// Where survivors stand, and how many records their classes have.
pub(super) enum Survivors<'s> {
    /// What shelves hold, with the number of survivors of each that have been passed.
    Held { shelves: Vec<&'s Shelf>, next: Vec<usize> },
    /// What was put aside.
    Aside { tapes: Vec<Playing>, file: Aside },
}

impl<'s> Survivors<'s> {
    /// Those in `classes`, which are sealed.
    pub(super) fn held(classes: &'s Classes<Shelf>) -> Survivors<'s> {
        let shelves: Vec<&Shelf> = classes.partitions().collect();
        let next = vec![0; shelves.len()];
        Survivors::Held { shelves, next }
    }

    /// Those that have been settled on disk.
    pub(super) fn aside(outcome: Outcome) -> Result<Survivors<'s>, Error> {
        let Outcome { settled, file, .. } = outcome;
        let tapes = settled.into_iter().map(|settled| settled.survivors.play(&file));
        Ok(Survivors::Aside { tapes: tapes.collect::<Result<_, Error>>()?, file })
    }

    /// Goes on behind `lines`, whose survivors are looked for later in the first case and now in the second.
    fn pass(&mut self, lines: &mut Lines, end: u64) -> Result<(), Error> {
        match self {
            Survivors::Held { shelves, next } => {
                lines.first.clone_from(next);
                for (shelf, next) in shelves.iter().zip(next) {
                    *next += shelf.survivors_from(*next, end).count();
                }
            }
            Survivors::Aside { tapes, file } => {
                lines.begin();
                for tape in tapes {
                    while let Some(position) = tape.position().filter(|&position| position < end) {
                        lines.counts[(position - lines.position) as usize] = tape.number();
                        tape.advance(file)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Sorting<'_> {
    /// Writes everything; `sources` are those that were read, once more.
    pub(super) fn write_again(
        &self,
        sources: Vec<Source>,
        survivors: Survivors<'_>,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        let mut job = Reading { sorting: self, survivors, lines: 0, fault: None };
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
struct Reading<'s, 'p> {
    sorting: &'s Sorting<'p>,
    survivors: Survivors<'s>,
    /// Lines read so far, in all sources.
    lines: u64,
    fault: Option<Error>,
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
    /// For each line the number of records of the class that survives in it; 0 if none does, or one that was seen.
    counts: Vec<u64>,
}

impl Lines {
    /// No class survives in any line, as far as is known.
    fn begin(&mut self) {
        self.counts.clear();
        self.counts.resize(self.ends.len(), 0);
    }

    /// Looks for survivors on `shelves`.
    fn find(&mut self, shelves: &[&Shelf]) {
        self.begin();
        let end = self.position + self.ends.len() as u64;
        for (shelf, &first) in shelves.iter().zip(&self.first) {
            for (at, class) in shelf.survivors_from(first, end) {
                self.counts[(at - self.position) as usize] = shelf.count(class);
            }
        }
    }
}

impl Job for Reading<'_, '_> {
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
            self.lines += slot.rows.ends.len() as u64;
            if let Err(error) = self.survivors.pass(&mut slot.rows, self.lines) {
                self.fault.get_or_insert(error);
            }
        }
    }

    #[inline(always)]
    fn emit<I: Isa>(&self, _isa: I, _worker: &mut Worker, slot: &mut Slot<Lines>) {
        self.write_survivors(slot);
    }

    fn fault(&mut self) -> Option<Error> {
        self.fault.take()
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

impl Reading<'_, '_> {
    #[inline(never)]
    fn write_survivors(&self, slot: &mut Slot<Lines>) {
        let Slot { chunk, rows, out, report, .. } = slot;
        if let Survivors::Held { shelves, .. } = &self.survivors {
            rows.find(shelves);
        }
        let text = chunk.text.padded();
        let Sorting { options, settings, .. } = self.sorting;
        let mut judge = Judge::new(&options.dedup.equivalence, settings.kernels);
        out.reserve(text.len());
        let mut start = 0;
        for (&count, &end) in rows.counts.iter().zip(&rows.ends) {
            let line = Span { start, end };
            start = end + 1;
            if count == 0 {
                continue;
            }
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
