//! Named streams of bytes, opened in their turn; files that are read twice.

use std::fmt;
use std::io::{self, Read};
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(unix)]
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use super::compress::is_coded;
use super::container::Container;
use super::keeper::Keeper;
use super::origins::RecordOrigins;
use super::ready::Wait;
#[cfg(unix)]
use super::ready::readable;
use uriscan_files::File;

/// A named stream of bytes.
///
/// ```
/// use uriscan_bulk::io::Source;
/// let source = Source::new("list", &b"http://h/\n"[..]).bytes(10).text_only(true);
/// assert_eq!((source.name.as_str(), source.bytes), ("list", Some(10)));
/// ```
#[must_use]
#[non_exhaustive]
pub struct Source {
    /// The name in messages: a path, or `-` for standard input.
    pub name: String,
    /// The length in bytes, if known.
    pub bytes: Option<u64>,
    /// Opens the stream; called once, in its turn. The content may be compressed
    /// ([`crate::io::Compression`]).
    pub open: Open,
    /// Skip it if it looks binary, that is, if there is a NUL among its first 8 KiB.
    pub text_only: bool,
    /// The file, if it is one; it may be read directly instead of through `open`.
    pub path: Option<PathBuf>,
    /// Waits until more can be read, where that may take long: a pipe, a terminal, a socket. What is done is passed on
    /// before anything waits for such a source.
    pub wait: Option<Wait>,
    /// The URI of its content, against which relative references in it are resolved; `None` for the
    /// base that is given for all sources ([`uriscan_core::extract::ExtractorOptions::base`]).
    pub base: Option<Vec<u8>>,
    /// Whether it may be opened, and its beginning read, ahead of its turn and on another thread.
    /// True for regular files, where this has no side effects.
    pub early: bool,
    /// Set while it is read ahead of its turn. Reading may fail with [`io::ErrorKind::WouldBlock`] then, and goes on in
    /// its turn.
    pub(crate) read_ahead: Option<Arc<AtomicBool>>,
    /// Where its records come from, if it is a list made of another source.
    pub(crate) origins: Option<RecordOrigins>,
    /// What keeps some of its records, if not all are read.
    pub(crate) keeper: Option<Arc<dyn Keeper>>,
}

/// What opens a source.
type Open = Box<dyn FnOnce() -> io::Result<Box<dyn Read + Send>> + Send>;

setters! { Source
    { text_only: bool, early: bool }
    into {
        name: String, bytes: Option<u64>, path: Option<PathBuf>, wait: Option<Wait>,
        base: Option<Vec<u8>>,
    }
}

impl Source {
    /// Creates a source that reads from `reader`.
    pub fn new(name: impl Into<String>, reader: impl Read + Send + 'static) -> Source {
        Source::opened_by(name, || Ok(Box::new(reader) as Box<dyn Read + Send>))
    }

    /// A source that `open` opens, in its turn.
    ///
    /// ```
    /// use uriscan_bulk::io::Source;
    /// let mut source = Source::opened_by("list", || Ok(Box::new(&b"http://h/"[..])));
    /// assert_eq!(std::io::read_to_string((source.open)().unwrap()).unwrap(), "http://h/");
    /// ```
    pub fn opened_by(
        name: impl Into<String>,
        open: impl FnOnce() -> io::Result<Box<dyn Read + Send>> + Send + 'static,
    ) -> Source {
        let open = Box::new(open);
        Source {
            name: name.into(),
            bytes: None,
            open,
            text_only: false,
            path: None,
            wait: None,
            base: None,
            early: false,
            read_ahead: None,
            origins: None,
            keeper: None,
        }
    }

    /// Creates a source that opens the file at `path` in its turn.
    pub fn file(path: impl Into<PathBuf>) -> Source {
        let path = path.into();
        let data = path.metadata().ok().filter(|data| data.is_file());
        let (bytes, early) = (data.as_ref().map(|data| data.len()), data.is_some());
        #[cfg(unix)]
        if !early {
            return Source::pipe(path);
        }
        Source { bytes, early, ..Source::regular_file(path) }
    }

    /// Creates a source for the pipe or device at `path`, which is opened in its turn.
    #[cfg(unix)]
    fn pipe(path: PathBuf) -> Source {
        let opened = Arc::new(OnceLock::new());
        let (of_wait, at) = (Arc::clone(&opened), path.clone());
        let open = move || -> io::Result<Box<dyn Read + Send>> {
            let file = File::open(at)?;
            // Opened once, so this is set once. Without it reading waits, no more.
            if let Ok(again) = file.as_fd().try_clone_to_owned() {
                let _ = opened.set(readable(again));
            }
            Ok(Box::new(file))
        };
        let wait: Wait = Arc::new(move |time| of_wait.get().is_none_or(|wait: &Wait| wait(time)));
        let source = Source { early: false, open: Box::new(open), ..Source::regular_file(path) };
        source.wait(wait)
    }

    /// Creates a source for the file at `path`, which is known to be a regular one; this is not
    /// checked.
    pub fn regular_file(path: impl Into<PathBuf>) -> Source {
        let path = path.into();
        let opened = path.clone();
        Source {
            name: path.display().to_string(),
            bytes: None,
            open: Box::new(move || Ok(Box::new(File::open(opened)?))),
            text_only: false,
            path: Some(path),
            wait: None,
            base: None,
            early: true,
            read_ahead: None,
            origins: None,
            keeper: None,
        }
    }

    /// Sets how the stream is opened. If there is a `path`, it may be read instead.
    pub fn open<R: Read + Send + 'static>(
        mut self,
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> Source {
        self.open = Box::new(|| Ok(Box::new(open()?)));
        self
    }

    /// The same source once more, if it can be read again cheaply: a regular file that is neither compressed nor in
    /// UTF-16. Reading it fails if the file has changed since this call.
    pub(crate) fn again(&self) -> Option<Source> {
        let path = self.path.as_deref()?;
        let before = Stamp::of_plain(path)?;
        let path = path.to_owned();
        let open = move || -> io::Result<Box<dyn Read + Send>> {
            Ok(Box::new(Unchanged { file: File::open(path)?, before }))
        };
        Some(Source {
            name: self.name.clone(),
            bytes: self.bytes,
            open: Box::new(open),
            text_only: self.text_only,
            path: None,
            wait: None,
            base: self.base.clone(),
            early: self.early,
            read_ahead: None,
            origins: None,
            keeper: self.keeper.clone(),
        })
    }
}

/// Metadata that reveal whether a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    bytes: u64,
    modified: Option<std::time::SystemTime>,
}

impl Stamp {
    /// That of the file at `path`, if it is a regular one, neither compressed nor in UTF-16, which can be
    /// read again cheaply.
    pub(crate) fn of_plain(path: &Path) -> Option<Stamp> {
        if !path.metadata().ok()?.is_file() {
            return None;
        }
        let mut file = File::open(path).ok()?;
        let before = Stamp::of(&file).ok()?;
        let mut head = Vec::new();
        file.by_ref().take(Container::HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
        (!is_coded(&head)).then_some(before)
    }

    pub(crate) fn of(file: &File) -> io::Result<Stamp> {
        let data = file.metadata()?;
        Ok(Stamp { bytes: data.len(), modified: data.modified().ok() })
    }
}

/// A file that must not have changed when its end is reached.
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

/// The error for a changed file.
pub(crate) fn changed() -> io::Error {
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
    /// The error of the system.
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
