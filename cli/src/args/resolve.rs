//! `uriscan resolve`.

use clap::{ArgGroup, Args, ValueEnum};

use super::groups::{Common, GrammarChoice, InvalidRecords};

/// Write the target of every reference, line by line (RFC 3986, section 5)
///
/// One line out per line in, in order; a blank line stays a blank line. Nothing is normalized but
/// dot segments (5.2.4). A record that is no reference is written as it is, or under --on-invalid drop and
/// FILE its line is missing.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
#[command(group = ArgGroup::new("against").required(true).args(["base", "base_field", "suffix_scheme"]))]
pub(crate) struct Resolve {
    /// The base of all references: a URI; its fragment does not count
    #[arg(long, value_name = "URI")]
    pub(crate) base: Option<String>,

    /// Every record is a row with a base of its own, in this column or member
    ///
    /// For tsv the number of the column, from 1; for jsonl the name of a member that is a string.
    #[arg(long, value_name = "FIELD")]
    pub(crate) base_field: Option<String>,

    /// Where a row holds its reference [default: column 2 (1 when the base stands there), member `reference`]
    #[arg(long, value_name = "FIELD", conflicts_with_all = ["base", "suffix_scheme"])]
    pub(crate) reference_field: Option<String>,

    /// The form of rows: tsv (columns between tabs, without a heading; the default) or jsonl
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with_all = ["base", "suffix_scheme"])]
    #[arg(hide_possible_values = true)]
    pub(crate) format: Option<InputFormat>,

    /// There is no base: take www.w3.org/Addressing/ for a host and a path of this scheme (4.5)
    ///
    /// A record is such a suffix reference when all of it up to the first `/`, `?` or `#` is a host, with
    /// or without a port: two labels or more between dots, the last of two bytes or more and with a letter
    /// first; four decimal numbers; an IPv6 address in brackets; localhost. So `index.html` is one. URIs
    /// are resolved as ever, but with a port, as in www.w3.org:80, a host is not taken for a scheme. Other
    /// relative references are invalid.
    #[arg(long, value_name = "SCHEME")]
    pub(crate) suffix_scheme: Option<String>,

    /// Ignore the scheme of a reference where it is that of the base: http:g is g (5.2.2, 5.4.2)
    #[arg(long, conflicts_with = "suffix_scheme")]
    pub(crate) lenient_scheme: bool,

    /// What becomes of references to the base itself, fragments aside (4.4)
    #[arg(
        long,
        value_name = "keep|drop",
        value_enum,
        default_value_t,
        hide_possible_values = true
    )]
    pub(crate) same_document: SameDocument,

    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) grammar: GrammarChoice,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// The form of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    #[default]
    Tsv,
    Jsonl,
}

/// What becomes of same-document references.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum SameDocument {
    #[default]
    Keep,
    Drop,
}

const AFTER_HELP: &str = "\
Examples:
  echo ../g | uriscan resolve --base http://a/b/c/d
      http://a/b/g
  uriscan resolve --base https://example.org/docs/ --same-document drop hrefs.txt | uriscan dedup
  printf 'http://a/b\\tc\\n' | uriscan resolve --base-field 1
      http://a/c
  uriscan resolve --base-field page --reference-field href --format jsonl links.jsonl
  uriscan resolve --suffix-scheme https bookmarks.txt";
