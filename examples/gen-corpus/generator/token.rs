//! The part of every URI that is its id, in a shape that looks at home on the web.
//!
//! Uniqueness is by construction. An id is scattered by a bijection of 32 bits and
//! written in one of four forms, told apart by the first character; and nothing else
//! in a canonical URI has the shape of a token (see [`is_token`]). So the one token
//! of a URI can be found in it, and gives its id back.

use super::draw::{Draw, derive};

/// How a token is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Digits only, six to ten of them.
    Decimal,
    /// `a`-`f`, a digit, then lower-case hexadecimal.
    Hex,
    /// `g`-`z`, a digit, then lower-case base 36.
    Base36,
    /// `A`-`Z`, a digit, then upper-case base 36. Not for hosts, which have no case.
    Upper36,
}

/// An id's number in the text, and the two leading characters that hide its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    number: u32,
    lead: u32,
}

impl Token {
    /// The token of `id` under `seed`; different ids have different tokens.
    pub(crate) fn new(seed: u64, id: u32) -> Token {
        let key = derive(seed, 0x0074_6F6B_656E);
        // Each step can be undone, hence the whole is a bijection of 32 bits.
        let mut number = id ^ (key as u32);
        number = number.wrapping_mul(0x9E37_79B1);
        number ^= number >> 16;
        number = number.wrapping_mul(0x85EB_CA6B);
        number ^= number >> 13;
        number ^= (key >> 32) as u32;
        Token { number, lead: Draw::new(derive(key, u64::from(id))).below(u32::MAX) }
    }

    /// Appends the token in the given form.
    pub(crate) fn write(self, form: Form, out: &mut Vec<u8>) {
        let number = u64::from(self.number);
        let (first, letters) = match form {
            // The offset makes six digits the least; runs of digits elsewhere have four at most.
            Form::Decimal => return push_decimal(out, number + 100_000),
            Form::Hex => (b'a', 6),
            Form::Base36 => (b'g', 20),
            Form::Upper36 => (b'A', 26),
        };
        out.push(first + (self.lead % letters) as u8);
        out.push(b'0' + (self.lead / 26 % 10) as u8);
        match form {
            Form::Hex => push_hex(out, number),
            Form::Upper36 => push_radix::<36, b'A'>(out, number),
            _ => push_radix::<36, b'a'>(out, number),
        }
    }
}

/// Appends `number` in base `RADIX`, digits above 9 starting at `LETTER`.
///
/// Constants, because a division by an unknown number costs ten times as much.
#[inline]
fn push_radix<const RADIX: u64, const LETTER: u8>(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        let digit = (number % RADIX) as u8;
        at -= 1;
        digits[at] = if digit < 10 { b'0' + digit } else { LETTER + digit - 10 };
        number /= RADIX;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends `number` in decimal.
pub(crate) fn push_decimal(out: &mut Vec<u8>, number: u64) {
    push_radix::<10, b'a'>(out, number);
}

/// Appends `number` in lower-case hexadecimal.
pub(crate) fn push_hex(out: &mut Vec<u8>, number: u64) {
    push_radix::<16, b'a'>(out, number);
}

/// Whether a maximal run of letters and digits has the shape of a token in any form.
pub(crate) fn is_token(run: &[u8]) -> bool {
    let [first, second, rest @ ..] = run else {
        return false;
    };
    let tail = |ok: fn(&u8) -> bool| {
        second.is_ascii_digit() && (1..=8).contains(&rest.len()) && rest.iter().all(ok)
    };
    match first {
        b'0'..=b'9' => (6..=10).contains(&run.len()) && run.iter().all(u8::is_ascii_digit),
        b'a'..=b'f' => tail(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
        b'g'..=b'z' => tail(|b| matches!(b, b'0'..=b'9' | b'a'..=b'z')),
        b'A'..=b'Z' => tail(|b| matches!(b, b'0'..=b'9' | b'A'..=b'Z')),
        _ => false,
    }
}
