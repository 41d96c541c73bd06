//! Which of two rows of a class is kept.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::DataType;

use uriscan_arrow::each_value;
use uriscan_bulk::error::Error;
use uriscan_bulk::pipeline::Keep;
use uriscan_core::row::decimal;

/// Which row of a class is kept. The deciding column is named as [`crate::Job::column`] is; the first row with the best value is kept, and
/// null and NaN are never preferred to another value. Numbers, dates and times are compared by value, and text by its bytes; but in
/// CSV, TSV and JSON lines, text that is a decimal number is compared as that number, exactly, and is less than other text, and
/// empty text is null.
///
/// ```
/// use uriscan_arrow::Columns;
/// use uriscan_table::{ByClass, Input, Job, KeepRow, TableFormat, Task, run};
/// let by = ByClass::new(KeepRow::Greatest("page.n".to_owned()), std::env::temp_dir());
/// let job = Job::new("url", Task::Classes(by), Columns::default(), TableFormat::Jsonl);
/// let lines = "{\"url\":\"http://h\",\"page\":{\"n\":9}}\n{\"url\":\"http://h/\",\"page\":{\"n\":\"10\"}}\n";
/// let mut out = Vec::new();
/// run(vec![Input::stream("list", TableFormat::Jsonl, lines.as_bytes())], &job, &mut out, None).unwrap();
/// assert_eq!(out, b"{\"url\":\"http://h/\",\"page\":{\"n\":\"10\"}}\n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeepRow {
    /// Chosen by its URI.
    Uri(Keep),
    /// The first one with the least value in this column.
    Least(String),
    /// The first one with the greatest value there.
    Greatest(String),
}

impl KeepRow {
    /// The deciding column, if it is not that of the URIs.
    pub(crate) fn column(&self) -> Option<&str> {
        match self {
            KeepRow::Uri(_) => None,
            KeepRow::Least(column) | KeepRow::Greatest(column) => Some(column),
        }
    }

    /// Which record of a class is kept, with the values of the deciding column as sort keys ([`KeepRow::sort_keys`]).
    pub(crate) fn keep(&self) -> Keep {
        match self {
            KeepRow::Uri(keep) => *keep,
            KeepRow::Least(_) => Keep::Min,
            KeepRow::Greatest(_) => Keep::Max,
        }
    }

    /// For each value of `array`, the deciding column, bytes that compare as the values do; null and NaN are never preferred. In a table that is not
    /// `is_typed`, text may be a number, or null.
    pub(crate) fn sort_keys(
        &self,
        array: &ArrayRef,
        is_typed: bool,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let is_least = matches!(self, KeepRow::Least(_));
        let key = |rank: Option<Vec<u8>>| {
            [&[u8::from(rank.is_some() != is_least)], &*rank.unwrap_or_default()].concat()
        };
        Ok(ranks(array, is_typed)?.into_iter().map(key).collect())
    }
}

/// How many texts in `array` may be meant to have another order than that of their bytes, by which they are compared: those with digits
/// that are neither a number nor a date with the year first, and numbers in a table that `is_typed`.
pub(crate) fn texts_of_other_order(array: &ArrayRef, is_typed: bool) -> u64 {
    if !matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
        return 0;
    }
    let is_plain = |text: &[u8]| {
        let key = decimal::key(text)?;
        let is_number = !key.starts_with(&decimal::of_text(b""));
        Some(is_typed && is_number || decimal::has_other_order(&key, text))
    };
    each_value(array).filter(|value| value.and_then(is_plain) == Some(true)).count() as u64
}

/// Whether values of this type, which may be one of dictionaries, have an order.
pub(crate) fn has_order(of: &DataType) -> bool {
    let plain = match of {
        DataType::Dictionary(_, value) => value,
        other => other,
    };
    ranks(&arrow_array::new_empty_array(plain), true).is_ok()
}

/// The text of a member of JSON that is written as `text`, as CSV would have it.
///
/// # Errors
/// What is wrong, if it is an object or an array.
pub(crate) fn text_of_member(text: &str) -> Result<String, &'static str> {
    match text.as_bytes().first() {
        Some(b'{') => Err(
            "is an object, which has no order to keep by; a path such as a.b leads to a member of it",
        ),
        Some(b'[') => Err(
            "is an array, which has no order to keep by; a path such as a.1 leads to a value of it",
        ),
        // One with an unpaired surrogate stays as it is written.
        _ => Ok(serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned())),
    }
}

/// Bytes that compare as the values of `array` do, which is not a dictionary.
fn ranks(array: &ArrayRef, is_typed: bool) -> Result<Vec<Option<Vec<u8>>>, Error> {
    let whole = |of: &DataType| {
        of.is_integer()
            || of.is_temporal() && !matches!(of, DataType::Interval(_))
            || *of == DataType::Boolean
    };
    match array.data_type() {
        DataType::Null => Ok((0..array.len()).map(|_| None).collect()),
        DataType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>().iter();
            Ok(values.map(|value| Some(number(value?.into()))).collect())
        }
        of if whole(of) => {
            let values = cast(array, &DataType::Int64)?;
            let values = values.as_primitive::<Int64Type>().iter();
            Ok(values.map(|value| Some(number(value?.into()))).collect())
        }
        DataType::Decimal128(..) => {
            let values = array.as_primitive::<Decimal128Type>().iter();
            Ok(values.map(|value| Some(number(value?))).collect())
        }
        DataType::Decimal256(..) => {
            let values = array.as_primitive::<Decimal256Type>();
            let text = |row| decimal::key(values.value_as_string(row).as_bytes());
            let key = |row| values.is_valid(row).then(|| text(row)).flatten();
            Ok((0..values.len()).map(key).collect())
        }
        of if of.is_floating() => {
            let values = cast(array, &DataType::Float64)?;
            let values = values.as_primitive::<Float64Type>().iter();
            Ok(values.map(|value| float(value?)).collect())
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let text = |text: &[u8]| match is_typed {
                true => Some(decimal::of_text(text)),
                false => decimal::key(text),
            };
            let key = |value: Option<&[u8]>| text(value?);
            Ok(each_value(array).map(key).collect())
        }
        DataType::FixedSizeBinary(_) => {
            let values = array.as_fixed_size_binary().iter();
            Ok(values.map(|value| Some(value?.into())).collect())
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            Ok(each_value(array).map(|value| Some(value?.into())).collect())
        }
        other => {
            Err(Error::unsupported(format!("a column of type {other} has no order to keep by")))
        }
    }
}

fn number(value: i128) -> Vec<u8> {
    (value.cast_unsigned() ^ 1 << 127).to_be_bytes().into()
}

/// The rank of a double: its bits, mapped so that they compare as the numbers do; both zeros have the same rank.
fn float(value: f64) -> Option<Vec<u8>> {
    let bits = (value + 0.0).to_bits().cast_signed();
    let ordered = if bits < 0 { bits ^ i64::MAX } else { bits };
    (!value.is_nan()).then(|| number(ordered.into()))
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;
    use crate::{ByClass, Input, Job, TableFormat, Task, run};
    use uriscan_arrow::Columns;
    use uriscan_bulk::pipeline::MemoryLimit;
    use uriscan_core::row::decimal;

    /// Numbers in many spellings, and texts that are none.
    const TEXTS: [&str; 20] = [
        "9",
        "10",
        "-9",
        "-10",
        "0",
        "-0",
        ".5",
        "0.5",
        "5e-1",
        "1e3",
        "1000",
        "999.999",
        "-1e-3",
        "",
        "NaN",
        "inf",
        "-Infinity",
        "abc",
        "9007199254740993",
        "9007199254740992",
    ];

    /// How two texts compare; `None` if one of them is as good as null.
    fn compared(one: &str, other: &str) -> Option<Ordering> {
        Some(decimal::key(one.as_bytes())?.cmp(&decimal::key(other.as_bytes())?))
    }

    /// Rows of so many classes, with a text of [`TEXTS`] each.
    fn rows() -> Vec<(usize, &'static str)> {
        (0..4_000).map(|i| (i * 7_919 % 401, TEXTS[i * i * 31 % 7_919 % TEXTS.len()])).collect()
    }

    /// The rows that are kept, the slow way.
    fn expected(rows: &[(usize, &str)], wanted: Ordering) -> Vec<usize> {
        let is_null = |text: &str| compared(text, "0").is_none();
        let mut kept = std::collections::BTreeMap::new();
        for (row, (class, text)) in rows.iter().enumerate() {
            let best = kept.entry(class).or_insert(row);
            let old = rows[*best].1;
            if compared(text, old) == Some(wanted) || (is_null(old) && !is_null(text)) {
                *best = row;
            }
        }
        let mut kept: Vec<usize> = kept.into_values().collect();
        kept.sort_unstable();
        kept
    }

    #[test]
    fn numbers_in_text_decide_as_numbers_in_all_text_formats() {
        let dir = tempfile::tempdir().unwrap();
        let rows = rows();
        let url = |class: usize, i: usize| match i % 2 {
            0 => format!("HTTP://h{class}"),
            _ => format!("http://h{class}/"),
        };
        let csv = |quote: &str, end: &str| {
            let line = |(i, (class, text)): (usize, &(usize, &str))| {
                format!("{i}{end}{}{end}{quote}{text}{quote}\n", url(*class, i))
            };
            format!("i{end}u{end}a.b\n") + &rows.iter().enumerate().map(line).collect::<String>()
        };
        let json = |(i, (class, text)): (usize, &(usize, &str))| {
            // Numbers as such, and strings.
            let is_number = serde_json::from_str::<serde_json::Number>(text).is_ok();
            let value = match is_number && i % 3 > 0 {
                true => (*text).to_owned(),
                false => serde_json::to_string(text).unwrap(),
            };
            format!("{{\"i\":{i},\"u\":\"{}\",\"a\":{{\"b\":{value}}}}}\n", url(*class, i))
        };
        let lines: String = rows.iter().enumerate().map(json).collect();
        let tables = [
            (TableFormat::Csv, "a.b", csv("\"", ",")),
            (TableFormat::Csv, "3", csv("\"", ",")),
            (TableFormat::Jsonl, "a.b", lines),
        ];
        for (is_max, wanted) in [(true, Ordering::Greater), (false, Ordering::Less)] {
            let expected = expected(&rows, wanted);
            for (format, column, text) in &tables {
                let column = (*column).to_owned();
                let keep = if is_max { KeepRow::Greatest(column) } else { KeepRow::Least(column) };
                let task = Task::Classes(ByClass::new(keep, dir.path()));
                let mut job = Job::new("u", task, Columns::default(), *format);
                for (batch_rows, bytes) in [(1 << 13, None), (7, None), (100, Some(0))] {
                    job.batch_rows = batch_rows;
                    let limit = MemoryLimit::new(1 << 20, dir.path());
                    job.limit = bytes.map(|it| limit.set_bytes(it));
                    let input = std::io::Cursor::new(text.clone());
                    let mut out = Vec::new();
                    run(vec![Input::stream("t", *format, input)], &job, &mut out, None).unwrap();
                    let numbers = String::from_utf8(out).unwrap();
                    let number = |line: &str| {
                        let digits = line.trim_start_matches("{\"i\":").split(',').next().unwrap();
                        digits.parse::<usize>().ok()
                    };
                    let found: Vec<usize> = numbers.lines().filter_map(number).collect();
                    assert!(found == expected, "{format:?} {is_max} {batch_rows} {bytes:?}");
                }
            }
        }
    }
}
