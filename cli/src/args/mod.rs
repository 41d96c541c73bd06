//! What the user typed, as types. What it means is decided in
//! [`crate::commands`].

mod audit;
mod census;
mod check;
mod dedup;
mod explain;
mod extract;
mod grammar;
mod groups;
mod key;
mod normalize;
mod parse;
mod resolve;
mod rule_choice;
mod rules;
mod set;
#[cfg_attr(not(feature = "parquet"), path = "no_tables.rs")]
mod table;

pub(crate) use audit::{Audit, AuditFormat, FailOn};
pub(crate) use census::{Census, CensusFormat};
pub(crate) use check::{Check, CheckFormat};
pub(crate) use dedup::{Classes, Dedup, Emit, Keep};
pub(crate) use explain::{Color, Explain, ExplainFormat};
pub(crate) use extract::{Extract, Find, FromText, InputFormat as TextFormat, Walk};
pub(crate) use grammar::{Grammar, GrammarFormat};
pub(crate) use groups::{
    Common, Destination, Equivalence, Hash, Input, InvalidRecords, Memory, Mending, OnInvalid,
    ProfileChoice, References, Reporting, Rung, StatsFormat,
};
pub(crate) use key::{Key, KeyForm};
pub(crate) use normalize::Normalize;
pub(crate) use parse::{Parse, RowFormat};
pub(crate) use resolve::{InputFormat, Resolve, SameDocument};
pub(crate) use rule_choice::RuleChoice;
pub(crate) use rules::{Rules, RulesFormat};
pub(crate) use set::{Add, Combine, Create, Filling, Has, Import, Set, SetCommand, SetStatsFormat};
pub(crate) use table::TableChoice;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Parse, normalize and deduplicate URIs by RFC 3986, in bulk
///
/// Every command reads records, one URI per line (LF or CRLF; NUL with -0), from FILEs
/// or standard input, and writes its results in input order. White space around a
/// record is no part of it; blank lines are counted and skipped. Input in gzip, zstd, bzip2,
/// xz or lz4 is read as what it holds. `extract` takes anything and makes such lists.
#[derive(Debug, Parser)]
#[command(name = "uriscan", version, after_long_help = AFTER_HELP, subcommand_required = true)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
The ladder: two URIs are one when, at --rung
  string  their bytes are the same                                     (RFC 3986, 6.2.1)
  syntax  also: case of scheme, host and %xx; needless %xx; dot segments        (6.2.2)
  scheme  also: default or empty port, empty path, IP and DNS host forms        (6.2.3)
  protocol  also: what --aliases FILE says, such as redirects that were seen    (6.2.4)

Examples:
  uriscan dedup urls.txt -o unique.txt         the first of each class, as it was written
  uriscan dedup --stats < urls.txt.gz          the same on a stream, with totals on stderr
  uriscan census urls.txt                      what each rung would merge, before you commit
  uriscan normalize --rung syntax urls.txt     a canonical form for every line
  uriscan key a.txt > a.keys                   128-bit keys; equal keys = equivalent URIs
  uriscan parse -g '{host}' urls.txt           components
  uriscan check urls.txt                       is this RFC 3986, and if not, where?
  uriscan explain 'HTTP://h:80' http://h/      what is changed; are they one, and why?
  uriscan audit urls.txt                       what RFC 3986, section 7, warns of
  uriscan dedup --preset crawl urls.txt        with rules beyond the RFC; `uriscan rules` lists them
  uriscan resolve --base http://a/b hrefs.txt  references to the URIs they stand for
  uriscan extract access.log.gz                URIs out of text, logs and directories
  uriscan dedup --seen s.set --update new.txt  what no earlier run has seen; `uriscan set` does more

Environment:
  URISCAN_BACKEND  the default of --backend
  NO_COLOR         no colours in `explain`

Exit codes:
  0  done (also when the reader of the output went away)
  1  `check` found invalid records, `audit` found something, or --strict was given
     and there were invalid records; `set has` found nothing, `set verify` found damage
  2  could not do the job, or not all of it: bad arguments, a file that cannot be read or written,
     an invalid record under --on-invalid error

'uriscan COMMAND --help' says more, with examples. --version names the SIMD backends.";

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Dedup(Dedup),
    Normalize(Normalize),
    Key(Key),
    Parse(Parse),
    Check(Check),
    Audit(Audit),
    Census(Census),
    Explain(Explain),
    Rules(Rules),
    Resolve(Resolve),
    Extract(Extract),
    Set(Set),
    Grammar(Grammar),
}

impl Command {
    /// What was typed about tables, for commands that take them.
    pub(crate) fn table(&self) -> Option<&TableChoice> {
        Some(match self {
            Command::Dedup(typed) => &typed.table,
            Command::Normalize(typed) => &typed.table,
            Command::Key(typed) => &typed.table,
            Command::Parse(typed) => &typed.table,
            Command::Check(typed) => &typed.table,
            Command::Audit(typed) => &typed.table,
            Command::Extract(typed) => &typed.table,
            _ => return None,
        })
    }
}

impl Cli {
    /// The arguments of this process. Does not return for `--help`, `--version` and what clap refuses
    /// (exit code 2).
    ///
    /// `version` is what `--version` prints behind the name; `-V` prints the number alone.
    pub(crate) fn from_process(version: String) -> Cli {
        // clap wants a text that lives as long as the process.
        let matches = Cli::command().long_version(&*version.leak()).get_matches();
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_teaches_by_example() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            let call = format!("uriscan {} ", command.get_name());
            assert!(help.contains("Examples:") && help.contains(&call), "{call}");
        }
    }
}
