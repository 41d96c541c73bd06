//! JSON lines: one member of each line, and the line itself, so that everything else in it is preserved byte for byte.

use std::fmt;
use std::io::{BufRead, Write};
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::TableError;
use super::job::Job;
use super::line::{LineReader, NO_OBJECT, no_object};
use super::unit::BATCH_BYTES;

/// The name of the column that holds whole lines: not one that a person would choose.
const LINE: &str = "\0line";

/// Whether these columns are those of lines that are written unchanged.
pub(super) fn is_of_lines(schema: &Schema) -> bool {
    schema.index_of(LINE).is_ok()
}

/// Reads lines to batches of two columns: the member, null where it is missing or null, and the line.
pub(super) struct Lines<R> {
    reader: LineReader<R>,
    target: TargetMember,
    schema: SchemaRef,
    rows: usize,
    /// Whether there were lines, and all of them without the member.
    lacks_member: bool,
}

impl<R: BufRead> Lines<R> {
    /// Lines of `reader`, a table called `table` for `job`, in batches of `rows`, or of fewer if these exceed [`BATCH_BYTES`].
    pub(super) fn new(reader: R, job: &Job, table: &str, rows: usize) -> Lines<R> {
        let name = &job.column[..];
        let fields =
            vec![Field::new(name, DataType::Utf8, true), Field::new(LINE, DataType::Utf8, false)];
        Lines {
            reader: LineReader::new(reader, table),
            target: TargetMember { name: name.to_owned(), added: job.task.names() },
            schema: Arc::new(Schema::new(fields)),
            rows,
            lacks_member: false,
        }
    }

    /// Whether there were lines so far, and none of them had the member, not even as null.
    pub(super) fn lacks_member(&self) -> bool {
        self.lacks_member
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let (mut values, mut lines) = (StringBuilder::new(), StringBuilder::new());
        while lines.len() < self.rows && lines.values_slice().len() < BATCH_BYTES {
            let is_first = self.reader.number() == 0;
            let Some(line) = self.reader.next()? else { break };
            match self.target.of_line(line) {
                Ok(value) => {
                    self.lacks_member = (is_first || self.lacks_member) && value.is_none();
                    values.append_option(value.flatten());
                    lines.append_value(line);
                }
                Err(what) => return Err(self.reader.wrong(what)),
            }
        }
        if lines.is_empty() {
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

/// The member that holds URIs, and the names of the members that will be added.
struct TargetMember {
    name: String,
    added: Vec<String>,
}

impl TargetMember {
    /// The string in the object `line`; `Some(None)` if it is null, `None` if there is no such member. It must not occur
    /// twice, and none of the members to be added may exist.
    fn of_line(&self, line: &str) -> Result<Option<Option<String>>, String> {
        if !line.starts_with('{') {
            return Err(NO_OBJECT.to_owned());
        }
        let mut json = serde_json::Deserializer::from_str(line);
        let found = json.deserialize_map(self).and_then(|found| json.end().map(|()| found));
        let found = found.map_err(|error| no_object(&error))?;
        if let Some(taken) = found.taken {
            return Err(format!("a member {taken} already exists"));
        }
        let TargetMember { name, .. } = self;
        if found.is_twice {
            return Err(format!("the member {name} occurs twice"));
        }
        let Some(value) = found.value else { return Ok(None) };
        serde_json::from_str(value.get()).map(Some).map_err(|_| {
            match value.get().starts_with('"') {
                // Such as an unpaired surrogate.
                true => format!("the member {name} is not valid Unicode"),
                false => format!("the member {name} is not a string"),
            }
        })
    }
}

/// The findings in a line.
#[derive(Default)]
struct Found<'l> {
    value: Option<&'l RawValue>,
    is_twice: bool,
    /// A member with one of the names to be added.
    taken: Option<String>,
}

impl<'de> Visitor<'de> for &TargetMember {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found<'de>, A::Error> {
        let mut found = Found::default();
        while let Some(name) = map.next_key_seed(Name(self))? {
            match name {
                Which::Target => found.is_twice |= found.value.replace(map.next_value()?).is_some(),
                Which::Added(name) => {
                    found.taken = Some(name);
                    map.next_value::<IgnoredAny>()?;
                }
                Which::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}

/// The role of a member, by its name.
enum Which {
    Target,
    Added(String),
    Other,
}

/// The name of a member.
struct Name<'a>(&'a TargetMember);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Which;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Which, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Which;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Which, E> {
        let TargetMember { name: target, added } = self.0;
        Ok(match added.iter().find(|added| *added == name) {
            Some(added) => Which::Added(added.clone()),
            None if name == target => Which::Target,
            None => Which::Other,
        })
    }
}

/// Writes the rows of `batch`, a table of lines: each line, with the added columns as further members of the object.
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
    // Writing to memory does not fail.
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
        other => return Err(TableError::Format(format!("JSON lines cannot hold {other}"))),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{TableFormat, Task};
    use super::*;
    use crate::arrow::Columns;

    fn values(lines: &str) -> Result<Vec<Option<Option<String>>>, String> {
        let target = TargetMember { name: "u".to_owned(), added: vec!["uri_key".to_owned()] };
        lines.lines().map(|line| target.of_line(line)).collect()
    }

    #[test]
    fn the_member_is_found_at_any_position() {
        let lines = "{\"u\":\"a\"}\n{\"o\":{\"u\":1},\"\\u0075\":\"\\u0061\"}\n{\"u\":null}\n{}\n{\"v\":[\"u\",{}]}";
        let a = Some(Some("a".to_owned()));
        assert_eq!(values(lines).unwrap(), [a.clone(), a, Some(None), None, None]);
        for (line, what) in [
            ("{\"u\":1}", "the member u is not a string"),
            ("{\"u\":\"\\ud800\"}", "the member u is not valid Unicode"),
            ("{\"u\":\"a\",\"u\":null}", "the member u occurs twice"),
            ("{\"uri_key\":1}", "a member uri_key already exists"),
            ("{\"u\":\"a\"", "not a JSON object: EOF while parsing an object at column 8"),
            ("{} {}", "not a JSON object: trailing characters at column 4"),
        ] {
            assert_eq!(values(line).unwrap_err(), what);
        }
    }

    #[test]
    fn batches_of_long_lines_have_fewer_rows() {
        let line = format!("{{\"u\":\"a\",\"x\":\"{}\"}}\n", "x".repeat(4_000));
        let text = line.repeat(300);
        let job = Job::new("u", Task::Dedup, Columns::default(), TableFormat::Jsonl);
        let batches = Lines::new(text.as_bytes(), &job, "t", 1_000);
        let rows: Vec<usize> = batches.map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!((rows.len(), rows.iter().sum()), (5, 300));
    }
}
