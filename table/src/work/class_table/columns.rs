//! The columns of tables of omitted records and of classes: as their rows are read, and as they are written.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeBinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::{TableFormat, job::keys};
use uriscan_bulk::error::Error;
use uriscan_core::set::Meaning;

const KEY_BYTES: i32 = 16;

/// The columns of rows as they are read.
pub(super) fn of_rows(has_classes: bool) -> SchemaRef {
    let text = |name: &str, is_nullable| Field::new(name, DataType::Utf8, is_nullable);
    // Signed, as other systems have no other numbers of 64 bits.
    let number = |name: &str, is_nullable| Field::new(name, DataType::Int64, is_nullable);
    let rule = Arc::new(Field::new_list_field(DataType::Utf8, true));
    let mut fields = vec![text("source", false), number("line", false)];
    fields.extend([text("uri", true), text("hex", true)]);
    fields.extend(has_classes.then(|| number("bytes", true)));
    fields.extend([text("kept", true), text("kept_hex", true)]);
    fields.extend(has_classes.then(|| number("count", false)));
    fields.push(text("level", false));
    fields.extend(has_classes.then(|| Field::new("rules", DataType::List(rule), false)));
    fields.push(text(keys::COLUMN, true));
    Arc::new(Schema::new(fields))
}

/// The columns of a table in `format` for columns that are `read`, where keys have this meaning.
pub(super) fn of_table(read: &Schema, format: TableFormat, meaning: &Meaning) -> SchemaRef {
    let written = read.fields().iter().map(|field| of_format(field, format));
    let schema = Schema::new(written.collect::<Vec<_>>());
    let keys = schema.fields().len() - 1;
    Arc::new(keys::described(&schema, keys, meaning))
}

/// The column of a table in `format` for a column that is read.
fn of_format(field: &Field, format: TableFormat) -> Field {
    let data_type = match field.data_type() {
        DataType::List(_) if matches!(format, TableFormat::Csv | TableFormat::Tsv) => {
            DataType::Utf8
        }
        _ if field.name() == keys::COLUMN => DataType::FixedSizeBinary(KEY_BYTES),
        other => other.clone(),
    };
    Field::new(field.name(), data_type, field.is_nullable())
}

/// The rows of `batch`, as they are read, with the columns of `schema`.
pub(super) fn as_written(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, Error> {
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        Ok(match (column.data_type(), field.data_type()) {
            (DataType::List(_), DataType::Utf8) => joined(column),
            (DataType::Utf8, DataType::FixedSizeBinary(_)) => bytes_of_keys(column)?,
            _ => column.clone(),
        })
    });
    let columns = columns.collect::<Result<Vec<ArrayRef>, Error>>()?;
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

/// Lists of names as text.
fn joined(lists: &ArrayRef) -> ArrayRef {
    let mut texts = StringBuilder::new();
    for list in lists.as_list::<i32>().iter() {
        let names = list.as_ref().map(|list| list.as_string::<i32>());
        let names: Vec<&str> = names.into_iter().flatten().flatten().collect();
        texts.append_value(names.join(" "));
    }
    Arc::new(texts.finish())
}

/// Keys in hexadecimal as bytes.
fn bytes_of_keys(texts: &ArrayRef) -> Result<ArrayRef, Error> {
    let mut keys = FixedSizeBinaryBuilder::with_capacity(texts.len(), KEY_BYTES);
    for text in texts.as_string::<i32>() {
        match text.and_then(|text| u128::from_str_radix(text, 16).ok()) {
            Some(key) => keys.append_value(key.to_be_bytes())?,
            None => keys.append_null(),
        }
    }
    Ok(Arc::new(keys.finish()))
}
