//! Deduplication that reports omitted records as they are read, since the first record of each class survives: [`super::classes()`]
//! where nothing has to wait for the end of the input.
//!
//! Results are those of [`super::dedup()`], and come as early. What is held is the key and the text of each class.

use std::sync::atomic::{AtomicU32, Ordering};

use super::driver::{End, Job, Reading, run};
use super::firsts::{long_first, write_firsts, write_rest};
use super::forecast::Forecast;
use super::invalid::LongRecord;
use super::numbered::{KeptRows, Numbered};
use super::rows::RowRun;
use super::scan::{self, scan_found};
use super::slot::{Slot, Worker};
use super::writer::{Origins, RecordWriter};
use super::{ClassOptions, Error, Keep, OnInvalid, Report, Select, Settings, Sinks};
use crate::dedup::Rows;
use crate::io::{Chunk, Shape, Source};
use crate::simd::Isa;
use crate::survivors::{Batch, ClassSession, ClassWriter, Firsts, Record, StreamedClasses};

/// Omitted records between asking for the text of a survivor and reading it.
const LOOK_AHEAD: usize = 12;

/// The lines of a chunk take at most as many bytes as this many times its own, and [`MORE`], before they are written out: a record of
/// a few bytes may have a survivor of many megabytes.
const TIMES: usize = 4;
const MORE: usize = 1 << 20;

/// Memory that a byte of input may take: distinct records of three bytes, a line end each, take that for their keys, of which tables
/// that grow hold two, their places and their texts.
const ROOM: u64 = 24;

/// Whether omitted records can be written as they are read. A job that stops at an invalid record writes nothing, and nothing of
/// this spills, so that all has to have room within the limit: sources are files then, which are not compressed.
pub(super) fn is_possible(
    options: &ClassOptions,
    has_seen: bool,
    sources: &[Source],
    sinks: &Sinks<'_>,
) -> bool {
    let is_first = options.keep == Keep::First && options.select == Select::All;
    let has_no_end = !(options.count || has_seen || sinks.clusters.is_some());
    let may_begin = options.dedup.on_invalid != OnInvalid::Fail;
    let has_room = options.dedup.limit.as_ref().is_none_or(|limit| {
        let is_file = sources.iter().all(|source| source.again().is_some());
        let bytes = sources.iter().map(|source| source.bytes).sum::<Option<u64>>();
        let most = limit.set_bytes.unwrap_or(limit.bytes) as u64 / ROOM;
        is_file && bytes.is_some_and(|bytes| bytes <= most)
    });
    sinks.dupes.is_some() && is_first && has_no_end && may_begin && has_room
}

/// Writes the first record of each class, and a line for each of the others. The hasher of `options` is that of the run.
pub(super) fn run_dupes(
    (sources, rows): (Vec<Source>, Option<RowRun>),
    options: ClassOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let names = sources.iter().map(|source| source.name.clone()).collect();
    let mut job = Dupes {
        writer: RecordWriter::of_classes(&options, settings, Origins::new(names)),
        settings: *settings,
        classes: StreamedClasses::default(),
        forecast: Forecast::new(&sources),
        lines: 0,
        rows,
        options,
    };
    run(&mut job, sources, settings, sinks)
}

impl AsMut<scan::Found> for Found {
    fn as_mut(&mut self) -> &mut scan::Found {
        &mut self.numbered.keyed
    }
}

/// The job.
struct Dupes {
    options: ClassOptions,
    settings: Settings,
    writer: RecordWriter,
    classes: StreamedClasses,
    forecast: Forecast,
    /// Lines so far, in all sources, if they have numbers.
    lines: u64,
    /// What finds rows, if the records are rows of tables.
    rows: Option<RowRun>,
}

/// What is kept of a chunk.
#[derive(Debug, Default)]
struct Found {
    numbered: Numbered,
    /// For each record the number of its class in its partition. Atomic since partitions write in parallel, each its own rows.
    classes: Vec<AtomicU32>,
    /// The rows of the records that are omitted and whose lines are still to be written.
    omitted: Vec<u32>,
}

impl Found {
    /// The partition and the class of a row.
    #[inline(always)]
    fn class(&self, row: u32) -> (usize, u32) {
        let row = row as usize;
        (self.numbered.keyed.rows.partition_of(row), self.classes[row].load(Ordering::Relaxed))
    }

    /// Hands the rows of omitted records to `push`, until that returns false, after asking for the texts of their survivors.
    #[inline(always)]
    fn each_omitted(&self, firsts: &Firsts<'_>, mut push: impl FnMut(u32) -> bool) -> usize {
        for (at, &row) in self.omitted.iter().enumerate() {
            // Survivors come in no order, and so is where their texts are.
            if let Some(&row) = self.omitted.get(at + 2 * LOOK_AHEAD) {
                let (partition, class) = self.class(row);
                firsts.prefetch_place(partition, class);
            }
            if let Some(&row) = self.omitted.get(at + LOOK_AHEAD) {
                let (partition, class) = self.class(row);
                firsts.prefetch_text(partition, class);
            }
            if !push(row) {
                return at + 1;
            }
        }
        self.omitted.len()
    }
}

/// The chunks of a batch that hold whole records.
struct Scanned<'b>(Vec<&'b Slot<Found>>);

impl Batch for Scanned<'_> {
    fn keys(&self) -> Vec<&Rows> {
        self.0.iter().map(|slot| &slot.rows.numbered.keyed.rows).collect()
    }

    #[inline(always)]
    fn record(&self, chunk: usize, row: usize) -> Record<'_> {
        let Slot { chunk, rows, .. } = self.0[chunk];
        (0, rows.numbered.uri(row, chunk.text.padded().content()))
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(|slot| slot.chunk.text.padded().len()).sum()
    }
}

impl Dupes {
    /// Appends the line of the omitted record of `row`.
    #[inline(always)]
    fn push(
        &self,
        session: &mut dyn ClassSession,
        (slot, row): (&Slot<Found>, u32),
        firsts: &Firsts<'_>,
        out: &mut Vec<u8>,
    ) {
        let (partition, class) = slot.rows.class(row);
        let (numbered, row) = (&slot.rows.numbered, row as usize);
        let position = if self.has_lines() { numbered.position_of(row) } else { 0 };
        let text = numbered.uri(row, slot.chunk.text.padded().content());
        session.dupe(position, text, Some(firsts.text(partition, class)), out);
    }

    /// Whether lines have numbers.
    fn has_lines(&self) -> bool {
        self.options.rows.dupes
    }
}

impl Job for Dupes {
    type Rows = Found;

    fn reading(&self) -> Reading {
        Reading { cut: self.rows.as_ref().map(|rows| rows.finder.cut()), ..Reading::default() }
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<Found>) {
        let Settings { record_end, redact, .. } = self.settings;
        let options = &self.options.dedup;
        // What was decoded stays behind the text until all is written.
        let len = self.rows.as_ref().map(|rows| rows.find(isa, slot));
        scan_found(isa, options, (record_end, redact), worker, slot);
        let numbered = &mut slot.rows.numbered;
        match len {
            Some(len) => {
                slot.report.blank += numbered.keyed.table.blank;
                if self.has_lines() {
                    let kept = KeptRows { counts_lines: true, ..KeptRows::default() };
                    numbered.number_rows((slot.chunk.text.padded().content(), len), kept);
                }
            }
            None if self.has_lines() => numbered.number(&worker.index),
            None => {}
        }
        let Found { numbered, classes, .. } = &mut slot.rows;
        if classes.len() < numbered.keyed.spans.len() {
            classes.resize_with(numbered.keyed.spans.len(), AtomicU32::default);
        }
    }

    fn commit(&mut self, slots: &mut [Slot<Found>]) -> Result<(), Error> {
        if let Some(rows) = &mut self.rows {
            rows.account(slots)?;
        }
        if self.has_lines() {
            for slot in &mut *slots {
                self.writer.origins.note(self.lines, slot.chunk.source);
                if slot.chunk.shape == Shape::Records {
                    slot.rows.numbered.position = self.lines;
                    self.lines += slot.rows.numbered.line_count;
                } else {
                    self.lines += u64::from(slot.chunk.shape == Shape::LongFirst);
                }
            }
        }
        let scanned = slots.iter().filter(|slot| slot.chunk.shape == Shape::Records);
        let scanned = Scanned(scanned.collect());
        let expected = self.forecast.expected(self.classes.len());
        self.classes.insert(&scanned, expected, |chunk, row, class, is_first| {
            let found = &scanned.0[chunk].rows;
            found.numbered.keyed.rows.set_first(row, is_first);
            found.classes[row].store(class, Ordering::Relaxed);
        });
        self.forecast.add(slots.iter().map(|slot| slot.report.bytes).sum());
        Ok(())
    }

    #[inline(always)]
    fn emit<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<Found>) {
        let (text, options) = (slot.chunk.text.padded(), &self.options.dedup);
        let start = (slot.chunk.source, slot.chunk.byte);
        if let Some(rows) = self.rows.as_ref().filter(|rows| rows.start() == start) {
            slot.out.extend_from_slice(rows.mark());
        }
        let keyed = &slot.rows.numbered.keyed;
        let to = (&mut slot.room, &mut slot.out);
        let written = write_firsts(isa, options, &self.settings, worker, (text, keyed), to);
        let records = keyed.spans.len();
        slot.report.written = written;
        slot.report.duplicates = records as u64 - written;
        let mut omitted = std::mem::take(&mut slot.rows.omitted);
        omitted.clear();
        omitted.extend((0..records as u32).filter(|&row| !keyed.rows.is_first(row as usize)));
        slot.rows.omitted = omitted;

        let (most, mut lines) = (TIMES * text.len() + MORE, std::mem::take(&mut slot.dupes));
        let (firsts, mut session) = (self.classes.firsts(), self.writer.session());
        let done = slot.rows.each_omitted(&firsts, |row| {
            self.push(&mut *session, (slot, row), &firsts, &mut lines);
            lines.len() <= most
        });
        slot.rows.omitted.drain(..done);
        slot.has_rest = !slot.rows.omitted.is_empty() || slot.room.next < records;
        slot.dupes = lines;
    }

    fn write_rest(&self, slot: &Slot<Found>, sinks: &mut Sinks<'_>) -> Result<(), Error> {
        if slot.has_rest {
            let (options, found) = (&self.options.dedup, &slot.rows.numbered.keyed);
            let (text, next) = (slot.chunk.text.padded(), slot.room.next);
            write_rest(options, &self.settings, text, found, next, sinks.out)?;
        }
        let Some(sink) = &mut sinks.dupes else { return Ok(()) };
        let (firsts, mut session) = (self.classes.firsts(), self.writer.session());
        let (mut lines, mut done) = (Vec::new(), Ok(()));
        slot.rows.each_omitted(&firsts, |row| {
            lines.clear();
            self.push(&mut *session, (slot, row), &firsts, &mut lines);
            done = sink.write_all(&lines).map_err(Error::write);
            done.is_ok()
        });
        done
    }

    fn on_invalid(&self) -> OnInvalid {
        self.options.dedup.on_invalid
    }

    fn long_record(&self, _chunk: &Chunk) -> LongRecord {
        long_first(self.options.dedup.emit, &self.settings)
    }

    fn finish(&mut self, _: End<'_>, _: &mut Report, _: &mut Sinks<'_>) -> Result<(), Error> {
        self.rows.as_ref().map_or(Ok(()), RowRun::require_member)
    }
}
