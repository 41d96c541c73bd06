//! Sets of keys on disk, which persist between runs and can be merged. They know keys, not
//! URIs.
//!
//! A set is a directory:
//!
//! | file | content |
//! | --- | --- |
//! | `set` | the meaning of its keys, and its runs: text, with a checksum |
//! | `*.keys` | runs: immutable files of keys in rising order; the name is a digest of the content |
//! | `lock` | the write lock |
//! | `*.times` | for each run, in a set that records them: the time at which each key was first seen, in 4 bytes |
//! | `*.partial` | files being written, where files need names for that; the next writer removes those of a killed one |
//!
//! A set may have been created or changed by an attacker, so nothing in it is trusted. Only regular
//! files with names of exactly the form that writers use are opened or removed. Everything that is
//! read is checked against checksums, against the order of keys and against the header of the file,
//! so that a result is either right or an error. The time and memory for reading a file are bounded
//! by its size.
//!
//! The content of a set is defined by the file `set`. It is replaced by a rename, after all files
//! that it names are on disk, so that at every moment either the old or the new set exists. Readers
//! need no lock: the files that they have opened stay available.
//!
//! Keys are added as a run of their own, in time proportional to their number. More than nine runs
//! are merged into fewer, the small ones first, so that every key is copied only a few times. Runs
//! have no keys in common. Keys are evenly distributed, so the position of a key is known to within
//! a block or two; every block that is read is checked against its checksum.
//!
//! A set whose keys are in one run ([`SetWriter::compact`], and every set that is made from other
//! sets) has the same bytes, wherever and in whatever order it was made.

pub use uriscan_core::set::{
    Difference, Fault, KeySet, Loader, Meaning, NotATime, SetError, SetWriter, Timestamp, abandon,
    verify,
};
