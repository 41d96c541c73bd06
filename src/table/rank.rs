//! Which of two rows of a class is kept.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::TableError;
use crate::arrow::{each_value, spelled_out};
use crate::pipeline::Keep;

/// Which row of a class is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeepRow {
    /// Chosen by its URI.
    Uri(Keep),
    /// The first one with the least value in the column of this name. Null and NaN come last.
    Least(String),
    /// The first one with the greatest value there. Here too, null and NaN come last.
    Greatest(String),
}

/// A value of the deciding column.
enum Rank {
    Number(i128),
    Bytes(Box<[u8]>),
}

impl KeepRow {
    /// The deciding column, if it is not that of the URIs.
    pub(super) fn column(&self) -> Option<&str> {
        match self {
            KeepRow::Uri(_) => None,
            KeepRow::Least(column) | KeepRow::Greatest(column) => Some(column),
        }
    }

    /// Which record of a class is kept, with the values of the deciding column as sort keys ([`KeepRow::sort_keys`]).
    pub(super) fn keep(&self) -> Keep {
        match self {
            KeepRow::Uri(keep) => *keep,
            KeepRow::Least(_) => Keep::Min,
            KeepRow::Greatest(_) => Keep::Max,
        }
    }

    /// For each value of `array`, the deciding column, bytes that compare as the values do; null and NaN are never preferred.
    pub(super) fn sort_keys(&self, array: &ArrayRef) -> Result<Vec<Vec<u8>>, TableError> {
        let is_least = matches!(self, KeepRow::Least(_));
        let key = |rank: Option<Rank>| {
            let mut key = vec![u8::from(rank.is_some() != is_least)];
            match rank {
                None => {}
                Some(Rank::Number(number)) => {
                    key.extend((number.cast_unsigned() ^ 1 << 127).to_be_bytes());
                }
                Some(Rank::Bytes(bytes)) => key.extend_from_slice(&bytes),
            }
            key
        };
        Ok(ranks(array)?.into_iter().map(key).collect())
    }
}

/// The values of `array` as ranks.
fn ranks(array: &ArrayRef) -> Result<Vec<Option<Rank>>, TableError> {
    let array = spelled_out(array)?;
    let number = |row: usize, number: i128| array.is_valid(row).then_some(Rank::Number(number));
    let data = array.to_data();
    /// The numbers of a buffer of the array, by their width.
    macro_rules! numbers {
        ($kind:ty) => {
            Ok(data.buffer::<$kind>(0)[..array.len()]
                .iter()
                .enumerate()
                .map(|(row, &value)| number(row, i128::from(value)))
                .collect())
        };
    }
    match array.data_type() {
        DataType::Int8 => numbers!(i8),
        DataType::Int16 => numbers!(i16),
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => numbers!(i32),
        DataType::Int64
        | DataType::Date64
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Duration(_) => numbers!(i64),
        DataType::UInt8 => numbers!(u8),
        DataType::UInt16 => numbers!(u16),
        DataType::UInt32 => numbers!(u32),
        DataType::UInt64 => numbers!(u64),
        DataType::Decimal128(..) => numbers!(i128),
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>().iter();
            Ok(values.map(|value| float(f64::from(value?))).collect())
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().iter();
            Ok(values.map(|value| float(value?)).collect())
        }
        DataType::Boolean => {
            let values = array.as_boolean().iter();
            Ok(values.map(|value| Some(Rank::Number(i128::from(value?)))).collect())
        }
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView => {
            Ok(each_value(&array).map(|value| Some(Rank::Bytes(value?.into()))).collect())
        }
        other => {
            Err(TableError::Format(format!("a column of type {other} has no order to keep by")))
        }
    }
}

/// The rank of a double: its bits, mapped so that they compare as the numbers do; both zeros have the same rank.
fn float(value: f64) -> Option<Rank> {
    let bits = (value + 0.0).to_bits().cast_signed();
    let ordered = if bits < 0 { bits ^ i64::MAX } else { bits };
    (!value.is_nan()).then_some(Rank::Number(i128::from(ordered)))
}
