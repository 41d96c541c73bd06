//! Texts that are held until all is read.

use uriscan_core::chunk::Prefix;
use uriscan_core::simd::prefetch;

const BLOCK: usize = 256 << 10;

/// Where a text stands in [`Texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    block: u32,
    offset: u32,
    pub(super) len: u32,
}

/// Texts one after the other, in blocks that never move.
#[derive(Debug, Default)]
pub(super) struct Texts {
    full: Vec<Vec<u8>>,
    /// The block that is being filled, whose number is that of the full ones.
    last: Vec<u8>,
    pub(super) bytes: u64,
    /// Bytes of memory of all blocks.
    pub(super) held: usize,
}

impl Texts {
    #[inline]
    pub(super) fn push(&mut self, text: &[u8]) -> Place {
        if self.last.capacity() - self.last.len() < text.len() {
            self.begin_block(text.len());
        }
        let place = Place {
            block: self.full.len() as u32,
            offset: self.last.len() as u32,
            len: text.len() as u32,
        };
        self.last.extend_from_slice(text);
        self.bytes += text.len() as u64;
        place
    }

    /// [`Texts::push`] of a text that may be followed by bytes of no meaning: a short one is copied without asking for its length.
    #[inline(always)]
    pub(super) fn push_prefix(&mut self, text: Prefix<'_>) -> Place {
        const ROOM: usize = 128;
        let Texts { full, last, bytes, .. } = &mut *self;
        let (offset, len) = (last.len(), text.len());
        match text.slack().first_chunk::<ROOM>() {
            Some(block) if len <= ROOM && last.capacity() - offset >= ROOM => {
                last.extend_from_slice(block);
                last.truncate(offset + len);
                *bytes += len as u64;
                Place { block: full.len() as u32, offset: offset as u32, len: len as u32 }
            }
            _ => self.push(text.bytes()),
        }
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
    pub(super) fn get(&self, place: Place) -> &[u8] {
        let Place { block, offset, len } = place;
        let block = self.full.get(block as usize).unwrap_or(&self.last);
        &block[offset as usize..][..len as usize]
    }

    /// Asks for the first two cache lines of the text at `place`.
    #[inline(always)]
    pub(super) fn prefetch(&self, place: Place) {
        let block = self.full.get(place.block as usize).unwrap_or(&self.last);
        prefetch(block, place.offset as usize);
        prefetch(block, place.offset as usize + 64);
    }

    /// Writes `text` over the one at `place`, which is not shorter.
    pub(super) fn replace(&mut self, place: Place, text: &[u8]) -> Place {
        let Place { block, offset, .. } = place;
        let block = self.full.get_mut(block as usize).unwrap_or(&mut self.last);
        block[offset as usize..][..text.len()].copy_from_slice(text);
        Place { len: text.len() as u32, ..place }
    }
}
