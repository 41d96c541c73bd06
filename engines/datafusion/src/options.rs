//! Options of a call: a struct that is the same for all rows, such as `{'preset': 'crawl'}`.
//!
//! It is a struct, as in DuckDB, so that a query is the same text in both. DataFusion's named arguments (`preset => 'crawl'`) are
//! no substitute: none of the parameters before the last one given may be omitted.

use arrow::array::{Array, ArrayRef, StructArray};
use arrow::datatypes::DataType;
use datafusion_common::{Result, ScalarValue, exec_err};
use datafusion_expr::ColumnarValue;
use uriscan_arrow::OptionValue;

/// Options by their names.
pub(crate) type Options = Vec<(String, OptionValue)>;

/// The options in an argument; those that are null do not count.
///
/// # Errors
/// It is not a constant, not a struct, or a member is of a type that no option has.
pub(crate) fn options(argument: &ColumnarValue) -> Result<Options> {
    match constant(argument, "options")? {
        ScalarValue::Struct(members) => members_of(&members),
        other if other.is_null() => Ok(Vec::new()),
        _ => exec_err!("options are a struct, such as {{'level': 'syntax'}}"),
    }
}

/// The text of an argument that is the same for all rows; `None` where it is null.
///
/// # Errors
/// It is not a constant text.
pub(crate) fn constant_text(argument: &ColumnarValue, what: &str) -> Result<Option<String>> {
    let value = constant(argument, what)?;
    match value.try_as_str() {
        Some(text) => Ok(text.map(str::to_owned)),
        None if value.is_null() => Ok(None),
        None => exec_err!("{what} is a text"),
    }
}

/// The value of an argument that is the same for all rows. A query that is not optimized has constants as arrays of one row.
fn constant(argument: &ColumnarValue, what: &str) -> Result<ScalarValue> {
    match argument {
        ColumnarValue::Scalar(value) => Ok(value.clone()),
        ColumnarValue::Array(values) if values.len() == 1 => ScalarValue::try_from_array(values, 0),
        ColumnarValue::Array(_) => exec_err!("{what} must be the same for all rows: a constant"),
    }
}

fn members_of(members: &StructArray) -> Result<Options> {
    let mut options = Vec::new();
    if members.is_null(0) {
        return Ok(options);
    }
    for (name, value) in members.column_names().into_iter().zip(members.columns()) {
        options.extend(option(name, value)?.map(|value| (name.to_owned(), value)));
    }
    Ok(options)
}

fn option(name: &str, value: &ArrayRef) -> Result<Option<OptionValue>> {
    if value.is_null(0) || *value.data_type() == DataType::Null {
        return Ok(None);
    }
    Ok(Some(match ScalarValue::try_from_array(value, 0)? {
        ScalarValue::Boolean(Some(flag)) => OptionValue::Flag(flag),
        ScalarValue::List(lists) => OptionValue::List(texts(name, &lists.value(0))?),
        ScalarValue::LargeList(lists) => OptionValue::List(texts(name, &lists.value(0))?),
        other => match other.try_as_str().flatten() {
            Some(text) => OptionValue::Text(text.to_owned()),
            None => return exec_err!("{name} is a text, a boolean or a list of texts"),
        },
    }))
}

fn texts(name: &str, values: &ArrayRef) -> Result<Vec<String>> {
    let mut made = Vec::with_capacity(values.len());
    for row in 0..values.len() {
        match ScalarValue::try_from_array(values, row)?.try_as_str() {
            Some(Some(text)) => made.push(text.to_owned()),
            Some(None) => return exec_err!("{name} is a list of texts without nulls"),
            None => return exec_err!("{name} is a list of texts"),
        }
    }
    Ok(made)
}
