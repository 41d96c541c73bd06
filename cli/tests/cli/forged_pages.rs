//! Parquet whose pages claim to represent far more than they hold: refused before memory is allocated for it.

use std::fs::{self, File};
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::encode_arrow_schema;
use parquet::basic::Compression;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::run::Place;

// Encodings, by the numbers of the format.
const PLAIN: u64 = 0;
const DELTA_LENGTH: u64 = 6;
const DELTA: u64 = 7;
const DICTIONARY: u64 = 8;

/// A page, and the number of values that it claims.
pub(crate) struct Page {
    is_dictionary: bool,
    encoding: u64,
    count: u64,
    content: Vec<u8>,
    /// What is in the file instead of the content, which it claims to hold.
    pub(crate) packed: Option<Vec<u8>>,
}

impl Page {
    fn new(encoding: u64, count: u64, content: Vec<u8>) -> Page {
        Page { is_dictionary: false, encoding, count, content, packed: None }
    }

    fn packed(&self) -> &[u8] {
        self.packed.as_ref().unwrap_or(&self.content)
    }

    /// Its header in the compact protocol of Thrift, and its content.
    fn bytes(&self) -> Vec<u8> {
        const RLE: u64 = 3;
        let field = |step: u8, value: u64| [vec![step << 4 | 5], number(2 * value)].concat();
        let (len, packed_len) = (self.content.len() as u64, self.packed().len() as u64);
        let kind = if self.is_dictionary { 2 } else { 0 };
        let mut bytes = [field(1, kind), field(1, len), field(1, packed_len)].concat();
        // The structure is field 5 for data, 7 for a dictionary.
        bytes.push(if self.is_dictionary { 0x4C } else { 0x2C });
        bytes.extend([field(1, self.count), field(1, self.encoding)].concat());
        if !self.is_dictionary {
            bytes.extend([field(1, RLE), field(1, RLE)].concat());
        }
        bytes.extend([0, 0]);
        bytes.extend(self.packed());
        bytes
    }
}

/// `value` with seven bits in a byte.
fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// The beginning of deltas: blocks of 128 values in four parts, the count, and the first value.
fn deltas(count: u64, first: u64) -> Vec<u8> {
    [number(128), number(4), number(count), number(2 * first)].concat()
}

/// Blocks whose deltas are all 0, for `count` values.
fn same(count: u64) -> Vec<u8> {
    [0; 5].repeat(count.div_ceil(128) as usize)
}

/// A table of `rows` rows, the columns of which have these pages.
fn table(place: &Place, message: &str, rows: u64, columns: &[Vec<Page>], hint: Option<&Schema>) {
    table_in(Compression::UNCOMPRESSED, place, message, rows, columns, hint);
}

/// [`table`] with a codec.
pub(crate) fn table_in(
    codec: Compression,
    place: &Place,
    message: &str,
    rows: u64,
    columns: &[Vec<Page>],
    hint: Option<&Schema>,
) {
    let schema = Arc::new(parse_message_type(message).unwrap());
    let hint = hint
        .map(|schema| vec![KeyValue::new("ARROW:schema".to_owned(), encode_arrow_schema(schema))]);
    let properties = Arc::new(WriterProperties::builder().set_key_value_metadata(hint).build());
    let file = File::create(place.path("t.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    let descriptors = writer.schema_descr().columns().to_vec();
    let mut group = writer.next_row_group().unwrap();
    for (pages, descriptor) in columns.iter().zip(descriptors) {
        let chunks: Vec<Vec<u8>> = pages.iter().map(Page::bytes).collect();
        fs::write(place.path("pages"), chunks.concat()).unwrap();
        let len = chunks.iter().map(Vec::len).sum::<usize>() as i64;
        let dictionary = pages[0].is_dictionary.then_some(0);
        let data = if pages[0].is_dictionary { chunks[0].len() as i64 } else { 0 };
        let metadata = ColumnChunkMetaData::builder(descriptor)
            .set_compression(codec)
            .set_num_values(pages.last().unwrap().count as i64)
            .set_total_compressed_size(len)
            .set_total_uncompressed_size(len)
            .set_data_page_offset(data)
            .set_dictionary_page_offset(dictionary)
            .build()
            .unwrap();
        let close = ColumnCloseResult {
            bytes_written: len as u64,
            rows_written: rows,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        group.append_column(&File::open(place.path("pages")).unwrap(), close).unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    fs::remove_file(place.path("pages")).unwrap();
}

pub(crate) const TEXT: &str = "message m { required binary u (STRING); }";
const LIST: &str = "message m { required binary u (STRING); optional group l (LIST) { repeated group \
                    list { optional int32 element; } } }";

pub(crate) fn plain(text: &[u8], count: usize) -> Page {
    let value = [&(text.len() as u32).to_le_bytes()[..], text].concat();
    Page::new(PLAIN, count as u64, value.repeat(count))
}

pub(crate) const ARGS: [&str; 6] = ["dedup", "--column", "u", "t.parquet", "-o", "out.jsonl"];

#[test]
fn honest_pages_are_read() {
    let place = Place::new(&[]);
    let lengths = [deltas(3, 8), same(2)].concat();
    // 0, 8 and 8 bytes of the value before, and 8, 0 and 0 others; the deltas have four bits.
    let prefixes = [&deltas(3, 0)[..], &[0, 4, 0, 0, 0], &[0x08], &[0; 15]].concat();
    let suffixes = [&deltas(3, 8)[..], &[15, 4, 0, 0, 0], &[0x80], &[0; 15]].concat();
    let dictionary = Page { is_dictionary: true, ..plain(b"http://h", 1) };
    for pages in [
        vec![plain(b"http://h", 3)],
        vec![Page::new(DELTA_LENGTH, 3, [&lengths[..], b"http://hHTTP://hhttp://h"].concat())],
        vec![Page::new(DELTA, 3, [&prefixes[..], &suffixes, b"http://h"].concat())],
        vec![dictionary, Page::new(DICTIONARY, 3, vec![1, 6, 0])],
    ] {
        table(&place, TEXT, 3, &[pages], None);
        place.run(&ARGS, "").quiet();
        assert_eq!(place.read("out.jsonl"), "{\"u\":\"http://h\"}\n");
    }
}

#[test]
fn forged_pages_are_refused_before_memory_is_allocated() {
    const MEGABYTE: u64 = 1 << 20;
    const MANY: u64 = 1 << 30;
    const LIMIT: &str = "hold more than the limit of 4294967296 bytes";
    let place = Place::new(&[]);
    let long = vec![b'x'; MEGABYTE as usize];
    let of_text = |page: Page, rows| (TEXT, rows, vec![vec![page]]);
    // A million bytes of prefix for each value after the first; the bytes themselves once.
    let prefixes = [
        &deltas(9_999, 0)[..],
        &[0, 32, 0, 0, 0],
        &(MEGABYTE as u32).to_le_bytes(),
        &[0; 124],
        &same(9_999 - 129),
    ];
    let suffixes = [
        &deltas(9_999, MEGABYTE)[..],
        &number(2 * MEGABYTE - 1),
        &[32; 4],
        &[0; 4],
        &(MEGABYTE as u32).to_le_bytes().repeat(127),
        &same(9_999 - 129),
    ];
    let dictionary = Page { is_dictionary: true, ..plain(&long, 1) };
    let run = [&[0][..], &number(2 * 9_999)].concat();
    let levels = |runs: &[u8]| [&(runs.len() as u32).to_le_bytes()[..], runs].concat();
    let repeated = [&[2, 0][..], &number(2 * (MANY - 1)), &[1]].concat();
    let defined = [&number(2 * MANY)[..], &[2]].concat();
    for (what, (message, rows, columns), expected) in [
        (
            "a count beyond that of values",
            of_text(Page::new(DELTA_LENGTH, 3, deltas(1 << 40, 0)), 3),
            "claims more lengths than it has values",
        ),
        (
            "lengths of no bytes",
            of_text(Page::new(DELTA_LENGTH, MANY, deltas(MANY, 0)), MANY),
            LIMIT,
        ),
        (
            "a negative length",
            of_text(Page::new(DELTA, 2, [&deltas(2, 0)[..], &[1, 0, 0, 0, 0]].concat()), 2),
            "a length is negative",
        ),
        (
            "suffixes that are missing",
            of_text(Page::new(DELTA, 3, [deltas(3, 0), deltas(1 << 40, 0)].concat()), 3),
            "the page ends within its values",
        ),
        (
            "the same prefix",
            of_text(
                Page::new(
                    DELTA,
                    9_999,
                    [&prefixes.concat(), &suffixes.concat(), &long[..]].concat(),
                ),
                9_999,
            ),
            LIMIT,
        ),
        (
            "a run of one key",
            (TEXT, 9_999, vec![vec![dictionary, Page::new(DICTIONARY, 9_999, run)]]),
            LIMIT,
        ),
        (
            "a run of levels",
            (
                LIST,
                1,
                vec![
                    vec![plain(b"http://h", 1)],
                    vec![Page::new(PLAIN, MANY, [levels(&repeated), levels(&defined)].concat())],
                ],
            ),
            LIMIT,
        ),
    ] {
        table(&place, message, rows, &columns, None);
        refused(&place, what, expected);
    }
    // Lists of a fixed length have room for values that are absent.
    let value = Arc::new(Field::new("element", DataType::Int32, true));
    let hint = Schema::new(vec![
        Field::new("u", DataType::Utf8, false),
        Field::new("l", DataType::FixedSizeList(value, 1 << 29), true),
    ]);
    let absent = Page::new(PLAIN, 3, [levels(&[6, 0]), levels(&[6, 0])].concat());
    table(&place, LIST, 3, &[vec![plain(b"http://h", 3)], vec![absent]], Some(&hint));
    refused(
        &place,
        "lists of a fixed length",
        "3 rows of at least 2147483648 bytes would take more",
    );
}

/// Runs the program on the table, which is refused as `expected` says.
#[track_caller]
pub(crate) fn refused(place: &Place, what: &str, expected: &str) {
    let message = place.run(&ARGS, "").refused();
    assert!(message.starts_with("uriscan: t.parquet: "), "{what}: {message}");
    assert!(message.contains(expected), "{what}: {message}");
    #[cfg(target_os = "linux")]
    {
        let (peak, code) = crate::memory::peak_and_code(place.command(&ARGS));
        assert_eq!(code, Some(2), "{what}");
        assert!(peak < 96 << 20, "{what}: {} MiB", peak >> 20);
    }
}
