//! The files of dropped duplicates and of classes: lines, or tables if their names say so, as the program writes them.

use std::io::Write;
use std::path::{Path, PathBuf};

use pyo3::PyResult;
use uriscan::Error;
use uriscan::set::Meaning;
use uriscan_bulk::pipeline::ClassSink;
use uriscan_table::{ClassTable, TableFormat};

use crate::arguments::wrong;
use crate::output::Output;

/// The formats of the two files; none for lines, and for a file that is not written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Formats {
    pub(crate) dupes: Option<TableFormat>,
    pub(crate) clusters: Option<TableFormat>,
}

impl Formats {
    /// Those that these names say.
    ///
    /// # Errors
    /// When one is that of a table that is not written.
    pub(crate) fn of(dupes: Option<&PathBuf>, clusters: Option<&PathBuf>) -> PyResult<Formats> {
        type Rule = fn(&Path) -> Result<Option<TableFormat>, Error>;
        let format = |path: Option<&PathBuf>, rule: Rule| {
            let Some(path) = path else { return Ok(None) };
            rule(path).map_err(|error| wrong(format!("{}: {error}", path.display())))
        };
        Ok(Formats {
            dupes: format(dupes, ClassTable::format_of_dupes)?,
            clusters: format(clusters, ClassTable::format_of_clusters)?,
        })
    }
}

/// What takes the lines or rows of such a file.
pub(crate) enum Sink<'a> {
    Lines(&'a mut Output),
    Table(Box<ClassTable<'a>>),
}

/// A table of one of the two kinds.
type Begin<'a> =
    fn(&'a mut (dyn Write + Send), TableFormat, &Meaning) -> Result<ClassTable<'a>, Error>;

impl<'a> Sink<'a> {
    /// The sink that writes to `file`: a table in `format` that begins with `begin`, whose keys have this meaning; or lines.
    ///
    /// # Errors
    /// When the beginning of a table cannot be written.
    pub(crate) fn new(
        file: &'a mut Output,
        format: Option<TableFormat>,
        begin: Begin<'a>,
        meaning: &Meaning,
    ) -> Result<Sink<'a>, Error> {
        Ok(match format {
            Some(format) => Sink::Table(Box::new(begin(file, format, meaning)?)),
            None => Sink::Lines(file),
        })
    }

    pub(crate) fn of_classes(&mut self) -> ClassSink<'_> {
        match self {
            Sink::Lines(file) => ClassSink::text(*file),
            Sink::Table(table) => ClassSink::rows(&mut **table),
        }
    }

    /// Completes what is written.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn finish(self) -> Result<(), Error> {
        match self {
            Sink::Lines(_) => Ok(()),
            Sink::Table(table) => table.finish(),
        }
    }
}
