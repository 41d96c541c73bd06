//! Footers of Parquet files elsewhere, read for the columns of all tables and kept until their rows are read, so that each is
//! requested once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;

use super::stored::Ranges;
use crate::{parquet::annotations, parquet::encrypted, parquet::sorted};

/// The first and last bytes of a Parquet file.
const MAGIC: &[u8; 4] = b"PAR1";

/// Bytes of the footers of all tables of a job that are kept at most, as they are in memory; those after them are requested
/// again.
///
/// A footer takes a few kilobytes, so that this is enough for thousands of files of few columns.
const MOST_FOOTERS: usize = 32 << 20;

/// Bytes at most of contents that are kept with their footers, because they are so short that both came at once.
const MOST_CONTENTS: usize = 32 << 20;

/// Reads the footer of `file`. Fails, too, if `file` is several ones that were joined:
/// the positions in the footer of the last one are those of bytes in the first one.
pub(crate) fn load<F: ChunkReader>(file: &F) -> Result<ArrowReaderMetadata, ParquetError> {
    const TAIL_BYTES: u64 = 8;
    const LEAST_BYTES: u64 = 12;
    encrypted::refuse_footer(file)?;
    let metadata = ArrowReaderMetadata::load(file, Default::default()).or_else(|error| {
        // Of integers of 128 bits, which Polars writes, the columns of Arrow in the footer have no form. Their bytes have.
        if !error.to_string().contains("bit width of 128") {
            return Err(error);
        }
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        ArrowReaderMetadata::load(file, options)
    })?;
    let at = file.len() - TAIL_BYTES;
    let tail = file.get_bytes(at, TAIL_BYTES as usize)?;
    let length = tail.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    // Where the last one begins, if its footer follows its data.
    let begin = at.saturating_sub(length.into()).checked_sub(end_of_data(metadata.metadata()));
    if let Some(begin) = begin.filter(|&begin| begin >= LEAST_BYTES) {
        let around = file.get_bytes(begin - MAGIC.len() as u64, 2 * MAGIC.len())?;
        if around[..] == [*MAGIC, *MAGIC].concat() {
            let what = "several files were joined, which can be read one by one only";
            return Err(ParquetError::General(what.to_owned()));
        }
    }
    let metadata = with_whole_columns(metadata, at.saturating_sub(length.into()))?;
    sorted::read(annotations::read(metadata)?)
}

/// Bytes that old writers left out of the length of a column, at most: those of the header of its dictionary.
const MOST_LEFT_OUT: u64 = 100;

/// `metadata` with the lengths of columns that there are: before version 1.2.9, `parquet-mr` did not count the header of a
/// dictionary (PARQUET-816). Columns go on to the next one then, or to the footer, which is at `end`.
fn with_whole_columns(
    metadata: ArrowReaderMetadata,
    end: u64,
) -> Result<ArrowReaderMetadata, ParquetError> {
    let file = metadata.metadata();
    if !file.file_metadata().created_by().is_some_and(is_old) {
        return Ok(metadata);
    }
    let columns = || file.row_groups().iter().flat_map(|group| group.columns());
    let mut starts: Vec<u64> = columns().map(|column| column.byte_range().0).chain([end]).collect();
    starts.sort_unstable();
    let whole = |column: &ColumnChunkMetaData| {
        let (start, len) = column.byte_range();
        let next = starts[starts.partition_point(|&other| other <= start).min(starts.len() - 1)];
        let left_out = next.saturating_sub(start.saturating_add(len));
        let bytes = if left_out <= MOST_LEFT_OUT { len + left_out } else { len };
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        column.clone().into_builder().set_total_compressed_size(bytes).build()
    };
    let group = |group: &RowGroupMetaData| {
        let columns = group.columns().iter().map(whole).collect::<Result<_, _>>()?;
        group.clone().into_builder().set_column_metadata(columns).build()
    };
    let groups = file.row_groups().iter().map(group).collect::<Result<_, _>>()?;
    let whole = file.as_ref().clone().into_builder().set_row_groups(groups).build();
    ArrowReaderMetadata::try_new(Arc::new(whole), ArrowReaderOptions::default())
}

/// Whether a writer that calls itself so left bytes out.
fn is_old(writer: &str) -> bool {
    let Some(rest) = writer.strip_prefix("parquet-mr") else { return false };
    let version = rest.trim_start().strip_prefix("version").unwrap_or(rest).trim_start();
    let numbers = version.split(|c: char| !c.is_ascii_digit()).map(|it| it.parse().unwrap_or(0));
    let numbers: Vec<u32> = numbers.take(3).collect();
    numbers < vec![1, 2, 9]
}

/// The end of what `metadata` says to be in a file before its footer.
fn end_of_data(metadata: &ParquetMetaData) -> u64 {
    let columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    let end = columns.map(end_of_column).max().unwrap_or(0);
    u64::try_from(end).unwrap_or(0).max(MAGIC.len() as u64)
}

fn end_of_column(column: &ColumnChunkMetaData) -> i64 {
    let data = column.dictionary_page_offset().unwrap_or(i64::MAX).min(column.data_page_offset());
    let part = |start: Option<i64>, bytes: Option<i32>| {
        start.unwrap_or(0).saturating_add(bytes.unwrap_or(0).into())
    };
    data.saturating_add(column.compressed_size())
        .max(part(column.column_index_offset(), column.column_index_length()))
        .max(part(column.offset_index_offset(), column.offset_index_length()))
        .max(part(column.bloom_filter_offset(), column.bloom_filter_length()))
}

/// How much may still be kept, of all tables of a job.
#[derive(Debug)]
pub(crate) struct Room {
    footers: AtomicUsize,
    contents: AtomicUsize,
}

impl Default for Room {
    fn default() -> Room {
        let (footers, contents) = (MOST_FOOTERS.into(), MOST_CONTENTS.into());
        Room { footers, contents }
    }
}

/// The footer of a table, if it has been read and is kept. Clones share it; the default keeps nothing.
#[derive(Clone, Default)]
pub(crate) struct Footer {
    kept: Arc<OnceLock<Known>>,
    room: Option<Arc<Room>>,
}

/// What is known of a table once its footer has been read.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) metadata: ArrowReaderMetadata,
    /// The part of the content that came with it.
    pub(crate) tail: Option<Ranges>,
}

impl Footer {
    /// One that is kept if there is `room`.
    pub(crate) fn within(room: &Arc<Room>) -> Footer {
        Footer { kept: Arc::default(), room: Some(Arc::clone(room)) }
    }

    pub(crate) fn get(&self) -> Option<Known> {
        self.kept.get().cloned()
    }

    /// Keeps what has been read, as far as there is room: the content only if it is all of it.
    pub(crate) fn keep(&self, known: &Known) {
        let Some(room) = self.room.as_ref().filter(|_| self.kept.get().is_none()) else { return };
        if !take(&room.footers, bytes_of(&known.metadata)) {
            return;
        }
        let is_kept = |tail: &&Ranges| {
            usize::try_from(tail.bytes())
                .is_ok_and(|bytes| tail.is_whole() && take(&room.contents, bytes))
        };
        let tail = known.tail.as_ref().filter(is_kept).cloned();
        // One that was faster has the same.
        let _ = self.kept.set(Known { metadata: known.metadata.clone(), tail });
    }
}

/// Takes so many `bytes` of what is `left`, if there are.
fn take(left: &AtomicUsize, bytes: usize) -> bool {
    let rest = |left: usize| left.checked_sub(bytes);
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).is_ok()
}

/// About the bytes of `metadata` in memory.
fn bytes_of(metadata: &ArrowReaderMetadata) -> usize {
    let schema = metadata.schema();
    let texts = schema.metadata().iter().map(|(name, text)| name.len() + text.len());
    // The columns are there twice: as those of Arrow, and as these with their levels.
    let bytes = metadata.metadata().memory_size() + 2 * schema.fields().size();
    // So much more was measured, for 1 to 100 columns in four row groups: the allocator's share, for example.
    (bytes + texts.sum::<usize>()) / 3 * 4
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::ops::Range;

    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;

    use super::*;
    use uriscan_files::Stored;

    struct Bytes(Vec<u8>);

    impl Stored for Bytes {
        fn name(&self) -> &str {
            "bytes"
        }

        fn bytes(&self) -> Option<u64> {
            Some(self.0.len() as u64)
        }

        fn has_ranges(&self) -> bool {
            true
        }

        fn stream(&self) -> io::Result<Box<dyn io::Read + Send>> {
            Ok(Box::new(io::Cursor::new(self.0.clone())))
        }

        fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
            Ok(self.0[range.start as usize..range.end as usize].to_vec())
        }
    }

    /// What is known of a file with this column of one row.
    fn known(text: &str) -> Known {
        let column: ArrayRef = Arc::new(StringArray::from(vec![text]));
        let batch = RecordBatch::try_from_iter([("url", column)]).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let stored: Arc<dyn Stored> = Arc::new(Bytes(bytes));
        let tail = Ranges::tail(&stored).unwrap();
        let metadata = ArrowReaderMetadata::load(&tail, Default::default()).unwrap();
        Known { metadata, tail: Some(tail) }
    }

    /// How many of so many files are kept, with their footers and with their contents.
    fn kept(known: &Known, files: usize) -> (usize, usize) {
        let room = Arc::default();
        let footers: Vec<Footer> = (0..files).map(|_| Footer::within(&room)).collect();
        footers.iter().for_each(|footer| footer.keep(known));
        let found: Vec<Known> = footers.iter().filter_map(Footer::get).collect();
        (found.len(), found.iter().filter(|known| known.tail.is_some()).count())
    }

    #[test]
    fn files_that_were_joined_are_reported() {
        use parquet::file::properties::WriterProperties;
        let written = |texts: Vec<&str>, bloom: bool| {
            let column: ArrayRef = Arc::new(StringArray::from(texts));
            let batch = RecordBatch::try_from_iter([("url", column)]).unwrap();
            let properties = WriterProperties::builder()
                .set_bloom_filter_enabled(bloom)
                .set_max_row_group_row_count(Some(2))
                .build();
            let mut bytes = Vec::new();
            let mut writer =
                ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            bytes
        };
        let files = [
            written(vec!["a", "b", "c"], false),
            written(vec!["d"; 300], true),
            written(vec![], false),
        ];
        let load = |bytes: &[u8]| load(&bytes::Bytes::copy_from_slice(bytes)).map(drop);
        for first in &files {
            load(first).unwrap();
            for second in &files {
                let error = load(&[&first[..], second].concat()).unwrap_err().to_string();
                assert!(error.contains("several files were joined"), "{error}");
                assert!(load(&[&first[..], second, first].concat()).is_err());
            }
            // Something else between data and footer is none of ours.
            let footer = u32::from_le_bytes(*first[first.len() - 8..].first_chunk().unwrap());
            let (data, footer) = first.split_at(first.len() - 8 - footer as usize);
            load(&[data, b"PAR1 padding PAR1", footer].concat()).unwrap();
        }
    }

    #[test]
    fn so_many_files_keep_no_more_than_fits() {
        let short = known("http://h");
        let (of_footer, of_content) =
            (bytes_of(&short.metadata), short.tail.as_ref().unwrap().bytes() as usize);
        assert!((1_000..20_000).contains(&of_footer), "{of_footer}");
        assert_eq!(kept(&short, 100), (100, 100));
        let (footers, contents) = kept(&short, 100_000);
        assert_eq!(footers, MOST_FOOTERS / of_footer);
        assert_eq!(contents, footers.min(MOST_CONTENTS / of_content));
        // Contents leave footers their room.
        let long = known(&"x".repeat(200_000));
        let (footers, contents) = kept(&long, 1_000);
        assert_eq!(footers, 1_000);
        assert!((100..200).contains(&contents), "{contents}");
        // What is longer than what came with the footer is not kept.
        assert_eq!(kept(&known(&"x".repeat(600_000)), 9), (9, 0));
    }

    #[test]
    fn a_footer_that_was_kept_is_that_of_all_clones_and_takes_its_room_once() {
        let (known, room) = (known("http://h"), Arc::<Room>::default());
        let footer = Footer::within(&room);
        let other = footer.clone();
        footer.keep(&known);
        let left = room.footers.load(Ordering::Relaxed);
        other.keep(&known);
        assert_eq!(room.footers.load(Ordering::Relaxed), left);
        assert!(left < MOST_FOOTERS && other.get().is_some());
        let none = Footer::default();
        none.keep(&known);
        assert!(none.get().is_none());
    }

    #[test]
    fn bytes_that_old_writers_left_out_are_counted() {
        let url: ArrayRef = Arc::new(StringArray::from(vec!["http://h"; 100]));
        let batch = RecordBatch::try_from_iter([("a", url.clone()), ("b", url)]).unwrap();
        for (writer, is_mended) in [
            ("parquet-mr", true),
            ("parquet-mr version 1.2.8", true),
            ("parquet-mr version 1.2.9 (build 0)", false),
            ("parquet-mr version 1.10.0", false),
            ("parquet-cpp 1.0.0", false),
        ] {
            let properties = parquet::file::properties::WriterProperties::builder();
            let properties = properties.set_created_by(writer.to_owned()).build();
            let mut out = Vec::new();
            let mut file =
                ArrowWriter::try_new(&mut out, batch.schema(), Some(properties)).unwrap();
            file.write(&batch).unwrap();
            file.close().unwrap();
            let out = bytes::Bytes::from(out);
            let right = load(&out).unwrap();
            let right = right.metadata();
            let shorter = |column: &ColumnChunkMetaData| {
                let bytes = column.compressed_size() - 15;
                column.clone().into_builder().set_total_compressed_size(bytes).build().unwrap()
            };
            let group = right.row_group(0);
            let columns = group.columns().iter().map(shorter).collect();
            let group = group.clone().into_builder().set_column_metadata(columns).build().unwrap();
            let wrong = right.as_ref().clone().into_builder().set_row_groups(vec![group]).build();
            let wrong = ArrowReaderMetadata::try_new(Arc::new(wrong), Default::default()).unwrap();
            let last = right.row_group(0).column(1).byte_range();
            let found = with_whole_columns(wrong, last.0 + last.1).unwrap();
            let lengths = |of: &ParquetMetaData| -> Vec<i64> {
                of.row_group(0).columns().iter().map(|column| column.compressed_size()).collect()
            };
            assert_eq!(lengths(found.metadata()) == lengths(right), is_mended, "{writer}");
        }
    }
}
