//! Pairs of URIs in tables, and side files that are tables.

use std::io::Read;
use std::path::Path;

use uriscan_files::File;
pub(crate) use uriscan_table::ClassTable;
use uriscan_table::TableFormat;

use crate::inputs::Input;

/// How a table of classes in TSV begins.
const HEADER: &[u8] = b"source\tline\turi\t";

/// The format of the table of pairs that `input` is; none for lines, which are TSV without a header.
pub(super) fn of_pairs(input: &Input) -> Option<TableFormat> {
    match input {
        Input::File(path) => {
            let is_table = |format: &TableFormat| *format != TableFormat::Tsv || has_header(path);
            TableFormat::of_path(path).filter(is_table)
        }
        Input::Remote(url) => {
            TableFormat::of_path(url.path()).filter(|format| *format != TableFormat::Tsv)
        }
        Input::Stdin | Input::Typed(_) => None,
    }
}

/// Whether the file at `path`, which can be read again, begins with [`HEADER`].
fn has_header(path: &Path) -> bool {
    let mut head = [0; HEADER.len()];
    let mut read = || File::open(path)?.read_exact(&mut head);
    path.is_file() && read().is_ok() && head == *HEADER
}
