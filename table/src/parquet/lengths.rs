//! What the encodings of Parquet represent, added up without decoding values.
//!
//! A few bytes can represent billions of values: a run of one key, deltas that take no bits, a prefix that is repeated.

/// Why a page is refused.
type Fault = &'static str;

const SHORT: Fault = "the page ends within its values";

/// Why a number that [`unsigned`] does not read is refused.
pub(crate) const LONG: Fault = "a number has more than 64 bits";

/// Numbers of the encoding DELTA_BINARY_PACKED: how many there are, and their sum.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Deltas {
    pub(crate) sum: u64,
    /// Number of bytes that they take.
    pub(crate) len: usize,
}

/// Adds up the lengths that `data` begins with; there may be up to `most`.
pub(crate) fn deltas(data: &[u8], most: u32) -> Result<Deltas, Fault> {
    let mut input = Input { data, at: 0 };
    let (block, minis) = (input.unsigned()?, input.unsigned()?);
    let count = input.unsigned()?;
    let mut value = input.signed()? as i32;
    if count > u64::from(most) {
        return Err("the page claims more lengths than it has values");
    }
    if count == 0 {
        return Ok(Deltas { sum: 0, len: input.at });
    }
    let per_mini = block.checked_div(minis).ok_or("a block has no parts")?;
    let mut sum = length(value)?;
    let mut left = count - 1;
    while left > 0 {
        if per_mini == 0 {
            return Err("a block has no values");
        }
        let least = input.signed()? as i32;
        let widths = usize::try_from(minis).ok().and_then(|minis| input.take(minis));
        for &width in widths.ok_or(SHORT)? {
            // The widths after the last value mean nothing.
            let width = if left == 0 { 0 } else { usize::from(width) };
            if width > 32 {
                return Err("a length has more than 32 bits");
            }
            let of_mini = left.min(per_mini);
            for number in 0..of_mini {
                let delta = input.bits(number, width)? as i32;
                value = value.wrapping_add(least).wrapping_add(delta);
                sum += length(value)?;
            }
            left -= of_mini;
            let bytes = (width as u64).checked_mul(per_mini).ok_or(SHORT)? / 8;
            // The decoder allows the padding of the last part to be absent.
            input.at =
                usize::try_from(bytes).map_or(usize::MAX, |bytes| input.at.saturating_add(bytes));
        }
    }
    Ok(Deltas { sum, len: input.at.min(data.len()) })
}

fn length(value: i32) -> Result<u64, Fault> {
    u64::try_from(value).map_err(|_| "a length is negative")
}

/// Adds up the lengths of the values whose keys are in `data`, in the encoding RLE_DICTIONARY; there are up to `most` keys.
/// Keys without a value count as nothing, as the decoder refuses them.
pub(crate) fn of_keys(data: &[u8], most: u32, lengths: &[u32]) -> Result<u64, Fault> {
    let (&width, data) = data.split_first().ok_or(SHORT)?;
    let width = usize::from(width);
    if width > 32 {
        return Err("a key has more than 32 bits");
    }
    let of = |key: u64| {
        let length = usize::try_from(key).ok().and_then(|key| lengths.get(key));
        length.map_or(0, |&length| u64::from(length))
    };
    let mut input = Input { data, at: 0 };
    let (mut sum, mut left) = (0u64, u64::from(most));
    while left > 0 && input.at < data.len() {
        let head = input.unsigned()?;
        // Padding at the end of a page.
        if head == 0 {
            break;
        }
        if head & 1 == 0 {
            let count = left.min(head >> 1);
            let key = input.take(width.div_ceil(8)).ok_or(SHORT)?;
            let key = key.iter().rev().fold(0, |key, &byte| key << 8 | u64::from(byte));
            sum = sum.saturating_add(count.saturating_mul(of(key)));
            left -= count;
            continue;
        }
        let count = left.min((head >> 1).saturating_mul(8));
        for number in 0..count {
            // The last values of a page may be absent.
            let Ok(key) = input.bits(number, width) else { return Ok(sum) };
            sum = sum.saturating_add(of(key));
        }
        left -= count;
        let bytes = usize::try_from((head >> 1).saturating_mul(width as u64)).unwrap_or(usize::MAX);
        input.at = input.at.saturating_add(bytes);
    }
    Ok(sum)
}

/// The lengths of the values of a dictionary of byte arrays.
pub(crate) fn of_dictionary(mut data: &[u8], values: u32) -> Vec<u32> {
    let mut lengths = Vec::new();
    while let Some((length, rest)) = data.split_first_chunk()
        && lengths.len() < values as usize
    {
        let length = u32::from_le_bytes(*length);
        lengths.push(length);
        data = rest.get(length as usize..).unwrap_or_default();
    }
    lengths
}

/// A number with seven bits in a byte, the lowest first, of the bytes that `next` returns; `None` if it has more than 64
/// bits.
pub(crate) fn unsigned<E>(mut next: impl FnMut() -> Result<u8, E>) -> Result<Option<u64>, E> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = next()?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// The number whose sign is in the lowest of `bits`.
pub(crate) fn signed(bits: u64) -> i64 {
    (bits >> 1).cast_signed() ^ -(bits & 1).cast_signed()
}

/// The bytes of a page, and how far they have been read.
struct Input<'d> {
    data: &'d [u8],
    at: usize,
}

impl<'d> Input<'d> {
    fn take(&mut self, count: usize) -> Option<&'d [u8]> {
        let taken = self.data.get(self.at..)?.get(..count)?;
        self.at += count;
        Some(taken)
    }

    fn unsigned(&mut self) -> Result<u64, Fault> {
        unsigned(|| self.take(1).map(|byte| byte[0]).ok_or(SHORT))?.ok_or(LONG)
    }

    fn signed(&mut self) -> Result<i64, Fault> {
        self.unsigned().map(signed)
    }

    /// The number with this `number` of those packed here, which have `width` bits, up to 32.
    fn bits(&self, number: u64, width: usize) -> Result<u64, Fault> {
        if width == 0 {
            return Ok(0);
        }
        let first = usize::try_from(number).ok().and_then(|number| number.checked_mul(width));
        let first = first.ok_or(SHORT)?;
        let start = self.at.saturating_add(first / 8);
        let bytes = self.data.get(start..).unwrap_or_default();
        let bytes = bytes.get(..(first % 8 + width).div_ceil(8)).ok_or(SHORT)?;
        let word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        Ok(word >> (first % 8) & ((1 << width) - 1))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// `value` with seven bits in a byte.
    pub(crate) fn number(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    /// A header of deltas: the length of blocks, their parts, the count, the first value (not negative).
    fn header(block: u64, minis: u64, count: u64, first: u64) -> Vec<u8> {
        [number(block), number(minis), number(count), number(2 * first)].concat()
    }

    #[test]
    fn deltas_are_added_up() {
        assert_eq!(deltas(&header(128, 4, 0, 0), 9), Ok(Deltas { sum: 0, len: 5 }));
        assert_eq!(deltas(&header(128, 4, 1, 7), 1), Ok(Deltas { sum: 7, len: 5 }));
        // 7, and 40 values that are one more each: 8 to 47, in two parts of no bits.
        let mut data = header(128, 4, 41, 7);
        data.extend([2, 0, 0, 9, 9, 0xFF]);
        let len = data.len() - 1;
        assert_eq!(deltas(&data, 41), Ok(Deltas { sum: (7..=47).sum(), len }));
        // Deltas 0 and 1 by turns, of one bit.
        let mut data = header(128, 4, 17, 10);
        data.extend([0, 1, 0, 0, 0, 0xAA, 0xAA, 0, 0]);
        let len = data.len();
        let sum = (0..17u64).map(|i| 10 + i / 2).sum();
        assert_eq!(deltas(&data, 17), Ok(Deltas { sum, len }));
        // Of the widest values, with a minimum.
        let mut data = header(128, 4, 3, 1);
        data.extend([[3, 32, 0, 0, 0], [2, 0, 0, 0, 3], [0; 5]].concat());
        assert_eq!(deltas(&data, 3).unwrap().sum, 1 + 1 + 2);
    }

    #[test]
    fn impossible_deltas_are_refused() {
        let many = header(128, 4, u64::from(u32::MAX) << 20, 0);
        assert!(deltas(&many, u32::MAX).unwrap_err().contains("more lengths"));
        assert!(deltas(&header(128, 0, 2, 0), 2).unwrap_err().contains("no parts"));
        assert!(deltas(&header(0, 4, 2, 0), 2).unwrap_err().contains("no values"));
        assert_eq!(deltas(&header(128, u64::MAX, 2, 0), 2), Err("a block has no values"));
        assert_eq!(deltas(&header(1 << 50, 1 << 40, 2, 0), 2), Err(SHORT));
        assert_eq!(deltas(&[0x80; 20], 2), Err(LONG));
        let mut data = header(128, 4, 2, 0);
        data.extend([1, 0, 0, 0, 0]);
        assert!(deltas(&data, 2).unwrap_err().contains("negative"));
        data[6] = 33;
        assert!(deltas(&data, 2).unwrap_err().contains("32 bits"));
        data[6] = 8;
        assert_eq!(deltas(&data, 2), Err(SHORT));
    }

    #[test]
    fn lengths_of_keys_are_added_up() {
        let lengths = [10, 200, 3_000];
        // A run of 1,000 times the last one; eight keys of two bits.
        let run = [&[2][..], &number(2_000), &[2]].concat();
        assert_eq!(of_keys(&run, 5_000, &lengths), Ok(3_000_000));
        assert_eq!(of_keys(&run, 4, &lengths), Ok(12_000));
        let packed = [2, 3, 0b10_01_00_00, 0b00_00_00_11];
        assert_eq!(of_keys(&packed, 8, &lengths), Ok(3_000 + 200 + 5 * 10));
        assert_eq!(of_keys(&packed[..3], 8, &lengths), Ok(3_000 + 200 + 2 * 10));
        let endless = [&[32][..], &number(u64::MAX), &[0; 9]].concat();
        assert_eq!(of_keys(&endless, u32::MAX, &lengths), Ok(20));
        assert_eq!(of_keys(&[], 1, &lengths), Err(SHORT));
        assert_eq!(of_keys(&[0, 8], 4, &lengths), Ok(40));
        assert!(of_keys(&[33, 8], 4, &lengths).is_err());
        assert_eq!(of_keys(&[8, 8], 4, &lengths), Err(SHORT));
    }

    #[test]
    fn a_dictionary_has_the_lengths_of_its_values() {
        let data = [&[2, 0, 0, 0][..], b"ab", &[0; 4], &[1, 0, 0, 0], b"c"].concat();
        assert_eq!(of_dictionary(&data, 3), [2, 0, 1]);
        assert_eq!(of_dictionary(&data, 2), [2, 0]);
        assert_eq!(of_dictionary(&data, u32::MAX), [2, 0, 1]);
        assert_eq!(of_dictionary(&[0xFF; 6], 9), [u32::MAX]);
    }
}
