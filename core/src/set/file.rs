//! Opens the files of a set.
//!
//! The contents of the directory are not trusted. Only regular files are opened, and no symbolic
//! link below the directory is followed.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::Path;

use super::error::{At, Fault, SetError};
use uriscan_files::File;

/// Opens the regular file at `path` for reading.
pub(super) fn open(path: &Path) -> Result<File, SetError> {
    open_with(path, OpenOptions::new().read(true))
}

pub(super) fn open_with(path: &Path, options: &mut OpenOptions) -> Result<File, SetError> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // Opens a pipe or a terminal without waiting for its other end; it is rejected below.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    // Where opening cannot reject links, they are checked for first.
    if cfg!(not(unix)) && is_something_else(path) {
        return Err(SetError::new(path, Fault::NotRegular));
    }
    match File::open_with(path, options) {
        Ok(file) if file.metadata().at(path)?.is_file() => Ok(file),
        Ok(_) => Err(SetError::new(path, Fault::NotRegular)),
        Err(_) if is_something_else(path) => Err(SetError::new(path, Fault::NotRegular)),
        Err(error) => Err(SetError::new(path, Fault::Io(error))),
    }
}

/// Whether there is something at `path` that is not a regular file.
fn is_something_else(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file())
}

/// Reads at most the first `limit` bytes of `file`.
pub(super) fn read_up_to(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether the error means that the file does not exist.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
