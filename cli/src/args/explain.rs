//! `uriscan explain`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::groups::{Destination, Equivalence, Reporting, Strictness, Work};

/// Say why a URI has its canonical form, and why two are one or are not
///
/// Each change is told with its rung, the name of the rule, the bytes of the URI that it is about
/// (counted from 0, the end not included), and the text before and after it. Two URIs are compared
/// too: the lowest rung at which they are one and the rules that make them so; or the bytes at
/// which their canonical forms part, and why no rung makes them one. With --base or
/// --suffix-scheme it is the target of a reference that is explained. Records of more than 16 KiB are
/// not explained: they are told as too long.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Explain {
    /// URIs to explain; two are compared as well. Without any, records are read
    #[arg(value_name = "URI", conflicts_with_all = ["file", "null"])]
    pub(crate) uris: Vec<OsString>,

    /// Read records from FILE instead of standard input (`-`); may be given several times
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,

    /// Records end in NUL instead of LF
    #[arg(short = '0', long)]
    pub(crate) null: bool,

    /// Records are pairs: two URIs with a tab between, such as `dedup --dupes` writes
    ///
    /// What stands behind a second tab is left alone. A record without a tab is one URI.
    #[arg(long, conflicts_with = "uris")]
    pub(crate) pairs: bool,

    #[command(flatten)]
    pub(crate) equivalence: Equivalence,

    /// The form of the answers
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) format: ExplainFormat,

    /// Colours in text: auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: Color,

    #[command(flatten)]
    pub(crate) strictness: Strictness,
    #[command(flatten)]
    pub(crate) destination: Destination,
    #[command(flatten)]
    pub(crate) work: Work,
    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

/// The form of the answers of `explain`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object per URI or pair
    Jsonl,
}

/// When text is coloured.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// In any case
    Always,
    /// Not at all
    Never,
}

const AFTER_HELP: &str = "\
Rules: scheme-case host-case triplet-case triplet-decode dot-segments (6.2.2); utf8-host idna ipv6
empty-port port-zeros default-port default-host empty-path mailto-domain urn-nid (6.2.3); fragment.
triplet-decode holds for every scheme (2.3), for urn too, where RFC 8141, 3.1, decodes no triplets.

Reasons: reserved double-encoding case plus-space https host-dot www trailing-slash duplicate-slash
index-page rootless-dots query-order empty-query empty-fragment empty-userinfo; scheme authority
userinfo host port path query fragment where it is simply another; invalid.

JSON: {\"uri\",\"changes\":[{\"rung\",\"rule\",\"component\",\"start\",\"end\",\"before\",\"after\"}],\"canonical\"}, or
{\"uri\",\"error\":{\"kind\",\"at\"}}; for pairs {\"a\",\"b\",\"rung\",\"rules\",\"partings\":[{\"component\",\"reason\",
\"a\",\"b\",\"message\"}]}, the rung null where they are never one. Records also have their \"line\".

Examples:
  uriscan explain 'HTTP://Example.COM:80/%7Ebob/./x'
  uriscan explain 'http://h/?a=1&b=2' 'http://h/?b=2&a=1'
  uriscan dedup --dupes dupes.tsv urls.txt > unique.txt
  uriscan explain --pairs --format jsonl -f dupes.tsv | jq -r '.rules[]' | sort | uniq -c";
