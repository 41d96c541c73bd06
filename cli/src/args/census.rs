//! `uriscan census`.

use clap::{Args, ValueEnum};

use super::groups::{Common, Mending, References, Strictness};
use super::rule_choice::RuleChoice;

/// Count what each rung of the ladder would merge, in one pass
///
/// Invalid records are counted by kind and compared by their bytes, but for hosts in raw UTF-8,
/// which rung `scheme` takes for their A-labels. Needs memory for the keys of every rung: up to
/// three times that of `dedup`. With rules beyond the RFC there is one more row: what they merge on
/// top of the highest rung.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Census {
    /// Leave `#` and the fragment out: they are no part of what is retrieved
    #[arg(long)]
    pub(crate) ignore_fragment: bool,

    #[command(flatten)]
    pub(crate) mending: Mending,

    #[command(flatten)]
    pub(crate) rules: RuleChoice,

    #[command(flatten)]
    pub(crate) references: References,

    /// The form of the answer
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) format: CensusFormat,

    #[command(flatten)]
    pub(crate) strictness: Strictness,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// The form of the answer of `census`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CensusFormat {
    /// For people
    #[default]
    Table,
    /// One object in one line, for machines
    Json,
}

const AFTER_HELP: &str = "\
Examples:
  uriscan census urls.txt
  uriscan census --preset crawl urls.txt           what rules would merge on top
  uriscan census --ignore-fragment --format json urls.txt | jq '.rungs[-1].distinct'";
