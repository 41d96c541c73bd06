//! `uriscan key`.

use clap::{Args, ValueEnum};
use uriscan::key::PublicHash;

use super::extract::FromText;
use super::format::table_names;
use super::groups::{
    Common, Equivalence, GrammarChoice, HASHES, InvalidRecords, ProfileChoice, Typed,
};
use super::named::choice;
use super::table::TABLES;

/// Write a key for every record, line by line: a 128-bit hash or a form to sort by
///
/// Reads one URI per line and writes one line for each, in order; a blank line stays blank. Equal keys mean equivalent URIs.
/// A key is the first 16 bytes of BLAKE3 of the canonical form, in hexadecimal, and the same on every machine:
/// `printf %s 'http://example.com/' | b3sum --length 16`. Rules, a profile, another grammar or a base are mixed in (see
/// --context), so that keys of different meanings never match.
///
/// An invalid record has the key of its bytes; with --on-invalid drop or --rejects its line is omitted. The key of a record
/// that is too long to parse is 32 zeros.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Key {
    #[command(flatten)]
    pub(crate) equivalence: Equivalence,
    #[command(flatten)]
    pub(crate) profile: ProfileChoice,
    #[command(flatten)]
    pub(crate) from: FromText,

    /// What to write for a record
    ///
    /// surt and ssurt reverse the labels of the host, so that sorting (LC_ALL=C) groups the hosts of a domain. With them
    /// and with url, invalid records are written as they were read. surt is lossy: different URIs may have the same form.
    /// surt:cdxj is in lower case, without scheme, userinfo and fragment. surt:ia also omits a leading www label (www2,
    /// ...), default ports, session ids, empty and dot segments, a trailing slash and an empty query; it decodes
    /// triplets except of controls, space, #, % and non-ASCII bytes, expands IPv4 addresses and sorts parameters. The
    /// documentation of the library has the details.
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t)]
    #[arg(help_heading = "Output")]
    pub(crate) form: KeyForm,

    /// Hash of the keys
    #[arg(long, value_name = "HASH", value_parser = choice(HASHES), default_value = "blake3")]
    #[arg(help_heading = "Output")]
    pub(crate) hash: PublicHash,

    /// Print the text that these options mix into the keys, and exit; empty if a key is the plain hash
    ///
    /// With blake3 it is the context of key derivation (b3sum --derive-key CONTEXT --length 16). With sha256, a key is the
    /// hash of the context, an empty line (\n\n) and the canonical form.
    #[arg(long, help_heading = "Output")]
    pub(crate) context: bool,

    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) grammar: GrammarChoice,
    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,

    /// Format of the output [default: by the name of the output file, or that of the first table]
    ///
    /// parquet, arrow, arrow-stream, csv, tsv or jsonl.
    #[arg(long, value_name = "FORMAT", value_parser = table_names(), hide_possible_values = true)]
    #[arg(requires = "column", help_heading = TABLES)]
    pub(crate) to: Option<String>,

    #[command(flatten)]
    pub(crate) typed: Typed,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyForm {
    /// 32 hexadecimal digits: a hash of the canonical form
    #[default]
    Hex,
    /// The canonical form itself
    Url,
    /// com,example,www:81)/path?query: the key that CDXJ 0.1.0 describes; indexes of pywb have surt:ia; surt for short
    #[value(name = "surt:cdxj", alias = "surt")]
    Cdxj,
    /// com,example:81)/path?query: the key of the Wayback Machine's CDX indexes, and url_surtkey of Common Crawl's
    #[value(name = "surt:ia")]
    Ia,
    /// com,example,www,//81:http@user:/Path?Query#Fragment: lossless
    Ssurt,
}

const AFTER_HELP: &str = "\
Examples:
  $ printf 'http://example.com/\\nHTTP://EXAMPLE.com:80\\n' | uriscan key
  08d8fff27b792ba736c771819e0dec0a
  08d8fff27b792ba736c771819e0dec0a
  $ echo http://www.example.com:81/path | uriscan key --as surt
  com,example,www:81)/path

  uriscan key urls.txt > urls.keys
  paste <(uriscan key urls.txt) urls.txt | sort               group equivalent URIs
  uriscan key --as ssurt urls.txt | LC_ALL=C sort             group the hosts of a domain
  comm -12 <(uriscan key a.txt | sort -u) <(uriscan key b.txt | sort -u)
  uriscan key --hash sha256 urls.txt                          sha256 in SQL, first 16 bytes

Exit codes: 0 done, 1 invalid records under --strict, 2 error.";
