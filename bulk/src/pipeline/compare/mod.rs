//! When records are equivalent: level, rules, profile and aliases, and the bytes that represent a group.

pub(crate) mod aliases;
pub(crate) mod equivalence;
pub(crate) mod ladder;
pub(crate) mod mergers;
