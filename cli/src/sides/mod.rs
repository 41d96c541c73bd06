//! The files of dropped records and of classes: lines, or tables if their names say so.

#[cfg(not(feature = "full"))]
mod no_tables;
#[cfg(feature = "full")]
mod tables;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use uriscan::pipeline::ClassRows;

use crate::config::{Config, SideFiles};
use crate::exit::Failure;
use crate::output::Output;
#[cfg(not(feature = "full"))]
use no_tables::Table;
#[cfg(feature = "full")]
use tables::Table;
#[cfg(feature = "full")]
pub(crate) use tables::of_pairs;

/// Which of `side` are tables, by their names.
///
/// # Errors
/// When one is to be a table that cannot be written.
pub(crate) fn rows(side: &SideFiles) -> Result<ClassRows, Failure> {
    Ok(ClassRows::default()
        .dupes(is_table(side.dupes.as_ref(), Table::format_of_dupes)?)
        .clusters(is_table(side.clusters.as_ref(), Table::format_of_clusters)?))
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
    #[cfg(feature = "full")]
    Table(Box<Table<'a>>),
}

/// The sinks of the files in `side`, of rejects, duplicates and clusters.
///
/// # Errors
/// When the beginning of a table cannot be written.
#[cfg_attr(not(feature = "full"), expect(unused_variables, reason = "there are only lines"))]
pub(crate) fn open<'a>(
    config: &Config,
    side: &'a mut [Option<Output>; 3],
) -> Result<[Option<Sink<'a>>; 3], Failure> {
    #[cfg(feature = "full")]
    {
        tables::open(config, side)
    }
    #[cfg(not(feature = "full"))]
    {
        Ok(side.each_mut().map(|file| file.as_mut().map(Sink::Lines)))
    }
}

/// Completes what is written, on so many threads; one per core if it is 0.
///
/// # Errors
/// When it cannot be written.
#[cfg_attr(not(feature = "full"), expect(unused_variables, reason = "lines are complete"))]
pub(crate) fn finish(side: [Option<Sink<'_>>; 3], threads: usize) -> io::Result<()> {
    #[cfg(feature = "full")]
    tables::finish(side, threads)?;
    Ok(())
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Lines(out) => out.write(bytes),
            #[cfg(feature = "full")]
            Sink::Table(table) => table.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Lines(out) => out.flush(),
            #[cfg(feature = "full")]
            Sink::Table(table) => table.flush(),
        }
    }
}
