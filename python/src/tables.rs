//! Jobs on tables in files, while Python stays able to interrupt them.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, Once};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use uriscan::extract::{Extractor, Format};
use uriscan::pipeline::{Keep, MemoryLimit, Report, Seen, Select, Sinks};
use uriscan::set::{Fault, KeySet, Loader, SetError, SetWriter};
use uriscan::surt;
use uriscan::table::{
    self, ByClass, Form as TableForm, Input, Job, KeepRow, SortBy, TableError, TableFormat, Task,
};

use crate::form::{Find, Form, KEEP, named, select, wrong};
use crate::set::Adding;
use crate::{errors, findings, pool};

/// What is asked for, as the Python half of the package gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    task: String,
    column: String,
    inputs: Vec<PathBuf>,
    input_format: Option<String>,
    output: PathBuf,
    /// The name of the output, whose end says what its format is.
    output_name: PathBuf,
    output_format: Option<String>,
    rejects: Option<PathBuf>,
    dupes: Option<PathBuf>,
    clusters: Option<PathBuf>,
    keep: String,
    select: String,
    count: bool,
    verify: bool,
    approx: Option<f64>,
    seen: Option<PathBuf>,
    update: bool,
    memory: Option<usize>,
    temp_dir: PathBuf,
    sort_by: Option<String>,
    keeps_no_uri: Option<bool>,
    drops_invalid: bool,
    form: String,
    audit_select: Vec<String>,
    audit_ignore: Vec<String>,
}

/// How often Python looks for signals, and progress is reported.
const PAUSE: Duration = Duration::from_millis(50);

/// Bytes of keys of a set that are held in memory for look-ups, and of keys on their way into one.
const HOLD_BYTES: u64 = 512 << 20;
const LOAD_BYTES: usize = 256 << 20;

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
    hide_panics_of_decoders();
    let stop = Arc::new(AtomicBool::new(false));
    let job = job(form.get(), &asked, find)?.stop(stop.clone());
    let pool = pool::current(py)?;
    let progress = progress.map(Bound::unbind);
    let read = AtomicU64::new(0);
    let (done, interrupt) = py.detach(|| {
        thread::scope(|scope| {
            let (end, ended) = mpsc::channel();
            let (asked, job, stop, read) = (&asked, &job, &*stop, &read);
            let work = scope.spawn(move || {
                let done = pool.install(|| run(asked, job, stop, read));
                drop(end);
                done
            });
            let interrupt = wait(&ended, stop, read, progress.as_ref());
            (work.join(), interrupt)
        })
    });
    if let Some(error) = interrupt {
        return Err(error);
    }
    let (report, adding) = done
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        .map_err(|error| errors::of_table(py, error, &asked.output_name))?;
    Ok((totals(py, &report)?, adding))
}

/// Waits until `ended` is closed; sets `stop` on a signal, and on an error of `progress`.
fn wait(
    ended: &mpsc::Receiver<()>,
    stop: &AtomicBool,
    read: &AtomicU64,
    progress: Option<&Py<PyAny>>,
) -> Option<PyErr> {
    let mut reported = 0;
    let mut interrupt = None;
    loop {
        let is_over = ended.recv_timeout(PAUSE) != Err(RecvTimeoutError::Timeout);
        if interrupt.is_none() {
            let bytes = read.load(Ordering::Relaxed);
            let call = |py: Python<'_>| {
                py.check_signals()?;
                match progress {
                    Some(progress) if bytes != reported => progress.call1(py, (bytes,)).map(drop),
                    _ => Ok(()),
                }
            };
            interrupt = Python::attach(call).err();
            reported = bytes;
            if interrupt.is_some() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        if is_over {
            return interrupt;
        }
    }
}

fn job(form: &Form, asked: &Asked, find: Option<Find>) -> PyResult<Job> {
    let columns = form.columns().clone();
    let task = match &*asked.task {
        "dedup" => dedup(asked)?,
        "normalize" => Task::Form(TableForm::Normalized),
        "key" => Task::Form(TableForm::Key),
        "surt" => Task::Form(TableForm::Surt(surt_form("form", &asked.form)?)),
        "parse" => Task::Parse,
        "check" => Task::Check,
        "audit" => Task::Audit(findings::rules(&asked.audit_select, &asked.audit_ignore)?),
        _ => {
            let find = find.ok_or_else(|| wrong("there is nothing to extract"))?;
            let (extractor, format): (Extractor, Format) = find.made()?;
            Task::Extract(Box::new(extractor), format)
        }
    };
    let to = output_format(asked)?;
    let mut job = Job::new(&*asked.column, task, columns, to)
        .drops_invalid(asked.drops_invalid)
        .approximate(asked.approx)
        .limit(asked.memory.map(|bytes| MemoryLimit::new(bytes, &asked.temp_dir)));
    if let Some(keeps) = asked.keeps_no_uri {
        job = job.keeps_blank(keeps);
    }
    if let Some(by) = &asked.sort_by {
        job = job.sort_by(SortBy::new(surt_form("sort_by", by)?, &asked.temp_dir));
    }
    Ok(job)
}

fn surt_form(option: &str, name: &str) -> PyResult<surt::Form> {
    named(option, name, surt::Form::from_name(name), surt::Form::ALL.map(surt::Form::name))
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
        && !(asked.count || asked.verify || asked.dupes.is_some() || asked.clusters.is_some());
    if is_plain {
        return Ok(Task::Dedup);
    }
    let by = ByClass::new(keep, &asked.temp_dir).select(select);
    Ok(Task::Classes(by.count(asked.count).verify(asked.verify)))
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
        let what =
            "tables are not written compressed, but for parquet and arrow, which are by themselves";
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

/// The set of a run, and what is to be added to it.
enum SetAtWork {
    Read(KeySet),
    Write(SetWriter, Loader),
}

impl SetAtWork {
    fn open(path: &Path, asked: &Asked, job: &Job) -> Result<SetAtWork, SetError> {
        let meaning = job.columns.equivalence.meaning(job.columns.hash);
        let hold = asked.memory.map_or(HOLD_BYTES, |limit| HOLD_BYTES.min(limit as u64 / 4));
        let load = asked.memory.map_or(LOAD_BYTES, |limit| LOAD_BYTES.min(limit / 8));
        if !asked.update {
            let mut set = KeySet::open(path)?;
            set.expect(&meaning)?;
            set.hold(hold)?;
            return Ok(SetAtWork::Read(set));
        }
        let mut writer = match SetWriter::open(path) {
            Err(SetError { fault: Fault::NotASet, .. }) => {
                SetWriter::create(path, meaning.clone())?
            }
            writer => writer?,
        };
        writer.set().expect(&meaning)?;
        writer.set_mut().hold(hold)?;
        let loader = writer.loader(load)?;
        Ok(SetAtWork::Write(writer, loader))
    }

    fn seen(&mut self) -> Seen<'_> {
        match self {
            SetAtWork::Read(set) => Seen::new(set),
            SetAtWork::Write(writer, loader) => Seen::new(writer.set()).new_keys(loader),
        }
    }
}

fn run(
    asked: &Asked,
    job: &Job,
    stop: &AtomicBool,
    read: &AtomicU64,
) -> Result<(Report, Option<Adding>), TableError> {
    let from = asked.input_format.as_ref();
    let from =
        from.and_then(|name| TableFormat::ALL.into_iter().find(|format| format.name() == name));
    let inputs = asked.inputs.iter().map(|path| Input::file(path, from)).collect();
    let mut set = match &asked.seen {
        None => None,
        Some(path) => Some(SetAtWork::open(path, asked, job).map_err(TableError::Set)?),
    };
    let report = write_all(asked, inputs, job, set.as_mut(), stop, read)?;
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
    job: &Job,
    set: Option<&mut SetAtWork>,
    stop: &AtomicBool,
    read: &AtomicU64,
) -> Result<Report, TableError> {
    let open = |path: &PathBuf| Output::create(path, stop).map_err(TableError::Write);
    let mut out = open(&asked.output)?;
    let mut rejects = asked.rejects.as_ref().map(open).transpose()?;
    let mut dupes = asked.dupes.as_ref().map(open).transpose()?;
    let mut clusters = asked.clusters.as_ref().map(open).transpose()?;
    let mut progress = |bytes| read.store(bytes, Ordering::Relaxed);
    let mut sinks = Sinks::new(&mut out).progress(&mut progress);
    sinks.rejects = rejects.as_mut().map(|file| file as &mut (dyn Write + Send));
    sinks.dupes = dupes.as_mut().map(|file| file as &mut (dyn Write + Send));
    sinks.clusters = clusters.as_mut().map(|file| file as &mut (dyn Write + Send));
    let report = table::run_with(inputs, job, set.map(SetAtWork::seen), sinks)?;
    for output in [Some(out), rejects, dupes, clusters].into_iter().flatten() {
        output.finish().map_err(TableError::Write)?;
    }
    Ok(report)
}

/// A file that is being written, until the run is stopped.
struct Output<'s> {
    file: BufWriter<File>,
    stop: &'s AtomicBool,
}

impl<'s> Output<'s> {
    fn create(path: &Path, stop: &'s AtomicBool) -> io::Result<Output<'s>> {
        let file = File::options().write(true).truncate(true).open(path)?;
        Ok(Output { file: BufWriter::with_capacity(1 << 20, file), stop })
    }

    fn finish(self) -> io::Result<()> {
        self.file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("the run was stopped"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

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

/// Suppresses the messages of panics in decoders, which become errors.
fn hide_panics_of_decoders() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !table::is_decoding() {
                default(panic);
            }
        }));
    });
}
