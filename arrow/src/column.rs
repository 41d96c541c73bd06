//! A column of text: the position of each of its values, whatever the type of the array.

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::{Error, wrong_type};

/// How an array of text stores its values. The output is stored in the same way as the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextType {
    Utf8,
    LargeUtf8,
    Utf8View,
    Binary,
    LargeBinary,
    BinaryView,
}

impl TextType {
    pub(super) fn of(data_type: &DataType) -> Option<TextType> {
        Some(match data_type {
            DataType::Utf8 => TextType::Utf8,
            DataType::LargeUtf8 => TextType::LargeUtf8,
            DataType::Utf8View => TextType::Utf8View,
            DataType::Binary => TextType::Binary,
            DataType::LargeBinary => TextType::LargeBinary,
            DataType::BinaryView => TextType::BinaryView,
            _ => return None,
        })
    }

    pub(super) fn data_type(self) -> DataType {
        match self {
            TextType::Utf8 => DataType::Utf8,
            TextType::LargeUtf8 => DataType::LargeUtf8,
            TextType::Utf8View => DataType::Utf8View,
            TextType::Binary => DataType::Binary,
            TextType::LargeBinary => DataType::LargeBinary,
            TextType::BinaryView => DataType::BinaryView,
        }
    }
}

/// The values of an array of text, without a copy.
pub(super) struct Column<'a> {
    values: Values<'a>,
    nulls: Option<&'a NullBuffer>,
    len: usize,
    pub(super) text_type: TextType,
}

/// Where the values are stored.
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
    Views(BinaryViewArray),
}

impl<'a> Column<'a> {
    pub(super) fn new(array: &'a dyn Array) -> Result<Column<'a>, Error> {
        let of_type = || wrong_type(array.data_type());
        let text_type = TextType::of(array.data_type()).ok_or_else(of_type)?;
        let values = match text_type {
            TextType::Utf8 => {
                let array = array.as_string::<i32>();
                Values::Short { bytes: array.value_data(), offsets: array.value_offsets() }
            }
            TextType::Binary => {
                let array = array.as_binary::<i32>();
                Values::Short { bytes: array.value_data(), offsets: array.value_offsets() }
            }
            TextType::LargeUtf8 => {
                let array = array.as_string::<i64>();
                Values::Long { bytes: array.value_data(), offsets: array.value_offsets() }
            }
            TextType::LargeBinary => {
                let array = array.as_binary::<i64>();
                Values::Long { bytes: array.value_data(), offsets: array.value_offsets() }
            }
            TextType::Utf8View => Values::Views(array.as_string_view().clone().to_binary_view()),
            TextType::BinaryView => Values::Views(array.as_binary_view().clone()),
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
    pub(super) fn value(&self, row: usize) -> &[u8] {
        match &self.values {
            Values::Views(array) => array.value(row),
            _ => {
                let (bytes, range) = self.stretch(row..row + 1).expect("values in a row");
                &bytes[range]
            }
        }
    }

    /// Length in bytes of the value of `row`, which may be null.
    pub(super) fn value_len(&self, row: usize) -> usize {
        match &self.values {
            Values::Short { offsets, .. } => (offsets[row + 1] - offsets[row]) as usize,
            Values::Long { offsets, .. } => (offsets[row + 1] - offsets[row]) as usize,
            // The low half of a view's first word.
            Values::Views(array) => array.views()[row] as u32 as usize,
        }
    }

    /// The buffer that holds all values, and its range from the first of `rows` to the last one;
    /// `None` if they are not contiguous.
    pub(super) fn stretch(
        &self,
        rows: core::ops::Range<usize>,
    ) -> Option<(&[u8], core::ops::Range<usize>)> {
        match &self.values {
            Values::Short { bytes, offsets } => {
                Some((bytes, offsets[rows.start] as usize..offsets[rows.end] as usize))
            }
            Values::Long { bytes, offsets } => {
                Some((bytes, offsets[rows.start] as usize..offsets[rows.end] as usize))
            }
            Values::Views(_) => None,
        }
    }
}
