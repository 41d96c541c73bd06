//! Errors of sets.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error, and the file or directory concerned.
#[derive(Debug)]
#[non_exhaustive]
pub struct SetError {
    /// The file, or the directory of the set.
    pub path: PathBuf,
    /// The cause.
    pub fault: Fault,
}

/// The cause of an error of a set.
#[derive(Debug)]
#[non_exhaustive]
pub enum Fault {
    /// A file could not be read or written.
    Io(io::Error),
    /// There is no set.
    NotASet,
    /// A set, or something else, exists already.
    Exists,
    /// The directory holds other files and no set, so no set is created in it.
    NotEmpty,
    /// A file of the set is a symbolic link, a directory, a pipe or a device.
    NotRegular,
    /// The set has a format that this version does not support.
    Version(String),
    /// A file is not as it was written.
    Damaged {
        /// What is wrong.
        what: &'static str,
        /// Offset in the file at which the damage begins.
        at: u64,
    },
    /// The keys have another meaning.
    Differs(Difference),
    /// Another process is writing to the set.
    Busy,
}

/// The facts in which the meanings of two sets of keys differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The facts of the set that the requested meaning lacks.
    pub set: Vec<String>,
    /// The requested facts that the set lacks.
    pub requested: Vec<String>,
}

impl SetError {
    pub(super) fn new(path: &Path, fault: Fault) -> SetError {
        SetError { path: path.to_owned(), fault }
    }

    pub(super) fn damaged(path: &Path, what: &'static str, at: u64) -> SetError {
        SetError::new(path, Fault::Damaged { what, at })
    }
}

/// Adds the path to an input or output error.
pub(super) trait At<T> {
    fn at(self, path: &Path) -> Result<T, SetError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T, SetError> {
        self.map_err(|error| SetError::new(path, Fault::Io(error)))
    }
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.fault {
            Fault::Io(error) => error.fmt(f),
            Fault::NotASet => f.write_str("not a key set; `uriscan set create` creates one"),
            Fault::Exists => f.write_str("already exists"),
            Fault::NotEmpty => f.write_str(
                "this directory holds other files and is not a set; a set is created in a new or an empty directory",
            ),
            Fault::NotRegular => f.write_str(
                "not a regular file; a set has no symbolic links, pipes, devices or directories among its files",
            ),
            Fault::Version(version) => {
                write!(f, "a set of format {version}, which this version does not support")
            }
            Fault::Damaged { what, at } => write!(
                f,
                "damaged at byte {at}: {what}; restore the set from a copy, or create it again from its list"
            ),
            Fault::Differs(difference) => difference.fmt(f),
            Fault::Busy => f.write_str("another process is writing to this set"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // All facts of a pack of patterns would fill pages.
        const MOST: usize = 5;
        let list = |facts: &[String]| {
            let mut text: Vec<String> =
                facts.iter().take(MOST).map(|fact| format!("`{fact}`")).collect();
            if facts.len() > MOST {
                text.push(format!("{} more", facts.len() - MOST));
            }
            text.join(", ")
        };
        match (&self.set[..], &self.requested[..]) {
            ([], []) => f.write_str("its keys have another meaning"),
            (set, []) => {
                write!(f, "its keys were made with {}, which is not requested", list(set))
            }
            ([], requested) => write!(f, "its keys were made without {}", list(requested)),
            (set, requested) => {
                write!(f, "its keys were made with {}, not with {}", list(set), list(requested))
            }
        }?;
        f.write_str(
            "; give the options that `uriscan set stats` shows for it, or create another set",
        )
    }
}

impl std::error::Error for SetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            Fault::Io(error) => Some(error),
            _ => None,
        }
    }
}
