//! The rule set of the options for rules; reads their files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use uriscan::internals::files;
use uriscan::rules::{Included, Pack, Preset, Rule, RuleSet};

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
            let names: Vec<String> = Preset::all().into_iter().map(|preset| preset.name).collect();
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
    // Includes are relative to the file that has them.
    let mut open = |name: &str, from: &str| {
        let path = Path::new(from).with_file_name(name);
        let text = read(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok(Included::new(path.display().to_string(), text))
    };
    Pack::parse(&text, &source, &mut open).map_err(|error| Failure::new(error.to_string()))
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = files::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| {
        format!("not TOML: byte {} is not UTF-8", error.utf8_error().valid_up_to())
    })
}
