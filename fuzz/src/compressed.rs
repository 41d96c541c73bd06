//! Compressed sources: what is compressed and cut into members comes back, whatever the sizes of reads; damaged data
//! give a prefix and an error, the same one whatever the sizes of reads.

use std::io::{self, Cursor, Read, Write};

use flate2::write::GzEncoder;
use uriscan_bulk::io::decompressed;
use uriscan_bulk::io::{Compression, Container};

use crate::Choice;

/// The most bytes that are decompressed of any input.
const MOST: u64 = 1 << 20;

/// The first byte chooses the sizes of reads and whether the rest is compressed first.
pub fn check(data: &[u8]) {
    let Some((mut choice, bytes)) = Choice::split(data) else { return };
    let (is_plain, piece) = (choice.below(2) == 1, 1 + choice.below(127));
    if is_plain {
        // It does not begin like a compressed file.
        let plain = [b"#", bytes].concat();
        let found = read(gzip_members(&plain, piece), piece);
        if Container::of_head(&plain).is_none() {
            assert_eq!(found, (plain, None));
        }
        return;
    }
    let whole = read(bytes.to_vec(), MOST as usize);
    assert_eq!(read(bytes.to_vec(), piece), whole, "{}", bytes.escape_ascii());
    let is_marked = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
    if Compression::of_head(bytes).is_none() && !is_marked && whole.1.is_none() {
        assert_eq!(whole.0, &bytes[..bytes.len().min(MOST as usize)]);
    }
}

/// A source that gives `piece` bytes at a time.
struct Drips(Cursor<Vec<u8>>, usize);

impl Read for Drips {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = buf.len().min(self.1);
        self.0.read(&mut buf[..len])
    }
}

/// The content of `bytes`, and the error that ends it, if one does.
fn read(bytes: Vec<u8>, piece: usize) -> (Vec<u8>, Option<String>) {
    let mut out = Vec::new();
    let content = decompressed(Box::new(Drips(Cursor::new(bytes), piece)));
    let result = content.and_then(|content| content.take(MOST).read_to_end(&mut out));
    (out, result.err().map(|error| error.to_string()))
}

/// `bytes` as members of gzip of up to `piece` bytes each.
fn gzip_members(bytes: &[u8], piece: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for part in bytes.chunks(16 * piece) {
        let mut encoder = GzEncoder::new(&mut out, flate2::Compression::fast());
        encoder.write_all(part).expect("memory");
        encoder.finish().expect("memory");
    }
    out
}
