//! `uriscan dedup`.

use std::ffi::OsStr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, ValueEnum};
use uriscan::key::PublicHash;
use uriscan_bulk::pipeline::{Emit, Keep};

use super::extract::FromText;
use super::format::table_names;
use super::groups::{
    Common, Equivalence, HASHES, InvalidRecords, Memory, ProfileChoice, Redaction, ReportFile,
    Typed,
};
use super::named::{Choices, choice, chosen, listed};
use super::number::number;
use super::table::{TABLES, column_name};

/// Keep the first record of each group of equivalent records, in input order
///
/// Reads one URI per line and writes the first of each group as it was read, without white space around it. Two URIs are
/// equivalent if their canonical forms at --level have the same bytes. Memory is 20 to 40 bytes per distinct URI.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Dedup {
    #[command(flatten)]
    pub(crate) equivalence: Equivalence,
    #[command(flatten)]
    pub(crate) profile: ProfileChoice,
    #[command(flatten)]
    pub(crate) from: FromText,

    #[command(flatten)]
    pub(crate) classes: Classes,

    #[command(flatten)]
    pub(crate) sample: Sample,

    /// Hash of the keys [default: blake3, or that of the set]
    ///
    /// In the set that --update creates, and in tables of --dupes and --clusters.
    #[arg(long, value_name = "HASH", value_parser = choice(HASHES), help_heading = "Sets")]
    pub(crate) hash: Option<PublicHash>,

    /// Also drop URIs whose keys are in this set (see `uriscan set --help`)
    ///
    /// Level, rules and hash are those of the set. --dupes lists what is dropped with an empty second field and level `seen`.
    #[arg(long, value_name = "SET", help_heading = "Sets")]
    pub(crate) seen: Option<PathBuf>,

    /// Add the written URIs to the set, which is created if it does not exist
    ///
    /// Records that -d or -u leave out are not added. The set changes last.
    #[arg(long, requires = "seen", help_heading = "Sets")]
    pub(crate) update: bool,

    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) redaction: Redaction,

    /// Use Bloom filters: an eighth of the memory, and at most this share of distinct URIs is lost
    ///
    /// Such as 0.001. No URI is written twice, but some are taken for duplicates and dropped.
    #[arg(long, value_name = "RATE", value_parser = rate, allow_negative_numbers = true, help_heading = "Memory")]
    #[arg(conflicts_with_all = ["max_memory", "seen", "count", "repeated", "unique", "keep", "dupes", "clusters"])]
    pub(crate) approx: Option<f64>,

    #[command(flatten)]
    pub(crate) memory: Memory,
    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,

    /// Rows are duplicates only if the values of these columns are equal, too
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = column_name)]
    #[arg(requires = "column", conflicts_with = "seen", help_heading = TABLES)]
    pub(crate) with: Vec<String>,

    /// Format of the output [default: by the name of the output file, or that of the first table]
    #[arg(long, value_name = "FORMAT", value_parser = table_names(), hide_possible_values = true)]
    #[arg(requires = "column", help_heading = TABLES)]
    pub(crate) to: Option<String>,

    /// What to write for each group
    #[arg(long, value_name = "FORM", value_parser = choice(EMIT), default_value = "original")]
    #[arg(help_heading = "Output")]
    pub(crate) emit: Emit,

    #[command(flatten)]
    pub(crate) page: ReportFile,
    #[command(flatten)]
    pub(crate) typed: Typed,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Reports on groups, which are written after the end of the input.
#[derive(Debug, Args)]
#[command(next_help_heading = "Groups")]
pub(crate) struct Classes {
    /// Write the size of its group before each record
    #[arg(short, long)]
    pub(crate) count: bool,

    /// Write only groups of two or more records, one line each
    #[arg(short = 'd', long, conflicts_with = "unique")]
    pub(crate) repeated: bool,

    /// Write only groups of one record
    #[arg(short, long)]
    pub(crate) unique: bool,

    /// Which record of a group to keep
    ///
    /// For tables also min:COLUMN or max:COLUMN: the first row with the least or the greatest value in it.
    #[arg(long, value_name = "WHICH", default_value = "first", value_parser = WhichParser)]
    pub(crate) keep: Which,

    /// Write dropped duplicates to FILE: the record, the one that is kept and the level, separated by tabs
    ///
    /// The level is the lowest at which the two are equivalent, or the rules that are necessary (rules:www+trailing-slash).
    /// With --features full a FILE called .parquet, .arrow, .csv or .jsonl is a table: source, line, uri, kept, level, uri_key.
    #[arg(long, value_name = "FILE")]
    pub(crate) dupes: Option<PathBuf>,

    /// Write each group to FILE as a JSON line: the kept record and all members
    ///
    /// Each member has source, line, uri, level and rules; the kept record is one, at level string. With
    /// --features full a FILE called .parquet, .arrow, .csv or .tsv is a table of members.
    #[arg(long, value_name = "FILE")]
    pub(crate) clusters: Option<PathBuf>,
}

/// Samples, which are not groups of equivalent records.
#[derive(Debug, Args)]
#[command(next_help_heading = "Samples (not equivalence)")]
pub(crate) struct Sample {
    /// Keep the first URIs of each shape: those that are omitted are other pages
    ///
    /// https://h/user/17?page=2 has the shape https://h/user/{int}?page={int}.
    #[arg(long, value_name = "PART", value_enum)]
    pub(crate) by: Option<SampleBy>,

    /// Keep up to N URIs of each shape that are not equivalent [default: 1]
    ///
    /// Beyond one, nothing spills to disk.
    #[arg(long, value_name = "N", requires = "by")]
    #[arg(value_parser = number::<NonZeroU32>(1..=u32::MAX.into()), allow_negative_numbers = true)]
    pub(crate) keep_n: Option<NonZeroU32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SampleBy {
    /// The shape
    Shape,
    /// The shape, with segments of words typed
    #[value(name = "shape:slugs")]
    ShapeSlugs,
}

/// Which record of a group to keep.
const KEEP: Choices<Keep> = &[
    (Keep::First, "first", "The first one"),
    (Keep::Last, "last", "The last one"),
    (Keep::Shortest, "shortest", "The first of the shortest ones"),
    (Keep::Https, "https", "The first one with scheme https, otherwise the first one"),
    (Keep::Min, "min", "The first in byte order"),
    (Keep::Max, "max", "The last in byte order"),
];

/// The value of `--keep`.
#[derive(Clone, Debug)]
pub(crate) struct Which {
    pub(crate) keep: Keep,
    /// The column whose least or greatest value decides, instead of the bytes of the record.
    pub(crate) column: Option<String>,
}

/// Takes `min:COLUMN`, `max:COLUMN` and the names of [`KEEP`].
#[derive(Clone, Debug)]
struct WhichParser;

impl TypedValueParser for WhichParser {
    type Value = Which;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        typed: &OsStr,
    ) -> Result<Which, clap::Error> {
        let by_column = typed.to_str().and_then(|typed| typed.split_once(':'));
        let keep = match by_column {
            Some(("min", column)) if !column.is_empty() => Some((Keep::Min, column)),
            Some(("max", column)) if !column.is_empty() => Some((Keep::Max, column)),
            _ => None,
        };
        if let Some((keep, column)) = keep {
            return Ok(Which { keep, column: Some(column.to_owned()) });
        }
        if let Some(keep) = typed.to_str().and_then(|typed| chosen(KEEP, typed)) {
            return Ok(Which { keep, column: None });
        }
        let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
        if let Some(arg) = arg {
            error.insert(ContextKind::InvalidArg, ContextValue::String(arg.to_string()));
        }
        let typed = typed.to_string_lossy().into_owned();
        error.insert(ContextKind::InvalidValue, ContextValue::String(typed));
        let named = KEEP.iter().map(|(_, name, _)| (*name).to_owned());
        let of_columns = ["min:COLUMN", "max:COLUMN"].map(str::to_owned);
        let all = ContextValue::Strings(named.chain(of_columns).collect());
        error.insert(ContextKind::ValidValue, all);
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(listed(KEEP)))
    }
}

/// What to write for each group.
const EMIT: Choices<Emit> = &[
    (Emit::Original, "original", "The first record as it was read"),
    (Emit::Normalized, "normalized", "Its canonical form; an invalid record as it was read"),
];

/// A false positive rate.
fn rate(typed: &str) -> Result<f64, String> {
    let rate = typed.parse().ok().filter(|rate| (1e-9..=0.5).contains(rate));
    rate.ok_or_else(|| "a rate is a number from 0.000000001 to 0.5, such as 0.001".to_owned())
}

const AFTER_HELP: &str = "\
Equivalent at level
  string  http://h/a                  http://h/a
  syntax  HTTP://H/%7ea/./b           http://h/~a/b
  scheme  http://h:80                 http://h/
Never: http://h/a and http://h/a/, http://h/? and http://h/, ?a=1&b=2 and ?b=2&a=1.

With the options of Groups, output begins after the end of the input.

Examples:
  $ printf 'HTTP://h:80\\nhttp://h/\\nhttp://h/x\\n' | uriscan dedup
  HTTP://h:80
  http://h/x
  $ printf 'HTTP://h:80\\nhttp://h/\\nhttp://h/x\\n' | uriscan dedup -c
        2 HTTP://h:80
        1 http://h/x

  uriscan dedup urls.txt -o urls.txt               in place
  uriscan dedup day-*.txt.gz -o all.txt --stats    several files are one list
  uriscan dedup --extract access.log docs/         find the links first
  uriscan dedup --preset crawl urls.txt            ignore session ids, tracking parameters …
  uriscan dedup --seen seen.set --update frontier.txt > new.txt
  uriscan dedup --column url --keep max:fetched pages.csv
  uriscan dedup --by shape --keep-n 3 urls.txt     samples

Exit codes: 0 done, 1 invalid records under --strict, 2 error.";
