//! Reads an equivalence back from the meaning that a set stores.

use std::fmt;
use std::sync::Arc;

use crate::pipeline::Equivalence;
use uriscan_core::context::Context;
use uriscan_core::normalize::{Level, Options};
use uriscan_core::profile::Profile;
use uriscan_core::repair::{Repair, Repairs};
use uriscan_core::resolve::{self, BaseUri, Suffix};
use uriscan_core::rfc2396::Grammar;
use uriscan_core::rfc2396::LegacyBase;
use uriscan_core::rules::{RuleSet, RulesFile};
use uriscan_core::set::Meaning;

/// Why the equivalence of a [`Meaning`] cannot be had here.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredError {
    /// The meaning has rules, but not their text.
    NoText,
    /// Another version of this library has made the keys, and URIs that are equivalent there may not be so here: what
    /// it stored, and what it would be here.
    Version(String, String),
    /// The meaning contradicts itself; the reason.
    Damaged(String),
}

impl fmt::Display for StoredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoredError::NoText => f.write_str("its rules are not stored with it"),
            StoredError::Version(stored, own) => write!(
                f,
                "made by another version of uriscan, with `{stored}`; this version has `{own}`, so create it again from its list"
            ),
            StoredError::Damaged(why) => write!(
                f,
                "damaged: the settings that it stores are not those of its keys: {why}; restore the set from a copy"
            ),
        }
    }
}

impl std::error::Error for StoredError {}

/// Facts by which keys are known to have rules beyond the RFC.
const OF_RULES: [&str; 4] = ["rule", "drop", "keep", "site"];

impl Equivalence {
    /// The equivalence of which `meaning` is the [`Equivalence::meaning`], without aliases: of those a set stores a digest.
    ///
    /// Nothing is taken on trust: the meaning of the result is that of the set, but for aliases.
    ///
    /// ```
    /// use uriscan::key::PublicHash;
    /// use uriscan::normalize::{Options, Level};
    /// use uriscan_bulk::pipeline::Equivalence;
    /// use uriscan::set::Meaning;
    /// let equivalence = Equivalence::from(Options::new(Level::Syntax).drop_fragment(true));
    /// let meaning = equivalence.meaning(PublicHash::Blake3);
    /// let stored = Equivalence::stored(&meaning).unwrap();
    /// assert_eq!(stored.identity(), equivalence.identity());
    /// assert!(Equivalence::stored(&Meaning::new(PublicHash::Blake3, "level syntax\n")).is_err());
    /// ```
    ///
    /// # Errors
    /// If the text of rules is missing, the meaning is that of another version, or it contradicts itself.
    pub fn stored(meaning: &Meaning) -> Result<Equivalence, StoredError> {
        let facts = meaning.as_str();
        let has_rules = facts.lines().any(|line| OF_RULES.contains(&name_of(line)));
        if has_rules && meaning.rules().is_none() {
            return Err(StoredError::NoText);
        }
        let equivalence = parse(meaning)?;
        let own = equivalence.meaning(meaning.hash());
        let without_aliases = facts.lines().filter(|line| name_of(line) != "aliases");
        match difference(without_aliases, own.as_str().lines()) {
            None => Ok(equivalence),
            Some((Some(stored), Some(own)))
                if unversioned(stored).is_some() && unversioned(stored) == unversioned(own) =>
            {
                Err(StoredError::Version(stored.to_owned(), own.to_owned()))
            }
            Some((stored, own)) => {
                let quoted =
                    |line: Option<&str>| line.map_or("nothing".to_owned(), |it| format!("`{it}`"));
                Err(StoredError::Damaged(format!("{} there, {} here", quoted(stored), quoted(own))))
            }
        }
    }
}

/// The first lines that differ.
fn difference<'a>(
    mut stored: impl Iterator<Item = &'a str>,
    mut own: impl Iterator<Item = &'a str>,
) -> Option<(Option<&'a str>, Option<&'a str>)> {
    loop {
        match (stored.next(), own.next()) {
            (None, None) => return None,
            (stored, own) if stored == own => {}
            differing => return Some(differing),
        }
    }
}

/// The first word of a fact.
fn name_of(fact: &str) -> &str {
    fact.split(' ').next().unwrap_or_default()
}

/// The words of a fact without those that are versions; `None` for a fact that has none.
fn unversioned(fact: &str) -> Option<Vec<&str>> {
    let is_version = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    match name_of(fact) {
        name @ "public-suffix" => Some(vec![name]),
        "grammar" | "rule" | "site" | "profile" => {
            Some(fact.split(' ').filter(|word| !is_version(word)).collect())
        }
        _ => None,
    }
}

/// The equivalence that the facts and the rules of `meaning` say, as far as they are known.
fn parse(meaning: &Meaning) -> Result<Equivalence, StoredError> {
    let wrong = |fact: &str| StoredError::Damaged(format!("`{fact}` is not a setting"));
    let (mut made, mut grammar, mut normalize) =
        (Equivalence::default(), Grammar::default(), Options::default());
    for fact in meaning.as_str().lines() {
        let value = fact.split_once(' ').map_or("", |(_, value)| value);
        let first = name_of(value);
        match name_of(fact) {
            "profile" => {
                let profile = Profile::from_name(first).ok_or_else(|| wrong(fact))?;
                return Ok(Equivalence::default().profile(Some(profile)));
            }
            "grammar" => grammar = first.parse().map_err(|_| wrong(fact))?,
            "level" => normalize.level = Level::from_name(value).ok_or_else(|| wrong(fact))?,
            "fragment" => normalize.drop_fragment = value == "dropped",
            name @ ("base" | "lenient-base") => {
                let base = base(grammar, value, name == "lenient-base");
                made.context = Some(base.ok_or_else(|| wrong(fact))?);
            }
            "suffix-scheme" => {
                let suffix = Suffix::new(value).map_err(|_| wrong(fact))?;
                made.context = Some(Context::Suffix(suffix));
            }
            "repair" => {
                let repair = Repair::from_name(value).ok_or_else(|| wrong(fact))?;
                made.repairs = made.repairs.or(Repairs::default().with(repair));
            }
            // The other facts are those of rules, or not known; either is compared.
            _ => {}
        }
    }
    made.rules = meaning.rules().map(rules).transpose()?.map(Arc::new);
    Ok(made.grammar(grammar).normalize(normalize))
}

/// The base `text`, if it is one.
fn base(grammar: Grammar, text: &str, lenient_scheme: bool) -> Option<Context> {
    let text = text.as_bytes();
    match grammar.legacy() {
        None => {
            let options = resolve::Options::default().lenient_scheme(lenient_scheme);
            BaseUri::new(text).map(|base| Context::Base { base, options }).ok()
        }
        Some(legacy) => {
            LegacyBase::new(text, legacy).map(|base| Context::Legacy { base, lenient_scheme }).ok()
        }
    }
}

/// The rules of which `text` is [`RuleSet::to_toml`].
fn rules(text: &str) -> Result<RuleSet, StoredError> {
    let damaged = |why: String| StoredError::Damaged(why);
    let mut open = |_: &str, _: &str| Err("the rules of a set include no files".to_owned());
    let rules_file =
        RulesFile::parse(text, "rules", &mut open).map_err(|error| damaged(error.to_string()))?;
    let mut builder = RuleSet::builder();
    builder.rules_file(&rules_file);
    builder.build().map_err(|error| damaged(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use uriscan_core::key::PublicHash;

    #[test]
    fn every_equivalence_is_read_back_from_its_meaning() {
        let rules = |typed: &[&str], preset: Option<&str>| {
            let mut builder = RuleSet::builder();
            let preset = preset.and_then(uriscan_core::rules::Preset::from_name);
            preset.iter().for_each(|preset| builder.preset(preset).unwrap());
            typed.iter().for_each(|rule| builder.rule(rule).unwrap());
            Some(Arc::new(builder.build().unwrap()))
        };
        let plain = Equivalence::default();
        let mut all = vec![plain.clone()];
        for level in Level::ALL {
            all.push(Options::new(level).into());
            all.push(Options::new(level).drop_fragment(true).into());
        }
        all.extend(Profile::ALL.map(|profile| plain.clone().profile(Some(profile))));
        for grammar in Grammar::ALL {
            all.push(plain.clone().grammar(grammar));
            let base = [false, true].map(|lenient| base(grammar, "http://a/b?c", lenient));
            all.extend(base.map(|base| plain.clone().grammar(grammar).context(base)));
        }
        let suffix = Suffix::new("https").unwrap();
        all.push(plain.clone().context(Some(Context::Suffix(suffix))));
        all.push(plain.clone().repairs(Repairs::usual().with(Repair::Entity)));
        all.push(plain.clone().repairs(Repairs::default().with(Repair::Iri)));
        for (typed, preset) in [
            (&["www", "index-page=a,b.htm"][..], None),
            (&["drop-param=a", "allow-param=x*", "keep-param=a'*"], None),
            (&[], Some("crawl")),
            (&["host-dot", "drop-param=x"], Some("log")),
        ] {
            all.push(plain.clone().rules(rules(typed, preset)));
        }
        for equivalence in all {
            for hash in PublicHash::ALL {
                let meaning = equivalence.meaning(hash);
                // As it is on disk.
                let meaning = Meaning::from_text(&meaning.to_text()).unwrap();
                let stored = Equivalence::stored(&meaning).unwrap();
                assert_eq!(stored.meaning(hash), meaning);
                assert_eq!(stored.identity(), equivalence.identity());
                assert_eq!(stored.key_context(), equivalence.key_context());
            }
        }
    }
}
