//! `uriscan rules`.

use clap::{Args, Subcommand, ValueEnum};

use super::grammar::Grammar;
use super::groups::{Destination, Equivalence};

/// Print rules, presets and built-in rules files, or the rule set that options enable
///
/// Without options: every rule in the order in which rules are applied, the presets and their rules, and the built-in rules files.
/// With --rule, --preset or --rules: the resulting rule set, its patterns from weak to strong, which of them override others,
/// and its hash. The hash identifies level, grammar, rules and versions: only keys of the same hash can be compared.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct Rules {
    #[command(subcommand)]
    pub(crate) command: Option<RulesCommand>,

    #[command(flatten)]
    pub(crate) equivalence: Equivalence,

    /// Format of the output [default: table, or by -o]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) to: Option<RulesFormat>,

    #[command(flatten)]
    pub(crate) destination: Destination,
}

/// The command below `rules`.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    Grammar(Grammar),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulesFormat {
    /// For people
    #[default]
    Table,
    /// One JSON object on one line
    Json,
    /// One file for --rules, with all rules of presets, rules files and options
    Toml,
}

const AFTER_HELP: &str = "\
A file of rules:
  include = [\"tracking\"]               # built-in rules files, or files in the same directory
  rules = [\"https\", \"index-page\"]     # for all hosts

  [[param]]                            # for all hosts
  drop = [\"ref\", \"src_*\"]              # * any bytes, ? one byte
  allow = [\"src_lang\"]                 # do not drop these
  why = \"where a reader came from\"

  [[param]]
  hosts = [\"shop.example\", \"site:example.com\", \"*.example.*\"]
  except = [\"api.example.com\"]
  keep = [\"id\", \"page\"]                # drop all others

  [[param]]
  paths = [\"/forum/\"]                  # below these paths only
  given = [\"view=print\"]               # only where a query has one of these; for drop
  drop = [\"sid\"]

  [[site]]                             # rules of these hosts
  hosts = [\"m.shop.example\", \"shop.example\"]
  host = \"www.shop.example\"            # what they become
  rules = [\"path-case\", \"path-prefix=/en/\", \"path-decode=,:\"]
  without = [\"anchor\"]                 # off there
  drop = [\"sid\"]                       # as in [[param]]
The last pattern that matches a name applies; within a table the order is keep, drop, allow. Of several sites that match a
host all apply, a later one overrides; they apply to the host that `host` and `www` have made.

Examples:
  $ uriscan rules --preset rfc | tail -1
  no rules

  uriscan rules                                    list everything
  uriscan rules --preset crawl                     the rules of a preset
  uriscan rules --rules mine.toml --rule www       validate a file, show overrides
  uriscan rules --preset log --to json | jq -r .rule_set
  uriscan rules --preset log --to toml -o log.toml the same rules as a file
  uriscan rules grammar                            the grammars of --grammar

Exit codes: 0 done, 2 error.";
