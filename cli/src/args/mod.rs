//! What the user typed, as types. What it means is decided in
//! [`crate::commands`].

mod audit;
mod census;
mod check;
mod dedup;
mod explain;
mod extract;
mod format;
mod grammar;
mod groups;
mod key;
mod learn;
mod listed;
#[cfg(test)]
mod meanings;
mod named;
mod normalize;
mod number;
mod pages;
mod parse;
mod resolve;
mod rule_choice;
mod rules;
mod set;
mod short_help;
mod table;
mod tips;
mod top;

pub(crate) use audit::{AUDIT_FORMATS, Audit, FailOn};
pub(crate) use census::{Census, CensusFormat};
pub(crate) use check::{CHECK_FORMATS, Check};
pub(crate) use dedup::{Classes, Dedup, SampleBy};
pub(crate) use explain::{Explain, ExplainFormat};
pub(crate) use extract::{Extract, Filters, Find, FromPages, FromText, Walk};
#[cfg(feature = "full")]
pub(crate) use format::TABLE_FORMATS;
pub(crate) use grammar::{Grammar, GrammarFormat};
pub(crate) use groups::{
    Common, Destination, Equivalence, Input, InvalidRecords, Level, Memory, OnInvalid,
    ProfileChoice, References, RepairOptions, ReportFile, Reporting, StatsFormat, Typed, When,
};
pub(crate) use key::{Key, KeyForm};
pub(crate) use learn::Learn;
pub(crate) use named::Choices;
pub(crate) use normalize::Normalize;
pub(crate) use pages::{Completions, Help, Man};
pub(crate) use parse::{Parse, ROW_FORMATS};
pub(crate) use resolve::{Resolve, RowsFormat};
pub(crate) use rule_choice::RuleChoice;
pub(crate) use rules::{Rules, RulesCommand, RulesFormat};
pub(crate) use set::{
    Add, Create, Export, Filling, Has, Import, Remove, Set, SetCommand, SetStatsFormat, SplitSet,
};
pub(crate) use table::{Dialect, NoUri, Quote, TableChoice};
pub(crate) use top::{Top, TopFormat};

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::exit::{eprint_lines, shown_name};

/// Parse, normalize and deduplicate URIs by RFC 3986, in bulk
///
/// Commands read records, one URI per line (LF or CRLF; NUL with -0), from files or standard input, and write results in
/// input order. White space around a record is ignored; blank lines are counted and skipped. gzip, zstd, bzip2, xz
/// and lz4 input is decompressed. `extract` finds URIs in text, logs, pages and archives.
#[derive(Debug, Parser)]
#[command(name = "uriscan", version, after_long_help = AFTER_HELP, subcommand_required = true)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  $ printf 'HTTP://Example.com:80\\nhttp://example.com/\\n' | uriscan dedup
  HTTP://Example.com:80

  uriscan dedup urls.txt -o unique.txt         keep the first of each group, as written
  uriscan dedup --stats < urls.txt.gz          the same on a stream, with a summary
  uriscan census urls.txt                      count what each level would merge
  uriscan top --by domain urls.txt             count hosts, domains, parameters ...
  uriscan normalize --level syntax urls.txt     write the canonical form of every line
  uriscan key a.txt > a.keys                   write 128-bit keys; equal keys, equivalent URIs
  uriscan parse -g '{host}' urls.txt           split into components
  uriscan check urls.txt                       validate by RFC 3986
  uriscan explain 'HTTP://h:80' http://h/      explain a canonical form, compare two URIs
  uriscan audit urls.txt                       find security problems (RFC 3986, section 7)
  uriscan dedup --preset crawl urls.txt        with rules beyond the RFC; see `uriscan rules`
  uriscan learn crawl.tsv -o rules.toml        find rules in a crawl with digests of pages
  uriscan resolve --base http://a/b hrefs.txt  resolve references
  uriscan extract access.log.gz                find URIs in text, logs and directories
  uriscan dedup --seen s.set --update new.txt  drop URIs of earlier runs; see `uriscan set`

Environment:
  URISCAN_BACKEND  the default of --backend
  NO_COLOR, CLICOLOR, CLICOLOR_FORCE  disable and force colours; see --color
  TMPDIR           the default of --temp-dir

Exit codes: 0 done, 1 the answer is no, 2 error; see `uriscan help exit-codes`. Which URIs are equivalent:
`uriscan help ladder`.

'uriscan COMMAND --help' has details and examples. --version lists the SIMD backends.";

/// The commands.
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "a run has one value")]
pub(crate) enum Command {
    Dedup(Dedup),
    Normalize(Normalize),
    Key(Key),
    Parse(Parse),
    Check(Check),
    Audit(Audit),
    Census(Census),
    Top(Top),
    Explain(Explain),
    Rules(Rules),
    Learn(Learn),
    Resolve(Resolve),
    Extract(Extract),
    Set(Set),
    Help(Help),
    Completions(Completions),
    Man(Man),
}

impl Command {
    /// The options for tables, those for links, and the value of `--to`, of commands that read records.
    pub(crate) fn reading(&mut self) -> Option<(TableChoice, &mut Find, Option<&String>)> {
        Some(match self {
            Command::Dedup(it) => (it.table.clone(), &mut it.from.find, it.to.as_ref()),
            Command::Normalize(it) => (it.table.clone(), &mut it.from.find, it.to.as_ref()),
            Command::Key(it) => (it.table.clone(), &mut it.from.find, it.to.as_ref()),
            Command::Parse(it) => (it.table.clone(), &mut it.from.from.find, it.to.as_ref()),
            Command::Check(it) => (it.table.clone(), &mut it.from.from.find, it.to.as_ref()),
            Command::Audit(it) => (it.table.clone(), &mut it.from.from.find, it.to.as_ref()),
            Command::Extract(it) => (it.table.clone(), &mut it.find, it.to.as_ref()),
            Command::Census(it) => (it.table.clone().into(), &mut it.from.find, None),
            Command::Top(it) => (it.table.clone().into(), &mut it.links.find, None),
            Command::Set(Set { command }) => {
                let records = command.records()?;
                (records.table.clone().into(), &mut records.from.find, None)
            }
            _ => return None,
        })
    }
}

impl Cli {
    /// What `args` mean, and the value of `--stats-file`. Does not return for `--help`, `--version` and what clap refuses
    /// (exit code 2).
    ///
    /// What it refuses is given to `refused`. `version` is what `--version` prints after the name; `-V` prints the number alone.
    pub(crate) fn from_args(
        args: &[OsString],
        version: String,
        refused: fn(&[OsString], &clap::Error),
    ) -> (Cli, Option<PathBuf>) {
        // clap wants a text that lives as long as the process.
        let version: &str = version.leak();
        Cli::parsed(version, args).unwrap_or_else(|error| {
            // Messages quote arguments, and have those that are similar; so these are quoted as messages show them.
            let quoted = args.iter().map(|arg| shown_name(&arg.to_string_lossy()).into());
            let quoted: Vec<OsString> = quoted.collect();
            let is_help = !error.use_stderr();
            match Cli::parsed(version, &quoted) {
                Err(quoting) if is_help || quoting.use_stderr() => {
                    refused(args, &quoting);
                    quoting.exit()
                }
                _ => {
                    refused(args, &error);
                    eprint_lines(&error.to_string());
                    std::process::exit(error.exit_code())
                }
            }
        })
    }

    fn parsed(
        version: &'static str,
        args: &[OsString],
    ) -> Result<(Cli, Option<PathBuf>), clap::Error> {
        let parse = |all: clap::Command| all.long_version(version).try_get_matches_from(args);
        // What help and messages list takes longer to put together than most runs take: it is not needed for most.
        let matches = parse(complete()).or_else(|_| {
            // Headings are for the many options of `--help`.
            let is_short = args.iter().any(|arg| arg == "-h");
            let listed =
                || if is_short { short_help::ungrouped(definition()) } else { definition() };
            parse(listed()).map_err(|error| {
                let typed: Vec<String> =
                    args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
                tips::with_tip(error, &typed, &listed().long_version(version))
            })
        })?;
        let mut cli = Cli::from_arg_matches(&matches)?;
        // Searching for links takes it, too.
        if let Some((table, find, _)) = cli.command.reading() {
            find.delimiter = table.dialect.delimiter;
        }
        Ok((cli, stats_file(&matches)))
    }
}

/// The value of `--stats-file`, of whichever command.
fn stats_file(matches: &clap::ArgMatches) -> Option<PathBuf> {
    if let Some((_, matches)) = matches.subcommand() {
        return stats_file(matches);
    }
    matches.try_get_one::<PathBuf>("stats_file").ok().flatten().cloned()
}

/// The commands and their options, as their help lists them.
pub(crate) fn definition() -> clap::Command {
    short_help::shortened(Cli::command())
}

/// The commands and all of their options, those included that are explained elsewhere.
pub(crate) fn complete() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        definition().debug_assert();
    }

    /// The names of the options that Python and SQL have, too, what they take, and the values that they offer.
    #[cfg(feature = "full")]
    #[test]
    fn options_are_those_of_the_library() {
        use uriscan_arrow::{Columns, OptionKind};
        let definition = definition();
        for name in ["dedup", "normalize", "key", "explain", "set create"] {
            let mut words = name.split(' ');
            let command = words.try_fold(&definition, |at, word| at.find_subcommand(word));
            let command = command.unwrap_or_else(|| panic!("{name}"));
            for option in Columns::OPTIONS {
                let of_name = |arg: &&clap::Arg| arg.get_long() == Some(&option.flag());
                let Some(arg) = command.get_arguments().find(of_name) else {
                    // What explains does not make keys, and explains what is invalid.
                    let is_elsewhere = matches!(
                        (name, option.name),
                        ("explain", "hash" | "on_invalid" | "profile") | ("normalize", "hash")
                    );
                    assert!(is_elsewhere, "{name} lacks --{}", option.flag());
                    continue;
                };
                let is_flag = !arg.get_action().takes_values();
                assert_eq!(is_flag, option.kind == OptionKind::Flag, "{name} {}", option.name);
                let offered = arg.get_possible_values();
                let offered: Vec<&str> = offered.iter().map(|value| value.get_name()).collect();
                let mut values = option.values();
                if option.name == "level" {
                    values.push("protocol");
                }
                assert!(is_flag || offered == values, "{name} {}: {offered:?}", option.name);
            }
        }
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
