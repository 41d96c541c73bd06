//! From the options for rules to a rule set; reads the files that they name.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use uriscan::rules::{Included, Pack, Preset, Rule, RuleSet};

use crate::args::RuleChoice;
use crate::exit::Failure;

/// The rule set that `typed` asks for; `None` when nothing is on.
///
/// # Errors
/// Names that there are not, files that cannot be read or are no packs.
pub(crate) fn rule_set(typed: &RuleChoice) -> Result<Option<Arc<RuleSet>>, Failure> {
    let mut builder = RuleSet::builder();
    if let Some(name) = &typed.preset {
        let preset = Preset::from_name(name).ok_or_else(|| {
            let names: Vec<String> = Preset::all().into_iter().map(|preset| preset.name).collect();
            Failure::at(
                format_args!("--preset {name}"),
                format_args!("there are {}", names.join(", ")),
            )
        })?;
        builder.preset(&preset).map_err(|error| Failure::at("--preset", error))?;
    }
    for path in &typed.packs {
        builder.pack(&pack(path)?);
    }
    for name in &typed.no_rules {
        let rule = Rule::from_name(name).ok_or_else(|| {
            Failure::at(
                format_args!("--no-rule {name}"),
                "no such rule; `uriscan rules` lists them",
            )
        })?;
        if !builder.without(rule) {
            return Err(Failure::at(
                format_args!("--no-rule {name}"),
                "the preset has no such rule; parameters that a pack leaves out are kept by \
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

/// The files that `typed` names.
pub(crate) fn files(typed: &RuleChoice) -> impl Iterator<Item = PathBuf> {
    let is_file = |path: &&PathBuf| path.to_str().and_then(Pack::built_in).is_none();
    typed.packs.iter().filter(is_file).cloned()
}

/// The pack in the file at `path`, or the built-in one of that name.
fn pack(path: &Path) -> Result<Pack, Failure> {
    if let Some(pack) = path.to_str().and_then(Pack::built_in) {
        return Ok(pack);
    }
    let source = path.display().to_string();
    let text = read(path).map_err(|why| Failure::at(&source, why))?;
    // A pack is named as its source is written, from where the program runs.
    let mut open = |name: &str, from: &str| {
        let path = Path::new(from).with_file_name(name);
        let text = read(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok(Included { source: path.display().to_string(), text })
    };
    Pack::parse(&text, &source, &mut open).map_err(|error| Failure::new(error.to_string()))
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes)
        .map_err(|error| format!("no TOML: byte {} is not UTF-8", error.utf8_error().valid_up_to()))
}
