//! Datasets: many files that are one table, found below a directory or by a pattern.
//!
//! A [`Selection`] decides by their names which files belong to a dataset, whether they are found on a disk
//! ([`Selection::files`]) or listed by a store ([`Selection::of_listing`]). It opens none of them.

mod find;
mod pattern;

pub use find::{Found, FoundFile};
pub use pattern::Selection;
