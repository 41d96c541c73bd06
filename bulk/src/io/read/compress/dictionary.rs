//! zstd with a dictionary at its beginning, as in `.warc.zst` (the IIPC's "Zstandard compression for WARC").

use std::io::{self, BufRead, Read};

/// A skippable frame with a dictionary.
const FRAME: [u8; 4] = [0x5D, 0x2A, 0x4D, 0x18];
/// What the dictionary in it begins with: as it is, or as a frame.
const PLAIN: [u8; 4] = [0x37, 0xA4, 0x30, 0xEC];
const PACKED: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// Maximum number of bytes of a dictionary; those in use have about one MiB.
const MOST: u64 = 16 << 20;

/// A decoder of `data`, the frames of which are of the dictionary in the first one, if that holds one. The library
/// rejects windows above 128 MiB, like the program `zstd` by default.
///
/// # Errors
/// If the dictionary is truncated, broken or too long, besides those of reading.
pub(super) fn decoder(mut data: impl BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    use zstd::stream::read::Decoder;
    // The first bytes of data are read at once, as their format has been recognized.
    if !data.fill_buf()?.starts_with(&FRAME) {
        return Ok(Box::new(Decoder::with_buffer(data)?));
    }
    let mut header = [0; 8];
    data.read_exact(&mut header)?;
    let len = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
    let mut content = data.take(u64::from(len));
    let mut start = Vec::new();
    content.by_ref().take(4).read_to_end(&mut start)?;
    if start != PLAIN && start != PACKED {
        // Another use of such a frame: skipped, like all others.
        io::copy(&mut content, &mut io::sink())?;
        return Ok(Box::new(Decoder::with_buffer(ended(content)?)?));
    }
    let dictionary = io::Read::chain(&start[..], content.by_ref());
    let mut found = Vec::new();
    let is_whole = match start == PACKED {
        true => {
            let all = Decoder::new(dictionary)?.take(MOST + 1).read_to_end(&mut found);
            all.map_err(|error| invalid(&format!("broken ({error})")))?;
            io::copy(&mut content, &mut io::sink())?;
            found.len() as u64 <= MOST
        }
        false if u64::from(len) > MOST => false,
        false => {
            let mut dictionary = dictionary;
            dictionary.read_to_end(&mut found)?;
            true
        }
    };
    if !is_whole {
        return Err(invalid("longer than 16 MiB"));
    }
    Ok(Box::new(Decoder::with_dictionary(ended(content)?, &found)?))
}

/// What follows a frame that has been read.
fn ended<R>(content: io::Take<R>) -> io::Result<R> {
    match content.limit() {
        0 => Ok(content.into_inner()),
        _ => Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "zstd data is truncated in its dictionary",
        )),
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the dictionary of the zstd data is {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dictionary of responses, two frames that need it, and their text.
    fn packed() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
        let dictionary = zstd::decode_all(&include_bytes!("dictionary.zst")[..]).unwrap();
        assert!(dictionary.starts_with(&PLAIN));
        let (mut frames, mut text) = (Vec::new(), Vec::new());
        for part in ["WARC/1.1\r\nWARC-Type: response\r\n", "Content-Type: application/http\r\n"] {
            let mut to = zstd::bulk::Compressor::with_dictionary(3, &dictionary).unwrap();
            frames.extend(to.compress(part.as_bytes()).unwrap());
            text.extend_from_slice(part.as_bytes());
        }
        (dictionary, frames, text)
    }

    fn frame(content: &[u8]) -> Vec<u8> {
        [&FRAME[..], &(content.len() as u32).to_le_bytes(), content].concat()
    }

    fn read(data: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut found = Vec::new();
        super::super::decompressed(Box::new(io::Cursor::new(data)))?.read_to_end(&mut found)?;
        Ok(found)
    }

    #[test]
    fn frames_are_read_with_the_dictionary_of_the_first_one() {
        let (dictionary, frames, text) = packed();
        let packed = zstd::encode_all(&dictionary[..], 3).unwrap();
        for first in [&dictionary, &packed] {
            assert_eq!(read([frame(first), frames.clone()].concat()).unwrap(), text);
        }
        assert!(read(frames).is_err());
    }

    #[test]
    fn another_skippable_frame_is_skipped() {
        let text = b"http://h/\n";
        let plain = zstd::encode_all(&text[..], 1).unwrap();
        for content in [&b""[..], b"abc", b"notes about it", &PLAIN[..3]] {
            assert_eq!(read([frame(content), plain.clone()].concat()).unwrap(), text);
        }
    }

    #[test]
    fn a_dictionary_that_is_truncated_broken_or_too_long_is_an_error() {
        let (dictionary, frames, _) = packed();
        let packed = zstd::encode_all(&dictionary[..], 3).unwrap();
        let bomb = zstd::encode_all(&vec![0; MOST as usize + 1][..], 1).unwrap();
        let mut broken = packed.clone();
        broken[6..].fill(0xA5);
        let long = [&FRAME[..], &u32::MAX.to_le_bytes(), &PLAIN].concat();
        for (data, what) in [
            (frame(&dictionary)[..900].to_vec(), "truncated"),
            (frame(&packed)[..200].to_vec(), ""),
            (frame(&dictionary)[..6].to_vec(), ""),
            (frame(&broken), "broken"),
            (frame(&bomb), "longer than 16 MiB"),
            (long, "longer than 16 MiB"),
        ] {
            let error = read([data, vec![]].concat()).unwrap_err().to_string();
            assert!(error.contains(what), "{what}: {error}");
        }
        let whole = [frame(&dictionary), frames].concat();
        assert!(read(whole[..whole.len() - 3].to_vec()).is_err());
    }
}
