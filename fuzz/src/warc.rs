//! Archives: the links of an archive are those of its documents, however these are coded and the archive is cut; damage
//! costs no more than the record that has it.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use uriscan::extract::{Extractor, ExtractorOptions, Format, Links};
use uriscan::{Kernels, PaddedBuf};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{ExtractOptions, LinkFormat, Settings, Sinks, extract};

use crate::{BACKENDS, Choice};

const TARGET: &str = "http://target.example/a/b";

/// The first byte chooses the backend, how the archive is cut and whether it is compressed. The rest are documents, with
/// a NUL after each; the first byte of each chooses its media type and codings.
pub fn check(data: &[u8]) {
    let Some((mut choice, rest)) = Choice::split(data) else { return };
    let kernels = BACKENDS[choice.backend()];
    let (is_compressed, cut) = (choice.below(2) == 1, choice.below(25));
    let (mut archive, mut expected) = (Vec::new(), Vec::new());
    for document in rest.split(|&byte| byte == 0).take(8) {
        let record = Record::new(document);
        expected.extend(record.links());
        let bytes = record.write();
        archive.extend(if is_compressed { gzip(&bytes) } else { bytes });
    }
    let chunk_bytes = if cut == 0 { 1 << 20 } else { 37 * cut };
    let settings = Settings::default().chunk_bytes(chunk_bytes).threads(1).kernels(kernels);
    assert_eq!(extracted(&archive, &settings), expected, "{}", archive.escape_ascii());
    if !is_compressed {
        check_damage(&archive, kernels, rest);
    }
}

/// The links of an archive whose bytes are changed somewhere are the same on every backend, and records stand where
/// they stood.
fn check_damage(archive: &[u8], kernels: Kernels, seed: &[u8]) {
    let mut damaged = archive.to_vec();
    for pair in seed.rchunks_exact(2).take(4) {
        let at = usize::from(pair[0]) * damaged.len() / 256;
        damaged[at] ^= pair[1];
    }
    let all = |kernels: Kernels| {
        let buf = PaddedBuf::from_content(&damaged);
        let mut links = Links::new();
        Extractor::default().extract(kernels, Format::Warc, buf.padded(), &mut links);
        let uris: Vec<_> =
            links.iter(&damaged).map(|(link, uri)| (link.span, uri.to_vec())).collect();
        uris
    };
    let found = all(kernels);
    assert_eq!(found, all(BACKENDS[0]));
    assert!(
        found.iter().all(|(span, _)| span.start <= span.end && span.end as usize <= damaged.len())
    );
}

fn extracted(archive: &[u8], settings: &Settings) -> Vec<String> {
    let options = ExtractOptions::default().format(Format::Warc);
    let mut out = Vec::new();
    let source = Source::new("archive", Cursor::new(archive.to_vec()));
    extract(vec![source], &options, LinkFormat::default(), settings, &mut Sinks::new(&mut out))
        .expect("an archive that is whole");
    String::from_utf8_lossy(&out).lines().map(str::to_owned).collect()
}

/// A record of an archive.
struct Record<'a> {
    /// `Content-Type` of the document, and the format that it is searched as.
    media: (&'static str, Format),
    is_response: bool,
    is_chunked: bool,
    coding: usize,
    body: &'a [u8],
}

/// Codings of bodies.
const CODINGS: [&str; 4] = ["", "gzip", "deflate", "x-gzip, deflate"];

impl Record<'_> {
    fn new(document: &[u8]) -> Record<'_> {
        let (&first, body) = document.split_first().unwrap_or((&0, &[]));
        let mut choice = Choice(first.into());
        let media = choice.of(&[
            ("text/html; charset=utf-8", Format::Html),
            ("text/plain", Format::Text),
            ("application/xhtml+xml", Format::Html),
        ]);
        let is_response = choice.below(4) > 0;
        let (is_chunked, coding) = match is_response {
            true => (choice.below(2) == 1, choice.below(CODINGS.len())),
            false => (false, 0),
        };
        Record { media, is_response, is_chunked, coding, body }
    }

    /// The links of the document alone.
    fn links(&self) -> Vec<String> {
        let base = Some(TARGET.as_bytes().to_vec());
        let extractor = Extractor::new(ExtractorOptions::default().base(base));
        let buf = PaddedBuf::from_content(self.body);
        let mut links = Links::new();
        extractor.extract(BACKENDS[0], self.media.1, buf.padded(), &mut links);
        let uris = links.iter(self.body).map(|(_, uri)| String::from_utf8_lossy(uri).into_owned());
        uris.collect()
    }

    /// The record, with two line ends after it.
    fn write(&self) -> Vec<u8> {
        let (kind, media) = match self.is_response {
            true => ("response", "application/http; msgtype=response"),
            false => ("resource", self.media.0),
        };
        let block = if self.is_response { self.response() } else { self.body.to_vec() };
        let mut record = format!(
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {TARGET}\r\nContent-Type: {media}\r\nContent-Length: {}\r\n\r\n",
            block.len()
        )
        .into_bytes();
        record.extend(block);
        record.extend(b"\r\n\r\n");
        record
    }

    fn response(&self) -> Vec<u8> {
        let mut body = self.body.to_vec();
        let codings = CODINGS[self.coding];
        if codings.contains("gzip") {
            body = gzip(&body);
        }
        if codings.contains("deflate") {
            body = deflated(&body, self.body.len().is_multiple_of(2));
        }
        let mut message =
            format!("HTTP/1.1 200 OK\r\nContent-Type: {}\r\n", self.media.0).into_bytes();
        if !codings.is_empty() {
            message.extend(format!("Content-Encoding: {codings}\r\n").into_bytes());
        }
        if !self.is_chunked {
            message.extend(b"\r\n");
            message.extend(body);
            return message;
        }
        message.extend(b"Transfer-Encoding: chunked\r\n\r\n");
        for part in body.chunks(11) {
            message.extend(format!("{:x};x=y\r\n", part.len()).into_bytes());
            message.extend(part);
            message.extend(b"\r\n");
        }
        message.extend(b"0\r\n\r\n");
        message
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory")
}

/// `deflate` as the standard has it, or without its wrapping, as some servers do, unless that looks like text.
fn deflated(bytes: &[u8], is_wrapped: bool) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let bare = encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory");
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    if !is_wrapped && bare.iter().take(512).any(is_control) {
        return bare;
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory")
}
