//! The options that choose rules beyond the RFC.

use std::path::PathBuf;

use clap::Args;

/// Which rules are enabled.
#[derive(Debug, Args)]
pub(crate) struct RuleChoice {
    /// Enable a rule beyond the RFC, NAME or NAME=ARG; repeatable (see `uriscan rules`)
    ///
    /// All rules are off by default. They are applied in the order in which `uriscan rules` lists them. Patterns given
    /// here override those of presets and files.
    #[arg(long = "rule", value_name = "RULE", help_heading = "Rules beyond the RFC")]
    pub(crate) rules: Vec<String>,

    /// Enable a bundle of rules: rfc (none), crawl or log
    #[arg(long, value_name = "NAME", help_heading = "Rules beyond the RFC")]
    pub(crate) preset: Option<String>,

    /// Read rules for parameters from a TOML file, or take a built-in pack by its name; repeatable
    ///
    /// Later files override earlier ones, and all override the preset. Write ./tracking for a file that has the name of
    /// a pack.
    #[arg(long = "rules", value_name = "FILE", help_heading = "Rules beyond the RFC")]
    pub(crate) packs: Vec<PathBuf>,

    /// Disable a rule of the preset; repeatable
    #[arg(long = "no-rule", value_name = "NAME", help_heading = "Rules beyond the RFC")]
    pub(crate) no_rules: Vec<String>,
}

impl RuleChoice {
    /// Whether no rule is enabled or disabled.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
            && self.preset.is_none()
            && self.packs.is_empty()
            && self.no_rules.is_empty()
    }
}
