//! Datasets: many files that are one table, found below a directory or by a pattern.
//!
//! A [`Selection`] decides by their names which files belong to a dataset, whether they are found on a disk
//! ([`Selection::files`]) or listed by a store ([`Selection::of_listing`]). It opens none of them. A [`Partition`] is what the
//! directories of a file say about its rows. How the columns of files are unified, a plan decides before any row is read.

mod find;
mod hive;
mod managed;
mod pattern;
mod plan;
mod widen;

pub(super) use hive::push_directory;
pub(super) use plan::{Fit, Merge, Plan};

pub use find::{Found, FoundFile};
pub use hive::Partition;
pub use pattern::Selection;
