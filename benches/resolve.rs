//! Floor 4: reference resolution: one by one and in bulk, many references per base and a base per row.

use std::io::{self, Write};
use std::sync::Arc;

use criterion::{Criterion, Throughput};
use uriscan::Kernels;
use uriscan::resolve::{BaseUri, Context, Options, Resolver};
use uriscan_bulk::io::{Fields, Source};
use uriscan_bulk::pipeline::{
    Against, OnInvalid, Report, ResolveOptions, SameDocument, Settings, Sinks, resolve,
};

use crate::corpus::is_timed;

/// Number of references in a list: larger than a second-level cache.
const COUNT: usize = 400_000;

/// References as in pages, 18 bytes on average, and their targets, known from their construction.
struct List {
    references: Vec<u8>,
    targets: Vec<u8>,
    /// The same with a base of its own in every row.
    rows: Vec<u8>,
    row_targets: Vec<u8>,
}

/// A number that is the same in every run.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// The directory `a/b/c` without its last `up` segments.
fn directory(up: usize) -> &'static str {
    ["/a/b/c/", "/a/b/", "/a/", "/"][up.min(3)]
}

impl List {
    fn generate(count: usize) -> List {
        let mut list = List {
            references: Vec::new(),
            targets: Vec::new(),
            rows: Vec::new(),
            row_targets: Vec::new(),
        };
        let mut state = 1;
        for i in 0..count {
            let n = draw(&mut state, 100_000);
            let up = draw(&mut state, 4) as usize + 1;
            // The part after the scheme and authority of the base, or the whole target.
            let (reference, target) = match draw(&mut state, 10) {
                0..=2 => (format!("page-{n}.html"), format!("{}page-{n}.html", directory(0))),
                3 | 4 => (format!("{}x/{n}", "../".repeat(up)), format!("{}x/{n}", directory(up))),
                5 | 6 => (format!("/static/img/{n}.png"), format!("/static/img/{n}.png")),
                7 => (format!("?page={n}"), format!("/a/b/c/index.html?page={n}")),
                8 => (format!("#s{n}"), format!("/a/b/c/index.html?q=1#s{n}")),
                _ => (format!("//cdn.example/{n}.js"), format!("http://cdn.example/{n}.js")),
            };
            let push = |host: &str, targets: &mut Vec<u8>| {
                if target.starts_with('/') {
                    targets.extend(format!("http://{host}").bytes());
                }
                targets.extend(target.bytes());
                targets.push(b'\n');
            };
            push("www.example.org", &mut list.targets);
            push(&format!("host{i}.example.org"), &mut list.row_targets);
            list.references.extend(format!("{reference}\n").bytes());
            let row = format!("http://host{i}.example.org/a/b/c/index.html?q=1\t{reference}\n");
            list.rows.extend(row.bytes());
        }
        list
    }
}

const BASE: &[u8] = b"http://www.example.org/a/b/c/index.html?q=1";

fn context() -> Against {
    let base = BaseUri::new(BASE).expect("a base");
    Against::Context(Context::Base { base, options: Options::default() })
}

fn rows() -> Against {
    Against::Fields { fields: Fields::Tsv { base: 1, reference: 2 }, options: Options::default() }
}

/// A writer that only counts bytes.
struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn bulk(text: &Arc<[u8]>, against: &Against, out: &mut (dyn Write + Send)) -> Report {
    let source = Source::new("list", io::Cursor::new(Arc::clone(text)));
    let options = ResolveOptions::new(against.clone())
        .same_document(SameDocument::Keep)
        .on_invalid(OnInvalid::Fail);
    let settings = Settings::default().threads(1);
    resolve(vec![source], &options, &settings, &mut Sinks::new(out)).expect("all are references")
}

fn one_by_one(text: &[u8], resolver: &mut Resolver, out: &mut Vec<u8>) {
    out.clear();
    let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n');
    for line in lines {
        resolver.resolve_into(line, out).expect("all are references");
        out.push(b'\n');
    }
}

pub(crate) fn resolve_all(criterion: &mut Criterion) {
    let count = if is_timed() { COUNT } else { 20_000 };
    let list = List::generate(count);
    let mut group = criterion.benchmark_group("resolve");
    group.throughput(Throughput::Elements(count as u64));

    let mut out = Vec::new();
    for kernels in Kernels::available() {
        let base = BaseUri::new(BASE).expect("a base");
        let mut resolver = Resolver::with_kernels(base, Options::default(), kernels);
        one_by_one(&list.references, &mut resolver, &mut out);
        assert!(out == list.targets, "{}", kernels.backend().name());
        if kernels == Kernels::detect() {
            group.bench_function("one-by-one", |bencher| {
                bencher.iter(|| one_by_one(&list.references, &mut resolver, &mut out));
            });
        }
    }
    for (name, text, targets, against) in [
        ("bulk-j1/one-base", &list.references, &list.targets, context()),
        ("bulk-j1/base-per-row", &list.rows, &list.row_targets, rows()),
    ] {
        let text: Arc<[u8]> = text[..].into();
        let mut written = Vec::new();
        let report = bulk(&text, &against, &mut written);
        assert_eq!(report.records, count as u64);
        assert!(&written == targets, "{name}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| bulk(&text, &against, &mut Counter(0)));
        });
    }
    group.finish();
}
