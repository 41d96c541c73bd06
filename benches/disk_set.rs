//! Floor 6: sets of keys on disk. Everything is written and synced as by the program; files written
//! just before are still in the page cache.

use std::path::Path;

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput};
use tempfile::TempDir;
use uriscan::key::{Key, PublicHash, PublicHasher};
use uriscan::set::{KeySet, Meaning, SetWriter};

/// Memory for sorting, as in the program.
const MEMORY: usize = 256 << 20;

/// Number of runs that are added one by one to a set of one run.
const DELTAS: u64 = 8;

/// Numbers of keys.
struct Sizes {
    /// In the large set.
    held: u64,
    /// Added in one batch.
    added: u64,
    /// Looked up in one batch.
    asked: u64,
    /// Looked up in a small batch.
    few: u64,
}

impl Sizes {
    fn new() -> Sizes {
        if crate::corpus::is_timed() {
            Sizes { held: 20_000_000, added: 1_000_000, asked: 4_000_000, few: 20_000 }
        } else {
            Sizes { held: 60_000, added: 3000, asked: 12_000, few: 60 }
        }
    }
}

fn keys(from: u64, count: u64) -> impl Iterator<Item = Key> {
    let hasher = PublicHasher::new(PublicHash::Blake3);
    (from..from + count).map(move |i| hasher.key(&i.to_le_bytes()))
}

/// `count` keys in random order: alternately one of the first `held`, and one that no set holds.
fn batch(held: u64, count: u64) -> Vec<Key> {
    let step = (2 * held / count).max(1);
    let of_place =
        |i: u64| if i.is_multiple_of(2) { i / 2 * step % held } else { u64::MAX / 2 + i };
    (0..count).flat_map(|i| keys(of_place(i), 1)).collect()
}

fn create(directory: &Path) -> SetWriter {
    SetWriter::create(directory, Meaning::new(PublicHash::Blake3, "")).expect("a new set")
}

fn add(set: &mut SetWriter, keys: &[Key]) -> u64 {
    let mut loader = set.loader(MEMORY).expect("a place to sort in");
    loader.push(keys.iter().copied()).expect("room");
    set.add(loader).expect("room")
}

fn found(set: &KeySet, asked: &[Key]) -> usize {
    set.contains(asked).expect("a whole set").iter().filter(|&&is_there| is_there).count()
}

fn elements(group: &mut BenchmarkGroup<'_, WallTime>, count: u64) {
    let bytes = count * size_of::<Key>() as u64;
    group.throughput(Throughput::ElementsAndBytes { elements: count, bytes });
}

fn has(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, set: &KeySet, asked: &[Key]) {
    assert_eq!(found(set, asked), asked.len() / 2);
    elements(group, asked.len() as u64);
    group.bench_function(name, |bencher| bencher.iter(|| found(set, asked)));
}

/// Writes a new set of all keys each time.
fn load(group: &mut BenchmarkGroup<'_, WallTime>, all: &[Key]) {
    elements(group, all.len() as u64);
    group.bench_function("load", |bencher| {
        bencher.iter_batched(
            || TempDir::new().expect("a directory"),
            |directory| {
                let added = add(&mut create(&directory.path().join("s")), all);
                assert_eq!(added, all.len() as u64);
                directory
            },
            BatchSize::PerIteration,
        );
    });
}

/// Adds keys to a set that has been copied by linking its files, which never change.
fn add_durably(group: &mut BenchmarkGroup<'_, WallTime>, set: &Path, more: &[Key]) {
    elements(group, more.len() as u64);
    group.bench_function("add", |bencher| {
        bencher.iter_batched(
            || {
                let directory = TempDir::new().expect("a directory");
                for file in std::fs::read_dir(set).expect("a set") {
                    let file = file.expect("a set");
                    std::fs::hard_link(file.path(), directory.path().join(file.file_name()))
                        .expect("links");
                }
                let writer = SetWriter::open(directory.path()).expect("a set");
                (directory, writer)
            },
            |(directory, mut writer)| {
                assert_eq!(add(&mut writer, more), more.len() as u64);
                directory
            },
            BatchSize::PerIteration,
        );
    });
}

/// Merges two sets that share a third of their keys.
fn union(group: &mut BenchmarkGroup<'_, WallTime>, directory: &Path, all: &[Key]) {
    let third = all.len() / 3;
    let half = |name: &str, keys: &[Key]| {
        add(&mut create(&directory.join(name)), keys);
        KeySet::open(&directory.join(name)).expect("a set")
    };
    let halves = [half("one", &all[..2 * third]), half("two", &all[third..])];
    elements(group, halves.iter().map(KeySet::len).sum());
    group.bench_function("union", |bencher| {
        bencher.iter_batched(
            || TempDir::new().expect("a directory"),
            |directory| {
                let mut set = create(&directory.path().join("s"));
                assert_eq!(set.fill_with_all(&halves).expect("two sets"), all.len() as u64);
                directory
            },
            BatchSize::PerIteration,
        );
    });
}

pub(crate) fn disk_set(criterion: &mut Criterion) {
    let sizes = Sizes::new();
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("large");
    let all: Vec<Key> = keys(0, sizes.held).collect();
    let mut group = criterion.benchmark_group("disk-set");

    load(&mut group, &all);
    let mut set = create(&path);
    assert_eq!(add(&mut set, &all), sizes.held);
    has(&mut group, "has", set.set(), &batch(sizes.held, sizes.asked));
    has(&mut group, "has-few", set.set(), &batch(sizes.held, sizes.few));
    union(&mut group, directory.path(), &all);
    drop(all);
    drop(set);

    let more: Vec<Key> = keys(sizes.held, sizes.added).collect();
    add_durably(&mut group, &path, &more);
    let mut set = SetWriter::open(&path).expect("a set");
    for i in 0..DELTAS {
        let delta: Vec<Key> = keys(sizes.held + i * sizes.added, sizes.added).collect();
        assert_eq!(add(&mut set, &delta), sizes.added);
    }
    assert_eq!(set.set().run_lengths().len() as u64, 1 + DELTAS);
    let held = sizes.held + DELTAS * sizes.added;
    has(&mut group, "has-8-deltas", set.set(), &batch(held, sizes.asked));
    has(&mut group, "has-few-8-deltas", set.set(), &batch(held, sizes.few));
    group.finish();
}
