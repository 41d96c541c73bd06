//! Overlong records, kept in a temporary file until they are written.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::pipeline::Error;
use uriscan_files::File;

/// The line for the key of an overlong record.
pub(crate) fn long_record_key(record_end: u8) -> Vec<u8> {
    let mut line = vec![b'0'; 32];
    line.push(record_end);
    line
}

/// Bytes that are copied at a time.
const PIECE: usize = 1 << 16;

/// A record in the [`Spool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LongRecord {
    /// Lines before it, in all sources.
    pub(crate) position: u64,
    /// Its length in bytes, without the record end.
    pub(crate) len: u64,
}

/// Overlong records in order, in an unnamed temporary file that is created with the first one.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    /// The directory of the file; `None` for the default of the system.
    dir: Option<PathBuf>,
    file: Option<BufWriter<File>>,
    /// The records that are in no file yet; those before them are in `index`, 16 bytes each.
    records: Vec<LongRecord>,
    index: Option<BufWriter<File>>,
    fault: Option<io::Error>,
}

/// Records that are held in memory; rows without a URI may be as many as all others.
const HELD: usize = if cfg!(test) { 4 } else { 1 << 14 };

impl Spool {
    /// An empty spool whose file will be in `dir`.
    pub(crate) fn new(dir: Option<PathBuf>) -> Spool {
        Spool { dir, ..Spool::default() }
    }

    /// Starts the record at `position`.
    pub(crate) fn begin(&mut self, position: u64) {
        if self.records.len() == HELD && self.fault.is_none() {
            self.fault = self.write_index().err();
        }
        self.records.push(LongRecord { position, len: 0 });
    }

    /// Moves the records to the index.
    fn write_index(&mut self) -> io::Result<()> {
        let mut index = match self.index.take() {
            Some(index) => index,
            None => BufWriter::new(File::temporary(&self.directory())?),
        };
        for LongRecord { position, len } in self.records.drain(..) {
            index.write_all(&[position.to_le_bytes(), len.to_le_bytes()].concat())?;
        }
        self.index = Some(index);
        Ok(())
    }

    /// Appends to the last record. [`Spool::finish`] reports an error.
    pub(crate) fn add(&mut self, piece: &[u8]) {
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
    pub(crate) fn finish(&mut self) -> Result<(Records, Bytes), Error> {
        let dir = self.directory();
        let fault = self.fault.take().map_or(Ok(()), Err);
        let files =
            fault.and_then(|()| Ok((rewound(self.file.take())?, rewound(self.index.take())?)));
        let held = std::mem::take(&mut self.records).into_iter();
        match files {
            Ok((file, index)) => {
                Ok((Records { index, held, dir: dir.clone() }, Bytes { file, dir }))
            }
            Err(error) => Err(Error::spill(&dir, error)),
        }
    }
}

fn rewound(file: Option<BufWriter<File>>) -> io::Result<Option<BufReader<File>>> {
    let Some(file) = file else { return Ok(None) };
    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(Some(BufReader::new(file)))
}

/// The records of a [`Spool`] in order.
#[derive(Debug)]
pub(crate) struct Records {
    index: Option<BufReader<File>>,
    held: std::vec::IntoIter<LongRecord>,
    dir: PathBuf,
}

impl Records {
    /// The next one.
    ///
    /// # Errors
    /// When it cannot be read back.
    pub(crate) fn next(&mut self) -> Result<Option<LongRecord>, Error> {
        let Some(index) = &mut self.index else { return Ok(self.held.next()) };
        let error = |error| Error::spill(&self.dir, error);
        if index.fill_buf().map_err(error)?.is_empty() {
            self.index = None;
            return Ok(self.held.next());
        }
        let mut word = || -> Result<u64, Error> {
            let mut bytes = [0; 8];
            index.read_exact(&mut bytes).map_err(error)?;
            Ok(u64::from_le_bytes(bytes))
        };
        Ok(Some(LongRecord { position: word()?, len: word()? }))
    }
}

/// The bytes of long records, one after the other.
#[derive(Debug)]
pub(crate) struct Bytes {
    file: Option<BufReader<File>>,
    dir: PathBuf,
}

impl Bytes {
    /// Writes the next `len` bytes to `out`.
    ///
    /// # Errors
    /// When they cannot be read, or not be written.
    pub(crate) fn copy(&mut self, len: u64, out: &mut dyn Write) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut piece = vec![0; PIECE.min(len as usize)];
        let mut left = len;
        while left > 0 {
            let most = piece.len().min(left as usize);
            let piece = &mut piece[..most];
            file.read_exact(piece).map_err(|error| Error::spill(&self.dir, error))?;
            out.write_all(piece).map_err(Error::write)?;
            left -= most as u64;
        }
        Ok(())
    }

    /// Passes over the next `len` bytes.
    ///
    /// # Errors
    /// When the system cannot.
    pub(crate) fn skip(&mut self, len: u64) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let error = |error| Error::spill(&self.dir, error);
        file.seek_relative(len.cast_signed()).map_err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_records_are_read_back_in_order() {
        let mut spool = Spool::default();
        assert_eq!(spool.finish().unwrap().0.next().unwrap(), None);
        spool.begin(3);
        spool.add(b"ab");
        spool.add(b"");
        spool.add(b"c");
        spool.begin(9);
        spool.add(b"defg");
        // More than are held.
        (10..30).for_each(|position| spool.begin(position));
        let (mut records, mut bytes) = spool.finish().unwrap();
        let mut found = Vec::new();
        while let Some(LongRecord { position, len }) = records.next().unwrap() {
            found.push((position, len));
        }
        assert_eq!(found[..2], [(3, 3), (9, 4)]);
        assert!(found[2..].iter().copied().eq((10..30).map(|position| (position, 0))));
        let mut text = Vec::new();
        bytes.copy(2, &mut text).unwrap();
        bytes.skip(1).unwrap();
        bytes.copy(4, &mut text).unwrap();
        assert_eq!(text, b"abdefg");
        let error = bytes.copy(1, &mut text).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Spill, "{error}");
    }
}
