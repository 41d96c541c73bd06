//! Reads a part of a source a second time.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::reader::BYTE_ORDER_MARK;
use super::source::{Stamp, changed};
use crate::io::Source;
use uriscan_files::File;

/// A file that is read for the first time and can be read again cheaply: a regular, uncompressed
/// one.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    path: PathBuf,
    before: Stamp,
}

impl Plain {
    /// The file at `path`, if it is such a file.
    pub(crate) fn at(path: &Path) -> Option<Plain> {
        Some(Plain { path: path.to_owned(), before: Stamp::of_plain(path)? })
    }

    /// Its bytes from `start` to `end`; reading them fails if the file has changed since
    /// [`Plain::at`].
    pub(crate) fn part(self, start: u64, end: u64) -> io::Result<impl Read + Send> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(start))?;
        Ok(Part { file, left: end - start, before: self.before })
    }
}

/// A regular file that is read twice, compressed or not.
#[derive(Clone, Debug)]
pub struct RereadableFile {
    path: PathBuf,
    before: Stamp,
}

impl RereadableFile {
    /// The file at `path`, if it is a regular file.
    pub fn at(path: &Path) -> Option<RereadableFile> {
        if !path.metadata().ok()?.is_file() {
            return None;
        }
        let before = Stamp::of(&File::open(path).ok()?).ok()?;
        Some(RereadableFile { path: path.to_owned(), before })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if it has changed since [`RereadableFile::at`].
    pub fn check(&self) -> io::Result<()> {
        let now = Stamp::of(&File::open(&self.path)?)?;
        if now == self.before { Ok(()) } else { Err(changed()) }
    }
}

/// A part of a file.
struct Part {
    file: File,
    left: u64,
    before: Stamp,
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let count = self.file.read(&mut buffer[..most])?;
        self.left -= count as u64;
        let is_end = count == 0 && !buffer.is_empty();
        if is_end && (self.left > 0 || Stamp::of(&self.file)? != self.before) {
            return Err(changed());
        }
        Ok(count)
    }
}

/// A source `name` with exactly the bytes that `open` returns: whatever they begin with, they are
/// records.
pub(crate) fn raw_source<R: Read + Send + 'static>(
    name: String,
    open: impl FnOnce() -> io::Result<R> + Send + 'static,
) -> Source {
    // The reader removes one byte order mark, and does not decompress data that begin with it.
    let open = move || Ok(Box::new(BYTE_ORDER_MARK.chain(open()?)) as Box<dyn Read + Send>);
    Source { open: Box::new(open), early: false, ..Source::new(name, std::io::empty()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Chunk, ChunkReader};

    fn content(source: Source) -> Result<Vec<u8>, String> {
        let mut reader = ChunkReader::new(vec![source], b'\n', 64, 256);
        let (mut chunk, mut all) = (Chunk::default(), Vec::new());
        while reader.fill(&mut chunk).map_err(|error| error.to_string())? {
            all.extend_from_slice(chunk.text.padded().content());
        }
        Ok(all)
    }

    #[test]
    fn a_raw_source_returns_its_bytes_unchanged() {
        for text in [&b"a\nb"[..], b"", b"\xEF\xBB\xBFa\n", b"\x1F\x8B\x08x\n", b"\0\0\n"] {
            let found = content(raw_source("a".to_owned(), move || Ok(text)));
            assert_eq!(found.unwrap(), text);
        }
    }

    #[test]
    fn a_part_of_a_file_is_read_unless_the_file_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list");
        std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
        let plain = Plain::at(&path).unwrap();
        let part = |plain: &Plain| {
            let plain = plain.clone();
            content(raw_source("list".to_owned(), move || plain.part(4, 8)))
        };
        assert_eq!(part(&plain).unwrap(), b"two\n");
        for text in ["one\ntwo\nthree\nfour\n", "one\nt"] {
            std::fs::write(&path, text).unwrap();
            assert!(part(&plain).unwrap_err().contains("list: the file changed"), "{text}");
        }
        std::fs::write(&path, b"\x1F\x8B\x08").unwrap();
        assert!(Plain::at(&path).is_none() && Plain::at(dir.path()).is_none());
    }
}
