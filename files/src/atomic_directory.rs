//! Directories that get their name when all that is in them is whole.
//!
//! A [`AtomicDirectory`] is hidden beside the final one, and only its owner may look into it: nobody can put a link in place
//! of a file that is still being written. One rename gives it the name, also in place of an empty directory, whose access
//! it takes.

use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use super::File;
use super::{create_directory, list, partial, remove_all, rename, sync_directory};

const MOST_TRIES: u32 = 1_000;

/// A directory that is being filled and takes its name with [`AtomicDirectory::put`]. Dropped before, it is gone.
///
/// ```
/// use uriscan_files::AtomicDirectory;
/// # fn main() -> std::io::Result<()> {
/// let place = tempfile::tempdir()?;
/// let path = place.path().join("results");
/// let unfinished = AtomicDirectory::of_output(&path)?;
/// std::fs::write(unfinished.path().join("part"), "whole")?;
/// assert!(!path.exists());
/// unfinished.finish()?;
/// unfinished.put()?;
/// assert_eq!(std::fs::read(path.join("part"))?, b"whole");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AtomicDirectory {
    target: PathBuf,
    hidden: Hidden,
    #[cfg(unix)]
    access: Access,
}

/// A directory with a temporary name, which is removed when this is dropped.
#[derive(Debug)]
struct Hidden(PathBuf);

impl Drop for Hidden {
    fn drop(&mut self) {
        // After it was put in place, nothing has that name.
        remove_all(&self.0);
    }
}

/// The directory, which is locked, and who may do what with it in the end.
#[cfg(unix)]
#[derive(Debug)]
struct Access {
    directory: File,
    /// The empty directory that is replaced.
    old: Option<File>,
    mode: u32,
}

impl AtomicDirectory {
    /// Makes a directory that is to be the output at `path`, a path without links, where there may be an empty directory.
    ///
    /// A temporary name that a killed run has left for the same output is freed.
    ///
    /// # Errors
    /// When none can be made beside it.
    pub fn of_output(path: &Path) -> io::Result<AtomicDirectory> {
        for number in 0..MOST_TRIES {
            let hidden = match number {
                0 => partial::make_at(path, create_directory)?.map(|((), name)| name),
                // Another run writes the same output.
                _ => {
                    let name = partial::name_of(path);
                    let other = format!("{}-{number}", std::process::id());
                    let name = name.with_extension(format!("{other}{}", partial::SUFFIX));
                    match create_directory(&name) {
                        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
                        made => Some(made.map(|()| name)?),
                    }
                }
            };
            let Some(hidden) = hidden.map(Hidden) else { continue };
            if let Some(unfinished) = AtomicDirectory::begin(path, hidden)? {
                return Ok(unfinished);
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The one in the directory `hidden`, which was made for it; `None` if another run has taken that for a leftover.
    #[cfg(unix)]
    fn begin(path: &Path, hidden: Hidden) -> io::Result<Option<AtomicDirectory>> {
        use std::os::unix::fs::MetadataExt;
        let directory = match File::open(&hidden.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            directory => directory?,
        };
        if !directory.hold(Some(&hidden.0)) {
            return Ok(None);
        }
        let old = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            old => Some(old?),
        };
        let mode = directory.metadata()?.mode();
        // What is made in it belongs to the group that it will have. Its owner may be another one in the end only.
        let old_mode = old.as_ref().map(|old| old.metadata().map(|it| it.mode())).transpose()?;
        let gives_group = old_mode.is_some_and(|mode| mode & SET_GROUP != 0);
        let has_group = match &old {
            Some(old) if gives_group => directory.take_group_of(old)?,
            _ => false,
        };
        set_mode(&directory, if has_group { OWNER | SET_GROUP } else { OWNER })?;
        let access = Access { directory, old, mode };
        Ok(Some(AtomicDirectory { target: path.to_owned(), hidden, access }))
    }

    #[cfg(not(unix))]
    fn begin(path: &Path, hidden: Hidden) -> io::Result<Option<AtomicDirectory>> {
        Ok(Some(AtomicDirectory { target: path.to_owned(), hidden }))
    }

    /// The temporary name.
    pub fn path(&self) -> &Path {
        &self.hidden.0
    }

    /// Gives it its access, when nothing will be made in it any more, and waits until that and the names in it are on the disk.
    ///
    /// # Errors
    /// Those of the system.
    pub fn finish(&self) -> io::Result<()> {
        #[cfg(unix)]
        match &self.access {
            Access { directory, old: Some(old), .. } => directory.take_access_of(old)?,
            Access { directory, mode, .. } => set_mode(directory, mode & 0o7777)?,
        }
        sync_directory(self.path())
    }

    /// Gives it its name, in place of an empty directory.
    ///
    /// # Errors
    /// When it cannot be given; then what has it stays. [`io::ErrorKind::DirectoryNotEmpty`] if something is in that.
    pub fn put(self) -> io::Result<()> {
        rename(self.path(), &self.target).map_err(|error| {
            let is_taken = error.kind() == io::ErrorKind::AlreadyExists
                || list(&self.target).is_ok_and(|mut entries| entries.next().is_some());
            if is_taken { io::ErrorKind::DirectoryNotEmpty.into() } else { error }
        })
    }
}

#[cfg(unix)]
const OWNER: u32 = 0o700;

/// What is made in a directory with this bit belongs to the group of the directory.
#[cfg(unix)]
const SET_GROUP: u32 = 0o2000;

#[cfg(unix)]
fn set_mode(directory: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    directory.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Whether the directory at `path` is where a file system begins, so that nothing can replace it; `false` where that is not
/// known.
pub fn is_mount_point(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
        let found = statx(CWD, path, AtFlags::empty(), StatxFlags::empty());
        found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
    }
    #[cfg(all(unix, not(target_os = "linux")))]
    {
        use std::os::unix::fs::MetadataExt;
        let device = |path: &Path| path.metadata().map(|it| it.dev()).ok();
        path.parent().is_none_or(|parent| device(parent) != device(path))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}
