//! The options that choose rules beyond the RFC.

use std::path::PathBuf;

use clap::Args;
use uriscan::rules::Rule;

use super::named::suggested;

/// The names of the presets.
const PRESETS: [&str; 3] = ["rfc", "crawl", "log"];

/// Which rules are enabled.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rules")]
pub(crate) struct RuleChoice {
    /// Enable a rule beyond the RFC, NAME or NAME=ARG; repeatable (see `uriscan rules`)
    ///
    /// Patterns given here override those of presets and files.
    #[arg(long = "rule", value_name = "RULE", hide_possible_values = true)]
    #[arg(value_parser = suggested(Rule::ALL.iter().map(|rule| rule.name())))]
    pub(crate) rules: Vec<String>,

    /// Enable a bundle of rules: rfc (none), crawl or log; crawl@1 for an earlier version
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = suggested(PRESETS))]
    pub(crate) preset: Option<String>,

    /// Read rules from a TOML file, also those of single sites, or take built-in ones by name; repeatable
    ///
    /// Later files override earlier ones and the preset.
    #[arg(long = "rules", value_name = "FILE")]
    pub(crate) rules_files: Vec<PathBuf>,

    /// Disable a rule of the preset or of files for all hosts; repeatable
    ///
    /// Lists of parameters stay; --rule allow-param=GLOB keeps parameters that they drop.
    #[arg(long = "no-rule", value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = suggested(Rule::ALL.iter().map(|rule| rule.name())))]
    pub(crate) no_rules: Vec<String>,
}

impl RuleChoice {
    /// Whether no rule is enabled or disabled.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
            && self.preset.is_none()
            && self.rules_files.is_empty()
            && self.no_rules.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use uriscan::rules::Preset;

    #[test]
    fn presets_on_offer_are_those_that_exist() {
        let names: Vec<String> = Preset::newest().into_iter().map(|preset| preset.name).collect();
        assert_eq!(names, super::PRESETS);
    }
}
