//! Fast lookup among thousands of values by bytes.

use core::cmp::Reverse;
use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};
use xxhash_rust::xxh3::xxh3_64;

use super::glob::Glob;

#[cfg(test)]
std::thread_local! {
    /// How many values and patterns were compared with a name.
    pub(super) static COMPARED: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// A multimap from bytes to values.
#[derive(Clone, Debug)]
pub(super) struct Buckets<T> {
    /// Bucket `i` is `items[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    /// Values with the hash of their bytes.
    items: Vec<(u64, T)>,
}

impl<T> Buckets<T> {
    /// Builds the map from pairs of bytes and value.
    pub(super) fn new(filed: impl IntoIterator<Item = (Vec<u8>, T)>) -> Buckets<T> {
        let mut items: Vec<(u64, T)> =
            filed.into_iter().map(|(bytes, value)| (xxh3_64(&bytes), value)).collect();
        // Four buckets an item: most lookups end at an empty one.
        let count = (4 * items.len()).next_power_of_two();
        let bucket = |hash: u64| hash as usize & (count - 1);
        items.sort_by_key(|&(hash, _)| bucket(hash));
        let mut starts = vec![0; count + 1];
        for &(hash, _) in &items {
            starts[bucket(hash) + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        Buckets { starts, items }
    }

    /// The values whose bytes may be `bytes`: the caller compares, as hashes may collide.
    #[inline]
    pub(super) fn get(&self, bytes: &[u8]) -> impl Iterator<Item = &T> {
        let hash = xxh3_64(bytes);
        let bucket = hash as usize & (self.starts.len() - 2);
        let range = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
        let found = self.items[range].iter().filter(move |item| item.0 == hash).map(|item| &item.1);
        #[cfg(test)]
        let found = found.inspect(|_| COMPARED.set(COMPARED.get() + 1));
        found
    }
}

/// Patterns of any form, with a value each.
#[derive(Clone, Debug)]
pub(super) struct Loose<T> {
    globs: Vec<(Glob, T)>,
    /// Searches for bytes that a pattern requires; `None` if it is faster to test each pattern.
    search: Option<Search>,
}

#[derive(Clone, Debug)]
struct Search {
    automaton: AhoCorasick,
    /// For each needle of the automaton, the patterns that require it.
    needed_by: Vec<Vec<u32>>,
    /// Patterns that require no bytes.
    others: Vec<u32>,
}

/// Up to this many patterns are tested one by one.
const FEW: usize = 4;

/// Bytes of a name in which a needle is not expected twice.
const LONG: usize = 64;

impl<T: Copy> Loose<T> {
    pub(super) fn new(globs: Vec<(Glob, T)>) -> Loose<T> {
        let search = if globs.len() > FEW { Search::new(&globs) } else { None };
        Loose { globs, search }
    }

    /// Calls `found` with the value of each pattern that matches `name`, for some more than once.
    #[inline]
    pub(super) fn each_match(&self, name: &[u8], mut found: impl FnMut(T)) {
        let mut ask = |at: u32| {
            let (glob, value) = &self.globs[at as usize];
            #[cfg(test)]
            COMPARED.set(COMPARED.get() + 1);
            if glob.matches(name) {
                found(*value);
            }
        };
        match &self.search {
            None => (0..self.globs.len() as u32).for_each(ask),
            Some(search) => {
                // A long name may hold a needle very often, and each pattern scans all of it.
                let mut asked = Vec::new();
                if name.len() > LONG {
                    asked.resize(search.needed_by.len(), false);
                }
                for seen in search.automaton.find_overlapping_iter(name) {
                    let again = asked.get_mut(seen.pattern().as_usize());
                    if !again.is_some_and(|again| std::mem::replace(again, true)) {
                        search.needed_by[seen.pattern()].iter().copied().for_each(&mut ask);
                    }
                }
                search.others.iter().copied().for_each(ask);
            }
        }
    }
}

impl Search {
    /// `None` if the automaton would be too large; patterns are limited in length, so only their
    /// number can cause that.
    fn new<T>(globs: &[(Glob, T)]) -> Option<Search> {
        let mut uses: HashMap<Vec<u8>, usize> = HashMap::new();
        for run in globs.iter().flat_map(|(glob, _)| glob.runs()) {
            *uses.entry(run).or_default() += 1;
        }
        // Of the runs of a pattern the longest that few others have: all patterns of a needle are tested where it is found.
        let rank = |run: &Vec<u8>| (Reverse(uses[run].max(FEW)), run.len());
        let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
        let (mut needed_by, mut others) = (Vec::<Vec<u32>>::new(), Vec::new());
        for (at, (glob, _)) in (0..).zip(globs) {
            let Some(needle) = glob.runs().max_by_key(rank) else {
                others.push(at);
                continue;
            };
            let number = *numbers.entry(needle).or_insert(needed_by.len());
            needed_by.resize(needed_by.len().max(number + 1), Vec::new());
            needed_by[number].push(at);
        }
        let mut needles = vec![Vec::new(); needed_by.len()];
        numbers.into_iter().for_each(|(needle, number)| needles[number] = needle);
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&needles);
        Some(Search { automaton: automaton.ok()?, needed_by, others })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_bytes_and_no_others() {
        for count in [0, 1, 2, 5, 1000] {
            let filed = (0..count).map(|i: u32| (format!("key{i}").into_bytes(), i));
            let buckets = Buckets::new(filed.chain([(b"key0".to_vec(), 7777)]));
            for i in 0..count {
                let found: Vec<u32> = buckets.get(format!("key{i}").as_bytes()).copied().collect();
                assert_eq!(found, if i == 0 { vec![0, 7777] } else { vec![i] });
            }
            assert_eq!(buckets.get(b"other").count(), 0);
        }
    }

    #[test]
    fn loose_patterns_are_found_as_if_each_were_tested() {
        let patterns = ["*_id", "a*b", "*", "?", "x*y*z", "*long_needle*", "b*a", "*_id", "id*x*"];
        let long = "a_id_bx".repeat(20);
        let short = ["a_id", "ab", "", "q", "xaybz", "a_long_needle_b", "ba", "idax_id", "_id"];
        let names = short.into_iter().chain([&*long]);
        for count in 0..=patterns.len() {
            let globs: Vec<(Glob, usize)> = patterns[..count]
                .iter()
                .enumerate()
                .map(|(i, pattern)| (Glob::new(pattern.as_bytes()).unwrap(), i))
                .collect();
            let loose = Loose::new(globs.clone());
            for name in names.clone() {
                let mut found = Vec::new();
                loose.each_match(name.as_bytes(), |i| found.push(i));
                found.sort_unstable();
                found.dedup();
                let one_by_one = globs.iter().filter(|(glob, _)| glob.matches(name.as_bytes()));
                let expected: Vec<usize> = one_by_one.map(|&(_, i)| i).collect();
                assert_eq!(found, expected, "{name}");
            }
        }
    }
}
