//! Where the records of a source end, whatever its format.

use std::io;

use memchr::{memchr, memrchr};

use uriscan_core::extract::Kind;

/// Number of first bytes that show the format of a source. A NUL among them means binary, as for
/// `grep` and `rg`.
pub(crate) const HEAD_BYTES: usize = 8 << 10;

/// Numbers of sources that may have been read otherwise than was meant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Misread {
    /// Those whose first 8 KiB look like another format than those that [`Cut::begin`] was given.
    pub misjudged: u64,
    /// Those that are not archives, although records of archives are selected.
    pub not_archives: u64,
}

/// Where the records of a source end.
pub trait Cut: Send {
    /// Whether [`Cut::begin`] needs the first 8 KiB of a source, or whole lines of it where its producer pauses.
    fn needs_head(&self) -> bool {
        false
    }

    /// How many first bytes of a source [`Cut::begin`] receives, if there are so many.
    fn head_bytes(&self) -> usize {
        HEAD_BYTES
    }

    /// Whether `content`, the first bytes of a source whose records end in `record_end`, shows all that [`Cut::begin`]
    /// looks for, if the producer pauses after it.
    fn has_head(&self, content: &[u8], record_end: u8) -> bool {
        memchr::memchr2(b'\n', record_end, content).is_some()
    }

    /// Examines the first bytes of a source, which show its format.
    ///
    /// # Errors
    /// If the source is not usable; it is then not read.
    fn begin(&mut self, _name: &str, _head: &[u8]) -> io::Result<Kind> {
        Ok(Kind::default())
    }

    /// Takes the next bytes of the current source, each once; `is_end` if they are its last ones.
    ///
    /// # Errors
    /// What is wrong with the record at an offset, from which on the source is not read.
    fn check(&mut self, _bytes: &[u8], _is_end: bool) -> Result<(), (usize, io::Error)> {
        Ok(())
    }

    /// The end of the last whole record of `content`, which begins with a record; `None` if there
    /// is none.
    fn last_end(&mut self, content: &[u8]) -> Option<usize>;

    /// Like [`Cut::last_end`], for a source that fails after `content`.
    fn fault_end(&mut self, content: &[u8]) -> Option<usize> {
        self.last_end(content)
    }

    /// The end of the record that began before `content`.
    fn long_end(&mut self, content: &[u8]) -> Option<usize>;

    /// Where a part of an overlong record ends, which is searched alone and may have all of `content`. `None` if it is
    /// not searched; where [`Cut::kind_of_parts`] is not `None`, it is.
    fn part_end(&mut self, _content: &[u8]) -> Option<usize> {
        None
    }

    /// The kind of the parts of an overlong record of this one but for the first; `None` if they are not searched.
    fn kind_of_parts(&self, _kind: Kind) -> Option<Kind> {
        None
    }

    /// The sources so far that may have been read otherwise than was meant.
    fn misread(&self) -> Misread {
        Misread::default()
    }

    /// The byte after which the current source may be cut anywhere, if there is one.
    fn line_end(&self) -> Option<u8> {
        None
    }
}

/// Records that end at a byte.
pub(crate) struct Lines(pub(crate) u8);

impl Cut for Lines {
    fn last_end(&mut self, content: &[u8]) -> Option<usize> {
        memrchr(self.0, content).map(|at| at + 1)
    }

    fn long_end(&mut self, content: &[u8]) -> Option<usize> {
        memchr(self.0, content).map(|at| at + 1)
    }

    fn line_end(&self) -> Option<u8> {
        Some(self.0)
    }
}
