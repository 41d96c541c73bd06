//! Texts that are held until all is read.

use uriscan_core::chunk::{Prefix, SHORT_PREFIX};
use uriscan_core::simd::prefetch;

const BLOCK: usize = 256 << 10;

/// Where a text stands in [`HeldTexts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    block: u32,
    offset: u32,
    pub(crate) len: u32,
}

/// Texts one after the other, in blocks that never move.
#[derive(Debug, Default)]
pub(crate) struct HeldTexts {
    full: Vec<Vec<u8>>,
    /// The block that is being filled, whose number is that of the full ones.
    last: Vec<u8>,
    pub(crate) bytes: u64,
    /// Bytes of memory of all blocks.
    pub(crate) held: usize,
}

impl HeldTexts {
    #[inline]
    pub(crate) fn push(&mut self, text: Prefix<'_>) -> Place {
        if self.room() < text.len() {
            self.begin_block(text.len());
        }
        let place = Place {
            block: self.full.len() as u32,
            offset: self.last.len() as u32,
            len: text.len() as u32,
        };
        // A block never grows.
        match self.room() < SHORT_PREFIX {
            true => self.last.extend_from_slice(text.bytes()),
            false => text.append_to(&mut self.last),
        }
        self.bytes += text.len() as u64;
        place
    }

    /// Bytes that the last block has room for.
    #[inline(always)]
    fn room(&self) -> usize {
        self.last.capacity() - self.last.len()
    }

    /// Begins a block that has room for `len` bytes.
    #[cold]
    #[inline(never)]
    fn begin_block(&mut self, len: usize) {
        let block = Vec::with_capacity(BLOCK.max(len));
        self.held += block.capacity();
        let full = std::mem::replace(&mut self.last, block);
        // The block that has never been begun has no number.
        if full.capacity() > 0 {
            self.full.push(full);
        }
    }

    #[inline]
    pub(crate) fn get(&self, place: Place) -> Prefix<'_> {
        let Place { block, offset, len } = place;
        let block = self.full.get(block as usize).unwrap_or(&self.last);
        Prefix::new(&block[offset as usize..], len as usize)
    }

    /// Asks for the first two cache lines of the text at `place`.
    #[inline(always)]
    pub(crate) fn prefetch(&self, place: Place) {
        let block = self.full.get(place.block as usize).unwrap_or(&self.last);
        prefetch(block, place.offset as usize);
        prefetch(block, place.offset as usize + 64);
    }

    /// Writes `text` over the one at `place`, which is not shorter.
    pub(crate) fn replace(&mut self, place: Place, text: &[u8]) -> Place {
        let Place { block, offset, .. } = place;
        let block = self.full.get_mut(block as usize).unwrap_or(&mut self.last);
        block[offset as usize..][..text.len()].copy_from_slice(text);
        Place { len: text.len() as u32, ..place }
    }
}
