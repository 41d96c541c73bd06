//! Jobs on tables in files, while Python stays able to interrupt them.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use uriscan::Error;
use uriscan::extract::Extractor;
use uriscan::set::Meaning;
use uriscan_bulk::pipeline::{Keep, MemoryLimit, Report, Select, Sinks};
use uriscan_table::{
    self, ByClass, ClassTable, Form as TableForm, Input, Job, KeepRow, Layout, SortBy, TableFormat,
    Task,
};

use crate::arguments::{named, wrong};
use crate::datasets::partition;
use crate::find::Find;
use crate::form::{Form, KEEP, select, surt_form};
use crate::output::{Output, Parts};
use crate::set::{Adding, SetAtWork};
use crate::side_outputs::{Formats, Sink};
use crate::watch::{Watch, watched};
use crate::{errors, findings};

/// What is asked for, as the Python half of the package gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    task: String,
    column: String,
    inputs: Vec<PathBuf>,
    /// The path of each input below the root of its dataset, whose directories name columns.
    below: Vec<Option<PathBuf>>,
    input_format: Option<String>,
    /// A file, or a directory that takes files.
    output: PathBuf,
    is_directory: bool,
    /// The name of the output, whose end says what its format is.
    output_name: PathBuf,
    output_format: Option<String>,
    rejects: Option<PathBuf>,
    dupes: Option<PathBuf>,
    clusters: Option<PathBuf>,
    /// Their names, whose ends say whether they are tables.
    dupes_name: Option<PathBuf>,
    clusters_name: Option<PathBuf>,
    /// Columns whose values must be equal, too.
    with_columns: Vec<String>,
    /// The name of the column that is added.
    into: Option<String>,
    keep: String,
    select: String,
    count: bool,
    approx: Option<f64>,
    seen: Option<PathBuf>,
    update: bool,
    memory: Option<usize>,
    temp_dir: PathBuf,
    sort_by: Option<String>,
    keeps_no_uri: Option<bool>,
    drops_invalid: bool,
    audit_select: Vec<String>,
    audit_ignore: Vec<String>,
}

/// Processes the tables that `asked` names; returns the totals, and the keys to add to the set once the results are in place.
#[pyfunction]
#[pyo3(signature = (form, asked, find=None, progress=None))]
pub(crate) fn run_tables<'py>(
    py: Python<'py>,
    form: &Bound<'py, Form>,
    asked: Asked,
    find: Option<Find>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyDict>, Option<Adding>)> {
    let watch = Watch::default();
    let side_outputs = Formats::of(asked.dupes_name.as_ref(), asked.clusters_name.as_ref())?;
    let job = job(form.get(), &asked, find)?.stop(watch.stop.clone());
    let inputs = inputs(&asked)?;
    let done = watched(py, &watch, progress, || run(&asked, inputs, &job, side_outputs, &watch))?;
    let (report, adding) = done.map_err(|error| errors::of_table(py, error, &asked.output_name))?;
    Ok((totals(py, &report)?, adding))
}

fn inputs(asked: &Asked) -> PyResult<Vec<Input>> {
    let from = format("from_", asked.input_format.as_ref())?;
    let input = |(path, below): (&PathBuf, &Option<PathBuf>)| {
        let input = Input::file(path, from);
        Ok(match below {
            Some(below) => input.partition(partition(below)?),
            None => input,
        })
    };
    asked.inputs.iter().zip(&asked.below).map(input).collect()
}

fn job(form: &Form, asked: &Asked, find: Option<Find>) -> PyResult<Job> {
    let columns = form.columns().clone();
    let task = match &*asked.task {
        "dedup" => dedup(asked)?,
        "normalize" => Task::Form(TableForm::Normalized),
        "key" => Task::Form(TableForm::Key),
        "parse" => Task::Parse,
        "check" => Task::Check,
        "audit" => Task::Audit(findings::rules(&asked.audit_select, &asked.audit_ignore)?),
        _ => {
            let find = find.ok_or_else(|| wrong("there is nothing to extract"))?;
            let (options, format) = find.options()?;
            Task::Extract(Box::new(Extractor::new(options)), format)
        }
    };
    let to = output_format(asked)?;
    let mut job = Job::new(&*asked.column, task, columns, to)
        .drops_invalid(asked.drops_invalid)
        .into(asked.into.clone())
        .with(&*asked.with_columns)
        .approximate(asked.approx)
        .limit(asked.memory.map(|bytes| MemoryLimit::new(bytes, &asked.temp_dir)));
    if job.into.is_some() && !job.adds_columns() {
        return Err(wrong("into names the column that count=True adds, and nothing is counted"));
    }
    if let Some(keeps) = asked.keeps_no_uri {
        job = job.keeps_blank(keeps);
    }
    if let Some(by) = &asked.sort_by {
        job = job.sort_by(SortBy::new(surt_form("sort_by", by)?, &asked.temp_dir));
    }
    Ok(job)
}

fn dedup(asked: &Asked) -> PyResult<Task> {
    let keep = match asked.keep.split_once(':') {
        Some(("min", column)) if !column.is_empty() => KeepRow::Least(column.to_owned()),
        Some(("max", column)) if !column.is_empty() => KeepRow::Greatest(column.to_owned()),
        _ => {
            let found = KEEP.into_iter().find(|(name, _)| *name == asked.keep);
            let names = KEEP.map(|(name, _)| name).into_iter().chain(["min:COLUMN", "max:COLUMN"]);
            KeepRow::Uri(named("keep", &asked.keep, found.map(|(_, keep)| keep), names)?)
        }
    };
    let select = select(&asked.select);
    let is_plain = keep == KeepRow::Uri(Keep::First)
        && select == Select::All
        && !(asked.count || asked.dupes.is_some() || asked.clusters.is_some());
    if is_plain {
        return Ok(Task::Dedup);
    }
    let by = ByClass::new(keep, &asked.temp_dir).select(select);
    Ok(Task::Classes(by.count(asked.count)))
}

fn format(option: &str, name: Option<&String>) -> PyResult<Option<TableFormat>> {
    let found = |name: &String| {
        let names = TableFormat::ALL.map(TableFormat::name);
        let format = TableFormat::ALL.into_iter().find(|format| format.name() == *name);
        named(option, name, format, names)
    };
    name.map(found).transpose()
}

/// The format that is asked for, or that of the name of the output, or that of the first table.
fn output_format(asked: &Asked) -> PyResult<TableFormat> {
    let packed = ["gz", "zst", "bz2", "xz", "lz4"];
    let end = asked.output_name.extension().and_then(|end| end.to_str()).unwrap_or_default();
    if packed.contains(&end) {
        let what = "tables are not written compressed; omit the suffix (Parquet and Arrow compress their columns)";
        return Err(wrong(format!("{}: {what}", asked.output_name.display())));
    }
    let first = asked.inputs.first();
    let to = format("to", asked.output_format.as_ref())?
        .or_else(|| TableFormat::of_path(&asked.output_name))
        .or(format("from_", asked.input_format.as_ref())?)
        .or_else(|| TableFormat::of_path(first?));
    to.ok_or_else(|| {
        let name = asked.output_name.display();
        wrong(format!("{name}: its name does not say its format; name it with to"))
    })
}

fn run(
    asked: &Asked,
    inputs: Vec<Input>,
    job: &Job,
    side_outputs: Formats,
    watch: &Watch,
) -> Result<(Report, Option<Adding>), Error> {
    let meaning = job.columns.equivalence.meaning(job.columns.hash);
    let mut set = SetAtWork::open(asked.seen.as_deref(), asked.update, asked.memory, &meaning)
        .map_err(Error::from)?;
    let report = write_all(asked, inputs, (job, &meaning), side_outputs, set.as_mut(), watch)?;
    let adding = match set {
        // A set that was made for this run goes away unless the keys are committed.
        Some(SetAtWork::Write(writer, loader)) => Some(Adding(Mutex::new(Some((writer, loader))))),
        _ => None,
    };
    Ok((report, adding))
}

/// Runs the job and writes its files through to the disk.
fn write_all(
    asked: &Asked,
    inputs: Vec<Input>,
    (job, meaning): (&Job, &Meaning),
    side_outputs: Formats,
    set: Option<&mut SetAtWork>,
    watch: &Watch,
) -> Result<Report, Error> {
    let open = |path: &PathBuf| Output::create(path, watch).map_err(Error::write);
    let mut rejects = asked.rejects.as_ref().map(open).transpose()?;
    let mut dupes = asked.dupes.as_ref().map(open).transpose()?;
    let mut clusters = asked.clusters.as_ref().map(open).transpose()?;
    let of_dupes = |file| Sink::new(file, side_outputs.dupes, ClassTable::of_dupes, meaning);
    let of_clusters =
        |file| Sink::new(file, side_outputs.clusters, ClassTable::of_clusters, meaning);
    let mut of_dupes = dupes.as_mut().map(of_dupes).transpose()?;
    let mut of_clusters = clusters.as_mut().map(of_clusters).transpose()?;
    let mut progress = |bytes| watch.read(bytes);
    let (mut out, mut nothing) = (None, io::sink());
    let results: &mut (dyn Write + Send) = match asked.is_directory {
        true => &mut nothing,
        false => out.insert(open(&asked.output)?),
    };
    let mut sinks = Sinks::new(results).progress(&mut progress);
    sinks.rejects = rejects.as_mut().map(|file| file as &mut (dyn Write + Send));
    sinks.dupes = of_dupes.as_mut().map(Sink::of_classes);
    sinks.clusters = of_clusters.as_mut().map(Sink::of_classes);
    let seen = set.map(SetAtWork::seen);
    let report = match asked.is_directory {
        true => {
            let mut folder = Parts::new(&asked.output, watch);
            uriscan_table::run_to_files(inputs, job, seen, sinks, &Layout::default(), &mut folder)?
        }
        false => uriscan_table::run_with(inputs, job, seen, sinks)?,
    };
    [of_dupes, of_clusters].into_iter().flatten().try_for_each(Sink::finish)?;
    for output in [out, rejects, dupes, clusters].into_iter().flatten() {
        output.finish().map_err(Error::write)?;
    }
    Ok(report)
}

/// The totals of a run.
fn totals<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let totals = PyDict::new(py);
    for (name, count) in [
        ("bytes", report.bytes),
        ("records", report.records),
        ("blank", report.blank),
        ("written", report.written),
        ("duplicates", report.duplicates),
        ("seen", report.seen),
        ("withheld", report.withheld),
        ("repaired", report.repaired),
        ("spilled", report.spilled),
    ] {
        totals.set_item(name, count)?;
    }
    let invalid = PyDict::new(py);
    for (kind, count) in report.invalid.iter() {
        invalid.set_item(kind.name(), count)?;
    }
    totals.set_item("invalid", invalid)?;
    Ok(totals)
}
