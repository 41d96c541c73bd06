//! Floor 5: links from text in memory by the whole pipeline on one thread, one corpus for each
//! format.
//!
//! `memory-read` is the memory bandwidth in the same run; the target is 30 % of it on prose, which
//! has few links.

use std::io::{self, Write};
use std::sync::Arc;

use criterion::{Criterion, Throughput};
use uriscan::PaddedBuf;
use uriscan::extract::{ExtractorOptions, Format};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{self, ExtractOptions, LinkFormat, Report, Settings, Sinks};

use crate::corpus::{STREAM_BYTES, is_timed, read_memory, words_sum};

/// Size of a corpus in bytes if nothing is timed.
const TEST_BYTES: usize = 1 << 18;
/// Size of a page in bytes.
const PAGE_BYTES: usize = 20_000;
const BASE: &str = "http://www.example.com/base/";

/// Text with links, and the expected links, one per line.
#[derive(Default)]
struct Links {
    text: Vec<u8>,
    expected: Vec<u8>,
    count: u64,
}

impl Links {
    /// Calls `write` with a number and the next link's path until there is enough text.
    fn generate(bytes: usize, mut write: impl FnMut(&mut Links, u64, &str)) -> Links {
        let mut links = Links::default();
        let mut state = 1u64;
        while links.text.len() < bytes {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let number = state >> 33;
            let path = format!(
                "{}/{number}?page={}",
                ["a", "img", "docs/x"][number as usize % 3],
                number % 97
            );
            write(&mut links, number, &path);
        }
        links
    }

    fn push(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    fn expect(&mut self, uri: &str) {
        self.expected.extend_from_slice(uri.as_bytes());
        self.expected.push(b'\n');
        self.count += 1;
    }
}

/// An access log, read as text: a referrer in each line.
fn log(bytes: usize) -> Links {
    Links::generate(bytes, |links, number, path| {
        let uri = format!("https://www.example.com/{path}");
        links.push(&format!(
            "192.0.2.{} - - [22/Nov/2026:04:{:02}:17 +0000] \"GET /shop/item/{number}?ref=front HTTP/1.1\" 200 {} \"{uri}\" \"Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101\"\n",
            number % 251, number % 60, number % 9000
        ));
        links.expect(&uri);
    })
}

/// Manual pages: a link in every few hundred lines.
fn prose(bytes: usize) -> Links {
    const LINES: &str = "The option is taken for what follows; see also the next section. Note: this holds for\n\
        all of them, unless the file says otherwise (it seldom does).\n";
    Links::generate(bytes, |links, number, path| {
        for _ in 0..number % 64 {
            links.push(LINES);
        }
        let uri = format!("http://example.org/{path}");
        links.push(&format!("More is told at <{uri}>, as it was.\n"));
        links.expect(&uri);
    })
}

/// The body of a page with relative references, against `base`.
fn page_part(links: &mut Links, number: u64, path: &str, base: &str) {
    links.push(&format!(
        "<tr class=\"row\" id=\"r{number}\"><td><code>fn</code></td><td>some <span class=\"kw\">text</span> &amp; more</td>\n\
         <td><a class=\"link\" title=\"x > y\" href=\"../{}\">{number}</a></td></tr>\n",
        path.replace('&', "&amp;")
    ));
    let parent = base[..base.len() - 1].rfind('/').expect("a path") + 1;
    links.expect(&format!("{}{path}", &base[..parent]));
}

/// A page.
fn html(bytes: usize) -> Links {
    let mut links =
        Links::generate(bytes, |links, number, path| page_part(links, number, path, BASE));
    links.text.splice(0..0, *b"<!doctype html><title>a < b</title>\n");
    links
}

/// Lines of JSON with escapes.
fn json(bytes: usize) -> Links {
    Links::generate(bytes, |links, number, path| {
        let uri = format!("http://example.com/{path}");
        let escaped = uri.replace('/', "\\/");
        links.push(&format!("{{\"id\":{number},\"name\":\"a \\\"b\\\" c\",\"url\":\"{escaped}\",\"tags\":[\"x\",\"y:z\"]}}\n"));
        links.expect(&uri);
    })
}

/// An archive of pages.
fn warc(bytes: usize) -> Links {
    let mut archive = Links::default();
    while archive.text.len() < bytes {
        let target = format!("http://example.com/{}/page/", archive.text.len());
        let page = Links::generate(PAGE_BYTES, |links, number, path| {
            page_part(links, number, path, &target);
        });
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
        archive.push(&format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {target}\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{head}",
            head.len() + page.text.len()
        ));
        archive.text.extend_from_slice(&page.text);
        archive.push("\r\n\r\n");
        archive.expected.extend_from_slice(&page.expected);
        archive.count += page.count;
    }
    archive
}

fn run(text: &Arc<[u8]>, format: Format, out: &mut (dyn Write + Send)) -> Report {
    let source = Source::new("corpus", io::Cursor::new(Arc::clone(text)));
    let extractor = ExtractorOptions::default().base(BASE.as_bytes().to_vec());
    let options = ExtractOptions::default().extractor(extractor).format(format);
    let settings = Settings::default().threads(1);
    let rows = LinkFormat::default();
    pipeline::extract(vec![source], &options, rows, &settings, &mut Sinks::new(out))
        .expect("nothing here can fail")
}

pub(crate) fn extract(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("extract");
    let bytes = if is_timed() { STREAM_BYTES } else { TEST_BYTES };
    let corpora = [
        ("log", Format::Text, log as fn(usize) -> Links),
        ("prose", Format::Text, prose),
        ("html", Format::Html, html),
        ("json", Format::Json, json),
        ("warc", Format::Warc, warc),
    ];
    for (name, format, generate) in corpora {
        // A page is one record, whose size is limited.
        let links = generate(if format == Format::Html { bytes / 2 } else { bytes });
        let throughput =
            Throughput::ElementsAndBytes { elements: links.count, bytes: links.text.len() as u64 };
        group.throughput(throughput);
        if name == "log" {
            let buf = PaddedBuf::from_content(&links.text);
            assert_eq!(read_memory(buf.padded()), words_sum(buf.padded()));
            group.bench_function("memory-read", |bencher| {
                bencher.iter(|| read_memory(buf.padded()));
            });
        }
        let text: Arc<[u8]> = links.text.into();
        let mut out = Vec::new();
        assert_eq!(run(&text, format, &mut out).written, links.count, "{name}");
        assert!(out == links.expected, "{name}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| run(&text, format, &mut io::sink()));
        });
    }
    group.finish();
}
