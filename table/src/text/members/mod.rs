//! The members of JSON lines as columns: their names and types.

mod exact;
mod look;
mod records;

pub(crate) use records::Records;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use serde_json::Deserializer;

use exact::{Loss, losses};

use super::line::{LineReader, NO_OBJECT, no_object};
use crate::unit::MOST_COLUMNS;
use uriscan_bulk::error::Error;

/// Whole numbers up to here are doubles without loss.
const EXACT: u64 = 1 << 53;

/// The members of objects, in the order in which they were first seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    fields: Vec<Member>,
    /// The index in `fields` of a name.
    indexes: HashMap<String, usize>,
    objects: u64,
    /// The number of members, those of the objects in it included; 0 in these.
    count: usize,
    /// The member of URIs: its name, or a path to it through objects.
    uris: String,
}

#[derive(Clone, Debug)]
struct Member {
    name: String,
    shape: Shape,
    /// The last object that had it.
    object: u64,
}

/// The type of all values of a member.
#[derive(Clone, Debug, Default)]
enum Shape {
    /// Null, so far.
    #[default]
    Nothing,
    /// Text, whatever its values are: numbers, and true and false, are taken as they are written.
    Uri,
    Bool,
    Number(Number),
    Text,
    List(Box<Shape>),
    Object(Members),
}

/// The kinds of numbers that occur.
#[derive(Clone, Copy, Debug, Default)]
struct Number {
    has_fractions: bool,
    has_negative: bool,
    /// Beyond signed 64 bits.
    has_large: bool,
    /// Whole ones beyond [`EXACT`].
    has_inexact: bool,
}

impl Members {
    /// No members yet; the one at `uris`, a name or a path, is to hold URIs.
    pub(crate) fn new(uris: &str) -> Members {
        Members { uris: uris.to_owned(), ..Members::default() }
    }

    /// Learns from all lines of `reader`, the table called `table`.
    pub(crate) fn learn(&mut self, reader: impl BufRead, table: &str) -> Result<(), Error> {
        let mut lines = LineReader::new(reader, table);
        while let Some(line) = lines.next()? {
            self.look(line, false).map_err(|what| lines.wrong(what))?;
        }
        Ok(())
    }

    /// Learns from the object `line`, or, if the columns are fixed, ensures that it fits them; the error names the member.
    pub(crate) fn look(&mut self, line: &str, is_fixed: bool) -> Result<(), String> {
        let columns = Cell::new(self.count);
        let (losses, fault) = (OnceCell::new(), RefCell::default());
        let looking = Looking { line, is_fixed, columns, losses, fault };
        let mut json = Deserializer::from_str(line);
        let done = match line.starts_with('{') {
            true => look::Values::new(self, &looking).read(&mut json).and_then(|()| json.end()),
            false => return Err(NO_OBJECT.to_owned()),
        };
        let fault = |error| looking.fault.take().unwrap_or_else(|| no_object(&error));
        let done = done.map_err(fault);
        self.count = looking.columns.get();
        done
    }

    /// The number of columns, those within others included.
    fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(self.columns()))
    }

    fn columns(&self) -> Fields {
        let field = |member: &Member| Field::new(&member.name, member.shape.data_type(), true);
        self.fields.iter().map(field).collect()
    }

    /// The number of the member called `name` of the current object.
    fn member(&mut self, name: &str, looking: &Looking<'_>) -> Result<usize, String> {
        let at = match self.indexes.get(name) {
            Some(&at) => at,
            None if looking.is_fixed => {
                return Err("is not in the lines that define the columns".to_owned());
            }
            None if looking.columns.get() == MOST_COLUMNS => {
                return Err(format!(
                    "is one of more than {MOST_COLUMNS}, as many as there may be columns"
                ));
            }
            None => {
                looking.columns.set(looking.columns.get() + 1);
                let shape = if name == self.uris { Shape::Uri } else { Shape::Nothing };
                let (name, object) = (name.to_owned(), 0);
                self.indexes.insert(name.clone(), self.fields.len());
                self.fields.push(Member { name, shape, object });
                self.fields.len() - 1
            }
        };
        let before = std::mem::replace(&mut self.fields[at].object, self.objects);
        if before == self.objects { Err("occurs twice".to_owned()) } else { Ok(at) }
    }
}

impl Shape {
    fn data_type(&self) -> DataType {
        match self {
            Shape::Nothing | Shape::Text | Shape::Uri => DataType::Utf8,
            Shape::Bool => DataType::Boolean,
            Shape::Number(number) => number.data_type(),
            Shape::List(item) => {
                DataType::List(Arc::new(Field::new_list_field(item.data_type(), true)))
            }
            Shape::Object(members) => DataType::Struct(members.columns()),
        }
    }

    /// Adds a value of the type `other`, which is empty.
    fn unite(&mut self, other: Shape, is_fixed: bool) -> Result<(), String> {
        match (self, other) {
            (_, Shape::Nothing)
            | (Shape::Uri, Shape::Bool | Shape::Number(_) | Shape::Text)
            | (Shape::Bool, Shape::Bool)
            | (Shape::Text, Shape::Text)
            | (Shape::List(_), Shape::List(_))
            | (Shape::Object(_), Shape::Object(_)) => Ok(()),
            (Shape::Number(number), Shape::Number(more)) => {
                let before = number.data_type();
                number.join(more)?;
                if is_fixed && before != number.data_type() {
                    return Err(format!("does not fit its column, which is of {before}"));
                }
                Ok(())
            }
            (Shape::Nothing, other) if is_fixed && !matches!(other, Shape::Text) => {
                Err(format!("is {other} here, and null in the lines that define the columns"))
            }
            (shape @ Shape::Nothing, other) => {
                *shape = other;
                Ok(())
            }
            (before, other) => Err(format!(
                "is {other} here and {before} before; lines that stay JSON lines (jsonl) keep both"
            )),
        }
    }
}

impl Members {
    /// What is left of the path to the URIs in the member called `name`; nothing if the path does not lead there.
    fn uris_in(&self, name: &str) -> &str {
        let rest = self.uris.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        rest.unwrap_or_default()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Shape::Nothing => "null",
            Shape::Bool => "true or false",
            Shape::Number(_) => "a number",
            Shape::Text | Shape::Uri => "a string",
            Shape::List(_) => "an array",
            Shape::Object(_) => "an object",
        })
    }
}

impl Number {
    fn whole(magnitude: u64, is_negative: bool) -> Number {
        Number {
            has_fractions: false,
            has_negative: is_negative,
            has_large: !is_negative && i64::try_from(magnitude).is_err(),
            has_inexact: magnitude > EXACT,
        }
    }

    fn join(&mut self, more: Number) -> Result<(), String> {
        self.has_fractions |= more.has_fractions;
        self.has_negative |= more.has_negative;
        self.has_large |= more.has_large;
        self.has_inexact |= more.has_inexact;
        let what = match self {
            Number { has_fractions: true, has_inexact: true, .. } => {
                "has fractions and integers beyond 2^53, and no type of column holds both exactly"
            }
            Number { has_negative: true, has_large: true, .. } => {
                "has negative numbers and numbers beyond 2^63, and no type of column holds both"
            }
            _ => return Ok(()),
        };
        Err(what.to_owned())
    }

    fn data_type(self) -> DataType {
        match self {
            Number { has_fractions: true, .. } => DataType::Float64,
            Number { has_large: true, .. } => DataType::UInt64,
            _ => DataType::Int64,
        }
    }
}

/// The inspection of a line.
struct Looking<'l> {
    line: &'l str,
    is_fixed: bool,
    /// The number of members so far, those of all objects.
    columns: Cell<usize>,
    /// The numbers that a double does not hold.
    losses: OnceCell<HashMap<u64, Loss>>,
    fault: RefCell<Option<String>>,
}

impl Looking<'_> {
    /// What of `number`, which was read as a double, is lost by that, if anything is.
    fn loss(&self, number: f64) -> Option<Loss> {
        self.losses.get_or_init(|| losses(self.line)).get(&number.to_bits()).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;

    /// A value of the sort that the member called `name` has, by its first letter.
    fn value(name: &str) -> BoxedStrategy<Value> {
        let some = match name {
            "i" => any::<i64>().prop_map(|number| json!(number)).boxed(),
            "u" => any::<u64>().prop_map(|number| json!(number)).boxed(),
            "f" => prop_oneof![
                any::<i32>().prop_map(|n| json!(f64::from(n) / 256.0)),
                any::<i16>().prop_map(|n| json!(n))
            ]
            .boxed(),
            "b" => any::<bool>().prop_map(|is| json!(is)).boxed(),
            "s" => any::<String>().prop_map(|text| json!(text)).boxed(),
            "l" => prop::collection::vec(value("s"), 0..3).prop_map(|list| json!(list)).boxed(),
            _ => prop::collection::vec(object(&["i", "s"]), 0..3)
                .prop_map(|list| json!(list))
                .boxed(),
        };
        prop_oneof![4 => some, 1 => Just(Value::Null)].boxed()
    }

    /// An object with some of these members.
    fn object(names: &[&'static str]) -> BoxedStrategy<Value> {
        let member = |&name: &&'static str| {
            prop::option::of(value(name).prop_map(move |value| (name, value)))
        };
        let members: Vec<_> = names.iter().map(member).collect();
        let object = |members: Vec<Option<(&str, Value)>>| {
            let members = members.into_iter().flatten();
            Value::Object(
                members.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>(),
            )
        };
        members.prop_map(object).boxed()
    }

    /// `value` without members that are null, as what is missing cannot be distinguished from it, and with whole numbers as such.
    fn plain(value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                let some = members.iter().filter(|(_, value)| !value.is_null());
                Value::Object(some.map(|(name, value)| (name.clone(), plain(value))).collect())
            }
            Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
            Value::Number(number)
                if number.is_f64()
                    && number.as_f64().is_some_and(|n| n.fract() == 0.0 && n.abs() < 1e15) =>
            {
                json!(number.as_f64().unwrap_or(0.0) as i64)
            }
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn rows_hold_what_the_lines_hold(objects in prop::collection::vec(object(&["i", "u", "f", "b", "s", "l", "o"]), 1..20)) {
            let lines: String = objects.iter().map(|object| format!("{object}\n")).collect();
            let mut members = Members::default();
            members.learn(lines.as_bytes(), "t").unwrap();
            let records = Records::new(lines.as_bytes(), "t", members, false, 7).unwrap();
            let mut writer = arrow_json::LineDelimitedWriter::new(Vec::new());
            for batch in records {
                writer.write(&batch.unwrap()).unwrap();
            }
            writer.finish().unwrap();
            let found = String::from_utf8(writer.into_inner()).unwrap();
            let found: Vec<Value> = found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let plain = |values: &[Value]| values.iter().map(plain).collect::<Vec<_>>();
            prop_assert_eq!(plain(&found), plain(&objects));
        }
    }
}
