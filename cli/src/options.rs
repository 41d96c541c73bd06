//! Groups of options that several commands share, in the library's terms.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use uriscan::extract::{self, ExtractorOptions, Format, LogFormat, RequestFilter, Schemes};
use uriscan::normalize::{Level, Options};
use uriscan::repair::{Repairs, repair};
use uriscan::resolve::{self, BaseUri, Context, Suffix};
use uriscan::rfc2396::Grammar;
use uriscan::rfc2396::LegacyBase;
use uriscan_bulk::pipeline::{Equivalence, ExtractOptions, MemoryLimit, OnInvalid};

use crate::args::{self, Choices};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::filters;
use crate::output::{Destination, directory_of, is_dash};
use crate::rule_choice;

/// The given limit, or half of the memory; `None` if that is unknown.
pub(crate) fn memory_limit(
    typed: &args::Memory,
    common: &args::Common,
    environment: &Environment,
) -> Option<MemoryLimit> {
    let half = || environment.memory.and_then(|bytes| usize::try_from(bytes / 2).ok());
    let bytes = typed.max_memory.or_else(half)?;
    let temp_dir = typed.temp_dir.clone();
    let output = Destination::of_option(common.destination.output.clone());
    let temp_dir = temp_dir.unwrap_or_else(|| temp_dir_beside(&output, environment));
    Some(MemoryLimit::new(bytes, temp_dir).set_bytes(environment.key_bytes))
}

/// The default directory of temporary files: $TMPDIR, that of the output, or that of the system.
pub(crate) fn temp_dir_beside(output: &Destination, environment: &Environment) -> PathBuf {
    let output = match output {
        Destination::File(path) | Destination::Directory(path) => Some(path.as_path()),
        Destination::Stdout | Destination::Remote(_) | Destination::Prefix(_) => None,
    };
    // Not beside a pipe or a device.
    let beside = || output.filter(|path| !path.exists() || path.is_file()).map(directory_of);
    let chosen = environment.chosen_temp_dir.clone();
    let temp_dir = chosen.or_else(|| beside().map(Path::to_owned));
    temp_dir.unwrap_or_else(|| environment.system_temp_dir.clone())
}

pub(crate) fn equivalence(typed: &args::Equivalence) -> Result<Equivalence, Failure> {
    equivalence_by(Grammar::Rfc3986, typed)
}

/// The same under another grammar, for which some of it is an error.
pub(crate) fn equivalence_by(
    grammar: Grammar,
    typed: &args::Equivalence,
) -> Result<Equivalence, Failure> {
    let is_beyond =
        !typed.rules.is_empty() || !typed.repairs.chosen().is_empty() || typed.aliases.is_some();
    if grammar != Grammar::Rfc3986 && is_beyond {
        let what =
            "rules beyond the RFC, aliases, --iri and --repair require rfc3986; omit --grammar";
        return Err(Failure::at(format_args!("--grammar {grammar}"), what));
    }
    let typed_level = typed.level.unwrap_or_default();
    let level = match typed_level {
        args::Level::String => Level::String,
        args::Level::Syntax => Level::Syntax,
        // The aliases are read when the work begins.
        args::Level::Scheme | args::Level::Protocol => Level::Scheme,
    };
    match (typed_level, &typed.aliases) {
        (args::Level::Protocol, None) => {
            return Err(Failure::at("--level protocol", "requires --aliases FILE"));
        }
        (args::Level::Protocol, Some(path)) if is_dash(path) => {
            return Err(Failure::at("--aliases -", "the file is read twice; name one"));
        }
        (args::Level::Protocol, Some(_)) | (_, None) => {}
        (_, Some(_)) => return Err(Failure::at("--aliases", "requires --level protocol")),
    }
    Ok(Equivalence::default()
        .normalize(Options::new(level).drop_fragment(typed.drop_fragment))
        .repairs(typed.repairs.chosen())
        .rules(rule_choice::rule_set(&typed.rules)?)
        .context(context(grammar, &typed.references, typed.repairs.chosen())?)
        .grammar(grammar))
}

/// An error if repairs are asked for, under `grammar`, which is not RFC 3986.
pub(crate) fn without_repairs(
    grammar: Grammar,
    typed: &args::RepairOptions,
) -> Result<(), Failure> {
    if typed.chosen().is_empty() {
        return Ok(());
    }
    let what = "--iri and --repair require rfc3986; omit --grammar";
    Err(Failure::at(format_args!("--grammar {grammar}"), what))
}

/// `equivalence` with the profile, if one was given.
pub(crate) fn by_profile(
    equivalence: Equivalence,
    typed: &args::ProfileChoice,
) -> Result<Equivalence, Failure> {
    if typed.profile.is_some() && equivalence.grammar != Grammar::Rfc3986 {
        return Err(Failure::at("--profile", "implies a grammar; omit --grammar"));
    }
    Ok(equivalence.profile(typed.profile))
}

pub(crate) fn context(
    grammar: Grammar,
    typed: &args::References,
    repairs: Repairs,
) -> Result<Option<Context>, Failure> {
    match (&typed.base, &typed.suffix_scheme) {
        (Some(uri), _) => base(grammar, uri, typed.lenient_scheme, repairs).map(Some),
        (None, Some(scheme)) => suffix(grammar, scheme).map(Some),
        (None, None) => Ok(None),
    }
}

/// The base `uri`, repaired as references are.
pub(crate) fn base(
    grammar: Grammar,
    uri: &str,
    lenient_scheme: bool,
    repairs: Repairs,
) -> Result<Context, Failure> {
    let context = match grammar.legacy() {
        None => {
            let mut text = Vec::new();
            let repaired = repair(uri.as_bytes(), repairs, &mut text);
            repaired.and_then(|_| BaseUri::new(&text)).map(|base| Context::Base {
                base,
                options: resolve::Options::default().lenient_scheme(lenient_scheme),
            })
        }
        Some(legacy) => LegacyBase::new(uri.as_bytes(), legacy)
            .map(|base| Context::Legacy { base, lenient_scheme }),
    };
    context.map_err(|error| {
        let what = format!("the base is not a URI: {error}");
        Failure::at(format_args!("--base {}", uri.escape_debug()), what)
    })
}

pub(crate) fn suffix(grammar: Grammar, scheme: &str) -> Result<Context, Failure> {
    let name = || format!("--suffix-scheme {}", scheme.escape_debug());
    if grammar != Grammar::Rfc3986 {
        return Err(Failure::at(name(), "suffix references require rfc3986; omit --grammar"));
    }
    Suffix::new(scheme).map(Context::Suffix).map_err(|error| Failure::at(name(), error))
}

pub(crate) fn side_file(option: &str, path: Option<PathBuf>) -> Result<Option<PathBuf>, Failure> {
    match path {
        Some(path) if is_dash(&path) => {
            let why = "standard output is for results; name a file";
            Err(Failure::at(format_args!("{option} -"), why))
        }
        path => Ok(path),
    }
}

pub(crate) fn extract_options(find: &args::Find, unicode: bool) -> Result<ExtractOptions, Failure> {
    let schemes = match find.filters.scheme.as_deref() {
        None => Schemes::Known,
        Some("any") => Schemes::Any,
        Some(list) => {
            let names: Vec<String> = list.split(',').map(str::to_ascii_lowercase).collect();
            let is_scheme = |name: &String| {
                name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
                    && name.starts_with(|c: char| c.is_ascii_alphabetic())
            };
            if let Some(wrong) = names.iter().find(|name| !is_scheme(name)) {
                let what =
                    format_args!("'{wrong}' is not a scheme; write them like http,https,mailto");
                return Err(Failure::at("--scheme", what));
            }
            Schemes::List(names)
        }
    };
    let args::Find { unwrap, bare_hosts, email, refang, unsplit, .. } = *find;
    let extractor = ExtractorOptions::default()
        .find(
            extract::Options::default()
                .schemes(schemes)
                .unicode(unicode)
                .unwrap(unwrap)
                .refang(refang)
                .bare_hosts(bare_hosts)
                .email(email)
                .unsplit(unsplit),
        )
        .fields(find.link_column.clone())
        .delimiter(find.delimiter)
        .log_format(find.log_format.clone())
        .log_fields(find.log_field.clone())
        .requests(requests(find)?)
        .warc_targets(find.warc_field.is_some())
        .warc_types(find.warc_type.clone())
        .max_expansion(find.max_expansion)
        .media_types(find.mime.clone())
        .page_parts(find.page_parts())
        .filter(filters::of_links(&find.filters)?);
    let format = match find.from.as_deref() {
        // With a format of logs it is a log, whatever it looks like.
        Some("auto") | None => find.log_format.as_ref().and_then(LogFormat::format),
        Some(name) => Some(link_format(name)?),
    };
    Ok(ExtractOptions::default().extractor(extractor).format(format))
}

fn requests(find: &args::Find) -> Result<RequestFilter, Failure> {
    if let (Some(since), Some(until)) = (find.since, find.until)
        && since >= until
    {
        let what = format_args!("nothing is before {until} and not before {since}");
        return Err(Failure::at("--until", what));
    }
    Ok(RequestFilter::default()
        .statuses(find.status.clone())
        .methods(find.method.clone())
        .since(find.since)
        .until(find.until))
}

/// The format called `name`, of inputs in which links are found.
fn link_format(name: &str) -> Result<Format, Failure> {
    Format::from_name(name).ok_or_else(|| {
        let names = Format::ALL.map(Format::name).join(", ");
        let what =
            format!("--extract reads links from auto, {names}; tables are read with --column");
        Failure::at(format_args!("--from {name}"), what)
    })
}

/// The error for `--from name`, where the input is a list.
pub(crate) fn list_from(name: &str) -> Failure {
    let what = "a list of URIs has no format; --extract finds the links in documents, --column NAME reads tables";
    Failure::at(format_args!("--from {name}"), what)
}

/// The format of a report, given the value of `--to`, which names that of the table if there is one. Otherwise it is the first one,
/// or the one that the name of `output` says.
pub(crate) fn report_format<T: Clone>(
    formats: Choices<T>,
    typed: Option<&str>,
    table: &args::TableChoice,
    output: &args::Destination,
) -> Result<T, Failure> {
    let names: Vec<&str> = formats.iter().map(|(_, name, _)| *name).collect();
    let known = || format!("without --column the formats are {}", names.join(", "));
    let at = match typed {
        _ if table.column.is_some() => 0,
        Some(typed) => names
            .iter()
            .position(|name| *name == typed)
            .ok_or_else(|| Failure::at(format_args!("--to {typed}"), known()))?,
        None => format_of_name(output, &names, known)?.unwrap_or_default(),
    };
    Ok(formats[at].0.clone())
}

/// The format of an answer: `typed`, or the one that the name of `output` says, or the usual one.
pub(crate) fn answer_format<T: ValueEnum + Default>(
    typed: Option<T>,
    output: &args::Destination,
) -> Result<T, Failure> {
    if let Some(typed) = typed {
        return Ok(typed);
    }
    let known = T::value_variants();
    let values: Vec<PossibleValue> = known.iter().filter_map(T::to_possible_value).collect();
    let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    let at = format_of_name(output, &names, || format!("the formats are {}", names.join(", ")))?;
    Ok(at.and_then(|at| known.get(at)).cloned().unwrap_or_default())
}

/// The index in `names` of the format that the extension of `output` names, if it is that of a format: nobody expects text in `x.csv`.
/// `known` lists the formats for the error.
fn format_of_name(
    output: &args::Destination,
    names: &[&str],
    known: impl Fn() -> String,
) -> Result<Option<usize>, Failure> {
    const ENDS: [(&str, &[&str]); 9] = [
        (".toml", &["toml"]),
        (".sarif", &["sarif"]),
        (".sarif.json", &["sarif"]),
        (".json", &["json", "jsonl"]),
        (".jsonl", &["jsonl", "json"]),
        (".ndjson", &["jsonl", "json"]),
        (".tsv", &["tsv"]),
        (".tab", &["tsv"]),
        (".csv", &["csv"]),
    ];
    let Some(path) = &output.output else { return Ok(None) };
    let name = path.to_string_lossy().to_ascii_lowercase();
    let mut ends = ENDS.iter().filter(|(end, _)| name.ends_with(end));
    // Only rules are written as TOML; for all others the file may be one of rules, which is an input.
    let Some((_, said)) = ends.find(|(_, said)| *said != ["toml"] || names.contains(&"toml"))
    else {
        return Ok(None);
    };
    let found = said.iter().find_map(|said| names.iter().position(|name| name == said));
    found.map(Some).ok_or_else(|| {
        let what = format!("{}; --to writes one of them under this name", known());
        Failure::at(format_args!("-o {}", path.display()), what)
    })
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

/// What to do with invalid records, and the file of rejects.
pub(crate) fn on_invalid(
    typed: &args::InvalidRecords,
) -> Result<(OnInvalid, Option<PathBuf>), Failure> {
    if let Some(path) = side_file("--rejects", typed.rejects.clone())? {
        return match typed.on_invalid {
            None | Some(args::OnInvalid::Drop) => Ok((OnInvalid::Divert, Some(path))),
            Some(args::OnInvalid::Pass | args::OnInvalid::Error) => {
                Err(Failure::at("--rejects", "requires --on-invalid drop, which it implies"))
            }
        };
    }
    Ok(match typed.on_invalid {
        None | Some(args::OnInvalid::Pass) => (OnInvalid::Pass, None),
        Some(args::OnInvalid::Drop) => (OnInvalid::Drop, None),
        Some(args::OnInvalid::Error) => (OnInvalid::Fail, None),
    })
}
