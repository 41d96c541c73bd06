//! Encryption of Parquet: which columns of a file can be read with a key only.

use std::io;

use parquet::errors::{ParquetError, Result};
use parquet::file::reader::ChunkReader;

use super::pages::{Compact, Field};

/// The last bytes of a file: the length of its footer, and what says that the footer is encrypted.
const TAIL_BYTES: u64 = 8;
const MAGIC: &[u8] = b"PARE";

pub(crate) const ADVICE: &str = "there are no keys here; write it without encryption first";

pub(crate) fn refuse_footer(file: &impl ChunkReader) -> Result<()> {
    let Some(at) = file.len().checked_sub(TAIL_BYTES) else { return Ok(()) };
    if file.get_bytes(at, TAIL_BYTES as usize)?.ends_with(MAGIC) {
        return Err(ParquetError::General(format!("the file is encrypted, and {ADVICE}")));
    }
    Ok(())
}

/// The columns of the first row group of `file` that are encrypted, by their numbers.
pub(crate) fn columns(file: &impl ChunkReader) -> Vec<usize> {
    let footer = || {
        let at = file.len().checked_sub(TAIL_BYTES)?;
        let tail = file.get_bytes(at, TAIL_BYTES as usize).ok()?;
        let length = u32::from_le_bytes(*tail.first_chunk()?);
        file.get_bytes(at.checked_sub(length.into())?, length as usize).ok()
    };
    let footer = footer().unwrap_or_default();
    of_footer(&mut Compact::new(&footer[..])).unwrap_or_default()
}

const LIST: u8 = 9;
const STRUCT: u8 = 12;

fn of_footer(footer: &mut Compact<&[u8]>) -> io::Result<Vec<usize>> {
    const ROW_GROUPS: Field = (4, LIST);
    const COLUMNS: Field = (1, LIST);
    let mut encrypted = Vec::new();
    if find(footer, ROW_GROUPS)? && footer.list()?.0 > 0 && find(footer, COLUMNS)? {
        for column in 0..footer.list()?.0 as usize {
            if is_encrypted(footer)? {
                encrypted.push(column);
            }
        }
    }
    Ok(encrypted)
}

/// Skips the fields of a structure up to the content of the one that is `wanted`; returns whether it is there.
fn find(footer: &mut Compact<&[u8]>, wanted: Field) -> io::Result<bool> {
    let mut last = 0;
    while let Some(field) = footer.field(&mut last)? {
        if field == wanted {
            return Ok(true);
        }
        footer.skip(field.1)?;
    }
    Ok(false)
}

/// Whether a column chunk has metadata of its encryption.
fn is_encrypted(footer: &mut Compact<&[u8]>) -> io::Result<bool> {
    const CRYPTO_METADATA: Field = (8, STRUCT);
    let (mut is_encrypted, mut last) = (false, 0);
    while let Some(field) = footer.field(&mut last)? {
        is_encrypted |= field == CRYPTO_METADATA;
        footer.skip(field.1)?;
    }
    Ok(is_encrypted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encrypted_columns_are_found_in_the_footer() {
        // Version 1, no schema, a row group with two columns, of which the second has an empty structure as its field 8.
        let footer = [
            0x15, 2, 0x39, 0x1C, 0x19, 0x2C, 0x26, 8, 0, 0x26, 8, 0x6C, 0x1C, 0, 0, 0, 0x16, 0, 0,
            0,
        ];
        assert_eq!(of_footer(&mut Compact::new(&footer[..])).unwrap(), [1]);
        for end in 0..footer.len() {
            let _ = of_footer(&mut Compact::new(&footer[..end]));
        }
    }
}
