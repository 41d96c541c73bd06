//! `uriscan key`.

use clap::{Args, ValueEnum};

use super::extract::FromText;
use super::groups::{Common, Equivalence, GrammarChoice, Hash, InvalidRecords, ProfileChoice};

/// Write a key for every record, line by line: a 128-bit hash, or a form to sort by
///
/// By default a key is 32 hexadecimal digits: the first 16 bytes of BLAKE3 of the canonical form, the same on every machine. Equal
/// keys mean equivalent URIs; 32 zeros are the key of a record too long to be parsed. Any BLAKE3 gives the same:
/// `printf %s 'http://example.com/' | b3sum --length 16`. With rules, a profile, another grammar or a base the text that
/// --context prints is mixed in, so that keys with different meanings never match.
///
/// One line is written per line read, in order; a blank line stays blank.
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

    /// Hash of the keys
    #[arg(long, value_name = "HASH", value_enum, default_value_t)]
    pub(crate) hash: Hash,

    /// Print the text that these options mix into the keys, and exit; nothing if a key is the hash of the form alone
    ///
    /// With blake3 it is the context of the key derivation mode (b3sum --derive-key CONTEXT --length 16). With
    /// sha256, a key is the hash of the context, an empty line (\n\n) and the canonical form.
    #[arg(long)]
    pub(crate) context: bool,

    #[command(flatten)]
    pub(crate) invalid: InvalidRecords,
    #[command(flatten)]
    pub(crate) grammar: GrammarChoice,
    #[command(flatten)]
    pub(crate) table: super::table::TableChoice,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What a key looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyForm {
    /// 32 hexadecimal digits: a hash of the canonical form
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
  uriscan key urls.txt > urls.keys
  paste <(uriscan key urls.txt) urls.txt | sort               equivalent URIs come together
  uriscan key --as ssurt urls.txt | LC_ALL=C sort             the hosts of a domain come together
  comm -12 <(uriscan key a.txt | sort -u) <(uriscan key b.txt | sort -u)
  uriscan key --hash sha256 urls.txt                          what sha256sum and SQL engines give, cut to 16 bytes";
