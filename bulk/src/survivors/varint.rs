//! Numbers in few bytes (LEB128): seven bits a byte, the lowest first, the top bit of all bytes but the last set.

pub(super) const MAX_BYTES: usize = 10;

#[inline]
pub(crate) fn push(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The number at `at` in `bytes`; `at` moves past it.
#[inline]
pub(crate) fn take(bytes: &[u8], at: &mut usize) -> u64 {
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
        let mut bytes = Vec::new();
        let numbers: Vec<u64> = (0..=64)
            .map(|i| u64::MAX.checked_shr(i).unwrap_or(0))
            .flat_map(|number| [number, number ^ 1, number / 3])
            .collect();
        for &number in &numbers {
            let start = bytes.len();
            push(number, &mut bytes);
            assert!(bytes.len() - start <= MAX_BYTES);
        }
        let mut at = 0;
        numbers.iter().for_each(|&number| assert_eq!(take(&bytes, &mut at), number));
        assert_eq!(at, bytes.len());
    }
}
