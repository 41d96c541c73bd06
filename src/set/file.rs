//! Opening the files of a set.
//!
//! Whoever made the directory may have put anything in it. So only regular files are opened, and no symbolic link is
//! followed below the directory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use super::error::{At, Fault, SetError};

/// Opens the regular file at `path` to be read.
///
/// # Errors
/// When there is none, or it cannot be opened.
pub(super) fn open(path: &Path) -> Result<File, SetError> {
    open_with(path, File::options().read(true))
}

pub(super) fn open_with(path: &Path, options: &mut OpenOptions) -> Result<File, SetError> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // A pipe or a terminal is opened without waiting for whoever is at its other end, and refused below.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    // Where links cannot be refused while opening, they are looked for before.
    if cfg!(not(unix)) && is_something_else(path) {
        return Err(SetError::new(path, Fault::NotRegular));
    }
    match options.open(path) {
        Ok(file) if file.metadata().at(path)?.is_file() => Ok(file),
        Ok(_) => Err(SetError::new(path, Fault::NotRegular)),
        Err(_) if is_something_else(path) => Err(SetError::new(path, Fault::NotRegular)),
        Err(error) => Err(SetError::new(path, Fault::Io(error))),
    }
}

/// Whether something is at `path` and it is not a regular file.
fn is_something_else(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

/// The first `limit` bytes of `file`, and no byte more.
pub(super) fn read_up_to(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether there is no such file.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
