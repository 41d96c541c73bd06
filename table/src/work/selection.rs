//! Which rows `dedup` keeps.
//!
//! The first row of each class is written at once as long as the keys fit in memory. If they do not, and where rows of a class
//! are counted or compared, rows are deferred: at the end the tables are read a second time ([`super::second_pass`]), and the
//! survivors are written.

use std::io::Write;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::SchemaRef;

use super::other::OtherColumn;
use super::second_pass::{Chosen, Marked, SecondPass};
use super::with::With;
use crate::job::rank::{has_order, text_of_member, texts_of_other_order};
use crate::job::target::{Target, advice};
use crate::job::{ByClass, Job};
use crate::read::reader::{Reader, RereadableTable};
use crate::unit::Unit;
use uriscan_arrow::{Columns, Keyed, each_value, spelled_out};
use uriscan_bulk::error::Error;
use uriscan_bulk::pipeline::{
    ClassOptions, ClassSink, DedupOptions, Origins, RecordWriter, Report, Seen, Select, Settings,
};
use uriscan_bulk::survivors::{
    Batch, Budget, ClassMode, ClassSet, FirstSet, Record, SpillStream, Wanted,
};
use uriscan_core::dedup::{ApproxSet, Rows};
use uriscan_core::index::trimmed;
use uriscan_core::key::Hasher;

/// Why a set on disk is of no use to rows that are compared by other columns, too.
const OF_URIS: &str =
    "a set on disk has the keys of URIs, and none of rows that are compared by other columns, too";

pub(crate) struct RowSelection<'j> {
    columns: Columns,
    hasher: Hasher,
    target: Target,
    /// The other columns that rows are compared by.
    with: Option<With>,
    /// The name of the table that is being read, and whether it has types.
    name: String,
    is_typed: bool,
    kind: Kind<'j>,
    rows: SecondPass,
    /// The deferred rows that are too long, each a class of its own, and their bytes.
    alone: Vec<(u64, u64)>,
    /// The table that is being read, if it can be read a second time.
    table: Option<RereadableTable>,
}

enum Kind<'j> {
    Firsts(Box<FirstSet<'j>>),
    Classes(Box<ClassesOf<'j>>),
}

struct ClassesOf<'j> {
    by: &'j ByClass,
    mode: ClassMode,
    set: ClassSet<'j>,
    /// The column that decides which row is kept, if it is not that of the URIs.
    deciding: Option<OtherColumn>,
    /// How many values of it are compared as text.
    as_text: u64,
    writer: RecordWriter,
    wanted: Wanted,
}

impl<'j> RowSelection<'j> {
    /// Picks rows of tables with the columns of `reader` that are not in `seen`; with `by`, by class.
    pub(crate) fn new(
        job: &'j Job,
        by: Option<&'j ByClass>,
        reader: &Reader,
        columns: Columns,
        seen: Option<Seen<'j>>,
        sides: &Sides<'_>,
    ) -> Result<RowSelection<'j>, Error> {
        let (schema, target) = (&reader.schema(), reader.target());
        let with = With::new(&job.with, reader.name(), schema)?;
        if with.is_some() && seen.is_some() {
            return Err(Error::unsupported(OF_URIS));
        }
        let equivalence = &columns.equivalence;
        let public = seen.is_some().then(|| equivalence.public_hasher(columns.hash));
        let hasher = equivalence.run_hasher(&columns.hasher, public);
        let budget = job.limit.clone().map(Budget::of_keys);
        let kind = match by {
            None => {
                let firsts = FirstSet::new(hasher.clone(), seen, budget);
                Kind::Firsts(Box::new(match job.approximate {
                    None => firsts,
                    Some(rate) => firsts.approximate(ApproxSet::new(rate, 0)),
                }))
            }
            Some(by) => {
                let deciding = by.deciding(reader.name(), schema)?;
                let (wanted, mode) = by.wanted(sides);
                let set = ClassSet::new(mode, budget);
                let set = set.without(seen, by.select, hasher.clone());
                let dedup =
                    DedupOptions::default().equivalence(equivalence.clone()).hash(columns.hash);
                let options = ClassOptions::default().dedup(dedup).select(by.select);
                let settings = Settings::default().kernels(columns.kernels);
                let sides = [sides.dupes.as_ref(), sides.clusters.as_ref()];
                let origins = Origins::default();
                let writer = RecordWriter::of_classes(&options, &settings, origins, sides);
                let writer = writer.of_values();
                Kind::Classes(Box::new(ClassesOf {
                    by,
                    mode,
                    set,
                    deciding,
                    as_text: 0,
                    writer,
                    wanted,
                }))
            }
        };
        let (rows, alone, table) = (SecondPass::default(), Vec::new(), None);
        let target = target.clone();
        let (name, is_typed) = (String::new(), false);
        Ok(RowSelection { columns, hasher, target, with, name, is_typed, kind, rows, alone, table })
    }

    /// Starts the table of `reader`.
    pub(crate) fn begin(&mut self, reader: &Reader) -> Result<(), Error> {
        self.table = reader.rereadable().cloned();
        reader.name().clone_into(&mut self.name);
        self.is_typed = reader.is_typed();
        let (table, schema) = (self.table.as_ref(), reader.schema());
        match &mut self.kind {
            Kind::Firsts(firsts) => match firsts.spill_dir() {
                Some(dir) => self.rows.begin(table, &schema, 0, || SpillStream::new(dir)),
                None => Ok(()),
            },
            Kind::Classes(classes) => {
                classes.writer.origins.begin(self.rows.rows, reader.name());
                let stream = || SpillStream::in_directory(&classes.by.temp_dir);
                self.rows.begin(table, &schema, 0, stream)
            }
        }
    }

    /// Marks the rows of `batch`, which `start` rows of the table precede.
    pub(crate) fn mark(&mut self, batch: &RecordBatch, start: u64) -> Result<Marked, Error> {
        let values = self.target.values(batch)?;
        let mut keyed = self.columns.keyed(&values, &self.hasher)?;
        let invalid = keyed.invalid;
        if let Some(with) = &mut self.with {
            with.join((&self.name, start), batch, &mut keyed)?;
        }
        if let Kind::Firsts(firsts) = &mut self.kind {
            if !firsts.has_spilled() && !firsts.fits(&keyed.rows(), 0) {
                firsts.begin_spill(0)?;
                if let Some(dir) = firsts.spill_dir() {
                    let stream = || SpillStream::new(dir);
                    self.rows.begin(self.table.as_ref(), &batch.schema(), start, stream)?;
                }
            }
            if !firsts.has_spilled() {
                firsts.insert(&keyed.rows())?;
                let marks = keyed.firsts();
                return Ok(Marked { marks, invalid, is_deferred: false });
            }
        }
        let place = (&*self.name, start);
        let start = self.rows.rows;
        let (positions, alone, nulls) = keyed.positions();
        if !alone.is_empty() {
            let values = spelled_out(&values)?;
            let bytes: Vec<u64> = each_value(&values)
                .map(|value| trimmed(value.unwrap_or_default()).len() as u64)
                .collect();
            self.alone.extend(alone.into_iter().map(|row| (start + row as u64, bytes[row])));
        }
        match &mut self.kind {
            Kind::Firsts(firsts) => {
                firsts.spill(&keyed.rows(), |piece, row| start + positions[piece][row] as u64)?;
            }
            Kind::Classes(classes) => {
                let deciding = classes.sort_keys(place, batch, self.is_typed)?;
                classes.insert(deciding, &values, &keyed, (start, &positions))?;
            }
        }
        self.rows.push(batch)?;
        let none = BooleanBuffer::new_unset(batch.num_rows());
        Ok(Marked { marks: BooleanArray::new(none, nulls), invalid, is_deferred: true })
    }

    /// Keeps the rows to be written of a unit whose other rows are deferred.
    pub(crate) fn hold(&mut self, batches: Unit) {
        self.rows.hold(batches);
    }

    /// Passes the deferred rows that survive to `put`, and corrects `report`.
    pub(crate) fn finish(
        self,
        job: &Job,
        schema: &SchemaRef,
        report: &mut Report,
        sides: &mut Sides<'_>,
        put: impl FnMut(&[Unit]) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let RowSelection { target, with, name, kind, rows, alone, .. } = self;
        let deciding = match &kind {
            Kind::Firsts(_) => None,
            Kind::Classes(classes) => classes.deciding.as_ref().and_then(OtherColumn::missing),
        };
        if let Some(member) = with.as_ref().and_then(With::missing).or(deciding) {
            return Err(Error::no_member(&name, member));
        }
        let blank_in = job.keeps_blank.then(|| target.clone());
        let alone_rows = alone.iter().map(|&(row, _)| row).collect();
        match kind {
            Kind::Firsts(mut firsts) => {
                let dir = firsts.spill_dir().cloned();
                let resolved = firsts.resolve()?;
                report.seen = firsts.seen();
                let (Some((survivors, _)), Some(dir)) = (resolved, dir) else {
                    return Ok(());
                };
                let survivors = survivors.with_alone(alone_rows);
                let select = Select::All;
                let mut chosen =
                    Chosen { survivors, select, has_counts: false, blank_in, written: 0 };
                rows.read(job, (schema, &target), &mut chosen, put)?;
                // So far these rows count as duplicates.
                report.written += chosen.written;
                report.duplicates -= chosen.written;
                report.spilled = dir.written();
            }
            Kind::Classes(classes) => {
                let ClassesOf { by, set, writer, wanted, as_text, .. } = *classes;
                report.as_text = as_text;
                let keyed = report.duplicates - alone.len() as u64;
                let mut found = set.finish(rows.rows, wanted, &writer)?;
                report.duplicates = found.duplicates;
                report.seen = found.seen;
                report.spilled = found.spilled;
                let classes = keyed - found.duplicates + alone.len() as u64;
                if let Some(dupes) = &mut sides.dupes {
                    found.write_dupes(dupes)?;
                }
                if let Some(clusters) = &mut sides.clusters {
                    for &(row, bytes) in alone.iter().filter(|_| by.select.has(1)) {
                        found.write_classes(row, None, Some(clusters))?;
                        let mut object = Vec::new();
                        writer.push_long_cluster(row, bytes, &mut object);
                        clusters.write_all(&object).map_err(Error::write)?;
                    }
                    found.write_classes(u64::MAX, None, Some(clusters))?;
                }
                let survivors = found.survivors()?.with_alone(alone_rows);
                let (select, has_counts) = (by.select, by.count);
                let mut chosen = Chosen { survivors, select, has_counts, blank_in, written: 0 };
                rows.read(job, (schema, &target), &mut chosen, put)?;
                report.written = chosen.written;
                report.withheld = classes - report.written;
            }
        }
        Ok(())
    }
}

/// The outputs beside the results.
pub(crate) struct Sides<'a> {
    pub(crate) dupes: Option<ClassSink<'a>>,
    pub(crate) clusters: Option<ClassSink<'a>>,
}

impl ByClass {
    /// The deciding column in the table `table` with the columns of `schema`, if it is not that of the URIs.
    fn deciding(&self, table: &str, schema: &SchemaRef) -> Result<Option<OtherColumn>, Error> {
        let Some(name) = self.keep.column() else { return Ok(None) };
        let column = OtherColumn::locate(name, table, schema)?;
        if let OtherColumn::Column(target) = &column {
            let found = target.data_type(schema);
            if !has_order(found) {
                let advice = advice(name, found);
                let what =
                    format!("column {name} is {found}, which has no order to keep by{advice}");
                return Err(Error::columns_of(table, what));
            }
        }
        Ok(Some(column))
    }

    /// What is written to `sides`, and what must be kept for that.
    fn wanted(&self, sides: &Sides<'_>) -> (Wanted, ClassMode) {
        let (dupes, clusters) = (sides.dupes.is_some(), sides.clusters.is_some());
        let (keep, has_members) = (self.keep.keep(), dupes || clusters);
        let has_sort_keys = self.keep.column().is_some();
        let has_texts = has_members || keep.has_order();
        let mode = ClassMode { keep, has_texts, has_members, has_sort_keys, has_uris: false };
        (Wanted { lines: false, dupes, clusters }, mode)
    }
}

impl ClassesOf<'_> {
    /// The sort keys of `batch`, which so many rows of the table with this name precede, if a column decides.
    fn sort_keys(
        &mut self,
        place: (&str, u64),
        batch: &RecordBatch,
        is_typed: bool,
    ) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let Some(column) = &mut self.deciding else { return Ok(None) };
        let values = column.values(place, batch, text_of_member)?;
        self.as_text += texts_of_other_order(&values, is_typed);
        self.by.keep.sort_keys(&values, is_typed).map(Some)
    }

    /// Adds the rows of a batch, whose URIs are `values`, to their classes, with their `sort_keys` if there are any; `positions` are the
    /// rows that the keys belong to, counted from `start`.
    fn insert(
        &mut self,
        sort_keys: Option<Vec<Vec<u8>>>,
        values: &ArrayRef,
        keyed: &Keyed,
        (start, positions): (u64, &[Vec<usize>]),
    ) -> Result<(), Error> {
        let values = spelled_out(values)?;
        let keep = self.mode.keep;
        let mut records =
            Records { keys: keyed.rows(), positions, start, texts: Vec::new(), bytes: 0 };
        let mut keyed_texts = Vec::new();
        if self.mode.has_texts || keep != uriscan_bulk::pipeline::Keep::First {
            let texts = each_value(&values).map(|value| trimmed(value.unwrap_or_default()));
            records.texts = texts.collect();
        }
        if let Some(keys) = sort_keys {
            let mut ends = Vec::with_capacity(records.texts.len());
            for (key, text) in keys.iter().zip(&records.texts) {
                ClassMode::push_key(key, &mut keyed_texts);
                keyed_texts.extend_from_slice(text);
                ends.push(keyed_texts.len());
            }
            let mut start = 0;
            let cut = |&end: &usize| &keyed_texts[std::mem::replace(&mut start, end)..end];
            records.texts = ends.iter().map(cut).collect();
        }
        records.bytes = records.texts.iter().map(|text| text.len()).sum();
        Ok(self.set.insert(&records, 0, None)?)
    }
}

/// The rows of a batch that have keys.
struct Records<'b> {
    keys: Vec<&'b Rows>,
    /// For each piece, the rows that its keys belong to.
    positions: &'b [Vec<usize>],
    /// Rows before the batch.
    start: u64,
    /// Sort keys and texts of all rows, if they are needed.
    texts: Vec<&'b [u8]>,
    bytes: usize,
}

impl Batch for Records<'_> {
    fn keys(&self) -> Vec<&Rows> {
        self.keys.clone()
    }

    fn record(&self, chunk: usize, row: usize) -> Record<'_> {
        let at = self.positions[chunk][row];
        (self.start + at as u64, self.texts.get(at).copied().unwrap_or_default())
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::path::PathBuf;

    use super::*;
    use crate::{Form, Input, KeepRow, SortBy, TableFormat, Task, run, run_with};
    use uriscan_bulk::pipeline::{Keep, MemoryLimit, Sinks};

    /// Ten batches of rows with classes near and far, some without a URI, some invalid.
    fn table(seed: u64) -> String {
        let mut text = "n,url\n".to_owned();
        for i in 0..10_000 {
            let host = i * 7_919 % 4_099 + seed * 2_000;
            let url = match i % 11 {
                0 => String::new(),
                1 => format!("not a URI {}", host % 50),
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

    /// Under a limit, many times.
    mod memory {
        use super::*;

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
                let by = SortBy {
                    form: uriscan_core::surt::Form::Cdxj,
                    temp_dir: dir.path().to_owned(),
                };
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
                            job.limit = Some(limit.set_bytes(bytes));
                            let (found, mut report) = written(inputs(streams), &job);
                            let case = format!("{format:?} {streams:?} {bytes} {drops_invalid}");
                            assert!(found == expected, "{case}");
                            assert!(report.spilled > 0, "{case}");
                            report.spilled = 0;
                            assert_eq!(report, plain, "{case}");
                        }
                    }
                }
            }
        }

        #[test]
        fn rows_compared_by_other_columns_do_not_depend_on_the_limit() {
            let dir = tempfile::tempdir().unwrap();
            let rows = (0..20_000usize).map(|i| (i * 7_919 % 1_009, i * 31 % 7, i));
            let url = |host, i| match i % 2 {
                0 => format!("HTTP://H{host}:80"),
                _ => format!("http://h{host}/"),
            };
            let line = |(host, k, i)| format!("{},{},{i}\n", url(host, i), ["", "x", "xx"][k % 3]);
            let csv: String = rows.clone().map(line).collect();
            // The first, the last and the number of rows of each class, the slow way.
            let mut found = std::collections::BTreeMap::new();
            for (host, k, i) in rows {
                let class = found.entry((host, k % 3)).or_insert((i, i, 0));
                *class = (class.0, i, class.2 + 1);
            }
            let by = |keep| ByClass::new(KeepRow::Uri(keep), dir.path()).count(true);
            for (task, is_last, has_count) in [
                (Task::Dedup, false, false),
                (Task::Classes(by(Keep::First)), false, true),
                (Task::Classes(by(Keep::Last)), true, true),
            ] {
                let mut expected: Vec<String> = found
                    .values()
                    .map(|&(first, last, count)| {
                        let row = if is_last { last } else { first };
                        if has_count { format!("{row},{count}") } else { row.to_string() }
                    })
                    .collect();
                expected
                    .sort_by_key(|row| row.split(',').next().unwrap().parse::<usize>().unwrap());
                let job = Job::new("u", task, Columns::default(), TableFormat::Csv);
                let mut job = job.with(["k".to_owned()]);
                for bytes in [None, Some(0), Some(60_000)] {
                    let limit =
                        |bytes: usize| MemoryLimit::new(1 << 20, dir.path()).set_bytes(bytes);
                    job.limit = bytes.map(limit);
                    let text = format!("u,k,i\n{csv}");
                    let csv = Input::stream("csv", TableFormat::Csv, Cursor::new(text));
                    let (out, report) = written(vec![csv], &job);
                    let out = String::from_utf8(out).unwrap();
                    let rows: Vec<&str> =
                        out.lines().skip(1).map(|row| row.splitn(3, ',').nth(2).unwrap()).collect();
                    assert!(rows == expected, "{:?} {bytes:?}", job.task);
                    assert_eq!(report.written, found.len() as u64);
                    assert_eq!(report.spilled > 0, bytes.is_some());
                }
            }
        }

        #[test]
        fn classes_do_not_depend_on_the_limit() {
            let dir = tempfile::tempdir().unwrap();
            let paths = [1, 2].map(|seed| {
                let path = dir.path().join(format!("{seed}.csv"));
                std::fs::write(&path, table(seed)).unwrap();
                path
            });
            let inputs = |is_stream: bool| -> Vec<Input> {
                let input = |path: &PathBuf| match is_stream {
                    true => {
                        let file = std::fs::File::open(path).unwrap();
                        Input::stream(path.display().to_string(), TableFormat::Csv, file)
                    }
                    false => Input::file(path, None),
                };
                paths.iter().map(input).collect()
            };
            let uri = KeepRow::Uri;
            let column = "n".to_owned();
            for (keep, select) in [
                (uri(Keep::First), Select::All),
                (uri(Keep::Last), Select::Repeated),
                (uri(Keep::Shortest), Select::Unique),
                (uri(Keep::Max), Select::All),
                (KeepRow::Greatest(column.clone()), Select::All),
                (KeepRow::Least(column), Select::Repeated),
            ] {
                let temp_dir = dir.path().to_owned();
                let by = ByClass { keep, select, count: true, temp_dir };
                let mut job =
                    Job::new("url", Task::Classes(by), Columns::default(), TableFormat::Csv);
                for has_sides in [false, true] {
                    for is_stream in [false, true] {
                        job.limit = None;
                        job.keeps_blank = is_stream;
                        let (expected, plain) = classes(inputs(is_stream), &job, has_sides);
                        assert!(plain.duplicates > 10_000 && plain.blank > 1_000);
                        // Nothing, and some.
                        for bytes in [0, 60_000] {
                            let limit = MemoryLimit::new(1 << 20, dir.path());
                            job.limit = Some(limit.set_bytes(bytes));
                            let (found, mut report) = classes(inputs(is_stream), &job, has_sides);
                            assert!(found == expected, "{:?} {has_sides} {bytes}", job.task);
                            assert!(report.spilled > 0, "{bytes}");
                            report.spilled = 0;
                            assert_eq!(report, plain);
                        }
                    }
                }
            }
        }
    }

    /// Results, dupes and clusters of a job by class, and the report.
    fn classes(inputs: Vec<Input>, job: &Job, has_sides: bool) -> ([Vec<u8>; 3], Report) {
        let mut texts: [Vec<u8>; 3] = Default::default();
        let [out, dupes, clusters] = &mut texts;
        let mut sinks = Sinks::new(out);
        if has_sides {
            sinks = sinks.dupes(dupes).clusters(clusters);
        }
        let report = run_with(inputs, job, None, sinks).unwrap();
        (texts, report)
    }

    #[test]
    fn a_table_that_changes_meanwhile_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let (path, pipe) = (dir.path().join("t.csv"), dir.path().join("t2.csv"));
        std::fs::write(&path, table(1)).unwrap();
        std::fs::write(&pipe, table(2)).unwrap();
        let mut job = Job::new("url", Task::Dedup, Columns::default(), TableFormat::Csv);
        let limit = MemoryLimit::new(1 << 20, dir.path());
        job.limit = Some(limit.set_bytes(0));
        let mut touch = |_| std::fs::write(&path, "n,url\n").unwrap();
        let inputs = vec![Input::file(&path, None), Input::file(&pipe, None)];
        let done = run(inputs, &job, &mut Vec::new(), Some(&mut touch));
        assert!(done.unwrap_err().to_string().contains("changed while it was read"));
    }
}
