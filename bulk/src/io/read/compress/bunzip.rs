//! A decoder of consecutive bzip2 streams, whose errors do not depend on the sizes of reads.

use std::io::{self, BufRead, Read};

use bzip2::{Decompress, Status};

use super::members::garbage;

/// Number of bytes that a decoder gets at a time. Of eight and more, it takes some in advance, and the position of an
/// error would depend on how many there were.
const TAKEN: usize = 7;

/// Number of bytes of content that a decoder returns at a time. Those before an error in a block are lost, so the
/// buffer has the same size for any reader.
const CONTENT: usize = 16 << 10;

/// The end of an empty stream: the mark of the end, and the checksum of nothing.
const EMPTY: [u8; 10] = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0];

/// Consecutive bzip2 streams.
pub(super) struct Bunzip<R> {
    data: R,
    head: Head,
    decoder: Option<Decompress>,
    /// Whether a block has been read whose content has not been returned, as far as is known.
    may_have_content: bool,
    content: Box<[u8]>,
    /// The part of `content` that has not been returned.
    start: usize,
    end: usize,
    /// The error after that part.
    failed: Option<io::Error>,
}

/// The first bytes of a stream, as far as they are those of an empty one: a decoder fills megabytes of memory for each
/// stream, and 75,000 empty ones take a megabyte.
#[derive(Default)]
struct Head {
    bytes: [u8; 4 + EMPTY.len()],
    len: usize,
    /// Number of these bytes that the decoder has taken.
    taken: usize,
}

impl Head {
    /// Whether an empty stream continues with `byte`.
    fn continues(&self, byte: u8) -> bool {
        match self.len {
            0..3 => byte == b"BZh"[self.len],
            3 => (b'1'..=b'9').contains(&byte),
            len => byte == EMPTY[len - 4],
        }
    }

    /// Adds a byte; returns whether the empty stream is complete.
    fn push(&mut self, byte: u8) -> bool {
        self.bytes[self.len] = byte;
        self.len += 1;
        self.len == self.bytes.len()
    }
}

impl<R: BufRead> Bunzip<R> {
    pub(super) fn new(data: R) -> Bunzip<R> {
        Bunzip {
            data,
            head: Head::default(),
            decoder: None,
            may_have_content: false,
            content: vec![0; CONTENT].into_boxed_slice(),
            start: 0,
            end: 0,
            failed: None,
        }
    }

    /// Skips empty streams and begins the next one; returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            match self.data.fill_buf()?.first() {
                Some(&byte) if self.head.continues(byte) => {
                    self.data.consume(1);
                    if self.head.push(byte) {
                        self.head = Head::default();
                    }
                }
                None if self.head.len == 0 => return Ok(false),
                // The first stream was bzip2, or this decoder would not have been chosen.
                Some(_) if self.head.len < 4 => return Err(garbage()),
                _ => {
                    self.decoder = Some(Decompress::new(false));
                    return Ok(true);
                }
            }
        }
    }

    /// Gives a few bytes to the decoder, which returns no content yet.
    fn parse(&mut self) -> io::Result<()> {
        let Some(decoder) = &mut self.decoder else { return Ok(()) };
        let head = &self.head.bytes[self.head.taken..self.head.len];
        let is_head = !head.is_empty();
        let input = if is_head { head } else { self.data.fill_buf()? };
        if input.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let piece = &input[..input.len().min(TAKEN)];
        let before = decoder.total_in();
        let done = decoder.decompress(piece, &mut []);
        let taken = (decoder.total_in() - before) as usize;
        // The next read may wait, so content that may be there is returned first.
        self.may_have_content = taken < piece.len() || piece.len() == input.len();
        if is_head {
            self.head.taken += taken;
        } else {
            self.data.consume(taken);
        }
        match done.map_err(invalid)? {
            Status::StreamEnd => {
                (self.decoder, self.head) = (None, Head::default());
                Ok(())
            }
            Status::MemNeeded => Err(io::ErrorKind::OutOfMemory.into()),
            _ => Ok(()),
        }
    }

    /// Takes content from the decoder, until a block ends.
    fn take_content(&mut self) {
        let Some(decoder) = &mut self.decoder else { return };
        let before = decoder.total_out();
        let done = decoder.decompress(&[], &mut self.content);
        (self.start, self.end) = (0, (decoder.total_out() - before) as usize);
        self.failed = done.err().map(invalid);
    }
}

fn invalid(error: bzip2::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl<R: BufRead> Read for Bunzip<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.start < self.end || out.is_empty() {
                let count = out.len().min(self.end - self.start);
                out[..count].copy_from_slice(&self.content[self.start..][..count]);
                self.start += count;
                return Ok(count);
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.decoder.is_none() {
                if !self.begin()? {
                    return Ok(0);
                }
            } else if self.may_have_content {
                self.take_content();
                self.may_have_content = self.end == self.content.len();
            } else {
                self.parse()?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor, Write};

    use super::*;

    fn stream(text: &[u8], level: u32) -> Vec<u8> {
        let level = bzip2::Compression::new(level);
        let mut to = bzip2::write::BzEncoder::new(Vec::new(), level);
        to.write_all(text).unwrap();
        to.finish().unwrap()
    }

    /// The content of `data` read in pieces of up to `len` bytes, both ways; the error and its position.
    fn read(data: &[u8], len: usize) -> (Vec<u8>, Option<(String, usize)>) {
        let mut reader = Bunzip::new(BufReader::with_capacity(len, Cursor::new(data)));
        let (mut found, mut buffer) = (Vec::new(), vec![0; len]);
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return (found, None),
                Ok(count) => found.extend_from_slice(&buffer[..count]),
                Err(error) => {
                    let left = reader.data.buffer().len();
                    let position = reader.data.get_ref().position() as usize - left;
                    return (found, Some((error.to_string(), position)));
                }
            }
        }
    }

    /// What the reader of the crate returns.
    fn read_by_crate(data: &[u8]) -> (Vec<u8>, bool) {
        let (mut found, mut reader) = (Vec::new(), bzip2::bufread::MultiBzDecoder::new(data));
        let is_ok = reader.read_to_end(&mut found).is_ok();
        (found, is_ok)
    }

    const LENS: [usize; 6] = [1, 3, 7, 8, 100, 1 << 20];

    fn lines(count: usize) -> Vec<u8> {
        (0..count).flat_map(|i| format!("http://h/{}\n", i * i).into_bytes()).collect()
    }

    #[test]
    fn streams_follow_each_other_whatever_the_sizes_of_reads() {
        let (long, same) = (lines(20_000), vec![b'a'; 500_000]);
        let mut data = Vec::new();
        let mut expected = Vec::new();
        for (text, level) in [(&b""[..], 9), (b"h", 1), (&long, 1), (b"", 1), (&same, 9), (b"", 5)]
        {
            data.extend(stream(text, level));
            expected.extend_from_slice(text);
        }
        for len in LENS {
            let (found, error) = read(&data, len);
            assert!(found == expected && error.is_none(), "{len} {error:?}");
        }
        assert_eq!(read(b"", 1), (Vec::new(), None));
    }

    #[test]
    fn broken_data_give_the_same_bytes_and_position_whatever_the_sizes_of_reads() {
        let mut whole = stream(b"", 9);
        whole.extend(stream(&lines(300), 1));
        whole.extend(stream(&[b'a'; 3_000], 9));
        let mut errors = 0;
        for at in 0..whole.len() {
            for data in [
                [&whole[..at], &[whole[at] ^ 1 << (at % 8)], &whole[at + 1..]].concat(),
                whole[..=at].to_vec(),
            ] {
                let expected = read(&data, 1);
                for len in LENS {
                    assert_eq!(read(&data, len), expected, "{at} {len}");
                }
                let (by_crate, is_ok) = read_by_crate(&data);
                assert_eq!(is_ok, expected.1.is_none(), "{at}");
                if is_ok {
                    assert_eq!(by_crate, expected.0, "{at}");
                } else {
                    errors += 1;
                }
            }
        }
        assert!(errors > whole.len(), "{errors} of {}", whole.len());
    }

    #[test]
    fn many_empty_streams_take_no_decoder() {
        let mut data = stream(b"", 9).repeat(200_000);
        let mut reader = Bunzip::new(&data[..]);
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
        assert!(reader.decoder.is_none());
        // A wrong checksum is found by the decoder.
        *data.last_mut().unwrap() = 1;
        let error = read(&data, 100).1.unwrap();
        assert_eq!(error, ("bzip2: invalid data".to_owned(), data.len()));
    }

    #[test]
    fn content_is_returned_before_the_source_is_read_again() {
        /// A stream, and a source that must not be asked for more.
        struct Waits<'d>(&'d [u8]);
        impl Read for Waits<'_> {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                assert!(!self.0.is_empty(), "this read would wait");
                self.0.read(out)
            }
        }
        for len in [1, 7, 8, 1000] {
            let data = stream(&lines(9), 9);
            let mut reader = Bunzip::new(BufReader::with_capacity(len, Waits(&data)));
            let mut found = vec![0; lines(9).len()];
            reader.read_exact(&mut found).unwrap();
            assert_eq!(found, lines(9));
        }
    }
}
