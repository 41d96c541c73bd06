//! The rules of the list by the names that they are about: a hash table that the compiler makes.

use crate::label::last_label;

/// A line for each rule: a name, `*.` and a name, or `!` and a name.
pub(crate) const LIST: &str = include_str!("list.txt");

/// The name is a suffix.
pub(crate) const RULE: u8 = 1;
/// Each name with one label more is a suffix.
pub(crate) const WILDCARD: u8 = 2;
/// The name is not a suffix, although the one below it is a wildcard.
pub(crate) const EXCEPTION: u8 = 4;
/// There are rules about names that end in this one, or it is a wildcard.
pub(crate) const LONGER: u8 = 8;

/// A name, and what the rules say about it.
#[derive(Clone, Copy)]
struct Entry {
    /// Where the name is in the list.
    start: u32,
    /// Its length; 0 in a vacant slot.
    len: u8,
    rules: u8,
}

/// A power of two, nearly three times the number of names.
const SLOTS: usize = 1 << 15;

/// Bits of the filter: four times as many.
const BITS: usize = 4 * SLOTS;

/// Names by their hashes, with linear probing.
struct Table {
    /// A bit for each place that a name has. It stays in the cache, and stops nearly all names without rules.
    filter: [u64; BITS / 64],
    entries: [Entry; SLOTS],
}

static TABLE: Table = Table::new();

/// The place of the names with this hash, less than [`BITS`].
#[inline(always)]
const fn place(hash: u64) -> usize {
    let mixed = (hash ^ hash >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (64 - BITS.trailing_zeros())) as usize
}

/// What the rules say about `name`, which is in lower case and has this hash; 0 for nothing.
#[inline(always)]
pub(crate) fn rules_of(hash: u64, name: &[u8]) -> u8 {
    let mut at = place(hash);
    if TABLE.filter[at / 64] >> (at % 64) & 1 == 0 {
        return 0;
    }
    loop {
        let Entry { start, len, rules } = TABLE.entries[at % SLOTS];
        let start = start as usize;
        let is_it = || LIST.as_bytes()[start..start + name.len()] == *name;
        if len == 0 || usize::from(len) == name.len() && is_it() {
            return rules;
        }
        at += 1;
    }
}

impl Table {
    /// The table of all rules, and of the names that these end in.
    const fn new() -> Table {
        let vacant = Entry { start: 0, len: 0, rules: 0 };
        let mut table = Table { filter: [0; BITS / 64], entries: [vacant; SLOTS] };
        let list = LIST.as_bytes();
        let mut at = 0;
        while at < list.len() {
            let mut end = at;
            while list[end] != b'\n' {
                assert!(list[end] != b'\r', "the list has been converted to other line ends");
                end += 1;
            }
            let (start, rules) = match list[at] {
                b'*' => (at + 2, WILDCARD | LONGER),
                b'!' => (at + 1, EXCEPTION),
                _ => (at, RULE),
            };
            let (mut label_end, mut hash) = (end, 0);
            loop {
                let label;
                (label, hash) = last_label(list, start, label_end, hash);
                if label == start {
                    break;
                }
                table.add(label, end, hash, LONGER);
                label_end = label - 1;
            }
            table.add(start, end, hash, rules);
            at = end + 1;
        }
        table
    }

    /// Adds `rules` to those about the name at these bytes of the list, which has this hash.
    const fn add(&mut self, start: usize, end: usize, hash: u64, rules: u8) {
        let len = end - start;
        assert!(0 < len && len <= u8::MAX as usize);
        let mut at = place(hash);
        self.filter[at / 64] |= 1 << (at % 64);
        loop {
            let entry = &mut self.entries[at % SLOTS];
            if entry.len == 0 {
                *entry = Entry { start: start as u32, len: len as u8, rules };
                return;
            }
            if entry.len as usize == len && is_same(entry.start as usize, start, len) {
                entry.rules |= rules;
                return;
            }
            at += 1;
        }
    }
}

/// Whether `len` bytes of the list from `a` and from `b` on are the same.
const fn is_same(a: usize, b: usize, len: usize) -> bool {
    let (list, mut at) = (LIST.as_bytes(), 0);
    while at < len && list[a + at] == list[b + at] {
        at += 1;
    }
    at == len
}
