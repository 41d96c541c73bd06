//! `uriscan parse`.

use clap::{Args, ValueEnum};

use super::groups::{Common, GrammarChoice, Mending, Strictness};

/// Split every record into its components, strictly by RFC 3986, Appendix A
///
/// Records may be URIs or relative references. A component that is undefined is told from one
/// that is empty: null and "" in JSON, \N and nothing in TSV. A record that is neither gives
/// {"line":4,"error":{"kind":"space","at":17}}, the byte counted from 0; a template has no row
/// for it. With --iri and --repair rows are those of the record as it is repaired.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Parse {
    /// The form of the rows
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) format: RowFormat,

    /// Write each record by this pattern instead, such as '{host}\t{path}'
    ///
    /// {field} stands for a field, \t \n \0 \\ for tab, line feed, NUL and backslash, {{ and }} for
    /// braces. A field that is undefined gives nothing.
    #[arg(short = 'g', long, value_name = "PATTERN", conflicts_with = "format")]
    pub(crate) template: Option<String>,

    #[command(flatten)]
    pub(crate) strictness: Strictness,
    #[command(flatten)]
    pub(crate) mending: Mending,
    #[command(flatten)]
    pub(crate) grammar: GrammarChoice,
    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// The form of the rows of `parse`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum RowFormat {
    /// One JSON object per record
    #[default]
    Jsonl,
    /// Columns between tabs, with a heading
    Tsv,
}

const AFTER_HELP: &str = "\
Fields: line, scheme, authority, userinfo, host, port, path, query, fragment, host_kind
(reg-name, ipv4, ipv6 or ipvfuture). The line is counted from 1 in each FILE.

Examples:
  uriscan parse urls.txt | jq -r 'select(.port) | .host'
  uriscan parse --format tsv urls.txt -o parts.tsv
  uriscan parse -g '{host}' urls.txt | sort | uniq -c | sort -rn | head";
