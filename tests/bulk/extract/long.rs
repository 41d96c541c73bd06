//! Tests that lines and documents above the limit are searched in pieces.

use std::io::Cursor;

use uriscan::extract::{ExtractorOptions, Format};
use uriscan_bulk::io::{ReadError, Source};
use uriscan_bulk::pipeline::{ExtractOptions, LinkFormat, Report, Settings, Sinks, extract};

const LIMIT: usize = 4000;

/// The links of `text`, what is reported of it, and the counts.
fn found(
    text: &str,
    format: Format,
    chunk_bytes: usize,
    extractor: ExtractorOptions,
) -> (Vec<String>, Vec<String>, Report) {
    let source = Source::new("a", Cursor::new(text.as_bytes().to_vec()));
    let settings = Settings::default().max_record(LIMIT).chunk_bytes(chunk_bytes).threads(2);
    let options = ExtractOptions::default().format(format).extractor(extractor);
    let (mut out, mut faults) = (Vec::new(), Vec::new());
    let mut note = |error: &ReadError| faults.push(error.to_string());
    let mut sinks = Sinks::new(&mut out).unread(&mut note);
    let report =
        extract(vec![source], &options, LinkFormat::default(), &settings, &mut sinks).unwrap();
    let links = String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
    (links, faults, report)
}

fn uris() -> Vec<String> {
    (0..1000).map(|i| format!("http://h/{i}?a&{}", "b".repeat(i % 50))).collect()
}

/// `open`, and for each link what `each` makes of it, and `close`.
fn document(open: &str, each: impl Fn(&str) -> String, close: &str) -> String {
    let body: String = uris().iter().map(|uri| each(uri)).collect();
    format!("{open}{body}{close}")
}

#[test]
fn no_link_of_a_long_record_is_lost_or_cut() {
    let amp = |uri: &str| uri.replace('&', "&amp;");
    for (format, text) in [
        (Format::Text, document("", |uri| format!("{uri} "), "")),
        (
            Format::Json,
            document(
                "{\"a\":\"",
                |uri| format!("{} ", uri.replace('/', "\\/").replace('&', "\\u0026")),
                "\"}\n",
            ),
        ),
        (Format::Json, document("[", |uri| format!("\"{uri}\","), "1]\n")),
        (Format::Csv, document("a,b\n1,\"", |uri| format!("{uri}\n"), "\"\n")),
        (Format::Tsv, document("", |uri| format!("{uri}\t"), "")),
        (
            Format::Html,
            document(
                "<!doctype html>",
                |uri| format!("<a class='x y' href=\"{}\">t</a>", amp(uri)),
                "",
            ),
        ),
        (
            Format::Html,
            document("<!doctype html>", |uri| format!("<a href='{}'>t</a>", amp(uri)), ""),
        ),
        (Format::Markup, document("<x>", |uri| format!("{} ", amp(uri)), "</x>")),
        (Format::Markdown, document("# T\n", |uri| format!("[a]({uri}) "), "")),
        (Format::Css, document("", |uri| format!("a{{background:url(\"{uri}\")}}\n"), "")),
        (
            Format::Eml,
            document("From: a@b\nContent-Type: text/plain\n\n", |uri| format!("{uri}\n"), ""),
        ),
        (
            Format::Mbox,
            document(
                "From a Thu Jan  1 00:00:00 2026\nFrom: a@b\n\n",
                |uri| format!("{uri}\n"),
                "",
            ),
        ),
        (Format::Clf, document("", |uri| format!("2024-01-01T00:00:00Z stdout P {uri} \n"), "")),
    ] {
        for chunk_bytes in [1, 1000, 1 << 20] {
            let (links, faults, report) =
                found(&text, format, chunk_bytes, ExtractorOptions::default());
            assert_eq!(links, uris(), "{format:?} {chunk_bytes}");
            let is_reported = format != Format::Text;
            assert_eq!(
                (report.omitted.unparsed > 0, !faults.is_empty()),
                (is_reported, is_reported),
                "{format:?} {faults:?}"
            );
            assert_eq!(
                (report.invalid.total(), report.omitted.malformed, report.omitted.broken),
                (0, 0, 0),
                "{format:?} {faults:?}"
            );
        }
    }
}

#[test]
fn what_follows_a_long_record_is_read_as_before() {
    let long = document("", |uri| format!("{uri} "), "");
    for (format, text, last) in [
        (Format::Text, format!("{long}\nhttp://h/last\n"), "http://h/last"),
        (Format::Csv, format!("a,b\n1,{long}\n2,\"http://h/\"\"x\"\n"), "http://h/"),
        (
            Format::Json,
            format!("{{\"a\":\"{long}\"}}\n{{\"b\":\"http://h/\\u00e9x\"}}\n"),
            "http://h/",
        ),
        (
            Format::Clf,
            format!(
                "{long}\n1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET http://h/x HTTP/1.1\" 200 1\n"
            ),
            "http://h/x",
        ),
        (
            Format::Mbox,
            format!(
                "From a Thu Jan  1 00:00:00 2026\nFrom: a@b\n\n{long}\nFrom a Thu Jan  1 00:00:00 2026\nFrom: a@b\nContent-Transfer-Encoding: base64\n\naHR0cDovL2gvbGFzdA==\n"
            ),
            "http://h/last",
        ),
        (
            Format::Warc,
            {
                let record = |body: &str| {
                    format!(
                        "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
                        body.len()
                    )
                };
                record(&long) + &record("http://h/last")
            },
            "http://h/last",
        ),
    ] {
        for chunk_bytes in [1, 1000, 1 << 20] {
            let (links, faults, report) =
                found(&text, format, chunk_bytes, ExtractorOptions::default());
            assert_eq!(links.last().map(|link| &link[..]), Some(last), "{format:?} {chunk_bytes}");
            assert_eq!(report.omitted.broken, 0, "{format:?} {faults:?}");
            let is_whole = links.len() == uris().len() + 1;
            assert_eq!(
                is_whole,
                format != Format::Warc,
                "{format:?} {chunk_bytes} {}",
                links.len()
            );
        }
    }
}

#[test]
fn a_long_line_of_which_some_values_are_selected_is_skipped() {
    let long = document(
        "{\"a\":\"http://h/1\"}\n{\"x\":\"",
        |uri| format!("{uri} "),
        "\"}\n{\"a\":\"http://h/2\"}\n",
    );
    let options = ExtractorOptions::default().fields(vec!["a".to_owned()]);
    let (links, faults, report) = found(&long, Format::Json, 1000, options);
    assert_eq!(links, ["http://h/1", "http://h/2"]);
    assert_eq!((report.invalid.total(), faults.len()), (1, 1), "{faults:?}");
}
