//! `uriscan key`.

use clap::{Args, ValueEnum};

use super::{Common, Equivalence, FromText, GrammarChoice, InvalidRecords, ProfileChoice, groups};

/// Write a key for every record, line by line: a 128-bit hash, or a form to sort by
///
/// By default a key is 32 hexadecimal digits: XXH3-128 of the canonical form under the seed. Equal keys =
/// equal at the rung, but for 32 zeros: a record too long to be judged. One line out per line in, in order; a blank line stays a blank line.
/// An invalid record has the key of its bytes, or under --on-invalid drop and FILE its line is
/// missing.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Key {
    #[command(flatten)]
    pub(crate) equivalence: Equivalence,
    #[command(flatten)]
    pub(crate) profile: ProfileChoice,
    #[command(flatten)]
    pub(crate) from: FromText,

    /// What is written for a record
    ///
    /// surt and ssurt reverse the labels of the host, so that sorting (LC_ALL=C) brings the hosts of a domain
    /// together; a record that is no URI is written as it is, as with url. surt leaves things out: different URIs may
    /// have one. surt:cdxj: everything in lower case; without scheme, userinfo and fragment. surt:ia: also
    /// without a label www (www2, ...) in front, default ports, session ids, empty and dot segments, a
    /// slash at the end, an empty query; all triplets decoded but of controls, space, #, % and beyond ASCII;
    /// IPv4 addresses spelled out; parameters sorted. What each does in full is in the documentation of the library.
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t)]
    pub(crate) form: KeyForm,

    /// Seed of the hash, for keys that can be compared across runs; random when not given
    #[arg(long, value_name = "N", value_parser = groups::seed)]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) grammar: GrammarChoice,
    #[command(flatten)]
    pub(crate) table: super::TableChoice,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What a key looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyForm {
    /// 32 hexadecimal digits: XXH3-128 of the canonical form
    #[default]
    Hex,
    /// The canonical form itself
    Url,
    /// com,example,www:81)/path?query: the key of CDXJ indexes (Webrecorder); surt for short
    #[value(name = "surt:cdxj", alias = "surt")]
    Cdxj,
    /// com,example:81)/path?query: the key of the Wayback Machine's CDX indexes
    #[value(name = "surt:ia")]
    Ia,
    /// com,example,www,//81:http@user:/Path?Query#Fragment: nothing is lost
    Ssurt,
}

const AFTER_HELP: &str = "\
Examples:
  uriscan key --seed 1 urls.txt > urls.keys
  paste <(uriscan key --seed 1 urls.txt) urls.txt | sort      equal URIs come together
  uriscan key --as ssurt urls.txt | LC_ALL=C sort             the hosts of a domain come together
  comm -12 <(uriscan key --seed 1 a.txt | sort -u) <(uriscan key --seed 1 b.txt | sort -u)";
