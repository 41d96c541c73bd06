//! Numbers in few bytes: seven bits a byte, the lowest first, the top bit of all bytes but the last set.

/// The longest number.
const LONGEST: usize = 10;

/// A few numbers, and perhaps bytes before them.
pub(super) struct Head {
    bytes: [u8; Head::KEY + 3 * LONGEST],
    len: usize,
}

impl Head {
    /// Bytes that there is room for beside three numbers.
    pub(super) const KEY: usize = size_of::<u128>();

    pub(super) fn new() -> Head {
        Head { bytes: [0; Head::KEY + 3 * LONGEST], len: 0 }
    }

    /// One that begins with `key`.
    #[inline]
    pub(super) fn of_key(key: u128) -> Head {
        let mut head = Head::new();
        head.bytes[..Head::KEY].copy_from_slice(&key.to_le_bytes());
        head.len = Head::KEY;
        head
    }

    /// Adds one of up to three numbers.
    #[inline]
    pub(super) fn push(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes[self.len] = number as u8 | 0x80;
            self.len += 1;
            number >>= 7;
        }
        self.bytes[self.len] = number as u8;
        self.len += 1;
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The number that stands in `bytes` from `at` on, which moves behind it.
#[inline]
pub(super) fn take(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return number;
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_lengths_come_back() {
        for i in 0..=64 {
            let number = u64::MAX.checked_shr(i).unwrap_or(0);
            let mut head = Head::of_key(u128::MAX);
            let numbers = [number, number ^ 1, number / 3];
            numbers.iter().for_each(|&number| head.push(number));
            let (bytes, mut at) = (head.bytes(), Head::KEY);
            assert_eq!(bytes[..at], u128::MAX.to_le_bytes());
            assert_eq!([(); 3].map(|()| take(bytes, &mut at)), numbers);
            assert_eq!(at, bytes.len());
        }
    }
}
