//! Bodies that expand, and limits of records.

use std::io::Write;

use super::*;
use crate::chunk::PaddedBuf;
use crate::extract::{Extractor, ExtractorOptions, Format, Kind, Room};
use crate::simd::Kernels;

const LINK: &[u8] = b"<a href=x>";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// An archive of a response with this body.
fn archive(fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{fields}\r\n\r\n");
    let len = head.len() + body.len();
    let record = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h/\r\nContent-Type: application/http\r\nContent-Length: {len}\r\n\r\n{head}"
    );
    [record.as_bytes(), body, b"\r\n\r\n"].concat()
}

fn links(text: &[u8], max_expansion: Option<u64>, room: Room) -> Links {
    let extractor = Extractor::new(ExtractorOptions::default().max_expansion(max_expansion));
    let (buf, mut links) = (PaddedBuf::from_content(text), Links::new());
    links.give_room(room);
    let kind = Kind::new(Format::Warc, &[], None, b"").unwrap();
    extractor.extract_kind(Kernels::detect(), kind, buf.padded(), None, &mut links);
    links
}

#[test]
fn a_body_expands_so_many_times_unless_it_is_small() {
    let page = LINK.repeat(300_000);
    let chunked =
        |body: &[u8]| [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n0\r\n\r\n"].concat();
    let zlib = |bytes: &[u8]| {
        let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    };
    for (fields, body) in [
        ("Content-Encoding: gzip", gzip(&page)),
        ("Content-Encoding: deflate", zlib(&page)),
        ("Content-Encoding: zstd", zstd::encode_all(&page[..], 19).unwrap()),
        ("Content-Encoding: gzip, gzip", gzip(&gzip(&page))),
        ("Content-Encoding: zstd, gzip", gzip(&zstd::encode_all(&page[..], 3).unwrap())),
        ("Transfer-Encoding: chunked\r\nContent-Encoding: gzip", chunked(&gzip(&page))),
    ] {
        let text = archive(fields, &body);
        let found = links(&text, None, Room::default());
        // The limit is that of small bodies, or 256 times the body.
        let most = (256 * body.len()).max(1 << 20) / LINK.len() + 1;
        assert!((100_000..=most).contains(&found.len()), "{fields} {}", found.len());
        assert_eq!(
            (found.omitted().expanded, found.omitted().partial, found.omitted().lost),
            (1, 0, 0),
            "{fields}"
        );
        let message = found.faults()[0].message(0);
        assert!(message.contains("expands to more than 256 times"), "{message}");
        let found = links(&text, Some(1_000_000), Room::default());
        assert_eq!((found.len(), found.omitted().expanded), (300_000, 0), "{fields}");
    }
    let small = archive("Content-Encoding: gzip", &gzip(&LINK.repeat(100_000)));
    assert_eq!(links(&small, None, Room::default()).len(), 100_000);
}

#[test]
fn large_bodies_and_what_has_no_room_are_left() {
    let large = archive("Content-Encoding: gzip", &gzip(&LINK.repeat(300_000)));
    let small = archive("Content-Encoding: gzip", &gzip(&LINK.repeat(9)));
    let text = [&small[..], &small, &large, &small].concat();
    let room = Room { bytes: 1 << 20, is_alone: false, ..Room::default() };
    let found = links(&text, Some(2000), room);
    assert_eq!((found.len(), found.left()), (18, Some(2 * small.len() as u32)));
    let rest = &text[2 * small.len()..];
    let found = links(rest, Some(2000), Room { is_alone: true, ..room });
    assert_eq!((found.len(), found.left()), (300_000, Some(large.len() as u32)));
    let found = links(&rest[large.len()..], Some(2000), room);
    assert_eq!((found.len(), found.left()), (9, None));
}

#[test]
fn a_limit_belongs_to_the_record_that_exceeds_it() {
    let base = |len: usize| format!("<base href=http://b/{}/>", "b".repeat(len)).into_bytes();
    let page = |base: &[u8], count: usize| archive("X: y", &[base, &LINK.repeat(count)].concat());
    let usual = page(b"", 2);
    for (odd, bases, is_lossy) in [
        (page(&base(40_000), 4_000), 1, false),
        (page(&base(2_000), 4_000), 0, true),
        (page(&base(2_000), 500), 0, false),
    ] {
        let text = [&usual[..], &odd, &usual, &usual].concat();
        let found = links(&text, None, Room::default());
        assert_eq!((found.omitted().bases, found.omitted().lost > 0), (bases, is_lossy));
        let uris: Vec<_> = found.iter(&text).map(|(_, uri)| uri.to_vec()).collect();
        assert!(uris.iter().rev().take(4).all(|uri| uri == b"http://h/x"));
        let made: usize = uris.iter().map(Vec::len).sum();
        assert!(made < 8 * text.len() + (1 << 20) + 4096, "{made}");
        if let [fault] = found.faults() {
            let message = fault.message(0);
            let place = format!("record at byte {} (http://h/): ", usual.len());
            assert!(message.starts_with(&place), "{message}");
        }
    }
}

#[test]
fn later_versions_are_read_as_those_that_are_known() {
    let archive = |version: &str| {
        let record = format!(
            "{version}\r\nWARC-Type: resource\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nhttp://h/1\r\n\r\n"
        );
        record.repeat(2)
    };
    for version in
        ["WARC/0.17", "WARC/0.18", "WARC/1.0", "WARC/1.1", "WARC/1.2", "WARC/2.0", "WARC/10.3"]
    {
        let text = archive(version);
        assert!(is_archive(text.as_bytes()), "{version}");
        let found = links(text.as_bytes(), None, Room::default());
        assert_eq!((found.len(), found.omitted().broken), (2, 0), "{version}");
        let garbage = format!("garbage\n{text}");
        assert_eq!(next_record(garbage.as_bytes(), 0), Some(8), "{version}");
        for len in 0..version.len() {
            let open = format!("garbage\n{}", &version[..len]);
            assert_eq!(garbage_end(open.as_bytes()), Some(7), "{open}");
        }
    }
    for version in ["WARC/0.16", "WARC/x", "WARC/", "WARC/2", "WARC/1.x", "WARC 1.0", "warc/1.0"] {
        assert!(!is_archive(archive(version).as_bytes()), "{version}");
    }
}

#[test]
fn the_last_of_several_types_counts() {
    use encoding_rs::{SHIFT_JIS, UTF_8, WINDOWS_1251};
    for (header, media, charset) in [
        ("Content-Type: text/html; charset=utf-8\r\n", "text/html; charset=utf-8", Some(UTF_8)),
        ("Content-Type: text/plain\r\nX: y\r\ncontent-type: text/html\r\n", "text/html", None),
        (
            "Content-Type: text/html; charset=shift_jis\r\nContent-Type: Text/HTML\r\n",
            "Text/HTML",
            Some(SHIFT_JIS),
        ),
        (
            "Content-Type: text/plain; charset=shift_jis\r\nContent-Type: text/html\r\n",
            "text/html",
            None,
        ),
        (
            "Content-Type: text/plain, text/html;charset=windows-1251\r\n",
            "text/html;charset=windows-1251",
            Some(WINDOWS_1251),
        ),
        ("Content-Type: text/html\r\nContent-Type: */*\r\n", "text/html", None),
        ("Content-Type: text/html\r\nContent-Type:\r\n", "text/html", None),
        ("Content-Type: html\r\n", "html", None),
        ("X: y\r\n", "", None),
    ] {
        let found = media_type(header.as_bytes());
        assert_eq!((found.0, found.1), (media.as_bytes(), charset), "{header}");
    }
}

#[test]
fn line_ends_between_records_do_not_take_a_record_with_them() {
    let record = |more: usize, ends: &str| {
        let block = "http://h/1\r\n\r\n";
        let length = "http://h/1".len() + more;
        let header = "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/plain";
        let block = &block[..length];
        format!("{header}\r\nContent-Length: {length}\r\n\r\n{block}{ends}")
    };
    let usual = record(0, "\r\n\r\n");
    for (what, first) in [
        ("as they should be", usual.clone()),
        ("counted with the block", record(4, "")),
        ("one counted with the block", record(2, "\r\n")),
        ("more than two", record(0, "\r\n\r\n\r\n\r\n\r\n")),
        ("too many, and counted", record(4, "\r\n\r\n")),
        ("of Unix", record(0, "\n\n")),
        ("one", record(0, "\r\n")),
        ("none", record(0, "")),
    ] {
        let text = [&first[..], &usual].concat();
        let found = links(text.as_bytes(), None, Room::default());
        assert_eq!((found.len(), found.omitted().broken), (2, 0), "{what}");
        let mut pages = 0;
        let broken = archived_pages(text.as_bytes(), &mut |_| pages += 1);
        assert_eq!((pages, broken), (0, 0), "{what}: without a URL");
    }
}
