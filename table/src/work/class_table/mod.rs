//! Tables of omitted records, and of classes with their members.
//!
//! [`uriscan_bulk::pipeline::classes()`] and `dedup` on tables hand rows over in the order of the input and under the memory limit. Here
//! these become a table as they come, in row groups of bounded size.

mod columns;

use std::io::{self, Write};
use std::path::Path;

use arrow_schema::SchemaRef;

use self::columns::Rows;
use crate::TableFormat;
use crate::job::{Job, Task};
use crate::unit::Unit;
use crate::write::writer::{Output, Sink, Writer};
use uriscan_arrow::Columns;
use uriscan_bulk::error::Error;
use uriscan_bulk::pipeline::{ClassRow, TakeRows};
use uriscan_core::set::Meaning;

const BATCH_ROWS: usize = 8 << 10;

/// Approximate bytes of rows that become a batch.
const BATCH_BYTES: usize = 1 << 20;

/// Approximate bytes of rows that become a row group.
const GROUP_BYTES: usize = if cfg!(test) { 64 << 10 } else { 32 << 20 };

/// Why no table is written to a file with the name of a compressed one.
const NOT_COMPRESSED: &str =
    "tables are not written compressed; omit the suffix (Parquet and Arrow compress their columns)";

/// A table that takes the rows of [`uriscan_bulk::pipeline::Sinks::dupes`] or [`uriscan_bulk::pipeline::Sinks::clusters`].
///
/// | column | |
/// | --- | --- |
/// | `source`, `line` | the input, and the line or row in it, from 1 |
/// | `uri`, `hex` | the record; in hexadecimal if it is not UTF-8 |
/// | `bytes` | of classes only: the length of a record over the size limit, whose text is not there |
/// | `kept`, `kept_hex` | the same for the record that is kept; null if an earlier run has seen the class |
/// | `count` | of classes only: the records of the class |
/// | `level` | the lowest one at which the two are equivalent, `rules:` and the names of the rules that do it (of omitted records), or `seen` |
/// | `rules` | of classes only: the steps that make them equivalent; with spaces between in CSV and TSV |
/// | `uri_key` | the public key; 16 bytes, in text formats hexadecimal |
///
/// ```
/// use uriscan_bulk::io::Source;
/// use uriscan_bulk::pipeline::{ClassOptions, ClassSink, Settings, Sinks, classes};
/// use uriscan_table::{ClassTable, TableFormat};
///
/// let options = ClassOptions::default();
/// let meaning = options.dedup.equivalence.meaning(options.dedup.hash);
/// let list = Source::new("list", &b"http://h\nHTTP://h\n"[..]);
/// let (mut out, mut dupes) = (Vec::new(), Vec::new());
/// let mut table = ClassTable::of_dupes(&mut dupes, TableFormat::Csv, &meaning).unwrap();
/// let mut sinks = Sinks::new(&mut out);
/// sinks.dupes = Some(ClassSink::rows(&mut table));
/// classes(vec![list], &options, &Settings::default(), &mut sinks).unwrap();
/// table.finish().unwrap();
/// let text = String::from_utf8(dupes).unwrap();
/// assert!(text.starts_with("source,line,uri,hex,kept,kept_hex,level,uri_key\nlist,2,HTTP://h,,http://h,,syntax,"));
/// ```
pub struct ClassTable<'a> {
    out: Output<'a>,
    writer: Writer<Output<'a>>,
    schema: SchemaRef,
    rows: Rows,
    /// Batches that are not written yet.
    pending: Unit,
    /// Bytes of rows since the last batch, and since the last row group.
    batch_bytes: usize,
    group_bytes: usize,
}

impl<'a> ClassTable<'a> {
    /// The format of the table of omitted records in a file at `path`, by its name; `None` for lines, among them TSV, which has no
    /// header there.
    ///
    /// ```
    /// use uriscan_table::{ClassTable, TableFormat};
    /// let format = |name: &str| ClassTable::format_of_dupes(name.as_ref());
    /// assert_eq!(format("dupes.parquet").unwrap(), Some(TableFormat::Parquet));
    /// assert_eq!(format("dupes.tsv").unwrap(), None);
    /// assert!(format("dupes.csv.gz").is_err());
    /// ```
    ///
    /// # Errors
    /// If it is the name of a compressed table.
    pub fn format_of_dupes(path: &Path) -> Result<Option<TableFormat>, Error> {
        format_of(path, TableFormat::Tsv)
    }

    /// The format of the table of classes in a file at `path`, by its name; `None` for JSON lines, one for each class.
    ///
    /// # Errors
    /// As [`ClassTable::format_of_dupes`].
    pub fn format_of_clusters(path: &Path) -> Result<Option<TableFormat>, Error> {
        format_of(path, TableFormat::Jsonl)
    }

    /// A table of omitted records in `format`, whose keys have this meaning.
    ///
    /// # Errors
    /// If its beginning cannot be written.
    pub fn of_dupes(
        out: &'a mut (dyn Write + Send),
        format: TableFormat,
        meaning: &Meaning,
    ) -> Result<ClassTable<'a>, Error> {
        ClassTable::new(out, format, meaning, false)
    }

    /// A table of the members of classes.
    ///
    /// # Errors
    /// As [`ClassTable::of_dupes`].
    pub fn of_clusters(
        out: &'a mut (dyn Write + Send),
        format: TableFormat,
        meaning: &Meaning,
    ) -> Result<ClassTable<'a>, Error> {
        ClassTable::new(out, format, meaning, true)
    }

    fn new(
        out: &'a mut (dyn Write + Send),
        format: TableFormat,
        meaning: &Meaning,
        has_classes: bool,
    ) -> Result<ClassTable<'a>, Error> {
        let schema = columns::of_table(has_classes, format, meaning);
        let out = Sink::new(out);
        let job = Job::new("uri", Task::Copy, Columns::default(), format);
        Ok(ClassTable {
            writer: Writer::new(&job, schema.clone(), out.clone())
                .map_err(|error| out.cause(error))?,
            out,
            schema,
            rows: Rows::default(),
            pending: Unit::new(),
            batch_bytes: 0,
            group_bytes: 0,
        })
    }

    /// Completes the table.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<(), Error> {
        let end = self.end_batch().and_then(|()| self.end_group());
        end.and_then(|()| self.writer.finish()).map_err(|error| self.out.cause(error))
    }

    fn push(&mut self, row: &ClassRow<'_>) -> Result<(), Error> {
        self.rows.push(row)?;
        self.batch_bytes += bytes_of(row);
        let is_full = self.rows.len >= BATCH_ROWS || self.batch_bytes >= BATCH_BYTES;
        if is_full { self.end_batch() } else { Ok(()) }
    }

    fn end_batch(&mut self) -> Result<(), Error> {
        let rows = std::mem::take(&mut self.rows);
        if rows.len > 0 {
            self.pending.push(rows.finish(&self.schema)?);
        }
        self.group_bytes += std::mem::take(&mut self.batch_bytes);
        if self.group_bytes >= GROUP_BYTES { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> Result<(), Error> {
        self.group_bytes = 0;
        let unit = std::mem::take(&mut self.pending);
        if unit.is_empty() { Ok(()) } else { self.writer.write(&[unit]) }
    }
}

impl TakeRows for ClassTable<'_> {
    fn take(&mut self, row: &ClassRow<'_>) -> io::Result<()> {
        self.push(row).map_err(|error| self.out.cause(error).into_io())
    }
}

/// Approximate bytes of `row` in the table, which depend on nothing else.
fn bytes_of(row: &ClassRow<'_>) -> usize {
    const NUMBERS_AND_KEY: usize = 64;
    let texts = [row.record, row.kept].into_iter().flatten().map(<[u8]>::len);
    let names = [row.source, row.level].into_iter().chain(row.rules.iter().copied()).map(str::len);
    NUMBERS_AND_KEY + texts.chain(names).sum::<usize>()
}

/// The format of the table at `path`, unless it is that of `lines`.
fn format_of(path: &Path, lines: TableFormat) -> Result<Option<TableFormat>, Error> {
    let format = TableFormat::of_path(path).filter(|format| *format != lines);
    let end = path.extension().map(|end| Path::new("x").with_extension(end));
    let is_packed = end.is_some_and(|end| TableFormat::of_path(&end).is_none());
    match format.is_some() && is_packed {
        true => Err(Error::unsupported(NOT_COMPRESSED)),
        false => Ok(format),
    }
}

#[cfg(test)]
mod tests;
