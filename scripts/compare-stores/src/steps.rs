//! The steps that every store is taken through, each with its answer.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

use crate::keys::{batch, held_of_batch, keys};
use crate::store::{Outcome, Store, sorted};
use crate::stores::create;

/// How much is done in a step.
pub(crate) struct Sizes {
    pub(crate) keys: usize,
    pub(crate) asked: usize,
    pub(crate) add: usize,
}

impl Sizes {
    /// Keys that a step is about.
    pub(crate) fn of(&self, step: Step) -> usize {
        match step {
            Step::Load => self.keys,
            Step::Add => self.add,
            Step::Has | Step::HasMixed | Step::HasAdded => self.asked,
        }
    }
}

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Load,
    Has,
    HasMixed,
    Add,
    HasAdded,
}

impl Step {
    pub(crate) const ALL: [Step; 5] =
        [Step::Load, Step::Has, Step::HasMixed, Step::Add, Step::HasAdded];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Step::Load => "load",
            Step::Has => "has",
            Step::HasMixed => "has-mixed",
            Step::Add => "add",
            Step::HasAdded => "has-added",
        }
    }
}

/// Seconds of a step by the clock, and of all threads together.
pub(crate) struct Taken {
    pub(crate) step: Step,
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

/// What one store needed in one round.
pub(crate) struct Round {
    pub(crate) taken: Vec<Taken>,
    /// Bytes on disk for each key, when loaded and when keys were added and the store was closed.
    pub(crate) loaded_bytes: f64,
    pub(crate) added_bytes: f64,
}

/// How often keys are added.
const ADDITIONS: usize = 3;

/// Takes the store called `name` through all steps in `directory`, which is empty.
///
/// # Errors
/// When the store fails, or gives a wrong answer.
pub(crate) fn run_round(name: &str, directory: &Path, sizes: &Sizes) -> Outcome<Round> {
    let mut taken = Vec::new();
    let mut store = create(name, directory)?;
    let mut held = sizes.keys;
    let all = keys(0, held);
    timed(&mut taken, Step::Load, || store.load(all))?;
    expect("keys loaded", store.len()?, held)?;
    let loaded_bytes = bytes_below(directory)? as f64 / held as f64;

    let asked = batch(held, sizes.asked);
    look_up(&mut taken, Step::Has, &*store, &asked)?;
    look_up(&mut taken, Step::HasMixed, &*store, &asked)?;
    for _ in 0..ADDITIONS {
        let more = keys(held as u64, sizes.add);
        timed(&mut taken, Step::Add, || store.add(more))?;
        held += sizes.add;
    }
    expect("keys added", store.len()?, held)?;
    look_up(&mut taken, Step::HasAdded, &*store, &batch(held, sizes.asked))?;
    drop(store);
    let added_bytes = bytes_below(directory)? as f64 / held as f64;
    Ok(Round { taken, loaded_bytes, added_bytes })
}

fn look_up(taken: &mut Vec<Taken>, step: Step, store: &dyn Store, asked: &[u128]) -> Outcome<()> {
    let needs_sorting = step != Step::HasMixed && !store.sorts();
    let batch = asked.to_vec();
    let found =
        timed(taken, step, || store.count(&if needs_sorting { sorted(batch) } else { batch }))?;
    expect("keys found", found as u64, held_of_batch(asked.len()))
}

fn expect(what: &str, found: u64, expected: usize) -> Outcome<()> {
    match found == expected as u64 {
        true => Ok(()),
        false => Err(format!("{what}: {found}, and not {expected}").into()),
    }
}

/// What `work` gives, with its time noted.
fn timed<T>(taken: &mut Vec<Taken>, step: Step, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let (cpu, start) = (cpu_seconds(), Instant::now());
    let result = work()?;
    let wall = start.elapsed().as_secs_f64();
    taken.push(Taken { step, wall, cpu: cpu_seconds() - cpu });
    Ok(result)
}

/// Seconds that this process has computed, in all its threads; 0 where the system does not tell.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // User and system time, in hundredths, are fields 14 and 15; the name before them may hold spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
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
            let round = run_round(name, directory.path(), &sizes).unwrap();
            assert_eq!(round.taken.len(), Step::ALL.len() + ADDITIONS - 1, "{name}");
            assert!(round.loaded_bytes >= 16.0, "{name}: {}", round.loaded_bytes);
        }
    }

    #[test]
    fn a_wrong_answer_ends_it() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = create("uriscan", directory.path()).unwrap();
        store.load(keys(0, 10)).unwrap();
        let mut taken = Vec::new();
        assert!(look_up(&mut taken, Step::Has, &*store, &batch(10, 10)).is_ok());
        assert!(look_up(&mut taken, Step::Has, &*store, &batch(20, 20)).is_err());
    }
}
