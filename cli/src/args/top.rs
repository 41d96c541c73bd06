//! `uriscan top`.

use clap::{Args, ValueEnum};
use uriscan_bulk::pipeline::By;

use super::extract::FromText;
use super::groups::{Common, Equivalence, InvalidRecords, Memory, ReportFile, Typed};
use super::number::{ANY, number};
use super::table::ColumnChoice;
use crate::nearest::did_you_mean;

/// Count hosts, domains, paths or parameters, or requests per day, and list the most frequent ones
///
/// Reads one URI per line. Parts are counted as they are in the canonical form at --level, by default with hosts in lower case and
/// without default ports. Shares are those of all URIs; URIs without the part have a row of their own. Invalid records have no
/// parts and are counted apart. Counts are exact unless the values do not fit into --max-memory.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Top {
    /// What to count: host, domain, suffix, scheme, port, extension, param, path, path:N, url, shape or label:N; of logs also day,
    /// hour, status or method
    ///
    /// domain: the registrable domain, such as example.co.uk; suffix: the public suffix, such as co.uk; both by the public
    /// suffix list, and absent for IP addresses. port: the port, unless it is the default of the scheme. extension: up to 16
    /// letters and digits after the last dot of the last path segment, in lower case. param: names of query parameters; a
    /// URI counts once for each name, so the shares may add up to more than 100 %. path: all of the
    /// path; path:N: its first N segments. label:N: the last N labels of the host. shape: the URI with types in place of
    /// numbers, dates, hashes, UUIDs, tokens and values, such as https://h/user/{int}?page={int}; shape:slugs also types segments
    /// of words.
    ///
    /// day, hour, status and method count the entries of access logs, each once, and need --extract: day is 2026-03-01 and
    /// hour 00 to 23, both in UTC. With --status, --method, --since and --until, top counts the targets of requests unless
    /// --log-field names others. Targets without a host have a path, and are counted by path, path:N, extension, param and
    /// url without --base.
    #[arg(long, value_name = "PART", default_value = "host", value_parser = by)]
    pub(crate) by: By,

    /// Number of rows to write; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = number::<usize>(ANY), allow_negative_numbers = true)]
    pub(crate) limit: usize,

    /// Count equivalent URIs once, as if by dedup first
    #[arg(long)]
    pub(crate) distinct: bool,

    /// Format of the output [default: text, or by -o]
    #[arg(long, value_name = "FORMAT", value_enum)]
    #[arg(help_heading = "Output")]
    pub(crate) to: Option<TopFormat>,

    #[command(flatten)]
    pub(crate) equivalence: Equivalence,
    #[command(flatten)]
    pub(crate) links: FromText,
    #[command(flatten)]
    pub(crate) table: ColumnChoice,

    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) memory: Memory,
    #[command(flatten)]
    pub(crate) page: ReportFile,
    #[command(flatten)]
    pub(crate) typed: Typed,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TopFormat {
    /// For people
    #[default]
    Text,
    /// Columns value, count, share and error, with a header; \N for URIs without the part
    Tsv,
    /// One JSON object per row: by, value (null for URIs without the part), count, share, error
    Jsonl,
}

fn by(typed: &str) -> Result<By, String> {
    const NAMES: &str = "host domain suffix scheme port extension param path url shape label day hour status method";
    typed.parse().map_err(|error| format!("{error}{}", did_you_mean(typed, NAMES.split(' '))))
}

const AFTER_HELP: &str = "\
Memory: 60 bytes for each different value, and its text. If the values exceed a quarter of \
--max-memory, those with the lowest counts make room for new ones (Space-Saving). Each count is \
then too high by its error at most, which is printed beside it, and every value that occurs more \
often than the largest error is known. With --distinct the keys of URIs spill to disk.

Examples:
  $ printf 'http://a.example/\\nHTTP://A.example/\\nhttp://b.example/x\\n' | uriscan top | head -3
       count     share  host
           2   66.67 %  a.example
           1   33.33 %  b.example

  uriscan top --by domain urls.txt
  uriscan top --by param -n 0 --to tsv urls.txt.gz > params.tsv
  uriscan top --by path:1 --distinct urls.txt      sections of a site, each URI once
  uriscan top --extract access.log                 hosts of the links in a log
  uriscan top --extract --by day access.log        hits per day
  uriscan top --extract --by path --status 404 access.log
  uriscan top --by suffix --column url pages.parquet
  uriscan top --by shape urls.txt                  what a site is made of; crawler traps
  uriscan top --by extension --to jsonl urls.txt | jq -r .value

Exit codes: 0 done, 1 invalid records under --strict, 2 error.";
