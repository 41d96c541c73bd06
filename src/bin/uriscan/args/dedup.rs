//! `uriscan dedup`.

use clap::{Args, ValueEnum};

use super::{Common, Equivalence, InvalidRecords, Redaction, groups};

/// Keep the first record of each equivalence class, in input order
///
/// Two URIs are one when their canonical forms at --rung are the same bytes. What is written is
/// the first URI of each class as it was read, white space around it apart.
/// Classes are told apart by 128-bit hashes, so memory is about 20 to 40 bytes per distinct URI,
/// whatever its length; among ten thousand million URIs the odds of one wrong merge are 1.5e-19.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Dedup {
    #[command(flatten)]
    pub(crate) equivalence: Equivalence,

    /// What is written for each class
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub(crate) emit: Emit,

    /// Seed of the hash, for keys that are the same in every run; random when not given
    #[arg(long, value_name = "N", value_parser = groups::seed)]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What is written for each class.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Emit {
    /// The first record as it was read
    #[default]
    Original,
    /// Its canonical form; an invalid record as it is
    Normalized,
    /// Its key, 32 hexadecimal digits
    Key,
}

const AFTER_HELP: &str = "\
At each rung these are one:
  string  http://h/a                  http://h/a
  syntax  HTTP://H/%7ea/./b           http://h/~a/b
  scheme  http://h:80                 http://h/
Never one: http://h/a and http://h/a/, http://h/? and http://h/, ?a=1&b=2 and ?b=2&a=1.

Examples:
  uriscan dedup urls.txt > unique.txt
  uriscan dedup day-*.txt -o all.txt --stats       several files are one list
  uriscan dedup urls.txt -o urls.txt               in place: written aside, then renamed
  uriscan dedup --ignore-fragment --on-invalid bad.txt urls.txt
  uriscan dedup --preset crawl urls.txt            without session ids, tracking parameters …
  uriscan dedup --rule www --rule drop-param=ref urls.txt
  uriscan dedup --emit key --seed 1 urls.txt       the keys of the classes
  find . -name '*.url' -print0 | uriscan dedup -0 --rung string
  uriscan dedup --stats-format json urls.txt 2> stats.json > unique.txt";
