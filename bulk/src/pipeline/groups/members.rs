//! Records and sets on disk: looks records up in a set, and collects keys to add to one.

use std::sync::Arc;

use super::firsts::copy_firsts;
use crate::io::{Shape, Source};
use crate::pipeline::engine::driver::{End, Job, Reading, run};
use crate::pipeline::engine::rows::{RowOptions, RowRun, forget_decoded};
use crate::pipeline::engine::scan::{KeyedRecords, scan_keys};
use crate::pipeline::engine::work::{ChunkWork, Worker};
use crate::pipeline::{DedupOptions, Equivalence, Error, Keep, OnInvalid, Report, Settings, Sinks};
use crate::survivors::{forget, look_up};
use uriscan_core::dedup::Rows;
use uriscan_core::key::{Hasher, Key, PublicHash};
use uriscan_core::set::{KeySet, Loader, SetError, Timestamp};
use uriscan_core::simd::Isa;
use uriscan_core::threads;

/// How records are compared, and the policy on invalid ones.
///
/// ```
/// use uriscan::key::PublicHash;
/// use uriscan_bulk::pipeline::{MemberOptions, OnInvalid};
/// let options = MemberOptions::default().hash(PublicHash::Sha256).on_invalid(OnInvalid::Drop);
/// assert_eq!(options.hash, PublicHash::Sha256);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct MemberOptions {
    /// When two records are equivalent.
    pub equivalence: Equivalence,
    /// The hash for keys: that of the set.
    pub hash: PublicHash,
    /// The policy on invalid records; under [`OnInvalid::Pass`] their keys are those of their bytes.
    pub on_invalid: OnInvalid,
}

setters! { MemberOptions { equivalence: Equivalence, hash: PublicHash, on_invalid: OnInvalid } }

impl MemberOptions {
    /// The same as options of a job that keys records, with the hasher that it needs.
    fn for_keys(&self) -> Result<DedupOptions, Error> {
        let options = DedupOptions {
            equivalence: self.equivalence.clone(),
            hash: self.hash,
            on_invalid: self.on_invalid,
            ..DedupOptions::default()
        };
        Ok(DedupOptions { hasher: options.run_hasher(true)?, ..options })
    }
}

/// Passes the keys of all records to `loader`, and writes only rejects. An overlong record has no
/// key.
///
/// # Errors
/// See [`Error`].
pub fn collect(
    sources: Vec<Source>,
    options: &MemberOptions,
    loader: &mut Loader,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let ask = Ask::Load(loader);
    run(&mut Members::new(options, ask, settings)?, sources, settings, sinks)
}

/// Writes the records that are in `set`, or with `is_in` false those that are not. An overlong record is in no set.
///
/// ```
/// use uriscan_bulk::io::Source;
/// use uriscan::key::PublicHash;
/// use uriscan_bulk::pipeline::{Equivalence, MemberOptions, Settings, Sinks, collect, members};
/// use uriscan::set::SetWriter;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let directory = tempfile::tempdir()?;
/// let (equivalence, hash) = (Equivalence::default(), PublicHash::Blake3);
/// let mut set = SetWriter::create(&directory.path().join("seen"), equivalence.meaning(hash))?;
/// let options = MemberOptions::default().equivalence(equivalence).hash(hash);
/// let settings = Settings::default();
///
/// let mut keys = set.loader(1 << 20)?;
/// let old = Source::new("old", &b"http://h/\nhttp://h/a\n"[..]);
/// collect(vec![old], &options, &mut keys, &settings, &mut Sinks::new(&mut std::io::sink()))?;
/// set.add(keys)?;
///
/// let mut out = Vec::new();
/// let list = Source::new("list", &b"HTTP://H:80\nhttp://h/b\n"[..]);
/// members(vec![list], &options, set.set(), true, &settings, &mut Sinks::new(&mut out))?;
/// assert_eq!(out, b"HTTP://H:80\n");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// See [`Error`].
pub fn members(
    sources: Vec<Source>,
    options: &MemberOptions,
    set: &KeySet,
    is_in: bool,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let ask = Ask::Find { set, is_in };
    run(&mut Members::new(options, ask, settings)?, sources, settings, sinks)
}

/// Writes the records that are in `set`, which has the times at which they were first seen, each after that time
/// ([`uriscan_core::set::Timestamp`] as text) and a tab.
///
/// ```
/// use uriscan_bulk::io::Source;
/// use uriscan::key::PublicHash;
/// use uriscan_bulk::pipeline::{Equivalence, MemberOptions, Settings, Sinks, collect, first_seen};
/// use uriscan::set::SetWriter;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let directory = tempfile::tempdir()?;
/// let (equivalence, hash) = (Equivalence::default(), PublicHash::Blake3);
/// let meaning = equivalence.meaning(hash);
/// let mut set = SetWriter::create_dated(&directory.path().join("seen"), meaning)?;
/// let options = MemberOptions::default().equivalence(equivalence).hash(hash);
/// let settings = Settings::default();
///
/// let mut keys = set.loader_at(1 << 20, "2026-03-01".parse()?)?;
/// let old = Source::new("old", &b"http://h/\n"[..]);
/// collect(vec![old], &options, &mut keys, &settings, &mut Sinks::new(&mut std::io::sink()))?;
/// set.add(keys)?;
///
/// let mut out = Vec::new();
/// let list = Source::new("list", &b"HTTP://H:80\nhttp://h/b\n"[..]);
/// first_seen(vec![list], &options, set.set(), &settings, &mut Sinks::new(&mut out))?;
/// assert_eq!(out, b"2026-03-01T00:00:00Z\tHTTP://H:80\n");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// See [`Error`].
pub fn first_seen(
    sources: Vec<Source>,
    options: &MemberOptions,
    set: &KeySet,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    run(&mut Members::new(options, Ask::Date(set), settings)?, sources, settings, sinks)
}

/// Writes the rows of `sources`, text tables, whose URIs are in `set`, or with `is_in` false those whose are not: as
/// [`crate::pipeline::dedup_rows`] reads and writes them.
///
/// ```
/// use uriscan_bulk::io::Source;
/// use uriscan::key::PublicHash;
/// use uriscan_bulk::pipeline::{Equivalence, MemberOptions, RowOptions, Settings, Sinks, collect, member_rows};
/// use uriscan::row::{TextFormat, TextTable};
/// use uriscan::set::SetWriter;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let directory = tempfile::tempdir()?;
/// let meaning = Equivalence::default().meaning(PublicHash::Blake3);
/// let mut set = SetWriter::create(&directory.path().join("seen"), meaning)?;
/// let (options, settings) = (MemberOptions::default(), Settings::default());
/// let mut keys = set.loader(1 << 20)?;
/// let old = Source::new("old", &b"http://h/\n"[..]);
/// collect(vec![old], &options, &mut keys, &settings, &mut Sinks::new(&mut std::io::sink()))?;
/// set.add(keys)?;
///
/// let mut out = Vec::new();
/// let rows = Source::new("rows", &b"id,url\n1,HTTP://H:80\n2,http://h/b\n"[..]);
/// let by = RowOptions::new(TextTable::new(TextFormat::Csv, "url"));
/// member_rows(vec![rows], &by, &options, set.set(), true, &settings, &mut Sinks::new(&mut out))?;
/// assert_eq!(out, b"id,url\n1,HTTP://H:80\n");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// See [`Error`].
pub fn member_rows(
    sources: Vec<Source>,
    rows: &RowOptions,
    options: &MemberOptions,
    set: &KeySet,
    is_in: bool,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    run_members((sources, rows), options, Ask::Find { set, is_in }, settings, sinks)
}

/// [`member_rows`] of those whose URIs are in `set`, with the times at which they were first seen: fields `first_seen`, or
/// [`RowOptions::adds`], after the others.
///
/// # Errors
/// See [`Error`]; also if there is such a field, or rows cannot have it.
pub fn first_seen_rows(
    sources: Vec<Source>,
    rows: &RowOptions,
    options: &MemberOptions,
    set: &KeySet,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    run_members((sources, rows), options, Ask::Date(set), settings, sinks)
}

fn run_members(
    (sources, rows): (Vec<Source>, &RowOptions),
    options: &MemberOptions,
    ask: Ask<'_>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let is_dated = matches!(ask, Ask::Date(_));
    let job = Members::new(options, ask, settings)?;
    rows.require_fit(true, Keep::First, &sources)?;
    let (settings, mut run_of_rows) = rows.run(&sources, &job.options, settings);
    if is_dated {
        let name = rows.adds.as_deref().unwrap_or("first_seen");
        let fields = rows.fields(vec![name.to_owned()], &sources)?;
        run_of_rows.finder.added = Some(Arc::new(fields));
    }
    let mut job = Members { record_end: b'\n', redact: false, rows: Some(run_of_rows), ..job };
    run(&mut job, sources, &settings, sinks)
}

/// What to do with keys.
enum Ask<'a> {
    Load(&'a mut Loader),
    Find { set: &'a KeySet, is_in: bool },
    Date(&'a KeySet),
}

struct Members<'a> {
    options: DedupOptions,
    ask: Ask<'a>,
    record_end: u8,
    redact: bool,
    /// What finds rows, if the records are rows of tables.
    rows: Option<RowRun>,
}

impl<'a> Members<'a> {
    fn new(
        options: &MemberOptions,
        ask: Ask<'a>,
        settings: &Settings,
    ) -> Result<Members<'a>, Error> {
        let &Settings { record_end, redact, .. } = settings;
        Ok(Members { options: options.for_keys()?, ask, record_end, redact, rows: None })
    }

    fn ask(&mut self, chunks: &[&Rows]) -> Result<(), SetError> {
        let hasher = &self.options.hasher;
        match &mut self.ask {
            Ask::Load(loader) => chunks.iter().try_for_each(|rows| {
                forget(rows);
                loader.push((0..rows.len()).map(|row| hasher.public(rows.key(row))))
            }),
            Ask::Find { set, is_in } => look_up(
                set,
                hasher,
                chunks,
                |_, _| true,
                |chunk, row, found| chunks[chunk].set_first(row, found == *is_in),
            ),
            // Every chunk asks for itself.
            Ask::Date(_) => Ok(()),
        }
    }
}

/// The times at which the records of a chunk were first seen, of those that are in `set`.
fn times_of(
    set: &KeySet,
    hasher: &Hasher,
    rows: &Rows,
) -> Result<Vec<Option<Timestamp>>, SetError> {
    let public = |row| (hasher.public(rows.key(row)), row);
    let mut lookups: Vec<(Key, usize)> = (0..rows.len()).map(public).collect();
    let mut times = vec![None; rows.len()];
    set.find_dated(&mut lookups, |row, time| times[row] = Some(time))?;
    Ok(times)
}

impl Members<'_> {
    /// Writes the records of a chunk that are in `set`, after the times at which they were first seen; rows of tables before
    /// these.
    fn write_dated(
        &self,
        set: &KeySet,
        work: &mut ChunkWork<KeyedRecords>,
    ) -> Result<(), SetError> {
        let ChunkWork { chunk, rows: KeyedRecords { spans, rows, table, .. }, out, report, .. } =
            work;
        let times = times_of(set, &self.options.hasher, rows)?;
        let text = chunk.text.padded().content();
        report.written = times.iter().flatten().count() as u64;
        report.withheld = times.len() as u64 - report.written;
        let Some((run, fields)) =
            self.rows.as_ref().and_then(|run| Some((run, run.finder.added.as_deref()?)))
        else {
            for (span, time) in spans.iter().zip(times) {
                let Some(time) = time else { continue };
                out.extend_from_slice(format!("{time}\t").as_bytes());
                out.extend_from_slice(span.of(text));
                out.push(self.record_end);
            }
            return Ok(());
        };
        run.begin(chunk, out);
        fields.push_rows(table, text, out, |row, out| {
            if let Some(time) = times[row] {
                let row = table.rows[row].of(text);
                fields.push(row, out, |fields| fields.text(&time.to_string()));
            }
        });
        Ok(())
    }
}

impl Job for Members<'_> {
    type Rows = KeyedRecords;

    fn reading(&self) -> Reading {
        Reading { cut: self.rows.as_ref().map(|rows| rows.finder.cut()), ..Reading::default() }
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<KeyedRecords>) {
        let shown = (self.record_end, self.redact);
        let len = self.rows.as_ref().map(|rows| rows.find(isa, work));
        scan_keys(isa, &self.options, shown, worker, work);
        forget_decoded(work, len);
    }

    fn commit(&mut self, batch: &mut [ChunkWork<KeyedRecords>]) -> Result<(), Error> {
        let end = batch.iter().position(|work| work.stop.is_some()).map_or(batch.len(), |i| i + 1);
        let batch = &mut batch[..end];
        if let Some(rows) = &mut self.rows {
            rows.account(batch)?;
        }
        if let Ask::Date(set) = self.ask {
            let scanned = batch.iter_mut().filter(|work| work.chunk.shape == Shape::Records);
            let written = threads::map(scanned, |work| self.write_dated(set, work));
            return Ok(written.into_iter().collect::<Result<(), SetError>>()?);
        }
        let scanned = batch.iter().filter(|work| work.chunk.shape == Shape::Records);
        let rows: Vec<&Rows> = scanned.map(|work| &work.rows.rows).collect();
        Ok(self.ask(&rows)?)
    }

    #[inline(always)]
    fn emit<I: Isa>(&self, isa: I, _worker: &mut Worker, work: &mut ChunkWork<KeyedRecords>) {
        if let Ask::Date(_) = self.ask {
            // Records in the set were written when they were looked up.
            return;
        }
        let ChunkWork { chunk, rows, out, report, .. } = work;
        self.rows.iter().for_each(|rows| rows.begin(chunk, out));
        report.written = copy_firsts(isa, chunk.text.padded(), rows, self.record_end, out);
        report.withheld = rows.spans.len() as u64 - report.written;
    }

    fn on_invalid(&self) -> OnInvalid {
        // The driver uses it only for overlong records, which are in no set.
        match (self.options.on_invalid, &self.ask) {
            (OnInvalid::Pass, Ask::Load(_) | Ask::Find { is_in: true, .. } | Ask::Date(_)) => {
                OnInvalid::Drop
            }
            (on_invalid, _) => on_invalid,
        }
    }

    fn finish(&mut self, _: End<'_>, _: &mut Report, _: &mut Sinks<'_>) -> Result<(), Error> {
        self.rows.as_ref().map_or(Ok(()), RowRun::require_member)
    }
}
