//! Texts of classes, which are held until all is read.

use crate::chunk::{Prefix, SHORT_PREFIX};
use crate::simd::prefetch;

const BLOCK: usize = 256 << 10;

/// Where a text stands in [`HeldTexts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    block: u32,
    offset: u32,
    /// The length of the text in bytes.
    pub len: u32,
}

/// Texts one after the other, in blocks that never move.
///
/// ```
/// use uriscan_core::dedup::HeldTexts;
/// let mut texts = HeldTexts::default();
/// let [a, b] = [&b"http://a"[..], b"http://b"].map(|text| texts.push(text.into()));
/// assert_eq!((texts.get(a).bytes(), texts.get(b).bytes()), (&b"http://a"[..], &b"http://b"[..]));
/// let a = texts.replace(a, b"c:");
/// assert_eq!((texts.get(a).bytes(), texts.bytes), (&b"c:"[..], 16));
/// ```
#[derive(Debug, Default)]
pub struct HeldTexts {
    full: Vec<Vec<u8>>,
    /// The block that is being filled, whose number is that of the full ones.
    last: Vec<u8>,
    /// Bytes of all texts that were appended.
    pub bytes: u64,
    /// Bytes of memory of all blocks.
    pub held: usize,
}

impl HeldTexts {
    /// Appends `text`, of less than 4 GiB; returns its place.
    #[inline]
    pub fn push(&mut self, text: Prefix<'_>) -> Place {
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

    /// The text at `place`, and what may be read after it.
    #[inline]
    pub fn get(&self, place: Place) -> Prefix<'_> {
        let Place { block, offset, len } = place;
        let block = self.full.get(block as usize).unwrap_or(&self.last);
        Prefix::new(&block[offset as usize..], len as usize)
    }

    /// Asks for the first two cache lines of the text at `place`.
    #[inline(always)]
    pub fn prefetch(&self, place: Place) {
        let block = self.full.get(place.block as usize).unwrap_or(&self.last);
        prefetch(block, place.offset as usize);
        prefetch(block, place.offset as usize + 64);
    }

    /// Writes `text` over the one at `place`, which is not shorter.
    pub fn replace(&mut self, place: Place, text: &[u8]) -> Place {
        let Place { block, offset, .. } = place;
        let block = self.full.get_mut(block as usize).unwrap_or(&mut self.last);
        block[offset as usize..][..text.len()].copy_from_slice(text);
        Place { len: text.len() as u32, ..place }
    }
}
