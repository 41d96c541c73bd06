//! `uriscan dedup`.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};

use super::extract::FromText;
use super::groups;
use super::groups::{Common, Equivalence, Hash, InvalidRecords, Memory, ProfileChoice, Redaction};

/// Keep the first record of each equivalence class, in input order
///
/// Two URIs are one when their canonical forms at --rung are the same bytes. What is written is
/// the first URI of each class as it was read, white space around it apart.
/// Classes are told apart by 128-bit hashes, so memory is about 20 to 40 bytes per distinct URI,
/// whatever its length; among ten thousand million URIs the odds of one wrong merge are 1.5e-19.
/// Beyond --max-memory it goes on with files on disk.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Dedup {
    #[command(flatten)]
    pub(crate) equivalence: Equivalence,
    #[command(flatten)]
    pub(crate) profile: ProfileChoice,
    #[command(flatten)]
    pub(crate) from: FromText,

    /// What is written for each class
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub(crate) emit: Emit,

    /// Hash of the keys of --emit key, or of the set that --update makes [default: blake3, or that of the set]
    #[arg(long, value_name = "HASH", value_enum)]
    pub(crate) hash: Option<Hash>,

    /// Leave out what is in this set of keys, too; `uriscan set` says what such a set is
    ///
    /// Give the same --rung and rules as when it was made. With -c, -d, -u, --keep, --dupes or --clusters whole classes are left
    /// out: what was seen is in no count and no cluster. --dupes has it, with nothing for the one kept and `seen` for the
    /// rung.
    #[arg(long, value_name = "SET")]
    pub(crate) seen: Option<PathBuf>,

    /// Add what is written to the set, which is made if it is not there
    ///
    /// With -d or -u what they hold back is not added, and is new to the next run.
    /// That is the last thing done: if the run is cut short before, the set is what it was, and the next run
    /// writes the same again. Nothing is lost.
    #[arg(long, requires = "seen")]
    pub(crate) update: bool,

    /// Keep track of a long run over many files in this directory, so that it can go on where it was
    ///
    /// Started again with the same arguments after it was cut short, the run skips the files that are done
    /// and ends with the same results. Until then they are in OUTPUT.part. At the end the directory is removed.
    /// Needs -o, and files that can be read again.
    #[arg(long, value_name = "DIR", requires = "output", conflicts_with_all = ["seen", "extract"])]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Bytes to read between two entries of --checkpoint, at least: whole files are done
    #[arg(long, value_name = "SIZE", default_value = "256M", hide_short_help = true)]
    #[arg(requires = "checkpoint", value_parser = groups::amount)]
    pub(crate) checkpoint_size: u64,

    /// Be wrong now and then, for an eighth of the memory for keys: leave out at most this share of the new URIs
    ///
    /// Such as 0.001. URIs are kept in Bloom filters then: none is written twice, but some are taken for ones
    /// that were there, and lost. How many at the most is told at the end of every run.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    #[arg(conflicts_with_all = ["checkpoint", "max_memory", "seen", "count", "repeated", "unique", "keep", "dupes", "clusters", "verify"])]
    pub(crate) approx: Option<f64>,

    #[command(flatten)]
    pub(crate) classes: Classes,
    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
    #[command(flatten)]
    pub(crate) memory: Memory,
    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl Dedup {
    /// Whether the inputs are tables.
    pub(crate) fn has_tables(&self) -> bool {
        self.table.column.is_some()
    }
}

/// What is told of the classes. All of it waits for the end of the input.
#[derive(Debug, Args)]
#[command(next_help_heading = "Classes (nothing is written before all is read; see below)")]
pub(crate) struct Classes {
    /// Write the number of records of its class before each line
    #[arg(short, long)]
    pub(crate) count: bool,

    /// Write only classes of two records and more, one line each
    #[arg(short = 'd', long, conflicts_with = "unique")]
    pub(crate) repeated: bool,

    /// Write only classes of one record
    #[arg(short, long)]
    pub(crate) unique: bool,

    /// Which record of a class is kept
    ///
    /// It stands where it stood in the input.
    #[cfg_attr(
        feature = "parquet",
        doc = " Of tables, also min:COLUMN or max:COLUMN: the first row with the least or the greatest value in that column; text is compared by bytes."
    )]
    #[arg(long, value_name = "WHICH", default_value = "first", value_parser = WhichParser)]
    pub(crate) keep: Which,

    /// Compare canonical forms wherever two records have one key, instead of trusting 128 bits
    ///
    /// Two records that share a key and differ are both kept, in classes of their own. Holds the records that are kept in memory.
    #[arg(long)]
    pub(crate) verify: bool,

    /// Write what was left out to FILE: the record, the one kept, and the rung, with tabs between
    ///
    /// The rung is the lowest at which the two are one. Lines are in input order, and nothing is
    /// escaped: a URI holds no tab, and what is no URI is one only with its own bytes. So
    /// `cut -f1 FILE` and the results together are the input.
    #[arg(long, value_name = "FILE")]
    pub(crate) dupes: Option<PathBuf>,

    /// Write each class to FILE as a line of JSON: the survivor and all members
    ///
    /// {"survivor":"http://h","count":2,"members":[{"source":"a.txt","line":1,"uri":"http://h",
    /// "rung":"string","rules":[]},...]}, one for each line of the results, in the same order. The survivor is
    /// one of the members; the rung is the lowest at which a member and the survivor are one, the rules say how
    /// (see `uriscan explain --help`). Bytes
    /// that are no UTF-8 are in hexadecimal digits: "uri":null,"hex":"ff".
    #[arg(long, value_name = "FILE")]
    pub(crate) clusters: Option<PathBuf>,
}

/// Which record of a class is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keep {
    /// The first one
    #[default]
    First,
    /// The last one
    Last,
    /// The shortest one; the first of equals
    Shortest,
    /// The first one that is written with https:, or else the first one
    #[value(alias = "prefer-https")]
    Https,
    /// The one whose bytes come first when all are sorted
    Min,
    /// The one whose bytes come last
    Max,
}

/// Which one is kept, as typed.
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

/// What is written for each class.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Emit {
    /// The first record as it was read
    #[default]
    Original,
    /// Its canonical form; an invalid record as it is
    Normalized,
    /// Its key, 32 hexadecimal digits: what `uriscan key` writes
    Key,
}

/// A chance to be wrong.
fn rate(typed: &str) -> Result<f64, String> {
    let rate = typed.parse().ok().filter(|rate| (1e-9..=0.5).contains(rate));
    rate.ok_or_else(|| "a rate is a number from 0.000000001 to 0.5, such as 0.001".to_owned())
}

const AFTER_HELP: &str = "\
At each rung these are one:
  string  http://h/a                  http://h/a
  syntax  HTTP://H/%7ea/./b           http://h/~a/b
  scheme  http://h:80                 http://h/
Never one: http://h/a and http://h/a/, http://h/? and http://h/, ?a=1&b=2 and ?b=2&a=1.

Classes: with -c, -d, -u, --keep, --verify, --dupes or --clusters nothing is written before all is read. With the
first four, unless --keep is min or max, files that are not compressed are read a second time to write them, at 36 to 60 bytes of memory
for each class; from pipes and compressed files the record kept of each class waits in memory, its bytes
and 50 to 70 more. --dupes and --clusters hold these too, 24 bytes for each record that is left out, and
its bytes where they are not those of the one kept.
Memory: as much as --max-memory says. When keys have no room, plain dedup writes the first records that it has found, and
those behind them are sorted out on disk, in one to two times the time. With the options above all that was read goes to
disk: 22 bytes for each record where files are read a second time, and else its text too, and then once more what is
to be written.
Time: -c, -d, -u and --keep take 1.5 to 3 times that of plain dedup, --keep min and max up to 4,
--dupes and --clusters more. Without them dedup pays for none of it.

Examples:
  uriscan dedup urls.txt > unique.txt
  uriscan dedup -c urls.txt | sort -rn | head      the largest classes
  uriscan dedup --dupes dupes.tsv urls.txt         what was left out, for which one, and why
  uriscan explain --pairs -f dupes.tsv             the same, at length
  uriscan dedup -d --clusters groups.jsonl --keep shortest urls.txt
  uriscan dedup day-*.txt.gz -o all.txt --stats    several files are one list
  uriscan dedup --max-memory 2G --temp-dir /data huge.txt -o unique.txt
  uriscan dedup --approx 0.0001 huge.txt           nearly all of them, in little memory
  uriscan dedup --extract access.log docs/         the links in them are the list
  uriscan dedup urls.txt -o urls.txt               in place: written aside, then renamed
  uriscan dedup --ignore-fragment --rejects bad.txt urls.txt
  uriscan dedup --preset crawl urls.txt            without session ids, tracking parameters …
  uriscan dedup --rule www --rule drop-param=ref urls.txt
  uriscan dedup --emit key urls.txt                the keys of the classes
  find . -name '*.url' -print0 | uriscan dedup -0 --rung string
  uriscan dedup --iri --repair urls.txt            also what logs and pages make of URIs
  uriscan dedup --rung protocol --aliases redirects.tsv urls.txt
  uriscan dedup --seen seen.set --update frontier.txt > new.txt
  uriscan dedup --checkpoint progress -o all.txt day-*.txt.gz
  uriscan dedup --stats-format json urls.txt 2> stats.json > unique.txt";
