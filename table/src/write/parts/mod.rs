//! Results as a directory of files: cut by rows or bytes, or partitioned by the values of columns.
//!
//! What is written to which file depends on the rows and the [`Layout`] only. Rows of partitions are held until a file of one
//! is worth a row group, or until all together exceed a limit; then those with the most are written.

mod layout;
mod split;
#[cfg(test)]
mod tests;
mod writer;

pub use layout::{Folder, Layout, PartFile};
pub(crate) use writer::Parts;
