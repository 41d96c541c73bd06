//! Rows that are read a second time, when it is known which of them are written.
//!
//! Of tables that can be read only once, all rows spill to disk as a stream of Arrow IPC.

use std::io::BufWriter;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, UInt64Array};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{Schema, SchemaRef};
use arrow_select::filter::{filter, filter_record_batch};
use rayon::prelude::*;

use super::TableError;
use super::job::Job;
use super::read::{Again, Reader, each_wave};
use super::unit::Unit;
use super::values::blank;
use crate::pipeline::{Invalid, Select};
use crate::survivors::{SpillStream, StoreError, Survivors, Window};

/// What is known of the rows of a batch when they are read for the first time.
pub(super) struct Marked {
    /// Which rows are to be written now; null where there is not a URI.
    pub(super) marks: BooleanArray,
    /// How many are invalid.
    pub(super) invalid: Invalid,
    /// Whether what is to be written will only be known at the end.
    pub(super) waits: bool,
}

/// Which rows are written in the end.
pub(super) struct Chosen<'s> {
    pub(super) survivors: Survivors<'s>,
    pub(super) select: Select,
    /// Whether a column says how many rows each class has.
    pub(super) has_counts: bool,
    /// The number of the column of URIs, if rows without one are kept.
    pub(super) blank_in: Option<usize>,
    /// Rows with a URI that were written.
    pub(super) written: u64,
}

impl Chosen<'_> {
    /// For each row of `batch`, which is the next one, whether it is written, and how many rows it represents if that is asked for.
    fn next(
        &mut self,
        batch: &RecordBatch,
    ) -> Result<(BooleanArray, Option<UInt64Array>), TableError> {
        let rows = batch.num_rows();
        let (mut marks, mut counts) = (vec![false; rows], vec![None; rows]);
        let mut window = Window::default();
        self.survivors.advance(rows as u64, &mut window)?;
        for &(row, count) in self.survivors.find(&mut window) {
            let is_written = self.select.has(count);
            (marks[row as usize], counts[row as usize]) = (is_written, Some(count));
            self.written += u64::from(is_written);
        }
        if let Some(column) = self.blank_in {
            let blank = blank(batch.column(column))?;
            marks.iter_mut().zip(blank).for_each(|(mark, is_blank)| *mark |= is_blank);
        }
        Ok((marks.into(), self.has_counts.then(|| counts.into())))
    }
}

/// Places of rows that will be read again, table after table.
#[derive(Default)]
pub(super) struct Rereading {
    parts: Vec<Part>,
    /// Rows to be written with those that come first, as they were read together.
    held: Unit,
    /// Rows so far.
    pub(super) rows: u64,
}

/// Rows of a table.
struct Part {
    from: From,
    /// Rows that stand before them there.
    skip: u64,
    rows: u64,
}

enum From {
    Table(Again),
    Writing(Box<StreamWriter<BufWriter<SpillStream>>>),
    Stream(SpillStream),
}

impl Rereading {
    /// What comes now are the rows of a table with these columns, without the first `skip`. If it cannot be read `again`, they
    /// spill to a `stream`.
    pub(super) fn begin(
        &mut self,
        again: Option<&Again>,
        schema: &Schema,
        skip: u64,
        stream: impl FnOnce() -> Result<SpillStream, StoreError>,
    ) -> Result<(), TableError> {
        self.end_part()?;
        let (from, skip) = match again {
            Some(again) => (From::Table(again.clone()), skip),
            None => {
                let stream = BufWriter::new(stream()?);
                (From::Writing(Box::new(StreamWriter::try_new(stream, schema)?)), 0)
            }
        };
        self.parts.push(Part { from, skip, rows: 0 });
        Ok(())
    }

    /// Takes note of the next rows.
    pub(super) fn take(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        self.rows += batch.num_rows() as u64;
        let Some(part) = self.parts.last_mut() else { return Ok(()) };
        part.rows += batch.num_rows() as u64;
        if let From::Writing(writer) = &mut part.from {
            let done = writer.write(batch);
            done.map_err(|error| writer.get_ref().get_ref().fault(std::io::Error::other(error)))?;
        }
        Ok(())
    }

    /// Holds what is to be written of a unit whose other rows wait.
    pub(super) fn hold(&mut self, batches: Unit) {
        self.held.extend(batches);
    }

    fn end_part(&mut self) -> Result<(), TableError> {
        let Some(Part { from, skip, rows }) = self.parts.pop() else { return Ok(()) };
        let from = match from {
            From::Writing(writer) => {
                let stream = writer.get_ref().get_ref().clone();
                let writer = writer.into_inner();
                let writer = writer.map_err(|error| stream.fault(std::io::Error::other(error)))?;
                let done = writer.into_inner();
                From::Stream(done.map_err(|error| stream.fault(error.into_error()))?)
            }
            from => from,
        };
        self.parts.push(Part { from, skip, rows });
        Ok(())
    }

    /// Reads all of them and hands those that are `chosen` to `put`, as batches of the columns of `schema`.
    pub(super) fn read(
        mut self,
        job: &Job,
        (schema, column): (&SchemaRef, usize),
        chosen: &mut Chosen<'_>,
        mut put: impl FnMut(&[Unit]) -> Result<(), TableError> + Send,
    ) -> Result<(), TableError> {
        self.end_part()?;
        let Rereading { parts, mut held, .. } = self;
        for Part { from, skip, rows } in parts {
            let (mut reader, again) = match from {
                From::Table(again) => (Reader::open(again.input(), job)?, Some(again)),
                From::Stream(stream) => {
                    (Reader::of_stream(stream, "rows that spilled", column)?, None)
                }
                From::Writing(_) => continue,
            };
            let mut window = Extent { skip: reader.skip(skip), rows };
            each_wave(&mut reader, |units, _| {
                let mut units = kept(units, &mut window, chosen, schema)?;
                if let Some(unit) = units.first_mut() {
                    unit.splice(0..0, held.drain(..));
                }
                put(&units)
            })?;
            again.map_or(Ok(()), |again| again.check())?;
        }
        Ok(())
    }
}

/// The rows of a table that are to be read.
struct Extent {
    skip: u64,
    rows: u64,
}

impl Extent {
    /// What of `batch`, which follows the one before, is in it.
    fn cut(&mut self, batch: &RecordBatch) -> Option<RecordBatch> {
        let rows = batch.num_rows() as u64;
        let skip = self.skip.min(rows);
        let count = (rows - skip).min(self.rows);
        self.skip -= skip;
        self.rows -= count;
        (count > 0).then(|| batch.slice(skip as usize, count as usize))
    }
}

/// The rows of `units` that are in `window` and chosen.
fn kept(
    units: Vec<Unit>,
    window: &mut Extent,
    chosen: &mut Chosen<'_>,
    schema: &SchemaRef,
) -> Result<Vec<Unit>, TableError> {
    let mut marked = Vec::with_capacity(units.len());
    for unit in units {
        let mut of_unit = Vec::with_capacity(unit.len());
        for batch in unit {
            let Some(batch) = window.cut(&batch) else { continue };
            let (marks, counts) = chosen.next(&batch)?;
            of_unit.push((batch, marks, counts));
        }
        if !of_unit.is_empty() {
            marked.push(of_unit);
        }
    }
    let filtered = |(batch, marks, counts): (RecordBatch, BooleanArray, Option<UInt64Array>)| {
        let rows = filter_record_batch(&batch, &marks)?;
        let Some(counts) = counts else { return Ok(rows) };
        let counts: ArrayRef = filter(&counts, &marks)?;
        let columns = rows.columns().iter().cloned().chain([counts]).collect();
        RecordBatch::try_new(Arc::clone(schema), columns)
    };
    let filtered = marked.into_par_iter().map(|unit| unit.into_par_iter().map(filtered).collect());
    Ok(filtered.collect::<Result<Vec<Unit>, _>>()?)
}
