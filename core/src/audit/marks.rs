//! The bytes of a chunk without which no rule reports anything after the authority of a record, found in one pass over all
//! of its records.
//!
//! A mark does not mean a finding: it is a place to look at ([`super::quiet`]). More than half of all records have none. What a byte
//! means depends on the component that it is in, which is not known here; so more is marked than any component needs.

use super::{names, shape};
use crate::chunk::{Padded, Span};
use crate::grammar::class::{ByteClass, UNRESERVED};
use crate::index::{Bits, low_bits};
use crate::simd::table::{NibbleTables, nibble_tables};
use crate::simd::{BLOCK, Isa, Task};
use crate::uri::fast::decoded_byte;

/// The marks of a chunk. Reusable.
#[derive(Debug, Default)]
pub struct Marks {
    /// Their offsets, in order; the first `count` are those of the chunk.
    offsets: Vec<u32>,
    count: usize,
    /// How many precede the record that was asked for last.
    passed: usize,
}

impl Marks {
    /// Finds the marks of `text`.
    #[inline(always)]
    pub fn find<I: Isa>(&mut self, isa: I, text: Padded<'_>) {
        isa.call(Find(self, text));
    }

    /// The marks within `span`; spans must rise.
    #[inline(always)]
    pub(crate) fn within(&mut self, span: Span) -> &[u32] {
        let offsets = &self.offsets[..self.count];
        let pass = |from: usize, end: u32| {
            let rest = offsets[from..].iter();
            from + rest.take_while(|&&mark| mark < end).count()
        };
        let start = pass(self.passed, span.start);
        self.passed = pass(start, span.end);
        &offsets[start..self.passed]
    }

    /// Notes the marks of the block at byte `at`.
    #[inline(always)]
    fn push(&mut self, at: usize, marks: u64) {
        if self.offsets.len() < self.count + BLOCK {
            self.offsets.resize(2 * self.count + 2 * BLOCK, 0);
        }
        let room = &mut self.offsets[self.count..][..BLOCK];
        for (offset, bit) in room.iter_mut().zip(Bits(marks)) {
            *offset = at as u32 + bit;
        }
        self.count += marks.count_ones() as usize;
    }
}

struct Find<'a, 't>(&'a mut Marks, Padded<'t>);

impl Task for Find<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Find(marks, text) = self;
        (marks.count, marks.passed) = (0, 0);
        for at in (0..text.len()).step_by(BLOCK) {
            let [block, next] = [text.block(at), text.block(at + 1)];
            let slashes = isa.equal(block, b'/');
            let dots_next = isa.equal(next, b'.');
            let ahead = [next, text.block(at + 2), text.block(at + 3)];
            let mut found = isa.members(block, &ALWAYS)
                | slashes & (dots_next | begin(isa, ahead, &DEVICES))
                | isa.equal(block, b'.') & dots_next;
            for bit in Bits(begin(isa, [block, next, ahead[1]], &TOKENS)) {
                found |= u64::from(shape::may_begin(&text.padded()[at + bit as usize..])) << bit;
            }
            for bit in Bits(isa.equal(block, b'%')) {
                let byte = decoded_byte(&text.padded()[at + bit as usize..]);
                found |= u64::from(IS_DOUBTFUL[usize::from(byte)]) << bit;
            }
            for bit in Bits(isa.equal(block, b'=')) {
                let is_one = names::may_be_secret(text.padded(), at + bit as usize);
                found |= u64::from(is_one) << bit;
            }
            found &= low_bits(text.len() - at);
            if found != 0 {
                marks.push(at, found);
            }
        }
    }
}

/// Bytes of a userinfo and of strings in JSON, and what ends a character reference.
static ALWAYS: NibbleTables = nibble_tables(ByteClass::of(b"@\"';"));

/// Bytes that are marked where they are encoded: acted upon or misread, or part of what is searched for secrets.
static IS_DOUBTFUL: [bool; 256] = {
    const DOUBTFUL: ByteClass =
        ByteClass::range(0, 0x1F).or(ByteClass::of(b"\x7F%/\\.@\"'=")).or(UNRESERVED);
    let mut table = DOUBTFUL.table();
    // Those that begin overlong UTF-8.
    table[0xC0] = true;
    table[0xC1] = true;
    table[0xE0] = true;
    table[0xF0] = true;
    table
};

/// The first three bytes of words, one class for each.
pub(super) type Beginnings = [NibbleTables; 3];

/// `con`, `prn`, `aux`, `nul`, `com` and `lpt`, in any case, and some other words.
static DEVICES: Beginnings = {
    const fn letters(lower: &[u8], upper: &[u8]) -> NibbleTables {
        nibble_tables(ByteClass::of(lower).or(ByteClass::of(upper)))
    }
    [letters(b"cpanl", b"CPANL"), letters(b"orup", b"ORUP"), letters(b"nxlmt", b"NXLMT")]
};

/// Tokens, and some other words.
pub(super) static TOKENS: Beginnings = {
    const fn nth(place: usize) -> NibbleTables {
        nibble_tables(ByteClass::of(&shape::nth_bytes(place)))
    }
    [nth(0), nth(1), nth(2)]
};

/// The bytes of the first of three blocks with which a word begins; the others are those one and two bytes further on.
#[inline(always)]
pub(super) fn begin<I: Isa>(isa: I, [a, b, c]: [&[u8; BLOCK]; 3], words: &Beginnings) -> u64 {
    isa.members(a, &words[0]) & isa.members(b, &words[1]) & isa.members(c, &words[2])
}
