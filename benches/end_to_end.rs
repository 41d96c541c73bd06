//! Floor 8: deduplication at level `scheme` of text in memory, all floors together.

use std::io::{self, Write};
use std::sync::Arc;

use criterion::Criterion;
use uriscan::key::Hasher;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{DedupOptions, Emit, Report, Settings, Sinks, dedup};

use crate::corpus::{Corpus, STREAM_BYTES};

fn run(text: &Arc<[u8]>, emit: Emit, threads: usize, out: &mut (dyn Write + Send)) -> Report {
    let mut source = Source::new("corpus", io::Cursor::new(Arc::clone(text)));
    // The length, as for a file.
    source.bytes = Some(text.len() as u64);
    let options = DedupOptions::default().emit(emit).hasher(Hasher::random());
    let settings = Settings::default().threads(threads);
    dedup(vec![source], &options, &settings, &mut Sinks::new(out)).expect("nothing here can fail")
}

fn check(report: &Report, corpus: &Corpus, out: &[u8]) {
    let counts = corpus.counts;
    assert_eq!((report.records, report.written), (counts.records, counts.scheme));
    assert_eq!(report.duplicates, counts.records - counts.scheme);
    assert_eq!(report.invalid.total(), counts.invalid);
    assert_eq!(memchr::memchr_iter(b'\n', out).count() as u64, counts.scheme);
}

pub(crate) fn end_to_end(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("end-to-end");
    for (mix, emits) in [
        ("mixed", &[Emit::Original, Emit::Normalized, Emit::Key][..]),
        ("canonical", &[Emit::Original]),
        ("messy", &[Emit::Original]),
    ] {
        let corpus = Corpus::generate(mix, STREAM_BYTES);
        group.throughput(corpus.throughput());
        let text: Arc<[u8]> = corpus.bytes().into();
        for &emit in emits {
            let mut outs = [Vec::new(), Vec::new()];
            for (out, threads) in outs.iter_mut().zip([1, 2]) {
                check(&run(&text, emit, threads, out), &corpus, out);
            }
            assert!(outs[0] == outs[1], "the number of threads changes the output");
            for threads in [1, 2] {
                let name = format!("{mix}/{emit:?}-j{threads}").to_lowercase();
                group.bench_function(name, |bencher| {
                    bencher.iter(|| run(&text, emit, threads, &mut io::sink()));
                });
            }
        }
    }
    group.finish();
}
