//! The files of dropped records and of classes: lines, or tables if their names say so.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use uriscan::Error;
use uriscan::set::Meaning;
use uriscan_bulk::pipeline::ClassSink;

use crate::exit::Failure;
use crate::output::{Content, Output};
use crate::tables::ClassTable;

/// The side files in use, the outputs beside the results: their paths, or what was opened there.
pub(crate) type SideFiles<T = PathBuf> = BTreeMap<Content, T>;

/// Whether one of `side` is a table, by its name.
pub(crate) fn has_table(side: &SideFiles) -> Result<bool, Failure> {
    let dupes = is_table(side.get(&Content::Dupes), ClassTable::format_of_dupes)?;
    Ok(is_table(side.get(&Content::Clusters), ClassTable::format_of_clusters)? || dupes)
}

fn is_table<T, E: Display>(
    path: Option<&PathBuf>,
    format: impl Fn(&Path) -> Result<Option<T>, E>,
) -> Result<bool, Failure> {
    let Some(path) = path else { return Ok(false) };
    let format = format(path).map_err(|what| Failure::at(path.display(), what))?;
    Ok(format.is_some())
}

/// What takes the lines or rows of a side file.
pub(crate) enum Sink<'a> {
    Lines(&'a mut Output),
    Table(Box<ClassTable<'a>>),
}

impl Sink<'_> {
    pub(crate) fn of_classes(&mut self) -> ClassSink<'_> {
        match self {
            Sink::Lines(out) => ClassSink::text(*out),
            Sink::Table(table) => ClassSink::rows(&mut **table),
        }
    }
}

/// The sinks of duplicates and clusters, which are to be written to `files`; the keys in tables have this `meaning`.
pub(crate) fn open<'a>(
    files: &SideFiles,
    meaning: Option<&Meaning>,
    (dupes, clusters): (Option<&'a mut Output>, Option<&'a mut Output>),
) -> Result<[Option<Sink<'a>>; 2], Failure> {
    // Records of which there are classes have keys.
    let Some(meaning) = meaning else { return Ok([None, None]) };
    let of_dupes = files.get(&Content::Dupes).map(|path| ClassTable::format_of_dupes(path));
    let of_clusters =
        files.get(&Content::Clusters).map(|path| ClassTable::format_of_clusters(path));
    // What is refused was refused before.
    Ok([
        sink(dupes, of_dupes.and_then(|it| it.ok()?), |out, format| {
            ClassTable::of_dupes(out, format, meaning)
        })?,
        sink(clusters, of_clusters.and_then(|it| it.ok()?), |out, format| {
            ClassTable::of_clusters(out, format, meaning)
        })?,
    ])
}

/// What takes lines for `out`, or the `table` of this format there.
fn sink<'a, F>(
    out: Option<&'a mut Output>,
    format: Option<F>,
    table: impl FnOnce(&'a mut Output, F) -> Result<ClassTable<'a>, Error>,
) -> Result<Option<Sink<'a>>, Failure> {
    let Some(out) = out else { return Ok(None) };
    let Some(format) = format else { return Ok(Some(Sink::Lines(out))) };
    let name = out.name().to_owned();
    let table = table(out, format).map_err(|error| Failure::at(name, error.into_io()))?;
    Ok(Some(Sink::Table(Box::new(table))))
}

/// Completes what is written, on so many threads; one per core if it is 0.
pub(crate) fn finish(side: [Option<Sink<'_>>; 2], threads: usize) -> io::Result<()> {
    let tables = side.into_iter().flatten().filter_map(|sink| match sink {
        Sink::Lines(_) => None,
        Sink::Table(table) => Some(table),
    });
    let tables: Vec<Box<ClassTable<'_>>> = tables.collect();
    if tables.is_empty() {
        return Ok(());
    }
    // Not on the threads that rayon starts by itself, which are as many as there are cores.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| {
        io::Error::other(format!("cannot start the threads: {error}; use fewer with -j"))
    })?;
    let finished = || tables.into_iter().try_for_each(|table| table.finish());
    pool.install(finished).map_err(Error::into_io)
}
