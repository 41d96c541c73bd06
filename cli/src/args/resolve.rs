//! `uriscan resolve`.

use clap::{ArgGroup, Args, ValueEnum};
use uriscan_bulk::pipeline::SameDocument;

use super::extract::Filters;
use super::groups::{Common, GrammarChoice, InvalidRecords, RepairOptions, Typed};
use super::named::{Choices, choice};

/// Resolve relative references to absolute URLs, one per line (RFC 3986, section 5)
///
/// Reads one reference per line and writes one line for each, in order; a blank line stays blank. Nothing is normalized except
/// dot segments (5.2.4). Invalid records are written as they were read; with --on-invalid drop or --rejects their lines are
/// omitted. Filters apply to the targets; the lines of those that are not kept are omitted.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
#[command(group = ArgGroup::new("against").required(true).args(["base", "base_column", "suffix_scheme"]))]
pub(crate) struct Resolve {
    /// Resolve relative references against this URI
    ///
    /// Its fragment is ignored.
    #[arg(long, value_name = "URI")]
    pub(crate) base: Option<String>,

    /// Records are rows, and this column or member has the base URI
    ///
    /// For tsv it is the number of the column, from 1; for jsonl the name of a member with a string.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) base_column: Option<String>,

    /// The column or member of the reference [default: column 2 (1 if that is the base), member `reference`]
    #[arg(long, value_name = "COLUMN")]
    #[arg(conflicts_with_all = ["base", "suffix_scheme"])]
    pub(crate) reference_column: Option<String>,

    /// Format of rows: tsv (columns separated by tabs, without a header; the default) or jsonl
    #[arg(long, value_name = "FORMAT", value_enum)]
    #[arg(conflicts_with_all = ["base", "suffix_scheme"], hide_possible_values = true)]
    pub(crate) from: Option<RowsFormat>,

    /// Complete suffix references, such as www.w3.org/Addressing/, with this scheme (4.5)
    ///
    /// A record is a suffix reference if everything before the first `/`, `?` or `#` is a host with or without a port: two or
    /// more labels, the last one of two or more bytes beginning with a letter; four decimal numbers; an IPv6 address in
    /// brackets; localhost. So `index.html` is one. In www.w3.org:80 the host is not taken for a scheme. Other relative
    /// references are invalid.
    #[arg(long, value_name = "SCHEME")]
    pub(crate) suffix_scheme: Option<String>,

    /// Ignore the scheme of a reference if it is that of the base (5.2.2)
    ///
    /// http:g is then g (5.4.2).
    #[arg(long, conflicts_with = "suffix_scheme")]
    pub(crate) lenient_scheme: bool,

    /// What to do with references to the base itself, ignoring fragments (4.4): keep or drop
    #[arg(long, value_name = "keep|drop", value_parser = choice(SAME_DOCUMENT))]
    #[arg(default_value = "keep", hide_possible_values = true)]
    pub(crate) same_document: SameDocument,

    #[command(flatten)]
    pub(crate) filters: Filters,
    #[command(flatten)]
    pub(crate) repairs: RepairOptions,
    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) grammar: GrammarChoice,
    #[command(flatten)]
    pub(crate) typed: Typed,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowsFormat {
    #[default]
    Tsv,
    Jsonl,
}

/// What to do with same-document references.
const SAME_DOCUMENT: Choices<SameDocument> =
    &[(SameDocument::Keep, "keep", ""), (SameDocument::Drop, "drop", "")];

const AFTER_HELP: &str = "\
Examples:
  $ echo ../g | uriscan resolve --base http://a/b/c/d
  http://a/b/g
  $ printf 'http://a/b\\tc\\n' | uriscan resolve --base-column 1
  http://a/c

  uriscan resolve --base https://example.org/docs/ --same-document drop hrefs.txt | uriscan dedup
  uriscan resolve --base-column page --reference-column href --from jsonl links.jsonl
  uriscan resolve --suffix-scheme https bookmarks.txt
  uriscan resolve --base https://h/a/ --host h hrefs.txt        only targets on the host
  uriscan resolve --base http://h/c.php --repair --iri hrefs.txt    accept what pages contain

Exit codes: 0 done, 1 invalid records under --strict, 2 error.";
