//! Presets: named bundles of rules.

use serde::Deserialize;

/// A bundle of rules and packs, with its own version.
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
    /// Names of built-in packs.
    pub packs: Vec<String>,
}

impl Preset {
    /// All presets.
    ///
    /// ```
    /// use uriscan::rules::Preset;
    /// let names: Vec<String> = Preset::all().into_iter().map(|preset| preset.name).collect();
    /// assert_eq!(names, ["rfc", "crawl", "log"]);
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

    /// The preset with this `name`, if any.
    pub fn from_name(name: &str) -> Option<Preset> {
        Preset::all().into_iter().find(|preset| preset.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Pack, RuleSet};

    #[test]
    fn presets_hold_existing_rules_and_packs() {
        for preset in Preset::all() {
            assert!(preset.packs.iter().all(|name| Pack::built_in(name).is_some()));
            let mut builder = RuleSet::builder();
            preset.rules.iter().for_each(|rule| builder.rule(rule).unwrap());
            let rules = builder.build().unwrap().rules().iter().map(|rule| rule.name());
            // In the order of application, so that the list reads as what happens.
            assert_eq!(rules.collect::<Vec<_>>(), preset.rules);
        }
    }
}
