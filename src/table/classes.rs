//! Classes of rows: how many there are of each, and which one is kept.
//!
//! All is known when the tables have been read; then they are read a second time and what was chosen is written. Of
//! those that can be read only once, all rows are put aside on disk.

use std::path::PathBuf;

use arrow_array::{BooleanArray, RecordBatch, UInt64Array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::SchemaRef;
use rayon::prelude::*;

use super::again::{Chosen, Marked, Rereading};
use super::rank::{KeepRow, Rank};
use super::read::{Reader, Unit};
use super::{Job, TableError, jsonl};
use crate::arrow::{Columns, Firsts};
use crate::dedup::Classes;
use crate::pipeline::{self, Report, Select, Tape};

/// What is written of the classes of rows.
///
/// ```
/// use uriscan::arrow::Columns;
/// use uriscan::pipeline::Select;
/// use uriscan::table::{ByClass, Input, Job, KeepRow, TableFormat, Task, run};
///
/// let (keep, temp_dir) = (KeepRow::Greatest("day".to_owned()), std::env::temp_dir());
/// let by = ByClass { keep, select: Select::All, count: true, temp_dir };
/// let job = Job::new("url", Task::Classes(by), Columns::default(), TableFormat::Csv);
/// let csv = "day,url\n1,http://h\n2,HTTP://h/\n1,http://i\n";
/// let mut out = Vec::new();
/// run(vec![Input::stream("list", TableFormat::Csv, csv.as_bytes())], &job, &mut out, None).unwrap();
/// assert_eq!(out, b"day,url,uri_count\n2,HTTP://h/,2\n1,http://i,1\n");
/// ```
#[derive(Clone, Debug)]
pub struct ByClass {
    /// Which row of a class is kept. It stands where it stood.
    pub keep: KeepRow,
    /// Which classes are written.
    pub select: Select,
    /// Add the number of rows of its class to each row, as a column `uri_count` of unsigned 64-bit numbers.
    pub count: bool,
    /// A directory for the rows of tables that can be read only once; the files have no names and vanish with the process.
    pub temp_dir: PathBuf,
}

/// Gathers classes.
pub(super) struct Gatherer<'j> {
    by: &'j ByClass,
    keys: Firsts,
    column: usize,
    /// The number of the column that decides what is kept.
    deciding: usize,
    classes: Classes<Vec<Class>>,
    /// Rows too long to be judged, each of which is a class of its own.
    alone: Vec<u64>,
    rows: Rereading,
}

/// What is known of a class.
struct Class {
    count: u64,
    /// The number of the row that is kept, and its rank.
    row: u64,
    rank: Option<Rank>,
}

impl<'j> Gatherer<'j> {
    pub(super) fn new(
        by: &'j ByClass,
        columns: Columns,
        schema: &SchemaRef,
        column: usize,
    ) -> Result<Gatherer<'j>, TableError> {
        if by.keep.column().is_some() && jsonl::is_of_lines(schema) {
            let what = "JSON lines that stay as they are have no columns to keep by; write parquet, arrow or csv";
            return Err(TableError::Format(what.to_owned()));
        }
        let deciding = by.keep.column().map(|name| schema.index_of(name)).transpose();
        let deciding = deciding.map_err(|_| TableError::Column {
            table: "--keep".to_owned(),
            column: by.keep.column().unwrap_or_default().to_owned(),
            columns: schema.fields().iter().map(|field| field.name().clone()).collect(),
        })?;
        let (keys, deciding) = (Firsts::new(columns), deciding.unwrap_or(column));
        let (classes, alone, rows) = (Classes::new(), Vec::new(), Rereading::default());
        Ok(Gatherer { by, keys, column, deciding, classes, alone, rows })
    }

    /// What comes now are the rows of `reader`.
    pub(super) fn begin(&mut self, reader: &Reader) -> Result<(), TableError> {
        let tape = || Tape::in_directory(&self.by.temp_dir);
        self.rows.begin(reader.again(), &reader.schema(), 0, tape)
    }

    /// Takes the rows of `batch`, all of which wait.
    pub(super) fn mark(&mut self, batch: &RecordBatch) -> Result<Marked, TableError> {
        let mut keyed = self.keys.keyed(batch.column(self.column))?;
        let ranks = self.by.keep.ranks(batch.column(self.deciding))?;
        let (start, keep) = (self.rows.rows, &self.by.keep);
        let (places, alone, nulls) = keyed.places();
        self.alone.extend(alone.into_iter().map(|row| start + row as u64));
        self.classes.insert(&keyed.rows(), |classes, met| {
            let at = places[met.chunk][met.row];
            let (row, rank) = (start + at as u64, ranks.get(at).and_then(Option::as_ref));
            match classes.get_mut(met.class as usize) {
                None => classes.push(Class { count: 1, row, rank: rank.cloned() }),
                Some(class) => {
                    class.count += 1;
                    if keep.prefers(rank, class.rank.as_ref()) {
                        (class.row, class.rank) = (row, rank.cloned());
                    }
                }
            }
        });
        self.rows.take(batch)?;
        let none = BooleanBuffer::new_unset(batch.num_rows());
        Ok(Marked { marks: BooleanArray::new(none, nulls), invalid: keyed.invalid, waits: true })
    }

    /// Hands the rows that are chosen to `put`, and corrects `report`.
    pub(super) fn finish(
        self,
        job: &Job,
        schema: &SchemaRef,
        report: &mut Report,
        put: impl FnMut(&[Unit]) -> Result<(), TableError> + Send,
    ) -> Result<(), TableError> {
        let Gatherer { by, column, classes, alone, rows, .. } = self;
        let kept = classes.partitions().flatten().map(|class| (class.row, class.count));
        let mut kept: Vec<(u64, u64)> = kept.chain(alone.into_iter().map(|row| (row, 1))).collect();
        drop(classes);
        let all = kept.len() as u64;
        kept.retain(|&(_, count)| by.select.has(count));
        kept.par_sort_unstable();
        let mut rows_kept = Kept { rows: kept, next: 0, at: 0, count: by.count };
        let written = rows.read(job, (schema, column), &mut rows_kept, put)?;
        // So far all rows count as duplicates.
        report.written = written;
        report.duplicates -= all;
        report.withheld = all - written;
        Ok(())
    }
}

/// The rows that are kept, in their order, with the numbers of rows of their classes.
struct Kept {
    rows: Vec<(u64, u64)>,
    /// The first one that has not been given.
    next: usize,
    /// The number of the row that comes next.
    at: u64,
    /// Whether the numbers of rows are asked for.
    count: bool,
}

impl Chosen for Kept {
    fn next(
        &mut self,
        rows: usize,
    ) -> Result<(BooleanArray, Option<UInt64Array>), pipeline::Error> {
        let (mut marks, mut counts) = (vec![false; rows], vec![0; rows]);
        let end = self.at + rows as u64;
        while let Some(&(row, count)) = self.rows.get(self.next).filter(|kept| kept.0 < end) {
            let at = (row - self.at) as usize;
            (marks[at], counts[at]) = (true, count);
            self.next += 1;
        }
        self.at = end;
        Ok((marks.into(), self.count.then(|| counts.into())))
    }
}
