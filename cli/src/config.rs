//! What is to be done: the arguments with their defaults filled in and their meaning decided.

use std::path::{Path, PathBuf};

use uriscan::audit::Severity;
use uriscan::grammar::rfc2396::Legacy;
use uriscan::key::PublicHash;
use uriscan::pipeline::{
    AuditOptions, CensusOptions, CheckFormat, ClassOptions, DedupOptions, Emit, Equivalence,
    ExplainOptions, ExtractOptions, LegacyQuestion, LinkFormat, MemberOptions, OnInvalid,
    ResolveOptions, RowFormat, Settings,
};
use uriscan::repair::Repairs;
use uriscan::set::Timestamp;
use uriscan::surt;

use crate::args::{self, CensusFormat, StatsFormat};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::inputs::{Input, of_arguments};
use crate::options::{extract_options, link_base};
use crate::output::{Content, Destination};
use crate::rule_choice;

/// What `key` writes for a record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeyForm {
    Hex(PublicHash),
    Url,
    Surt(surt::Form),
}

/// The work, as the library is asked for it.
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
    Census(CensusOptions, CensusFormat),
    /// What is asked by RFC 2396.
    Judge {
        question: LegacyQuestion,
        legacy: Legacy,
    },
    /// Explanations of records, or of the URIs that were typed.
    Explain(ExplainOptions, Vec<Vec<u8>>),
    /// Findings, and from which severity on they make the run fail.
    Audit(AuditOptions, Option<Severity>),
    Redact,
    /// The rules of the audit; reads nothing.
    ListRules,
    /// The text that is mixed into keys, if there is one.
    KeyContext(Option<String>),
    Resolve(ResolveOptions),
    Extract(ExtractOptions, LinkFormat),
    /// Keys for a set.
    Collect(MemberOptions),
    /// Records that are in a set, or those that are not.
    Members(MemberOptions, Asked),
}

impl Job {
    /// The name of the command.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Job::Dedup(_) | Job::Classes(_) => "dedup",
            Job::Normalize { .. } => "normalize",
            Job::Key { .. } => "key",
            Job::Parse(..) => "parse",
            Job::Check(..) => "check",
            Job::Census(..) => "census",
            Job::Judge {
                question: LegacyQuestion::PartsJsonl | LegacyQuestion::PartsTsv, ..
            } => "parse",
            Job::Judge { .. } => "check",
            Job::Explain(..) => "explain",
            Job::Audit(..) | Job::Redact | Job::ListRules => "audit",
            Job::KeyContext(_) => "key",
            Job::Resolve(_) => "resolve",
            Job::Extract(..) => "extract",
            Job::Collect(_) => "set add",
            Job::Members(..) => "set has",
        }
    }
}

/// The files for what is no result, when it goes to one.
#[derive(Clone, Debug, Default)]
pub(crate) struct SideFiles {
    /// Invalid records.
    pub(crate) rejects: Option<PathBuf>,
    /// Records that are left out as duplicates.
    pub(crate) dupes: Option<PathBuf>,
    /// Classes with their members.
    pub(crate) clusters: Option<PathBuf>,
}

impl SideFiles {
    /// The files that there are, and what each one takes.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&Path, Content)> {
        let SideFiles { rejects, dupes, clusters } = self;
        let all =
            [(rejects, Content::Rejects), (dupes, Content::Dupes), (clusters, Content::Clusters)];
        all.into_iter().filter_map(|(path, content)| Some((path.as_deref()?, content)))
    }
}

/// How inputs that are no lists are read.
#[derive(Clone, Debug)]
pub(crate) struct Documents {
    pub(crate) options: ExtractOptions,
    pub(crate) walk: args::Walk,
}

/// What a job does with a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetUse {
    pub(crate) path: PathBuf,
    pub(crate) does: SetDoes,
    /// Whether the set keeps times, or has to.
    pub(crate) first_seen: bool,
    /// When what is added was first seen, if not now.
    pub(crate) at: Option<Timestamp>,
    /// The hash that was asked for; otherwise that of the set, if it is there.
    pub(crate) hash: Option<PublicHash>,
}

/// The same, without the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetDoes {
    /// The set is made.
    Create,
    /// Keys are added.
    Add,
    /// The set is asked.
    Ask,
    /// The set is asked, and made if it is not there, and what was not in it is added.
    AskAndAdd,
}

/// Which records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Those that are in the set.
    In,
    /// Those that are not.
    NotIn,
    /// Those that are, and since when.
    FirstSeen,
}

/// Tables: what was typed about them, and what it means.
#[cfg(feature = "parquet")]
#[derive(Clone, Debug)]
pub(crate) struct TableUse {
    pub(crate) choice: args::TableChoice,
    /// The column of URIs.
    pub(crate) column: String,
    /// Where rows spill to.
    pub(crate) temp_dir: PathBuf,
    /// The column by which `dedup` keeps rows.
    pub(crate) keep_column: Option<String>,
    /// Whether a memory limit was typed.
    pub(crate) has_typed_limit: bool,
}

/// A program without tables uses none.
#[cfg(not(feature = "parquet"))]
#[derive(Clone, Debug)]
pub(crate) enum TableUse {}

/// Everything that is to be done.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) job: Job,
    pub(crate) inputs: Vec<Input>,
    /// For inputs that are no lists: which files are read, and what is looked for in them.
    pub(crate) documents: Option<Documents>,
    pub(crate) output: Destination,
    /// The set on disk that takes part.
    pub(crate) set: Option<SetUse>,
    /// Where the progress of a long run is kept, and how many bytes lie between two entries.
    pub(crate) checkpoint: Option<(PathBuf, u64)>,
    /// The file of what stands for what.
    pub(crate) aliases: Option<PathBuf>,
    /// Files that are read beside the inputs: aliases, packs of rules, the list of files.
    pub(crate) evidence: Vec<PathBuf>,
    /// The inputs are tables.
    pub(crate) table: Option<TableUse>,
    pub(crate) side: SideFiles,
    pub(crate) settings: Settings,
    /// The exit code tells whether there were invalid records.
    pub(crate) strict: bool,
    pub(crate) summary: Option<StatsFormat>,
    pub(crate) has_progress: bool,
    /// Nobody has asked for silence.
    pub(crate) is_talkative: bool,
    /// Say that a terminal is waited for.
    pub(crate) has_hint: bool,
}

impl Config {
    /// The same, asking a set on disk, and adding to it what is new if `update` says so.
    pub(crate) fn with_seen(
        mut self,
        path: Option<PathBuf>,
        update: bool,
        hash: Option<PublicHash>,
    ) -> Result<Config, Failure> {
        let does = if update { SetDoes::AskAndAdd } else { SetDoes::Ask };
        self.set = path.map(|path| SetUse { path, does, first_seen: false, at: None, hash });
        Ok(self)
    }

    /// The same, going on where an earlier run was, by what is in `directory`.
    pub(crate) fn with_checkpoint(
        mut self,
        directory: Option<PathBuf>,
        size: u64,
    ) -> Result<Config, Failure> {
        let Some(directory) = directory else { return Ok(self) };
        let refuse = |what: &str| Err(Failure::at("--checkpoint", what));
        if !matches!(self.job, Job::Dedup(_)) {
            return refuse(
                "works with plain dedup; not with -c, -d, -u, --keep, --verify, --dupes or --clusters",
            );
        }
        if self.side.rejects.is_some() {
            return refuse("does not work with --rejects");
        }
        if self.inputs.contains(&Input::Stdin) {
            return refuse("standard input cannot be read again; name files");
        }
        self.checkpoint = Some((directory, size));
        Ok(self)
    }

    /// The same, with the files that `typed` names.
    pub(crate) fn with_evidence(mut self, typed: &args::Equivalence) -> Result<Config, Failure> {
        if typed.aliases.is_some()
            && !matches!(self.job, Job::Dedup(_) | Job::Normalize { .. } | Job::Key { .. })
        {
            let what = "--aliases works with plain dedup, normalize and key; not with explain, set, -c, -d, \
                        -u, --keep, --dupes or --clusters";
            return Err(Failure::new(what));
        }
        self.evidence.extend(typed.aliases.clone());
        self.evidence.extend(rule_choice::files(&typed.rules));
        self.aliases = typed.aliases.clone();
        Ok(self)
    }

    /// Whether the results may take the place of an input: they are its records, or tables with all its columns.
    pub(crate) fn is_in_place(&self) -> bool {
        let has_records = match &self.job {
            Job::Dedup(options) => options.emit != Emit::Key,
            Job::Classes(options) => options.dedup.emit != Emit::Key,
            Job::Normalize { .. } | Job::Redact | Job::Resolve(_) | Job::Members(..) => true,
            _ => false,
        };
        self.table.is_some() || has_records && self.documents.is_none()
    }

    /// The same, with secrets masked where records are written if `redact` says so.
    pub(crate) fn redacting(mut self, redact: bool) -> Config {
        self.settings.redact = redact;
        self
    }

    /// The same, reading the links in the inputs if `from` says so. `equivalence` says whether letters beyond ASCII
    /// are kept in them, and what references in pages are resolved against.
    pub(crate) fn reading(
        mut self,
        from: &args::FromText,
        equivalence: &args::Equivalence,
    ) -> Result<Config, Failure> {
        if from.extract {
            let mut options = extract_options(&from.find, equivalence.mending.iri)?;
            options.extractor.base = link_base(equivalence.references.base.as_deref())?;
            self.documents = Some(Documents { options, walk: args::Walk::default() });
        } else if from.find != args::Find::default() {
            let what = "--format, --field, --log-format, --log-field, --warc-field, --scheme, --unwrap, --www, --email and --refang need --extract";
            return Err(Failure::new(what));
        }
        Ok(self)
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
        let settings = Settings {
            threads,
            kernels: environment.kernels(work.backend)?,
            record_end: if input.null { b'\0' } else { b'\n' },
            chunk_bytes: work.chunk_size,
            ..Settings::default()
        };
        let is_loud = environment.stderr_is_terminal && !reporting.quiet;
        // A bar in the middle of the results would spoil both.
        let stdout_is_busy = output == Destination::Stdout && environment.stdout_is_terminal;
        let summary = match reporting.stats_format {
            None if reporting.stats || is_loud => Some(StatsFormat::Text),
            typed => typed,
        };
        Ok(Config {
            job,
            has_hint: input.files.is_empty() && environment.stdin_is_terminal && !reporting.quiet,
            inputs: of_arguments(input.files)?,
            documents: None,
            is_talkative: !reporting.quiet,
            output,
            set: None,
            checkpoint: None,
            aliases: None,
            evidence: Vec::new(),
            table: None,
            side: SideFiles { rejects, ..SideFiles::default() },
            settings,
            strict,
            summary,
            has_progress: is_loud && !stdout_is_busy,
        })
    }
}
