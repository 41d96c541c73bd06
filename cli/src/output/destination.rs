//! The names of outputs.

use std::path::{Path, PathBuf};

use uriscan_files::Descriptor;

use crate::remote::Url;

/// Where results or reports go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Stdout,
    File(PathBuf),
    /// A directory of files.
    Directory(PathBuf),
    Remote(Url),
    /// Objects below a prefix.
    Prefix(Url),
}

impl Destination {
    /// The destination that `-o` names.
    pub(crate) fn of_option(path: Option<PathBuf>) -> Destination {
        path.filter(|path| !is_dash(path)).map_or(Destination::Stdout, Destination::named)
    }

    /// The file or object that `path` names, or standard output by one of its names.
    pub(crate) fn named(path: PathBuf) -> Destination {
        if let Some(url) = Url::of_path(&path) {
            return Destination::Remote(url);
        }
        match Descriptor::at(&path).is_some_and(|descriptor| descriptor.is_stdout()) {
            true => Destination::Stdout,
            false => Destination::File(path),
        }
    }

    /// The name of the file or object, if it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Destination::File(path) => Some(path),
            Destination::Remote(url) => Some(url.path()),
            _ => None,
        }
    }
}

/// Why no text is written to a file with such a name.
pub(crate) const WRITES_NO_COLUMNS: &str = "is the name of a table in Parquet or Arrow, and the output is text; choose another name \
     (`uriscan help tables` says what writes tables)";

/// Whether `path` is the name of a table of columns.
pub(crate) fn has_columns(path: &Path) -> bool {
    ends_with_any(path, &["parquet", "pq", "arrow", "feather", "ipc", "arrows"])
}

/// Whether `path` is the name of lines of JSON.
pub(crate) fn is_jsonl(path: &Path) -> bool {
    ends_with_any(path, &["jsonl", "ndjson", "json"])
}

/// Why no list is written to a file with such a name.
pub(crate) const WRITES_NO_JSON: &str = "is the name of a file of JSON, and the output is a list; choose another name (`uriscan parse` writes JSON)";

/// Why nothing is written to a file with such a name.
pub(crate) const WRITES_NO_DOCUMENTS: &str = "is the name of a file in a format that is not written; choose another name (`uriscan help tables` says which formats are)";

/// Whether `path` is the name of a spreadsheet, a document or a database, which no program reads as text.
pub(crate) fn is_document(path: &Path) -> bool {
    const ENDS: [&str; 14] = [
        "xlsx", "xls", "xlsm", "ods", "docx", "doc", "odt", "pptx", "pdf", "avro", "orc", "sqlite",
        "sqlite3", "duckdb",
    ];
    ends_with_any(path, &ENDS)
}

fn ends_with_any(path: &Path, ends: &[&str]) -> bool {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    ends.iter().any(|known| known.eq_ignore_ascii_case(end))
}

/// Whether `path` is that of a standard stream.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether `path` is, or will be, a directory.
pub(crate) fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Why no table is written to a file with the name of a compressed one.
pub(crate) const NOT_COMPRESSED: &str =
    "tables are not written compressed; omit the suffix (Parquet and Arrow compress their columns)";

/// Why nothing is written to a file with such a name.
pub(crate) const WRITES_NO_PACKED: &str = "is the name of a compressed file, and nothing is written compressed; omit the suffix, or pipe standard output to a \
     program that compresses";

/// Whether `path` is the name of a compressed file.
pub(crate) fn is_packed(path: &Path) -> bool {
    const ENDS: [&str; 15] = [
        "gz", "tgz", "bgz", "zst", "zstd", "bz2", "xz", "lzma", "lz4", "lz", "lzo", "br", "zip",
        "7z", "z",
    ];
    ends_with_any(path, &ENDS)
}
