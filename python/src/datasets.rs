//! The files of datasets, as the program finds them.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use uriscan::{Error, ErrorKind};
use uriscan_table::TableFormat;
use uriscan_table::dataset::{Found, Partition, Selection};

use crate::arguments::wrong;

/// The tables below the directory `path`, or those that it selects as a pattern, each with its path below the root; `None` if it is
/// the name of a file. Without `any_name`, those with the name of a table only.
#[pyfunction]
pub(crate) fn find_tables(
    py: Python<'_>,
    path: PathBuf,
    any_name: bool,
) -> PyResult<Option<Vec<(PathBuf, PathBuf)>>> {
    let Some(selection) = Selection::of_path(&path, any_name) else { return Ok(None) };
    let found = named(&path, py.detach(|| selection.files()), any_name)?;
    let file = |below: PathBuf| (selection.root().join(&below), below);
    Ok(Some(found.files.into_iter().map(|file| file.below).map(file).collect()))
}

/// Which of the files at these paths below `root` belong to it, in the order of their paths: all of the directory, or those that
/// `pattern`, which continues `root`, selects.
#[pyfunction]
pub(crate) fn listed_tables(
    root: &str,
    pattern: &str,
    below: Vec<String>,
    any_name: bool,
) -> PyResult<Vec<String>> {
    let selection = match Selection::of_pattern(pattern, any_name) {
        Some(selection) => selection,
        None => Selection::of_directory("", any_name),
    };
    let found = selection.of_listing(below.into_iter().map(|name| (name, 0)));
    let path = Path::new(root).join(pattern);
    let found = found.map_err(|error| match error.source_name() {
        Some(".") => error.of_source(root),
        Some(table) if error.kind() == ErrorKind::Read => {
            let table = Path::new(root).join(table).display().to_string();
            error.of_source(table)
        }
        _ => error,
    });
    let names = named(&path, found, any_name)?.files.into_iter().map(|file| file.below);
    Ok(names.filter_map(|name| name.into_os_string().into_string().ok()).collect())
}

/// The columns in the names of the directories of `below`, a path below the root of a dataset, and their values.
#[pyfunction]
pub(crate) fn directory_columns(below: PathBuf) -> PyResult<Vec<(String, Option<String>)>> {
    let columns = partition(&below)?;
    Ok(columns.columns().map(|(name, value)| (name.to_owned(), value.map(str::to_owned))).collect())
}

/// The name of the format of the table at `path`, by its name.
#[pyfunction]
pub(crate) fn format_of(path: PathBuf) -> Option<&'static str> {
    TableFormat::of_path(&path).map(TableFormat::name)
}

pub(crate) fn partition(below: &Path) -> PyResult<Partition> {
    let wrong = |what| {
        let what =
            format!("{}: {what}; hive=False reads no columns from directories", below.display());
        wrong(what)
    };
    Partition::of_path(below).map_err(wrong)
}

/// The tables that were found at `path`.
fn named(path: &Path, found: Result<Found, Error>, any_name: bool) -> PyResult<Found> {
    let found = found.map_err(wrong)?;
    if !found.files.is_empty() {
        return Ok(found);
    }
    let skipped = match (found.skipped, any_name) {
        (0, _) => String::new(),
        (count, true) => format!("; {count} skipped: names with . or _ at the start"),
        (count, false) => format!(
            "; {count} skipped: names with . or _ at the start, and those that are not of tables (from_ reads any)"
        ),
    };
    let path = path.display();
    Err(PyFileNotFoundError::new_err(format!("{path}: no table was found{skipped}")))
}
