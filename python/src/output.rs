//! Files that are written until the run is interrupted.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::watch::Watch;

/// A file that is being written, until the run is to end.
pub(crate) struct Output<'w> {
    file: BufWriter<File>,
    watch: &'w Watch,
}

impl<'w> Output<'w> {
    /// Opens the file at `path`, which exists.
    pub(crate) fn create(path: &Path, watch: &'w Watch) -> io::Result<Output<'w>> {
        let file = File::options().write(true).truncate(true).open(path)?;
        Ok(Output { file: BufWriter::with_capacity(1 << 20, file), watch })
    }

    /// Waits until everything is on the disk.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.watch.is_stopped() {
            return Err(io::Error::other("the run was stopped"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
