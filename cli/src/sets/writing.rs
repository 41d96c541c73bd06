//! Sets that are written to, so that a signal leaves the old set or the new one and nothing else.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use uriscan::set::{Fault, Meaning, SetError, SetWriter};

use crate::interrupt::{self, Leftover, Registered};

/// Memory for keys on their way into a set.
pub(crate) const LOAD_BYTES: usize = 256 << 20;

/// A [`SetWriter`] that a signal finds between two changes only.
#[derive(Debug)]
pub(crate) struct Writing {
    writer: SetWriter,
    _registered: Registered,
}

impl Writing {
    fn new(
        path: &Path,
        open: impl FnOnce() -> Result<SetWriter, SetError>,
    ) -> Result<Writing, SetError> {
        let _held = interrupt::hold();
        let mut writer = open()?;
        writer.change_under(interrupt::gate());
        Ok(Writing { writer, _registered: Leftover::Set(path.to_owned()).register() })
    }

    /// Opens the set at `path`.
    ///
    /// # Errors
    /// When there is none, or it cannot be written to.
    pub(crate) fn open(path: &Path) -> Result<Writing, SetError> {
        Writing::new(path, || SetWriter::open(path))
    }

    /// Makes an empty set at `path`, which keeps times if `first_seen`.
    ///
    /// # Errors
    /// When something is there, or it cannot be made.
    pub(crate) fn create(
        path: &Path,
        meaning: Meaning,
        first_seen: bool,
    ) -> Result<Writing, SetError> {
        Writing::new(path, || match first_seen {
            true => SetWriter::create_dated(path, meaning),
            false => SetWriter::create(path, meaning),
        })
    }

    /// Opens the set at `path`, or makes it; then it keeps times if `first_seen`.
    ///
    /// # Errors
    /// When neither is possible; when its keys mean something else.
    pub(crate) fn open_or_create(
        path: &Path,
        meaning: Meaning,
        first_seen: bool,
    ) -> Result<Writing, SetError> {
        match Writing::open(path) {
            Ok(writing) => {
                writing.set().expect(&meaning)?;
                Ok(writing)
            }
            Err(SetError { fault: Fault::NotASet, .. }) => {
                Writing::create(path, meaning, first_seen)
            }
            Err(error) => Err(error),
        }
    }

    /// [`SetWriter::destroy`].
    ///
    /// # Errors
    /// As there.
    pub(crate) fn destroy(self) -> Result<(), SetError> {
        self.writer.destroy()
    }
}

impl Deref for Writing {
    type Target = SetWriter;

    fn deref(&self) -> &SetWriter {
        &self.writer
    }
}

impl DerefMut for Writing {
    fn deref_mut(&mut self) -> &mut SetWriter {
        &mut self.writer
    }
}
