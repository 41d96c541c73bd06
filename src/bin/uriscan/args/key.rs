//! `uriscan key`.

use clap::Args;

use super::{Common, Equivalence, FromText, GrammarChoice, InvalidRecords, groups};

/// Write a 128-bit key for every record, line by line
///
/// A key is 32 hexadecimal digits: XXH3-128 of the canonical form under the seed. Equal keys =
/// equal at the rung, but for 32 zeros: a record too long to be judged. One line out per line in, in order; a blank line stays a blank line.
/// An invalid record has the key of its bytes, or under --on-invalid drop and FILE its line is
/// missing.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Key {
    #[command(flatten)]
    pub(crate) equivalence: Equivalence,
    #[command(flatten)]
    pub(crate) from: FromText,

    /// Seed of the hash, for keys that can be compared across runs; random when not given
    #[arg(long, value_name = "N", value_parser = groups::seed)]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) grammar: GrammarChoice,
    #[command(flatten)]
    pub(crate) common: Common,
}

const AFTER_HELP: &str = "\
Examples:
  uriscan key --seed 1 urls.txt > urls.keys
  paste <(uriscan key --seed 1 urls.txt) urls.txt | sort      equal URIs come together
  comm -12 <(uriscan key --seed 1 a.txt | sort -u) <(uriscan key --seed 1 b.txt | sort -u)";
