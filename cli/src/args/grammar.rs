//! `uriscan rules grammar`.

use clap::{Args, ValueEnum};

/// List the grammars, or how the rules of RFC 2396 translate to RFC 3986
///
/// Reads no records. The table is that of RFC 3986, Appendix D.2.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Grammar {
    /// Print the rules of RFC 2396 with their equivalents in RFC 3986
    #[arg(long)]
    pub(crate) compare: bool,

    /// Format of the output
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) to: GrammarFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrammarFormat {
    /// For people
    #[default]
    Table,
    /// Columns separated by tabs, with a header
    Tsv,
    /// One JSON object per line
    Jsonl,
}

const AFTER_HELP: &str = "\
Examples:
  $ uriscan rules grammar --to tsv | cut -f 1
  name
  rfc3986
  rfc2396
  rfc2396+2732

  uriscan rules grammar
  uriscan rules grammar --compare
  uriscan rules grammar --compare --to jsonl | jq -r .translation

Exit codes: 0 done, 2 error.";
