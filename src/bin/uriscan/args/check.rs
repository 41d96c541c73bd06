//! `uriscan check`.

use clap::{Args, ValueEnum};

use super::Common;

/// Say which records are no URI-reference of RFC 3986, and why
///
/// Exits with 1 when there are some.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Check {
    /// The form of the answers
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) format: CheckFormat,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// The form of the answers of `check`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum CheckFormat {
    /// The invalid records, each with a caret under the byte at fault
    #[default]
    Text,
    /// One JSON object per record: its kind (uri, absolute-uri, relative-ref), or null and the error
    Jsonl,
}

const AFTER_HELP: &str = "\
Examples:
  uriscan check urls.txt && echo all valid
  uriscan check --format jsonl urls.txt | jq -r '.kind // .error.kind' | sort | uniq -c";
