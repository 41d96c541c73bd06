//! What the name of an output is, however it is spelt: a descriptor, a file that is replaced, or something that takes bytes
//! as they come.

use std::io;
use std::path::{Path, PathBuf};

use uriscan_files::{Descriptor, followed};

/// What the name of an output leads to.
#[derive(Debug)]
pub(super) enum Target {
    /// An open descriptor, which is written to as it was opened.
    Descriptor(Descriptor),
    /// A pipe or a device, which is written to as it is.
    Stream,
    /// A regular file, which is replaced: its path without links.
    File(PathBuf),
    /// Nothing yet: the path of a new file.
    New(PathBuf),
}

impl Target {
    pub(super) fn of(path: &Path) -> io::Result<Target> {
        if let Some(descriptor) = Descriptor::at(path) {
            return Ok(Target::Descriptor(descriptor));
        }
        let target = followed(path)?;
        match path.metadata() {
            Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if metadata.is_file() => path.canonicalize().map(Target::File),
            Ok(_) => Ok(Target::Stream),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Target::New(target)),
            Err(error) => Err(error),
        }
    }

    /// Whether a file or nothing is there, so that what is written replaces it.
    pub(super) fn is_replaced(path: &Path) -> bool {
        matches!(Target::of(path), Ok(Target::File(_) | Target::New(_)))
    }
}
