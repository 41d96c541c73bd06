//! The second pass: rows are read again once it is known which of them are written.
//!
//! The rows of tables that can be read only once spill to disk as a stream of Arrow IPC.

use std::io::BufWriter;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::filter::{filter, filter_record_batch};
use rayon::prelude::*;

use super::values::blank;
use crate::job::Job;
use crate::job::target::Target;
use crate::read::reader::{Reader, RereadableTable, each_units};
use crate::unit::Unit;
use uriscan_bulk::error::Error;
use uriscan_bulk::pipeline::{Invalid, Select};
use uriscan_bulk::survivors::{SpillStream, StoreError, Survivors, Window};

/// What the first pass knows of the rows of a batch.
pub(crate) struct Marked {
    /// Which rows are written now; null for rows without a URI.
    pub(crate) marks: BooleanArray,
    pub(crate) invalid: Invalid,
    /// Whether only the second pass decides what is written.
    pub(crate) is_deferred: bool,
}

/// The rows that the second pass writes.
pub(crate) struct Chosen {
    pub(crate) survivors: Survivors,
    pub(crate) select: Select,
    /// Whether a column holds the number of rows of each class.
    pub(crate) has_counts: bool,
    /// Where the URIs are, if rows without one are kept.
    pub(crate) blank_in: Option<Target>,
    /// Rows with a URI that were written.
    pub(crate) written: u64,
}

impl Chosen {
    /// For each row of `batch`, the next one: whether it is written, and how many rows it represents if `has_counts`.
    fn next(&mut self, batch: &RecordBatch) -> Result<(BooleanArray, Option<Int64Array>), Error> {
        let rows = batch.num_rows();
        let (mut marks, mut counts) = (vec![false; rows], vec![None; rows]);
        let mut window = Window::default();
        self.survivors.advance(rows as u64, &mut window)?;
        for &(row, count) in self.survivors.find(&mut window) {
            let is_written = self.select.has(count);
            (marks[row as usize], counts[row as usize]) = (is_written, Some(count.cast_signed()));
            self.written += u64::from(is_written);
        }
        if let Some(target) = &self.blank_in {
            let blank = blank(&target.values(batch)?)?;
            marks.iter_mut().zip(blank).for_each(|(mark, is_blank)| *mark |= is_blank);
        }
        Ok((marks.into(), self.has_counts.then(|| counts.into())))
    }
}

/// Positions of the rows to be read again, table after table.
#[derive(Default)]
pub(crate) struct SecondPass {
    parts: Vec<Part>,
    /// Rows to be written with the first ones, because they were read together.
    held: Unit,
    pub(crate) rows: u64,
}

/// Rows of a table.
struct Part {
    from: From,
    extent: Extent,
}

enum From {
    Table(RereadableTable),
    Spilled(Box<StreamWriter<BufWriter<SpillStream>>>),
}

impl Part {
    /// Writes to the stream that the rows spill to, if they do.
    fn spill(
        &mut self,
        write: impl FnOnce(&mut StreamWriter<BufWriter<SpillStream>>) -> Result<(), ArrowError>,
    ) -> Result<(), Error> {
        let From::Spilled(writer) = &mut self.from else { return Ok(()) };
        let done = write(writer);
        Ok(done.map_err(|error| writer.get_ref().get_ref().fault(std::io::Error::other(error)))?)
    }
}

impl SecondPass {
    /// Starts a table with these columns; its first `skip` rows do not belong to the pass. If it is not `rereadable`, the rows
    /// spill to a `stream`.
    pub(crate) fn begin(
        &mut self,
        rereadable: Option<&RereadableTable>,
        schema: &Schema,
        skip: u64,
        stream: impl FnOnce() -> Result<SpillStream, StoreError>,
    ) -> Result<(), Error> {
        self.end_part()?;
        let (from, skip) = match rereadable {
            Some(table) => (From::Table(table.clone()), skip),
            None => {
                let stream = BufWriter::new(stream()?);
                (From::Spilled(Box::new(StreamWriter::try_new(stream, schema)?)), 0)
            }
        };
        self.parts.push(Part { from, extent: Extent { skip, rows: 0 } });
        Ok(())
    }

    /// Adds the next rows.
    pub(crate) fn push(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        self.rows += batch.num_rows() as u64;
        let Some(part) = self.parts.last_mut() else { return Ok(()) };
        part.extent.rows += batch.num_rows() as u64;
        part.spill(|writer| writer.write(batch))
    }

    /// Keeps the rows to be written of a unit whose other rows are deferred.
    pub(crate) fn hold(&mut self, batches: Unit) {
        self.held.extend(batches);
    }

    fn end_part(&mut self) -> Result<(), Error> {
        self.parts.last_mut().map_or(Ok(()), |part| part.spill(StreamWriter::finish))
    }

    /// Reads all rows and passes those that are `chosen` to `put`, as batches of the columns of `schema`.
    pub(crate) fn read(
        mut self,
        job: &Job,
        (schema, target): (&SchemaRef, &Target),
        chosen: &mut Chosen,
        mut put: impl FnMut(&[Unit]) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        self.end_part()?;
        let SecondPass { parts, mut held, .. } = self;
        for Part { from, mut extent } in parts {
            let (mut reader, table) = match from {
                From::Table(table) => (Reader::open(table.input(), job)?, Some(table)),
                From::Spilled(writer) => {
                    let stream = writer.get_ref().get_ref().clone();
                    (Reader::of_stream(stream, "spilled rows", target.clone())?, None)
                }
            };
            extent.skip = reader.skip(extent.skip);
            each_units(&mut reader, |units, _| {
                let mut units = kept(units, &mut extent, chosen, schema)?;
                if let Some(unit) = units.first_mut() {
                    unit.splice(0..0, held.drain(..));
                }
                put(&units)
            })?;
            table.map_or(Ok(()), |table| table.check())?;
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
    /// The part of `batch`, the next one, that is within the extent.
    fn cut(&mut self, batch: &RecordBatch) -> Option<RecordBatch> {
        let rows = batch.num_rows() as u64;
        let skip = self.skip.min(rows);
        let count = (rows - skip).min(self.rows);
        self.skip -= skip;
        self.rows -= count;
        (count > 0).then(|| batch.slice(skip as usize, count as usize))
    }
}

fn kept(
    units: Vec<Unit>,
    extent: &mut Extent,
    chosen: &mut Chosen,
    schema: &SchemaRef,
) -> Result<Vec<Unit>, Error> {
    let mut marked = Vec::with_capacity(units.len());
    for unit in units {
        let mut of_unit = Vec::with_capacity(unit.len());
        for batch in unit {
            let Some(batch) = extent.cut(&batch) else { continue };
            let (marks, counts) = chosen.next(&batch)?;
            of_unit.push((batch, marks, counts));
        }
        if !of_unit.is_empty() {
            marked.push(of_unit);
        }
    }
    let filtered = |(batch, marks, counts): (RecordBatch, BooleanArray, Option<Int64Array>)| {
        let rows = filter_record_batch(&batch, &marks)?;
        let Some(counts) = counts else { return Ok(rows) };
        let counts: ArrayRef = filter(&counts, &marks)?;
        let columns = rows.columns().iter().cloned().chain([counts]).collect();
        RecordBatch::try_new(Arc::clone(schema), columns)
    };
    let filtered = marked.into_par_iter().map(|unit| unit.into_par_iter().map(filtered).collect());
    Ok(filtered.collect::<Result<Vec<Unit>, _>>()?)
}
