//! Writes tables, to one file or to the parts of a folder.

pub(crate) mod parts;
pub(crate) mod writer;
