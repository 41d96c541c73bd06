//! Overlong records, kept in a temporary file until they are written.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::files::File;

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
            None => BufWriter::new(File::temporary(self.dir.as_deref())?),
        };
        Ok(self.file.insert(file))
    }

    /// The records in order, and their concatenated bytes.
    ///
    /// # Errors
    /// If the file could not be created or written.
    pub(super) fn finish(&mut self) -> io::Result<(Vec<LongRecord>, Box<dyn Read + Send>)> {
        if let Some(error) = self.fault.take() {
            return Err(error);
        }
        let bytes: Box<dyn Read + Send> = match self.file.take() {
            None => Box::new(io::empty()),
            Some(file) => {
                let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.seek(SeekFrom::Start(0))?;
                Box::new(file)
            }
        };
        Ok((std::mem::take(&mut self.records), bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_in_order() {
        let mut spool = Spool::default();
        let (none, mut nothing) = spool.finish().unwrap();
        assert_eq!((none.len(), nothing.read(&mut [0]).unwrap()), (0, 0));
        spool.begin(3);
        spool.add(b"ab");
        spool.add(b"");
        spool.add(b"c");
        spool.begin(9);
        spool.add(b"defg");
        let (records, mut bytes) = spool.finish().unwrap();
        let found: Vec<_> = records.iter().map(|record| (record.position, record.len)).collect();
        assert_eq!(found, [(3, 3), (9, 4)]);
        let mut text = String::new();
        bytes.read_to_string(&mut text).unwrap();
        assert_eq!(text, "abcdefg");
    }
}
