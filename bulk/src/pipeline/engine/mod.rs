//! What every job runs on: reading in batches, records that are scanned in parallel and written in order, what is
//! invalid, and rows of text tables.
//!
//! [`driver`] runs a job over batches of chunks; a chunk's rows, keys and output are in its [`work`].

pub(crate) mod batches;
pub(crate) mod class_row;
pub(crate) mod driver;
pub(crate) mod faults;
pub(crate) mod fields;
pub(crate) mod forecast;
pub(crate) mod gathered;
pub(crate) mod input;
pub(crate) mod invalid;
pub(crate) mod limit;
pub(crate) mod lines;
pub(crate) mod long;
pub(crate) mod numbered;
pub(crate) mod options;
pub(crate) mod pending;
pub(crate) mod reread;
pub(crate) mod rows;
pub(crate) mod scan;
pub(crate) mod settings;
pub(crate) mod stored;
pub(crate) mod work;
pub(crate) mod writer;
