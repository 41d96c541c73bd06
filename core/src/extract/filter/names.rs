//! A set of names, for look-ups of many hosts.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::host::Host;
use crate::simd::prefetch;

/// Names, each of bytes.
///
/// Names and slots are kept apart, so that a name takes its bytes and some twenty more. Hosts come from outside, so the
/// hash has a secret seed.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    all: Gathered,
    /// Some bits of a hash for each slot; 0 is free. At most half are taken. One that is free, as most look-ups end, is
    /// found without a look at what is larger.
    tags: Vec<u8>,
    /// The number of the name in each slot.
    slots: Vec<u32>,
    /// For hashes of the last two labels of a name: whether any name has them. A quick test, which may say yes falsely.
    bases: Vec<u64>,
    seed: u64,
}

/// Names in a row, before they are looked up; some may be there more than once.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    text: Vec<u8>,
    /// Where each name ends in `text`.
    ends: Vec<usize>,
    longest: usize,
    /// There are names of one label.
    has_single: bool,
}

impl Gathered {
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds `name`, which is in lower case; without `has_dot` it is of one label.
    #[inline]
    pub(super) fn push(&mut self, name: &[u8], has_dot: bool) {
        self.text.extend_from_slice(name);
        self.ends.push(self.text.len());
        self.longest = self.longest.max(name.len());
        self.has_single |= !has_dot;
    }

    /// [`Gathered::push`] for a name in upper or lower case.
    #[inline]
    pub(super) fn push_lower(&mut self, name: &[u8], has_dot: bool) {
        let start = self.text.len();
        self.push(name, has_dot);
        self.text[start..].make_ascii_lowercase();
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = core::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.text[start..end])
    }
}

/// Names whose slots are asked for before the first of them is looked at.
const AT_ONCE: usize = 32;

impl Names {
    pub(super) fn is_empty(&self) -> bool {
        self.all.ends.is_empty()
    }

    /// The length of the longest name.
    pub(super) fn longest(&self) -> usize {
        self.all.longest
    }

    /// Adds `name`, which may be there.
    pub(super) fn insert(&mut self, name: &[u8]) {
        if self.slots.len() < 2 * (self.all.ends.len() + 1) {
            self.grow();
        }
        let hash = self.hash(name);
        let (slot, is_there) = self.find(name, hash);
        if is_there {
            return;
        }
        self.all.push(name, memchr::memchr(b'.', name).is_some());
        self.put(slot, hash, self.all.ends.len() - 1);
        let (word, bit) = self.bit(Host::new(name).base);
        self.bases[word] |= bit;
    }

    /// Adds `names`, of which some may be there: much faster than each alone if they are many, as slots are not in caches.
    pub(super) fn extend(&mut self, names: Gathered) {
        let first = self.all.ends.len();
        if first == 0 {
            self.all = names;
        } else {
            let start = self.all.text.len();
            self.all.text.extend_from_slice(&names.text);
            self.all.ends.extend(names.ends.iter().map(|end| start + end));
            self.all.longest = self.all.longest.max(names.longest);
            self.all.has_single |= names.has_single;
        }
        match self.slots.len() < 2 * self.all.ends.len() {
            true => self.grow(),
            false => self.fill(first),
        }
    }

    pub(super) fn contains(&self, name: &[u8]) -> bool {
        !self.is_empty() && name.len() <= self.all.longest && self.find(name, self.hash(name)).1
    }

    /// [`Names::contains`] for one of many hosts, most of which are not there.
    pub(super) fn contains_host(&self, host: Host<'_>) -> bool {
        !self.is_empty() && self.may_have_base(host.base) && self.contains(host.name)
    }

    /// Whether `host` or one of the domains that it is in is there.
    pub(super) fn contains_a_parent(&self, Host { name: host, base }: Host<'_>) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut dots = memchr::memrchr_iter(b'.', host);
        // Most hosts share not even the last two labels with a name.
        let Some(last) = dots.next() else { return self.contains(host) };
        if self.all.has_single && self.contains(&host[last + 1..]) {
            return true;
        }
        if !self.may_have_base(base) {
            return false;
        }
        let mut parents =
            dots.map(|dot| &host[dot + 1..]).take_while(|it| it.len() <= self.all.longest);
        parents.any(|parent| self.contains(parent)) || self.contains(host)
    }

    fn hash(&self, name: &[u8]) -> u64 {
        xxh3_64_with_seed(name, self.seed)
    }

    fn name(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.all.ends[before]);
        &self.all.text[start..self.all.ends[number]]
    }

    /// The slot of `name`, and whether it is there, or the free one in which it belongs.
    fn find(&self, name: &[u8], hash: u64) -> (usize, bool) {
        let mask = self.tags.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let found = self.tags[slot];
            if found == 0 {
                return (slot, false);
            }
            if found == tag(hash) && self.name(self.slots[slot] as usize) == name {
                return (slot, true);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Puts the name of this number, which has this hash, into the free `slot`.
    fn put(&mut self, slot: usize, hash: u64, number: usize) {
        self.tags[slot] = tag(hash);
        self.slots[slot] = number as u32;
    }

    fn grow(&mut self) {
        let len = (2 * (self.all.ends.len() + 1)).next_power_of_two().max(16);
        if self.slots.is_empty() {
            let mut seed = [0; 8];
            getrandom::fill(&mut seed).expect("random bytes from the system");
            self.seed = u64::from_le_bytes(seed);
        }
        (self.tags, self.slots) = (vec![0; len], vec![0; len]);
        self.bases = vec![0; len / 8];
        self.fill(0);
    }

    /// Fills the slots of the names from the one with the number `first` on.
    fn fill(&mut self, first: usize) {
        let mut asked = [(0, (0, 0)); AT_ONCE];
        for first in (first..self.all.ends.len()).step_by(AT_ONCE) {
            let numbers = first..self.all.ends.len().min(first + AT_ONCE);
            for (asked, number) in asked.iter_mut().zip(numbers.clone()) {
                let name = self.name(number);
                *asked = (self.hash(name), self.bit(Host::new(name).base));
                let slot = asked.0 as usize & (self.slots.len() - 1);
                prefetch(&self.tags, slot);
                prefetch(&self.slots, slot);
                prefetch(&self.bases, asked.1.0);
            }
            for (&(hash, (word, bit)), number) in asked.iter().zip(numbers) {
                let (slot, is_there) = self.find(self.name(number), hash);
                if !is_there {
                    self.put(slot, hash, number);
                    self.bases[word] |= bit;
                }
            }
        }
    }

    fn bit(&self, base: &[u8]) -> (usize, u64) {
        let hash = self.hash(base) >> 20;
        ((hash as usize / 64) & (self.bases.len() - 1), 1 << (hash % 64))
    }

    fn may_have_base(&self, base: &[u8]) -> bool {
        let (word, bit) = self.bit(base);
        self.bases[word] & bit != 0
    }
}

/// The bits of `hash` that are kept beside a slot, which depends on others.
fn tag(hash: u64) -> u8 {
    (hash >> 56) as u8 | 1
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
            assert_eq!(names.contains_host(Host::new(&other)), expected.contains(&other));
            let below = [b"a.b.", &other[..]].concat();
            let parents = (0..below.len()).filter(|&at| at == 0 || below[at - 1] == b'.');
            let has_parent = parents.into_iter().any(|at| expected.contains(&below[at..]));
            assert_eq!(names.contains_a_parent(Host::new(&below)), has_parent, "{i}");
        }
        assert_eq!(names.all.ends.len(), expected.len());
    }

    #[test]
    fn names_that_are_added_together_are_found_as_each_alone() {
        let name = |i: usize| format!("n{}.d{}.e", i % 7, i % 1009).into_bytes();
        for (before, count) in [(0, 0), (0, 1), (5, 40), (100, 5000), (3000, 10)] {
            let (mut names, mut alone) = (Names::default(), Names::default());
            (0..before).for_each(|i| names.insert(&name(3 * i)));
            let mut gathered = Gathered::default();
            (0..count).for_each(|i| gathered.push(&name(5 * i), true));
            names.extend(gathered);
            (0..before).for_each(|i| alone.insert(&name(3 * i)));
            (0..count).for_each(|i| alone.insert(&name(5 * i)));
            assert_eq!(names.longest(), alone.longest());
            assert!(names.slots.len() >= 2 * names.all.ends.len());
            for i in 0..8000 {
                let below = [b"a.", &name(i)[..]].concat();
                assert_eq!(names.contains(&name(i)), alone.contains(&name(i)));
                assert_eq!(
                    names.contains_a_parent(Host::new(&below)),
                    alone.contains_a_parent(Host::new(&below))
                );
            }
        }
    }

    #[test]
    fn names_of_one_label_and_of_none_are_found() {
        let mut names = Names::default();
        assert!(!names.contains(b"") && !names.contains_a_parent(Host::new(b"a.b")));
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
            assert_eq!(names.contains_a_parent(Host::new(host.as_bytes())), expected, "{host}");
        }
    }
}
