use super::super::parts::COUNTED;
use super::*;
use crate::key::Hasher;
use std::collections::BTreeMap;

/// Rows of the keys of these numbers.
fn rows_of(numbers: impl Iterator<Item = u32>, hasher: &Hasher) -> Rows {
    let mut rows = Rows::default();
    numbers.for_each(|i| rows.push(hasher.key(&i.to_le_bytes())));
    rows.partition();
    rows
}

/// The first position and the number of rows of each key.
type Oracle = BTreeMap<Key, (u64, u64)>;

/// Checks what was counted, in both orders.
fn check(mut keys: CountedKeys, expected: &Oracle) {
    assert_eq!(keys.settle(), expected.len());
    let found = keys.map(|_, counted| {
        let mut all: Vec<_> = counted.iter().collect();
        all.sort_by_key(|&(_, position, _)| position);
        assert!(counted.in_order().eq(all.iter().copied()));
        all
    });
    let found: Oracle =
        found.concat().into_iter().map(|(key, position, count)| (key, (position, count))).collect();
    assert!(found == *expected);
    assert!(keys.is_empty());
}

#[test]
fn keys_are_counted_as_in_a_tree_map_through_many_cuts() {
    let hasher = Hasher::random();
    for (expected, is_expected) in [(false, 0), (true, 2_000_000)] {
        let (mut keys, mut oracle) = (CountedKeys::new(), Oracle::new());
        let mut position = 0u64;
        for batch in 0..12u32 {
            if expected {
                keys.expect(is_expected);
            }
            let of_chunk = |chunk: u32| {
                (0..40_000u32).map(move |i| (batch * 30_011 + chunk * 7 + i * (i % 13)) % 600_011)
            };
            let chunks = [0, 1, 2].map(|chunk| {
                rows_of(of_chunk(chunk).take([0, 1, 40_000][chunk as usize]), &hasher)
            });
            let starts = [position, position, position + 5];
            for (rows, start) in chunks.iter().zip(starts) {
                for row in 0..rows.len() {
                    let one = oracle.entry(rows.key(row)).or_insert((start + row as u64, 0));
                    one.1 += 1;
                }
            }
            let chunks: Vec<&Rows> = chunks.iter().collect();
            keys.insert(&chunks, |chunk, row| starts[chunk] + row as u64);
            position += 50_000;
        }
        assert!(oracle.len() > 100_000);
        check(keys, &oracle);
    }
}

#[test]
fn numbers_of_rows_go_beyond_the_bits_of_an_entry() {
    let hasher = Hasher::random();
    let (mut keys, mut oracle) = (CountedKeys::new(), Oracle::new());
    let far = (1 << 51) - 100_000;
    for batch in 0..4 {
        let rows = rows_of((0..20_000).map(|i| if i % 2 == 0 { 0 } else { i % 7 }), &hasher);
        let position = |row: usize| far + batch * 20_000 + row as u64;
        for row in 0..rows.len() {
            oracle.entry(rows.key(row)).or_insert((position(row), 0)).1 += 1;
        }
        keys.insert(&[&rows], |_, row| position(row));
    }
    assert!(oracle.values().any(|&(_, count)| count > 10 * COUNTED));
    check(keys, &oracle);
}

#[test]
fn keys_whose_bits_are_alike_are_told_apart() {
    // All in one part, or with one tag, or at one home.
    let kinds: [fn(u128) -> u128; 5] =
        [|i| i, |i| i << 64 | 5, |i| i << 70, |i| i << 8 | 1 << 60, |i| i << 40 | i << 100];
    for key in kinds {
        let (mut keys, mut oracle) = (CountedKeys::new(), Oracle::new());
        let mut rows = Rows::default();
        for (row, i) in (1..=3_000u128).chain(1..=2_000).enumerate() {
            rows.push(Key(key(i)));
            oracle.entry(Key(key(i))).or_insert((row as u64, 0)).1 += 1;
        }
        rows.partition();
        keys.insert(&[&rows], |_, row| row as u64);
        check(keys, &oracle);
    }
}

#[test]
fn memory_is_that_of_keys_not_of_rows() {
    let hasher = Hasher::random();
    // As they come, and sorted, so that one partition has all rows of a batch: it takes those of a chunk.
    type NumberOf = fn(u32, u32) -> u32;
    let kinds: [(NumberOf, usize); 2] =
        [(|_, i| i, 60_000 * 80), (|batch, _| batch, 32 * 20_000 * 30)];
    for (kind, most) in kinds {
        let (mut keys, mut oracle) = (CountedKeys::new(), Oracle::new());
        // As where the first of many records are short.
        keys.expect(1 << 40);
        for batch in 0..40 {
            let chunks = [0, 1, 2].map(|chunk| {
                rows_of((0..20_000).map(|i| kind(batch, 20_000 * chunk + i)), &hasher)
            });
            let position = |chunk: usize, row: usize| {
                batch as u64 * 60_000 + chunk as u64 * 20_000 + row as u64
            };
            for (chunk, rows) in chunks.iter().enumerate() {
                for row in 0..rows.len() {
                    oracle.entry(rows.key(row)).or_insert((position(chunk, row), 0)).1 += 1;
                }
            }
            let foreseen = keys.memory_bytes(&chunks.each_ref());
            keys.insert(&chunks.each_ref(), position);
            // Parts that are cut take some more.
            assert!(keys.memory_bytes(&[]) <= foreseen + foreseen / 4);
        }
        let bytes = keys.memory_bytes(&[]);
        assert!(bytes < most, "{bytes}");
        check(keys, &oracle);
    }
}
