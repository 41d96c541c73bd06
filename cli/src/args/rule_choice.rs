//! The options that choose rules beyond the RFC.

use std::path::PathBuf;

use clap::Args;

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
