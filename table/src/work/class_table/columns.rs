//! The columns of tables of omitted records and of classes, filled row by row.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeBinaryBuilder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::{TableFormat, job::keys};
use uriscan_bulk::error::Error;
use uriscan_bulk::pipeline::ClassRow;
use uriscan_core::set::Meaning;

const KEY_BYTES: i32 = 16;

/// The columns of a table in `format`, where keys have this meaning.
pub(super) fn of_table(has_classes: bool, format: TableFormat, meaning: &Meaning) -> SchemaRef {
    let text = |name: &str, is_nullable| Field::new(name, DataType::Utf8, is_nullable);
    // Signed, as other systems have no other numbers of 64 bits.
    let number = |name: &str, is_nullable| Field::new(name, DataType::Int64, is_nullable);
    let rules = match format {
        TableFormat::Csv | TableFormat::Tsv => DataType::Utf8,
        _ => DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true))),
    };
    let mut fields = vec![text("source", false), number("line", false)];
    fields.extend([text("uri", true), text("hex", true)]);
    fields.extend(has_classes.then(|| number("bytes", true)));
    fields.extend([text("kept", true), text("kept_hex", true)]);
    fields.extend(has_classes.then(|| number("count", false)));
    fields.push(text("level", false));
    fields.extend(has_classes.then(|| Field::new("rules", rules, false)));
    fields.push(Field::new(keys::COLUMN, DataType::FixedSizeBinary(KEY_BYTES), true));
    let last = fields.len() - 1;
    Arc::new(keys::described(&Schema::new(fields), last, meaning))
}

/// Rows that become a batch.
pub(super) struct Rows {
    pub(super) len: usize,
    source: StringBuilder,
    line: Int64Builder,
    record: Texts,
    bytes: Int64Builder,
    kept: Texts,
    count: Int64Builder,
    level: StringBuilder,
    rules: ListBuilder<StringBuilder>,
    /// The same as text.
    joined: StringBuilder,
    key: FixedSizeBinaryBuilder,
}

/// Any bytes: as text, or in hexadecimal.
#[derive(Default)]
struct Texts {
    text: StringBuilder,
    hex: StringBuilder,
}

impl Texts {
    fn push(&mut self, bytes: Option<&[u8]>) {
        let text = bytes.map(str::from_utf8);
        self.text.append_option(text.and_then(Result::ok));
        let Some(bytes) = bytes.filter(|_| text.is_some_and(|text| text.is_err())) else {
            return self.hex.append_null();
        };
        for byte in bytes {
            // Writing to memory does not fail.
            let _ = write!(self.hex, "{byte:02x}");
        }
        self.hex.append_value("");
    }
}

impl Default for Rows {
    fn default() -> Rows {
        Rows {
            len: 0,
            source: StringBuilder::new(),
            line: Int64Builder::new(),
            record: Texts::default(),
            bytes: Int64Builder::new(),
            kept: Texts::default(),
            count: Int64Builder::new(),
            level: StringBuilder::new(),
            rules: ListBuilder::new(StringBuilder::new()),
            joined: StringBuilder::new(),
            key: FixedSizeBinaryBuilder::new(KEY_BYTES),
        }
    }
}

impl Rows {
    pub(super) fn push(&mut self, row: &ClassRow<'_>) -> Result<(), Error> {
        self.len += 1;
        self.source.append_value(row.source);
        self.line.append_value(row.line as i64);
        self.record.push(row.record);
        self.bytes.append_option(row.bytes.map(|bytes| bytes as i64));
        self.kept.push(row.kept);
        self.count.append_value(row.count as i64);
        self.level.append_value(row.level);
        for (i, rule) in row.rules.iter().enumerate() {
            self.rules.values().append_value(rule);
            let _ = write!(self.joined, "{}{rule}", if i == 0 { "" } else { " " });
        }
        self.rules.append(true);
        self.joined.append_value("");
        match row.key {
            Some(key) => self.key.append_value(key.0.to_be_bytes())?,
            None => self.key.append_null(),
        }
        Ok(())
    }

    /// The rows, with the columns of `schema`.
    pub(super) fn finish(mut self, schema: &SchemaRef) -> Result<RecordBatch, Error> {
        let column = |field: &Arc<Field>| -> ArrayRef {
            match (&**field.name(), field.data_type()) {
                ("source", _) => Arc::new(self.source.finish()),
                ("line", _) => Arc::new(self.line.finish()),
                ("uri", _) => Arc::new(self.record.text.finish()),
                ("hex", _) => Arc::new(self.record.hex.finish()),
                ("bytes", _) => Arc::new(self.bytes.finish()),
                ("kept", _) => Arc::new(self.kept.text.finish()),
                ("kept_hex", _) => Arc::new(self.kept.hex.finish()),
                ("count", _) => Arc::new(self.count.finish()),
                ("level", _) => Arc::new(self.level.finish()),
                ("rules", DataType::Utf8) => Arc::new(self.joined.finish()),
                ("rules", _) => Arc::new(self.rules.finish()),
                _ => Arc::new(self.key.finish()),
            }
        };
        let columns = schema.fields().iter().map(column).collect();
        Ok(RecordBatch::try_new(schema.clone(), columns)?)
    }
}
