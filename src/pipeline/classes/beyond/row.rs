//! What is put aside of a record.

use super::super::shelf::Manner;
use super::number::{self, Head};
use super::tape::Tape;
use crate::key::Key;
use crate::pipeline::Error;
use crate::pipeline::spill::Aside;

/// A record, or the survivor so far of several records of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline::classes) struct Row<'t> {
    pub(in crate::pipeline::classes) key: Key,
    /// Lines before it, in all sources.
    pub(in crate::pipeline::classes) position: u64,
    /// Records that it stands for.
    pub(in crate::pipeline::classes) count: u64,
    /// Its rank ([`super::super::Keep::rank`]), if ranks decide; 0 if not.
    pub(in crate::pipeline::classes) rank: u32,
    /// Its bytes, if texts are put aside; none if not.
    pub(in crate::pipeline::classes) text: &'t [u8],
}

impl<'t> Row<'t> {
    /// Adds the row to `tape`.
    #[inline]
    pub(super) fn write(&self, manner: Manner, tape: &mut Tape, file: &Aside) -> Result<(), Error> {
        let mut head = Head::of_key(self.key.0);
        head.push(self.position);
        head.push(self.count);
        // The rank can be told by the text.
        head.push(if manner.has_texts { self.text.len() as u64 } else { u64::from(self.rank) });
        tape.push(&[head.bytes(), self.text], file)
    }

    /// The row that stands in `bytes` from `at` on, which moves behind it.
    #[inline]
    pub(super) fn read(manner: Manner, bytes: &'t [u8], at: &mut usize) -> Row<'t> {
        let key = bytes[*at..].first_chunk().copied().map_or(0, u128::from_le_bytes);
        *at += Head::KEY;
        let position = number::take(bytes, at);
        let count = number::take(bytes, at);
        let last = number::take(bytes, at);
        let mut row = Row { key: Key(key), position, count, rank: last as u32, text: &[] };
        if manner.has_texts {
            let end = *at + last as usize;
            row.text = &bytes[*at..end];
            row.rank = manner.keep.rank(row.text);
            *at = end;
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Keep;
    use super::*;
    use crate::pipeline::spill::Disk;

    #[test]
    fn rows_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = Disk::new(dir.path()).file().unwrap();
        for (keep, has_texts) in
            [(Keep::Shortest, true), (Keep::Shortest, false), (Keep::First, false)]
        {
            let manner = Manner { keep, has_texts, has_members: false };
            let text = [b'x'; 300];
            let row = |i: u64| {
                let text = if has_texts { &text[..i as usize % 300] } else { &[] };
                let rank = if has_texts { text.len() as u32 } else { i as u32 * 7 };
                let key = Key(u128::from(i) << 60 | 1);
                Row { key, position: i * i * i, count: 1 + i % 500, rank, text }
            };
            let mut tape = Tape::new(1000);
            (0..2000).for_each(|i| row(i).write(manner, &mut tape, &file).unwrap());
            let mut next = 0;
            tape.read(&file, |piece| {
                let mut at = 0;
                while at < piece.len() {
                    assert_eq!(Row::read(manner, piece, &mut at), row(next));
                    next += 1;
                }
                Ok(())
            })
            .unwrap();
            assert_eq!(next, 2000);
        }
    }
}
