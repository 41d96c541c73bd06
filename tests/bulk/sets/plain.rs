//! Reads the files of a set from end to end, without any checks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use uriscan::key::Key;

use super::files::BLOCK;

/// The content of the files.
pub(crate) struct Plain {
    /// Keys of each run, in their order.
    pub(crate) runs: Vec<Vec<Key>>,
    /// The times at which keys were first seen, by the files of times.
    pub(crate) times: BTreeMap<Key, BTreeSet<u32>>,
}

impl Plain {
    /// Reads a set that can be opened.
    pub(crate) fn read(directory: &Path) -> Plain {
        let text = fs::read_to_string(directory.join("set")).unwrap();
        let mut plain = Plain { runs: Vec::new(), times: BTreeMap::new() };
        let runs = text.lines().nth(2).unwrap().strip_prefix("runs ").unwrap().parse().unwrap();
        for line in text.lines().skip(3).take(runs) {
            let words: Vec<&str> = line.split(' ').collect();
            let count: usize = words[1].parse().unwrap();
            let bytes = fs::read(directory.join(words[0])).unwrap();
            let keys = bytes[BLOCK..][..16 * count].chunks_exact(16);
            let keys: Vec<Key> =
                keys.map(|it| Key(u128::from_be_bytes(it.try_into().unwrap()))).collect();
            if let Some(times) = words.get(2) {
                let bytes = fs::read(directory.join(times)).unwrap();
                for (key, time) in keys.iter().zip(bytes[BLOCK..].chunks_exact(4)) {
                    let time = u32::from_be_bytes(time.try_into().unwrap());
                    plain.times.entry(*key).or_default().insert(time);
                }
            }
            plain.runs.push(keys);
        }
        plain
    }

    pub(crate) fn all(&self) -> BTreeSet<Key> {
        self.runs.iter().flatten().copied().collect()
    }

    pub(crate) fn rises(&self) -> bool {
        self.runs.iter().all(|keys| keys.is_sorted_by(|one, next| one < next))
    }

    pub(crate) fn has_no_key_twice(&self) -> bool {
        self.all().len() == self.runs.iter().map(Vec::len).sum::<usize>()
    }
}
