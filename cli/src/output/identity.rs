//! Which file a path names: by device and inode, so that links and descriptors do not hide it, or by its directory and
//! name if there is no file yet.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use uriscan_files::{File, MOST_LINKS, directory_of};

use super::destination::is_dash;
use crate::remote::Url;

/// A file, whatever it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileId {
    #[cfg(unix)]
    Inode(u64, u64),
    Path(PathBuf),
    Remote(String),
}

impl FileId {
    /// The file at `path`, or the one that would be made there; `None` if its directory is missing.
    pub(crate) fn of(path: &Path) -> Option<FileId> {
        #[cfg(unix)]
        if let Ok(metadata) = path.metadata() {
            return Some(FileId::of_metadata(&metadata));
        }
        canonical(path).ok().map(FileId::Path)
    }

    /// Standard input, if it is a regular file.
    pub(crate) fn of_stdin() -> Option<FileId> {
        stream_id(stdin_metadata().filter(Metadata::is_file))
    }

    /// What can be read only once, such as a pipe: the one at `path`, where `-` is standard input.
    #[cfg(unix)]
    pub(crate) fn of_stream(path: &Path) -> Option<FileId> {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let metadata = if is_dash(path) { stdin_metadata() } else { path.metadata().ok() }?;
        let kind = metadata.file_type();
        let null = || Path::new("/dev/null").metadata().ok().map(|null| null.rdev());
        let is_stream = kind.is_fifo()
            || kind.is_socket()
            || kind.is_char_device() && Some(metadata.rdev()) != null();
        is_stream.then(|| FileId::of_metadata(&metadata))
    }

    #[cfg(not(unix))]
    pub(crate) fn of_stream(path: &Path) -> Option<FileId> {
        is_dash(path).then(|| FileId::Path(path.to_owned()))
    }

    pub(crate) fn of_remote(url: &Url) -> FileId {
        FileId::Remote(url.address())
    }

    #[cfg(unix)]
    pub(crate) fn of_metadata(metadata: &Metadata) -> FileId {
        use std::os::unix::fs::MetadataExt;
        FileId::Inode(metadata.dev(), metadata.ino())
    }
}

/// What standard input or output is, by its metadata.
#[cfg(unix)]
pub(super) fn stream_id(metadata: Option<Metadata>) -> Option<FileId> {
    metadata.map(|it| FileId::of_metadata(&it))
}

#[cfg(not(unix))]
pub(super) fn stream_id(_: Option<Metadata>) -> Option<FileId> {
    None
}

/// The path without links, also of a file that does not exist.
fn canonical(path: &Path) -> io::Result<PathBuf> {
    let path = target_of(path);
    path.canonicalize().or_else(|_| {
        let directory = directory_of(&path).canonicalize()?;
        let name = path.file_name().unwrap_or_default();
        // Where case makes no difference, it makes none for a file that is not there yet.
        let name = match cfg!(any(windows, target_os = "macos")) {
            true => name.to_string_lossy().to_lowercase().into(),
            false => name.to_owned(),
        };
        Ok(directory.join(name))
    })
}

/// What the links at `path` lead to, which need not exist.
pub(super) fn target_of(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = path.read_link() else { break };
        path = directory_of(&path).join(target);
    }
    path
}

/// Metadata of standard input or standard output, if known.
#[cfg(unix)]
fn metadata_of(stream: &impl std::os::fd::AsFd) -> Option<Metadata> {
    File::from(stream.as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

#[cfg(not(unix))]
fn metadata_of<T>(_: &T) -> Option<Metadata> {
    None
}

pub(super) fn stdin_metadata() -> Option<Metadata> {
    metadata_of(&io::stdin())
}

pub(super) fn stdout_metadata() -> Option<Metadata> {
    metadata_of(&io::stdout())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_files_are_seen_through_their_names() {
        let directory = tempfile::tempdir().unwrap();
        let id = |name: &str| FileId::of(&directory.path().join(name));
        std::fs::write(directory.path().join("there"), "").unwrap();
        assert_eq!(id("there"), id("./there"));
        assert_eq!(id("new"), id("./new"));
        assert_ne!(id("there"), id("new"));
        assert_eq!(id("nowhere/new"), None, "cannot be opened anyway");
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_files_that_are_not_there_yet() {
        use std::os::unix::fs::symlink;
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        symlink("new", at("link")).unwrap();
        symlink("link", at("further")).unwrap();
        assert_eq!(FileId::of(&at("further")), FileId::of(&at("new")));
        symlink("loop", at("loop")).unwrap();
        assert_ne!(FileId::of(&at("loop")), FileId::of(&at("new")));
    }
}
