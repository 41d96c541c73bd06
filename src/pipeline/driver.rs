//! The loop that all jobs share: batches of chunks go through read, scan, settle, emit, write.
//!
//! While one batch is worked on by all threads, the one before is written and the one
//! after is read into its memory, by whichever thread is free. Within a batch each chunk has its own
//! buffers, so the order of the output is the order of the chunks.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::equivalence::Scratch;
use super::pending::Pending;
use super::{Error, OnInvalid, Report, Settings, Sinks};
use crate::audit::redact_into;
use crate::chunk::{Padded, PaddedBuf, Span};
use crate::extract::Fault;
use crate::index::{Index, Record, trim};
use crate::io::reader::Cut;
use crate::io::{Chunk, ChunkReader, ReadError, Shape, Source};
use crate::simd::{Isa, Task};
use crate::threads;
use crate::uri::{ErrorKind, UriError};

/// What a thread keeps from chunk to chunk.
#[derive(Debug, Default)]
pub(super) struct Worker {
    /// What chunks whose bytes nobody asks for later are read into: it stays in the caches of the thread.
    text: PaddedBuf,
    pub(super) index: Index,
    pub(super) scratch: Scratch,
    pub(super) pending: Pending,
}

/// One chunk on its way through the pipeline, with everything that belongs to it. Reused.
#[derive(Debug, Default)]
pub(super) struct Slot<R> {
    pub(super) chunk: Chunk,
    /// What the job found in the chunk.
    pub(super) rows: R,
    pub(super) out: Vec<u8>,
    pub(super) rejects: Vec<u8>,
    pub(super) report: Report,
    /// The first record that the job must not go past: its span and what is wrong.
    pub(super) stop: Option<(Span, UriError)>,
    /// What is wrong in the chunk, while the rest of it was worked on: [`Fault::MOST`] sentences at the most.
    pub(super) faults: Vec<String>,
    /// Why the chunk could not be read.
    fault: Option<io::Error>,
}

/// What distinguishes one command from another.
pub(super) trait Job: Sync {
    /// What is kept of a chunk between the steps.
    type Rows: Default + Send + Sync;

    /// Looks at a chunk of whole records; many run at once.
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<Self::Rows>);

    /// Decides over all chunks of a batch, in their order.
    fn settle(&mut self, _slots: &mut [Slot<Self::Rows>]) {}

    /// Writes what is left of a chunk to its buffers; many run at once.
    fn emit<I: Isa>(&self, _isa: I, _worker: &mut Worker, _slot: &mut Slot<Self::Rows>) {}

    /// Writes what could not be written before all was read, and corrects the totals.
    fn finish(&mut self, _report: &mut Report, _sinks: &mut Sinks<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// What has gone wrong in a step that can only go on; asked after every batch, and the end of the run.
    fn fault(&mut self) -> Option<Error> {
        None
    }

    /// Writes what could not be written before, when the run ends at an invalid record in `chunk`.
    fn stop(&mut self, _chunk: &Chunk, _sinks: &mut Sinks<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// Whether nobody asks for a chunk's text and rows after [`Job::scan`].
    fn reads_once(&self) -> bool {
        false
    }

    /// What becomes of records that cannot be judged.
    fn on_invalid(&self) -> OnInvalid;

    /// Where the records of the sources end, if not at [`Settings::record_end`].
    fn cut(&self) -> Option<Box<dyn Cut>> {
        None
    }

    /// Whether line numbers are needed, for rows or for an error.
    fn needs_lines(&self) -> bool {
        self.on_invalid() == OnInvalid::Fail
    }

    /// What is written for a record that is kept without having been judged and whose first
    /// piece is `chunk`; `None` for its own bytes.
    fn long_record_row(&self, _chunk: &Chunk) -> Option<Vec<u8>> {
        None
    }

    /// What is written before the bytes of such a record.
    fn long_record_head(&self) -> Vec<u8> {
        Vec::new()
    }
}

/// Runs `job` over `sources`.
pub(super) fn run<J: Job + Send>(
    job: &mut J,
    sources: Vec<Source>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let settings = &settings.within_limits();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.threads)
        .thread_name(|i| format!("uriscan-{i}"))
        .build()
        .map_err(Error::Threads)?;
    threads::on(&pool, || run_here(job, sources, settings, sinks))
}

/// [`run`] on the current thread pool, with `settings` within their limits.
pub(super) fn run_here<J: Job + Send>(
    job: &mut J,
    sources: Vec<Source>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let mut reader =
        ChunkReader::new(sources, settings.record_end, settings.chunk_bytes, settings.max_record);
    if job.needs_lines() {
        reader.count_lines();
    }
    if let Some(cut) = job.cut() {
        reader.cut_by(cut);
    }
    if job.reads_once() {
        reader.read_later();
    }
    batches(job, &mut reader, settings, sinks)
}

/// Full chunks in a batch: enough for every thread to find work, few enough to stay small.
pub(super) fn full_slots(threads: usize) -> usize {
    (4 * threads).max(16)
}

/// Chunks in a batch for each full one, if they are those of small sources.
const SMALL_FOR_FULL: usize = 4;

/// For each thread what it keeps, and rows for chunks whose rows nobody asks for later.
type Workers<J> = Vec<Mutex<(Worker, <J as Job>::Rows)>>;

fn batches<J: Job + Send>(
    job: &mut J,
    reader: &mut ChunkReader,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let threads = rayon::current_num_threads();
    let workers: Workers<J> = (0..threads).map(|_| Mutex::default()).collect();
    let full = full_slots(threads);
    let count = full * SMALL_FOR_FULL;
    let new_batch = || (0..count).map(|_| Slot::default()).collect::<Vec<Slot<J::Rows>>>();
    let (mut current, mut other) = (new_batch(), new_batch());
    // How many slots of each are in use.
    let mut other_len = 0;
    let (mut current_len, mut failed) = fill(reader, &mut current, full, settings, sinks);
    let mut report = Report::default();
    // Faults within chunks that have been described.
    let mut told = 0;
    let mut faults = Faults { is_last: sinks.unread.is_none(), ..Faults::default() };
    while current_len > 0 {
        // Nothing is read behind a fault, but all that stands before it is worked on and written.
        let has_failed = failed.is_some();
        let (outside, ()) = threads::both(
            || {
                let written = &mut other[..other_len];
                write(written, sinks, report.bytes)?;
                let most = full * oversize(settings);
                written.iter_mut().for_each(|slot| reader.take_back(&mut slot.chunk.text, most));
                release(written, full, settings);
                Ok::<_, Error>(match has_failed {
                    true => (0, None),
                    false => fill(reader, &mut other, full, settings, sinks),
                })
            },
            || work(job, &mut current[..current_len], settings, &workers, &mut faults),
        );
        let (mut next_len, new_failure) = outside?;
        for (source, error) in faults.new.drain(..) {
            let error = ReadError { source: reader.source_name(source).to_owned(), error };
            match &mut sinks.unread {
                Some(unread) => unread(&error),
                None => (failed, next_len) = (Some(error), 0),
            }
        }
        if let Some(error) = job.fault() {
            return Err(error);
        }
        failed = failed.or(new_failure);
        tell_faults(&mut current[..current_len], reader, &mut told, sinks);
        for slot in &mut current[..current_len] {
            report += &slot.report;
        }
        if let Some(i) = current[..current_len].iter().position(|slot| slot.stop.is_some()) {
            write(&current[..=i], sinks, report.bytes)?;
            let error = stopped(reader, &current[i], settings);
            let chunk = std::mem::take(&mut current[i].chunk);
            drop((current, other));
            job.stop(&chunk, sinks)?;
            return Err(error);
        }
        (current, other) = (other, current);
        (other_len, current_len) = (current_len, next_len);
    }
    write(&other[..other_len], sinks, report.bytes)?;
    drop((current, other));
    job.finish(&mut report, sinks)?;
    sinks.out.flush().map_err(Error::Write)?;
    for sink in [&mut sinks.rejects, &mut sinks.dupes, &mut sinks.clusters].into_iter().flatten() {
        sink.flush().map_err(Error::Write)?;
    }
    report.binary = reader.binary();
    failed.map_or(Ok(report), |error| Err(Error::Read(error)))
}

/// Describes the faults within chunks, the first of a run, to those who want to know.
fn tell_faults<R>(
    slots: &mut [Slot<R>],
    reader: &ChunkReader,
    told: &mut usize,
    sinks: &mut Sinks<'_>,
) {
    for slot in slots {
        for what in slot.faults.drain(..) {
            if let Some(unread) = &mut sinks.unread
                && *told < Fault::MOST
            {
                *told += 1;
                let source = reader.source_name(slot.chunk.source).to_owned();
                unread(&ReadError { source, error: io::Error::other(what) });
            }
        }
    }
}

/// Fills slots until the batch is full, in number or with the bytes of `full` chunks; gives the number filled, and
/// why it could not go on if it could not.
fn fill<R>(
    reader: &mut ChunkReader,
    slots: &mut [Slot<R>],
    full: usize,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> (usize, Option<ReadError>) {
    // Chunks are a little shorter than they could be, as they end with a record.
    let budget = (full - 1) * settings.chunk_bytes;
    let (mut filled, mut bytes) = (0, 0);
    while filled < slots.len() && bytes <= budget {
        match (reader.fill(&mut slots[filled].chunk), &mut sinks.unread) {
            (Ok(true), _) => {
                bytes += slots[filled].chunk.len();
                filled += 1;
            }
            (Ok(false), _) => break,
            (Err(error), Some(unread)) => unread(&error),
            (Err(error), None) => return (filled, Some(error)),
        }
    }
    (filled, None)
}

/// Bytes of a chunk above which it holds a record far longer than a chunk is meant to be.
fn oversize(settings: &Settings) -> usize {
    8 * settings.chunk_bytes.max(1 << 16)
}

/// Gives back the memory of slots of a batch beyond what that of `full` chunks may come to: it may be long until they
/// are filled again, and if every slot kept what its longest record took, the memory of a run would
/// be many times that of the longest record. Every slot may keep its share of that, and the first ones that take more half as
/// much in all: fresh memory is dear.
fn release<R: Default>(slots: &mut [Slot<R>], full: usize, settings: &Settings) {
    let most = full * oversize(settings);
    let (share, mut left) = (most / (full * SMALL_FOR_FULL), most / 2);
    for slot in slots {
        let taken = slot.chunk.text.capacity() + slot.out.capacity();
        if taken <= share {
            continue;
        }
        if taken > left {
            *slot = Slot::default();
        } else {
            left -= taken;
        }
    }
}

/// Chunks that could not be read when they were to be scanned.
#[derive(Default)]
struct Faults {
    /// Nothing is worked on behind the first one; otherwise nothing of its source.
    is_last: bool,
    /// The sources that have one.
    sources: Vec<usize>,
    /// Of those found in the last batch, the sources and what went wrong.
    new: Vec<(usize, io::Error)>,
}

impl Faults {
    /// Makes the slots of a scanned batch that come behind a fault those of nothing.
    fn apply<R: Default>(&mut self, slots: &mut [Slot<R>]) {
        if self.sources.is_empty() && slots.iter().all(|slot| slot.fault.is_none()) {
            return;
        }
        for slot in slots {
            let source = slot.chunk.source;
            if let Some(error) = slot.fault.take()
                && !self.is_behind(source)
            {
                self.sources.push(source);
                self.new.push((source, error));
            }
            if self.is_behind(source) {
                slot.chunk.shape = Shape::Records;
                slot.chunk.text.set_len(0);
                slot.rows = R::default();
                slot.clear();
            }
        }
    }

    /// Whether a fault stands before what comes of `source`.
    fn is_behind(&self, source: usize) -> bool {
        self.sources.contains(&source) || self.is_last && !self.sources.is_empty()
    }
}

impl<R> Slot<R> {
    /// Forgets what was said of its chunk.
    fn clear(&mut self) {
        self.out.clear();
        self.rejects.clear();
        (self.stop, self.fault) = (None, None);
        self.faults.clear();
        self.report = Report { bytes: self.chunk.len() as u64, ..Report::default() };
    }
}

/// Scans, settles and emits a batch.
fn work<J: Job>(
    job: &mut J,
    slots: &mut [Slot<J::Rows>],
    settings: &Settings,
    workers: &Workers<J>,
    faults: &mut Faults,
) {
    struct Step<'a, J: Job>(&'a J, &'a mut Worker, &'a mut Slot<J::Rows>, bool);
    impl<J: Job> Task for Step<'_, J> {
        type Output = ();
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) {
            let Step(job, worker, slot, is_scan) = self;
            worker.scratch.repaired = 0;
            if is_scan {
                job.scan(isa, worker, slot);
                slot.report.repaired += worker.scratch.repaired;
            } else {
                // Forms that are made again have been counted.
                job.emit(isa, worker, slot);
            }
        }
    }
    let each = |job: &J, slots: &mut [Slot<J::Rows>], is_scan: bool| {
        threads::each(slots, |_, slot| {
            // Each thread has its own worker, so the lock is never waited for.
            let thread = rayon::current_thread_index().unwrap_or(0);
            let mut kept = workers[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let (worker, rows) = &mut *kept;
            match (slot.chunk.shape, is_scan) {
                (Shape::Records, _) => {
                    let later = slot.chunk.later.take();
                    if let Some(later) = &later {
                        std::mem::swap(&mut slot.chunk.text, &mut worker.text);
                        slot.fault = later.read(&mut slot.chunk.text).err();
                    }
                    if slot.fault.is_none() {
                        let is_once = job.reads_once();
                        if is_once {
                            std::mem::swap(&mut slot.rows, rows);
                        }
                        settings.kernels.run(Step(job, worker, slot, is_scan));
                        if is_once {
                            std::mem::swap(&mut slot.rows, rows);
                        }
                    }
                    if later.is_some() {
                        std::mem::swap(&mut slot.chunk.text, &mut worker.text);
                    }
                    if slot.chunk.text.padded().len() > 4 * oversize(settings) {
                        (*worker, *rows) = (Worker::default(), J::Rows::default());
                    }
                }
                (_, true) => {}
                (_, false) => long_record(job, slot, settings),
            }
        });
    };
    for slot in &mut *slots {
        slot.clear();
    }
    each(job, slots, true);
    faults.apply(slots);
    job.settle(slots);
    each(job, slots, false);
}

/// Hands on a piece of a record that is too long to be judged.
fn long_record<J: Job>(job: &J, slot: &mut Slot<J::Rows>, settings: &Settings) {
    let text = slot.chunk.text.padded().content();
    // Written in any case, so that the next record of whatever source is one of its own.
    let is_last = slot.chunk.shape == Shape::LongLast;
    let record_end = is_last.then_some(settings.record_end);
    let text =
        if is_last { text.strip_suffix(&[settings.record_end]).unwrap_or(text) } else { text };
    let error = UriError { kind: ErrorKind::TooLong, at: settings.max_record as u32 };
    let is_first = slot.chunk.shape == Shape::LongFirst;
    let row = job.long_record_row(&slot.chunk);
    // A secret in the record could not be found.
    let is_kept = job.on_invalid() == OnInvalid::Pass && (row.is_some() || !settings.redact);
    if is_first {
        slot.report.records = 1;
        slot.report.invalid.add(error.kind);
        slot.report.written = u64::from(is_kept);
    }
    match (job.on_invalid(), row) {
        (OnInvalid::Drop, _) => {}
        (OnInvalid::Pass, None) | (OnInvalid::Divert, _) if settings.redact => {}
        (OnInvalid::Fail, _) if is_first => slot.stop = Some((Span::default(), error)),
        (OnInvalid::Fail, _) => {}
        (OnInvalid::Divert, _) => {
            slot.rejects.extend_from_slice(text);
            slot.rejects.extend(record_end);
        }
        (OnInvalid::Pass, None) => {
            if is_first {
                slot.out.extend(job.long_record_head());
            }
            slot.out.extend_from_slice(text);
            slot.out.extend(record_end);
        }
        (OnInvalid::Pass, Some(row)) if is_first => slot.out.extend_from_slice(&row),
        (OnInvalid::Pass, Some(_)) => {}
    }
}

fn write<R>(slots: &[Slot<R>], sinks: &mut Sinks<'_>, bytes: u64) -> Result<(), Error> {
    for slot in slots {
        sinks.out.write_all(&slot.out).map_err(Error::Write)?;
        if let Some(rejects) = &mut sinks.rejects {
            rejects.write_all(&slot.rejects).map_err(Error::Write)?;
        }
    }
    if let Some(progress) = &mut sinks.progress {
        progress(bytes);
    }
    Ok(())
}

/// The error for the record at which `slot` stopped.
#[cold]
fn stopped<R>(reader: &ChunkReader, slot: &Slot<R>, settings: &Settings) -> Error {
    let (span, error) = slot.stop.expect("the caller saw it");
    let before = &slot.chunk.text.padded().content()[..span.start as usize];
    let lines = memchr::memchr_iter(settings.record_end, before).count() as u64;
    Error::Invalid {
        source: reader.source_name(slot.chunk.source).to_owned(),
        line: slot.chunk.line + lines,
        byte: slot.chunk.byte + u64::from(span.start),
        error,
    }
}

/// The record of an indexed chunk at `span`, white space around it trimmed.
#[inline(always)]
pub(super) fn record_at<'a>(text: Padded<'a>, index: &'a Index, span: Span) -> (Span, Record<'a>) {
    let span = trim(text.padded(), span);
    (span, Record::new(text, index, span))
}

/// Appends a record, or a form of it, its secrets masked if so asked.
#[inline(always)]
pub(super) fn push_record(record: &[u8], redact: bool, out: &mut Vec<u8>) {
    if redact {
        redact_into(record, out);
    } else {
        out.extend_from_slice(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_behind_a_fault_counts() {
        let slots = || {
            let one = |(i, source)| {
                let mut slot = Slot::<Vec<u8>> { rows: b"x".to_vec(), ..Slot::default() };
                slot.chunk.source = source;
                slot.out.push(i);
                slot.report.written = 1;
                slot.fault = (i == 1 || i == 2).then(|| io::Error::other("torn"));
                slot
            };
            (0..).zip([7, 8, 8, 8, 9]).map(one).collect::<Vec<_>>()
        };
        for (is_last, first, later) in [(false, &[0, 4][..], &[0u8, 4][..]), (true, &[0], &[])] {
            let mut faults = Faults { is_last, ..Faults::default() };
            for (expected, count) in [(first, 1), (later, 0)] {
                let mut slots = slots();
                if count == 0 {
                    slots.iter_mut().for_each(|slot| slot.fault = None);
                }
                faults.apply(&mut slots);
                let kept: Vec<u8> = slots.iter().flat_map(|slot| slot.out.clone()).collect();
                assert_eq!(kept, expected);
                let written: u64 = slots.iter().map(|slot| slot.report.written).sum();
                assert_eq!(written, kept.len() as u64);
                let new: Vec<usize> = faults.new.drain(..).map(|(source, _)| source).collect();
                assert_eq!(new, [8].repeat(count));
            }
        }
    }

    #[test]
    fn slots_do_not_keep_the_memory_of_long_records() {
        let settings = Settings { chunk_bytes: 1 << 16, ..Settings::default() };
        let mut slots: Vec<Slot<()>> = (0..40).map(|_| Slot::default()).collect();
        for (len, kept) in [(1 << 14, 40), (1 << 18, 2), (1 << 19, 1), (1 << 20, 0)] {
            for slot in &mut slots {
                slot.chunk.text.set(&vec![b'x'; len]);
                slot.out.resize(len, b'x');
            }
            release(&mut slots, 4, &settings);
            let holds = |slot: &&Slot<()>| slot.chunk.text.capacity() + slot.out.capacity() > 0;
            assert_eq!(slots.iter().filter(holds).count(), kept, "{len}");
        }
    }
}
