//! Write access to sets: a signal leaves the old set or the new one, and nothing else.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use uriscan::set::{Meaning, SetError, SetWriter};

use crate::interrupt::{self, Leftover, Registered};

/// Bytes of memory for keys that are added to a set.
pub(crate) const LOAD_BYTES: usize = 256 << 20;

/// A [`SetWriter`] that signals do not interrupt during a change.
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
        writer.change_under(&interrupt::GATE);
        Ok(Writing { writer, _registered: Leftover::Set(path.to_owned()).register() })
    }

    pub(crate) fn open(path: &Path) -> Result<Writing, SetError> {
        Writing::new(path, || SetWriter::open(path))
    }

    /// Creates an empty set at `path`, which records times if `first_seen`.
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

    /// Opens the set at `path`, or creates it; then it records times if `first_seen`.
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
            Err(error) if error.is_vacant() => Writing::create(path, meaning, first_seen),
            Err(error) => Err(error),
        }
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
