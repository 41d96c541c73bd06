//! Errors of a run.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::io::ReadError;
use crate::set::SetError;
use crate::survivors::StoreError;
use crate::uri::UriError;

/// Why a run stopped early.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A source could not be opened or read.
    Read(ReadError),
    /// A result could not be written.
    Write(io::Error),
    /// What exceeds a [`super::MemoryLimit`] could not be spilled, or not be read back.
    Spill {
        /// The directory for such files.
        dir: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The threads could not be started.
    Threads(rayon::ThreadPoolBuildError),
    /// A set on disk could not be read or written.
    Set(SetError),
    /// Public keys are requested under [`super::Aliases`] that were read without their targets.
    Targets,
    /// Keys of the records that [`super::dedup_by_shape()`] keeps exceed the [`super::MemoryLimit`].
    Sample {
        /// The number of records that were kept until then.
        kept: u64,
        /// The number of their shapes.
        shapes: u64,
    },
    /// A row of a text table that does not fit, under [`crate::row::OnBadRow::Fail`].
    Row {
        /// The name of the source.
        source: String,
        /// The line in it at which the row begins, counted from 1.
        line: u64,
        /// What is wrong.
        what: String,
        /// Whether another [`crate::row::OnBadRow`] goes on after it; a row that is too long ends every run.
        may_be_skipped: bool,
    },
    /// No row of tables of JSON lines has the member with the URIs.
    Member {
        /// The name of the first source.
        source: String,
        /// The member, or the path to it.
        member: String,
    },
    /// An invalid record under [`super::OnInvalid::Fail`].
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
                f.write_str("public keys need aliases that were read with their targets")
            }
            Error::Write(error) => write!(f, "cannot write: {error}"),
            Error::Spill { dir, error } => {
                write!(f, "{}: cannot spill to disk: {error}", dir.display())
            }
            Error::Sample { kept, shapes } => write!(
                f,
                "{kept} records of {shapes} shapes are kept so far, and the keys of more exceed the memory limit; raise it, or keep fewer of each shape"
            ),
            Error::Threads(error) => write!(f, "cannot start the threads: {error}"),
            Error::Member { source, member } => {
                write!(f, "{source}: no line has a member {member}")
            }
            Error::Row { source, line, what, .. } => write!(f, "{source}:{line}: {what}"),
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

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Read(error) => error.source(),
            Error::Set(error) => error.source(),
            Error::Write(error) | Error::Spill { error, .. } => Some(error),
            Error::Threads(error) => Some(error),
            Error::Invalid { error, .. } => Some(error),
            Error::Targets | Error::Sample { .. } | Error::Row { .. } | Error::Member { .. } => {
                None
            }
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        match error {
            StoreError::Spill { dir, error } => Error::Spill { dir, error },
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
    fn from(ReadError { source, error }: ReadError) -> Error {
        // That of a row, or the like, in a table that was read as a list.
        error.downcast().unwrap_or_else(|error| Error::Read(ReadError { source, error }))
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        io::Error::other(error)
    }
}
