//! Rules beyond the RFC: the options that choose them, and `uriscan rules`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Equivalence, groups::Destination};

/// Which rules are on.
#[derive(Debug, Args)]
pub(crate) struct RuleChoice {
    /// A rule beyond the RFC, as NAME or NAME=ARG; repeatable; `uriscan rules` lists them
    ///
    /// All rules are off by default. They are applied in the order of that list, whatever the order
    /// here; patterns given here override those of presets and files.
    #[arg(long = "rule", value_name = "RULE", help_heading = "Rules beyond the RFC")]
    pub(crate) rules: Vec<String>,

    /// A bundle of rules: rfc (none), crawl or log
    #[arg(long, value_name = "NAME", help_heading = "Rules beyond the RFC")]
    pub(crate) preset: Option<String>,

    /// Rules for parameters from a TOML file, or the name of a built-in pack; repeatable
    ///
    /// Later files override earlier ones, and all override the preset. ./tracking for a file that has
    /// the name of a pack.
    #[arg(long = "rules", value_name = "FILE", help_heading = "Rules beyond the RFC")]
    pub(crate) packs: Vec<PathBuf>,

    /// Leave a rule of the preset out again; repeatable
    #[arg(long = "no-rule", value_name = "NAME", help_heading = "Rules beyond the RFC")]
    pub(crate) no_rules: Vec<String>,
}

impl RuleChoice {
    /// Whether nothing was asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
            && self.preset.is_none()
            && self.packs.is_empty()
            && self.no_rules.is_empty()
    }
}

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
