//! The steps that every store is taken through, each with its answer.

use std::path::Path;
use std::{fs, io};

use super::keys::{batch, held_of_batch, keys};
use super::{Store, create, sorted};
use crate::rounds::{Outcome, timed};

/// How much is done in a step.
pub(crate) struct Sizes {
    pub(crate) keys: usize,
    pub(crate) asked: usize,
    pub(crate) add: usize,
}

/// How often keys are added.
const ADDITIONS: usize = 3;

/// Takes the store called `name` through all steps in `directory`, which is empty, and prints a row for each.
///
/// # Errors
/// If the store fails, or gives a wrong answer.
pub(super) fn run_round(name: &str, directory: &Path, sizes: &Sizes) -> Outcome<()> {
    let mut store = create(name, directory)?;
    let mut held = sizes.keys;
    let all = keys(0, held);
    let (loaded, taken) = timed(|| store.load(all));
    loaded?;
    expect("keys loaded", store.len()?, held)?;
    taken.print("load", name, held as u64, &of_keys(held, Some(bytes_below(directory)?)));

    let asked = batch(held, sizes.asked);
    look_up("has", name, &*store, &asked)?;
    look_up("has-mixed", name, &*store, &asked)?;
    for _ in 0..ADDITIONS {
        let more = keys(held as u64, sizes.add);
        let (added, taken) = timed(|| store.add(more));
        added?;
        held += sizes.add;
        taken.print("add", name, sizes.add as u64, &of_keys(sizes.add, None));
    }
    expect("keys added", store.len()?, held)?;
    look_up("has-added", name, &*store, &batch(held, sizes.asked))?;
    let (_, taken) = timed(|| drop(store));
    taken.print("close", name, held as u64, &of_keys(held, Some(bytes_below(directory)?)));
    Ok(())
}

fn look_up(step: &str, name: &str, store: &dyn Store, asked: &[u128]) -> Outcome<()> {
    let needs_sorting = step != "has-mixed" && !store.sorts();
    let batch = asked.to_vec();
    let (found, taken) = timed(|| store.count(&if needs_sorting { sorted(batch) } else { batch }));
    let found = found? as u64;
    expect("keys found", found, held_of_batch(asked.len()))?;
    taken.print(step, name, found, &of_keys(asked.len(), None));
    Ok(())
}

/// Members of a row: the number of keys that it is about, and the bytes on disk if they were measured.
fn of_keys(keys: usize, stored: Option<u64>) -> String {
    let stored = stored.map(|bytes| format!(r#","stored":{bytes}"#)).unwrap_or_default();
    format!(r#","records":{keys}{stored}"#)
}

fn expect(what: &str, found: u64, expected: usize) -> Outcome<()> {
    match found == expected as u64 {
        true => Ok(()),
        false => Err(format!("{what}: {found}, and not {expected}").into()),
    }
}

/// Bytes that all files below `directory` take on the disk.
fn bytes_below(directory: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let about = entry.metadata()?;
        sum += if about.is_dir() { bytes_below(&entry.path())? } else { bytes_on_disk(&about) };
    }
    Ok(sum)
}

#[cfg(unix)]
fn bytes_on_disk(about: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    about.blocks() * 512
}

#[cfg(not(unix))]
fn bytes_on_disk(about: &fs::Metadata) -> u64 {
    about.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::NAMES;

    #[test]
    fn every_store_gives_the_answers() {
        for name in NAMES {
            let directory = tempfile::tempdir().unwrap();
            let sizes = Sizes { keys: 5000, asked: 3001, add: 700 };
            run_round(name, directory.path(), &sizes).unwrap();
            let stored = bytes_below(directory.path()).unwrap();
            assert!(stored >= 16 * (5000 + 3 * 700), "{name}: {stored}");
        }
    }

    #[test]
    fn a_wrong_answer_ends_it() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = create("uriscan", directory.path()).unwrap();
        store.load(keys(0, 10)).unwrap();
        assert!(look_up("has", "uriscan", &*store, &batch(10, 10)).is_ok());
        assert!(look_up("has", "uriscan", &*store, &batch(20, 20)).is_err());
    }
}
