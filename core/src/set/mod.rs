//! Sets of keys on disk, which persist between runs and can be merged. They know keys, not
//! URIs.

mod batch;
mod blocks;
mod combine;
mod cursor;
mod directory;
mod entry;
mod error;
mod file;
mod held;
mod loader;
mod look_up;
mod manifest;
mod meaning;
mod names;
mod removal;
mod run;
mod run_writer;
mod store;
mod tags;
#[cfg(test)]
mod tests;
mod times;
mod writer;

pub use crate::time::{NotATime, Timestamp};
pub use directory::abandon;
pub use error::{Difference, Fault, SetError};
pub use loader::Loader;
pub use meaning::Meaning;
pub use store::{KeySet, verify};
pub use writer::SetWriter;
