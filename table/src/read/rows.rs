//! The rows of a table, in the order of the file.

use std::io::{BufReader, Read};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

use super::notes::Notes;
use super::unit::{UNIT_BYTES, UNIT_CELLS, UNIT_ROWS, Unit, bytes_of};
use crate::ipc;
use crate::parquet::decoding::guarded;
use crate::parquet::groups::Groups;
use crate::text::jsonl::Lines;
use uriscan_bulk::error::Error;

/// Rows, a batch at a time.
pub(crate) enum Rows {
    /// Row groups of Parquet, to be decoded by any thread.
    Groups(Groups),
    /// Batches of a stream of Arrow IPC.
    Stream(Box<StreamRows>),
    /// Batches, one after the other.
    Batches(Box<dyn Iterator<Item = Result<RecordBatch, Error>> + Send>),
    /// Lines of JSON that are written unchanged.
    Lines(Box<Lines<BufReader<Box<dyn Read + Send>>>>),
}

impl Rows {
    /// Where notes about them are put.
    pub(crate) fn note_in(&mut self, notes: &Notes) {
        if let Rows::Stream(stream) = self {
            stream.notes = notes.clone();
        }
    }

    /// Up to so many next `units` of the table called `name`; none at the end.
    pub(crate) fn next_units(&mut self, units: usize, name: &str) -> Result<Vec<Unit>, Error> {
        match self {
            Rows::Groups(groups) => groups.next_wave(units, name),
            Rows::Stream(stream) => wave_of(stream.as_mut(), units),
            Rows::Batches(batches) => wave_of(batches, units),
            Rows::Lines(lines) => wave_of(lines, units),
        }
    }

    /// Up to so many of the first `rows` of the table called `name`, if there are any; nothing else of it is decoded.
    pub(crate) fn sample(&mut self, rows: usize, name: &str) -> Result<Option<RecordBatch>, Error> {
        let batch = match self {
            Rows::Groups(groups) => groups.sample(rows, name),
            Rows::Stream(stream) => stream.next().transpose(),
            Rows::Batches(batches) => batches.next().transpose(),
            Rows::Lines(lines) => lines.next().transpose(),
        };
        Ok(batch?.map(|batch| batch.slice(0, batch.num_rows().min(rows))))
    }
}

/// Up to so many units of `batches`.
fn wave_of(
    batches: &mut dyn Iterator<Item = Result<RecordBatch, Error>>,
    units: usize,
) -> Result<Vec<Unit>, Error> {
    let mut wave = Vec::new();
    while wave.len() < units {
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
        wave.push(unit);
    }
    Ok(wave)
}

/// The batches of a stream of Arrow IPC.
pub(crate) struct StreamRows {
    stream: ipc::Stream<Box<dyn Read + Send>>,
    name: String,
    /// Where it is noted that there may have been more rows.
    notes: Notes,
}

impl Iterator for StreamRows {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let StreamRows { stream, name, notes } = self;
        let batch = || stream.next().transpose().map_err(|error| Error::read(name, error));
        let next = guarded(name, batch).transpose();
        if next.is_none() && stream.lacks_mark() {
            notes.add(format!(
                "{name}: the stream has no mark at its end, so rows may be missing there"
            ));
        }
        next
    }
}

/// The rows of a stream of Arrow IPC.
pub(crate) fn stream_rows(
    stream: impl Read + Send + 'static,
    name: &str,
) -> Result<(SchemaRef, Rows), Error> {
    let stream: Box<dyn Read + Send> = Box::new(stream);
    let stream =
        guarded(name, || ipc::Stream::open(stream).map_err(|error| Error::read(name, error)))?;
    let (schema, name, notes) = (stream.schema(), name.to_owned(), Notes::default());
    Ok((schema, Rows::Stream(Box::new(StreamRows { stream, name, notes }))))
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
