//! `uriscan set`: operations on whole sets; [`records`] has sets of keys of URIs.

mod pieces;
pub(crate) mod records;
pub(crate) mod settings;
mod text;
pub(crate) mod writing;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::json;
use uriscan::set::{Fault, KeySet, Meaning, SetError, SetWriter, Timestamp};
use uriscan_bulk::io::escaped;
use uriscan_bulk::pipeline::{Equivalence, StoredError};

use crate::args::{Export, SetCommand, SetStatsFormat};
use crate::exit::{Failure, Outcome, eprint_line};
use crate::output::{Destination, PathConflicts, write_text, write_with};
use crate::summary::counted;
use writing::Writing;

/// Runs the commands that do not read URIs.
/// On error, no set has changed.
pub(crate) fn run(command: &SetCommand) -> Result<Outcome, Failure> {
    match command {
        // They read URIs and have plans.
        SetCommand::Remove(typed) if typed.keys => text::remove(typed),
        SetCommand::Create(_) | SetCommand::Add(_) | SetCommand::Has(_) | SetCommand::Remove(_) => {
            Err(Failure::new("needs URIs"))
        }
        SetCommand::Merge(typed) => {
            let sets = pieces::expanded(&typed.sets)?;
            combine(&typed.output, &sets, SetWriter::fill_with_all)
        }
        SetCommand::Diff(typed) => {
            combine(&typed.output, &typed.sets, SetWriter::fill_with_difference)
        }
        SetCommand::Intersect(typed) => {
            combine(&typed.output, &typed.sets, SetWriter::fill_with_common)
        }
        SetCommand::Split(typed) => pieces::split(typed),
        SetCommand::Prune(typed) => prune(&typed.set, typed.older_than),
        SetCommand::Touch(typed) => {
            let time = typed.at.unwrap_or_else(|| Timestamp::of(SystemTime::now()));
            let mut writer = Writing::open(&typed.set)?;
            if writer.set().is_dated() {
                let what = "already records when its keys were first seen";
                return Err(Failure::at(typed.set.display(), what));
            }
            writer.date(time)?;
            Ok(Outcome::Done)
        }
        SetCommand::Compact(typed) => {
            Writing::open(&typed.set)?.compact()?;
            Ok(Outcome::Done)
        }
        SetCommand::Stats(typed) => {
            let set = KeySet::open(&typed.set)?;
            write_text(&stats(&set, typed.to), &Destination::Stdout)
        }
        SetCommand::Rules(typed) => rules(typed),
        SetCommand::Verify(typed) => verify(&typed.set),
        SetCommand::Export(typed) => {
            let set = KeySet::open(&typed.set)?;
            let destination = Destination::of_option(typed.output.clone());
            PathConflicts::of_results(&destination, false).refuse_inside(&typed.set)?;
            write_with(&destination, |out| text::export(&set, out))
        }
        SetCommand::Import(typed) => text::import(typed),
    }
}

fn combine(
    output: &Path,
    paths: &[PathBuf],
    fill: impl FnOnce(&mut SetWriter, &[KeySet]) -> Result<u64, SetError>,
) -> Result<Outcome, Failure> {
    let sets = paths.iter().map(|path| KeySet::open(path)).collect::<Result<Vec<_>, _>>()?;
    let (meaning, is_dated) = (sets[0].meaning().clone(), sets[0].is_dated());
    sets[1..].iter().try_for_each(|set| expect_alike(&sets[0], set))?;
    let mut writer = Writing::create(output, meaning, is_dated)?;
    fill(&mut writer, &sets)?;
    Ok(Outcome::Done)
}

/// Checks that two sets can be combined.
/// The message has the settings that differ.
fn expect_alike(one: &KeySet, other: &KeySet) -> Result<(), Failure> {
    let [first, second] = [one, other].map(|set| set.directory().display().to_string());
    let refused =
        |why: String| Err(Failure::new(format!("{first} and {second} cannot be combined: {why}")));
    if let Some(difference) = one.meaning().difference(other.meaning()) {
        return refused(difference.between(&first, &second));
    }
    let (with, without) = match (one.is_dated(), other.is_dated()) {
        (true, false) => (&first, &second),
        (false, true) => (&second, &first),
        _ => return Ok(()),
    };
    refused(format!(
        "{with} records when its keys were first seen (--first-seen), and {without} does not; `uriscan set touch \
         {without}` lets it record that"
    ))
}

fn stats(set: &KeySet, format: SetStatsFormat) -> String {
    let runs: Vec<u64> = set.run_lengths().collect();
    match format {
        SetStatsFormat::Json => {
            let facts: Vec<&str> = set.meaning().as_str().lines().collect();
            let mut stats = json!({
                "set": set.directory().to_string_lossy(),
                "keys": set.len(),
                "bytes": set.file_bytes(),
                "runs": runs,
                "hash": set.meaning().hash().name(),
                "meaning": facts,
            });
            if let Some((earliest, latest)) = set.first_seen_range() {
                stats["first_seen"] = json!([earliest.to_string(), latest.to_string()]);
            }
            format!("{stats}\n")
        }
        SetStatsFormat::Text => {
            let grouped = crate::summary::grouped;
            let runs: Vec<String> = runs.into_iter().map(grouped).collect();
            let mut text = format!("{}\n", escaped(&set.directory().display().to_string()));
            text += &format!("  keys   {}\n", grouped(set.len()));
            text += &format!("  bytes  {}\n", grouped(set.file_bytes()));
            let lengths = match runs.len() {
                0 | 1 => String::new(),
                _ => format!(" ({} keys)", runs.join(" + ")),
            };
            text += &format!("  runs   {}{lengths}\n", runs.len());
            if let Some((earliest, latest)) = set.first_seen_range() {
                text += &format!("  first seen  {earliest} to {latest}\n");
            }
            for fact in set.meaning().as_str().lines() {
                text += &format!("  {}\n", escaped(fact));
            }
            text
        }
    }
}

/// Removes the keys that were first seen before `time`.
fn prune(path: &Path, time: Timestamp) -> Result<Outcome, Failure> {
    let mut writer = Writing::open(path)?;
    if !writer.set().is_dated() {
        let what = "does not record when its keys were first seen, so none of them is known to be old; `uriscan set touch` \
                    lets it record that from now on";
        return Err(Failure::at(path.display(), what));
    }
    let removed = writer.prune(time)?;
    let (removed, left) = (counted(removed, "key", "keys"), writer.set().len());
    let text = format!("removed {removed} first seen before {time}; {left} left\n");
    write_text(&text, &Destination::Stdout)
}

/// Writes the rules of the keys of a set, after its other settings as comments: what `--rules` takes.
fn rules(typed: &Export) -> Result<Outcome, Failure> {
    let meaning = Meaning::read(&typed.set)?;
    let stored =
        Equivalence::stored(&meaning).map_err(|error| Failure::at(typed.set.display(), error))?;
    let mut text = String::new();
    for fact in settings::other_facts(&meaning) {
        text += &format!("# {}\n", escaped(fact));
    }
    if let Some(rules) = &stored.rules {
        text += &format!("\n{}", rules.to_toml());
    }
    let destination = Destination::of_option(typed.output.clone());
    PathConflicts::of_results(&destination, false).refuse_inside(&typed.set)?;
    write_text(&text, &destination)
}

fn verify(path: &Path) -> Result<Outcome, Failure> {
    let damages = match uriscan::set::verify(path) {
        // Nothing that was ever in it is lost.
        Err(error @ SetError { fault: Fault::Empty { is_begun: true }, .. }) => {
            eprint_line(format_args!("uriscan: {}", Failure::from(error)));
            return Ok(Outcome::Done);
        }
        damages => damages?,
    };
    let meaning = Meaning::read(path).ok().filter(|meaning| meaning.rules().is_some());
    if damages.is_empty()
        && let Some(Err(error @ StoredError::Damaged(_))) =
            meaning.as_ref().map(Equivalence::stored)
    {
        eprint_line(format_args!("uriscan: {}: {error}", path.display()));
        return Ok(Outcome::SomeInvalid);
    }
    for damage in &damages {
        eprint_line(format_args!("uriscan: {damage}"));
    }
    Ok(if damages.is_empty() { Outcome::Done } else { Outcome::SomeInvalid })
}
