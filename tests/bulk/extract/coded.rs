//! Tests sources whose bytes are not those of their text: they are read, or an error says why not.

use std::io::{Cursor, Read, Write};

use uriscan_bulk::io::decompressed;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(content).unwrap();
    out.finish().unwrap()
}

/// The text of `data`, and the error after it.
fn text(data: &[u8]) -> (String, Option<String>) {
    let mut out = Vec::new();
    let read = decompressed(Box::new(Cursor::new(data.to_vec())));
    let error = read.and_then(|mut reader| reader.read_to_end(&mut out)).err();
    (String::from_utf8(out).unwrap(), error.map(|error| error.to_string()))
}

#[test]
fn members_of_different_depth_are_never_read_as_text() {
    let (one, two) = (gzip(b"http://h/1\n"), gzip(b"http://h/2\n"));
    let deep = gzip(&two);
    assert_eq!(text(&[&one[..], &two].concat()), ("http://h/1\nhttp://h/2\n".to_owned(), None));
    assert_eq!(text(&[&deep[..], &deep].concat()), ("http://h/2\nhttp://h/2\n".to_owned(), None));
    for (parts, expected) in [
        (vec![&one, &deep], "http://h/1\n"),
        (vec![&one, &two, &deep], "http://h/1\nhttp://h/2\n"),
        (vec![&one, &deep, &two], "http://h/1\n"),
        (vec![&deep, &one], "http://h/2\n"),
        (vec![&deep, &deep, &one], "http://h/2\nhttp://h/2\n"),
    ] {
        let data: Vec<u8> = parts.into_iter().flatten().copied().collect();
        let (found, error) = text(&data);
        assert_eq!(found, expected);
        assert!(error.as_ref().is_some_and(|error| error.contains("followed by")), "{error:?}");
    }
    // The body of a record at the beginning of a block.
    let blocks = [gzip(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), gzip(&two)].concat();
    let mut out = Vec::new();
    decompressed(Box::new(Cursor::new(blocks))).unwrap().read_to_end(&mut out).unwrap();
    assert!(out.ends_with(&two));
}

#[test]
fn text_in_utf_16_is_read_with_and_without_a_mark() {
    for content in [
        "http://h/1\nhttp://h/\u{E9}\n",
        "a,b\r\n1,http://h/1\r\n",
        "{\"a\":\"http://h/1\"}\n",
        "\u{65E5} see http://h/",
        "1.2.3.4 - -\n",
    ] {
        for mark in ["", "\u{FEFF}"] {
            let marked = format!("{mark}{content}");
            let units = || marked.encode_utf16();
            for data in [
                units().flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
                units().flat_map(u16::to_be_bytes).collect(),
            ] {
                assert_eq!(text(&data), (marked.clone(), None), "{content}");
                assert_eq!(text(&gzip(&data)), (marked.clone(), None), "{content}");
            }
            let chars = || marked.chars().map(u32::from);
            for data in [
                chars().flat_map(u32::to_le_bytes).collect::<Vec<_>>(),
                chars().flat_map(u32::to_be_bytes).collect(),
            ] {
                let (found, error) = text(&data);
                assert!(
                    found.is_empty()
                        && error.is_some_and(|error| error.contains("iconv -f UTF-32")),
                    "{content}"
                );
            }
        }
    }
    for data in ["http://h/\0http://i/\0", "a\0b\0c\0", "a\n\0\0\0\n"] {
        assert_eq!(text(data.as_bytes()), (data.to_owned(), None));
    }
}
