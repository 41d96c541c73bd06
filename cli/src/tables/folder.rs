//! Results in several files: in a directory, or below a prefix of a store.

use std::io;
use std::path::Path;

use uriscan_table::{self, PartFile};

use super::directory::Directory;
use super::objects::Objects;
use crate::exit::Failure;
use crate::output::Destination;

/// Results that are being written to several files, which appear when all of them are whole.
pub(crate) enum Folder {
    Directory(Box<Directory>),
    Objects(Objects),
}

impl Folder {
    /// Opens `destination`, if it takes several files; temporary files of objects are made in `temp_dir`.
    pub(crate) fn open(
        destination: &Destination,
        temp_dir: &Path,
    ) -> Result<Option<Folder>, Failure> {
        Ok(Some(match destination {
            Destination::Directory(path) => Folder::Directory(Box::new(Directory::new(path)?)),
            Destination::Prefix(url) => Folder::Objects(Objects::new(url, temp_dir)?),
            Destination::Stdout | Destination::File(_) | Destination::Remote(_) => return Ok(None),
        }))
    }

    /// Waits until the files are on the disk, or a store has what was sent to it.
    pub(crate) fn finish(&self) -> io::Result<()> {
        match self {
            Folder::Directory(directory) => directory.finish(),
            Folder::Objects(objects) => objects.finish(),
        }
    }

    /// Puts the files in place.
    pub(crate) fn put(self, is_durable: bool) -> io::Result<()> {
        match self {
            Folder::Directory(directory) => directory.put(is_durable),
            Folder::Objects(objects) => objects.put(),
        }
    }
}

impl uriscan_table::Folder for Folder {
    fn create(&mut self, path: &str) -> io::Result<Box<dyn PartFile>> {
        match self {
            Folder::Directory(directory) => directory.create(path),
            Folder::Objects(objects) => objects.create(path),
        }
    }
}
