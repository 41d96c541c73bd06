//! The other columns whose values must be equal for two rows to be duplicates.
//!
//! The key of a row is then made of the key of its URI and of these values, each with its length where that is not fixed by the
//! type of the column, so that what is hashed is different whenever a value is.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_cast::cast;
use arrow_schema::{DataType, Schema, SchemaRef};

use super::other::OtherColumn;
use crate::job::target::advice;
use uriscan_arrow::{Keyed, each_value, is_text};
use uriscan_bulk::error::Error;
use uriscan_core::key::Hasher;

/// The columns, and what makes keys of their values.
pub(crate) struct With {
    compared: Vec<OtherColumn>,
    /// Has secrets of its own: keys of URIs, which are hashed, depend on those of the run.
    hasher: Hasher,
}

impl With {
    /// The columns called `names` of the table `table` with the columns of `schema`; `None` for no
    /// names. Fails if there is no such column, or its values cannot be compared.
    pub(crate) fn new(
        names: &[String],
        table: &str,
        schema: &SchemaRef,
    ) -> Result<Option<With>, Error> {
        if names.is_empty() {
            return Ok(None);
        }
        let compared = names.iter().map(|name| column(name, table, schema));
        let compared = compared.collect::<Result<_, _>>()?;
        Ok(Some(With { compared, hasher: Hasher::random() }))
    }

    /// The first member that no line has had, although there were some.
    pub(crate) fn missing(&self) -> Option<&str> {
        self.compared.iter().find_map(OtherColumn::missing)
    }

    /// Makes the keys of `batch`, which so many rows of the table with this name precede, depend on
    /// the values of its columns. Fails if a line has a member twice.
    pub(crate) fn join(
        &mut self,
        place: (&str, u64),
        batch: &RecordBatch,
        keyed: &mut Keyed,
    ) -> Result<(), Error> {
        let values = self.compared.iter_mut().map(|column| column.values(place, batch, apart));
        let values = values.collect::<Result<Vec<_>, Error>>()?;
        let values = values.iter().map(Values::of).collect::<Result<Vec<_>, Error>>()?;
        let push = |row: usize, out: &mut Vec<u8>| {
            values.iter().for_each(|values| values.push(row, out));
        };
        keyed.join(&push, &self.hasher);
        Ok(())
    }
}

/// The member of JSON that is written as `text`: strings as they are decoded, after a quote, and what is not a string as it is written.
#[expect(clippy::unnecessary_wraps, reason = "others fail")]
fn apart(text: &str) -> Result<String, &'static str> {
    Ok(match serde_json::from_str::<String>(text) {
        Ok(string) => format!("\"{string}"),
        // Not a string, or one with an unpaired surrogate, which equals no other spelling of it.
        Err(_) => format!("={text}"),
    })
}

fn column(name: &str, table: &str, schema: &Schema) -> Result<OtherColumn, Error> {
    let column = OtherColumn::locate(name, table, schema)?;
    let OtherColumn::Column(target) = &column else { return Ok(column) };
    let found = target.data_type(schema);
    let plain = match found {
        DataType::Dictionary(_, value) => value,
        other => other,
    };
    match is_comparable(plain) {
        true => Ok(column),
        false => {
            let what = format!(
                "column {name} is {found}; rows are compared by text, bytes, numbers, booleans, dates and times{}",
                advice(name, found)
            );
            Err(Error::columns_of(table, what))
        }
    }
}

/// Whether values of this type have bytes that are the same for equal values.
fn is_comparable(of: &DataType) -> bool {
    let is_plain = matches!(of, DataType::Null | DataType::Boolean | DataType::FixedSizeBinary(_));
    is_plain || is_text(of) || of.primitive_width().is_some()
}

/// The values of a column in a batch.
struct Values<'a> {
    nulls: Option<NullBuffer>,
    bytes: Bytes<'a>,
}

enum Bytes<'a> {
    /// So many for each value.
    Fixed(Buffer, usize),
    Any(Vec<&'a [u8]>),
}

impl Values<'_> {
    /// The values of `array`, which is not a dictionary and of a type that is comparable.
    fn of(array: &ArrayRef) -> Result<Values<'_>, Error> {
        let bytes = match array.data_type() {
            DataType::Boolean => {
                let values = array.as_boolean().values().iter();
                Bytes::Fixed(Buffer::from_vec(values.map(u8::from).collect()), 1)
            }
            DataType::FixedSizeBinary(_) => {
                let values = array.as_fixed_size_binary();
                Bytes::Any((0..array.len()).map(|row| values.value(row)).collect())
            }
            other if other.is_floating() => {
                let values = cast(array, &DataType::Float64)?;
                let values = values.as_primitive::<Float64Type>().values();
                Bytes::Fixed(Buffer::from_vec(values.iter().map(|&value| bits(value)).collect()), 8)
            }
            other => match other.primitive_width() {
                Some(width) => {
                    let (data, len) = (array.to_data(), array.len() * width);
                    let start = data.offset() * width;
                    Bytes::Fixed(data.buffers()[0].slice_with_length(start, len), width)
                }
                None => Bytes::Any(each_value(array).map(Option::unwrap_or_default).collect()),
            },
        };
        Ok(Values { nulls: array.logical_nulls(), bytes })
    }

    /// Appends the value of `row`: what it is can be read from the bytes, and where they end.
    fn push(&self, row: usize, out: &mut Vec<u8>) {
        let is_null = self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        out.push(u8::from(!is_null));
        match &self.bytes {
            _ if is_null => {}
            Bytes::Fixed(values, width) => {
                out.extend_from_slice(&values[row * width..(row + 1) * width]);
            }
            Bytes::Any(values) => {
                out.extend_from_slice(&(values[row].len() as u64).to_le_bytes());
                out.extend_from_slice(values[row]);
            }
        }
    }
}

/// The bits of a floating-point number: both zeros are equal, and so is all that is not a number.
fn bits(value: f64) -> u64 {
    if value.is_nan() { u64::MAX } else { (value + 0.0).to_bits() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::{Float16Type, Int8Type};
    use arrow_array::{
        BinaryArray, BooleanArray, Decimal256Array, DictionaryArray, FixedSizeBinaryArray,
        Float32Array, Float64Array, Int8Array, Int64Array, IntervalMonthDayNanoArray,
        LargeStringArray, PrimitiveArray, StringArray, StringViewArray,
    };
    use arrow_buffer::{IntervalMonthDayNano, i256};

    use super::*;
    use uriscan_arrow::spelled_out;

    /// What is hashed of each row of `arrays`.
    fn pushed(arrays: &[ArrayRef]) -> Vec<Vec<u8>> {
        let values: Vec<Values> = arrays.iter().map(|array| Values::of(array).unwrap()).collect();
        let row = |row| {
            let mut out = Vec::new();
            values.iter().for_each(|values| values.push(row, &mut out));
            out
        };
        (0..arrays[0].len()).map(row).collect()
    }

    /// Checks that all values of `array` have different bytes, but the last ones, which are those at `again` once more; cut anywhere.
    fn check(array: impl Array + 'static, again: &[usize]) {
        let array: ArrayRef = Arc::new(array);
        assert!(is_comparable(array.data_type()), "{}", array.data_type());
        let distinct = array.len() - again.len();
        let all = pushed(std::slice::from_ref(&array));
        for (row, one) in all.iter().enumerate() {
            let same = if row < distinct { row } else { again[row - distinct] };
            let first = all.iter().position(|other| other == one).unwrap();
            assert_eq!(first, same, "{array:?} {row}");
        }
        for from in 0..array.len() {
            let cut = array.slice(from, array.len() - from);
            assert_eq!(pushed(&[cut]), all[from..], "{array:?} from {from}");
        }
    }

    #[test]
    fn numbers_are_equal_as_numbers_are() {
        let nan = f64::from_bits(0xFFF8_0000_0000_0001);
        let doubles = [None, Some(0.0), Some(1.5), Some(-1.5), Some(f64::NAN), Some(f64::INFINITY)];
        let more = [Some(f64::NEG_INFINITY), Some(f64::MIN_POSITIVE)];
        let again = [Some(-0.0), Some(nan), Some(-f64::NAN), None];
        let doubles: Float64Array = doubles.into_iter().chain(more).chain(again).collect();
        check(doubles, &[1, 4, 4, 0]);
        let floats =
            [None, Some(0.0), Some(f32::NAN), Some(f32::INFINITY), Some(f32::MIN_POSITIVE)];
        let again = [Some(-0.0), Some(f32::from_bits(0x7F80_0001)), None];
        check(floats.into_iter().chain(again).collect::<Float32Array>(), &[1, 2, 0]);
        let halves = [0u16, 0x7E00, 0x7C00, 0xFC00, 1, 0x8000, 0xFE01];
        let halves =
            halves.map(<Float16Type as arrow_array::ArrowPrimitiveType>::Native::from_bits);
        check(PrimitiveArray::<Float16Type>::from_iter_values(halves), &[0, 1]);
        check(Int8Array::from(vec![Some(0), None, Some(-1), Some(1), None, Some(0)]), &[1, 0]);
        check(Int64Array::from(vec![0, 1, 256, 1 << 32, i64::MIN, 256]), &[2]);
        let long = [i256::ZERO, i256::ONE, i256::MIN, i256::ONE];
        check(Decimal256Array::from_iter_values(long), &[1]);
        let spans = [(1, 0, 0), (0, 30, 0), (0, 0, 1), (0, 30, 0)];
        let spans = spans.map(|(m, d, n)| IntervalMonthDayNano::new(m, d, n));
        check(IntervalMonthDayNanoArray::from_iter_values(spans), &[1]);
        check(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]), &[0]);
    }

    #[test]
    fn text_and_bytes_are_equal_byte_by_byte() {
        let texts = [
            None,
            Some(""),
            Some("a"),
            Some("A"),
            Some(" a"),
            Some("a\0"),
            Some("longer than a view"),
            None,
            Some("a"),
        ];
        let again = [0, 2];
        check(StringArray::from(texts.to_vec()), &again);
        check(LargeStringArray::from(texts.to_vec()), &again);
        check(StringViewArray::from(texts.to_vec()), &again);
        let bytes = texts.map(|text| text.map(str::as_bytes)).to_vec();
        check(BinaryArray::from_opt_vec(bytes), &again);
        let fixed = [Some(b"ab"), None, Some(b"\0\0"), Some(b"ab")];
        let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(fixed.into_iter(), 2);
        check(fixed.unwrap(), &[0]);
    }

    #[test]
    fn columns_are_apart_from_each_other() {
        let one = [Some("a"), Some("ab"), Some(""), None, Some("abc"), None, Some("\x01")];
        let other = [Some("bc"), Some("c"), Some("abc"), Some("abc"), None, None, Some("")];
        let texts =
            |texts: &[Option<&str>]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
        let mut all = pushed(&[texts(&one), texts(&other)]);
        let rows = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), rows);
    }

    #[test]
    fn dictionaries_are_what_they_spell() {
        let values = Arc::new(StringArray::from(vec![Some("b"), None, Some("a"), Some("b")]));
        let keys = Int8Array::from(vec![Some(2), Some(0), None, Some(1), Some(3)]);
        let dictionary = DictionaryArray::<Int8Type>::new(keys, values);
        let plain: ArrayRef =
            Arc::new(StringArray::from(vec![Some("a"), Some("b"), None, None, Some("b")]));
        assert_eq!(pushed(&[spelled_out(&dictionary).unwrap()]), pushed(&[plain]));
    }
}
