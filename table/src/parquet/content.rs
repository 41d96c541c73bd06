//! Row groups of Parquet, whose pages are checked when they have been decompressed and before they are decoded.
//!
//! What a page represents can be any multiple of its bytes, and the decoder allocates memory for it; so what all pages of a
//! unit represent is added up in advance, and may be [`MOST_BYTES`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_schema::DataType;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, RowGroups};
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescPtr;

use super::pages::{Claims, width};
use crate::{parquet::lengths, parquet::unpack};
use uriscan_files::escape::counted;

/// The most bytes that the row groups of a unit may hold once they are decoded.
pub(crate) const MOST_BYTES: u64 = 4 << 30;

/// Bytes for which keys need not be looked at: what they represent is at most that.
const NO_MATTER: u64 = 16 << 20;

/// The row groups of a unit.
pub(crate) struct Content<F> {
    file: Arc<F>,
    metadata: Arc<ParquetMetaData>,
    /// Their numbers, and what their pages claim.
    groups: Vec<(usize, Claims)>,
    /// Bytes that the pages to come may represent.
    left: Arc<AtomicU64>,
}

impl<F: ChunkReader + 'static> Content<F> {
    /// The `groups` of a file, with what their pages claim.
    pub(crate) fn new(
        file: F,
        metadata: &ArrowReaderMetadata,
        groups: Vec<(usize, Claims)>,
    ) -> Content<F> {
        let left = Arc::new(AtomicU64::new(MOST_BYTES));
        Content { file: Arc::new(file), metadata: Arc::clone(metadata.metadata()), groups, left }
    }
}

impl<F: ChunkReader + 'static> RowGroups for Content<F> {
    fn num_rows(&self) -> usize {
        let rows = self.row_groups().map(|group| usize::try_from(group.num_rows()).unwrap_or(0));
        rows.fold(0, usize::saturating_add)
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let Content { file, metadata, groups, left } = self;
        let of_column = |(group, claims): &(usize, Claims)| (*group, claims.get(column).cloned());
        let groups = groups.iter().map(of_column).collect::<Vec<_>>().into_iter();
        let (file, metadata, left) = (file.clone(), metadata.clone(), left.clone());
        Ok(Box::new(Chunks { file, metadata, groups, column, left }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.groups.iter().map(|(group, _)| self.metadata.row_group(*group)))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

struct Chunks<F> {
    file: Arc<F>,
    metadata: Arc<ParquetMetaData>,
    groups: std::vec::IntoIter<(usize, Option<Vec<u32>>)>,
    column: usize,
    left: Arc<AtomicU64>,
}

impl<F: ChunkReader + 'static> Iterator for Chunks<F> {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (group, claims) = self.groups.next()?;
        let group = self.metadata.row_group(group);
        let column = group.column(self.column);
        let (left, of) = (self.left.clone(), column.column_descr_ptr());
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let codec = column.compression();
        let pages = if unpack::is_ours(codec) {
            let as_packed =
                column.clone().into_builder().set_compression(Compression::UNCOMPRESSED);
            let open = |column| SerializedPageReader::new(self.file.clone(), &column, rows, None);
            as_packed.build().and_then(open)
        } else {
            SerializedPageReader::new(self.file.clone(), column, rows, None)
        };
        let claims = claims.unwrap_or_default().into_iter();
        let pages = pages.map(|pages| Pages { pages, codec, claims, of, left, dictionary: None });
        Some(pages.map(|pages| Box::new(pages) as _))
    }
}

impl<F: ChunkReader + 'static> PageIterator for Chunks<F> {}

struct Pages<P> {
    pages: P,
    codec: Compression,
    /// What the pages to come claim, if they are to be decompressed.
    claims: std::vec::IntoIter<u32>,
    of: ColumnDescPtr,
    left: Arc<AtomicU64>,
    /// The lengths of the values of the dictionary, and the greatest of them.
    dictionary: Option<(Vec<u32>, u32)>,
}

impl<P: PageReader> Pages<P> {
    fn check(&mut self, page: &Page) -> Result<()> {
        match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                if self.of.physical_type() == Type::BYTE_ARRAY {
                    self.spend(buf.len() as u64)?;
                    let lengths = lengths::of_dictionary(buf, *num_values);
                    let longest = lengths.iter().copied().max().unwrap_or(0);
                    self.dictionary = Some((lengths, longest));
                }
                Ok(())
            }
            Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding,
                rep_level_encoding,
                ..
            } => {
                let mut values = &buf[..];
                for (level, encoding) in [
                    (self.of.max_rep_level(), rep_level_encoding),
                    (self.of.max_def_level(), def_level_encoding),
                ] {
                    values = without_levels(values, level, *encoding, *num_values)
                        .ok_or_else(|| fault("it ends within its levels"))?;
                }
                self.check_values(*encoding, *num_values, values)
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                let values = usize::try_from(levels).ok().and_then(|levels| buf.get(levels..));
                let values = values.ok_or_else(|| fault("it ends within its levels"))?;
                self.check_values(*encoding, *num_values, values)
            }
        }
    }

    /// Checks the part of a page that follows the levels, which has up to `count` values.
    fn check_values(&self, encoding: Encoding, count: u32, values: &[u8]) -> Result<()> {
        let of = self.of.physical_type();
        let levels = if self.of.max_rep_level() > 0 { 4 } else { 0 };
        self.spend(u64::from(count).saturating_mul(width(of, self.of.type_length()) + levels))?;
        match encoding {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => {
                self.spend(u64::from(count) * 4)?;
                let found = lengths::deltas(values, count).map_err(fault)?;
                if found.sum > (values.len() - found.len) as u64 {
                    return Err(fault("its lengths do not fit it"));
                }
                self.spend(found.sum)
            }
            Encoding::DELTA_BYTE_ARRAY => {
                self.spend(u64::from(count) * 8)?;
                let prefixes = lengths::deltas(values, count).map_err(fault)?;
                let suffixes = lengths::deltas(&values[prefixes.len..], count).map_err(fault)?;
                self.spend(prefixes.sum.saturating_add(suffixes.sum))
            }
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                let Some((lengths, longest)) = &self.dictionary else { return Ok(()) };
                let most = u64::from(count) * u64::from(*longest);
                let bytes = if most <= NO_MATTER {
                    most
                } else {
                    lengths::of_keys(values, count, lengths).map_err(fault)?
                };
                self.spend(bytes)
            }
            _ if of == Type::BYTE_ARRAY => self.spend(values.len() as u64),
            _ => Ok(()),
        }
    }

    /// Takes `bytes` bytes of what is left.
    fn spend(&self, bytes: u64) -> Result<()> {
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.map(drop).map_err(|_| {
            ParquetError::General(format!(
                "the row groups that are read at a time hold more than the limit of {MOST_BYTES} bytes; write smaller row groups"
            ))
        })
    }
}

fn fault(what: &str) -> ParquetError {
    ParquetError::General(format!("a page is corrupt: {what}"))
}

/// What follows the levels up to `level` of a page of `count` values.
fn without_levels(page: &[u8], level: i16, encoding: Encoding, count: u32) -> Option<&[u8]> {
    if level <= 0 {
        return Some(page);
    }
    if encoding == Encoding::RLE {
        let (len, rest) = page.split_first_chunk()?;
        return rest.get(u32::from_le_bytes(*len) as usize..);
    }
    // The encoding BIT_PACKED, of old files.
    let bits = u64::from(16 - level.leading_zeros());
    let bytes = (u64::from(count) * bits).div_ceil(8);
    page.get(usize::try_from(bytes).ok()?..)
}

impl<P: PageReader> Iterator for Pages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for Pages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(mut page) = self.pages.get_next_page()? else { return Ok(None) };
        if unpack::is_ours(self.codec) {
            let claim = self.claims.next().ok_or_else(|| fault("it has no header"))?;
            page = unpack::unpack(self.codec, page, claim).map_err(|what| fault(&what))?;
        }
        self.check(&page)?;
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.claims.next();
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

/// Checks what `rows` rows of a type take at least, whatever they hold: lists of a fixed length
/// have room for values that are absent. Fails if that is more than the limit.
pub(crate) fn check_types<'t>(
    types: impl Iterator<Item = &'t DataType>,
    rows: u64,
) -> std::result::Result<(), String> {
    let row = types.map(least_bytes).fold(0, u64::saturating_add);
    if row.saturating_mul(rows) > MOST_BYTES {
        return Err(format!(
            "{} of at least {} would take more than the limit of {MOST_BYTES} bytes; write smaller row groups",
            counted(rows, "row"),
            counted(row, "byte")
        ));
    }
    Ok(())
}

/// Bytes that a value of fixed length takes, present or not; 0 for others.
fn least_bytes(of: &DataType) -> u64 {
    let size = |len: i32| u64::try_from(len).unwrap_or(0);
    match of {
        DataType::FixedSizeBinary(len) => size(*len),
        DataType::FixedSizeList(field, len) => {
            let value = match field.data_type() {
                DataType::FixedSizeBinary(_)
                | DataType::FixedSizeList(..)
                | DataType::Struct(_) => least_bytes(field.data_type()),
                // Offsets, or a number.
                other => other.primitive_width().map_or(4, |width| width as u64),
            };
            size(*len).saturating_mul(value.max(1))
        }
        DataType::Struct(fields) => {
            let types = fields.iter().map(|field| least_bytes(field.data_type()));
            types.fold(0, u64::saturating_add)
        }
        _ => 0,
    }
}
