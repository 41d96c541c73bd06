//! A spill file that is written from front to back, and then read.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use super::StoreError;
use super::file::{SpillDir, SpillFile};

/// Such a file; it has no name and is gone with its last clone.
#[derive(Clone, Debug)]
pub struct SpillStream {
    dir: SpillDir,
    file: Arc<SpillFile>,
    /// Where the next byte is read, and where it is written.
    read: u64,
    end: u64,
}

impl SpillStream {
    pub fn new(dir: &SpillDir) -> Result<SpillStream, StoreError> {
        Ok(SpillStream { dir: dir.clone(), file: Arc::new(dir.file()?), read: 0, end: 0 })
    }

    pub fn in_directory(dir: &Path) -> Result<SpillStream, StoreError> {
        SpillStream::new(&SpillDir::new(dir))
    }

    /// The error for when it cannot be written or read.
    pub fn fault(&self, error: io::Error) -> StoreError {
        self.dir.error(error)
    }
}

impl Write for SpillStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.file.append(&[bytes]).map_err(|error| match error {
            StoreError::Spill { error, .. } => error,
            error => io::Error::other(error.to_string()),
        });
        done.map(|_| self.end += bytes.len() as u64)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for SpillStream {
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
        let mut stream = SpillStream::new(&SpillDir::new(dir.path())).unwrap();
        stream.write_all(b"one ").unwrap();
        stream.write_all(b"two").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one two");
        let message = stream.fault(io::Error::other("full")).to_string();
        assert!(message.ends_with(": full"), "{message}");
    }
}
