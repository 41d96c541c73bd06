//! Floor 0: files that get their name when they are whole.
//!
//! On Linux a [`Draft`] has no name while it is written (`O_TMPFILE`), so that the system removes it with the process,
//! however that ends. Where the system or the file system has no such files, it has a temporary name beside the final
//! one and is removed when it is dropped; a process that ends otherwise can remove [`Draft::temporary_path`] itself.
//!
//! A file that is replaced needs a temporary name for a moment everywhere, since no system call links over a file.

use std::fs::{File, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// What temporary names end in.
const SUFFIX: &str = ".partial";

/// Random characters of temporary names.
const RANDOM: usize = 6;

/// A file that is being written and takes its name with [`Draft::put`]. Dropped before, it is gone.
///
/// ```
/// use std::io::Write;
/// use uriscan::draft::Draft;
/// # fn main() -> std::io::Result<()> {
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("list");
/// std::fs::write(&path, "old")?;
/// let draft = Draft::new_in(directory.path(), ".list-")?;
/// draft.file().write_all(b"new")?;
/// assert_eq!(std::fs::read(&path)?, b"old");
/// draft.put(&path)?;
/// assert_eq!(std::fs::read(&path)?, b"new");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Draft {
    file: File,
    directory: PathBuf,
    prefix: &'static str,
    /// The name that it has for now.
    temporary: Option<TempPath>,
}

impl Draft {
    /// Makes a file in `directory`, readable and writable for everybody as far as the umask allows. If it needs a
    /// temporary name, that is `prefix`, six letters or digits, and `.partial`.
    ///
    /// # Errors
    /// When no file can be made there.
    pub fn new_in(directory: &Path, prefix: &'static str) -> io::Result<Draft> {
        let directory = directory.to_owned();
        if let Some(file) = unnamed(&directory)? {
            return Ok(Draft { file, directory, prefix, temporary: None });
        }
        let mut builder = named(prefix);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(Permissions::from_mode(0o666));
        }
        let (file, path) =
            builder.tempfile_in(&directory).map_err(|error| without_path(&error))?.into_parts();
        Ok(Draft { file, directory, prefix, temporary: Some(path) })
    }

    /// The file, for reading and writing.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The name that it has for now, if it has one.
    pub fn temporary_path(&self) -> Option<&Path> {
        self.temporary.as_deref()
    }

    /// Sets the permissions of the file.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        self.file.set_permissions(permissions)
    }

    /// Gives the file a temporary name beside the final one, after which little can go wrong with [`Draft::put`].
    ///
    /// # Errors
    /// When the directory takes no more names.
    pub fn name(&mut self) -> io::Result<()> {
        if self.temporary.is_none() {
            let link = |path: &Path| link(&self.file, path);
            let made = named(self.prefix)
                .make_in(&self.directory, link)
                .map_err(|error| without_path(&error))?;
            self.temporary = Some(made.into_temp_path());
        }
        Ok(())
    }

    /// The file, which is never to have a name: it lasts as long as it is open.
    ///
    /// # Errors
    /// When its temporary name cannot be removed.
    pub fn into_unnamed(self) -> io::Result<File> {
        self.temporary.map_or(Ok(()), TempPath::close)?;
        Ok(self.file)
    }

    /// Gives the file its name, in place of what has it now.
    ///
    /// # Errors
    /// When it cannot be given; then what has it stays.
    pub fn put(mut self, path: &Path) -> io::Result<()> {
        if self.temporary.is_none() {
            match link(&self.file, path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.name()?,
                result => return result,
            }
        }
        // Some systems do not rename what is open.
        drop(self.file);
        match self.temporary {
            Some(temporary) => temporary.persist(path).map_err(|error| error.error),
            None => Ok(()),
        }
    }
}

fn named(prefix: &'static str) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).rand_bytes(RANDOM).suffix(SUFFIX);
    builder
}

/// `error` without the path that `tempfile` adds, of which nobody has heard.
fn without_path(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or(error.kind().into(), io::Error::from_raw_os_error)
}

/// A file without a name that can be linked later; `None` where there is no such thing.
#[cfg(target_os = "linux")]
fn unnamed(directory: &Path) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(directory, flags, Mode::from_raw_mode(0o666)) {
        Ok(file) => {
            let file = File::from(file);
            // Without /proc it could never be linked.
            let can_be_linked = proc_path(&file).try_exists().unwrap_or(false);
            Ok(can_be_linked.then_some(file))
        }
        // No such flag in the kernel, or no such files in the file system.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

#[cfg(target_os = "linux")]
fn proc_path(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Gives the unnamed `file` the name `path`, which nothing may have.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, proc_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
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
            let draft = Draft::new_in(directory.path(), "x-").unwrap();
            draft.file().write_all(b"lost").unwrap();
            assert_eq!(draft.temporary_path().is_some(), names(directory.path()) != before);
            drop(draft);
            assert_eq!(names(directory.path()), before);
            let draft = Draft::new_in(directory.path(), "x-").unwrap();
            draft.file().write_all(text.as_bytes()).unwrap();
            draft.put(&path).unwrap();
            assert_eq!(
                (fs::read_to_string(&path).unwrap().as_str(), names(directory.path()).len()),
                (text, 1)
            );
        }
    }

    #[test]
    fn a_name_that_was_given_early_goes_away() {
        let directory = tempfile::tempdir().unwrap();
        let mut draft = Draft::new_in(directory.path(), "x-").unwrap();
        draft.name().unwrap();
        let temporary = draft.temporary_path().unwrap().to_owned();
        assert!(temporary.exists());
        draft.put(&directory.path().join("x")).unwrap();
        assert_eq!(names(directory.path()), ["x"]);
        let mut draft = Draft::new_in(directory.path(), "x-").unwrap();
        draft.name().unwrap();
        assert!(draft.put(&directory.path().join("no/where")).is_err());
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
        Draft::new_in(directory.path(), "x-").unwrap().put(&directory.path().join("x")).unwrap();
        assert_eq!(mode("x"), mode("plain"));
    }
}
