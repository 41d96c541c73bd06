//! `uriscan set`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use uriscan::set::Timestamp;

use super::extract::FromText;
use super::groups::{
    Common, Equivalence, Hash, Input, InvalidRecords, ProfileChoice, Reporting, Work,
};

/// Keep keys of URIs on disk, from run to run, and work with such sets
///
/// A set is a directory of sorted files of 128-bit keys, 16 bytes each, with a checksum for every block. It says
/// what its keys mean: hash, rung, rules. What was made under another meaning is refused, by a message that
/// names the difference; so give the same options whenever URIs are keyed for it. A set is at every moment, also
/// after a crash, the old one or the new one. One may write to it at a time, any number may read.
/// `uriscan dedup --seen SET --update` is the usual way to use one.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Set {
    #[command(subcommand)]
    pub(crate) command: SetCommand,
}

/// What is done with sets.
#[derive(Debug, Subcommand)]
pub(crate) enum SetCommand {
    /// Make a set of the URIs in FILEs
    Create(Create),
    /// Add the URIs in FILEs to a set
    Add(Add),
    /// Write the URIs in FILEs that are in a set; exit with 1 if there are none
    Has(Has),
    /// Make a set of all that some sets hold
    ///
    /// In whatever order sets are merged, the result has the same bytes.
    Merge(Combine),
    /// Make a set of what the first set holds and the others do not
    Diff(Combine),
    /// Make a set of what all sets hold
    Intersect(Combine),
    /// Make one file of the files of a set, which makes look-ups faster
    Compact(OneSet),
    /// Tell how many keys a set holds and what they mean
    Stats(SetStats),
    /// Read a set whole and tell every damage; exit with 1 if there is one
    Verify(OneSet),
    /// Write the keys of a set in rising order: `#` lines with meaning and number, then 32 hexadecimal digits each, and
    /// the time at which each was first seen if the set keeps it
    Export(Export),
    /// Make a set of keys that `export` wrote, or add them to one
    Import(Import),
}

impl SetCommand {
    /// Whether it reads URIs.
    pub(crate) fn reads_uris(&self) -> bool {
        matches!(self, SetCommand::Create(_) | SetCommand::Add(_) | SetCommand::Has(_))
    }
}

/// How URIs are read and keyed for a set.
#[derive(Debug, Args)]
pub(crate) struct Records {
    #[command(flatten)]
    pub(crate) equivalence: Equivalence,
    #[command(flatten)]
    pub(crate) profile: ProfileChoice,
    #[command(flatten)]
    pub(crate) from: FromText,
    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
}

/// What URIs go into a set.
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
    /// The set to make: a directory that is new or empty
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// Hash of the keys; sets with different hashes do not mix
    #[arg(long, value_name = "HASH", value_enum, default_value_t)]
    pub(crate) hash: Hash,

    /// Keep the time at which each key was first seen, in 4 bytes more for each
    ///
    /// What is added later counts as seen when it is added (dedup --seen SET --update: when that began) and a key that is
    /// there keeps its time; where sets are merged or intersected the earliest stays. Only sets that all keep times
    /// can be made one.
    #[arg(long)]
    pub(crate) first_seen: bool,

    /// The URIs were first seen at TIME, and not now: 2026-03-01, 2026-03-01T12:00:00Z, or seconds since 1970
    #[arg(long, value_name = "TIME", requires = "first_seen")]
    pub(crate) at: Option<Timestamp>,

    #[command(flatten)]
    pub(crate) filling: Filling,
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// The set
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// New URIs were first seen at TIME, and not now, in a set that keeps times
    ///
    /// 2026-03-01, 2026-03-01T12:00:00Z, or seconds since 1970.
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<Timestamp>,

    #[command(flatten)]
    pub(crate) filling: Filling,
}

#[derive(Debug, Args)]
pub(crate) struct Has {
    /// The set
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// Write the URIs that are not in the set instead
    #[arg(short = 'v', long)]
    pub(crate) invert_match: bool,

    /// Write the time at which each was first seen, and a tab, before the URI
    #[arg(long, conflicts_with = "invert_match")]
    pub(crate) first_seen: bool,

    #[command(flatten)]
    pub(crate) records: Records,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct Combine {
    /// The set to make: a directory that is not there yet
    #[arg(short, long, value_name = "SET")]
    pub(crate) output: PathBuf,

    /// The sets
    #[arg(value_name = "SET", required = true)]
    pub(crate) sets: Vec<PathBuf>,
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

    /// The form of the answer
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) format: SetStatsFormat,
}

/// The form of what is told of a set.
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

    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The set; it is made if it is not there
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,

    /// The file to read; none or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// The keys mean what those of this set mean, for files without the lines that tell
    #[arg(long, value_name = "SET")]
    pub(crate) like: Option<PathBuf>,

    /// Keys without a time were first seen at TIME, and not now, in a set that keeps times
    ///
    /// 2026-03-01, 2026-03-01T12:00:00Z, or seconds since 1970.
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<Timestamp>,
}

const AFTER_HELP: &str = "\
Examples:
  uriscan dedup --seen seen.set --update frontier.txt > new.txt   what no run has seen before
  uriscan set create old.set archive-*.txt.gz
  uriscan set add old.set today.txt --stats
  uriscan set has old.set urls.txt               those that are in it; -v: those that are not
  uriscan set create --first-seen seen.set /dev/null   from now on seen.set keeps times
  uriscan set has --first-seen seen.set urls.txt       since when each is known
  uriscan set merge -o all.set shard-*.set       shards made anywhere, in any order
  uriscan set diff -o new.set today.set all.set
  uriscan set verify all.set
  uriscan set export all.set | zstd > keys.zst
  uriscan key a.txt | uriscan set import --like all.set a.set";
