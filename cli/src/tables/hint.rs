//! Hints about the column of URIs, where it is missing or holds none: which other one does.

use std::path::Path;

use uriscan::arrow::Columns;
use uriscan::pipeline::Report;
use uriscan::table::{self, TableError, TableFormat, Task};

use super::choice::TableUse;
use super::failure::failure;
use crate::exit::{Failure, eprint_line};
use crate::hint::typed;
use crate::inputs::Input;
use crate::plan::Plan;

/// Prints the column of the first table that holds URLs, or the path to them, if most values of the chosen one are not URIs.
pub(crate) fn print_hint(plan: &Plan, table: &TableUse, report: &Report) {
    let Some(Input::File(path)) = plan.inputs.first() else { return };
    if !plan.reporting.has_hints()
        || report.invalid.total() <= report.records / 2
        || !path.is_file()
    {
        return;
    }
    if let Some(other) = others(path, table).first() {
        eprint_line(format_args!(
            "uriscan: most values of column {} of {} are not URIs; column {other} has URLs. Try --column {}",
            table.column,
            path.display(),
            typed(other)
        ));
    }
}

/// The failure of a run because no line of the table `name` has the `member`.
pub(crate) fn missing_member(
    plan: &Plan,
    table: &TableUse,
    (name, member): (&str, &str),
) -> Failure {
    failure_of(
        TableError::Member { table: name.to_owned(), member: member.to_owned() },
        plan,
        table,
    )
}

/// The failure of a run because of `error`; if the column of URIs is missing, with the path to URLs within another one. Messages
/// name the other columns themselves.
pub(super) fn failure_of(error: TableError, plan: &Plan, table: &TableUse) -> Failure {
    let name = match &error {
        TableError::Column { table: name, column, .. } if *column == table.column => name,
        TableError::Member { table: name, .. } => name,
        _ => return failure(error),
    };
    let mut paths = plan.inputs.iter().filter_map(Input::path);
    let path = paths.find(|path| path.display().to_string() == *name && path.is_file());
    let others = path.map_or_else(Vec::new, |path| others(path, table));
    match others.iter().find(|other| other.contains('.')) {
        Some(other) => {
            let typed = typed(other);
            Failure::new(format!("{error}; column {other} has URLs: use --column {typed}"))
        }
        None => failure(error),
    }
}

/// The other columns of the table at `path`, and the paths to values in them, that have URLs.
fn others(path: &Path, table: &TableUse) -> Vec<String> {
    let input = table::Input::file(path, table.from);
    // In a format that makes columns of all members of JSON lines.
    let columns = Columns::default();
    let job = table::Job::new(&*table.column, Task::Copy, columns, TableFormat::Parquet);
    let job = job.dialect(table.dialect());
    let mut others = table::columns_of_urls(input, &job).unwrap_or_default();
    others.retain(|other| *other != table.column);
    others
}
