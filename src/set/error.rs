//! Why a set cannot be used.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What is wrong, and with which file or directory.
#[derive(Debug)]
#[non_exhaustive]
pub struct SetError {
    /// The file, or the directory of the set.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What may be wrong with a set.
#[derive(Debug)]
#[non_exhaustive]
pub enum Fault {
    /// The system could not read or write.
    Io(io::Error),
    /// No set stands there.
    NotASet,
    /// A set, or something else, stands there already.
    Exists,
    /// The directory holds other files and no set, so none is made in it.
    NotEmpty,
    /// A symbolic link, a directory, a pipe or a device stands where a set has a regular file.
    NotRegular,
    /// The set has the format before this one, whose keys can be forged.
    Outdated,
    /// The set is of a format that this version does not know.
    Version(String),
    /// What was read is not what was written.
    Damaged {
        /// What was found wrong.
        what: &'static str,
        /// The byte of the file at which it begins, counted from 0.
        at: u64,
    },
    /// The keys mean something else.
    Differs(Difference),
    /// Another process is writing to the set.
    Busy,
}

/// A fact in which the meanings of two sets of keys differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// What holds for the keys of the set, if that differs.
    pub set: Option<String>,
    /// What was asked for, if that differs.
    pub asked: Option<String>,
}

impl SetError {
    pub(super) fn new(path: &Path, fault: Fault) -> SetError {
        SetError { path: path.to_owned(), fault }
    }

    pub(super) fn damaged(path: &Path, what: &'static str, at: u64) -> SetError {
        SetError::new(path, Fault::Damaged { what, at })
    }
}

/// Says which file an input or output error belongs to.
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
            Fault::NotASet => f.write_str("no set of keys; `uriscan set create` makes one"),
            Fault::Exists => f.write_str("is there already"),
            Fault::NotEmpty => f.write_str(
                "this directory holds other files and is not a set; a set is created in a new or an empty directory",
            ),
            Fault::NotRegular => f.write_str(
                "not a regular file; a set has no symbolic links, pipes, devices or directories among its files",
            ),
            Fault::Outdated => f.write_str(
                "this set has the old format, whose keys can be forged; remove it and create it again from its list",
            ),
            Fault::Version(version) => {
                write!(f, "a set of format {version}, which this version does not know")
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
        match (&self.set, &self.asked) {
            (Some(set), Some(asked)) => {
                write!(f, "its keys were made with `{set}`, what was asked for has `{asked}`")
            }
            (Some(set), None) => {
                write!(f, "its keys were made with `{set}`, what was asked for has it not")
            }
            (None, Some(asked)) => write!(f, "its keys were made without `{asked}`"),
            (None, None) => f.write_str("its keys mean something else"),
        }
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
