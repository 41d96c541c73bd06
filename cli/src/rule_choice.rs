//! The rule set of the options for rules; reads their files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use uriscan::rules::{Pack, PackError, Preset, Rule, RuleSet};

use crate::args::RuleChoice;
use crate::exit::Failure;

/// The rule set of `typed`; `None` if no rule is enabled.
///
/// # Errors
/// When a name is unknown, or a file cannot be read or is not a pack.
pub(crate) fn rule_set(typed: &RuleChoice) -> Result<Option<Arc<RuleSet>>, Failure> {
    let mut builder = RuleSet::builder();
    if let Some(name) = &typed.preset {
        let preset = Preset::from_name(name).ok_or_else(|| {
            let names: Vec<String> = Preset::all().iter().map(Preset::full_name).collect();
            Failure::at(
                format_args!("--preset {name}"),
                format_args!("the presets are {}", names.join(", ")),
            )
        })?;
        builder.preset(&preset).map_err(|error| Failure::at("--preset", error))?;
    }
    for path in &typed.packs {
        builder.pack(&pack(path)?);
    }
    for name in &typed.no_rules {
        let rule = Rule::from_name(name).ok_or_else(|| {
            Failure::at(format_args!("--no-rule {name}"), "unknown rule; see `uriscan rules`")
        })?;
        if !builder.without(rule) {
            return Err(Failure::at(
                format_args!("--no-rule {name}"),
                "not a rule of the preset; to keep parameters that a pack drops, use \
                 --rule allow-param=GLOB",
            ));
        }
    }
    for rule in &typed.rules {
        builder.rule(rule).map_err(|error| Failure::at("--rule", error))?;
    }
    let rules = builder.build().map_err(|error| Failure::at("--rule", error))?;
    Ok((!rules.is_empty()).then(|| Arc::new(rules)))
}

/// The files that `typed` names, and those that they include.
pub(crate) fn files(typed: &RuleChoice) -> impl Iterator<Item = PathBuf> {
    let is_file = |path: &&PathBuf| path.to_str().and_then(Pack::built_in).is_none();
    let files = typed.packs.iter().filter(is_file);
    // What cannot be read ends the run elsewhere.
    files.flat_map(|path| read(path).map_or_else(|_| vec![path.clone()], |(_, files)| files))
}

/// A pack that was read, with the paths of its files.
type PackFiles = (Pack, Vec<PathBuf>);

/// [`Pack::read`], once in a run for a path: it may be a pipe.
fn read(path: &Path) -> Result<PackFiles, PackError> {
    static DONE: Mutex<Vec<(PathBuf, PackFiles)>> = Mutex::new(Vec::new());
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, read)) = done.iter().find(|(known, _)| known == path) {
        return Ok(read.clone());
    }
    let read = Pack::read(path)?;
    done.push((path.to_owned(), read.clone()));
    Ok(read)
}

/// The pack in the file at `path`, or the built-in one of that name.
fn pack(path: &Path) -> Result<Pack, Failure> {
    if let Some(pack) = path.to_str().and_then(Pack::built_in) {
        return Ok(pack);
    }
    let (pack, _) = read(path).map_err(|error| Failure::new(error.to_string()))?;
    Ok(pack)
}
