//! Writes records, findings and components: as lines, TSV, JSON and templates, and for people.

pub(crate) mod diagnostic;
pub(crate) mod explanation;
pub(crate) mod fields;
pub(crate) mod finding;
pub mod json;
pub(crate) mod link_fields;
pub(crate) mod link_row;
pub(crate) mod paint;
pub mod row;
pub(crate) mod selector;
pub(crate) mod template;
pub(crate) mod tsv;
