//! `uriscan learn`.

use std::path::PathBuf;

use clap::Args;
use uriscan::set::Timestamp;

use super::groups::{Common, Memory, RepairOptions, Strictness};
use super::number::{ANY, number};
use super::table::{Dialect, TABLES};

/// Learn rules from evidence of equal pages, and write a rules file with the proof beside each rule
///
/// Reads rows of a URL and something that says which pages are the same: a digest of the content, a canonical link, a redirect.
/// From URLs with the same content it makes hypotheses for each host: a parameter without meaning, its order, the case of names, a
/// trailing slash, an index page, an extension, http for https, the case of paths, a prefix of paths, another name of the host; of
/// parameters also whether they mean nothing below a first segment, or beside another one. Each is tried on all URLs of the site. A
/// rule is written if the lower confidence bound of its precision, the share of joined groups of URLs that are the same page, is high
/// enough; a group is counted once, however many URLs it has.
///
/// Content under many unrelated URLs, as that of error pages, and pages that change between two fetches prove nothing. A site makes
/// rules for itself only. A fifth of the pages is held back, and the rules are measured on these; none of a site with one
/// script for all its pages, as /item?id=1.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
#[command(group = clap::ArgGroup::new("columns").multiple(true))]
pub(crate) struct Learn {
    /// Read tables, with the URIs in COLUMN: its name, or its number from 1
    ///
    /// Without it the input is lines of a URL, a digest, a canonical URL and the target of a redirect, with tabs between
    /// them, where all but the URL may be empty or missing; or lines of a CDX (by its legend) or CDXJ index; or archives (WARC and ARC), whose
    /// digests, canonical links, redirects and Clean-param of robots.txt are read.
    #[arg(long, value_name = "COLUMN", group = "columns", help_heading = "Evidence")]
    pub(crate) column: Option<String>,

    /// The column whose equal values say that pages are the same, such as a digest of the content
    #[arg(long, value_name = "COLUMN", requires = "column", help_heading = "Evidence")]
    pub(crate) same: Option<String>,

    /// The column with the URL that a page names as its canonical one
    ///
    /// A page is believed about itself, also where digests differ: a list whose further pages name the first one as canonical loses
    /// them.
    #[arg(long, value_name = "COLUMN", requires = "column", help_heading = "Evidence")]
    pub(crate) canonical: Option<String>,

    /// The column with the URL that a URL redirects to
    ///
    /// Access logs have it only if Location is logged: the usual formats say that there was a redirect, and not where to.
    #[arg(long, value_name = "COLUMN", requires = "column", help_heading = "Evidence")]
    pub(crate) redirect: Option<String>,

    /// Test the rules of FILE on the input instead of learning: for each site precision, recall, pages lost and fetches saved
    ///
    /// The table is TSV: site, urls, pages, right (groups that are the same page), wrong, precision, recall (of the fetches that the
    /// best rules would save), lost (pages), saved (fetches), possible. The last row, `*`, is for all sites.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    #[arg(conflicts_with_all = ["undecided", "precision", "confidence", "min_pages"])]
    pub(crate) test: Option<PathBuf>,

    /// Also write the URLs to FILE which should be fetched to decide hypotheses that are not decided
    ///
    /// As lines of a URL, the number of hypotheses that it says something about, and these, with tabs between them. Secrets are
    /// not masked.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) undecided: Option<PathBuf>,

    /// Name this day, such as 2026-11-27, in the file; by default none, so that the same rows give the same file
    #[arg(long, value_name = "DAY", value_parser = day, allow_negative_numbers = true, help_heading = "Output")]
    #[arg(conflicts_with = "test")]
    pub(crate) date: Option<String>,

    /// The share of the joined groups that must be one page, at the lower bound: 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share, allow_negative_numbers = true)]
    #[arg(help_heading = "Proof")]
    pub(crate) precision: f64,

    /// The confidence of that bound: 0 to 1
    ///
    /// Of rules that are a little worse than --precision, this share is refused. Without a contradiction 59 pages prove a precision of
    /// 0.95 with a confidence of 0.95, and 299 pages prove 0.99.
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share, allow_negative_numbers = true)]
    #[arg(help_heading = "Proof")]
    pub(crate) confidence: f64,

    /// The least number of groups that say something about a rule
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Proof")]
    #[arg(value_parser = number::<u64>(ANY), allow_negative_numbers = true)]
    pub(crate) min_pages: u64,

    /// The format of the tables, if their names do not say it: csv, tsv, jsonl, fields, parquet, arrow
    #[arg(long, value_name = "FORMAT", requires = "column", help_heading = TABLES)]
    pub(crate) from: Option<String>,

    #[command(flatten)]
    pub(crate) dialect: Dialect,
    #[command(flatten)]
    pub(crate) repairs: RepairOptions,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
    #[command(flatten)]
    pub(crate) memory: Memory,
    #[command(flatten)]
    pub(crate) common: Common,
}

fn day(typed: &str) -> Result<String, String> {
    let is_day = typed.len() == "2026-11-27".len() && typed.parse::<Timestamp>().is_ok();
    is_day
        .then(|| typed.to_owned())
        .ok_or_else(|| "a day such as 2026-11-27 is expected".to_owned())
}

fn share(typed: &str) -> Result<f64, String> {
    let share = typed.parse().ok().filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| "a number from 0 to below 1 is expected".to_owned())
}

const AFTER_HELP: &str = "\
Examples:
  $ seq 99 | sed 's|.*|http://a.b/&\\t&\\nhttp://a.b/&?r=x\\t&|' | uriscan learn | tail -3
  [[site]]
  hosts = [\"a.b\"]
  drop = [\"r\"]

  uriscan learn crawl.csv --column url --same digest -o site-rules.toml
  uriscan learn pages.parquet --column url --same content_digest --redirect fetch_redirect
  uriscan learn cdx-00000.gz                        an index of a web archive
  uriscan learn crawl.warc.gz                       the archive itself
  uriscan learn --test site-rules.toml other.tsv    measure rules on other data
  uriscan dedup --rules site-rules.toml urls.txt    use what was learned

Exit codes: 0 done, 1 invalid records under --strict, 2 error.";
