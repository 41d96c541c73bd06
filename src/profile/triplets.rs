//! Triplets, decoded and made, as the profiles need them.

use crate::grammar::class::UNRESERVED;

/// A set of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes([bool; 256]);

impl Bytes {
    /// The unreserved characters (2.3) and `others`.
    pub(super) const fn unreserved_and(others: &[u8]) -> Bytes {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = UNRESERVED.has(byte as u8);
            byte += 1;
        }
        let mut i = 0;
        while i < others.len() {
            table[others[i] as usize] = true;
            i += 1;
        }
        Bytes(table)
    }

    pub(super) fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte)]
    }
}

/// The byte that the triplet at byte `at` of `text` encodes, if one stands there.
pub(super) fn decoded_at(text: &[u8], at: usize) -> Option<u8> {
    let &[b'%', high, low] = text.get(at..at + 3)? else { return None };
    let value = |digit: u8| char::from(digit).to_digit(16);
    Some((value(high)? << 4 | value(low)?) as u8)
}

/// Appends `byte`, as a triplet unless it is one of `plain`.
pub(super) fn push_encoded(byte: u8, plain: &Bytes, out: &mut Vec<u8>) {
    if plain.has(byte) {
        out.push(byte);
    } else {
        let digit = |nibble: u8| b"0123456789ABCDEF"[usize::from(nibble)];
        out.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
    }
}
