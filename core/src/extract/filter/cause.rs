//! Why URIs are not kept, and how many.

use super::limits::Limit;

named! {
    /// Why a [`super::Filter`] does not keep a URI, or a [`crate::extract::RequestFilter`] an entry of a log, by the name of
    /// the option.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Cause {
        /// It has none of the required schemes.
        Scheme = "scheme",
        /// It has none of the required hosts.
        Host = "host",
        /// Its host is not in one of the required domains.
        Domain = "domain",
        /// None of the required patterns matches.
        Match = "match",
        /// Its scheme is excluded.
        NotScheme = "not-scheme",
        /// Its host is excluded.
        NotHost = "not-host",
        /// The domain of its host is excluded.
        NotDomain = "not-domain",
        /// A pattern matches that excludes.
        NotMatch = "not-match",
        /// It exceeds [`Limit::Length`].
        MaxLength = "max-length",
        /// It exceeds [`Limit::Segments`].
        MaxSegments = "max-segments",
        /// It exceeds [`Limit::Repeats`].
        MaxRepeats = "max-repeats",
        /// It exceeds [`Limit::Params`].
        MaxParams = "max-params",
        /// The entry has none of the required statuses.
        Status = "status",
        /// The entry has none of the required methods.
        Method = "method",
        /// The time of the entry is too early.
        Since = "since",
        /// The time of the entry is too late.
        Until = "until",
    }
}

impl Cause {
    /// The number of causes that are not limits.
    pub(super) const PROPERTIES: usize = Cause::MaxLength as usize;

    pub(super) fn of_limit(limit: Limit) -> Cause {
        match limit {
            Limit::Segments => Cause::MaxSegments,
            Limit::Repeats => Cause::MaxRepeats,
            Limit::Params => Cause::MaxParams,
            Limit::Length => Cause::MaxLength,
        }
    }
}

/// The number of URIs, or entries of logs, that a filter did not keep, by cause.
///
/// ```
/// use uriscan::extract::{Cause, Filtered};
/// let mut filtered = Filtered::default();
/// filtered.add(Cause::Host);
/// assert_eq!((filtered.total(), filtered.of(Cause::Host)), (1, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filtered([u64; Cause::ALL.len()]);

impl Filtered {
    /// Counts one more.
    pub fn add(&mut self, cause: Cause) {
        self.0[cause as usize] += 1;
    }

    /// The number of this cause.
    pub fn of(&self, cause: Cause) -> u64 {
        self.0[cause as usize]
    }

    /// The number of all causes.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl core::ops::AddAssign<&Filtered> for Filtered {
    fn add_assign(&mut self, other: &Filtered) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
    }
}
