//! What a job does with the batches of a table: the column of URIs, other columns, which row is kept, order, tables of groups.

pub(crate) mod class_table;
pub(crate) mod job;
pub(crate) mod keys;
pub(crate) mod list;
pub(crate) mod other;
pub(crate) mod pairs;
pub(crate) mod rank;
pub(crate) mod row_filter;
pub(crate) mod second_pass;
pub(crate) mod selection;
pub(crate) mod sort;
pub(crate) mod target;
pub(crate) mod task;
pub(crate) mod values;
pub(crate) mod with;
