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
    /// By its URI.
    Uri(Keep),
    /// The first one with the least value in the column of this name. Null and NaN are behind all others.
    Least(String),
    /// The first one with the greatest value there. Null and NaN are behind all others here, too.
    Greatest(String),
}

/// What rows are compared by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Number(i128),
    Bytes(Box<[u8]>),
}

impl KeepRow {
    /// The column that decides, if it is not that of the URIs.
    pub(super) fn column(&self) -> Option<&str> {
        match self {
            KeepRow::Uri(_) => None,
            KeepRow::Least(column) | KeepRow::Greatest(column) => Some(column),
        }
    }

    /// The ranks of the values of `array`, which is the column that decides; nothing where ranks do not.
    pub(super) fn ranks(&self, array: &ArrayRef) -> Result<Vec<Option<Rank>>, TableError> {
        let KeepRow::Uri(keep) = self else { return ranks(array) };
        let rank = |value: &[u8]| match keep {
            Keep::Shortest => Rank::Number(value.len() as i128),
            Keep::Https => {
                let is_https = value.get(..6).is_some_and(|s| s.eq_ignore_ascii_case(b"https:"));
                Rank::Number(i128::from(!is_https))
            }
            Keep::First | Keep::Last | Keep::Min | Keep::Max => Rank::Bytes(value.into()),
        };
        if matches!(keep, Keep::First | Keep::Last) {
            return Ok(Vec::new());
        }
        let values = spelled_out(array)?;
        Ok(each_value(&values).map(|value| value.map(|value| rank(trimmed(value)))).collect())
    }

    /// Whether a row of the rank `new` is kept and not the one before it, of the rank `old`.
    pub(super) fn prefers(&self, new: Option<&Rank>, old: Option<&Rank>) -> bool {
        let is_greatest = match self {
            KeepRow::Uri(Keep::First) => return false,
            KeepRow::Uri(Keep::Last) => return true,
            KeepRow::Uri(Keep::Max) | KeepRow::Greatest(_) => true,
            KeepRow::Uri(_) | KeepRow::Least(_) => false,
        };
        match (new, old) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(new), Some(old)) => {
                if is_greatest {
                    new > old
                } else {
                    new < old
                }
            }
        }
    }
}

/// A value without the white space around it, which is no part of a record.
fn trimmed(value: &[u8]) -> &[u8] {
    let is_text = |&byte: &u8| !matches!(byte, b' ' | b'\t'..=b'\r');
    let start = value.iter().position(is_text).unwrap_or(value.len());
    let end = value.iter().rposition(is_text).map_or(start, |last| last + 1);
    &value[start..end]
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
        other => Err(TableError::Format(format!("a column of {other} has no order to keep by"))),
    }
}

/// The rank of a double: its bits in the order of the numbers; zero has one rank.
fn float(value: f64) -> Option<Rank> {
    let bits = (value + 0.0).to_bits().cast_signed();
    let ordered = if bits < 0 { bits ^ i64::MAX } else { bits };
    (!value.is_nan()).then_some(Rank::Number(i128::from(ordered)))
}
