//! Files that are written until the run is interrupted.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use uriscan_table::{Folder, PartFile};

use crate::watch::Watch;

/// A file that is being written, until the run is to end.
pub(crate) struct Output {
    file: BufWriter<File>,
    stop: Arc<AtomicBool>,
}

impl Output {
    /// Opens the file at `path`, which exists.
    pub(crate) fn create(path: &Path, watch: &Watch) -> io::Result<Output> {
        let file = File::options().write(true).truncate(true).open(path)?;
        Ok(Output::of(file, watch.stop.clone()))
    }

    fn of(file: File, stop: Arc<AtomicBool>) -> Output {
        Output { file: BufWriter::with_capacity(1 << 20, file), stop }
    }

    /// Waits until everything is on the disk.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.sync()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("the run was stopped"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl PartFile for Output {
    fn finish(&mut self) -> io::Result<()> {
        self.sync()
    }
}

/// A directory, which exists, whose files are being written.
pub(crate) struct Parts {
    directory: PathBuf,
    stop: Arc<AtomicBool>,
}

impl Parts {
    pub(crate) fn new(directory: &Path, watch: &Watch) -> Parts {
        Parts { directory: directory.to_owned(), stop: watch.stop.clone() }
    }
}

impl Folder for Parts {
    fn create(&mut self, path: &str) -> io::Result<Box<dyn PartFile>> {
        let path = self.directory.join(path);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        Ok(Box::new(Output::of(File::create_new(path)?, self.stop.clone())))
    }
}
