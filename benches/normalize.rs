//! Floor 4: canonical forms at level `scheme`: one by one, on the reference path, and in bulk.

use std::io::{self, Write};
use std::sync::Arc;

use criterion::Criterion;
use uriscan::normalize::{Level, Normalizer, Options};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{Equivalence, OnInvalid, Report, Settings, Sinks, normalize};
use uriscan_core::normalize::normalize_exact;

use crate::corpus::{Corpus, MIXES};

/// Size of the text in bytes: larger than a second-level cache.
const BYTES: usize = 16 << 20;

/// Numbers of lines that change and of invalid lines, and of bytes written with line ends.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    changed: u64,
    invalid: u64,
    bytes: usize,
}

impl Answer {
    fn note<E>(&mut self, line: &[u8], form: Result<&[u8], E>) {
        let form = form.unwrap_or_else(|_| {
            self.invalid += 1;
            line
        });
        self.changed += u64::from(form != line);
        self.bytes += form.len() + 1;
    }
}

fn one_by_one(corpus: &Corpus, normalizer: &mut Normalizer) -> Answer {
    let mut answer = Answer::default();
    for line in corpus.lines() {
        answer.note(line, normalizer.normalize(line));
    }
    answer
}

fn exact(corpus: &Corpus, form: &mut Vec<u8>) -> Answer {
    let mut answer = Answer::default();
    for line in corpus.lines() {
        form.clear();
        let result = normalize_exact(line, Level::Scheme, false, form);
        answer.note(line, result.map(|()| &form[..]));
    }
    answer
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

fn bulk(text: &Arc<[u8]>) -> (Report, usize) {
    let source = Source::new("corpus", io::Cursor::new(Arc::clone(text)));
    let mut out = Counter(0);
    let settings = Settings::default().threads(1);
    let report = normalize(
        vec![source],
        &Equivalence::default(),
        OnInvalid::Pass,
        &settings,
        &mut Sinks::new(&mut out),
    )
    .expect("nothing here can fail");
    (report, out.0)
}

pub(crate) fn normalize_all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("normalize");
    for mix in MIXES {
        let corpus = Corpus::generate(mix, BYTES);
        let counts = corpus.counts;
        group.throughput(corpus.throughput());

        let (mut normalizer, mut form) = (Normalizer::new(Options::default()), Vec::new());
        let answer = one_by_one(&corpus, &mut normalizer);
        assert_eq!((answer.changed, answer.invalid), (counts.rewrites, counts.invalid), "{mix}");
        assert_eq!(exact(&corpus, &mut form), answer, "{mix}");
        let text: Arc<[u8]> = corpus.bytes().into();
        let (report, bytes) = bulk(&text);
        assert_eq!((report.records, report.invalid.total()), (counts.records, counts.invalid));
        assert_eq!(bytes, answer.bytes, "{mix}");

        group.bench_function(format!("one-by-one/{mix}"), |bencher| {
            bencher.iter(|| one_by_one(&corpus, &mut normalizer));
        });
        group.bench_function(format!("exact/{mix}"), |bencher| {
            bencher.iter(|| exact(&corpus, &mut form));
        });
        group.bench_function(format!("bulk-j1/{mix}"), |bencher| bencher.iter(|| bulk(&text)));
    }
    group.finish();
}
