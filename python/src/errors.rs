//! Errors of the library as exceptions of the package.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use uriscan::arrow::ColumnError;
use uriscan::set::{Fault, SetError};

/// The exception called `name` of `uriscan._errors`, made of `arguments`.
fn exception<'py>(
    py: Python<'py>,
    name: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyErr {
    let made = py.import("uriscan._errors").and_then(|module| module.call_method1(name, arguments));
    made.map_or_else(|error| error, PyErr::from_value)
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
        Fault::NotASet => "not-a-set",
        Fault::Exists => "exists",
        Fault::NotEmpty => "not-empty",
        Fault::NotRegular => "not-regular",
        Fault::Outdated | Fault::Version(_) => "version",
        Fault::Damaged { .. } => "damaged",
        Fault::Differs(_) => "differs",
        Fault::Busy => "busy",
        _ => "set",
    };
    exception(py, "SetError", (error.to_string(), kind, error.path.clone()))
}
