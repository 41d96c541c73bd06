//! Decompression of Parquet pages that ends where the claims of their headers end.
//!
//! Of the decoders that the crate `parquet` uses, those of GZIP, of LZ4 frames and of Brotli go on to the end of the data,
//! however much that is. Pages in these codecs are read as if they were not compressed, and decompressed here.

use std::io::{self, Read};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::read::MultiGzDecoder;
use lz4_flex::{block, frame::FrameDecoder};
use parquet::basic::Compression;
use parquet::column::page::Page;

use uriscan_files::escape::counted;

/// Whether pages in `codec` are decompressed here.
pub(crate) fn is_ours(codec: Compression) -> bool {
    matches!(codec, Compression::BROTLI(_) | Compression::GZIP(_) | Compression::LZ4)
}

/// Decompresses `page`, whose content takes `claim` bytes by its header. Fails if the content is corrupt, longer or shorter.
pub(crate) fn unpack(codec: Compression, mut page: Page, claim: u32) -> Result<Page, String> {
    let levels = match &page {
        Page::DataPageV2 { is_compressed: false, .. } => return Ok(page),
        Page::DataPageV2 { rep_levels_byte_len, def_levels_byte_len, .. } => {
            u64::from(*rep_levels_byte_len) + u64::from(*def_levels_byte_len)
        }
        _ => 0,
    };
    let (Page::DataPage { buf, .. }
    | Page::DataPageV2 { buf, .. }
    | Page::DictionaryPage { buf, .. }) = &mut page;
    let parts = usize::try_from(levels).ok().and_then(|levels| buf.split_at_checked(levels));
    let (levels, packed) = parts.ok_or("it ends within its levels")?;
    let mut content = vec![0; claim as usize];
    let parts = content.split_at_mut_checked(levels.len());
    let (start, values) = parts.ok_or("it ends within its levels")?;
    start.copy_from_slice(levels);
    // A page without values may hold no compressed data at all.
    if !values.is_empty() {
        fill(codec, packed, values).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                format!("it holds less than the {} that it claims", counted(claim.into(), "byte"))
            }
            io::ErrorKind::FileTooLarge => {
                format!("it holds more than the {} that it claims", counted(claim.into(), "byte"))
            }
            _ => error.to_string(),
        })?;
    }
    *buf = content.into();
    Ok(page)
}

/// Decompresses `packed` to all of `out`. Fails with [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) or
/// [`FileTooLarge`](io::ErrorKind::FileTooLarge) if that is not its length.
fn fill(codec: Compression, packed: &[u8], out: &mut [u8]) -> io::Result<()> {
    match codec {
        Compression::BROTLI(_) => brotli(packed, out),
        Compression::GZIP(_) => read_all(MultiGzDecoder::new(packed), out),
        // What is called LZ4 has been blocks with the header of Hadoop, a frame, and a block alone.
        _ if hadoop(packed, out).is_some() => Ok(()),
        _ if packed.starts_with(&FRAME) => read_all(FrameDecoder::new(packed), out),
        _ => match block::decompress_into(packed, out) {
            Ok(len) if len == out.len() => Ok(()),
            Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(block::DecompressError::OutputTooSmall { .. }) => {
                Err(io::ErrorKind::FileTooLarge.into())
            }
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        },
    }
}

/// What a frame of LZ4 begins with.
const FRAME: [u8; 4] = 0x184D_2204u32.to_le_bytes();

/// Reads all of `decoder`, which is to fill `out`.
fn read_all(mut decoder: impl Read, out: &mut [u8]) -> io::Result<()> {
    decoder.read_exact(out)?;
    match decoder.read(&mut [0])? {
        0 => Ok(()),
        _ => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

/// Decompresses Brotli (RFC 7932) to all of `out`.
fn brotli(packed: &[u8], out: &mut [u8]) -> io::Result<()> {
    let alloc = StandardAlloc::default;
    // Without windows of more than 16 MiB, which the RFC does not have.
    let mut state = BrotliState::new_strict(alloc(), alloc(), alloc());
    let (mut left, mut at, mut room, mut len, mut total) = (packed.len(), 0, out.len(), 0, 0);
    let result = BrotliDecompressStream(
        &mut left, &mut at, packed, &mut room, &mut len, out, &mut total, &mut state,
    );
    match result {
        BrotliResult::ResultSuccess if room == 0 => Ok(()),
        BrotliResult::ResultSuccess | BrotliResult::NeedsMoreInput => {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
        BrotliResult::NeedsMoreOutput => Err(io::ErrorKind::FileTooLarge.into()),
        BrotliResult::ResultFailure => {
            Err(io::Error::new(io::ErrorKind::InvalidData, "its Brotli data is corrupt"))
        }
    }
}

/// Decompresses blocks of LZ4 that each follow two lengths, to all of `out`; `None` if that is not what `packed` is.
fn hadoop(mut packed: &[u8], mut out: &mut [u8]) -> Option<()> {
    while !packed.is_empty() {
        let (len, rest) = packed.split_first_chunk()?;
        let (packed_len, rest) = rest.split_first_chunk()?;
        let (packed_block, rest) =
            rest.split_at_checked(u32::from_be_bytes(*packed_len) as usize)?;
        let (part, left) = out.split_at_mut_checked(u32::from_be_bytes(*len) as usize)?;
        if block::decompress_into(packed_block, part).ok()? != part.len() {
            return None;
        }
        (packed, out) = (rest, left);
    }
    out.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const TEXT: [u8; 1000] = [b'x'; 1000];

    /// Texts in the forms that are called LZ4.
    fn forms_of_lz4(text: &[u8]) -> [Vec<u8>; 3] {
        let block = block::compress(text);
        let lens = [text.len() as u32, block.len() as u32].map(u32::to_be_bytes);
        let mut frame = lz4_flex::frame::FrameEncoder::new(Vec::new());
        frame.write_all(text).unwrap();
        [[&lens.concat(), &block[..]].concat(), frame.finish().unwrap(), block]
    }

    #[test]
    fn a_claim_of_one_byte_is_reported_in_the_singular() {
        let (encoding, empty) = (parquet::basic::Encoding::PLAIN, [1, 0][..].to_vec());
        let buf = empty.into();
        let page = Page::DictionaryPage { buf, num_values: 1, encoding, is_sorted: false };
        let error = unpack(Compression::BROTLI(Default::default()), page, 1).unwrap_err();
        assert!(!error.contains("1 bytes"), "{error}");
    }

    #[test]
    fn content_is_what_its_header_claims() {
        let filled = |packed: &[u8], len: usize| {
            let mut out = vec![0; len];
            fill(Compression::LZ4, packed, &mut out).map(|()| out).map_err(|error| error.kind())
        };
        for packed in forms_of_lz4(&TEXT) {
            assert_eq!(filled(&packed, 1000), Ok(TEXT.to_vec()));
            assert!(filled(&packed[..packed.len() - 8], 1000).is_err());
        }
        let [_, frame, block] = forms_of_lz4(&TEXT);
        for packed in [frame, block] {
            assert_eq!(filled(&packed, 999), Err(io::ErrorKind::FileTooLarge));
            assert_eq!(filled(&packed, 1001), Err(io::ErrorKind::UnexpectedEof));
        }
        // Several blocks of Hadoop are one content.
        let [halves, ..] = forms_of_lz4(&TEXT[..500]);
        assert_eq!(filled(&halves.repeat(2), 1000), Ok(TEXT.to_vec()));
        for len in [999, 1001] {
            assert!(filled(&halves.repeat(2), len).is_err());
        }
    }
}
