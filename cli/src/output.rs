//! Where results go: standard output, or a file that changes only when all is done.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::config::{Destination, Input};
use crate::exit::Failure;

/// What is larger goes to the system in one piece, without a copy; what is smaller is gathered.
const BUFFER_BYTES: usize = 16 << 10;

type Stream = Box<dyn Write + Send>;

/// An open destination.
///
/// Results for a regular file are written aside, in its directory, and renamed over it by
/// [`Output::commit`]; without that they vanish and the file stays as it was.
/// Pipes and devices cannot be replaced and are written to as they are.
pub(crate) struct Output {
    name: String,
    writer: BufWriter<Stream>,
    /// The file written aside, and the one whose place it is to take.
    aside: Option<(TempPath, PathBuf)>,
    has_failed: bool,
}

impl Output {
    /// Opens `destination`.
    ///
    /// # Errors
    /// When it cannot be written to, or is a directory.
    pub(crate) fn open(destination: &Destination) -> Result<Output, Failure> {
        let (name, opened) = match destination {
            Destination::Stdout => ("standard output".to_owned(), stdout().map(|out| (out, None))),
            Destination::File(path) => (path.display().to_string(), file(path)),
        };
        match opened {
            Ok((stream, aside)) => {
                let writer = BufWriter::with_capacity(BUFFER_BYTES, stream);
                Ok(Output { name, writer, aside, has_failed: false })
            }
            Err(error) => Err(Failure::at(name, error)),
        }
    }

    /// What to call it in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether a write has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Hands the last bytes to the system and puts the file in its place.
    ///
    /// The bytes may still be in the system's cache then, as with any program that does not wait
    /// for the disk; the name never stands for a part of them while the system is up.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        self.writer.flush()?;
        let Output { writer, aside, .. } = self;
        // Some systems do not rename what is open.
        drop(writer);
        match aside {
            Some((from, to)) => from.persist(to).map_err(|error| error.error),
            None => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.writer.write(bytes);
        self.has_failed |= result.is_err();
        result
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.writer.flush();
        self.has_failed |= result.is_err();
        result
    }
}

/// Waits until the results at `destination` are on the disk, if they are in a file.
pub(crate) fn sync(destination: &Destination) -> io::Result<()> {
    let Destination::File(path) = destination else { return Ok(()) };
    if !path.metadata()?.is_file() {
        return Ok(());
    }
    File::open(path)?.sync_all()?;
    // Its name too, where a directory can be opened.
    if cfg!(unix) { File::open(directory_of(&path.canonicalize()?))?.sync_all() } else { Ok(()) }
}

/// Whether two destinations are the same file, by whatever names.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        path.canonicalize().or_else(|_| {
            let directory = directory_of(path).canonicalize()?;
            Ok::<PathBuf, io::Error>(directory.join(path.file_name().unwrap_or_default()))
        })
    };
    matches!((place(a), place(b)), (Ok(a), Ok(b)) if a == b)
}

/// The regular file that standard output goes to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StdoutFile {
    #[cfg(unix)]
    id: (u64, u64),
}

impl StdoutFile {
    /// The file, if results go to standard output and that is a regular file.
    #[cfg(unix)]
    pub(crate) fn of(destination: &Destination) -> Option<StdoutFile> {
        use std::os::fd::AsFd;
        if matches!(destination, Destination::File(_)) {
            return None;
        }
        let file = File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
        let metadata = file.metadata().ok().filter(Metadata::is_file)?;
        Some(StdoutFile { id: StdoutFile::id(&metadata) })
    }

    /// Elsewhere nobody can tell.
    #[cfg(not(unix))]
    pub(crate) fn of(_: &Destination) -> Option<StdoutFile> {
        None
    }

    #[cfg(unix)]
    fn id(metadata: &Metadata) -> (u64, u64) {
        use std::os::unix::fs::MetadataExt;
        (metadata.dev(), metadata.ino())
    }

    #[cfg(unix)]
    fn is(&self, metadata: &Metadata) -> bool {
        metadata.is_file() && StdoutFile::id(metadata) == self.id
    }

    #[cfg(not(unix))]
    fn is(&self, _: &Metadata) -> bool {
        false
    }

    /// Whether the file is at `path`.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        path.metadata().is_ok_and(|metadata| self.is(&metadata))
    }

    /// An error if the file is one of `inputs` and what is written to it would be read: as with `cat`, that is so unless it
    /// is empty and the only one.
    ///
    /// # Errors
    /// When it is.
    pub(crate) fn refuse_as_input(&self, inputs: &[Input]) -> Result<(), Failure> {
        for input in inputs {
            let (name, metadata) = match input {
                Input::Stdin => ("-".to_owned(), stdin_metadata()),
                Input::File(path) => (path.display().to_string(), path.metadata().ok()),
            };
            let is_read = |metadata: &Metadata| metadata.len() > 0 || inputs.len() > 1;
            if metadata.is_some_and(|metadata| self.is(&metadata) && is_read(&metadata)) {
                let what = "is an input and standard output at once; -o puts the results in its place when all is done";
                return Err(Failure::at(name, what));
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn stdin_metadata() -> Option<Metadata> {
    use std::os::fd::AsFd;
    File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

#[cfg(not(unix))]
fn stdin_metadata() -> Option<Metadata> {
    None
}

/// Standard output without the line buffer that the standard library puts before it, which
/// looks for line ends in all that passes.
#[cfg(unix)]
fn stdout() -> io::Result<Stream> {
    use std::os::fd::AsFd;
    Ok(Box::new(File::from(io::stdout().as_fd().try_clone_to_owned()?)))
}

#[cfg(not(unix))]
fn stdout() -> io::Result<Stream> {
    Ok(Box::new(io::stdout()))
}

fn file(path: &Path) -> io::Result<(Stream, Option<(TempPath, PathBuf)>)> {
    let existing = match path.metadata() {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // `/dev/stdout` may well be a regular file, but one that belongs to somebody else.
    let is_replaceable = existing.as_ref().is_none_or(Metadata::is_file);
    if existing.is_some() && (!is_replaceable || path.starts_with("/dev")) {
        let stream = OpenOptions::new().append(true).open(path)?;
        return Ok((Box::new(stream), None));
    }
    let target = match &existing {
        Some(_) => {
            // A file that may not be written to may not be replaced either.
            OpenOptions::new().write(true).open(path)?;
            // A link stays one: what it points to is replaced.
            path.canonicalize()?
        }
        None => path.to_owned(),
    };
    let (file, aside) = create_aside(&target, existing.as_ref())?.into_parts();
    Ok((Box::new(file), Some((aside, target))))
}

/// The directory that `path` stands in.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A new file in the directory of `target`, with the permissions of the one it is to replace,
/// or those that any new file has.
fn create_aside(target: &Path, existing: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let directory = directory_of(target);
    if !directory.is_dir() {
        let what = format!("there is no directory {}", directory.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, what));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".uriscan-").suffix(".partial");
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let mode = existing.map_or(0o666, |metadata| metadata.mode() & 0o777);
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    // The message of `tempfile` names the file aside, which nobody has heard of.
    let file = builder.tempfile_in(directory).map_err(|error| {
        error.raw_os_error().map_or(error.kind().into(), io::Error::from_raw_os_error)
    })?;
    if let Some(metadata) = existing {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_files_are_seen_through_their_names() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("there"), "").unwrap();
        assert!(is_same_file(&at("there"), &at("./there")));
        assert!(is_same_file(&at("new"), &at("./new")));
        assert!(!is_same_file(&at("there"), &at("new")));
        assert!(!is_same_file(&at("nowhere/new"), &at("nowhere/new")), "cannot be opened anyway");
    }

    #[test]
    fn nothing_is_left_without_commit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out");
        let mut output = Output::open(&Destination::File(path.clone())).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        let mut output = Output::open(&Destination::File(path.clone())).unwrap();
        output.write_all(b"whole").unwrap();
        output.commit().unwrap();
        assert_eq!(std::fs::read(path).unwrap(), b"whole");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
