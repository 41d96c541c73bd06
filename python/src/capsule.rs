//! Arrow's C data interface, handed over in PyCapsules: the only file with `unsafe` code.
//!
//! Nothing is copied: an array is some pointers, and a function that gives back what they point to. What the
//! capsules say is believed, as by every other user of the interface
//! (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>).
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int};

use arrow_array::ffi::{FFI_ArrowArray, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, make_array};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// What arrow says, as an exception.
pub(crate) fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The array in these two capsules, which are empty afterwards.
///
/// # Errors
/// When they are not what their names say, or hold a type that arrow does not know.
pub(crate) fn take_array(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
) -> PyResult<ArrayRef> {
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: By their names the capsules hold these structs, which nobody else looks at while this thread is attached
    // to the interpreter; what is moved out is marked as released.
    let (schema, array) = unsafe {
        (FFI_ArrowSchema::from_raw(schema.as_ptr()), FFI_ArrowArray::from_raw(array.as_ptr()))
    };
    if array.is_released() || schema.release().is_none() {
        return Err(PyValueError::new_err("the array was taken out of its capsule before"));
    }
    // SAFETY: Who makes such a capsule promises that array and schema agree.
    let data = unsafe { from_ffi(array, &schema) }.map_err(refused)?;
    Ok(make_array(data))
}

/// What reads the arrays of the stream in this capsule, which is empty afterwards.
///
/// # Errors
/// When it is not what its name says, or the stream does not give its type.
pub(crate) fn take_stream(stream: &Bound<'_, PyCapsule>) -> PyResult<ArrayStreamReader> {
    let stream = stream.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: As in `take_array`.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    ArrayStreamReader::try_new(stream).map_err(refused)
}

/// Any value may be null, and a column has no name.
fn schema_of(data_type: &DataType) -> Result<FFI_ArrowSchema, ArrowError> {
    FFI_ArrowSchema::try_from(Field::new("", data_type.clone(), true))
}

/// A capsule with this type.
///
/// # Errors
/// When the type has no form in the interface.
pub(crate) fn give_schema<'py>(
    py: Python<'py>,
    data_type: &DataType,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, schema_of(data_type).map_err(refused)?, SCHEMA)
}

/// A capsule with this array; it keeps what the array points to.
///
/// # Errors
/// When no capsule can be made.
pub(crate) fn give_array<'py>(
    py: Python<'py>,
    array: &dyn Array,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArray::new(&array.to_data()), ARRAY)
}

/// A capsule with a stream of these arrays, all of this type.
///
/// # Errors
/// When no capsule can be made.
pub(crate) fn give_stream<'py>(
    py: Python<'py>,
    data_type: &DataType,
    arrays: &[ArrayRef],
) -> PyResult<Bound<'py, PyCapsule>> {
    let rest = Box::new(Rest { data_type: data_type.clone(), arrays: arrays.to_vec().into() });
    // SAFETY: The callbacks below expect a `Rest` behind the private pointer, and `release` frees it once.
    let stream = unsafe {
        FFI_ArrowArrayStream::new_unchecked(
            Some(get_schema),
            Some(get_next),
            Some(get_last_error),
            Some(release),
            Box::into_raw(rest).cast(),
        )
    };
    PyCapsule::new_with_value(py, stream, STREAM)
}

/// What a stream has still to give.
struct Rest {
    data_type: DataType,
    arrays: VecDeque<ArrayRef>,
}

/// `EINVAL`, which is the same number wherever there is one.
const INVALID: c_int = 22;

unsafe extern "C" fn get_schema(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowSchema,
) -> c_int {
    // SAFETY: Called with a stream of ours that was not released, so its `Rest` is there.
    let rest = unsafe { &*(*stream).private_data().cast::<Rest>() };
    match schema_of(&rest.data_type) {
        Ok(schema) => {
            // SAFETY: `out` is room for a schema; what stood there is nobody's, and is not dropped.
            unsafe { out.write(schema) };
            0
        }
        Err(_) => INVALID,
    }
}

unsafe extern "C" fn get_next(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowArray,
) -> c_int {
    // SAFETY: As in `get_schema`; and a stream is not used by two threads at once.
    let rest = unsafe { &mut *(*stream).private_data().cast::<Rest>() };
    // An empty struct, which counts as released, is the end.
    let next = rest.arrays.pop_front();
    let next =
        next.map_or_else(FFI_ArrowArray::empty, |array| FFI_ArrowArray::new(&array.to_data()));
    // SAFETY: As in `get_schema`.
    unsafe { out.write(next) };
    0
}

/// There is nothing to say but the number.
unsafe extern "C" fn get_last_error(_: *mut FFI_ArrowArrayStream) -> *const c_char {
    std::ptr::null()
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: Called once, with a stream that `give_stream` made; afterwards it is marked as released.
    unsafe {
        drop(Box::from_raw((*stream).private_data().cast::<Rest>()));
        (*stream).set_private_data(std::ptr::null_mut());
        (*stream).set_release(None);
    }
}
