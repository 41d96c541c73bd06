//! The bytes of a chunk without which no rule reports anything after the authority of a record, found in one pass over all
//! of its records.
//!
//! A mark does not mean a finding: it is a place to look at ([`super::quiet`]). Most records have none. What a byte means depends on
//! the component that it is in, which is not known here; so more is marked than any component needs.

use super::{names, path, shape};
use crate::chunk::{Padded, Span};
use crate::grammar::class::{ByteClass, DIGIT, UNRESERVED};
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
    /// Finds the marks of `text`, whose records may lie side by side.
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
            let block = text.block(at);
            let ahead = [text.block(at + 1), text.block(at + 2), text.block(at + 3)];
            let percents = isa.equal(block, b'%');
            let ask = isa.equal(block, b'/') & begin(isa, ahead, &DEVICES)
                | isa.members(block, &ENDS)
                | if percents != 0 { percents & encodes_doubtful(isa, ahead) } else { 0 };
            let mut found =
                isa.members(block, &ALWAYS) | isa.equal(block, b'.') & isa.equal(ahead[0], b'.');
            for bit in Bits(ask) {
                found |= u64::from(is_mark(text.padded(), at + bit as usize)) << bit;
            }
            for bit in Bits(begin(isa, [block, ahead[0], ahead[1]], &TOKENS)) {
                let is_one = shape::begins(&text.padded()[at + bit as usize..]);
                found |= u64::from(is_one) << bit;
            }
            found &= low_bits(text.len() - at);
            if found != 0 {
                marks.push(at, found);
            }
        }
    }
}

/// The percent signs before `ahead`, the blocks one and two bytes further on, that may encode a byte that is doubtful somewhere.
#[inline(always)]
fn encodes_doubtful<I: Isa>(isa: I, [high, low, _]: [&[u8; BLOCK]; 3]) -> u64 {
    /// For some first digits, all second ones; and some of both.
    static ANY: NibbleTables = nibble_tables(ByteClass::of(b"01467"));
    static SIGN: NibbleTables = nibble_tables(ByteClass::of(b"257DdEeFf"));
    static NUMBER: NibbleTables = nibble_tables(DIGIT.or(ByteClass::of(b"Dd")));
    static LETTER: NibbleTables = nibble_tables(DIGIT.or(ByteClass::of(b"AaCcFf")));
    static LEAD: NibbleTables = nibble_tables(ByteClass::of(b"CcEeFf"));
    static OVERLONG: NibbleTables = nibble_tables(ByteClass::of(b"01"));
    isa.members(high, &ANY)
        | isa.equal(high, b'2') & isa.members(low, &SIGN)
        | isa.equal(high, b'3') & isa.members(low, &NUMBER)
        | isa.equal(high, b'5') & isa.members(low, &LETTER)
        | isa.members(high, &LEAD) & isa.members(low, &OVERLONG)
}

/// Whether what may be a mark at `at` of `text` is one. What precedes and what follows may be of another record.
#[inline(never)]
fn is_mark(text: &[u8], at: usize) -> bool {
    match text[at] {
        b'=' => names::may_be_secret(text, at) && names::may_end_name(text, at),
        b'%' => match WHERE_DOUBTFUL[usize::from(decoded_byte(&text[at..]))] {
            Where::Nowhere => false,
            Where::Anywhere => true,
            Where::InHead => is_in_head(text, at),
        },
        b'/' => path::begins_like_device(&text[at + 1..]),
        _ => ends_reference(text, at),
    }
}

/// Whether a character reference may end at `at` of `text`, where a semicolon is.
fn ends_reference(text: &[u8], at: usize) -> bool {
    /// The bytes of the longest reference.
    const LONGEST: usize = 34;
    memchr::memrchr(b'&', &text[at.saturating_sub(LONGEST)..at]).is_some()
}

/// Whether the triplet at `at` of `text`, of a byte that needs none, may be one of the first three of a segment, or of a token: only
/// there it hides something.
fn is_in_head(text: &[u8], at: usize) -> bool {
    // What precedes it in the segment is not encoded, or has been marked.
    text[at.saturating_sub(3)..at].contains(&b'/') || shape::may_have_encoded(text, at)
}

/// What ends a name and a character reference.
static ENDS: NibbleTables = nibble_tables(ByteClass::of(b"=;"));

/// Bytes of a userinfo and of strings in JSON.
static ALWAYS: NibbleTables = nibble_tables(ByteClass::of(b"@\"'"));

/// Where a byte that is encoded is marked.
#[derive(Clone, Copy)]
enum Where {
    Nowhere,
    Anywhere,
    /// Where [`is_in_head`] is true.
    InHead,
}

/// Bytes that are acted upon or misread, or part of what is searched for secrets; and those that need no triplet.
static WHERE_DOUBTFUL: [Where; 256] = {
    const ANYWHERE: ByteClass = ByteClass::range(0, 0x1F).or(ByteClass::of(b"\x7F%/\\.@\"'="));
    let mut table = [Where::Nowhere; 256];
    let mut byte = 0;
    while byte < 256 {
        // Some begin overlong UTF-8.
        if ANYWHERE.has(byte as u8) || matches!(byte, 0xC0 | 0xC1 | 0xE0 | 0xF0) {
            table[byte] = Where::Anywhere;
        } else if UNRESERVED.has(byte as u8) {
            table[byte] = Where::InHead;
        }
        byte += 1;
    }
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
