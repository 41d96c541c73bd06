//! The second reading: what stands at given positions is written.

use memchr::memchr;

use super::aside::Aside;
use super::numbers::Numbers;
use super::positions::{Marks, Positions};
use crate::chunk::Span;
use crate::index::trim;
use crate::io::{Chunk, Source};
use crate::pipeline::driver::{Job, Slot, Worker, push_record, run_here};
use crate::pipeline::equivalence::Judge;
use crate::pipeline::map::unjudged_key;
use crate::pipeline::{DedupOptions, Emit, Error, OnInvalid, Settings, Sinks};
use crate::simd::Isa;

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub(in crate::pipeline) struct Written {
    /// First records of their classes.
    pub(in crate::pipeline) firsts: u64,
    /// Records written, those too long to be judged included.
    pub(in crate::pipeline) written: u64,
    /// Records too long to be judged, written or not.
    pub(in crate::pipeline) long: u64,
    /// Bytes that were put aside on disk.
    pub(in crate::pipeline) spilled: u64,
}

/// The job.
pub(super) struct Again<'s> {
    options: &'s DedupOptions,
    settings: Settings,
    file: &'s Aside,
    /// Those of the bytes at which records begin that are to be written.
    positions: Positions,
    fault: Option<Error>,
}

impl<'s> Again<'s> {
    /// A job that writes what stands at `positions`, each a stream of distances in `file`.
    pub(super) fn new(
        options: &'s DedupOptions,
        settings: &Settings,
        positions: Vec<Numbers>,
        file: &'s Aside,
    ) -> Again<'s> {
        let positions = Positions::new(positions);
        Again { options, settings: *settings, file, positions, fault: None }
    }

    /// Reads `sources` and writes; gives the number of records written.
    pub(super) fn write(
        mut self,
        sources: Vec<Source>,
        sinks: &mut Sinks<'_>,
    ) -> Result<u64, Error> {
        self.positions.begin(self.file)?;
        let settings = self.settings;
        let report = run_here(&mut self, sources, &settings, &mut Sinks::new(sinks.out))?;
        Ok(report.written)
    }

    #[inline(never)]
    fn write_marked(&self, slot: &mut Slot<Marks>) {
        let text = slot.chunk.text.padded();
        let content = text.content();
        let (out, record_end, redact) =
            (&mut slot.out, self.settings.record_end, self.settings.redact);
        let DedupOptions { equivalence, hasher, emit, .. } = self.options;
        let mut judge = Judge::new(equivalence, self.settings.kernels);
        out.reserve(content.len() + 1);
        for (number, &word) in slot.rows.words().iter().enumerate() {
            let mut word = word;
            while word != 0 {
                let start = number * 64 + word.trailing_zeros() as usize;
                word &= word - 1;
                let len = memchr(record_end, &content[start..]).unwrap_or(content.len() - start);
                let line = Span { start: start as u32, end: (start + len) as u32 };
                let record = trim(text.padded(), line).of(content);
                match emit {
                    Emit::Original => push_record(record, redact, out),
                    Emit::Normalized => {
                        push_record(equivalence.shown(judge.form(record)), redact, out);
                    }
                    Emit::Key => {
                        let form = equivalence.shown(judge.form(record));
                        hasher.public(hasher.key(form)).write_hex(out);
                    }
                }
                out.push(record_end);
                slot.report.written += 1;
            }
        }
    }
}

impl Job for Again<'_> {
    type Rows = Marks;

    #[inline(always)]
    fn scan<I: Isa>(&self, _isa: I, _worker: &mut Worker, _slot: &mut Slot<Marks>) {}

    fn settle(&mut self, slots: &mut [Slot<Marks>]) {
        for slot in slots {
            let len = slot.chunk.text.padded().len();
            if let Err(error) = self.positions.mark(len, &mut slot.rows, self.file) {
                self.fault.get_or_insert(error);
                slot.rows.clear();
            }
        }
    }

    #[inline(always)]
    fn emit<I: Isa>(&self, _isa: I, _worker: &mut Worker, slot: &mut Slot<Marks>) {
        self.write_marked(slot);
    }

    fn fault(&mut self) -> Option<Error> {
        self.fault.take()
    }

    fn on_invalid(&self) -> OnInvalid {
        match self.options.on_invalid {
            OnInvalid::Pass => OnInvalid::Pass,
            // Told and diverted the first time.
            OnInvalid::Drop | OnInvalid::Divert | OnInvalid::Fail => OnInvalid::Drop,
        }
    }

    fn long_record_row(&self, _chunk: &Chunk) -> Option<Vec<u8>> {
        (self.options.emit == Emit::Key).then(|| unjudged_key(self.settings.record_end))
    }
}
