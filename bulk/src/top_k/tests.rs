use std::collections::BTreeMap;

use super::*;

/// Counts `stream` in chunks of `chunk` texts, a few chunks at a time.
fn top_k(stream: &[String], limit: Option<usize>, chunk: usize) -> TopK {
    let hasher = Hasher::random();
    let mut top_k = TopK::new(limit);
    for batch in stream.chunks(chunk * 3) {
        let chunks: Vec<Texts> = batch
            .chunks(chunk)
            .map(|texts| {
                let mut all = Texts::default();
                all.clear();
                texts.iter().for_each(|text| all.push(&hasher, text.as_bytes()));
                all.partition();
                all
            })
            .collect();
        top_k.add(&chunks.iter().collect::<Vec<_>>());
    }
    top_k
}

/// A stream in which text `i` of `distinct` has about `1 / (i + 1)` of the weight of the first, in no special order.
fn skewed(len: usize, distinct: u64) -> Vec<String> {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        state >> 33
    };
    (0..len)
        .map(|_| {
            let rank = (distinct as f64).powf(next() as f64 / (1u64 << 31) as f64) as u64;
            format!("{}{rank}", "x".repeat((rank % 40) as usize))
        })
        .collect()
}

fn true_counts(stream: &[String]) -> BTreeMap<&[u8], u64> {
    let mut counts = BTreeMap::new();
    stream.iter().for_each(|text| *counts.entry(text.as_bytes()).or_default() += 1);
    counts
}

#[test]
fn exact_counts_are_those_of_a_tree_map() {
    let stream = skewed(20_000, 3_000);
    let expected = true_counts(&stream);
    for (limit, chunk) in [(None, 1), (None, 700), (Some(1 << 20), 64), (Some(1 << 20), 9_000)] {
        for most in [0, 1, 20, 5_000] {
            let found = top_k(&stream, limit, chunk).most(most);
            assert_eq!((found.distinct, found.error), (Some(expected.len() as u64), 0));
            let mut all: Vec<(Reverse<u64>, &[u8])> =
                expected.iter().map(|(text, count)| (Reverse(*count), *text)).collect();
            all.sort();
            all.truncate(most);
            let found: Vec<(Reverse<u64>, &[u8])> =
                found.texts.iter().map(|of| (Reverse(of.count), &of.text[..])).collect();
            assert_eq!(found, all);
        }
    }
}

use std::cmp::Reverse;

#[test]
fn bounds_hold_and_frequent_texts_are_present() {
    let stream = skewed(60_000, 5_000);
    let counts = true_counts(&stream);
    for entries in [1, 2, 10, 100, 1_000] {
        let found = top_k(&stream, Some(entries * (ENTRY + 45)), 500).most(usize::MAX);
        assert!(found.distinct.is_none() && found.error > 0);
        // Each dropped count represents as many texts, and so does each entry that is left.
        let bound = stream.len() as u64 / entries as u64;
        assert!(found.error <= bound, "{} > {bound}", found.error);
        let mut present = BTreeMap::new();
        for TextCount { text, count, error } in &found.texts {
            let actual = counts[&text[..]];
            assert!((count - error..=*count).contains(&actual), "{actual} {count} {error}");
            assert!(*error <= found.error);
            present.insert(&text[..], ());
        }
        for (text, count) in &counts {
            assert!(*count <= found.error || present.contains_key(text), "{count}");
        }
        assert!(found.texts.is_sorted_by_key(|of| (Reverse(of.count), of.text.clone())));
    }
}

#[test]
fn results_depend_on_texts_and_limit_only() {
    let stream = skewed(20_000, 4_000);
    for bytes in [ENTRY, 40 * ENTRY, 600 * ENTRY, 6_000 * ENTRY] {
        let expected = top_k(&stream, Some(bytes), 1).most(usize::MAX);
        for chunk in [3, 100, 20_000] {
            assert_eq!(top_k(&stream, Some(bytes), chunk).most(usize::MAX), expected, "{bytes}");
        }
    }
}

#[test]
fn memory_stays_bounded_however_many_texts_there_are() {
    let most = 50 * (ENTRY + 100);
    let mut table = SpaceSaving::new(most);
    for i in 0..20_000u64 {
        let text = format!("{i}{}", "y".repeat((i * 37 % 3_000) as usize));
        table.add(uriscan_core::key::Key(u128::from(i) + 1), text.as_bytes(), i);
        assert!(table.bytes() <= most);
    }
    // A text longer than the limit is alone.
    table.add(uriscan_core::key::Key(u128::MAX), &vec![b'z'; 2 * most], 20_000);
    assert_eq!(table.bytes(), 2 * most + ENTRY);
    table.add(uriscan_core::key::Key(u128::MAX - 1), b"a", 20_001);
    assert_eq!(table.bytes(), ENTRY + 1);
    let found = table.most(10);
    assert_eq!(found.texts.len(), 1);
    assert!(found.texts[0].count > found.texts[0].error);
}
