//! Side files of a program that is built without tables: it refuses names that ask for one.

use std::convert::Infallible;
use std::path::Path;

use crate::inputs::WITHOUT_TABLES;

const TABLES: [&str; 9] =
    ["parquet", "pq", "arrow", "feather", "ipc", "arrows", "csv", "jsonl", "ndjson"];

pub(super) fn of_dupes(path: &Path) -> Result<Option<Infallible>, &'static str> {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let is_table = TABLES.iter().any(|table| end.eq_ignore_ascii_case(table));
    if is_table { Err(WITHOUT_TABLES) } else { Ok(None) }
}

pub(super) fn of_clusters(path: &Path) -> Result<Option<Infallible>, &'static str> {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let is_jsonl = ["jsonl", "ndjson"].iter().any(|name| end.eq_ignore_ascii_case(name));
    if is_jsonl { Ok(None) } else { of_dupes(path) }
}
