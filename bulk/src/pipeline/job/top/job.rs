//! Counts the parts of the records of a chunk, and adds the counts of chunks.

use super::buffers::Buffers;
use super::{By, TopOptions};
use crate::error::Error;
use crate::io::{Chunk, Shape};
use crate::pipeline::engine::driver::{Job, Reading};
use crate::pipeline::engine::invalid::LongRecord;
use crate::pipeline::engine::work::{ChunkWork, Worker};
use crate::pipeline::{OnInvalid, Settings};
use crate::top_k::{Texts, TopK};
use uriscan_core::audit::redact_by;
use uriscan_core::chunk::{Padded, Prefix};
use uriscan_core::extract::LogPart;
use uriscan_core::index::{Index, Record, trim};
use uriscan_core::key::Hasher;
use uriscan_core::simd::Isa;
use uriscan_core::uri::bulk::parse_record;

/// The least that counts are given, however small the limit is.
const LEAST: usize = 1 << 20;

/// What is known of a chunk.
#[derive(Debug, Default)]
pub(super) struct ChunkCounts {
    /// The values of each part; then those of records with their secrets masked, if these are counted.
    pub(super) texts: Vec<Texts>,
    /// Records without each part.
    pub(super) absent: Vec<u64>,
    pub(super) counted: u64,
    /// Forms with their secrets masked.
    masked: Vec<u8>,
}

impl ChunkCounts {
    /// Nothing of `parts` parts.
    fn clear_for(&mut self, parts: usize) {
        self.texts.resize_with(parts, Texts::default);
        self.texts.iter_mut().for_each(Texts::clear);
        self.absent.clear();
        self.absent.resize(parts, 0);
        self.counted = 0;
    }

    /// Counts the parts of `forms`, each with a record end, and clears them.
    #[inline(always)]
    pub(super) fn count<I: Isa>(
        &mut self,
        isa: I,
        (index, forms): (&mut Index, &mut Vec<u8>),
        options: &TopOptions,
        record_end: u8,
    ) {
        if options.masked {
            self.count_masked(isa, (index, forms), options, record_end);
        }
        self.counted += self.count_from(isa, 0, (index, forms), options, record_end);
        forms.clear();
    }

    /// Counts the parts of `forms` with their secrets masked.
    #[inline(never)]
    fn count_masked<I: Isa>(
        &mut self,
        isa: I,
        (index, forms): (&mut Index, &[u8]),
        options: &TopOptions,
        record_end: u8,
    ) {
        let mut masked = std::mem::take(&mut self.masked);
        masked.clear();
        let mut at = 0;
        for form in forms.split_inclusive(|&byte| byte == record_end) {
            let len = form.strip_suffix(&[record_end]).unwrap_or(form).len();
            redact_by(isa, Prefix::new(&forms[at..], len), &mut masked);
            masked.push(record_end);
            at += form.len();
        }
        self.count_from(isa, options.by.len(), (index, &mut masked), options, record_end);
        self.masked = masked;
    }

    /// Counts the parts of `forms` from the number `first` of all parts on; returns the number of forms.
    #[inline(always)]
    fn count_from<I: Isa>(
        &mut self,
        isa: I,
        first: usize,
        (index, forms): (&mut Index, &mut Vec<u8>),
        TopOptions { by, hasher, .. }: &TopOptions,
        record_end: u8,
    ) -> u64 {
        let len = forms.len();
        forms.resize(Padded::needed(len), 0);
        let text = Padded::new(forms, len).expect("there is padding");
        index.build_with(isa, text, record_end);
        let mut buffers = Buffers::default();
        let (texts, absent) = (&mut self.texts[first..], &mut self.absent[first..]);
        let mut counted = 0;
        for span in index.spans() {
            counted += 1;
            let record = Record::new(text, index, span);
            let form = record.bytes();
            let parts = if form.is_empty() { None } else { parse_record(isa, record).ok() };
            let Some(parts) = parts else {
                absent[..by.len()].iter_mut().for_each(|count| *count += 1);
                continue;
            };
            for ((by, texts), absent) in by.iter().zip(&mut *texts).zip(&mut *absent) {
                let mut has_any = false;
                by.each(form, &parts, &mut buffers, |value| {
                    has_any = true;
                    texts.push(hasher, value);
                });
                *absent += u64::from(!has_any);
            }
        }
        counted
    }

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

pub(super) struct Count<'o> {
    pub(super) options: &'o TopOptions,
    pub(super) record_end: u8,
    pub(super) redact: bool,
    /// Whether the records are parts of entries of logs.
    is_of_logs: bool,
    pub(super) counts: Vec<TopK>,
    pub(super) absent: Vec<u64>,
    pub(super) counted: u64,
}

impl<'o> Count<'o> {
    /// A job that counts within `limit` bytes.
    pub(super) fn new(
        options: &'o TopOptions,
        limit: Option<usize>,
        settings: &Settings,
    ) -> Count<'o> {
        let parts = options.parts();
        let share = limit.map(|bytes| (bytes / parts.max(1)).max(LEAST));
        Count {
            options,
            record_end: settings.record_end,
            redact: settings.redact,
            is_of_logs: options.by.iter().any(|by| by.log_part().is_some()),
            counts: (0..parts).map(|_| TopK::new(share)).collect(),
            absent: vec![0; parts],
            counted: 0,
        }
    }
}

impl Job for Count<'_> {
    type Rows = ChunkCounts;

    fn reading(&self) -> Reading {
        Reading::without_text()
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<ChunkCounts>) {
        let &Count { options, record_end, is_of_logs, .. } = self;
        let TopOptions { by, hasher, .. } = options;
        work.rows.clear_for(options.parts());
        let text = work.chunk.text.padded();
        worker.index.build_with(isa, text, record_end);
        worker.spans.clear();
        worker.spans.extend(worker.index.spans());
        if is_of_logs {
            let ChunkWork { rows: found, report, .. } = work;
            for &whole in &worker.spans {
                let record = trim(text.padded(), whole).of(text.padded());
                report.blank += u64::from(record.is_empty());
                if !record.is_empty() {
                    report.records += 1;
                    found.add_part(by, hasher, record);
                }
            }
        } else if self.is_of_hosts() {
            self.count_hosts(isa, worker, work);
        } else {
            self.count_forms(isa, worker, work);
        }
        let found = &mut work.rows;
        found.texts.iter_mut().for_each(Texts::partition);
    }

    fn commit(&mut self, batch: &mut [ChunkWork<ChunkCounts>]) -> Result<(), Error> {
        let scanned = batch.iter().filter(|work| work.chunk.shape == Shape::Records);
        // After a fault of its source, a chunk has no values at all.
        let chunks: Vec<&ChunkCounts> =
            scanned.map(|work| &work.rows).filter(|found| !found.texts.is_empty()).collect();
        for (part, counts) in self.counts.iter_mut().enumerate() {
            counts.add(&chunks.iter().map(|found| &found.texts[part]).collect::<Vec<_>>());
        }
        for found in chunks {
            self.counted += found.counted;
            for (sum, count) in self.absent.iter_mut().zip(&found.absent) {
                *sum += count;
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
