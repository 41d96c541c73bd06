//! Open outputs: standard output, or files that change only when all is done.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use uriscan_files::{AtomicFile, File, directory_of, sync_directory};

use super::destination::{
    Destination, WRITES_NO_DOCUMENTS, WRITES_NO_PACKED, is_document, is_packed,
};
use super::target::Target;
use crate::exit::{Failure, Outcome, Stop};
use crate::interrupt::{self, Leftover, Registered};
use crate::remote::{self, Upload, Url};

/// Larger writes go to the system without a copy; smaller ones are gathered.
const BUFFER_BYTES: usize = 16 << 10;

/// What bytes are written to.
enum Stream {
    Plain(Box<dyn Write + Send>),
    /// An object in progress.
    Object(Upload, Registered),
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.write(bytes),
            Stream::Object(upload, _) => upload.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.flush(),
            Stream::Object(..) => Ok(()),
        }
    }
}

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

/// A file in progress, and the one that it is to replace.
struct Replacement {
    unfinished: AtomicFile,
    target: PathBuf,
    /// Its temporary name, if it has one.
    _registered: Option<Registered>,
}

impl Output {
    pub(crate) fn open(destination: &Destination) -> Result<Output, Failure> {
        let nowhere = Ok((Stream::Plain(Box::new(io::sink())), None));
        let (name, opened) = match destination {
            Destination::Stdout => {
                ("standard output".to_owned(), stdout().map(|out| (Stream::Plain(out), None)))
            }
            Destination::File(path) => (path.display().to_string(), file(path)),
            // The results are in the files of a folder.
            Destination::Directory(path) => (path.display().to_string(), nowhere),
            Destination::Prefix(url) => (url.to_string(), nowhere),
            Destination::Remote(url) => (url.to_string(), object(url).map(|it| (it, None))),
        };
        match opened {
            Ok((stream, replacement)) => {
                let writer = BufWriter::with_capacity(BUFFER_BYTES, stream);
                Ok(Output { name, writer, replacement, has_failed: false })
            }
            Err(error) => Err(Failure::at(name, error)),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

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
    for Output { name, writer, replacement, .. } in &mut outputs {
        let finished = writer.flush().and_then(|()| match (writer.get_mut(), replacement) {
            (Stream::Object(upload, _), _) => upload.finish(),
            // Otherwise the name might be on the disk before the bytes, and a crash leave a file that is cut short.
            (_, Some(replacement)) => replacement.unfinished.file().sync_all(),
            (_, None) => Ok(()),
        });
        finished.map_err(|error| (name.clone(), error))?;
    }
    let _held = interrupt::hold();
    if outputs.len() > 1 {
        // What fails for want of room fails here, while all files are as they were.
        for Output { name, replacement, .. } in &mut outputs {
            let named = replacement.as_mut().map_or(Ok(()), |it| it.unfinished.name());
            named.map_err(|error| (name.clone(), error))?;
        }
    }
    for Output { name, writer, replacement, .. } in outputs {
        put(writer.into_parts().0, replacement, is_durable).map_err(|error| (name, error))?;
    }
    Ok(())
}

/// Puts what was written to `stream` in place; if it is to be durable, its name is on the disk then.
fn put(stream: Stream, replacement: Option<Replacement>, is_durable: bool) -> io::Result<()> {
    if let Stream::Object(upload, _registered) = stream {
        return upload.complete();
    }
    // Some systems do not rename what is open.
    drop(stream);
    let Some(Replacement { unfinished, target, _registered }) = replacement else { return Ok(()) };
    unfinished.put(&target)?;
    if is_durable { sync_directory(directory_of(&target)) } else { Ok(()) }
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
    write_with(destination, |out| Ok(out.write_all(text.as_bytes())?))
}

pub(crate) fn write_with(
    destination: &Destination,
    write: impl FnOnce(&mut Output) -> Result<(), Stop>,
) -> Result<Outcome, Failure> {
    let mut out = Output::open(destination)?;
    let name = out.name().to_owned();
    match write(&mut out).and_then(|()| Ok(out.commit()?)) {
        Ok(()) => Ok(Outcome::Done),
        Err(Stop::Unwritten(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(Outcome::ReaderGone)
        }
        Err(Stop::Unwritten(error)) => Err(Failure::at(name, error)),
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

/// Standard output without the line buffer of the standard library, which searches for line ends.
#[cfg(unix)]
fn stdout() -> io::Result<Box<dyn Write + Send>> {
    use std::os::fd::AsFd;
    Ok(Box::new(File::from(io::stdout().as_fd().try_clone_to_owned()?)))
}

#[cfg(not(unix))]
fn stdout() -> io::Result<Box<dyn Write + Send>> {
    Ok(Box::new(io::stdout()))
}

fn file(name: &Path) -> io::Result<(Stream, Option<Replacement>)> {
    match Target::of(name)? {
        Target::Descriptor(descriptor) => Ok((Stream::Plain(Box::new(descriptor.file()?)), None)),
        Target::Stream => {
            let stream = File::open_with(name, OpenOptions::new().append(true))?;
            Ok((Stream::Plain(Box::new(stream)), None))
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

/// An error if `name`, or the `path` that it leads to, is that of a compressed file or a document, as what is written is not, or if
/// `name` is that of a directory.
fn refuse_name(name: &Path, path: &Path) -> io::Result<()> {
    let bytes = name.as_os_str().as_encoded_bytes();
    let what = if is_packed(name) || is_packed(path) {
        WRITES_NO_PACKED
    } else if is_document(name) || is_document(path) {
        WRITES_NO_DOCUMENTS
    } else if bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
        "is the name of a directory; name a file"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// A new object in place of the one at `url`.
fn object(url: &Url) -> io::Result<Stream> {
    refuse_name(url.path(), url.path())?;
    let _held = interrupt::hold();
    let upload = remote::create(url)?;
    let cancel = upload.cancel();
    let registered = Leftover::Objects(Box::new(move || cancel.cancel())).register();
    Ok(Stream::Object(upload, registered))
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
    let replacement = Replacement { unfinished, target, _registered };
    Ok((Stream::Plain(Box::new(stream)), Some(replacement)))
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
