//! Keys that are removed, and times that are recorded later, against a `BTreeMap`.

use std::collections::BTreeMap;
use std::path::Path;

use super::{add, all_keys, files, key, made, meaning, times};
use crate::set::{Fault, KeySet, SetWriter, Timestamp, verify};

/// Adds the keys at `time`.
fn add_at(set: &mut SetWriter, keys: impl IntoIterator<Item = u64>, time: u32) {
    let mut loader = set.loader_at(1 << 20, Timestamp(time)).unwrap();
    loader.push(keys.into_iter().map(key)).unwrap();
    set.add(loader).unwrap();
}

fn remove(set: &mut SetWriter, keys: impl IntoIterator<Item = u64>, memory: usize) -> (u64, u64) {
    let mut loader = set.loader(memory).unwrap();
    loader.push(keys.into_iter().map(key)).unwrap();
    set.remove(loader).unwrap()
}

/// A set of six runs, each with its time, and what is in it.
fn dated(path: &Path) -> (SetWriter, BTreeMap<u64, u32>) {
    let mut set = SetWriter::create_dated(path, meaning()).unwrap();
    let mut model = BTreeMap::new();
    for run in 0..6u32 {
        let keys = u64::from(run) * 700..u64::from(run) * 700 + 1000;
        for i in keys.clone() {
            model.entry(i).or_insert(100 * run);
        }
        add_at(&mut set, keys, 100 * run);
    }
    (set, model)
}

#[test]
fn removed_keys_are_gone_and_all_others_stay() {
    let directory = tempfile::tempdir().unwrap();
    for memory in [1, 1 << 20] {
        let path = directory.path().join(memory.to_string());
        let (mut set, mut model) = dated(&path);
        for (first, step, count) in [
            (0, 1, 0u64),
            (9_000, 1, 500),
            (650, 1, 200),
            (3, 7, 900),
            (0, 2, 5_000),
            (0, 1, 9_000),
        ] {
            let gone: Vec<u64> = (0..count).map(|i| first + i * step).collect();
            let before = model.len();
            model.retain(|i, _| gone.binary_search(i).is_err());
            // Each twice.
            let twice = gone.iter().chain(&gone).copied();
            let expected = ((before - model.len()) as u64, count);
            assert_eq!(remove(&mut set, twice, memory), expected, "{first} {step}");
            assert!(times(set.set(), 0..20_000) == model, "{first} {step}");
            assert!(verify(&path).unwrap().is_empty());
            assert!(times(&KeySet::open(&path).unwrap(), 0..20_000) == model);
        }
        assert!(model.is_empty() && set.set().is_empty());
        assert_eq!(files(&path).len(), 1, "nothing remains of the runs");
        add(&mut set, 0..10, memory);
        assert_eq!(set.set().len(), 10);
    }
}

#[test]
fn runs_without_a_removed_key_are_not_written_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let mut set = SetWriter::create(&path, meaning()).unwrap();
    for run in 0..4 {
        add(&mut set, run * 100..run * 100 + 100, 1 << 20);
    }
    let before = files(&path);
    assert_eq!(remove(&mut set, 1000..2000, 1 << 20), (0, 1000));
    assert!(files(&path) == before, "a set without these keys is as it was");
    assert_eq!(remove(&mut set, 150..160, 1 << 20), (10, 10));
    let after = files(&path);
    let stays = |(name, _): &&(String, _)| name != "set" && after.iter().any(|it| it.0 == *name);
    assert_eq!(before.iter().filter(stays).count(), 3);
    let left: Vec<u64> = (0..150).chain(160..400).collect();
    let mut expected: Vec<_> = left.iter().copied().map(key).collect();
    expected.sort_unstable();
    assert!(all_keys(set.set()) == expected);
    // It is the set that these keys make.
    set.compact().unwrap();
    drop(made(&directory.path().join("t"), left));
    assert!(files(&path) == files(&directory.path().join("t")));
}

#[test]
fn keys_first_seen_before_a_time_are_pruned() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let (mut set, mut model) = dated(&path);
    // Some of a run that is merged, and whole runs.
    for time in [0, 1, 99, 100, 101, 250, 500, 500, 501, u32::MAX] {
        let before = model.len();
        model.retain(|_, first_seen| *first_seen >= time);
        assert_eq!(set.prune(Timestamp(time)).unwrap(), (before - model.len()) as u64, "{time}");
        assert!(times(set.set(), 0..9_000) == model, "{time}");
        assert!(times(&KeySet::open(&path).unwrap(), 0..9_000) == model, "{time}");
        assert!(verify(&path).unwrap().is_empty());
        if time == 99 {
            set.compact().unwrap();
        }
    }
    assert_eq!(files(&path).len(), 1);
    let mut plain = SetWriter::create(&directory.path().join("t"), meaning()).unwrap();
    add(&mut plain, 0..10, 1 << 20);
    assert_eq!(plain.prune(Timestamp(u32::MAX)).unwrap(), 0, "no key is known to be old");
}

#[test]
fn a_set_can_record_times_later() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let mut set = SetWriter::create(&path, meaning()).unwrap();
    add(&mut set, 0..3_000, 1 << 20);
    add(&mut set, 3_000..3_001, 1 << 20);
    let keys = |files: Vec<(String, Vec<u8>)>| -> Vec<(String, Vec<u8>)> {
        files.into_iter().filter(|(name, _)| name.ends_with(".keys")).collect()
    };
    let before = keys(files(&path));
    set.date(Timestamp(50)).unwrap();
    assert!(keys(files(&path)) == before, "the keys are not written again");
    assert!(matches!(set.date(Timestamp(60)).unwrap_err().fault, Fault::Differs(_)));
    add_at(&mut set, 2_500..4_000, 70);
    let expected: BTreeMap<u64, u32> =
        (0..4_000).map(|i| (i, if i < 3_001 { 50 } else { 70 })).collect();
    assert!(times(&KeySet::open(&path).unwrap(), 0..5_000) == expected);
    assert!(verify(&path).unwrap().is_empty());
    assert_eq!(set.prune(Timestamp(70)).unwrap(), 3_001);
    assert_eq!(set.set().len(), 999);
    // An empty set too, and a new one.
    let mut empty = SetWriter::create(&directory.path().join("t"), meaning()).unwrap();
    empty.date(Timestamp(1)).unwrap();
    assert!(KeySet::open(&directory.path().join("t")).unwrap().is_dated());
}

/// A damaged set is not made smaller by what cannot be trusted.
#[test]
fn damage_keeps_keys_from_being_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    drop(dated(&path));
    for (name, bytes) in files(&path) {
        if name == "set" {
            continue;
        }
        let mut flipped = bytes.clone();
        flipped[4096 + 8] ^= 4;
        std::fs::write(path.join(&name), flipped).unwrap();
        let before = files(&path);
        let mut set = SetWriter::open(&path).unwrap();
        let mut loader = set.loader(1 << 20).unwrap();
        loader.push((0..9_000).map(key)).unwrap();
        assert!(set.remove(loader).unwrap_err().is_damage(), "{name}");
        assert!(set.prune(Timestamp(u32::MAX)).unwrap_err().is_damage(), "{name}");
        drop(set);
        assert!(files(&path) == before, "{name}");
        std::fs::write(path.join(&name), bytes).unwrap();
    }
}
