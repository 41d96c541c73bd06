//! Counts the parts of the records of a chunk, and adds the counts of chunks.

use super::{By, Fault, Lengths, TopOptions};
use crate::audit::redact_into;
use crate::extract::LogPart;
use crate::io::{Chunk, Shape};
use crate::key::Hasher;
use crate::pipeline::driver::{Job, Reading};
use crate::pipeline::invalid::{Fate, LongRecord, Policy};
use crate::pipeline::slot::{Slot, Worker, record_at};
use crate::pipeline::{Error, OnInvalid, Settings};
use crate::simd::Isa;
use crate::tally::{Tally, Texts};
use crate::uri::{ErrorKind, UriError, parse};

/// The least that counts are given, however small the limit is.
const LEAST: usize = 1 << 20;

/// What is known of a chunk.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The values of each part.
    texts: Vec<Texts>,
    /// Records without each part.
    absent: Vec<u64>,
    /// Records that were counted.
    counted: u64,
    lengths: Lengths,
    faults: Vec<Fault>,
}

impl Found {
    /// Counts an entry of a log, of which `record` is the part that is listed.
    fn add_part(&mut self, by: &[By], hasher: &Hasher, record: &[u8]) {
        self.counted += 1;
        for ((by, texts), absent) in by.iter().zip(&mut self.texts).zip(&mut self.absent) {
            match by.log_part().filter(|_| record != LogPart::ABSENT) {
                Some(_) => texts.push(hasher, record),
                None => *absent += 1,
            }
        }
    }
}

/// The job of [`super::top()`].
pub(super) struct Count<'o> {
    options: &'o TopOptions,
    record_end: u8,
    redact: bool,
    /// Whether the records are parts of entries of logs.
    is_of_logs: bool,
    /// The names of the sources, by their number.
    names: Vec<String>,
    pub(super) tallies: Vec<Tally>,
    pub(super) absent: Vec<u64>,
    pub(super) counted: u64,
    pub(super) lengths: Lengths,
    pub(super) faults: Vec<Fault>,
}

impl<'o> Count<'o> {
    /// A job that counts within `limit` bytes.
    pub(super) fn new(
        options: &'o TopOptions,
        limit: Option<usize>,
        settings: &Settings,
        names: Vec<String>,
    ) -> Count<'o> {
        let parts = options.by.len();
        let share = limit.map(|bytes| (bytes / parts.max(1)).max(LEAST));
        Count {
            options,
            record_end: settings.record_end,
            redact: settings.redact,
            is_of_logs: options.by.iter().any(|by| by.log_part().is_some()),
            names,
            tallies: (0..parts).map(|_| Tally::new(share)).collect(),
            absent: vec![0; parts],
            counted: 0,
            lengths: Lengths::default(),
            faults: Vec::new(),
        }
    }

    fn fault(&self, chunk: &Chunk, line: usize, record: &[u8], error: UriError) -> Fault {
        let kept = &record[..record.len().min(Fault::MOST_BYTES)];
        let source = self.names[chunk.source].clone();
        Fault { error, source, line: chunk.line + line as u64, record: kept.to_vec() }
    }
}

/// Whether one more example of `kind` is wanted beside `faults`.
fn is_wanted(faults: &[Fault], kind: ErrorKind) -> bool {
    faults.iter().filter(|fault| fault.error.kind == kind).count() < Fault::EXAMPLES
}

impl Job for Count<'_> {
    type Rows = Found;

    fn reading(&self) -> Reading {
        match self.options.details {
            true => Reading::with_lines(),
            false => Reading::without_text(),
        }
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<Found>) {
        let Worker { index, spans, scratch, .. } = worker;
        let Slot { chunk, rows: found, rejects, report, stop, .. } = slot;
        let TopOptions { by, equivalence, on_invalid, hasher, details, .. } = self.options;
        let text = chunk.text.padded();
        index.build_with(isa, text, self.record_end);
        spans.clear();
        spans.extend(index.spans());
        found.texts.resize_with(by.len(), Texts::default);
        found.texts.iter_mut().for_each(Texts::clear);
        found.absent.clear();
        found.absent.resize(by.len(), 0);
        (found.counted, found.lengths) = (0, Lengths::default());
        found.faults.clear();
        let &Count { record_end, redact, .. } = self;
        let mut masked = Vec::new();
        let policy = Policy { on_invalid: *on_invalid, record_end, redact };
        for (line, &whole) in spans.iter().enumerate() {
            let (span, record) = record_at(text, index, whole);
            if record.is_empty() {
                report.blank += 1;
                continue;
            }
            report.records += 1;
            if *details {
                found.lengths.add(record.len());
            }
            if self.is_of_logs {
                found.add_part(by, hasher, record.bytes());
                continue;
            }
            let form = match equivalence.canonical(isa, record, scratch) {
                Ok(form) => equivalence.shown(form.bytes()),
                Err(error) => {
                    if *details && is_wanted(&found.faults, error.kind) {
                        found.faults.push(self.fault(chunk, line, record.bytes(), error));
                    }
                    match policy.apply(record.bytes(), (span, error), report, rejects, stop) {
                        Fate::Keep | Fate::Omit => continue,
                        Fate::Stop => break,
                    }
                }
            };
            found.counted += 1;
            let form = match redact {
                // Before it is split: part of a secret is not known as one.
                true => {
                    masked.clear();
                    redact_into(form, &mut masked);
                    &masked
                }
                false => form,
            };
            let Ok(parts) = parse(form) else {
                found.absent.iter_mut().for_each(|count| *count += 1);
                continue;
            };
            for ((by, texts), absent) in by.iter().zip(&mut found.texts).zip(&mut found.absent) {
                let mut has_any = false;
                by.each(form, &parts, |value| {
                    has_any = true;
                    texts.push(hasher, value);
                });
                *absent += u64::from(!has_any);
            }
        }
        found.texts.iter_mut().for_each(Texts::partition);
    }

    fn commit(&mut self, slots: &mut [Slot<Found>]) -> Result<(), Error> {
        let scanned = slots.iter().filter(|slot| slot.chunk.shape == Shape::Records);
        // After a fault of its source, a slot has no values at all.
        let chunks: Vec<&Found> =
            scanned.map(|slot| &slot.rows).filter(|found| !found.texts.is_empty()).collect();
        for (part, tally) in self.tallies.iter_mut().enumerate() {
            tally.add(&chunks.iter().map(|found| &found.texts[part]).collect::<Vec<_>>());
        }
        for found in chunks {
            self.counted += found.counted;
            self.lengths.merge(&found.lengths);
            for (sum, count) in self.absent.iter_mut().zip(&found.absent) {
                *sum += count;
            }
            for fault in &found.faults {
                if is_wanted(&self.faults, fault.error.kind) {
                    self.faults.push(fault.clone());
                }
            }
        }
        Ok(())
    }

    fn on_invalid(&self) -> OnInvalid {
        self.options.on_invalid
    }

    fn long_record(&self, _chunk: &Chunk) -> LongRecord {
        LongRecord::Row(Vec::new())
    }
}
