//! Side files of a program that is built without tables: it refuses names that ask for one.

use std::convert::Infallible;
use std::path::Path;

use crate::inputs::WITHOUT_TABLES;

/// The ends of names of tables of which neither duplicates nor clusters are lines.
const TABLES: [&str; 7] = ["parquet", "pq", "arrow", "feather", "ipc", "arrows", "csv"];

/// Those of JSON lines, which clusters are, and of TSV, which duplicates are.
const JSON_LINES: [&str; 3] = ["jsonl", "ndjson", "json"];
const TSV: [&str; 2] = ["tsv", "tab"];

const COMPRESSIONS: [&str; 5] = ["gz", "zst", "bz2", "xz", "lz4"];

/// The table that cannot be written.
pub(super) enum Table {}

impl Table {
    /// Nothing, for lines, among them TSV.
    ///
    /// # Errors
    /// When the name is that of a table.
    pub(super) fn format_of_dupes(path: &Path) -> Result<Option<Infallible>, &'static str> {
        refuse(path, &JSON_LINES)
    }

    /// Nothing, for JSON lines.
    ///
    /// # Errors
    /// As for duplicates.
    pub(super) fn format_of_clusters(path: &Path) -> Result<Option<Infallible>, &'static str> {
        refuse(path, &TSV)
    }
}

/// Refuses the names of [`TABLES`] and of `others`.
fn refuse(path: &Path, others: &[&str]) -> Result<Option<Infallible>, &'static str> {
    let end_of = |path: &Path| {
        path.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase()
    };
    let mut end = end_of(path);
    if COMPRESSIONS.contains(&&*end) {
        end = end_of(&path.with_extension(""));
    }
    let is_table = TABLES.contains(&&*end) || others.contains(&&*end);
    if is_table { Err(WITHOUT_TABLES) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tables_are_refused() {
        let refuses = |name: &str| {
            let path = Path::new(name);
            [Table::format_of_dupes(path).is_err(), Table::format_of_clusters(path).is_err()]
        };
        for name in ["d.parquet", "d.CSV", "d.arrow.gz", "d.csv.zst"] {
            assert_eq!(refuses(name), [true, true], "{name}");
        }
        for name in ["d.jsonl", "d.json", "d.ndjson.gz"] {
            assert_eq!(refuses(name), [true, false], "{name}");
        }
        for name in ["d.tsv", "d.tab", "d.tsv.xz"] {
            assert_eq!(refuses(name), [false, true], "{name}");
        }
        for name in ["d", "d.txt", "d.gz", "csv", "parquet/d"] {
            assert_eq!(refuses(name), [false, false], "{name}");
        }
    }
}
