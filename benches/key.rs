//! Floor 5: 128-bit keys of lines, and their hexadecimal form.

#[allow(dead_code, reason = "each bench uses its part")]
mod corpus;

use std::collections::HashSet;

use criterion::{Criterion, criterion_group, criterion_main};
use uriscan::key::Hasher;

use corpus::Corpus;

/// Bytes of text: larger than a second-level cache.
const BYTES: usize = 16 << 20;

fn xor_of_keys(hasher: Hasher, lines: &[&[u8]]) -> u128 {
    lines.iter().fold(0, |xor, line| xor ^ hasher.key(line).0)
}

fn keys(criterion: &mut Criterion) {
    let corpus = Corpus::generate("mixed", BYTES);
    let lines: Vec<&[u8]> = corpus.lines().collect();
    let hasher = Hasher::with_seed(1);
    let keys: Vec<_> = lines.iter().map(|line| hasher.key(line)).collect();
    assert_eq!(keys.iter().collect::<HashSet<_>>().len() as u64, corpus.counts.string);
    let expected = keys.iter().fold(0, |xor, key| xor ^ key.0);
    assert_eq!(xor_of_keys(hasher, &lines), expected);

    let mut group = criterion.benchmark_group("key");
    group.throughput(corpus.throughput());
    group.bench_function("xxh3-128", |bencher| bencher.iter(|| xor_of_keys(hasher, &lines)));

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

criterion_group!(benches, keys);
criterion_main!(benches);
