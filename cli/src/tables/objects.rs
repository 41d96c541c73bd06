//! Results in objects below a prefix of a store, which appear when all of them are whole.

use std::io::{self, Write};
use std::path::Path;

use uriscan_table::{self, PartFile};

use super::folder::Results;
use crate::exit::Failure;
use crate::interrupt::{self, Leftover, Registered};
use crate::remote::{self, Group, GroupObject, Url};

/// Objects that are being written. Dropped before they are put in place, none appears.
pub(crate) struct Objects {
    group: Group,
    _registered: Registered,
}

struct Part(GroupObject);

impl Objects {
    /// Objects below `url`; temporary files are made in `temp_dir`.
    pub(crate) fn new(url: &Url, temp_dir: &Path) -> Result<Objects, Failure> {
        let group = remote::create_group(url, temp_dir)?;
        let cancel = group.cancel();
        let _registered = Leftover::Objects(Box::new(move || cancel.cancel())).register();
        Ok(Objects { group, _registered })
    }
}

impl Results for Objects {
    fn finish(&self) -> io::Result<()> {
        self.group.finish()
    }

    fn put(self: Box<Self>, _: bool) -> io::Result<()> {
        let _held = interrupt::hold();
        self.group.complete()
    }
}

impl uriscan_table::Folder for Objects {
    fn create(&mut self, path: &str) -> io::Result<Box<dyn PartFile>> {
        Ok(Box::new(Part(self.group.create(path)?)))
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PartFile for Part {
    fn finish(&mut self) -> io::Result<()> {
        self.0.finish()
    }
}
