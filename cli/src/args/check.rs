//! `uriscan check`.

use clap::{Args, ValueEnum};

use super::groups::{Common, GrammarChoice, Mending};

/// Say which records are no URI-reference of RFC 3986, and why
///
/// Exits with 1 when there are some. With --iri and --repair: those that no repair makes one.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Check {
    /// The form of the answers
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) format: CheckFormat,

    /// Tell instead which records RFC 3986 and RFC 2396 read differently, and why
    ///
    /// The reasons are: only-rfc3986 and only-rfc2396 (one of them refuses the record); registry (a host to RFC
    /// 3986, to RFC 2396 a name in which no host can be told, as in http://a_b/); opaque-query (a query, and
    /// a piece of the opaque part, as in mailto:a@b?subject=x); ipv4 (a name, and an address, as
    /// in http://256.1.1.1/). --grammar rfc2396+2732 compares with that. Exits with 1 when there are some.
    #[arg(long, conflicts_with_all = ["iri", "repair"])]
    pub(crate) differ: bool,

    #[command(flatten)]
    pub(crate) mending: Mending,
    #[command(flatten)]
    pub(crate) grammar: GrammarChoice,
    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,
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
  uriscan check --grammar rfc2396 urls.txt
  uriscan check --differ urls.txt                  what breaks between java.net.URI and RFC 3986
  uriscan check --iri --repair urls.txt            what is beyond repair
  uriscan check --format jsonl urls.txt | jq -r '.kind // .error.kind' | sort | uniq -c";
