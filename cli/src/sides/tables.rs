//! Side files that are tables.

use std::io::{self, Read};
use std::path::Path;

use uriscan::internals::files::File;
use uriscan::pipeline::ClassOptions;
pub(super) use uriscan::table::ClassTable as Table;
use uriscan::table::{TableError, TableFormat};

use super::Sink;
use crate::config::{Config, Job, SideFiles};
use crate::exit::Failure;
use crate::inputs::Input;
use crate::output::Output;

/// How a table of classes in TSV begins.
const HEADER: &[u8] = b"source\tline\turi\t";

/// The format of the table of pairs that `input` is; none for lines, which are TSV without a header.
pub(crate) fn of_pairs(input: &Input) -> Option<TableFormat> {
    match input {
        Input::File(path) => {
            let is_table = |format: &TableFormat| *format != TableFormat::Tsv || has_header(path);
            TableFormat::of_path(path).filter(is_table)
        }
        Input::Remote(url) => {
            TableFormat::of_path(url.path()).filter(|format| *format != TableFormat::Tsv)
        }
        Input::Stdin | Input::Typed(_) => None,
    }
}

/// Whether the file at `path`, which can be read again, begins with [`HEADER`].
fn has_header(path: &Path) -> bool {
    let mut head = [0; HEADER.len()];
    let mut read = || File::open(path)?.read_exact(&mut head);
    path.is_file() && read().is_ok() && head == *HEADER
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
    let dupes = match to_dupes.as_deref().map(Table::format_of_dupes) {
        // What is refused was refused before.
        Some(Ok(Some(format))) => sink(dupes, |out| Table::of_dupes(out, format, &meaning))?,
        _ => dupes.map(Sink::Lines),
    };
    let clusters = match to_clusters.as_deref().map(Table::format_of_clusters) {
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

pub(super) fn finish(side: [Option<Sink<'_>>; 3], threads: usize) -> io::Result<()> {
    let tables = side.into_iter().flatten().filter_map(|sink| match sink {
        Sink::Lines(_) => None,
        Sink::Table(table) => Some(table),
    });
    let tables: Vec<Box<Table<'_>>> = tables.collect();
    if tables.is_empty() {
        return Ok(());
    }
    // Not on the threads that rayon starts by itself, which are as many as there are cores.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| {
        io::Error::other(format!("cannot start the threads: {error}; use fewer with -j"))
    })?;
    let finished = || tables.into_iter().try_for_each(|table| table.finish());
    pool.install(finished).map_err(io_error)
}

fn io_error(error: TableError) -> io::Error {
    match error {
        TableError::Write(error) => error,
        error => io::Error::other(error.to_string()),
    }
}
