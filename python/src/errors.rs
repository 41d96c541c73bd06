//! Errors of the library as exceptions of the package.

use std::any::Any;
use std::io;
use std::path::Path;

use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use uriscan::set::{Fault, SetError};
use uriscan::{Error, ErrorKind};

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
pub(crate) fn of_column(py: Python<'_>, error: Error, row: usize) -> PyErr {
    of_run(py, error, row, Path::new(""))
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
pub(crate) fn of_table(py: Python<'_>, error: Error, output: &Path) -> PyErr {
    of_run(py, error, 0, output)
}

fn of_run(py: Python<'_>, error: Error, start: usize, output: &Path) -> PyErr {
    let text = error.to_string();
    if let (Some(uri), Some(row)) = (error.uri(), error.row()) {
        // Rows of tables are counted from 1 there, and from 0 here.
        let (row, message) = match error.source_name() {
            None => (row + start as u64, format!("row {}: {uri}", row + start as u64)),
            Some(table) => (row - 1, format!("{table}: row {}: {uri}", row - 1)),
        };
        return exception(py, "UriError", (message, uri.kind.name(), uri.at, row));
    }
    if let Some(error) = error.set() {
        return of_set(py, error);
    }
    match error.kind() {
        ErrorKind::Write => of_system(&error.into_io(), output),
        ErrorKind::Spill => PyOSError::new_err(text),
        ErrorKind::ColumnType => PyTypeError::new_err(text),
        ErrorKind::Partition => {
            PyValueError::new_err(format!("{text}; hive=False takes that of the file"))
        }
        ErrorKind::ColumnExists => {
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
