//! Tables as batches of rows.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use arrow_csv::reader::Format as Csv;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

use super::error::unread;
use super::groups::Groups;
use super::jsonl::Lines;
use super::members::{Members, Records};
use super::{Job, TableError, TableFormat};
use crate::io::compress::decompressed;
use crate::io::part::Twice;

/// Rows of a batch, where that is for us to say.
pub(super) const BATCH_ROWS: usize = if cfg!(test) { 1 << 10 } else { 1 << 16 };

/// Rows of a unit, about: what is read or written by one thread at a time.
pub(super) const UNIT_ROWS: usize = if cfg!(test) { 3 << 10 } else { 1 << 18 };

/// Bytes that are looked at to see what a table is, and for the header.
const HEAD_BYTES: u64 = 1 << 20;

/// Some batches, one behind the other.
pub(super) type Unit = Vec<RecordBatch>;

/// A table to be read.
pub struct Input {
    name: String,
    format: Option<TableFormat>,
    from: From,
    /// The members of all files of JSON lines, where columns are made of them.
    members: Option<Arc<Members>>,
}

enum From {
    File(PathBuf),
    Stream(Box<dyn Read + Send>),
}

impl Input {
    /// The file at `path`; without a format, the one that its name or its first bytes tell.
    pub fn file(path: impl Into<PathBuf>, format: Option<TableFormat>) -> Input {
        let path = path.into();
        Input { name: path.display().to_string(), format, from: From::File(path), members: None }
    }

    /// What `reader` gives, called `name` in messages. Parquet and Arrow files cannot be read from a stream.
    pub fn stream(
        name: impl Into<String>,
        format: impl Into<Option<TableFormat>>,
        reader: impl Read + Send + 'static,
    ) -> Input {
        let from = From::Stream(Box::new(reader));
        Input { name: name.into(), format: format.into(), from, members: None }
    }
}

/// Lets all of `inputs` know the members of those that are files of JSON lines, which are read for that.
pub(super) fn learn_members(inputs: &mut [Input]) -> Result<(), TableError> {
    let mut members = None;
    for Input { name, format, from, .. } in &*inputs {
        let From::File(path) = from else { continue };
        let by_name = format.or_else(|| TableFormat::of_path(path));
        if by_name.is_some_and(|format| format != TableFormat::Jsonl) || Twice::at(path).is_none() {
            continue;
        }
        let file = File::open(path).map_err(|error| unread(name, error))?;
        let text = Text::open(file, name)?;
        if by_name.or_else(|| TableFormat::of_head(&text.head)) == Some(TableFormat::Jsonl) {
            let members = members.get_or_insert_with(Members::default);
            members.learn(BufReader::new(text.all), name)?;
        }
    }
    let members = members.map(Arc::new);
    inputs.iter_mut().for_each(|input| input.members = members.clone());
    Ok(())
}

/// A table that is being read.
pub(super) struct Reader {
    name: String,
    column: usize,
    schema: SchemaRef,
    rows: Rows,
    bytes: Arc<AtomicU64>,
    again: Option<Again>,
}

/// A table that can be read a second time.
#[derive(Clone)]
pub(super) struct Again {
    file: Twice,
    format: TableFormat,
    members: Option<Arc<Members>>,
}

impl Again {
    /// The table, to be opened.
    pub(super) fn input(&self) -> Input {
        let members = self.members.clone();
        Input { members, ..Input::file(self.file.path(), Some(self.format)) }
    }

    /// An error if it is not what it was the first time.
    pub(super) fn check(&self) -> Result<(), TableError> {
        self.file.check().map_err(|error| unread(&self.file.path().display().to_string(), error))
    }
}

enum Rows {
    /// Row groups of Parquet, to be decoded by any thread.
    Groups(Groups),
    /// Batches as they come.
    Batches(Box<dyn Iterator<Item = Result<RecordBatch, TableError>> + Send>),
}

impl Reader {
    /// Opens `input`, a table for `job`.
    pub(super) fn open(input: Input, job: &Job) -> Result<Reader, TableError> {
        let Input { name, format, from, members } = input;
        let bytes = Arc::new(AtomicU64::new(0));
        let fault = |error: &dyn fmt::Display| unread(&name, error);
        let (path, stream) = match from {
            From::Stream(stream) => (None, stream),
            From::File(path) => {
                let file = File::open(&path).map_err(|error| fault(&error))?;
                (Some(path), Box::new(file) as Box<dyn Read + Send>)
            }
        };
        let twice = path.as_deref().and_then(Twice::at);
        let by_name = format.or_else(|| TableFormat::of_path(path.as_deref()?));
        let counted = Counted { inner: stream, bytes: bytes.clone() };
        let (format, (schema, rows)) = match (by_name, path) {
            (Some(format), Some(path)) if format.needs_file() => {
                (format, file_rows(format, path, &name, &bytes)?)
            }
            (by_name, path) => {
                let text = Text::open(counted, &name)?;
                match (by_name.or_else(|| TableFormat::of_head(&text.head)), path) {
                    (None, _) => {
                        return Err(fault(&"neither its name nor its first bytes tell its format"));
                    }
                    (Some(format), Some(path)) if format.needs_file() => {
                        (format, file_rows(format, path, &name, &bytes)?)
                    }
                    (Some(format), _) => {
                        let known = members.as_deref().map(|members| (members, twice.is_some()));
                        (format, text.rows(format, &name, job, known)?)
                    }
                }
            }
        };
        let column = column_of(&name, &schema, &job.column)?;
        let again = twice.map(|file| Again { file, format, members });
        Ok(Reader { name, column, schema, rows, bytes, again })
    }

    /// A table called `name` of what `stream` gives in the stream format of Arrow IPC.
    pub(super) fn of_stream(
        stream: impl Read + Send + 'static,
        name: &str,
        column: usize,
    ) -> Result<Reader, TableError> {
        let reader = StreamReader::try_new(BufReader::new(stream), None);
        let reader = reader.map_err(|error| unread(name, error))?;
        let (schema, rows) = (reader.schema(), batches(reader, name));
        let (name, bytes) = (name.to_owned(), Arc::default());
        Ok(Reader { name, column, schema, rows, bytes, again: None })
    }

    /// How to read the table a second time, if that is possible.
    pub(super) fn again(&self) -> Option<&Again> {
        self.again.as_ref()
    }

    /// Passes over up to `rows` rows, as far as that costs nothing; gives how many are still to be passed over.
    pub(super) fn skip(&mut self, mut rows: u64) -> u64 {
        if let Rows::Groups(groups) = &mut self.rows {
            rows = groups.skip(rows);
        }
        rows
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The number of the column of URIs, from 0.
    pub(super) fn column(&self) -> usize {
        self.column
    }

    /// Bytes read so far, as they lie in the file.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The next units, as many as there are threads; none at the end.
    pub(super) fn next_wave(&mut self) -> Result<Vec<Unit>, TableError> {
        let units = rayon::current_num_threads();
        match &mut self.rows {
            Rows::Groups(groups) => groups.next_wave(units, &self.name),
            Rows::Batches(batches) => {
                let mut wave = Vec::new();
                while wave.len() < units {
                    let mut unit = Unit::new();
                    while unit.iter().map(RecordBatch::num_rows).sum::<usize>() < UNIT_ROWS {
                        match batches.next() {
                            Some(batch) => unit.push(batch?),
                            None => break,
                        }
                    }
                    if unit.is_empty() {
                        break;
                    }
                    wave.push(unit);
                }
                Ok(wave)
            }
        }
    }
}

/// The column called `column`, or the one with that number from 1.
fn column_of(table: &str, schema: &Schema, column: &str) -> Result<usize, TableError> {
    let by_number = || {
        let number = column.parse::<usize>().ok()?.checked_sub(1)?;
        (number < schema.fields().len()).then_some(number)
    };
    schema.index_of(column).ok().or_else(by_number).ok_or_else(|| TableError::Column {
        table: table.to_owned(),
        column: column.to_owned(),
        columns: schema.fields().iter().map(|field| field.name().clone()).collect(),
    })
}

fn file_rows(
    format: TableFormat,
    path: PathBuf,
    name: &str,
    bytes: &Arc<AtomicU64>,
) -> Result<(SchemaRef, Rows), TableError> {
    let fault = |error: &dyn fmt::Display| unread(name, error);
    let file = File::open(&path).map_err(|error| fault(&error))?;
    if format == TableFormat::Arrow {
        let counted = BufReader::new(Counted { inner: file, bytes: bytes.clone() });
        let reader = FileReader::try_new(counted, None).map_err(|error| fault(&error))?;
        return Ok((reader.schema(), batches(reader, name)));
    }
    let metadata =
        ArrowReaderMetadata::load(&file, Default::default()).map_err(|error| fault(&error))?;
    let schema = metadata.schema().clone();
    Ok((schema, Rows::Groups(Groups::new(path, metadata, bytes.clone()))))
}

/// A table that is read from front to back, decompressed.
struct Text {
    /// Its first bytes.
    head: Vec<u8>,
    /// All of it.
    all: Box<dyn Read + Send>,
}

impl Text {
    fn open(stream: impl Read + Send + 'static, name: &str) -> Result<Text, TableError> {
        let mut stream = decompressed(Box::new(stream)).map_err(|error| unread(name, error))?;
        let mut head = Vec::new();
        let mut start = stream.by_ref().take(HEAD_BYTES);
        start.read_to_end(&mut head).map_err(|error| unread(name, error))?;
        // A byte order mark is no part of the first name.
        if head.starts_with(b"\xEF\xBB\xBF") {
            head.drain(..3);
        }
        let all = Box::new(io::Cursor::new(head.clone()).chain(stream));
        Ok(Text { head, all })
    }

    /// The members of the lines among the first bytes.
    fn members(&self, name: &str) -> Result<Members, TableError> {
        let is_all = (self.head.len() as u64) < HEAD_BYTES - 3;
        let whole = self.head.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let mut members = Members::default();
        members.learn(if is_all { &self.head[..] } else { &self.head[..whole] }, name)?;
        Ok(members)
    }

    /// The rows; `known` are the members of JSON lines, and whether they are those of this table.
    fn rows(
        self,
        format: TableFormat,
        name: &str,
        job: &Job,
        known: Option<(&Members, bool)>,
    ) -> Result<(SchemaRef, Rows), TableError> {
        let fault = |error: &dyn fmt::Display| unread(name, error);
        match format {
            TableFormat::Csv => self.separated(b',', name),
            TableFormat::Tsv => self.separated(b'\t', name),
            TableFormat::ArrowStream => {
                let reader =
                    StreamReader::try_new(self.all, None).map_err(|error| fault(&error))?;
                Ok((reader.schema(), batches(reader, name)))
            }
            TableFormat::Jsonl if job.to != TableFormat::Jsonl => {
                let (members, is_known) = match known {
                    Some((members, is_known)) => (members.clone(), is_known),
                    None => (self.members(name)?, false),
                };
                let schema = members.schema();
                let lines = BufReader::new(self.all);
                let records = Records::new(lines, name, members, is_known, BATCH_ROWS)?;
                Ok((schema, Rows::Batches(Box::new(records))))
            }
            TableFormat::Jsonl => {
                let lines = Lines::new(BufReader::new(self.all), job, name, BATCH_ROWS);
                Ok((lines.schema(), Rows::Batches(Box::new(lines))))
            }
            TableFormat::Parquet | TableFormat::Arrow => {
                Err(fault(&format_args!("{} is read from files only", format.name())))
            }
        }
    }

    /// Fields with `delimiter` between them.
    fn separated(self, delimiter: u8, name: &str) -> Result<(SchemaRef, Rows), TableError> {
        let fault = |error| unread(name, error);
        let csv = Csv::default().with_header(true).with_delimiter(delimiter);
        let (header, _) = csv.infer_schema(&self.head[..], Some(0)).map_err(fault)?;
        let text = |name: &String| Field::new(name, DataType::Utf8, true);
        let fields = header.fields().iter().map(|field| text(field.name())).collect::<Vec<_>>();
        let schema = Arc::new(Schema::new(fields));
        let builder = arrow_csv::ReaderBuilder::new(schema.clone()).with_format(csv);
        let reader = builder.with_batch_size(BATCH_ROWS).build(self.all).map_err(fault)?;
        Ok((schema, batches(reader, name)))
    }
}

fn batches(
    reader: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    name: &str,
) -> Rows {
    let name = name.to_owned();
    let told =
        move |batch: Result<RecordBatch, ArrowError>| batch.map_err(|error| unread(&name, error));
    Rows::Batches(Box::new(reader.map(told)))
}

/// Counts the bytes that are read.
struct Counted<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl<R: io::Seek> io::Seek for Counted<R> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).finish_non_exhaustive()
    }
}
