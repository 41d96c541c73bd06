//! `uriscan set`.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::{Args, Subcommand, ValueEnum};
use uriscan::key::PublicHash;
use uriscan::set::Timestamp;

use super::extract::FromText;
use super::groups::{
    Common, Equivalence, HASHES, Input, InvalidRecords, ProfileChoice, Reporting, Typed, Work,
};
use super::named::choice;
use super::number::number;
use super::table::ColumnChoice;

/// Keep sets of keys on disk, to recognize URIs of earlier runs
///
/// A set is a directory of sorted files of 128-bit keys, 16 bytes each, with checksums. It records what its keys mean:
/// hash, level, rules and so on, and every command that uses it takes these from it, so no option has to be repeated.
/// Options that say something else are refused. At any moment, also after a crash, a set is the old one or the new one. It has one writer at a
/// time and any number of readers. Usually it is used by `uriscan dedup --seen SET --update`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Set {
    #[command(subcommand)]
    pub(crate) command: SetCommand,
}

/// The commands for sets.
#[derive(Debug, Subcommand)]
pub(crate) enum SetCommand {
    /// Create a set of the URIs in files
    Create(Create),
    /// Add the URIs in files to a set
    Add(Add),
    /// Write the URIs in files that are in a set; exit with code 1 if there are none
    Has(Has),
    /// Remove the URIs in files from a set, and print how many were in it
    Remove(Remove),
    /// Remove the keys that were first seen before a time
    ///
    /// A URI whose key is removed is new to the next run, which records when it is seen again. Only a set that records
    /// times can be pruned: see `touch`.
    Prune(Prune),
    /// Let a set record when each key was first seen, from now on
    ///
    /// The keys that are in it count as first seen now, or at --at. So `prune` keeps them until they are old by that time.
    /// Keys that are added later get their own time.
    Touch(Touch),
    /// Create the union of sets
    ///
    /// The result has the same bytes in whatever order sets are merged. A directory that `split` has made represents the
    /// sets in it.
    Merge(Combine),
    /// Create the difference of sets: the keys of the first that no other contains
    Diff(Combine),
    /// Create the intersection of sets
    Intersect(Combine),
    /// Cut a set into sets of the keys that begin with the same bits, for many machines; `merge` makes one of them
    Split(SplitSet),
    /// Merge the files of a set into one, for faster look-ups
    Compact(OneSet),
    /// Print the number of keys of a set and what they mean
    Stats(SetStats),
    /// Write the rules of a set as a file for --rules
    ///
    /// Its other settings are comments: hash, grammar, level and so on.
    Rules(Export),
    /// Read all of a set and report damage; exit with code 1 if there is any
    Verify(OneSet),
    /// Write the keys of a set as sorted text
    ///
    /// Lines that begin with # have their meaning and number. Each key is 32 hexadecimal digits, followed by the time at
    /// which it was first seen if the set records it.
    Export(Export),
    /// Create a set of keys that `export` wrote, or add them to one
    Import(Import),
}

impl SetCommand {
    /// How URIs are read.
    pub(crate) fn records(&mut self) -> Option<&mut Records> {
        match self {
            SetCommand::Create(typed) => Some(&mut typed.filling.records),
            SetCommand::Add(typed) => Some(&mut typed.filling.records),
            SetCommand::Remove(typed) => Some(&mut typed.filling.records),
            SetCommand::Has(typed) => Some(&mut typed.records),
            _ => None,
        }
    }

    /// Whether it reads URIs.
    pub(crate) fn reads_uris(&self) -> bool {
        match self {
            SetCommand::Create(_) | SetCommand::Add(_) | SetCommand::Has(_) => true,
            SetCommand::Remove(typed) => !typed.keys,
            _ => false,
        }
    }
}

/// How URIs are read and hashed for a set.
#[derive(Debug, Args)]
pub(crate) struct Records {
    #[command(flatten)]
    pub(crate) equivalence: Equivalence,
    #[command(flatten)]
    pub(crate) profile: ProfileChoice,
    #[command(flatten)]
    pub(crate) from: FromText,
    #[command(flatten)]
    pub(crate) table: ColumnChoice,
    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) typed: Typed,
}

/// The URIs for a set.
#[derive(Debug, Args)]
pub(crate) struct Filling {
    #[command(flatten)]
    pub(crate) records: Records,
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) work: Work,
    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The set to create: a directory that does not exist or is empty
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// Hash of the keys
    ///
    /// Sets of different hashes cannot be combined.
    #[arg(long, value_name = "HASH", value_parser = choice(HASHES), default_value = "blake3")]
    pub(crate) hash: PublicHash,

    /// Record when each key was first seen, in 4 more bytes per key
    ///
    /// A key that is added later gets the time at which it is added (with dedup --seen SET --update: at which the run
    /// began); existing keys keep theirs. Merging and intersecting keep the earliest time. Sets with times can be
    /// combined only with each other.
    #[arg(long)]
    pub(crate) first_seen: bool,

    /// The time at which the keys were first seen [default: now]
    ///
    /// 2026-03-01, 2026-03-01T12:00:00Z, or seconds since 1970.
    #[arg(long, value_name = "TIME", requires = "first_seen", allow_negative_numbers = true)]
    pub(crate) at: Option<Timestamp>,

    #[command(flatten)]
    pub(crate) filling: Filling,
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// The set
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// The time at which the keys were first seen [default: now]
    ///
    /// For sets with times. URIs that the set has with a later time get this one; an earlier one stays.
    ///
    /// 2026-03-01, 2026-03-01T12:00:00Z, or seconds since 1970.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(crate) at: Option<Timestamp>,

    #[command(flatten)]
    pub(crate) filling: Filling,
}

#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The set
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// The files have keys, as `uriscan key` and `uriscan set export` write them, instead of URIs
    #[arg(long, conflicts_with_all = [
        "level", "drop_fragment", "aliases", "iri", "repair", "rules", "preset", "rules_files", "no_rules", "base",
        "lenient_scheme", "suffix_scheme", "profile", "uri", "extract", "on_invalid", "rejects", "strict", "null",
        "from", "column", "stats", "stats_file",
    ])]
    pub(crate) keys: bool,

    #[command(flatten)]
    pub(crate) filling: Filling,
}

#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// The set
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// Remove keys first seen longer ago than this: 36h, 30d, 4w or 1y, or before a time: 2026-03-01
    ///
    /// A day has 24 hours, a week 7 days, and a year 365 days. A time is as for --at, in UTC.
    #[arg(long, value_name = "AGE", value_parser = older_than, allow_negative_numbers = true)]
    pub(crate) older_than: Timestamp,
}

/// The time of `--older-than`.
fn older_than(typed: &str) -> Result<Timestamp, String> {
    before(typed, Timestamp::of(SystemTime::now()))
}

/// The time that is `typed`, or so long before `now`.
fn before(typed: &str, now: Timestamp) -> Result<Timestamp, String> {
    const EXPECTED: &str =
        "write an age, 36h, 30d, 4w or 1y, or a time, 2026-03-01 or 2026-03-01T12:00:00Z";
    const UNITS: [(char, u32); 4] =
        [('h', 3600), ('d', 86_400), ('w', 7 * 86_400), ('y', 365 * 86_400)];
    // Without a unit it could be any of them.
    if typed.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(EXPECTED.to_owned());
    }
    for (unit, seconds) in UNITS {
        let Some(count) = typed.strip_suffix(unit).filter(|it| !it.starts_with('+')) else {
            continue;
        };
        let count: u32 = count.parse().map_err(|_| EXPECTED.to_owned())?;
        return Ok(Timestamp(now.0.saturating_sub(count.saturating_mul(seconds))));
    }
    let time: Timestamp = typed.parse().map_err(|_| EXPECTED.to_owned())?;
    match time > now {
        true => Err("this time is in the future".to_owned()),
        false => Ok(time),
    }
}

#[derive(Debug, Args)]
pub(crate) struct Touch {
    /// The set
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// The time at which the keys were first seen [default: now]
    ///
    /// 2026-03-01, 2026-03-01T12:00:00Z, or seconds since 1970.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(crate) at: Option<Timestamp>,
}

#[derive(Debug, Args)]
pub(crate) struct Has {
    /// The set
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// Write the URIs that are not in the set
    #[arg(short = 'v', long)]
    pub(crate) invert_match: bool,

    /// Write the time at which it was first seen and a tab before each URI; in rows of tables it is a field, first_seen
    #[arg(long, conflicts_with = "invert_match")]
    pub(crate) first_seen: bool,

    #[command(flatten)]
    pub(crate) records: Records,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct Combine {
    /// The set to create: a directory that does not exist
    #[arg(short, long, value_name = "SET")]
    pub(crate) output: PathBuf,

    /// The sets
    #[arg(value_name = "SET", required = true)]
    pub(crate) sets: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SplitSet {
    /// The directory to make
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    /// The number of leading bits: 2^BITS sets, 0 to 12
    #[arg(long, value_name = "BITS", default_value_t = 8)]
    #[arg(value_parser = number::<u32>(0..=12), allow_negative_numbers = true)]
    pub(crate) bits: u32,

    /// The set
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct OneSet {
    /// The set
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct SetStats {
    /// The set
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// Format of the output
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) to: SetStatsFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SetStatsFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The set
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// Write results to FILE instead of standard output (`-`)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The set, which is created if it does not exist
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// The file to read [default: standard input, also `-`]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Take the meaning of the keys from this set, for files without # lines
    #[arg(long, value_name = "SET")]
    pub(crate) like: Option<PathBuf>,

    /// The time at which the keys were first seen [default: now]
    ///
    /// Of keys without a time, in a set with times.
    ///
    /// 2026-03-01, 2026-03-01T12:00:00Z, or seconds since 1970.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(crate) at: Option<Timestamp>,
}

const AFTER_HELP: &str = "\
Examples:
  $ echo http://h/a | uriscan set create old.set
  $ printf 'http://h/a\\nHTTP://h/b\\n' | uriscan set has -v old.set
  HTTP://h/b

  uriscan dedup --seen seen.set --update frontier.txt > new.txt   URIs of no earlier run
  uriscan set create old.set archive-*.txt.gz
  uriscan set create old.set --column url pages.csv    the URIs of a table
  uriscan set add old.set today.txt --stats
  uriscan set has old.set urls.txt                     the URIs in it; -v: the others
  uriscan set remove old.set gone.txt                  to fetch these again
  uriscan set prune seen.set --older-than 30d          and what was first seen longer ago
  uriscan set touch seen.set                           let a set record times from now on
  uriscan set create --first-seen seen.set /dev/null   a set that records times
  uriscan set has --first-seen seen.set urls.txt       when each was first seen
  uriscan set merge -o all.set shard-*.set             shards in any order
  uriscan set diff -o new.set today.set all.set
  uriscan set split -o pieces seen.set                 256 sets by their first byte, as uriscan.spark reads them
  uriscan set rules seen.set > mine.toml               its rules, for --rules elsewhere
  uriscan set verify all.set
  uriscan set export all.set | zstd > keys.zst
  uriscan key a.txt | uriscan set import --like all.set a.set

Exit codes: 0 done, 1 `has` found nothing or `verify` found damage, 2 error.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_counted_back_from_now_and_times_are_taken_as_they_are() {
        let now: Timestamp = "2026-03-31T12:00:00Z".parse().unwrap();
        for (typed, expected) in [
            ("36h", "2026-03-30T00:00:00Z"),
            ("0d", "2026-03-31T12:00:00Z"),
            ("30d", "2026-03-01T12:00:00Z"),
            ("2w", "2026-03-17T12:00:00Z"),
            ("1y", "2025-03-31T12:00:00Z"),
            ("4000000000y", "1970-01-01T00:00:00Z"),
            ("2026-03-01", "2026-03-01T00:00:00Z"),
            ("2026-03-31T12:00:00Z", "2026-03-31T12:00:00Z"),
        ] {
            assert_eq!(before(typed, now).unwrap().to_string(), expected, "{typed}");
        }
        for typed in [
            "",
            "30",
            "d",
            "-1d",
            "+1d",
            "1.5d",
            "30 d",
            "30m",
            "30D",
            "99999999999y",
            "1d2h",
            "yesterday",
            "2026-04-01",
            "2026-02-30",
            "é",
        ] {
            assert!(before(typed, now).is_err(), "{typed}");
        }
    }
}
