//! Jobs on tables: what the arguments mean there, and carrying it out.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Instant;

use uriscan::arrow::{Columns, OnInvalid};
use uriscan::audit::Severity;
use uriscan::extract::{Extractor, Format};
use uriscan::io::Source;
use uriscan::pipeline::{self, ClassOptions, Emit, Equivalence, Keep, LinkFormat, Report, Sinks};
use uriscan::table::dataset::Partition;
use uriscan::table::{self, ByClass, Form, KeepRow, Notes, SortBy, TableError, TableFormat, Task};

use super::choice::{Column, TableUse};
use super::failure::hide_panics_of_decoders;
use super::hint::{failure_of, print_hint};
use super::sides::of_pairs;
use crate::args::NoUri;
use crate::config::{Config, Job, KeyForm};
use crate::exit::{Failure, Outcome, eprint_line};
use crate::inputs::{self, Input, Inputs, Stdin, StdinHead};
use crate::output::{Destination, NOT_COMPRESSED, is_packed};
use crate::remote;
use crate::report::Results;
use crate::session::{Session, print_approximate, print_summary};
use crate::sets::records::{self, SetAtWork};
use crate::sides;

/// Does the job of `config` with tables.
///
/// # Errors
/// When it cannot be done. Then no file has changed.
pub(crate) fn run(config: &Config, table: &TableUse) -> Result<Outcome, Failure> {
    let (typed, column) = (&table.choice, &*table.column);
    let started = Instant::now();
    let to = output_format(config, table)?;
    let mut job = job(config, table, column, to)?;
    job.keeps_blank = typed.no_uri.map_or(job.keeps_blank, |no_uri| no_uri == NoUri::Keep);
    job.dialect = table.dialect();
    job.sort_by = typed.sort_by.map(|form| SortBy::new(form, table.temp_dir.clone()));
    let total_bytes = inputs::total_bytes(&config.inputs)?;
    if config.side.report.is_some() && config.inputs.contains(&Input::Stdin) {
        inputs::keep_stdin(config.report_limit.as_ref())?;
    }
    let tables = tables(config, table)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(config.settings.threads).build();
    let pool = pool.map_err(|error| {
        Failure::new(format!("cannot start the threads: {error}; use fewer with -j"))
    })?;
    hide_panics_of_decoders();
    let mut set = records::open(config)?;
    let mut session = Session::open(config, total_bytes)?;
    let Session { out, side, progress, folder, .. } = &mut session;
    let folder = folder.as_mut();
    let mut update = |bytes| progress.iter_mut().for_each(|progress| progress.update(bytes));
    let mut sinks = Sinks::new(out);
    let mut side = sides::open(config, side)?;
    let [rejects, dupes, clusters] =
        side.each_mut().map(|sink| sink.as_mut().map(|sink| sink as &mut (dyn Write + Send)));
    (sinks.rejects, sinks.dupes, sinks.clusters) = (rejects, dupes, clusters);
    sinks.progress = Some(&mut update);
    let seen = set.as_mut().map(SetAtWork::seen);
    let done = match (&table.layout, folder) {
        (Some(layout), Some(folder)) => {
            pool.install(|| table::run_to_files(tables, &job, seen, sinks, layout, folder))
        }
        _ => pool.install(|| table::run_with(tables, &job, seen, sinks)),
    };
    let done = done.and_then(|report| {
        let finished = sides::finish(side, config.settings.threads);
        finished.map(|()| report).map_err(TableError::Write)
    });
    session.end_progress();
    let report = match done {
        Ok(report) => report,
        Err(TableError::Write(error)) => return session.unwritten(error),
        Err(error) => return Err(failure_of(error, config, table)),
    };
    if let Some(page) = &mut session.report {
        let elapsed = started.elapsed();
        let results = Results { report: &report, findings: None, census: None, elapsed };
        let mut open = || {
            columns(config, (column, table.from), b'\0')
                .map_err(|failure| pipeline::Error::Write(io::Error::other(failure.to_string())))
        };
        if let Err(error) = crate::report::write(config, &results, &mut open, page) {
            return match error {
                pipeline::Error::Write(error) => session.unwritten(error),
                error => Err(crate::report::failure(&error)),
            };
        }
    }
    // The results must be durable before the set changes, since its keys are never written again.
    if !session.commit(&report, matches!(set, Some(SetAtWork::Write(..))))? {
        return Ok(Outcome::ReaderGone);
    }
    let set = set.map(SetAtWork::finish).transpose()?.flatten();
    print_summary(config, report, None, set, started);
    print_hint(config, table, &report);
    print_notes();
    if let Some(rate) = job.approximate {
        print_approximate(rate, &report);
    }
    Ok(outcome(config, &report))
}

/// The inputs of `config`, with the columns that directories name.
fn tables(config: &Config, table: &TableUse) -> Result<Vec<table::Input>, Failure> {
    let named = config.inputs.iter().map(|input| opened(input, table.from));
    let named = named.collect::<Result<Vec<_>, Failure>>()?;
    let Some(found) = config.found.as_ref().filter(|_| !table.choice.no_hive) else {
        return Ok(named);
    };
    let with_partition = |(input, below): (table::Input, &Option<PathBuf>)| {
        let Some(below) = below else { return Ok(input) };
        let partition = Partition::of_path(below);
        let partition = partition.map_err(|what| {
            let what = format!("{what}; --no-hive reads no columns from directories");
            Failure::at(below.display(), what)
        })?;
        Ok(input.partition(partition))
    };
    named.into_iter().zip(&found.below).map(with_partition).collect()
}

/// The `column` of the tables of `config` as lists.
///
/// # Errors
/// When a file is missing or unreadable.
pub(crate) fn open_column(config: &Config, column: &Column) -> Result<Inputs, Failure> {
    let total_bytes = inputs::total_bytes(&config.inputs)?;
    hide_panics_of_decoders();
    let Column { name, format } = column;
    let sources = columns(config, (name, *format), config.settings.record_end)?;
    Ok(Inputs { sources, total_bytes, stdin_head: StdinHead::default() })
}

/// The pairs of `config`, some of whose inputs are tables.
///
/// # Errors
/// When a file is missing or unreadable.
pub(crate) fn open_pairs(config: &Config) -> Result<Inputs, Failure> {
    hide_panics_of_decoders();
    let lists = config.inputs.iter().filter(|input| of_pairs(input).is_none());
    let mut inputs = inputs::open(&lists.cloned().collect::<Vec<_>>())?;
    let mut lists = std::mem::take(&mut inputs.sources).into_iter();
    for input in &config.inputs {
        if let Some(format) = of_pairs(input) {
            let bytes = inputs::total_bytes(std::slice::from_ref(input))?;
            inputs.total_bytes = inputs.total_bytes.zip(bytes).map(|(sum, bytes)| sum + bytes);
            let table = opened(input, Some(format))?;
            inputs.sources.push(table::pair_source(table, config.settings.record_end));
        } else {
            inputs.sources.extend(lists.next());
        }
    }
    Ok(inputs)
}

/// The column called `name` of all inputs, as lists of records that end in `record_end`.
fn columns(
    config: &Config,
    (name, format): (&str, Option<TableFormat>),
    record_end: u8,
) -> Result<Vec<Source>, Failure> {
    let source = |input: &Input| Ok(table::column_source(opened(input, format)?, name, record_end));
    config.inputs.iter().map(source).collect()
}

/// The table that `input` is, in this format if it is known.
fn opened(input: &Input, format: Option<TableFormat>) -> Result<table::Input, Failure> {
    let opened = match input {
        Input::Stdin => table::Input::stream("-", format, Stdin::new()),
        Input::File(path) => table::Input::file(path, format),
        Input::Remote(url) => table::Input::stored(remote::open(url)?, format),
        Input::Typed(list) => table::Input::stream("-e", format, io::Cursor::new(list.clone())),
    };
    Ok(opened.notes(notes()))
}

/// What is to be said of all tables of the run.
fn notes() -> &'static Notes {
    static NOTES: OnceLock<Notes> = OnceLock::new();
    NOTES.get_or_init(Notes::default)
}

/// Prints what is to be said of the tables that were read.
pub(crate) fn print_notes() {
    notes().all().iter().for_each(|note| eprint_line(format_args!("uriscan: {note}")));
}

fn outcome(config: &Config, report: &Report) -> Outcome {
    let is_fine = report.invalid.total() == 0 || !config.strict;
    if is_fine { Outcome::Done } else { Outcome::SomeInvalid }
}

/// The format to write.
fn output_format(config: &Config, table: &TableUse) -> Result<TableFormat, Failure> {
    let output = match &config.output {
        Destination::File(path) | Destination::Directory(path) => Some(path.as_path()),
        Destination::Remote(url) | Destination::Prefix(url) => Some(url.path()),
        Destination::Stdout => None,
    };
    if let Some(path) = output.filter(|path| is_packed(path)) {
        return Err(Failure::at(path.display(), NOT_COMPRESSED));
    }
    let first = match config.inputs.first() {
        Some(Input::File(path)) => table.from.or_else(|| TableFormat::of_path(path)),
        Some(Input::Remote(url)) => table.from.or_else(|| TableFormat::of_path(url.path())),
        _ => table.from,
    };
    let to = table.to.or_else(|| TableFormat::of_path(output?)).or(first);
    let to = to.ok_or_else(|| {
        let what = "the format of the table is unknown; name it with --from, and with --to if the output has another";
        Failure::at("--column", what)
    })?;
    let is_text = matches!(to, TableFormat::Csv | TableFormat::Tsv | TableFormat::Jsonl);
    if output.is_none() && !is_text && io::stdout().is_terminal() {
        let what = format!(
            "{} is nothing for a terminal; -o names a file, --to another format",
            to.name()
        );
        return Err(Failure::new(what));
    }
    Ok(to)
}

/// What is written of classes.
fn by_class(table: &TableUse, options: &ClassOptions) -> ByClass {
    let keep = match (&table.keep_column, options.keep) {
        (Some(column), Keep::Min) => KeepRow::Least(column.clone()),
        (Some(column), _) => KeepRow::Greatest(column.clone()),
        (None, keep) => KeepRow::Uri(keep),
    };
    let ClassOptions { select, count, .. } = *options;
    let by = ByClass::new(keep, table.temp_dir.clone());
    by.select(select).count(count).rows(options.rows)
}

/// Whether other files than those that were named are asked for.
fn walks(config: &Config) -> bool {
    let walk = config.documents.as_ref().map(|documents| &documents.walk);
    walk.is_some_and(|walk| walk.files_from.is_some() || walk.hidden || walk.text)
}

/// What is to be done, by the library's terms.
fn job(
    config: &Config,
    table: &TableUse,
    column: &str,
    to: TableFormat,
) -> Result<table::Job, Failure> {
    let refuse = |what: &str| Err(Failure::at("--column", what));
    if config.aliases.is_some() {
        return refuse("--aliases works with lines, not with tables; omit it, or give a list");
    }
    if config.settings.redact || config.settings.record_end == 0 {
        return refuse("--redact and -0 work with lines, not with tables; omit them");
    }
    let is_extract = matches!(config.job, Job::Extract(..));
    if config.documents.is_some() && !is_extract {
        return refuse(
            "--extract makes lists, not tables; `uriscan extract --column` adds a column of links",
        );
    }
    let plain = Equivalence::default();
    let (task, equivalence, on_invalid) = match &config.job {
        Job::Dedup(options) => {
            if options.emit != Emit::Original {
                return refuse(
                    "--emit works with lines, not with tables; `normalize` and `key` add columns",
                );
            }
            (Task::Dedup, &options.equivalence, options.on_invalid)
        }
        Job::Classes(options) => {
            if options.dedup.emit != Emit::Original {
                return refuse(
                    "--emit works with lines, not with tables; `normalize` and `key` add columns",
                );
            }
            (
                Task::Classes(by_class(table, options)),
                &options.dedup.equivalence,
                options.dedup.on_invalid,
            )
        }
        Job::Normalize { equivalence, on_invalid } => {
            (Task::Form(Form::Normalized), equivalence, *on_invalid)
        }
        Job::Key { equivalence, form, on_invalid } => {
            let form = match form {
                KeyForm::Hex(_) => Form::Key,
                KeyForm::Url => Form::Normalized,
                KeyForm::Surt(form) => Form::Surt(*form),
            };
            (Task::Form(form), equivalence, *on_invalid)
        }
        Job::Parse(pipeline::RowFormat::Jsonl, repairs) if repairs.is_empty() => {
            (Task::Parse, &plain, pipeline::OnInvalid::Pass)
        }
        Job::Check(pipeline::CheckFormat::Text, repairs) if repairs.is_empty() => {
            (Task::Check, &plain, pipeline::OnInvalid::Pass)
        }
        Job::Audit(_, Some(Severity::Note | Severity::Error)) => {
            return refuse("--fail-on works with lines: findings in tables have no exit code");
        }
        Job::Audit(options, _) if options.format == pipeline::AuditFormat::Text => (
            Task::Audit(options.rules.at_least(options.least_written.unwrap_or(Severity::Note))),
            &plain,
            pipeline::OnInvalid::Pass,
        ),
        Job::Extract(_, format) if *format != LinkFormat::default() => {
            return refuse(
                "-H, -n, -b, -c, --context and --jsonl work with files of text, not with tables",
            );
        }
        Job::Extract(..) if walks(config) => {
            return refuse(
                "--files-from, --hidden and -a work with files of text, not with tables",
            );
        }
        Job::Extract(options, _) => {
            let has_fields = !options.extractor.log_fields.is_empty();
            let usual = if has_fields { Format::Clf } else { Format::Text };
            let format = options.format.unwrap_or(usual);
            let extractor = Box::new(Extractor::new(options.extractor.clone()));
            (Task::Extract(extractor, format), &plain, pipeline::OnInvalid::Pass)
        }
        _ => {
            return refuse(
                "--template, --grammar, --differ, --iri, --repair and --redact of this command work with lines, not with tables; omit them, or give a list",
            );
        }
    };
    let mut columns = Columns::new(equivalence.clone());
    columns.kernels = config.settings.kernels;
    if let Job::Key { form: KeyForm::Hex(hash), .. } = &config.job {
        columns.hash = *hash;
    }
    let (mut limit, mut approximate) = (None, None);
    if let Job::Dedup(options) | Job::Classes(ClassOptions { dedup: options, .. }) = &config.job {
        columns.hasher = options.hasher.clone();
        columns.hash = options.hash;
        (limit, approximate) = (options.limit.clone(), options.approximate);
    }
    if on_invalid == pipeline::OnInvalid::Fail {
        columns.on_invalid = OnInvalid::Fail;
    }
    let drops_invalid =
        matches!(on_invalid, pipeline::OnInvalid::Drop | pipeline::OnInvalid::Divert);
    let job = table::Job::new(column, task, columns, to).filter(config.filter.clone());
    Ok(job.drops_invalid(drops_invalid).limit(limit).approximate(approximate))
}
