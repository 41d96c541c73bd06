//! The directory of a set: opening its files, the lock, the check before a set is created, and the
//! removal of files that killed writers have left.
//!
//! Its contents are not trusted. Only regular files are opened, no symbolic link below the
//! directory is followed, and nothing is removed except regular files with names of exactly the
//! form that writers use, in a directory whose file `set` is that of a set.

use std::fs::{OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use super::error::{At, Fault, SetError};
use super::file::{is_absence, open, open_with, read_up_to};
use super::names::{self, BEGUN};
use uriscan_files::{self as files, AtomicFile, File};

/// Locks the set in `directory` for writing, until the returned file is dropped.
///
/// # Errors
/// [`Fault::Busy`] if another process holds the lock; if the file cannot be locked, or another user has put a link to the
/// directory where all can write.
pub(super) fn lock(directory: &Path) -> Result<File, SetError> {
    files::followed(directory).at(directory)?;
    let path = directory.join(names::LOCK);
    let file = open_with(&path, OpenOptions::new().create(true).truncate(false).write(true))?;
    match file.try_lock() {
        // The previous holder may have removed it.
        Ok(()) if is_at(&file, &path).at(&path)? => Ok(file),
        Ok(()) | Err(TryLockError::WouldBlock) => Err(SetError::new(directory, Fault::Busy)),
        Err(TryLockError::Error(error)) => Err(SetError::new(&path, Fault::Io(error))),
    }
}

/// Locks `directory`, in which a set may be created, and makes it if there is none.
///
/// # Errors
/// Those of [`lock`] and [`expect_free`]; if the directory cannot be made.
pub(super) fn claim(directory: &Path) -> Result<File, SetError> {
    let is_made = match files::create_directory(directory) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            expect_free(directory)?;
            false
        }
        Err(error) => return Err(SetError::new(directory, Fault::Io(error))),
    };
    // Another process may have created a set before this one had the lock.
    let claimed = lock(directory).and_then(|lock| expect_free(directory).map(|()| lock));
    if is_made && matches!(claimed, Err(SetError { fault: Fault::Io(_), .. })) {
        let _ = files::remove(&directory.join(names::LOCK));
        // It stays if another process has put something there.
        let _ = files::remove_directory(directory);
    }
    claimed
}

/// Whether `path` is the name of `file`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let file = file.metadata()?;
    let named = path.symlink_metadata();
    Ok(named.is_ok_and(|named| (file.dev(), file.ino()) == (named.dev(), named.ino())))
}

/// On other systems, an open file cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Checks that a set may be created in `directory`: it is empty, or the creation of a set was
/// started there and never finished. A writer that is killed before it has written the file `set`
/// leaves only an empty `lock` and perhaps a prefix of `set`; such a directory counts as empty.
///
/// # Errors
/// [`Fault::Exists`] if there is a set or a file; [`Fault::NotEmpty`] if the directory holds other
/// files.
pub(super) fn expect_free(directory: &Path) -> Result<(), SetError> {
    let entries = match files::list(directory) {
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

/// Why there is no set in `directory`, whose file `set` is missing, or has the text `said`, which is the beginning of
/// [`BEGUN`].
pub(super) fn vacancy(directory: &Path, said: Option<&str>) -> SetError {
    look(directory, said).unwrap_or_else(|error| error)
}

/// [`vacancy`]; the error is that of looking.
fn look(directory: &Path, said: Option<&str>) -> Result<SetError, SetError> {
    let fault = |fault| Ok(SetError::new(directory, fault));
    if said == Some(BEGUN) {
        return fault(Fault::Empty { is_begun: true });
    }
    match directory.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return fault(Fault::Absent),
        metadata => {
            if !metadata.at(directory)?.is_dir() {
                return fault(Fault::NotASet { what: "it is a file, and a set is a directory" });
            }
        }
    }
    let (mut is_begun, mut is_other) = (said.is_some(), false);
    for entry in files::list(directory).at(directory)? {
        let name = entry.at(directory)?.file_name();
        // Such files come after all of the text is on the disk.
        if name.to_str().is_some_and(names::is_of_run) {
            let (what, at) = match said {
                None => ("this file of the set is missing", 0),
                Some(said) => ("it ends too early", said.len()),
            };
            return Ok(SetError::damaged(&directory.join(names::MANIFEST), what, at as u64));
        }
        is_begun |= name == names::LOCK;
        is_other |= name != names::LOCK && (said.is_none() || name != names::MANIFEST);
    }
    match is_other {
        true => fault(Fault::NotASet { what: "this directory holds other files" }),
        false => fault(Fault::Empty { is_begun }),
    }
}

/// The beginning of the file `set` at `path`, as far as it decides whether there is a set; `None`
/// without a file.
fn said(path: &Path) -> Result<Option<Vec<u8>>, SetError> {
    match open(path) {
        Ok(file) => read_up_to(file, BEGUN.len() as u64 + 1).map(Some).at(path),
        Err(SetError { fault: Fault::Io(error), .. }) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Records in the file `set` that a set is being created in `directory`, which holds none; needs
/// the lock. On return that is on the disk: without it, other files would be taken for somebody else's.
pub(super) fn begin(directory: &Path) -> Result<(), SetError> {
    let path = directory.join(names::MANIFEST);
    let mut file = open_with(&path, OpenOptions::new().create(true).truncate(false).write(true))?;
    file.write_all(BEGUN.as_bytes()).and_then(|()| file.sync_all()).at(&path)?;
    files::sync_directory(directory).at(directory)
}

/// For a process that exits without dropping its [`SetWriter`](super::SetWriter), whose gate it holds: removes the set in
/// `directory` if its creation was started and not completed, and otherwise the partial files of a writer.
pub fn abandon(directory: &Path) {
    // Nobody is left to report to, and the next writer removes what stays.
    let _ = match said(&directory.join(names::MANIFEST)) {
        Ok(Some(said)) if said == BEGUN.as_bytes() => clear(directory),
        _ => remove_where(directory, &|name, _| is_partial(name)),
    };
}

/// A file to be one of the set in `directory`, with a temporary name that begins with `prefix`. Who may not read a file of
/// keys or times that is there may not read this one, nor who may not read the file `set`.
pub(super) fn draft(directory: &Path, prefix: &'static str) -> Result<AtomicFile, SetError> {
    let draft = AtomicFile::new_in(directory, prefix).at(directory)?;
    draft.keep_access_of(&directory.join(names::MANIFEST)).at(directory)?;
    for entry in files::list(directory).at(directory)? {
        let entry = entry.at(directory)?;
        if entry.file_name().to_str().is_some_and(names::is_of_run) {
            draft.take_no_more_access_than(&entry.metadata().at(directory)?).at(directory)?;
        }
    }
    Ok(draft)
}

/// Removes the files of a set whose creation was started, and the directory if it is then empty;
/// needs the lock.
pub(super) fn clear(directory: &Path) -> Result<(), SetError> {
    sweep(directory, &[])?;
    // No other file is there without the file `set`, even if the system crashes.
    let synced = files::sync_directory(directory);
    // If the process is killed from here on, [`expect_free`] ignores what remains.
    remove(&directory.join(names::MANIFEST))?;
    remove(&directory.join(names::LOCK))?;
    let _ = files::remove_directory(directory);
    synced.at(directory)
}

/// Removes the files that killed writers have left in `directory`, except the files `kept`; needs
/// the lock, and a file `set` that is that of a set.
pub(super) fn sweep(directory: &Path, kept: &[&Path]) -> Result<(), SetError> {
    remove_where(directory, &|name, path| {
        is_partial(name) || names::is_of_run(name) && !kept.contains(&path)
    })
}

fn is_partial(name: &str) -> bool {
    [names::NEW, names::NEW_MANIFEST].iter().any(|prefix| names::is_temporary(name, prefix))
}

/// Removes regular files of `directory`.
fn remove_where(directory: &Path, is_left: &dyn Fn(&str, &Path) -> bool) -> Result<(), SetError> {
    for entry in files::list(directory).at(directory)? {
        let entry = entry.at(directory)?;
        let (path, kind) = (entry.path(), entry.file_type().at(directory)?);
        let name = entry.file_name();
        // The names of sets are ASCII.
        let Some(name) = name.to_str() else { continue };
        if kind.is_file() && is_left(name, &path) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Removes the file at `path`, if it exists.
pub(super) fn remove(path: &Path) -> Result<(), SetError> {
    match files::remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SetError::new(path, Fault::Io(error)))
        }
        _ => Ok(()),
    }
}
