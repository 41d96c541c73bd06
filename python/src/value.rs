//! Single values, from Python to arrays and back.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, LargeBinaryArray, LargeStringArray};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use std::sync::Arc;

/// Rows after which Python looks for signals.
pub(crate) const ROWS: usize = 1 << 16;

/// The value in `row` of `array`: `None`, `str`, `bytes`, `bool`, `int`, a `dict` or a `list`.
///
/// # Errors
/// For types that no kernel gives or takes.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    array: &dyn Array,
    row: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    let text = |text: &str| PyString::new(py, text).into_any();
    let bytes = |bytes: &[u8]| PyBytes::new(py, bytes).into_any();
    Ok(match array.data_type() {
        DataType::Utf8 => text(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => text(array.as_string::<i64>().value(row)),
        DataType::Utf8View => text(array.as_string_view().value(row)),
        DataType::Binary => bytes(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => bytes(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => bytes(array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().value(row)),
        DataType::Boolean => array.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any(),
        DataType::UInt32 => {
            array.as_primitive::<UInt32Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Int64 => {
            array.as_primitive::<Int64Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::UInt64 => {
            array.as_primitive::<UInt64Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Struct(fields) => {
            let members = PyDict::new(py);
            for (field, column) in fields.iter().zip(array.as_struct().columns()) {
                members.set_item(field.name(), to_python(py, column, row)?)?;
            }
            members.into_any()
        }
        DataType::List(_) => all(py, &array.as_list::<i32>().value(row))?.into_any(),
        DataType::LargeList(_) => all(py, &array.as_list::<i64>().value(row))?.into_any(),
        DataType::Dictionary(..) => {
            // All keys of what it is asked of are made ready: of this row only.
            let one = array.slice(row, 1);
            let dictionary = one.as_any_dictionary();
            to_python(py, dictionary.values(), dictionary.normalized_keys()[0])?
        }
        other => {
            return Err(PyTypeError::new_err(format!("values of {other} are not known here")));
        }
    })
}

/// All values of `array`.
///
/// # Errors
/// As [`to_python`].
pub(crate) fn all<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyList>> {
    let values = (0..array.len()).map(|row| to_python(py, array, row));
    PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
}

/// An array of what `values` iterates over: `str` and `None`, or `bytes` and `None`.
///
/// # Errors
/// When it does not iterate, or there is something else in it.
pub(crate) fn array_of(values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let needed = |_| {
        let found = values
            .get_type()
            .qualname()
            .map_or_else(|_| "this".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("a column, a list or one str is needed, not {found}"))
    };
    let py = values.py();
    let mut given = Vec::new();
    for value in values.try_iter().map_err(needed)? {
        if given.len() % ROWS == 0 {
            py.check_signals()?;
        }
        given.push(value?);
    }
    let values = given;
    let is_bytes = values
        .iter()
        .find(|value| !value.is_none())
        .is_some_and(|value| value.is_instance_of::<PyBytes>());
    let wrong = |row: usize, value: &Bound<'_, PyAny>| {
        let expected = if is_bytes { "bytes" } else { "str" };
        let found = value.get_type();
        let found = found.qualname().map_or_else(|_| "that".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("row {row}: {expected} or None is needed, not {found}"))
    };
    if is_bytes {
        let value = |(row, value): (usize, &Bound<'_, PyAny>)| {
            value.extract::<Option<PyBackedBytes>>().map_err(|_| wrong(row, value))
        };
        let values = values.iter().enumerate().map(value).collect::<PyResult<Vec<_>>>()?;
        return Ok(Arc::new(LargeBinaryArray::from_iter(values)));
    }
    let value = |(row, value): (usize, &Bound<'_, PyAny>)| {
        if value.is_none() {
            return Ok(None);
        }
        let text = value.cast::<PyString>().map_err(|_| wrong(row, value))?;
        // Fails where there are halves of surrogate pairs.
        PyBackedStr::try_from(text.clone()).map(Some)
    };
    let values = values.iter().enumerate().map(value).collect::<PyResult<Vec<_>>>()?;
    Ok(Arc::new(LargeStringArray::from_iter(values)))
}
