//! Floor 2: classification and index together, per backend, streaming from memory.
//!
//! `memory-read` is the memory bandwidth in the same run; the target is 60 % of it with AVX-512 and
//! 20 % with AVX2.

use criterion::Criterion;
use uriscan::Kernels;
use uriscan::{Padded, PaddedBuf};
use uriscan_core::index::{Index, delimiters};

use crate::corpus::{Corpus, STREAM_BYTES, read_memory, words_sum};

/// Size of a chunk in bytes: the default of the pipeline.
const CHUNK_BYTES: usize = 128 << 10;

/// Indexes every chunk into the same buffers; returns the number of records.
fn build(index: &mut Index, kernels: Kernels, chunks: &[Padded<'_>]) -> usize {
    let count = |&chunk: &Padded<'_>| {
        index.build(kernels, chunk, b'\n');
        index.record_count()
    };
    chunks.iter().map(count).sum()
}

pub(crate) fn index(criterion: &mut Criterion) {
    let corpus = Corpus::generate("mixed", STREAM_BYTES);
    let text = corpus.padded();
    let held = corpus.chunks(CHUNK_BYTES);
    let chunks: Vec<Padded<'_>> = held.iter().map(PaddedBuf::padded).collect();
    let mut group = criterion.benchmark_group("index");
    group.throughput(corpus.throughput());
    assert_eq!(read_memory(text), words_sum(text));
    group.bench_function("memory-read", |bencher| bencher.iter(|| read_memory(text)));

    let mut index = Index::new();
    for kernels in Kernels::available() {
        let name = kernels.backend().name();
        assert_eq!(build(&mut index, kernels, &chunks) as u64, corpus.counts.records, "{name}");
        group.bench_function(format!("build/{name}"), |bencher| {
            bencher.iter(|| build(&mut index, kernels, &chunks));
        });
    }

    // The flat list of offsets, for comparison: why the index keeps words.
    let best = Kernels::detect();
    let expected = corpus.bytes().iter().filter(|byte| b":/?#@[]".contains(byte)).count();
    assert_eq!(delimiters(best, text).len(), expected);
    group.bench_function(format!("delimiters/{}", best.backend().name()), |bencher| {
        bencher.iter(|| chunks.iter().map(|&chunk| delimiters(best, chunk).len()).sum::<usize>());
    });
    group.finish();
}
