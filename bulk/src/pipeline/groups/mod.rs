//! Jobs that know which records are equivalent: which one is kept, how many there are, and which were dropped.

pub(crate) mod classes;
pub(crate) mod dedup;
pub(crate) mod dupes;
pub(crate) mod firsts;
pub(crate) mod members;
pub(crate) mod on_set;
pub(crate) mod sample;
pub(crate) mod single;
