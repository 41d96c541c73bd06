//! Compiled patterns for the names of parameters; the last one that matches decides.

use super::glob::Glob;
use super::lookup::{Buckets, Loose};

/// What a pattern does with the parameters whose name it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// They are dropped.
    Drop,
    /// They are kept.
    Keep,
}

/// The position of a pattern among all patterns, and its action. A later position is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) order: u32,
    pub(super) action: Action,
}

/// Patterns that apply to the same hosts.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// The strongest pattern that is `*`.
    star: Option<Entry>,
    /// Names without a star, and the prefixes of those that end in one.
    exact: Buckets<(Box<[u8]>, Entry)>,
    prefixes: Buckets<(Box<[u8]>, Entry)>,
    lengths: ByFirst,
    loose: Loose<Entry>,
    has_loose: bool,
}

/// The lengths that are worth looking up for a name: by its first byte, or those of all patterns. A rules file may have a group for each of
/// very many sites, and a table takes 4 KiB.
#[derive(Clone, Debug)]
enum ByFirst {
    All(Lengths),
    Each(Box<[Lengths; 256]>),
}

impl ByFirst {
    /// Those of patterns, each with its first byte.
    fn each(patterns: &[(u8, Lengths)]) -> ByFirst {
        let mut each = Box::new([Lengths::default(); 256]);
        for &(first, lengths) in patterns {
            let of_first = &mut each[usize::from(first)];
            *of_first = of_first.with(lengths);
        }
        ByFirst::Each(each)
    }

    fn all(patterns: &[(u8, Lengths)]) -> ByFirst {
        ByFirst::All(patterns.iter().fold(Lengths::default(), |all, (_, one)| all.with(*one)))
    }

    #[inline(always)]
    fn of(&self, first: u8) -> Lengths {
        match self {
            ByFirst::All(lengths) => *lengths,
            ByFirst::Each(lengths) => lengths[usize::from(first)],
        }
    }
}

/// Bit `i` for patterns of `i` bytes; the highest bit for all longer ones too.
#[derive(Clone, Copy, Debug, Default)]
struct Lengths {
    exact: u64,
    prefixes: u64,
}

impl Lengths {
    fn with(self, other: Lengths) -> Lengths {
        let Lengths { exact, prefixes } = other;
        Lengths { exact: self.exact | exact, prefixes: self.prefixes | prefixes }
    }
}

/// Longest prefix that is looked up; patterns with a longer one are matched one by one.
const LONGEST_PREFIX: usize = 63;

/// Patterns of a group for some hosts that take no table, at most.
const FEW: usize = 64;

impl Names {
    /// Patterns for some hosts, which are looked up if the host is theirs.
    pub(super) fn of_hosts(patterns: Vec<(Glob, Entry)>) -> Names {
        let has_table = patterns.len() > FEW;
        Names::compiled(patterns, if has_table { ByFirst::each } else { ByFirst::all })
    }

    /// Patterns that are looked up for each parameter.
    pub(super) fn new(patterns: Vec<(Glob, Entry)>) -> Names {
        Names::compiled(patterns, ByFirst::each)
    }

    fn compiled(patterns: Vec<(Glob, Entry)>, by_first: fn(&[(u8, Lengths)]) -> ByFirst) -> Names {
        let mut star = None;
        let mut lengths = Vec::new();
        let (mut exact, mut prefixes, mut loose) = (Vec::new(), Vec::new(), Vec::new());
        for (glob, entry) in patterns {
            if glob.is_any() {
                star = star.max(Some(entry));
            } else if let Some(name) = glob.literal() {
                lengths.push((name[0], Lengths { exact: 1 << name.len().min(63), prefixes: 0 }));
                exact.push((name.clone(), (name.into_boxed_slice(), entry)));
            } else if let Some(prefix) = glob.prefix().filter(|p| p.len() <= LONGEST_PREFIX) {
                lengths.push((prefix[0], Lengths { exact: 0, prefixes: 1 << prefix.len() }));
                prefixes.push((prefix.clone(), (prefix.into_boxed_slice(), entry)));
            } else {
                loose.push((glob, entry));
            }
        }
        let (exact, prefixes) = (Buckets::new(exact), Buckets::new(prefixes));
        Names {
            star,
            exact,
            prefixes,
            lengths: by_first(&lengths),
            has_loose: !loose.is_empty(),
            loose: Loose::new(loose),
        }
    }

    /// The strongest pattern that matches `name`.
    #[inline]
    pub(super) fn action(&self, name: &[u8]) -> Option<Entry> {
        let mut best = self.star;
        if let Some(&first) = name.first() {
            let lengths = self.lengths.of(first);
            if lengths.exact >> name.len().min(63) & 1 != 0 {
                let found = self.exact.get(name).filter(|(pattern, _)| **pattern == *name);
                best = best.max(found.map(|&(_, entry)| entry).max());
            }
            let mut prefixes = lengths.prefixes;
            while prefixes != 0 {
                let len = prefixes.trailing_zeros() as usize;
                let Some(start) = name.get(..len) else { break };
                let found = self.prefixes.get(start).filter(|(prefix, _)| **prefix == *start);
                best = best.max(found.map(|&(_, entry)| entry).max());
                prefixes &= prefixes - 1;
            }
        }
        if self.has_loose {
            self.loose.each_match(name, |entry| best = best.max(Some(entry)));
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(order: u32) -> Entry {
        Entry { order, action: if order.is_multiple_of(3) { Action::Keep } else { Action::Drop } }
    }

    #[test]
    fn long_names_and_prefixes_are_found() {
        let long = "n".repeat(70);
        let patterns = [long.clone(), format!("{long}*"), format!("{}*", &long[..63])];
        let patterns: Vec<(Glob, Entry)> = patterns
            .iter()
            .enumerate()
            .map(|(i, text)| (Glob::new(text.as_bytes()).unwrap(), entry(i as u32)))
            .collect();
        let names = Names::new(patterns[..1].to_vec());
        assert_eq!(names.action(long.as_bytes()), Some(entry(0)));
        assert_eq!(names.action(&long.as_bytes()[..69]), None);
        let names = Names::new(patterns);
        assert_eq!(names.action(&long.as_bytes()[..62]), None);
        assert_eq!(names.action(&long.as_bytes()[..63]), Some(entry(2)));
        assert_eq!(names.action(format!("{long}x").as_bytes()), Some(entry(2)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn the_strongest_is_found_as_if_each_were_tested(
            patterns in prop::collection::vec("[ab]{0,3}[*?]?[abc]{0,2}[*]?", 0..24),
            names in prop::collection::vec("[abc]{0,6}", 1..8),
        ) {
            let patterns: Vec<(Glob, Entry)> = patterns
                .iter()
                .enumerate()
                .filter_map(|(i, text)| Some((Glob::new(text.as_bytes()).ok()?, entry(i as u32))))
                .collect();
            let compiled = Names::new(patterns.clone());
            for name in names {
                let one_by_one = patterns.iter().filter(|(glob, _)| glob.matches(name.as_bytes()));
                prop_assert_eq!(
                    compiled.action(name.as_bytes()),
                    one_by_one.map(|&(_, entry)| entry).max(),
                    "{}", name
                );
            }
        }
    }
}
