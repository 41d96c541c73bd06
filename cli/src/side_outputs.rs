//! The files of dropped records and of classes: lines, or tables if their names say so.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use uriscan::Error;
use uriscan::set::Meaning;
use uriscan_bulk::pipeline::ClassRows;

use crate::exit::Failure;
use crate::output::{Content, Output};
use crate::tables::ClassTable;

/// The side files: outputs beside the results.
#[derive(Clone, Debug, Default)]
pub(crate) struct SideFiles {
    /// Invalid records.
    pub(crate) rejects: Option<PathBuf>,
    /// Dropped duplicates.
    pub(crate) dupes: Option<PathBuf>,
    /// Classes with their members.
    pub(crate) clusters: Option<PathBuf>,
    /// The page about the run.
    pub(crate) report: Option<PathBuf>,
    /// URLs to fetch.
    pub(crate) undecided: Option<PathBuf>,
}

impl SideFiles {
    /// The side files in use, each with its content.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&Path, Content)> {
        let SideFiles { rejects, dupes, clusters, report, undecided } = self;
        let all = [
            (rejects, Content::Rejects),
            (dupes, Content::Dupes),
            (clusters, Content::Clusters),
            (report, Content::Report),
            (undecided, Content::Undecided),
        ];
        all.into_iter().filter_map(|(path, content)| Some((path.as_deref()?, content)))
    }
}

/// Which of `side` are tables, by their names.
pub(crate) fn rows(side: &SideFiles) -> Result<ClassRows, Failure> {
    Ok(ClassRows::default()
        .dupes(is_table(side.dupes.as_ref(), ClassTable::format_of_dupes)?)
        .clusters(is_table(side.clusters.as_ref(), ClassTable::format_of_clusters)?))
}

fn is_table<T, E: Display>(
    path: Option<&PathBuf>,
    format: impl Fn(&Path) -> Result<Option<T>, E>,
) -> Result<bool, Failure> {
    let Some(path) = path else { return Ok(false) };
    let format = format(path).map_err(|what| Failure::at(path.display(), what))?;
    Ok(format.is_some())
}

/// What takes the lines of a side file.
pub(crate) enum Sink<'a> {
    Lines(&'a mut Output),
    Table(Box<ClassTable<'a>>),
}

/// The sinks of `files` that were opened as `side`, of rejects, duplicates and clusters; the keys in tables have this
/// `meaning`.
pub(crate) fn open<'a>(
    files: &SideFiles,
    meaning: Option<Meaning>,
    side: &'a mut [Option<Output>; 3],
) -> Result<[Option<Sink<'a>>; 3], Failure> {
    let [rejects, dupes, clusters] = side.each_mut().map(Option::as_mut);
    let rejects = rejects.map(Sink::Lines);
    let Some(meaning) = meaning else {
        return Ok([rejects, dupes.map(Sink::Lines), clusters.map(Sink::Lines)]);
    };
    let SideFiles { dupes: to_dupes, clusters: to_clusters, .. } = files;
    let dupes = match to_dupes.as_deref().map(ClassTable::format_of_dupes) {
        // What is refused was refused before.
        Some(Ok(Some(format))) => {
            sink(dupes, |out| ClassTable::of_dupes(out, format, &meaning).map_err(Error::into_io))?
        }
        _ => dupes.map(Sink::Lines),
    };
    let clusters = match to_clusters.as_deref().map(ClassTable::format_of_clusters) {
        Some(Ok(Some(format))) => sink(clusters, |out| {
            ClassTable::of_clusters(out, format, &meaning).map_err(Error::into_io)
        })?,
        _ => clusters.map(Sink::Lines),
    };
    Ok([rejects, dupes, clusters])
}

/// The sink that writes a table to `out`.
fn sink<'a>(
    out: Option<&'a mut Output>,
    table: impl FnOnce(&'a mut Output) -> io::Result<ClassTable<'a>>,
) -> Result<Option<Sink<'a>>, Failure> {
    let Some(out) = out else { return Ok(None) };
    let name = out.name().to_owned();
    let table = table(out).map_err(|error| Failure::at(name, error))?;
    Ok(Some(Sink::Table(Box::new(table))))
}

/// Completes what is written, on so many threads; one per core if it is 0.
pub(crate) fn finish(side: [Option<Sink<'_>>; 3], threads: usize) -> io::Result<()> {
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

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Lines(out) => out.write(bytes),
            Sink::Table(table) => table.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Lines(out) => out.flush(),
            Sink::Table(table) => table.flush(),
        }
    }
}
