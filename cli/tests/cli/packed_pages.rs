//! Parquet in each codec; pages whose data expands to more than they claim.

use std::fs::{self, File};
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};

use crate::forged_pages::{ARGS, TEXT, plain, refused, table_in};
use crate::run::Place;

/// The same rows, written by pyarrow 26 with pages of version 1 and a dictionary, and of version 2 without one.
const BROTLI: [&[u8]; 2] = [include_bytes!("brotli-1.parquet"), include_bytes!("brotli-2.parquet")];

/// The rows, in `codec`.
fn write(place: &Place, name: &str, codec: Compression, version: WriterVersion) {
    let url = |i: i64| {
        (i % 10 != 3).then(|| format!("http://h/{}?{}", i * i % 97, &"xx"[..(i % 3) as usize]))
    };
    let urls: ArrayRef = Arc::new(StringArray::from_iter((0..300).map(url)));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..300));
    let batch = RecordBatch::try_from_iter_with_nullable([("id", ids, true), ("url", urls, true)]);
    let batch = batch.unwrap();
    let properties = WriterProperties::builder()
        .set_compression(codec)
        .set_writer_version(version)
        .set_data_page_row_count_limit(50)
        .set_write_batch_size(50)
        .set_max_row_group_row_count(Some(200))
        .build();
    let file = File::create(place.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn all_codecs_have_the_same_result() {
    let place = Place::new(&[]);
    let result = |name: &str| {
        let args = ["normalize", "--column", "url", name, "-o", "out.jsonl"];
        place.run(&args, "").quiet();
        place.read("out.jsonl")
    };
    write(&place, "plain.parquet", Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0);
    let expected = result("plain.parquet");
    assert_eq!(expected.lines().count(), 300);
    for (i, bytes) in BROTLI.into_iter().enumerate() {
        fs::write(place.path("brotli.parquet"), bytes).unwrap();
        assert_eq!(result("brotli.parquet"), expected, "brotli, version {}", i + 1);
    }
    for codec in [
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            write(&place, "packed.parquet", codec, version);
            assert_eq!(result("packed.parquet"), expected, "{codec:?} {version:?}");
        }
    }
}

/// Bits of Brotli (RFC 7932), the least significant first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    fn push(&mut self, count: u32, value: u32) {
        for i in 0..count {
            if self.len.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().unwrap() |= ((value >> i & 1) as u8) << (self.len % 8);
            self.len += 1;
        }
    }
}

/// Meta-blocks of 16 MiB in 14 bytes: the letter `x`, copied to the end.
fn expanding(blocks: u32) -> Vec<u8> {
    const LEN: u32 = 1 << 24;
    // The command of one literal and of a copy of at least `LEAST_COPIED` bytes.
    const COMMAND: u32 = 399;
    const LEAST_COPIED: u32 = 2118;
    let mut bits = Bits::default();
    // A window of 16 MiB.
    bits.push(4, 15);
    for _ in 0..blocks {
        // Neither the last block nor stored; the length less one in six hexadecimal digits.
        bits.push(1, 0);
        bits.push(2, 2);
        bits.push(24, LEN - 1);
        bits.push(1, 0);
        // One type of blocks of each kind, distances without a postfix, one mode of contexts, one tree of each kind.
        bits.push(3, 0);
        bits.push(6, 0);
        bits.push(2, 0);
        bits.push(2, 0);
        // Codes of one symbol, which takes no bits: the literal, the command, the least distance.
        for (count, symbol) in [(8, u32::from(b'x')), (10, COMMAND), (6, 16)] {
            bits.push(2, 1);
            bits.push(2, 0);
            bits.push(count, symbol);
        }
        bits.push(24, LEN - 1 - LEAST_COPIED);
        bits.push(1, 0);
    }
    // The last block, which is empty.
    bits.push(2, 3);
    bits.bytes
}

fn gzip(text: &[u8], times: usize) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), flate2::Compression::best());
    (0..times).for_each(|_| to.write_all(text).unwrap());
    to.finish().unwrap()
}

#[test]
fn pages_are_not_decompressed_beyond_their_claims() {
    let place = Place::new(&[]);
    let brotli = Compression::BROTLI(BrotliLevel::default());
    let of_gzip = Compression::GZIP(GzipLevel::default());
    let text = [&8u32.to_le_bytes()[..], b"http://h"].concat();
    // Stored, in one block.
    let stored =
        [&((text.len() as u32 - 1) << 4 | 1 << 20).to_le_bytes()[..3], &text, &[3]].concat();
    let write = |codec, packed: Vec<u8>| {
        let mut page = plain(b"http://h", 1);
        page.packed = Some(packed);
        table_in(codec, &place, TEXT, 1, &[vec![page]], None);
    };
    for (codec, packed) in [(brotli, stored.clone()), (of_gzip, gzip(&text, 1))] {
        write(codec, packed);
        place.run(&ARGS, "").quiet();
        assert_eq!(place.read("out.jsonl"), "{\"u\":\"http://h\"}\n");
    }
    let more = "a page is corrupt: it holds more than the 12 bytes that it claims";
    for (what, codec, packed, expected) in [
        ("much Brotli", brotli, expanding(16), more),
        ("much gzip", of_gzip, gzip(&[b'x'; 1 << 20], 1 << 8), more),
        ("less Brotli", brotli, [&stored[..2], &[8, 3]].concat(), "is corrupt"),
        ("truncated Brotli", brotli, stored[..9].to_vec(), "it holds less than the 12 bytes"),
        ("noise", brotli, vec![0xFF; 9], "its Brotli data is corrupt"),
    ] {
        write(codec, packed);
        refused(&place, what, expected);
    }
}
