//! Deduplication that reports what it does: how many records a class has, which of them is kept, what was omitted and why.
//!
//! A class is complete when everything is read; its line is written then. Until then the classes are [`Gathered`]. Where the
//! first record survives and nothing counts, [`dupes`] does not wait for the end. [`crate::pipeline::dedup()`] holds keys only and has no
//! part in this.

use std::sync::{Arc, Mutex};

use super::dupes::{self, Classes};
use crate::io::Source;
use crate::pipeline::engine::driver::run;
use crate::pipeline::engine::forecast::Forecast;
use crate::pipeline::engine::gathered::{Gathered, Results};
use crate::pipeline::engine::limit::within;
use crate::pipeline::engine::long::Spool;
use crate::pipeline::engine::numbered::KeptRows;
use crate::pipeline::engine::rows::{RowOptions, RowRun};
use crate::pipeline::engine::writer::{Origins, RecordWriter, TableRows};
use crate::pipeline::{
    ClassOptions, ClassSink, DedupOptions, Emit, Error, Report, Seen, Settings, Sinks,
};
use crate::survivors::{Budget, ClassMode, ClassSet};

/// Writes one record of each equivalence class of `sources` to `sinks`, in input order, once everything is read,
/// and optionally reports the others.
///
/// With [`crate::pipeline::Keep::First`] and [`Sinks::dupes`], and neither counts, [`Sinks::clusters`] nor
/// [`crate::pipeline::OnInvalid::Fail`], records are written as they are read, as long as there is room within
/// [`DedupOptions::limit`]: for 30 to 50 bytes and, unless it is canonical, the text of each class.
///
/// With [`crate::pipeline::Keep::First`], [`crate::pipeline::Select::All`] and no counts the results are those of [`crate::pipeline::dedup()`].
///
/// [`Sinks::dupes`] takes a line for each omitted record, in input order: the record, its
/// survivor and the name of the lowest level at which they are equivalent, or `rules:` and the names of
/// rules that make them so, none of which can be left out, with `+` between; with tabs between the three. Nothing is
/// escaped: a URI holds no tab, and an invalid record is equivalent only to its own bytes; only where
/// records with tabs are repaired is a line ambiguous; clusters are not. Of values of tables, line ends and tabs are percent-encoded. So the
/// records of the results ([`Emit::Original`], [`crate::pipeline::Select::All`]) and of these lines together are those
/// of the input, except for what `on_invalid` has turned away.
///
/// [`Sinks::clusters`] takes a JSON object for each class that is written, in the same order:
///
/// ```text
/// {"kept":"http://h","count":2,"members":[
///   {"source":"a.txt","line":1,"uri":"http://h","level":"string","rules":[]},
///   {"source":"b.txt","line":7,"uri":"HTTP://h","level":"syntax","rules":["scheme-case"]}]}
/// ```
///
/// on one line. `members` are all records of the class in input order, the survivor among them;
/// `level` is the lowest level at which the member and the survivor are equivalent, or `rules` if rules are necessary, and `rules`
/// are the steps that make them equivalent ([`uriscan_core::explain::compare_with_rules`]), none for records of more than 8 KiB
/// ([`uriscan_core::explain::LONGEST`]). For bytes that are not
/// UTF-8, `uri` and `kept` are null, and the bytes are in `hex` and `kept_hex`; for an overlong record, which is a class of its own, they are null and `bytes` is its length.
///
/// A [`ClassSink::rows`] takes both as values instead, to be made tables.
///
/// Memory: 50 to 70 bytes and the survivor's text for each class; so with [`crate::pipeline::Keep::Min`] and [`crate::pipeline::Keep::Max`], of rows the value that decides; with [`Sinks::dupes`] or
/// [`Sinks::clusters`] also 24 bytes for each omitted record, and its text unless that is the
/// survivor's. If all sources are uncompressed regular files and neither sink is used,
/// they are read a second time instead of holding texts: 24 to 60 bytes for each class then. Records too long to
/// be judged are kept in a temporary file, unless they are read again.
///
/// What exceeds [`DedupOptions::limit`] spills to disk: some 22 bytes for each record if sources are read a second time,
/// otherwise its text too, and then the output. The results are the same.
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{ClassOptions, Settings, Sinks, classes}};
/// let list = Source::new("list", &b"http://h\nhttp://h/x\nHTTP://H:80/\n"[..]);
/// let (mut out, mut dupes) = (Vec::new(), Vec::new());
/// let options = ClassOptions::default().count(true);
/// let mut sinks = Sinks::new(&mut out).dupes(&mut dupes);
/// let report = classes(vec![list], &options, &Settings::default(), &mut sinks).unwrap();
/// assert_eq!(out, b"      2 http://h\n      1 http://h/x\n");
/// assert_eq!(dupes, b"HTTP://H:80/\thttp://h\tscheme\n");
/// assert_eq!((report.records, report.written, report.duplicates), (3, 2, 1));
/// ```
///
/// # Errors
/// See [`Error`]. If reading fails, everything is written for the records before the fault; only
/// rejects under [`crate::pipeline::OnInvalid::Fail`].
pub fn classes(
    sources: Vec<Source>,
    options: &ClassOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    run_classes((sources, None), options, None, settings, sinks)
}

/// [`classes`] without those whose keys are in a set on disk.
///
/// All their records count as duplicates. In [`Sinks::dupes`] the survivor is empty and the level is `seen`;
/// [`Sinks::clusters`] omits them. [`Seen::new_keys`] takes the keys of the classes that are written: not those
/// that [`ClassOptions::select`] holds back.
///
/// The meaning of the set must be that of [`crate::pipeline::Equivalence::meaning`] by [`DedupOptions::hash`]. Aliases must be read with
/// their targets. The set is searched when everything is read, once for each class.
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
    run_classes((sources, None), options, Some(seen), settings, sinks)
}

/// Writes one row of each class of `sources`, text tables whose rows are records, in input order, once everything is read:
/// rows as [`crate::pipeline::dedup_rows`] reads and writes them, of the classes that [`ClassOptions::select`] says.
///
/// [`ClassOptions::keep`] compares the URIs of rows, or the values of [`TextTable::keep_by`](uriscan_core::row::TextTable::keep_by).
/// Counts are fields `uri_count`, or [`RowOptions::adds`], after the others. [`Sinks::dupes`] and [`Sinks::clusters`] take what they
/// take of a list of the URIs, with the lines on which rows begin. Rows that belong to no class, the header, and those without a
/// URI and those that do not fit if they are passed on, are always written.
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{ClassOptions, RowOptions, Select, Settings, Sinks, class_rows}};
/// use uriscan::row::{TextFormat, TextTable};
/// let rows = Source::new("rows", &b"id,url\n1,http://h\n2,HTTP://H:80/\n3,\"http://h/x\"\n"[..]);
/// let (table, mut out) = (TextTable::new(TextFormat::Csv, "url"), Vec::new());
/// let (rows, options) = (vec![rows], ClassOptions::default().select(Select::Repeated));
/// let mut sinks = Sinks::new(&mut out);
/// class_rows(rows, &RowOptions::new(table), &options, None, &Settings::default(), &mut sinks).unwrap();
/// assert_eq!(out, b"id,url\n1,http://h\n");
/// ```
///
/// # Errors
/// See [`Error`]; also if counts cannot be fields of such rows, or there is such a field. Nothing is written then but rejects.
pub fn class_rows(
    sources: Vec<Source>,
    rows: &RowOptions,
    options: &ClassOptions,
    seen: Option<Seen<'_>>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let dedup = options.dedup.clone().emit(Emit::Original);
    let options = options.clone().dedup(dedup);
    rows.require_fit(seen.is_some(), options.keep, &sources)?;
    let (settings, mut run) = rows.run(&sources, &options.dedup, settings);
    if options.count {
        let name = rows.adds.as_deref().unwrap_or("uri_count");
        let fields = rows.fields(vec![name.to_owned()], &sources)?;
        run.finder.added = Some(Arc::new(fields));
    }
    run_classes((sources, Some(run)), &options, seen, &settings, sinks)
}

fn run_classes(
    (sources, rows): (Vec<Source>, Option<RowRun>),
    options: &ClassOptions,
    seen: Option<Seen<'_>>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let has_members = sinks.dupes.is_some() || sinks.clusters.is_some();
    // What decides which row is kept is mostly short; which record, all of it.
    let is_held = has_members || options.keep.has_order() && rows.is_none();
    let reopened: Option<Vec<Source>> =
        if is_held { None } else { sources.iter().map(Source::again).collect() };
    let settings = &settings.within_limits();
    let limit = options.dedup.limit.as_ref();
    let settings = &limit.map_or(*settings, |limit| within(limit, settings, 1));
    let needs_public = seen.is_some() || options.dedup.emit == Emit::Key;
    let sides = [sinks.dupes.as_ref(), sinks.clusters.as_ref()];
    if sides.into_iter().flatten().any(ClassSink::takes_rows) {
        options.dedup.equivalence.require_targets()?;
    }
    let hasher = options.dedup.run_hasher(needs_public)?;
    let options = ClassOptions {
        dedup: DedupOptions { hasher: hasher.clone(), ..options.dedup.clone() },
        ..options.clone()
    };
    let names = sources.iter().map(|source| source.name.clone()).collect();
    let mut writer = RecordWriter::of_classes(&options, settings, Origins::new(names), sides);
    let is_streamed = dupes::is_possible(&options, seen.is_some(), sinks);
    let has_uris = rows.is_some() && has_members && !is_streamed;
    if let Some(rows) = &rows {
        writer = writer.of_table(TableRows { count: rows.finder.added.clone(), has_uris });
    }
    let (forecast, how) = (Forecast::new(&sources), (options, *settings));
    if is_streamed {
        return run(&mut Classes::streamed(how, writer, rows, forecast), sources, settings, sinks);
    }
    let kept = KeptRows {
        sorted_by: rows.as_ref().and_then(|rows| rows.sorted_by(how.0.keep)),
        has_uris,
        is_reread: reopened.is_some(),
    };
    let mode = ClassMode {
        keep: how.0.keep,
        has_texts: reopened.is_none() || how.0.keep.has_order(),
        has_members,
        has_sort_keys: kept.sorted_by.is_some(),
        has_uris,
    };
    let limit = how.0.dedup.limit.clone();
    let results = match reopened {
        None => Results::Held(Spool::new(limit.as_ref().map(|limit| limit.temp_dir.clone()))),
        Some(sources) => Results::Reread { sources: Mutex::new(sources), long: 0 },
    };
    let classes = ClassSet::new(mode, limit.map(Budget::of_process));
    let classes = classes.without(seen, how.0.select, hasher);
    let gathered = Gathered::new(how, kept, writer, classes, results, forecast);
    run(&mut Classes::gathered(gathered, rows), sources, settings, sinks)
}
