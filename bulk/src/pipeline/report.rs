//! Totals of a run.

use uriscan_core::extract::{Filtered, Omitted};
use uriscan_core::uri::UriErrorKind;

/// Counts of invalid records by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Invalid([u64; UriErrorKind::ALL.len()]);

impl Invalid {
    /// Counts one record of `kind`.
    pub fn add(&mut self, kind: UriErrorKind) {
        self.0[kind as usize] += 1;
    }

    /// Counts some records of `kind`.
    pub fn add_many(&mut self, kind: UriErrorKind, count: u64) {
        self.0[kind as usize] += count;
    }

    /// The number of records of `kind`.
    pub fn of(&self, kind: UriErrorKind) -> u64 {
        self.0[kind as usize]
    }

    /// The number of records of all kinds.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The kinds that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (UriErrorKind, u64)> + '_ {
        UriErrorKind::ALL
            .into_iter()
            .map(|kind| (kind, self.of(kind)))
            .filter(|&(_, count)| count > 0)
    }
}

/// The kinds that occurred with their counts, such as `percent 2, space 1`.
impl core::fmt::Display for Invalid {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        for (i, (kind, count)) in self.iter().enumerate() {
            write!(f, "{}{kind} {count}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::ops::AddAssign<&Invalid> for Invalid {
    fn add_assign(&mut self, other: &Invalid) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
    }
}

counts! {
    /// Totals of a run. `records` is the sum of what was written, omitted as a duplicate or for its shape, withheld, and
    /// omitted or diverted as invalid.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Report {
        /// Bytes read, without byte order marks.
        pub bytes: u64,
        /// Records that are not blank.
        pub records: u64,
        /// Lines with nothing but white space, which are not records.
        pub blank: u64,
        /// Records written.
        pub written: u64,
        /// Rows of text tables that do not fit, written or not, which count nowhere else.
        pub bad_rows: u64,
        /// The lines that these rows are on: an open quote takes what follows it with it.
        pub bad_lines: u64,
        /// Records omitted because they are equivalent to another one: an earlier one unless options say otherwise.
        pub duplicates: u64,
        /// Records omitted because as many of their [shape](uriscan_core::shape) precede them as are kept, or an equivalent
        /// one; only [`crate::pipeline::dedup_by_shape()`] fills this in, which counts no `duplicates`.
        pub of_full_shapes: u64,
        /// The number of shapes; an invalid record counts as a shape. Only [`crate::pipeline::dedup_by_shape()`] fills this in.
        pub shapes: u64,
        /// Classes of records whose keys are in a set on disk ([`crate::pipeline::Seen`]). All their records are among
        /// `duplicates`.
        pub seen: u64,
        /// Records of classes that were not selected ([`crate::pipeline::Select`]).
        pub withheld: u64,
        /// Records that are not URIs, whatever was done with them.
        pub invalid: Invalid,
        /// Records that are URIs as repaired only ([`uriscan_core::repair`]); the others count them as valid.
        pub repaired: u64,
        /// Same-document references among the records, written or not; counted by [`crate::pipeline::resolve()`] only.
        pub same_document: u64,
        /// Sources that were skipped because they look binary.
        pub binary: u64,
        /// Sources whose format was decided while their producer paused, and whose next bytes look like another one.
        pub misjudged: u64,
        /// Sources that were searched whole, because they are not archives, although records of archives were selected.
        pub not_archives: u64,
        /// What was skipped in documents, or searched only in part.
        pub omitted: Omitted,
        /// Records that two grammars read differently; counted by [`crate::pipeline::inspect_rfc2396`] only.
        pub differing: u64,
        /// Records, links and entries of logs that a filter did not keep ([`crate::pipeline::records_of`]), which count
        /// nowhere else; of values of rows that are read as a list, [`crate::pipeline::Skipped`] has it.
        pub filtered: Filtered,
        /// Values that decide which row is kept and were compared by their bytes, although they have digits: no numbers,
        /// and no dates with the year first.
        pub as_text: u64,
        /// Bytes spilled to disk because of a memory limit ([`crate::pipeline::MemoryLimit`]).
        pub spilled: u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_counter() {
        let mut invalid = Invalid::default();
        for (i, kind) in UriErrorKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
            (0..=i).for_each(|_| invalid.add(kind));
        }
        assert!(invalid.iter().enumerate().all(|(i, (_, count))| count == i as u64 + 1));
        assert_eq!(invalid.total(), (1..=UriErrorKind::ALL.len() as u64).sum::<u64>());
    }
}
