//! Tests input that tries to use much time or memory: time must be linear in its length.

use std::time::{Duration, Instant};

use uriscan::Kernels;
use uriscan::PaddedBuf;
use uriscan::extract::{Extractor, ExtractorOptions, Format, Links, Options, Schemes};

/// Length of the longer of two texts. Quadratic work would take hours for it.
const BYTES: usize = 1 << 19;

fn extractors() -> Vec<Extractor> {
    let all =
        Options::default().unicode(true).unwrap(true).refang(true).bare_hosts(true).email(true);
    let any = Options::default().schemes(Schemes::Any);
    [Options::default(), all, any]
        .into_iter()
        .map(|find| {
            let base = Some(b"http://b/c/d".to_vec());
            Extractor::new(ExtractorOptions::default().find(find).base(base))
        })
        .collect()
}

fn take(extractor: &Extractor, format: Format, text: &[u8]) -> Duration {
    let buf = PaddedBuf::from_content(text);
    let mut links = Links::new();
    let start = Instant::now();
    extractor.extract(Kernels::detect(), format, buf.padded(), &mut links);
    let taken = start.elapsed();
    // The links found can be written, and are at the reported positions.
    let mut end = 0;
    for (link, _) in links.iter(text) {
        assert!(link.span.start <= link.span.end && link.span.end as usize <= text.len());
        end = end.max(link.span.end);
    }
    taken
}

/// Repeats `unit` after `head` and measures the time.
fn assert_linear(format: Format, head: &str, unit: &str) {
    let text =
        |bytes: usize| [head.as_bytes(), &unit.as_bytes().repeat(bytes / unit.len())].concat();
    for extractor in extractors() {
        let taken = take(&extractor, format, &text(BYTES));
        // Some 10 ns a byte are some 10 ms here, and seconds without optimization on a busy
        // machine; quadratic work would take hours.
        assert!(taken < Duration::from_secs(60), "{format:?} {head:?} {unit:?} {taken:?}");
    }
}

#[test]
fn text_takes_linear_time() {
    for unit in [
        "'http://a",
        "http://a(",
        "http://a[",
        "<http://a",
        "<URL:http://a\n",
        "http://a)",
        "a.",
        "a.b,",
        "a@",
        "a.com,",
        "a@b.co@",
        ":",
        "::",
        "a:",
        "mailto:",
        "mailto:a@",
        "urn:a:",
        "://",
        "http://",
        "hxxp[:]//a[.]b",
        "h[.]",
        "\\nmailto:",
        "(",
        ")",
        "[",
        "'",
        "http://a'",
        "http://a.,:;!?",
        "<a:b \n",
        "data:,",
        "http://\u{E9}",
        "http://\u{FF0F}",
        "tag:a,2000:",
        "+a.-",
        "www.a.com(",
        "<",
        "\0",
        "\u{FFFD}",
        "ark:1",
        "\"",
        "x:[",
        "http://a**",
        "*http://a*",
        "_http://a_",
    ] {
        assert_linear(Format::Text, "", unit);
        assert_linear(Format::Text, "http://h/", unit);
    }
}

#[test]
fn pages_take_linear_time() {
    for (head, unit) in [
        ("", "<"),
        ("", "<a "),
        ("", "<!--"),
        ("", "<!-- -"),
        ("<!--", "-"),
        ("<!--", "--!"),
        ("<a", " href"),
        ("<a", " b=c"),
        ("<a", " href=x"),
        ("<meta", " content"),
        ("<meta content=x", " http-equiv"),
        ("<meta", " content=x http-equiv=y"),
        ("<script>", "<script"),
        ("<script>", "<!--<script>"),
        ("<script>", "</scrip"),
        ("<title>", "</titl"),
        ("<textarea>", "<"),
        ("", "<title>"),
        ("", "</"),
        ("", "<?"),
        ("", "<![CDATA["),
        ("", "<a href='"),
        ("", "<img srcset='"),
        ("<img srcset='", "a,"),
        ("<img srcset='", "a (,"),
        ("<a href='", "&"),
        ("<a href='", "&am"),
        ("<a href='", "&#x1"),
        ("", "<base href=x>"),
        ("", "<a href=../../../>"),
        ("<a href='", "../"),
        ("", "<meta http-equiv=refresh content='1;url=x'>"),
        ("", "<plaintext>"),
    ] {
        assert_linear(Format::Html, head, unit);
    }
}

#[test]
fn markup_and_escapes_take_linear_time() {
    for (format, head, unit) in [
        (Format::Markup, "", "<"),
        (Format::Markup, "", "<a "),
        (Format::Markup, "", "<a b='"),
        (Format::Markup, "", "<!--"),
        (Format::Markup, "", "<![CDATA["),
        (Format::Markup, "", "<!DOCTYPE a ["),
        (Format::Markup, "", "<a b='c' b='d'>"),
        (Format::Markup, "<a>", "&lt;a href=x&gt;"),
        (Format::Markup, "<a>", "&lt;"),
        (Format::Text, "", "http:\\/\\/h\\."),
        (Format::Text, "", "http:\\/\\/"),
        (Format::Text, "", "http://h\\/"),
        (Format::Text, "http://h", "\\"),
        (Format::Text, "", "a:\\/\\/b"),
        (Format::Folded, "", "a\n "),
        (Format::Folded, "", "QUOTED-PRINTABLE:=\n"),
        (Format::Folded, "", "::\n"),
        (Format::Json, "\"", "<a href=x>"),
        (Format::Css, "", "image-set("),
    ] {
        assert_linear(format, head, unit);
    }
}

#[test]
fn records_take_linear_time() {
    let lines = [Format::Json, Format::Csv, Format::Tsv, Format::Cdxj, Format::Clf, Format::W3c];
    for format in lines.into_iter().chain([Format::Warc, Format::Eml, Format::Mbox, Format::Har]) {
        for unit in [
            "\"",
            "{",
            "[",
            "\\",
            "\"\\",
            "{\"a\":",
            "{\"a\":\"",
            "\"a\" ",
            ",",
            "\t",
            "\",",
            "a,\"b\n",
            " ",
            "1.1.1.1 - - [1:] \"",
            "1 2 3 [1:] \"GET / HTTP\" 200 1 \"http://a",
            "x [",
            "#Fields: cs-uri-stem cs-host\n",
            "#Fields: cs-uri-stem ",
            "#",
            "WARC/1.0\r\n",
            "WARC/1.0\r\nContent-Length: 0\r\n\r\n",
            "\nWARC/1.",
            "WARC/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "\n",
            "\r\n",
            "a ) {",
            "com) 2020 {\n",
            "}",
            "\\u12",
            "WARC/1.0\nContent-Length: 18446744073709551615\n\n",
            "WARC/1.0\nContent-Length: -1\n\n",
            "Content-Type: multipart/mixed; boundary=b\n\n--b\n",
            "{\"log\":{\"entries\":[{\"request\":{\"url\":\"http://h/\"}},",
            "From a Mon Sep 17 00:00:00 2001\nContent-Type: message/rfc822\n\n",
        ] {
            assert_linear(format, "", unit);
        }
    }
}

#[test]
fn markdown_takes_linear_time() {
    for unit in [
        "[",
        "](",
        "[a](b)",
        "![",
        "<a",
        "`",
        "*a ",
        "> ",
        "- ",
        "http://a ",
        "[a]: b\n",
        "[a] ",
        "<http://a>",
        "_",
        "\\",
    ] {
        // Its parser is a library; deep nesting costs it more than other text.
        let text = unit.repeat((256 << 10) / unit.len());
        let taken = take(&Extractor::default(), Format::Markdown, text.as_bytes());
        assert!(taken < Duration::from_secs(20), "{unit:?} {taken:?}");
    }
}

#[test]
fn ten_million_brackets_take_linear_time() {
    let text = [b"http://h/?".to_vec(), b"([".repeat(5_000_000), b"])".repeat(5_000_000)].concat();
    let found = uriscan::extract::Finder::default().find(Kernels::detect(), &text);
    assert_eq!(found, std::iter::once(0..text.len()).collect::<Vec<_>>());
    let open = [b"http://h/".to_vec(), b"(".repeat(10_000_000)].concat();
    let found = uriscan::extract::Finder::default().find(Kernels::detect(), &open);
    assert_eq!(found, std::iter::once(0..9).collect::<Vec<_>>());
}
