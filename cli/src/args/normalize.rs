//! `uriscan normalize`.

use clap::Args;

use super::extract::FromText;
use super::format::table_names;
use super::groups::{
    Common, Equivalence, GrammarChoice, InvalidRecords, ProfileChoice, Redaction, Typed,
};
use super::table::TABLES;

/// Write the canonical form of every record, line by line
///
/// Reads one URI per line and writes one line for each, in order; a blank line stays blank. Invalid records are written as
/// they were read; with --on-invalid drop or --rejects their lines are omitted.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Normalize {
    #[command(flatten)]
    pub(crate) equivalence: Equivalence,
    #[command(flatten)]
    pub(crate) profile: ProfileChoice,
    #[command(flatten)]
    pub(crate) from: FromText,
    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
    #[command(flatten)]
    pub(crate) grammar: GrammarChoice,
    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,

    /// Format of the output [default: by the name of the output file, or that of the first table]
    ///
    /// parquet, arrow, arrow-stream, csv, tsv or jsonl.
    #[arg(long, value_name = "FORMAT", value_parser = table_names(), hide_possible_values = true)]
    #[arg(requires = "column", help_heading = TABLES)]
    pub(crate) to: Option<String>,

    #[command(flatten)]
    pub(crate) typed: Typed,
    #[command(flatten)]
    pub(crate) common: Common,
}

const AFTER_HELP: &str = "\
Examples:
  $ echo 'HTTP://Example.COM:80/%7euser/./x' | uriscan normalize
  http://example.com/~user/x

  uriscan normalize --level syntax urls.txt -o canonical.txt
  paste urls.txt <(uriscan normalize urls.txt)     before and after, side by side

Exit codes: 0 done, 1 invalid records under --strict, 2 error.";
