//! What calls change on the disk, as lines of text.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf, absolute};
use std::str::FromStr;

use crate::Call;

/// A change of the disk. Files have the numbers of the file system; paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The file at the path was opened; it was made if there was none.
    Opened(u64, PathBuf),
    /// A file without a name was made.
    Made(u64),
    /// These bytes were written at this position.
    Wrote(u64, u64, Vec<u8>),
    /// The file got this length.
    Resized(u64, u64),
    /// The bytes of the file are on the disk.
    Synced(u64),
    /// The names in the directory are on the disk.
    SyncedDirectory(PathBuf),
    /// The file got a name.
    Linked(u64, PathBuf),
    /// What had the first name has the second one.
    Renamed(PathBuf, PathBuf),
    /// The file lost its name.
    Removed(PathBuf),
    /// The directory was created.
    CreatedDirectory(PathBuf),
    /// The directory was removed.
    RemovedDirectory(PathBuf),
}

impl Event {
    /// The change that `call` has made, which wrote so many bytes, if it is one.
    pub(super) fn of(call: Call<'_>, written: usize) -> Option<Event> {
        Some(match call {
            Call::Write(file, bytes, Some(at)) => {
                Event::Wrote(number(file), at, bytes[..written].to_vec())
            }
            Call::SetLen(file, len) => Event::Resized(number(file), len),
            Call::Sync(file) => Event::Synced(number(file)),
            Call::SyncDirectory(path) => Event::SyncedDirectory(whole(path)),
            Call::Link(file, path) => Event::Linked(number(file), whole(path)),
            Call::Rename(from, to) => Event::Renamed(whole(from), whole(to)),
            Call::Remove(path) => Event::Removed(whole(path)),
            Call::CreateDirectory(path) => Event::CreatedDirectory(whole(path)),
            Call::RemoveDirectory(path) => Event::RemovedDirectory(whole(path)),
            _ => return None,
        })
    }

    /// The same for a call that opened `file`.
    pub(super) fn of_opened(call: Call<'_>, file: &fs::File) -> Option<Event> {
        match call {
            Call::Open(path) => Some(Event::Opened(number(file), whole(path))),
            Call::Temporary | Call::Unnamed => Some(Event::Made(number(file))),
            _ => None,
        }
    }
}

fn whole(path: &Path) -> PathBuf {
    absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(unix)]
fn number(file: &fs::File) -> u64 {
    use std::os::unix::fs::MetadataExt;
    file.metadata().map_or(0, |metadata| metadata.ino())
}

#[cfg(not(unix))]
fn number(_: &fs::File) -> u64 {
    0
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Opened(file, path) => write!(f, "opened\t{file}\t{}", path.display()),
            Event::Made(file) => write!(f, "made\t{file}"),
            Event::Wrote(file, at, bytes) => {
                write!(f, "wrote\t{file}\t{at}\t")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Event::Resized(file, len) => write!(f, "resized\t{file}\t{len}"),
            Event::Synced(file) => write!(f, "synced\t{file}"),
            Event::SyncedDirectory(path) => write!(f, "synced-directory\t{}", path.display()),
            Event::Linked(file, path) => write!(f, "linked\t{file}\t{}", path.display()),
            Event::Renamed(from, to) => {
                write!(f, "renamed\t{}\t{}", from.display(), to.display())
            }
            Event::Removed(path) => write!(f, "removed\t{}", path.display()),
            Event::CreatedDirectory(path) => write!(f, "created-directory\t{}", path.display()),
            Event::RemovedDirectory(path) => write!(f, "removed-directory\t{}", path.display()),
        }
    }
}

/// The line is not that of an [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnEvent;

impl FromStr for Event {
    type Err = NotAnEvent;

    fn from_str(line: &str) -> Result<Event, NotAnEvent> {
        let number = |word: &str| word.parse().map_err(|_| NotAnEvent);
        let words: Vec<&str> = line.split('\t').collect();
        Ok(match words[..] {
            ["opened", file, path] => Event::Opened(number(file)?, path.into()),
            ["made", file] => Event::Made(number(file)?),
            ["wrote", file, at, bytes] => {
                let byte = |at| u8::from_str_radix(bytes.get(at..at + 2)?, 16).ok();
                let bytes = (0..bytes.len()).step_by(2).map(byte).collect::<Option<_>>();
                Event::Wrote(number(file)?, number(at)?, bytes.ok_or(NotAnEvent)?)
            }
            ["resized", file, len] => Event::Resized(number(file)?, number(len)?),
            ["synced", file] => Event::Synced(number(file)?),
            ["synced-directory", path] => Event::SyncedDirectory(path.into()),
            ["linked", file, path] => Event::Linked(number(file)?, path.into()),
            ["renamed", from, to] => Event::Renamed(from.into(), to.into()),
            ["removed", path] => Event::Removed(path.into()),
            ["created-directory", path] => Event::CreatedDirectory(path.into()),
            ["removed-directory", path] => Event::RemovedDirectory(path.into()),
            _ => return Err(NotAnEvent),
        })
    }
}
