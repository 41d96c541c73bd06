//! Page headers of Parquet, checked before the decoder allocates memory.
//!
//! The decoder trusts what the header of a page claims, up to 2 GiB of content and 2^31 values of a dictionary; if memory
//! does not suffice, the process aborts. So all headers of a row group are read in advance, and the row group is decoded
//! only if
//!
//! - its column chunks lie within the file, and each page within its chunk;
//! - a page claims no more content than its codec can represent in its bytes;
//! - a dictionary claims no more values than its content has room for;
//! - the largest pages of all columns claim at most [`MOST_BYTES`] in all.
//!
//! What the content of a page represents is checked when it is there: see [`super::content`].

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use parquet::arrow::ProjectionMask;
use parquet::basic::{Compression, Type};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use crate::{parquet::lengths, parquet::unpack};
use uriscan_files::escape::counted;

/// The most bytes that the largest pages of the columns of a row group may claim in all.
const MOST_BYTES: u64 = 4 << 30;

/// Bytes that are read at a time: headers are short, and pages are skipped.
const BUFFER_BYTES: usize = 512;

/// Levels of structures in a header; valid ones have three.
const MOST_LEVELS: u32 = 16;

/// For each column of a row group whose pages are decompressed by [`unpack`]: what their headers claim, in order.
pub(crate) type Claims = Vec<Vec<u32>>;

/// Checks the headers of all pages of the `columns` of `group`, which is a row group of the file `file` of `file_bytes`.
///
/// # Errors
/// What is wrong, with the offset in the file.
pub(crate) fn check(
    file: impl Read + Seek,
    file_bytes: u64,
    group: &RowGroupMetaData,
    columns: &ProjectionMask,
) -> Result<Claims, String> {
    let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
    let mut sum = 0u64;
    let mut claims = vec![Vec::new(); group.num_columns()];
    let chunks = group.columns().iter().zip(&mut claims).enumerate();
    for (_, (column, claims)) in chunks.filter(|(leaf, _)| columns.leaf_included(*leaf)) {
        let (start, len) = column.byte_range();
        if start.checked_add(len).is_none_or(|end| end > file_bytes) {
            let name = column.column_path();
            return Err(format!("the column {name} extends past the end of the file"));
        }
        let mut at = start;
        file.seek(SeekFrom::Start(start)).map_err(|error| error.to_string())?;
        // The content of a dictionary is in memory beside that of a page.
        let (mut largest, mut largest_dictionary) = (0, 0);
        while at < start + len {
            let header = header_at(&mut file, at, start + len)
                .map_err(|what| format!("byte {at}: the header of a page is corrupt: {what}"))?;
            let page = header.check(column).map_err(|what| format!("byte {at}: {what}"))?;
            let of_kind =
                if header.is_dictionary() { &mut largest_dictionary } else { &mut largest };
            *of_kind = page.max(*of_kind);
            if unpack::is_ours(column.compression()) && !header.is_index() {
                claims.push(header.content);
            }
            at += header.len + u64::from(header.packed);
            file.seek_relative(i64::from(header.packed)).map_err(|error| error.to_string())?;
        }
        sum += largest + largest_dictionary;
    }
    if sum > MOST_BYTES {
        return Err(format!(
            "the pages of a row group claim {sum} bytes, more than the limit of {MOST_BYTES}; write smaller pages"
        ));
    }
    Ok(claims)
}

/// The part of a page header that decides about memory.
#[derive(Debug, Default)]
struct Header {
    len: u64,
    kind: i64,
    /// Bytes of the content, and of the page in the file.
    content: u32,
    packed: u32,
    /// Values of a dictionary.
    values: u32,
}

/// The next header of `file`, which is at `at` of a column chunk that ends at `end`.
fn header_at(file: &mut impl Read, at: u64, end: u64) -> Result<Header, String> {
    let mut input = Compact::new(file.by_ref().take(end - at));
    let mut header = input.header().map_err(|error| error.to_string())?;
    let left = input.input.limit();
    header.len = end - at - left;
    if u64::from(header.packed) > left {
        return Err("the page extends past its column".to_owned());
    }
    Ok(header)
}

impl Header {
    /// Whether the page holds an index, which readers skip.
    fn is_index(&self) -> bool {
        const INDEX_PAGE: i64 = 1;
        self.kind == INDEX_PAGE
    }

    fn is_dictionary(&self) -> bool {
        const DICTIONARY_PAGE: i64 = 2;
        self.kind == DICTIONARY_PAGE
    }

    /// Bytes of memory for the page, if the claims of its header are possible in `column`.
    fn check(&self, column: &ColumnChunkMetaData) -> Result<u64, String> {
        let (content, packed) = (u64::from(self.content), u64::from(self.packed));
        let content = match ratio(column.compression()) {
            None => packed,
            Some(ratio) if content > packed.saturating_mul(ratio) => {
                let packed = counted(packed, "byte");
                return Err(format!("a page of {packed} claims to hold {content}"));
            }
            Some(_) => content,
        };
        let width = width(column.column_type(), column.column_descr().type_length());
        let values = u64::from(self.values);
        if values.saturating_mul(width) > content {
            let (content, values) = (counted(content, "byte"), counted(values, "value"));
            return Err(format!("a dictionary of {content} claims to hold {values}"));
        }
        Ok(content)
    }
}

/// Bytes that one byte of a page can represent; `None` if pages are not compressed.
fn ratio(codec: Compression) -> Option<u64> {
    Some(match codec {
        Compression::UNCOMPRESSED => return None,
        // A copy of 64 bytes takes three.
        Compression::SNAPPY => 64 / 2,
        // Two bits repeat 258 bytes.
        Compression::GZIP(_) => 258 * 4,
        // A run whose length is in bytes of up to 255.
        Compression::LZ4 | Compression::LZ4_RAW => 255,
        // A block of 128 KiB takes at least four bytes.
        Compression::ZSTD(_) => (128 << 10) / 4,
        // Some bytes repeat up to 16 MiB.
        Compression::BROTLI(_) | Compression::LZO => 16 << 20,
    })
}

/// Bytes that a value takes at least, in a dictionary and in memory.
pub(crate) fn width(of: Type, type_length: i32) -> u64 {
    match of {
        Type::BOOLEAN => 1,
        Type::INT32 | Type::FLOAT => 4,
        Type::INT64 | Type::DOUBLE => 8,
        Type::INT96 => 12,
        // A length.
        Type::BYTE_ARRAY => 4,
        Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(type_length).unwrap_or(0).max(1),
    }
}

/// The compact protocol of Thrift, as far as page headers and footers need it.
pub(crate) struct Compact<R> {
    input: R,
    levels: u32,
}

/// A field of a structure: its number and its type.
pub(crate) type Field = (i64, u8);

const I32: u8 = 5;
const STRUCT: u8 = 12;

impl<R: Read> Compact<R> {
    pub(crate) fn new(input: R) -> Compact<R> {
        Compact { input, levels: 0 }
    }

    fn header(&mut self) -> io::Result<Header> {
        let mut header = Header::default();
        let mut last = 0;
        while let Some((number, of)) = self.field(&mut last)? {
            match (number, of) {
                (1, I32) => header.kind = self.integer()?,
                (2, I32) => header.content = self.size()?,
                (3, I32) => header.packed = self.size()?,
                (7, STRUCT) => {
                    let mut last = 0;
                    while let Some((number, of)) = self.field(&mut last)? {
                        match (number, of) {
                            (1, I32) => header.values = self.size()?,
                            (_, of) => self.skip(of)?,
                        }
                    }
                }
                (_, of) => self.skip(of)?,
            }
        }
        Ok(header)
    }

    /// The next field after number `last`, which it becomes; `None` at the end of the structure.
    pub(crate) fn field(&mut self, last: &mut i64) -> io::Result<Option<Field>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        *last = match byte >> 4 {
            0 => self.integer()?,
            step => last.saturating_add(i64::from(step)),
        };
        Ok(Some((*last, byte & 0xF)))
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn unsigned(&mut self) -> io::Result<u64> {
        lengths::unsigned(|| self.byte())?.ok_or_else(|| invalid(lengths::LONG))
    }

    fn integer(&mut self) -> io::Result<i64> {
        self.unsigned().map(lengths::signed)
    }

    /// A number of bytes or values, which fits 31 bits.
    fn size(&mut self) -> io::Result<u32> {
        let size = i32::try_from(self.integer()?).ok().and_then(|size| u32::try_from(size).ok());
        size.ok_or_else(|| invalid("a size is impossible"))
    }

    fn skip_bytes(&mut self, count: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.input.by_ref().take(count), &mut io::sink())?;
        if skipped == count { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// The number and the type of the elements of a list, which follow.
    pub(crate) fn list(&mut self) -> io::Result<(u64, u8)> {
        let byte = self.byte()?;
        let count = match byte >> 4 {
            15 => self.unsigned()?,
            count => u64::from(count),
        };
        Ok((count, byte & 0xF))
    }

    /// Skips a value of a type of fields.
    pub(crate) fn skip(&mut self, of: u8) -> io::Result<()> {
        match of {
            // Booleans are part of the type.
            1 | 2 => Ok(()),
            of => self.skip_element(of),
        }
    }

    /// Skips a value of a type of elements, where a boolean takes a byte.
    fn skip_element(&mut self, of: u8) -> io::Result<()> {
        self.levels += 1;
        if self.levels > MOST_LEVELS {
            return Err(invalid("it is nested too deeply"));
        }
        match of {
            1..=3 => self.skip_bytes(1)?,
            4..=6 => drop(self.unsigned()?),
            7 => self.skip_bytes(8)?,
            8 => {
                let len = self.unsigned()?;
                self.skip_bytes(len)?;
            }
            9 | 10 => {
                let (count, of) = self.list()?;
                // Each element takes at least a byte, so the end of the input bounds this.
                for _ in 0..count {
                    self.skip_element(of)?;
                }
            }
            11 => {
                let count = self.unsigned()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                for _ in 0..count {
                    self.skip_element(kinds >> 4)?;
                    self.skip_element(kinds & 0xF)?;
                }
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, of)) = self.field(&mut last)? {
                    self.skip(of)?;
                }
            }
            13 => self.skip_bytes(16)?,
            _ => return Err(invalid("a field has an unknown type")),
        }
        self.levels -= 1;
        Ok(())
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::basic::{GzipLevel, ZstdLevel};
    use parquet::file::metadata::ParquetMetaData;
    use parquet::file::properties::{WriterProperties, WriterVersion};

    use super::*;

    fn codecs() -> [Compression; 5] {
        [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::default()),
            Compression::LZ4_RAW,
            Compression::ZSTD(ZstdLevel::default()),
        ]
    }

    /// A table whose content is as compressible as can be, or not at all.
    fn written(codec: Compression, version: WriterVersion, is_dull: bool) -> Vec<u8> {
        let text =
            |i: usize| if is_dull { "x".repeat(5_000) } else { format!("http://h/{}", i * i) };
        let urls = StringArray::from_iter_values((0..800).map(text));
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values((0..800).map(|i| i % 90)));
        let batch =
            RecordBatch::try_from_iter([("id", ids), ("url", Arc::new(urls) as _)]).unwrap();
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_writer_version(version)
            .set_column_dictionary_enabled("url".into(), !is_dull)
            .set_max_row_group_row_count(Some(300))
            .build();
        let mut bytes = Vec::new();
        let mut writer =
            ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn metadata(bytes: &[u8]) -> Arc<ParquetMetaData> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Arc::clone(ParquetRecordBatchReaderBuilder::try_new(file).unwrap().metadata())
    }

    fn checked(bytes: &[u8], metadata: &ParquetMetaData) -> Result<(), String> {
        metadata.row_groups().iter().try_for_each(|group| {
            check(Cursor::new(bytes), bytes.len() as u64, group, &ProjectionMask::all()).map(drop)
        })
    }

    #[test]
    fn what_is_written_passes() {
        for codec in codecs() {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                for is_dull in [false, true] {
                    let bytes = written(codec, version, is_dull);
                    assert_eq!(checked(&bytes, &metadata(&bytes)), Ok(()), "{codec:?} {is_dull}");
                }
            }
        }
    }

    /// The header of a page of `packed` bytes that claims `content`, and of a dictionary of `values` if there are some.
    fn forged(content: u32, packed: u32, values: Option<u32>) -> Vec<u8> {
        let number = |value: u32| lengths::tests::number(u64::from(value) << 1);
        let kind = if values.is_some() { 2 } else { 0 };
        let mut header =
            [&[0x15][..], &number(kind), &[0x15], &number(content), &[0x15], &number(packed)]
                .concat();
        if let Some(values) = values {
            // The structure is field 7, and its encoding the second field.
            header.extend([&[0x4C, 0x15][..], &number(values), &[0x15, 0, 0]].concat());
        }
        header.push(0);
        header
    }

    #[test]
    fn impossible_claims_are_refused_with_their_offset() {
        for (codec, content, values, what) in [
            (Compression::SNAPPY, i32::MAX as u32, None, "claims to hold 2147483647"),
            (codecs()[4], i32::MAX as u32, None, "claims to hold 2147483647"),
            (
                Compression::UNCOMPRESSED,
                0,
                Some(i32::MAX as u32),
                "claims to hold 2147483647 values",
            ),
            (
                Compression::SNAPPY,
                90,
                Some(50),
                "a dictionary of 90 bytes claims to hold 50 values",
            ),
        ] {
            let bytes = written(codec, WriterVersion::PARQUET_1_0, false);
            let metadata = metadata(&bytes);
            let start = metadata.row_group(0).column(0).byte_range().0 as usize;
            let header = forged(content, 60, values);
            let mut bytes = bytes;
            bytes[start..start + header.len()].copy_from_slice(&header);
            let error = checked(&bytes, &metadata).unwrap_err();
            assert!(error.starts_with(&format!("byte {start}: ")), "{error}");
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn no_header_panics_or_runs_past_its_column() {
        let bytes = written(Compression::SNAPPY, WriterVersion::PARQUET_2_0, false);
        let metadata = metadata(&bytes);
        let start = metadata.row_group(0).column(0).byte_range().0 as usize;
        let mut refused = 0;
        for at in start..start + 60 {
            for value in 0..=255 {
                let mut bytes = bytes.clone();
                bytes[at] = value;
                refused += u32::from(checked(&bytes, &metadata).is_err());
            }
        }
        assert!(refused > 1_000, "{refused}");
        let error = checked(&bytes[..start + 40], &metadata).unwrap_err();
        assert!(error.contains("extends past the end of the file"), "{error}");
        // Structures within structures.
        let mut nested = bytes;
        nested[start..start + 60].fill(0x1C);
        let error = checked(&nested, &metadata).unwrap_err();
        assert!(error.contains("nested too deeply"), "{error}");
    }
}
