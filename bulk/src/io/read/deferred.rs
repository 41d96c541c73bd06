//! Lines of plain files that are read by their consumers: on all threads, and where they are not revisited, each into a
//! buffer that stays in its caches.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use super::compress::is_coded;
use super::container::Container;
use uriscan_core::chunk::PaddedBuf;
use uriscan_files::File;

/// Number of bytes before the intended cut in which a line end is searched.
const LOOK_BACK: usize = 4 << 10;

/// Whole lines of a file, still to be read.
#[derive(Clone, Debug)]
pub(crate) struct Deferred {
    file: Arc<File>,
    /// Offset of the first byte in the file.
    byte: u64,
    len: usize,
    /// Maximum number of bytes of such lines, for buffers that are used again.
    most: usize,
    line_end: u8,
}

impl Deferred {
    /// The number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Reads them into `text`.
    ///
    /// # Errors
    /// Those of the system, and if the file has become shorter. `text` has the whole lines before then.
    pub(crate) fn read(&self, text: &mut PaddedBuf) -> io::Result<()> {
        text.reserve(self.most);
        let (mut len, mut done) = read_at(&self.file, &mut text.room()[..self.len], self.byte);
        if done.is_ok() && len < self.len {
            done = Err(shorter());
        }
        if done.is_err() {
            len = memchr::memrchr(self.line_end, &text.room()[..len]).map_or(0, |last| last + 1);
        }
        text.set_len(len);
        done
    }
}

/// A regular file that is neither compressed nor in UTF-16.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    file: Arc<File>,
    /// Its length in bytes when it was opened.
    len: u64,
}

impl Plain {
    /// The file at `path`, if it is such a file and has at least `least` bytes.
    pub(crate) fn open(path: &Path, least: u64) -> Option<Plain> {
        let file = File::open(path).ok()?;
        let data = file.metadata().ok()?;
        let mut head = [0; Container::HEAD_BYTES];
        let (known, done) = read_at(&file, &mut head, 0);
        done.ok()?;
        let head = &head[..known];
        let is_text = !is_coded(head) && Container::of_head(head).is_none();
        let is_plain = data.is_file() && is_text;
        (is_plain && data.len() >= least).then(|| Plain { file: Arc::new(file), len: data.len() })
    }

    /// The lines from `byte` on, up to `most` bytes of them, each with its `line_end`; `None` if no
    /// line end is found quickly, or the file ends before.
    pub(crate) fn lines(&self, byte: u64, most: usize, line_end: u8) -> Option<Deferred> {
        let end = byte.checked_add(most as u64).filter(|&end| end < self.len)?;
        let mut tail = [0; LOOK_BACK];
        let tail = &mut tail[..most.min(LOOK_BACK)];
        let start = end - tail.len() as u64;
        if read_at(&self.file, tail, start).0 < tail.len() {
            return None;
        }
        let last = memchr::memrchr(line_end, tail)?;
        let len = (start - byte) as usize + last + 1;
        Some(Deferred { file: Arc::clone(&self.file), byte, len, most, line_end })
    }

    /// A reader of the file from `byte` on, which fails at its end if the file has become shorter.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn rest(&self, byte: u64) -> io::Result<Box<dyn Read + Send>> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(byte))?;
        Ok(Box::new(FileTail { file, left: self.len.saturating_sub(byte) }))
    }
}

/// The end of a file.
struct FileTail {
    file: File,
    /// How many bytes follow at least.
    left: u64,
}

impl Read for FileTail {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        if count == 0 && !buffer.is_empty() && self.left > 0 {
            return Err(shorter());
        }
        self.left = self.left.saturating_sub(count as u64);
        Ok(count)
    }
}

/// The error for a file that ends before the end that it had when it was opened.
fn shorter() -> io::Error {
    io::Error::other("the file became shorter while it was read")
}

/// Reads from `byte` on until `out` is full, the file ends or reading fails; returns the number of bytes read, and why
/// reading failed. Without positional reads it fails, and files are read from beginning to end.
fn read_at(file: &File, out: &mut [u8], byte: u64) -> (usize, io::Result<()>) {
    let mut len = 0;
    while len < out.len() {
        match file.read_at(&mut out[len..], byte + len as u64) {
            Ok(0) => break,
            Ok(count) => len += count,
            Err(error) => return (len, Err(error)),
        }
    }
    (len, Ok(()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_becomes_shorter_returns_the_whole_lines_and_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "x\n".repeat(100)).unwrap();
        let plain = Plain::open(&path, 200).unwrap();
        assert!(Plain::open(&path, 201).is_none() && Plain::open(dir.path(), 0).is_none());
        assert!(plain.lines(100, 100, b'\n').is_none() && plain.lines(0, 50, b'\t').is_none());
        let later = plain.lines(2, 51, b'\n').unwrap();
        assert_eq!(later.len(), 50);
        let mut text = PaddedBuf::default();
        for (len, left) in [(200, 50), (13, 10), (12, 10), (0, 0)] {
            std::fs::File::options().write(true).open(&path).unwrap().set_len(len).unwrap();
            let done = later.read(&mut text);
            assert_eq!((done.is_ok(), text.padded().len()), (left == 50, left), "{done:?}");
        }
        // What is left is read in the same way, however much has been added.
        for (len, byte, left) in
            [(200, 150, Ok(50)), (300, 150, Ok(150)), (190, 150, Err(40)), (9, 150, Err(0))]
        {
            std::fs::File::options().write(true).open(&path).unwrap().set_len(len).unwrap();
            let mut text = Vec::new();
            let done = plain.rest(byte).unwrap().read_to_end(&mut text);
            assert_eq!(done.map_err(|_| text.len()), left);
        }
    }
}
