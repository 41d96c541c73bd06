//! What is to be done: the arguments with their defaults filled in and their meaning decided.

use std::path::{Path, PathBuf};

use uriscan::audit::Severity;
use uriscan::grammar::Grammar;
use uriscan::grammar::rfc2396::Legacy;
use uriscan::key::{Hasher, PublicHash};
use uriscan::pipeline::{
    AuditOptions, CensusOptions, CheckFormat, ClassOptions, DedupOptions, Emit, Equivalence,
    ExplainFormat, ExplainOptions, ExtractOptions, LegacyQuestion, LinkFormat, MemberOptions,
    OnInvalid, ResolveOptions, RowFormat, SameDocument, Settings,
};
use uriscan::profile::Profile;
use uriscan::repair::Repairs;
use uriscan::surt;

use crate::args::{self, CensusFormat, Cli, StatsFormat};
use crate::environment::Environment;
use crate::exit::Failure;
pub(crate) use crate::inputs::Input;
use crate::inputs::of_arguments;
#[cfg(feature = "parquet")]
use crate::options::temp_dir_beside;
use crate::options::{
    against, audit_job, by_profile, context, dedup_job, equivalence, equivalence_by,
    extract_options, key_form, legacy_rows, link_base, link_format, memory_limit, on_invalid,
    row_format, side_file, unmended,
};
pub(crate) use crate::output::Destination;
use crate::output::{Content, is_dash};
use crate::rule_choice;
use crate::sets::records::{Asked, SetDoes, SetUse, of_set};

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
    /// The inputs are tables: what was typed about them, and the column of URIs.
    #[cfg(feature = "parquet")]
    pub(crate) table: Option<(args::TableChoice, String)>,
    /// Where rows are put aside.
    #[cfg(feature = "parquet")]
    pub(crate) temp_dir: PathBuf,
    /// The column of tables by which `dedup` keeps rows.
    #[cfg(feature = "parquet")]
    pub(crate) keep_column: Option<String>,
    /// A memory limit was typed, and not only guessed.
    #[cfg(feature = "parquet")]
    pub(crate) has_typed_limit: bool,
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
    /// What `cli` means in `environment`.
    ///
    /// # Errors
    /// A backend that is not there; options that contradict each other in a way that clap cannot see.
    pub(crate) fn new(cli: Cli, environment: &Environment) -> Result<Config, Failure> {
        #[cfg(feature = "parquet")]
        {
            let table = cli.command.table().cloned();
            let mut config = Config::of_command(cli.command, environment)?;
            config.table = table.and_then(|typed| Some((typed.clone(), typed.column?)));
            Ok(config)
        }
        #[cfg(not(feature = "parquet"))]
        match cli.command.table().and_then(args::TableChoice::option) {
            Some(option) => Err(Failure::at(option, crate::inputs::WITHOUT_TABLES)),
            None => Config::of_command(cli.command, environment),
        }
    }

    fn of_command(command: args::Command, environment: &Environment) -> Result<Config, Failure> {
        match command {
            args::Command::Dedup(dedup) => {
                let has_tables = dedup.has_tables();
                let keep_column = dedup.classes.keep.column.clone();
                let (on_invalid, rejects) = on_invalid(&dedup.invalid)?;
                let hash = dedup.hash.map(args::Hash::public);
                let has_keys = matches!(dedup.emit, args::Emit::Key)
                    || dedup.seen.is_some()
                    || dedup.checkpoint.is_some();
                if hash.is_some() && !has_keys {
                    let what =
                        "no keys leave this run; it goes with --emit key, --seen or --checkpoint";
                    return Err(Failure::at("--hash", what));
                }
                let options = DedupOptions {
                    equivalence: by_profile(equivalence(&dedup.equivalence)?, &dedup.profile)?,
                    emit: match dedup.emit {
                        args::Emit::Original => Emit::Original,
                        args::Emit::Normalized => Emit::Normalized,
                        args::Emit::Key => Emit::Key,
                    },
                    on_invalid,
                    hasher: Hasher::random(),
                    hash: hash.unwrap_or_default(),
                    limit: memory_limit(&dedup.memory, &dedup.common, environment),
                    approximate: dedup.approx,
                };
                let is_told = dedup.classes.dupes.is_some() || dedup.classes.clusters.is_some();
                if is_told && dedup.profile.profile.is_some() {
                    let what =
                        "--dupes and --clusters tell rungs and rules, and a profile has none";
                    return Err(Failure::at("--profile", what));
                }
                if keep_column.is_some() && !has_tables {
                    let what = match cfg!(feature = "parquet") {
                        true => "min:COLUMN and max:COLUMN are for tables, which --column asks for",
                        false => {
                            "min:COLUMN and max:COLUMN are for tables, which this program is built without"
                        }
                    };
                    return Err(Failure::at("--keep", what));
                }
                let strict = dedup.invalid.strictness.strict;
                let job = dedup_job(options, &dedup.classes);
                let mut config = Config::of_job(job, rejects, dedup.common, strict, environment)?;
                #[cfg(feature = "parquet")]
                {
                    config.keep_column = keep_column;
                    config.has_typed_limit = dedup.memory.max_memory.is_some();
                    if let Some(dir) = dedup.memory.temp_dir {
                        config.temp_dir = dir;
                    }
                }
                config.side.dupes = side_file("--dupes", dedup.classes.dupes)?;
                config.side.clusters = side_file("--clusters", dedup.classes.clusters)?;
                config
                    .with_seen(dedup.seen, dedup.update, hash)?
                    .with_checkpoint(dedup.checkpoint, dedup.checkpoint_size)?
                    .with_evidence(&dedup.equivalence)?
                    .redacting(dedup.redaction.redact)
                    .reading(&dedup.from, &dedup.equivalence)
            }
            args::Command::Normalize(normalize) => {
                let (on_invalid, rejects) = on_invalid(&normalize.invalid)?;
                let equivalence =
                    equivalence_by(normalize.grammar.grammar, &normalize.equivalence)?;
                let equivalence = by_profile(equivalence, &normalize.profile)?;
                let job = Job::Normalize { equivalence, on_invalid };
                let strict = normalize.invalid.strictness.strict;
                let config = Config::of_job(job, rejects, normalize.common, strict, environment)?;
                config
                    .with_evidence(&normalize.equivalence)?
                    .redacting(normalize.redaction.redact)
                    .reading(&normalize.from, &normalize.equivalence)
            }
            args::Command::Key(key) => {
                let (on_invalid, rejects) = on_invalid(&key.invalid)?;
                let equivalence = equivalence_by(key.grammar.grammar, &key.equivalence)?;
                let equivalence = by_profile(equivalence, &key.profile)?;
                let form = key_form(key.grammar.grammar, key.form, key.hash)?;
                if matches!(form, KeyForm::Surt(_)) && key.profile.profile == Some(Profile::Surt) {
                    let what = "surt has no URIs that --as could turn around; use --as url";
                    return Err(Failure::at("--profile", what));
                }
                let job = match key.context {
                    true => Job::KeyContext(equivalence.key_context()),
                    false => Job::Key { equivalence, form, on_invalid },
                };
                let strict = key.invalid.strictness.strict;
                let config = Config::of_job(job, rejects, key.common, strict, environment)?;
                config.with_evidence(&key.equivalence)?.reading(&key.from, &key.equivalence)
            }
            args::Command::Parse(parse) => {
                let format = row_format(parse.format, parse.template.as_deref())?;
                let job = match parse.grammar.grammar.legacy() {
                    None => Job::Parse(format, parse.mending.repairs()),
                    Some(legacy) => {
                        unmended(parse.grammar.grammar, &parse.mending)?;
                        Job::Judge { question: legacy_rows(&format)?, legacy }
                    }
                };
                let strict = parse.strictness.strict;
                Config::of_job(job, None, parse.common, strict, environment)
            }
            args::Command::Check(check) => {
                let format = match check.format {
                    args::CheckFormat::Text => CheckFormat::Text,
                    args::CheckFormat::Jsonl => CheckFormat::Jsonl,
                };
                let job = match (check.differ, check.grammar.grammar.legacy()) {
                    (false, None) => Job::Check(format, check.mending.repairs()),
                    (false, Some(legacy)) => {
                        unmended(check.grammar.grammar, &check.mending)?;
                        Job::Judge { question: LegacyQuestion::Check(format), legacy }
                    }
                    (true, legacy) => {
                        let question = LegacyQuestion::Differ(format);
                        Job::Judge { question, legacy: legacy.unwrap_or_default() }
                    }
                };
                // That is what the command is for.
                Config::of_job(job, None, check.common, true, environment)
            }
            args::Command::Census(census) => {
                let options = CensusOptions {
                    context: context(Grammar::Rfc3986, &census.references)?,
                    drop_fragment: census.ignore_fragment,
                    repairs: census.mending.repairs(),
                    rules: rule_choice::rule_set(&census.rules)?,
                    hasher: Hasher::random(),
                };
                let strict = census.strictness.strict;
                let job = Job::Census(options, census.format);
                let mut config = Config::of_job(job, None, census.common, strict, environment)?;
                config.evidence.extend(rule_choice::files(&census.rules));
                Ok(config)
            }
            args::Command::Explain(explain) => Config::of_explain(explain, environment),
            args::Command::Audit(audit) => {
                let job = match (audit.list_rules, audit.redact) {
                    (true, _) => Job::ListRules,
                    (false, true) => Job::Redact,
                    (false, false) => audit_job(&audit),
                };
                Config::of_job(job, None, audit.common, false, environment)
            }
            args::Command::Resolve(resolve) => {
                let against = against(&resolve)?;
                let (on_invalid, rejects) = on_invalid(&resolve.invalid)?;
                let same_document = match resolve.same_document {
                    args::SameDocument::Keep => SameDocument::Keep,
                    args::SameDocument::Drop => SameDocument::Drop,
                };
                let job = Job::Resolve(ResolveOptions { against, same_document, on_invalid });
                let strict = resolve.invalid.strictness.strict;
                Config::of_job(job, rejects, resolve.common, strict, environment)
            }
            // They have no records to work on: `grammar::run` and `rules::run` do it all.
            args::Command::Grammar(_) => Err(Failure::new("`grammar` reads no records")),
            args::Command::Rules(_) => Err(Failure::new("`rules` reads no records")),
            args::Command::Set(args::Set { command }) => of_set(command, environment),
            args::Command::Extract(mut extract) => {
                let mut options = extract_options(&extract.find, extract.iri)?;
                options.extractor.base = link_base(extract.base.as_deref())?;
                let job = Job::Extract(options.clone(), link_format(&extract));
                let has_files = extract.walk.files_from.is_some();
                let no_files = has_files && extract.common.input.files.is_empty();
                if no_files {
                    // Nothing but what the list names; `-` would be standard input.
                    extract.common.input.files = vec![PathBuf::from("-")];
                }
                let mut config = Config::of_job(job, None, extract.common, false, environment)?;
                if no_files {
                    config.inputs.clear();
                }
                config.evidence.extend(extract.walk.files_from.clone());
                config.documents = Some(Documents { options, walk: extract.walk });
                Ok(config)
            }
        }
    }

    /// The same, asking a set on disk, and adding to it what is new if `update` says so.
    fn with_seen(
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
    fn with_checkpoint(mut self, directory: Option<PathBuf>, size: u64) -> Result<Config, Failure> {
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
        #[cfg(feature = "parquet")]
        if self.table.is_some() {
            return true;
        }
        let has_records = match &self.job {
            Job::Dedup(options) => options.emit != Emit::Key,
            Job::Classes(options) => options.dedup.emit != Emit::Key,
            Job::Normalize { .. } | Job::Redact | Job::Resolve(_) | Job::Members(..) => true,
            _ => false,
        };
        has_records && self.documents.is_none()
    }

    /// The same, with secrets masked where records are written if `redact` says so.
    fn redacting(mut self, redact: bool) -> Config {
        self.settings.redact = redact;
        self
    }

    fn of_explain(typed: args::Explain, environment: &Environment) -> Result<Config, Failure> {
        let is_on_terminal = environment.stdout_is_terminal
            && typed.destination.output.as_deref().is_none_or(is_dash);
        let has_colour = match typed.color {
            args::Color::Always => true,
            args::Color::Never => false,
            args::Color::Auto => is_on_terminal && environment.has_colour,
        };
        let options = ExplainOptions {
            equivalence: equivalence(&typed.equivalence)?,
            has_pairs: typed.pairs,
            format: match typed.format {
                args::ExplainFormat::Text => ExplainFormat::Text { has_colour },
                args::ExplainFormat::Jsonl => ExplainFormat::Jsonl,
            },
        };
        let uris: Vec<Vec<u8>> =
            typed.uris.iter().map(|uri| uri.as_encoded_bytes().to_vec()).collect();
        let args::Reporting { stats, stats_format, .. } = typed.reporting;
        let has_typed = !uris.is_empty();
        let common = args::Common {
            input: args::Input { files: typed.file, null: typed.null },
            destination: typed.destination,
            work: typed.work,
            reporting: typed.reporting,
        };
        let job = Job::Explain(options, uris);
        let strict = typed.strictness.strict;
        let mut config = Config::of_job(job, None, common, strict, environment)?
            .with_evidence(&typed.equivalence)?;
        // A pair of them.
        config.settings.max_record = 2 * uriscan::explain::LONGEST + 1;
        if has_typed {
            // Nothing is read, and nobody waits for totals of what was typed.
            (config.inputs, config.has_hint) = (Vec::new(), false);
            config.summary = config.summary.filter(|_| stats || stats_format.is_some());
        }
        Ok(config)
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
        #[cfg(feature = "parquet")]
        let temp_dir = temp_dir_beside(&destination, environment);
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
            #[cfg(feature = "parquet")]
            table: None,
            #[cfg(feature = "parquet")]
            temp_dir,
            #[cfg(feature = "parquet")]
            keep_column: None,
            #[cfg(feature = "parquet")]
            has_typed_limit: false,
            side: SideFiles { rejects, ..SideFiles::default() },
            settings,
            strict,
            summary,
            has_progress: is_loud && !stdout_is_busy,
        })
    }
}
