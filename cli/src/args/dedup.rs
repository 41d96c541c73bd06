//! `uriscan dedup`.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};

use super::extract::FromText;
use super::format::table_names;
use super::groups::{
    Common, Equivalence, Hash, InvalidRecords, Memory, ProfileChoice, Redaction, ReportFile, Typed,
};
use super::table::{TABLES, column_name};

/// Keep the first record of each group of equivalent records, in input order
///
/// Reads one URI per line and writes the first URI of each group as it was read, without white space around it. Two URIs are
/// equivalent if their canonical forms at --level have the same bytes. Groups are identified by 128-bit hashes: memory is 20
/// to 40 bytes per distinct URI, whatever its length, and the probability of a wrong merge among 10^10 URIs of up to 255 bytes
/// is at most 2^-61, even if an attacker chooses them. If the keys exceed --max-memory, they spill to disk.
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

    /// Hash for --emit key, or for the set that --update creates [default: blake3, or that of the set]
    #[arg(long, value_name = "HASH", value_enum, help_heading = "Sets")]
    pub(crate) hash: Option<Hash>,

    /// Also drop URIs whose keys are in this set (see `uriscan set --help`)
    ///
    /// Level, rules, hash and all else that decides which URIs are equivalent are those of the set, and options that say
    /// something else are refused. With -c, -d, -u, --keep, --dupes or --clusters, whole groups are
    /// dropped: they are not counted and in no cluster. --dupes lists their records with an empty second field and level `seen`.
    #[arg(long, value_name = "SET", help_heading = "Sets")]
    pub(crate) seen: Option<PathBuf>,

    /// Add the written URIs to the set, which is created if it does not exist
    ///
    /// Records that -d or -u withhold are not added and are new to the next run. The set changes last: if the run ends
    /// before, the set is unchanged and the next run writes the same URIs again.
    #[arg(long, requires = "seen", help_heading = "Sets")]
    pub(crate) update: bool,

    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) redaction: Redaction,

    /// Use Bloom filters: an eighth of the memory, and at most this share of distinct URIs is lost
    ///
    /// Such as 0.001. No URI is written twice, but some are taken for duplicates and dropped. The end of every run reports
    /// the largest number to expect.
    #[arg(long, value_name = "RATE", value_parser = rate, help_heading = "Memory and threads")]
    #[arg(conflicts_with_all = ["max_memory", "seen", "count", "repeated", "unique", "keep", "dupes", "clusters"])]
    pub(crate) approx: Option<f64>,

    #[command(flatten)]
    pub(crate) memory: Memory,
    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,

    /// Rows are duplicates only if the values of these columns are equal, too
    ///
    /// Columns are named as for --column. Null is equal to null, NaN to NaN, and -0.0 to 0.0; text is compared by its bytes. Lists
    /// and structs are refused; values within them can be named. In jsonl that stays jsonl, all but strings are compared as written.
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = column_name)]
    #[arg(requires = "column", conflicts_with = "seen", help_heading = TABLES)]
    pub(crate) with: Vec<String>,

    /// Format of the output table [default: by the name of the output file, or that of the first table]
    ///
    /// parquet, arrow, arrow-stream, csv, tsv or jsonl.
    #[arg(long, value_name = "FORMAT", value_parser = table_names(), hide_possible_values = true)]
    #[arg(requires = "column", help_heading = TABLES)]
    pub(crate) to: Option<String>,

    /// What to write for each group
    #[arg(long, value_name = "FORM", value_enum, default_value_t, help_heading = "Output")]
    pub(crate) emit: Emit,

    #[command(flatten)]
    pub(crate) page: ReportFile,
    #[command(flatten)]
    pub(crate) typed: Typed,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl Dedup {
    /// Whether the inputs are tables.
    pub(crate) fn has_tables(&self) -> bool {
        self.table.column.is_some()
    }
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
    /// Its position in the output is that of the input.
    /// For tables also min:COLUMN or max:COLUMN: the first row with the least or the greatest value in that column, which is
    /// named as --column is. Numbers, dates and times are compared by value, and text by bytes; in csv, tsv and jsonl, text that is a decimal number is
    /// compared by its value, exactly, and is less than other text. Null, NaN and, in these formats, empty text are kept only where there is
    /// nothing else.
    #[arg(long, value_name = "WHICH", default_value = "first", value_parser = WhichParser)]
    pub(crate) keep: Which,

    /// Write dropped duplicates to FILE: the record, the one that is kept and the level, separated by tabs
    ///
    /// The level is the lowest at which the two are equivalent; where they would differ without rules it is rules: and the
    /// names of a minimal set of them (rules:www+trailing-slash). Lines are in input order. Nothing is escaped: a URI
    /// contains no tab, and an invalid record is equivalent only to the same bytes. `cut -f1 FILE` and the results
    /// together are the input.
    ///
    /// If FILE is called .parquet, .arrow, .csv or .jsonl it is a table, with the columns source, line, uri, kept,
    /// level and uri_key. What is not UTF-8 is in hexadecimal, in hex and kept_hex.
    #[arg(long, value_name = "FILE")]
    pub(crate) dupes: Option<PathBuf>,

    /// Write each group to FILE as a JSON line: the kept record and all members
    ///
    /// {"kept":"http://h","count":2,"members":[{"source":"a.txt","line":1,"uri":"http://h",
    /// "level":"string","rules":[]},...]}, one for each line of the results, in the same order. The kept record is one of the
    /// members. The level is the lowest at which the member is equivalent to it, or rules where rules are necessary; the
    /// rules are the steps of `uriscan explain`, those of the level and those beyond.
    /// A record that is not UTF-8 is in hexadecimal: "uri":null,"hex":"ff".
    ///
    /// If FILE is called .parquet, .arrow, .csv or .tsv it is a table with a row for each member, with the columns of
    /// these names and uri_key.
    #[arg(long, value_name = "FILE")]
    pub(crate) clusters: Option<PathBuf>,
}

/// Which record of a group to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keep {
    /// The first one
    #[default]
    First,
    /// The last one
    Last,
    /// The first of the shortest ones
    Shortest,
    /// The first one with scheme https, otherwise the first one
    Https,
    /// The first in byte order
    Min,
    /// The last in byte order
    Max,
}

/// The value of `--keep`.
#[derive(Clone, Debug)]
pub(crate) struct Which {
    pub(crate) keep: Keep,
    /// The column whose least or greatest value decides, instead of the bytes of the record.
    pub(crate) column: Option<String>,
}

/// Takes `min:COLUMN`, `max:COLUMN` and the names of [`Keep`].
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
        let keep = EnumValueParser::new().parse_ref(command, arg, typed)?;
        Ok(Which { keep, column: None })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values: Vec<PossibleValue> =
            EnumValueParser::<Keep>::new().possible_values()?.collect();
        Some(Box::new(values.into_iter()))
    }
}

/// What to write for each group.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Emit {
    /// The first record as it was read
    #[default]
    Original,
    /// Its canonical form; an invalid record as it was read
    Normalized,
    /// Its key, as `uriscan key` writes it
    Key,
}

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
Never equivalent: http://h/a and http://h/a/, http://h/? and http://h/, ?a=1&b=2 and ?b=2&a=1.

Groups: with -c, -d, -u, --keep, --dupes or --clusters, output begins after the end of the \
input; with --dupes alone it begins at once for uncompressed files of at most a 24th of the memory \
limit. With -c, -d, -u and --keep (except min and max) uncompressed files are read a second \
time to write the results, with 36 to 60 bytes of memory per group; from pipes and compressed \
files the kept records are held in memory, 50 to 70 bytes each plus their text. --dupes and \
--clusters hold them too, plus 24 bytes per duplicate, and its text where it differs, unless \
output begins at once.

Memory: plain dedup that reaches --max-memory writes the first records found so far, and finds the \
others on disk, in one to two times the time. With the options above everything read spills: 22 \
bytes per record if files are read a second time, otherwise also its text, and then the output \
once more.

Time: -c, -d, -u and --keep take 1.5 to 3 times as long as plain dedup, --keep min and max up to 4 \
times, --dupes and --clusters longer.

Examples:
  $ printf 'HTTP://h:80\\nhttp://h/\\nhttp://h/x\\n' | uriscan dedup
  HTTP://h:80
  http://h/x
  $ printf 'HTTP://h:80\\nhttp://h/\\nhttp://h/x\\n' | uriscan dedup -c
        2 HTTP://h:80
        1 http://h/x

  uriscan dedup urls.txt > unique.txt
  uriscan dedup urls.txt -o urls.txt               in place
  uriscan dedup day-*.txt.gz -o all.txt --stats    several files are one list
  uriscan dedup --rejects bad.txt urls.txt         invalid records to a file
  uriscan dedup -c urls.txt | sort -rn | head      the largest groups
  uriscan dedup --dupes dupes.tsv urls.txt         list the duplicates
  uriscan explain --pairs -f dupes.tsv             and why they are duplicates
  uriscan dedup -d --clusters groups.jsonl --keep shortest urls.txt
  uriscan dedup --max-memory 2G --temp-dir /data huge.txt -o unique.txt
  uriscan dedup --approx 0.0001 huge.txt           nearly all of them, in little memory
  uriscan dedup --extract access.log docs/         find the links first
  uriscan dedup --preset crawl urls.txt            ignore session ids, tracking parameters …
  uriscan dedup --rule www --rule drop-param=ref urls.txt
  uriscan dedup --emit key urls.txt
  find . -name '*.url' -print0 | uriscan dedup -0 --level string
  uriscan dedup --iri --repair urls.txt            accept what logs and pages contain
  uriscan dedup --level protocol --aliases redirects.tsv urls.txt
  uriscan dedup --seen seen.set --update frontier.txt > new.txt
  uriscan dedup --stats-format json urls.txt 2> stats.json > unique.txt

Exit codes: 0 done, 1 invalid records under --strict, 2 error.";
