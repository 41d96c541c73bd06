//! One partition of a set: an open-addressed table of 128-bit keys, with numbers beside them or nothing else.

use core::marker::PhantomData;

use super::slots::{HUGE, HUGE_PAGE, MAPPED, Slots, whole_bytes};
use crate::key::Key;
use crate::simd::prefetch;

/// Slots of a new table.
pub(super) const MIN_SLOTS: usize = 1 << 10;

/// Slots of a cache line, which are searched together.
pub(super) const LINE: usize = 4;

/// A table this large grows at least by half, a smaller one fourfold.
const LARGE: usize = 1 << 20;

/// How many times as large as it is a table may become at once, if so much is expected.
const MOST_GROWTH: usize = 16;

/// What a line of slots holds.
pub(super) trait Layout {
    /// Keys of a line, which stand at its front.
    const KEYS: usize;

    /// Bits of a key that are not compared: they add up where it is inserted again.
    const MARKS: u128 = 0;

    /// The number of the key in place `i` of `line`.
    fn number(line: &[u128; LINE], i: usize) -> u32;

    /// Sets the number of the key in place `i` of `line`, which has none.
    fn set_number(line: &mut [u128; LINE], i: usize, number: u32);
}

/// Keys and nothing else.
pub(super) struct KeysOnly;

impl Layout for KeysOnly {
    const KEYS: usize = LINE;

    #[inline(always)]
    fn number(_: &[u128; LINE], _: usize) -> u32 {
        0
    }

    #[inline(always)]
    fn set_number(_: &mut [u128; LINE], _: usize, _: u32) {}
}

/// Keys with linear probing line by line, in the order of their low halves.
///
/// A key's home line is its low half scaled to the number of lines, so any size works, and
/// growing reads the old slots and writes the new ones in one sweep. The high half
/// picks the partition (see [`super::Set`]): bits used twice would crowd the homes.
pub(super) struct Table<L: Layout = KeysOnly> {
    slots: Slots<u128>,
    used: usize,
    /// Grow when `used` reaches this.
    limit: usize,
    /// Where it moves when it grows.
    next: Option<Slots<u128>>,
    layout: PhantomData<L>,
}

/// The line at which the search for `key` begins, in a table of `count` lines.
#[inline(always)]
fn home(key: u128, count: usize) -> usize {
    let low = key as u64;
    ((u128::from(low) * count as u128) >> 64) as usize
}

/// The places for keys that a table of `count` places grows to that is to hold `needed` keys now and an estimated
/// `expected` in the end (0 if unknown), filled to three quarters.
///
/// Fresh memory is dear and moving keys is not free, so small tables grow in
/// large steps; large ones in small steps unless more is expected, so that memory keeps to the keys.
fn grown_places(count: usize, needed: usize, expected: usize) -> usize {
    let is_large = count * size_of::<u128>() >= LARGE;
    let least = if is_large { count + count / 2 } else { 4 * count };
    places_for(expected).clamp(least, MOST_GROWTH * count).max(places_for(needed))
}

/// Places for `keys` keys, of which three quarters are taken.
pub(super) fn places_for(keys: usize) -> usize {
    keys / 3 * 4 + 8
}

/// Places in a table that takes no more than `bytes` of memory.
fn places_in<L: Layout>(bytes: usize) -> usize {
    // A huge table is a whole number of huge pages.
    let whole = if bytes >= HUGE { bytes / HUGE_PAGE * HUGE_PAGE } else { bytes };
    whole / size_of::<[u128; LINE]>() * L::KEYS
}

impl<L: Layout> Table<L> {
    pub(super) fn new() -> Table<L> {
        Table::with_places(MIN_SLOTS)
    }

    /// A table with places for `count` keys, of which three quarters are ever taken.
    fn with_places(count: usize) -> Table<L> {
        Table::with_slots(Slots::zeroed(count.div_ceil(L::KEYS) * LINE))
    }

    fn with_slots(slots: Slots<u128>) -> Table<L> {
        let limit = limit_of::<L>(&slots);
        Table { slots, used: 0, limit, next: None, layout: PhantomData }
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Bytes of memory held for slots.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(self.slots.get())
    }

    /// Asks for the memory that inserting `key` will touch.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: u128) {
        let slots = self.slots.get();
        prefetch(slots, home(key, slots.len() / LINE) * LINE);
    }

    /// Makes room for `more` keys. `expected` is the number that this table is thought to hold in the
    /// end, or 0; `most` is the number of bytes that it should not go beyond unless it has to.
    #[inline(always)]
    pub(super) fn reserve(&mut self, more: usize, expected: usize, most: usize) {
        if self.used + more > self.limit {
            self.grow(more, expected, most);
        }
    }

    /// Maps the memory that [`Table::reserve`] will need for `more` keys, without touching it.
    ///
    /// If all partitions do so one after the other, before any of them is written to, their memory lies side by side,
    /// and the system can give them huge pages in common.
    pub(super) fn map_ahead(&mut self, more: usize, expected: usize, most: usize) {
        let needed = self.used + more;
        if needed <= self.limit
            || self.next.as_ref().is_some_and(|next| needed <= limit_of::<L>(next))
        {
            return;
        }
        let count = self.wanted_places(more, expected, most).div_ceil(L::KEYS) * LINE;
        if (MAPPED..HUGE).contains(&whole_bytes::<u128>(count)) {
            self.next = Some(Slots::zeroed(count));
        }
    }

    /// Whether `more` keys find room in a table of `most` bytes.
    pub(super) fn fits(&self, more: usize, most: usize) -> bool {
        more == 0 || places_for(self.used + more) <= places_in::<L>(most)
    }

    /// The keys by their numbers, if numbers are kept.
    pub(super) fn by_number(&self) -> Vec<Key> {
        let mut keys = vec![Key(Key::VACANT); self.used];
        for line in self.slots.get().as_chunks::<LINE>().0 {
            for (key, number) in entries::<L>(line) {
                keys[number as usize] = Key(key);
            }
        }
        keys
    }

    /// The number of `key`, if it is there; without numbers, 0.
    #[inline(always)]
    pub(super) fn find(&self, key: u128) -> Option<u32> {
        find::<L>(self.slots.get(), key)
    }

    /// All slots: keys, in no order, and vacant ones.
    #[cfg(feature = "bulk")]
    pub(super) fn slots(&self) -> &[u128] {
        self.slots.get()
    }

    /// Forgets all keys and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.slots.get_mut().fill(Key::VACANT);
        self.used = 0;
    }

    /// Inserts `key`, for which [`Table::reserve`] made room. Gives its number, which is how many keys were
    /// there before it, if numbers are kept; and whether it was not there.
    #[inline(always)]
    pub(super) fn insert(&mut self, key: u128) -> (u32, bool) {
        // 2^32 keys in a partition are 64 GB of them and more.
        let (number, is_new) = insert::<L>(self.slots.get_mut(), key, self.used as u32);
        self.used += usize::from(is_new);
        (number, is_new)
    }

    /// Inserts `keys`, for which [`Table::reserve`] made room, and calls `each` with the place of each in the list, and
    /// what [`Table::insert`] gives. Meanwhile asks for the memory that as many keys of `ahead` will touch.
    #[inline(always)]
    pub(super) fn insert_all<'k>(
        &mut self,
        keys: impl Iterator<Item = u128>,
        ahead: &mut impl Iterator<Item = &'k u128>,
        mut each: impl FnMut(usize, u32, bool),
    ) {
        let (slots, mut used) = (self.slots.get_mut(), self.used);
        for (i, key) in keys.enumerate() {
            if let Some(&key) = ahead.next() {
                prefetch(slots, home(key, slots.len() / LINE) * LINE);
            }
            let (number, is_new) = insert::<L>(slots, key, used as u32);
            used += usize::from(is_new);
            each(i, number, is_new);
        }
        self.used = used;
    }

    /// Places of the table that it grows to, as [`grown_places`] says, within `most` bytes if that suffices.
    fn wanted_places(&self, more: usize, expected: usize, most: usize) -> usize {
        let needed = self.used + more;
        let wanted = grown_places(self.slots.get().len() / LINE * L::KEYS, needed, expected);
        wanted.min(places_in::<L>(most).max(places_for(needed)))
    }

    /// Makes room for `more` keys, and for as many as `expected` if that is not out of proportion.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize, expected: usize, most: usize) {
        let lines = self.slots.get().len() / LINE;
        let wanted = self.wanted_places(more, expected, most);
        if self.slots.extend(wanted.div_ceil(L::KEYS) * LINE) {
            spread::<L>(self.slots.get_mut(), lines);
            self.limit = limit_of::<L>(&self.slots);
            return;
        }
        let next = self.next.take().filter(|next| self.used + more <= limit_of::<L>(next));
        let mut grown = next.map_or_else(|| Table::with_places(wanted), Table::<L>::with_slots);
        let slots = grown.slots.get_mut();
        for line in self.slots.get().as_chunks::<LINE>().0 {
            for (key, number) in entries::<L>(line) {
                insert::<L>(slots, key, number);
            }
        }
        grown.used = self.used;
        *self = grown;
    }
}

/// Keys that a table takes: three quarters of its places, so that long probes are rare, and 16 bytes
/// become 21.
fn limit_of<L: Layout>(slots: &Slots<u128>) -> usize {
    slots.get().len() / LINE * L::KEYS / 4 * 3
}

/// The keys of `line` with their numbers.
#[inline(always)]
fn entries<L: Layout>(line: &[u128; LINE]) -> impl Iterator<Item = (u128, u32)> {
    let keys = line[..L::KEYS].iter().enumerate();
    keys.take_while(|&(_, &key)| key != Key::VACANT).map(|(i, &key)| (key, L::number(line, i)))
}

/// Moves the keys of a table whose first `old` lines were all it had, and which has more now (half as many, unless
/// memory is short), to their places in the whole.
///
/// From the last line to the first: a key's new home lies at or after its line, where all
/// has been moved already, except for few: those that wrapped around, and those pushed far from home
/// near the beginning. These go in at the end.
fn spread<L: Layout>(slots: &mut [u128], old: usize) {
    let count = slots.len() / LINE;
    let mut late = Vec::new();
    for at in (0..old).rev() {
        let line: &mut [u128; LINE] = slots[at * LINE..].first_chunk_mut().expect("a whole line");
        let line = core::mem::replace(line, [Key::VACANT; LINE]);
        for (key, number) in entries::<L>(&line) {
            let has_wrapped = home(key, old) > at;
            if has_wrapped || home(key, count) < at {
                late.push((key, number));
            } else {
                insert::<L>(slots, key, number);
            }
        }
    }
    for (key, number) in late {
        insert::<L>(slots, key, number);
    }
}

/// The number of `key` in `slots`, which have a free place, if it is there. As [`insert`], but changes nothing.
#[inline(always)]
fn find<L: Layout>(slots: &[u128], key: u128) -> Option<u32> {
    let lines = slots.as_chunks::<LINE>().0;
    let mut at = home(key, lines.len());
    loop {
        let line = &lines[at];
        let hits = hits::<L>(line, key);
        if hits != 0 {
            let i = hits.trailing_zeros() as usize % LINE;
            return (line[i] != Key::VACANT).then(|| L::number(line, i));
        }
        at += 1;
        if at == lines.len() {
            at = 0;
        }
    }
}

/// Looks for `key` in `slots`, which have a free place, and puts it there under `new_number` if it is
/// missing; gives its number and whether it was.
#[inline(always)]
fn insert<L: Layout>(slots: &mut [u128], key: u128, new_number: u32) -> (u32, bool) {
    let lines = slots.as_chunks_mut::<LINE>().0;
    let mut at = home(key, lines.len());
    loop {
        let line = &mut lines[at];
        let hits = hits::<L>(line, key);
        if hits != 0 {
            let i = hits.trailing_zeros() as usize % LINE;
            let is_new = line[i] == Key::VACANT;
            line[i] |= key;
            if is_new {
                L::set_number(line, i, new_number);
            }
            return (L::number(line, i), is_new);
        }
        at += 1;
        if at == lines.len() {
            at = 0;
        }
    }
}

/// The places of `line` that hold `key` or are free, one bit each. Lines fill from the front, so the lowest one is the
/// key, or the first free place.
///
/// All places are asked at once: which one it will be cannot be foreseen. They are asked by their low halves first,
/// which hardly ever deceive.
#[inline(always)]
fn hits<L: Layout>(line: &[u128; LINE], key: u128) -> u32 {
    let mut halves = 0u32;
    for (i, &slot) in line[..L::KEYS].iter().enumerate() {
        let low = slot as u64;
        halves |= u32::from((low == key as u64) | (low == Key::VACANT as u64)) << i;
    }
    if halves == 0 {
        return 0;
    }
    let slot = line[halves.trailing_zeros() as usize % LINE];
    // One comparison, since whether the key is there cannot be foreseen.
    let high = if slot as u64 == Key::VACANT as u64 { Key::VACANT } else { key } >> 64;
    if (slot >> 64 ^ high) & !(L::MARKS >> 64) == 0 {
        return halves;
    }
    exact_hits::<L>(line, key)
}

/// As [`hits`], asked by whole keys.
#[cold]
#[inline(never)]
fn exact_hits<L: Layout>(line: &[u128; LINE], key: u128) -> u32 {
    let is_hit = |&slot: &u128| u32::from(((slot ^ key) & !L::MARKS == 0) | (slot == Key::VACANT));
    (0..).zip(&line[..L::KEYS]).fold(0, |hits, (i, slot)| hits | is_hit(slot) << i)
}

#[cfg(test)]
mod tests;
