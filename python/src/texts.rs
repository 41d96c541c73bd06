//! The bytes of values, whatever type of text a column has.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use uriscan::trimmed;

/// `array` without its dictionary, if it has one.
///
/// # Errors
/// Those of Arrow.
pub(crate) fn spelled_out(array: &ArrayRef) -> Result<ArrayRef, arrow_schema::ArrowError> {
    match array.as_any_dictionary_opt() {
        Some(dictionary) => arrow_select::take::take(dictionary.values(), dictionary.keys(), None),
        None => Ok(array.clone()),
    }
}

/// The bytes in `row` of `array`, which is of text and has no dictionary; `None` for null.
pub(crate) fn value(array: &dyn Array, row: usize) -> Option<&[u8]> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).as_bytes(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).as_bytes(),
        DataType::Utf8View => array.as_string_view().value(row).as_bytes(),
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        DataType::BinaryView => array.as_binary_view().value(row),
        _ => return None,
    })
}

/// The record in `row`: the value without the white space around it.
pub(crate) fn record(array: &dyn Array, row: usize) -> Option<&[u8]> {
    value(array, row).map(trimmed)
}

/// Whether values of this type are bytes, which may be other than UTF-8.
pub(crate) fn is_binary(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_binary(values),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        _ => false,
    }
}
