//! `uriscan check`.

use clap::Args;
use uriscan_bulk::pipeline::CheckFormat;

use super::extract::FromPages;
use super::format::report_names;
use super::groups::{Common, GrammarChoice, RepairOptions, ReportFile, Typed};
use super::named::Choices;

/// Report records that are not URI references of RFC 3986, and why
///
/// Reads one reference per line. With --iri and --repair it reports the records that cannot be repaired.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Check {
    /// Format of the output [default: text, or by -o]
    ///
    /// With --column that of the table: parquet, arrow, arrow-stream, csv, tsv or jsonl, by default that of the input.
    #[arg(long, value_name = "FORMAT", value_parser = report_names(CHECK_FORMATS))]
    #[arg(help_heading = "Output")]
    pub(crate) to: Option<String>,

    /// Report records that RFC 3986 and RFC 2396 parse differently, and why
    ///
    /// Reasons: only-rfc3986 and only-rfc2396 (invalid by the other one); registry (a host by RFC 3986, a registry-based
    /// name without a host by RFC 2396, as in http://a_b/); opaque-query (a query by RFC 3986, part of the opaque part by
    /// RFC 2396, as in mailto:a@b?subject=x); ipv4 (a name by RFC 3986, an address by RFC 2396, as in
    /// http://256.1.1.1/). --grammar rfc2396+2732 compares with that grammar.
    #[arg(long, conflicts_with_all = ["iri", "repair"])]
    pub(crate) differ: bool,

    #[command(flatten)]
    pub(crate) from: FromPages,

    /// Write where each link was found, such as an attribute or a field
    ///
    /// After the message.
    #[arg(long, requires = "extract", help_heading = "Links in")]
    pub(crate) context: bool,

    #[command(flatten)]
    pub(crate) repairs: RepairOptions,
    #[command(flatten)]
    pub(crate) grammar: GrammarChoice,
    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,
    #[command(flatten)]
    pub(crate) page: ReportFile,
    #[command(flatten)]
    pub(crate) typed: Typed,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// The formats of the report of `check`.
pub(crate) const CHECK_FORMATS: Choices<CheckFormat> = &[
    (CheckFormat::Text, "text", "Invalid records, with a caret below the offending byte"),
    (
        CheckFormat::Jsonl,
        "jsonl",
        "One JSON object per record: its kind (uri, absolute-uri, relative-ref), or null and the error",
    ),
];

const AFTER_HELP: &str = "\
Examples:
  $ printf 'http://h/\\nhttp://h/a b\\n' | uriscan check --to jsonl
  {\"line\":1,\"kind\":\"absolute-uri\",\"error\":null}
  {\"line\":2,\"kind\":null,\"error\":{\"kind\":\"space\",\"at\":10}}

  uriscan check urls.txt && echo all valid
  uriscan check --grammar rfc2396 urls.txt
  uriscan check --differ urls.txt                  what java.net.URI parses differently
  uriscan check --iri --repair urls.txt            what cannot be repaired
  uriscan check --to jsonl urls.txt | jq -r '.kind // .error.kind' | sort | uniq -c

Exit codes: 0 all valid, 1 invalid or differing records, 2 error.";
