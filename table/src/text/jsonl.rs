//! JSON lines: one member of each line, and the line itself, so that everything else in it is preserved byte for byte.

use std::fmt;
use std::io::{BufRead, Write};
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::line::{LineReader, NO_OBJECT, no_object};
use crate::job::Job;
use crate::text::nested::json;
use crate::unit::BATCH_BYTES;
use uriscan_bulk::error::Error;

/// The name of the column that holds whole lines: not one that a person would choose.
const LINE: &str = "\0line";

/// Whether these columns are those of lines that are written unchanged.
pub(crate) fn is_of_lines(schema: &Schema) -> bool {
    schema.index_of(LINE).is_ok()
}

/// Reads lines to batches of two columns: the member, null where it is missing or null, and the line.
pub(crate) struct Lines<R> {
    reader: LineReader<R>,
    target: TargetMember,
    /// Names of members to be added that are not the task's.
    keys: Vec<String>,
    schema: SchemaRef,
    rows: usize,
    /// Whether there were lines, and all of them without the member.
    lacks_member: bool,
}

impl<R: BufRead> Lines<R> {
    /// Lines of `reader`, a table called `table` for `job`, in batches of `rows`, or of fewer if these exceed [`BATCH_BYTES`].
    /// The members called `keys` are added to them.
    pub(crate) fn new(
        reader: R,
        (job, keys): (&Job, &[String]),
        table: &str,
        rows: usize,
    ) -> Lines<R> {
        let name = &job.column[..];
        let fields =
            vec![Field::new(name, DataType::Utf8, true), Field::new(LINE, DataType::Utf8, false)];
        let of_task = job.added(&DataType::Utf8).into_iter().map(|(name, _)| name);
        let added = of_task.chain(keys.iter().cloned()).collect();
        Lines {
            reader: LineReader::new(reader, table),
            target: TargetMember { name: name.to_owned(), added },
            keys: keys.to_vec(),
            schema: Arc::new(Schema::new(fields)),
            rows,
            lacks_member: false,
        }
    }

    /// Whether there were lines so far, and none of them had the member, not even as null.
    pub(crate) fn lacks_member(&self) -> bool {
        self.lacks_member
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, Error> {
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
                Err(Fault::Taken(name)) if !self.keys.contains(&name) => {
                    return Err(self.reader.exists(&name));
                }
                Err(fault) => return Err(self.reader.wrong(fault.to_string())),
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
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

enum Fault {
    /// A member has this name, which is to be added.
    Taken(String),
    Other(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Taken(name) => write!(f, "a member {name} already exists"),
            Fault::Other(what) => f.write_str(what),
        }
    }
}

/// The member that holds URIs, and the names of the members that will be added.
struct TargetMember {
    /// The name of the member, or a path to it.
    name: String,
    added: Vec<String>,
}

impl TargetMember {
    /// The string in the object `line`, or the text of a value of another type; `Some(None)` if it is null, `None` if there is
    /// no such member. It must not occur twice, and none of the members to be added may exist.
    fn of_line(&self, line: &str) -> Result<Option<Option<String>>, Fault> {
        if !line.starts_with('{') {
            return Err(Fault::Other(NO_OBJECT.to_owned()));
        }
        let TargetMember { name, added } = self;
        let found = Search { path: name, added }.within(line);
        let found = found.map_err(|error| Fault::Other(no_object(&error)))?;
        if let Some(taken) = found.taken {
            return Err(Fault::Taken(taken));
        }
        if found.is_twice {
            return Err(Fault::Other(format!("the member {name} occurs twice")));
        }
        let value = match (found.value, found.outer) {
            (None, Some((rest, outer))) => value_at(outer.get(), rest)
                .map_err(|()| Fault::Other(format!("a member on the path {name} occurs twice")))?,
            (value, _) => value.map(RawValue::get),
        };
        match value {
            None => Ok(None),
            Some(text) if text.starts_with(['"', 'n']) => serde_json::from_str(text)
                .map(Some)
                // Such as an unpaired surrogate.
                .map_err(|_| Fault::Other(format!("the member {name} is not valid Unicode"))),
            Some(text) => Ok(Some(Some(text.to_owned()))),
        }
    }
}

/// The value in `json` that `path` leads to: by names of members, and numbers of values in arrays, from 1. A member on the
/// path that occurs twice is an error.
fn value_at<'l>(json: &'l str, path: &str) -> Result<Option<&'l str>, ()> {
    if json.starts_with('[') {
        let (number, rest) = match path.split_once('.') {
            Some((number, rest)) => (number, Some(rest)),
            None => (path, None),
        };
        let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let values: Vec<&RawValue> = serde_json::from_str(json).map_err(drop)?;
        let value = at.and_then(|at| values.get(at)).map(|value| value.get());
        return match (value, rest) {
            (Some(value), Some(rest)) => value_at(value, rest),
            (value, _) => Ok(value),
        };
    }
    if !json.starts_with('{') {
        return Ok(None);
    }
    let found = Search { path, added: &[] }.within(json).map_err(drop)?;
    match (found.value, found.outer) {
        _ if found.is_twice => Err(()),
        (None, Some((rest, outer))) => value_at(outer.get(), rest),
        (value, _) => Ok(value.map(RawValue::get)),
    }
}

/// The value of the member `name`, or on a path, of each line of `batch`, which `start` rows of
/// `table` precede, as `read` makes a text of it; null where it is null or not there. Also whether
/// any line has it. Fails if a line has the member twice, or `read` fails.
pub(crate) fn members(
    (table, start): (&str, u64),
    batch: &RecordBatch,
    name: &str,
    read: fn(&str) -> Result<String, &'static str>,
) -> Result<(StringArray, bool), Error> {
    let lines = batch.column(batch.schema().index_of(LINE)?).as_string::<i32>();
    let (mut values, mut is_there) = (StringBuilder::new(), false);
    for (row, line) in (start + 1..).zip(lines.iter().flatten()) {
        let wrong = |what| Error::read(table, format_args!("row {row}: the member {name} {what}"));
        let value = value_at(line, name).map_err(|()| wrong("occurs twice"))?;
        is_there |= value.is_some();
        match value {
            None | Some("null") => values.append_null(),
            Some(text) => values.append_value(read(text).map_err(wrong)?),
        }
    }
    Ok((values.finish(), is_there))
}

/// What is looked for in an object.
#[derive(Clone, Copy)]
struct Search<'p> {
    path: &'p str,
    /// Names that no member may have.
    added: &'p [String],
}

/// The findings in an object.
#[derive(Default)]
struct Found<'l, 'p> {
    /// The member whose name is the path.
    value: Option<&'l RawValue>,
    /// The member with the longest name that the path begins with, and the rest of the path.
    outer: Option<(&'p str, &'l RawValue)>,
    is_twice: bool,
    /// A member with one of the names to be added.
    taken: Option<String>,
}

impl<'p> Search<'p> {
    fn within<'l>(self, object: &'l str) -> Result<Found<'l, 'p>, serde_json::Error> {
        let mut json = serde_json::Deserializer::from_str(object);
        json.deserialize_map(self).and_then(|found| json.end().map(|()| found))
    }
}

impl<'de, 'p> Visitor<'de> for Search<'p> {
    type Value = Found<'de, 'p>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found<'de, 'p>, A::Error> {
        let mut found = Found::default();
        while let Some(name) = map.next_key_seed(Name(self))? {
            match name {
                Which::Target => found.is_twice |= found.value.replace(map.next_value()?).is_some(),
                Which::Outer(rest) => {
                    let value = map.next_value()?;
                    match found.outer {
                        Some((before, _)) if before.len() < rest.len() => {}
                        Some((before, _)) if before.len() == rest.len() => found.is_twice = true,
                        _ => found.outer = Some((rest, value)),
                    }
                }
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
enum Which<'p> {
    Target,
    /// The path begins with the name; this is the rest.
    Outer(&'p str),
    Added(String),
    Other,
}

struct Name<'p>(Search<'p>);

impl<'de, 'p> DeserializeSeed<'de> for Name<'p> {
    type Value = Which<'p>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Which<'p>, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'p> Visitor<'_> for Name<'p> {
    type Value = Which<'p>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Which<'p>, E> {
        let Search { path, added } = self.0;
        if let Some(added) = added.iter().find(|added| *added == name) {
            return Ok(Which::Added(added.clone()));
        }
        Ok(match path.strip_prefix(name) {
            Some("") => Which::Target,
            Some(rest) => rest.strip_prefix('.').map_or(Which::Other, Which::Outer),
            None => Which::Other,
        })
    }
}

/// Writes the rows of `batch`, a table of lines: each line, with the added columns as further members of the object.
pub(crate) fn write(batch: &RecordBatch, out: &mut impl Write) -> Result<(), Error> {
    let schema = batch.schema();
    let at = schema.index_of(LINE)?;
    let lines = batch.column(at).as_string::<i32>();
    let mut added = Vec::new();
    for (field, column) in schema.fields().iter().zip(batch.columns()).skip(at + 1) {
        added.push((serde_json::Value::from(field.name().as_str()).to_string(), json(column)?));
    }
    let mut text = String::new();
    for (row, line) in lines.iter().flatten().enumerate() {
        let body = line.strip_suffix('}').unwrap_or(line);
        text.push_str(body);
        let mut is_empty = body[1..].trim_ascii().is_empty();
        for (name, values) in &added {
            if !std::mem::take(&mut is_empty) {
                text.push(',');
            }
            let value = if values.is_null(row) { "null" } else { values.value(row) };
            [name, ":", value].into_iter().for_each(|part| text.push_str(part));
        }
        text.push_str("}\n");
    }
    out.write_all(text.as_bytes()).map_err(Error::write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TableFormat, Task};
    use uriscan_arrow::Columns;

    fn values(lines: &str) -> Result<Vec<Option<Option<String>>>, String> {
        let target = TargetMember { name: "u".to_owned(), added: vec!["uri_key".to_owned()] };
        let value = |line| target.of_line(line).map_err(|fault| fault.to_string());
        lines.lines().map(value).collect()
    }

    #[test]
    fn the_member_is_found_at_any_position() {
        let lines = "{\"u\":\"a\"}\n{\"o\":{\"u\":1},\"\\u0075\":\"\\u0061\"}\n{\"u\":null}\n{}\n{\"v\":[\"u\",{}]}";
        let a = Some(Some("a".to_owned()));
        assert_eq!(values(lines).unwrap(), [a.clone(), a, Some(None), None, None]);
        let texts: Vec<_> = values("{\"u\":-1e3}\n{\"u\":[ {}]}\n{\"u\":true}").unwrap();
        assert_eq!(
            texts.into_iter().flatten().flatten().collect::<Vec<_>>(),
            ["-1e3", "[ {}]", "true"]
        );
        for (line, what) in [
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
    fn a_path_leads_through_objects_and_arrays() {
        let at = |name: &str, line: &str| {
            let target = TargetMember { name: name.to_owned(), added: Vec::new() };
            target.of_line(line).map_err(|fault| fault.to_string())
        };
        for (name, line, value) in [
            ("p.u", "{\"p\":{\"u\":\"a\"}}", Some("a")),
            ("p.u", "{\"p\":{\"u\":\"a\"},\"p.u\":\"b\"}", Some("b")),
            ("p.q.u", "{\"p\":{\"q.u\":\"a\"},\"p.q\":{\"u\":\"b\"}}", Some("b")),
            ("p.q.u", "{\"p\":{\"q.u\":\"a\"}}", Some("a")),
            ("l.2", "{\"l\":[\"a\", \"b\"]}", Some("b")),
            ("l.1.u", "{\"l\":[{\"u\":\"a\"}]}", Some("a")),
            ("p.u", "{\"p\":{\"u\":7}}", Some("7")),
        ] {
            assert_eq!(at(name, line).unwrap().flatten().as_deref(), value, "{name} {line}");
        }
        for (name, line) in [
            ("p.u", "{\"p\":{}}"),
            ("p.u", "{\"p\":null}"),
            ("p.u", "{\"p\":\"u\"}"),
            ("p.u", "{\"pu\":1,\"pp.u\":2}"),
            ("l.0", "{\"l\":[1]}"),
            ("l.2", "{\"l\":[1]}"),
            ("l.x", "{\"l\":[1]}"),
        ] {
            assert_eq!(at(name, line).unwrap(), None, "{name} {line}");
        }
        assert_eq!(at("p.u", "{\"p\":{\"u\":null}}").unwrap(), Some(None));
        for line in ["{\"p\":{\"u\":1,\"u\":2}}", "{\"p\":{\"u\":1},\"p\":{}}"] {
            assert!(at("p.u", line).unwrap_err().ends_with("p.u occurs twice"), "{line}");
        }
    }

    #[test]
    fn batches_of_long_lines_have_fewer_rows() {
        let line = format!("{{\"u\":\"a\",\"x\":\"{}\"}}\n", "x".repeat(4_000));
        let text = line.repeat(300);
        let job = Job::new("u", Task::Dedup, Columns::default(), TableFormat::Jsonl);
        let batches = Lines::new(text.as_bytes(), (&job, &[]), "t", 1_000);
        let rows: Vec<usize> = batches.map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!((rows.len(), rows.iter().sum()), (5, 300));
    }
}
