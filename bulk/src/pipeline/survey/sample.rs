//! A sample of the groups of equivalent records, and what makes their records equivalent.
//!
//! Every group has a rank, a hash of its canonical form that everyone can compute. The groups with the lowest ranks are
//! in the sample, as many as there is room for. The bound only falls, so of a group that is in the sample at the end,
//! all records have been seen. If there is room for all groups, all are in it. Whoever knows this can choose which of
//! their own groups are in the sample, and nothing else.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use super::SurveyOptions;
use super::overview::{Groups, LargestOf, MergeLevel, MergeStep};
use super::traps::traps;
use crate::pipeline::{Equivalence, Keep};
use uriscan_core::explain::{Comparer, LONGEST, Step, explain_with_rules, step};
use uriscan_core::key::Key;
use uriscan_core::normalize::Level;
use uriscan_core::threads;

/// Bytes that a group, or a text of one, takes beside its text.
const ENTRY: usize = 128;

/// Different texts of a group that are counted separately.
const MOST_TEXTS: usize = 8;

/// Pairs of texts that are explained, those that occur most often.
const MOST_PAIRS: usize = if cfg!(test) { 500 } else { 20_000 };

/// Records of a group with the same bytes.
#[derive(Debug)]
struct Text {
    bytes: Box<[u8]>,
    count: u64,
}

impl Text {
    fn new(bytes: &[u8]) -> Text {
        // Of a long one the beginning is enough to decide which is kept.
        Text { bytes: bytes[..bytes.len().min(LONGEST + 1)].into(), count: 1 }
    }

    /// Whether it is so long that it is neither explained nor counted separately.
    fn is_long(&self) -> bool {
        self.bytes.len() > LONGEST
    }

    fn is(&self, bytes: &[u8]) -> bool {
        !self.is_long() && *self.bytes == *bytes
    }
}

/// A group.
#[derive(Debug)]
struct Group {
    rank: u64,
    /// The record that is kept, and those with its bytes.
    kept: Text,
    /// Other texts, none of them long.
    others: Vec<Text>,
    /// All other records.
    rest: u64,
}

impl Group {
    fn records(&self) -> u64 {
        self.kept.count + self.others.iter().map(|other| other.count).sum::<u64>() + self.rest
    }

    fn bytes(&self) -> usize {
        let others = self.others.iter().map(|other| ENTRY / 2 + other.bytes.len());
        ENTRY + self.kept.bytes.len() + others.sum::<usize>()
    }

    /// The text that represents the group in the report.
    fn example(&self) -> &[u8] {
        if self.kept.is_long() { &[] } else { &self.kept.bytes }
    }

    /// Adds a record that comes after all others.
    fn add(&mut self, text: &[u8], keep: Keep) {
        if self.kept.is(text) {
            self.kept.count += 1;
            return;
        }
        let known = self.others.iter().position(|other| other.is(text));
        if !keep.replaces(text, &self.kept.bytes) {
            match known {
                Some(known) => self.others[known].count += 1,
                None => self.add_other(Text::new(text)),
            }
            return;
        }
        let mut new = Text::new(text);
        if let Some(known) = known {
            new.count += self.others.swap_remove(known).count;
        }
        let old = std::mem::replace(&mut self.kept, new);
        self.add_other(old);
    }

    fn add_other(&mut self, other: Text) {
        if !other.is_long() && self.others.len() < MOST_TEXTS {
            self.others.push(other);
        } else {
            self.rest += other.count;
        }
    }
}

/// The groups with the lowest ranks.
#[derive(Debug)]
pub(super) struct Sample {
    groups: HashMap<Key, Group>,
    /// The lowest rank that has no room; `None` if all have.
    bound: Option<u64>,
    bytes: usize,
    limit: usize,
}

impl Sample {
    /// An empty sample that takes `limit` bytes at the end of a window.
    pub(super) fn new(limit: usize) -> Sample {
        Sample { groups: HashMap::new(), bound: None, bytes: 0, limit }
    }

    /// Whether groups of this rank may be in it.
    #[inline(always)]
    pub(super) fn takes(&self, rank: u64) -> bool {
        self.bound.is_none_or(|bound| rank < bound)
    }

    /// Adds the record `text` of the group with this key and rank, of which one is kept by `keep`.
    pub(super) fn add(&mut self, (key, rank): (Key, u64), text: &[u8], keep: Keep) {
        if !self.takes(rank) {
            return;
        }
        match self.groups.entry(key) {
            Entry::Vacant(entry) => {
                let group = Group { rank, kept: Text::new(text), others: Vec::new(), rest: 0 };
                self.bytes += entry.insert(group).bytes();
            }
            Entry::Occupied(mut entry) => {
                let before = entry.get().bytes();
                entry.get_mut().add(text, keep);
                self.bytes = self.bytes + entry.get().bytes() - before;
            }
        }
    }

    /// Ends a window: lowers the bound if there is no room for all.
    pub(super) fn end_window(&mut self) {
        if self.bytes <= self.limit {
            return;
        }
        let mut ranks: Vec<(u64, usize)> =
            self.groups.values().map(|group| (group.rank, group.bytes())).collect();
        ranks.sort_unstable();
        let mut bytes = 0;
        let bound = ranks.into_iter().find(|(_, more)| {
            bytes += more;
            bytes > self.limit / 2
        });
        let bound = bound.map_or(0, |(rank, _)| rank);
        self.groups.retain(|_, group| group.rank < bound);
        self.groups.shrink_to_fit();
        self.bytes = self.groups.values().map(Group::bytes).sum();
        self.bound = Some(bound);
    }

    /// What the sample has; `large` are groups that are larger than most, by their canonical forms.
    pub(super) fn finish(self, options: &SurveyOptions, large: Vec<(Vec<u8>, u64)>) -> Groups {
        let is_all = self.bound.is_none();
        let mut groups: Vec<Group> = self.groups.into_values().collect();
        groups.sort_by(|a, b| (a.rank, &a.kept.bytes).cmp(&(b.rank, &b.kept.bytes)));
        // The share of the ranks that the sample has.
        let scale = self.bound.map_or(1.0, |bound| 2f64.powi(64) / bound as f64);
        let texts = groups.iter().map(Group::example).filter(|text| !text.is_empty());
        let traps = traps(texts, scale, options);
        let mut merges = Merges::default();
        groups.iter().for_each(|group| merges.add(group));
        merges.explain(&options.equivalence);
        let Merges { same, levels, aliased, steps, unexplained, some, .. } = merges;
        let mut steps: Vec<MergeStep> = steps.into_values().map(Explained::finish).collect();
        steps.sort_by_key(|step| (std::cmp::Reverse(step.count), step.step.name));
        let mut levels: Vec<(Option<Level>, u64)> = levels.into_iter().collect();
        levels.sort_by_key(|&(level, _)| (level.is_none(), level));
        let level = |(level, count)| MergeLevel { level, count };
        let records = groups.iter().map(Group::records).sum();
        let largest_of = match (is_all, large.is_empty()) {
            (true, _) => LargestOf::All,
            (false, false) => LargestOf::Estimated,
            (false, true) => LargestOf::Sample,
        };
        let largest = match largest_of {
            LargestOf::Estimated => large,
            LargestOf::All | LargestOf::Sample => largest(&groups, options.most),
        };
        Groups {
            keep: options.keep,
            is_all,
            groups: groups.len() as u64,
            records,
            duplicates: records - groups.len() as u64,
            same,
            levels: levels.into_iter().map(level).collect(),
            aliased,
            steps,
            unexplained,
            explained: some,
            largest,
            largest_of,
            traps,
        }
    }
}

/// The kept records of the groups that have the most, more than one.
fn largest(groups: &[Group], most: usize) -> Vec<(Vec<u8>, u64)> {
    let more = groups.iter().filter(|group| group.records() > 1);
    let mut all: Vec<(&Group, u64)> = more.map(|group| (group, group.records())).collect();
    all.sort_by(|a, b| (b.1, a.0.example()).cmp(&(a.1, b.0.example())));
    all.truncate(most);
    all.into_iter().map(|(group, count)| (group.example().to_vec(), count)).collect()
}

/// What makes records equivalent.
#[derive(Default)]
struct Merges<'g> {
    /// Duplicates, each with the record that is kept, and how often each occurs.
    pairs: Vec<([&'g [u8]; 2], u64)>,
    same: u64,
    /// By level; rules beyond it are the lowest.
    levels: BTreeMap<Option<Level>, u64>,
    /// By aliases.
    aliased: u64,
    steps: BTreeMap<&'static str, Explained>,
    unexplained: u64,
    /// Pairs that were explained, if there are more.
    some: Option<u64>,
}

/// The duplicates that need a step.
struct Explained {
    step: &'static Step,
    count: u64,
    alone: u64,
    /// With the number of steps that each needs.
    examples: Vec<(usize, [Vec<u8>; 2])>,
}

impl Explained {
    fn add(&mut self, steps: usize, count: u64, pair: [&[u8]; 2]) {
        self.count += count;
        self.alone += if steps == 1 { count } else { 0 };
        // Of equally good ones the first remain.
        let at = self.examples.partition_point(|(other, _)| *other <= steps);
        if at < MergeStep::EXAMPLES {
            self.examples.insert(at, (steps, pair.map(<[u8]>::to_vec)));
            self.examples.truncate(MergeStep::EXAMPLES);
        }
    }

    fn finish(self) -> MergeStep {
        let Explained { step, count, alone, examples } = self;
        let examples = examples.into_iter().map(|(_, pair)| pair).collect();
        MergeStep { step, count, alone, examples }
    }
}

/// What makes a pair equivalent.
enum Cause {
    /// The steps, of a level; beyond all levels if there are rules among them.
    Steps(Option<Level>, Vec<&'static Step>),
    /// An alias, with the number of steps that the pair needs.
    Alias(usize),
}

impl<'g> Merges<'g> {
    /// Counts the records of `group`, and notes what is to be explained.
    fn add(&mut self, group: &'g Group) {
        let Group { kept, others, rest, .. } = group;
        self.unexplained += rest;
        if kept.is_long() {
            // Long records have been compared by their forms only.
            self.unexplained +=
                kept.count - 1 + others.iter().map(|other| other.count).sum::<u64>();
            return;
        }
        self.same += kept.count - 1;
        let pair = |Text { bytes, count }: &'g Text| ([&bytes[..], &kept.bytes[..]], *count);
        self.pairs.extend(others.iter().map(pair));
    }

    /// Explains the pairs that occur most often, on the current rayon pool. Of those that occur as often as the last one of
    /// them, these are the first ones by rank, so as good as any: they count for the others, too.
    fn explain(&mut self, equivalence: &Equivalence) {
        /// Pairs that a thread takes at a time.
        const FEW: usize = 64;
        let mut pairs = std::mem::take(&mut self.pairs);
        if equivalence.profile.is_some() {
            self.unexplained += pairs.iter().map(|(_, count)| count).sum::<u64>();
            return;
        }
        if pairs.len() > MOST_PAIRS {
            pairs.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
            self.some = Some(MOST_PAIRS as u64);
            let others: u64 = pairs.drain(MOST_PAIRS..).map(|(_, count)| count).sum();
            let least = pairs.last().map_or(0, |(_, count)| *count);
            let like = pairs.partition_point(|(_, count)| *count > least);
            let all = (pairs.len() - like) as u64;
            for (i, (_, count)) in (0..).zip(&mut pairs[like..]) {
                *count += (i + 1) * others / all - i * others / all;
            }
        }
        let causes = threads::map(pairs.chunks(FEW), |pairs| {
            let mut comparer = Comparer::new(equivalence.normalize, equivalence.rules.as_deref());
            let cause = |&(pair, _): &(_, u64)| cause(pair, equivalence, &mut comparer);
            pairs.iter().map(cause).collect::<Vec<_>>()
        });
        for ((pair, count), cause) in pairs.into_iter().zip(causes.into_iter().flatten()) {
            match cause {
                Some(Cause::Steps(level, steps)) => {
                    *self.levels.entry(level).or_default() += count;
                    steps.iter().for_each(|step| self.add_step(step, steps.len(), count, pair));
                }
                Some(Cause::Alias(needed)) => {
                    self.aliased += count;
                    self.add_step(&step::ALIAS, needed, count, pair);
                }
                None => self.unexplained += count,
            }
        }
    }

    /// Adds `count` duplicates of a pair that need `step`, and `steps` with it.
    fn add_step(&mut self, step: &'static Step, steps: usize, count: u64, pair: [&[u8]; 2]) {
        let new = || Explained { step, count: 0, alone: 0, examples: Vec::new() };
        self.steps.entry(step.name).or_insert_with(new).add(steps, count, pair);
    }
}

/// What makes `pair` equivalent; `None` if that is not known.
fn cause(
    pair: [&[u8]; 2],
    equivalence: &Equivalence,
    comparer: &mut Comparer<'_>,
) -> Option<Cause> {
    let [text, kept] = pair.map(|text| equivalence.target(text));
    match comparer.merged_by(&text, &kept) {
        Some((level, steps)) => {
            let has_rules = steps.iter().any(|step| step.level.is_none());
            Some(Cause::Steps((!has_rules).then_some(level), steps))
        }
        // They have different forms, so nothing else can be the reason.
        None if equivalence.aliases.is_some() => {
            let is_canonical = |text: &[u8]| {
                let Equivalence { normalize, rules, .. } = equivalence;
                let explained = explain_with_rules(text, *normalize, rules.as_deref());
                explained.is_ok_and(|explained| explained.changes.is_empty())
            };
            Some(Cause::Alias(if is_canonical(&text) && is_canonical(&kept) { 1 } else { 2 }))
        }
        None => None,
    }
}
