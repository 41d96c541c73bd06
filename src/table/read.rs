//! Tables as batches of rows.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

use super::decoding::guarded;
use super::error::unread;
use super::groups::Groups;
use super::ipc;
use super::job::Job;
use super::kept::Kept;
use super::members::Members;
use super::rows::{Rows, batches, stream_rows};
use super::target::Target;
use super::text::Text;
use super::unit::Unit;
use super::{TableError, TableFormat};
use crate::files::File;
use crate::io::part::RereadableFile;

/// A table to be read.
pub struct Input {
    name: String,
    format: Option<TableFormat>,
    from: From,
    /// The members of all files of JSON lines, where they become columns.
    members: Option<Arc<Members>>,
    /// Of inputs that were prepared together.
    pub(super) prepared: Option<Arc<Prepared>>,
}

/// What inputs have in common that were prepared together.
pub(super) struct Prepared {
    /// The name and the columns of the first one.
    pub(super) first: String,
    pub(super) columns: SchemaRef,
    /// All of them, as far as they can be read again.
    pub(super) tables: Vec<RereadableTable>,
    /// Their number.
    pub(super) count: usize,
}

impl Prepared {
    /// Whether all tables have been read but for `last`, and none of them has the column, as [`Reader::lacks_column`] has it;
    /// they are read again to know that.
    pub(super) fn all_lack_column(&self, last: &Reader, job: &Job) -> Result<bool, TableError> {
        let is_last = |table: &RereadableTable| {
            last.rereadable().is_some_and(|last| last.file.path() == table.file.path())
        };
        if self.tables.len() < self.count || !self.tables.last().is_some_and(is_last) {
            return Ok(false);
        }
        for table in &self.tables {
            let mut reader = Reader::open(table.input(), job)?;
            while !reader.next_unit()?.is_empty() && reader.lacks_column() {}
            if !reader.lacks_column() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

enum From {
    File(PathBuf),
    Stream(Box<dyn Read + Send>),
}

impl Input {
    /// The file at `path`; without a format, it is detected from the name or the first bytes.
    pub fn file(path: impl Into<PathBuf>, format: Option<TableFormat>) -> Input {
        let path = path.into();
        Input {
            name: path.display().to_string(),
            format,
            from: From::File(path),
            members: None,
            prepared: None,
        }
    }

    /// The bytes of `reader`, called `name` in messages. Parquet and Arrow files cannot be read from a stream.
    pub fn stream(
        name: impl Into<String>,
        format: impl Into<Option<TableFormat>>,
        reader: impl Read + Send + 'static,
    ) -> Input {
        let from = From::Stream(Box::new(reader));
        let (name, format) = (name.into(), format.into());
        Input { name, format, from, members: None, prepared: None }
    }

    /// The name in messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The same table, to be opened once more, if it can be read twice.
    pub(super) fn reopened(&self) -> Option<Input> {
        let From::File(path) = &self.from else { return None };
        RereadableFile::at(path)?;
        let (name, from) = (self.name.clone(), From::File(path.clone()));
        let (members, prepared) = (self.members.clone(), self.prepared.clone());
        Some(Input { name, format: self.format, from, members, prepared })
    }
}

/// Reads the `inputs` that are files of JSON lines and passes their members to all of them.
pub(super) fn learn_members(inputs: &mut [Input], job: &Job) -> Result<(), TableError> {
    let mut members = None;
    for Input { name, format, from, .. } in &*inputs {
        let From::File(path) = from else { continue };
        let by_name = format.or_else(|| TableFormat::of_path(path));
        if by_name.is_some_and(|format| format != TableFormat::Jsonl)
            || RereadableFile::at(path).is_none()
        {
            continue;
        }
        let file = File::open(path).map_err(|error| unread(name, error))?;
        let text = Text::open(file, name)?;
        if by_name.or_else(|| TableFormat::of_head(&text.head)) == Some(TableFormat::Jsonl) {
            let members = members.get_or_insert_with(|| Members::new(&job.column));
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
    target: Target,
    schema: SchemaRef,
    rows: Rows,
    bytes: Arc<AtomicU64>,
    rereadable: Option<RereadableTable>,
    /// Which of its rows are read, if not all.
    kept: Option<Kept>,
    /// Ends reading when it is set.
    stop: Option<Arc<AtomicBool>>,
}

/// A table that can be read a second time.
#[derive(Clone)]
pub(super) struct RereadableTable {
    file: RereadableFile,
    format: TableFormat,
    members: Option<Arc<Members>>,
}

impl RereadableTable {
    /// The table, to be opened.
    pub(super) fn input(&self) -> Input {
        let members = self.members.clone();
        Input { members, ..Input::file(self.file.path(), Some(self.format)) }
    }

    /// Fails if it has changed since it was first opened.
    pub(super) fn check(&self) -> Result<(), TableError> {
        self.file.check().map_err(|error| unread(&self.file.path().display().to_string(), error))
    }
}

impl Reader {
    /// Opens `input`, a table for `job`.
    pub(super) fn open(input: Input, job: &Job) -> Result<Reader, TableError> {
        let Input { name, format, from, members, .. } = input;
        let bytes = Arc::new(AtomicU64::new(0));
        let fault = |error: &dyn fmt::Display| unread(&name, error);
        let (path, stream) = match from {
            From::Stream(stream) => (None, stream),
            From::File(path) => {
                let file = File::open(&path).map_err(|error| fault(&error))?;
                (Some(path), Box::new(file) as Box<dyn Read + Send>)
            }
        };
        let file = path.as_deref().and_then(RereadableFile::at);
        let by_name = format.or_else(|| TableFormat::of_path(path.as_deref()?));
        let counted = Counted { inner: stream, bytes: bytes.clone() };
        let (format, (schema, rows)) = match (by_name, path) {
            (Some(format), Some(path)) if format.needs_file() && file.is_some() => {
                (format, file_rows(format, path, &name, &bytes)?)
            }
            (by_name, path) => {
                let text = Text::open(counted, &name)?;
                match (by_name.or_else(|| TableFormat::of_head(&text.head)), path) {
                    (None, _) => {
                        return Err(fault(
                            &"neither its name nor its first bytes identify its format",
                        ));
                    }
                    (Some(format), Some(path)) if format.needs_file() && file.is_some() => {
                        (format, file_rows(format, path, &name, &bytes)?)
                    }
                    (Some(format), _) => {
                        let known = members.as_deref().map(|members| (members, file.is_some()));
                        (format, text.rows(format, &name, job, known)?)
                    }
                }
            }
        };
        let target = Target::find(&name, &schema, &job.column)?;
        let rereadable = file.map(|file| RereadableTable { file, format, members });
        let kept = job.filter.as_ref().map(|filter| Kept::new(filter, &job.columns.equivalence));
        let stop = job.stop.clone();
        Ok(Reader { name, target, schema, rows, bytes, rereadable, kept, stop })
    }

    /// A table called `name`, read from `stream` in the stream format of Arrow IPC.
    pub(super) fn of_stream(
        stream: impl Read + Send + 'static,
        name: &str,
        target: Target,
    ) -> Result<Reader, TableError> {
        let (schema, rows) = stream_rows(BufReader::new(stream), name)?;
        let (name, bytes) = (name.to_owned(), Arc::default());
        let (rereadable, kept, stop) = (None, None, None);
        Ok(Reader { name, target, schema, rows, bytes, rereadable, kept, stop })
    }

    /// How to read the table a second time, if that is possible.
    pub(super) fn rereadable(&self) -> Option<&RereadableTable> {
        self.rereadable.as_ref()
    }

    /// Skips up to `rows` rows, as far as that costs nothing; returns how many are left to skip.
    pub(super) fn skip(&mut self, mut rows: u64) -> u64 {
        if let (Rows::Groups(groups), None) = (&mut self.rows, &self.kept) {
            rows = groups.skip(rows);
        }
        rows
    }

    /// Whether there were rows so far, and none of them had the column: JSON lines without the member.
    pub(super) fn lacks_column(&self) -> bool {
        matches!(&self.rows, Rows::Lines(lines) if lines.lacks_member())
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Where the URIs are.
    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// Bytes of the file read so far, before decompression.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The next unit, if there is one.
    pub(super) fn next_unit(&mut self) -> Result<Vec<Unit>, TableError> {
        self.next_units(1)
    }

    /// The next units, as many as there are threads; none at the end.
    pub(super) fn next_wave(&mut self) -> Result<Vec<Unit>, TableError> {
        self.next_units(rayon::current_num_threads())
    }

    fn next_units(&mut self, count: usize) -> Result<Vec<Unit>, TableError> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(TableError::Stopped);
        }
        let units = self.rows.next_units(count, &self.name)?;
        match &mut self.kept {
            None => Ok(units),
            Some(kept) => kept.of(units, &self.target),
        }
    }

    /// Rows so far that were omitted because of their URI.
    pub(super) fn filtered(&self) -> u64 {
        self.kept.as_ref().map_or(0, |kept| kept.filtered)
    }
}

/// Passes the units of `reader` to `take`, one per thread at a time, with the number of bytes read so far; the next ones
/// are read meanwhile.
pub(super) fn each_wave(
    reader: &mut Reader,
    mut take: impl FnMut(Vec<Unit>, u64) -> Result<(), TableError> + Send,
) -> Result<(), TableError> {
    let mut wave = reader.next_wave()?;
    while !wave.is_empty() {
        let read = reader.bytes();
        let (next, taken) = rayon::join(|| reader.next_wave(), || take(wave, read));
        taken?;
        wave = next?;
    }
    Ok(())
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
        let reader = guarded(name, || ipc::Batches::open(counted).map_err(|error| fault(&error)))?;
        return Ok((reader.schema(), batches(reader, name)));
    }
    let file = file.into_plain();
    let metadata = guarded(name, || {
        ArrowReaderMetadata::load(&file, Default::default()).map_err(|error| fault(&error))
    })?;
    let schema = metadata.schema().clone();
    Ok((schema, Rows::Groups(Groups::new(path, metadata, bytes.clone()))))
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
