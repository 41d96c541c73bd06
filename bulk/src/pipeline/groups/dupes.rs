//! The job of [`crate::pipeline::classes()`]: omitted records are reported as they are read where the first record of each class survives
//! and nothing has to wait for the end of the input; otherwise all records are [`Gathered`], and written at the end.
//!
//! Results of the former are those of [`crate::pipeline::dedup()`], and come as early. What is held is the key and the text of each class,
//! unless that is the canonical form. When these exceed the memory limit, all that follows is gathered, too.

use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};

use super::firsts::{long_first, write_firsts, write_rest};
use crate::io::{Chunk, Shape};
use crate::pipeline::engine::driver::{End, Job, Reading};
use crate::pipeline::engine::forecast::Forecast;
use crate::pipeline::engine::gathered::{Gathered, Results};
use crate::pipeline::engine::invalid::LongRecord;
use crate::pipeline::engine::long::Spool;
use crate::pipeline::engine::numbered::{KeptRows, Numbered};
use crate::pipeline::engine::rows::RowRun;
use crate::pipeline::engine::scan::{self, scan_keys};
use crate::pipeline::engine::work::{ChunkWork, Worker};
use crate::pipeline::engine::writer::{RecordWriter, TableRows};
use crate::pipeline::{ClassOptions, Error, Keep, OnInvalid, Report, Select, Settings, Sinks};
use crate::survivors::{
    Budget, ClassMode, ClassSession, ClassSet, ClassWriter, Firsts, HeldText, StreamedBatch,
    StreamedClasses,
};
use uriscan_core::chunk::Prefix;
use uriscan_core::dedup::Rows;
use uriscan_core::simd::{Isa, prefetch};

/// Omitted records for whose survivors' texts memory is asked at the same time, before those of the group before are written: nearly
/// each of them is in another page, and the addresses of pages are found side by side if nothing is between.
const GROUP: usize = 16;

/// The lines of a chunk take at most as many bytes as this many times its own, and [`MORE`], before they are written out: a record of
/// a few bytes may have a survivor of many megabytes.
const TIMES: usize = 4;
const MORE: usize = 1 << 20;

/// The part of a memory limit that [`MORE`] may be.
const MORE_OF: usize = 1 << 12;

/// Whether omitted records can be written as they are read. A job that stops at an invalid record writes nothing.
pub(crate) fn is_possible(options: &ClassOptions, has_seen: bool, sinks: &Sinks<'_>) -> bool {
    let is_first = options.keep == Keep::First && options.select == Select::All;
    let has_no_end = !(options.count || has_seen || sinks.clusters.is_some());
    let may_begin = options.dedup.on_invalid != OnInvalid::Fail;
    sinks.dupes.is_some() && is_first && has_no_end && may_begin
}

/// The job of [`crate::pipeline::classes()`].
pub(crate) struct Classes<'s> {
    options: ClassOptions,
    settings: Settings,
    writer: RecordWriter,
    /// Bytes that the lines of a chunk may take, as [`MORE`].
    more: usize,
    classes: StreamedClasses,
    forecast: Forecast,
    /// Lines so far, in all sources, if they have numbers.
    lines: u64,
    /// What finds rows, if the records are rows of tables.
    rows: Option<RowRun>,
    /// The records that are gathered, and the source and the byte of it at which they begin: those after memory was full, or all.
    rest: Option<((usize, u64), Gathered<'s>)>,
}

impl AsRef<Numbered> for ChunkClasses {
    fn as_ref(&self) -> &Numbered {
        &self.numbered
    }
}

impl AsMut<Numbered> for ChunkClasses {
    fn as_mut(&mut self) -> &mut Numbered {
        &mut self.numbered
    }
}

impl AsMut<scan::KeyedRecords> for ChunkClasses {
    fn as_mut(&mut self) -> &mut scan::KeyedRecords {
        &mut self.numbered.keyed
    }
}

/// What is kept of a chunk.
#[derive(Debug, Default)]
pub(crate) struct ChunkClasses {
    numbered: Numbered,
    /// The length of the text without decoded values, if the records are rows.
    len: Option<usize>,
    /// For each record the number of its class in its partition. Atomic since partitions write in parallel, each its own rows.
    classes: Vec<AtomicU32>,
    /// The rows of the records that are omitted and whose lines are still to be written, with the texts of their survivors.
    omitted: Vec<(u32, HeldText)>,
    /// The same rows, on their way there.
    others: Vec<u32>,
}

impl ChunkClasses {
    /// The partition and the class of a row.
    #[inline(always)]
    fn class(&self, row: u32) -> (usize, u32) {
        let row = row as usize;
        (self.numbered.keyed.rows.partition_of(row), self.classes[row].load(Ordering::Relaxed))
    }

    /// Finds all omitted records of the chunk, and the texts of their survivors.
    ///
    /// Survivors come in no order, and so is what is held of them: each step asks for the memory of the next one.
    #[inline(always)]
    fn find_omitted(&mut self, firsts: &Firsts<'_>) {
        let (mut omitted, mut others) =
            (std::mem::take(&mut self.omitted), std::mem::take(&mut self.others));
        let rows = &self.numbered.keyed.rows;
        others.clear();
        others.resize(rows.len(), 0);
        // Whether a record is omitted cannot be foreseen.
        let mut count = 0;
        for row in 0..rows.len() {
            others[count] = row as u32;
            count += usize::from(!rows.is_first(row));
        }
        others.truncate(count);
        for &row in &others {
            let (partition, class) = self.class(row);
            firsts.prefetch(partition, class);
        }
        omitted.clear();
        omitted.extend(others.iter().map(|&row| {
            let (partition, class) = self.class(row);
            (row, firsts.find(partition, class))
        }));
        (self.omitted, self.others) = (omitted, others);
    }

    /// Hands omitted records to `push`, until that returns false, after asking for the texts of their survivors; returns how many.
    #[inline(always)]
    fn each_omitted(
        &self,
        firsts: &Firsts<'_>,
        mut push: impl FnMut((u32, HeldText)) -> bool,
    ) -> usize {
        let ask = |group: &[(u32, HeldText)]| {
            group.iter().for_each(|&(_, text)| firsts.prefetch_text(text));
        };
        let (mut done, mut groups) = (0, self.omitted.chunks(GROUP).peekable());
        groups.peek().into_iter().for_each(|group| ask(group));
        while let Some(group) = groups.next() {
            groups.peek().into_iter().for_each(|group| ask(group));
            for &omitted in group {
                done += 1;
                if !push(omitted) {
                    return done;
                }
            }
        }
        done
    }
}

/// The chunks of a batch that hold whole records.
fn scanned(batch: &[ChunkWork<ChunkClasses>]) -> Vec<&ChunkWork<ChunkClasses>> {
    batch.iter().filter(|work| work.chunk.shape == Shape::Records).collect()
}

fn keys<'b>(scanned: &[&'b ChunkWork<ChunkClasses>]) -> Vec<&'b Rows> {
    scanned.iter().map(|work| &work.rows.numbered.keyed.rows).collect()
}

/// Chunks of a batch whose records are added to their classes.
struct Batch<'b>(&'b [&'b ChunkWork<ChunkClasses>]);

impl StreamedBatch for Batch<'_> {
    #[inline(always)]
    fn is_canonical(&self, chunk: usize, row: usize) -> bool {
        self.0[chunk].rows.numbered.keyed.are_canonical[row]
    }

    #[inline(always)]
    fn text(&self, chunk: usize, row: usize) -> Prefix<'_> {
        let ChunkWork { chunk, rows, .. } = self.0[chunk];
        rows.numbered.uri(row, chunk.text.padded())
    }

    #[inline(always)]
    fn prefetch(&self, chunk: usize, row: usize) {
        prefetch(&self.0[chunk].rows.numbered.keyed.spans, row);
    }

    #[inline(always)]
    fn prefetch_text(&self, chunk: usize, row: usize) {
        let ChunkWork { chunk, rows, .. } = self.0[chunk];
        let start = rows.numbered.keyed.spans[row].start as usize;
        let text = chunk.text.padded().padded();
        prefetch(text, start);
        prefetch(text, start + 64);
    }

    #[inline(always)]
    fn note(&self, chunk: usize, row: usize, class: u32, is_first: bool) {
        let found = &self.0[chunk].rows;
        found.numbered.keyed.rows.set_first(row, is_first);
        found.classes[row].store(class, Ordering::Relaxed);
    }
}

impl<'s> Classes<'s> {
    /// A job that writes the first record of each class, and a line for each of the others, as they are read, until memory is full. The
    /// hasher of `options` is that of the run.
    pub(crate) fn streamed(
        (options, settings): (ClassOptions, Settings),
        writer: RecordWriter,
        rows: Option<RowRun>,
        forecast: Forecast,
    ) -> Classes<'s> {
        let limit = options.dedup.limit.clone();
        let more = limit.as_ref().map_or(MORE, |limit| MORE.min(limit.bytes / MORE_OF));
        let classes = StreamedClasses::new(limit.map(Budget::of_process));
        let (lines, rest) = (0, None);
        Classes { options, settings, writer, more, classes, forecast, lines, rows, rest }
    }

    /// A job that writes once everything is read.
    pub(crate) fn gathered(gathered: Gathered<'s>, rows: Option<RowRun>) -> Classes<'s> {
        let how = (gathered.options.clone(), gathered.settings);
        let writer = gathered.writer.clone();
        let job = Classes::streamed(how, writer, rows, Forecast::default());
        Classes { rest: Some(((0, 0), gathered)), ..job }
    }

    /// Appends the line of an omitted record.
    #[inline(always)]
    fn push(
        &self,
        session: &mut dyn ClassSession,
        (work, (row, survivor)): (&ChunkWork<ChunkClasses>, (u32, HeldText)),
        firsts: &Firsts<'_>,
        out: &mut Vec<u8>,
    ) {
        let (numbered, row) = (&work.rows.numbered, row as usize);
        let position = if self.has_lines() { numbered.position_of(row) } else { 0 };
        let text = numbered.uri(row, work.chunk.text.padded());
        let survivor = match firsts.text(survivor) {
            Some(held) => held,
            None if numbered.keyed.are_canonical[row] => text,
            None => Prefix::from(&[][..]),
        };
        session.dupe(position, text, Some(survivor), out);
    }

    fn has_lines(&self) -> bool {
        self.writer.has_dupe_rows()
    }

    /// Whether the records of `batch` have room in memory.
    fn fits(&mut self, batch: &[ChunkWork<ChunkClasses>]) -> bool {
        let scanned = scanned(batch);
        let texts = scanned.iter().map(|work| work.chunk.text.padded().len()).sum();
        self.classes.fits(&keys(&scanned), texts)
    }

    fn number_lines(&mut self, batch: &mut [ChunkWork<ChunkClasses>]) {
        for work in batch {
            self.writer.origins.note(self.lines, work.chunk.source);
            if work.chunk.shape == Shape::Records {
                work.rows.numbered.position = self.lines;
                self.lines += work.rows.numbered.line_count;
            } else {
                self.lines += u64::from(work.chunk.shape == Shape::LongFirst);
            }
        }
    }

    /// Adds the records of `batch` to their classes.
    fn insert(&mut self, batch: &[ChunkWork<ChunkClasses>]) {
        let scanned = scanned(batch);
        let expected = self.forecast.expected(self.classes.len());
        self.classes.insert(&keys(&scanned), expected, &Batch(&scanned));
        self.forecast.add(batch.iter().map(|work| work.report.bytes).sum());
    }

    /// From the first chunk of `batch` on that does not go on with a long record, all is gathered.
    fn begin_rest(&mut self, batch: &mut [ChunkWork<ChunkClasses>]) -> Result<(), Error> {
        let is_begin = |work: &&ChunkWork<ChunkClasses>| {
            matches!(work.chunk.shape, Shape::Records | Shape::LongFirst)
        };
        let Some(ChunkWork { chunk, .. }) = batch.iter().find(is_begin) else { return Ok(()) };
        let start = (chunk.source, chunk.kept_byte);
        let (kept, mut writer) = (self.kept(), self.writer.clone());
        if self.rows.is_some() {
            writer = writer.of_table(TableRows { count: None, has_uris: true });
        }
        let mode = ClassMode {
            keep: Keep::First,
            has_texts: true,
            has_members: true,
            has_uris: kept.has_uris,
            ..ClassMode::default()
        };
        let mut written = std::mem::replace(&mut self.classes, StreamedClasses::new(None));
        let mut classes = ClassSet::new(mode, written.take_budget());
        let kept_of = |text: &[u8], out: &mut Vec<u8>| match kept.has_uris {
            true => ClassMode::push_key(text, out),
            false => out.extend_from_slice(text),
        };
        classes.follow(written, kept_of, self.forecast.rest())?;
        let dir = self.options.dedup.limit.as_ref().map(|limit| limit.temp_dir.clone());
        let (results, forecast) =
            (Results::Held(Spool::new(dir)), std::mem::take(&mut self.forecast));
        let how = (self.options.clone(), self.settings);
        let rest = Gathered::new(how, kept, writer, classes, results, forecast);
        // What has been written has the position 0.
        self.rest = Some((start, rest.after(self.lines.max(1))));
        for work in batch.iter_mut().filter(|work| work.chunk.shape == Shape::Records) {
            let ChunkClasses { numbered, len, .. } = &mut work.rows;
            match *len {
                Some(len) => numbered.number_rows((work.chunk.text.padded().content(), len), kept),
                None if self.has_lines() => {}
                None => numbered.number_in_order(),
            }
        }
        Ok(())
    }

    fn kept(&self) -> KeptRows {
        KeptRows { has_uris: self.rows.is_some(), ..KeptRows::default() }
    }
}

impl Job for Classes<'_> {
    type Rows = ChunkClasses;

    fn reading(&self) -> Reading {
        let is_held = matches!(&self.rest, Some((_, rest)) if !rest.is_reread());
        let cut = self.rows.as_ref().map(|rows| rows.finder.cut());
        Reading { has_own_lines: is_held || self.has_lines(), cut, ..Reading::default() }
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<ChunkClasses>) {
        let Settings { record_end, redact, .. } = self.settings;
        let options = &self.options.dedup;
        let len = self.rows.as_ref().map(|rows| rows.find(isa, work));
        work.rows.numbered.keyed.notes_canonical = self.rest.is_none();
        scan_keys(isa, options, (record_end, redact), worker, work);
        if let Some((_, rest)) = &self.rest {
            return rest.number(&worker.index, work, len);
        }
        // What was decoded stays behind the text until all is written.
        work.rows.len = len;
        let numbered = &mut work.rows.numbered;
        match len {
            Some(len) => {
                work.report.blank += numbered.keyed.table.blank;
                if self.has_lines() {
                    let kept = KeptRows { has_uris: false, ..self.kept() };
                    numbered.number_rows((work.chunk.text.padded().content(), len), kept);
                }
            }
            None if self.has_lines() => {
                numbered.number(&worker.index);
                work.lines_before.iter().for_each(|&it| numbered.number_by(&work.origins, it));
            }
            None => {}
        }
        let ChunkClasses { numbered, classes, .. } = &mut work.rows;
        if options.equivalence.aliases.is_some() {
            // The class is that of another form.
            numbered.keyed.are_canonical.fill(false);
        }
        if classes.len() < numbered.keyed.spans.len() {
            classes.resize_with(numbered.keyed.spans.len(), AtomicU32::default);
        }
    }

    fn commit(&mut self, batch: &mut [ChunkWork<ChunkClasses>]) -> Result<(), Error> {
        let (count, stop) = (batch.len(), batch.iter().position(|work| work.stop.is_some()));
        if let Some(rows) = &mut self.rows {
            rows.account(&mut batch[..stop.map_or(count, |i| i + 1)])?;
        }
        if stop.is_some() {
            // Nothing will be written.
            return Ok(());
        }
        if self.rest.is_none() && !self.fits(batch) {
            self.begin_rest(batch)?;
        }
        if let Some((start, rest)) = &mut self.rest {
            let is_before =
                |work: &ChunkWork<ChunkClasses>| (work.chunk.source, work.chunk.kept_byte) < *start;
            let written = batch.partition_point(is_before);
            return rest.gather(&mut batch[written..]);
        }
        if self.has_lines() {
            self.number_lines(batch);
        }
        self.insert(batch);
        Ok(())
    }

    #[inline(always)]
    fn emit<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<ChunkClasses>) {
        if self.rest.is_some() {
            return;
        }
        let (text, options) = (work.chunk.text.padded(), &self.options.dedup);
        self.rows.iter().for_each(|rows| rows.begin(&work.chunk, &mut work.out));
        let keyed = &work.rows.numbered.keyed;
        let to = (&mut work.room, &mut work.out);
        let written = write_firsts(isa, options, &self.settings, worker, (text, keyed), to);
        let records = keyed.spans.len();
        work.report.written = written;
        work.report.duplicates = records as u64 - written;
        let (most, mut lines) = (TIMES * text.len() + self.more, std::mem::take(&mut work.dupes));
        let (firsts, mut session) = (self.classes.firsts(), self.writer.session());
        work.rows.find_omitted(&firsts);
        let done = work.rows.each_omitted(&firsts, |omitted| {
            self.push(&mut *session, (work, omitted), &firsts, &mut lines);
            lines.len() <= most
        });
        work.rows.omitted.drain(..done);
        work.has_rest = !work.rows.omitted.is_empty() || work.room.next < records;
        work.dupes = lines;
    }

    fn write_rest(
        &self,
        work: &ChunkWork<ChunkClasses>,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        if !work.has_rest {
            // What is still there is of another chunk.
            return Ok(());
        }
        let (options, found) = (&self.options.dedup, &work.rows.numbered.keyed);
        let (text, next) = (work.chunk.text.padded(), work.room.next);
        write_rest(options, &self.settings, text, found, next, sinks.out)?;
        let Some(sink) = &mut sinks.dupes else { return Ok(()) };
        let (firsts, mut session) = (self.classes.firsts(), self.writer.session());
        let (mut lines, mut done) = (Vec::new(), Ok(()));
        work.rows.each_omitted(&firsts, |omitted| {
            lines.clear();
            self.push(&mut *session, (work, omitted), &firsts, &mut lines);
            done = sink.write_all(&lines).map_err(Error::write);
            done.is_ok()
        });
        done
    }

    fn on_invalid(&self) -> OnInvalid {
        self.options.dedup.on_invalid
    }

    fn long_record(&self, chunk: &Chunk) -> LongRecord {
        let is_gathered = |(start, _): &(_, _)| (chunk.source, chunk.kept_byte) >= *start;
        match self.rest.as_ref().is_some_and(is_gathered) {
            // It is written with the others.
            true => LongRecord::Row(Vec::new()),
            false => long_first(self.options.dedup.emit, &self.settings),
        }
    }

    fn finish(
        &mut self,
        end: End<'_>,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        let End::OfInput = end else { return Ok(()) };
        if let Some(rows) = &self.rows {
            rows.require_member()?;
        }
        let Some((start, rest)) = &mut self.rest else { return Ok(()) };
        if let Some(rows) = self.rows.as_ref().filter(|rows| rows.start() >= *start) {
            sinks.out.write_all(rows.mark()).map_err(Error::write)?;
        }
        rest.write(self.rows.as_ref(), report, sinks)
    }
}
