//! Temporary names of outputs: what they are, who has them, and what killed runs have left.
//!
//! The name of an output decides about its temporary name, so that the next run that writes the same output finds what a
//! killed one has left there. Whoever writes holds a lock on what has the name; without a lock it is a leftover. What is
//! still being written by another run stays, and this run takes a name with random characters.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::{File, remove, remove_all};

/// What temporary names of outputs begin with.
pub(super) const PREFIX: &str = ".uriscan-";

/// What all temporary names end in.
pub(super) const SUFFIX: &str = ".partial";

/// The temporary name of the output at `path`, in the same directory. Names of other outputs may have the same one.
pub(super) fn name_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    let number = xxh3_64(name.as_encoded_bytes());
    path.with_file_name(format!("{PREFIX}{number:016x}{SUFFIX}"))
}

/// Removes the file or the directory at `path` if a run has left it; whether there was one.
pub(super) fn remove_leftover(path: &Path) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    let is_directory = metadata.is_dir();
    if !(metadata.is_file() || is_directory && is_own(&metadata)) {
        return false;
    }
    let Ok(file) = File::open_with(path, &without_links()) else { return false };
    // Held until it is gone.
    if file.try_lock().is_err() || !file.is_at(path) {
        return false;
    }
    match is_directory {
        true => remove_all(path),
        false => drop(remove(path)),
    }
    path.symlink_metadata().is_err()
}

impl File {
    /// Locks the file, or the directory, that was made at `path` if it has a name; `false` if it was taken for a leftover
    /// before. Where files cannot be locked, nothing is taken for one.
    pub(super) fn hold(&self, path: Option<&Path>) -> bool {
        // On other systems a lock keeps others from reading.
        if cfg!(unix) {
            let _ = self.try_lock();
        }
        path.is_none_or(|path| self.is_at(path))
    }

    /// Whether the file at `path` is this one.
    #[cfg(unix)]
    fn is_at(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let of_path = path.symlink_metadata().map(|it| (it.dev(), it.ino()));
        let own = self.0.metadata().map(|it| (it.dev(), it.ino()));
        matches!((of_path, own), (Ok(of_path), Ok(own)) if of_path == own)
    }

    #[cfg(not(unix))]
    fn is_at(&self, path: &Path) -> bool {
        path.exists()
    }
}

/// How files are opened that may be anything.
pub(super) fn without_links() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}

/// Whether this user has made what `metadata` is about.
#[cfg(unix)]
fn is_own(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &std::fs::Metadata) -> bool {
    false
}

/// Makes something at the temporary name of `path`, in place of a leftover; `None` if another run has it.
pub(super) fn make_at<T>(
    path: &Path,
    mut make: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<Option<(T, PathBuf)>> {
    let name = name_of(path);
    for is_first in [true, false] {
        match make(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !is_first || !remove_leftover(&name) {
                    return Ok(None);
                }
            }
            made => return made.map(|made| Some((made, name))),
        }
    }
    Ok(None)
}
