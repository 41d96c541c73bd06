//! Eight bytes at a time, in a word.

/// The top bits of the bytes of `word` that are `byte`.
#[inline(always)]
pub(crate) const fn equal_bytes(word: u64, byte: u8) -> u64 {
    const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let zeros = word ^ u64::from_ne_bytes([byte; 8]);
    // The top bit of a sum is set if one of the lower seven bits is.
    !(((zeros & LOW) + LOW) | zeros | LOW)
}

#[cfg(test)]
mod tests {
    use super::equal_bytes;

    #[test]
    fn equal_bytes_are_found_in_each_place() {
        for byte in 0..=255 {
            for other in 0..=255 {
                for place in 0..8 {
                    let mut word = [other; 8];
                    word[place] = byte;
                    let expected = word.map(|it| if it == byte { 0x80 } else { 0 });
                    let found = equal_bytes(u64::from_le_bytes(word), byte);
                    assert_eq!(found.to_le_bytes(), expected, "{byte} {other}");
                }
            }
        }
    }
}
