//! Applies the task of a job to the rows of tables.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use rayon::prelude::*;

use super::second_pass::Marked;
use super::selection::{RowSelection, Sides};
use crate::job::target::Target;
use crate::job::{Form, Job, Task};
use crate::parquet::metadata::remove_of_columns;
use crate::read::reader::Reader;
use crate::unit::Unit;
use crate::{job::keys, work::values};
use uriscan_arrow::{Columns, OnInvalid, each_value, spelled_out};
use uriscan_bulk::error::Error;
use uriscan_bulk::pipeline::{Invalid, Report, Seen, Survey};
use uriscan_core::uri::UriErrorKind;

/// The result for a batch.
struct Made {
    /// The rows to write, unless they are deferred.
    kept: Option<RecordBatch>,
    /// The rows that were omitted as invalid.
    rejected: RecordBatch,
    report: Report,
}

pub(crate) struct Work<'j> {
    job: &'j Job,
    columns: Columns,
    target: Target,
    schema: SchemaRef,
    /// Picks rows, if not all are written.
    picker: Option<Box<RowSelection<'j>>>,
    report: Report,
    /// Rows that were omitted as invalid since [`Work::rejected`] was last called.
    rejected: Unit,
    /// The name of the table, and the number of its rows so far.
    table: String,
    pub(crate) rows: u64,
}

impl<'j> Work<'j> {
    /// Work on tables with the columns of `reader`.
    pub(crate) fn new(
        job: &'j Job,
        reader: &Reader,
        seen: Option<Seen<'j>>,
        sides: &Sides<'_>,
    ) -> Result<Work<'j>, Error> {
        let (schema, target) = (reader.schema(), reader.target().clone());
        let mut columns = job.columns.clone();
        if job.drops_invalid {
            columns.on_invalid = OnInvalid::Null;
        }
        let text = match target.data_type(&schema) {
            DataType::Dictionary(_, value) => value.as_ref().clone(),
            DataType::Null => DataType::Utf8,
            other => other.clone(),
        };
        let (mut fields, mut metadata) = (schema.fields().to_vec(), schema.metadata().clone());
        for (name, data_type) in job.added(&text) {
            if fields.iter().any(|field| *field.name() == name) {
                return Err(Error::exists(reader.name(), format!("column {name}")));
            }
            fields.push(Arc::new(Field::new(name, data_type, true)));
            remove_of_columns(&mut metadata);
        }
        let schema = Schema::new_with_metadata(fields, metadata);
        let schema = Arc::new(match &job.task {
            Task::Form(Form::Key) => {
                let (meaning, last) =
                    (columns.equivalence.meaning(columns.hash), schema.fields().len() - 1);
                keys::described(&schema, last, &meaning)
            }
            _ => schema,
        });
        let pick = |by| {
            let picker = RowSelection::new(job, by, reader, columns.clone(), seen, sides)?;
            Ok::<_, Error>(Box::new(picker))
        };
        let picker = match &job.task {
            Task::Dedup => Some(pick(None)?),
            Task::Classes(by) => Some(pick(Some(by))?),
            _ => None,
        };
        let (report, table, rows) = (Report::default(), String::new(), 0);
        Ok(Work {
            job,
            columns,
            target,
            schema,
            picker,
            report,
            rejected: Unit::new(),
            table,
            rows,
        })
    }

    /// The columns of the results.
    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Starts the table of `reader`.
    pub(crate) fn begin(&mut self, reader: &Reader) -> Result<(), Error> {
        (self.table, self.rows) = (reader.name().to_owned(), 0);
        self.picker.as_mut().map_or(Ok(()), |picker| picker.begin(reader))
    }

    /// Writes the deferred rows with `put` and returns the report.
    pub(crate) fn finish(
        mut self,
        sides: &mut Sides<'_>,
        put: impl FnMut(&[Unit]) -> Result<(), Error> + Send,
    ) -> Result<Report, Error> {
        if let Some(picker) = self.picker {
            picker.finish(self.job, &self.schema, &mut self.report, sides, put)?;
        }
        Ok(self.report)
    }

    /// The rows that were omitted as invalid since this was last called.
    pub(crate) fn rejected(&mut self) -> Unit {
        std::mem::take(&mut self.rejected)
    }

    /// Shows the URIs of `units`, which come next, to `survey`.
    pub(crate) fn survey(&self, units: &[Unit], survey: &mut Survey) -> Result<(), Error> {
        if matches!(self.job.task, Task::Extract(..)) {
            return Ok(());
        }
        let mut rows = self.rows;
        for batch in units.iter().flatten() {
            let values = spelled_out(&self.target.values(batch)?)?;
            let values = (0..).zip(each_value(&values));
            let values = values.filter_map(|(row, value)| Some((row, value?)));
            survey.count_values(self.columns.kernels, (&self.table, rows), values);
            rows += batch.num_rows() as u64;
        }
        Ok(())
    }

    /// Shows the links in `taken`, which the task has added and `rows` rows precede, to `survey`.
    pub(crate) fn survey_links(
        &self,
        taken: &[Unit],
        mut rows: u64,
        survey: &mut Survey,
    ) -> Result<(), Error> {
        if !matches!(self.job.task, Task::Extract(..)) {
            return Ok(());
        }
        for batch in taken.iter().flatten() {
            if let Some(added) = batch.columns().last() {
                let lists = added.as_list::<i32>();
                let links = spelled_out(lists.values())?;
                let of_row = (0u64..).zip(lists.offsets().lengths());
                let rows_of = of_row.flat_map(|(row, count)| std::iter::repeat_n(row, count));
                let first = lists.offsets().first() as usize;
                let links = each_value(&links).skip(first);
                let links = rows_of.zip(links).filter_map(|(row, link)| Some((row, link?)));
                survey.count_values(self.columns.kernels, (&self.table, rows), links);
            }
            rows += batch.num_rows() as u64;
        }
        Ok(())
    }

    /// Applies the task to `units` and returns the rows to write.
    pub(crate) fn take(&mut self, units: Vec<Unit>) -> Result<Vec<Unit>, Error> {
        let mut batches = Vec::new();
        for batch in units.iter().flatten() {
            batches.push((batch, self.rows));
            self.rows += batch.num_rows() as u64;
        }
        let done = match &mut self.picker {
            None => {
                let done = batches.par_iter().map(|(batch, start)| self.added(batch, *start));
                done.collect::<Result<Vec<_>, _>>()
            }
            Some(picker) => {
                // In sequence: the first row of a class is the first in the order of the rows.
                let marks = batches.iter().map(|&(batch, start)| {
                    picker.mark(batch, start).map_err(|error| located(&self.table, error, start))
                });
                let marks = marks.collect::<Result<Vec<_>, _>>()?;
                let kept = batches.par_iter().zip(marks);
                kept.map(|((batch, _), marked)| self.kept(batch, &marked)).collect()
            }
        }?;
        let mut done = done.into_iter();
        let mut made = Vec::with_capacity(units.len());
        for unit in units {
            let (mut batches, mut is_deferred) = (Unit::with_capacity(unit.len()), false);
            for Made { kept, rejected, report } in done.by_ref().take(unit.len()) {
                self.report += &report;
                self.rejected.push(rejected);
                is_deferred |= kept.is_none();
                batches.extend(kept);
            }
            match &mut self.picker {
                Some(picker) if is_deferred => picker.hold(batches),
                _ => made.push(batches),
            }
        }
        Ok(made)
    }

    /// The rows of `batch` that are marked, and those that are rejected.
    fn kept(&self, batch: &RecordBatch, marked: &Marked) -> Result<Made, Error> {
        let Marked { marks, invalid, is_deferred } = marked;
        let dropped = if self.job.drops_invalid { invalid.total() } else { 0 };
        let blank = marks.null_count() as u64 - dropped;
        let is_blank = match (self.job.keeps_blank && blank > 0) || dropped > 0 {
            true => values::blank(&self.target.values(batch)?)?,
            false => Vec::new(),
        };
        let rejected = match dropped > 0 {
            true => filtered(batch, |row| marks.is_null(row) && !is_blank[row])?,
            false => batch.slice(0, 0),
        };
        let written = if *is_deferred { 0 } else { marks.true_count() as u64 };
        let kept = match (*is_deferred, self.job.keeps_blank && blank > 0) {
            (true, _) => None,
            (false, false) => Some(filter_record_batch(batch, marks)?),
            (false, true) => {
                let is_kept = |row| marks.is_valid(row) && marks.value(row) || is_blank[row];
                Some(filtered(batch, is_kept)?)
            }
        };
        let rows = batch.num_rows() as u64;
        let mut report = Report::default();
        (report.records, report.blank, report.written) = (rows - blank, blank, written);
        report.duplicates = report.records - dropped - written;
        report.invalid = *invalid;
        Ok(Made { kept, rejected, report })
    }

    fn added(&self, batch: &RecordBatch, start: u64) -> Result<Made, Error> {
        let located = |error| located(&self.table, error, start);
        let values = spelled_out(&self.target.values(batch)?).map_err(located)?;
        let (arrays, invalid) = self.made(&values).map_err(located)?;
        let columns = batch.columns().iter().cloned().chain(arrays.iter().cloned()).collect();
        let made = RecordBatch::try_new(self.schema(), columns)?;
        let blank = values.null_count() as u64;
        let records = values.len() as u64 - blank;
        let drops_invalid = self.job.drops_invalid && matches!(self.job.task, Task::Form(_));
        let is_invalid = |row| {
            let form = arrays.first().filter(|_| drops_invalid);
            values.is_valid(row) && form.is_some_and(|form| form.is_null(row))
        };
        let dropped = if drops_invalid { invalid.total() } else { 0 };
        let rejected = match dropped > 0 {
            true => filtered(batch, is_invalid)?,
            false => batch.slice(0, 0),
        };
        let kept = match dropped > 0 || blank > 0 && !self.job.keeps_blank {
            true => filtered(&made, |row| match values.is_null(row) {
                true => self.job.keeps_blank,
                false => !is_invalid(row),
            })?,
            false => made,
        };
        let written = records - dropped;
        let mut report = Report::default();
        (report.records, report.blank, report.written, report.invalid) =
            (records, blank, written, invalid);
        Ok(Made { kept: Some(kept), rejected, report })
    }

    /// The columns that the task adds for `values`, and the number of invalid values.
    fn made(&self, values: &ArrayRef) -> Result<(Vec<ArrayRef>, Invalid), Error> {
        let columns = &self.columns;
        let one = |(array, invalid): (ArrayRef, Invalid)| (vec![array], invalid);
        Ok(match &self.job.task {
            Task::Copy | Task::Dedup | Task::Classes(_) => (Vec::new(), Invalid::default()),
            Task::Form(Form::Normalized) => one(columns.forms(values, None)?),
            Task::Form(Form::Key) => one(columns.keys(values)?),
            Task::Form(Form::Surt(form)) => one(columns.forms(values, Some(*form))?),
            Task::Parse => {
                let (parts, invalid) = columns.parts(values)?;
                (parts.columns().to_vec(), invalid)
            }
            Task::Check => {
                let faults = columns.check(values, true)?;
                let mut invalid = Invalid::default();
                for kind in faults.as_struct().column(0).as_string::<i32>().iter().flatten() {
                    let kind = UriErrorKind::ALL.into_iter().find(|known| known.name() == kind);
                    kind.into_iter().for_each(|kind| invalid.add(kind));
                }
                (faults.as_struct().columns().to_vec(), invalid)
            }
            Task::Audit(rules) => (vec![columns.audit(values, *rules)?], Invalid::default()),
            Task::Extract(extractor, format) => {
                (vec![columns.extract(values, extractor, *format)?], Invalid::default())
            }
        })
    }
}

fn filtered(batch: &RecordBatch, is_kept: impl Fn(usize) -> bool) -> Result<RecordBatch, Error> {
    let kept: Vec<bool> = (0..batch.num_rows()).map(is_kept).collect();
    Ok(filter_record_batch(batch, &kept.into())?)
}

/// `error` with its row; the batch begins at row `start` of the table called `table`.
fn located(table: &str, error: Error, start: u64) -> Error {
    match (error.source_name(), error.row()) {
        (None, Some(row)) => error.of_source(table).in_row(start + row + 1),
        _ => error,
    }
}
