//! Tables as batches of rows.

use std::collections::VecDeque;
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use rayon::prelude::*;

use super::counted::Counted;
use super::input::{From, Input, OfColumns};
use super::notes::Notes;
use super::ranged::Rereadable;
use super::rows::{Rows, stream_rows};
use crate::TableFormat;
use crate::dataset::{Fit, Merge, Partition, Plan};
use crate::job::Job;
use crate::job::row_filter::RowFilter;
use crate::job::target::Target;
use crate::parquet::footer::{Footer, Room};
use crate::read::sequential::Text;
use crate::text::fitting::Omitted;
use crate::text::members::Members;
use crate::unit::Unit;
use uriscan_bulk::error::Error;
use uriscan_core::extract::Filtered;

/// Tables that are not files and are opened at the same time: each of them waits for answers.
const MOST_AT_ONCE: usize = 16;

/// Passes to all of `inputs` what they have in common but for their own columns: the names of the columns that are in the
/// names of directories, room for footers, and the members of JSON lines, if these become columns; all files of JSON lines
/// are read for that.
pub(crate) fn learn(inputs: &mut [Input], job: &Job) -> Result<(), Error> {
    let mut keys: Vec<String> = Vec::new();
    for (key, _) in inputs.iter().flat_map(|input| input.columns.partition.columns()) {
        if !keys.iter().any(|known| known == key) {
            keys.push(key.to_owned());
        }
    }
    let keys: Arc<[String]> = keys.into();
    let room = Arc::<Room>::default();
    for input in &mut *inputs {
        input.columns.keys = keys.clone();
        input.columns.footer = Footer::within(&room);
    }
    if job.to == TableFormat::Jsonl { Ok(()) } else { learn_members(inputs, job) }
}

/// The columns of `first` and of the files among `others`, as those of one table.
pub(crate) fn plan(first: &Opened, others: &[Input], job: &Job) -> Result<Arc<Plan>, Error> {
    let named = job.other_columns();
    let mut merge = Merge::new((&job.column, &named), &first.columns.keys, !job.dialect.has_header);
    let mut add = |opened: &Opened| if opened.is_void { Ok(()) } else { merge.add(opened.file()) };
    add(first)?;
    let mut left: VecDeque<Input> = others.iter().filter_map(Input::reopened).collect();
    while !left.is_empty() {
        let stored = left.iter().take(MOST_AT_ONCE).take_while(|input| input.is_stored()).count();
        let group = left.drain(..stored.max(1)).collect();
        open_all(group, job).into_iter().try_for_each(|opened| add(&opened?))?;
    }
    Ok(Arc::new(merge.finish()?))
}

/// Opens `inputs` at the same time.
fn open_all(mut inputs: Vec<Input>, job: &Job) -> Vec<Result<Opened, Error>> {
    let Some(last) = inputs.pop() else { return Vec::new() };
    std::thread::scope(|scope| {
        let open = |input| scope.spawn(move || Opened::open(input, job));
        let others: Vec<_> = inputs.into_iter().map(open).collect();
        let last = Opened::open(last, job);
        let others = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        others.chain([last]).collect()
    })
}

/// Passes the columns of all tables to `inputs`, which are some of them.
pub(crate) fn pass(plan: &Arc<Plan>, inputs: &mut [Input]) {
    inputs.iter_mut().for_each(|input| input.columns.plan = Some(plan.clone()));
}

/// Reads the `inputs` that are files of JSON lines and passes their members to all of them.
fn learn_members(inputs: &mut [Input], job: &Job) -> Result<(), Error> {
    let mut members = None;
    for Input { name, format, from, .. } in &*inputs {
        let by_name = format.or_else(|| from.format(name));
        if by_name.is_some_and(|format| format != TableFormat::Jsonl) {
            continue;
        }
        let Some(table) = from.rereadable() else { continue };
        let text = Text::open(table.stream().map_err(|error| Error::read(name, error))?, name)?;
        if by_name.or_else(|| TableFormat::of_head(&text.head)) == Some(TableFormat::Jsonl) {
            let members = members.get_or_insert_with(|| Members::new(&job.column));
            let text = text.json_lines().fitting((TableFormat::Jsonl, name), job, None)?;
            members.learn(BufReader::new(text.all), name)?;
        }
    }
    let members = members.map(Arc::new);
    inputs.iter_mut().for_each(|input| input.columns.members = members.clone());
    Ok(())
}

/// A table with its own columns, before these become those of all tables.
pub(crate) struct Opened {
    name: String,
    schema: SchemaRef,
    rows: Rows,
    bytes: Arc<AtomicU64>,
    from: Option<(Rereadable, Option<TableFormat>)>,
    columns: OfColumns,
    /// Whether it has not a byte, and so no rows and no columns of its own.
    is_void: bool,
    /// Whether its format has types.
    is_typed: bool,
}

/// A table that is being read.
pub(crate) struct Reader {
    name: String,
    target: Target,
    schema: SchemaRef,
    /// How its rows become rows of all tables, if they are not.
    fit: Option<Fit>,
    rows: Rows,
    bytes: Arc<AtomicU64>,
    rereadable: Option<RereadableTable>,
    is_typed: bool,
    /// Which of its rows are read, if not all.
    kept: Option<RowFilter>,
    /// Ends reading when it is set.
    stop: Option<Arc<AtomicBool>>,
}

/// A table that can be read a second time.
#[derive(Clone)]
pub(crate) struct RereadableTable {
    from: Rereadable,
    format: Option<TableFormat>,
    columns: OfColumns,
}

impl RereadableTable {
    pub(crate) fn input(&self) -> Input {
        Input { columns: self.columns.clone(), ..Input::again(&self.from, self.format) }
    }

    /// Fails if it has changed since it was first opened.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.from.check()
    }
}

impl Opened {
    pub(crate) fn open(input: Input, job: &Job) -> Result<Opened, Error> {
        let Input { name, format, from, columns, notes, omitted } = input;
        let bytes = Arc::new(AtomicU64::new(0));
        let by_name = format.or_else(|| from.format(&name));
        let again = from.rereadable();
        let known = (by_name, again.as_ref(), &columns);
        let rows = match from.is_void() {
            true => None,
            false => rows_of(from, &name, known, (job, omitted, &notes), &bytes)?,
        };
        let is_void = rows.is_none();
        let (format, (schema, rows)) = match rows {
            Some((format, rows)) => (Some(format), rows),
            None => {
                if by_name.is_some_and(TableFormat::needs_file) {
                    notes.add(format!(
                        "{name}: the file has no bytes, and is read as a table without rows"
                    ));
                }
                let rows = Rows::Batches(Box::new(std::iter::empty()));
                (by_name, (Arc::new(Schema::empty()), rows))
            }
        };
        let is_typed = !is_void && format.is_some_and(TableFormat::has_types);
        if is_typed && job.skips_bad_rows.is_some() {
            let what = "has columns with types; only rows of CSV, TSV and JSON lines may not fit";
            return Err(Error::read(&name, what));
        }
        let from = again.map(|again| (again, format));
        Ok(Opened { name, schema, rows, bytes, from, columns, is_void, is_typed })
    }

    /// The columns of the table, and up to so many of its first `rows`.
    pub(crate) fn sample(mut self, rows: usize) -> Result<(SchemaRef, Option<RecordBatch>), Error> {
        let batch = self.rows.sample(rows, &self.name)?;
        Ok((self.schema, batch))
    }

    /// Its name and columns.
    fn file(&self) -> (&str, &SchemaRef, &Partition) {
        (&self.name, &self.schema, &self.columns.partition)
    }

    /// The table with the columns of all tables.
    pub(crate) fn read(mut self, plan: &Arc<Plan>, job: &Job) -> Result<Reader, Error> {
        self.columns.plan = Some(plan.clone());
        let fit = if self.is_void { None } else { plan.fit(self.file())? };
        let Opened { name, rows, bytes, from, columns, is_typed, .. } = self;
        let table = |(from, format)| RereadableTable { from, format, columns };
        let rereadable = from.map(table);
        let kept =
            job.filter.as_ref().map(|filter| RowFilter::new(filter, &job.columns.equivalence));
        let stop = job.stop.clone();
        let (target, schema) = (plan.target.clone(), plan.schema.clone());
        Ok(Reader { name, target, schema, fit, rows, bytes, rereadable, is_typed, kept, stop })
    }
}

impl Reader {
    /// Opens `input`, a table for `job`, with the columns of all tables; with its own if it is the only one.
    pub(crate) fn open(input: Input, job: &Job) -> Result<Reader, Error> {
        let opened = Opened::open(input, job)?;
        let plan = match &opened.columns.plan {
            Some(plan) => plan.clone(),
            None => plan(&opened, &[], job)?,
        };
        opened.read(&plan, job)
    }

    /// A table called `name`, read from `stream` in the stream format of Arrow IPC.
    pub(crate) fn of_stream(
        stream: impl Read + Send + 'static,
        name: &str,
        target: Target,
    ) -> Result<Reader, Error> {
        let (schema, rows) = stream_rows(BufReader::new(stream), name, &Notes::default())?;
        let (name, bytes) = (name.to_owned(), Arc::default());
        let (fit, rereadable, kept, stop, is_typed) = (None, None, None, None, true);
        Ok(Reader { name, target, schema, fit, rows, bytes, rereadable, is_typed, kept, stop })
    }

    /// From now on, only the column of URIs is read, where that saves something; nothing has been read yet.
    pub(crate) fn read_only_target(&mut self) {
        let column = self.target.column;
        let schema = self.schema.project(&[column]);
        let is_plain = self.fit.is_none() && self.kept.is_none();
        if let (Rows::Groups(groups), true, Ok(schema)) = (&mut self.rows, is_plain, schema) {
            groups.read_only(column);
            (self.schema, self.target) = (Arc::new(schema), self.target.alone());
        }
    }

    /// Whether the format of the table has types: its text is text, and not the spelling of numbers.
    pub(crate) fn is_typed(&self) -> bool {
        self.is_typed
    }

    /// How to read the table a second time, if that is possible.
    pub(crate) fn rereadable(&self) -> Option<&RereadableTable> {
        self.rereadable.as_ref()
    }

    /// Skips up to `rows` rows, as far as that costs nothing; returns how many are left to skip.
    pub(crate) fn skip(&mut self, mut rows: u64) -> u64 {
        if let (Rows::Groups(groups), None) = (&mut self.rows, &self.kept) {
            rows = groups.skip(rows);
        }
        rows
    }

    /// Whether there were rows so far, and none of them had the column: JSON lines without the member.
    pub(crate) fn lacks_column(&self) -> bool {
        matches!(&self.rows, Rows::Lines(lines) if lines.lacks_member())
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Bytes of the file read so far, before decompression.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn next_unit(&mut self) -> Result<Vec<Unit>, Error> {
        self.read_units(1)
    }

    /// The next units, as many as there are threads; none at the end.
    pub(crate) fn next_units(&mut self) -> Result<Vec<Unit>, Error> {
        self.read_units(rayon::current_num_threads())
    }

    fn read_units(&mut self, count: usize) -> Result<Vec<Unit>, Error> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Error::stopped());
        }
        let mut units = self.rows.next_units(count, &self.name)?;
        if let Some(fit) = &self.fit {
            let fitted = |batch: &RecordBatch| fit.apply(batch, &self.name);
            units = units
                .par_iter()
                .map(|unit| unit.par_iter().map(fitted).collect())
                .collect::<Result<_, _>>()?;
        }
        match &mut self.kept {
            None => Ok(units),
            Some(kept) => kept.of(units, &self.target),
        }
    }

    /// Rows so far that were omitted because of their URI.
    pub(crate) fn filtered(&self) -> Filtered {
        self.kept.as_ref().map_or(Filtered::default(), |kept| kept.filtered)
    }
}

/// Passes the units of `reader` to `take`, one per thread at a time, with the number of bytes read so far; the next ones
/// are read meanwhile.
pub(crate) fn each_units(
    reader: &mut Reader,
    mut take: impl FnMut(Vec<Unit>, u64) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let mut units = reader.next_units()?;
    while !units.is_empty() {
        let read = reader.bytes();
        let (next, taken) = rayon::join(|| reader.next_units(), || take(units, read));
        taken?;
        units = next?;
    }
    Ok(())
}

type OfFormat = (TableFormat, (SchemaRef, Rows));

/// The format, the columns and the rows of the table called `name`, of which its format by its name, how to read it `again`, and columns that
/// are not its own are known; `None` if it has not a byte.
fn rows_of(
    from: From,
    name: &str,
    (by_name, again, columns): (Option<TableFormat>, Option<&Rereadable>, &OfColumns),
    (job, omitted, notes): (&Job, Option<Omitted>, &Notes),
    bytes: &Arc<AtomicU64>,
) -> Result<Option<OfFormat>, Error> {
    let place = again.filter(|again| again.has_ranges());
    let by_name = match (by_name, place) {
        _ if columns.footer.get().is_some() => Some(TableFormat::Parquet),
        (Some(TableFormat::Arrow), Some(place)) => {
            let head = place.head().map_err(|error| Error::read(name, error))?;
            Some(TableFormat::of_ipc(&head))
        }
        (by_name, _) => by_name,
    };
    if let (Some(format), Some(place)) = (by_name.filter(|format| format.needs_file()), place) {
        return Ok(Some((format, place.rows(format, &columns.footer, name, bytes)?)));
    }
    let stream = from.stream().map_err(|error| Error::read(name, error))?;
    let text = Text::open(Counted { inner: stream, bytes: bytes.clone() }, name)?;
    if text.is_empty() {
        return Ok(None);
    }
    let Some(format) = by_name.or_else(|| TableFormat::of_head(&text.head)) else {
        return Err(Error::read(name, "neither its name nor its first bytes identify its format"));
    };
    let rows = match place {
        Some(place) if format.needs_file() => place.rows(format, &columns.footer, name, bytes)?,
        _ => {
            let members = columns.members.as_deref().map(|members| (members, again.is_some()));
            text.rows(format, name, (job, omitted, notes), (members, &columns.keys))?
        }
    };
    Ok(Some((format, rows)))
}
