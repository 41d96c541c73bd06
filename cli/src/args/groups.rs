//! Groups of options that several commands share.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use uriscan::Backend;
use uriscan::key::PublicHash;
use uriscan::profile::Profile;
use uriscan::repair::{Repair, Repairs};
use uriscan::rfc2396::Grammar;
use uriscan_bulk::pipeline::Entities;

use super::named::{Choices, named};
use super::number::number;
use super::rule_choice::RuleChoice;
use crate::nearest::{did_you_mean, nearest};

/// The heading of what every command that reads records takes.
const GLOBAL: &str = "Options of all commands";

/// What every command that reads records takes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) destination: Destination,
    #[command(flatten)]
    pub(crate) work: Work,
    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

/// Where records come from.
#[derive(Debug, Args)]
#[command(next_help_heading = clap::builder::Resettable::Reset)]
pub(crate) struct Input {
    /// Files to read, in this order; standard input if there are none, or for `-`
    ///
    /// Also objects of stores and files of web servers: s3://, gs://, az://, https://.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Records end in NUL instead of LF, in input and output
    #[arg(short = '0', long)]
    pub(crate) null: bool,
}

/// URIs from the command line.
#[derive(Debug, Args)]
#[command(next_help_heading = clap::builder::Resettable::Reset)]
pub(crate) struct Typed {
    /// Read this URI instead of files; repeatable
    #[arg(short = 'e', long, value_name = "URI", conflicts_with = "files")]
    pub(crate) uri: Vec<OsString>,
}

/// Where results go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Destination {
    /// Write results to FILE instead of standard output (`-`)
    ///
    /// FILE is replaced when all is done; on error it stays as it was. It may be the input where records are written.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What makes two URIs equivalent.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is compared")]
pub(crate) struct Equivalence {
    /// Which URIs are equivalent: the level of the comparison ladder (RFC 3986, section 6.2) [default: scheme]
    #[arg(long, value_name = "LEVEL", value_enum)]
    pub(crate) level: Option<Level>,

    /// Ignore fragments: they are not sent to a server
    #[arg(long)]
    pub(crate) drop_fragment: bool,

    /// Redirects and other aliases, for --level protocol: columns from and to, as TSV, CSV or JSON lines
    ///
    /// Chains are followed to their end. Contradictions and loops merge nothing and are reported.
    #[arg(long, value_name = "FILE")]
    pub(crate) aliases: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) references: References,

    #[command(flatten)]
    pub(crate) rules: RuleChoice,

    #[command(flatten)]
    pub(crate) repairs: RepairOptions,
}

/// The grammar of the records.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is compared")]
pub(crate) struct GrammarChoice {
    /// Grammar of the records: rfc3986, rfc2396 or rfc2396+2732 (with IPv6 addresses in brackets)
    ///
    /// java.net.URI follows RFC 2396 (1998). See `uriscan rules grammar`.
    #[arg(long, value_name = "GRAMMAR", default_value = "rfc3986", value_parser = named(str::parse::<Grammar>, GRAMMARS))]
    #[arg(hide_possible_values = true)]
    pub(crate) grammar: Grammar,
}

const GRAMMARS: [&str; 3] = ["rfc3986", "rfc2396", "rfc2396+2732"];

/// Equivalence as another system defines it.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is compared")]
pub(crate) struct ProfileChoice {
    /// Compare as another system does: whatwg, w3lib, crawler-commons or surt
    ///
    /// For the keys of an existing store: of browsers, Scrapy, crawler-commons (Java), or the Wayback Machine.
    #[arg(long, value_name = "NAME", value_parser = profiles(), hide_possible_values = true)]
    #[arg(conflicts_with_all = [
        "level", "drop_fragment", "aliases", "iri", "repair", "rules", "preset", "rules_files", "no_rules", "base",
        "lenient_scheme", "suffix_scheme",
    ])]
    pub(crate) profile: Option<Profile>,
}

fn profiles() -> impl TypedValueParser<Value = Profile> {
    let names = Profile::ALL.map(Profile::name);
    // What they are for, which people may type.
    const KNOWN_FOR: [(&str, &str); 5] = [
        ("scrapy", "w3lib"),
        ("wayback", "surt"),
        ("nutch", "crawler-commons"),
        ("java", "crawler-commons"),
        ("browser", "whatwg"),
    ];
    let profile = move |typed: &str| {
        let what = || {
            let of_known = KNOWN_FOR.iter().find(|(known, _)| typed.eq_ignore_ascii_case(known));
            let hint = match of_known {
                Some((known, name)) => format!("; that of {known} is {name}"),
                None => did_you_mean(typed, names),
            };
            format!("the profiles are {}{hint}", names.join(", "))
        };
        Profile::from_name(typed).ok_or_else(what)
    };
    named(profile, names)
}

/// How relative references are resolved.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is compared")]
pub(crate) struct References {
    /// Resolve relative references against this URI
    ///
    /// Before they are compared (6.1). See `uriscan resolve --help`, also for what has no scheme.
    #[arg(long, value_name = "URI")]
    pub(crate) base: Option<String>,

    /// Ignore the scheme of a reference if it is that of the base (5.2.2)
    #[arg(long, requires = "base", hide_short_help = true)]
    pub(crate) lenient_scheme: bool,

    /// Complete suffix references, such as www.w3.org/Addressing/, with this scheme (4.5)
    #[arg(long, value_name = "SCHEME", conflicts_with = "base", hide_short_help = true)]
    pub(crate) suffix_scheme: Option<String>,
}

/// Repairs of invalid records.
#[derive(Debug, Args)]
#[command(next_help_heading = "Invalid records")]
pub(crate) struct RepairOptions {
    /// Accept IRIs: percent-encode non-ASCII characters, convert DNS hosts to A-labels (RFC 3987, 3.1)
    #[arg(long)]
    pub(crate) iri: bool,

    /// Repair invalid records: by all repairs, or by those named
    ///
    /// padding, quotes, line-break, space, byte, backslash, bracket, percent; entity must be named. See `uriscan help
    /// repairs`.
    #[arg(long, value_name = "NAME,...", num_args = 0..=1, require_equals = true)]
    #[arg(value_delimiter = ',', default_missing_value = "all", value_parser = all_repairs())]
    #[arg(hide_possible_values = true)]
    pub(crate) repair: Vec<Repairs>,
}

impl RepairOptions {
    /// Which links of documents are decoded.
    pub(crate) fn of_links(&self) -> Entities {
        if self.repair.iter().any(|repairs| repairs.has(Repair::Entity)) {
            Entities::All
        } else if self.repair.contains(&Repairs::usual()) {
            Entities::Text
        } else {
            Entities::Keep
        }
    }

    /// The repairs to apply.
    pub(crate) fn chosen(&self) -> Repairs {
        let iri = if self.iri { Repairs::default().with(Repair::Iri) } else { Repairs::default() };
        self.repair.iter().fold(iri, |all, &repairs| all.or(repairs))
    }
}

fn all_repairs() -> impl TypedValueParser<Value = Repairs> {
    let names = Repair::ALL[1..].iter().map(|repair| repair.name());
    named(repairs, std::iter::once("all").chain(names))
}

/// One value of `--repair`.
fn repairs(typed: &str) -> Result<Repairs, String> {
    if typed == "all" {
        return Ok(Repairs::usual());
    }
    let repair = Repair::from_name(typed).filter(|&repair| repair != Repair::Iri);
    repair.map(|repair| Repairs::default().with(repair)).ok_or_else(|| {
        let names: Vec<&str> = Repair::ALL[1..].iter().map(|repair| repair.name()).collect();
        let hint = did_you_mean(typed, names.iter().copied());
        format!("unknown repair; use all, or {}{hint}", names.join(", "))
    })
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Same bytes, without white space around them (6.2.1)
    String,
    /// Also case, percent-encoding, and dot segments of paths that begin with / (6.2.2)
    Syntax,
    /// Also ports, empty paths, IP addresses and DNS names (6.2.3)
    #[default]
    Scheme,
    /// Also aliases, such as redirects: see `dedup --aliases` (6.2.4)
    Protocol,
}

/// What is masked in the output.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Redaction {
    /// Write *** instead of passwords and secret parameters
    ///
    /// See `uriscan audit --list-rules`.
    #[arg(long)]
    pub(crate) redact: bool,
}

/// Whether invalid records make the run fail.
#[derive(Debug, Args)]
#[command(next_help_heading = "Invalid records")]
pub(crate) struct Strictness {
    /// Exit with code 1 if there are invalid records
    #[arg(long)]
    pub(crate) strict: bool,
}

/// What to do with invalid records.
#[derive(Debug, Args)]
#[command(next_help_heading = "Invalid records")]
pub(crate) struct InvalidRecords {
    /// What to do with records that are not URIs: pass, drop or error [default: pass]
    ///
    /// pass keeps them; each is equivalent only to records of the same bytes. error stops at the first, with exit code 2.
    #[arg(long, value_name = "POLICY", hide_possible_values = true)]
    #[arg(value_parser = named(on_invalid, POLICIES.map(|(_, name, _)| name)))]
    pub(crate) on_invalid: Option<OnInvalid>,

    /// Drop records that are not URIs and write them to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

/// The value of `--on-invalid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnInvalid {
    Pass,
    Drop,
    Error,
}

/// The policies, and words that others use for them.
const POLICIES: [(OnInvalid, &str, &[&str]); 3] = [
    (OnInvalid::Pass, "pass", &["pass", "keep", "allow"]),
    (OnInvalid::Drop, "drop", &["drop", "skip", "ignore", "discard", "remove"]),
    (OnInvalid::Error, "error", &["error", "fail", "stop", "abort"]),
];

fn on_invalid(typed: &str) -> Result<OnInvalid, String> {
    if let Some((policy, ..)) = POLICIES.iter().find(|(_, name, _)| *name == typed) {
        return Ok(*policy);
    }
    if typed.contains(['/', '.']) {
        return Err(format!("use --rejects {typed} to write invalid records to a file"));
    }
    let words = POLICIES.iter().flat_map(|(.., words)| words.iter().copied());
    let word = nearest(typed, words).unwrap_or_default();
    let of_word = POLICIES.iter().find(|(.., words)| words.contains(&word));
    let nearest = of_word.map_or("pass", |(_, name, _)| name);
    Err(format!("did you mean {nearest}? The policies are pass, drop and error"))
}

/// A page about the run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportFile {
    /// Also write an HTML report to FILE (one self-contained file, no scripts)
    ///
    /// What was merged and why, hosts, domains, parameters, what is wrong, with examples. Secrets are masked. It takes 100 to
    /// 500 MB beyond --max-memory.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// How the work is done, which results do not depend on.
#[derive(Debug, Args)]
#[command(next_help_heading = GLOBAL)]
pub(crate) struct Work {
    /// Number of threads; 0 for one per core
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = number::<u16>(0..=1024), allow_negative_numbers = true)]
    pub(crate) threads: u16,

    /// SIMD backend, or auto for the best one of this machine (see `uriscan --version`)
    #[arg(long, value_name = "NAME", value_parser = backends(), hide_possible_values = true)]
    pub(crate) backend: Option<OsString>,

    /// Bytes per unit of work, with suffix K or M: 1 to 64M
    ///
    /// For tests and measurements. Results do not depend on it.
    #[arg(long, value_name = "SIZE", default_value = "128K", hide_short_help = true)]
    #[arg(value_parser = size, allow_negative_numbers = true)]
    pub(crate) chunk_size: usize,
}

fn backends() -> impl TypedValueParser<Value = OsString> {
    let names = Backend::ALL.iter().map(|backend| backend.name());
    named(OsStringValueParser::new(), std::iter::once("auto").chain(names))
}

/// How much memory may be used.
#[derive(Debug, Args)]
#[command(next_help_heading = "Memory")]
pub(crate) struct Memory {
    /// Memory limit of the whole process, with suffix K, M or G: at least 64M
    ///
    /// Defaults to half of the memory of the machine or its control group. Keys beyond it spill to disk; the output is the
    /// same. See `uriscan help memory`.
    #[arg(long, value_name = "SIZE", value_parser = memory, allow_negative_numbers = true)]
    pub(crate) max_memory: Option<usize>,

    /// Directory for files that spill to disk
    ///
    /// Defaults to $TMPDIR, the directory of the output file, or that of the system, in this order.
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<PathBuf>,
}

/// What is printed to standard error.
#[derive(Debug, Args)]
#[command(next_help_heading = GLOBAL)]
pub(crate) struct Reporting {
    /// Print a summary to standard error: as text, or with --stats=json as one line of JSON
    ///
    /// On a terminal also without it, after a run of a second or more. Fields: `uriscan help stats`.
    #[arg(long, value_name = "FORMAT", value_enum, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "text", hide_possible_values = true)]
    pub(crate) stats: Option<StatsFormat>,

    /// Write the summary to FILE as JSON, also if the run fails: with exit_code, error and options
    #[arg(long, value_name = "FILE")]
    pub(crate) stats_file: Option<PathBuf>,

    /// Use colours in reports for people: always, never, or auto on a terminal
    ///
    /// auto heeds NO_COLOR, CLICOLOR and CLICOLOR_FORCE.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, hide_possible_values = true)]
    pub(crate) color: When,

    /// Show progress on standard error: always, never, or auto on a terminal, after half a second
    ///
    /// always shows it to a file or pipe, too, as a line every ten seconds.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, hide_possible_values = true)]
    pub(crate) progress: When,

    /// Print no progress or hints, even to a terminal, and no summary unless --stats asks for one
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatsFormat {
    /// For people
    Text,
    /// For machines
    Json,
}

/// The hashes of public keys.
pub(super) const HASHES: Choices<PublicHash> = &[
    (PublicHash::Blake3, "blake3", "BLAKE3, first 16 bytes: as b3sum --length 16"),
    (PublicHash::Sha256, "sha256", "SHA-256, first 16 bytes: for engines without BLAKE3; slower"),
];

fn size(typed: &str) -> Result<usize, String> {
    let what = "a size is a number of bytes from 1 to 64M, such as 4096 or 256K: a whole number, and K or M, in powers of 1024";
    amount_in(typed, 1..=64 << 20, what)
}

fn memory(typed: &str) -> Result<usize, String> {
    let what = "a memory limit is 64M or more, such as 512M or 4G: a whole number, and K, M, G or T, in powers of 1024, or KB and so on, in powers of 1000";
    amount_in(typed, 64 << 20..=u64::MAX, what)
}

/// An [`amount`] in this range.
pub(super) fn amount_in<T: TryFrom<u64>>(
    typed: &str,
    range: RangeInclusive<u64>,
    what: &str,
) -> Result<T, String> {
    let amount = amount(typed).ok_or_else(|| what.to_owned())?;
    if amount < u128::from(*range.start()) {
        return Err(format!("too small: {what}"));
    }
    let amount = u64::try_from(amount).ok().filter(|amount| amount <= range.end());
    let amount = amount.and_then(|amount| T::try_from(amount).ok());
    amount.ok_or_else(|| format!("too large: {what}"))
}

/// A number of bytes: with a unit such as K or KiB in powers of 1024, with one such as KB in powers of 1000, as in coreutils.
fn amount(typed: &str) -> Option<u128> {
    let (digits, unit) =
        typed.split_at(typed.find(|c: char| !c.is_ascii_digit()).unwrap_or(typed.len()));
    let power = |letter: &str| "KMGT".find(&letter.to_ascii_uppercase()).map(|at| at as u32 + 1);
    let factor = match unit.split_at_checked(1) {
        None if unit.is_empty() => 1,
        Some((letter, rest)) => match &*rest.to_ascii_lowercase() {
            "" | "i" | "ib" => 1024u128.pow(power(letter)?),
            "b" => 1000u128.pow(power(letter)?),
            _ => return None,
        },
        _ => return None,
    };
    let too_large = u128::from(u64::MAX) + 1;
    let count = digits.parse::<u64>().map_or(too_large, u128::from);
    (!digits.is_empty()).then_some(count * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_limits() {
        for (typed, expected) in [
            ("64", 64),
            ("256K", 256 << 10),
            ("64m", 64 << 20),
            ("4Ki", 4 << 10),
            ("4KiB", 4 << 10),
            ("4kib", 4 << 10),
            ("4KB", 4000),
            ("10mb", 10_000_000),
        ] {
            assert_eq!(size(typed), Ok(expected), "{typed}");
        }
        for (typed, expected) in [
            ("64M", 64 << 20),
            ("3Gi", 3 << 30),
            ("4g", 4 << 30),
            ("4GB", 4_000_000_000),
            ("1T", 1 << 40),
        ] {
            assert_eq!(memory(typed), Ok(expected), "{typed}");
        }
        let is = |found: Result<usize, String>, kind: &str| found.unwrap_err().starts_with(kind);
        for typed in ["0", "63M", "64MB", "4", "4K"] {
            assert!(is(memory(typed), "too small: a memory limit"), "{typed}");
        }
        for typed in
            ["99999999999999G", "18446744073709551615K", "99999999T", "99999999999999999999999"]
        {
            assert!(is(memory(typed), "too large: a memory limit"), "{typed}");
        }
        for typed in ["65M", "1G", "68MB", "1T"] {
            assert!(is(size(typed), "too large: a size"), "{typed}");
        }
        for typed in
            ["", "K", "i", "4i", "4096i", "4B", "4P", "-4G", "4 G", "1.5G", "4MiBs", "4é", "4Mi "]
        {
            assert!(is(size(typed), "a size"), "{typed}");
        }
    }

    #[test]
    fn a_policy_that_does_not_exist_gets_the_nearest_one() {
        assert_eq!(on_invalid("drop"), Ok(OnInvalid::Drop));
        for (typed, expected) in [
            ("skip", "did you mean drop?"),
            ("dorp", "did you mean drop?"),
            ("Error", "did you mean error?"),
            ("fial", "did you mean error?"),
            ("keeps", "did you mean pass?"),
            ("", "did you mean "),
            ("./drop", "--rejects ./drop"),
            ("bad.txt", "--rejects bad.txt"),
        ] {
            let error = on_invalid(typed).unwrap_err();
            assert!(error.contains(expected), "{typed}: {error}");
        }
    }
}
