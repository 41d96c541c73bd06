//! Bytes that wait on the disk until they are sent.

use std::io;
use std::path::PathBuf;

use uriscan_files::File;

const BLOCK: usize = 64 << 10;

/// A temporary file of blocks, which are used again.
pub(super) struct Spill {
    directory: PathBuf,
    /// Made when it is first needed.
    file: Option<File>,
    /// Blocks that hold nothing, and how many there are in all.
    free: Vec<u64>,
    blocks: u64,
}

/// Bytes in a [`Spill`]: in these blocks, of which all but the last are full.
#[derive(Default)]
pub(super) struct Spilled {
    blocks: Vec<u64>,
    bytes: usize,
}

impl Spilled {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Spill {
    pub(super) fn new(directory: PathBuf) -> Spill {
        Spill { directory, file: None, free: Vec::new(), blocks: 0 }
    }

    pub(super) fn push(&mut self, to: &mut Spilled, mut bytes: &[u8]) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(File::temporary(&self.directory)?),
        };
        while !bytes.is_empty() {
            let used = to.bytes % BLOCK;
            if used == 0 {
                to.blocks.push(self.free.pop().unwrap_or(self.blocks));
                self.blocks = self.blocks.max(to.blocks.last().map_or(0, |block| block + 1));
            }
            let block = to.blocks.last().copied().unwrap_or_default();
            let count = bytes.len().min(BLOCK - used);
            file.write_all_at(&bytes[..count], block * BLOCK as u64 + used as u64)?;
            (to.bytes, bytes) = (to.bytes + count, &bytes[count..]);
        }
        Ok(())
    }

    /// What is in `from`, which is empty then.
    pub(super) fn take(&mut self, from: &mut Spilled) -> io::Result<Vec<u8>> {
        let Spilled { blocks, bytes } = std::mem::take(from);
        let mut taken = vec![0; bytes];
        for (part, &block) in taken.chunks_mut(BLOCK).zip(&blocks) {
            let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
            file.read_exact_at(part, block * BLOCK as u64)?;
        }
        self.free.extend(blocks);
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_used_again() {
        let mut spill = Spill::new(std::env::temp_dir());
        let mut all: Vec<(Spilled, Vec<u8>)> = (0..5).map(|_| Default::default()).collect();
        for round in 0..40u8 {
            for (number, (spilled, expected)) in all.iter_mut().enumerate() {
                let piece = vec![round * 5 + number as u8; 7_919 * (number + 1)];
                spill.push(spilled, &piece).unwrap();
                expected.extend(piece);
                assert_eq!(spilled.bytes(), expected.len());
                if round % 8 == number as u8 {
                    assert!(spill.take(spilled).unwrap() == *expected);
                    expected.clear();
                    assert!(spill.take(spilled).unwrap().is_empty());
                }
            }
        }
        for (mut spilled, expected) in all {
            assert!(spill.take(&mut spilled).unwrap() == expected);
        }
        let most = 8 * 7_919 * (1 + 2 + 3 + 4 + 5) / BLOCK as u64 + 5;
        assert!(spill.blocks <= 5 * most, "{} blocks", spill.blocks);
        assert_eq!(spill.free.len() as u64, spill.blocks);
    }
}
