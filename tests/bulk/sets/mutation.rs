//! Changes the files of a set as directed by some bytes, and checks every operation on it against a
//! plain reading of the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::AddAssign;
use std::path::Path;

use uriscan::key::Key;
use uriscan::set::{Fault, KeySet, SetError, SetWriter, Timestamp};

use super::files::{BLOCK, Blocks, FACTS, Files, key, meaning, place};
use super::plain::Plain;

/// Numbers of outcomes.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    /// Rejected on opening.
    pub(crate) refused: u32,
    /// Found to be damaged while reading keys.
    pub(crate) damaged: u32,
    pub(crate) whole: u32,
}

impl AddAssign for Outcomes {
    fn add_assign(&mut self, other: Outcomes) {
        self.refused += other.refused;
        self.damaged += other.damaged;
        self.whole += other.whole;
    }
}

/// Draws choices from the start of the input; zeros after its end.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn below(&mut self, end: usize) -> usize {
        (usize::from(self.byte()) << 8 | usize::from(self.byte())) % end.max(1)
    }

    fn number(&mut self) -> u64 {
        let near = [0, 1, 2, 255, 256, 257, 1499, 1500, 1501, 1802, 1 << 32, 1 << 60, u64::MAX];
        let other = u64::from(self.byte());
        near.get(self.below(2 * near.len())).copied().unwrap_or(other)
    }
}

/// Names that a manifest must not hold; `precious` is a file outside.
const NAMES: [&str; 10] = [
    "../precious.keys",
    "../0123456789abcdef0123456789abcdef.keys",
    "/dev/zero",
    "",
    ".",
    "..",
    "set",
    "lock",
    "mine.keys",
    "sub/0123456789abcdef0123456789abcdef.keys",
];

/// Names of other files in the directory.
const OTHERS: [&str; 3] = ["mine.keys", "mine.times", "mine.partial"];

fn change_blocks(file: &mut Blocks, choices: &mut Choices<'_>) {
    let (width, count) = (file.width(), file.count());
    let item = |choices: &mut Choices<'_>| choices.below(count) * width;
    match choices.byte() % 24 {
        _ if count < 2 => file.items.extend([7; 32]),
        0 => file.items[choices.below(count * width)] ^= choices.byte(),
        1 => {
            let (one, other) = (item(choices), item(choices));
            (0..width).for_each(|i| file.items.swap(one + i, other + i));
        }
        2 => {
            let (from, to) = (item(choices), item(choices));
            file.items.copy_within(from..from + width, to);
        }
        3 => file.set_number(FACTS + 8 * choices.below(260), choices.number()),
        5 => {
            let at = FACTS + 8 * choices.below(257);
            let fact = u64::from_be_bytes(file.header[at..at + 8].try_into().unwrap());
            file.set_number(at, fact.wrapping_add([1, u64::MAX][choices.below(2)]));
        }
        6 => file.header[choices.below(BLOCK)] ^= choices.byte(),
        7 => file.len = Some(choices.number()),
        8 => {
            let at = item(choices);
            file.items.drain(at..at + width);
        }
        9 => {
            let (at, byte) = (item(choices), choices.byte());
            file.items.splice(at..at, std::iter::repeat_n(byte, width));
        }
        10 => file.tail = vec![choices.byte(); choices.below(5000)],
        11 => file.end = Some(choices.below(30_000)),
        12 => file.keeps_digest = true,
        13..=18 => file.has_right_facts = true,
        19 => {
            let at = item(choices);
            file.items.copy_within(at..at + width, (at + width) % (count * width));
        }
        20 => {
            // The last bytes of a key rarely affect its order.
            let at = item(choices) + width - 1;
            file.items[at] ^= choices.byte();
        }
        _ => {
            // Replaces a block with another.
            let blocks = file.items.len() / BLOCK;
            let (one, other) = (choices.below(blocks) * BLOCK, choices.below(blocks) * BLOCK);
            if blocks > 1 {
                (0..BLOCK).for_each(|i| file.items.swap(one + i, other + i));
            }
        }
    }
}

fn change_manifest(text: &mut Vec<u8>, choices: &mut Choices<'_>) {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|&it| it == b'\n').map(Vec::from).collect();
    if lines.is_empty() {
        return;
    }
    let (i, other) = (choices.below(lines.len()), choices.below(lines.len()));
    match choices.byte() % 8 {
        0 => drop(lines.remove(i)),
        1 => lines.insert(other, lines[i].clone()),
        2 => lines.swap(i, other),
        // Earlier changes may have taken lines away.
        3 if lines.len() > 2 => lines[2] = format!("runs {}\n", choices.number()).into(),
        4 if lines.len() > 1 => {
            lines[1] = [&b"first-seen no\n"[..], b"first-seen yes\n"][choices.below(2)].into();
        }
        5 | 6 => {
            let name = NAMES[choices.below(NAMES.len())];
            let line = String::from_utf8_lossy(&lines[i]).into_owned();
            let mut words: Vec<&str> = line.split(' ').collect();
            let at = choices.below(words.len());
            words[at] = name;
            lines[i] = words.join(" ").into();
        }
        _ => {
            let at = choices.below(lines[i].len());
            lines[i][at] ^= choices.byte();
        }
    }
    *text = lines.concat();
}

/// Replaces a file of the set with something that is not a regular file.
#[cfg(unix)]
fn replace_by_something(directory: &Path, choices: &mut Choices<'_>) {
    let mut names = names(directory);
    names.push("lock".to_owned());
    let path = directory.join(&names[choices.below(names.len())]);
    let away = directory.with_extension("away");
    if fs::rename(&path, &away).is_ok() {
        match choices.byte() % 3 {
            0 => fs::create_dir(&path).unwrap(),
            1 => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
            _ => std::os::unix::fs::symlink(&away, &path).unwrap(),
        }
    }
}

#[cfg(not(unix))]
fn replace_by_something(_: &Path, _: &mut Choices<'_>) {}

/// Names of the files in `directory`, except the lock.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name != "lock");
    names.sort();
    names
}

/// The value of `result`, or `None` for an error that a damaged set may give.
fn right<T>(result: Result<T, SetError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(matches!(error.fault, Fault::Damaged { .. }), "{error}");
            None
        }
    }
}

fn keys_of(set: &KeySet) -> Result<Vec<Key>, SetError> {
    let mut keys = Vec::new();
    set.each_key::<SetError>(|part| {
        keys.extend(part);
        Ok(())
    })?;
    Ok(keys)
}

fn dated(set: &KeySet) -> Result<Vec<(Key, Timestamp)>, SetError> {
    let mut keys = Vec::new();
    set.each_dated::<SetError>(|part| {
        keys.extend(part);
        Ok(())
    })?;
    Ok(keys)
}

/// Looks keys up in `set`: some in a batch, and one by one.
fn check_look_ups(set: &KeySet, plain: &Plain) -> bool {
    let all = plain.all();
    let near = |key: &Key| [key.0.saturating_sub(1), key.0, key.0.saturating_add(1)].map(Key);
    let mut asked: Vec<Key> = all.iter().flat_map(near).collect();
    asked.extend([Key(1), Key(u128::MAX)]);
    asked.extend((0..50).map(|i| key(1_000_000 + i)));
    let mut is_right = true;
    // Looking up all keys reads all of them.
    match right(set.contains(&asked)) {
        Some(found) => {
            let expected: Vec<bool> = asked.iter().map(|key| all.contains(key)).collect();
            assert!(found == expected);
        }
        None => is_right = false,
    }
    // Looking up few keys may miss the damage; but a key that is found is there, and one that is
    // not found is not at its position.
    for few in asked.chunks(1 + asked.len() / 40) {
        if let Some(found) = right(set.contains(&few[..1])) {
            assert!(found == [all.contains(&few[0])] || !plain.rises() && !found[0]);
        }
    }
    if set.is_dated() {
        let mut numbered: Vec<(Key, usize)> = asked.iter().copied().zip(0..).collect();
        let mut found = BTreeMap::new();
        let result = set.find_dated(&mut numbered, |i, time| {
            assert!(
                found.insert(asked[i], BTreeSet::from([time.0])).is_none_or(|it| it.len() == 1)
            );
        });
        match right(result) {
            Some(()) => assert!(found == plain.times),
            None => is_right = false,
        }
    }
    is_right
}

/// Merges the set at `path` with another.
fn check_merges(path: &Path, plain: &Plain, other: &Path) {
    let open = |path: &Path| KeySet::open(path).unwrap();
    let (all, others) = (plain.all(), keys_of(&open(other)).unwrap());
    let union: BTreeSet<Key> = all.iter().chain(&others).copied().collect();
    let common: BTreeSet<Key> = others.iter().filter(|key| all.contains(key)).copied().collect();
    let rest: BTreeSet<Key> = all.iter().filter(|key| !others.contains(key)).copied().collect();
    let target = path.with_extension("new");
    type Fill = fn(&mut SetWriter, &[KeySet]) -> Result<u64, SetError>;
    let fills: [(Fill, &BTreeSet<Key>); 3] = [
        (SetWriter::fill_with_all, &union),
        (SetWriter::fill_with_common, &common),
        (SetWriter::fill_with_difference, &rest),
    ];
    for (fill, expected) in fills {
        let sets = [open(path), open(other)];
        let mut new = match sets[0].is_dated() {
            true => SetWriter::create_dated(&target, meaning()),
            false => SetWriter::create(&target, meaning()),
        }
        .unwrap();
        let filled = right(fill(&mut new, &sets));
        drop(new);
        if filled.is_some() {
            let new = open(&target);
            assert!(new.verify().unwrap().is_empty());
            let keys = keys_of(&new).unwrap();
            // An intersection may be computed without reading all of the damage.
            assert!(keys.iter().eq(expected) || !plain.rises() && expected.len() == common.len());
            assert!(keys.iter().all(|key| expected.contains(key)));
            drop(new);
            fs::remove_dir_all(&target).unwrap();
        }
        assert!(!target.exists(), "nothing is left of a set that did not come to be");
    }
}

/// Adds keys to the set at `path`, and compacts it.
fn check_changes(path: &Path, plain: &Plain) {
    let Some(mut writer) = right_or_strange(SetWriter::open(path)) else { return };
    let added: Vec<Key> = (2_000_000..2_000_040).map(key).collect();
    let mut loader = writer.loader(1 << 20).unwrap();
    loader.push(added.iter().copied()).unwrap();
    if right(writer.add(loader)).is_some() {
        assert!(writer.set().contains(&added).is_ok_and(|found| found.iter().all(|&it| it)));
    }
    if right(writer.compact()).is_some() && plain.runs.len() > 1 {
        assert!(plain.rises() && plain.has_no_key_twice());
        assert!(writer.set().verify().unwrap().is_empty());
        assert!(plain.all().is_subset(&keys_of(writer.set()).unwrap().into_iter().collect()));
    }
}

/// Like [`right`], if the lock may be something else.
fn right_or_strange<T>(result: Result<T, SetError>) -> Option<T> {
    match result {
        Err(SetError { fault: Fault::NotRegular, .. }) => None,
        result => right(result),
    }
}

/// Changes a set as directed by `data`, and performs every operation on it.
pub(crate) fn check(data: &[u8]) -> Outcomes {
    let mut choices = Choices(data);
    let template = usize::from(choices.byte());
    let mut files = Files::template(template);
    let mut has_something = false;
    while !choices.0.is_empty() {
        match choices.byte() % 16 {
            0 => change_manifest(&mut files.manifest, &mut choices),
            1 if choices.byte() % 4 == 0 => has_something = true,
            _ => {
                let i = choices.below(files.blocks.len());
                change_blocks(&mut files.blocks[i], &mut choices);
            }
        }
    }
    let place = place();
    let path = place.path().join("s");
    fs::create_dir(&path).unwrap();
    // Other files, which must not change.
    let others: Vec<_> = OTHERS.iter().map(|name| path.join(name)).collect();
    let outside = ["precious.keys", "0123456789abcdef0123456789abcdef.keys"];
    let precious: Vec<_> =
        others.into_iter().chain(outside.map(|name| place.path().join(name))).collect();
    precious.iter().for_each(|path| fs::write(path, "precious").unwrap());
    files.write(&path);
    fs::write(path.join("lock"), "").unwrap();
    if has_something {
        replace_by_something(&path, &mut choices);
    }
    let other = place.path().join("other");
    fs::create_dir(&other).unwrap();
    // Some keys of its own, and some of the set.
    let mut whole = Files::template(template);
    whole.blocks[0].items.chunks_exact_mut(16).step_by(3).for_each(|key| key[15] ^= 1);
    whole.write(&other);

    let mut outcomes = Outcomes::default();
    match KeySet::open(&path) {
        Err(error) => {
            assert!(!matches!(error.fault, Fault::Io(_)), "{error}");
            assert!(SetWriter::open(&path).is_err());
            assert!(SetWriter::create(&path, meaning()).is_err());
            outcomes.refused = 1;
        }
        Ok(mut set) => {
            let plain = Plain::read(&path);
            let damages = set.verify().unwrap();
            let is_right = check_look_ups(&set, &plain);
            set.hold(u64::MAX);
            let held = right(set.expect_look_ups(usize::MAX));
            if held.is_some() {
                assert!(plain.rises());
                check_look_ups(&set, &plain);
            }
            let (keys, dated) = (right(keys_of(&set)), right(dated(&set)));
            assert_eq!(keys.is_some(), held.is_some() && plain.has_no_key_twice());
            if let Some(keys) = &keys {
                assert!(plain.rises() && keys.iter().eq(&plain.all()));
            }
            if let Some(dated) = dated.as_ref().filter(|_| set.is_dated()) {
                let times = |(key, time): &(Key, Timestamp)| plain.times[key].contains(&time.0);
                assert!(dated.len() == plain.all().len() && dated.iter().all(times));
            }
            // Only `verify` detects a content of another name.
            if damages.is_empty() {
                assert!(is_right && keys.is_some() && dated.is_some());
            }
            *match keys.is_some() && is_right {
                true => &mut outcomes.whole,
                false => &mut outcomes.damaged,
            } += 1;
            let is_comparable =
                set.meaning() == &meaning() && set.is_dated() == Files::template(template).is_dated;
            drop(set);
            if is_comparable {
                check_merges(&path, &plain, &other);
            }
            check_changes(&path, &plain);
        }
    }
    for path in precious {
        assert_eq!(fs::read(&path).unwrap(), b"precious", "{}", path.display());
    }
    assert!(KeySet::open(&other).unwrap().verify().unwrap().is_empty());
    outcomes
}
