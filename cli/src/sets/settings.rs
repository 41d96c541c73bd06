//! The settings of a job that uses a set: those of the set. Options that were typed have to agree with them.

use std::collections::HashSet;
use std::path::Path;

use clap::ValueEnum;
use uriscan::key::PublicHash;
use uriscan::repair::Repair;
use uriscan::set::Meaning;
use uriscan_bulk::pipeline::{Equivalence, StoredError};

use crate::args;
use crate::exit::Failure;
use crate::options::{by_profile, equivalence};

/// The options that decide what keys mean, as they were typed.
pub(crate) struct Typed<'a> {
    pub(crate) equivalence: &'a args::Equivalence,
    pub(crate) profile: &'a args::ProfileChoice,
    pub(crate) hash: Option<PublicHash>,
    /// The links of documents are read, which are decoded as they are found.
    pub(crate) extract: bool,
}

/// Which set decides.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// None: a new one is made by the options that were typed.
    Options,
    /// The set at this path; `advice` says what creates it where there is none.
    Set { path: &'a Path, advice: &'a str },
    /// The set at this path, or the options where there is none.
    SetIfAny(&'a Path),
}

/// The equivalence and the hash of the job.
pub(crate) fn settings(
    source: Source<'_>,
    typed: &Typed<'_>,
) -> Result<(Equivalence, PublicHash), Failure> {
    let mut chosen = by_profile(equivalence(typed.equivalence)?, typed.profile)?;
    if typed.extract {
        // As when the set was made.
        chosen.repairs = chosen.repairs.without(Repair::Entity);
    }
    let hash = typed.hash.unwrap_or_default();
    let (path, meaning) = match source {
        Source::Options => return Ok((chosen, hash)),
        Source::Set { path, advice } => {
            (path, Meaning::read(path).map_err(|error| Failure::of_set(&error, advice))?)
        }
        Source::SetIfAny(path) => match Meaning::read(path) {
            Err(error) if error.is_vacant() => return Ok((chosen, hash)),
            meaning => (path, meaning?),
        },
    };
    let chosen_meaning = chosen.meaning(typed.hash.unwrap_or(meaning.hash()));
    agree(path, typed, &chosen_meaning, &meaning)?;
    match Equivalence::stored(&meaning) {
        Ok(stored) => Ok((stored, meaning.hash())),
        // Then the options have to say it all, which is checked when the set is opened.
        Err(StoredError::NoText) => Ok((chosen, meaning.hash())),
        Err(error) => Err(Failure::at(path.display(), error)),
    }
}

/// The facts of a group of options.
const LEVEL: &[&str] = &["level", "aliases"];
const FRAGMENT: &[&str] = &["fragment"];
const PROFILE: &[&str] = &["profile"];
const REPAIRS: &[&str] = &["repair"];
const CONTEXT: &[&str] = &["base", "lenient-base", "suffix-scheme"];
const HASH: &[&str] = &["hash"];

/// Checks that the typed options, which have the meaning `chosen`, agree with the settings of the set at `path`.
/// The message has both settings if one says something else.
fn agree(
    path: &Path,
    typed: &Typed<'_>,
    chosen: &Meaning,
    stored: &Meaning,
) -> Result<(), Failure> {
    let args::Equivalence { level, drop_fragment, aliases, references, rules, repairs } =
        typed.equivalence;
    let refused = |option: &str, has: String| {
        let set = path.display();
        Err(Failure::at(
            option,
            format_args!("{set} has {has}; omit the option, or name another set"),
        ))
    };
    let has_aliases = stored.fact("aliases").is_some();
    match (level, aliases) {
        (Some(args::Level::Protocol), _) if !has_aliases => {
            return refused("--level protocol", of_set(stored, &["level"]));
        }
        (_, None) if has_aliases => {
            let what = "was made with aliases, and stores only their digest; add --level protocol --aliases FILE";
            return Err(Failure::at(path.display(), what));
        }
        _ => {}
    }
    let name = |option: &str, value: Option<String>| value.map(|value| format!("{option} {value}"));
    let repairs =
        [repairs.iri.then_some("--iri"), (!repairs.repair.is_empty()).then_some("--repair")];
    let context = name("--base", references.base.clone())
        .or(name("--suffix-scheme", references.suffix_scheme.clone()));
    for (option, names) in [
        (name("--hash", typed.hash.map(|hash| hash.to_string())), HASH),
        (name("--profile", typed.profile.profile.map(|it| it.to_string())), PROFILE),
        (
            name(
                "--level",
                level.and_then(|level| Some(level.to_possible_value()?.get_name().to_owned())),
            ),
            &LEVEL[..1],
        ),
        (drop_fragment.then(|| "--drop-fragment".to_owned()), FRAGMENT),
        (repairs.into_iter().flatten().next().map(str::to_owned), REPAIRS),
        (context, CONTEXT),
    ] {
        let Some(option) = option else { continue };
        if facts(chosen, names) != facts(stored, names) {
            return refused(&option, of_set(stored, names));
        }
    }
    if !rules.is_empty() {
        let (chosen, own) = (rule_facts(chosen), rule_facts(stored));
        if chosen != own {
            return refused(&shown(rules), difference(&chosen, &own, stored));
        }
    }
    Ok(())
}

/// The facts of `meaning` with these names.
fn facts<'m>(meaning: &'m Meaning, names: &[&str]) -> Vec<&'m str> {
    let is_named = |fact: &&str| names.contains(&fact.split(' ').next().unwrap_or_default());
    meaning.as_str().lines().filter(is_named).collect()
}

/// The facts of the rules of `meaning`: all that are not of other options.
fn rule_facts(meaning: &Meaning) -> Vec<&str> {
    let others = [LEVEL, FRAGMENT, PROFILE, REPAIRS, CONTEXT, HASH, &["grammar"]].concat();
    let is_of_rule = |fact: &&str| !others.contains(&fact.split(' ').next().unwrap_or_default());
    meaning.as_str().lines().filter(is_of_rule).collect()
}

/// The facts of `meaning` that are not of its rules.
pub(super) fn other_facts(meaning: &Meaning) -> impl Iterator<Item = &str> {
    let of_rules = rule_facts(meaning);
    meaning.as_str().lines().filter(move |fact| !of_rules.contains(fact))
}

/// What a set has instead of the facts with these names.
fn of_set(stored: &Meaning, names: &[&str]) -> String {
    let own = facts(stored, names);
    match (own.is_empty(), stored.fact("profile")) {
        (false, _) => listed(&own),
        (true, Some(profile)) => format!("profile {profile}"),
        // The first name is that of the setting.
        (true, None) => format!("no {}", names.first().unwrap_or(&"such setting")),
    }
}

/// The options for rules that were typed.
fn shown(typed: &args::RuleChoice) -> String {
    let args::RuleChoice { rules, preset, rules_files, no_rules } = typed;
    let rules_files = rules_files.iter().map(|path| format!("--rules {}", path.display()));
    let preset = preset.iter().map(|name| format!("--preset {name}"));
    let no_rules = no_rules.iter().map(|name| format!("--no-rule {name}"));
    let rules = rules.iter().map(|rule| format!("--rule {rule}"));
    preset.chain(rules_files).chain(no_rules).chain(rules).collect::<Vec<_>>().join(" ")
}

/// How the rules of a set differ from those that were typed.
fn difference(chosen: &[&str], own: &[&str], stored: &Meaning) -> String {
    let only = |these: &[&str], those: &[&str]| {
        let known: HashSet<&str> = those.iter().copied().collect();
        let found: Vec<&str> = these.iter().copied().filter(|fact| !known.contains(fact)).collect();
        (!found.is_empty()).then(|| listed(&found))
    };
    match (only(own, chosen), only(chosen, own), stored.fact("profile")) {
        (None, _, Some(profile)) => format!("profile {profile}"),
        (None, _, None) if own.is_empty() => "no rules beyond the RFC".to_owned(),
        (None, Some(less), _) => format!("no {less}"),
        (Some(more), None, _) => format!("also {more}"),
        (Some(more), Some(less), _) => format!("{more} and no {less}"),
        (None, None, _) => "these rules in another order".to_owned(),
    }
}

/// `facts` as a list; those of a rules file would fill pages.
fn listed(facts: &[&str]) -> String {
    const MOST: usize = 5;
    // It follows from the others.
    let facts: Vec<&&str> = facts.iter().filter(|it| !it.starts_with("public-suffix ")).collect();
    let mut shown: Vec<String> = facts.iter().take(MOST).map(|fact| named(fact)).collect();
    if facts.len() > MOST {
        shown.push(format!("{} more", facts.len() - MOST));
    }
    shown.join(", ")
}

/// A fact without the version of a rule.
fn named(fact: &str) -> String {
    let mut words: Vec<&str> = fact.split(' ').collect();
    let rule = words.iter().position(|&word| word == "rule").filter(|&at| at < 2);
    if let Some(version) = rule.map(|at| at + 2).filter(|&at| at < words.len()) {
        words.remove(version);
    }
    words.join(" ")
}
