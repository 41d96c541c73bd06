//! `uriscan rules`.

use clap::{Args, ValueEnum};

use super::groups::{Destination, Equivalence};

/// Print rules, presets and packs, or what a choice of them comes to
///
/// Without options: every rule with its meaning, in the order in which rules are applied; the presets and
/// what they hold; the built-in packs. With --rule, --preset or --rules: the rule set that they make, its
/// patterns from weak to strong, which of them override others, and its hash. The hash stands for rung,
/// grammar, rules and versions: keys can be compared only under one hash.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Rules {
    #[command(flatten)]
    pub(crate) equivalence: Equivalence,

    /// The form of the answer
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) format: RulesFormat,

    #[command(flatten)]
    pub(crate) destination: Destination,
}

/// The form of the answer of `rules`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulesFormat {
    /// For people
    #[default]
    Table,
    /// One object in one line, for machines
    Json,
}

const AFTER_HELP: &str = "\
A file of rules for parameters:
  include = [\"tracking\"]               # built-in packs, or files beside this one

  [[param]]                            # for all hosts
  drop = [\"ref\", \"src_*\"]              # * any bytes, ? one byte
  allow = [\"src_lang\"]                 # these stay
  why = \"where a reader came from\"

  [[param]]
  hosts = [\"shop.example\", \"site:example.com\", \"*.example.*\"]
  except = [\"api.example.com\"]
  keep = [\"id\", \"page\"]                # all others go
The last pattern that matches a name decides; in a table: keep, drop, allow.

Examples:
  uriscan rules                                    what there is
  uriscan rules --preset crawl                     what a preset comes to
  uriscan rules --rules mine.toml --rule www       is my file right, what overrides what
  uriscan rules --preset log --format json | jq -r .rule_set";
