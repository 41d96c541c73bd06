//! Files that get their name when they are whole.
//!
//! On Linux a [`AtomicFile`] has no name while it is written (`O_TMPFILE`), so that the system removes it with the process,
//! however that ends. Where the system or the file system has no such files, it has a temporary name beside the final
//! one and is removed when it is dropped; a process that ends otherwise can remove [`AtomicFile::temporary_path`] itself.
//!
//! A file that is replaced needs a temporary name for a moment everywhere, since no system call links over a file.

use std::fs::{Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::links::directory_of;
use super::partial::{self, PREFIX, SUFFIX};
use super::{File, remove, rename, without_path};

/// Random characters of temporary names.
const RANDOM: usize = 6;

/// A file that is being written and takes its name with [`AtomicFile::put`]. Dropped before, it is gone.
///
/// ```
/// use std::io::Write;
/// use uriscan_files::AtomicFile;
/// # fn main() -> std::io::Result<()> {
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("list");
/// std::fs::write(&path, "old")?;
/// let unfinished = AtomicFile::new_in(directory.path(), ".list-")?;
/// unfinished.file().write_all(b"new")?;
/// assert_eq!(std::fs::read(&path)?, b"old");
/// unfinished.put(&path)?;
/// assert_eq!(std::fs::read(&path)?, b"new");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    directory: PathBuf,
    prefix: &'static str,
    /// The output that it is to be, whose temporary name it takes if no other run has that.
    target: Option<PathBuf>,
    /// The name that it has for now.
    temporary: Option<TemporaryName>,
}

/// A name that is removed when this is dropped.
#[derive(Debug)]
struct TemporaryName(PathBuf);

impl TemporaryName {
    /// The name, which is not removed any more.
    fn into_path(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // Where that is impossible, nobody is left to report to.
            let _ = remove(&self.0);
        }
    }
}

impl AtomicFile {
    /// Makes a file in `directory`, readable and writable for everybody as far as the umask allows. If it needs a
    /// temporary name, that is `prefix`, six letters or digits, and `.partial`.
    ///
    /// # Errors
    /// When no file can be made there.
    pub fn new_in(directory: &Path, prefix: &'static str) -> io::Result<AtomicFile> {
        AtomicFile::made(directory.to_owned(), prefix, None, ALL)
    }

    /// Makes a file that is to be the output at `path`, in place of the file `old` if that is there. It has the access of
    /// that file then, as far as that gives no one more; else that of any new file.
    ///
    /// A temporary name that a killed run has left for the same output is freed.
    ///
    /// # Errors
    /// When no file can be made there, or cannot be given its access.
    pub fn of_output(path: &Path, old: Option<&File>) -> io::Result<AtomicFile> {
        let directory = directory_of(path).to_owned();
        partial::remove_leftover(&partial::name_of(path));
        let mode = if old.is_some() { OWNER } else { ALL };
        let unfinished = AtomicFile::made(directory, PREFIX, Some(path.to_owned()), mode)?;
        #[cfg(unix)]
        if let Some(old) = old {
            unfinished.file.take_access_of(old)?;
        }
        Ok(unfinished)
    }

    /// An unfinished file with this mode, as far as the umask allows.
    fn made(
        directory: PathBuf,
        prefix: &'static str,
        target: Option<PathBuf>,
        mode: u32,
    ) -> io::Result<AtomicFile> {
        let unnamed = File::unnamed(&directory, mode)?;
        if let Some(file) = unnamed {
            // Before it has a name that others see.
            file.hold(None);
            return Ok(AtomicFile { file, directory, prefix, target, temporary: None });
        }
        let options = new_file(mode);
        let make = |path: &Path| {
            let file = File::open_with(path, &options)?;
            let is_held = file.hold(Some(path));
            if is_held { Ok(file) } else { Err(io::ErrorKind::AlreadyExists.into()) }
        };
        let (file, temporary) = named(&directory, prefix, target.as_deref(), make)?;
        Ok(AtomicFile { file, directory, prefix, target, temporary: Some(temporary) })
    }

    /// The file, for reading and writing.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The name that it has for now, if it has one.
    pub fn temporary_path(&self) -> Option<&Path> {
        self.temporary.as_ref().map(|name| &*name.0)
    }

    /// Gives the file the access of the one at `path`, if there is one, as far as that gives no one more.
    ///
    /// # Errors
    /// Those of the system.
    pub fn keep_access_of(&self, path: &Path) -> io::Result<()> {
        #[cfg(unix)]
        match File::open_with(path, &partial::without_links()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            old => self.file.take_access_of(&old?)?,
        }
        #[cfg(not(unix))]
        let _ = path;
        Ok(())
    }

    /// Takes from group and others what the file with this metadata does not allow them.
    ///
    /// # Errors
    /// Those of the system.
    pub fn take_no_more_access_than(&self, other: &Metadata) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::fs::Permissions;
            use std::os::unix::fs::PermissionsExt;
            let mode = self.file.metadata()?.permissions().mode() & 0o777;
            let kept = mode & (other.permissions().mode() | OWNER);
            if kept != mode {
                self.file.set_permissions(Permissions::from_mode(kept))?;
            }
        }
        #[cfg(not(unix))]
        let _ = other;
        Ok(())
    }

    /// Gives the file a temporary name beside the final one, after which little can go wrong with [`AtomicFile::put`].
    ///
    /// # Errors
    /// When the directory takes no more names.
    pub fn name(&mut self) -> io::Result<()> {
        if self.temporary.is_none() {
            let link = |path: &Path| self.file.link(path);
            let (_, made) = named(&self.directory, self.prefix, self.target.as_deref(), link)?;
            self.temporary = Some(made);
        }
        Ok(())
    }

    /// The file, which is never to have a name: it lasts as long as it is open.
    ///
    /// # Errors
    /// When its temporary name cannot be removed.
    pub fn into_unnamed(self) -> io::Result<File> {
        if let Some(temporary) = self.temporary {
            remove(&temporary.into_path())?;
        }
        Ok(self.file)
    }

    /// Gives the file its name, in place of what has it now.
    ///
    /// # Errors
    /// When it cannot be given; then what has it stays.
    pub fn put(mut self, path: &Path) -> io::Result<()> {
        if self.temporary.is_none() {
            match self.file.link(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.name()?,
                result => return result,
            }
        }
        // Some systems do not rename what is open. On others it is open, and locked, until it has its name.
        let _held = cfg!(unix).then_some(self.file);
        match self.temporary {
            Some(temporary) => {
                rename(&temporary.0, path)?;
                temporary.into_path();
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Modes of new files: for everybody, and for the owner.
const ALL: u32 = 0o666;
const OWNER: u32 = 0o600;

fn new_file(mode: u32) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options
}

/// What `make` makes at the temporary name of `target`, or at one in `directory` that nothing has.
fn named<T>(
    directory: &Path,
    prefix: &str,
    target: Option<&Path>,
    mut make: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<(T, TemporaryName)> {
    let of_target = target.map(|target| partial::make_at(target, &mut make)).transpose()?;
    if let Some((made, path)) = of_target.flatten() {
        return Ok((made, TemporaryName(path)));
    }
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(prefix).rand_bytes(RANDOM).suffix(SUFFIX);
    let made = builder.make_in(directory, make).map_err(|error| without_path(&error))?;
    let (made, path) = made.into_parts();
    // From here on it is removed as everything is.
    let path = path.keep().map_err(|error| error.error)?;
    Ok((made, TemporaryName(path)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_draft_is_nothing_until_it_is_put() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        for text in ["one", "other"] {
            let before = names(directory.path());
            let unfinished = AtomicFile::new_in(directory.path(), "x-").unwrap();
            unfinished.file().write_all(b"lost").unwrap();
            assert_eq!(unfinished.temporary_path().is_some(), names(directory.path()) != before);
            drop(unfinished);
            assert_eq!(names(directory.path()), before);
            let unfinished = AtomicFile::new_in(directory.path(), "x-").unwrap();
            unfinished.file().write_all(text.as_bytes()).unwrap();
            unfinished.put(&path).unwrap();
            assert_eq!(
                (fs::read_to_string(&path).unwrap().as_str(), names(directory.path()).len()),
                (text, 1)
            );
        }
    }

    #[test]
    fn a_name_that_was_given_early_goes_away() {
        let directory = tempfile::tempdir().unwrap();
        let mut unfinished = AtomicFile::new_in(directory.path(), "x-").unwrap();
        unfinished.name().unwrap();
        let temporary = unfinished.temporary_path().unwrap().to_owned();
        assert!(temporary.exists());
        unfinished.put(&directory.path().join("x")).unwrap();
        assert_eq!(names(directory.path()), ["x"]);
        let mut unfinished = AtomicFile::new_in(directory.path(), "x-").unwrap();
        unfinished.name().unwrap();
        assert!(unfinished.put(&directory.path().join("no/where")).is_err());
        assert_eq!(names(directory.path()), ["x"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_draft_has_the_permissions_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let mode =
            |name: &str| fs::metadata(directory.path().join(name)).unwrap().permissions().mode();
        fs::write(directory.path().join("plain"), "").unwrap();
        AtomicFile::new_in(directory.path(), "x-")
            .unwrap()
            .put(&directory.path().join("x"))
            .unwrap();
        assert_eq!(mode("x"), mode("plain"));
    }
}
