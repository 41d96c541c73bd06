//! Floor 5: 128-bit keys of lines, and their hexadecimal form.

use std::collections::HashSet;

use criterion::Criterion;
use uriscan::key::{Hasher, Key, PublicHash, PublicHasher};
use uriscan_core::chunk::{Padded, Prefix, Span};
use uriscan_core::simd::{Isa, Kernels, Task};
use xxhash_rust::xxh3::xxh3_128;

use crate::corpus::Corpus;

/// Size of the text in bytes: larger than a second-level cache.
const BYTES: usize = 16 << 20;

/// Number of lines whose keys are computed together: about as many as a chunk of the pipeline has.
const BATCH: usize = 7000;

fn xor_of(keys: impl Iterator<Item = Key>) -> u128 {
    keys.fold(0, |xor, key| xor ^ key.0)
}

/// Computes the public keys of many lines at a time.
struct Batch<'a> {
    hasher: &'a PublicHasher,
    text: Padded<'a>,
    lines: &'a [Span],
    keys: &'a mut Vec<Key>,
}

impl Task for Batch<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let line = |i: usize| self.text.part(self.lines[i].start as usize, self.lines[i].len());
        self.hasher.keys(isa, self.lines.len(), line, self.keys);
    }
}

/// Computes the keys of a run, one by one, as the pipeline does.
struct RunKeys<'a> {
    hasher: &'a Hasher,
    text: Padded<'a>,
    lines: &'a [Span],
}

impl Task for RunKeys<'_> {
    type Output = u128;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> u128 {
        let RunKeys { hasher, text, lines } = self;
        let line = |span: &Span| Prefix::from(text.part(span.start as usize, span.len()));
        xor_of(lines.iter().map(|span| hasher.key_by(isa, line(span))))
    }
}

pub(crate) fn keys(criterion: &mut Criterion) {
    let corpus = Corpus::generate("mixed", BYTES);
    let lines: Vec<&[u8]> = corpus.lines().collect();
    let spans: Vec<Span> = lines
        .iter()
        .scan(0, |start, line| {
            let end = *start + line.len() as u32;
            let span = Span { start: *start, end };
            *start = end + 1;
            Some(span)
        })
        .collect();

    let mut group = criterion.benchmark_group("key");
    group.throughput(corpus.throughput());

    // The former hash, as a baseline.
    let xxh3 = || lines.iter().fold(0, |xor, line| xor ^ xxh3_128(line));
    let distinct: HashSet<u128> = lines.iter().map(|line| xxh3_128(line)).collect();
    assert_eq!(distinct.len() as u64, corpus.counts.string);
    group.bench_function("xxh3-128", |bencher| bencher.iter(xxh3));

    let hasher = Hasher::with_secret([1; 32]);
    let keys: Vec<_> = lines.iter().map(|line| hasher.key(line)).collect();
    assert_eq!(keys.iter().collect::<HashSet<_>>().len() as u64, corpus.counts.string);
    let expected = xor_of(keys.iter().copied());
    for kernels in Kernels::available() {
        let all = || kernels.run(RunKeys { hasher: &hasher, text: corpus.padded(), lines: &spans });
        let name = kernels.backend().name();
        assert_eq!(all(), expected, "{name}");
        group.bench_function(format!("run/{name}"), |bencher| bencher.iter(all));
    }

    for hash in PublicHash::ALL {
        let hasher = PublicHasher::new(hash);
        let keys: Vec<_> = lines.iter().map(|line| hasher.key(line)).collect();
        assert_eq!(keys.iter().collect::<HashSet<_>>().len() as u64, corpus.counts.string);
        let expected = xor_of(keys.into_iter());
        let one_by_one = || xor_of(lines.iter().map(|line| hasher.key(line)));
        assert_eq!(one_by_one(), expected);
        group.bench_function(format!("{hash}/one by one"), |bencher| bencher.iter(one_by_one));
        if hash != PublicHash::Blake3 {
            continue;
        }
        for kernels in Kernels::available() {
            let mut keys = Vec::with_capacity(BATCH);
            let mut batches = || {
                spans.chunks(BATCH).fold(0, |xor, lines| {
                    keys.clear();
                    let text = corpus.padded();
                    kernels.run(Batch { hasher: &hasher, text, lines, keys: &mut keys });
                    xor ^ xor_of(keys.iter().copied())
                })
            };
            let name = kernels.backend().name();
            assert_eq!(batches(), expected, "{name}");
            group.bench_function(format!("{hash}/{name}"), |bencher| bencher.iter(&mut batches));
        }
    }

    let mut out = Vec::with_capacity(32 * keys.len());
    let mut write = || {
        out.clear();
        keys.iter().for_each(|key| key.write_hex(&mut out));
        out.len()
    };
    assert_eq!(write(), 32 * keys.len());
    group.bench_function("hex", |bencher| bencher.iter(&mut write));
    group.finish();
}
