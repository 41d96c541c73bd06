//! What keys in a column mean, in the metadata of tables: so that whoever joins two columns can see whether that is possible.

use std::sync::Arc;

use arrow_schema::{Field, FieldRef, Schema};

use uriscan_bulk::error::Error;
use uriscan_core::set::Meaning;

pub(crate) const COLUMN: &str = "uri_key";

/// The metadata of a column of keys: the lines of [`Meaning::as_str`].
const OF_COLUMN: &str = "uriscan.key";

/// The same, in the metadata of the file, for readers that show no other.
pub(crate) const OF_FILE: &str = "uriscan.uri_key";

/// `schema` with the meaning of the keys in the column with the number `keys`. Of a column with another name than [`COLUMN`],
/// the metadata of the file says nothing.
pub(crate) fn described(schema: &Schema, keys: usize, meaning: &Meaning) -> Schema {
    let described = |(at, field): (usize, &FieldRef)| match at == keys {
        true => {
            let mut metadata = field.metadata().clone();
            metadata.insert(OF_COLUMN.to_owned(), meaning.as_str().to_owned());
            Arc::new(field.as_ref().clone().with_metadata(metadata))
        }
        false => field.clone(),
    };
    let mut metadata = schema.metadata.clone();
    if schema.field(keys).name() == COLUMN {
        metadata.insert(OF_FILE.to_owned(), meaning.as_str().to_owned());
    }
    let fields = schema.fields().iter().enumerate().map(described);
    Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata)
}

/// The meaning of the keys in `field`, a column of a file with the columns of `schema`, if it is known.
pub(crate) fn meaning<'s>(schema: &'s Schema, field: &'s Field) -> Option<&'s str> {
    let of_file = || schema.metadata().get(OF_FILE).filter(|_| field.name() == COLUMN);
    field.metadata().get(OF_COLUMN).or_else(of_file).map(String::as_str)
}

/// `field` without a meaning of its keys.
pub(crate) fn without(field: &FieldRef) -> FieldRef {
    if !field.metadata().contains_key(OF_COLUMN) {
        return field.clone();
    }
    let mut metadata = field.metadata().clone();
    metadata.remove(OF_COLUMN);
    Arc::new(field.as_ref().clone().with_metadata(metadata))
}

/// The error for the keys in `column` of the file called `name`, which mean something else than those of the file `other`.
pub(crate) fn different(
    column: &str,
    (name, meaning): (&str, &str),
    (other, of_other): (&str, &str),
) -> Error {
    let only = |one: &str, other: &str| {
        let lines = one.lines().filter(|line| !other.lines().any(|known| known == *line));
        let lines: Vec<String> =
            lines.take(3).map(|line| format!("`{}`", line.escape_debug())).collect();
        if lines.is_empty() { "nothing more".to_owned() } else { lines.join(", ") }
    };
    let what = format!(
        "the keys in column {column} have another meaning than those in {other}: {} here, {} there",
        only(meaning, of_other),
        only(of_other, meaning)
    );
    Error::columns_of(name, what)
}
