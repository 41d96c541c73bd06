//! Deduplication: the first record of each class, in input order.

use super::driver::{Job, Slot, Worker, push_record, record_at, run};
use super::map::unjudged_key;
use super::members::{Seen, forget};
use super::pending::Pending;
use super::spill::{MemoryLimit, Places, Spill, Watch, Written, places_of};
use super::{Equivalence, Error, OnInvalid, Report, Settings, Sinks};
use crate::chunk::{Padded, Span};
use crate::dedup::{Rows, Set, Sieve};
use crate::index::Record;
use crate::io::{Chunk, Shape, Source};
use crate::key::{Hasher, PublicHash, PublicHasher};
use crate::simd::{Isa, Task};
use crate::uri::UriError;

/// What is written for the first record of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emit {
    /// Its own bytes.
    #[default]
    Original,
    /// Its canonical form; an invalid record has none and is written as it is.
    Normalized,
    /// Its public key, as 32 hexadecimal digits; zeros for a record too long to be judged.
    Key,
}

/// What is one and what is written.
#[derive(Clone, Debug)]
pub struct DedupOptions {
    /// What makes two records one.
    pub equivalence: Equivalence,
    /// What is written for each class.
    pub emit: Emit,
    /// What becomes of invalid records.
    pub on_invalid: OnInvalid,
    /// Makes the keys of the run. They depend on its secrets; no result does.
    pub hasher: Hasher,
    /// The hash for public keys, where those are needed: for [`Emit::Key`] and sets on disk.
    pub hash: PublicHash,
    /// What memory may be taken; without it as much as there are keys for.
    pub limit: Option<MemoryLimit>,
    /// Take a new record for an old one with a chance of this at the most, between 0 and 1, for an eighth of the
    /// memory ([`Sieve`]); `limit` is not looked at then.
    pub approximate: Option<f64>,
}

impl Default for DedupOptions {
    fn default() -> DedupOptions {
        DedupOptions {
            equivalence: Equivalence::default(),
            emit: Emit::default(),
            on_invalid: OnInvalid::default(),
            hasher: Hasher::random(),
            hash: PublicHash::default(),
            limit: None,
            approximate: None,
        }
    }
}

impl DedupOptions {
    /// The hasher for the keys of a run; with `needs_public` one that they can be turned back by.
    pub(super) fn run_hasher(&self, needs_public: bool) -> Result<Hasher, Error> {
        let equivalence = &self.equivalence;
        if needs_public {
            equivalence.require_targets()?;
        }
        let public = needs_public.then(|| equivalence.public_hasher(self.hash));
        Ok(equivalence.run_hasher(&self.hasher, public))
    }
}

/// Writes the first record of each equivalence class of `sources` to `sinks`, in input order.
///
/// Memory: about 20 to 40 bytes per distinct record of a large input, and some 20 MB for buffers. Under
/// [`DedupOptions::limit`] what is beyond that goes to disk; then results are written as long as there is room, and the
/// rest of them at the end of the input. They are the same.
///
/// ```
/// use uriscan::{io::Source, pipeline::{DedupOptions, Settings, Sinks, dedup}};
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
    run_dedup(sources, options, None, settings, sinks)
}

/// [`dedup`] without the records whose keys are in a set on disk, which count as duplicates.
///
/// The meaning of the set has to be that of [`Equivalence::meaning`] by [`DedupOptions::hash`]. Aliases have to be read
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
    run_dedup(sources, options, Some(seen), settings, sinks)
}

fn run_dedup(
    sources: Vec<Source>,
    options: &DedupOptions,
    seen: Option<Seen<'_>>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let needs_public = seen.is_some() || options.emit == Emit::Key;
    let hasher = options.run_hasher(needs_public)?;
    let settings = &settings.within_limits();
    // Where no record is longer than a byte there are no more than 256 classes.
    let is_limited = settings.max_record > 1 && options.approximate.is_none();
    let watch = options.limit.clone().filter(|_| is_limited).map(Watch::new);
    let settings = &watch.as_ref().map_or(*settings, |watch| watch.within(settings));
    let mut job = Dedup {
        options: DedupOptions { hasher, ..options.clone() },
        settings: *settings,
        set: Set::new(),
        sieve: options.approximate.map(|rate| Sieve::new(rate, records_in(&sources))),
        forecast: Forecast::new(&sources),
        seen,
        places: watch.as_ref().map_or(Places::new(), |_| places_of(&sources)),
        watch,
        spill: None,
        fault: None,
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
    set: Set,
    /// What stands in for the set, if it need not be exact.
    sieve: Option<Sieve>,
    forecast: Forecast,
    seen: Option<Seen<'s>>,
    /// Of the sources, if memory is limited.
    places: Places,
    /// The limit, if there is one, as long as there is room.
    watch: Option<Watch>,
    /// What is put aside since there was none. Nothing is written as long as it is there.
    spill: Option<Spill>,
    fault: Option<Error>,
}

impl Dedup<'_> {
    /// Inserts the rows of a batch, and says which are the first of their class.
    fn insert(&mut self, rows: &[&Rows]) {
        match &mut self.sieve {
            Some(sieve) => sieve.insert(rows),
            None => self.set.insert(rows),
        }
        if let Some(seen) = &mut self.seen
            && let Err(error) = seen.settle(&self.options.hasher, rows)
        {
            // Nobody knows which of these are new.
            self.fault.get_or_insert(Error::Set(error));
            rows.iter().for_each(|rows| forget(rows));
        }
    }

    /// Freezes the set if the rows of a batch have no room in it.
    fn see_to_room(&mut self, slots: &[Slot<Found>], rows: &[&Rows]) -> Result<(), Error> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        watch.see(slots, self.set.memory_bytes());
        self.set.limit_to(watch.set_bytes());
        if self.set.fits(rows) {
            return Ok(());
        }
        let more = self.forecast.expected(self.set.len()).saturating_sub(self.set.len() as u64);
        self.spill = Spill::begin(watch, &self.places, slots, more)?;
        Ok(())
    }

    /// Writes what was put aside, if anything was.
    fn write_aside(&mut self, sinks: &mut Sinks<'_>) -> Result<Option<Written>, Error> {
        let (Some(spill), Some(watch)) = (self.spill.take(), &self.watch) else { return Ok(None) };
        // It has done its work, and the memory is needed.
        self.set = Set::new();
        let new_keys = self.seen.as_mut().and_then(|seen| seen.new_keys.as_deref_mut());
        spill.write(&self.options, &self.settings, watch, new_keys, sinks).map(Some)
    }
}

/// How many classes there will be in the end, by the share of the input that has been settled.
#[derive(Debug, Default)]
pub(super) struct Forecast {
    /// Bytes of all sources, if known.
    total_bytes: Option<u64>,
    settled_bytes: u64,
}

impl Forecast {
    /// A forecast for `sources`.
    pub(super) fn new(sources: &[Source]) -> Forecast {
        Forecast { total_bytes: sources.iter().map(|source| source.bytes).sum(), settled_bytes: 0 }
    }

    /// Tells that a batch of `bytes` has been settled.
    pub(super) fn settle(&mut self, bytes: u64) {
        self.settled_bytes += bytes;
    }

    /// Bytes that are still to come, if known.
    pub(super) fn rest(&self) -> Option<u64> {
        self.total_bytes.map(|total| total.saturating_sub(self.settled_bytes))
    }

    /// The number of classes in the end if there are `classes` now, as if new ones kept coming at the
    /// rate seen so far; 0 for no idea.
    pub(super) fn expected(&self, classes: usize) -> u64 {
        match self.total_bytes {
            Some(total) if self.settled_bytes > 0 => {
                (classes as f64 * (total as f64 / self.settled_bytes as f64)) as u64
            }
            _ => 0,
        }
    }
}

/// The records of a chunk that have a key.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) spans: Vec<Span>,
    pub(super) rows: Rows,
}

impl Job for Dedup<'_> {
    type Rows = Found;

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<Found>) {
        let Settings { record_end, redact, .. } = self.settings;
        scan_found(isa, &self.options, (record_end, redact), worker, slot, |found| found);
    }

    fn settle(&mut self, slots: &mut [Slot<Found>]) {
        // Nothing behind the first stop counts.
        let end = slots.iter().position(|slot| slot.stop.is_some()).map_or(slots.len(), |i| i + 1);
        for slot in &mut slots[end..] {
            slot.rows.spans.clear();
            slot.rows.rows.clear();
        }
        self.set.expect(self.forecast.expected(self.set.len()));
        // A piece of a long record has not been scanned: its slot holds no rows, or old ones.
        let scanned = slots[..end].iter().filter(|slot| slot.chunk.shape == Shape::Records);
        let rows: Vec<&Rows> = scanned.map(|slot| &slot.rows.rows).collect();
        if self.spill.is_none()
            && let Err(error) = self.see_to_room(slots, &rows)
        {
            self.fault = Some(error);
        }
        match &mut self.spill {
            None => self.insert(&rows),
            Some(spill) => {
                let seen = self.seen.as_ref().map(|seen| (seen, &self.options.hasher));
                spill.take(&self.set, seen, &slots[..end]);
            }
        }
        self.forecast.settle(slots.iter().map(|slot| slot.report.bytes).sum());
    }

    #[inline(always)]
    fn emit<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<Found>) {
        let text = slot.chunk.text.padded();
        let out = &mut slot.out;
        let Found { spans, rows } = &slot.rows;
        if self.spill.is_some() {
            slot.report.duplicates = spans.len() as u64;
            return;
        }
        let Settings { record_end, redact, .. } = self.settings;
        let firsts = spans.iter().enumerate().filter(|&(row, _)| rows.is_first(row));
        let mut written = 0;
        match self.options.emit {
            Emit::Original if redact => {
                for (_, &span) in firsts {
                    push_record(span.of(text.content()), true, out);
                    out.push(record_end);
                    written += 1;
                }
            }
            Emit::Original => {
                written = copy_firsts(isa, text, &slot.rows, record_end, out);
            }
            Emit::Key => {
                for (row, _) in firsts {
                    self.options.hasher.public_by(isa, rows.key(row)).write_hex(out);
                    out.push(record_end);
                    written += 1;
                }
            }
            Emit::Normalized => {
                worker.index.build_with(isa, text, record_end);
                for (_, &span) in firsts {
                    let record = Record::new(text, &worker.index, span);
                    let form = self.options.equivalence.form(isa, record, &mut worker.scratch);
                    let shown = form.map(|form| self.options.equivalence.shown(form));
                    push_record(shown.unwrap_or(record.bytes()), redact, out);
                    out.push(record_end);
                    written += 1;
                }
            }
        }
        slot.report.written = written;
        slot.report.duplicates = spans.len() as u64 - written;
    }

    fn on_invalid(&self) -> OnInvalid {
        self.options.on_invalid
    }

    fn long_record_row(&self, chunk: &Chunk) -> Option<Vec<u8>> {
        if self.spill.as_ref().is_some_and(|spill| spill.has(chunk)) {
            // It waits with the others.
            return Some(Vec::new());
        }
        (self.options.emit == Emit::Key).then(|| unjudged_key(self.settings.record_end))
    }

    fn fault(&mut self) -> Option<Error> {
        self.fault.take().or_else(|| self.spill.as_mut().and_then(Spill::fault))
    }

    fn finish(&mut self, report: &mut Report, sinks: &mut Sinks<'_>) -> Result<(), Error> {
        if let Some(written) = self.write_aside(sinks)? {
            // So far they all count as duplicates, and long records as written if they are passed on.
            let long = if self.on_invalid() == OnInvalid::Pass { written.long } else { 0 };
            report.duplicates -= written.firsts;
            report.written = report.written - long + written.written;
            report.spilled = written.spilled;
        }
        Ok(())
    }

    fn stop(&mut self, chunk: &Chunk, sinks: &mut Sinks<'_>) -> Result<(), Error> {
        if let Some(spill) = &mut self.spill {
            spill.cut(chunk);
        }
        self.write_aside(sinks).map(drop)
    }
}

/// Finds the keys of all records of the chunk in `slot`, for the `found` in what the job keeps of it. `redact` says
/// whether secrets are masked in what is turned away.
#[inline(always)]
pub(super) fn scan_found<I: Isa, R>(
    isa: I,
    options: &DedupOptions,
    (record_end, redact): (u8, bool),
    worker: &mut Worker,
    slot: &mut Slot<R>,
    found: impl FnOnce(&mut R) -> &mut Found,
) {
    let Slot { chunk, rows, rejects, report, stop, .. } = slot;
    let (text, found) = (chunk.text.padded(), found(rows));
    found.spans.clear();
    found.rows.clear();
    let scan = Scan { options, record_end, redact, text, worker, found, rejects, report, stop };
    match options.hasher.public_hasher() {
        None => isa.call(SecretScan(scan)),
        Some(_) => isa.call(PublicScan(scan)),
    }
    found.rows.partition();
}

/// Finds the keys of a chunk: the one loop of all jobs that compare by keys, so that it is compiled once for each backend and
/// kind of keys.
struct Scan<'a> {
    options: &'a DedupOptions,
    record_end: u8,
    redact: bool,
    text: Padded<'a>,
    worker: &'a mut Worker,
    found: &'a mut Found,
    rejects: &'a mut Vec<u8>,
    report: &'a mut Report,
    stop: &'a mut Option<(Span, UriError)>,
}

/// [`Scan`] for secret keys, without the code that public ones need.
struct SecretScan<'a>(Scan<'a>);

impl Task for SecretScan<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.0.run::<I, false>(isa);
    }
}

/// [`Scan`] for public keys.
struct PublicScan<'a>(Scan<'a>);

impl Task for PublicScan<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.0.run::<I, true>(isa);
    }
}

impl Scan<'_> {
    #[inline(always)]
    fn run<I: Isa, const PUBLIC: bool>(self, isa: I) {
        let Scan { options, record_end, redact, text, worker, found, rejects, report, stop } = self;
        let Worker { index, scratch, pending, .. } = worker;
        let DedupOptions { equivalence, hasher, .. } = options;
        if PUBLIC {
            pending.clear();
        }
        index.build_with(isa, text, record_end);
        for span in index.spans() {
            let (span, record) = record_at(text, index, span);
            if record.is_empty() {
                report.blank += 1;
                continue;
            }
            report.records += 1;
            match equivalence.canonical(isa, record, scratch) {
                Ok(form) if PUBLIC => pending.push(text, equivalence.shown_prefix(form)),
                Ok(form) => found.rows.push(equivalence.key(isa, hasher, form)),
                Err(error) => {
                    report.invalid.add(error.kind);
                    match options.on_invalid {
                        OnInvalid::Pass if PUBLIC => {
                            pending.push(text, record.padded().into());
                        }
                        OnInvalid::Pass => {
                            found.rows.push(hasher.secret_key_by(isa, record.padded().into()));
                        }
                        OnInvalid::Drop => continue,
                        OnInvalid::Divert => {
                            push_record(record.bytes(), redact, rejects);
                            rejects.push(record_end);
                            continue;
                        }
                        OnInvalid::Fail => {
                            *stop = Some((span, error));
                            break;
                        }
                    }
                }
            }
            found.spans.push(span);
        }
        if let (true, Some(public)) = (PUBLIC, hasher.public_hasher()) {
            isa.call(Admit { pending, public, hasher, text, rows: &mut found.rows });
        }
    }
}

/// Makes rows of the public keys of what waits, in a function of its own.
struct Admit<'a> {
    pending: &'a mut Pending,
    public: &'a PublicHasher,
    hasher: &'a Hasher,
    text: Padded<'a>,
    rows: &'a mut Rows,
}

impl Task for Admit<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Admit { pending, public, hasher, text, rows } = self;
        for &key in pending.keys(isa, public, text) {
            rows.push(hasher.place_by(isa, key));
        }
    }
}

/// Appends the lines of `text` at the places in `found` that are the first of their class to `out`; gives their number.
#[inline(always)]
pub(super) fn copy_firsts<I: Isa>(
    isa: I,
    text: Padded<'_>,
    found: &Found,
    record_end: u8,
    out: &mut Vec<u8>,
) -> u64 {
    isa.call(CopyFirsts(text, found, record_end, out))
}

struct CopyFirsts<'a>(Padded<'a>, &'a Found, u8, &'a mut Vec<u8>);

impl Task for CopyFirsts<'_> {
    type Output = u64;
    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) -> u64 {
        let CopyFirsts(text, Found { spans, rows }, record_end, out) = self;
        let lines = spans.iter().enumerate().map(|(row, &span)| (span, rows.is_first(row)));
        copy_lines(text, lines, record_end, out)
    }
}

/// Appends those of `lines`, places in `text`, that are to be kept; gives their number.
///
/// Whether a line is kept cannot be foreseen, so every line is copied, 128 bytes of it without
/// asking, and the next one is written over it unless it is kept.
#[inline(always)]
fn copy_lines(
    text: Padded<'_>,
    lines: impl Iterator<Item = (Span, bool)>,
    record_end: u8,
    out: &mut Vec<u8>,
) -> u64 {
    const ROOM: usize = 128;
    // A last line without an end gets one.
    out.reserve(text.len() + 1 + ROOM);
    let (mut at, mut count) = (0, 0);
    for (span, keep) in lines {
        let (start, len) = (span.start as usize, span.len());
        out.truncate(at);
        out.extend_from_slice(&text.padded()[start..start + ROOM]);
        if len >= ROOM {
            out.extend_from_slice(&text.padded()[start + ROOM..=start + len]);
        }
        out[at + len] = record_end;
        at += if keep { len + 1 } else { 0 };
        count += u64::from(keep);
    }
    out.truncate(at);
    count
}
