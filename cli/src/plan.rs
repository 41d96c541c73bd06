//! The plan of a run: what the arguments mean, with defaults filled in.

use std::path::PathBuf;
use std::time::Duration;

use uriscan::extract::Filter;
use uriscan::repair::Repair;
use uriscan_bulk::pipeline::{Entities, RowOptions, Settings};

use crate::args::{self, StatsFormat, When};
use crate::documents::{Documents, LinkUse};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::filters;
use crate::inputs::{Input, of_arguments};
use crate::job::{Job, RowsAre, Runner};
use crate::options::{extract_options, link_base, side_file};
use crate::output::{Content, Destination};
use crate::progress;
use crate::rule_choice;
use crate::sets::records::SetUse;
use crate::side_outputs::SideFiles;
use crate::tables::{Column, TableUse};

/// A run without `--stats` prints a summary if it takes this long.
const PATIENCE: Duration = Duration::from_secs(1);

/// Bytes of memory that a page about a run takes at most.
const REPORT_BYTES: usize = 24 << 20;

/// Tables that were found below directories and by patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundTables {
    /// For each input its path below the directory, or below the fixed part of the pattern; `None` if it was named itself.
    pub(crate) below: Vec<Option<PathBuf>>,
    /// Files and directories that were left out.
    pub(crate) skipped: u64,
}

/// Text tables whose rows are the records of a run.
#[derive(Debug)]
pub(crate) struct RowUse {
    pub(crate) options: RowOptions,
    /// Whether only their URIs are read, as a list.
    pub(crate) is_list: bool,
    /// The same tables as columns, where the program knows these, for hints.
    pub(crate) table: Option<TableUse>,
}

/// The plan of a run.
pub(crate) struct Plan {
    pub(crate) job: Job,
    pub(crate) runner: Box<dyn Runner>,
    pub(crate) inputs: Vec<Input>,
    /// For inputs that are not lists: which files are read, and which links are found.
    pub(crate) documents: Option<Documents>,
    pub(crate) output: Destination,
    pub(crate) set: Option<SetUse>,
    pub(crate) aliases: Option<PathBuf>,
    /// Files that are read in addition to the inputs: aliases, rules files, the list of files.
    pub(crate) evidence: Vec<PathBuf>,
    /// The column that is read as a list, if the inputs are tables.
    pub(crate) column: Option<Column>,
    /// The records of lists, or rows of tables, that are read.
    pub(crate) filter: Option<Filter>,
    /// The inputs are text tables, and the records are their rows.
    pub(crate) rows: Option<RowUse>,
    /// The inputs are tables, which are read as columns.
    pub(crate) table: Option<TableUse>,
    /// The tables that were found below directories and by patterns.
    pub(crate) found: Option<FoundTables>,
    /// Where rows without a URI are omitted and the user did not say so: what may be done about it, after a semicolon, or nothing.
    pub(crate) omits_blank: Option<&'static str>,
    pub(crate) side: SideFiles,
    /// Bytes of memory for what only the page about the run needs.
    pub(crate) report_bytes: usize,
    pub(crate) settings: Settings,
    /// Whether invalid records make the run fail.
    pub(crate) strict: bool,
    pub(crate) reporting: Reporting,
}

/// What is printed on standard error.
#[derive(Debug)]
pub(crate) struct Reporting {
    pub(crate) summary: Option<StatsFormat>,
    /// A shorter run prints no summary.
    pub(crate) summary_after: Duration,
    /// Whether `summary` was asked for.
    is_summarized: bool,
    /// Standard error is a terminal.
    pub(crate) has_bars: bool,
    /// After what time progress is shown, if it is.
    pub(crate) progress: Option<Duration>,
    pub(crate) stats_file: Option<PathBuf>,
    pub(crate) is_quiet: bool,
    /// Print a hint that input is read from the terminal.
    pub(crate) reads_terminal: bool,
}

impl Reporting {
    /// Whether hints are printed: a summary in JSON is alone on standard error.
    pub(crate) fn has_hints(&self) -> bool {
        !self.is_quiet && self.summary != Some(StatsFormat::Json)
    }

    pub(crate) fn summary(
        typed: &args::Reporting,
        environment: &Environment,
    ) -> Option<StatsFormat> {
        let is_loud = environment.stderr_is_terminal && !typed.quiet;
        typed.stats.or(is_loud.then_some(StatsFormat::Text))
    }

    fn of(typed: &args::Reporting, stdout_is_busy: bool, environment: &Environment) -> Reporting {
        let is_loud = environment.stderr_is_terminal && !typed.quiet;
        let is_summarized = typed.stats.is_some();
        Reporting {
            summary: Reporting::summary(typed, environment),
            summary_after: if is_summarized { Duration::ZERO } else { PATIENCE },
            is_summarized,
            has_bars: environment.stderr_is_terminal,
            progress: match typed.progress {
                When::Always => Some(Duration::ZERO),
                When::Auto if is_loud && !stdout_is_busy => Some(progress::PATIENCE),
                When::Auto | When::Never => None,
            },
            stats_file: typed.stats_file.clone(),
            is_quiet: typed.quiet,
            reads_terminal: false,
        }
    }
}

impl Plan {
    pub(crate) fn with_evidence(mut self, typed: &args::Equivalence) -> Result<Plan, Failure> {
        if typed.aliases.is_some() && self.job.aliases.is_none() {
            let what = "--aliases works with plain dedup, normalize, key and top, not with explain, set, -c, -d, \
                        -u, --keep, --dupes or --clusters";
            return Err(Failure::new(what));
        }
        self.evidence.extend(typed.aliases.clone());
        self.evidence.extend(rule_choice::files(&typed.rules.rules_files));
        self.aliases = typed.aliases.clone();
        Ok(self)
    }

    /// Adds a page about the run, which takes a part of the memory under a limit.
    pub(crate) fn with_report(mut self, typed: args::ReportFile) -> Result<Plan, Failure> {
        self.add_side_file(Content::Report, side_file("--report", typed.report)?);
        if self.has_report() && self.job.lacks_report {
            let what =
                "does not work with --list-rules, --redact, --differ, --with and other grammars";
            return Err(Failure::at("--report", what));
        }
        let limit = self.job.limit.as_ref();
        self.report_bytes = limit.map_or(REPORT_BYTES, |limit| REPORT_BYTES.min(limit.bytes / 8));
        Ok(self)
    }

    pub(crate) fn add_side_file(&mut self, content: Content, path: Option<PathBuf>) {
        self.side.extend(path.map(|path| (content, path)));
    }

    /// Whether there is a page about the run.
    pub(crate) fn has_report(&self) -> bool {
        self.side.contains_key(&Content::Report)
    }

    /// Makes the output a directory or a prefix if the results are cut into files.
    pub(crate) fn write_to_directory(&mut self) -> Result<(), Failure> {
        if self.table.as_ref().is_none_or(|table| !table.has_files()) {
            return Ok(());
        }
        self.output = match &self.output {
            Destination::File(path) => Destination::Directory(path.clone()),
            Destination::Remote(url) => Destination::Prefix(url.folder()),
            _ => {
                let what = "several files need a directory, not standard output";
                return Err(Failure::at("-o", what));
            }
        };
        Ok(())
    }

    /// Whether the results may replace an input: they are its records, or tables with all of its columns.
    pub(crate) fn is_in_place(&self) -> bool {
        let is_table = self.table.is_some() || self.rows.as_ref().is_some_and(|rows| !rows.is_list);
        let writes_rows = self.job.rows_are != RowsAre::Read;
        is_table && writes_rows || self.job.is_in_place && self.documents.is_none()
    }

    /// Reads no files: a hint has nothing to say, and a summary is printed only on request.
    pub(crate) fn without_files(mut self) -> Plan {
        (self.inputs, self.reporting.reads_terminal) = (Vec::new(), false);
        let is_summarized = self.reporting.is_summarized;
        self.reporting.summary = self.reporting.summary.filter(|_| is_summarized);
        self
    }

    /// Reads the `typed` URIs, if there are any, instead of files.
    pub(crate) fn reading_typed(self, typed: &args::Typed) -> Result<Plan, Failure> {
        if typed.uri.is_empty() {
            return Ok(self);
        }
        let end = self.settings.record_end;
        let mut list = Vec::new();
        for uri in &typed.uri {
            let uri = uri.as_encoded_bytes();
            if uri.contains(&end) {
                let what = "contains a line feed, which ends a record; use -0 to read it as one";
                return Err(Failure::at("--uri", what));
            }
            list.extend_from_slice(uri);
            list.push(end);
        }
        let mut plan = self.without_files();
        plan.inputs = vec![Input::Typed(list)];
        Ok(plan)
    }

    pub(crate) fn redacting(mut self, redact: bool) -> Plan {
        self.settings.redact = redact;
        self
    }

    /// Reads the links in the inputs if `from` says so, and else filters their records.
    pub(crate) fn reading(
        mut self,
        from: &args::FromText,
        links: LinkUse<'_>,
    ) -> Result<Plan, Failure> {
        self.evidence.extend(filters::paths(&from.find.filters).cloned());
        if from.extract {
            let mut options =
                extract_options(&from.find, links.accepts_iris)?.entities(links.entities);
            // Links are decoded as they are found, once.
            let repairs = &mut self.job.equivalence.repairs;
            *repairs = repairs.without(Repair::Entity);
            options.extractor.base = link_base(links.base)?;
            let index = from.find.index.clone();
            self.documents = Some(Documents { options, walk: args::Walk::default(), index });
            return Ok(self);
        }
        if let Some(option) = from.find.of_extraction() {
            return Err(Failure::at(
                option,
                "requires --extract, which reads the links in the input",
            ));
        }
        let filter = filters::of_lists(&from.find.filters)?;
        self.filter = (!filter.is_empty()).then_some(filter);
        Ok(self)
    }

    /// The same for a command that reports on records and names their places.
    pub(crate) fn reporting_on(
        self,
        pages: &args::FromPages,
        (accepts_iris, entities): (bool, Entities),
    ) -> Result<Plan, Failure> {
        let base = pages.base.as_deref();
        let mut plan = self.reading(&pages.from, LinkUse { base, accepts_iris, entities })?;
        if let Some(documents) = &mut plan.documents {
            documents.walk.hidden = pages.hidden;
        }
        Ok(plan)
    }

    pub(crate) fn of_job(
        (job, runner): (Job, Box<dyn Runner>),
        rejects: Option<PathBuf>,
        common: args::Common,
        strict: bool,
        environment: &Environment,
    ) -> Result<Plan, Failure> {
        let args::Common { input, destination, work, reporting } = common;
        let output = Destination::of_option(destination.output);
        let threads = match work.threads {
            0 => environment.cores,
            threads => usize::from(threads),
        };
        let settings = Settings::default()
            .threads(threads)
            .kernels(environment.kernels(work.backend)?)
            .record_end(if input.null { b'\0' } else { b'\n' })
            .chunk_bytes(work.chunk_size)
            .has_colour(environment.colours(reporting.color, &output));
        // Progress is not shown in the middle of results on the same terminal.
        let stdout_is_busy = output == Destination::Stdout && environment.stdout_is_terminal;
        let mut reporting = Reporting::of(&reporting, stdout_is_busy, environment);
        let is_typed = input.files.is_empty() && environment.stdin_is_terminal;
        reporting.reads_terminal = is_typed && !reporting.is_quiet;
        Ok(Plan {
            job,
            runner,
            inputs: of_arguments(input.files)?,
            documents: None,
            output,
            set: None,
            aliases: None,
            evidence: Vec::new(),
            column: None,
            filter: None,
            rows: None,
            table: None,
            found: None,
            omits_blank: None,
            side: rejects.map(|path| (Content::Rejects, path)).into_iter().collect(),
            report_bytes: 0,
            settings,
            strict,
            reporting,
        })
    }
}
