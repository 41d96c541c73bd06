//! The directory of a set: opening what is in it, the lock, what it may hold before a set is made in it, and the removal
//! of what writers that were killed have left.
//!
//! Whoever made the directory may have put anything in it. So only regular files are opened, no symbolic link is followed
//! below the directory, and nothing is removed but regular files with names of exactly the form that writers give, in a
//! directory whose file `set` is that of a set.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use super::error::{At, Fault, SetError};
use super::file::{is_absence, open, open_with, read_up_to};
use super::manifest::BEGUN;
use super::names;

/// Locks the set in `directory` for writing, until what this gives is dropped.
///
/// # Errors
/// [`Fault::Busy`] when somebody else has; when there can be no lock.
pub(super) fn lock(directory: &Path) -> Result<File, SetError> {
    let path = directory.join(names::LOCK);
    let file = open_with(&path, File::options().create(true).truncate(false).write(true))?;
    match file.try_lock() {
        // The one who held it may have removed it.
        Ok(()) if is_at(&file, &path) => Ok(file),
        Ok(()) | Err(TryLockError::WouldBlock) => Err(SetError::new(directory, Fault::Busy)),
        Err(TryLockError::Error(error)) => Err(SetError::new(&path, Fault::Io(error))),
    }
}

/// Whether `path` is the name of `file`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(file), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (file.dev(), file.ino()) == (named.dev(), named.ino())
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Sees to it that a set may be made in `directory`: it is empty, or a set was begun in it and never came to be. A writer
/// that is killed before it has said so in the file `set` leaves an empty `lock` and maybe the beginning of what `set`
/// was to say, and nothing else; that is as good as nothing.
///
/// # Errors
/// [`Fault::Exists`] when a set, or a file, is there; [`Fault::NotEmpty`] when other files are.
pub(super) fn expect_free(directory: &Path) -> Result<(), SetError> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(SetError::new(directory, Fault::Exists));
        }
        entries => entries.at(directory)?,
    };
    let said = said(&directory.join(names::MANIFEST))?;
    if said.as_deref() == Some(BEGUN.as_bytes()) {
        return Ok(());
    }
    if said.is_some_and(|said| !BEGUN.as_bytes().starts_with(&said)) {
        return Err(SetError::new(directory, Fault::Exists));
    }
    for entry in entries {
        let entry = entry.at(directory)?;
        let metadata = entry.metadata().at(directory)?;
        let name = entry.file_name();
        let is_lock = name == names::LOCK && metadata.is_file() && metadata.len() == 0;
        if !is_lock && name != names::MANIFEST {
            return Err(SetError::new(directory, Fault::NotEmpty));
        }
    }
    Ok(())
}

/// What the file `set` at `path` begins with, as far as that decides whether a set is there; `None` without a file.
fn said(path: &Path) -> Result<Option<Vec<u8>>, SetError> {
    match open(path) {
        Ok(file) => read_up_to(file, BEGUN.len() as u64 + 1).map(Some).at(path),
        Err(SetError { fault: Fault::Io(error), .. }) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Says in the file `set` that a set is being made in `directory`, in which there is none; needs the lock.
///
/// # Errors
/// When it cannot be written.
pub(super) fn begin(directory: &Path) -> Result<(), SetError> {
    let path = directory.join(names::MANIFEST);
    let mut file = open_with(&path, File::options().create(true).truncate(false).write(true))?;
    file.write_all(BEGUN.as_bytes()).at(&path)
}

/// For a process that ends without dropping its [`SetWriter`](super::SetWriter), whose gate it holds: removes the set in
/// `directory` if it was begun and never made, and otherwise what a writer has left beside it.
pub fn abandon(directory: &Path) {
    // Nobody is left to be told, and the next writer removes what stays.
    let _ = match said(&directory.join(names::MANIFEST)) {
        Ok(Some(said)) if said == BEGUN.as_bytes() => clear(directory),
        _ => remove_where(directory, &|name, _| is_partial(name)),
    };
}

/// Removes the files of a set that was begun, and the directory unless something else is in it; needs the lock.
///
/// # Errors
/// When a file cannot be removed.
pub(super) fn clear(directory: &Path) -> Result<(), SetError> {
    sweep(directory, &[])?;
    // What is left by a kill from here on, [`expect_free`] takes for nothing.
    remove(&directory.join(names::MANIFEST))?;
    remove(&directory.join(names::LOCK))?;
    let _ = fs::remove_dir(directory);
    Ok(())
}

/// Removes what writers that were killed have left in `directory`, all but the files `kept`; needs the lock, and `set`
/// to be the file of a set.
///
/// # Errors
/// When a file cannot be removed.
pub(super) fn sweep(directory: &Path, kept: &[&Path]) -> Result<(), SetError> {
    remove_where(directory, &|name, path| {
        is_partial(name) || names::is_of_run(name) && !kept.contains(&path)
    })
}

fn is_partial(name: &str) -> bool {
    [names::NEW, names::NEW_MANIFEST].iter().any(|prefix| names::is_temporary(name, prefix))
}

/// Removes regular files of `directory`, and of the directories in it in which earlier versions sorted keys.
fn remove_where(directory: &Path, is_left: &dyn Fn(&str, &Path) -> bool) -> Result<(), SetError> {
    for entry in fs::read_dir(directory).at(directory)? {
        let entry = entry.at(directory)?;
        let (path, kind) = (entry.path(), entry.file_type().at(directory)?);
        let name = entry.file_name();
        // Our names are ASCII.
        let Some(name) = name.to_str() else { continue };
        if kind.is_dir() && names::is_temporary(name, names::SORT) {
            remove_where(&path, is_left)?;
            // Whatever else somebody has put there stays.
            let _ = fs::remove_dir(&path);
        }
        if kind.is_file() && is_left(name, &path) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Removes the file at `path`, if there is one.
///
/// # Errors
/// When it cannot be removed.
pub(super) fn remove(path: &Path) -> Result<(), SetError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SetError::new(path, Fault::Io(error)))
        }
        _ => Ok(()),
    }
}
