//! Jobs on lists, a record a line: what `python -m uriscan` does.

use std::io::{self, Cursor, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use uriscan::audit::Severity;
use uriscan::io::Source;
use uriscan::pipeline::{
    self, AuditOptions, CheckFormat, ClassOptions, DedupOptions, Error, ExtractOptions, LinkFormat,
    MemoryLimit, OnInvalid, Report, RowFormat, Settings, Sinks,
};
use uriscan::table::{ClassTable, TableError};

use crate::find::Find;
use crate::form::{Form, keep, select, surt_form};
use crate::output::Output;
use crate::set::{Adding, SetAtWork};
use crate::sides::{Formats, Sink};
use crate::tables::totals;
use crate::watch::{Watch, watched};
use crate::{errors, findings};

/// What is asked for, as the Python half of the package gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    command: String,
    inputs: Vec<PathBuf>,
    /// Records that were typed, each with its end.
    typed: Option<Vec<u8>>,
    /// The file to write; standard output without one.
    output: Option<PathBuf>,
    rejects: Option<PathBuf>,
    dupes: Option<PathBuf>,
    clusters: Option<PathBuf>,
    /// The names that these will have, which say whether they are tables.
    dupes_name: Option<PathBuf>,
    clusters_name: Option<PathBuf>,
    is_null: bool,
    threads: usize,
    on_invalid: String,
    keep: String,
    select: String,
    count: bool,
    verify: bool,
    approx: Option<f64>,
    seen: Option<PathBuf>,
    update: bool,
    memory: Option<usize>,
    temp_dir: PathBuf,
    form: Option<String>,
    audit_select: Vec<String>,
    audit_ignore: Vec<String>,
    detects_format: bool,
}

/// What a job reports.
#[derive(Default)]
struct Done {
    report: Report,
    /// Findings that are more than notes.
    findings: u64,
}

/// Processes lists; returns the totals, and the keys to add to the set once the results are in place.
#[pyfunction]
#[pyo3(signature = (form, asked, find=None))]
pub(crate) fn run_lines<'py>(
    py: Python<'py>,
    form: &Bound<'py, Form>,
    asked: Asked,
    find: Option<Find>,
) -> PyResult<(Bound<'py, PyDict>, Option<Adding>)> {
    let form = form.get();
    let sides = Formats::of(asked.dupes_name.as_ref(), asked.clusters_name.as_ref())?;
    let job = Job::new(form, &asked, sides, find)?;
    let watch = Watch::default();
    let done = watched(py, &watch, None, || run(form, &job, &asked, sides, &watch))?;
    let (done, adding) = done.map_err(|error| errors::of_lines(py, error))?;
    let totals = totals(py, &done.report)?;
    totals.set_item("findings", done.findings)?;
    Ok((totals, adding))
}

enum Job {
    Normalize,
    Key,
    Surt(uriscan::surt::Form),
    Dedup(Box<ClassOptions>, bool),
    Parse(RowFormat),
    Check(CheckFormat),
    Audit(AuditOptions),
    Extract(Box<ExtractOptions>),
}

impl Job {
    fn new(form: &Form, asked: &Asked, sides: Formats, find: Option<Find>) -> PyResult<Job> {
        Ok(match &*asked.command {
            "normalize" => Job::Normalize,
            "key" => match asked.form.as_deref() {
                None | Some("hex") => Job::Key,
                Some("url") => Job::Normalize,
                Some(name) => Job::Surt(surt_form("as", name)?),
            },
            "dedup" => {
                let columns = form.columns();
                let limit = asked.memory.map(|bytes| MemoryLimit::new(bytes, &asked.temp_dir));
                let options = DedupOptions::default()
                    .equivalence(columns.equivalence.clone())
                    .hasher(columns.hasher.clone())
                    .hash(columns.hash)
                    .on_invalid(on_invalid(asked))
                    .limit(limit)
                    .approximate(asked.approx);
                let (keep, select) = (keep("keep", &asked.keep)?, select(&asked.select));
                let are_classes = asked.keep != "first"
                    || asked.select != "all"
                    || asked.count
                    || asked.verify
                    || asked.dupes.is_some()
                    || asked.clusters.is_some();
                let options = ClassOptions::default().dedup(options).keep(keep).select(select);
                let options = options.count(asked.count).verify(asked.verify).rows(sides.rows());
                Job::Dedup(Box::new(options), are_classes)
            }
            "parse" => Job::Parse(match asked.form.as_deref() {
                Some("tsv") => RowFormat::Tsv,
                _ => RowFormat::Jsonl,
            }),
            "check" => Job::Check(match asked.form.as_deref() {
                Some("jsonl") => CheckFormat::Jsonl,
                _ => CheckFormat::Text,
            }),
            "audit" => {
                let rules = findings::rules(&asked.audit_select, &asked.audit_ignore)?;
                let format = match asked.form.as_deref() {
                    Some("jsonl") => pipeline::AuditFormat::Jsonl,
                    Some("sarif") => pipeline::AuditFormat::Sarif,
                    _ => pipeline::AuditFormat::Text,
                };
                Job::Audit(AuditOptions::default().rules(rules).format(format))
            }
            _ => {
                let find =
                    find.ok_or_else(|| crate::arguments::wrong("there is nothing to extract"))?;
                let (options, format) = find.options()?;
                let format = (!asked.detects_format).then_some(format);
                Job::Extract(Box::new(ExtractOptions::default().extractor(options).format(format)))
            }
        })
    }
}

fn on_invalid(asked: &Asked) -> OnInvalid {
    match (&*asked.on_invalid, &asked.rejects) {
        (_, Some(_)) => OnInvalid::Divert,
        ("drop", _) => OnInvalid::Drop,
        ("error", _) => OnInvalid::Fail,
        _ => OnInvalid::Pass,
    }
}

fn run(
    form: &Form,
    job: &Job,
    asked: &Asked,
    sides: Formats,
    watch: &Watch,
) -> Result<(Done, Option<Adding>), Error> {
    let record_end = if asked.is_null { b'\0' } else { b'\n' };
    let settings = Settings::default().threads(asked.threads).record_end(record_end);
    let mut set =
        SetAtWork::open(asked.seen.as_deref(), asked.update, asked.memory, &form.meaning())
            .map_err(Error::Set)?;
    let open = |path: &Option<PathBuf>| {
        path.as_ref().map(|path| Output::create(path, watch)).transpose().map_err(Error::Write)
    };
    let mut out: Box<dyn Write + Send> = match &asked.output {
        Some(_) => Box::new(io::sink()),
        None => Box::new(io::stdout()),
    };
    let [mut output, mut rejects, mut dupes, mut clusters] =
        [open(&asked.output)?, open(&asked.rejects)?, open(&asked.dupes)?, open(&asked.clusters)?];
    let meaning = form.meaning();
    let of_dupes = |file| Sink::new(file, sides.dupes, ClassTable::of_dupes, &meaning);
    let of_clusters = |file| Sink::new(file, sides.clusters, ClassTable::of_clusters, &meaning);
    let mut of_dupes = dupes.as_mut().map(of_dupes).transpose().map_err(of_table)?;
    let mut of_clusters = clusters.as_mut().map(of_clusters).transpose().map_err(of_table)?;
    let mut sinks = Sinks::new(match &mut output {
        Some(file) => file,
        None => &mut *out,
    });
    sinks.rejects = rejects.as_mut().map(|file| file as &mut (dyn Write + Send));
    sinks.dupes = of_dupes.as_mut().map(|sink| sink as &mut (dyn Write + Send));
    sinks.clusters = of_clusters.as_mut().map(|sink| sink as &mut (dyn Write + Send));
    let done = work(form, job, asked, set.as_mut(), &settings, &mut sinks)?;
    sinks.out.flush().map_err(Error::Write)?;
    [of_dupes, of_clusters].into_iter().flatten().try_for_each(Sink::finish).map_err(of_table)?;
    for file in [output, rejects, dupes, clusters].into_iter().flatten() {
        file.finish().map_err(Error::Write)?;
    }
    let adding = match set {
        Some(SetAtWork::Write(writer, loader)) => Some(Adding(Mutex::new(Some((writer, loader))))),
        _ => None,
    };
    Ok((done, adding))
}

/// What goes wrong with a table of duplicates or of classes.
fn of_table(error: TableError) -> Error {
    Error::Write(match error {
        TableError::Write(error) => error,
        error => io::Error::other(error.to_string()),
    })
}

fn work(
    form: &Form,
    job: &Job,
    asked: &Asked,
    set: Option<&mut SetAtWork>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Done, Error> {
    let columns = form.columns();
    let (equivalence, repairs) = (&columns.equivalence, columns.equivalence.repairs);
    let (sources, on_invalid) = (sources(asked), on_invalid(asked));
    let report = match job {
        Job::Normalize => pipeline::normalize(sources, equivalence, on_invalid, settings, sinks),
        Job::Key => pipeline::keys(sources, equivalence, columns.hash, on_invalid, settings, sinks),
        Job::Surt(form) => {
            pipeline::surts(sources, equivalence, *form, on_invalid, settings, sinks)
        }
        Job::Dedup(options, are_classes) => match (are_classes, set) {
            (true, None) => pipeline::classes(sources, options, settings, sinks),
            (true, Some(set)) => {
                pipeline::classes_unseen(sources, options, set.seen(), settings, sinks)
            }
            (false, None) => pipeline::dedup(sources, &options.dedup, settings, sinks),
            (false, Some(set)) => {
                pipeline::dedup_unseen(sources, &options.dedup, set.seen(), settings, sinks)
            }
        },
        Job::Parse(format) => pipeline::parse(sources, format, repairs, settings, sinks),
        Job::Check(format) => pipeline::check(sources, *format, repairs, settings, sinks),
        Job::Audit(options) => {
            let (report, counts) = pipeline::audit(sources, options, settings, sinks)?;
            return Ok(Done { report, findings: counts.at_least(Severity::Warning) });
        }
        Job::Extract(options) => {
            pipeline::extract(sources, options, LinkFormat::default(), settings, sinks)
        }
    };
    Ok(Done { report: report?, findings: 0 })
}

/// The lists, `-` for standard input.
fn sources(asked: &Asked) -> Vec<Source> {
    let source = |path: &PathBuf| match path.as_os_str() == "-" {
        true => Source::new("-", io::stdin()),
        false => Source::file(path),
    };
    let typed = asked.typed.iter().map(|typed| Source::new("-e", Cursor::new(typed.clone())));
    typed.chain(asked.inputs.iter().map(source)).collect()
}
