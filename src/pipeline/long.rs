//! Overlong records, kept in a temporary file until they are written.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::Error;
use crate::files::File;

/// Bytes that are copied at a time.
const PIECE: usize = 1 << 16;

/// A record in the [`Spool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongRecord {
    /// Lines before it, in all sources.
    pub(super) position: u64,
    /// Its length in bytes, without the record end.
    pub(super) len: u64,
}

/// Overlong records in order, in an unnamed temporary file that is created with the first one.
#[derive(Debug, Default)]
pub(super) struct Spool {
    /// The directory of the file; `None` for the default of the system.
    dir: Option<PathBuf>,
    file: Option<BufWriter<File>>,
    records: Vec<LongRecord>,
    fault: Option<io::Error>,
}

impl Spool {
    /// An empty spool whose file will be in `dir`.
    pub(super) fn new(dir: Option<PathBuf>) -> Spool {
        Spool { dir, ..Spool::default() }
    }

    /// Starts the record at `position`.
    pub(super) fn begin(&mut self, position: u64) {
        self.records.push(LongRecord { position, len: 0 });
    }

    /// Appends to the last record. [`Spool::finish`] reports an error.
    pub(super) fn add(&mut self, piece: &[u8]) {
        if self.fault.is_some() {
            return;
        }
        if let Some(record) = self.records.last_mut() {
            record.len += piece.len() as u64;
        }
        if let Err(error) = self.file().and_then(|file| file.write_all(piece)) {
            self.fault = Some(error);
        }
    }

    fn file(&mut self) -> io::Result<&mut BufWriter<File>> {
        let file = match self.file.take() {
            Some(file) => file,
            None => BufWriter::new(File::temporary(&self.directory())?),
        };
        Ok(self.file.insert(file))
    }

    fn directory(&self) -> PathBuf {
        self.dir.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// The records in order, and their concatenated bytes.
    ///
    /// # Errors
    /// If the file could not be created or written.
    pub(super) fn finish(&mut self) -> Result<(Vec<LongRecord>, Bytes), Error> {
        let dir = self.directory();
        match self.rewound() {
            Ok(file) => Ok((std::mem::take(&mut self.records), Bytes { file, dir })),
            Err(error) => Err(Error::Spill { dir, error }),
        }
    }

    fn rewound(&mut self) -> io::Result<Option<File>> {
        if let Some(error) = self.fault.take() {
            return Err(error);
        }
        let Some(file) = self.file.take() else { return Ok(None) };
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Some(file))
    }
}

/// The bytes of long records, one after the other.
#[derive(Debug)]
pub(super) struct Bytes {
    file: Option<File>,
    dir: PathBuf,
}

impl Bytes {
    /// Writes the next `len` bytes to `out`.
    ///
    /// # Errors
    /// When they cannot be read, or not be written.
    pub(super) fn copy(&mut self, len: u64, out: &mut dyn Write) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut piece = vec![0; PIECE.min(len as usize)];
        let mut left = len;
        while left > 0 {
            let most = piece.len().min(left as usize);
            let piece = &mut piece[..most];
            file.read_exact(piece)
                .map_err(|error| Error::Spill { dir: self.dir.clone(), error })?;
            out.write_all(piece).map_err(Error::Write)?;
            left -= most as u64;
        }
        Ok(())
    }

    /// Passes over the next `len` bytes.
    ///
    /// # Errors
    /// When the system cannot.
    pub(super) fn skip(&mut self, len: u64) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let error = |error| Error::Spill { dir: self.dir.clone(), error };
        file.seek_relative(len.cast_signed()).map_err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_in_order() {
        let mut spool = Spool::default();
        assert!(spool.finish().unwrap().0.is_empty());
        spool.begin(3);
        spool.add(b"ab");
        spool.add(b"");
        spool.add(b"c");
        spool.begin(9);
        spool.add(b"defg");
        let (records, mut bytes) = spool.finish().unwrap();
        let found: Vec<_> = records.iter().map(|record| (record.position, record.len)).collect();
        assert_eq!(found, [(3, 3), (9, 4)]);
        let mut text = Vec::new();
        bytes.copy(2, &mut text).unwrap();
        bytes.skip(1).unwrap();
        bytes.copy(4, &mut text).unwrap();
        assert_eq!(text, b"abdefg");
        let error = bytes.copy(1, &mut text).unwrap_err();
        assert!(matches!(error, Error::Spill { .. }), "{error}");
    }
}
