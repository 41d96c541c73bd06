//! Side files that are tables.

use std::io;
use std::path::Path;

use uriscan::pipeline::ClassOptions;
pub(super) use uriscan::table::ClassTable as Table;
use uriscan::table::{TableError, TableFormat};

use super::Sink;
use crate::config::{Config, Job, SideFiles};
use crate::exit::Failure;
use crate::output::{NOT_COMPRESSED, Output, is_packed};

/// The format of the table of dropped records at `path`; none for lines. TSV is lines without a header, as it always was.
pub(super) fn of_dupes(path: &Path) -> Result<Option<TableFormat>, &'static str> {
    written(path, TableFormat::Tsv)
}

/// The format of the table of classes at `path`; none for lines. Those are JSON lines, one for each class.
pub(super) fn of_clusters(path: &Path) -> Result<Option<TableFormat>, &'static str> {
    written(path, TableFormat::Jsonl)
}

fn written(path: &Path, lines: TableFormat) -> Result<Option<TableFormat>, &'static str> {
    let format = TableFormat::of_path(path).filter(|format| *format != lines);
    if format.is_some() && is_packed(path) { Err(NOT_COMPRESSED) } else { Ok(format) }
}

/// The format of the table of pairs at `path`; none for lines, which are TSV without a header.
pub(crate) fn of_pairs(path: &Path) -> Option<TableFormat> {
    TableFormat::of_path(path).filter(|format| *format != TableFormat::Tsv)
}

pub(super) fn open<'a>(
    config: &Config,
    side: &'a mut [Option<Output>; 3],
) -> Result<[Option<Sink<'a>>; 3], Failure> {
    let [rejects, dupes, clusters] = side.each_mut().map(Option::as_mut);
    let rejects = rejects.map(Sink::Lines);
    let Job::Classes(ClassOptions { dedup, .. }) = &config.job else {
        return Ok([rejects, dupes.map(Sink::Lines), clusters.map(Sink::Lines)]);
    };
    let meaning = dedup.equivalence.meaning(dedup.hash);
    let SideFiles { dupes: to_dupes, clusters: to_clusters, .. } = &config.side;
    let dupes = match to_dupes.as_deref().map(of_dupes) {
        // What is refused was refused before.
        Some(Ok(Some(format))) => sink(dupes, |out| Table::of_dupes(out, format, &meaning))?,
        _ => dupes.map(Sink::Lines),
    };
    let clusters = match to_clusters.as_deref().map(of_clusters) {
        Some(Ok(Some(format))) => sink(clusters, |out| Table::of_clusters(out, format, &meaning))?,
        _ => clusters.map(Sink::Lines),
    };
    Ok([rejects, dupes, clusters])
}

/// The sink that writes a table to `out`.
fn sink<'a>(
    out: Option<&'a mut Output>,
    table: impl FnOnce(&'a mut Output) -> Result<Table<'a>, TableError>,
) -> Result<Option<Sink<'a>>, Failure> {
    let Some(out) = out else { return Ok(None) };
    let name = out.name().to_owned();
    let table = table(out).map_err(|error| Failure::at(name, io_error(error)))?;
    Ok(Some(Sink::Table(Box::new(table))))
}

pub(super) fn finish(table: Table<'_>) -> io::Result<()> {
    table.finish().map_err(io_error)
}

fn io_error(error: TableError) -> io::Error {
    match error {
        TableError::Write(error) => error,
        error => io::Error::other(error.to_string()),
    }
}
