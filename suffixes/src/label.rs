//! The labels of a name from its end, eight bytes at a time.

const BYTES: usize = size_of::<u64>();

/// Where the last label of the name at the bytes from `start` to `end` of `text` begins, and the hash of a name that consists of
/// it and one that has the hash `rest`; 0 is that of no name.
#[inline(always)]
pub(crate) const fn last_label(text: &[u8], start: usize, end: usize, rest: u64) -> (usize, u64) {
    let (mut end, mut hash) = (end, rest);
    loop {
        let word = last_bytes(text, start, end);
        let dots = dots(word);
        // Above the last dot, if there is one: what is before the name is 0.
        let label = if dots == 0 { word } else { word & !(u64::MAX >> dots.leading_zeros()) };
        hash = (hash.rotate_left(29) ^ label).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        if dots != 0 {
            return (end - dots.leading_zeros() as usize / 8, hash);
        }
        if end - start < BYTES {
            return (start, hash);
        }
        end -= BYTES;
    }
}

/// The last of the bytes from `start` to `end` of `text`, the last one as the highest, and zeros if they are fewer.
#[inline(always)]
const fn last_bytes(text: &[u8], start: usize, end: usize) -> u64 {
    if end - start >= BYTES {
        // One load, but for the compiler, for which calls in constants take long.
        let (t, at) = (text, end - BYTES);
        assert!(end <= text.len());
        return u64::from_le_bytes([
            t[at],
            t[at + 1],
            t[at + 2],
            t[at + 3],
            t[at + 4],
            t[at + 5],
            t[at + 6],
            t[at + 7],
        ]);
    }
    let (mut word, mut at) = (0, start);
    while at < end {
        word = word >> 8 | (text[at] as u64) << (u64::BITS - 8);
        at += 1;
    }
    word
}

/// The highest bit of each byte of `word` that is a dot.
#[inline(always)]
const fn dots(word: u64) -> u64 {
    const LOW: u64 = u64::MAX / 0xFF * 0x7F;
    let other = word ^ (u64::MAX / 0xFF * b'.' as u64);
    // No sum is more than a byte.
    !(((other & LOW) + LOW) | other | LOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_all_lengths_end_at_the_last_dot() {
        for len in 0..40 {
            for dot in 0..=len {
                let mut name = vec![b'a'; len];
                name.get_mut(dot).into_iter().for_each(|byte| *byte = b'.');
                let start = if dot < len { dot + 1 } else { 0 };
                assert_eq!(last_label(&name, 0, len, 0).0, start, "{len} {dot}");
                // What is before the label does not count, and other bytes that resemble dots are none.
                name.iter_mut().take(dot).for_each(|byte| *byte = b'\xAE');
                let (alone, within) = (&name[start..], last_label(&name, 0, len, 7));
                assert_eq!(within, (start, last_label(alone, 0, alone.len(), 7).1));
            }
        }
    }

    #[test]
    fn a_dot_is_found_in_each_place() {
        for byte in 0..=255u8 {
            for place in 0..8 {
                let word = u64::from(byte) << (8 * place);
                let expected = if byte == b'.' { 0x80 << (8 * place) } else { 0 };
                assert_eq!(dots(word), expected, "{byte} {place}");
            }
        }
        assert_eq!(dots(u64::from_le_bytes(*b".-/.\xAE..\0")), 0x0080_8000_8000_0080);
    }
}
