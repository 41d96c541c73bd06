//! The rules of the list by the names that they are about: a hash table that the compiler makes.

use crate::label::{hash, last_bytes, of_last};

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
    /// Where the name ends in the list.
    end: u32,
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

/// What the rules say about `name`, which has this hash and these `last` bytes in lower case; 0 for nothing.
#[inline(always)]
pub(crate) fn rules_of(hash: u64, last: u64, name: &[u8]) -> u8 {
    let mut at = place(hash);
    if TABLE.filter[at / 64] >> (at % 64) & 1 == 0 {
        return 0;
    }
    loop {
        let Entry { end, len, rules } = TABLE.entries[at % SLOTS];
        let (end, len) = (end as usize, usize::from(len));
        if len == 0 || len == name.len() && is_name(end, last, name) {
            return rules;
        }
        at += 1;
    }
}

/// Whether `name`, with these `last` bytes, is the one that ends at `end` in the list.
#[inline(always)]
fn is_name(end: usize, last: u64, name: &[u8]) -> bool {
    let list = &LIST.as_bytes()[..end];
    match list.last_chunk() {
        Some(word) => {
            of_last(u64::from_le_bytes(*word), name.len()) == last
                && (name.len() <= word.len() || ends_with(list, name))
        }
        None => ends_with(list, name),
    }
}

fn ends_with(list: &[u8], name: &[u8]) -> bool {
    list[list.len() - name.len()..].eq_ignore_ascii_case(name)
}

impl Table {
    /// The table of all rules, and of the names that these end in.
    const fn new() -> Table {
        let vacant = Entry { end: 0, len: 0, rules: 0 };
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
            let (mut label, mut label_end, mut of_name) = (end, end, 0);
            loop {
                if label > start && list[label - 1] != b'.' {
                    label -= 1;
                    continue;
                }
                let last = last_bytes(list, label, label_end);
                of_name = hash(of_name, last, label_end - label);
                if label == start {
                    break;
                }
                table.add(label, end, of_name, LONGER);
                label -= 1;
                label_end = label;
            }
            table.add(start, end, of_name, rules);
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
                *entry = Entry { end: end as u32, len: len as u8, rules };
                return;
            }
            if entry.len as usize == len && is_same(entry.end as usize - len, start, len) {
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
