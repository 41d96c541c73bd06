//! Files for what does not fit in memory: unnamed, in one directory, gone when they are closed or the process dies.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::pipeline::Error;

/// Bytes between two looks at the room that is left; as much has to be left each time.
const STRIDE: u64 = 64 << 20;

/// The directory for such files, and how much was written there.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Disk {
    dir: Arc<PathBuf>,
    written: Arc<AtomicU64>,
}

impl Disk {
    /// The directory `dir`, which is looked at when the first file is made.
    pub(in crate::pipeline) fn new(dir: &Path) -> Disk {
        Disk { dir: Arc::new(dir.to_owned()), written: Arc::default() }
    }

    /// Bytes written so far, to all files.
    pub(in crate::pipeline) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Makes a file.
    pub(in crate::pipeline) fn file(&self) -> Result<Aside, Error> {
        let file = tempfile::tempfile_in(&*self.dir).map_err(|error| {
            // What the crate says names a file that nobody has heard of.
            let plain = error.raw_os_error().map(io::Error::from_raw_os_error);
            self.error(plain.unwrap_or_else(|| error.kind().into()))
        })?;
        Ok(Aside { disk: self.clone(), file, end: AtomicU64::new(0) })
    }

    /// Sees to it that there is room for `bytes` more, where the system tells.
    pub(in crate::pipeline) fn need(&self, bytes: u64) -> Result<(), Error> {
        match free_bytes(&self.dir) {
            Some(free) if free < bytes => {
                let [free, bytes] = [free, bytes].map(|bytes| bytes.div_ceil(1_000_000));
                let what = format!("there is room for {free} MB, and {bytes} MB are needed");
                Err(self.error(io::Error::new(io::ErrorKind::StorageFull, what)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn error(&self, error: io::Error) -> Error {
        Error::Aside { dir: self.dir.to_path_buf(), error }
    }

    /// Takes note of `bytes` that are to be written; looks at the room every now and then.
    fn note(&self, bytes: u64) -> Result<(), Error> {
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        if before / STRIDE != (before + bytes) / STRIDE { self.need(STRIDE) } else { Ok(()) }
    }
}

/// Bytes that may be written in `dir`, if the system tells.
#[cfg(unix)]
fn free_bytes(dir: &Path) -> Option<u64> {
    let of = rustix::fs::statvfs(dir).ok()?;
    of.f_bavail.checked_mul(of.f_frsize)
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// One such file. Several threads may write and read at once.
#[derive(Debug)]
pub(in crate::pipeline) struct Aside {
    disk: Disk,
    file: File,
    end: AtomicU64,
}

impl Aside {
    /// Writes `parts` one behind the other; gives the place of the first byte.
    pub(in crate::pipeline) fn append(&self, parts: &[&[u8]]) -> Result<u64, Error> {
        let len = parts.iter().map(|part| part.len() as u64).sum();
        self.disk.note(len)?;
        let start = self.end.fetch_add(len, Ordering::Relaxed);
        let mut at = start;
        for part in parts {
            write_at(&self.file, part, at).map_err(|error| self.disk.error(error))?;
            at += part.len() as u64;
        }
        Ok(start)
    }

    /// Fills `bytes` with what stands at the place `at`.
    pub(in crate::pipeline) fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        self.read_plain(bytes, at).map_err(|error| self.disk.error(error))
    }

    /// The same for readers.
    pub(super) fn read_plain(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        read_at(&self.file, bytes, at)
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

/// Where a place cannot be named with the bytes, one thread at a time goes there.
#[cfg(not(unix))]
static SEEKING: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    let _alone = SEEKING.lock();
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    let _alone = SEEKING.lock();
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_again_and_nothing_has_a_name() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::new(dir.path());
        let file = disk.file().unwrap();
        assert_eq!(file.append(&[b"ab", b"", b"c"]).unwrap(), 0);
        assert_eq!(file.append(&[b"defg"]).unwrap(), 3);
        let mut bytes = [0; 4];
        file.read(&mut bytes, 2).unwrap();
        assert_eq!((&bytes, disk.written()), (b"cdef", 7));
        assert!(file.read(&mut bytes, 4).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn errors_name_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("missing");
        let error = Disk::new(&missing).file().unwrap_err().to_string();
        assert!(error.starts_with(&*missing.display().to_string()), "{error}");
        if cfg!(unix) {
            let error = Disk::new(dir.path()).need(u64::MAX).unwrap_err().to_string();
            assert!(error.contains("there is room for"), "{error}");
        }
        Disk::new(dir.path()).need(0).unwrap();
    }
}
