//! Rows of a column in another order.

use std::sync::Arc;

use arrow_array::types::{BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{Array, ArrayRef, GenericByteArray, UInt64Array};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::DataType;
use rayon::prelude::*;

use super::{Column, Error};

/// Rows that a thread copies at a time.
const ROWS: usize = 16 << 10;

/// The values of `rows` of a column of text that is not a dictionary, in this order, as text of the same type. On the threads of the
/// current rayon pool.
///
/// ```
/// use arrow_array::{Array, StringArray, cast::AsArray};
/// let column = StringArray::from(vec![Some("a"), None, Some("c")]);
/// let gathered = uriscan_arrow::gather(&column, &[2, 0, 1]).unwrap();
/// let values: Vec<_> = gathered.as_string::<i32>().iter().collect();
/// assert_eq!(values, [Some("c"), Some("a"), None]);
/// ```
///
/// # Errors
/// For a column of another type, and for more bytes than one of its type holds.
///
/// # Panics
/// If a row is out of bounds.
pub fn gather(values: &dyn Array, rows: &[u64]) -> Result<ArrayRef, Error> {
    let column = &Column::new(values)?;
    let nulls = values.nulls().map(|nulls| {
        let are_valid = rows.iter().map(|&row| nulls.is_valid(row as usize));
        NullBuffer::from_iter(are_valid)
    });
    match values.data_type() {
        DataType::Utf8 => contiguous::<Utf8Type>(column, rows, nulls),
        DataType::Binary => contiguous::<BinaryType>(column, rows, nulls),
        DataType::LargeUtf8 => contiguous::<LargeUtf8Type>(column, rows, nulls),
        DataType::LargeBinary => contiguous::<LargeBinaryType>(column, rows, nulls),
        // Of views the bytes remain where they are.
        _ => Ok(arrow_select::take::take(values, &UInt64Array::from(rows.to_vec()), None)?),
    }
}

/// An array of offsets. Each thread writes to the places of its rows.
fn contiguous<T: ByteArrayType>(
    column: &Column<'_>,
    rows: &[u64],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, Error> {
    let value = |row: &u64| match *row as usize {
        row if column.is_null(row) => &[],
        row => column.value(row),
    };
    let lengths = rows.par_chunks(ROWS).map(|rows| rows.iter().map(|row| value(row).len()).sum());
    let lengths: Vec<usize> = lengths.collect();
    // Zeroed memory is first touched by the threads that fill it.
    let mut bytes = vec![0; lengths.iter().sum()];
    T::Offset::from_usize(bytes.len()).ok_or_else(Error::too_large)?;
    let mut offsets = vec![T::Offset::usize_as(0); rows.len() + 1];
    let mut places = Vec::with_capacity(lengths.len());
    let (mut rest, mut before) = (&mut bytes[..], 0);
    for (rows, len) in rows.chunks(ROWS).zip(&lengths) {
        let (place, more) = rest.split_at_mut(*len);
        places.push((rows, place, before));
        (rest, before) = (more, before + len);
    }
    let places = places.into_par_iter().zip(offsets[1..].par_chunks_mut(ROWS));
    places.for_each(|((rows, place, before), offsets)| {
        let mut end = 0;
        for (row, offset) in rows.iter().zip(offsets) {
            let (value, start) = (value(row), end);
            end += value.len();
            place[start..end].copy_from_slice(value);
            *offset = T::Offset::usize_as(before + end);
        }
    });
    let (offsets, bytes) = (OffsetBuffer::new(offsets.into()), Buffer::from_vec(bytes));
    Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, bytes, nulls)?))
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray, StringArray,
        StringViewArray,
    };

    use super::*;

    #[test]
    fn rows_are_those_that_arrow_takes() {
        let text = |row: usize| (!row.is_multiple_of(7)).then(|| "\u{e9}".repeat(row * 31 % 97));
        let texts = || (0..50_000).map(text);
        let bytes = || texts().map(|text| text.map(String::into_bytes));
        let columns: [ArrayRef; 7] = [
            Arc::new(StringArray::from_iter(texts())),
            Arc::new(LargeStringArray::from_iter(texts())),
            Arc::new(StringViewArray::from_iter(texts())),
            Arc::new(BinaryArray::from_iter(bytes())),
            Arc::new(LargeBinaryArray::from_iter(bytes())),
            Arc::new(BinaryViewArray::from_iter(bytes())),
            Arc::new(StringArray::from_iter_values(texts().flatten())),
        ];
        for column in columns {
            let column = column.slice(3, 40_000);
            for count in [0, 1, ROWS, 50_000] {
                let rows: Vec<u64> = (0..count as u64).map(|i| i * 7919 % 40_000).collect();
                let indices = UInt64Array::from(rows.clone());
                let taken = arrow_select::take::take(&column, &indices, None).unwrap();
                assert_eq!(&gather(&column, &rows).unwrap(), &taken, "{}", column.data_type());
            }
        }
        assert!(gather(&UInt64Array::from(vec![1]), &[0]).is_err());
    }
}
