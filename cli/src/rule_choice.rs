//! The rule set of the options for rules; reads their files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use uriscan::rules::{Builder, Preset, Rule, RuleSet, RulesFile, RulesFileError};

use crate::args::RuleChoice;
use crate::exit::Failure;
use crate::nearest::did_you_mean;

/// The rule set of `typed`; `None` if no rule is enabled.
pub(crate) fn rule_set(typed: &RuleChoice) -> Result<Option<Arc<RuleSet>>, Failure> {
    let mut builder = RuleSet::builder();
    if let Some(name) = &typed.preset {
        let preset = Preset::from_name(name).ok_or_else(|| {
            let names: Vec<String> = Preset::all().iter().map(Preset::full_name).collect();
            let hint = did_you_mean(name, PRESETS.into_iter().chain(names.iter().map(|it| &**it)));
            Failure::at(
                format_args!("--preset {name}"),
                format_args!(
                    "the presets are rfc, crawl and log, and their versions {}{hint}",
                    names.join(", ")
                ),
            )
        })?;
        builder.preset(&preset).map_err(|error| Failure::at("--preset", error))?;
    }
    for path in &typed.rules_files {
        builder.rules_file(&rules_file(path)?);
    }
    for name in &typed.no_rules {
        let fail = |why: String| Failure::at(format_args!("--no-rule {name}"), why);
        let rule = Rule::from_name(name).ok_or_else(|| fail(misspelt(name)))?;
        if !builder.without(rule) {
            return Err(fail(not_on(rule, &built(builder)?)));
        }
    }
    for rule in &typed.rules {
        if let Some(why) = unknown(rule) {
            return Err(Failure::at("--rule", why));
        }
        builder.rule(rule).map_err(|error| Failure::at("--rule", error))?;
    }
    let rules = built(builder)?;
    Ok((!rules.is_empty()).then(|| Arc::new(rules)))
}

/// The rules of the file at `path`, or the built-in ones of that name.
pub(crate) fn of_file(path: &Path) -> Result<Arc<RuleSet>, Failure> {
    let mut builder = RuleSet::builder();
    builder.rules_file(&rules_file(path)?);
    built(builder).map(Arc::new)
}

fn built(builder: Builder) -> Result<RuleSet, Failure> {
    builder.build().map_err(|error| match error.place() {
        Some(_) => Failure::new(error.to_string()),
        None => Failure::at("--rule", error),
    })
}

/// The names of presets without versions.
const PRESETS: [&str; 3] = ["rfc", "crawl", "log"];

/// Why no rule has the name in `typed`, which may have an argument; `None` if one has it.
fn unknown(typed: &str) -> Option<String> {
    let name = typed.split('=').next().unwrap_or_default();
    let names = Rule::ALL.into_iter().map(Rule::name);
    Rule::from_name(name).is_none().then(|| {
        let hint = did_you_mean(name, names);
        format!("unknown rule `{name}`; `uriscan rules` lists the rules{hint}")
    })
}

/// Why `name` is not the name of a rule to remove, and what is.
fn misspelt(name: &str) -> String {
    let typed = name.split_once('=');
    match typed.and_then(|(name, argument)| Some((Rule::from_name(name)?, argument))) {
        None => unknown(name).unwrap_or_default(),
        Some((Rule::DropParam | Rule::KeepParam, argument)) => {
            format!("to keep these parameters, use --rule allow-param={argument}")
        }
        Some((rule, _)) => {
            format!("write --no-rule {rule}, which removes the rule with all its arguments")
        }
    }
}

/// Why `rule`, which `rules` do not have for all hosts, cannot be removed, and what can be.
fn not_on(rule: Rule, rules: &RuleSet) -> String {
    if rules.is_empty() {
        return "no rule is on; --no-rule removes one that --preset or --rules turns on".to_owned();
    }
    if rules.rules().has(rule) {
        return elsewhere(rule, rules);
    }
    let typed = rules.typed();
    let names: Vec<&str> = typed.iter().filter_map(|typed| typed.split('=').next()).collect();
    let twin = match rule {
        Rule::Fragment => Some(Rule::Anchor),
        Rule::Anchor => Some(Rule::Fragment),
        _ => None,
    };
    let twin = twin.filter(|twin| rules.rules().has(*twin));
    let twin = twin.map_or(String::new(), |twin| {
        format!("; --no-rule {twin} removes the one that drops fragments")
    });
    match names.is_empty() {
        true => "not a rule that is on; no rule can be removed".to_owned(),
        false => format!(
            "not a rule that is on; those that can be removed are {}{twin}",
            names.join(", ")
        ),
    }
}

/// Why `rule`, which only patterns for parameters or sites turn on, cannot be removed.
fn elsewhere(rule: Rule, rules: &RuleSet) -> String {
    let patterns = rules.patterns().iter().filter(|pattern| pattern.rule == rule);
    let mut sources: Vec<&str> = patterns.map(|pattern| &*pattern.place.source).collect();
    sources.dedup();
    let sources = sources.join(", ");
    match rule {
        Rule::KeepParam | Rule::DropParam => format!(
            "a list of parameters ({sources}) is not removed as a whole; --rule allow-param=NAME keeps one of them, \
             --rule 'allow-param=*' all"
        ),
        Rule::AllowParam => format!(
            "a list of parameters ({sources}) is not removed as a whole; --rule drop-param=NAME drops one of them"
        ),
        _ => {
            let places = rules.sites().filter(|site| match rule {
                Rule::HostAlias => site.host.is_some(),
                _ => site.rules.iter().any(|on| on.split('=').next() == Some(rule.name())),
            });
            let places: Vec<String> = places.map(|site| site.place.to_string()).take(3).collect();
            format!("only a [[site]] has this rule, at {}; remove it there", places.join(", "))
        }
    }
}

/// The files at `paths`, and those that they include; names of built-in rules are left out.
pub(crate) fn files<'p>(
    paths: impl IntoIterator<Item = &'p PathBuf>,
) -> impl Iterator<Item = PathBuf> {
    let is_file = |path: &&PathBuf| path.to_str().and_then(RulesFile::built_in).is_none();
    let files = paths.into_iter().filter(is_file);
    // What cannot be read ends the run elsewhere.
    files.flat_map(|path| read(path).map_or_else(|_| vec![path.clone()], |(_, files)| files))
}

/// A rules file that was read, with the paths of its files.
type FilesOfRules = (RulesFile, Vec<PathBuf>);

/// [`RulesFile::read`], once in a run for a path: it may be a pipe.
fn read(path: &Path) -> Result<FilesOfRules, RulesFileError> {
    static DONE: Mutex<Vec<(PathBuf, FilesOfRules)>> = Mutex::new(Vec::new());
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, read)) = done.iter().find(|(known, _)| known == path) {
        return Ok(read.clone());
    }
    let read = RulesFile::read(path)?;
    done.push((path.to_owned(), read.clone()));
    Ok(read)
}

/// The rules file in the file at `path`, or the built-in one of that name.
fn rules_file(path: &Path) -> Result<RulesFile, Failure> {
    if let Some(rules_file) = path.to_str().and_then(RulesFile::built_in) {
        return Ok(rules_file);
    }
    let (rules_file, _) = read(path).map_err(|error| {
        let hint = if path.exists() { String::new() } else { meant(path) };
        Failure::new(format!("{error}{hint}"))
    })?;
    Ok(rules_file)
}

/// A suggestion to follow a message about `path`, which does not exist, if it is similar to the name of a preset or of rules.
fn meant(path: &Path) -> String {
    match path.to_str() {
        Some(name) if Preset::from_name(name).is_some() => {
            format!("; the preset of that name is turned on by --preset {name}")
        }
        Some(name) => did_you_mean(name, RulesFile::built_in_names()),
        None => String::new(),
    }
}
