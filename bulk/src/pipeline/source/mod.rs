//! Lists that are made of other sources: links of documents, records that a filter keeps, values of rows; the file of aliases.

pub(crate) mod alias_file;
pub(crate) mod kept;
pub(crate) mod links;
pub(crate) mod list;
