//! The one place through which files are opened, read, written, synced and named.
//!
//! A [`File`] is that of the standard library, and the functions do what those of `std::fs` do. They are here so that
//! tests can make any call fail and can record all calls: with the feature `fault-injection` each passes through
//! `faults`, and without it, as in every release, through nothing. `scripts/check-layers` finds what opens files
//! elsewhere.
//!
//! No call ends with [`io::ErrorKind::Interrupted`]: not every reader of the crates that read tables repeats it.
//!
//! Names that come from outside are shown by [`escape`]. The crate is a part of `uriscan`, and changes without notice.
//!
//! Questions about a path (`Path::metadata`, `Path::read_dir`) change nothing and are asked anywhere.

#[cfg(unix)]
mod access;
mod atomic_directory;
mod atomic_file;
mod descriptor;
pub mod escape;
#[cfg(feature = "fault-injection")]
pub mod faults;
mod links;
mod partial;
#[cfg(not(feature = "fault-injection"))]
mod plain;
mod small;
mod stored;

use std::fs::{self, Metadata, OpenOptions, Permissions, ReadDir, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

pub use atomic_directory::{AtomicDirectory, is_mount_point};
pub use atomic_file::AtomicFile;
pub use descriptor::Descriptor;
#[cfg(feature = "fault-injection")]
use faults::{call, opening, transfer};
pub use links::{MOST_LINKS, directory_of, followed};
#[cfg(not(feature = "fault-injection"))]
use plain::{call, opening, transfer};
pub use small::{Limited, read_limited, read_to_string};
pub use stored::Stored;

/// A call of the system, with what it is about.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "fault-injection"), allow(dead_code))]
enum Call<'a> {
    Open(&'a Path),
    Temporary,
    Unnamed,
    Look,
    List,
    Lock,
    SetPermissions,
    #[cfg_attr(not(unix), allow(dead_code))]
    SetOwner,
    Read,
    /// The bytes, and where they go if that is not the position of the file.
    Write(&'a fs::File, &'a [u8], Option<u64>),
    SetLen(&'a fs::File, u64),
    Sync(&'a fs::File),
    SyncDirectory(&'a Path),
    Link(&'a fs::File, &'a Path),
    Rename(&'a Path, &'a Path),
    Remove(&'a Path),
    CreateDirectory(&'a Path),
    RemoveDirectory(&'a Path),
}

/// An open file.
#[derive(Debug)]
pub struct File(fs::File);

impl File {
    /// Opens the file at `path` for reading.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
        File::open_with(path.as_ref(), OpenOptions::new().read(true))
    }

    /// Opens the file at `path`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open_with(path: &Path, options: &OpenOptions) -> io::Result<File> {
        opening(Call::Open(path), || options.open(path)).map(File)
    }

    /// Makes a file in `directory` that never has a name and lasts as long as it is open.
    ///
    /// # Errors
    /// Those of the system, without the name that the file would have had.
    pub fn temporary(directory: &Path) -> io::Result<File> {
        let make = || tempfile::tempfile_in(directory);
        unbroken(|| opening(Call::Temporary, make)).map(File).map_err(|error| without_path(&error))
    }

    /// Makes a file in `directory` that [`File::link`] can give a name; `None` where there is no such thing.
    #[cfg(target_os = "linux")]
    fn unnamed(directory: &Path, mode: u32) -> io::Result<Option<File>> {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let open = || Ok(rustix::fs::open(directory, flags, Mode::from_raw_mode(mode))?.into());
        match unbroken(|| opening(Call::Unnamed, open)) {
            Ok(file) => {
                // Without /proc it could never be linked.
                let can_be_linked = proc_path(&file).try_exists().unwrap_or(false);
                Ok(can_be_linked.then_some(File(file)))
            }
            Err(error) if is_unsupported(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn unnamed(_: &Path, _: u32) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// Gives a file that has no name the name `path`, which nothing may have.
    #[cfg(target_os = "linux")]
    fn link(&self, path: &Path) -> io::Result<()> {
        use rustix::fs::{AtFlags, CWD, linkat};
        let from = proc_path(&self.0);
        let link = || Ok(linkat(CWD, &from, CWD, path, AtFlags::SYMLINK_FOLLOW)?);
        unbroken(|| call(Call::Link(&self.0, path), link))
    }

    #[cfg(not(target_os = "linux"))]
    fn link(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The file, for readers of Parquet, which take no other. What they read passes by this module.
    pub fn into_plain(self) -> fs::File {
        self.0
    }

    /// What the system knows about the file.
    ///
    /// # Errors
    /// Those of the system.
    pub fn metadata(&self) -> io::Result<Metadata> {
        call(Call::Look, || self.0.metadata())
    }

    /// Another handle of the file, with the same position.
    ///
    /// # Errors
    /// Those of the system.
    pub fn try_clone(&self) -> io::Result<File> {
        call(Call::Look, || self.0.try_clone()).map(File)
    }

    /// Locks the file, if nobody else has.
    ///
    /// # Errors
    /// When somebody has, or the system cannot.
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        call(Call::Lock, || Ok(())).map_err(TryLockError::Error)?;
        self.0.try_lock()
    }

    /// Sets the permissions of the file.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        call(Call::SetPermissions, || self.0.set_permissions(permissions))
    }

    /// Makes the file so many bytes long.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_len(&self, len: u64) -> io::Result<()> {
        call(Call::SetLen(&self.0, len), || self.0.set_len(len))
    }

    /// Waits until the bytes of the file and its metadata are on the disk; its name may still not be.
    ///
    /// # Errors
    /// Those of the system; also those of earlier writes that were not known at that time.
    pub fn sync_all(&self) -> io::Result<()> {
        call(Call::Sync(&self.0), || self.0.sync_all())
    }

    /// Waits until the bytes of the file, and what is needed to read them, are on the disk.
    ///
    /// # Errors
    /// As [`File::sync_all`].
    pub fn sync_data(&self) -> io::Result<()> {
        call(Call::Sync(&self.0), || self.0.sync_data())
    }

    /// Reads at `offset` into the beginning of `bytes`; returns the number of bytes read.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::Unsupported`] where there are no positioned reads.
    pub fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileExt;
            unbroken(|| {
                transfer(Call::Read, bytes.len(), |len| self.0.read_at(&mut bytes[..len], offset))
            })
        }
        #[cfg(not(unix))]
        {
            let _ = (bytes, offset);
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Fills `bytes` with what is at `offset`.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::UnexpectedEof`] if the file ends before.
    #[cfg_attr(not(unix), allow(unused_mut))]
    pub fn read_exact_at(&self, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
        #[cfg(unix)]
        while !bytes.is_empty() {
            match self.read_at(bytes, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => (bytes, offset) = (&mut bytes[read..], offset + read as u64),
            }
        }
        #[cfg(not(unix))]
        self.sought(offset, |mut file| file.read_exact(bytes))?;
        Ok(())
    }

    /// Writes `bytes` at `offset`.
    ///
    /// # Errors
    /// Those of the system.
    #[cfg_attr(not(unix), allow(unused_mut))]
    pub fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        #[cfg(unix)]
        while !bytes.is_empty() {
            use std::os::unix::fs::FileExt;
            let write = || {
                let call = Call::Write(&self.0, bytes, Some(offset));
                transfer(call, bytes.len(), |len| self.0.write_at(&bytes[..len], offset))
            };
            match unbroken(write)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => (bytes, offset) = (&bytes[written..], offset + written as u64),
            }
        }
        #[cfg(not(unix))]
        self.sought(offset, |mut file| file.write_all(bytes))?;
        Ok(())
    }

    /// Calls `call` at `offset`: without positioned reads and writes, one thread at a time seeks.
    #[cfg(not(unix))]
    fn sought(&self, offset: u64, call: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        static SEEKING: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _alone = SEEKING.lock();
        let mut file = self;
        file.seek(SeekFrom::Start(offset))?;
        call(self)
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for File {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A descriptor that the process was started with.
#[cfg(unix)]
impl From<std::os::fd::OwnedFd> for File {
    fn from(descriptor: std::os::fd::OwnedFd) -> File {
        File(descriptor.into())
    }
}

impl Read for &File {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        unbroken(|| transfer(Call::Read, bytes.len(), |len| (&self.0).read(&mut bytes[..len])))
    }
}

impl Write for &File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let call = Call::Write(&self.0, bytes, None);
        unbroken(|| transfer(call, bytes.len(), |len| (&self.0).write(&bytes[..len])))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for &File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&self.0).seek(to)
    }
}

impl Read for File {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (&*self).read(bytes)
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// Renames `from` to `to`, in place of what is there.
///
/// # Errors
/// Those of the system.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    call(Call::Rename(from, to), || fs::rename(from, to))
}

/// Removes the file at `path`.
///
/// # Errors
/// Those of the system.
pub fn remove(path: &Path) -> io::Result<()> {
    call(Call::Remove(path), || fs::remove_file(path))
}

/// Creates the directory `path`, whose parent exists.
///
/// # Errors
/// Those of the system, and those of [`followed`].
pub fn create_directory(path: &Path) -> io::Result<()> {
    followed(path)?;
    call(Call::CreateDirectory(path), || fs::create_dir(path))
}

/// Removes the directory `path`, which is empty.
///
/// # Errors
/// Those of the system.
pub fn remove_directory(path: &Path) -> io::Result<()> {
    call(Call::RemoveDirectory(path), || fs::remove_dir(path))
}

/// Removes the directory `path` and all that is in it, as far as that is possible. Links are not followed.
pub fn remove_all(path: &Path) {
    // Each with whether its content is already on the stack.
    let mut left = vec![(path.to_owned(), false)];
    while let Some((path, is_listed)) = left.pop() {
        if is_listed {
            let _ = remove_directory(&path);
            continue;
        }
        let Ok(entries) = list(&path) else { continue };
        left.push((path, true));
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => left.push((entry.path(), false)),
                _ => drop(remove(&entry.path())),
            }
        }
    }
}

/// What is in the directory `path`.
///
/// # Errors
/// Those of the system.
pub fn list(path: &Path) -> io::Result<ReadDir> {
    call(Call::List, || path.read_dir())
}

/// Waits until the names in the directory `path` are on the disk. Where a directory cannot be opened, they are as
/// durable as the system makes them.
///
/// # Errors
/// Those of the system.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    call(Call::SyncDirectory(path), || fs::File::open(path)?.sync_all())
}

/// Waits until all that was written to the file system of the directory `path` is on the disk, by anybody; `false` where the
/// system has no call for that.
///
/// # Errors
/// Those of the system.
pub fn sync_file_system(path: &Path) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    call(Call::SyncDirectory(path), || Ok(rustix::fs::syncfs(fs::File::open(path)?)?))?;
    let _ = path;
    Ok(cfg!(target_os = "linux"))
}

/// Bytes that may be written in `directory`, if the system reports it.
pub fn free_bytes(directory: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let of = rustix::fs::statvfs(directory).ok()?;
        of.f_bavail.checked_mul(of.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = directory;
        None
    }
}

/// Repeats `call` until no signal interrupts it.
fn unbroken<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// `error` without the path that `tempfile` adds, which no user chose.
fn without_path(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or(error.kind().into(), io::Error::from_raw_os_error)
}

/// Whether the kernel or the file system has no files without names.
#[cfg(target_os = "linux")]
fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL))
}

#[cfg(target_os = "linux")]
fn proc_path(file: &fs::File) -> std::path::PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}
