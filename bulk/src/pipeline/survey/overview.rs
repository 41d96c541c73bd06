//! What a survey found.

use crate::pipeline::{Invalid, Keep};
use crate::top_k::MostFrequent;
use uriscan_core::audit::{Rule, Severity};
use uriscan_core::explain::Step;
use uriscan_core::normalize::Level;
use uriscan_core::shape::Endless;
use uriscan_core::uri::{UriError, UriErrorKind};

/// What a survey found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overview {
    /// Records that have a canonical form: the whole of the shares of parts.
    pub counted: u64,
    /// Records that are not URIs, by kind.
    pub invalid: Invalid,
    /// The first of each kind.
    pub faults: Vec<Fault>,
    /// The first findings of each rule, if the job looks for some.
    pub findings: Vec<FindingExample>,
    /// The schemes of canonical forms.
    pub schemes: Frequency,
    /// Their hosts, unless these are empty.
    pub hosts: Frequency,
    /// The registrable domains of the hosts.
    pub domains: Frequency,
    /// The names of their parameters; a name that a URI repeats counts once. Of secrets in them no part counts as a name.
    pub params: Frequency,
    /// Records without a host, and those whose host has no registrable domain or is unknown.
    pub absent_hosts: u64,
    /// Records whose host has no registrable domain.
    pub absent_domains: u64,
    /// How many have a path of so many segments that are not empty, the last entry for so many or more. Paths that do
    /// not begin with a slash do not count.
    pub depths: [u64; Overview::DEPTHS],
    /// Of those with a path of as many segments as the last entry of `depths` counts, how many repeat a run of segments
    /// again and again ([`Endless::Repeats`]), as the URIs of a crawler's trap do.
    pub repeating: u64,
    /// The lengths of all records but overlong ones, as they were read.
    pub lengths: Lengths,
    /// What is equivalent, if groups are looked at.
    pub groups: Option<Groups>,
}

impl Overview {
    /// Depths of paths that are counted separately.
    pub const DEPTHS: usize = 11;
}

/// The most frequent texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frequency {
    /// Each with the number of records that have it, the highest first, then by text.
    pub rows: Vec<(Vec<u8>, u64)>,
    /// The number of different texts; `None` if there was no room to know it.
    pub distinct: Option<u64>,
    /// A count is too low by this at most, and a text that is not known occurs this often at most; 0 if all are known.
    pub missed: u64,
}

impl From<MostFrequent> for Frequency {
    fn from(MostFrequent { texts, distinct, missed }: MostFrequent) -> Frequency {
        Frequency { rows: texts, distinct, missed }
    }
}

/// The lengths of records in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lengths {
    /// For each number of binary digits, how many records have a length with as many.
    pub by_digits: [u64; 32],
    /// The sum of all lengths.
    pub sum: u64,
    /// The greatest length.
    pub longest: u64,
}

impl Lengths {
    #[inline(always)]
    pub(super) fn add(&mut self, len: usize) {
        self.by_digits[(usize::BITS - len.leading_zeros()).min(31) as usize] += 1;
        self.sum += len as u64;
        self.longest = self.longest.max(len as u64);
    }

    pub(super) fn merge(&mut self, other: &Lengths) {
        for (sum, count) in self.by_digits.iter_mut().zip(other.by_digits) {
            *sum += count;
        }
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
    }

    /// The number of records.
    pub fn records(&self) -> u64 {
        self.by_digits.iter().sum()
    }
}

/// An example of an invalid record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// What is wrong.
    pub error: UriError,
    /// The name of the source.
    pub source: String,
    /// The line in it, counted from 1; of a table of columns the row.
    pub line: u64,
    /// The record, or its beginning; nothing of one that is too long.
    pub record: Vec<u8>,
}

impl Fault {
    /// Examples of each kind, at most: the first ones.
    pub const EXAMPLES: usize = 3;
    /// Bytes of a record that are kept.
    pub const MOST_BYTES: usize = 512;

    /// Whether one more example of `kind` is wanted beside `faults`.
    pub(super) fn is_wanted(faults: &[Fault], kind: UriErrorKind) -> bool {
        faults.iter().filter(|fault| fault.error.kind == kind).count() < Fault::EXAMPLES
    }
}

/// An example of a record with a finding of an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FindingExample {
    /// The rule.
    pub rule: Rule,
    /// How severe it is here.
    pub severity: Severity,
    /// The name of the source.
    pub source: String,
    /// The line in it, counted from 1.
    pub line: u64,
    /// The record, or its beginning.
    pub record: Vec<u8>,
}

impl FindingExample {
    /// Whether one more example of `rule` is wanted beside `found`.
    pub(super) fn is_wanted(found: &[FindingExample], rule: Rule) -> bool {
        found.iter().filter(|found| found.rule == rule).count() < Fault::EXAMPLES
    }
}

/// What is equivalent. Of each group one record is kept; each other one is a duplicate, and is compared with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Groups {
    /// Which record of a group is kept.
    pub keep: Keep,
    /// Whether these are all groups; otherwise a sample of them, in which every group is as likely, and all of its records.
    pub is_all: bool,
    /// The groups.
    pub groups: u64,
    /// The records in them.
    pub records: u64,
    /// Those of them that are not kept.
    pub duplicates: u64,
    /// Duplicates with the bytes of the kept record of their group, as far as they are counted separately.
    pub same: u64,
    /// All other duplicates, by the lowest level at which they are equivalent, and whether rules are needed.
    pub levels: Vec<MergeLevel>,
    /// Duplicates that have another form, which an alias maps to the same URI.
    pub aliased: u64,
    /// What makes them equivalent, by step or rule. A duplicate may need several.
    pub steps: Vec<MergeStep>,
    /// Duplicates for which that was not looked into: records are long, one is written in very many ways, or a profile merges
    /// them, which has no steps.
    pub unexplained: u64,
    /// Pairs of texts that were looked into, if there are more: what is counted by levels and steps is an estimate then.
    pub explained: Option<u64>,
    /// The largest groups, and the number of their records.
    pub largest: Vec<(Vec<u8>, u64)>,
    /// Of what these are the largest.
    pub largest_of: LargestOf,
    /// Shapes that may grow without end by a counter or a calendar, those of the most URIs first.
    pub traps: Vec<Trap>,
}

/// A shape of which there are 1,000 different URIs or more that differ in the numbers of a counter or of a calendar
/// ([`endless`](uriscan_core::shape::endless)), as there are in the trap of a crawler. It is a guess.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trap {
    /// The shape of the canonical forms.
    pub shape: Vec<u8>,
    /// Why it may have no end.
    pub why: Endless,
    /// How many URIs of it are not equivalent; an estimate, unless [`Groups::is_all`].
    pub uris: u64,
    /// The canonical form of one of those with the longest numbers, an example.
    pub last: Vec<u8>,
}

/// Of what the largest groups are the largest, and what is known of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LargestOf {
    /// Of all groups: the kept record of each, and its records.
    #[default]
    All,
    /// Of all groups, by the records at some positions: the canonical form of each, and an estimate of its records.
    Estimated,
    /// Of the sample, as no group is so large that an estimate says much: the kept record of each, and its records.
    Sample,
}

/// How many duplicates need a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeLevel {
    /// The lowest level; `None` if rules are needed beyond it.
    pub level: Option<Level>,
    /// The duplicates.
    pub count: u64,
}

/// How many duplicates need a step or a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeStep {
    /// The step.
    pub step: &'static Step,
    /// The duplicates.
    pub count: u64,
    /// Those of them that need nothing else.
    pub alone: u64,
    /// Examples, those that need the fewest steps first: a duplicate, and the kept record of its group.
    pub examples: Vec<[Vec<u8>; 2]>,
}

impl MergeStep {
    /// Examples of each step, at most.
    pub const EXAMPLES: usize = 3;
}
