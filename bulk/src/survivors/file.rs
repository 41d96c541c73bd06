//! Spill files: unnamed temporary files in one directory, gone when they are closed or the process dies.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::StoreError;
use uriscan_files::{File, free_bytes};

/// Bytes written between two checks of the free space; as much has to be left each time.
const STRIDE: u64 = 64 << 20;

/// The directory for spill files, and how many bytes were written there, and read.
#[derive(Clone, Debug)]
pub struct SpillDir {
    dir: Arc<PathBuf>,
    written: Arc<AtomicU64>,
    read: Arc<AtomicU64>,
}

impl SpillDir {
    /// The directory `dir`; whether it can be used shows when the first file is made.
    pub fn new(dir: &Path) -> SpillDir {
        SpillDir { dir: Arc::new(dir.to_owned()), written: Arc::default(), read: Arc::default() }
    }

    /// Bytes written so far, to all files.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Bytes read so far, from all files.
    #[cfg(test)]
    pub(super) fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    pub fn file(&self) -> Result<SpillFile, StoreError> {
        let file = File::temporary(&self.dir).map_err(|error| self.error(error))?;
        Ok(SpillFile { dir: self.clone(), file, end: AtomicU64::new(0) })
    }

    /// Checks that there is space for `bytes` more, where the system reports it.
    pub(crate) fn need(&self, bytes: u64) -> Result<(), StoreError> {
        match free_bytes(&self.dir) {
            Some(free) if free < bytes => {
                let [free, bytes] = [free, bytes].map(|bytes| bytes.div_ceil(1_000_000));
                let what = format!("there is room for {free} MB, and {bytes} MB are needed");
                Err(self.error(io::Error::new(io::ErrorKind::StorageFull, what)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn error(&self, error: io::Error) -> StoreError {
        StoreError::Spill { dir: self.dir.to_path_buf(), error }
    }

    /// Counts `bytes` that are about to be written; checks the free space now and then.
    fn note(&self, bytes: u64) -> Result<(), StoreError> {
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        if before / STRIDE != (before + bytes) / STRIDE { self.need(STRIDE) } else { Ok(()) }
    }
}

/// A spill file. Several threads may write and read at once.
#[derive(Debug)]
pub struct SpillFile {
    dir: SpillDir,
    file: File,
    end: AtomicU64,
}

impl SpillFile {
    /// Writes `parts` one after the other; returns the offset of the first byte.
    pub fn append(&self, parts: &[&[u8]]) -> Result<u64, StoreError> {
        let len = parts.iter().map(|part| part.len() as u64).sum();
        self.dir.note(len)?;
        let start = self.end.fetch_add(len, Ordering::Relaxed);
        let mut at = start;
        for part in parts {
            self.file.write_all_at(part, at).map_err(|error| self.dir.error(error))?;
            at += part.len() as u64;
        }
        Ok(start)
    }

    /// Fills `bytes` with what was written at the offset `at`.
    pub fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), StoreError> {
        self.read_plain(bytes, at).map_err(|error| self.dir.error(error))
    }

    /// The same, for implementations of [`io::Read`].
    pub(crate) fn read_plain(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.dir.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.read_exact_at(bytes, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_again_and_nothing_has_a_name() {
        let place = tempfile::tempdir().unwrap();
        let dir = SpillDir::new(place.path());
        let file = dir.file().unwrap();
        assert_eq!(file.append(&[b"ab", b"", b"c"]).unwrap(), 0);
        assert_eq!(file.append(&[b"defg"]).unwrap(), 3);
        let mut bytes = [0; 4];
        file.read(&mut bytes, 2).unwrap();
        assert_eq!((&bytes, dir.written()), (b"cdef", 7));
        assert!(file.read(&mut bytes, 4).is_err());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn errors_name_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("missing");
        let error = SpillDir::new(&missing).file().unwrap_err().to_string();
        assert!(error.starts_with(&*missing.display().to_string()), "{error}");
        if cfg!(unix) {
            let error = SpillDir::new(dir.path()).need(u64::MAX).unwrap_err().to_string();
            assert!(error.contains("there is room for"), "{error}");
        }
        SpillDir::new(dir.path()).need(0).unwrap();
    }
}
