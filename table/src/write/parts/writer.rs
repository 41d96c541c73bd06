//! Writes results to several files.

use std::io;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;

use super::layout::{Folder, Layout, PartFile};
use super::split::Split;
use crate::job::Job;
use crate::job::target::Target;
use crate::unit::{UNIT_ROWS, Unit, bytes_of};
use crate::write::writer::{Sink, Writer};
use crate::{TableFormat, parquet::sorted};
use uriscan_bulk::error::Error;

/// Bytes of rows that are held for partitions, in all.
const HELD_BYTES: usize = if cfg!(test) { 1 << 16 } else { 256 << 20 };

/// Arrow files that are unfinished at a time: each keeps a compressor with some megabytes. The other formats keep no more than
/// their footer.
const MOST_ARROW_FILES: usize = if cfg!(test) { 1 << 4 } else { 1 << 8 };

/// The files of the results of a job.
pub(crate) struct Parts<'j> {
    job: &'j Job,
    layout: &'j Layout,
    folder: &'j mut dyn Folder,
    /// The columns of the files.
    schema: SchemaRef,
    split: Option<Split>,
    /// By number; one for all rows if they are not split.
    partitions: Vec<Partition>,
    held_bytes: usize,
    /// Files that are unfinished, and how often one was written to.
    unfinished: usize,
    writes: u64,
}

/// A directory of files.
#[derive(Default)]
struct Partition {
    held: Unit,
    held_bytes: usize,
    held_rows: usize,
    file: Option<Part>,
    files: usize,
}

/// A file that is being written.
struct Part {
    writer: Writer<Sink<Box<dyn PartFile>>>,
    file: Sink<Box<dyn PartFile>>,
    rows: u64,
    /// The number of the last write to any file that was one to this.
    written: u64,
}

impl<'j> Parts<'j> {
    /// Files for rows with the columns of `schema`, whose URIs are at `target`. Fails if they
    /// cannot be partitioned so, or their format cannot hold them.
    pub(crate) fn new(
        job: &'j Job,
        (schema, target): (SchemaRef, &Target),
        layout: &'j Layout,
        folder: &'j mut dyn Folder,
    ) -> Result<Parts<'j>, Error> {
        let split = match layout.partition_by.is_empty() {
            true => None,
            false => Some(Split::new(layout, &schema, target, job.columns.kernels)?),
        };
        let schema = split.as_ref().map_or(Ok(schema.clone()), |split| split.schema(&schema))?;
        // Rows of several groups are joined to one.
        let schema = Arc::new(sorted::without(&schema));
        // What the format cannot hold is an error before anything is read.
        Writer::new(job, schema.clone(), io::sink())?;
        let partitions = Vec::new();
        let (held_bytes, unfinished, writes) = (0, 0, 0);
        Ok(Parts { job, layout, folder, schema, split, partitions, held_bytes, unfinished, writes })
    }

    /// Adds the rows of `units`.
    pub(crate) fn write(&mut self, units: &[Unit]) -> Result<(), Error> {
        for unit in units {
            let Some(split) = &mut self.split else {
                self.flush(0, unit.clone())?;
                continue;
            };
            let mut parts: Vec<(usize, Unit)> = Vec::new();
            let mut places = std::collections::HashMap::new();
            for batch in unit {
                for (partition, rows) in split.parts(batch)? {
                    let at = *places.entry(partition).or_insert_with(|| {
                        parts.push((partition, Unit::new()));
                        parts.len() - 1
                    });
                    parts[at].1.push(rows);
                }
            }
            for (partition, rows) in parts {
                // One batch for each unit, so that sizes do not depend on how rows come in batches.
                self.hold(partition, concat_batches(&self.schema, &rows)?)?;
            }
            if self.held_bytes > HELD_BYTES {
                self.relieve()?;
            }
        }
        Ok(())
    }

    /// Keeps rows of a partition until they are worth a row group.
    fn hold(&mut self, number: usize, rows: RecordBatch) -> Result<(), Error> {
        let bytes = bytes_of(&rows);
        let partition = self.partition(number);
        partition.held_bytes += bytes;
        partition.held_rows += rows.num_rows();
        partition.held.push(rows);
        let is_enough = partition.held_rows >= UNIT_ROWS;
        self.held_bytes += bytes;
        if is_enough { self.flush_held(number) } else { Ok(()) }
    }

    /// Writes the rows of the partitions that hold the most, until half of the limit is left.
    fn relieve(&mut self) -> Result<(), Error> {
        let mut order: Vec<usize> = (0..self.partitions.len()).collect();
        order.sort_by_key(|&number| std::cmp::Reverse(self.partitions[number].held_bytes));
        for number in order {
            if self.held_bytes <= HELD_BYTES / 2 {
                break;
            }
            self.flush_held(number)?;
        }
        Ok(())
    }

    fn flush_held(&mut self, number: usize) -> Result<(), Error> {
        let partition = self.partition(number);
        let (held, bytes) = (std::mem::take(&mut partition.held), partition.held_bytes);
        (partition.held_bytes, partition.held_rows) = (0, 0);
        self.held_bytes -= bytes;
        self.flush(number, held)
    }

    fn partition(&mut self, number: usize) -> &mut Partition {
        if self.partitions.len() <= number {
            self.partitions.resize_with(number + 1, Partition::default);
        }
        &mut self.partitions[number]
    }

    /// Writes `rows` to the files of a partition.
    fn flush(&mut self, number: usize, rows: Unit) -> Result<(), Error> {
        let most_rows = self.piece_rows(&rows);
        let mut rows = rows.into_iter().filter(|batch| batch.num_rows() > 0).collect();
        while !Unit::is_empty(&rows) {
            let written = self.part(number)?.rows;
            let room = self.layout.rows.map_or(most_rows, |rows| (rows - written).min(most_rows));
            let piece = cut(&mut rows, room);
            let layout = self.layout;
            let Part { writer, file, rows: in_file, .. } = self.part(number)?;
            *in_file += piece.iter().map(|batch| batch.num_rows() as u64).sum::<u64>();
            writer.write(&[piece]).map_err(|error| file.cause(error))?;
            let is_full = layout.rows.is_some_and(|rows| *in_file >= rows)
                || layout.bytes.is_some_and(|bytes| file.bytes() >= bytes);
            if is_full {
                self.close(number)?;
            }
        }
        Ok(())
    }

    /// Rows of `unit` that are written between two looks at the size of a file: about as many as fit in one uncompressed, and
    /// for text, which is not compressed, an eighth of that.
    fn piece_rows(&self, unit: &Unit) -> u64 {
        let Some(bytes) = self.layout.bytes else { return u64::MAX };
        let (rows, of_unit) = unit.iter().fold((0, 0), |(rows, bytes), batch| {
            (rows + batch.num_rows() as u64, bytes + bytes_of(batch) as u64)
        });
        let fit = u128::from(rows) * u128::from(bytes) / u128::from(of_unit.max(1));
        let fit = u64::try_from(fit).unwrap_or(u64::MAX);
        let is_packed = matches!(self.job.to, TableFormat::Parquet | TableFormat::Arrow);
        if is_packed { fit.max(1) } else { (fit / 8).max(1) }
    }

    /// The file of a partition that is being written.
    fn part(&mut self, number: usize) -> Result<&mut Part, Error> {
        if self.partition(number).file.is_none() {
            if self.job.to == TableFormat::Arrow && self.unfinished == MOST_ARROW_FILES {
                self.close_oldest()?;
            }
            self.unfinished += 1;
        }
        self.writes += 1;
        let Parts { job, folder, schema, split, partitions, writes, .. } = self;
        let Partition { file, files, .. } = &mut partitions[number];
        let opened = match file.take() {
            Some(part) => part,
            None => {
                let directory = split.as_ref().map_or("", |split| &split.directories[number]);
                let path = format!("{directory}part-{files:05}.{}", extension(job.to));
                *files += 1;
                let file = Sink::new(folder.create(&path).map_err(Error::write)?);
                let writer = Writer::new(job, schema.clone(), file.clone());
                let writer = writer.map_err(|error| file.cause(error))?;
                Part { writer, file, rows: 0, written: 0 }
            }
        };
        let part = file.insert(opened);
        part.written = *writes;
        Ok(part)
    }

    /// Completes the file that was not written to for the longest time.
    fn close_oldest(&mut self) -> Result<(), Error> {
        let files = self.partitions.iter().enumerate();
        let files = files.filter_map(|(number, it)| Some((it.file.as_ref()?.written, number)));
        files.min().map_or(Ok(()), |(_, number)| self.close(number))
    }

    fn close(&mut self, number: usize) -> Result<(), Error> {
        let Some(Part { writer, file, .. }) = self.partitions[number].file.take() else {
            return Ok(());
        };
        self.unfinished -= 1;
        writer.finish().map_err(|error| file.cause(error))?;
        file.end(|file| file.finish())
    }

    /// Completes all files. Without any rows there is one, unless rows are split.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        if self.split.is_none() && self.partition(0).files == 0 {
            self.part(0)?;
        }
        for number in 0..self.partitions.len() {
            self.flush_held(number)?;
            self.close(number)?;
        }
        Ok(())
    }
}

/// The first rows of `unit`, which are removed from it.
fn cut(unit: &mut Unit, most: u64) -> Unit {
    let mut left = usize::try_from(most).unwrap_or(usize::MAX);
    let mut piece = Unit::new();
    let mut rest = Unit::new();
    for batch in unit.drain(..) {
        let count = left.min(batch.num_rows());
        left -= count;
        if count > 0 {
            piece.push(batch.slice(0, count));
        }
        if count < batch.num_rows() {
            rest.push(batch.slice(count, batch.num_rows() - count));
        }
    }
    *unit = rest;
    piece
}

/// What the names of files in `format` end in.
fn extension(format: TableFormat) -> &'static str {
    match format {
        TableFormat::ArrowStream => "arrows",
        format => format.name(),
    }
}
