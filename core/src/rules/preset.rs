//! Presets: named bundles of rules.

use serde::Deserialize;

/// A bundle of rules and rules files, with its own version.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Preset {
    /// Its name.
    pub name: String,
    /// Incremented when its content changes.
    pub version: u32,
    /// Its purpose, in one sentence.
    pub meaning: String,
    /// Rules as on a command line, `NAME` or `NAME=ARG`.
    pub rules: Vec<String>,
    /// Names of built-in rules files.
    pub rules_files: Vec<String>,
}

impl Preset {
    /// All presets in all versions; of those with the same name, later versions follow earlier ones.
    ///
    /// ```
    /// use uriscan::rules::Preset;
    /// let names: Vec<String> = Preset::all().iter().map(Preset::full_name).collect();
    /// assert_eq!(names, ["rfc@1", "crawl@1", "crawl@2", "log@1", "log@2"]);
    /// ```
    pub fn all() -> Vec<Preset> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Document {
            preset: Vec<Preset>,
        }
        let document = toml::from_str::<Document>(include_str!("packs/presets.toml"));
        document.expect("built-in presets are tested").preset
    }

    /// The last version of each preset.
    pub fn newest() -> Vec<Preset> {
        let mut newest: Vec<Preset> = Vec::new();
        for preset in Preset::all() {
            newest.retain(|known| known.name != preset.name);
            newest.push(preset);
        }
        newest
    }

    /// The preset with this `name`, which is `NAME@VERSION`, or `NAME` for the last version.
    ///
    /// ```
    /// use uriscan::rules::Preset;
    /// assert_eq!(Preset::from_name("crawl"), Preset::from_name("crawl@2"));
    /// assert_ne!(Preset::from_name("crawl"), Preset::from_name("crawl@1"));
    /// assert_eq!(Preset::from_name("crawl@9"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Preset> {
        let is_it = |preset: &Preset| preset.name == name || preset.full_name() == name;
        Preset::all().into_iter().rfind(is_it)
    }

    /// Its name and version, `NAME@VERSION`.
    pub fn full_name(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{RuleSet, RulesFile};

    #[test]
    fn presets_hold_existing_rules_and_rules_files() {
        for preset in Preset::all() {
            assert!(preset.rules_files.iter().all(|name| RulesFile::built_in(name).is_some()));
            let mut builder = RuleSet::builder();
            preset.rules.iter().for_each(|rule| builder.rule(rule).unwrap());
            let rules = builder.build().unwrap().rules().iter().map(|rule| rule.name());
            // In the order of application, so that the list reads as what happens.
            assert_eq!(rules.collect::<Vec<_>>(), preset.rules);
        }
    }
}
