//! Crafted files of runs, whose checksums are right and whose content is wrong.

use std::fs;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::forge::{Forged, forge};
use super::{add, key, made, meaning};
use crate::key::Key;
use crate::set::blocks::BLOCK;
use crate::set::{Fault, KeySet, SetError, SetWriter, Timestamp};

/// Whether `result` reports damage; panics on any other error.
fn is_damage<T>(result: Result<T, SetError>) -> bool {
    match result {
        Ok(_) => false,
        Err(SetError { fault: Fault::Damaged { .. }, .. }) => true,
        Err(error) => panic!("{error}"),
    }
}

/// Checks that everything that reads the whole set of keys 0 to `count` at `path` reports damage.
fn is_rejected_by_all(path: &Path, count: u64) {
    let beside = path.with_extension("whole");
    let target = path.with_extension("new");
    let queries: Vec<Key> = (0..2 * count).map(key).collect();
    let whole = made(&beside, 0..10);
    let open = || KeySet::open(path);
    let set = match open() {
        Ok(set) => set,
        Err(error) => {
            assert!(matches!(error.fault, Fault::Damaged { .. }), "{error}");
            assert!(is_damage(SetWriter::open(path)));
            drop(whole);
            fs::remove_dir_all(beside).unwrap();
            return;
        }
    };
    assert!(!set.verify().unwrap().is_empty());
    assert!(is_damage(set.contains(&queries)));
    let mut numbered: Vec<(Key, usize)> = queries.iter().copied().zip(0..).collect();
    assert!(is_damage(set.find(&mut numbered, |_| {})));
    assert!(is_damage(set.each_key::<SetError>(|_| Ok(()))));
    let mut held = open().unwrap();
    held.hold(u64::MAX);
    assert!(is_damage(held.expect_look_ups(queries.len())));
    assert!(is_damage(held.contains(&queries)));
    for make in [
        SetWriter::fill_with_all as fn(&mut SetWriter, &[KeySet]) -> Result<u64, SetError>,
        SetWriter::fill_with_common,
        SetWriter::fill_with_difference,
    ] {
        for sets in [&[path, path][..], &[path], &[path, &beside]] {
            let sets: Vec<KeySet> = sets.iter().map(|path| KeySet::open(path).unwrap()).collect();
            let mut new = SetWriter::create(&target, meaning()).unwrap();
            let is_seen = is_damage(make(&mut new, &sets));
            // An intersection looks up the keys of the smaller set.
            assert!(is_seen || sets.iter().any(|set| set.len() == 10));
            drop(new);
            let _ = fs::remove_dir_all(&target);
        }
    }
    let mut writer = SetWriter::open(path).unwrap();
    let mut loader = writer.loader(1 << 20).unwrap();
    loader.push(queries).unwrap();
    assert!(is_damage(writer.add(loader)));
    drop((writer, whole));
    fs::remove_dir_all(beside).unwrap();
}

const COUNT: u64 = 3000;

#[test]
fn a_well_forged_set_is_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    drop(made(&path, 0..COUNT));
    let before = super::files(&path);
    forge(&path, ".keys", |_| {});
    assert!(super::files(&path) == before, "{COUNT} keys have one file");
    // A changed key that fits makes another, intact set.
    forge(&path, ".keys", |file| file.item(7)[15] ^= 1);
    let set = KeySet::open(&path).unwrap();
    assert!(set.verify().unwrap().is_empty());
    let queries: Vec<Key> = (0..COUNT).map(key).collect();
    assert_eq!(set.contains(&queries).unwrap().iter().filter(|&&it| !it).count(), 1);
}

#[test]
fn keys_that_do_not_rise_are_damage_to_all_readers() {
    let directory = tempfile::tempdir().unwrap();
    type Change = fn(&mut Forged);
    let changes: [(&str, Change); 7] = [
        ("two beside each other", |file| file.swap(1000, 1001)),
        ("at the end of a block", |file| file.swap(255, 256)),
        ("far from each other", |file| file.swap(3, 2900)),
        ("at both ends", |file| file.swap(0, 2999)),
        ("one twice", |file| {
            let key = file.item(500).to_vec();
            file.item(501).copy_from_slice(&key);
        }),
        ("by their last byte", |file| {
            let key = file.item(500).to_vec();
            file.item(501).copy_from_slice(&key);
            file.item(500)[15] |= 1;
            file.item(501)[15] &= !1;
        }),
        ("blocks", |file| (0..256).for_each(|i| file.swap(256 + i, 512 + i))),
    ];
    for (name, change) in changes {
        let path = directory.path().join(name.replace(' ', "-"));
        drop(made(&path, 0..COUNT));
        forge(&path, ".keys", change);
        is_rejected_by_all(&path, COUNT);
    }
}

#[test]
fn parts_that_are_loaded_side_by_side_rise_together() {
    // Each of the two parts rises.
    const SEAM: usize = super::super::look_up::PART / 16;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    drop(made(&path, 0..SEAM as u64 + 5000));
    forge(&path, ".keys", |file| file.swap(SEAM - 1, SEAM));
    let mut set = KeySet::open(&path).unwrap();
    set.hold(u64::MAX);
    assert!(is_damage(set.expect_look_ups(usize::MAX)));
}

#[test]
fn facts_that_do_not_match_the_keys_are_damage_to_all_readers() {
    let directory = tempfile::tempdir().unwrap();
    type Change = fn(&mut Forged);
    let changes: [(&str, Change); 10] = [
        ("one more in a partition", |file| {
            let fact = file.fact(100);
            file.set_fact(100, fact + 1);
        }),
        ("one less in a partition", |file| {
            let fact = file.fact(100);
            file.set_fact(100, fact - 1);
        }),
        ("all in the first", |file| (1..256).for_each(|i| file.set_fact(i, COUNT))),
        ("all in the last", |file| (1..256).for_each(|i| file.set_fact(i, 0))),
        ("they fall", |file| file.set_fact(100, 0)),
        ("beyond the end", |file| file.set_fact(255, COUNT + 1)),
        ("nothing at the start", |file| file.set_fact(0, 1)),
        ("too few", |file| file.set_fact(256, COUNT - 1)),
        ("too many", |file| file.set_fact(256, u64::MAX)),
        ("more facts", |file| file.set_fact(257, 1)),
    ];
    for (name, change) in changes {
        let path = directory.path().join(name.replace(' ', "-"));
        drop(made(&path, 0..COUNT));
        forge(&path, ".keys", change);
        is_rejected_by_all(&path, COUNT);
    }
}

#[test]
fn wrong_lengths_are_damage() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    drop(made(&path, 0..COUNT));
    let (name, bytes) = super::files(&path).swap_remove(0);
    for len in [
        0,
        1,
        COUNT - 1,
        COUNT + 1,
        1 << 32,
        (1 << 60) - 1,
        1 << 60,
        // Times 16, it overflows to the real size.
        (1 << 60) + COUNT,
        u64::MAX / 16,
        u64::MAX / 16 - 255,
        u64::MAX,
    ] {
        let mut forged = bytes.clone();
        forged[16..24].copy_from_slice(&len.to_be_bytes());
        let check = xxh3_64(&forged[..BLOCK - 8]);
        forged[BLOCK - 8..BLOCK].copy_from_slice(&check.to_be_bytes());
        fs::write(path.join(&name), forged).unwrap();
        is_rejected_by_all(&path, COUNT);
    }
    // The manifest's own count.
    fs::write(path.join(&name), &bytes).unwrap();
    let text = fs::read_to_string(path.join("set")).unwrap().replace(" 3000\n", " 2999\n");
    let end = text.rfind("check ").unwrap();
    let check = xxh3_64(&text.as_bytes()[..end]);
    fs::write(path.join("set"), format!("{}check {check:016x}\n", &text[..end])).unwrap();
    is_rejected_by_all(&path, COUNT);
}

/// Only reading everything detects that; nothing else needs to.
#[test]
fn a_content_of_another_name_is_detected_by_verify() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    drop(made(&path, 0..COUNT));
    let (name, bytes) = super::files(&path).swap_remove(0);
    let mut forged = Forged::new(bytes, 16);
    forged.item(7)[15] ^= 1;
    let digest = u128::from_str_radix(&name[..32], 16).unwrap();
    fs::write(path.join(&name), forged.finish(digest.to_be_bytes())).unwrap();
    let damages = KeySet::open(&path).unwrap().verify().unwrap();
    assert!(damages[0].to_string().contains("its content does not match its name"));
    // A file under the name of another is detected by everything.
    let other = directory.path().join("t");
    drop(made(&other, 0..COUNT + 1));
    let (_, bytes) = super::files(&other).swap_remove(0);
    fs::write(path.join(&name), bytes).unwrap();
    let error = KeySet::open(&path).unwrap_err();
    assert!(error.to_string().contains("its name does not match its content"), "{error}");
}

#[test]
fn times_that_do_not_match_are_damage_to_all_readers() {
    let directory = tempfile::tempdir().unwrap();
    type Change = fn(&mut Forged);
    let changes: [(&str, Change); 7] = [
        ("earlier", |file| file.item(2000).copy_from_slice(&[0; 4])),
        ("later", |file| file.item(2000).copy_from_slice(&[0xff; 4])),
        ("earliest is later", |file| file.set_fact(2, 101)),
        ("latest is earlier", |file| file.set_fact(3, 1998)),
        ("they are turned round", |file| {
            file.set_fact(2, 5000);
            file.set_fact(3, 1);
        }),
        ("they are not times", |file| file.set_fact(3, 1 << 32)),
        ("of other keys", |file| file.set_fact(1, 5)),
    ];
    for (name, change) in changes {
        let path = directory.path().join(name.replace(' ', "-"));
        let mut set = SetWriter::create_dated(&path, meaning()).unwrap();
        let mut loader = set.loader(1 << 20).unwrap();
        let dated = (0..COUNT).map(|i| (key(i), Timestamp(100 + (i % 1900) as u32)));
        loader.push_dated(dated).unwrap();
        set.add(loader).unwrap();
        drop(set);
        assert!(KeySet::open(&path).unwrap().verify().unwrap().is_empty());
        forge(&path, ".times", change);
        let Ok(set) = KeySet::open(&path) else { continue };
        assert!(!set.verify().unwrap().is_empty(), "{name}");
        let mut queries: Vec<(Key, usize)> = (0..COUNT).map(|i| (key(i), i as usize)).collect();
        assert!(is_damage(set.find_dated(&mut queries, |_, _| {})), "{name}");
        assert!(is_damage(set.each_dated::<SetError>(|_| Ok(()))), "{name}");
        let new = path.with_extension("new");
        let mut merged = SetWriter::create_dated(&new, meaning()).unwrap();
        assert!(is_damage(merged.fill_with_all(&[set])), "{name}");
        drop(merged);
        assert!(!new.exists(), "{name}");
    }
}

#[test]
fn runs_that_share_a_key_are_damage() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    for is_dated in [false, true] {
        let set = |name: &str, keys: std::ops::Range<u64>, time: u32| {
            let path = at(&format!("{name}-{is_dated}"));
            let mut set = match is_dated {
                true => SetWriter::create_dated(&path, meaning()).unwrap(),
                false => SetWriter::create(&path, meaning()).unwrap(),
            };
            let mut loader = set.loader_at(1 << 20, Timestamp(time)).unwrap();
            loader.push(keys.map(key)).unwrap();
            set.add(loader).unwrap();
            path
        };
        let (one, two) = (set("one", 0..100, 1), set("two", 99..300, 2));
        // The runs of both in one set.
        let mut lines = Vec::new();
        for path in [&two, &one] {
            let text = fs::read_to_string(path.join("set")).unwrap();
            lines.push(text.lines().nth(3).unwrap().to_owned());
        }
        for (name, bytes) in super::files(&one) {
            if name != "set" {
                fs::write(two.join(name), bytes).unwrap();
            }
        }
        let text = fs::read_to_string(two.join("set")).unwrap();
        let text = text.replace("runs 1", "runs 2").replace(&lines[0], &lines.join("\n"));
        let end = text.rfind("check ").unwrap();
        let check = xxh3_64(&text.as_bytes()[..end]);
        fs::write(two.join("set"), format!("{}check {check:016x}\n", &text[..end])).unwrap();

        let set = KeySet::open(&two).unwrap();
        assert_eq!(set.len(), 301);
        assert_eq!(set.verify().unwrap().len(), 1);
        assert!(is_damage(set.each_key::<SetError>(|_| Ok(()))));
        assert_eq!(set.contains(&[key(99)]).unwrap(), [true]);
        if is_dated {
            assert!(is_damage(set.find_dated(&mut [(key(99), 0)], |_, _| {})));
            assert!(is_damage(set.each_dated::<SetError>(|_| Ok(()))));
        }
        let mut writer = SetWriter::open(&two).unwrap();
        assert!(is_damage(writer.compact()));
        // A set that is made from it is intact.
        let new = at(&format!("new-{is_dated}"));
        let mut merged = match is_dated {
            true => SetWriter::create_dated(&new, meaning()).unwrap(),
            false => SetWriter::create(&new, meaning()).unwrap(),
        };
        assert_eq!(merged.fill_with_all(&[set]).unwrap(), 300);
        assert!(merged.set().verify().unwrap().is_empty());
        add(&mut merged, 0..301, 1 << 20);
        assert_eq!(merged.set().len(), 301);
    }
}

/// All keys in one narrow range: the number processed at once is still bounded.
#[test]
fn unevenly_distributed_keys_are_combined_in_parts() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    const MANY: u128 = 1_300_000;
    let corner = |offset: u128| (0..MANY).map(move |i| Key((7 << 100) + 3 * i + offset));
    let set = |name: &str, keys: &mut dyn Iterator<Item = Key>| {
        let mut set = SetWriter::create(&at(name), meaning()).unwrap();
        let mut loader = set.loader(8 << 20).unwrap();
        loader.push(keys).unwrap();
        set.add(loader).unwrap();
        drop(set);
        KeySet::open(&at(name)).unwrap()
    };
    let ends = [Key(1), Key(u128::MAX)];
    let sets = [set("one", &mut corner(0).chain(ends)), set("two", &mut corner(1))];
    let mut merged = SetWriter::create(&at("both"), meaning()).unwrap();
    assert_eq!(merged.fill_with_all(&sets).unwrap(), 2 * MANY as u64 + 2);
    let (mut keys, mut most) = (Vec::new(), 0);
    let each = |part: &mut dyn Iterator<Item = Key>| {
        let before = keys.len();
        keys.extend(part);
        most = most.max(keys.len() - before);
        Ok::<_, SetError>(())
    };
    merged.set().each_key(each).unwrap();
    let mut expected: Vec<Key> = corner(0).chain(corner(1)).chain(ends).collect();
    expected.sort_unstable();
    assert!(keys == expected);
    assert!(most <= 4 << 17, "{most} keys at once");
}

/// Blocks that are read at different times each rise.
#[test]
fn keys_that_fall_between_separate_reads_are_damage() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let mut set = SetWriter::create(&path, meaning()).unwrap();
    let mut loader = set.loader(1 << 20).unwrap();
    // All in one partition, so that no fact reveals them.
    let keys: Vec<Key> = (0..40_000).map(|i| Key((7 << 120) + (i << 104))).collect();
    loader.push(keys.iter().copied()).unwrap();
    set.add(loader).unwrap();
    drop(set);
    let per_block = BLOCK / 16;
    for block in (1..keys.len() / per_block).step_by(9).chain([64, 128]) {
        let swap = |file: &mut Forged| file.swap(block * per_block - 1, block * per_block);
        forge(&path, ".keys", swap);
        let set = KeySet::open(&path).unwrap();
        assert!(is_damage(set.contains(&keys)), "{block}");
        assert!(is_damage(
            set.find(&mut keys.iter().copied().zip(0..).collect::<Vec<_>>(), |_| {})
        ));
        assert!(is_damage(set.each_key::<SetError>(|_| Ok(()))), "{block}");
        forge(&path, ".keys", swap);
    }
    assert!(KeySet::open(&path).unwrap().contains(&keys).unwrap().into_iter().all(|it| it));
}
