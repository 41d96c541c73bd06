//! Named streams of bytes, opened when their turn has come; files that are read twice.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::compress::Compression;

/// A named stream of bytes.
pub struct Source {
    /// What to call it in messages: a path, or `-` for standard input.
    pub name: String,
    /// Its length in bytes, if that is known.
    pub bytes: Option<u64>,
    /// Opens the stream; called once, when its turn has come. What it reads may be compressed
    /// ([`super::Compression`]).
    pub open: Box<dyn FnOnce() -> io::Result<Box<dyn Read + Send>> + Send>,
    /// Pass it over if it looks binary, that is, if there is a NUL among its first 8 KiB.
    pub text_only: bool,
    /// The file that it is, if it is one; it may be read there instead of by way of `open`.
    pub path: Option<PathBuf>,
    /// It may be opened, and its beginning read, before its turn has come, and on another thread: so for
    /// regular files, as that takes nothing from anybody.
    pub early: bool,
}

impl Source {
    /// A source that reads from `reader`.
    pub fn new(name: impl Into<String>, reader: impl Read + Send + 'static) -> Source {
        let open = Box::new(|| Ok(Box::new(reader) as Box<dyn Read + Send>));
        Source { name: name.into(), bytes: None, open, text_only: false, path: None, early: false }
    }

    /// A source that opens the file at `path` when its turn has come.
    pub fn file(path: impl Into<PathBuf>) -> Source {
        let path = path.into();
        let data = path.metadata().ok().filter(|data| data.is_file());
        let (bytes, early) = (data.as_ref().map(|data| data.len()), data.is_some());
        Source { bytes, early, ..Source::regular_file(path) }
    }

    /// A source that opens the file at `path`, which is known to be a regular one; it is not looked at before.
    pub fn regular_file(path: impl Into<PathBuf>) -> Source {
        let path = path.into();
        let opened = path.clone();
        Source {
            name: path.display().to_string(),
            bytes: None,
            open: Box::new(move || Ok(Box::new(File::open(opened)?))),
            text_only: false,
            path: Some(path),
            early: true,
        }
    }
}

impl Source {
    /// The same source once more, if it can be read a second time at little cost: a regular file that is not
    /// compressed. Reading it is an error if the file has changed since this was called.
    pub(crate) fn again(&self) -> Option<Source> {
        let path = self.path.as_deref()?;
        let before = Stamp::of_plain(path)?;
        let path = path.to_owned();
        let open = move || -> io::Result<Box<dyn Read + Send>> {
            Ok(Box::new(Unchanged { file: File::open(path)?, before }))
        };
        Some(Source { open: Box::new(open), name: self.name.clone(), path: None, ..*self })
    }
}

/// By which one can see that a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    bytes: u64,
    modified: Option<std::time::SystemTime>,
}

impl Stamp {
    /// That of the file at `path`, if it is a regular one that is not compressed: such a file can be read a second
    /// time at little cost.
    pub(super) fn of_plain(path: &Path) -> Option<Stamp> {
        if !path.metadata().ok()?.is_file() {
            return None;
        }
        let mut file = File::open(path).ok()?;
        let before = Stamp::of(&file).ok()?;
        let mut head = Vec::new();
        file.by_ref().take(Compression::HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
        Compression::of_head(&head).is_none().then_some(before)
    }

    pub(super) fn of(file: &File) -> io::Result<Stamp> {
        let data = file.metadata()?;
        Ok(Stamp { bytes: data.len(), modified: data.modified().ok() })
    }
}

/// A file that must not have changed when its end is read.
struct Unchanged {
    file: File,
    before: Stamp,
}

impl Read for Unchanged {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        if count == 0 && !buffer.is_empty() && Stamp::of(&self.file)? != self.before {
            return Err(changed());
        }
        Ok(count)
    }
}

/// What is said of a file that is not what it was.
pub(super) fn changed() -> io::Error {
    io::Error::other("the file changed while it was read twice; on standard input it is read once")
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A source could not be opened or read.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadError {
    /// The name of the source.
    pub source: String,
    /// What the system said.
    pub error: io::Error,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.error)
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
