//! Where the keys of a part are.

/// Where the keys of a part are: a power of two of groups of slots, which are filled from the front and searched one after the
/// other from the home of a key.
#[derive(Default)]
pub(in crate::dedup) struct Index {
    /// For each slot of a group some bits of its key, which are not all zero, or zeros.
    tags: Vec<u64>,
    /// The numbers of the keys.
    keys: Vec<[u32; SLOTS]>,
}

/// Slots of a group: bytes of a word.
const SLOTS: usize = 8;

/// What [`Index::find`] found.
pub(super) struct Found {
    group: usize,
    slot: usize,
    tag: u64,
    /// The number of the key if it is not new.
    pub(super) key: usize,
    pub(super) is_new: bool,
}

impl Index {
    /// Forgets all keys, and makes room for `keys` of them: a quarter of the slots or more stays vacant.
    pub(super) fn clear(&mut self, keys: usize) {
        let groups = (keys * 4).div_ceil(3 * SLOTS).next_power_of_two();
        self.tags.clear();
        self.tags.resize(groups, 0);
        self.keys.resize(groups, [0; SLOTS]);
    }

    /// The slot of a key with this lower half, which `is_key` recognizes, or the one for it if it is new.
    #[inline(always)]
    pub(super) fn find(&self, low: u64, is_key: impl Fn(usize) -> bool) -> Found {
        let tag = (low >> 56).max(1);
        let mut group = low as usize & (self.tags.len() - 1);
        loop {
            let tags = self.tags[group];
            let vacant = zeros(tags);
            let mut hits = zeros(tags ^ (tag * ONES)) | vacant;
            while hits != 0 {
                let slot = hits.trailing_zeros() as usize / SLOTS;
                let is_new = vacant & (hits & hits.wrapping_neg()) != 0;
                // A slot that was used before may have any number.
                let key = if is_new { 0 } else { self.keys[group][slot] as usize };
                if is_new | is_key(key) {
                    return Found { group, slot, tag, key, is_new };
                }
                hits &= hits - 1;
            }
            group = (group + 1) & (self.tags.len() - 1);
        }
    }

    /// Puts a key of this number into the slot that was found, in which it is already unless it is new.
    #[inline(always)]
    pub(super) fn put(&mut self, found: &Found, key: usize) {
        self.tags[found.group] |= found.tag << (SLOTS * found.slot);
        self.keys[found.group][found.slot] = key as u32;
    }
}

/// 1 in each byte.
const ONES: u64 = u64::MAX / 255;

/// The highest bit of each byte of `word` that is zero; above the first of these, of others too.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}
