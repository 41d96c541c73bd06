//! Open outputs: standard output, or files that change only when all is done.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use uriscan_files::{AtomicFile, File, sync_directory};

use super::destination::{Destination, WRITES_NO_PACKED, directory_of, is_packed};
use super::target::Target;
use crate::exit::{Failure, Outcome};
use crate::interrupt::{self, Leftover, Registered};
use crate::remote::{self, Upload, Url};

/// Larger writes go to the system without a copy; smaller ones are gathered.
const BUFFER_BYTES: usize = 16 << 10;

type Stream = Box<dyn Write + Send>;

/// An open destination.
///
/// Results for a regular file are written to an [`AtomicFile`] in its directory, which replaces it in [`commit`]; without
/// that they vanish and the file stays as it was. Pipes and devices cannot be replaced and are written to directly. An
/// object appears in [`commit`], too.
pub(crate) struct Output {
    name: String,
    writer: BufWriter<Stream>,
    replacement: Option<Replacement>,
    has_failed: bool,
}

/// What is to be put in place of a file or an object.
enum Replacement {
    /// A file in progress, and the one that it is to replace.
    File {
        unfinished: AtomicFile,
        target: PathBuf,
        /// Its temporary name, if it has one.
        _registered: Option<Registered>,
    },
    /// An object in progress.
    Object { upload: Upload, _registered: Registered },
}

impl Replacement {
    /// Waits until the bytes are on the disk, or in the store.
    fn finish(&self) -> io::Result<()> {
        match self {
            // Otherwise the name might be on the disk before the bytes, and a crash leave a file that is cut short.
            Replacement::File { unfinished, .. } => unfinished.file().sync_all(),
            Replacement::Object { upload, .. } => upload.finish(),
        }
    }

    /// Does what may fail for want of room.
    fn name(&mut self) -> io::Result<()> {
        match self {
            Replacement::File { unfinished, .. } => unfinished.name(),
            Replacement::Object { .. } => Ok(()),
        }
    }

    /// Puts it in place; if it is to be durable, its name is on the disk then.
    fn put(self, is_durable: bool) -> io::Result<()> {
        match self {
            Replacement::File { unfinished, target, .. } => {
                unfinished.put(&target)?;
                if is_durable { sync_directory(directory_of(&target)) } else { Ok(()) }
            }
            Replacement::Object { upload, .. } => upload.complete(),
        }
    }
}

impl Output {
    /// Opens `destination`.
    pub(crate) fn open(destination: &Destination) -> Result<Output, Failure> {
        let (name, opened) = match destination {
            Destination::Stdout => ("standard output".to_owned(), stdout().map(|out| (out, None))),
            Destination::File(path) => (path.display().to_string(), file(path)),
            // The results are in the files of a folder.
            Destination::Directory(path) => {
                (path.display().to_string(), Ok((Box::new(io::sink()) as Stream, None)))
            }
            Destination::Prefix(url) => {
                (url.to_string(), Ok((Box::new(io::sink()) as Stream, None)))
            }
            Destination::Remote(url) => (url.to_string(), object(url)),
        };
        match opened {
            Ok((stream, replacement)) => {
                let writer = BufWriter::with_capacity(BUFFER_BYTES, stream);
                Ok(Output { name, writer, replacement, has_failed: false })
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

    /// [`commit`] of this output alone.
    pub(crate) fn commit(self) -> io::Result<()> {
        commit(vec![self], false).map_err(|(_, error)| error)
    }
}

/// Writes what is buffered and puts the files of `outputs` in place, in their order; none if one cannot be finished.
///
/// The bytes are on the disk before a file gets its name, so that after a crash of the system it is the old one or the
/// new one. If they are to be durable, the names are on the disk, too, when this returns.
/// The error has the name of the output that failed.
pub(crate) fn commit(
    mut outputs: Vec<Output>,
    is_durable: bool,
) -> Result<(), (String, io::Error)> {
    for output in &mut outputs {
        let flushed = output.writer.flush();
        let finished =
            flushed.and_then(|()| output.replacement.as_ref().map_or(Ok(()), Replacement::finish));
        finished.map_err(|error| (output.name.clone(), error))?;
    }
    let _held = interrupt::hold();
    if outputs.len() > 1 {
        // What fails for want of room fails here, while all files are as they were.
        for Output { name, replacement, .. } in &mut outputs {
            let named = replacement.as_mut().map_or(Ok(()), Replacement::name);
            named.map_err(|error| (name.clone(), error))?;
        }
    }
    for Output { name, writer, replacement, .. } in outputs {
        // Some systems do not rename what is open.
        drop(writer);
        let put = replacement.map_or(Ok(()), |replacement| replacement.put(is_durable));
        put.map_err(|error| (name, error))?;
    }
    Ok(())
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

/// Writes `text` to `destination`, as all of the results of a command.
/// That the reader of standard output went away is not an error.
pub(crate) fn write_text(text: &str, destination: &Destination) -> Result<Outcome, Failure> {
    write_with(destination, |out| out.write_all(text.as_bytes()))
}

/// Writes what `write` writes.
pub(crate) fn write_with(
    destination: &Destination,
    write: impl FnOnce(&mut Output) -> io::Result<()>,
) -> Result<Outcome, Failure> {
    let mut out = Output::open(destination)?;
    let name = out.name().to_owned();
    match write(&mut out).and_then(|()| out.commit()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Outcome::ReaderGone),
        result => result.map(|()| Outcome::Done).map_err(|error| Failure::at(name, error)),
    }
}

/// Standard output without the line buffer of the standard library, which searches for line ends.
#[cfg(unix)]
fn stdout() -> io::Result<Stream> {
    use std::os::fd::AsFd;
    Ok(Box::new(File::from(io::stdout().as_fd().try_clone_to_owned()?)))
}

#[cfg(not(unix))]
fn stdout() -> io::Result<Stream> {
    Ok(Box::new(io::stdout()))
}

fn file(name: &Path) -> io::Result<(Stream, Option<Replacement>)> {
    match Target::of(name)? {
        Target::Descriptor(descriptor) => Ok((Box::new(descriptor.file()?), None)),
        Target::Stream => {
            let stream = File::open_with(name, OpenOptions::new().append(true))?;
            Ok((Box::new(stream), None))
        }
        Target::New(path) => {
            refuse_name(name, &path)?;
            replacement(path, None)
        }
        Target::File(path) => {
            refuse_name(name, &path)?;
            // A file that may not be written to may not be replaced either.
            let old = File::open_with(&path, OpenOptions::new().write(true))?;
            replacement(path, Some(&old))
        }
    }
}

/// An error if `name`, or the `path` that it leads to, is that of a compressed file, as what is written is not, or if `name` is
/// that of a directory.
fn refuse_name(name: &Path, path: &Path) -> io::Result<()> {
    let bytes = name.as_os_str().as_encoded_bytes();
    let what = if is_packed(name) || is_packed(path) {
        WRITES_NO_PACKED
    } else if bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
        "is the name of a directory; name a file"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// A new object in place of the one at `url`.
fn object(url: &Url) -> io::Result<(Stream, Option<Replacement>)> {
    refuse_name(url.path(), url.path())?;
    let _held = interrupt::hold();
    let upload = remote::create(url)?;
    let _registered = Leftover::Objects(upload.cancel()).register();
    Ok((Box::new(upload.clone()), Some(Replacement::Object { upload, _registered })))
}

/// A new file at `target`, in place of `old` if that is there.
fn replacement(target: PathBuf, old: Option<&File>) -> io::Result<(Stream, Option<Replacement>)> {
    let directory = directory_of(&target);
    if !directory.is_dir() {
        let what = format!("there is no directory {}", directory.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, what));
    }
    let _held = interrupt::hold();
    let unfinished = AtomicFile::of_output(&target, old)?;
    let named = unfinished.temporary_path().map(Path::to_owned);
    let _registered = named.map(|path| Leftover::File(path).register());
    let stream = unfinished.file().try_clone()?;
    Ok((Box::new(stream), Some(Replacement::File { unfinished, target, _registered })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> Output {
        Output::open(&Destination::File(path.to_owned())).unwrap()
    }

    #[test]
    fn nothing_is_left_without_commit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out");
        let mut output = open(&path);
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        let mut output = open(&path);
        output.write_all(b"whole").unwrap();
        output.commit().unwrap();
        assert_eq!(std::fs::read(path).unwrap(), b"whole");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn all_are_put_in_place_or_none() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("gone")).unwrap();
        std::fs::write(at("side"), "old").unwrap();
        let mut outputs = vec![open(&at("side")), open(&at("gone/out"))];
        outputs.iter_mut().for_each(|output| output.write_all(b"new").unwrap());
        std::fs::remove_dir_all(at("gone")).unwrap();
        let (name, _) = commit(outputs, false).unwrap_err();
        assert!(name.ends_with("out"), "{name}");
        assert_eq!(std::fs::read(at("side")).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        let outputs = ["side", "new"].map(|name| open(&at(name)));
        commit(outputs.into(), true).unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
    }
}
