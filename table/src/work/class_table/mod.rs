//! Tables of omitted records, and of classes with their members.
//!
//! [`uriscan_bulk::pipeline::classes()`] and `dedup` on tables write rows as JSON lines, in the order of the input and under the memory
//! limit. Here these become a table as they come, in row groups of bounded size.

mod columns;

use std::io::{self, Write};
use std::path::Path;

use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use arrow_schema::SchemaRef;

use crate::TableFormat;
use crate::job::{Job, Task};
use crate::unit::Unit;
use crate::write::writer::{Output, Sink, Writer};
use uriscan_arrow::Columns;
use uriscan_bulk::error::Error;
use uriscan_core::set::Meaning;

const BATCH_ROWS: usize = 8 << 10;

/// Approximate bytes of JSON lines that become a batch.
const BATCH_BYTES: usize = 1 << 20;

/// Approximate bytes of JSON lines that become a row group.
const GROUP_BYTES: usize = if cfg!(test) { 64 << 10 } else { 32 << 20 };

/// Why no table is written to a file with the name of a compressed one.
const NOT_COMPRESSED: &str =
    "tables are not written compressed; omit the suffix (Parquet and Arrow compress their columns)";

/// A table that receives the rows of [`uriscan_bulk::pipeline::Sinks::dupes`] or [`uriscan_bulk::pipeline::Sinks::clusters`], as
/// [`uriscan_bulk::pipeline::ClassRows`] or [`crate::ByClass::rows`] asks for them.
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
/// use uriscan_bulk::pipeline::{ClassOptions, ClassRows, Settings, Sinks, classes};
/// use uriscan_table::{ClassTable, TableFormat};
///
/// let options = ClassOptions::default().rows(ClassRows::default().dupes(true));
/// let meaning = options.dedup.equivalence.meaning(options.dedup.hash);
/// let list = Source::new("list", &b"http://h\nHTTP://h\n"[..]);
/// let (mut out, mut dupes) = (Vec::new(), Vec::new());
/// let mut table = ClassTable::of_dupes(&mut dupes, TableFormat::Csv, &meaning).unwrap();
/// let mut sinks = Sinks::new(&mut out).dupes(&mut table);
/// classes(vec![list], &options, &Settings::default(), &mut sinks).unwrap();
/// table.finish().unwrap();
/// let text = String::from_utf8(dupes).unwrap();
/// assert!(text.starts_with("source,line,uri,hex,kept,kept_hex,level,uri_key\nlist,2,HTTP://h,,http://h,,syntax,"));
/// ```
pub struct ClassTable<'a> {
    out: Output<'a>,
    writer: Writer<Output<'a>>,
    decoder: Decoder,
    schema: SchemaRef,
    /// Batches that are not written yet.
    pending: Unit,
    /// Bytes of lines since the last batch, and since the last row group.
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
        let read = columns::of_rows(has_classes);
        let schema = columns::of_table(&read, format, meaning);
        let decoder = ReaderBuilder::new(read).with_batch_size(BATCH_ROWS);
        let out = Sink::new(out);
        let job = Job::new("uri", Task::Copy, Columns::default(), format);
        Ok(ClassTable {
            writer: Writer::new(&job, schema.clone(), out.clone())
                .map_err(|error| out.cause(error))?,
            out,
            decoder: decoder.build_decoder()?,
            schema,
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

    /// Takes `bytes`, in which lines begin and end anywhere. Where they are cut decides nothing: a batch ends with the line that
    /// makes it so long, or with its last row.
    fn take(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let end = match BATCH_BYTES.saturating_sub(self.batch_bytes).saturating_sub(1) {
                rest if rest >= bytes.len() => bytes.len(),
                rest => {
                    memchr::memchr(b'\n', &bytes[rest..]).map_or(bytes.len(), |at| rest + at + 1)
                }
            };
            let taken = self.decoder.decode(&bytes[..end])?;
            self.batch_bytes += taken;
            // The decoder stops where a batch has all its rows.
            let is_long = self.batch_bytes >= BATCH_BYTES && bytes[..taken].ends_with(b"\n");
            if is_long || taken < end {
                self.end_batch()?;
            }
            bytes = &bytes[taken..];
        }
        Ok(())
    }

    fn end_batch(&mut self) -> Result<(), Error> {
        if let Some(batch) = self.decoder.flush()? {
            self.pending.push(columns::as_written(&batch, &self.schema)?);
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

impl Write for ClassTable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.take(bytes).map_err(|error| self.out.cause(error)) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => Err(error.into_io()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // What is not written yet becomes part of a row group.
        Ok(())
    }
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
