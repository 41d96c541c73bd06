//! The metadata of files, as names with values.

use crate::parquet::annotations::is_note;
use arrow_schema::{Metadata, Schema};
use parquet::file::metadata::KeyValue;

/// Names of metadata that lists all columns of the file: of Spark, pandas, Avro and Iceberg.
const OF_ALL_COLUMNS: [&str; 6] = [
    "org.apache.spark.sql.parquet.row.metadata",
    "org.apache.spark.version",
    "pandas",
    "parquet.avro.schema",
    "avro.schema",
    "iceberg.schema",
];

/// Removes what of `metadata` is about other columns once some were added or left out.
pub(crate) fn remove_of_columns(metadata: &mut Metadata) {
    OF_ALL_COLUMNS.iter().for_each(|name| _ = metadata.remove(name));
}

/// Keeps of `metadata`, that of some files, what `other` has, too, and the notes of either where they do not differ.
pub(crate) fn keep_common(metadata: &mut Metadata, other: &Metadata) {
    let is_kept = |name: &str, value: &str, other: &Metadata| match other.get(name) {
        Some(same) => same == value,
        None => is_note(name),
    };
    let others =
        other.iter().filter(|(name, value)| is_note(name) && is_kept(name, value, metadata));
    let others: Vec<(String, String)> = others.map(|(n, v)| (n.clone(), v.clone())).collect();
    metadata.retain(|name, value| is_kept(name, value, other));
    others.into_iter().for_each(|(name, value)| _ = metadata.insert(name, value));
}

/// The metadata of `schema` as the footer of a file has it, by name.
pub(crate) fn of_footer(schema: &Schema) -> Option<Vec<KeyValue>> {
    let all = schema.metadata().iter();
    let pairs = all.map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
    (!schema.metadata().is_empty()).then(|| pairs.collect())
}
