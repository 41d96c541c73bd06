//! Deduplication: the first record of each class, in input order.
//!
//! When keys exceed the memory limit, results stop: keys that the frozen set does not hold spill, with positions that count
//! bytes of the input from there on. At the end, that part of the input is read again ([`crate::pipeline::engine::input`]), and the first
//! records of it are written ([`crate::pipeline::engine::reread`]).

use super::firsts::{long_first, write_firsts, write_rest};
use super::sample::{ByShape, Sample};
use crate::io::{Chunk, Shape, Source};
use crate::pipeline::engine::driver::{End, Job, Reading, run};
use crate::pipeline::engine::forecast::Forecast;
use crate::pipeline::engine::input::{Input, SourcePaths, source_paths};
use crate::pipeline::engine::invalid::LongRecord;
use crate::pipeline::engine::limit::{batch_bytes, within};
use crate::pipeline::engine::reread::{Reread, Unit};
use crate::pipeline::engine::rows::{RowOptions, RowRun, forget_decoded};
use crate::pipeline::engine::scan::{KeyedRecords, scan_keys};
use crate::pipeline::engine::work::{ChunkWork, Worker};
use crate::pipeline::engine::writer::RecordWriter;
use crate::pipeline::{DedupOptions, Emit, Error, Keep, OnInvalid, Report, Seen, Settings, Sinks};
use crate::survivors::{Budget, FirstSet, SpillDir};
use uriscan_core::dedup::{ApproxSet, Rows};
use uriscan_core::simd::Isa;
use uriscan_core::threads;

/// Writes the first record of each equivalence class of `sources` to `sinks`, in input order.
///
/// Memory: about 20 to 40 bytes per distinct record of a large input, and some 20 MB for buffers. Under
/// [`DedupOptions::limit`] keys that exceed that spill to disk; then results are written as long as there is room, and the
/// rest of them at the end of the input. They are the same.
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{DedupOptions, Settings, Sinks, dedup}};
/// let list = Source::new("list", &b"http://h\nHTTP://H:80/\nhttp://h/x\n"[..]);
/// let mut out = Vec::new();
/// let report = dedup(vec![list], &DedupOptions::default(), &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"http://h\nhttp://h/x\n");
/// assert_eq!((report.records, report.written, report.duplicates), (3, 2, 1));
/// ```
///
/// # Errors
/// See [`Error`]. What was written before stays written.
pub fn dedup(
    sources: Vec<Source>,
    options: &DedupOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    run_dedup((sources, None), options, (None, None), settings, sinks)
}

/// [`dedup`] without the records whose keys are in a set on disk, which count as duplicates.
///
/// The meaning of the set has to be that of [`crate::pipeline::Equivalence::meaning`] by [`DedupOptions::hash`]. Aliases have to be read
/// with their targets.
///
/// # Errors
/// See [`Error`].
pub fn dedup_unseen(
    sources: Vec<Source>,
    options: &DedupOptions,
    seen: Seen<'_>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    run_dedup((sources, None), options, (Some(seen), None), settings, sinks)
}

/// Writes the first row of each class of `sources`, text tables whose rows are records: the bytes of the row, in input order,
/// after the header of the first table if there is one. Rows are compared by the URIs in a column of theirs, and without the
/// rows whose keys are in the set `seen`.
///
/// Of rows without a URI, and those that do not fit, [`RowOptions::table`] says what becomes. [`Sinks::rejects`] receives
/// rows whose URI is invalid, after the header; or, if rows that do not fit do not end the run, also these, each as an object
/// of JSON with `source`, `line`, `reason` and `row`. The forms and keys of [`DedupOptions::emit`] cannot be written, and
/// nothing is masked.
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{DedupOptions, RowOptions, Settings, Sinks, dedup_rows}};
/// use uriscan::row::{TextFormat, TextTable};
/// let rows = Source::new("rows", &b"id,url\n1,http://h\n2,HTTP://H:80/\n3,\"http://h/x\"\n"[..]);
/// let (table, mut out) = (TextTable::new(TextFormat::Csv, "url"), Vec::new());
/// let (rows, options) = (vec![rows], DedupOptions::default());
/// let mut sinks = Sinks::new(&mut out);
/// dedup_rows(rows, &RowOptions::new(table), &options, None, &Settings::default(), &mut sinks).unwrap();
/// assert_eq!(out, b"id,url\n1,http://h\n3,\"http://h/x\"\n");
/// ```
///
/// # Errors
/// See [`Error`]. What was written before stays written.
pub fn dedup_rows(
    sources: Vec<Source>,
    rows: &RowOptions,
    options: &DedupOptions,
    seen: Option<Seen<'_>>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let options = options.clone().emit(Emit::Original);
    rows.require_fit(seen.is_some(), Keep::First, &sources)?;
    let (settings, run) = rows.run(&sources, &options, settings);
    run_dedup((sources, Some(run)), &options, (seen, None), &settings, sinks)
}

/// Writes the first records of each [shape](uriscan_core::shape) of `sources`, or rows of such tables, in input order: at most
/// [`ByShape::most`] that are not equivalent. **This is not deduplication**: what is omitted are other URIs as a rule.
///
/// The shape is that of the canonical form; an invalid record is a shape of its own. [`Report::of_full_shapes`] counts what is
/// omitted. Memory: as for [`dedup`] for each shape, and for each record that is kept if there may be more than one of a shape.
/// Then nothing spills.
///
/// ```
/// use core::num::NonZeroU32;
/// use uriscan_bulk::{io::Source, pipeline::{ByShape, DedupOptions, Settings, Sinks, dedup_by_shape}};
/// let list = Source::new("list", &b"http://h/1\nhttp://h/%31\nhttp://h/2\nhttp://h/3\nhttp://h/a\n"[..]);
/// let by = ByShape::default().most(NonZeroU32::new(2).unwrap());
/// let (options, settings, mut out) = (DedupOptions::default(), Settings::default(), Vec::new());
/// let report = dedup_by_shape(vec![list], None, by, &options, &settings, &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"http://h/1\nhttp://h/2\nhttp://h/a\n");
/// assert_eq!((report.written, report.of_full_shapes, report.shapes), (3, 2, 2));
/// ```
///
/// # Errors
/// See [`Error`]; [`ErrorKind::Memory`](crate::ErrorKind::Memory) if what is kept exceeds the memory limit. Keys cannot be written ([`Emit::Key`]): they are
/// keys of shapes then, and records are written as they are.
pub fn dedup_by_shape(
    sources: Vec<Source>,
    rows: Option<&RowOptions>,
    by: ByShape,
    options: &DedupOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let emit = match options.emit {
        Emit::Normalized if rows.is_none() => Emit::Normalized,
        _ => Emit::Original,
    };
    let options = DedupOptions { emit, approximate: None, ..options.clone() };
    let (settings, rows) = match rows {
        None => (*settings, None),
        Some(rows) => {
            rows.require_fit(true, Keep::First, &sources)?;
            let (settings, run) = rows.run(&sources, &options, settings);
            (settings, Some(run))
        }
    };
    run_dedup((sources, rows), &options, (None, Some(by)), &settings, sinks)
}

fn run_dedup(
    (sources, rows): (Vec<Source>, Option<RowRun>),
    options: &DedupOptions,
    (seen, by_shape): (Option<Seen<'_>>, Option<ByShape>),
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    if sinks.dupes.is_some() || sinks.clusters.is_some() {
        let what = "omitted records and groups are written by `classes` and its like";
        return Err(Error::unsupported(what));
    }
    let needs_public = seen.is_some() || options.emit == Emit::Key;
    let hasher = options.run_hasher(needs_public)?;
    let settings = &settings.within_limits();
    // Where no record is longer than a byte there are no more than 256 classes.
    let is_limited = settings.max_record > 1 && options.approximate.is_none();
    let limit = options.limit.as_ref().filter(|_| is_limited);
    let settings = &limit.map_or(*settings, |limit| within(limit, settings, 1));
    let firsts = FirstSet::new(hasher.clone(), seen, limit.cloned().map(Budget::of_process));
    let mut job = Dedup {
        options: DedupOptions { hasher, ..options.clone() },
        settings: *settings,
        firsts: match options.approximate {
            None => firsts,
            Some(rate) => firsts.approximate(ApproxSet::new(rate, records_in(&sources))),
        },
        forecast: Forecast::new(&sources),
        places: limit.map_or(SourcePaths::new(), |_| source_paths(&sources)),
        spilled: None,
        rows,
        sample: by_shape.map(|by| Sample::new(by, limit.cloned())),
    };
    run(&mut job, sources, settings, sinks)
}

/// About how many distinct records there are in `sources`; 0 for no idea.
fn records_in(sources: &[Source]) -> u64 {
    const BYTES: u64 = 100;
    sources.iter().map(|source| source.bytes).sum::<Option<u64>>().unwrap_or(0) / BYTES
}

struct Dedup<'s> {
    options: DedupOptions,
    settings: Settings,
    firsts: FirstSet<'s>,
    forecast: Forecast,
    /// Of the sources, if memory is limited.
    places: SourcePaths,
    /// The part of the input that spills. Nothing is written while it is read for the first time.
    spilled: Option<Spilled>,
    /// What finds rows, if the records are rows of tables.
    rows: Option<RowRun>,
    /// What is kept of each shape, if shapes are compared instead of records.
    sample: Option<Sample>,
}

/// The part of the input whose records spill, from the first chunk that had no room.
struct Spilled {
    dir: SpillDir,
    input: Input,
    /// In which source it begins, and at which byte of what is kept of it.
    start: (usize, u64),
    bytes: u64,
    /// Records so far that are too long to be parsed.
    long: u64,
}

impl Spilled {
    fn has(&self, chunk: &Chunk) -> bool {
        (chunk.source, chunk.kept_byte) >= self.start
    }
}

impl Dedup<'_> {
    /// Freezes the set, and begins with the first chunk of `batch` that does not go on with a long record; not if there is none.
    fn begin_spill(&mut self, batch: &[ChunkWork<KeyedRecords>]) -> Result<(), Error> {
        let is_begin = |work: &&ChunkWork<KeyedRecords>| {
            matches!(work.chunk.shape, Shape::Records | Shape::LongFirst)
        };
        let Some(ChunkWork { chunk, .. }) = batch.iter().find(is_begin) else { return Ok(()) };
        let classes = self.firsts.len();
        self.firsts.begin_spill(self.forecast.expected(classes).saturating_sub(classes as u64))?;
        let Some(dir) = self.firsts.spill_dir().cloned() else { return Ok(()) };
        let input = Input::new(self.places.clone(), &dir);
        let start = (chunk.source, chunk.kept_byte);
        self.spilled = Some(Spilled { dir, input, start, bytes: 0, long: 0 });
        Ok(())
    }

    /// Finds which rows of a batch are the first of their classes, now or at the end.
    fn insert(&mut self, batch: &[ChunkWork<KeyedRecords>]) -> Result<(), Error> {
        self.firsts.expect(self.forecast.expected(self.firsts.len()));
        // A piece of a long record has not been scanned: its work holds no rows, or old ones.
        let scanned = batch.iter().filter(|work| work.chunk.shape == Shape::Records);
        if let Some(sample) = self.sample.as_mut().filter(|sample| !sample.is_of_firsts()) {
            let found: Vec<&KeyedRecords> = scanned.map(|work| &work.rows).collect();
            return sample.insert(&found, batch_bytes(batch));
        }
        let rows: Vec<&Rows> = scanned.map(|work| &work.rows.rows).collect();
        if !self.firsts.has_spilled() && !self.firsts.fits(&rows, batch_bytes(batch)) {
            self.begin_spill(batch)?;
        }
        match &mut self.spilled {
            None => Ok(self.firsts.insert(&rows)?),
            Some(spilled) => spill(&mut self.firsts, spilled, batch),
        }
    }

    /// Writes the first records of what has spilled, if anything has; gives their number, and what was written.
    fn write_spilled(&mut self, sinks: &mut Sinks<'_>) -> Result<Option<(u64, Report)>, Error> {
        let Some((survivors, firsts)) = self.firsts.resolve()? else { return Ok(None) };
        let Some(Spilled { dir, input, start, .. }) = self.spilled.take() else { return Ok(None) };
        let settings = self.settings;
        let rows = self.rows.as_ref().map(|rows| rows.of_part(start));
        if let Some(rows) = self.rows.as_ref().filter(|rows| rows.start() == start) {
            sinks.out.write_all(rows.mark()).map_err(Error::write)?;
        }
        let writer = &RecordWriter::of_firsts(&self.options, &settings);
        let (on_invalid, unit) = (self.options.on_invalid, Unit::Bytes);
        let reread = Reread { writer, on_invalid, unit, survivors, settings, rows };
        let report = reread.write(input.sources(), sinks)?;
        Ok(Some((firsts, Report { spilled: dir.written(), ..report })))
    }
}

/// Spills the rows of those chunks of a batch that are in `spilled`. No row counts as a first one yet.
fn spill(
    firsts: &mut FirstSet<'_>,
    spilled: &mut Spilled,
    batch: &[ChunkWork<KeyedRecords>],
) -> Result<(), Error> {
    let batch: Vec<&ChunkWork<KeyedRecords>> =
        batch.iter().filter(|work| spilled.has(&work.chunk)).collect();
    let mut scanned: Vec<(u64, &KeyedRecords)> = Vec::with_capacity(batch.len());
    for &work in &batch {
        match work.chunk.shape {
            Shape::Records => scanned.push((spilled.bytes, &work.rows)),
            Shape::LongFirst => spilled.long += 1,
            Shape::LongRest | Shape::LongLast => {}
        }
        spilled.bytes += work.chunk.text.padded().len() as u64;
    }
    let rows: Vec<&Rows> = scanned.iter().map(|(_, found)| &found.rows).collect();
    let position = |chunk: usize, row: usize| {
        let (start, found) = scanned[chunk];
        start + u64::from(found.written()[row].start)
    };
    let input = &mut spilled.input;
    let (copied, done) = threads::both(
        || batch.iter().try_for_each(|work| input.take(&work.chunk)),
        || firsts.spill(&rows, position),
    );
    copied?;
    Ok(done?)
}

impl Job for Dedup<'_> {
    type Rows = KeyedRecords;

    fn reading(&self) -> Reading {
        Reading { cut: self.rows.as_ref().map(|rows| rows.finder.cut()), ..Reading::default() }
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<KeyedRecords>) {
        let Settings { record_end, redact, .. } = self.settings;
        let how = (record_end, redact);
        let len = self.rows.as_ref().map(|rows| rows.find(isa, work));
        scan_keys(isa, &self.options, how, worker, work);
        if let Some(sample) = &self.sample {
            sample.scan(isa, &self.options, worker, work);
        }
        forget_decoded(work, len);
    }

    fn commit(&mut self, batch: &mut [ChunkWork<KeyedRecords>]) -> Result<(), Error> {
        // Nothing after the first stop counts.
        let end = batch.iter().position(|work| work.stop.is_some()).map_or(batch.len(), |i| i + 1);
        for work in &mut batch[end..] {
            work.rows.clear();
        }
        if let Some(rows) = &mut self.rows {
            rows.account(&mut batch[..end])?;
        }
        self.insert(&batch[..end])?;
        self.forecast.add(batch.iter().map(|work| work.report.bytes).sum());
        Ok(())
    }

    #[inline(always)]
    fn emit<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<KeyedRecords>) {
        let ChunkWork { chunk, rows, out, room, has_rest, report, .. } = work;
        let records = rows.spans.len() as u64;
        if self.spilled.is_some() {
            report.duplicates = records;
            return;
        }
        self.rows.iter().for_each(|rows| rows.begin(chunk, out));
        let (found, to) = ((chunk.text.padded(), &*rows), (&mut *room, out));
        report.written = write_firsts(isa, &self.options, &self.settings, worker, found, to);
        report.duplicates = records - report.written;
        *has_rest = room.next < rows.spans.len();
    }

    fn write_rest(
        &self,
        work: &ChunkWork<KeyedRecords>,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        if !work.has_rest {
            return Ok(());
        }
        let (text, next) = (work.chunk.text.padded(), work.room.next);
        write_rest(&self.options, &self.settings, text, &work.rows, next, sinks.out)
    }

    fn on_invalid(&self) -> OnInvalid {
        self.options.on_invalid
    }

    fn long_record(&self, chunk: &Chunk) -> LongRecord {
        if self.spilled.as_ref().is_some_and(|spilled| spilled.has(chunk)) {
            // It waits with the others.
            return LongRecord::Row(Vec::new());
        }
        long_first(self.options.emit, &self.settings)
    }

    fn finish(
        &mut self,
        end: End<'_>,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        if let Some(rows) = &self.rows {
            rows.require_member()?;
        }
        self.finish_spilled(end, report, sinks)?;
        report.seen = self.firsts.seen();
        if let Some(sample) = &self.sample {
            report.of_full_shapes = core::mem::take(&mut report.duplicates);
            report.shapes = match sample.is_of_firsts() {
                true => report.written,
                false => sample.len() as u64,
            };
        }
        Ok(())
    }
}

impl Dedup<'_> {
    /// Writes what has spilled, if anything has, of an input that ends at `end`.
    fn finish_spilled(
        &mut self,
        end: End<'_>,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        let Some(spilled) = &mut self.spilled else { return Ok(()) };
        if let End::In(chunk) = end {
            // Nothing counts after whole records, or from a long one on, or from a row of a table on.
            let stop = self.rows.as_ref().and_then(RowRun::stop);
            let len = match chunk.shape {
                Shape::Records if stop.is_some() => stop.unwrap_or_default(),
                Shape::Records => chunk.text.padded().len() as u64,
                Shape::LongFirst | Shape::LongRest | Shape::LongLast => 0,
            };
            spilled.input.cut(chunk.source, chunk.kept_byte + len);
        }
        // So far they all count as duplicates, and long records as written if they are passed on.
        let is_passed = self.options.on_invalid == OnInvalid::Pass;
        let long = if is_passed { spilled.long } else { 0 };
        if let Some((firsts, written)) = self.write_spilled(sinks)? {
            report.duplicates -= firsts;
            report.written = report.written - long + written.written;
            report.spilled = written.spilled;
        }
        Ok(())
    }
}
