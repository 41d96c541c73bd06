//! Errors of the library as exceptions of the package.

use std::any::Any;
use std::io;
use std::path::Path;

use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use uriscan::arrow::ColumnError;
use uriscan::set::{Fault, SetError};
use uriscan::table::TableError;

/// The exception called `name` of `uriscan._errors`, made of `arguments`.
fn exception<'py>(
    py: Python<'py>,
    name: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyErr {
    let made = py.import("uriscan._errors").and_then(|module| module.call_method1(name, arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The exception for `panic`, a fault of the input that nothing has foreseen, or of ours.
pub(crate) fn of_panic(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    exception(
        py,
        "InternalError",
        (format!("the input is damaged, or uriscan has a fault: {text}"),),
    )
}

/// The exception for a column that is damaged.
pub(crate) fn damaged(py: Python<'_>, what: &str) -> PyErr {
    exception(py, "InternalError", (format!("the column is damaged: {what}"),))
}

/// `error`, found in an array that begins at `row` of its column.
pub(crate) fn of_column(py: Python<'_>, error: ColumnError, row: usize) -> PyErr {
    match error {
        ColumnError::Invalid { row: at_row, error } => {
            let row = row + at_row;
            let message = format!("row {row}: {error}");
            exception(py, "UriError", (message, error.kind.name(), error.at, row))
        }
        ColumnError::Type(_) => PyTypeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

pub(crate) fn of_set(py: Python<'_>, error: &SetError) -> PyErr {
    let kind = match error.fault {
        Fault::Io(_) => "io",
        Fault::Absent | Fault::Empty { .. } | Fault::NotASet { .. } => "not-a-set",
        Fault::Exists => "exists",
        Fault::NotEmpty => "not-empty",
        Fault::NotRegular => "not-regular",
        Fault::Version(_) => "version",
        Fault::Damaged { .. } => "damaged",
        Fault::Differs(_) => "differs",
        Fault::Busy => "busy",
        _ => "set",
    };
    exception(py, "SetError", (error.to_string(), kind, error.path.clone()))
}

/// `error` of a run whose results go to `output`.
pub(crate) fn of_table(py: Python<'_>, error: TableError, output: &Path) -> PyErr {
    let text = error.to_string();
    match error {
        TableError::Invalid { table, row, error } => {
            // Rows of tables are counted from 1 there, and from 0 here.
            let row = row.saturating_sub(1);
            let message = format!("{table}: row {row}: {error}");
            exception(py, "UriError", (message, error.kind.name(), error.at, row))
        }
        TableError::Work(error) => of_column(py, error, 0),
        TableError::Set(error) => of_set(py, &error),
        TableError::Write(error) => of_system(&error, output),
        TableError::Spill(_) => PyOSError::new_err(text),
        TableError::Partition { .. } => {
            PyValueError::new_err(format!("{text}; hive=False takes that of the file"))
        }
        TableError::Exists { .. } => {
            PyValueError::new_err(format!("{text}; into= gives the new one another name"))
        }
        _ => PyValueError::new_err(text),
    }
}

/// What the system says of the file at `path`.
fn of_system(error: &io::Error, path: &Path) -> PyErr {
    match error.raw_os_error() {
        // With a number, Python chooses the class and its text.
        Some(code) => {
            let text = error.to_string();
            let end = text.rfind(" (os error").unwrap_or(text.len());
            PyOSError::new_err((code, text[..end].to_owned(), path.display().to_string()))
        }
        None => PyOSError::new_err(format!("{}: {error}", path.display())),
    }
}
