//! Hints about the column of URIs, where it is missing or holds none: which other one does.

use std::path::Path;

use uriscan::Error;
use uriscan::row::other_delimiter;
use uriscan_arrow::Columns;
use uriscan_table::{self, TableFormat, Task};

use super::choice::TableUse;
use crate::args::Dialect;
use crate::hint::typed;
use crate::inputs::Input;
use crate::plan::Plan;

/// What to say of a chosen column most of whose values are not URIs: the column of the first table that holds URLs, or the
/// path to them.
pub(crate) fn other_column(plan: &Plan, table: &TableUse) -> Option<String> {
    let Some(Input::File(path)) = plan.inputs.first() else { return None };
    let other = path.is_file().then(|| others(path, table)).into_iter().flatten().next()?;
    let (of, path, how) = (&table.column, path.display(), typed(&other));
    Some(format!(
        "most values of column {of} of {path} are not URIs; column {other} has URLs. Try --column {how}"
    ))
}

pub(crate) fn column_of(table: &TableUse) -> &str {
    &table.column
}

/// What is between the names of columns in the first line of `table`, whose file is at `path`, if that line has them.
pub(crate) fn header_separator(table: &TableUse, path: &Path) -> Option<u8> {
    let Dialect { no_header, delimiter, .. } = table.choice.dialect;
    match table.from.or_else(|| TableFormat::of_path(path))? {
        TableFormat::Csv if !no_header => Some(delimiter.unwrap_or(b',')),
        TableFormat::Tsv if !no_header => Some(b'\t'),
        _ => None,
    }
}

/// How to name the column of URIs where `error` says that it is missing: by a path to URLs, or with another delimiter. Messages name
/// the other columns themselves.
pub(crate) fn other_place(error: &Error, plan: &Plan, table: &TableUse) -> Option<String> {
    let name = error.source_name()?;
    if let Some(hint) = delimiter_hint(name, error.columns(), table) {
        return Some(hint);
    }
    if error.column() != Some(&table.column) {
        return None;
    }
    let mut paths = plan.inputs.iter().filter_map(Input::path);
    let path = paths.find(|path| path.display().to_string() == *name && path.is_file())?;
    let other = others(path, table).into_iter().find(|other| other.contains('.'))?;
    Some(format!("column {other} has URLs: use --column {}", typed(&other)))
}

/// The delimiter of CSV with which the header of the table called `name` has several names, if it has one long name.
fn delimiter_hint(name: &str, columns: &[String], table: &TableUse) -> Option<String> {
    let format = table.from.or_else(|| TableFormat::of_path(Path::new(name)));
    match columns {
        [column] if format == Some(TableFormat::Csv) => {
            other_delimiter(column.as_bytes(), table.choice.dialect.delimiter)
        }
        _ => None,
    }
}

/// The other columns of the table at `path`, and the paths to values in them, that have URLs.
fn others(path: &Path, table: &TableUse) -> Vec<String> {
    let input = uriscan_table::Input::file(path, table.from);
    // In a format that makes columns of all members of JSON lines.
    let columns = Columns::default();
    let job = uriscan_table::Job::new(&*table.column, Task::Copy, columns, TableFormat::Parquet);
    let job = job.dialect(table.dialect());
    let mut others = uriscan_table::columns_of_urls(input, &job).unwrap_or_default();
    others.retain(|other| *other != table.column);
    others
}
