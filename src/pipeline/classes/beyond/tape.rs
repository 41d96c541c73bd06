//! Entries one behind the other, on disk but for the last of them.

use std::ops::Range;

use super::number;
use crate::pipeline::Error;
use crate::pipeline::spill::Aside;

/// Entries that were written; none of them crosses from one piece into the next.
#[derive(Debug)]
pub(super) struct Tape {
    /// The place of each piece on disk, and its length.
    pieces: Vec<(u64, u32)>,
    /// What is not yet written.
    last: Vec<u8>,
    /// Bytes that are gathered before they are written.
    capacity: usize,
}

impl Tape {
    /// An empty tape that gathers `capacity` bytes.
    pub(super) fn new(capacity: usize) -> Tape {
        Tape { pieces: Vec::new(), last: Vec::new(), capacity }
    }

    /// Adds an entry, which consists of `parts`.
    #[inline]
    pub(super) fn push(&mut self, parts: &[&[u8]], file: &Aside) -> Result<(), Error> {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        if self.last.len() + len > self.last.capacity() {
            self.make_room(len, file)?;
        }
        parts.iter().for_each(|part| self.last.extend_from_slice(part));
        Ok(())
    }

    #[cold]
    fn make_room(&mut self, len: usize, file: &Aside) -> Result<(), Error> {
        self.write(file)?;
        // Room for an entry that is longer is not kept.
        if self.last.capacity() != self.capacity || len > self.capacity {
            self.last = Vec::with_capacity(self.capacity.max(len));
        }
        Ok(())
    }

    fn write(&mut self, file: &Aside) -> Result<(), Error> {
        if !self.last.is_empty() {
            let at = file.append(&[&self.last])?;
            self.pieces.push((at, self.last.len() as u32));
            self.last.clear();
        }
        Ok(())
    }

    /// Writes what was gathered, if there is more on disk, and gives back the memory that is not needed.
    pub(super) fn finish(&mut self, file: &Aside) -> Result<(), Error> {
        if !self.pieces.is_empty() {
            self.write(file)?;
        }
        self.last.shrink_to_fit();
        self.pieces.shrink_to_fit();
        Ok(())
    }

    /// Calls `each` for all pieces in their order.
    pub(super) fn read(
        &self,
        file: &Aside,
        mut each: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut buffer = Vec::new();
        for &(at, len) in &self.pieces {
            buffer.resize(len as usize, 0);
            file.read(&mut buffer, at)?;
            each(&buffer)?;
        }
        each(&self.last)
    }
}

/// A tape whose entries have positions, which do not fall.
#[derive(Debug)]
pub(in crate::pipeline::classes) struct Placed {
    tape: Tape,
    /// The position of the last entry.
    last: u64,
}

impl Placed {
    /// An empty tape that gathers `capacity` bytes.
    pub(super) fn new(capacity: usize) -> Placed {
        Placed { tape: Tape::new(capacity), last: 0 }
    }

    /// Adds what stands at `position`. Long ones become several entries at the same position.
    pub(super) fn push(&mut self, position: u64, bytes: &[u8], file: &Aside) -> Result<(), Error> {
        let (first, rest) = bytes.split_at(bytes.len().min(self.tape.capacity));
        let mut head = number::Head::new();
        head.push(position - std::mem::replace(&mut self.last, position));
        head.push(first.len() as u64);
        self.tape.push(&[head.bytes(), first], file)?;
        if rest.is_empty() { Ok(()) } else { self.push_more(rest, file) }
    }

    #[cold]
    fn push_more(&mut self, bytes: &[u8], file: &Aside) -> Result<(), Error> {
        bytes.chunks(self.tape.capacity).try_for_each(|piece| self.push(self.last, piece, file))
    }

    /// See [`Tape::finish`].
    pub(super) fn finish(&mut self, file: &Aside) -> Result<(), Error> {
        self.tape.finish(file)
    }

    /// Reads the tape; the first entry is there.
    pub(in crate::pipeline::classes) fn play(self, file: &Aside) -> Result<Playing, Error> {
        let Tape { pieces, last, .. } = self.tape;
        let mut playing = Playing {
            pieces: pieces.into_iter(),
            last: Some(last),
            piece: Vec::new(),
            entry: 0..0,
            position: Some(0),
        };
        playing.advance(file)?;
        Ok(playing)
    }
}

/// A [`Placed`] tape that is read.
#[derive(Debug)]
pub(in crate::pipeline::classes) struct Playing {
    pieces: std::vec::IntoIter<(u64, u32)>,
    last: Option<Vec<u8>>,
    piece: Vec<u8>,
    /// Where in the piece the bytes of the entry are.
    entry: Range<usize>,
    position: Option<u64>,
}

impl Playing {
    /// The position of the entry; `None` at the end.
    #[inline]
    pub(in crate::pipeline::classes) fn position(&self) -> Option<u64> {
        self.position
    }

    /// Its bytes.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.piece[self.entry.clone()]
    }

    /// The number that it holds.
    #[inline]
    pub(in crate::pipeline::classes) fn number(&self) -> u64 {
        number::take(self.bytes(), &mut 0)
    }

    /// Goes on to the next entry.
    #[inline]
    pub(in crate::pipeline::classes) fn advance(&mut self, file: &Aside) -> Result<(), Error> {
        let mut at = self.entry.end;
        if at == self.piece.len() {
            at = 0;
            if !self.refill(file)? {
                self.position = None;
                return Ok(());
            }
        }
        let distance = number::take(&self.piece, &mut at);
        let len = number::take(&self.piece, &mut at) as usize;
        self.position = self.position.map(|before| before + distance);
        self.entry = at..at + len;
        Ok(())
    }

    /// Reads the next piece; `false` when there is none.
    #[cold]
    fn refill(&mut self, file: &Aside) -> Result<bool, Error> {
        self.entry = 0..0;
        match self.pieces.next() {
            Some((at, len)) => {
                self.piece.resize(len as usize, 0);
                file.read(&mut self.piece, at)?;
            }
            None => self.piece = self.last.take().unwrap_or_default(),
        }
        Ok(!self.piece.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::spill::Disk;

    #[test]
    fn entries_come_back_whatever_their_length() {
        let dir = tempfile::tempdir().unwrap();
        let file = Disk::new(dir.path()).file().unwrap();
        for (count, capacity) in [(0u64, 10), (1, 10), (3000, 10), (3000, 1 << 10), (9, 1 << 20)] {
            let entry = |i: u64| (i * i / 3, vec![b'a' + (i % 26) as u8; (i * 7 % 40) as usize]);
            let (mut tape, mut placed) = (Tape::new(capacity), Placed::new(capacity));
            let (mut expected, mut expected_placed) = (Vec::new(), Vec::new());
            for (position, text) in (0..count).map(entry) {
                tape.push(&[&text, b"", b"-"], &file).unwrap();
                placed.push(position, &text, &file).unwrap();
                expected.extend_from_slice(&text);
                expected.push(b'-');
                expected_placed.extend(text.iter().map(|&byte| (position, byte)));
            }
            tape.finish(&file).unwrap();
            placed.finish(&file).unwrap();
            let mut found = Vec::new();
            tape.read(&file, |piece| {
                assert!(piece.is_empty() || piece.ends_with(b"-"), "entries are whole");
                found.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
            assert!(found == expected);
            let mut found = Vec::new();
            let mut playing = placed.play(&file).unwrap();
            while let Some(position) = playing.position() {
                assert!(playing.bytes().len() <= capacity);
                found.extend(playing.bytes().iter().map(|&byte| (position, byte)));
                playing.advance(&file).unwrap();
            }
            assert!(found == expected_placed);
            playing.advance(&file).unwrap();
            assert_eq!(playing.position(), None);
        }
    }
}
