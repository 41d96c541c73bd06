//! JSON lines: the member that is asked for, and the line as it is, so that what is carried along stays as it was.

use std::io::{BufRead, Write};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde_json::value::RawValue;

use super::error::unread;
use super::{Job, TableError};

/// The column that holds whole lines; no member of JSON that a person has named has this name.
const LINE: &str = "\0line";

/// Whether a table with these columns is one of lines that stay as they are.
pub(super) fn is_of_lines(schema: &Schema) -> bool {
    schema.index_of(LINE).is_ok()
}

/// Reads lines to batches of two columns: the member, null where it is missing or null, and the line.
pub(super) struct Lines<R> {
    reader: R,
    table: String,
    member: String,
    /// Names of members that will be added.
    added: Vec<String>,
    schema: SchemaRef,
    rows: usize,
    /// Of the last line that was read, from 1.
    line: u64,
    buffer: String,
}

impl<R: BufRead> Lines<R> {
    /// Lines of `reader`, a table called `table` for `job`, in batches of `rows`.
    pub(super) fn new(reader: R, job: &Job, table: &str, rows: usize) -> Lines<R> {
        let member = &job.column[..];
        let fields =
            vec![Field::new(member, DataType::Utf8, true), Field::new(LINE, DataType::Utf8, false)];
        Lines {
            reader,
            table: table.to_owned(),
            member: member.to_owned(),
            added: job.task.names(),
            schema: Arc::new(Schema::new(fields)),
            rows,
            line: 0,
            buffer: String::new(),
        }
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let (mut values, mut lines) = (StringBuilder::new(), StringBuilder::new());
        let mut rows = 0;
        while rows < self.rows {
            self.buffer.clear();
            let read = self.reader.read_line(&mut self.buffer);
            if read.map_err(|error| unread(&self.table, error))? == 0 {
                break;
            }
            self.line += 1;
            let line = self.buffer.trim_ascii();
            if line.is_empty() {
                continue;
            }
            match member(line, &self.member, &self.added) {
                Ok(value) => values.append_option(value),
                Err(what) => {
                    let (table, line) = (self.table.clone(), self.line);
                    return Err(TableError::Line { table, line, what });
                }
            }
            lines.append_value(line);
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let columns: Vec<ArrayRef> = vec![Arc::new(values.finish()), Arc::new(lines.finish())];
        Ok(Some(RecordBatch::try_new(self.schema.clone(), columns)?))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<RecordBatch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

/// The string called `name` in the object `line`, which must have no member called like one of `added`; `None` where
/// there is no such member, or null.
fn member(line: &str, name: &str, added: &[String]) -> Result<Option<String>, String> {
    let object: std::collections::HashMap<std::borrow::Cow<'_, str>, &RawValue> =
        serde_json::from_str(line).map_err(|error| format!("no object of JSON: {error}"))?;
    if let Some(taken) = added.iter().find(|name| object.contains_key(&name[..])) {
        return Err(format!("there is a member {taken} already"));
    }
    let Some(value) = object.get(name) else { return Ok(None) };
    serde_json::from_str(value.get()).map_err(|_| format!("the member {name} is no string"))
}

/// Writes the rows of `batch`, a table of lines: each line with what was added to it as members of the object.
pub(super) fn write(batch: &RecordBatch, out: &mut impl Write) -> Result<(), TableError> {
    let schema = batch.schema();
    let at = schema.index_of(LINE)?;
    let lines = batch.column(at).as_string::<i32>();
    let mut text = Vec::new();
    for (row, line) in lines.iter().flatten().enumerate() {
        let body = line.strip_suffix('}').unwrap_or(line);
        text.extend_from_slice(body.as_bytes());
        let mut is_empty = body[1..].trim_ascii().is_empty();
        for (field, column) in schema.fields().iter().zip(batch.columns()).skip(at + 1) {
            if !is_empty {
                text.push(b',');
            }
            is_empty = false;
            push_string(field.name(), &mut text);
            text.push(b':');
            push_value(column, row, &mut text)?;
        }
        text.extend_from_slice(b"}\n");
    }
    out.write_all(&text).map_err(TableError::Write)
}

fn push_string(string: &str, out: &mut Vec<u8>) {
    // Memory takes all that is written to it.
    let _ = serde_json::to_writer(out, string);
}

/// Appends a value of one of the types that tasks add.
fn push_value(column: &ArrayRef, row: usize, out: &mut Vec<u8>) -> Result<(), TableError> {
    if column.is_null(row) {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    match column.data_type() {
        DataType::Utf8 => push_string(column.as_string::<i32>().value(row), out),
        DataType::UInt32 => {
            out.extend(column.as_primitive::<UInt32Type>().value(row).to_string().bytes());
        }
        DataType::UInt64 => {
            out.extend(column.as_primitive::<UInt64Type>().value(row).to_string().bytes());
        }
        DataType::FixedSizeBinary(_) => {
            out.push(b'"');
            for byte in column.as_fixed_size_binary().value(row) {
                out.extend(format!("{byte:02x}").bytes());
            }
            out.push(b'"');
        }
        DataType::List(_) => {
            let texts = column.as_list::<i32>().value(row);
            out.push(b'[');
            for (i, text) in texts.as_string::<i32>().iter().flatten().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                push_string(text, out);
            }
            out.push(b']');
        }
        other => return Err(TableError::Format(format!("JSON lines hold no {other}"))),
    }
    Ok(())
}
