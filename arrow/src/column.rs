//! A column of text: the position of each of its values, whatever the type of the array.

use core::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::ByteArrayType;
use arrow_array::{Array, BinaryViewArray, GenericByteArray, StringViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::{Error, wrong_type};

/// The values of an array of text, without a copy.
pub(super) struct Column<'a> {
    values: Values<'a>,
    nulls: Option<&'a NullBuffer>,
    len: usize,
    /// How the array stores its values. The output is stored in the same way.
    pub(super) text_type: &'a DataType,
}

enum Values<'a> {
    /// Contiguous; value `i` reaches from the `i`th offset to the next one.
    Short {
        bytes: &'a [u8],
        offsets: &'a [i32],
    },
    Long {
        bytes: &'a [u8],
        offsets: &'a [i64],
    },
    /// Anywhere.
    Views(&'a BinaryViewArray),
    TextViews(&'a StringViewArray),
}

fn short<T: ByteArrayType<Offset = i32>>(array: &GenericByteArray<T>) -> Values<'_> {
    Values::Short { bytes: array.value_data(), offsets: array.value_offsets() }
}

fn long<T: ByteArrayType<Offset = i64>>(array: &GenericByteArray<T>) -> Values<'_> {
    Values::Long { bytes: array.value_data(), offsets: array.value_offsets() }
}

impl<'a> Column<'a> {
    pub(super) fn new(array: &'a dyn Array) -> Result<Column<'a>, Error> {
        let text_type = array.data_type();
        let values = match text_type {
            DataType::Utf8 => short(array.as_string::<i32>()),
            DataType::Binary => short(array.as_binary::<i32>()),
            DataType::LargeUtf8 => long(array.as_string::<i64>()),
            DataType::LargeBinary => long(array.as_binary::<i64>()),
            DataType::Utf8View => Values::TextViews(array.as_string_view()),
            DataType::BinaryView => Values::Views(array.as_binary_view()),
            other => return Err(wrong_type(other)),
        };
        Ok(Column { values, nulls: array.nulls(), len: array.len(), text_type })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    /// The value of `row`; meaningless where it is null.
    #[inline]
    pub(super) fn value(&self, row: usize) -> &'a [u8] {
        match self.values {
            Values::Short { bytes, offsets } => {
                &bytes[offsets[row] as usize..offsets[row + 1] as usize]
            }
            Values::Long { bytes, offsets } => {
                &bytes[offsets[row] as usize..offsets[row + 1] as usize]
            }
            Values::Views(array) => array.value(row),
            Values::TextViews(array) => array.value(row).as_bytes(),
        }
    }

    /// Length in bytes of the value of `row`, which may be null.
    pub(super) fn value_len(&self, row: usize) -> usize {
        // The low half of a view's first word.
        let of_view = |view: u128| view as u32 as usize;
        match self.values {
            Values::Short { offsets, .. } => (offsets[row + 1] - offsets[row]) as usize,
            Values::Long { offsets, .. } => (offsets[row + 1] - offsets[row]) as usize,
            Values::Views(array) => of_view(array.views()[row]),
            Values::TextViews(array) => of_view(array.views()[row]),
        }
    }

    /// The buffer that holds all values, and its range from the first of `rows` to the last one;
    /// `None` if they are not contiguous.
    pub(super) fn stretch(&self, rows: Range<usize>) -> Option<(&'a [u8], Range<usize>)> {
        match self.values {
            Values::Short { bytes, offsets } => {
                Some((bytes, offsets[rows.start] as usize..offsets[rows.end] as usize))
            }
            Values::Long { bytes, offsets } => {
                Some((bytes, offsets[rows.start] as usize..offsets[rows.end] as usize))
            }
            Values::Views(_) | Values::TextViews(_) => None,
        }
    }
}
