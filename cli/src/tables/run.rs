//! Jobs on tables: what the arguments mean there, and carrying it out.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use uriscan::row::OnBadRow;
use uriscan_arrow::OnInvalid;
use uriscan_bulk::pipeline::{self, Report, Sinks};
use uriscan_table::dataset::Partition;
use uriscan_table::{self, Notes, SortBy, TableFormat};

use super::choice::{Column, TableUse};
use super::directory::Directory;
use super::folder::Folder;
use super::objects::Objects;
use super::side_outputs::of_pairs;
use crate::args::NoUri;
use crate::exit::{Failure, Stop, eprint_line};
use crate::hint::{self, Beginning};
use crate::inputs::{self, Input, Inputs, StdinHead, head_of_stdin};
use crate::output::{Destination, NOT_COMPRESSED, is_packed};
use crate::plan::Plan;
use crate::remote;
use crate::rows;
use crate::sets::records::SetAtWork;

pub(crate) struct Work {
    tables: Vec<uriscan_table::Input>,
    job: uriscan_table::Job,
    pool: rayon::ThreadPool,
}

/// The job of `plan` on its tables, and how many bytes they have, if that is known.
pub(crate) fn open(plan: &Plan, table: &TableUse) -> Result<(Work, Option<u64>), Failure> {
    let to = output_format(plan, table)?;
    let mut job = job(plan, table, to)?;
    job.keeps_blank = table.choice.no_uri.map_or(job.keeps_blank, |no_uri| no_uri == NoUri::Keep);
    job.dialect = table.dialect();
    let skips = table.choice.dialect.on_bad_row == Some(OnBadRow::Skip);
    job.skips_bad_rows = skips.then(|| table.temp_dir.clone());
    job.sort_by = table.choice.sort_by.map(|form| SortBy::new(form, table.temp_dir.clone()));
    let total_bytes = inputs::total_bytes(&plan.inputs)?;
    let tables = tables(plan, table)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.settings.threads).build();
    let pool = pool.map_err(|error| {
        Failure::new(format!("cannot start the threads: {error}; use fewer with -j"))
    })?;
    hide_panics_of_decoders();
    Ok((Work { tables, job, pool }, total_bytes))
}

/// Suppresses the messages of panics in decoders, which become errors.
fn hide_panics_of_decoders() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !uriscan_table::is_decoding() {
            default(panic);
        }
    }));
}

impl Work {
    /// Does the work; results that are cut into files are put into `folder`.
    pub(crate) fn run(
        self,
        plan: &Plan,
        set: Option<&mut SetAtWork>,
        folder: Option<&mut Folder>,
        sinks: Sinks<'_>,
    ) -> Result<Report, Stop> {
        let Work { tables, job, pool } = self;
        let Some(table) = &plan.table else { return Ok(Report::default()) };
        let seen = set.map(SetAtWork::seen);
        let done = match (&table.layout, folder) {
            (Some(layout), Some(folder)) => pool.install(|| {
                uriscan_table::run_to_files(tables, &job, seen, sinks, layout, &mut **folder)
            }),
            _ => pool.install(|| uriscan_table::run_with(tables, &job, seen, sinks)),
        };
        done.map_err(|error| rows::stop(error, plan))
    }
}

/// Opens `destination`, if it takes several files; temporary files of objects are made in `temp_dir`.
pub(crate) fn open_folder(
    destination: &Destination,
    temp_dir: &Path,
) -> Result<Option<Folder>, Failure> {
    Ok(Some(match destination {
        Destination::Directory(path) => Box::new(Directory::new(path)?),
        Destination::Prefix(url) => Box::new(Objects::new(url, temp_dir)?),
        Destination::Stdout | Destination::File(_) | Destination::Remote(_) => return Ok(None),
    }))
}

/// The inputs of `plan`, with the columns that directories name.
fn tables(plan: &Plan, table: &TableUse) -> Result<Vec<uriscan_table::Input>, Failure> {
    let named = plan.inputs.iter().map(|input| opened(input, table.from));
    let named = named.collect::<Result<Vec<_>, Failure>>()?;
    let Some(found) = plan.found.as_ref().filter(|_| !table.choice.no_hive) else {
        return Ok(named);
    };
    let with_partition = |(input, below): (uriscan_table::Input, &Option<PathBuf>)| {
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

/// The `column` of the tables of `plan` as lists.
pub(crate) fn open_column(plan: &Plan, column: &Column) -> Result<Inputs, Failure> {
    let total_bytes = inputs::total_bytes(&plan.inputs)?;
    hide_panics_of_decoders();
    let Column { name, format, fields } = column;
    plan.inputs.iter().try_for_each(|input| refuse_unknown(input, *format))?;
    let fields = fields.as_ref().map(|fields| fields.each_ref().map(Option::as_deref));
    let source = |input: &Input| {
        let table = opened(input, *format)?;
        Ok(match &fields {
            None => uriscan_table::column_source(table, name, plan.settings.record_end),
            Some(fields) => uriscan_table::fields_source(table, name, fields),
        })
    };
    let sources = plan.inputs.iter().map(source).collect::<Result<_, Failure>>()?;
    Ok(Inputs { sources, total_bytes, hidden: 0, stdin_head: StdinHead::default() })
}

/// An error if neither a `format` nor the name and the first bytes of `input` say what kind of table it is.
fn refuse_unknown(input: &Input, format: Option<TableFormat>) -> Result<(), Failure> {
    let beginning = match input {
        _ if format.is_some() => None,
        Input::Stdin => Beginning::of_stdin(&head_of_stdin(), b'\n'),
        Input::File(path) if TableFormat::of_path(path).is_none() => {
            Beginning::of_file(path, b'\n')
        }
        _ => None,
    };
    let Some(from) = beginning.as_ref().and_then(hint::unknown_table) else { return Ok(()) };
    let name = input.path().map_or("-".into(), |path| path.display().to_string());
    let what = format!("neither its name nor its first bytes identify its format; {from}");
    Err(Failure::at(name, what))
}

/// The pairs of `plan`, some of whose inputs are tables.
pub(crate) fn open_pairs(plan: &Plan) -> Result<Inputs, Failure> {
    hide_panics_of_decoders();
    let lists = plan.inputs.iter().filter(|input| of_pairs(input).is_none());
    let mut inputs = inputs::open(&lists.cloned().collect::<Vec<_>>())?;
    let mut lists = std::mem::take(&mut inputs.sources).into_iter();
    for input in &plan.inputs {
        if let Some(format) = of_pairs(input) {
            let bytes = inputs::total_bytes(std::slice::from_ref(input))?;
            inputs.total_bytes = inputs.total_bytes.zip(bytes).map(|(sum, bytes)| sum + bytes);
            let table = opened(input, Some(format))?;
            inputs.sources.push(uriscan_table::pair_source(table, plan.settings.record_end));
        } else {
            inputs.sources.extend(lists.next());
        }
    }
    Ok(inputs)
}

/// The table that `input` is, in this format if it is known.
fn opened(input: &Input, format: Option<TableFormat>) -> Result<uriscan_table::Input, Failure> {
    let opened = match input {
        Input::Stdin => uriscan_table::Input::stream("-", format, io::stdin()),
        Input::File(path) => uriscan_table::Input::file(path, format),
        Input::Remote(url) => uriscan_table::Input::stored(remote::open(url)?, format),
        Input::Typed(list) => {
            uriscan_table::Input::stream("-e", format, io::Cursor::new(list.clone()))
        }
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

fn output_format(plan: &Plan, table: &TableUse) -> Result<TableFormat, Failure> {
    let output = match &plan.output {
        Destination::File(path) | Destination::Directory(path) => Some(path.as_path()),
        Destination::Remote(url) | Destination::Prefix(url) => Some(url.path()),
        Destination::Stdout => None,
    };
    if let Some(path) = output.filter(|path| is_packed(path)) {
        return Err(Failure::at(path.display(), NOT_COMPRESSED));
    }
    let first = match plan.inputs.first() {
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
            "not writing {} to a terminal; use -o FILE, or --to for a text format",
            to.name()
        );
        return Err(Failure::new(what));
    }
    Ok(to)
}

fn job(plan: &Plan, table: &TableUse, to: TableFormat) -> Result<uriscan_table::Job, Failure> {
    rows::refuse_lists(plan)?;
    let (task, mut columns) = plan.runner.row_job(&plan.job, table)?;
    columns.kernels = plan.settings.kernels;
    let on_invalid = plan.job.on_invalid;
    if on_invalid == Some(pipeline::OnInvalid::Fail) {
        columns.on_invalid = OnInvalid::Fail;
    }
    let drops = [Some(pipeline::OnInvalid::Drop), Some(pipeline::OnInvalid::Divert)];
    let job =
        uriscan_table::Job::new(&*table.column, task, columns, to).into(table.choice.into.clone());
    let job = job.with(&*plan.job.with);
    if job.into.is_some() && !job.adds_columns() {
        return Err(Failure::at(
            "--into",
            "names the column that is added, and `dedup` adds one only with -c",
        ));
    }
    Ok(job
        .filter(plan.filter.clone())
        .drops_invalid(drops.contains(&on_invalid))
        .limit(plan.job.limit.clone())
        .approximate(plan.job.approximate))
}
