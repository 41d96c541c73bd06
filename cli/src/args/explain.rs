//! `uriscan explain`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::groups::{Destination, Equivalence, Reporting, Strictness, Work};

/// Explain the canonical form of a URI, and why two URIs are equivalent or not
///
/// Takes URIs as arguments, or reads them from standard input or files. Prints each change with its level, the name of its rule,
/// the range of bytes from 0 (the end is exclusive), and the text before and after. For two URIs it also prints the lowest
/// level at which they are equivalent with its steps and the rules that are necessary, or where their canonical forms differ and
/// why no level merges them, and which options would: rules, presets, repairs, --iri, --suffix-scheme, --base. With --base it explains the target of the reference. Records of more than 16 KiB are reported
/// as too long.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Explain {
    /// URIs to explain; two are also compared. Without any, records are read
    #[arg(value_name = "URI", conflicts_with_all = ["file", "null"])]
    pub(crate) uris: Vec<OsString>,

    /// Read this URI instead of files; repeatable
    #[arg(short = 'e', long, value_name = "URI", conflicts_with_all = ["uris", "file", "null", "pairs"])]
    pub(crate) uri: Vec<OsString>,

    /// Read records from FILE instead of standard input (`-`); may be given several times
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,

    /// Records end in NUL instead of LF
    #[arg(short = '0', long)]
    pub(crate) null: bool,

    /// Records are pairs of URIs separated by a tab, as `dedup --dupes` writes them
    ///
    /// A FILE called .parquet, .arrow, .csv or .jsonl is a table with columns uri and kept, as `dedup` writes them with --dupes and
    /// --clusters. Further columns are ignored. A record without a second URI, such as one with the level `seen`, is one URI.
    #[arg(long, conflicts_with = "uris")]
    pub(crate) pairs: bool,

    #[command(flatten)]
    pub(crate) equivalence: Equivalence,

    /// Format of the output [default: text, or by -o]
    #[arg(long, value_name = "FORMAT", value_enum)]
    #[arg(help_heading = "Output")]
    pub(crate) to: Option<ExplainFormat>,

    #[command(flatten)]
    pub(crate) strictness: Strictness,
    #[command(flatten)]
    pub(crate) destination: Destination,
    #[command(flatten)]
    pub(crate) work: Work,
    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// Text for people
    #[default]
    Text,
    /// One JSON object per URI or pair
    Jsonl,
}

const AFTER_HELP: &str = "\
Rules: scheme-case host-case triplet-case triplet-decode dot-segments (6.2.2); utf8-host idna ipv6 \
empty-port port-zeros default-port default-host empty-path mailto-domain urn-nid (6.2.3); fragment. \
triplet-decode applies to every scheme (2.3), also to urn, where RFC 8141, 3.1, decodes no triplets.

Reasons: reserved double-encoding case plus-space https host-dot www trailing-slash duplicate-slash \
index-page rootless-dots query-order empty-query empty-fragment empty-userinfo; scheme authority \
userinfo host port path query fragment, if that component is simply different; invalid.

JSON: {\"uri\",\"changes\":[{\"level\",\"rule\",\"component\",\"start\",\"end\",\"before\",\"after\"}],\"canonical\"}, or \
{\"uri\",\"error\":{\"kind\",\"at\"}}; for pairs {\"a\",\"b\",\"level\",\"rules\",\"partings\":[{\"component\",\"reason\", \
\"a\",\"b\",\"message\"}],\"merged_by\"}, with level null if they are equivalent at none, and \"rules\" if rules are \
necessary. Records also have their \"line\", and \"record\" if that is repaired or resolved to what \"uri\" is.

Examples:
  $ uriscan explain 'http://h:80'
  http://h:80
    scheme  default-port    8..11     :80 -> \"\"
    scheme  empty-path      8..8      \"\" -> /
    = http://h/

  uriscan explain 'HTTP://Example.COM:80/%7Ebob/./x'
  uriscan explain 'http://h/?a=1&b=2' 'http://h/?b=2&a=1'
  uriscan explain -q \"$one\" \"$other\" > /dev/null && echo 'one page'
  uriscan dedup --dupes dupes.tsv urls.txt > unique.txt
  uriscan explain --pairs --to jsonl -f dupes.tsv | jq -r '.rules[]' | sort | uniq -c

Exit codes: 0 done, 1 two URIs as arguments are not equivalent, or invalid records under --strict, 2 error.";
