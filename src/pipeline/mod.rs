//! Floor 8: read, index, parse, key, deduplicate, write: in parallel, in order.
//!
//! Each function takes sources and a writer and gives a [`Report`]. What is written
//! does not depend on the number of threads, the backend, or the size of the chunks.

mod aliases;
mod audit;
mod batches;
mod census;
mod check;
mod classes;
mod dedup;
mod driver;
mod equivalence;
mod explain;
mod extract;
mod faults;
mod forecast;
mod input;
mod invalid;
mod ladder;
mod limit;
mod links;
mod long;
mod map;
mod members;
mod options;
mod parse;
mod pending;
mod proof;
mod report;
mod reread;
mod resolve;
mod rfc2396;
mod row_job;
mod scan;
mod slot;
mod writer;

pub use crate::survivors::{Keep, MemoryLimit, Seen, Select};
pub use aliases::{AliasFault, Aliases};
pub use audit::{AuditFormat, AuditOptions, FindingCounts, audit, redact};
pub use census::{Census, CensusOptions, RulesCensus, RungCensus, census};
pub use check::{CheckFormat, check};
pub use classes::{classes, classes_unseen};
pub use dedup::{dedup, dedup_unseen};
pub use equivalence::Equivalence;
#[cfg(feature = "arrow")]
pub(crate) use equivalence::Scratch;
pub use explain::{ExplainFormat, ExplainOptions, explain, explain_one, explain_pair};
pub use extract::{ExtractOptions, LinkFormat, LinkShape, extract};
pub use invalid::OnInvalid;
pub use links::{LeftOut, links_of};
pub use map::{keys, normalize, surts};
pub use members::{MemberOptions, collect, first_seen, members};
pub use options::{ClassOptions, DedupOptions, Emit};
pub use parse::{RowFormat, parse};
#[cfg(feature = "arrow")]
pub(crate) use pending::Pending;
#[cfg(feature = "parquet")]
pub(crate) use proof::Proof;
pub use report::{Invalid, Report};
pub use resolve::{Against, ResolveOptions, SameDocument, resolve};
pub use rfc2396::{LegacyQuestion, judge_rfc2396};
#[cfg(feature = "parquet")]
pub(crate) use writer::{Origins, RecordWriter};

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::io::ReadError;
use crate::set::SetError;
use crate::simd::Kernels;
use crate::survivors::StoreError;
use crate::uri::UriError;

/// How the work is done; nothing here changes what is written, but `record_end`, `max_record` and `redact`.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Worker threads; 0 for one per core.
    pub threads: usize,
    /// The SIMD backend.
    pub kernels: Kernels,
    /// The byte that ends a record, read and written: LF or NUL.
    pub record_end: u8,
    /// Bytes per chunk, about; a chunk is what one thread takes at a time. Taken for `max_record`
    /// when it is more.
    pub chunk_bytes: usize,
    /// Bytes of the longest record that is judged, white space around it included; longer ones are
    /// [`crate::uri::ErrorKind::TooLong`], are never held in memory whole, and are passed on untrimmed.
    /// Taken for [`Settings::MAX_RECORD`] when it is more.
    pub max_record: usize,
    /// Write records, valid or not, with their secrets masked ([`crate::audit::redact_into`]), where
    /// records are written: by [`dedup()`], [`normalize`] and [`redact`]. What is compared stays the
    /// same. A record too long to be judged is left out then.
    pub redact: bool,
}

impl Settings {
    /// The largest `max_record`: places in a chunk are 32 bits wide.
    pub const MAX_RECORD: usize = 1 << 30;

    /// The same, with nothing beyond what the pipeline can do.
    fn within_limits(&self) -> Settings {
        let max_record = self.max_record.clamp(1, Settings::MAX_RECORD);
        Settings { max_record, chunk_bytes: self.chunk_bytes.clamp(1, max_record), ..*self }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            threads: 0,
            kernels: Kernels::detect(),
            record_end: b'\n',
            chunk_bytes: 128 << 10,
            max_record: 64 << 20,
            redact: false,
        }
    }
}

/// Where results go.
pub struct Sinks<'a> {
    /// The results.
    pub out: &'a mut (dyn Write + Send),
    /// Records turned away under [`OnInvalid::Divert`].
    pub rejects: Option<&'a mut (dyn Write + Send)>,
    /// A line for every record that [`classes()`] leaves out as a duplicate; see there.
    pub dupes: Option<&'a mut (dyn Write + Send)>,
    /// A line of JSON for every class that [`classes()`] writes; see there.
    pub clusters: Option<&'a mut (dyn Write + Send)>,
    /// Told the number of bytes read so far, every few milliseconds of work.
    pub progress: Option<&'a mut (dyn FnMut(u64) + Send)>,
    /// Told of every source that cannot be opened or read to its end, while the others are worked on;
    /// if nobody is to be told, the first one ends the run with [`Error::Read`]. Also told of the first
    /// bodies in archives that cannot be decoded and documents that cannot be parsed, which never end a run:
    /// [`Report`] counts all of them.
    pub unread: Option<&'a mut (dyn FnMut(&ReadError) + Send)>,
}

impl<'a> Sinks<'a> {
    /// Results to `out`, nothing else.
    pub fn new(out: &'a mut (dyn Write + Send)) -> Sinks<'a> {
        Sinks { out, rejects: None, dupes: None, clusters: None, progress: None, unread: None }
    }
}

impl fmt::Debug for Sinks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sinks").finish_non_exhaustive()
    }
}

/// Why the work stopped before its end.
#[derive(Debug)]
pub enum Error {
    /// A source could not be opened or read.
    Read(ReadError),
    /// A result could not be written.
    Write(io::Error),
    /// What is beyond a [`MemoryLimit`] could not be put aside, or not be read again.
    Aside {
        /// The directory for such files.
        dir: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The threads could not be started.
    Threads(rayon::ThreadPoolBuildError),
    /// A set on disk could not be read or written.
    Set(SetError),
    /// Public keys or proofs are asked for under [`Aliases`] that were read without their targets.
    Targets,
    /// An invalid record under [`OnInvalid::Fail`].
    Invalid {
        /// The name of the source.
        source: String,
        /// The line in it, counted from 1.
        line: u64,
        /// The byte offset in it at which the record begins, counted from 0.
        byte: u64,
        /// What is wrong.
        error: UriError,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(error) => error.fmt(f),
            Error::Set(error) => error.fmt(f),
            Error::Targets => {
                f.write_str("public keys and proofs need aliases that were read with their targets")
            }
            Error::Write(error) => write!(f, "cannot write: {error}"),
            Error::Aside { dir, error } => {
                write!(
                    f,
                    "{}: cannot put aside what is beyond the memory limit: {error}",
                    dir.display()
                )
            }
            Error::Threads(error) => write!(f, "cannot start the threads: {error}"),
            Error::Invalid { source, line, byte, error } => write!(
                f,
                "{source}:{line}: {} at column {} (byte {}): {}",
                error.kind,
                u64::from(error.at) + 1,
                byte + u64::from(error.at),
                error.kind.message(),
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        match error {
            StoreError::Spill { dir, error } => Error::Aside { dir, error },
            StoreError::Set(error) => Error::Set(error),
            StoreError::Write(error) => Error::Write(error),
        }
    }
}

impl From<SetError> for Error {
    fn from(error: SetError) -> Error {
        Error::Set(error)
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Error {
        Error::Read(error)
    }
}
