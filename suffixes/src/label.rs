//! The labels of a name from its end, and hashes of names.

const BYTES: usize = size_of::<u64>();

/// The hash of a name: its first label has `len` bytes and ends with `last`, and the rest has the hash `rest`, 0 if there is none.
/// Different names may share a hash.
#[inline(always)]
pub(crate) const fn hash(rest: u64, last: u64, len: usize) -> u64 {
    (rest.rotate_left(29) ^ last ^ len as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The last eight bytes of `text` from `start` to `end`, the last one as the highest, and zeros if they are fewer.
pub(crate) const fn last_bytes(text: &[u8], start: usize, end: usize) -> u64 {
    let mut at = if end - start > BYTES { end - BYTES } else { start };
    let mut word = 0;
    while at < end {
        word = word >> 8 | (text[at] as u64) << (u64::BITS - 8);
        at += 1;
    }
    word
}

/// The last `len` of the eight bytes of `word`, with zeros in place of the others.
#[inline(always)]
pub(crate) const fn of_last(word: u64, len: usize) -> u64 {
    const MASKS: [u64; BYTES + 1] = {
        let mut masks = [0; BYTES + 1];
        let mut len = 1;
        while len <= BYTES {
            masks[len] = u64::MAX << (8 * (BYTES - len));
            len += 1;
        }
        masks
    };
    word & MASKS[if len < BYTES { len } else { BYTES }]
}

/// The highest bit of each byte of `word` that is `byte`, which is ASCII.
#[inline(always)]
const fn equal(word: u64, byte: u8) -> u64 {
    let other = word ^ (EACH * byte as u64);
    // No sum is more than a byte.
    !(((other & LOW) + LOW) | other | LOW)
}

/// `word` with ASCII letters in lower case.
#[inline(always)]
const fn lower(word: u64) -> u64 {
    let low = word & LOW;
    let (from_a, after_z) = (low + EACH * (0x80 - b'A' as u64), low + EACH * (0x7F - b'Z' as u64));
    word | (from_a & !after_z & !word & !LOW) >> 2
}

/// A byte in each byte of a word, times this.
const EACH: u64 = u64::MAX / 0xFF;
const LOW: u64 = EACH * 0x7F;

/// A name, label by label.
pub(crate) trait Labels {
    /// Where the label that ends at byte `end` begins.
    fn start(&self, end: usize) -> usize;

    /// Its bytes, with letters in any case.
    fn bytes(&self) -> &[u8];

    /// Whether a percent sign is among them.
    fn has_percent(&self) -> bool;

    /// The last eight of the bytes from `start` to `end` in lower case, as [`last_bytes`].
    #[inline(always)]
    fn tail(&self, start: usize, end: usize) -> u64 {
        of_last(lower(before(self.bytes(), end)), end - start)
    }
}

/// The eight bytes of `text` before `end`, the last one as the highest, and zeros if they are fewer.
#[inline(always)]
fn before(text: &[u8], end: usize) -> u64 {
    match (text[..end].last_chunk(), text.first_chunk()) {
        (Some(word), _) => u64::from_le_bytes(*word),
        (None, Some(word)) if end > 0 => u64::from_le_bytes(*word) << (8 * (BYTES - end)),
        _ => last_bytes(text, 0, end),
    }
}

/// A name of any length.
pub(crate) struct Long<'n>(pub(crate) &'n [u8]);

impl Labels for Long<'_> {
    fn start(&self, end: usize) -> usize {
        self.0[..end].iter().rposition(|&byte| byte == b'.').map_or(0, |dot| dot + 1)
    }

    fn bytes(&self) -> &[u8] {
        self.0
    }

    fn has_percent(&self) -> bool {
        self.0.contains(&b'%')
    }
}

/// The longest [`Short`] name. Nearly all are shorter.
const LONGEST: usize = u64::BITS as usize - 1;

/// A name of less than 64 bytes, whose labels are found without loops.
pub(crate) struct Short<'n> {
    bytes: &'n [u8],
    /// A bit for each byte that is a dot.
    dots: u64,
    has_percent: bool,
}

impl<'n> Short<'n> {
    /// `bytes`; `None` if they are more.
    #[inline(always)]
    pub(crate) fn new(bytes: &'n [u8]) -> Option<Short<'n>> {
        if bytes.len() > LONGEST {
            return None;
        }
        let (mut dots, mut percents, mut end) = (0, 0, bytes.len());
        while end > 0 {
            let word = before(bytes, end);
            percents |= equal(word, b'%');
            let bits = (equal(word, b'.') >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            let start = end.saturating_sub(BYTES);
            dots |= bits >> (BYTES - (end - start)) << start;
            end = start;
        }
        Some(Short { bytes, dots, has_percent: percents != 0 })
    }
}

impl Labels for Short<'_> {
    #[inline(always)]
    fn start(&self, end: usize) -> usize {
        let before = self.dots & ((1 << end) - 1);
        (u64::BITS - before.leading_zeros()) as usize
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        self.bytes
    }

    #[inline(always)]
    fn has_percent(&self) -> bool {
        self.has_percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_short_names_are_those_of_all() {
        for len in 0..=LONGEST {
            for dot in 0..=len {
                let mut name: Vec<u8> = (0..len).map(|at| b'A' + (at % 26) as u8).collect();
                name.get_mut(dot).into_iter().for_each(|byte| *byte = b'.');
                name.get_mut(dot + 9).into_iter().for_each(|byte| *byte = b'%');
                let (short, long) = (Short::new(&name).unwrap(), Long(&name));
                assert_eq!(short.has_percent(), long.has_percent());
                for end in 0..=len {
                    let start = short.start(end);
                    assert_eq!(start, long.start(end), "{len} {dot} {end}");
                    assert_eq!(start, if dot < end { dot + 1 } else { 0 });
                    let lower = name.to_ascii_lowercase();
                    assert_eq!(short.tail(start, end), last_bytes(&lower, start, end));
                }
            }
        }
        assert!(Short::new(&[b'a'; LONGEST + 1]).is_none());
    }

    #[test]
    fn bytes_are_compared_and_made_lower_case_in_each_place() {
        for byte in 0..=255u8 {
            for place in 0..8 {
                let word = u64::from(byte) << (8 * place);
                let expected = if byte == b'.' { 0x80 << (8 * place) } else { 0 };
                assert_eq!(equal(word, b'.'), expected, "{byte} {place}");
                let expected = u64::from(byte.to_ascii_lowercase()) << (8 * place);
                assert_eq!(lower(word), expected, "{byte} {place}");
            }
        }
        let word = u64::from_le_bytes(*b".-/.\xAE..\0");
        assert_eq!(equal(word, b'.'), 0x0080_8000_8000_0080);
        assert_eq!(lower(u64::from_le_bytes(*b"@AZ[`az{")).to_le_bytes(), *b"@az[`az{");
    }

    #[test]
    fn last_bytes_are_followed_by_none() {
        assert_eq!(last_bytes(b"abc.de", 4, 6).to_le_bytes(), *b"\0\0\0\0\0\0de");
        assert_eq!(last_bytes(b"0123456789", 1, 10).to_le_bytes(), *b"23456789");
        let last = of_last(u64::from_le_bytes(*b"xx23456\0"), 3);
        assert_eq!(last.to_le_bytes(), [0, 0, 0, 0, 0, b'5', b'6', 0]);
        assert_eq!(last_bytes(b"abc", 2, 2), 0);
    }
}
