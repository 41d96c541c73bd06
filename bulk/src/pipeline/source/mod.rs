//! What a record is: a line, a link of a document, a row of a text table, or a value of one of its columns.

pub(crate) mod alias_file;
pub(crate) mod fields;
pub(crate) mod links;
pub(crate) mod list;
pub(crate) mod rows;
