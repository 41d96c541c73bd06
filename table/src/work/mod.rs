//! What a job does with the batches of a table: other columns, groups and their tables, second passes, order.

pub(crate) mod class_table;
pub(crate) mod list;
pub(crate) mod other;
pub(crate) mod pairs;
pub(crate) mod second_pass;
pub(crate) mod selection;
pub(crate) mod sort;
pub(crate) mod task;
pub(crate) mod values;
pub(crate) mod with;
