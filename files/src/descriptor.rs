//! Names of open descriptors, such as `/dev/stdout`, `/dev/fd/3` and `/proc/self/fd/3`.
//!
//! They are known by what they are, not by how they are spelt: an entry of a directory of descriptors, reached through any
//! links. What is opened by such a name is what the descriptor is, as it was opened: its position, whether it appends,
//! and what it does not allow.

use std::io;
use std::path::{Path, PathBuf};

use super::File;
use super::links::{MOST_LINKS, directory_of};

/// An open descriptor that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Its directory, without links.
    directory: PathBuf,
    number: i32,
}

impl Descriptor {
    /// The descriptor that `path` names, also through links; whether it is open is not asked.
    pub fn at(path: &Path) -> Option<Descriptor> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let parent = directory_of(&path);
            if let Some(number) = path.file_name().and_then(number) {
                let directory = parent.canonicalize().ok()?;
                if has_descriptors(&directory) {
                    return Some(Descriptor { directory, number });
                }
            }
            let target = path.read_link().ok()?;
            path = parent.join(target);
        }
        None
    }

    /// Whether it is the standard output of this process.
    pub fn is_stdout(&self) -> bool {
        self.number == 1 && self.is_own()
    }

    /// Another handle of it, for writing.
    ///
    /// # Errors
    /// When it is not open, or not for writing; when it is one of another process, and how that writes cannot be kept.
    pub fn file(&self) -> io::Result<File> {
        let file = if self.is_own() { self.duplicate() } else { self.reopen() }?;
        match is_writable(&file)? {
            true => Ok(file),
            false => Err(refused("is a descriptor that is not open for writing")),
        }
    }

    fn is_own(&self) -> bool {
        let is = |directory: &str| {
            Path::new(directory).canonicalize().is_ok_and(|found| found == self.directory)
        };
        // All threads have the same ones.
        let is_thread = |process: PathBuf| self.directory.starts_with(process.join("task"));
        is("/proc/self/fd")
            || is("/dev/fd")
            || Path::new("/proc/self").canonicalize().is_ok_and(is_thread)
    }

    #[cfg(unix)]
    fn duplicate(&self) -> io::Result<File> {
        use std::os::fd::AsFd;
        let owned = match self.number {
            0 => io::stdin().as_fd().try_clone_to_owned(),
            1 => io::stdout().as_fd().try_clone_to_owned(),
            2 => io::stderr().as_fd().try_clone_to_owned(),
            number => match duplicate(number) {
                // A sandbox may not allow it.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return self.reopen();
                }
                Err(error) if error.kind() == io::ErrorKind::Unsupported => return self.reopen(),
                duplicated => duplicated,
            },
        };
        owned.map(File::from)
    }

    #[cfg(not(unix))]
    fn duplicate(&self) -> io::Result<File> {
        self.reopen()
    }

    /// What the descriptor is, opened again. A file is opened again only if all writes to it go to its end: it has another
    /// position then, and each would write over what the other has written.
    #[cfg(target_os = "linux")]
    fn reopen(&self) -> io::Result<File> {
        use std::fs::OpenOptions;

        use rustix::fs::OFlags;
        let path = self.directory.join(self.number.to_string());
        let metadata = path.metadata()?;
        let information = self.directory.with_file_name("fdinfo").join(self.number.to_string());
        let information = super::read_to_string(information)?;
        let flags = information.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        let flags = OFlags::from_bits_retain(flags.ok_or(io::ErrorKind::InvalidData)?);
        if flags & OFlags::ACCMODE == OFlags::RDONLY {
            return Err(refused("is a descriptor that is not open for writing"));
        }
        if metadata.is_file() && !flags.contains(OFlags::APPEND) {
            let what = "is a file that another process writes to; name the file itself, or open it for appending";
            return Err(refused(what));
        }
        File::open_with(&path, OpenOptions::new().append(true))
    }

    /// Opening the name is what duplicates it here.
    #[cfg(not(target_os = "linux"))]
    fn reopen(&self) -> io::Result<File> {
        let path = self.directory.join(self.number.to_string());
        File::open_with(&path, std::fs::OpenOptions::new().write(true))
    }
}

/// The number that is the name of a descriptor.
fn number(name: &std::ffi::OsStr) -> Option<i32> {
    let number: u32 = name.to_str()?.parse().ok()?;
    let number = i32::try_from(number).ok()?;
    (name == number.to_string().as_str()).then_some(number)
}

fn refused(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Whether the entries of `directory` are descriptors.
#[cfg(target_os = "linux")]
fn has_descriptors(directory: &Path) -> bool {
    let is_of_processes =
        || rustix::fs::statfs(directory).is_ok_and(|of| of.f_type == rustix::fs::PROC_SUPER_MAGIC);
    directory.file_name().is_some_and(|name| name == "fd") && is_of_processes()
}

#[cfg(not(target_os = "linux"))]
fn has_descriptors(directory: &Path) -> bool {
    cfg!(unix) && directory == Path::new("/dev/fd")
}

#[cfg(target_os = "linux")]
fn duplicate(number: i32) -> io::Result<std::os::fd::OwnedFd> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let own = pidfd_open(getpid(), PidfdFlags::empty())?;
    Ok(pidfd_getfd(own, number, PidfdGetfdFlags::empty())?)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn duplicate(_: i32) -> io::Result<std::os::fd::OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn is_writable(file: &File) -> io::Result<bool> {
    use std::os::fd::AsFd;

    use rustix::fs::{OFlags, fcntl_getfl};
    Ok(fcntl_getfl(file.as_fd())? & OFlags::ACCMODE != OFlags::RDONLY)
}

#[cfg(not(unix))]
fn is_writable(_: &File) -> io::Result<bool> {
    Ok(true)
}
