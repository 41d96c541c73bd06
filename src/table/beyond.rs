//! Rows that `dedup` keeps, also when there are more classes than memory has room for.
//!
//! When the keys have no room, their set is frozen. Of rows that it does not know keys and numbers go to disk
//! ([`RowsAside`]). At the end these tell which rows are first, and the tables are read a second time from where the set
//! was frozen; of those that can be read only once, all rows are put aside, too.

use std::io::BufWriter;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, Buffer};
use arrow_ipc::writer::StreamWriter;
use arrow_select::filter::filter_record_batch;
use rayon::prelude::*;

use super::read::{Again, Reader, Unit};
use super::{Job, TableError, each_wave};
use crate::arrow::{Columns, Firsts, Keyed};
use crate::pipeline::{FirstRows, Invalid, MemoryLimit, RowsAside, Tape};

/// Tells which rows are the first of their class.
pub(super) struct Keeper {
    firsts: Firsts,
    limit: Option<MemoryLimit>,
    /// The number of the column of URIs.
    column: usize,
    /// The table that is being read, if it can be read again.
    again: Option<Again>,
    /// What is put aside since there was no more room.
    beyond: Option<Beyond>,
}

/// What is known of the rows of a batch.
pub(super) struct Marked {
    /// Which rows are to be written now; null where there is no URI.
    pub(super) marks: BooleanArray,
    /// How many are invalid.
    pub(super) invalid: Invalid,
    /// Whether what is to be written will only be known at the end.
    pub(super) waits: bool,
}

struct Beyond {
    aside: RowsAside,
    /// Rows to be written with those that come first in the second reading, as they were read together.
    held: Unit,
    parts: Vec<Part>,
    /// Rows so far.
    rows: u64,
}

/// Rows of a table that are to be read again.
struct Part {
    from: From,
    /// Rows that stand before them there.
    skip: u64,
    rows: u64,
}

enum From {
    Table(Again),
    Writing(Box<StreamWriter<BufWriter<Tape>>>),
    Tape(Tape),
}

impl Keeper {
    pub(super) fn new(columns: Columns, limit: Option<MemoryLimit>, column: usize) -> Keeper {
        Keeper { firsts: Firsts::new(columns), limit, column, again: None, beyond: None }
    }

    /// What comes now are the rows of `reader`.
    pub(super) fn begin(&mut self, reader: &Reader) -> Result<(), TableError> {
        self.again = reader.again().cloned();
        if let Some(beyond) = &mut self.beyond {
            beyond.end_part()?;
            beyond.begin_part(self.again.as_ref(), &reader.schema(), 0)?;
        }
        Ok(())
    }

    /// What is known of the rows of `batch`, before which there are `start` rows of the table.
    pub(super) fn mark(&mut self, batch: &RecordBatch, start: u64) -> Result<Marked, TableError> {
        let mut keyed = self.firsts.keyed(batch.column(self.column))?;
        self.see_to_room(&keyed, batch, start)?;
        let marks = match &mut self.beyond {
            None => self.firsts.insert(&mut keyed),
            Some(beyond) => {
                let marks = self.firsts.put_aside(&mut keyed, &mut beyond.aside, beyond.rows)?;
                beyond.take(batch)?;
                marks
            }
        };
        Ok(Marked { marks, invalid: keyed.invalid, waits: self.beyond.is_some() })
    }

    /// Holds what is to be written of a unit whose other rows wait.
    pub(super) fn hold(&mut self, batches: Unit) {
        if let Some(beyond) = &mut self.beyond {
            beyond.held.extend(batches);
        }
    }

    /// Freezes the set if `keyed` has no room in it.
    fn see_to_room(
        &mut self,
        keyed: &Keyed,
        batch: &RecordBatch,
        start: u64,
    ) -> Result<(), TableError> {
        let Some(limit) = self.limit.as_ref().filter(|_| self.beyond.is_none()) else {
            return Ok(());
        };
        if !self.firsts.has_room(keyed, limit.bytes_for_keys()) {
            let aside = RowsAside::begin(limit)?;
            let mut beyond = Beyond { aside, held: Unit::new(), parts: Vec::new(), rows: 0 };
            beyond.begin_part(self.again.as_ref(), &batch.schema(), start)?;
            self.beyond = Some(beyond);
        }
        Ok(())
    }

    /// What is still to be written, if anything is.
    pub(super) fn finish(self) -> Result<Option<Second>, TableError> {
        let Keeper { firsts, limit, column, beyond, .. } = self;
        let (Some(mut beyond), Some(limit)) = (beyond, limit) else { return Ok(None) };
        // It has done its work, and the memory is needed.
        drop(firsts);
        beyond.end_part()?;
        let Beyond { aside, held, parts, .. } = beyond;
        let firsts = aside.finish(limit.bytes_for_keys())?;
        Ok(Some(Second { firsts, held, parts, column }))
    }
}

impl Beyond {
    fn begin_part(
        &mut self,
        again: Option<&Again>,
        schema: &arrow_schema::Schema,
        skip: u64,
    ) -> Result<(), TableError> {
        let (from, skip) = match again {
            Some(again) => (From::Table(again.clone()), skip),
            None => {
                let tape = BufWriter::new(self.aside.tape()?);
                (From::Writing(Box::new(StreamWriter::try_new(tape, schema)?)), 0)
            }
        };
        self.parts.push(Part { from, skip, rows: 0 });
        Ok(())
    }

    /// Takes the next rows.
    fn take(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        self.rows += batch.num_rows() as u64;
        let Some(part) = self.parts.last_mut() else { return Ok(()) };
        part.rows += batch.num_rows() as u64;
        if let From::Writing(writer) = &mut part.from {
            let done = writer.write(batch);
            done.map_err(|error| writer.get_ref().get_ref().fault(std::io::Error::other(error)))?;
        }
        Ok(())
    }

    fn end_part(&mut self) -> Result<(), TableError> {
        let Some(Part { from, skip, rows }) = self.parts.pop() else { return Ok(()) };
        let from = match from {
            From::Writing(writer) => {
                let tape = writer.get_ref().get_ref().clone();
                let writer = writer.into_inner();
                let writer = writer.map_err(|error| tape.fault(std::io::Error::other(error)))?;
                let done = writer.into_inner();
                From::Tape(done.map_err(|error| tape.fault(error.into_error()))?)
            }
            from => from,
        };
        self.parts.push(Part { from, skip, rows });
        Ok(())
    }
}

/// The second reading.
pub(super) struct Second {
    firsts: FirstRows,
    held: Unit,
    parts: Vec<Part>,
    column: usize,
}

impl Second {
    /// Reads again and hands the rows that are to be written to `put`; gives their number, and how many bytes were put aside.
    pub(super) fn read(
        self,
        job: &Job,
        mut put: impl FnMut(&[Unit]) -> Result<(), TableError> + Send,
    ) -> Result<(u64, u64), TableError> {
        let Second { mut firsts, mut held, parts, column } = self;
        let mut written = 0;
        for Part { from, skip, rows } in parts {
            let (mut reader, again) = match from {
                From::Table(again) => (Reader::open(again.input(), job)?, Some(again)),
                From::Tape(tape) => (Reader::of_stream(tape, "rows put aside", column)?, None),
                From::Writing(_) => continue,
            };
            let mut window = Window { skip: reader.skip(skip), rows };
            each_wave(&mut reader, |units, _| {
                let mut units = kept(units, &mut window, &mut firsts)?;
                let batches = units.iter().flatten();
                written += batches.map(|batch| batch.num_rows() as u64).sum::<u64>();
                if let Some(unit) = units.first_mut() {
                    unit.splice(0..0, held.drain(..));
                }
                put(&units)
            })?;
            again.map_or(Ok(()), |again| again.check())?;
        }
        Ok((written, firsts.written_bytes()))
    }
}

/// The rows of a table that are to be read.
struct Window {
    skip: u64,
    rows: u64,
}

impl Window {
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

/// The rows of `units` that are in `window` and to be written.
fn kept(
    units: Vec<Unit>,
    window: &mut Window,
    firsts: &mut FirstRows,
) -> Result<Vec<Unit>, TableError> {
    let mut marked = Vec::with_capacity(units.len());
    for unit in units {
        let mut of_unit = Vec::with_capacity(unit.len());
        for batch in unit {
            let Some(batch) = window.cut(&batch) else { continue };
            let words = firsts.next(batch.num_rows())?;
            let bits = BooleanBuffer::new(Buffer::from_slice_ref(words), 0, batch.num_rows());
            of_unit.push((batch, BooleanArray::new(bits, None)));
        }
        if !of_unit.is_empty() {
            marked.push(of_unit);
        }
    }
    let filter = |(batch, marks): (RecordBatch, BooleanArray)| filter_record_batch(&batch, &marks);
    let filtered = marked.into_par_iter().map(|unit| unit.into_par_iter().map(filter).collect());
    Ok(filtered.collect::<Result<Vec<Unit>, _>>()?)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::{Form, Input, SortBy, TableFormat, Task, run};
    use super::*;
    use crate::pipeline::Report;

    /// Ten batches of rows with classes near and far, some without a URI, some invalid.
    fn table(seed: u64) -> String {
        let mut text = "n,url\n".to_owned();
        for i in 0..10_000 {
            let host = i * 7_919 % 4_099 + seed * 2_000;
            let url = match i % 11 {
                0 => String::new(),
                1 => format!("no URI {}", host % 50),
                2 | 3 => format!("HTTP://H{host}:80"),
                _ => format!("http://h{host}/"),
            };
            text.push_str(&format!("{seed}.{i},{url}\n"));
        }
        text
    }

    fn written(inputs: Vec<Input>, job: &Job) -> (Vec<u8>, Report) {
        let mut out = Vec::new();
        let report = run(inputs, job, &mut out, None).unwrap();
        (out, report)
    }

    #[test]
    fn what_is_written_does_not_depend_on_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        for format in TableFormat::ALL {
            // Two tables of the format, made by another task, which keeps all rows.
            let make = Job::new("url", Task::Form(Form::Key), Columns::default(), format);
            let tables = [1, 2].map(|seed| {
                let csv = Input::stream("csv", TableFormat::Csv, Cursor::new(table(seed)));
                let bytes = written(vec![csv], &make).0;
                let path = dir.path().join(format!("{seed}.{}", format.name()));
                std::fs::write(&path, &bytes).unwrap();
                (path, bytes)
            });
            let inputs = |streams: [bool; 2]| -> Vec<Input> {
                let both = tables.iter().zip(streams);
                let input = both.map(|((path, bytes), is_stream)| match is_stream {
                    true => Input::stream("stream", format, Cursor::new(bytes.clone())),
                    false => Input::file(path, Some(format)),
                });
                input.collect()
            };
            let by = SortBy { form: crate::surt::Form::Cdxj, temp_dir: dir.path().to_owned() };
            for (drops_invalid, sort_by) in [(false, None), (true, Some(by))] {
                let mut job = Job::new("url", Task::Dedup, Columns::default(), format);
                (job.drops_invalid, job.sort_by) = (drops_invalid, sort_by);
                let (expected, plain) = written(inputs([false; 2]), &job);
                assert!(plain.duplicates > 10_000 && plain.written > 4_000);
                let mut kinds = vec![[false; 2]];
                if !format.needs_file() {
                    kinds.extend([[true, false], [false, true], [true, true]]);
                }
                for streams in kinds {
                    // Nothing, some of the first table, some of the second.
                    for bytes in [0, 50_000, 108_000] {
                        let limit = MemoryLimit::new(1 << 20, dir.path());
                        job.limit = Some(MemoryLimit { set_bytes: Some(bytes), ..limit });
                        let (found, report) = written(inputs(streams), &job);
                        let told = format!("{format:?} {streams:?} {bytes} {drops_invalid}");
                        assert!(found == expected, "{told}");
                        assert!(report.spilled > 0, "{told}");
                        assert_eq!(Report { spilled: 0, ..report }, plain, "{told}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_table_that_changes_meanwhile_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let (path, pipe) = (dir.path().join("t.csv"), dir.path().join("t2.csv"));
        std::fs::write(&path, table(1)).unwrap();
        std::fs::write(&pipe, table(2)).unwrap();
        let mut job = Job::new("url", Task::Dedup, Columns::default(), TableFormat::Csv);
        let limit = MemoryLimit::new(1 << 20, dir.path());
        job.limit = Some(MemoryLimit { set_bytes: Some(0), ..limit });
        let mut touch = |_| std::fs::write(&path, "n,url\n").unwrap();
        let inputs = vec![Input::file(&path, None), Input::file(&pipe, None)];
        let done = run(inputs, &job, &mut Vec::new(), Some(&mut touch));
        assert!(done.unwrap_err().to_string().contains("changed while it was read"));
    }
}
