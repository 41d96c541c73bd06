//! Tests sets against a `BTreeSet`, with damaged files, and with concurrent writers and readers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{Fault, KeySet, Meaning, SetError, SetWriter, Timestamp};

mod forge;
mod forged;
mod removal;
mod strange;
use crate::key::{Key, PublicHash, PublicHasher};

const HASHER: fn() -> PublicHasher = || PublicHasher::new(PublicHash::Blake3);

fn key(i: u64) -> Key {
    HASHER().key(&i.to_le_bytes())
}

fn meaning() -> Meaning {
    Meaning::new(PublicHash::Blake3, "level scheme\n")
}

fn add(set: &mut SetWriter, keys: impl IntoIterator<Item = u64>, memory: usize) -> u64 {
    let mut loader = set.loader(memory).unwrap();
    loader.push(keys.into_iter().map(key)).unwrap();
    set.add(loader).unwrap()
}

/// A set of these keys, written at once.
fn made(directory: &Path, keys: impl IntoIterator<Item = u64>) -> KeySet {
    let mut set = SetWriter::create(directory, meaning()).unwrap();
    add(&mut set, keys, 1 << 20);
    drop(set);
    KeySet::open(directory).unwrap()
}

fn all_keys(set: &KeySet) -> Vec<Key> {
    let mut keys = Vec::new();
    set.each_key::<SetError>(|part| {
        keys.extend(part);
        Ok(())
    })
    .unwrap();
    keys
}

/// Names and contents of the files of a set, except the lock.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .filter(|(name, _)| name != "lock")
        .collect();
    files.sort();
    files
}

#[test]
fn agrees_with_a_tree_in_any_order_of_keys() {
    let directory = tempfile::tempdir().unwrap();
    for memory in [1, 1 << 20] {
        let path = directory.path().join(format!("{memory}.set"));
        let mut tree = BTreeSet::new();
        let mut set = SetWriter::create(&path, meaning()).unwrap();
        for round in 0..30u64 {
            // Various sizes, repeated keys, and rounds without new keys.
            let count = [1, 5000, 0, 300, 2, 20_000][round as usize % 6];
            let keys: Vec<u64> = (0..count).map(|i| (i * 7 + round * 911) % 40_009).collect();
            let before = tree.len();
            tree.extend(keys.iter().map(|&i| key(i)));
            assert_eq!(add(&mut set, keys, memory), (tree.len() - before) as u64);
            assert!(set.set().run_lengths().len() <= 9);
            let queries: Vec<Key> = (0..50_000).step_by(13).map(key).collect();
            let expected: Vec<bool> = queries.iter().map(|key| tree.contains(key)).collect();
            assert!(set.set().contains(&queries).unwrap() == expected);
            let reader = KeySet::open(&path).unwrap();
            assert_eq!(reader.len(), tree.len() as u64);
            if round % 5 == 0 {
                assert!(all_keys(&reader).iter().eq(&tree));
            }
        }
        assert!(set.set().run_lengths().len() > 1, "there are runs to merge");
        set.compact().unwrap();
        assert_eq!(set.set().run_lengths().len(), 1);
        assert!(all_keys(set.set()).iter().eq(&tree));
        assert!(set.set().verify().unwrap().is_empty());
    }
}

#[test]
fn merging_gives_the_same_bytes_in_any_order() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let whole = made(&at("whole"), 0..9000);
    let shards: Vec<KeySet> = (0..8)
        .map(|i| {
            made(&at(&format!("shard{i}")), (0..9000).filter(|key| key % 7 == i || key % 8 == i))
        })
        .collect();
    let merge = |name: &str, sets: &[KeySet]| {
        let mut set = SetWriter::create(&at(name), meaning()).unwrap();
        set.fill_with_all(sets).unwrap();
        drop(set);
        KeySet::open(&at(name)).unwrap()
    };
    merge("all", &shards);
    let mut shards = shards;
    shards.reverse();
    let second = shards.split_off(3);
    let halves = [merge("one", &shards), merge("two", &second)];
    merge("halves", &halves);
    merge("twice", &[KeySet::open(&at("halves")).unwrap(), KeySet::open(&at("one")).unwrap()]);
    let expected = files(whole.directory());
    assert_eq!(expected.len(), 2);
    for name in ["all", "halves", "twice"] {
        assert!(files(&at(name)) == expected, "{name}");
    }
}

#[test]
fn differences_and_intersections() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    // Of several runs each.
    let set = |name: &str, step: u64| {
        let mut set = SetWriter::create(&at(name), meaning()).unwrap();
        for part in 0..4 {
            add(&mut set, (part * 1000..part * 1000 + 1000).step_by(step as usize), 1 << 20);
        }
        drop(set);
        KeySet::open(&at(name)).unwrap()
    };
    let sets = [set("2", 2), set("3", 3), set("5", 5)];
    let holds = |i: u64, step: u64| (i % 1000).is_multiple_of(step);
    let keys = |keep: &dyn Fn(u64) -> bool| -> BTreeSet<Key> {
        (0..4000).filter(|&i| keep(i)).map(key).collect()
    };
    let mut common = SetWriter::create(&at("common"), meaning()).unwrap();
    common.fill_with_common(&sets).unwrap();
    let expected = keys(&|i| holds(i, 2) && holds(i, 3) && holds(i, 5));
    assert!(all_keys(common.set()).iter().eq(&expected));
    let mut difference = SetWriter::create(&at("difference"), meaning()).unwrap();
    difference.fill_with_difference(&sets).unwrap();
    let expected = keys(&|i| holds(i, 2) && !holds(i, 3) && !holds(i, 5));
    assert!(all_keys(difference.set()).iter().eq(&expected));
    let mut nothing = SetWriter::create(&at("nothing"), meaning()).unwrap();
    assert_eq!(nothing.fill_with_difference(&[set("a", 2), set("b", 2)]).unwrap(), 0);
    drop(nothing);
    assert!(KeySet::open(&at("nothing")).unwrap().is_empty());
}

#[test]
fn sets_of_other_meanings_are_not_combined() {
    let directory = tempfile::tempdir().unwrap();
    let set = made(&directory.path().join("a"), 0..10);
    let other = Meaning::new(PublicHash::Blake3, "level syntax\nfragment dropped\n");
    let mut merged = SetWriter::create(&directory.path().join("b"), other).unwrap();
    let error = merged.fill_with_all(&[set]).unwrap_err();
    assert!(matches!(&error.fault, Fault::Differs(_)), "{error}");
    let message = "a: its keys have another meaning: level: scheme in the set, syntax in what is requested; \
                   fragment dropped: in what is requested only";
    assert!(error.to_string().contains(message), "{error}");
    drop(merged);
    assert!(!directory.path().join("b").exists(), "nothing remains of it");
}

#[test]
fn there_is_one_writer_and_readers_keep_their_state() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    drop(made(&path, 0..100));
    let mut writer = SetWriter::open(&path).unwrap();
    assert!(matches!(SetWriter::open(&path).unwrap_err().fault, Fault::Busy));
    let exists = SetWriter::create(&path, meaning()).unwrap_err();
    assert!(matches!(exists.fault, Fault::Exists), "{exists}");
    let before = KeySet::open(&path).unwrap();
    for i in 1..40 {
        add(&mut writer, i * 100..i * 100 + 100, 1 << 20);
    }
    writer.compact().unwrap();
    // Its file has been removed.
    assert_eq!(all_keys(&before).len(), 100);
    assert_eq!(all_keys(&KeySet::open(&path).unwrap()).len(), 4000);
}

/// When key `i` was first seen by the set, if it was.
fn times(set: &KeySet, keys: impl IntoIterator<Item = u64>) -> BTreeMap<u64, u32> {
    let keys: Vec<u64> = keys.into_iter().collect();
    let mut queries: Vec<(Key, usize)> = keys.iter().copied().map(key).zip(0..).collect();
    let mut found = BTreeMap::new();
    set.find_dated(&mut queries, |i, time| assert!(found.insert(keys[i], time.0).is_none()))
        .unwrap();
    found
}

#[test]
fn the_earliest_time_is_kept_in_any_order_of_keys_and_times() {
    let directory = tempfile::tempdir().unwrap();
    for memory in [1, 1 << 20] {
        let path = directory.path().join(format!("{memory}.set"));
        let mut tree: BTreeMap<u64, u32> = BTreeMap::new();
        let mut set = SetWriter::create_dated(&path, meaning()).unwrap();
        for round in 0..27u64 {
            let count = [1, 5000, 0, 300, 2, 9_000][round as usize % 6];
            let keys: Vec<u64> = (0..count).map(|i| (i * 7 + round * 911) % 20_011).collect();
            // Later rounds do not always have later times.
            let time = if round < 24 { (round * 37) % 50 } else { 2000 + round } as u32;
            let mut loader = set.loader_at(memory, Timestamp(time)).unwrap();
            if round % 4 == 3 {
                // Each with its own time, some with two.
                let dated = keys.iter().flat_map(|&i| {
                    [(key(i), Timestamp(time + 1)), (key(i), Timestamp(i as u32 % 1000))]
                });
                loader.push_dated(dated).unwrap();
            } else {
                loader.push(keys.iter().copied().map(key)).unwrap();
            }
            let before = tree.len();
            for &i in &keys {
                let first = if round % 4 == 3 { (time + 1).min(i as u32 % 1000) } else { time };
                tree.entry(i).and_modify(|it| *it = first.min(*it)).or_insert(first);
            }
            assert_eq!(set.add(loader).unwrap(), (tree.len() - before) as u64);
            assert!(times(set.set(), 0..20_011) == tree, "round {round}");
        }
        set.compact().unwrap();
        let reader = KeySet::open(&path).unwrap();
        assert!(times(&reader, 0..20_011) == tree);
        let range = (*tree.values().min().unwrap(), *tree.values().max().unwrap());
        assert_eq!(reader.first_seen_range(), Some((Timestamp(range.0), Timestamp(range.1))));
        let mut dated = BTreeMap::new();
        reader
            .each_dated::<SetError>(|part| {
                dated.extend(part);
                Ok(())
            })
            .unwrap();
        let expected: BTreeMap<Key, Timestamp> =
            tree.iter().map(|(&i, &time)| (key(i), Timestamp(time))).collect();
        assert!(dated == expected);
        assert!(reader.verify().unwrap().is_empty());
        assert_eq!(files(&path).len(), 3, "nothing remains of older runs");
    }
}

#[test]
fn merged_sets_keep_the_earliest_time() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let mut models: Vec<BTreeMap<u64, u32>> = Vec::new();
    for shard in 0..4u64 {
        let mut set = SetWriter::create_dated(&at(&format!("shard{shard}")), meaning()).unwrap();
        let mut model = BTreeMap::new();
        // Two runs each.
        for part in 0..2 {
            let keys = (0..6000).filter(|i| i % 2 == part && i % (shard + 2) == 0);
            let dated: Vec<(u64, u32)> =
                keys.map(|i| (i, (i * (shard + 3) % 101) as u32)).collect();
            let mut loader = set.loader(1 << 20).unwrap();
            loader.push_dated(dated.iter().map(|&(i, time)| (key(i), Timestamp(time)))).unwrap();
            set.add(loader).unwrap();
            model.extend(dated);
        }
        models.push(model);
    }
    let open = |order: &[usize]| -> Vec<KeySet> {
        order.iter().map(|i| KeySet::open(&at(&format!("shard{i}"))).unwrap()).collect()
    };
    let make = |name: &str, fill: &dyn Fn(&mut SetWriter)| {
        let mut set = SetWriter::create_dated(&at(name), meaning()).unwrap();
        fill(&mut set);
        times(set.set(), 0..6000)
    };
    let mut all: BTreeMap<u64, u32> = BTreeMap::new();
    for (&i, &time) in models.iter().flatten() {
        all.entry(i).and_modify(|first| *first = time.min(*first)).or_insert(time);
    }
    let mut common = all.clone();
    common.retain(|i, _| models.iter().all(|model| model.contains_key(i)));
    let mut difference = models[0].clone();
    difference.retain(|i, _| models[1..].iter().all(|model| !model.contains_key(i)));
    for (name, order) in [("a", [0, 1, 2, 3]), ("b", [3, 1, 0, 2])] {
        let (union, both) = (format!("{name}-all"), format!("{name}-common"));
        assert!(make(&union, &|set| drop(set.fill_with_all(&open(&order)))) == all);
        assert!(make(&both, &|set| drop(set.fill_with_common(&open(&order)))) == common);
    }
    assert!(files(&at("a-all")) == files(&at("b-all")));
    assert!(files(&at("a-common")) == files(&at("b-common")));
    let order = [0, 1, 2, 3];
    assert!(make("d", &|set| drop(set.fill_with_difference(&open(&order)))) == difference);
    assert!(!common.is_empty() && !difference.is_empty());

    // A set without times has other files.
    let plain = made(&at("plain"), 0..10);
    let mut set = SetWriter::create_dated(&at("e"), meaning()).unwrap();
    let error = set.fill_with_all(&[plain]).unwrap_err();
    assert!(matches!(&error.fault, Fault::Differs(_)), "{error}");
}

#[test]
fn changed_bytes_and_truncated_files_are_detected() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    drop(made(&path, 0..600));
    all_damage_is_detected(&path, |set, queries| set.contains(queries).is_err());
}

#[test]
fn changed_times_and_truncated_files_are_detected() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let mut set = SetWriter::create_dated(&path, meaning()).unwrap();
    add(&mut set, 0..600, 1 << 20);
    drop(set);
    all_damage_is_detected(&path, |set, queries| {
        let mut queries: Vec<(Key, usize)> = queries.iter().copied().zip(0..).collect();
        set.find_dated(&mut queries, |_, _| {}).is_err()
    });
}

/// Damages the files of the set of the first 600 keys at `path` one by one; `is_rejected` looks up
/// keys such that each byte of the files matters.
fn all_damage_is_detected(path: &Path, is_rejected: fn(&KeySet, &[Key]) -> bool) {
    let queries: Vec<Key> = (0..1200).map(key).collect();
    let expected: Vec<bool> = (0..1200).map(|i| i < 600).collect();
    for (name, bytes) in files(path) {
        let file = path.join(&name);
        let check = |what: &str| {
            let opened = KeySet::open(path);
            // What keeps a set from being opened is damage, too.
            assert!(!super::verify(path).unwrap().is_empty(), "{name}: {what} was not verified");
            let damage = match &opened {
                Err(error) => Some(error.to_string()),
                Ok(set) => set.verify().unwrap().first().map(ToString::to_string),
            };
            let damage = damage.unwrap_or_else(|| panic!("{name}: {what} was not detected"));
            assert!(damage.contains(&name) || damage.contains("damaged"), "{damage}");
            // Readers get the right result or an error.
            if let Ok(set) = opened {
                assert!(is_rejected(&set, &queries), "{name}: {what} was read");
            }
        };
        for at in (0..bytes.len()).step_by(if bytes.len() > 1000 { 61 } else { 1 }) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&file, &flipped).unwrap();
            check(&format!("a bit of byte {at}"));
        }
        for len in [0, 1, 15, 4095, 4096, 5000, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&file, &bytes[..len.min(bytes.len() - 1)]).unwrap();
            check(&format!("an end at {len}"));
        }
        fs::write(&file, [&bytes[..], b"x"].concat()).unwrap();
        check("a byte more");
        fs::remove_file(&file).unwrap();
        assert!(KeySet::open(path).is_err(), "{name} is missing");
        let damages = super::verify(path).unwrap();
        assert!(matches!(&damages[..], [one] if one.to_string().contains("is missing")));
        fs::write(&file, &bytes).unwrap();
    }
    assert!(KeySet::open(path).unwrap().contains(&queries).unwrap() == expected);
}

#[test]
fn keys_are_loaded_once_look_ups_pay_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    // 274 blocks.
    let mut set = made(&path, 0..70_000);
    assert!(!set.expect_look_ups(1_000_000).unwrap(), "nobody allowed it");
    let mut set_of = |bytes| {
        set = KeySet::open(&path).unwrap();
        set.hold(bytes);
        [10, 30, 1_000].map(|count| set.expect_look_ups(count).unwrap())
    };
    assert_eq!(set_of(1 << 20), [false; 3], "too little memory");
    assert_eq!(set_of(2 << 20), [false, false, true]);
}

#[test]
fn who_ends_without_a_drop_leaves_the_set_that_was_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.set");
    let begun = SetWriter::create(&path, meaning()).unwrap();
    let mut loader = begun.loader(1 << 20).unwrap();
    loader.push((0..1 << 17).map(|i| Key(i << 100))).unwrap();
    super::abandon(&path);
    assert!(!path.exists(), "what was never made is gone");
    std::mem::forget(begun);

    let mut writer = SetWriter::create(&path, meaning()).unwrap();
    static GATE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    writer.change_under(&GATE);
    let mut loader = writer.loader(1 << 20).unwrap();
    loader.push([Key(1), Key(2)]).unwrap();
    let held = GATE.lock().unwrap();
    let adding = std::thread::spawn(move || writer.add(loader).unwrap());
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(KeySet::open(&path).is_err(), "nothing changes behind the gate");
    drop(held);
    assert_eq!(adding.join().unwrap(), 2);
    let names = || {
        let entries = std::fs::read_dir(&path).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    std::fs::write(path.join("new-a1B2c3.partial"), "half").unwrap();
    super::abandon(&path);
    assert_eq!(names(), before);
    assert_eq!(KeySet::open(&path).unwrap().len(), 2);
}
