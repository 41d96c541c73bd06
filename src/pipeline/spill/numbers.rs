//! Streams of numbers on disk, small ones in few bytes.

use super::aside::Aside;
use crate::pipeline::Error;

/// Bytes of a stream that are written and read at once.
const PIECE: usize = 16 << 10;

/// The longest number.
const LONGEST: usize = 10;

/// A stream that has been written: where its pieces stand, and the end of it, which is in memory.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The place of each piece and its length.
    pieces: Vec<(u64, u32)>,
    tail: Vec<u8>,
}

impl Numbers {
    /// Adds a number; seven bits a byte, the lowest first, the top bit of all bytes but the last set.
    #[inline]
    pub(super) fn push(&mut self, mut number: u64, file: &Aside) -> Result<(), Error> {
        if self.tail.len() + LONGEST > PIECE {
            self.write(file)?;
        }
        while number >= 0x80 {
            self.tail.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.tail.push(number as u8);
        Ok(())
    }

    #[cold]
    fn write(&mut self, file: &Aside) -> Result<(), Error> {
        let at = file.append(&[&self.tail])?;
        self.pieces.push((at, self.tail.len() as u32));
        self.tail.clear();
        Ok(())
    }

    /// Reads the stream from its beginning.
    pub(super) fn read(self) -> Reading {
        Reading {
            pieces: self.pieces.into_iter(),
            tail: Some(self.tail),
            buffer: Vec::new(),
            at: 0,
        }
    }
}

/// A stream that is read.
#[derive(Debug)]
pub(super) struct Reading {
    pieces: std::vec::IntoIter<(u64, u32)>,
    tail: Option<Vec<u8>>,
    buffer: Vec<u8>,
    at: usize,
}

impl Reading {
    /// The next number; `None` at the end.
    #[inline]
    pub(super) fn next(&mut self, file: &Aside) -> Result<Option<u64>, Error> {
        if self.at == self.buffer.len() && !self.refill(file)? {
            return Ok(None);
        }
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.buffer[self.at];
            self.at += 1;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(Some(number));
            }
            shift += 7;
        }
    }

    /// Reads the next piece, no number of which goes beyond it; `false` when there is none.
    #[cold]
    fn refill(&mut self, file: &Aside) -> Result<bool, Error> {
        self.at = 0;
        match self.pieces.next() {
            Some((place, len)) => {
                self.buffer.resize(len as usize, 0);
                file.read(&mut self.buffer, place)?;
            }
            None => self.buffer = self.tail.take().unwrap_or_default(),
        }
        Ok(!self.buffer.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::super::aside::Disk;
    use super::*;

    #[test]
    fn numbers_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = Disk::new(dir.path()).file().unwrap();
        let number = |i: u64| u64::MAX.checked_shr((i % 65) as u32).unwrap_or(0) ^ i;
        for count in [0, 1, 100_000] {
            let mut numbers = [Numbers::default(), Numbers::default()];
            for i in 0..count {
                numbers.iter_mut().for_each(|stream| stream.push(number(i), &file).unwrap());
            }
            assert_eq!(numbers[0].pieces.is_empty(), count < 1000);
            for stream in numbers {
                let mut reading = stream.read();
                for i in 0..count {
                    assert_eq!(reading.next(&file).unwrap(), Some(number(i)));
                }
                assert_eq!(reading.next(&file).unwrap(), None);
                assert_eq!(reading.next(&file).unwrap(), None);
            }
        }
    }
}
