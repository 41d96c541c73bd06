//! Tables of omitted records, and of classes with their members.
//!
//! [`crate::pipeline::classes()`] and `dedup` on tables write rows as JSON lines, in the order of the input and under the memory
//! limit. Here these become a table as they come, in row groups of bounded size.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{FixedSizeBinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::job::{Job, Task};
use super::keys;
use super::unit::Unit;
use super::write::Writer;
use super::{TableError, TableFormat};
use crate::arrow::Columns;
use crate::set::Meaning;

/// Rows of a batch.
const BATCH_ROWS: usize = 8 << 10;

/// Approximate bytes of JSON lines that become a batch.
const BATCH_BYTES: usize = 1 << 20;

/// Approximate bytes of JSON lines that become a row group.
const GROUP_BYTES: usize = if cfg!(test) { 64 << 10 } else { 32 << 20 };

/// Bytes of a key.
const KEY_BYTES: i32 = 16;

/// A table that receives the rows of [`crate::pipeline::Sinks::dupes`] or [`crate::pipeline::Sinks::clusters`], as
/// [`crate::pipeline::ClassRows`] or [`super::ByClass::rows`] asks for them.
///
/// | column | |
/// | --- | --- |
/// | `source`, `line` | the input, and the line or row in it, from 1 |
/// | `uri`, `hex` | the record; in hexadecimal if it is not UTF-8 |
/// | `bytes` | of classes only: the length of a record over the size limit, whose text is not there |
/// | `survivor`, `survivor_hex` | the same for the record that is kept; null if an earlier run has seen the class |
/// | `count` | of classes only: the records of the class |
/// | `rung` | the lowest one at which the two are equivalent, or `seen` |
/// | `rules` | of classes only: the steps that make them equivalent; with spaces between in CSV and TSV |
/// | `uri_key` | the public key; 16 bytes, in text formats hexadecimal |
///
/// ```
/// use uriscan::io::Source;
/// use uriscan::pipeline::{ClassOptions, ClassRows, Settings, Sinks, classes};
/// use uriscan::table::{ClassTable, TableFormat};
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
/// assert!(text.starts_with("source,line,uri,hex,survivor,survivor_hex,rung,uri_key\nlist,2,HTTP://h,,http://h,,syntax,"));
/// ```
pub struct ClassTable<'a> {
    writer: Writer<Outlet<'a>>,
    decoder: Decoder,
    /// The columns of the table.
    schema: SchemaRef,
    /// Batches that are not written yet.
    pending: Unit,
    /// Bytes of lines since the last batch, and since the last row group.
    batch_bytes: usize,
    group_bytes: usize,
    fault: Fault,
}

impl<'a> ClassTable<'a> {
    /// A table of omitted records in `format`, whose keys have this meaning.
    ///
    /// # Errors
    /// If its beginning cannot be written.
    pub fn of_dupes(
        out: &'a mut (dyn Write + Send),
        format: TableFormat,
        meaning: &Meaning,
    ) -> Result<ClassTable<'a>, TableError> {
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
    ) -> Result<ClassTable<'a>, TableError> {
        ClassTable::new(out, format, meaning, true)
    }

    fn new(
        out: &'a mut (dyn Write + Send),
        format: TableFormat,
        meaning: &Meaning,
        has_classes: bool,
    ) -> Result<ClassTable<'a>, TableError> {
        let read = Schema::new(fields(has_classes));
        let written = read.fields().iter().map(|field| of_format(field, format));
        let schema = Schema::new(written.collect::<Vec<_>>());
        let schema = Arc::new(keys::described(&schema, meaning));
        let decoder = ReaderBuilder::new(Arc::new(read)).with_batch_size(BATCH_ROWS);
        let fault = Fault::default();
        let outlet = Outlet { out, fault: fault.clone() };
        let job = Job::new("uri", Task::Copy, Columns::default(), format);
        Ok(ClassTable {
            writer: Writer::new(&job, schema.clone(), outlet)
                .map_err(|error| cause(&fault, error))?,
            decoder: decoder.build_decoder()?,
            schema,
            pending: Unit::new(),
            batch_bytes: 0,
            group_bytes: 0,
            fault,
        })
    }

    /// Completes the table.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<(), TableError> {
        let end = self.end_batch().and_then(|()| self.end_group());
        end.and_then(|()| self.writer.finish()).map_err(|error| cause(&self.fault, error))
    }

    /// Takes `bytes`, in which lines begin and end anywhere. Where they are cut decides nothing: a batch ends with the line that
    /// makes it so long, or with its last row.
    fn take(&mut self, mut bytes: &[u8]) -> Result<(), TableError> {
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

    fn end_batch(&mut self) -> Result<(), TableError> {
        if let Some(batch) = self.decoder.flush()? {
            self.pending.push(as_written(&batch, &self.schema)?);
        }
        self.group_bytes += std::mem::take(&mut self.batch_bytes);
        if self.group_bytes >= GROUP_BYTES { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> Result<(), TableError> {
        self.group_bytes = 0;
        let unit = std::mem::take(&mut self.pending);
        if unit.is_empty() { Ok(()) } else { self.writer.write(&[unit]) }
    }
}

impl Write for ClassTable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.take(bytes).map_err(|error| cause(&self.fault, error)) {
            Ok(()) => Ok(bytes.len()),
            Err(TableError::Write(error)) => Err(error),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // What is not written yet becomes part of a row group.
        Ok(())
    }
}

/// The columns of rows as they are read.
fn fields(has_classes: bool) -> Vec<Field> {
    let text = |name: &str, is_nullable| Field::new(name, DataType::Utf8, is_nullable);
    let number = |name: &str, is_nullable| Field::new(name, DataType::UInt64, is_nullable);
    let rule = Arc::new(Field::new_list_field(DataType::Utf8, true));
    let mut fields = vec![text("source", false), number("line", false)];
    fields.extend([text("uri", true), text("hex", true)]);
    fields.extend(has_classes.then(|| number("bytes", true)));
    fields.extend([text("survivor", true), text("survivor_hex", true)]);
    fields.extend(has_classes.then(|| number("count", false)));
    fields.push(text("rung", false));
    fields.extend(has_classes.then(|| Field::new("rules", DataType::List(rule), false)));
    fields.push(text(keys::COLUMN, true));
    fields
}

/// The column of a table in `format` for a column that is read.
fn of_format(field: &Field, format: TableFormat) -> Field {
    let data_type = match field.data_type() {
        DataType::List(_) if matches!(format, TableFormat::Csv | TableFormat::Tsv) => {
            DataType::Utf8
        }
        _ if field.name() == keys::COLUMN => DataType::FixedSizeBinary(KEY_BYTES),
        other => other.clone(),
    };
    Field::new(field.name(), data_type, field.is_nullable())
}

/// The rows of `batch`, as they are read, with the columns of `schema`.
fn as_written(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, TableError> {
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        Ok(match (column.data_type(), field.data_type()) {
            (DataType::List(_), DataType::Utf8) => joined(column),
            (DataType::Utf8, DataType::FixedSizeBinary(_)) => bytes_of_keys(column)?,
            _ => column.clone(),
        })
    });
    let columns = columns.collect::<Result<Vec<ArrayRef>, TableError>>()?;
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

/// Lists of names as text.
fn joined(lists: &ArrayRef) -> ArrayRef {
    let mut texts = StringBuilder::new();
    for list in lists.as_list::<i32>().iter() {
        let names = list.as_ref().map(|list| list.as_string::<i32>());
        let names: Vec<&str> = names.into_iter().flatten().flatten().collect();
        texts.append_value(names.join(" "));
    }
    Arc::new(texts.finish())
}

/// Keys in hexadecimal as bytes.
fn bytes_of_keys(texts: &ArrayRef) -> Result<ArrayRef, TableError> {
    let mut keys = FixedSizeBinaryBuilder::with_capacity(texts.len(), KEY_BYTES);
    for text in texts.as_string::<i32>() {
        match text.and_then(|text| u128::from_str_radix(text, 16).ok()) {
            Some(key) => keys.append_value(key.to_be_bytes())?,
            None => keys.append_null(),
        }
    }
    Ok(Arc::new(keys.finish()))
}

/// The error of the system, which the writers of the formats reduce to text.
type Fault = Arc<Mutex<Option<io::Error>>>;

/// The output of a table.
struct Outlet<'a> {
    out: &'a mut (dyn Write + Send),
    fault: Fault,
}

impl Write for Outlet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes).map_err(|error| {
            let copy = io::Error::new(error.kind(), error.to_string());
            self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            copy
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        // Its owner does that.
        Ok(())
    }
}

/// `error`, or why writing failed, if it did.
fn cause(fault: &Fault, error: TableError) -> TableError {
    let fault = fault.lock().unwrap_or_else(PoisonError::into_inner).take();
    fault.map_or(error, TableError::Write)
}

#[cfg(test)]
mod tests {
    use super::super::{ByClass, Input, KeepRow, run_with};
    use super::*;
    use crate::io::Source;
    use crate::pipeline::{
        ClassOptions, ClassRows, DedupOptions, Keep, MemoryLimit, Settings, Sinks, classes,
    };

    /// Records of many small classes and of one large one.
    fn lines() -> String {
        let line = |i: u32| match i % 4 {
            0 => "HTTP://large:80\n".to_owned(),
            1 => format!("http://h{}\n", i % 1_003),
            _ => format!("HTTP://H{}/\n", i % 1_003),
        };
        (0..20_000).map(line).collect()
    }

    /// The tables of duplicates and of classes that `work` writes to its sinks.
    fn tables(format: TableFormat, work: impl FnOnce(Sinks<'_>)) -> [Vec<u8>; 2] {
        let options = ClassOptions::default().dedup;
        let meaning = options.equivalence.meaning(options.hash);
        let (mut out, [mut dupes, mut clusters]) = (Vec::new(), [const { Vec::new() }; 2]);
        let mut of_dupes = ClassTable::of_dupes(&mut dupes, format, &meaning).unwrap();
        let mut of_clusters = ClassTable::of_clusters(&mut clusters, format, &meaning).unwrap();
        work(Sinks::new(&mut out).dupes(&mut of_dupes).clusters(&mut of_clusters));
        of_dupes.finish().unwrap();
        of_clusters.finish().unwrap();
        [dupes, clusters]
    }

    const ROWS: ClassRows = ClassRows { dupes: true, clusters: true };

    #[test]
    fn tables_do_not_depend_on_the_memory_limit_and_have_bounded_groups() {
        let temp = tempfile::tempdir().unwrap();
        let of_list = |limit: Option<MemoryLimit>| {
            tables(TableFormat::Parquet, |mut sinks| {
                let options = ClassOptions::default().keep(Keep::Last).rows(ROWS);
                let options = options.dedup(DedupOptions::default().limit(limit));
                let list = vec![Source::new("list", std::io::Cursor::new(lines()))];
                let report = classes(list, &options, &Settings::default(), &mut sinks).unwrap();
                assert_eq!(report.spilled > 0, options.dedup.limit.is_some());
            })
        };
        let of_table = |limit: Option<MemoryLimit>| {
            tables(TableFormat::Parquet, |sinks| {
                let by = ByClass::new(KeepRow::Uri(Keep::Last), temp.path()).rows(ROWS);
                let task = Task::Classes(by);
                let job = Job::new("url", task, Columns::default(), TableFormat::Csv).limit(limit);
                let csv = std::io::Cursor::new(format!("url\n{}", lines()));
                let input = Input::stream("list", TableFormat::Csv, csv);
                run_with(vec![input], &job, None, sinks).unwrap();
            })
        };
        let whole = of_list(None);
        assert!(of_list(Some(MemoryLimit::new(1 << 20, temp.path()))) == whole);
        assert!(of_table(None) == whole);
        assert!(of_table(Some(MemoryLimit::new(1 << 16, temp.path()))) == whole);
        for table in whole {
            let reader = parquet::file::serialized_reader::SerializedFileReader::new(
                bytes::Bytes::from(table),
            );
            use parquet::file::reader::FileReader;
            let metadata = reader.unwrap().metadata().clone();
            assert!(metadata.num_row_groups() > 2, "{}", metadata.num_row_groups());
        }
    }

    #[test]
    fn lines_may_be_cut_anywhere() {
        let row =
            r#"{"source":"a","line":7,"uri":"u","survivor":null,"rung":"seen","uri_key":null}"#;
        let text = format!("{row}\n").repeat(3);
        let options = ClassOptions::default().dedup;
        let meaning = options.equivalence.meaning(options.hash);
        for cut in 0..text.len() {
            let mut out = Vec::new();
            let mut table = ClassTable::of_dupes(&mut out, TableFormat::Csv, &meaning).unwrap();
            table.write_all(&text.as_bytes()[..cut]).unwrap();
            table.write_all(&text.as_bytes()[cut..]).unwrap();
            table.finish().unwrap();
            let rows = String::from_utf8(out).unwrap();
            assert!(rows.ends_with(&"a,7,u,,,,seen,\n".repeat(3)), "{cut}: {rows}");
        }
    }

    #[test]
    fn the_error_of_the_output_is_kept() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let options = ClassOptions::default().dedup;
        let meaning = options.equivalence.meaning(options.hash);
        for format in TableFormat::ALL {
            let done = ClassTable::of_dupes(&mut Full, format, &meaning).map(|mut table| {
                let row = b"{\"source\":\"a\",\"line\":7,\"rung\":\"seen\"}\n";
                table.write_all(row).map_err(TableError::Write).and_then(|()| table.finish())
            });
            match done.and_then(|done| done) {
                Err(TableError::Write(error)) => {
                    assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{format:?}");
                }
                other => panic!("{format:?}: {other:?}"),
            }
        }
    }
}
