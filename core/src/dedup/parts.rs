//! Keys with what is counted of them, gathered in parts until they are worth a pass.
//!
//! To look a key up among many is to wait for memory. Where nothing has to be known of a row at once, the rows
//! of a partition go to parts, by the next bits of their keys, and wait there until they are worth a pass: the keys of a part,
//! and where they are, fit the cache of a core. When parts have become too large for that, all of them are cut in two.

use core::ops::Range;
use std::collections::BTreeMap;

use super::rows::PARTITIONS;
use super::slots::{HUGE, HUGE_PAGE, Slots};
pub(super) use index::Index;

mod index;

/// A key, lower half first, and in the third word from the lowest bit on: the number of its rows, [`CARRIED`], and the position of
/// the first one. A row that waits is one, too.
pub(super) type Entry = [u64; 3];

/// One more than the number of rows that an entry can have.
pub(super) const COUNTED: u64 = 1 << 12;

/// Set where there were more: how many times as many is beside.
const CARRIED: u64 = COUNTED;

/// Where positions are in an entry. They have 51 bits, which is two petabytes.
const POSITION: u32 = 13;

#[inline(always)]
fn key_of(entry: &Entry) -> u128 {
    u128::from(entry[1]) << 64 | u128::from(entry[0])
}

/// Entries that are next to each other in memory.
const BLOCK: usize = 256;

/// Keys of a part, on average, that are too many.
const TOO_MANY: usize = 1 << 13;

/// Rows that are worth a pass at least.
pub(super) const WORTH: usize = 1 << 10;

/// The entries of one partition.
pub(super) struct Parts {
    entries: Entries,
    /// Two to the power of `bits` of them.
    pub(super) parts: Vec<Part>,
    bits: u32,
    /// What does not fit the entries of keys, as multiples of [`COUNTED`].
    carries: BTreeMap<u128, u64>,
}

/// Entries in blocks.
struct Entries {
    all: Slots<Entry>,
    /// How many blocks have been in use, and which of them are not.
    used: usize,
    free: Vec<u32>,
    /// Whether there will be many huge pages of them.
    is_large: bool,
}

/// The keys with some bits in common, in the order in which they came, and after them the rows that wait.
#[derive(Default)]
pub(super) struct Part {
    blocks: Vec<u32>,
    keys: usize,
    len: usize,
}

impl Parts {
    pub(super) fn new() -> Parts {
        let all = Slots::Small(Vec::new());
        let entries = Entries { all, used: 0, free: Vec::new(), is_large: false };
        Parts { entries, parts: vec![Part::default()], bits: 0, carries: BTreeMap::new() }
    }

    /// Number of keys and of rows that wait.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len).sum()
    }

    /// Number of rows that wait.
    pub(super) fn waiting(&self) -> usize {
        self.parts.iter().map(|part| part.len - part.keys).sum()
    }

    /// The keys of a part, each with the position of its first row and the number of its rows, in their order.
    pub(super) fn of_part<'p>(
        &'p self,
        part: &'p Part,
    ) -> impl Iterator<Item = (u128, u64, u64)> + 'p {
        let all = self.entries.all.get();
        part.runs(0..part.keys).flat_map(|run| &all[run]).map(|entry| {
            let (key, count) = (key_of(entry), entry[2] % COUNTED);
            let carry = if entry[2] & CARRIED != 0 { self.carries.get(&key) } else { None };
            (key, entry[2] >> POSITION, count + carry.map_or(0, |carry| carry * COUNTED))
        })
    }

    /// Prepares for so many keys in the end, as far as there are some already: what comes may be others than is thought.
    pub(super) fn expect(&mut self, keys: usize, index: &mut Index) {
        let len = self.len();
        let parts = (keys / TOO_MANY).min(len / WORTH);
        let bits = parts.checked_ilog2().unwrap_or(0);
        if bits > self.bits {
            self.split(bits, index);
        }
        let [expected, held] = [keys, len].map(|count| count * size_of::<Entry>());
        if expected >= HUGE && held >= HUGE_PAGE / 8 {
            self.entries.enlarge();
        }
    }

    /// Bytes of memory held, as they may be once `more` rows have come.
    pub(super) fn memory_bytes(&self, more: usize) -> usize {
        self.entries.memory_bytes(more / BLOCK + self.parts.len().min(more))
    }

    #[inline(always)]
    pub(super) fn add(&mut self, rows: impl ExactSizeIterator<Item = (u128, u64)>) {
        self.entries.reserve(rows.len() / BLOCK + self.parts.len());
        let Parts { entries, parts, bits, .. } = self;
        for (key, position) in rows {
            let entry = [key as u64, (key >> 64) as u64, position << POSITION | 1];
            parts[part_of(&entry, *bits)].push(entry, entries);
        }
    }

    /// Passes over all parts with enough rows that wait: `worth` at least, and as many as there are keys.
    pub(super) fn settle(&mut self, worth: usize, index: &mut Index) {
        for part in &mut self.parts {
            let waiting = part.len - part.keys;
            if waiting > 0 && (worth == 0 || waiting >= worth.max(part.keys)) {
                part.settle(index, &mut self.entries, &mut self.carries);
            }
        }
        let keys: usize = self.parts.iter().map(|part| part.keys).sum();
        if worth > 0 && keys > TOO_MANY << self.bits {
            self.split(self.bits + 1, index);
        }
    }

    /// Cuts all parts, so that `bits` bits say which one a key is in.
    #[cold]
    fn split(&mut self, bits: u32, index: &mut Index) {
        self.settle(0, index);
        let each = 1 << (bits - self.bits);
        self.entries.reserve(each * self.parts.len());
        self.bits = bits;
        let entries = &mut self.entries;
        let split = |part: Part| {
            let mut smaller: Vec<Part> = Vec::new();
            smaller.resize_with(each, Part::default);
            for (block, run) in part.blocks.iter().zip(part.runs(0..part.len)) {
                for at in run {
                    let entry = entries.all.get()[at];
                    smaller[part_of(&entry, bits) % each].push(entry, entries);
                }
                entries.free.push(*block);
            }
            smaller.iter_mut().for_each(|part| part.keys = part.len);
            smaller
        };
        self.parts = core::mem::take(&mut self.parts).into_iter().flat_map(split).collect();
    }
}

/// The part of an entry: the bits of its key after those of its partition.
#[inline(always)]
fn part_of(entry: &Entry, bits: u32) -> usize {
    (entry[1] << PARTITIONS.trailing_zeros() >> 1 >> (63 - bits)) as usize
}

impl Entries {
    /// How many blocks are in use once `more` are, at most.
    fn needed(&self, more: usize) -> usize {
        self.used + more.saturating_sub(self.free.len())
    }

    /// Bytes of memory held, as they may be once `more` blocks are in use.
    fn memory_bytes(&self, more: usize) -> usize {
        let bytes = self.needed(more) * BLOCK * size_of::<Entry>();
        let is_huge = self.is_large || bytes > HUGE_PAGE;
        if is_huge { bytes.next_multiple_of(HUGE_PAGE) } else { bytes }
    }

    /// Moves to memory for many of them.
    fn enlarge(&mut self) {
        if !self.is_large {
            self.is_large = true;
            self.move_to(self.all.get().len());
        }
    }

    /// Makes room for `more` blocks.
    fn reserve(&mut self, more: usize) {
        let needed = self.needed(more) * BLOCK;
        let count = self.all.get().len();
        if needed > count && !self.all.extend(needed) {
            self.move_to(needed.max(2 * count));
        }
    }

    /// Moves to other memory with room for `count` entries.
    fn move_to(&mut self, count: usize) {
        let (old, used) = (self.all.get(), self.used * BLOCK);
        let mut all = Slots::growing(count, self.is_large);
        all.get_mut()[..used].copy_from_slice(&old[..used]);
        self.all = all;
    }

    /// A block for which [`Entries::reserve`] made room.
    #[inline(always)]
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            (self.used - 1) as u32
        })
    }
}

impl Part {
    #[inline(always)]
    fn push(&mut self, entry: Entry, entries: &mut Entries) {
        if self.len.is_multiple_of(BLOCK) {
            self.blocks.push(entries.take());
        }
        let place = self.place(self.len);
        entries.all.get_mut()[place] = entry;
        self.len += 1;
    }

    /// Where entry number `i` is.
    #[inline(always)]
    fn place(&self, i: usize) -> usize {
        self.blocks[i / BLOCK] as usize * BLOCK + i % BLOCK
    }

    /// Where the entries of these numbers, from the first of a block on, are, block by block.
    fn runs(&self, numbers: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
        numbers.clone().step_by(BLOCK).map(move |i| {
            let start = self.place(i);
            start..start + BLOCK.min(numbers.end - i)
        })
    }

    /// Makes the rows that wait keys, or joins them with those that are there.
    fn settle(
        &mut self,
        index: &mut Index,
        entries: &mut Entries,
        carries: &mut BTreeMap<u128, u64>,
    ) {
        let all = entries.all.get_mut();
        index.clear(self.len);
        for (number, at) in self.runs(0..self.keys).flatten().enumerate() {
            let vacant = index.find(all[at][0], |_| false);
            index.put(&vacant, number);
        }
        let mut keys = self.keys;
        for number in self.keys..self.len {
            let entry = all[self.place(number)];
            let is_key = |key| key_of(&all[self.place(key)]) == key_of(&entry);
            let found = index.find(entry[0], is_key);
            // Whether a key is there cannot be foreseen, so nothing depends on it but what is written.
            let key = if found.is_new { keys } else { found.key };
            let known = &mut all[self.place(key)];
            let word = if found.is_new { entry[2] } else { known[2] + 1 };
            *known = [entry[0], entry[1], word];
            if word % COUNTED == 0 {
                known[2] = (word - COUNTED) | CARRIED;
                *carries.entry(key_of(&entry)).or_default() += 1;
            }
            index.put(&found, key);
            keys += usize::from(found.is_new);
        }
        entries.free.extend(self.blocks.drain(keys.div_ceil(BLOCK)..));
        (self.keys, self.len) = (keys, keys);
    }
}
