//! Which record of each equivalence class survives, within a memory limit.
//!
//! It takes records as keys with positions, and their bytes where the choice of the survivor or a report needs these.
//! [`FirstSet`] says at once whether a record is the first of its class or a duplicate, as long as keys have room in memory, and
//! of the others at the end. `StreamedClasses` says the same, and what the first record of a class was. [`ClassSet`] gathers whole
//! classes, and says at the end which record survives, how many there are, and which were omitted. [`FirstSet`] and it own the memory limit, what spills to disk, and the set of keys on disk that earlier runs have
//! seen; neither knows where records come from. Lines ([`crate::pipeline`]) and rows of tables are read a
//! second time at the positions of [`Survivors`].
//!
//! What spills goes to `Partitions` by the bits of the keys, each a run of rows in the order of the input. At
//! the end each partition is resolved by itself; if its keys exceed the limit, those without room go to smaller partitions.
//! Results are those without a limit.

mod classes;
mod clusters;
mod file;
mod firsts;
#[cfg(test)]
mod growth;
mod keep;
mod limit;
mod merge;
mod partitions;
mod positions;
mod ranked;
mod reread;
mod resolve;
mod run;
mod seen;
mod store;
mod stream;
mod streamed;
pub(crate) mod varint;
mod write;
mod writer;

pub use classes::{Batch, ClassSet};
pub use file::{SpillDir, SpillFile};
pub use firsts::FirstSet;
pub use keep::{ClassMode, Record};
pub use keep::{Keep, Select};
pub use limit::MemoryLimit;
pub use limit::{BATCHES, Budget};
pub use reread::{Survivors, Window};
pub use seen::Seen;
pub(crate) use seen::{forget, look_up};
pub use stream::SpillStream;
pub(crate) use streamed::{Firsts, HeldText, StreamedBatch, StreamedClasses};
pub(crate) use write::FoundClasses;
pub use writer::{ClassSession, ClassWriter, Wanted};

use std::fmt;
use std::io;
use std::path::PathBuf;

use uriscan_core::set::SetError;

/// Why survivors cannot be found or written.
#[derive(Debug)]
pub enum StoreError {
    /// What exceeds the memory limit cannot be spilled, or not be read back.
    Spill {
        /// The directory for spill files.
        dir: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The set of keys that earlier runs have seen cannot be read, or not be added to.
    Set(SetError),
    /// A result cannot be written.
    Write(io::Error),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Spill { dir, error } => write!(f, "{}: {error}", dir.display()),
            StoreError::Set(error) => error.fmt(f),
            StoreError::Write(error) => error.fmt(f),
        }
    }
}

impl From<SetError> for StoreError {
    fn from(error: SetError) -> StoreError {
        StoreError::Set(error)
    }
}
