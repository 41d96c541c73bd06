//! Deduplication that tells what it does: how many records a class has, which of them is kept,
//! what was left out and why.
//!
//! A class is complete when all is read, so its line is written then. Until then the survivor of
//! each class is held in memory, by the partition that its key belongs to ([`shelf`]): its position
//! (lines before a record, in all sources), by which all partitions come together again in the order of
//! the input. Its text is held too ([`mod@write`]), unless the sources can be read a second time
//! ([`again`]). What has no room in memory is put aside on disk ([`beyond`]). [`super::dedup()`] holds keys only and has no
//! part in this.

mod again;
mod beyond;
mod ladder;
mod long;
mod options;
mod past;
mod proof;
mod shelf;
mod write;

use std::sync::{Mutex, PoisonError};

use super::dedup::{self, Forecast, scan_found};
use super::driver::{Job, Slot, Worker, run};
use super::members::Seen;
use super::spill::Watch;
use super::{DedupOptions, Emit, Error, OnInvalid, Report, Settings, Sinks};
use crate::dedup::{Classes, Met, Rows};
use crate::index::Index;
use crate::io::{Chunk, Shape, Source};
use crate::key::PublicHasher;
use crate::simd::Isa;
use again::Survivors;
use beyond::{Asked, Beyond};
use long::Spool;
pub use options::{ClassOptions, Keep, Select};
use past::Past;
use proof::Proof;
use shelf::{Manner, Shelf};

/// Writes one record of each equivalence class of `sources` to `sinks`, in input order, once all is read;
/// and, if asked for, tells what became of the others.
///
/// With [`Keep::First`], [`Select::All`] and no counts the results are those of [`super::dedup()`].
///
/// [`Sinks::dupes`] takes a line for each record that is left out, in input order: the record, its
/// survivor and the name of the lowest rung at which they are one, with tabs between. Nothing is
/// escaped: a URI holds no tab, and a record that is no URI is one only with its own bytes; only where
/// records with tabs are repaired a line may be read in two ways, and clusters tell. So the
/// records of the results ([`Emit::Original`], [`Select::All`]) and of these lines together are those
/// of the input, but for what `on_invalid` has turned away.
///
/// [`Sinks::clusters`] takes a JSON object for each class that is written, in the same order:
///
/// ```text
/// {"survivor":"http://h","count":2,"members":[
///   {"source":"a.txt","line":1,"uri":"http://h","rung":"string","rules":[]},
///   {"source":"b.txt","line":7,"uri":"HTTP://h","rung":"syntax","rules":["scheme-case"]}]}
/// ```
///
/// on one line. `members` are all records of the class in input order, the survivor among them;
/// `rung` is the lowest rung at which the member and the survivor are one, and `rules` are the steps that
/// make them one ([`crate::explain::compare`]), none for records of more than 8 KiB
/// ([`crate::explain::LONGEST`]). For bytes that are no
/// UTF-8, `uri` and `survivor` are null, and the bytes are in `hex` and `survivor_hex`; for a record
/// too long to be judged, which is a class of its own, they are null and `bytes` is its length.
///
/// Memory: 50 to 70 bytes and the survivor's text for each class; so with [`Keep::Min`], [`Keep::Max`] and
/// [`ClassOptions::verify`]; with [`Sinks::dupes`] or
/// [`Sinks::clusters`] also 24 bytes for each record that is left out, and its text unless that is the
/// survivor's. Where the sources are all regular files that are not compressed, and neither sink is asked for,
/// they are read a second time instead of holding texts: 36 to 60 bytes for each class then. Records too long to
/// be judged wait in a temporary file, if they are not read again.
///
/// What has no room under [`DedupOptions::limit`] goes to disk: some 22 bytes for each record where sources are read a second time,
/// and else its text too, and then what is to be written. The results are the same.
///
/// ```
/// use uriscan::{io::Source, pipeline::{ClassOptions, Settings, Sinks, classes}};
/// let list = Source::new("list", &b"http://h\nhttp://h/x\nHTTP://H:80/\n"[..]);
/// let (mut out, mut dupes) = (Vec::new(), Vec::new());
/// let options = ClassOptions { count: true, ..ClassOptions::default() };
/// let mut sinks = Sinks { dupes: Some(&mut dupes), ..Sinks::new(&mut out) };
/// let report = classes(vec![list], &options, &Settings::default(), &mut sinks).unwrap();
/// assert_eq!(out, b"      2 http://h\n      1 http://h/x\n");
/// assert_eq!(dupes, b"HTTP://H:80/\thttp://h\tscheme\n");
/// assert_eq!((report.records, report.written, report.duplicates), (3, 2, 1));
/// ```
///
/// # Errors
/// See [`Error`]. When reading fails, all is written for what stands before the fault; nothing but
/// rejects under [`OnInvalid::Fail`].
pub fn classes(
    sources: Vec<Source>,
    options: &ClassOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    run_classes(sources, options, None, settings, sinks)
}

/// [`classes`] without those whose keys are in a set on disk.
///
/// All their records count as duplicates. In [`Sinks::dupes`] nothing stands in the place of the survivor, and `seen` in that of
/// the rung; in [`Sinks::clusters`] they are not. [`Seen::new_keys`] takes the keys of the classes that are written: not those
/// that [`ClassOptions::select`] holds back.
///
/// The meaning of the set has to be that of [`super::Equivalence::meaning`] by [`DedupOptions::hash`]. Aliases have to be read with
/// their targets. The set is asked when all is read, once for each class.
///
/// # Errors
/// See [`Error`].
pub fn classes_unseen(
    sources: Vec<Source>,
    options: &ClassOptions,
    seen: Seen<'_>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    run_classes(sources, options, Some(seen), settings, sinks)
}

fn run_classes(
    sources: Vec<Source>,
    options: &ClassOptions,
    seen: Option<Seen<'_>>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let has_members = sinks.dupes.is_some() || sinks.clusters.is_some();
    let has_texts = has_members || options.verify || options.keep.has_order();
    let again: Option<Vec<Source>> =
        if has_texts { None } else { sources.iter().map(Source::again).collect() };
    let again = again.map(Mutex::new);
    let watch = options.dedup.limit.clone().map(Watch::new);
    let settings = &settings.within_limits();
    let settings = &watch.as_ref().map_or(*settings, |watch| watch.within(settings));
    let needs_public = seen.is_some() || options.dedup.emit == Emit::Key;
    if options.verify {
        options.dedup.equivalence.require_targets()?;
    }
    let hasher = options.dedup.run_hasher(needs_public)?;
    let mut job = Sorting {
        options: ClassOptions {
            dedup: DedupOptions { hasher: hasher.clone(), ..options.dedup.clone() },
            ..options.clone()
        },
        public: hasher.public_hasher().cloned(),
        settings: *settings,
        manner: Manner { keep: options.keep, has_texts: again.is_none(), has_members },
        again,
        names: sources.iter().map(|source| source.name.clone()).collect(),
        forecast: Forecast::new(&sources),
        past: seen.map(|seen| Past::new(seen, options.select, hasher)),
        long: Spool::new(watch.as_ref().map(|watch| watch.limit.temp_dir.clone())),
        watch,
        ..Sorting::default()
    };
    run(&mut job, sources, settings, sinks)
}

/// The job: all records, sorted into classes.
#[derive(Default)]
struct Sorting<'s> {
    options: ClassOptions,
    settings: Settings,
    manner: Manner,
    /// The sources once more, if texts are not held but read again.
    again: Option<Mutex<Vec<Source>>>,
    /// Of the sources.
    names: Vec<String>,
    /// The sources with records, each with the lines before it, in order.
    starts: Vec<(u64, usize)>,
    /// Lines seen so far, in all sources.
    lines: u64,
    /// Records with a key seen so far.
    keyed: u64,
    classes: Classes<Shelf>,
    long: Spool,
    /// The number of records too long to be judged that are to be written.
    long_count: u64,
    forecast: Forecast,
    /// What earlier runs have seen, if anybody asks for that.
    past: Option<Past<'s>>,
    /// Makes public keys, if they are written.
    public: Option<PublicHasher>,
    /// The memory limit, if there is one.
    watch: Option<Watch>,
    /// All that was read, since there was no room for it.
    beyond: Option<Beyond>,
    fault: Option<Error>,
}

/// The records of a chunk that have a key.
#[derive(Debug, Default)]
struct Found {
    keyed: dedup::Found,
    /// The lines in which they stand, counted from 0 in the chunk.
    lines: Vec<u32>,
    /// Lines of the chunk, those without a record included.
    line_count: u64,
    /// Lines before the chunk, in all sources.
    position: u64,
}

impl Found {
    /// Says in which lines of the chunk, which `index` is of, the records stand.
    fn number(&mut self, index: &Index) {
        self.line_count = index.record_count() as u64;
        self.lines.clear();
        let mut spans = self.keyed.spans.iter();
        let mut next = spans.next();
        for (line, whole) in (0..).zip(index.spans()) {
            // Of blank lines, and of those turned away, there is none.
            if next.is_some_and(|span| span.start < whole.end) {
                self.lines.push(line);
                next = spans.next();
            }
        }
    }
}

impl Job for Sorting<'_> {
    type Rows = Found;

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<Found>) {
        let Settings { record_end, redact, .. } = self.settings;
        let options = &self.options.dedup;
        scan_found(isa, options, (record_end, redact), worker, slot, |found| &mut found.keyed);
        slot.rows.number(&worker.index);
    }

    fn settle(&mut self, slots: &mut [Slot<Found>]) {
        if slots.iter().any(|slot| slot.stop.is_some()) {
            // Nothing will be written.
            return;
        }
        for slot in &mut *slots {
            self.place(slot);
        }
        let scanned: Vec<&Slot<Found>> =
            slots.iter().filter(|slot| slot.chunk.shape == Shape::Records).collect();
        let rows: Vec<&Rows> = scanned.iter().map(|slot| &slot.rows.keyed.rows).collect();
        if self.beyond.is_none()
            && let Err(error) = self.see_to_room(slots, &rows)
        {
            self.fault = Some(error);
        }
        self.keyed += rows.iter().map(|rows| rows.len() as u64).sum::<u64>();
        match &mut self.beyond {
            Some(beyond) => beyond.take(&scanned),
            None => self.insert(&scanned, &rows),
        }
        self.forecast.settle(slots.iter().map(|slot| slot.report.bytes).sum());
    }

    fn fault(&mut self) -> Option<Error> {
        self.fault.take().or_else(|| self.beyond.as_mut().and_then(Beyond::fault))
    }

    fn finish(&mut self, report: &mut Report, sinks: &mut Sinks<'_>) -> Result<(), Error> {
        if let Some(beyond) = self.beyond.take() {
            return self.write_beyond(beyond, report, sinks);
        }
        match self.sources_again() {
            None => self.write(report, sinks),
            Some(sources) => {
                self.seal(report)?;
                let survivors = Survivors::held(&self.classes);
                self.write_again(sources, survivors, report, sinks)
            }
        }
    }

    fn on_invalid(&self) -> OnInvalid {
        self.options.dedup.on_invalid
    }

    fn long_record_row(&self, _chunk: &Chunk) -> Option<Vec<u8>> {
        // It waits with the others.
        Some(Vec::new())
    }
}

impl Sorting<'_> {
    /// Sorts the records of a batch into classes in memory.
    fn insert(&mut self, scanned: &[&Slot<Found>], rows: &[&Rows]) {
        let manner = self.manner;
        let proof = self
            .options
            .verify
            .then(|| Proof::new(&self.options.dedup.equivalence, &self.settings));
        self.classes.expect(self.forecast.expected(self.classes.len()));
        let is_member = |shelf: &Shelf, met: Met| {
            let Slot { chunk, rows: found, .. } = scanned[met.chunk];
            let text = || found.keyed.spans[met.row].of(chunk.text.padded().content());
            proof.as_ref().is_none_or(|proof| proof.are_same(text(), shelf.survivor(met.class).1))
        };
        self.classes.insert_if(rows, is_member, |shelf, met| {
            let Slot { chunk, rows: found, .. } = scanned[met.chunk];
            shelf.meet(manner, met.class, met.is_first, || {
                let position = found.position + u64::from(found.lines[met.row]);
                (position, found.keyed.spans[met.row].of(chunk.text.padded().content()))
            });
        });
    }

    /// Puts all aside if the rows of a batch have no room in memory.
    fn see_to_room(&mut self, slots: &[Slot<Found>], rows: &[&Rows]) -> Result<(), Error> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        let manner = self.manner;
        let (tables, more) =
            (self.classes.memory_bytes(), rows.iter().map(|rows| rows.len()).sum());
        let shelves = |more: usize| -> usize {
            let of = |shelf: &Shelf| shelf.memory_bytes(manner, more / Rows::PARTITIONS + 1);
            self.classes.partitions().map(of).sum()
        };
        let now: usize = shelves(0);
        if watch.is_tight(tables + now) {
            watch.see_all(tables + now);
        }
        let texts: usize = match manner.has_texts {
            true => slots.iter().map(|slot| slot.chunk.text.padded().len()).sum(),
            false => 0,
        };
        let beside = shelves(more) + texts;
        // Tables are not to take what shelves will need for the same classes.
        let most = watch.keys_bytes(beside, self.classes.len() + more);
        self.classes.limit_to(most);
        if tables <= most && self.classes.fits(rows) {
            return Ok(());
        }
        self.beyond = Some(Beyond::begin(watch, manner, &mut self.classes, self.forecast.rest())?);
        Ok(())
    }

    /// The sources once more, if texts are not held.
    fn sources_again(&mut self) -> Option<Vec<Source>> {
        Some(self.again.take()?.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Settles what was put aside, and writes everything.
    fn write_beyond(
        &mut self,
        beyond: Beyond,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        let Some(watch) = self.watch.take() else { return Ok(()) };
        let asked = Asked {
            dupes: sinks.dupes.is_some(),
            clusters: sinks.clusters.is_some(),
            past: self.past.is_some(),
        };
        let equivalence = &self.options.dedup.equivalence;
        let proof = self.options.verify.then(|| Proof::new(equivalence, &self.settings));
        let outcome = beyond.settle(self, asked, proof.as_ref(), &watch)?;
        // Of those that are not seen.
        let classes: u64 = outcome.settled.iter().map(|settled| settled.classes).sum();
        report.duplicates = self.keyed - classes;
        report.written = 0;
        report.spilled = outcome.spilled;
        match self.sources_again() {
            None => self.write_merged(outcome, report, sinks),
            Some(sources) => {
                let survivors = Survivors::aside(outcome)?;
                self.write_again(sources, survivors, report, sinks)
            }
        }
    }

    /// Says where the chunk of `slot` stands among all lines, and puts a piece of a long record aside.
    fn place(&mut self, slot: &mut Slot<Found>) {
        let source = slot.chunk.source;
        if self.starts.last().is_none_or(|&(_, last)| last != source) {
            self.starts.push((self.lines, source));
        }
        // As the driver has it: a secret in such a record could not be found.
        let is_shown = !self.settings.redact || self.options.dedup.emit == Emit::Key;
        let is_kept = self.options.dedup.on_invalid == OnInvalid::Pass && is_shown;
        match slot.chunk.shape {
            Shape::Records => {
                slot.rows.position = self.lines;
                self.lines += slot.rows.line_count;
                return;
            }
            Shape::LongFirst => {
                self.long_count += u64::from(is_kept);
                if is_kept && self.again.is_none() {
                    self.long.begin(self.lines);
                }
                self.lines += 1;
            }
            Shape::LongRest | Shape::LongLast => {}
        }
        if is_kept && self.again.is_none() {
            let piece = slot.chunk.text.padded().content();
            let end = [self.settings.record_end];
            self.long.add(match slot.chunk.shape {
                Shape::LongLast => piece.strip_suffix(&end).unwrap_or(piece),
                _ => piece,
            });
        }
    }

    /// The name of the source of the line at `position`, and its number in it, counted from 1.
    fn line(&self, position: u64) -> (&str, u64) {
        let after = self.starts.partition_point(|&(start, _)| start <= position);
        // The first source with records starts at 0.
        let (start, source) = self.starts[after - 1];
        (&self.names[source], position - start + 1)
    }
}
