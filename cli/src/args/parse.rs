//! `uriscan parse`.

use clap::Args;
use uriscan_bulk::pipeline::RowFormat;

use super::extract::FromPages;
use super::format::report_names;
use super::groups::{Common, GrammarChoice, RepairOptions, Strictness, Typed};
use super::named::Choices;

/// Split every record into its components, strictly by RFC 3986, Appendix A
///
/// Reads one URI or relative reference per line and writes one row for each. An undefined component differs from an empty one:
/// null and "" in JSON, \N and nothing in TSV. For an invalid record, JSON is {"line":4,"error":{"kind":"space","at":17}}, with
/// the offset of the byte from 0; a template writes no row, and a line on standard error says for how many. With --iri and
/// --repair the rows are those of the repaired records.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Parse {
    /// Format of the output [default: jsonl, or by -o]
    ///
    /// With --column that of the table: parquet, arrow, arrow-stream, csv, tsv or jsonl, by default that of the input.
    #[arg(long, value_name = "FORMAT", value_parser = report_names(ROW_FORMATS))]
    #[arg(help_heading = "Output")]
    pub(crate) to: Option<String>,

    /// Write each record by this template instead, such as '{host}\t{path}'
    ///
    /// {field} is a field, \t \n \0 \\ are tab, line feed, NUL and backslash, {{ and }} are braces. An undefined field is
    /// empty. {query:NAME} is the value of the first parameter with this name, {segment:N} the segment of the path with this
    /// number, from 1, or from the end if it is negative. With :decoded after one of these two, percent-encodings are
    /// decoded, once, and + in a parameter is a space; control characters and what is not UTF-8 stay encoded. {shape} is the
    /// URI with types in place of numbers, dates, hashes and values; {shape:slugs} also types segments of words.
    #[arg(short = 'g', long, value_name = "PATTERN", conflicts_with = "to")]
    pub(crate) template: Option<String>,

    #[command(flatten)]
    pub(crate) from: FromPages,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
    #[command(flatten)]
    pub(crate) repairs: RepairOptions,
    #[command(flatten)]
    pub(crate) grammar: GrammarChoice,
    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,
    #[command(flatten)]
    pub(crate) typed: Typed,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// The formats of the rows of `parse`.
pub(crate) const ROW_FORMATS: Choices<RowFormat> = &[
    (RowFormat::Jsonl, "jsonl", "One JSON object per record"),
    (RowFormat::Tsv, "tsv", "Columns separated by tabs, with a header"),
];

const AFTER_HELP: &str = "\
Fields: line (counted from 1 in each file), scheme, authority, userinfo, host, port, path, query, \
fragment, host_kind (reg-name, ipv4, ipv6 or ipvfuture), domain (registrable, such as \
example.co.uk), suffix (public, such as co.uk), params (of the query, as JSON: an array of pairs of \
name and value, such as [[\"a\",\"1\"],[\"b\",null]]; in this order, repeated ones included). All are \
as written; see `uriscan normalize`.

Examples:
  $ echo 'http://example.com:8080/a?b' | uriscan parse -g '{host} {port} {path}'
  example.com 8080 /a
  $ echo 'http://h/user/17?page=2&q=cats' | uriscan parse -g '{shape}'
  http://h/user/{int}?page={int}&q={text}

  uriscan parse urls.txt | jq -r 'select(.port) | .host'
  uriscan parse --to tsv urls.txt -o parts.tsv
  uriscan parse -g '{domain} {params}' urls.txt
  uriscan parse -g '{query:q:decoded}\t{segment:1}' urls.txt    a parameter, the first segment
  uriscan parse urls.txt | jq '.params // [] | map(.[0])'

Exit codes: 0 done, 1 invalid records under --strict, 2 error.";
