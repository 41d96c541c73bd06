//! The formats of tables.

use std::path::Path;

named! {
    /// The format of a table.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TableFormat {
        /// Apache Parquet; written with zstd.
        Parquet = "parquet",
        /// The file format of Arrow IPC (Feather version 2).
        Arrow = "arrow",
        /// The stream format of Arrow IPC.
        ArrowStream = "arrow-stream",
        /// Comma-separated values (RFC 4180), or those of another [`super::Dialect`]. All columns are text; an empty field is null.
        Csv = "csv",
        /// Tab-separated values, otherwise like [`TableFormat::Csv`].
        Tsv = "tsv",
        /// A JSON object per line.
        Jsonl = "jsonl",
    }
}

impl TableFormat {
    /// The format by the extension of a file name, ignoring that of a compression.
    ///
    /// ```
    /// use uriscan_table::TableFormat;
    /// assert_eq!(TableFormat::of_path("x/urls.csv.gz".as_ref()), Some(TableFormat::Csv));
    /// assert_eq!(TableFormat::of_path("urls.txt".as_ref()), None);
    /// ```
    pub fn of_path(path: &Path) -> Option<TableFormat> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let packed = [".gz", ".zst", ".bz2", ".xz", ".lz4"];
        let plain = packed.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        Some(match plain.rsplit_once('.')?.1 {
            "parquet" | "pq" => TableFormat::Parquet,
            "arrow" | "feather" | "ipc" => TableFormat::Arrow,
            "arrows" => TableFormat::ArrowStream,
            "csv" => TableFormat::Csv,
            "tsv" | "tab" => TableFormat::Tsv,
            "jsonl" | "ndjson" | "json" => TableFormat::Jsonl,
            _ => return None,
        })
    }

    /// The format of a file that begins with `head`, if that identifies it.
    pub fn of_head(head: &[u8]) -> Option<TableFormat> {
        match head {
            _ if head.starts_with(b"PAR1") => Some(TableFormat::Parquet),
            _ if head.starts_with(b"ARROW1") => Some(TableFormat::Arrow),
            _ if head.starts_with(&[0xFF; 4]) => Some(TableFormat::ArrowStream),
            _ if head.trim_ascii_start().starts_with(b"{") => Some(TableFormat::Jsonl),
            _ if is_array_of_objects(head) => Some(TableFormat::Jsonl),
            _ => None,
        }
    }

    /// The format of Arrow IPC that begins with `head`: its files and its streams are both called `.arrow`.
    pub(super) fn of_ipc(head: &[u8]) -> TableFormat {
        let stream = TableFormat::of_head(head).filter(|it| *it == TableFormat::ArrowStream);
        stream.unwrap_or(TableFormat::Arrow)
    }

    /// Whether it must be read from a file, because reading starts at its end.
    pub(super) fn needs_file(self) -> bool {
        matches!(self, TableFormat::Parquet | TableFormat::Arrow)
    }

    /// Whether its columns have types of their own.
    pub(super) fn has_types(self) -> bool {
        self.needs_file() || self == TableFormat::ArrowStream
    }
}

/// Whether `head` is the start of an array of JSON with objects.
fn is_array_of_objects(head: &[u8]) -> bool {
    let array = head.trim_ascii_start().strip_prefix(b"[");
    array.is_some_and(|values| values.trim_ascii_start().starts_with(b"{"))
}
