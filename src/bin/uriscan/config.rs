//! What is to be done: the arguments with their defaults filled in and their meaning decided.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use uriscan::audit::{RuleSet, Severity};
use uriscan::extract::{self, ExtractorOptions, Schemes};
use uriscan::grammar::class::{ALPHA, SCHEME};
use uriscan::io::{Fields, Template};
use uriscan::key::Hasher;
use uriscan::normalize::{Options, Rung};
use uriscan::pipeline::{
    Against, AuditFormat, AuditOptions, CensusOptions, CheckFormat, ClassOptions, DedupOptions,
    Emit, Equivalence, ExplainFormat, ExplainOptions, ExtractOptions, Keep, LinkFormat, LinkShape,
    OnInvalid, ResolveOptions, RowFormat, SameDocument, Select, Settings,
};
use uriscan::resolve::{self, BaseUri, Context, Suffix};
use uriscan::simd::{Backend, Kernels};

use crate::args::{self, CensusFormat, Cli, StatsFormat};
use crate::exit::Failure;
use crate::rule_choice;

/// The environment variable that holds the default of `--backend`.
pub(crate) const BACKEND_VARIABLE: &str = "URISCAN_BACKEND";

/// Bytes of the longest record that is explained: it takes some fifty times its length, with rules time
/// with its square, and nobody reads a longer one.
const EXPLAINED_RECORD: usize = 64 << 10;

/// What the program takes from its surroundings, apart from its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub(crate) backend: Option<OsString>,
    pub(crate) cores: usize,
    pub(crate) stdin_is_terminal: bool,
    pub(crate) stdout_is_terminal: bool,
    pub(crate) stderr_is_terminal: bool,
    /// Whether a terminal may be sent colours.
    pub(crate) has_colour: bool,
}

impl Environment {
    pub(crate) fn of_process() -> Environment {
        Environment {
            backend: std::env::var_os(BACKEND_VARIABLE).filter(|name| !name.is_empty()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            has_colour: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb"),
        }
    }

    /// The backend to use, given the value of `--backend`.
    pub(crate) fn kernels(&self, typed: Option<OsString>) -> Result<Kernels, Failure> {
        let (name, origin) = match (typed, &self.backend) {
            (Some(name), _) => (name, "--backend"),
            (None, Some(name)) => (name.clone(), BACKEND_VARIABLE),
            (None, None) => return Ok(Kernels::detect()),
        };
        if name == "auto" {
            return Ok(Kernels::detect());
        }
        let backend = name.to_str().and_then(Backend::from_name);
        backend.and_then(Kernels::with).ok_or_else(|| {
            let name = name.display();
            let why = if backend.is_some() { "not available here" } else { "no such backend" };
            let available: Vec<&str> = Kernels::available().map(|k| k.backend().name()).collect();
            let choice = available.join(", ");
            Failure::at(format_args!("{origin} {name}"), format_args!("{why}; use auto, {choice}"))
        })
    }
}

/// One of the sources of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

/// Where results or invalid records go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Stdout,
    File(PathBuf),
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
        hasher: Hasher,
        on_invalid: OnInvalid,
    },
    Parse(RowFormat),
    Check(CheckFormat),
    Census(CensusOptions, CensusFormat),
    /// Explanations of records, or of the URIs that were typed.
    Explain(ExplainOptions, Vec<Vec<u8>>),
    /// Findings, and from which severity on they make the run fail.
    Audit(AuditOptions, Option<Severity>),
    Redact,
    /// The rules of the audit; reads nothing.
    ListRules,
    Resolve(ResolveOptions),
    Extract(ExtractOptions, LinkFormat),
}

impl Job {
    /// The name of the command.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Job::Dedup(_) | Job::Classes(_) => "dedup",
            Job::Normalize { .. } => "normalize",
            Job::Key { .. } => "key",
            Job::Parse(_) => "parse",
            Job::Check(_) => "check",
            Job::Census(..) => "census",
            Job::Explain(..) => "explain",
            Job::Audit(..) | Job::Redact | Job::ListRules => "audit",
            Job::Resolve(_) => "resolve",
            Job::Extract(..) => "extract",
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
    /// The file of what stands for what.
    pub(crate) aliases: Option<PathBuf>,
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
        match cli.command {
            args::Command::Dedup(dedup) => {
                let (on_invalid, rejects) = on_invalid(dedup.invalid.on_invalid)?;
                let options = DedupOptions {
                    equivalence: equivalence(&dedup.equivalence)?,
                    emit: match dedup.emit {
                        args::Emit::Original => Emit::Original,
                        args::Emit::Normalized => Emit::Normalized,
                        args::Emit::Key => Emit::Key,
                    },
                    on_invalid,
                    hasher: hasher(dedup.seed),
                };
                let strict = dedup.invalid.strictness.strict;
                let job = dedup_job(options, &dedup.classes);
                let mut config = Config::of_job(job, rejects, dedup.common, strict, environment)?;
                config.side.dupes = side_file("--dupes", dedup.classes.dupes)?;
                config.side.clusters = side_file("--clusters", dedup.classes.clusters)?;
                config
                    .with_aliases(dedup.equivalence.aliases)?
                    .redacting(dedup.redaction.redact)
                    .reading(&dedup.from, dedup.equivalence.mending.iri)
            }
            args::Command::Normalize(normalize) => {
                let (on_invalid, rejects) = on_invalid(normalize.invalid.on_invalid)?;
                let equivalence = equivalence(&normalize.equivalence)?;
                let job = Job::Normalize { equivalence, on_invalid };
                let strict = normalize.invalid.strictness.strict;
                let config = Config::of_job(job, rejects, normalize.common, strict, environment)?;
                config
                    .with_aliases(normalize.equivalence.aliases)?
                    .redacting(normalize.redaction.redact)
                    .reading(&normalize.from, normalize.equivalence.mending.iri)
            }
            args::Command::Key(key) => {
                let (on_invalid, rejects) = on_invalid(key.invalid.on_invalid)?;
                let equivalence = equivalence(&key.equivalence)?;
                let job = Job::Key { equivalence, hasher: hasher(key.seed), on_invalid };
                let strict = key.invalid.strictness.strict;
                let config = Config::of_job(job, rejects, key.common, strict, environment)?;
                config
                    .with_aliases(key.equivalence.aliases)?
                    .reading(&key.from, key.equivalence.mending.iri)
            }
            args::Command::Parse(parse) => {
                let job = Job::Parse(row_format(parse.format, parse.template.as_deref())?);
                let strict = parse.strictness.strict;
                Config::of_job(job, None, parse.common, strict, environment)
            }
            args::Command::Check(check) => {
                let job = Job::Check(match check.format {
                    args::CheckFormat::Text => CheckFormat::Text,
                    args::CheckFormat::Jsonl => CheckFormat::Jsonl,
                });
                // That is what the command is for.
                Config::of_job(job, None, check.common, true, environment)
            }
            args::Command::Census(census) => {
                let options = CensusOptions {
                    context: context(&census.references)?,
                    drop_fragment: census.ignore_fragment,
                    repairs: census.mending.repairs(),
                    rules: rule_choice::rule_set(&census.rules)?,
                    hasher: hasher(None),
                };
                let strict = census.strictness.strict;
                let job = Job::Census(options, census.format);
                Config::of_job(job, None, census.common, strict, environment)
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
                let (on_invalid, rejects) = on_invalid(resolve.invalid.on_invalid)?;
                let same_document = match resolve.same_document {
                    args::SameDocument::Keep => SameDocument::Keep,
                    args::SameDocument::Drop => SameDocument::Drop,
                };
                let job = Job::Resolve(ResolveOptions { against, same_document, on_invalid });
                let strict = resolve.invalid.strictness.strict;
                Config::of_job(job, rejects, resolve.common, strict, environment)
            }
            // It has no records to work on: `rules::run` does it all.
            args::Command::Rules(_) => Err(Failure::new("`rules` reads no records")),
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
                config.documents = Some(Documents { options, walk: extract.walk });
                Ok(config)
            }
        }
    }

    /// The same, with evidence from `path`.
    fn with_aliases(mut self, path: Option<PathBuf>) -> Result<Config, Failure> {
        if path.is_some()
            && !matches!(self.job, Job::Dedup(_) | Job::Normalize { .. } | Job::Key { .. })
        {
            let what = "--aliases works with plain dedup, normalize and key; not with explain, -c, -d, -u, \
                        --keep, --dupes or --clusters";
            return Err(Failure::new(what));
        }
        self.aliases = path;
        Ok(self)
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
            .with_aliases(typed.equivalence.aliases)?;
        config.settings.max_record = EXPLAINED_RECORD;
        if has_typed {
            // Nothing is read, and nobody waits for totals of what was typed.
            (config.inputs, config.has_hint) = (Vec::new(), false);
            config.summary = config.summary.filter(|_| stats || stats_format.is_some());
        }
        Ok(config)
    }

    /// The same, reading the links in the inputs if `from` says so; `has_iris` keeps letters beyond ASCII in them.
    fn reading(mut self, from: &args::FromText, has_iris: bool) -> Result<Config, Failure> {
        if from.extract {
            let options = extract_options(&from.find, has_iris)?;
            self.documents = Some(Documents { options, walk: args::Walk::default() });
        } else if from.find != args::Find::default() {
            let what = "--format, --field, --log-field, --warc-field, --scheme, --unwrap, --www, --email and --refang need --extract";
            return Err(Failure::new(what));
        }
        Ok(self)
    }

    fn of_job(
        job: Job,
        rejects: Option<PathBuf>,
        common: args::Common,
        strict: bool,
        environment: &Environment,
    ) -> Result<Config, Failure> {
        let args::Common { input, destination, work, reporting } = common;
        let output = match destination.output {
            Some(path) if !is_dash(&path) => Destination::File(path),
            _ => Destination::Stdout,
        };
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
            inputs: inputs(input.files)?,
            documents: None,
            is_talkative: !reporting.quiet,
            output,
            aliases: None,
            side: SideFiles { rejects, ..SideFiles::default() },
            settings,
            strict,
            summary,
            has_progress: is_loud && !stdout_is_busy,
        })
    }
}

fn audit_job(typed: &args::Audit) -> Job {
    let all_of = |sets: &[RuleSet]| sets.iter().fold(RuleSet::none(), |all, &set| all.or(set));
    let selected = if typed.select.is_empty() { RuleSet::all() } else { all_of(&typed.select) };
    let format = match typed.format {
        args::AuditFormat::Text => AuditFormat::Text,
        args::AuditFormat::Jsonl => AuditFormat::Jsonl,
        args::AuditFormat::Sarif => AuditFormat::Sarif,
    };
    let fail_on = match typed.fail_on {
        args::FailOn::Note => Some(Severity::Note),
        args::FailOn::Warning => Some(Severity::Warning),
        args::FailOn::Error => Some(Severity::Error),
        args::FailOn::Never => None,
    };
    Job::Audit(AuditOptions { rules: selected.without(all_of(&typed.ignore)), format }, fail_on)
}

fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn inputs(files: Vec<PathBuf>) -> Result<Vec<Input>, Failure> {
    if files.is_empty() {
        return Ok(vec![Input::Stdin]);
    }
    let inputs: Vec<Input> = files
        .into_iter()
        .map(|path| if is_dash(&path) { Input::Stdin } else { Input::File(path) })
        .collect();
    if inputs.iter().filter(|input| **input == Input::Stdin).count() > 1 {
        return Err(Failure::at("-", "standard input can be read only once"));
    }
    Ok(inputs)
}

/// # Errors
/// When there is no such rule set.
pub(crate) fn equivalence(typed: &args::Equivalence) -> Result<Equivalence, Failure> {
    let rung = match typed.rung {
        args::Rung::String => Rung::String,
        args::Rung::Syntax => Rung::Syntax,
        // The aliases are read when the work begins.
        args::Rung::Scheme | args::Rung::Protocol => Rung::Scheme,
    };
    match (typed.rung, &typed.aliases) {
        (args::Rung::Protocol, None) => {
            return Err(Failure::at("--rung protocol", "needs evidence: --aliases FILE"));
        }
        (args::Rung::Protocol, Some(path)) if is_dash(path) => {
            return Err(Failure::at("--aliases -", "the file is read twice; name one"));
        }
        (args::Rung::Protocol, Some(_)) | (_, None) => {}
        (_, Some(_)) => return Err(Failure::at("--aliases", "needs --rung protocol")),
    }
    Ok(Equivalence {
        normalize: Options { rung, drop_fragment: typed.ignore_fragment },
        repairs: typed.mending.repairs(),
        aliases: None,
        rules: rule_choice::rule_set(&typed.rules)?,
        context: context(&typed.references)?,
    })
}

fn context(typed: &args::References) -> Result<Option<Context>, Failure> {
    let options = resolve::Options { lenient_scheme: typed.lenient_scheme };
    match (&typed.base, &typed.suffix_scheme) {
        (Some(uri), _) => Ok(Some(Context::Base { base: base(uri)?, options })),
        (None, Some(scheme)) => Ok(Some(Context::Suffix(suffix(scheme)?))),
        (None, None) => Ok(None),
    }
}

fn base(uri: &str) -> Result<BaseUri, Failure> {
    BaseUri::new(uri.as_bytes()).map_err(|error| {
        let what = format!("the base is no URI: {error}");
        Failure::at(format_args!("--base {}", uri.escape_debug()), what)
    })
}

fn suffix(scheme: &str) -> Result<Suffix, Failure> {
    let name = || format!("--suffix-scheme {}", scheme.escape_debug());
    Suffix::new(scheme).map_err(|error| Failure::at(name(), error))
}

fn against(typed: &args::Resolve) -> Result<Against, Failure> {
    let options = resolve::Options { lenient_scheme: typed.lenient_scheme };
    let Some(base_field) = &typed.base_field else {
        return Ok(Against::Context(match (&typed.base, &typed.suffix_scheme) {
            (Some(uri), _) => Context::Base { base: base(uri)?, options },
            // clap sees to it that there is one of the three.
            (None, scheme) => Context::Suffix(suffix(scheme.as_deref().unwrap_or_default())?),
        }));
    };
    let reference_field = typed.reference_field.as_deref();
    let fields = match typed.format.unwrap_or_default() {
        args::InputFormat::Tsv => {
            let base = column("--base-field", base_field)?;
            let reference = match reference_field {
                Some(field) => column("--reference-field", field)?,
                None if base == 2 => 1,
                None => 2,
            };
            Fields::Tsv { base, reference }
        }
        args::InputFormat::Jsonl => Fields::Jsonl {
            base: base_field.clone(),
            reference: reference_field.unwrap_or("reference").to_owned(),
        },
    };
    Ok(Against::Fields { fields, options })
}

/// The number of a column, from 1.
fn column(option: &str, typed: &str) -> Result<usize, Failure> {
    let number = typed.parse().ok().filter(|&number: &usize| (1..=100_000).contains(&number));
    number.ok_or_else(|| {
        let what = "a column is a number from 1; --format jsonl takes names";
        Failure::at(format_args!("{option} {}", typed.escape_debug()), what)
    })
}

/// Deduplication; what asks for whole classes costs more.
fn dedup_job(dedup: DedupOptions, typed: &args::Classes) -> Job {
    let args::Classes { count, repeated, unique, keep, dupes, clusters } = typed;
    let asks = *count || *repeated || *unique || dupes.is_some() || clusters.is_some();
    if !asks && *keep == args::Keep::First {
        return Job::Dedup(dedup);
    }
    Job::Classes(ClassOptions {
        dedup,
        keep: match keep {
            args::Keep::First => Keep::First,
            args::Keep::Last => Keep::Last,
            args::Keep::Shortest => Keep::Shortest,
            args::Keep::Https => Keep::Https,
        },
        select: match (repeated, unique) {
            (true, _) => Select::Repeated,
            (_, true) => Select::Unique,
            (false, false) => Select::All,
        },
        count: *count,
    })
}

/// A file that is not for results.
fn side_file(option: &str, path: Option<PathBuf>) -> Result<Option<PathBuf>, Failure> {
    match path {
        Some(path) if is_dash(&path) => {
            let why = "standard output is for results; name a file";
            Err(Failure::at(format_args!("{option} -"), why))
        }
        path => Ok(path),
    }
}

fn extract_options(find: &args::Find, iri: bool) -> Result<ExtractOptions, Failure> {
    let schemes = match find.scheme.as_deref() {
        None => Schemes::Known,
        Some("any") => Schemes::Any,
        Some(list) => {
            let names: Vec<String> = list.split(',').map(str::to_ascii_lowercase).collect();
            let is_scheme = |name: &String| {
                name.bytes().all(|byte| SCHEME.has(byte))
                    && name.bytes().next().is_some_and(|b| ALPHA.has(b))
            };
            if let Some(wrong) = names.iter().find(|name| !is_scheme(name)) {
                let what =
                    format_args!("'{wrong}' is no scheme; write them like http,https,mailto");
                return Err(Failure::at("--scheme", what));
            }
            Schemes::List(names)
        }
    };
    let args::Find { unwrap, www, email, refang, .. } = *find;
    let extractor = ExtractorOptions {
        find: extract::Options { schemes, iri, unwrap, refang, www, email },
        base: None,
        fields: find.field.clone(),
        log_fields: find.log_field.clone(),
        warc_targets: find.warc_field.is_some(),
    };
    let format = match find.format {
        Some(args::TextFormat::Of(format)) => Some(format),
        Some(args::TextFormat::Auto) | None => None,
    };
    Ok(ExtractOptions { extractor, format })
}

/// The value of `--base` of `extract`.
fn link_base(typed: Option<&str>) -> Result<Option<Vec<u8>>, Failure> {
    let Some(typed) = typed else { return Ok(None) };
    let base = typed.as_bytes().to_vec();
    match uriscan::uri::parse(&base) {
        Ok(parts) if parts.is_uri() => Ok(Some(base)),
        Ok(_) => Err(Failure::at("--base", format_args!("'{typed}' has no scheme"))),
        Err(error) => Err(Failure::at(format_args!("--base '{typed}'"), error.kind.message())),
    }
}

fn link_format(typed: &args::Extract) -> LinkFormat {
    LinkFormat {
        shape: match (typed.jsonl, typed.count) {
            (true, _) => LinkShape::Jsonl,
            (_, true) => LinkShape::Count,
            _ => LinkShape::Line,
        },
        with_filename: typed.with_filename,
        line_number: typed.line_number,
        byte_offset: typed.byte_offset,
        context: typed.context,
    }
}

fn row_format(typed: args::RowFormat, template: Option<&str>) -> Result<RowFormat, Failure> {
    match (typed, template) {
        (_, Some(template)) => match Template::new(template) {
            Ok(template) => Ok(RowFormat::Template(template)),
            Err(error) => Err(Failure::at("--template", error)),
        },
        (args::RowFormat::Jsonl, None) => Ok(RowFormat::Jsonl),
        (args::RowFormat::Tsv, None) => Ok(RowFormat::Tsv),
    }
}

fn hasher(seed: Option<u64>) -> Hasher {
    seed.map_or_else(Hasher::random, Hasher::with_seed)
}

fn on_invalid(typed: args::OnInvalid) -> Result<(OnInvalid, Option<PathBuf>), Failure> {
    match typed {
        args::OnInvalid::Pass => Ok((OnInvalid::Pass, None)),
        args::OnInvalid::Drop => Ok((OnInvalid::Drop, None)),
        args::OnInvalid::Error => Ok((OnInvalid::Fail, None)),
        args::OnInvalid::File(path) => {
            Ok((OnInvalid::Divert, side_file("--on-invalid", Some(path))?))
        }
    }
}
