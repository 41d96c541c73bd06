//! Bytes before formats: character sets, what is cut off, and archives of other versions.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::run::{Place, run};

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::fast());
    to.write_all(text).unwrap();
    to.finish().unwrap()
}

/// A record of an archive with the response `body`.
fn response(version: &str, url: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    let len = head.len() + body.len();
    let record = format!(
        "{version}\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Type: application/http\r\nContent-Length: {len}\r\n\r\n{head}"
    );
    [record.as_bytes(), body, b"\r\n\r\n"].concat()
}

/// A record of an ARC archive.
fn arc(url: &str, media: &str, block: &[u8]) -> Vec<u8> {
    let line = format!("{url} 10.0.0.1 20010203040506 {media} {}\n", block.len());
    [line.as_bytes(), block, b"\n"].concat()
}

const SHIFT_JIS: &[u8] = b"<a href=\"/\x95\x5C.html\"><a href=\"?q=\x95\x5C\">";
const DECODED: &str = "http://h/%E8%A1%A8.html\nhttp://h/?q=%95%5C\n";

#[test]
fn pages_in_every_character_set_give_the_links_of_browsers() {
    let page = |head: &[u8]| [head, SHIFT_JIS].concat();
    for head in [
        &b"<meta charset=shift_jis>"[..],
        b"<meta http-equiv=content-type content='text/html; charset=Shift_JIS'>",
        b"<?xml version='1.0' encoding='shift_jis'?><html>",
    ] {
        let ran = run(["extract", "--from", "html", "--base", "http://h/"], page(head));
        assert_eq!(ran.quiet(), DECODED, "{}", head.escape_ascii());
    }
    // Positions are those of the file.
    let ran = run(
        ["extract", "--from", "html", "-b", "--base", "http://h/"],
        page(b"<meta charset=shift_jis>"),
    );
    assert_eq!(ran.quiet(), "33:http://h/%E8%A1%A8.html\n52:http://h/?q=%95%5C\n");
}

#[test]
fn the_character_set_of_a_field_is_that_of_the_body() {
    let body = SHIFT_JIS;
    let field = "Content-Type: text/html; charset=Shift_JIS\r\n";
    let base64 = "PGEgaHJlZj0iL5VcLmh0bWwiPjxhIGhyZWY9Ij9xPZVcIj4=";
    let har = format!(
        r#"{{"log":{{"entries":[{{"request":{{"url":"http://h/"}},"response":{{"content":{{"mimeType":"text/html; charset=shift_jis","encoding":"base64","text":"{base64}"}}}}}}]}}}}"#
    );
    let mail = format!(
        "From: a\r\nContent-Location: http://h/\r\n{field}Content-Transfer-Encoding: base64\r\n\r\n{base64}\r\n"
    );
    let coded = format!("{field}Content-Encoding: gzip\r\n");
    let kept =
        [body, b"<title>\x93\xFA\x96\x7B\x93\xFA\x96\x7B\x93\xFA\x96\x7B\x93\xFA\x96\x7B</title>"]
            .concat();
    for (name, text) in [
        ("warc", response("WARC/1.0", "http://h/", field, body)),
        ("warc", response("WARC/1.0", "http://h/", &coded, &gzip(body))),
        // The coding was removed, and its name was kept.
        ("warc", response("WARC/1.0", "http://h/", &coded, &kept)),
        ("eml", mail.into_bytes()),
        ("har", har.into_bytes()),
    ] {
        let ran = run(["extract", "--from", name], &text);
        let expected = if name == "har" { format!("http://h/\n{DECODED}") } else { DECODED.into() };
        assert_eq!(ran.quiet(), expected, "{name}");
    }
    // The field beats the page, and a byte order mark beats both.
    let page = [b"<meta charset=gbk>", body].concat();
    let ran = run(["extract"], response("WARC/1.0", "http://h/", field, &page));
    assert_eq!(ran.quiet(), DECODED);
    let page = "\u{FEFF}<meta charset=gbk><a href='/\u{8868}'>";
    let ran = run(["extract"], response("WARC/1.0", "http://h/", field, page.as_bytes()));
    assert_eq!(ran.quiet(), "http://h/%E8%A1%A8\n");
    let ran = run(["extract", "--from", "html", "--base", "http://h/"], page);
    assert_eq!(ran.quiet(), "http://h/%E8%A1%A8\n");
}

#[test]
fn text_in_a_field_is_decoded() {
    // As it stands, the last byte of the letter belongs to the scheme.
    let field = "Content-Type: text/plain; charset=shift_jis\r\n";
    let text = b"\x83\x41http://h/a \x83\x41ftp://h/b";
    let ran = run(["extract"], response("WARC/1.0", "http://h/", field, text));
    assert_eq!(ran.quiet(), "http://h/a\nftp://h/b\n");
}

/// Documents of each format whose links are `http://h/<number>`, more of them than a decompressor returns at once.
fn documents() -> Vec<(&'static str, Vec<u8>)> {
    // Numbers that are hard to compress, so that half of the data is about half of the links.
    let number = |i: u32| i.wrapping_mul(2_654_435_761);
    let many =
        |one: &dyn Fn(u32) -> String| (0..20_000).map(|i| one(number(i))).collect::<String>();
    let entries = many(&|i| {
        format!(
            r#"{{"request":{{"url":"http://h/{i}x"}},"response":{{"content":{{"mimeType":"text/html","text":"<a href='http://h/{i}y'>"}}}}}},"#
        )
    });
    let page = many(&|i| format!("<a href='http://h/{i}'>\n"));
    let multipart = format!(
        "From: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n{}--b--\n",
        many(&|i| format!("see http://h/{i} \n"))
    );
    let mailbox = |text: &str| format!("From a@b Thu Jan  1 00:00:00 2020\n{text}");
    let field = "Content-Type: text/html\r\n";
    vec![
        ("text", many(&|i| format!("see http://h/{i} ")).into_bytes()),
        ("html", page.clone().into_bytes()),
        ("markdown", many(&|i| format!("[a](http://h/{i}) ")).into_bytes()),
        ("json", format!("[{}0]", many(&|i| format!("\"http:\\/\\/h\\/{i}\","))).into_bytes()),
        ("csv", many(&|i| format!("{i},http://h/{i}\n")).into_bytes()),
        ("warc", response("WARC/1.0", "http://h/", field, page.as_bytes())),
        (
            "warc",
            arc(
                "http://h/",
                "text/html",
                format!("HTTP/1.0 200 OK\r\n{field}\r\n{page}").as_bytes(),
            ),
        ),
        ("har", format!(r#"{{"log":{{"entries":[{entries}{{}}]}}}}"#).into_bytes()),
        ("mbox", mailbox(&multipart).into_bytes()),
        ("eml", multipart.into_bytes()),
    ]
}

#[test]
fn a_truncated_document_of_any_format_loses_only_what_is_missing() {
    let place = Place::new(&[]);
    for (name, text) in documents() {
        let all = run(["extract", "--from", name], &text).quiet();
        let data = gzip(&text);
        for part in [3, 2] {
            fs::write(place.path("a.gz"), &data[..data.len() / 4 * part]).unwrap();
            let ran = place.run(&["extract", "--from", name, "a.gz"], "");
            assert_eq!(ran.code, 2, "{name}");
            let what = "a.gz: gzip data is truncated at byte";
            assert!(ran.stderr.contains(what), "{name}: {}", ran.stderr);
            assert!(all.starts_with(ran.text()), "{name}: half a link");
            let (found, most) = (ran.text().len(), all.len() / 4 * part);
            assert!((most * 8 / 10..=most * 12 / 10).contains(&found), "{name}: {found} of {most}");
        }
    }
}

#[test]
fn a_link_that_is_cut_off_is_not_taken_as_one() {
    let place = Place::new(&[]);
    let base64 = "PGEgaHJlZj1odHRwOi8vaC8xPiBodHRwOi8vaC8yIGh0dHA6Ly9oLzMz";
    for (name, text) in [
        ("text", "http://h/1 http://h/2 http://h/3".to_owned()),
        ("text", "http://h/1 http://h/2 http://h/3.".into()),
        ("markdown", "<http://h/1> [a](http://h/2) http://h/3".into()),
        ("markdown", "http://h/1 http://h/2 [a](http://h/3".into()),
        ("json", r#"["http:\/\/h\/1","http://h/2","http:\/\/h\/3"#.into()),
        ("csv", "http://h/1,http://h/2,\"http://h/3".into()),
        ("css", "a{b:url(http://h/1);c:url(http://h/2);d:url(http://h/3".into()),
        ("eml", "Subject: a\n\nhttp://h/1 http://h/2 http://h/3".into()),
        ("eml", format!("Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n{base64}")),
        ("warc", format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\n{}",
            "http://h/1 http://h/2 http://h/3"
        )),
        ("har", r#"{"log":{"entries":[{"request":{"url":"http://h/1"}},{"request":{"url":"http://h/2"}},{"request":{"url":"http://h/3"#.into()),
    ] {
        // The last member of the stream is truncated.
        let rest = gzip(b" more");
        fs::write(place.path("a.gz"), [gzip(text.as_bytes()), rest[..10].to_vec()].concat()).unwrap();
        let ran = place.run(&["extract", "--from", name, "a.gz"], "");
        assert_eq!((ran.code, ran.text()), (2, "http://h/1\nhttp://h/2\n"), "{name} {text}: {}", ran.stderr);
    }
}

#[test]
fn archives_of_older_versions_are_read() {
    let field = "Content-Type: text/html\r\n";
    for version in ["WARC/0.17", "WARC/0.18", "WARC/1.0", "WARC/1.1"] {
        let one = |url: &str| response(version, url, field, b"<a href=x>");
        let text = [one("http://a/"), one("http://b/c/"), b"garbage\n".to_vec(), one("http://d/")]
            .concat();
        let ran = run(["extract"], &text);
        assert_eq!(ran.text(), "http://a/x\nhttp://b/c/x\nhttp://d/x\n", "{version}");
        let ran = run(["extract", "--warc-field", "target"], gzip(&text));
        assert_eq!(ran.text(), "http://a/\nhttp://b/c/\nhttp://d/\n", "{version}");
    }
}

#[test]
fn arc_archives_are_read() {
    let page = |link: &str| {
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nServer: http://no/\r\n\r\n<a href={link}>").into_bytes()
    };
    let first = arc(
        "filedesc://a.arc",
        "text/plain",
        b"1 0 Archive\nURL IP-address Archive-date Content-type Archive-length\n",
    );
    let records = [
        arc("http://a/b", "text/html", &page("x")),
        arc("dns:a", "text/dns", b"20010203040506\na. IN A 10.0.0.1\n"),
        arc("https://c/d e", "text/html", &page("y")),
        arc("http://f/g.txt", "text/plain", b"see http://t/ there"),
    ];
    let text = [&first[..], &records.concat()].concat();
    let found = "http://a/x\nhttps://c/y\nhttp://t/\n";
    assert_eq!(run(["extract"], &text).quiet(), found);
    // Each record compressed alone, and chunks of any size.
    let packed: Vec<u8> =
        [&[first.clone()][..], &records].concat().iter().flat_map(|one| gzip(one)).collect();
    assert_eq!(run(["extract"], &packed).quiet(), found);
    for chunk in ["1", "64", "200"] {
        assert_eq!(run(["extract", "--chunk-size", chunk], &text).quiet(), found, "{chunk}");
    }
    let ran = run(["extract", "--warc-field", "target"], &text);
    assert_eq!(ran.quiet(), "http://a/b\ndns:a\nhttps://c/d%20e\nhttp://f/g.txt\n");
    assert_eq!(
        run(["extract", "--warc-type", "response"], &text).quiet(),
        "http://a/x\nhttps://c/y\n"
    );
    assert_eq!(run(["extract", "--mime", "text/plain"], &text).quiet(), "http://t/\n");
    // Version 2, without the line end after a record, and with garbage between two.
    let two = b"http://v/ 10.0.0.1 20010203040506 text/html 200 abc - 70 a.arc 10\n<a href=x>";
    let text = [&first[..], two, &records[0], b"garbage\n\n", &records[3]].concat();
    let ran = run(["extract"], &text);
    assert_eq!(ran.text(), "http://v/x\nhttp://a/x\nhttp://t/\n");
}

#[test]
fn an_archive_compressed_with_its_own_dictionary_is_read() {
    // Made by `zstd --train` and `zstd -D`, as the IIPC's specification has it: the dictionary is the first frame.
    let place = Place::new(&[]);
    let made = place.path("dictionary.warc.zst");
    let bytes = include_bytes!("dictionary.warc.zst");
    fs::write(&made, bytes).unwrap();
    let ran = place.run(&["extract", "dictionary.warc.zst"], "");
    assert_eq!(ran.quiet(), "http://example.com/0/x\nhttp://example.com/1/x\n");
    fs::write(&made, &bytes[..bytes.len() - 9]).unwrap();
    let ran = place.run(&["extract", "dictionary.warc.zst"], "");
    assert_eq!((ran.code, ran.text()), (2, "http://example.com/0/x\n"));
    assert!(ran.stderr.contains("zstd data is truncated"), "{}", ran.stderr);
}
