//! A file that is written from front to back, and then read.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use super::aside::{Aside, Disk};
use crate::pipeline::Error;

/// Such a file; it has no name and vanishes with its last clone.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    disk: Disk,
    file: Arc<Aside>,
    /// Where the next byte is read, and where it is written.
    read: u64,
    end: u64,
}

impl Tape {
    pub(super) fn new(disk: &Disk) -> Result<Tape, Error> {
        Ok(Tape { disk: disk.clone(), file: Arc::new(disk.file()?), read: 0, end: 0 })
    }

    /// A file in the directory at `dir`.
    pub(crate) fn in_directory(dir: &Path) -> Result<Tape, Error> {
        Tape::new(&Disk::new(dir))
    }

    /// What is said when it cannot be written or read.
    pub(crate) fn fault(&self, error: io::Error) -> Error {
        self.disk.error(error)
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.file.append(&[bytes]).map_err(|error| match error {
            Error::Aside { error, .. } => error,
            error => io::Error::other(error.to_string()),
        });
        done.map(|_| self.end += bytes.len() as u64)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Tape {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.read).unwrap_or(usize::MAX);
        let count = left.min(buffer.len());
        self.file.read_plain(&mut buffer[..count], self.read)?;
        self.read += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let mut tape = Tape::new(&Disk::new(dir.path())).unwrap();
        tape.write_all(b"one ").unwrap();
        tape.write_all(b"two").unwrap();
        let mut text = String::new();
        tape.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one two");
        let told = tape.fault(io::Error::other("full")).to_string();
        assert!(told.contains("cannot put aside"), "{told}");
    }
}
