//! Floor 6: the set of keys: 4 million of them, 60 % distinct, in batches as sent by the pipeline.

use criterion::{BatchSize, Criterion, Throughput};
use rayon::{ThreadPool, ThreadPoolBuilder};
use uriscan::key::{Hasher, Key};
use uriscan_core::dedup::{Rows, Set};

/// Number of rows in a chunk: 128 KiB of crawled URIs.
const CHUNK_ROWS: usize = 1750;

/// Number of chunks in a batch.
const BATCH_CHUNKS: usize = 32;

/// Keys of which 60 % are distinct; a repeated key comes from anywhere before.
fn draw_keys(count: u64) -> (Vec<Key>, usize) {
    let hasher = Hasher::with_secret([1; 32]);
    let mut distinct = 0;
    let keys = (0..count).map(|i: u64| {
        // A fixed pattern of new and repeated keys, and a scattered choice among the earlier ones.
        if i % 5 < 3 {
            distinct += 1;
            return hasher.key(&(distinct - 1u64).to_le_bytes());
        }
        let choice = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        hasher.key(&(choice % distinct).to_le_bytes())
    });
    let keys = keys.collect();
    (keys, distinct as usize)
}

fn rows_of(keys: &[Key]) -> Vec<Rows> {
    let rows_of_chunk = |chunk: &[Key]| {
        let mut rows = Rows::default();
        chunk.iter().for_each(|&key| rows.push(key));
        rows.partition();
        rows
    };
    keys.chunks(CHUNK_ROWS).map(rows_of_chunk).collect()
}

fn insert(mut set: Set, batches: &[Vec<&Rows>], pool: &ThreadPool) -> Set {
    pool.install(|| batches.iter().for_each(|batch| set.insert(batch)));
    set
}

pub(crate) fn set(criterion: &mut Criterion) {
    let count = if crate::corpus::is_timed() { 4_000_000 } else { 100_000 };
    let (keys, distinct) = draw_keys(count);
    assert_eq!(distinct as u64, count * 3 / 5);
    let mut rows = rows_of(&keys);
    let mut group = criterion.benchmark_group("set");
    let bytes = count * size_of::<Key>() as u64;
    group.throughput(Throughput::ElementsAndBytes { elements: count, bytes });

    group.bench_function("partition", |bencher| {
        bencher.iter(|| rows.iter_mut().for_each(Rows::partition));
    });
    let chunks: Vec<&Rows> = rows.iter().collect();
    let batches: Vec<Vec<&Rows>> = chunks.chunks(BATCH_CHUNKS).map(<[_]>::to_vec).collect();
    for threads in [1, 2] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        for (name, expected) in [("grow", 0), ("expected", distinct as u64)] {
            let new_set = || {
                let mut set = Set::new();
                set.expect(expected);
                set
            };
            assert_eq!(insert(new_set(), &batches, &pool).len(), distinct);
            let firsts =
                rows.iter().map(|rows| (0..rows.len()).filter(|&i| rows.is_first(i)).count());
            assert_eq!(firsts.sum::<usize>(), distinct);
            // The set is returned, so that freeing it is not timed.
            group.bench_function(format!("insert-{name}-j{threads}"), |bencher| {
                bencher.iter_batched(
                    new_set,
                    |set| insert(set, &batches, &pool),
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}
