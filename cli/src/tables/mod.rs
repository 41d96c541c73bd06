//! Tables: what the arguments mean there, and carrying it out. A program that is built without the feature `full` has
//! `absent/tables.rs` in place of this module.

mod choice;
mod dataset;
mod directory;
mod folder;
mod hint;
mod objects;
mod run;
mod side_outputs;

pub(crate) use choice::{Column, HELP_NOTE, NO_COLUMN, TableUse};
pub(crate) use dataset::find;
pub(crate) use folder::Folder;
pub(crate) use hint::{column_of, header_separator, other_column, other_place};
pub(crate) use run::{Work, open, open_column, open_folder, open_pairs, print_notes};
pub(crate) use side_outputs::ClassTable;
pub(crate) use uriscan_arrow::Columns;
pub(crate) use uriscan_table::{ByClass, Form, Task};
