//! The column of URIs: which one it is, and where in its values the URIs are.
//!
//! A column is selected by its name, by its number, or by a path into it: `page.url` is the field `url` of the structs in the
//! column `page`, and `links.1` is the first value of the lists in the column `links`. A row has one URI or none, so of a
//! list one value has to be named.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt64Array, new_null_array};
use arrow_cast::cast;
use arrow_schema::{DataType, FieldRef, Fields, Schema};
use arrow_select::nullif::nullif;
use arrow_select::take::take;

use uriscan_arrow::is_text;
use uriscan_bulk::error::Error;

#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The number of the column, from 0.
    pub(crate) column: usize,
    steps: Vec<Step>,
}

/// A step from values to values within them.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// To the field of structs with this number, from 0.
    Field(usize),
    /// To the value of lists with this number, from 0.
    Item(usize),
}

pub(crate) fn names_of(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

impl Target {
    /// What is called `name` in the table `table` with the columns of `schema`.
    pub(crate) fn locate(table: &str, schema: &Schema, name: &str) -> Result<Target, Error> {
        let wrong = |what: String| Error::columns_of(table, what);
        let found = by_name(schema, name).map_err(wrong)?.or_else(|| by_path(schema, name));
        found.ok_or_else(|| Error::no_column(table, name, names_of(schema)))
    }

    /// The same, if it is text or bytes.
    pub(crate) fn find(table: &str, schema: &Schema, name: &str) -> Result<Target, Error> {
        let wrong = |what: String| Error::columns_of(table, what);
        let target = Target::locate(table, schema, name)?;
        let found = target.data_type(schema);
        // A column without a type has nulls only.
        if is_text(found) || found.is_null() {
            return Ok(target);
        }
        Err(wrong(format!(
            "column {name} is {found}; text or bytes expected{}",
            advice(name, found)
        )))
    }

    /// The same target in a table that has only its column.
    pub(crate) fn alone(&self) -> Target {
        Target { column: 0, steps: self.steps.clone() }
    }

    /// The type of the values, in a table with the columns of `schema`.
    pub(crate) fn data_type<'s>(&self, schema: &'s Schema) -> &'s DataType {
        let column = schema.field(self.column).data_type();
        self.steps.iter().fold(column, |within, step| match (step, within) {
            (Step::Field(field), DataType::Struct(fields)) => fields[*field].data_type(),
            (Step::Item(_), within) => item_type(within).unwrap_or(within),
            (Step::Field(_), within) => within,
        })
    }

    /// The values in `batch`, which are text or bytes; null where there is none.
    pub(crate) fn values(&self, batch: &RecordBatch) -> Result<ArrayRef, Error> {
        let mut values = batch.column(self.column).clone();
        for &step in &self.steps {
            values = match step {
                Step::Field(field) => field_of(&values, field)?,
                Step::Item(item) => item_of(&values, item)?,
            };
        }
        if values.data_type().is_null() {
            values = new_null_array(&DataType::Utf8, values.len());
        }
        Ok(values)
    }
}

/// The column called `name`, or the one with that number from 1.
fn by_name(schema: &Schema, name: &str) -> Result<Option<Target>, String> {
    let fields = schema.fields().iter().enumerate();
    let mut called = fields.filter(|(_, field)| field.name() == name).map(|(at, _)| at);
    let column = match (called.next(), called.next()) {
        (Some(one), Some(other)) => {
            return Err(format!(
                "columns {} and {} are both named {name}; select one by its number",
                one + 1,
                other + 1
            ));
        }
        (Some(at), None) => Some(at),
        (None, _) => name.parse::<usize>().ok().and_then(|number| number.checked_sub(1)),
    };
    let column = column.filter(|&at| at < schema.fields().len());
    Ok(column.map(|column| Target { column, steps: Vec::new() }))
}

/// What the path `name` leads to.
fn by_path(schema: &Schema, name: &str) -> Option<Target> {
    let (column, rest) = longest(schema.fields(), name)?;
    let mut steps = Vec::new();
    let mut within = schema.field(column).data_type();
    let mut rest = rest?;
    loop {
        let (step, next, more) = if let DataType::Struct(fields) = within {
            let (field, more) = longest(fields, rest)?;
            (Step::Field(field), fields[field].data_type(), more)
        } else {
            let (number, more) = match rest.split_once('.') {
                Some((number, more)) => (number, Some(more)),
                None => (rest, None),
            };
            let item = number.parse::<usize>().ok()?.checked_sub(1)?;
            (Step::Item(item), item_type(within)?, more)
        };
        steps.push(step);
        within = next;
        match more {
            Some(more) => rest = more,
            None => return Some(Target { column, steps }),
        }
    }
}

/// The field with the longest name that `path` is or begins with, and the rest of the path.
fn longest<'p>(fields: &Fields, path: &'p str) -> Option<(usize, Option<&'p str>)> {
    let found = fields.iter().enumerate().filter_map(|(at, field)| {
        let rest = path.strip_prefix(field.name().as_str())?;
        let rest = if rest.is_empty() { None } else { Some(rest.strip_prefix('.')?) };
        Some((at, rest, field.name().len()))
    });
    // Of equal names, the first.
    let longest = found.reduce(|best, next| if next.2 > best.2 { next } else { best });
    longest.map(|(at, rest, _)| (at, rest))
}

/// The type of the values of lists, if `of` is one of lists.
fn item_type(of: &DataType) -> Option<&DataType> {
    item_of_type(of).map(|item| item.data_type())
}

/// The field of the values of lists, if `of` is a type of lists.
pub(crate) fn item_of_type(of: &DataType) -> Option<&FieldRef> {
    match of {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            Some(item)
        }
        _ => None,
    }
}

/// The step that leads on from a column of this type.
pub(crate) fn advice(name: &str, found: &DataType) -> String {
    match found {
        DataType::Struct(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|field| format!("{name}.{}", field.name())).collect();
            format!("; its fields are {}", fields.join(", "))
        }
        _ if item_type(found).is_some() => format!("; {name}.1 is the first value of each list"),
        _ => String::new(),
    }
}

/// A field of structs, null where the struct is.
fn field_of(structs: &ArrayRef, field: usize) -> Result<ArrayRef, Error> {
    let structs = structs.as_struct();
    let values = structs.column(field);
    Ok(match structs.nulls() {
        Some(nulls) => nullif(values, &BooleanArray::new(!nulls.inner(), None))?,
        None => values.clone(),
    })
}

/// A value of each list, null where there is none.
fn item_of(lists: &ArrayRef, item: usize) -> Result<ArrayRef, Error> {
    let Some(values) = item_of_type(lists.data_type()) else { return Ok(lists.clone()) };
    let lists = cast(lists, &DataType::LargeList(values.clone()))?;
    let lists = lists.as_list::<i64>();
    let ranges = lists.value_offsets().windows(2).enumerate();
    let indices = ranges.map(|(row, range)| {
        let len = (range[1] - range[0]) as usize;
        (lists.is_valid(row) && item < len).then(|| range[0] as u64 + item as u64)
    });
    Ok(take(lists.values(), &indices.collect::<UInt64Array>(), None)?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{
        FixedSizeListBuilder, LargeListBuilder, ListBuilder, StringBuilder,
    };
    use arrow_array::{StringArray, StructArray};
    use arrow_buffer::NullBuffer;
    use arrow_schema::Field;

    use super::*;

    fn batch() -> RecordBatch {
        let urls: ArrayRef =
            Arc::new(StringArray::from(vec![Some("a"), Some("b"), None, Some("d")]));
        let dotted: ArrayRef = Arc::new(StringArray::from(vec!["1", "2", "3", "4"]));
        let fields =
            vec![Field::new("url", DataType::Utf8, true), Field::new("x.y", DataType::Utf8, true)];
        let nulls = NullBuffer::from(vec![true, false, true, true]);
        let page = StructArray::new(fields.into(), vec![urls.clone(), dotted.clone()], Some(nulls));
        let (mut small, mut large) =
            (ListBuilder::new(StringBuilder::new()), LargeListBuilder::new(StringBuilder::new()));
        let mut fixed = FixedSizeListBuilder::new(StringBuilder::new(), 2);
        for row in [Some(["p", "q"]), None, Some(["r", "s"]), Some(["t", "u"])] {
            let values = row.unwrap_or(["-", "-"]).map(Some);
            small.append_option(row.map(|values| values.map(Some)));
            large.append_option(row.map(|values| values.map(Some)));
            values.into_iter().for_each(|value| fixed.values().append_option(value));
            fixed.append(row.is_some());
        }
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("page", Arc::new(page)),
            ("page.z", dotted),
            ("small", Arc::new(small.finish())),
            ("large", Arc::new(large.finish())),
            ("fixed", Arc::new(fixed.finish())),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
            .unwrap()
    }

    /// The values of `name` in the last three rows, or the error.
    fn values(name: &str) -> Result<Vec<Option<String>>, String> {
        let batch = batch().slice(1, 3);
        let target = Target::find("t", &batch.schema(), name).map_err(|error| error.to_string())?;
        assert_eq!(target.data_type(&batch.schema()), &DataType::Utf8);
        let values = target.values(&batch).unwrap();
        Ok(values.as_string::<i32>().iter().map(|value| value.map(str::to_owned)).collect())
    }

    #[test]
    fn paths_lead_to_fields_and_values_of_lists() {
        let some = |values: [&str; 3]| {
            Ok(values.map(|value| (value != "-").then(|| value.to_owned())).to_vec())
        };
        assert_eq!(values("page.url"), some(["-", "-", "d"]));
        assert_eq!(values("page.x.y"), some(["-", "3", "4"]));
        assert_eq!(values("page.z"), some(["2", "3", "4"]));
        assert_eq!(values("2"), some(["2", "3", "4"]));
        for lists in ["small", "large", "fixed"] {
            assert_eq!(values(&format!("{lists}.1")), some(["-", "r", "t"]));
            assert_eq!(values(&format!("{lists}.2")), some(["-", "s", "u"]));
            assert_eq!(values(&format!("{lists}.3")), some(["-", "-", "-"]));
        }
    }

    #[test]
    fn what_leads_nowhere_is_an_error_that_names_the_next_step() {
        for (name, what) in [
            ("page", "; its fields are page.url, page.x.y"),
            ("small", "; small.1 is the first value of each list"),
            ("page.u", "there is no column page.u"),
            ("page.url.1", "there is no column page.url.1"),
            ("small.0", "there is no column small.0"),
            ("small.first", "there is no column small.first"),
            ("page.", "there is no column page."),
            ("6", "there is no column 6"),
        ] {
            let error = values(name).unwrap_err();
            assert!(error.contains(what), "{error}, not {what}");
        }
    }
}
