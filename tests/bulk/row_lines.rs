//! Rows of omitted records and of classes, as text to compare.

use std::io::{self, Write};

use uriscan_bulk::pipeline::{ClassRow, ClassSink, TakeRows};

/// What takes rows, or lines, as bytes.
#[derive(Default)]
pub(crate) struct RowLines(pub(crate) Vec<u8>);

impl RowLines {
    pub(crate) fn sink(&mut self, has_rows: bool) -> Option<ClassSink<'_>> {
        Some(if has_rows { ClassSink::rows(self) } else { ClassSink::text(&mut self.0) })
    }
}

impl TakeRows for RowLines {
    fn take(&mut self, row: &ClassRow<'_>) -> io::Result<()> {
        writeln!(self.0, "{row:?}")
    }
}
