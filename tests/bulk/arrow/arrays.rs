//! The same values as arrays of every type, and back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, Int8Array, LargeBinaryArray,
    LargeStringArray, StringArray, StringViewArray, UInt32Array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;

pub(crate) type Value = Option<Vec<u8>>;

/// The values, as far as their type can hold them.
pub(crate) fn values(texts: &[Option<&str>]) -> Vec<Value> {
    texts.iter().map(|text| text.map(|text| text.as_bytes().to_vec())).collect()
}

/// Arrays of all types with these `values`, some of them slices of longer ones, with the name of
/// each; those of text only if the values are text.
pub(crate) fn all(values: &[Value]) -> Vec<(String, ArrayRef)> {
    let bytes: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
    let mut arrays: Vec<(&str, ArrayRef)> = vec![
        ("binary", Arc::new(bytes.iter().copied().collect::<BinaryArray>())),
        ("large binary", Arc::new(bytes.iter().copied().collect::<LargeBinaryArray>())),
        ("binary view", Arc::new(bytes.iter().copied().collect::<BinaryViewArray>())),
        ("bytes under nulls", Arc::new(with_bytes_under_nulls(values))),
    ];
    let texts: Option<Vec<Option<&str>>> = bytes
        .iter()
        .map(|value| value.map_or(Some(None), |value| std::str::from_utf8(value).ok().map(Some)))
        .collect();
    if let Some(texts) = texts {
        arrays.push(("text", Arc::new(StringArray::from(texts.clone()))));
        arrays.push(("large text", Arc::new(LargeStringArray::from(texts.clone()))));
        arrays.push(("text view", Arc::new(StringViewArray::from(texts))));
    }
    let mut named: Vec<(String, ArrayRef)> = Vec::new();
    for (name, array) in arrays {
        named.push((format!("slice of {name}"), sliced(&array)));
        named.push((name.to_owned(), array));
    }
    named
}

/// The same values after and before others.
fn sliced(array: &ArrayRef) -> ArrayRef {
    let len = array.len();
    let around = arrow_select::concat::concat(&[
        &array.slice(0, len / 2),
        array,
        &array.slice(len / 2, len - len / 2),
    ]);
    around.unwrap().slice(len / 2, len)
}

/// An array with bytes in its null rows, as the format allows.
fn with_bytes_under_nulls(values: &[Value]) -> BinaryArray {
    let (mut bytes, mut offsets, mut is_valid) = (Vec::new(), vec![0], Vec::new());
    for value in values {
        bytes.extend_from_slice(value.as_deref().unwrap_or(b"http://\xFF null/"));
        offsets.push(bytes.len() as i32);
        is_valid.push(value.is_some());
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    BinaryArray::new(offsets, Buffer::from_vec(bytes), Some(NullBuffer::from(is_valid)))
}

/// Dictionaries with these `values`: with nulls among the keys, and with nulls among the values.
pub(crate) fn dictionaries(values: &[Value]) -> Vec<(String, ArrayRef)> {
    let mut distinct: Vec<&Value> = values.iter().collect();
    distinct.sort();
    distinct.dedup();
    let number = |value: &Value| distinct.iter().position(|known| *known == value).unwrap() as u32;
    let mut found: Vec<(String, ArrayRef)> = Vec::new();
    for (name, array) in all(&distinct.iter().map(|value| (*value).clone()).collect::<Vec<_>>()) {
        let keys = values.iter().map(|value| value.is_some().then(|| number(value)));
        let keys = keys.collect::<UInt32Array>();
        let keyed = DictionaryArray::<UInt32Type>::new(keys, array.clone());
        found.push((format!("dictionary of {name}, null keys"), Arc::new(keyed)));
        if distinct.len() < 128 {
            let keys = values.iter().map(|value| Some(number(value) as i8)).collect::<Int8Array>();
            let keyed = DictionaryArray::<Int8Type>::new(keys, array);
            found.push((format!("dictionary of {name}, null values"), Arc::new(keyed)));
        }
    }
    found
}

/// The values of an array of text of any type.
pub(crate) fn read(array: &dyn Array) -> Vec<Value> {
    let array: ArrayRef = match array.as_any_dictionary_opt() {
        Some(dictionary) => {
            arrow_select::take::take(dictionary.values(), dictionary.keys(), None).unwrap()
        }
        None => array.slice(0, array.len()),
    };
    let value = |row: usize| -> Vec<u8> {
        match array.data_type() {
            DataType::Utf8 => array.as_string::<i32>().value(row).into(),
            DataType::LargeUtf8 => array.as_string::<i64>().value(row).into(),
            DataType::Utf8View => array.as_string_view().value(row).into(),
            DataType::Binary => array.as_binary::<i32>().value(row).into(),
            DataType::LargeBinary => array.as_binary::<i64>().value(row).into(),
            DataType::BinaryView => array.as_binary_view().value(row).into(),
            DataType::FixedSizeBinary(16) => array.as_fixed_size_binary().value(row).into(),
            other => panic!("{other}"),
        }
    };
    (0..array.len()).map(|row| array.is_valid(row).then(|| value(row))).collect()
}
