//! Sorts rows by the sort-friendly forms of their URIs, for lookup by host and path.
//!
//! Runs of rows are sorted in memory, written to disk, and merged. Rows with the same form keep their order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{BufReader, BufWriter, Seek};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch, UInt32Array};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::interleave::interleave_record_batch;
use arrow_select::take::take_record_batch;
use rayon::prelude::*;

use crate::job::SortBy;
use crate::job::target::Target;
use crate::unit::{Unit, bytes_of};
use uriscan_arrow::{Columns, OnInvalid, each_value, spelled_out};
use uriscan_bulk::error::Error;
use uriscan_files::File;

/// Rows of a batch on disk; one batch of each run is in memory while runs are merged.
const ROWS: usize = 1 << 13;

/// Approximate size of a run in bytes, where rows are long: no column of it may hold more than 2 GiB of text.
const RUN_BYTES: usize = if cfg!(test) { 1 << 12 } else { 1 << 30 };

/// Approximate size in bytes of a merged batch.
const BATCH_BYTES: usize = if cfg!(test) { 1 << 13 } else { 256 << 20 };

pub(crate) struct Sorter {
    by: SortBy,
    columns: Columns,
    target: Target,
    schema: SchemaRef,
    runs: Vec<File>,
}

impl Sorter {
    /// A sorter for tables with these columns, by the URIs at `target`.
    pub(crate) fn new(by: SortBy, columns: &Columns, schema: SchemaRef, target: &Target) -> Sorter {
        let columns = columns.clone().on_invalid(OnInvalid::Pass);
        Sorter { by, columns, target: target.clone(), schema, runs: Vec::new() }
    }

    /// Adds rows; each unit becomes a run, or several if it is large.
    pub(crate) fn push(&mut self, units: &[Unit]) -> Result<(), Error> {
        let parts: Vec<&[RecordBatch]> = units.iter().flat_map(|unit| parts(unit)).collect();
        let runs = parts.par_iter().map(|part| self.run(part));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        self.runs.extend(runs);
        Ok(())
    }

    /// Writes the rows of `part`, sorted, to a file, each with its form in an additional last column.
    fn run(&self, part: &[RecordBatch]) -> Result<File, Error> {
        let rows = concat_batches(&self.schema, part)?;
        let values = spelled_out(&self.target.values(&rows)?)?;
        let (forms, _) = self.columns.forms(&values, Some(self.by.form))?;
        let forms: Vec<Option<&[u8]>> = each_value(&forms).collect();
        let mut order: Vec<u32> = (0..rows.num_rows() as u32).collect();
        order.par_sort_by_key(|&row| sort_key(forms[row as usize]));
        let sorted = take_record_batch(&rows, &UInt32Array::from(order.clone()))?;
        let forms = order.iter().map(|&row| forms[row as usize]).collect::<BinaryArray>();
        let forms: ArrayRef = Arc::new(forms);
        let fields = self.schema.fields().iter().cloned();
        let form = Arc::new(Field::new("", DataType::Binary, true));
        let schema = Arc::new(Schema::new(fields.chain([form]).collect::<Vec<_>>()));
        let columns = sorted.columns().iter().cloned().chain([forms]).collect();
        let sorted = RecordBatch::try_new(schema.clone(), columns)?;

        let file = File::temporary(&self.by.temp_dir).map_err(|error| self.fault(&error))?;
        let mut writer = StreamWriter::try_new(BufWriter::new(file), &schema)?;
        for start in (0..sorted.num_rows()).step_by(ROWS) {
            let rows = sorted.slice(start, ROWS.min(sorted.num_rows() - start));
            writer.write(&rows).map_err(|error| self.fault(&error))?;
        }
        let file = writer.into_inner().map_err(|error| self.fault(&error))?.into_inner();
        let mut file = file.map_err(|error| self.fault(error.error()))?;
        file.rewind().map_err(|error| self.fault(&error))?;
        Ok(file)
    }

    /// The error for a run that cannot be written or read.
    fn fault(&self, error: &dyn std::fmt::Display) -> Error {
        let what = format_args!("cannot write or read runs to sort rows: {error}");
        Error::read(&self.by.temp_dir.display().to_string(), what)
    }

    /// Passes all rows to `write`, in order.
    pub(crate) fn finish(
        self,
        mut write: impl FnMut(&[Unit]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut merge = Merge::new(&self)?;
        while let Some(rows) = merge.next(&self)? {
            write(&[vec![rows]])?;
        }
        Ok(())
    }
}

/// The batches of a unit, in parts of the size of a run.
fn parts(unit: &Unit) -> Vec<&[RecordBatch]> {
    let (mut parts, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (at, batch) in unit.iter().enumerate() {
        bytes += bytes_of(batch);
        if bytes >= RUN_BYTES || at + 1 == unit.len() {
            parts.push(&unit[start..=at]);
            (start, bytes) = (at + 1, 0);
        }
    }
    parts
}

/// A form in its order: null is last.
fn sort_key<F>(form: Option<F>) -> (bool, Option<F>) {
    (form.is_none(), form)
}

/// The form of the next row of a run, and the number of the run.
type Head = Reverse<((bool, Option<Vec<u8>>), usize)>;

struct Merge {
    runs: Vec<StreamReader<BufReader<File>>>,
    /// For each run, the batch in `batches` that holds its next row, and the row.
    positions: Vec<(usize, usize)>,
    /// Batches in use, without forms; their forms; and their average bytes per row.
    batches: Vec<(RecordBatch, BinaryArray, usize)>,
    heads: BinaryHeap<Head>,
}

impl Merge {
    fn new(sorter: &Sorter) -> Result<Merge, Error> {
        let mut merge = Merge {
            runs: Vec::with_capacity(sorter.runs.len()),
            positions: vec![(0, 0); sorter.runs.len()],
            batches: Vec::new(),
            heads: BinaryHeap::new(),
        };
        for (number, file) in sorter.runs.iter().enumerate() {
            let file = file.try_clone().map_err(|error| sorter.fault(&error))?;
            let reader = StreamReader::try_new(BufReader::new(file), None);
            merge.runs.push(reader.map_err(|error| sorter.fault(&error))?);
            merge.read(number, sorter)?;
        }
        Ok(merge)
    }

    /// Reads the next batch of a run, if there is one, and adds its first row to the heap.
    fn read(&mut self, run: usize, sorter: &Sorter) -> Result<(), Error> {
        let Some(batch) = self.runs[run].next() else { return Ok(()) };
        let batch = batch.map_err(|error| sorter.fault(&error))?;
        let (last, columns) =
            batch.columns().split_last().ok_or_else(|| sorter.fault(&"no columns"))?;
        let forms = arrow_array::cast::AsArray::as_binary::<i32>(last).clone();
        let rows = RecordBatch::try_new(sorter.schema.clone(), columns.to_vec())?;
        let mean = bytes_of(&rows) / rows.num_rows().max(1);
        self.batches.push((rows, forms, mean));
        self.positions[run] = (self.batches.len() - 1, 0);
        self.push_head(run);
        Ok(())
    }

    /// Adds the next row of a run to the heap.
    fn push_head(&mut self, run: usize) {
        let (batch, row) = self.positions[run];
        let forms = &self.batches[batch].1;
        let form = forms.is_valid(row).then(|| forms.value(row).to_vec());
        self.heads.push(Reverse((sort_key(form), run)));
    }

    /// The next rows, some thousands; `None` at the end.
    fn next(&mut self, sorter: &Sorter) -> Result<Option<RecordBatch>, Error> {
        let (mut order, mut bytes) = (Vec::new(), 0);
        while order.len() < 8 * ROWS && bytes < BATCH_BYTES {
            let Some(Reverse((_, run))) = self.heads.pop() else { break };
            let (batch, row) = self.positions[run];
            order.push((batch, row));
            bytes += self.batches[batch].2;
            if row + 1 < self.batches[batch].0.num_rows() {
                self.positions[run].1 += 1;
                self.push_head(run);
            } else {
                self.read(run, sorter)?;
            }
        }
        if order.is_empty() {
            return Ok(None);
        }
        let batches: Vec<&RecordBatch> = self.batches.iter().map(|(rows, ..)| rows).collect();
        let rows = interleave_record_batch(&batches, &order)?;
        self.drop_used();
        Ok(Some(rows))
    }

    /// Drops the batches that are no longer in use.
    fn drop_used(&mut self) {
        let mut kept = Vec::new();
        let live: Vec<usize> = self.heads.iter().map(|&Reverse((_, run))| run).collect();
        for run in live {
            let position = &mut self.positions[run];
            kept.push(self.batches[position.0].clone());
            position.0 = kept.len() - 1;
        }
        self.batches = kept;
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::StringArray;
    use arrow_array::cast::AsArray;
    use proptest::prelude::*;

    use super::*;
    use uriscan_core::surt;

    /// The rows of `units` after sorting, by [`Sorter`].
    fn sorted(units: &[Vec<Vec<Option<String>>>]) -> Vec<(Option<String>, String)> {
        let fields = vec![
            Field::new("url", DataType::Utf8, true),
            Field::new("position", DataType::Utf8, false),
        ];
        let schema = Arc::new(Schema::new(fields));
        let mut number = 0;
        let mut batch = |urls: &Vec<Option<String>>| {
            let positions = (number..number + urls.len()).map(|position| format!("{position:06}"));
            number += urls.len();
            let columns: Vec<ArrayRef> = vec![
                Arc::new(StringArray::from(urls.clone())),
                Arc::new(positions.map(Some).collect::<StringArray>()),
            ];
            RecordBatch::try_new(schema.clone(), columns).unwrap()
        };
        let units: Vec<Unit> =
            units.iter().map(|unit| unit.iter().map(&mut batch).collect()).collect();
        let by = SortBy { form: surt::Form::Cdxj, temp_dir: std::env::temp_dir() };
        let target = Target::find("t", &schema, "1").unwrap();
        let mut sorter = Sorter::new(by, &Columns::default(), schema.clone(), &target);
        for units in units.chunks(2) {
            sorter.push(units).unwrap();
        }
        let mut rows = Vec::new();
        let write =
            |units: &[Unit]| {
                for batch in units.iter().flatten() {
                    let urls = batch.column(0).as_string::<i32>().iter();
                    let positions = batch.column(1).as_string::<i32>().iter();
                    rows.extend(urls.zip(positions).map(|(url, position)| {
                        (url.map(str::to_owned), position.unwrap().to_owned())
                    }));
                }
                Ok(())
            };
        sorter.finish(write).unwrap();
        rows
    }

    /// The plain oracle: all rows in memory, sorted.
    fn check(units: &[Vec<Vec<Option<String>>>]) {
        let urls = units.iter().flatten().flatten().cloned();
        let form = |url: &str| {
            let mut out = Vec::new();
            let mut one = uriscan_core::normalize::Normalizer::new(Default::default());
            match one.normalize(url.as_bytes()) {
                Ok(uri) => surt::write(uri, surt::Form::Cdxj, &mut Default::default(), &mut out),
                // Surrounding white space is not part of a value.
                Err(_) => out.extend_from_slice(url.trim_ascii().as_bytes()),
            }
            out
        };
        let mut expected: Vec<_> = urls
            .enumerate()
            .map(|(position, url)| {
                let form = url.as_deref().map(form);
                (form.is_none(), form, format!("{position:06}"), url)
            })
            .collect();
        expected.sort();
        let expected: Vec<_> =
            expected.into_iter().map(|(_, _, position, url)| (url, position)).collect();
        assert_eq!(sorted(units), expected);
    }

    #[test]
    fn many_runs_of_many_batches_are_merged() {
        let url = |i: u32| (i % 90 != 1).then(|| format!("http://h{}/{}", i * 31 % 997, i % 2));
        let units: Vec<Vec<Vec<Option<String>>>> = (0..5)
            .map(|unit| {
                (0..3)
                    .map(|batch| {
                        (0..7_000).map(|row| url(unit * 50_000 + batch * 9_001 + row)).collect()
                    })
                    .collect()
            })
            .collect();
        check(&units);
    }

    proptest! {
        #[test]
        fn any_rows_are_sorted(
            units in proptest::collection::vec(
                proptest::collection::vec(
                    proptest::collection::vec(
                        proptest::option::weighted(0.9, "(http://[a-c]{1,2}(\\.[a-c])?/?[a-b]?|[a-c ]{0,2})"),
                        0..6,
                    ),
                    1..3,
                ),
                0..5,
            ),
        ) {
            check(&units);
        }
    }
}
