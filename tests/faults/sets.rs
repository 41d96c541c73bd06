//! Faults while sets are made, changed and read.

use std::fs;
use std::ops::Range;
use std::path::Path;

use uriscan::key::{Key, PublicHash, PublicHasher};
use uriscan::set::{Fault, KeySet, Meaning, SetError, SetWriter, Timestamp};

use crate::place::{content, directory, restore};
use crate::{Struck, alone, with_each_fault};

/// Enough memory for all keys, and so little that they are sorted on disk.
const PLENTY: usize = 1 << 20;
const LITTLE: usize = 1;

fn meaning() -> Meaning {
    Meaning::new(PublicHash::Blake3, "level scheme\n")
}

fn key(i: u64) -> Key {
    PublicHasher::new(PublicHash::Blake3).key(&i.to_le_bytes())
}

fn add(set: &mut SetWriter, keys: Range<u64>, memory: usize) -> Result<u64, SetError> {
    let mut loader = set.loader_at(memory, Timestamp(1000 + keys.start as u32))?;
    loader.push(keys.map(key))?;
    set.add(loader)
}

fn create(path: &Path, is_dated: bool) -> Result<SetWriter, SetError> {
    match is_dated {
        true => SetWriter::create_dated(path, meaning()),
        false => SetWriter::create(path, meaning()),
    }
}

/// Makes a set of so many runs.
fn made(path: &Path, runs: u64, is_dated: bool) {
    let mut set = create(path, is_dated).unwrap();
    for run in 0..runs {
        add(&mut set, run * 100..run * 100 + 100, PLENTY).unwrap();
    }
}

/// The keys of a set with their times.
type State = Vec<(Key, Option<Timestamp>)>;

/// What the set at `path` holds; `None` if there is none.
#[track_caller]
fn state(path: &Path) -> Option<State> {
    let set = match KeySet::open(path) {
        Err(error) if error.is_vacant() => return None,
        set => set.unwrap(),
    };
    assert!(set.verify().unwrap().is_empty());
    let mut keys = Vec::new();
    let result: Result<(), SetError> = match set.expect_dated(true) {
        Ok(()) => set.each_dated(|part| {
            keys.extend(part.into_iter().map(|(key, time)| (key, Some(time))));
            Ok(())
        }),
        Err(_) => set.each_key(|part| {
            keys.extend(part.into_iter().map(|key| (key, None)));
            Ok(())
        }),
    };
    result.unwrap();
    Some(keys)
}

/// The names of files in the directory of a set that do not belong to it.
fn leftovers(path: &Path) -> Vec<String> {
    let manifest = fs::read_to_string(path.join("set")).unwrap_or_default();
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.collect();
    // In a directory that was there, a lock may stay: another process may have locked it.
    if manifest.is_empty() && names == ["lock"] && path.with_extension("was-there").exists() {
        return Vec::new();
    }
    let names = names.into_iter();
    if manifest.is_empty() || manifest.ends_with("begun\n") {
        return names.collect();
    }
    names.filter(|name| !["lock", "set"].contains(&&**name) && !manifest.contains(name)).collect()
}

/// Lets `act` change the set `s` of a directory that `prepare` has filled, with each fault.
fn old_or_new(what: &str, prepare: impl Fn(&Path), act: impl Fn(&Path) -> Result<(), SetError>) {
    let place = directory();
    let place = place.path().join("place");
    let set = place.join("s");
    fs::create_dir(&place).unwrap();
    prepare(&place);
    let old_files = content(&place);
    let old = state(&set);
    act(&place).unwrap();
    let new_files = content(&place);
    let new = state(&set);
    assert_eq!(leftovers(&set), [""; 0], "{what}");
    restore(&place, &old_files);

    let run = || act(&place);
    let runs =
        with_each_fault(&[true, false], 1000, run, |Struck { kind, call, result }, label| {
            let label = format!("{what}: {label}");
            let found = state(&set);
            match result {
                Ok(()) => {
                    assert!(found == new, "{label}: not new");
                    if call.is_none() || kind.is_invisible() {
                        assert!(content(&place) == new_files, "{label}: other files");
                    }
                }
                Err(error) => {
                    assert!(!kind.is_invisible(), "{label}: {error}");
                    assert!(found == old || found == new, "{label}: neither old nor new");
                    assert!(matches!(error.fault, Fault::Io(_)), "{label}: {error}");
                    let names_file = error.to_string().starts_with(place.to_str().unwrap());
                    assert!(names_file, "{label}: {error}");
                }
            }
            // What could not be listed or removed is there.
            let is_removal = call.is_some_and(|call| call.starts_with("Remove") || call == "List");
            assert!(is_removal || leftovers(&set).is_empty(), "{label}: {:?}", leftovers(&set));
            match act(&place) {
                Ok(()) => {}
                // What is there cannot be created, and what is gone cannot be removed.
                Err(error) if found == new => {
                    assert!(
                        error.is_vacant() || matches!(error.fault, Fault::Exists),
                        "{label}: {error}"
                    );
                    // Somebody writes there, or creates a set, some time.
                    drop(SetWriter::open(&set).or_else(|_| create(&set, false)));
                }
                Err(error) => panic!("{label}: the next run: {error}"),
            }
            assert!(state(&set) == new, "{label}: the next run");
            assert!(leftovers(&set).is_empty(), "{label}: the next run: {:?}", leftovers(&set));
            restore(&place, &old_files);
        });
    eprintln!("{what}: {runs} runs");
}

#[test]
fn a_set_is_created_or_not() {
    let _alone = alone();
    for is_dated in [false, true] {
        old_or_new(
            "create",
            |_| (),
            |place| {
                let mut set = create(&place.join("s"), is_dated)?;
                add(&mut set, 0..300, PLENTY).map(drop)
            },
        );
        // In a directory that is there, and empty in the end.
        let empty = |place: &Path| {
            fs::create_dir(place.join("s")).unwrap();
            fs::write(place.join("s.was-there"), "").unwrap();
        };
        old_or_new("create an empty set", empty, |place| {
            create(&place.join("s"), is_dated)?.commit()
        });
    }
}

#[test]
fn keys_are_added_or_not() {
    let _alone = alone();
    for is_dated in [false, true] {
        let some = |place: &Path| made(&place.join("s"), 2, is_dated);
        old_or_new("add", some, |place| {
            add(&mut SetWriter::open(&place.join("s"))?, 50..400, PLENTY).map(drop)
        });
        old_or_new("add more than fits", some, |place| {
            add(&mut SetWriter::open(&place.join("s"))?, 50..3000, LITTLE).map(drop)
        });
        let many = |place: &Path| made(&place.join("s"), 9, is_dated);
        old_or_new("fold", many, |place| {
            add(&mut SetWriter::open(&place.join("s"))?, 800..1100, PLENTY).map(drop)
        });
        old_or_new("remove", some, |place| {
            let mut set = SetWriter::open(&place.join("s"))?;
            let mut loader = set.loader(PLENTY)?;
            loader.push((50..150).map(key))?;
            set.remove(loader).map(drop)
        });
        old_or_new("remove all", some, |place| {
            let mut set = SetWriter::open(&place.join("s"))?;
            let mut loader = set.loader(LITTLE)?;
            loader.push((0..3000).map(key))?;
            set.remove(loader).map(drop)
        });
        old_or_new("prune", some, |place| {
            SetWriter::open(&place.join("s"))?.prune(Timestamp(1001)).map(drop)
        });
        old_or_new("record times", some, |place| {
            let mut set = SetWriter::open(&place.join("s"))?;
            if set.set().is_dated() { Ok(()) } else { set.date(Timestamp(7)) }
        });
        old_or_new("compact", some, |place| SetWriter::open(&place.join("s"))?.compact());
    }
}

#[test]
fn sets_of_sets_are_made_or_not() {
    let _alone = alone();
    type Fill = fn(&mut SetWriter, &[KeySet]) -> Result<u64, SetError>;
    let fills: [(&str, Fill); 3] = [
        ("merge", SetWriter::fill_with_all),
        ("difference", SetWriter::fill_with_difference),
        ("intersection", SetWriter::fill_with_common),
    ];
    for (what, fill) in fills {
        for is_dated in [false, true] {
            let sets = |place: &Path| {
                made(&place.join("a"), 3, is_dated);
                made(&place.join("b"), 1, is_dated);
            };
            old_or_new(what, sets, |place| {
                let sets = [KeySet::open(&place.join("a"))?, KeySet::open(&place.join("b"))?];
                fill(&mut create(&place.join("s"), is_dated)?, &sets).map(drop)
            });
        }
    }
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let _alone = alone();
    let place = directory();
    let path = place.path().join("s");
    made(&path, 3, true);
    let read = || -> Result<(Vec<bool>, usize, usize), SetError> {
        let mut set = KeySet::open(&path)?;
        let queries: Vec<Key> = (0..1000).map(key).collect();
        let found = set.contains(&queries)?;
        set.hold(1 << 20);
        assert_eq!(set.contains(&queries)?, found);
        let mut dated = 0;
        set.each_dated::<SetError>(|part| {
            dated += part.into_iter().count();
            Ok(())
        })?;
        Ok((found, dated, set.verify()?.len()))
    };
    let expected = read().unwrap();
    let runs =
        with_each_fault(&[true], 1000, read, |Struck { kind, call, result }, label| match result {
            Ok(found) => {
                assert!(kind.is_invisible() || call.is_none(), "{label}: no error");
                assert_eq!(found, expected, "{label}");
            }
            Err(error) => {
                assert!(
                    !kind.is_invisible() && matches!(error.fault, Fault::Io(_)),
                    "{label}: {error}"
                );
            }
        });
    eprintln!("read: {runs} runs");
}
