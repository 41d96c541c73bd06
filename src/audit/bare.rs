//! Rules out that a record has something to mask, by its bytes without percent-encoding: most records with triplets have
//! nothing, and to search them byte by byte ([`super::search`]) takes many times as long as all else.

use super::{secret, shape};
use crate::grammar::class::ByteClass;
use crate::index::{Bits, Record, low_bits};
use crate::simd::table::{NibbleTables, nibble_tables};
use crate::simd::{BLOCK, Isa, Task};
use crate::uri::fast::decode;

/// The longest record that is looked at.
const LONGEST: usize = 4 * BLOCK;

/// A record without its percent-encoding, and what wide stores write after it and looks ahead read.
type Bare = [u8; LONGEST + 3 * BLOCK];

/// Bytes of a userinfo and of strings in JSON.
pub(super) static MARKS: NibbleTables = nibble_tables(ByteClass::of(b"@\"'"));

/// Whether `record` surely has nothing to mask. Says no of others, too: of long ones, and of those in which a percent sign is
/// encoded or encodes nothing.
///
/// All that the search finds has an `@`, a quote, an `=` after the end of a secret name, or a token, perhaps encoded.
#[inline(always)]
pub(super) fn holds_no_secret<I: Isa>(isa: I, record: Record<'_>) -> bool {
    isa.call(Look(record))
}

struct Look<'a>(Record<'a>);

impl Task for Look<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        let mut bare: Bare = [0; _];
        let Some(len) = write_bare(isa, self.0, &mut bare) else { return false };
        let text = &bare[..len];
        for at in (0..len).step_by(BLOCK) {
            let block = |ahead: usize| bare[at + ahead..].first_chunk().expect("within the room");
            let inside = low_bits(len - at);
            let marks = isa.members(block(0), &MARKS) & inside;
            let equals = isa.equal(block(0), b'=') & inside;
            let tokens = token_beginnings(isa, [block(0), block(1), block(2)]) & inside;
            if marks != 0
                || Bits(equals).any(|bit| may_end_name(text, at + bit as usize))
                || Bits(tokens).any(|bit| shape::end_of(text, at + bit as usize).is_some())
            {
                return false;
            }
        }
        true
    }
}

/// Whether the name of a secret may end before the `=` at `equals` of `text`. An `=` that was encoded may be part of a name.
#[inline(always)]
fn may_end_name(text: &[u8], equals: usize) -> bool {
    secret::may_be_secret(text, equals) && secret::may_end_name(text, equals, b"&;?#")
}

/// Writes the bytes of `record` with its triplets decoded to `bare`; returns their number. What separates parameters is written
/// as another delimiter where it was encoded: it may be part of a name.
#[inline(always)]
fn write_bare<I: Isa>(isa: I, record: Record<'_>, bare: &mut Bare) -> Option<usize> {
    let len = record.len();
    if len > LONGEST {
        return None;
    }
    let (mut copied, mut to) = (0, 0);
    for at in (0..len).step_by(BLOCK) {
        for bit in Bits(isa.equal(record.block(at), b'%') & low_bits(len - at)) {
            let at = at + bit as usize;
            let is_triplet = at + 2 < len
                && record.byte(at + 1).is_ascii_hexdigit()
                && record.byte(at + 2).is_ascii_hexdigit();
            let byte = decode(record, at);
            if !is_triplet || byte == b'%' {
                return None;
            }
            copy(record, copied..at, bare, to);
            to += at - copied;
            bare[to] = if b"&;?#".contains(&byte) { b'/' } else { byte };
            (copied, to) = (at + 3, to + 1);
        }
    }
    copy(record, copied..len, bare, to);
    Some(to + len - copied)
}

/// Copies bytes of `record`, block by block.
#[inline(always)]
fn copy(record: Record<'_>, from: core::ops::Range<usize>, bare: &mut Bare, to: usize) {
    for (i, at) in from.step_by(BLOCK).enumerate() {
        bare[to + i * BLOCK..][..BLOCK].copy_from_slice(record.block(at));
    }
}

/// The bytes of a block that begin with the first three bytes of a token (or of some other words); the others are the blocks one and
/// two bytes further on.
#[inline(always)]
pub(super) fn token_beginnings<I: Isa>(isa: I, [first, second, third]: [&[u8; BLOCK]; 3]) -> u64 {
    static BYTES: [NibbleTables; 3] = [of_tokens(0), of_tokens(1), of_tokens(2)];
    const fn of_tokens(place: usize) -> NibbleTables {
        nibble_tables(ByteClass::of(&shape::nth_bytes(place)))
    }
    isa.members(first, &BYTES[0]) & isa.members(second, &BYTES[1]) & isa.members(third, &BYTES[2])
}
