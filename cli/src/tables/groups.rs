//! Tables, group by group, for runs that can be resumed.
//!
//! The results of CSV, TSV and JSON lines are appended to each other. Other formats cannot be appended to: there, each
//! group is a stream of Arrow IPC in the file of results, and the table is written from these streams at the end.

use std::io::{self, Read, Seek, SeekFrom, Take};
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::ThreadPool;
use uriscan::internals::files::{self, File};
use uriscan::pipeline::{Report, Seen, Sinks};
use uriscan::table::{self, Dialect, Job, TableError, TableFormat, Task};

use super::choice::TableUse;
use super::failure::failure;
use super::hint::failure_of;
use crate::checkpoint::{Fact, Grouped, destination, rename};
use crate::config::Config;
use crate::exit::Failure;
use crate::output::{self, Output};

/// The tables of a run.
pub(super) struct Tables<'a> {
    config: &'a Config,
    table: &'a TableUse,
    /// What is done with each group.
    job: Job,
    /// The format of the results.
    to: TableFormat,
    inputs: Vec<Option<table::Input>>,
    columns: Vec<String>,
    pool: ThreadPool,
}

impl<'a> Tables<'a> {
    /// The tables `inputs` of `config`, which `job` is to deduplicate on the threads of `pool`.
    ///
    /// # Errors
    /// When they cannot be read, their columns differ, or the job cannot be done group by group.
    pub(super) fn new(
        (config, table): (&'a Config, &'a TableUse),
        mut job: Job,
        mut inputs: Vec<table::Input>,
        pool: ThreadPool,
    ) -> Result<Tables<'a>, Failure> {
        if job.sort_by.is_some() {
            let what = "does not work with --sort-by; sort the results by another run";
            return Err(Failure::at("--checkpoint", what));
        }
        let to = job.to;
        if !is_appendable(to) {
            job.to = TableFormat::ArrowStream;
        }
        let columns =
            table::prepare(&mut inputs, &job).map_err(|error| failure_of(error, config, table))?;
        let inputs = inputs.into_iter().map(Some).collect();
        Ok(Tables { config, table, job, to, inputs, columns, pool })
    }

    /// Writes the table from the streams in `part`.
    fn convert(&self, part: &Path, ends: &[u64]) -> Result<(), Failure> {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let streams = starts.zip(ends).map(|(start, &end)| {
            let path = part.to_owned();
            let stream = Stream { path, range: start..end, file: None };
            table::Input::stream(part.display().to_string(), TableFormat::ArrowStream, stream)
        });
        let job = Job::new(&*self.job.column, Task::Copy, self.job.columns.clone(), self.to);
        let streams = streams.collect();
        let mut out = Output::open(&self.config.output)?;
        let name = out.name().to_owned();
        let done = self.pool.install(|| table::run(streams, &job, &mut out, None));
        done.map_err(|error| match error {
            TableError::Write(error) => Failure::at(&name, error),
            error => failure(error),
        })?;
        output::commit(vec![out], true).map_err(|(name, error)| Failure::at(name, error))
    }
}

/// Whether rows can be appended to a table of this format.
fn is_appendable(format: TableFormat) -> bool {
    matches!(format, TableFormat::Csv | TableFormat::Tsv | TableFormat::Jsonl)
}

impl Grouped for Tables<'_> {
    fn facts(&self) -> Vec<Fact> {
        let from = self.table.from.map_or("detected", TableFormat::name);
        let on_invalid = match self.job.drops_invalid {
            true => "drop".to_owned(),
            false => format!("{:?}", self.job.columns.on_invalid).to_lowercase(),
        };
        let columns: Vec<&str> =
            self.columns.iter().map(|it| &**it).filter(|it| !it.starts_with('\0')).collect();
        vec![
            ("-o", destination(&self.config.output)),
            ("--column", self.job.column.clone()),
            ("--from", from.to_owned()),
            ("--to", self.to.name().to_owned()),
            ("--delimiter, --quote and --no-header", dialect(self.job.dialect)),
            ("--no-uri", if self.job.keeps_blank { "keep" } else { "drop" }.to_owned()),
            ("--on-invalid", on_invalid),
            ("the list of columns", columns.join(", ")),
        ]
    }

    fn run(
        &mut self,
        files: Range<usize>,
        seen: Seen<'_>,
        sinks: Sinks<'_>,
        part: &Path,
    ) -> Result<Report, Failure> {
        let Tables { config, table, inputs, job, pool, .. } = self;
        job.has_header = files.start == 0 || !is_appendable(job.to);
        let inputs = inputs[files].iter_mut().filter_map(Option::take).collect();
        let done = pool.install(|| table::run_with(inputs, job, Some(seen), sinks));
        done.map_err(|error| match error {
            TableError::Write(error) => Failure::at(part.display(), error),
            error => failure_of(error, config, table),
        })
    }

    fn finish(&mut self, part: &Path, ends: &[u64], output: &Path) -> Result<(), Failure> {
        if is_appendable(self.to) {
            return rename(part, output);
        }
        self.convert(part, ends)?;
        files::remove(part).map_err(|error| Failure::at(part.display(), error))
    }
}

/// The dialect of CSV and TSV, as a note has it.
fn dialect(dialect: Dialect) -> String {
    let Dialect { delimiter, quote, has_header, .. } = dialect;
    let quote = quote.map_or("none".to_owned(), |quote| char::from(quote).to_string());
    let header = if has_header { "header" } else { "no header" };
    format!("{:?} {quote:?} {header}", char::from(delimiter))
}

/// A part of a file, which is opened when it is read.
struct Stream {
    path: PathBuf,
    range: Range<u64>,
    file: Option<Take<File>>,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let mut file = File::open(&self.path)?;
                file.seek(SeekFrom::Start(self.range.start))?;
                file.take(self.range.end - self.range.start)
            }
        };
        self.file.insert(file).read(buffer)
    }
}
