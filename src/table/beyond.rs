//! Rows that `dedup` keeps, also when there are more classes than memory has room for.
//!
//! When the keys have no room, their set is frozen. Of rows that it does not know keys and numbers go to disk
//! ([`RowsAside`]). At the end these tell which rows are first, and the tables are read a second time from where the set
//! was frozen; of those that can be read only once, all rows are put aside, too.

use arrow_array::{BooleanArray, RecordBatch, UInt64Array};
use arrow_buffer::{BooleanBuffer, Buffer};
use arrow_schema::SchemaRef;

use super::again::{Chosen, Marked, Rereading};
use super::read::{Again, Reader, Unit};
use super::{Job, TableError};
use crate::arrow::{Columns, Firsts, Keyed};
use crate::pipeline::{self, FirstRows, MemoryLimit, Report, RowsAside};

/// Tells which rows are the first of their class.
pub(super) struct Keeper {
    firsts: Firsts,
    limit: Option<MemoryLimit>,
    /// The number of the column of URIs.
    column: usize,
    /// The table that is being read, if it can be read again.
    again: Option<Again>,
    /// What is put aside since there was no more room.
    beyond: Option<(RowsAside, Rereading)>,
}

impl Keeper {
    pub(super) fn new(columns: Columns, limit: Option<MemoryLimit>, column: usize) -> Keeper {
        Keeper { firsts: Firsts::new(columns), limit, column, again: None, beyond: None }
    }

    /// What comes now are the rows of `reader`.
    pub(super) fn begin(&mut self, reader: &Reader) -> Result<(), TableError> {
        self.again = reader.again().cloned();
        match &mut self.beyond {
            Some((aside, rows)) => {
                rows.begin(self.again.as_ref(), &reader.schema(), 0, || aside.tape())
            }
            None => Ok(()),
        }
    }

    /// What is known of the rows of `batch`, before which there are `start` rows of the table.
    pub(super) fn mark(&mut self, batch: &RecordBatch, start: u64) -> Result<Marked, TableError> {
        let mut keyed = self.firsts.keyed(batch.column(self.column))?;
        self.see_to_room(&keyed, batch, start)?;
        let marks = match &mut self.beyond {
            None => self.firsts.insert(&mut keyed),
            Some((aside, rows)) => {
                let marks = self.firsts.put_aside(&mut keyed, aside, rows.rows)?;
                rows.take(batch)?;
                marks
            }
        };
        Ok(Marked { marks, invalid: keyed.invalid, waits: self.beyond.is_some() })
    }

    /// Holds what is to be written of a unit whose other rows wait.
    pub(super) fn hold(&mut self, batches: Unit) {
        if let Some((_, rows)) = &mut self.beyond {
            rows.hold(batches);
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
            let (aside, mut rows) = (RowsAside::begin(limit)?, Rereading::default());
            rows.begin(self.again.as_ref(), &batch.schema(), start, || aside.tape())?;
            self.beyond = Some((aside, rows));
        }
        Ok(())
    }

    /// Hands what is still to be written to `put`, and corrects `report`.
    pub(super) fn finish(
        self,
        job: &Job,
        schema: &SchemaRef,
        report: &mut Report,
        put: impl FnMut(&[Unit]) -> Result<(), TableError> + Send,
    ) -> Result<(), TableError> {
        let Keeper { firsts, limit, column, beyond, .. } = self;
        let (Some((aside, rows)), Some(limit)) = (beyond, limit) else { return Ok(()) };
        // It has done its work, and the memory is needed.
        drop(firsts);
        let mut firsts = aside.finish(limit.bytes_for_keys())?;
        let written = rows.read(job, (schema, column), &mut firsts, put)?;
        // So far these rows count as duplicates.
        report.written += written;
        report.duplicates -= written;
        report.spilled = firsts.written_bytes();
        Ok(())
    }
}

impl Chosen for FirstRows {
    fn next(
        &mut self,
        rows: usize,
    ) -> Result<(BooleanArray, Option<UInt64Array>), pipeline::Error> {
        let bits = Buffer::from_slice_ref(FirstRows::next(self, rows)?);
        Ok((BooleanArray::new(BooleanBuffer::new(bits, 0, rows), None), None))
    }
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
                    for bytes in [0, 50_000, 75_000] {
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
