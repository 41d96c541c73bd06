//! Tests JSON lines, access logs and archives, case by case.

use uriscan::Kernels;
use uriscan::PaddedBuf;
use uriscan::extract::{Context, Extractor, ExtractorOptions, Format, Links, Options};

/// The links of `text` as `context uri`.
pub(super) fn links(
    options: ExtractorOptions,
    format: Format,
    text: &[u8],
) -> (Vec<String>, Links) {
    let extractor = Extractor::new(options);
    let buf = PaddedBuf::from_content(text);
    let mut links = Links::new();
    extractor.extract(Kernels::detect(), format, buf.padded(), &mut links);
    let shown = links
        .iter(text)
        .map(|(link, uri)| format!("{} {}", link.context.name(), String::from_utf8_lossy(uri)))
        .collect();
    (shown, links)
}

#[test]
fn strings_of_json_are_decoded() {
    let text = br#"{"a":"see http:\/\/h\/a?b\u0026c, \"http://h/d\"","b":["http://h/e\\","x"],"http://h/name":1}
{"nested":{"u":"\nhttp://h/f"},"pair":"http://h/\uD83D\uDE00","bad":"http://h/\uZZ"
{"cut":"http://h/cut
not json http://h/text "http://h/quoted
"#;
    let (found, _) = links(ExtractorOptions::default(), Format::Json, text);
    let expected = [
        "http://h/a?b&c",
        "http://h/d",
        "http://h/e",
        "http://h/name",
        "http://h/f",
        "http://h/",
        "http://h/",
        "http://h/cut",
    ];
    let text = ["text http://h/text", "text http://h/quoted"].map(str::to_owned);
    assert_eq!(found, [&expected.map(|uri| format!("field {uri}"))[..], &text].concat());
}

#[test]
fn defanged_links_are_restored_wherever_they_are() {
    for (format, fields, text, expected) in [
        (Format::Csv, &["ioc"][..], "ioc,x\nhxxp://evil[.]com/x,url\n", "http://evil.com/x"),
        (Format::Json, &["ioc"], r#"{"ioc":"hxxps://evil[.]com\/x"}"#, "https://evil.com/x"),
        (Format::Json, &[], r#"{"ioc":"see hxxps://evil[.]com/x"}"#, "https://evil.com/x"),
        (Format::Markdown, &[], "[x](hxxp://evil[.]com/y)\n", "http://evil.com/y"),
        (Format::Html, &[], "<a href='hxxp://evil[.]com/y'>", "http://evil.com/y"),
        (Format::Text, &[], "x hxxp://evil[.]com/y", "http://evil.com/y"),
        // Paths are not changed.
        (Format::Html, &[], "<a href='http://h/a(b)[c](at)'>", "http://h/a(b)[c](at)"),
        (Format::Html, &[], "<a href='/wiki/Dot_(dot)'>", "http://b/wiki/Dot_(dot)"),
        (Format::Html, &[], "<a href='hxxp.html'>", "http://b/hxxp.html"),
    ] {
        let fields: Vec<String> = fields.iter().map(|&name| name.to_owned()).collect();
        let options = ExtractorOptions::default()
            .fields(fields)
            .base(b"http://b/".to_vec())
            .find(Options::default().refang(true));
        let (found, _) = links(options, format, text.as_bytes());
        let uris: Vec<&str> = found.iter().filter_map(|it| it.split(' ').nth(1)).collect();
        assert_eq!(uris, [expected], "{text}");
    }
}

#[test]
fn fields_of_json_are_references_or_text() {
    let fields = vec!["url".to_owned(), "text".to_owned()];
    let text = br#"{"url":"http://h/a","other":"http://h/no","text":"see http://h/b."}
{"url":["/c","http:\/\/h\/d"],"x":{"url":"e f"},"url2":"http://h/no"}
["http://h/no"]
"#;
    let with_base = ExtractorOptions::default().fields(fields.clone()).base(b"http://b/x".to_vec());
    let (found, _) = links(with_base, Format::Json, text);
    assert_eq!(
        found,
        ["http://h/a", "http://h/b", "http://b/c", "http://h/d"].map(|uri| format!("field {uri}"))
    );
    let (found, _) = links(ExtractorOptions::default().fields(fields), Format::Json, text);
    assert_eq!(found, ["http://h/a", "http://h/b", "http://h/d"].map(|uri| format!("field {uri}")));
}

#[test]
fn references_in_fields_and_markdown_need_not_be_valid() {
    let base = || ExtractorOptions::default().base(b"http://b/d/".to_vec());
    let json = br#"{"url":["?a[]=1","x[1].html","p?x=100%","p#a#b"]}"#;
    let expected =
        ["http://b/d/?a[]=1", "http://b/d/x[1].html", "http://b/d/p?x=100%", "http://b/d/p#a#b"];
    let (found, counted) = links(base().fields(vec!["url".to_owned()]), Format::Json, json);
    assert_eq!(found, expected.map(|uri| format!("field {uri}")));
    assert_eq!(counted.relative(), 0);
    let (found, _) = links(base(), Format::Markdown, b"[x](?a[]=1) [y](x[1].html) ![z](p?x=100%)");
    let contexts = ["inline", "inline", "image"];
    let expected = contexts.iter().zip(expected).map(|(context, uri)| format!("{context} {uri}"));
    assert_eq!(found, expected.collect::<Vec<_>>());
}

const LOG: &str = r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a.gif?x=\"1\" HTTP/1.0" 200 2326 "http://r/s" "Bot (+http://bot/)"
1.2.3.4 - joe [10/Oct/2000:13:55:37 -0700] "GET http://proxy/x HTTP/1.1" 404 - "-" "-"
1.2.3.4 - - [10/Oct/2000:13:55:38 -0700] "CONNECT h:443 HTTP/1.1" 200 0
1.2.3.4 - - [10/Oct/2000:13:55:39 -0700] "OPTIONS * HTTP/1.1" 200 0 "" ""
1.2.3.4 - - [10/Oct/2000:13:55:40 -0700] "GET /caf\xc3\xa9 HTTP/1.1" 200 0 "http://r/\"q\"" "x"
an error about http://e/
"#;

#[test]
fn access_logs_have_targets_referrers_and_agents() {
    assert_eq!(Format::of_head(LOG.as_bytes()), Format::Clf);
    let base = Some(b"https://site/".to_vec());
    let (found, _) =
        links(ExtractorOptions::default().base(base.clone()), Format::Clf, LOG.as_bytes());
    let expected = [
        "target https://site/a.gif?x=%221%22",
        "referer http://r/s",
        "agent http://bot/",
        "target http://proxy/x",
        "target https://site/caf%C3%A9",
        "referer http://r/%22q%22",
        "text http://e/",
    ];
    assert_eq!(found, expected);
    let only = ExtractorOptions::default().base(base).log_fields(vec![Context::Target]);
    let (found, counted) = links(only, Format::Clf, LOG.as_bytes());
    assert_eq!(
        (found.len(), counted.omitted().other_lines),
        (3, 1),
        "the line of text is not searched"
    );
    let (found, counted) = links(ExtractorOptions::default(), Format::Clf, LOG.as_bytes());
    assert_eq!((found.len(), counted.relative()), (5, 2));
}

#[test]
fn a_log_is_known_by_most_of_its_lines() {
    let entry = LOG.lines().next().unwrap();
    for before in
        ["# a comment\n", "==> a.log <==\n", "0 2326 \"http://cut/\" \"-\"\n", "\n \n", "#\n#\n#\n"]
    {
        let log = format!("{before}{entry}\n");
        assert_eq!(Format::of_head(log.as_bytes()), Format::Clf, "{before}");
        let unended = format!("{before}{entry}");
        assert_eq!(Format::of_head(unended.as_bytes()), Format::Clf, "{before}");
        let many = format!("{before}{before}{entry}\n{entry}\n");
        assert_eq!(Format::of_source("a.csv", many.as_bytes()), Format::Clf, "{before}");
    }
    let prose = format!("An entry is a line:\n{entry}\nIt has fields,\nin this order.\n");
    assert_eq!(Format::of_head(prose.as_bytes()), Format::Text);
    let mail = format!("From: a@h\nDate: x\nSubject: x\n\n{entry}\n{entry}\n{entry}\n");
    assert_eq!(Format::of_head(mail.as_bytes()), Format::Eml);
}

#[test]
fn selected_targets_without_a_site_are_paths() {
    let entry = |target: &str| {
        format!("# c\n1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET {target} HTTP/1.1\" 200 0\n")
    };
    let only = || ExtractorOptions::default().log_fields(vec![Context::Target]);
    for (target, expected) in [
        ("/a?b=c", "/a?b=c"),
        ("/caf\\xc3\\xa9|x", "/caf%C3%A9%7Cx"),
        // As a reference, `//h/x` names a host.
        ("//h/x", "/.//h/x"),
        ("http://proxy/x", "http://proxy/x"),
    ] {
        let (found, counted) = links(only(), Format::Clf, entry(target).as_bytes());
        assert_eq!(found, [format!("target {expected}")]);
        assert_eq!((counted.relative(), counted.omitted().other_lines), (0, 0));
    }
    for options in [
        only().base(b"urn:x".to_vec()),
        only().find(
            Options::default().schemes(uriscan::extract::Schemes::List(vec!["http".to_owned()])),
        ),
        ExtractorOptions::default(),
    ] {
        let (found, counted) = links(options, Format::Clf, entry("/a").as_bytes());
        assert_eq!((found.len(), counted.relative()), (0, 1));
    }
}

#[test]
fn targets_are_appended_to_the_authority() {
    let entry = |target: &str| {
        format!("1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET {target} HTTP/1.1\" 200 0\n")
    };
    for (base, target, expected) in [
        ("https://shop.example", "//wp-login.php", "https://shop.example//wp-login.php"),
        ("https://shop.example/a/b?c", "/x", "https://shop.example/x"),
        ("http://u@h:8/", "/a/../b/./c", "http://u@h:8/a/../b/./c"),
        ("http://h/", "/?a[]=1&b=100%", "http://h/?a[]=1&b=100%"),
        ("http://h/", "/a|b\\x5c\\xC3\\xA9", "http://h/a%7Cb%5C%C3%A9"),
        ("http://h/", "//h:x//", "http://h//h:x//"),
        ("file:///var/", "/x", "file:///x"),
    ] {
        let options = ExtractorOptions::default().base(base.as_bytes().to_vec());
        let (found, counted) = links(options, Format::Clf, entry(target).as_bytes());
        assert_eq!(found, [format!("target {expected}")]);
        assert_eq!(counted.relative(), 0);
    }
    let pattern = uriscan::extract::LogFormat::new(r#"$host "$request""#).unwrap();
    let options = ExtractorOptions::default().log_format(pattern).base(b"http://no/".to_vec());
    let (found, _) = links(options, Format::Clf, b"h.example \"GET //x HTTP/1.1\"\n");
    assert_eq!(found, ["target http://h.example//x"]);
}

#[test]
fn referrers_and_fields_are_taken_whole() {
    let cases = [
        (r"http://r/a\\b{c}|d^e", "http://r/a%5Cb%7Bc%7D%7Cd%5Ee"),
        ("http://r/caf\u{E9}?q=\u{4E2D}", "http://r/caf%C3%A9?q=%E4%B8%AD"),
        (r"http://r/\xE4", "http://r/%E4"),
        ("http://r/a[1]?b[]={x}", "http://r/a[1]?b[]=%7Bx%7D"),
        ("http://r/(x).,", "http://r/(x).,"),
        ("android-app://com.example/", "android-app://com.example/"),
        ("HTTPS://r/", "HTTPS://r/"),
    ];
    for (typed, expected) in cases {
        let line = format!(
            "h - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 0 \"{typed}\" \"-\"\n"
        );
        let (found, _) = links(ExtractorOptions::default(), Format::Clf, line.as_bytes());
        assert_eq!(found, [format!("referer {expected}")], "{typed}");
        if !typed.contains('\\') {
            let text = format!("url,x\n {typed} ,\"\"\n").replace(".,", ".");
            let fields = ExtractorOptions::default().fields(vec!["url".to_owned()]);
            let (found, _) = links(fields, Format::Csv, text.as_bytes());
            assert_eq!(found, [format!("field {}", expected.trim_end_matches(','))], "{typed}");
        }
    }
    // With a space inside, a referrer is one value all the same; other text is searched.
    for (typed, expected) in [
        ("http://r/a b", vec!["http://r/a%20b"]),
        ("x http://r/a http://r/b", vec!["http://r/a", "http://r/b"]),
        ("-", vec![]),
        ("", vec![]),
    ] {
        let line = format!(
            "h - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 0 \"{typed}\" \"-\"\n"
        );
        let (found, _) = links(ExtractorOptions::default(), Format::Clf, line.as_bytes());
        let expected: Vec<String> = expected.iter().map(|uri| format!("referer {uri}")).collect();
        assert_eq!(found, expected, "{typed}");
    }
    let only =
        Options::default().schemes(uriscan::extract::Schemes::List(vec!["https".to_owned()]));
    let (found, _) = links(ExtractorOptions::default().find(only), Format::Clf, LOG.as_bytes());
    assert_eq!(found, [""; 0]);
}

/// A WARC record.
fn record(fields: &str, block: &[u8]) -> Vec<u8> {
    let head = format!("WARC/1.0\r\n{fields}\r\nContent-Length: {}\r\n\r\n", block.len());
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn archive() -> Vec<u8> {
    let page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<a href=b?c&amp;d>x</a><a href='http://o/'>";
    let chunked = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n<a href\r\n9;x=y\r\n=chunked>\r\n0\r\n\r\n";
    [
        record("WARC-Type: warcinfo", b"software: http://no/"),
        record("WARC-Type: request\r\nWARC-Target-URI: http://h/a/", b"GET http://no/ HTTP/1.1\r\n\r\n"),
        record("WARC-Type: response\r\nWARC-Target-URI: http://h/a/\r\nContent-Type: application/http; msgtype=response", page),
        record("warc-type: response\r\nwarc-target-uri: <http://h/x>\r\ncontent-type: application/http", chunked),
        record("WARC-Type: conversion\r\nWARC-Target-URI: http://h/t\r\nContent-Type: text/plain", b"see http://t/."),
        record("WARC-Type: metadata\r\nWARC-Target-URI: http://h/w/\r\nContent-Type: application/json", br#"{"Links":[{"path":"A@/href","url":"rel"},{"url":"http:\/\/w\/"}]}"#),
        record("WARC-Type: resource\r\nWARC-Target-URI: http://h/r\r\nContent-Type: text/html", b"<img src=i>"),
    ]
    .concat()
}

#[test]
fn archives_have_pages_and_texts() {
    let archive = archive();
    assert_eq!(Format::of_head(&archive), Format::Warc);
    let (found, counted) = links(ExtractorOptions::default(), Format::Warc, &archive);
    let expected = [
        "href http://h/a/b?c&d",
        "href http://o/",
        "href http://h/chunked",
        "text http://t/",
        "field http://h/w/rel",
        "field http://w/",
        "src http://h/i",
    ];
    assert_eq!((found, counted.omitted().broken), (expected.map(str::to_owned).to_vec(), 0));
    let (found, _) = links(ExtractorOptions::default().warc_targets(true), Format::Warc, &archive);
    let targets =
        ["http://h/a/", "http://h/a/", "http://h/x", "http://h/t", "http://h/w/", "http://h/r"];
    assert_eq!(found, targets.map(|uri| format!("target {uri}")));
}

/// A record of a response with a coded body.
fn coded_response(media: &str, coding: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Encoding: {coding}\r\n\r\n");
    let fields =
        "WARC-Type: response\r\nWARC-Target-URI: http://h/\r\nContent-Type: application/http";
    record(fields, &[head.as_bytes(), body].concat())
}

fn gzip(text: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    to.write_all(text).unwrap();
    to.finish().unwrap()
}

#[test]
fn bodies_that_break_off_are_reported() {
    let of = |header: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{header}");
        let fields =
            "WARC-Type: response\r\nWARC-Target-URI: http://h/\r\nContent-Type: application/http";
        let archive = record(fields, &[head.as_bytes(), body].concat());
        let (found, counted) = links(ExtractorOptions::default(), Format::Warc, &archive);
        (found, counted.omitted().partial + counted.omitted().undecoded)
    };
    let chunked = "Transfer-Encoding: chunked\r\n\r\n";
    const A: &str = "href http://h/a";
    let packed = gzip(b"<a href=a>");
    let in_chunks = |bytes: &[u8]| {
        [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n0\r\n\r\n"].concat()
    };
    // Whole, as servers and programs that write archives have it.
    for (header, body) in [
        (chunked, &b"a\r\n<a href=a>\r\n0\r\n\r\n"[..]),
        (chunked, b"5\r\n<a hr\r\n5;x=y\r\nef=a>\r\n000\r\nTrailer: x\r\n\r\n"),
        (chunked, b"a\n<a href=a>\n0"),
        (chunked, b"<a href=a>"),
        ("Content-Length: 10\r\n\r\n", b"<a href=a>"),
        // It was decoded, and the header kept.
        ("Content-Length: 3\r\n\r\n", b"<a href=a>"),
        ("Content-Encoding: gzip\r\nContent-Length: 30\r\n\r\n", b"<a href=a>"),
        ("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", &in_chunks(&packed)),
        ("Transfer-Encoding: gzip, Chunked\r\n\r\n", &in_chunks(&packed)),
        ("Transfer-Encoding: gzip\r\n\r\n", &packed),
    ] {
        let text = String::from_utf8_lossy(body);
        assert_eq!(of(header, body), (vec![A.to_owned()], 0), "{header}{text}");
    }
    // Without a body, as after HEAD.
    assert_eq!(of("Content-Length: 10\r\n\r\n", b""), (Vec::new(), 0));
    assert_eq!(of(chunked, b""), (Vec::new(), 0));
    for (header, body) in [
        // In a chunk, after it, and in the length of the next one.
        (chunked, &b"14\r\n<a href=a>"[..]),
        (chunked, b"a\r\n<a href=a>"),
        (chunked, b"a\r\n<a href=a>\r\n"),
        (chunked, b"a\r\n<a href=a>\r\n1"),
        (chunked, b"a\r\n<a href=a>\r\n3a\r\n"),
        (chunked, b"a\r\n<a href=a>\r\nxyz\r\n"),
        (chunked, b"5\r\n<a hr\r\nfff\r\nef=a>"),
        ("Content-Length: 11\r\n\r\n", b"<a href=a>"),
        (
            "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
            &in_chunks(&packed[..packed.len() - 4]),
        ),
        ("Transfer-Encoding: gzip, chunked\r\n\r\n", &in_chunks(&packed[..packed.len() - 4])),
        // The header breaks off.
        ("Location: a\r\n", b""),
        ("Link: <a>", b""),
    ] {
        let (found, faults) = of(header, body);
        let text = String::from_utf8_lossy(body);
        assert_eq!((found.len(), faults), (1, 1), "{header}{text}: {found:?}");
        assert!(found[0].ends_with(" http://h/a"), "{header}{text}: {found:?}");
    }
    // What follows a fault is searched.
    let broken = b"a\r\n<a href=a>\r\nx\r\n<a href=b>\r\n0\r\n\r\n";
    assert_eq!(of(chunked, broken), (vec![A.to_owned(), "href http://h/b".to_owned()], 1));
}

#[test]
fn coded_bodies_are_decoded_or_reported() {
    let page = b"<a href=/a>x</a><a href=/b>";
    let packed = gzip(page);
    let noise = b"\x02\xFFhttp://no/ <a href=/no>";
    for (coding, media, body, expected, partial, undecoded) in [
        ("gzip", "text/html", &packed[..], 2, 0, 0),
        ("gzip", "text/html", &page[..], 2, 0, 0),
        ("gzip", "text/html", &packed[..packed.len() - 2], 2, 1, 0),
        ("br", "text/html", &noise[..], 0, 0, 1),
        ("compress", "text/plain", &noise[..], 0, 0, 1),
        ("br", "image/png", &noise[..], 0, 0, 0),
    ] {
        let archive = coded_response(media, coding, body);
        let (found, counted) = links(ExtractorOptions::default(), Format::Warc, &archive);
        let all = [
            found.len() as u64,
            counted.omitted().partial,
            counted.omitted().undecoded,
            counted.omitted().broken,
        ];
        assert_eq!(all, [expected, partial, undecoded, 0], "{coding} {media} {found:?}");
    }
    // A body that inflates to more than 64 MiB is cut there, and reported.
    let bomb = gzip(&[&page[..], &b" ".repeat(64 << 20)].concat());
    let archive = coded_response("text/html", "gzip", &bomb);
    let (found, counted) = links(ExtractorOptions::default(), Format::Warc, &archive);
    assert_eq!((found.len(), counted.omitted().partial), (2, 1));
}

#[test]
fn broken_records_are_counted_and_skipped() {
    let good = archive();
    let (all, _) = links(ExtractorOptions::default(), Format::Warc, &good);
    for bad in [
        "garbage\r\n",
        "WARC/1.0\r\nContent-Length: x\r\n\r\n",
        "WARC/1.0\r\nWARC-Type: response\r\n\r\n\r\n",
        "\0\r\n",
    ] {
        let text = [bad.as_bytes(), &good].concat();
        let (found, counted) = links(ExtractorOptions::default(), Format::Warc, &text);
        assert_eq!((&found, counted.omitted().broken), (&all, 1), "{bad:?}");
    }
    for cut in 0..good.len() {
        // However much is missing at the end, everything before is found.
        let (found, _) = links(ExtractorOptions::default(), Format::Warc, &good[..cut]);
        assert!(found.len() <= all.len());
    }
    let (_, counted) = links(
        ExtractorOptions::default(),
        Format::Warc,
        b"WARC/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n",
    );
    assert_eq!(counted.omitted().broken, 1);
}

#[test]
fn schemes_are_chosen_in_every_format() {
    let find =
        Options::default().schemes(uriscan::extract::Schemes::List(vec!["https".to_owned()]));
    let options = || ExtractorOptions::default().find(find.clone());
    let page = b"<a href=http://h/><a href=https://h/><a href=javascript:x>";
    assert_eq!(links(options(), Format::Html, page).0, ["href https://h/"]);
    assert_eq!(
        links(options(), Format::Json, br#""http://h/ https://h/""#).0,
        ["field https://h/"]
    );
}
