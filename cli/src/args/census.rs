//! `uriscan census`.

use clap::{Args, ValueEnum};

use super::extract::FromText;
use super::groups::{Common, References, RepairOptions, ReportFile, Strictness, Typed};
use super::rule_choice::RuleChoice;
use super::table::ColumnChoice;

/// Count what each level of the comparison ladder would merge, in one pass
///
/// Reads one URI per line. Invalid records are counted by kind and compared by their bytes, except for hosts in raw UTF-8, which
/// level `scheme` converts to A-labels. Memory is that of a key for each distinct form: one for a URI that is canonical as it
/// stands, up to three for others. With rules beyond the RFC, one more row counts what they merge in addition to the highest
/// level.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Census {
    /// Ignore fragments: they are not sent to a server
    #[arg(long, help_heading = "What is compared")]
    pub(crate) drop_fragment: bool,

    #[command(flatten)]
    pub(crate) repairs: RepairOptions,

    #[command(flatten)]
    pub(crate) rules: RuleChoice,

    #[command(flatten)]
    pub(crate) references: References,

    #[command(flatten)]
    pub(crate) from: FromText,
    #[command(flatten)]
    pub(crate) table: ColumnChoice,

    /// Format of the output [default: table, or by -o]
    #[arg(long, value_name = "FORMAT", value_enum)]
    #[arg(help_heading = "Output")]
    pub(crate) to: Option<CensusFormat>,

    #[command(flatten)]
    pub(crate) strictness: Strictness,
    #[command(flatten)]
    pub(crate) page: ReportFile,
    #[command(flatten)]
    pub(crate) typed: Typed,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CensusFormat {
    /// For people
    #[default]
    Table,
    /// One JSON object on one line
    Json,
}

const AFTER_HELP: &str = "\
Examples:
  $ printf 'HTTP://h\\nhttp://h/\\nhttp://h/\\n' | uriscan census | head -4 | cut -c 1-56
  level                distinct           merges     share
  string                      2                1   33.33 %
  syntax                      2                0    0.00 %
  scheme                      1                1   33.33 %

  uriscan census urls.txt
  uriscan census --preset crawl urls.txt           what rules would merge in addition
  uriscan census --column url pages.csv
  uriscan census --drop-fragment --to json urls.txt | jq '.levels[-1].distinct'

Exit codes: 0 done, 1 invalid records under --strict, 2 error.";
