//! Writes batches of rows as tables.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_csv::QuoteStyle;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, IntervalUnit, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions,
    compute_leaves,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use rayon::prelude::*;

use crate::job::Job;
use crate::parquet::decoding::encoded;
use crate::parquet::metadata::of_footer;
use crate::parquet::zones::in_utc;
use crate::unit::Unit;
use crate::{TableFormat, parquet::annotations, parquet::sorted, text::jsonl, text::nested};
use uriscan_arrow::{each_value, is_text, spelled_out};
use uriscan_bulk::error::Error;

/// Where a table goes. Keeps the error of the system, which the writers of the formats reduce to text; and the output, which they keep
/// to their end. Clones share both.
pub(crate) struct Sink<W>(Arc<Mutex<Held<W>>>);

/// One that writes to what a caller has.
pub(crate) type Output<'a> = Sink<&'a mut (dyn Write + Send)>;

struct Held<W> {
    out: W,
    bytes: u64,
    fault: Option<io::Error>,
}

impl<W> Sink<W> {
    pub(crate) fn new(out: W) -> Sink<W> {
        Sink(Arc::new(Mutex::new(Held { out, bytes: 0, fault: None })))
    }

    fn lock(&self) -> MutexGuard<'_, Held<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// The error of the system, if writing failed.
    pub(crate) fn fault(&self) -> Option<Error> {
        self.lock().fault.take().map(Error::write)
    }

    /// The error of the system, if writing failed, or else `error`.
    pub(crate) fn cause(&self, error: Error) -> Error {
        self.fault().unwrap_or(error)
    }

    /// Calls `end` with the output.
    pub(crate) fn end(&self, end: impl FnOnce(&mut W) -> io::Result<()>) -> Result<(), Error> {
        end(&mut self.lock().out).map_err(Error::write)
    }
}

impl<W> Clone for Sink<W> {
    fn clone(&self) -> Sink<W> {
        Sink(Arc::clone(&self.0))
    }
}

impl<W> Held<W> {
    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let copy = io::Error::new(error.kind(), error.to_string());
            self.fault.get_or_insert(error);
            copy
        })
    }
}

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let held = &mut *self.lock();
        let written = held.out.write(bytes);
        held.bytes += *written.as_ref().unwrap_or(&0) as u64;
        held.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let held = &mut *self.lock();
        let flushed = held.out.flush();
        held.note(flushed)
    }
}

/// A table that is being written.
pub(crate) enum Writer<W: Write> {
    Parquet {
        file: SerializedFileWriter<W>,
        columns: ArrowRowGroupWriterFactory,
        groups: usize,
    },
    Arrow(FileWriter<W>),
    ArrowStream(StreamWriter<W>),
    Csv(arrow_csv::Writer<W>),
    /// CSV or TSV without quotes, whose fields must not hold this delimiter.
    Unquoted(arrow_csv::Writer<W>, u8),
    Jsonl(arrow_json::LineDelimitedWriter<W>),
    /// JSON lines that are written unchanged.
    Lines(W),
}

impl<W: Write + Send> Writer<W> {
    /// The table of the results of `job`, with these columns, written to `sink`.
    pub(crate) fn new(job: &Job, schema: SchemaRef, sink: W) -> Result<Writer<W>, Error> {
        let format = job.to;
        if let Some(field) = schema.fields().iter().find(|field| !holds(format, field.data_type()))
        {
            let (name, of, format) = (field.name(), field.data_type(), format.name());
            let what = match of {
                DataType::Struct(fields) if fields.is_empty() => format!(
                    "{format} cannot hold column {name}, an object without members; write arrow or jsonl"
                ),
                _ => format!("{format} cannot hold column {name}, which is {of}; write arrow"),
            };
            return Err(Error::unsupported(what));
        }
        encoded(format.name(), || Writer::open(job, schema, sink))
    }

    fn open(job: &Job, schema: SchemaRef, sink: W) -> Result<Writer<W>, Error> {
        let format = job.to;
        if let Some((delimiter, quote)) = job.dialect.of(format)? {
            let builder = arrow_csv::WriterBuilder::new().with_delimiter(delimiter);
            let has_header = job.dialect.has_header;
            let builder = builder.with_header(has_header);
            let builder = match quote {
                Some(quote) => builder.with_quote(quote),
                None => builder.with_quote_style(QuoteStyle::Never),
            };
            if quote.is_none() && has_header {
                let names = schema.fields().iter().map(|field| field.name());
                refuse_quoted(names, delimiter, "the header")?;
            }
            let mut writer = builder.build(sink);
            // The header, even if there is no row.
            writer.write(&text_of(&RecordBatch::new_empty(schema))?)?;
            return Ok(match quote {
                Some(_) => Writer::Csv(writer),
                None => Writer::Unquoted(writer, delimiter),
            });
        }
        Ok(match format {
            TableFormat::Parquet => {
                let level = ZstdLevel::try_new(3)?;
                let (schema, columns) = annotations::written(&schema)?;
                let sorted = job.sort_by.is_none().then(|| sorted::declared(&schema, &columns));
                let schema = Arc::new(sorted::without(&schema));
                // Other programs show this metadata, but not that of Arrow.
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(level))
                    .set_key_value_metadata(of_footer(&schema))
                    .set_sorting_columns(sorted.flatten())
                    .build();
                let options = ArrowWriterOptions::new()
                    .with_properties(properties)
                    .with_parquet_schema(columns);
                let writer = ArrowWriter::try_new_with_options(sink, schema, options)?;
                let (file, columns) = writer.into_serialized_writer()?;
                Writer::Parquet { file, columns, groups: 0 }
            }
            TableFormat::Arrow => {
                let schema = sorted::without(&schema);
                let options =
                    IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD))?;
                Writer::Arrow(FileWriter::try_new_with_options(sink, &schema, options)?)
            }
            TableFormat::ArrowStream => {
                let schema = sorted::without(&schema);
                Writer::ArrowStream(StreamWriter::try_new(sink, &schema)?)
            }
            _ if jsonl::is_of_lines(&schema) => Writer::Lines(sink),
            _ => {
                let builder = arrow_json::WriterBuilder::new().with_explicit_nulls(true);
                Writer::Jsonl(builder.build(sink))
            }
        })
    }

    /// Adds the rows of `units`.
    pub(crate) fn write(&mut self, units: &[Unit]) -> Result<(), Error> {
        if let Writer::Parquet { file, columns, groups } = self {
            // Units without rows do not become row groups.
            let units = units.iter().filter(|unit| unit.iter().any(|b| b.num_rows() > 0));
            let numbered: Vec<(usize, &Unit)> = (*groups..).zip(units).collect();
            *groups += numbered.len();
            let encoded = numbered.par_iter().map(|(number, unit)| encode(columns, *number, unit));
            for chunks in encoded.collect::<Result<Vec<_>, _>>()? {
                let mut group = file.next_row_group()?;
                for chunk in chunks {
                    chunk.append_to_row_group(&mut group)?;
                }
                group.close()?;
            }
            return Ok(());
        }
        let mut batches = units.iter().flatten();
        batches.try_for_each(|batch| encoded("a batch of rows", || self.write_batch(batch)))
    }

    fn write_batch(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        match self {
            Writer::Parquet { .. } => {}
            Writer::Arrow(writer) => writer.write(batch)?,
            Writer::ArrowStream(writer) => writer.write(batch)?,
            Writer::Csv(writer) => writer.write(&text_of(batch)?)?,
            Writer::Unquoted(writer, delimiter) => {
                let batch = text_of(batch)?;
                refuse_quoted_values(&batch, *delimiter)?;
                writer.write(&batch)?;
            }
            Writer::Jsonl(writer) => writer.write(&in_utc(batch)?)?,
            Writer::Lines(out) => jsonl::write(batch, out)?,
        }
        Ok(())
    }

    /// Completes the table.
    pub(crate) fn finish(self) -> Result<(), Error> {
        match self {
            Writer::Parquet { file, .. } => file.close().map(drop)?,
            Writer::Arrow(mut writer) => writer.finish()?,
            Writer::ArrowStream(mut writer) => writer.finish()?,
            Writer::Jsonl(mut writer) => writer.finish()?,
            Writer::Csv(_) | Writer::Unquoted(..) | Writer::Lines(_) => {}
        }
        Ok(())
    }
}

/// `batch` as CSV can hold it.
fn text_of(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    nested::as_json(&in_utc(batch)?)
}

/// The end of a message.
const WITHOUT_QUOTES: &str = "which needs quotes; write csv, or type --quote '\"'";

/// Returns an error if `batch` has text that CSV cannot hold without quotes.
fn refuse_quoted_values(batch: &RecordBatch, delimiter: u8) -> Result<(), Error> {
    let schema = batch.schema();
    let is_alone = batch.num_columns() == 1;
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        if !is_text(field.data_type()) {
            continue;
        }
        let values = spelled_out(column)?;
        let place = format!("column {}", field.name());
        for value in each_value(&values) {
            let value = value.unwrap_or_default();
            if is_alone && value.is_empty() {
                let what = format!("{place} has an empty row, {WITHOUT_QUOTES}");
                return Err(Error::unsupported(what));
            }
            refuse_quoted([value], delimiter, &place)?;
        }
    }
    Ok(())
}

/// Returns an error if one of `fields`, which are in `place`, needs quotes.
fn refuse_quoted(
    fields: impl IntoIterator<Item = impl AsRef<[u8]>>,
    delimiter: u8,
    place: &str,
) -> Result<(), Error> {
    for field in fields {
        if memchr::memchr3(delimiter, b'\r', b'\n', field.as_ref()).is_some() {
            let what =
                format!("{place} has a delimiter or a line end in a field, {WITHOUT_QUOTES}");
            return Err(Error::unsupported(what));
        }
    }
    Ok(())
}

/// Encodes the columns of a row group in parallel.
fn encode(
    columns: &ArrowRowGroupWriterFactory,
    number: usize,
    unit: &Unit,
) -> Result<Vec<ArrowColumnChunk>, Error> {
    let mut writers = columns.create_column_writers(number)?.into_iter();
    let Some(first) = unit.first() else { return Ok(Vec::new()) };
    let schema = first.schema();
    let mut work: Vec<(usize, Vec<ArrowColumnWriter>)> = Vec::new();
    for (i, field) in schema.fields().iter().enumerate() {
        let leaves = leaves(field.data_type());
        work.push((i, writers.by_ref().take(leaves).collect()));
    }
    let chunks = work.into_par_iter().map(|(i, mut writers)| {
        let chunks = || {
            for batch in unit {
                let leaves = compute_leaves(schema.field(i), batch.column(i))?;
                for (writer, leaf) in writers.iter_mut().zip(leaves) {
                    writer.write(&leaf)?;
                }
            }
            writers.into_iter().map(ArrowColumnWriter::close).collect::<Result<Vec<_>, _>>()
        };
        encoded(format_args!("column {}", schema.field(i).name()), chunks)
    });
    Ok(chunks.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Whether a table in `format` can have columns of this type.
fn holds(format: TableFormat, of: &DataType) -> bool {
    let is_parquet = format == TableFormat::Parquet;
    let is_held = match of {
        DataType::Union(..) => matches!(format, TableFormat::Arrow | TableFormat::ArrowStream),
        DataType::FixedSizeBinary(0) | DataType::Interval(IntervalUnit::MonthDayNano) => {
            !is_parquet
        }
        // Of objects without members nothing would be there.
        DataType::Struct(fields) if fields.is_empty() => !is_parquet,
        _ => true,
    };
    is_held && types_in(of).into_iter().all(|of| holds(format, of))
}

/// The number of Parquet columns for a column of this type, which has members if it is one of objects.
fn leaves(of: &DataType) -> usize {
    types_in(of).into_iter().map(leaves).sum::<usize>().max(1)
}

/// The types of the values within values of this type.
fn types_in(of: &DataType) -> Vec<&DataType> {
    match of {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::RunEndEncoded(_, item)
        | DataType::Map(item, _) => vec![item.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        DataType::Dictionary(_, value) => vec![value],
        _ => Vec::new(),
    }
}
