//! A set of names, for look-ups of many hosts.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Names, each of bytes.
///
/// Names and slots are kept apart, so that a name takes its bytes and some twenty more. Hosts come from outside, so the
/// hash has a secret seed.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    text: Vec<u8>,
    /// Where each name ends in `text`.
    ends: Vec<usize>,
    /// Half of the bits of a hash, and the number of its name plus one; 0 is free. At most half are taken.
    slots: Vec<u64>,
    /// For hashes of the last two labels of a name: whether any name has them. A quick test, which may say yes falsely.
    bases: Vec<u64>,
    longest: usize,
    seed: u64,
}

impl Names {
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The length of the longest name.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Adds `name`, which may be there.
    pub(super) fn insert(&mut self, name: &[u8]) {
        if self.slots.len() < 2 * (self.ends.len() + 1) {
            self.grow();
        }
        let hash = self.hash(name);
        let (slot, is_there) = self.find(name, hash);
        if is_there {
            return;
        }
        self.text.extend_from_slice(name);
        self.ends.push(self.text.len());
        self.slots[slot] = slot_of(hash, self.ends.len() - 1);
        let (word, bit) = self.bit(base(name));
        self.bases[word] |= bit;
        self.longest = self.longest.max(name.len());
    }

    pub(super) fn contains(&self, name: &[u8]) -> bool {
        !self.is_empty() && name.len() <= self.longest && self.find(name, self.hash(name)).1
    }

    /// Whether `host` or one of the domains that it is in is there.
    pub(super) fn contains_a_parent(&self, host: &[u8]) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut dots = memchr::memrchr_iter(b'.', host);
        // Most hosts share not even the last two labels with a name.
        let Some(last) = dots.next() else { return self.contains(host) };
        if self.contains(&host[last + 1..]) {
            return true;
        }
        if !self.may_have_base(base(host)) {
            return false;
        }
        let mut parents =
            dots.map(|dot| &host[dot + 1..]).take_while(|it| it.len() <= self.longest);
        parents.any(|parent| self.contains(parent)) || self.contains(host)
    }

    fn hash(&self, name: &[u8]) -> u64 {
        xxh3_64_with_seed(name, self.seed)
    }

    fn name(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[number]]
    }

    /// The slot of `name`, and whether it is there, or the free one in which it belongs.
    fn find(&self, name: &[u8], hash: u64) -> (usize, bool) {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let found = self.slots[slot];
            if found == 0 {
                return (slot, false);
            }
            if (found ^ hash) >> 32 == 0 && self.name((found as u32 - 1) as usize) == name {
                return (slot, true);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let len = (2 * self.slots.len()).max(16);
        if self.slots.is_empty() {
            let mut seed = [0; 8];
            getrandom::fill(&mut seed).expect("random bytes from the system");
            self.seed = u64::from_le_bytes(seed);
        }
        self.slots = vec![0; len];
        self.bases = vec![0; len / 8];
        for number in 0..self.ends.len() {
            let (hash, base) = (self.hash(self.name(number)), self.bit(base(self.name(number))));
            let mut slot = hash as usize & (len - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (len - 1);
            }
            self.slots[slot] = slot_of(hash, number);
            self.bases[base.0] |= base.1;
        }
    }

    fn bit(&self, base: &[u8]) -> (usize, u64) {
        let hash = self.hash(base) >> 20;
        (hash as usize / 64 % self.bases.len(), 1 << (hash % 64))
    }

    fn may_have_base(&self, base: &[u8]) -> bool {
        let (word, bit) = self.bit(base);
        self.bases[word] & bit != 0
    }
}

/// What is in the slot of the name with this number.
fn slot_of(hash: u64, number: usize) -> u64 {
    hash & !0xFFFF_FFFF | (number as u64 + 1)
}

/// The last two labels of `name`, or all of it.
fn base(name: &[u8]) -> &[u8] {
    let mut dots = memchr::memrchr_iter(b'.', name).skip(1);
    &name[dots.next().map_or(0, |dot| dot + 1)..]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_found_as_in_a_set_of_the_standard_library() {
        let name = |i: u32| format!("n{}.d{}.e{}", i % 5, i * i % 101, i % 3).into_bytes();
        let (mut names, mut expected) = (Names::default(), HashSet::new());
        for i in 0..3000 {
            if i % 3 == 0 {
                names.insert(&name(i));
                expected.insert(name(i));
            }
            let other = name(i * 7 + 1);
            assert_eq!(names.contains(&other), expected.contains(&other));
            let below = [b"a.b.", &other[..]].concat();
            let parents = (0..below.len()).filter(|&at| at == 0 || below[at - 1] == b'.');
            let has_parent = parents.into_iter().any(|at| expected.contains(&below[at..]));
            assert_eq!(names.contains_a_parent(&below), has_parent, "{i}");
        }
        assert_eq!(names.ends.len(), expected.len());
    }

    #[test]
    fn names_of_one_label_and_of_none_are_found() {
        let mut names = Names::default();
        assert!(!names.contains(b"") && !names.contains_a_parent(b"a.b"));
        names.insert(b"com");
        names.insert(b"localhost");
        for (host, expected) in [
            ("com", true),
            ("a.com", true),
            ("a.b.com", true),
            ("localhost", true),
            ("x", false),
            ("", false),
        ] {
            assert_eq!(names.contains_a_parent(host.as_bytes()), expected, "{host}");
        }
    }
}
