//! Floor 6: sets of keys on disk, which last from run to run and merge. They know keys, not what a URI is.
//!
//! A set is a directory:
//!
//! | file | what |
//! | --- | --- |
//! | `set` | its meaning, and which runs belong to it: text, with a checksum |
//! | `*.keys` | runs: files of keys in rising order, which never change; the name is a digest of the content |
//! | `lock` | held by the one who writes |
//! | `*.times` | beside a run, in a set that tells them: when each key was first seen, in 4 bytes |
//! | `*.partial` | what is being written, where files need names for that; the next writer removes what is left |
//!
//! A set may have been made, or changed, by somebody else: nothing in it is relied on. Only regular files with names of
//! exactly the form that writers give are opened or removed; what a reader reads is held against checksums, against the
//! order that keys have to have and against what the file says of itself, so that an answer is right or an error; and no
//! file can be made that is longer to read, or takes more memory, than its size allows.
//!
//! A set is what the file `set` says. It is replaced by a rename, when all that it names is on the disk, so that at
//! every moment the old set or the new one is there. Readers need no lock: what they have opened stays.
//!
//! Keys are added as a run of their own, which costs what they are; more than nine runs are made into fewer, the small
//! ones first, so that every key is copied a few times only. Runs have no key in common. Keys are spread evenly, so the
//! place of one is known to a block or two; every block that is read is held against its checksum.
//!
//! A set whose keys are in one run ([`SetWriter::compact`], and all that is made out of other sets) has the same bytes
//! wherever and in whatever order it was made.

mod batch;
mod blocks;
mod calendar;
mod combine;
mod cursor;
mod directory;
mod entry;
mod error;
mod file;
mod loader;
mod manifest;
mod meaning;
mod names;
mod run;
mod run_writer;
mod store;
#[cfg(test)]
mod tests;
mod times;
mod writer;

pub use directory::abandon;
pub use error::{Difference, Fault, SetError};
pub use loader::Loader;
pub use manifest::is_old_meaning;
pub use meaning::Meaning;
pub use store::KeySet;
pub use times::{NotATime, Timestamp};
pub use writer::SetWriter;
