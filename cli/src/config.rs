//! The plan of a run: what the arguments mean, with defaults filled in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use uriscan::audit::Severity;
use uriscan::extract::Filter;
use uriscan::grammar::rfc2396::Legacy;
use uriscan::io::Fields;
use uriscan::key::PublicHash;
use uriscan::pipeline::{
    Against, AuditOptions, CensusOptions, CheckFormat, ClassOptions, DedupOptions, Emit, Entities,
    Equivalence, ExplainOptions, ExtractOptions, LegacyQuestion, LinkFormat, MemberOptions,
    MemoryLimit, OnInvalid, ResolveOptions, RowFormat, Settings, TopOptions,
};
use uriscan::repair::{Repair, Repairs};
use uriscan::resolve::Context;
use uriscan::set::Timestamp;
use uriscan::surt;

use crate::args::{self, CensusFormat, StatsFormat, TopFormat, When};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::filters;
use crate::inputs::{Input, of_arguments};
use crate::options::{extract_options, link_base, side_file, temp_dir_beside};
use crate::output::{Content, Destination};
use crate::progress::Shown;
use crate::rule_choice;
use crate::tables::{Column, TableUse};

/// A run that nobody asked for a summary of prints one if it takes this long.
const PATIENCE: Duration = Duration::from_secs(1);

/// What `key` writes for a record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeyForm {
    Hex(PublicHash),
    Url,
    Surt(surt::Form),
}

/// The work of a run, in the library's terms.
#[derive(Clone, Debug)]
pub(crate) enum Job {
    Dedup(DedupOptions),
    Classes(ClassOptions),
    Normalize {
        equivalence: Equivalence,
        on_invalid: OnInvalid,
    },
    Key {
        equivalence: Equivalence,
        form: KeyForm,
        on_invalid: OnInvalid,
    },
    Parse(RowFormat, Repairs),
    Check(CheckFormat, Repairs),
    Census(CensusOptions, View<CensusFormat>),
    Top(TopOptions, View<TopFormat>),
    /// Parsing or checking by RFC 2396.
    Legacy {
        question: LegacyQuestion,
        legacy: Legacy,
    },
    /// Explanations of records, or of URIs from the command line.
    Explain(ExplainOptions, Vec<Vec<u8>>),
    /// Findings, and the lowest severity that makes the run fail.
    Audit(AuditOptions, Option<Severity>),
    Redact,
    /// The list of audit rules; reads no input.
    ListRules,
    /// The text that is mixed into keys, if any.
    KeyContext(Option<String>),
    Resolve(ResolveOptions),
    Extract(ExtractOptions, LinkFormat),
    /// Keys for a set, and what it does with them.
    Collect(MemberOptions, SetDoes),
    /// Records that are in a set, or are not.
    Members(MemberOptions, Selection),
}

impl Job {
    /// How records are read before they are filtered: their base, and repairs.
    pub(crate) fn read_as(&self) -> Equivalence {
        match self {
            Job::Dedup(dedup) | Job::Classes(ClassOptions { dedup, .. }) => {
                dedup.equivalence.clone()
            }
            Job::Normalize { equivalence, .. } | Job::Key { equivalence, .. } => {
                equivalence.clone()
            }
            Job::Collect(options, _) | Job::Members(options, _) => options.equivalence.clone(),
            Job::Top(options, _) => options.equivalence.clone(),
            Job::Parse(_, repairs) | Job::Check(_, repairs) => {
                Equivalence::default().repairs(*repairs)
            }
            Job::Census(options, _) => {
                Equivalence::default().repairs(options.repairs).context(options.context.clone())
            }
            _ => Equivalence::default(),
        }
    }

    /// The repairs of records, where the command has them.
    fn repairs_mut(&mut self) -> Option<&mut Repairs> {
        let equivalence = match self {
            Job::Dedup(dedup) | Job::Classes(ClassOptions { dedup, .. }) => &mut dedup.equivalence,
            Job::Normalize { equivalence, .. } | Job::Key { equivalence, .. } => equivalence,
            Job::Collect(options, _) | Job::Members(options, _) => &mut options.equivalence,
            Job::Top(options, _) => &mut options.equivalence,
            Job::Parse(_, repairs) | Job::Check(_, repairs) => return Some(repairs),
            Job::Census(options, _) => return Some(&mut options.repairs),
            _ => return None,
        };
        Some(&mut equivalence.repairs)
    }

    /// Where the records have their URIs, if they are rows with a base and a reference.
    pub(crate) fn fields(&self) -> Option<&Fields> {
        match self {
            Job::Resolve(ResolveOptions { against, .. }) => match against {
                Against::Fields { fields, .. } | Against::LegacyFields { fields, .. } => {
                    Some(fields)
                }
                Against::Context(_) => None,
            },
            _ => None,
        }
    }

    /// The name of the command.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Job::Dedup(_) | Job::Classes(_) => "dedup",
            Job::Normalize { .. } => "normalize",
            Job::Key { .. } => "key",
            Job::Parse(..) => "parse",
            Job::Check(..) => "check",
            Job::Census(..) => "census",
            Job::Top(..) => "top",
            Job::Legacy {
                question: LegacyQuestion::PartsJsonl | LegacyQuestion::PartsTsv, ..
            } => "parse",
            Job::Legacy { .. } => "check",
            Job::Explain(..) => "explain",
            Job::Audit(..) | Job::Redact | Job::ListRules => "audit",
            Job::KeyContext(_) => "key",
            Job::Resolve(_) => "resolve",
            Job::Extract(..) => "extract",
            Job::Collect(_, SetDoes::Remove) => "set remove",
            Job::Collect(..) => "set add",
            Job::Members(..) => "set has",
        }
    }
}

/// How a table is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<F> {
    pub(crate) format: F,
    /// It is written to a terminal, where bars help.
    pub(crate) has_bars: bool,
}

impl<F> View<F> {
    /// A table in this format for the results of a command with these options.
    pub(crate) fn new(format: F, common: &args::Common, environment: &Environment) -> View<F> {
        let output = Destination::of_option(common.destination.output.clone());
        let has_bars = environment.stdout_is_terminal && output == Destination::Stdout;
        View { format, has_bars }
    }
}

/// The side files: outputs beside the results.
#[derive(Clone, Debug, Default)]
pub(crate) struct SideFiles {
    /// Invalid records.
    pub(crate) rejects: Option<PathBuf>,
    /// Dropped duplicates.
    pub(crate) dupes: Option<PathBuf>,
    /// Classes with their members.
    pub(crate) clusters: Option<PathBuf>,
    /// The page about the run.
    pub(crate) report: Option<PathBuf>,
}

impl SideFiles {
    /// The side files in use, each with its content.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&Path, Content)> {
        let SideFiles { rejects, dupes, clusters, report } = self;
        let all = [
            (rejects, Content::Rejects),
            (dupes, Content::Dupes),
            (clusters, Content::Clusters),
            (report, Content::Report),
        ];
        all.into_iter().filter_map(|(path, content)| Some((path.as_deref()?, content)))
    }
}

/// How inputs that are not lists are read.
#[derive(Clone, Debug)]
pub(crate) struct Documents {
    pub(crate) options: ExtractOptions,
    pub(crate) walk: args::Walk,
    /// Names of files that stand for their directories.
    pub(crate) index: Vec<String>,
}

/// How the links of documents are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkUse<'a> {
    /// The base of references.
    pub(crate) base: Option<&'a str>,
    /// Links may contain characters beyond ASCII.
    pub(crate) accepts_iris: bool,
    /// Which links are decoded.
    pub(crate) entities: Entities,
    /// Reports name the places of links.
    pub(crate) has_places: bool,
}

impl<'a> LinkUse<'a> {
    pub(crate) fn of(mending: &args::Mending, references: &'a args::References) -> LinkUse<'a> {
        let base = references.base.as_deref();
        let entities = mending.of_links();
        LinkUse { base, accepts_iris: mending.iri, entities, has_places: false }
    }

    pub(crate) fn of_equivalence(typed: &'a args::Equivalence) -> LinkUse<'a> {
        LinkUse::of(&typed.mending, &typed.references)
    }

    /// The use of links under these settings; repairs that were `typed` decide before those of the settings.
    pub(crate) fn of_settings(settings: &'a Equivalence, typed: &args::Mending) -> LinkUse<'a> {
        let base = match &settings.context {
            Some(Context::Base { base, .. }) => str::from_utf8(base.as_bytes()).ok(),
            _ => None,
        };
        let repairs = settings.repairs;
        let entities = match repairs {
            _ if !typed.repair.is_empty() => typed.of_links(),
            _ if repairs.has(Repair::Entity) => Entities::All,
            _ if repairs.or(Repairs::usual()) == repairs => Entities::Text,
            _ => Entities::Keep,
        };
        LinkUse { base, accepts_iris: repairs.has(Repair::Iri), entities, has_places: false }
    }

    /// Those of a command that names their places.
    pub(crate) fn of_pages(mending: &args::Mending) -> LinkUse<'a> {
        let entities = mending.of_links();
        LinkUse { base: None, accepts_iris: mending.iri, entities, has_places: true }
    }
}

/// The set on disk that a job uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetUse {
    pub(crate) path: PathBuf,
    pub(crate) does: SetDoes,
    /// Whether the set records times, or must.
    pub(crate) first_seen: bool,
    /// The time of added keys, if not now.
    pub(crate) at: Option<Timestamp>,
}

/// What a job does with its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetDoes {
    /// Creates it.
    Create,
    /// Adds keys.
    Add,
    /// Removes keys.
    Remove,
    /// Looks keys up.
    Ask,
    /// Looks keys up and adds new ones; creates the set if it does not exist.
    AskAndAdd,
}

/// Which records `set has` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// Those in the set.
    In,
    /// Those not in the set.
    NotIn,
    /// Those in the set, with the time at which they were first seen.
    FirstSeen,
}

/// Tables that were found below directories and by patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundTables {
    /// For each input its path below the directory, or below the fixed part of the pattern; `None` if it was named itself.
    pub(crate) below: Vec<Option<PathBuf>>,
    /// Files and directories that were left out.
    pub(crate) skipped: u64,
}

/// The plan of a run.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) job: Job,
    pub(crate) inputs: Vec<Input>,
    /// For inputs that are not lists: which files are read, and which links are found.
    pub(crate) documents: Option<Documents>,
    pub(crate) output: Destination,
    /// The set on disk, if one is used.
    pub(crate) set: Option<SetUse>,
    /// The file of aliases.
    pub(crate) aliases: Option<PathBuf>,
    /// Files that are read in addition to the inputs: aliases, packs of rules, the list of files.
    pub(crate) evidence: Vec<PathBuf>,
    /// The inputs are tables, of which this column is read as a list.
    pub(crate) column: Option<Column>,
    /// The records of lists, or rows of tables, that are read.
    pub(crate) filter: Option<Filter>,
    /// The inputs are tables.
    pub(crate) table: Option<TableUse>,
    /// The tables that were found below directories and by patterns.
    pub(crate) found: Option<FoundTables>,
    pub(crate) side: SideFiles,
    /// The memory limit of what only the report needs.
    pub(crate) report_limit: Option<MemoryLimit>,
    pub(crate) settings: Settings,
    /// Whether invalid records make the run fail.
    pub(crate) strict: bool,
    pub(crate) summary: Option<StatsFormat>,
    /// A shorter run prints no summary.
    pub(crate) summary_after: Duration,
    /// Standard error is a terminal.
    pub(crate) has_bars: bool,
    /// Whether `summary` was asked for.
    is_summarized: bool,
    /// Whether progress is shown, and when.
    pub(crate) progress: Option<Shown>,
    /// Print no hints.
    pub(crate) is_quiet: bool,
    /// Print a hint that input is read from the terminal.
    pub(crate) has_hint: bool,
}

impl Config {
    /// Adds a set for look-ups, to which new keys are added if `update`.
    pub(crate) fn with_seen(
        mut self,
        path: Option<PathBuf>,
        update: bool,
    ) -> Result<Config, Failure> {
        let does = if update { SetDoes::AskAndAdd } else { SetDoes::Ask };
        self.set = path.map(|path| SetUse { path, does, first_seen: false, at: None });
        Ok(self)
    }

    /// Adds aliases and the files of rules.
    pub(crate) fn with_evidence(mut self, typed: &args::Equivalence) -> Result<Config, Failure> {
        if typed.aliases.is_some()
            && !matches!(
                self.job,
                Job::Dedup(_) | Job::Normalize { .. } | Job::Key { .. } | Job::Top(..)
            )
        {
            let what = "--aliases works with plain dedup, normalize, key and top, not with explain, set, -c, -d, \
                        -u, --keep, --dupes or --clusters";
            return Err(Failure::new(what));
        }
        self.evidence.extend(typed.aliases.clone());
        self.evidence.extend(rule_choice::files(&typed.rules));
        self.aliases = typed.aliases.clone();
        Ok(self)
    }

    /// Adds a page about the run, for which `limit` limits the memory, or else half of the memory.
    ///
    /// # Errors
    /// When the input cannot be read again, or the report does not go with other options.
    pub(crate) fn with_report(
        mut self,
        typed: args::ReportFile,
        limit: Option<MemoryLimit>,
        environment: &Environment,
    ) -> Result<Config, Failure> {
        self.side.report = side_file("--report", typed.report)?;
        if self.side.report.is_none() {
            return Ok(self);
        }
        let refuse = |what: &str| Err(Failure::at("--report", what));
        if matches!(self.job, Job::ListRules | Job::Redact | Job::Legacy { .. }) {
            return refuse(
                "does not work with --list-rules, --redact, --differ and other grammars",
            );
        }
        let is_regular = |input: &Input| match input {
            Input::Stdin | Input::Typed(_) | Input::Remote(_) => true,
            Input::File(path) => path.is_file() || path.is_dir() || !path.exists(),
        };
        if let Some(Input::File(path)) = self.inputs.iter().find(|input| !is_regular(input)) {
            let what = "cannot be read again for --report; use standard input or a file";
            return Err(Failure::at(path.display(), what));
        }
        let half = || {
            let bytes = usize::try_from(environment.memory? / 2).ok()?;
            Some(environment.memory_limit(bytes, temp_dir_beside(&self.output, environment)))
        };
        self.report_limit = limit.or_else(half);
        Ok(self)
    }

    /// Makes the output a directory or a prefix if the results are cut into files.
    ///
    /// # Errors
    /// When `-o -` names no directory.
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
        let has_records = match &self.job {
            Job::Dedup(options) => options.emit != Emit::Key,
            Job::Classes(options) => options.dedup.emit != Emit::Key && !options.count,
            Job::Normalize { .. } | Job::Redact | Job::Resolve(_) | Job::Members(..) => true,
            _ => false,
        };
        self.table.is_some() || has_records && self.documents.is_none()
    }

    /// Whether records are pairs of URIs, which tables have too.
    pub(crate) fn has_pairs(&self) -> bool {
        matches!(&self.job, Job::Explain(options, uris) if options.has_pairs && uris.is_empty())
    }

    /// Reads no files: a hint has nothing to say, and a summary is printed only on request.
    pub(crate) fn without_files(mut self) -> Config {
        (self.inputs, self.has_hint) = (Vec::new(), false);
        self.summary = self.summary.filter(|_| self.is_summarized);
        self
    }

    /// Reads the `typed` URIs, if there are any, instead of files.
    pub(crate) fn reading_typed(self, typed: &args::Typed) -> Result<Config, Failure> {
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
        let mut config = self.without_files();
        config.inputs = vec![Input::Typed(list)];
        Ok(config)
    }

    /// Masks secrets in written records if `redact`.
    pub(crate) fn redacting(mut self, redact: bool) -> Config {
        self.settings.redact = redact;
        self
    }

    /// Reads the links in the inputs if `from` says so, and else filters their records.
    pub(crate) fn reading(
        mut self,
        from: &args::FromText,
        links: LinkUse<'_>,
    ) -> Result<Config, Failure> {
        self.evidence.extend(filters::paths(&from.find.filters).cloned());
        if from.extract {
            let mut options = extract_options(&from.find, links.accepts_iris)?
                .has_places(links.has_places)
                .entities(links.entities);
            // Links are decoded as they are found, once.
            if let Some(repairs) = self.job.repairs_mut() {
                *repairs = repairs.without(Repair::Entity);
            }
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
        links: LinkUse<'_>,
    ) -> Result<Config, Failure> {
        self.reading(&pages.from, LinkUse { base: pages.base.as_deref(), ..links })
    }

    pub(crate) fn of_job(
        job: Job,
        rejects: Option<PathBuf>,
        common: args::Common,
        strict: bool,
        environment: &Environment,
    ) -> Result<Config, Failure> {
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
        let is_loud = environment.stderr_is_terminal && !reporting.quiet;
        // Not in the middle of results on the same terminal.
        let stdout_is_busy = output == Destination::Stdout && environment.stdout_is_terminal;
        let is_asked = reporting.stats || reporting.stats_format.is_some();
        let summary = match reporting.stats_format {
            None if is_asked || is_loud => Some(StatsFormat::Text),
            typed => typed,
        };
        Ok(Config {
            job,
            has_hint: input.files.is_empty() && environment.stdin_is_terminal && !reporting.quiet,
            inputs: of_arguments(input.files)?,
            documents: None,
            is_quiet: reporting.quiet,
            output,
            set: None,
            aliases: None,
            evidence: Vec::new(),
            column: None,
            filter: None,
            table: None,
            found: None,
            side: SideFiles { rejects, ..SideFiles::default() },
            report_limit: None,
            settings,
            strict,
            summary,
            summary_after: if is_asked { Duration::ZERO } else { PATIENCE },
            has_bars: environment.stderr_is_terminal,
            progress: match reporting.progress {
                When::Always => Some(Shown::AtOnce),
                When::Auto if is_loud && !stdout_is_busy => Some(Shown::Later),
                When::Auto | When::Never => None,
            },
            is_summarized: is_asked,
        })
    }
}
