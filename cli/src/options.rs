//! What groups of arguments mean, as the library takes them.

use std::path::{Path, PathBuf};

use uriscan::audit::{RuleSet, Severity};
use uriscan::extract::{self, ExtractorOptions, Format, Schemes};
use uriscan::grammar::Grammar;
use uriscan::grammar::class::{ALPHA, SCHEME};
use uriscan::io::{Fields, Template};
use uriscan::normalize::{Options, Rung};
use uriscan::pipeline::{
    Against, AuditFormat, AuditOptions, ClassOptions, DedupOptions, Equivalence, ExtractOptions,
    Keep, LegacyQuestion, LinkFormat, LinkShape, MemoryLimit, OnInvalid, RowFormat, Select,
};
use uriscan::resolve::{self, BaseUri, Context, LegacyBase, Suffix};
use uriscan::surt::Form;

use crate::args;
use crate::config::{Job, KeyForm};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::output::{directory_of, is_dash};
use crate::rule_choice;

pub(crate) fn audit_job(typed: &args::Audit) -> Job {
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

/// The limit that was typed, or half of the memory that there is; `None` where nobody can tell.
pub(crate) fn memory_limit(
    typed: &args::Memory,
    common: &args::Common,
    environment: &Environment,
) -> Option<MemoryLimit> {
    let half = || environment.memory.and_then(|bytes| usize::try_from(bytes / 2).ok());
    let bytes = typed.max_memory.or_else(half)?;
    let temp_dir = typed.temp_dir.clone();
    let temp_dir = temp_dir.unwrap_or_else(|| temp_dir_beside(&common.destination, environment));
    Some(MemoryLimit::new(bytes, temp_dir))
}

/// Where temporary files go if nothing was typed: $TMPDIR, or beside the output, or where the system has them.
pub(crate) fn temp_dir_beside(
    destination: &args::Destination,
    environment: &Environment,
) -> PathBuf {
    let output = destination.output.as_deref().filter(|path| !is_dash(path));
    // A pipe or a device stands where nothing may be put beside it.
    let beside = || output.filter(|path| !path.exists() || path.is_file()).map(directory_of);
    let chosen = environment.chosen_temp_dir.clone();
    let temp_dir = chosen.or_else(|| beside().map(Path::to_owned));
    temp_dir.unwrap_or_else(|| environment.system_temp_dir.clone())
}

/// # Errors
/// When there is no such rule set.
pub(crate) fn equivalence(typed: &args::Equivalence) -> Result<Equivalence, Failure> {
    equivalence_by(Grammar::Rfc3986, typed)
}

/// # Errors
/// As [`equivalence`]; what is for RFC 3986 only, under another grammar.
pub(crate) fn equivalence_by(
    grammar: Grammar,
    typed: &args::Equivalence,
) -> Result<Equivalence, Failure> {
    let is_beyond =
        !typed.rules.is_empty() || !typed.mending.repairs().is_empty() || typed.aliases.is_some();
    if grammar != Grammar::Rfc3986 && is_beyond {
        let what = "rules beyond the RFC, aliases, --iri and --repair are made for rfc3986";
        return Err(Failure::at(format_args!("--grammar {grammar}"), what));
    }
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
        context: context(grammar, &typed.references)?,
        grammar,
        profile: None,
    })
}

/// # Errors
/// When repairs are asked for under `grammar`, which is not RFC 3986.
pub(crate) fn unmended(grammar: Grammar, typed: &args::Mending) -> Result<(), Failure> {
    if typed.repairs().is_empty() {
        return Ok(());
    }
    let what = "--iri and --repair are made for rfc3986";
    Err(Failure::at(format_args!("--grammar {grammar}"), what))
}

/// The same, but that the profile decides if one was typed.
pub(crate) fn by_profile(
    equivalence: Equivalence,
    typed: &args::ProfileChoice,
) -> Result<Equivalence, Failure> {
    if typed.profile.is_some() && equivalence.grammar != Grammar::Rfc3986 {
        return Err(Failure::at("--profile", "has a grammar of its own; leave --grammar out"));
    }
    Ok(Equivalence { profile: typed.profile, ..equivalence })
}

/// What the formats of `parse` are to RFC 2396.
pub(crate) fn legacy_rows(format: &RowFormat) -> Result<LegacyQuestion, Failure> {
    match format {
        RowFormat::Jsonl => Ok(LegacyQuestion::PartsJsonl),
        RowFormat::Tsv => Ok(LegacyQuestion::PartsTsv),
        RowFormat::Template(_) => {
            Err(Failure::at("--template", "its fields are those of rfc3986; use --format"))
        }
    }
}

pub(crate) fn context(
    grammar: Grammar,
    typed: &args::References,
) -> Result<Option<Context>, Failure> {
    match (&typed.base, &typed.suffix_scheme) {
        (Some(uri), _) => base(grammar, uri, typed.lenient_scheme).map(Some),
        (None, Some(scheme)) => suffix(grammar, scheme).map(Some),
        (None, None) => Ok(None),
    }
}

fn base(grammar: Grammar, uri: &str, lenient_scheme: bool) -> Result<Context, Failure> {
    let text = uri.as_bytes();
    let context = match grammar.legacy() {
        None => BaseUri::new(text)
            .map(|base| Context::Base { base, options: resolve::Options { lenient_scheme } }),
        Some(legacy) => {
            LegacyBase::new(text, legacy).map(|base| Context::Legacy { base, lenient_scheme })
        }
    };
    context.map_err(|error| {
        let what = format!("the base is no URI: {error}");
        Failure::at(format_args!("--base {}", uri.escape_debug()), what)
    })
}

fn suffix(grammar: Grammar, scheme: &str) -> Result<Context, Failure> {
    let name = || format!("--suffix-scheme {}", scheme.escape_debug());
    if grammar != Grammar::Rfc3986 {
        return Err(Failure::at(name(), "suffix references are read by rfc3986"));
    }
    Suffix::new(scheme).map(Context::Suffix).map_err(|error| Failure::at(name(), error))
}

pub(crate) fn against(typed: &args::Resolve) -> Result<Against, Failure> {
    let grammar = typed.grammar.grammar;
    let options = resolve::Options { lenient_scheme: typed.lenient_scheme };
    let Some(base_field) = &typed.base_field else {
        return Ok(Against::Context(match (&typed.base, &typed.suffix_scheme) {
            (Some(uri), _) => base(grammar, uri, typed.lenient_scheme)?,
            // clap sees to it that there is one of the three.
            (None, scheme) => suffix(grammar, scheme.as_deref().unwrap_or_default())?,
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
    Ok(match grammar.legacy() {
        None => Against::Fields { fields, options },
        Some(legacy) => {
            Against::LegacyFields { fields, legacy, lenient_scheme: typed.lenient_scheme }
        }
    })
}

/// The number of a column, from 1.
pub(crate) fn column(option: &str, typed: &str) -> Result<usize, Failure> {
    let number = typed.parse().ok().filter(|&number: &usize| (1..=100_000).contains(&number));
    number.ok_or_else(|| {
        let what = "a column is a number from 1; --format jsonl takes names";
        Failure::at(format_args!("{option} {}", typed.escape_debug()), what)
    })
}

/// Deduplication; what asks for whole classes costs more.
pub(crate) fn dedup_job(dedup: DedupOptions, typed: &args::Classes) -> Job {
    let args::Classes { count, repeated, unique, keep, verify, dupes, clusters } = typed;
    let asks = *count || *repeated || *unique || dupes.is_some() || clusters.is_some();
    if !asks && !verify && keep.keep == args::Keep::First {
        return Job::Dedup(dedup);
    }
    Job::Classes(ClassOptions {
        dedup,
        keep: match keep.keep {
            args::Keep::First => Keep::First,
            args::Keep::Last => Keep::Last,
            args::Keep::Shortest => Keep::Shortest,
            args::Keep::Https => Keep::Https,
            args::Keep::Min => Keep::Min,
            args::Keep::Max => Keep::Max,
        },
        select: match (repeated, unique) {
            (true, _) => Select::Repeated,
            (_, true) => Select::Unique,
            (false, false) => Select::All,
        },
        count: *count,
        verify: *verify,
    })
}

/// A file that is not for results.
pub(crate) fn side_file(option: &str, path: Option<PathBuf>) -> Result<Option<PathBuf>, Failure> {
    match path {
        Some(path) if is_dash(&path) => {
            let why = "standard output is for results; name a file";
            Err(Failure::at(format_args!("{option} -"), why))
        }
        path => Ok(path),
    }
}

pub(crate) fn extract_options(find: &args::Find, iri: bool) -> Result<ExtractOptions, Failure> {
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
        log_format: find.log_format.clone(),
        log_fields: find.log_field.clone(),
        warc_targets: find.warc_field.is_some(),
    };
    let format = match find.format {
        Some(args::TextFormat::Of(format)) => Some(format),
        // What has a pattern is a log, whatever it looks like.
        Some(args::TextFormat::Auto) | None => find.log_format.as_ref().map(|_| Format::Clf),
    };
    Ok(ExtractOptions { extractor, format })
}

/// The value of `--base` of `extract`.
pub(crate) fn link_base(typed: Option<&str>) -> Result<Option<Vec<u8>>, Failure> {
    let Some(typed) = typed else { return Ok(None) };
    let base = typed.as_bytes().to_vec();
    match uriscan::uri::parse(&base) {
        Ok(parts) if parts.is_uri() => Ok(Some(base)),
        Ok(_) => Err(Failure::at("--base", format_args!("'{typed}' has no scheme"))),
        Err(error) => Err(Failure::at(format_args!("--base '{typed}'"), error.kind.message())),
    }
}

pub(crate) fn link_format(typed: &args::Extract) -> LinkFormat {
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

pub(crate) fn row_format(
    typed: args::RowFormat,
    template: Option<&str>,
) -> Result<RowFormat, Failure> {
    match (typed, template) {
        (_, Some(template)) => match Template::new(template) {
            Ok(template) => Ok(RowFormat::Template(template)),
            Err(error) => Err(Failure::at("--template", error)),
        },
        (args::RowFormat::Jsonl, None) => Ok(RowFormat::Jsonl),
        (args::RowFormat::Tsv, None) => Ok(RowFormat::Tsv),
    }
}

/// What `key` writes; only what is in hexadecimal has a hash.
pub(crate) fn key_form(
    grammar: Grammar,
    typed: args::KeyForm,
    hash: args::Hash,
) -> Result<KeyForm, Failure> {
    if typed != args::KeyForm::Hex && hash != args::Hash::default() {
        return Err(Failure::at("--hash", "only the keys of --as hex have one"));
    }
    let is_surt = !matches!(typed, args::KeyForm::Hex | args::KeyForm::Url);
    if is_surt && grammar != Grammar::Rfc3986 {
        let what = "keys to sort by are written for rfc3986; use --as hex or url";
        return Err(Failure::at(format_args!("--grammar {grammar}"), what));
    }
    Ok(match typed {
        args::KeyForm::Hex => KeyForm::Hex(hash.public()),
        args::KeyForm::Url => KeyForm::Url,
        args::KeyForm::Cdxj => KeyForm::Surt(Form::Cdxj),
        args::KeyForm::Ia => KeyForm::Surt(Form::Ia),
        args::KeyForm::Ssurt => KeyForm::Surt(Form::Ssurt),
    })
}

/// What becomes of invalid records, and the file that takes them.
///
/// # Errors
/// When two different things are asked for.
pub(crate) fn on_invalid(
    typed: &args::InvalidRecords,
) -> Result<(OnInvalid, Option<PathBuf>), Failure> {
    if let Some(path) = side_file("--rejects", typed.rejects.clone())? {
        return match typed.on_invalid {
            None | Some(args::OnInvalid::Drop) => Ok((OnInvalid::Divert, Some(path))),
            Some(args::OnInvalid::Pass | args::OnInvalid::Error) => {
                Err(Failure::at("--rejects", "goes with --on-invalid drop only"))
            }
        };
    }
    Ok(match typed.on_invalid {
        None | Some(args::OnInvalid::Pass) => (OnInvalid::Pass, None),
        Some(args::OnInvalid::Drop) => (OnInvalid::Drop, None),
        Some(args::OnInvalid::Error) => (OnInvalid::Fail, None),
    })
}
