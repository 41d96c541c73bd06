//! The loop that all jobs share: batches of chunks go through read, scan, commit, emit, write.
//!
//! While one batch is worked on by all threads, the one before is written and the one
//! after is read into its memory, by whichever thread is free. Within a batch each chunk has its own
//! buffers, so the order of the output is the order of the chunks.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use super::batches::{
    Filled, SMALL_FOR_FULL, chunk_bytes, fill, full_chunks, give_room, oversize, release,
};
use super::faults::{Faults, long_fault, report_faults, stopped};
use super::invalid::{LongRecord, Policy};
use super::work::{ChunkWork, Worker};
use crate::io::read::cut::Cut;
use crate::io::{Chunk, ChunkReader, ReadError, Shape, Source};
use crate::pipeline::survey::{self, Survey};
use crate::pipeline::{Error, OnInvalid, Report, Settings, Sinks};
use uriscan_core::simd::{Isa, Task};
use uriscan_core::threads;
use uriscan_core::uri::{UriError, UriErrorKind};

/// What distinguishes one command from another.
pub(crate) trait Job: Sync {
    /// What is kept of a chunk between the steps.
    type Rows: Default + Send + Sync;

    /// How the sources are read.
    fn reading(&self) -> Reading {
        Reading::default()
    }

    /// What becomes of invalid records.
    fn on_invalid(&self) -> OnInvalid;

    /// What is written for a record that is kept although it is too long to be parsed; `chunk` is its first piece.
    fn long_record(&self, _chunk: &Chunk) -> LongRecord {
        LongRecord::as_is()
    }

    /// Processes a chunk of whole records; many run at once.
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<Self::Rows>);

    /// Decides over all chunks of a batch, in their order. An error ends the run; nothing of the batch is written then.
    fn commit(&mut self, _batch: &mut [ChunkWork<Self::Rows>]) -> Result<(), Error> {
        Ok(())
    }

    /// Writes what is left of a chunk to its buffers; many run at once.
    fn emit<I: Isa>(&self, _isa: I, _worker: &mut Worker, _work: &mut ChunkWork<Self::Rows>) {}

    /// Writes what has no room in the buffers of a chunk ([`ChunkWork::has_rest`]), after these.
    fn write_rest(
        &self,
        _work: &ChunkWork<Self::Rows>,
        _sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Writes what could not be written before the `end`, and corrects the totals.
    fn finish(
        &mut self,
        _end: End<'_>,
        _report: &mut Report,
        _sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        Ok(())
    }
}

/// How the sources of a job are read.
#[derive(Default)]
pub(crate) struct Reading {
    /// Lines are counted, as rows have their numbers. They are also where an error may end the run.
    pub(crate) has_lines: bool,
    /// Rows have numbers of lines that the job counts.
    pub(crate) has_own_lines: bool,
    /// Scratch that is unused after [`Job::scan`].
    pub(crate) drops: Drops,
    /// Where records end, if not at [`Settings::record_end`].
    pub(crate) cut: Option<Box<dyn Cut>>,
}

/// What of a chunk is dropped once it has been scanned: threads keep room for it, which stays in their caches.
#[derive(Clone, Copy, Default)]
pub(crate) struct Drops {
    pub(crate) text: bool,
    pub(crate) rows: bool,
}

impl Reading {
    /// Without the text of chunks after [`Job::scan`].
    pub(crate) fn without_text() -> Reading {
        Reading { drops: Drops { text: true, rows: false }, ..Reading::default() }
    }

    /// With numbers of lines.
    pub(crate) fn with_lines() -> Reading {
        Reading { has_lines: true, ..Reading::default() }
    }
}

/// Where a run ends.
#[derive(Clone, Copy)]
pub(crate) enum End<'c> {
    /// All has been read.
    OfInput,
    /// At an invalid record in this chunk.
    In(&'c Chunk),
}

/// Runs `job` over `sources`.
pub(crate) fn run<J: Job + Send>(
    job: &mut J,
    sources: Vec<Source>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let settings = &settings.within_limits();
    threads::on_new(settings.threads, || run_here(job, sources, settings, sinks))
        .map_err(Error::threads)?
}

/// [`run`] on the current thread pool, with `settings` within their limits.
pub(crate) fn run_here<J: Job + Send>(
    job: &mut J,
    sources: Vec<Source>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let mut reader =
        ChunkReader::new(sources, settings.record_end, settings.chunk_bytes, settings.max_record);
    let Reading { has_lines, has_own_lines, drops, cut } = job.reading();
    if has_lines || job.on_invalid() == OnInvalid::Fail {
        reader.count_lines();
    }
    if let Some(cut) = cut {
        reader.cut_by(cut);
    }
    reader.read_later();
    batches(job, (drops, has_own_lines), &mut reader, settings, sinks)
}

/// Per-thread state, and scratch rows for chunks that are not revisited.
type Workers<J> = Vec<Mutex<(Worker, <J as Job>::Rows)>>;

/// A run of a job, from batch to batch.
struct Batches<'r, 's, J: Job> {
    job: &'r mut J,
    drops: Drops,
    has_own_lines: bool,
    reader: &'r mut ChunkReader,
    settings: &'r Settings,
    sinks: &'r mut Sinks<'s>,
    /// That of the sinks.
    survey: Option<&'s mut Survey>,
    workers: Workers<J>,
    /// The source of the last chunk, and how many bytes of that source have been kept.
    kept: (usize, u64),
    /// Slots of a batch of full chunks.
    full: usize,
    report: Report,
    faults: Faults,
    /// Faults within chunks that have been reported.
    reported: usize,
    /// The fault that ended the reading.
    failed: Option<ReadError>,
}

fn batches<J: Job + Send>(
    job: &mut J,
    (drops, has_own_lines): (Drops, bool),
    reader: &mut ChunkReader,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let threads = rayon::current_num_threads();
    let run = Batches {
        job,
        drops,
        has_own_lines,
        reader,
        settings,
        workers: (0..threads).map(|_| Mutex::default()).collect(),
        full: full_chunks(threads),
        kept: (0, 0),
        report: Report::default(),
        faults: Faults::new(sinks.unread.is_none()),
        reported: 0,
        failed: None,
        survey: sinks.survey.take(),
        sinks,
    };
    run.run()
}

impl<J: Job + Send> Batches<'_, '_, J> {
    fn run(mut self) -> Result<Report, Error> {
        let count = self.full * SMALL_FOR_FULL;
        let new_batch =
            || (0..count).map(|_| ChunkWork::default()).collect::<Vec<ChunkWork<J::Rows>>>();
        let (mut current, mut other) = (new_batch(), new_batch());
        let mut current_len = self.fill(&mut current, true).len;
        // How many chunks of the other batch are in use.
        let mut other_len = 0;
        while current_len > 0 {
            let mut next = self.step(&mut current[..current_len], &mut other, other_len)?;
            let mut stop = current[..current_len].iter().position(|work| work.stop.is_some());
            let end = stop.map_or(current_len, |i| i + 1);
            let is_cut = current[..end].iter().any(|work| work.room.cut.is_some());
            let has_rest = is_cut || current[..end].iter().any(|work| work.has_rest);
            if has_rest {
                stop = self.write_rests(&mut current[..end])?.or(stop);
            }
            if let Some(survey) = &mut self.survey {
                let parts =
                    current[..end].iter_mut().filter_map(|ChunkWork { chunk, survey, .. }| {
                        Some((chunk.source, chunk.shape, &mut **survey.as_mut()?))
                    });
                survey.commit(parts.collect(), |i| self.reader.source_name(i).to_owned());
            }
            let written = current[..end].iter().map(|work| work.out.len()).sum();
            let settings = self.settings;
            self.reader.resize_chunks(|bytes| chunk_bytes(bytes, is_cut, written, settings));
            if let Some(i) = stop {
                if !has_rest {
                    write(&current[..=i], self.sinks, self.report.bytes)?;
                }
                let error = stopped(self.reader, &current[i], settings);
                let chunk = std::mem::take(&mut current[i].chunk);
                drop((current, other));
                self.job.finish(End::In(&chunk), &mut self.report, self.sinks)?;
                return Err(error);
            }
            other_len = current_len;
            if has_rest {
                release(&mut current[..current_len], self.full, settings);
                other_len = 0;
            }
            if next.has_paused && next.len == 0 {
                // Whoever reads the output may wait for it, and the producer for them.
                write(&current[..other_len], self.sinks, self.report.bytes)?;
                flush(self.sinks)?;
                other_len = 0;
                next = self.fill(&mut other, true);
            }
            (current, other) = (other, current);
            current_len = next.len;
        }
        write(&other[..other_len], self.sinks, self.report.bytes)?;
        drop((current, other));
        self.finish()
    }

    /// Reads the next batch into `batch`; waits for its first chunk if it `may_wait`.
    fn fill(&mut self, batch: &mut [ChunkWork<J::Rows>], may_wait: bool) -> Filled {
        let mut filled = fill(self.reader, batch, (self.full, may_wait), self.settings, self.sinks);
        self.failed = self.failed.take().or(filled.failed.take());
        filled
    }

    /// Works on the batch `current`. Meanwhile, writes the first `other_len` chunks of the batch before, and reads the
    /// next one in its place.
    fn step(
        &mut self,
        current: &mut [ChunkWork<J::Rows>],
        other: &mut [ChunkWork<J::Rows>],
        other_len: usize,
    ) -> Result<Filled, Error> {
        // Nothing is read after a fault, but all that stands before it is worked on and written.
        let has_failed = self.failed.is_some();
        if let Some(survey) = &mut self.survey {
            for ChunkWork { chunk, survey: part, .. } in &mut *current {
                survey.begin(part.get_or_insert_default(), chunk.byte, chunk.len());
            }
        }
        let Batches { job, drops, reader, settings, sinks, workers, faults, survey, kept, .. } =
            self;
        let survey = survey.as_deref();
        let (full, bytes) = (self.full, self.report.bytes);
        let has_origins = self.has_own_lines || survey.is_some();
        let (outside, worked) = threads::both(
            || {
                let written = &mut other[..other_len];
                write(written, sinks, bytes)?;
                let most = full * oversize(settings);
                for work in &mut *written {
                    if reader.take_back(&mut work.chunk.text, most) {
                        // What was found in a long record may be as long; `release` counts the rest.
                        (work.rows, work.survey) = Default::default();
                        work.rejects = Vec::new();
                    }
                }
                release(written, full, settings);
                Ok::<_, Error>(match has_failed {
                    true => Filled::default(),
                    false => fill(reader, other, (full, false), settings, sinks),
                })
            },
            || {
                process(
                    (&mut **job, *drops, Some((kept, has_origins))),
                    &mut *current,
                    settings,
                    (workers, survey),
                    faults,
                )
            },
        );
        let mut next = outside?;
        for (source, error) in faults.new.drain(..) {
            let error = ReadError { source: reader.source_name(source).to_owned(), error };
            match &mut sinks.unread {
                Some(unread) => unread(&error),
                None => {
                    self.failed = Some(error);
                    next = Filled::default();
                }
            }
        }
        worked?;
        self.failed = self.failed.take().or(next.failed.take());
        report_faults(current, reader, &mut self.reported, sinks);
        for work in current {
            self.report += &work.report;
        }
        Ok(next)
    }

    /// Writes the chunks of `batch`, which have no room for all of their results, and works on what is left of each;
    /// returns the index of a chunk whose rest ends the run.
    fn write_rests(&mut self, batch: &mut [ChunkWork<J::Rows>]) -> Result<Option<usize>, Error> {
        let Batches { job, drops, reader, settings, sinks, workers, report, reported, .. } = self;
        let survey = self.survey.as_deref();
        // The parts of all chunks are written from one buffer, as they are longer than what a chunk of a batch may hold.
        let mut parts = Vec::new();
        for (i, work) in batch.iter_mut().enumerate() {
            write(std::slice::from_ref(work), sinks, report.bytes)?;
            job.write_rest(work, sinks)?;
            std::mem::swap(&mut work.out, &mut parts);
            while work.stop.is_none() && work.next_part(settings.record_end) {
                let one = std::slice::from_mut(work);
                let mut faults = Faults::default();
                process((&mut **job, *drops, None), one, settings, (workers, survey), &mut faults)?;
                report_faults(one, reader, reported, sinks);
                *report += &Report { bytes: 0, ..one[0].report };
                write(one, sinks, report.bytes)?;
                job.write_rest(&one[0], sinks)?;
            }
            std::mem::swap(&mut work.out, &mut parts);
            if drops.rows {
                work.rows = J::Rows::default();
            }
            if work.stop.is_some() {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }

    /// The totals, after all has been read and written.
    fn finish(mut self) -> Result<Report, Error> {
        if let Some(survey) = &mut self.survey {
            survey.end();
        }
        self.job.finish(End::OfInput, &mut self.report, self.sinks)?;
        flush(self.sinks)?;
        let misread = self.reader.misread();
        self.report.binary = self.reader.binary();
        self.report.misjudged = misread.misjudged;
        self.report.not_archives = misread.not_archives;
        self.failed.map_or(Ok(self.report), |error| Err(error.into()))
    }
}

/// Scans a chunk, or emits it.
struct Step<'a, J: Job> {
    job: &'a J,
    worker: &'a mut Worker,
    work: &'a mut ChunkWork<J::Rows>,
    is_scan: bool,
    survey: Option<(&'a Survey, u8)>,
}

impl<J: Job> Task for Step<'_, J> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Step { job, worker, work, is_scan, survey } = self;
        worker.scratch.repaired = 0;
        if is_scan {
            job.scan(isa, worker, work);
            work.report.repaired += worker.scratch.repaired;
            if let (Some((survey, record_end)), Some(part)) = (survey, &mut work.survey) {
                let text = work.chunk.text.padded();
                let end = work.room.cut.unwrap_or(text.len());
                let kept = work.lines_before.map(|before| (&*work.origins, before));
                let chunk = (text, work.chunk.byte, end);
                survey::count_chunk(
                    isa,
                    survey,
                    (chunk, kept),
                    record_end,
                    &mut worker.survey,
                    part,
                );
            }
        } else {
            // Forms that are made again have been counted.
            job.emit(isa, worker, work);
        }
    }
}

/// What has been kept of sources: the last one, and its bytes; and whether origins are asked for of what is kept.
type KeptSoFar<'k> = (&'k mut (usize, u64), bool);

/// Scans, commits and emits a batch; or, without `kept`, the rest of a chunk, which is alone.
fn process<J: Job>(
    (job, drops, kept): (&mut J, Drops, Option<KeptSoFar<'_>>),
    batch: &mut [ChunkWork<J::Rows>],
    settings: &Settings,
    (workers, survey): (&Workers<J>, Option<&Survey>),
    faults: &mut Faults,
) -> Result<(), Error> {
    let has_origins = kept.as_ref().map(|&(_, has_origins)| has_origins);
    let each = |job: &J, batch: &mut [ChunkWork<J::Rows>], is_scan: bool| {
        threads::each(batch, |_, work| {
            // Each thread has its own worker, so the lock is never waited for.
            let thread = rayon::current_thread_index().unwrap_or(0);
            let mut kept = workers[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let (worker, rows) = &mut *kept;
            let later = if is_scan { work.chunk.later.take() } else { None };
            let is_lent = drops.text && later.is_some();
            if is_lent {
                std::mem::swap(&mut work.chunk.text, &mut worker.text);
            }
            if let Some(later) = later {
                work.fault = later.read(&mut work.chunk.text).err();
                work.report.bytes = work.chunk.text.padded().len() as u64;
            }
            if let (true, Some(has_origins)) = (is_scan, has_origins) {
                work.keep(settings, has_origins);
            }
            match (work.chunk.shape, is_scan) {
                (Shape::Records, _) => {
                    if drops.rows && is_scan {
                        std::mem::swap(&mut work.rows, rows);
                    }
                    let survey = survey.map(|survey| (survey, settings.record_end));
                    settings.kernels.run(Step { job, worker, work, is_scan, survey });
                    if work.room.cut.is_none() && work.stop.is_none() {
                        // They may take more memory than the chunk.
                        work.origins = Vec::new();
                    }
                    // What is still to be written stays in the buffers of its chunk.
                    if drops.rows && is_scan && !work.has_rest {
                        std::mem::swap(&mut work.rows, rows);
                    }
                    if is_lent && work.room.cut.is_none() && !work.has_rest {
                        std::mem::swap(&mut work.chunk.text, &mut worker.text);
                    }
                    if work.chunk.text.padded().len() > 4 * oversize(settings) {
                        (*worker, *rows) = (Worker::default(), J::Rows::default());
                    }
                }
                (_, true) => {}
                (_, false) => long_record(job, work, settings),
            }
        });
    };
    for work in &mut *batch {
        work.clear();
    }
    give_room(batch, kept.is_none());
    each(job, batch, true);
    faults.apply(batch);
    if let Some((kept, _)) = kept {
        count_kept(batch, kept);
    }
    job.commit(batch)?;
    each(job, batch, false);
    Ok(())
}

/// Counts the bytes that are kept of each source; the last one is known, and its bytes so far.
fn count_kept<R>(batch: &mut [ChunkWork<R>], (source, bytes): &mut (usize, u64)) {
    for ChunkWork { chunk, is_filtered, .. } in batch {
        if *source != chunk.source {
            (*source, *bytes) = (chunk.source, 0);
        }
        if *is_filtered {
            chunk.kept_byte = *bytes;
            *bytes += chunk.text.padded().len() as u64;
        }
    }
}

/// Passes on a piece of a record that is too long to be parsed.
fn long_record<J: Job>(job: &J, work: &mut ChunkWork<J::Rows>, settings: &Settings) {
    let &Settings { record_end, redact, .. } = settings;
    let policy = Policy { on_invalid: job.on_invalid(), record_end, redact };
    let error = UriError::new(UriErrorKind::TooLong, settings.max_record);
    let shape = work.chunk.shape;
    work.faults.extend(long_fault(&work.chunk, settings));
    let ends = (shape == Shape::LongFirst, shape == Shape::LongLast);
    let long = job.long_record(&work.chunk);
    policy.apply_long(work, error, ends, long);
}

fn flush(sinks: &mut Sinks<'_>) -> Result<(), Error> {
    let Sinks { out, rejects, dupes, clusters, .. } = sinks;
    out.flush().map_err(Error::write)?;
    rejects.iter_mut().try_for_each(|sink| sink.flush()).map_err(Error::write)?;
    let mut classes = [dupes, clusters].into_iter().flatten();
    classes.try_for_each(Write::flush).map_err(Error::write)
}

fn write<R>(batch: &[ChunkWork<R>], sinks: &mut Sinks<'_>, bytes: u64) -> Result<(), Error> {
    for work in batch {
        sinks.out.write_all(&work.out).map_err(Error::write)?;
        if let Some(rejects) = &mut sinks.rejects {
            rejects.write_all(&work.rejects).map_err(Error::write)?;
        }
        if let Some(dupes) = &mut sinks.dupes {
            dupes.write_all(&work.dupes).map_err(Error::write)?;
        }
    }
    if let Some(progress) = &mut sinks.progress {
        progress(bytes);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
