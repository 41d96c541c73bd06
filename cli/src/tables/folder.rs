//! Results in several files: in a directory, or below a prefix of a store.

use std::io;

/// Results that are being written to several files, which appear when all of them are whole.
pub(crate) type Folder = Box<dyn Results>;

pub(crate) trait Results: uriscan_table::Folder {
    /// Waits until the files are on the disk, or a store has what was sent to it.
    fn finish(&self) -> io::Result<()>;

    /// Puts the files in place, after [`Results::finish`].
    fn put(self: Box<Self>, is_durable: bool) -> io::Result<()>;
}
