//! The rows of a table, in the order of the file.

use std::io::{BufReader, Read};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

use super::notes::Notes;
use crate::ipc;
use crate::parquet::decoding::guarded;
use crate::parquet::groups::Groups;
use crate::text::jsonl::Lines;
use crate::unit::{UNIT_BYTES, UNIT_CELLS, UNIT_ROWS, Unit, bytes_of};
use uriscan_bulk::error::Error;

/// Rows, a batch at a time.
pub(crate) enum Rows {
    /// Row groups of Parquet, to be decoded by any thread.
    Groups(Groups),
    /// Batches, one after the other.
    Batches(Box<dyn Iterator<Item = Result<RecordBatch, Error>> + Send>),
    /// Lines of JSON that are written unchanged.
    Lines(Box<Lines<BufReader<Box<dyn Read + Send>>>>),
}

impl Rows {
    /// Up to so many next `units` of the table called `name`; none at the end.
    pub(crate) fn next_units(&mut self, units: usize, name: &str) -> Result<Vec<Unit>, Error> {
        match self {
            Rows::Groups(groups) => groups.next_units(units, name),
            Rows::Batches(batches) => units_of(batches, units),
            Rows::Lines(lines) => units_of(lines, units),
        }
    }

    /// Up to so many of the first `rows` of the table called `name`, if there are any; nothing else of it is decoded.
    pub(crate) fn sample(&mut self, rows: usize, name: &str) -> Result<Option<RecordBatch>, Error> {
        let batch = match self {
            Rows::Groups(groups) => groups.sample(rows, name),
            Rows::Batches(batches) => batches.next().transpose(),
            Rows::Lines(lines) => lines.next().transpose(),
        };
        Ok(batch?.map(|batch| batch.slice(0, batch.num_rows().min(rows))))
    }
}

/// Up to so many units of `batches`.
fn units_of(
    batches: &mut dyn Iterator<Item = Result<RecordBatch, Error>>,
    count: usize,
) -> Result<Vec<Unit>, Error> {
    let mut units = Vec::new();
    while units.len() < count {
        let (mut unit, mut rows, mut bytes, mut cells) = (Unit::new(), 0, 0, 0);
        while rows < UNIT_ROWS && bytes < UNIT_BYTES && cells < UNIT_CELLS {
            let Some(batch) = batches.next().transpose()? else { break };
            rows += batch.num_rows();
            cells += batch.num_rows() * batch.num_columns();
            bytes += bytes_of(&batch);
            unit.push(batch);
        }
        if unit.is_empty() {
            break;
        }
        units.push(unit);
    }
    Ok(units)
}

/// The rows of a stream of Arrow IPC; what may be missing of them is put into `notes`.
pub(crate) fn stream_rows(
    stream: impl Read + Send + 'static,
    name: &str,
    notes: &Notes,
) -> Result<(SchemaRef, Rows), Error> {
    let mut stream =
        guarded(name, || ipc::Stream::open(stream).map_err(|error| Error::read(name, error)))?;
    let (schema, name, notes) = (stream.schema(), name.to_owned(), notes.clone());
    let next = move || {
        let batch = || stream.next().transpose().map_err(|error| Error::read(&name, error));
        let next = guarded(&name, batch).transpose();
        if next.is_none() && stream.lacks_mark() {
            notes.add(format!(
                "{name}: the stream has no mark at its end, so rows may be missing there"
            ));
        }
        next
    };
    Ok((schema, Rows::Batches(Box::new(std::iter::from_fn(next)))))
}

/// The batches that `reader` gives, of the table called `name`.
pub(crate) fn batches(
    mut reader: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    name: &str,
) -> Rows {
    let name = name.to_owned();
    let next = move || {
        let batch = || reader.next().transpose().map_err(|error| Error::read(&name, error));
        guarded(&name, batch).transpose()
    };
    Rows::Batches(Box::new(std::iter::from_fn(next)))
}
