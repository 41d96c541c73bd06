//! Decompresses input in gzip, zstd, bzip2, xz or lz4. The format is detected by its first bytes,
//! never by the file name; all members of a concatenated stream are read. Text in UTF-16 is decoded.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::container::{self, Container};
use super::utf16::{self, Utf16};

mod bunzip;
mod dictionary;
mod members;

/// Number of bytes that are read from a source at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// Memory limit in bytes for decompressing xz; `xz -9` needs 65 MiB.
const XZ_MEMORY: u64 = 256 << 20;

/// Maximum number of compressions in one another.
const DEEPEST: usize = 4;

named! {
    /// A format of compressed data.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Compression {
        /// RFC 1952, one member or several.
        Gzip = "gzip",
        /// RFC 8878, frames and skippable frames.
        Zstd = "zstd",
        /// bzip2, one stream or several.
        Bzip2 = "bzip2",
        /// The .xz format, one stream or several.
        Xz = "xz",
        /// The LZ4 frame format, one frame or several.
        Lz4 = "lz4",
    }
}

impl Compression {
    /// Number of first bytes that suffice for detection.
    pub const HEAD_BYTES: usize = 6;

    /// Detects the format of data that begin with `head`; `None` if they are not compressed. Every
    /// format begins with a byte with which no URI and no text begins, or (bzip2) with a magic
    /// number of ten bytes, of which four are tested here.
    ///
    /// ```
    /// use uriscan_bulk::io::Compression;
    /// assert_eq!(Compression::of_head(b"\x1f\x8b\x08"), Some(Compression::Gzip));
    /// assert_eq!(Compression::of_head(b"http://h/"), None);
    /// ```
    pub fn of_head(head: &[u8]) -> Option<Compression> {
        match head {
            [0x1F, 0x8B, ..] => Some(Compression::Gzip),
            // A frame, or a skippable one before it (RFC 8878 section 3.1.2).
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => {
                Some(Compression::Zstd)
            }
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Some(Compression::Bzip2),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            [0x04, 0x22, 0x4D, 0x18, ..] => Some(Compression::Lz4),
            _ => None,
        }
    }
}

/// Returns the content of `inner`: its own bytes, or their decompressed form, up to four times compressed. Text in
/// UTF-16 becomes UTF-8, with its byte order mark if it has one, except pages.
///
/// Memory is bounded: data that need more than 128 MiB (zstd) or 256 MiB (xz) are an error. The
/// error for a corrupt or truncated stream names the format and the position; the data before it
/// are returned first.
///
/// # Errors
/// If the data are compressed more often or are text in UTF-32, if they are compressed and this build cannot decompress
/// them, or if they are, or contain, a format other than text ([`crate::io::Container`]).
///
/// ```
/// use std::io::Read;
/// let mut text = String::new();
/// uriscan_bulk::io::decompressed(Box::new(&b"\xFF\xFEh\0:\0"[..]))?.read_to_string(&mut text)?;
/// assert_eq!(text, "\u{FEFF}h:");
/// # Ok::<_, std::io::Error>(())
/// ```
pub fn decompressed(inner: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut content = PeekedStream::new(inner);
    let mut level = 0;
    while let Some(format) = Compression::of_head(content.head()) {
        if level == DEEPEST {
            let what = format!("is compressed more than {DEEPEST} times; decompress it first");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        level += 1;
        let taken = Arc::new(AtomicU64::new(0));
        let buffer = BufReader::with_capacity(BUFFER_BYTES, content);
        let decoder = decoder(format, CountingReader { inner: buffer, taken: Arc::clone(&taken) })?;
        content = PeekedStream::new(Box::new(Decompressed { format, decoder, taken, given: 0 }));
    }
    if let Some(format) = cut_short(content.head()).filter(|_| content.error.is_none()) {
        let what = format!("{} data is truncated at byte {}", format.name(), content.len);
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
    }
    container::refuse(content.head())?;
    if utf16::is_utf32(content.head()) {
        let what = "is text in UTF-32, which is not read; `iconv -f UTF-32 -t UTF-8` converts it";
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(match utf16::encoding(content.head()) {
        Some(encoding) => Box::new(Utf16::new(content, encoding)),
        None => Box::new(content),
    })
}

/// Whether the content of data that begin with `head` is not these bytes ([`decompressed`]).
pub(crate) fn is_coded(head: &[u8]) -> bool {
    Compression::of_head(head).is_some() || utf16::encoding(head).is_some() || utf16::is_utf32(head)
}

/// The format of which `data`, all there is, are the first bytes, if no text has them. A `(`, and `BZh`, are text.
fn cut_short(data: &[u8]) -> Option<Compression> {
    const BEGINNINGS: [(Compression, &[u8]); 4] = [
        (Compression::Gzip, b"\x1F\x8B"),
        (Compression::Zstd, b"\x28\xB5\x2F\xFD"),
        (Compression::Xz, b"\xFD7zXZ\0"),
        (Compression::Lz4, b"\x04\x22\x4D\x18"),
    ];
    let is_text = data.iter().all(u8::is_ascii_graphic);
    let known = BEGINNINGS.iter().find(|(_, beginning)| beginning.starts_with(data));
    known.filter(|_| !is_text).map(|(format, _)| *format)
}

/// A stream whose first bytes have been read and are returned again.
struct PeekedStream {
    head: [u8; Container::HEAD_BYTES],
    len: usize,
    given: usize,
    /// The error after the head.
    error: Option<io::Error>,
    inner: Box<dyn Read + Send>,
}

impl PeekedStream {
    fn new(mut inner: Box<dyn Read + Send>) -> PeekedStream {
        let (mut head, mut len, mut error) = ([0; Container::HEAD_BYTES], 0, None);
        while !Container::is_head(&head[..len]) {
            match inner.read(&mut head[len..]) {
                Ok(0) => break,
                Ok(count) => len += count,
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                Err(fault) => {
                    error = Some(fault);
                    break;
                }
            }
        }
        PeekedStream { head, len, given: 0, error, inner }
    }

    fn head(&self) -> &[u8] {
        &self.head[..self.len]
    }
}

impl Read for PeekedStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.given < self.len {
            let count = out.len().min(self.len - self.given);
            out[..count].copy_from_slice(&self.head[self.given..self.given + count]);
            self.given += count;
            return Ok(count);
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => self.inner.read(out),
        }
    }
}

fn decoder(
    format: Compression,
    data: impl BufRead + Send + 'static,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(match format {
        Compression::Gzip => Box::new(members::Gzip::new(data)),
        // The library rejects windows above 128 MiB, like the program `zstd` by default.
        Compression::Zstd => dictionary::decoder(data)?,
        Compression::Bzip2 => Box::new(bunzip::Bunzip::new(data)),
        Compression::Xz => {
            let flags = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, flags)?;
            Box::new(members::Xz::new(data, stream))
        }
        Compression::Lz4 => Box::new(members::Lz4::new(data)),
    })
}

/// Fails on the first read.
pub(crate) struct FailingReader(pub(crate) Option<io::Error>);

impl Read for FailingReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Data that cannot follow what precedes them.
#[derive(Debug)]
enum TrailingData {
    /// Bytes of another format follow the end of the data.
    Other,
    /// The content of a member is compressed, and that of those before it is not.
    Deeper,
}

impl fmt::Display for TrailingData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrailingData::Other => "followed by something else",
            TrailingData::Deeper => {
                "followed by a member that is compressed once more than those before it,"
            }
        })
    }
}

impl std::error::Error for TrailingData {}

/// Counts the bytes that are read through it.
struct CountingReader<R> {
    inner: R,
    taken: Arc<AtomicU64>,
}

impl<R: BufRead> Read for CountingReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for CountingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        self.inner.consume(count);
    }
}

/// A decoder whose errors include their position.
struct Decompressed {
    format: Compression,
    decoder: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
    given: u64,
}

impl Read for Decompressed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.decoder.read(out) {
            Ok(count) => {
                self.given += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => Err(self.explain(&error)),
        }
    }
}

impl Decompressed {
    #[cold]
    fn explain(&self, error: &io::Error) -> io::Error {
        let (name, taken) = (self.format.name(), self.taken.load(Ordering::Relaxed));
        let is_short = error.kind() == io::ErrorKind::UnexpectedEof;
        let is_trailing = error.get_ref().is_some_and(|error| error.is::<TrailingData>());
        let what = match error {
            _ if is_trailing => error.to_string(),
            _ if is_short => "truncated".to_owned(),
            _ => format!("broken ({error})"),
        };
        let given = self.given;
        io::Error::new(
            error.kind(),
            format!("{name} data is {what} at byte {taken}, byte {given} of the decompressed data"),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// One member that holds `text`.
    fn compress(format: Compression, text: &[u8]) -> Vec<u8> {
        match format {
            Compression::Gzip => {
                let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                to.write_all(text).unwrap();
                to.finish().unwrap()
            }
            Compression::Zstd => zstd::encode_all(text, 1).unwrap(),
            Compression::Bzip2 => {
                let mut to = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
                to.write_all(text).unwrap();
                to.finish().unwrap()
            }
            Compression::Xz => {
                let mut to = liblzma::write::XzEncoder::new(Vec::new(), 1);
                to.write_all(text).unwrap();
                to.finish().unwrap()
            }
            Compression::Lz4 => {
                // Like the program `lz4`: several blocks, followed by a checksum.
                let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
                let info = info.block_size(lz4_flex::frame::BlockSize::Max64KB);
                let mut to = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
                to.write_all(text).unwrap();
                to.finish().unwrap()
            }
        }
    }

    /// The bytes read, and the error at their end.
    fn read(data: Vec<u8>) -> (Vec<u8>, Option<String>) {
        let mut found = Vec::new();
        let mut reader = match decompressed(Box::new(io::Cursor::new(data))) {
            Ok(reader) => reader,
            Err(error) => return (found, Some(error.to_string())),
        };
        let mut buffer = [0; 4096];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return (found, None),
                Ok(count) => found.extend_from_slice(&buffer[..count]),
                Err(error) => return (found, Some(error.to_string())),
            }
        }
    }

    fn text(lines: usize) -> Vec<u8> {
        (0..lines).flat_map(|i| format!("http://h/{}\n", i * i).into_bytes()).collect()
    }

    #[test]
    fn uncompressed_data_are_read_unchanged() {
        for text in
            [&b""[..], b"h", b"http://h/\n", b"BZh", b"BZh9x", b"(", b"\x1fx", b"PK\x03\x04 zi"]
        {
            assert_eq!(read(text.to_vec()), (text.to_vec(), None));
        }
    }

    #[test]
    fn the_first_bytes_of_compressed_data_alone_are_truncated_data() {
        for format in [Compression::Gzip, Compression::Zstd, Compression::Xz, Compression::Lz4] {
            let whole = compress(format, b"http://h/\n");
            let first = if format == Compression::Zstd { 2 } else { 1 };
            for len in first..=8 {
                let (found, error) = read(whole[..len].to_vec());
                let error = error.unwrap();
                let expected = format!("{} data is truncated at byte", format.name());
                assert!(
                    found.is_empty() && error.starts_with(&expected),
                    "{format:?} {len}: {error}"
                );
            }
        }
    }

    #[test]
    fn members_follow_each_other() {
        let (one, two) = (text(5000), text(3));
        for format in Compression::ALL {
            let mut data = compress(format, &one);
            assert_eq!(Compression::of_head(&data), Some(format));
            data.extend(compress(format, b""));
            data.extend(compress(format, &two));
            assert_eq!(read(data), ([&one[..], &two].concat(), None), "{format:?}");
            assert_eq!(read(compress(format, b"")), (Vec::new(), None), "{format:?}");
        }
    }

    #[test]
    fn a_truncated_stream_returns_its_data_and_the_position() {
        let whole = text(50_000);
        for format in Compression::ALL {
            let data = compress(format, &whole);
            for len in [data.len() / 2, data.len() - 1] {
                let (found, error) = read(data[..len].to_vec());
                assert!(whole.starts_with(&found), "{format:?}");
                assert!(!found.is_empty(), "{format:?}");
                let expected = format!(
                    "{} data is truncated at byte {len}, byte {} of the decompressed data",
                    format.name(),
                    found.len()
                );
                assert_eq!(error, Some(expected));
            }
        }
    }

    /// Where the blocks of the lz4 frame `data` end, the end mark included.
    fn ends_of_blocks(data: &[u8]) -> Vec<usize> {
        let mut ends = vec![7];
        while let Some(size) = data.get(ends[ends.len() - 1]..).and_then(<[u8]>::first_chunk) {
            let size = u32::from_le_bytes(*size) & !(1 << 31);
            ends.push(ends[ends.len() - 1] + 4 + size as usize);
            if size == 0 {
                break;
            }
        }
        ends
    }

    #[test]
    fn an_lz4_frame_that_ends_between_two_blocks_is_truncated() {
        let whole = text(50_000);
        let frame = compress(Compression::Lz4, &whole);
        let ends = ends_of_blocks(&frame);
        assert!(ends.len() > 6);
        // The checksum follows the end mark.
        assert_eq!(ends.last(), Some(&(frame.len() - 4)));
        for first in [0, 1] {
            let before = vec![&frame[..]; first].concat();
            for &end in &ends {
                let (found, error) = read([&before[..], &frame[..end]].concat());
                assert!(whole.repeat(2).starts_with(&found) && found.len() >= first * whole.len());
                let error = error.unwrap_or_else(|| panic!("{first} {end}"));
                assert!(error.contains("lz4 data is truncated"), "{error}");
            }
        }
    }

    #[test]
    fn a_stream_cut_at_any_byte_is_an_error() {
        let one = text(9);
        for format in Compression::ALL {
            let member = compress(format, &one);
            let data = member.repeat(2);
            let lens = (Compression::HEAD_BYTES..data.len()).step_by(3);
            for len in lens.filter(|&len| len != member.len()) {
                let (found, error) = read(data[..len].to_vec());
                assert!(one.repeat(2).starts_with(&found), "{format:?} {len}");
                assert!(error.is_some(), "{format:?} {len}");
            }
        }
    }

    #[test]
    fn a_broken_stream_is_an_error() {
        let whole = text(50_000);
        for format in Compression::ALL {
            let mut data = compress(format, &whole);
            let middle = data.len() / 2;
            data[middle..middle + 64].fill(0xA5);
            let (found, error) = read(data);
            let error = error.unwrap_or_else(|| panic!("{format:?} {}", found.len()));
            assert!(error.contains(format.name()) && error.contains("at byte"), "{error}");
        }
    }

    #[test]
    fn padding_is_accepted_as_by_the_format() {
        let one = text(5000);
        for zeros in [1, 4, 511, 300_000] {
            let data = [&compress(Compression::Gzip, &one)[..], &vec![0; zeros]].concat();
            assert_eq!(read(data), (one.clone(), None), "{zeros}");
        }
        let stream = compress(Compression::Xz, &one);
        let data = [&stream[..], &[0; 8], &stream, &[0; 4]].concat();
        assert_eq!(read(data), ([&one[..], &one].concat(), None));
    }

    #[test]
    fn garbage_at_the_end_is_an_error_after_all_data() {
        let whole = text(20_000);
        let one = text(3);
        for format in Compression::ALL {
            for text in [&one, &whole] {
                for garbage in [&b"http://h/no\n"[..], b"x", b"\x1f", b"\0\0\0\0x", b"\0x"] {
                    let data = [&compress(format, text)[..], garbage].concat();
                    let end = data.len() - garbage.len();
                    let (found, error) = read(data);
                    assert!(found == *text, "{format:?} {garbage:?} {}", found.len());
                    let error = error.unwrap_or_else(|| panic!("{format:?} {garbage:?}"));
                    let at = error.split(" at byte ").nth(1).and_then(|at| at.split(',').next());
                    let at: usize = at.unwrap().parse().unwrap();
                    assert!((end..=end + garbage.len()).contains(&at), "{error}");
                    assert!(error.starts_with(format.name()), "{error}");
                    let place = format!("byte {} of the decompressed data", text.len());
                    assert!(error.ends_with(&place), "{error}");
                }
            }
        }
        for (format, name) in [(Compression::Gzip, "gzip"), (Compression::Bzip2, "bzip2")] {
            let data = [&compress(format, &one)[..], b"http://h/no"].concat();
            let end = data.len() - 11;
            let expected = format!(
                "{name} data is followed by something else at byte {end}, byte {} of the decompressed data",
                one.len()
            );
            assert_eq!(read(data).1, Some(expected));
        }
    }

    #[test]
    fn archives_and_documents_are_rejected_compressed_or_not() {
        let mut tar = vec![0; 512];
        tar[..5].copy_from_slice(b"a.txt");
        tar[257..262].copy_from_slice(b"ustar");
        tar[148..156].fill(b' ');
        let sum: u32 = tar.iter().copied().map(u32::from).sum();
        tar[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        tar.extend(text(100));
        for (data, what) in [(tar, "a tar archive"), (b"%PDF-1.7\n".to_vec(), "a PDF document")] {
            let refused = |data: Vec<u8>| {
                let (found, error) = read(data);
                assert!(found.is_empty());
                assert!(error.is_some_and(|error| error.contains(what)), "{what}");
            };
            Compression::ALL.into_iter().for_each(|format| refused(compress(format, &data)));
            refused(data);
        }
    }
}
