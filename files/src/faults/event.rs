//! What calls change on the disk, as lines of JSON.

use std::fs;
use std::path::{Path, PathBuf, absolute};

use serde::{Deserialize, Serialize};

use crate::Call;

/// A change of the disk. Files have the numbers of the file system; paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
