//! Distinct keys that look random.

/// Key number `i`, never 0: each step is reversible, so no two numbers have the same key.
fn key(i: u64) -> u128 {
    let mut key = (u128::from(i) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    for factor in
        [0xD134_2543_DE82_EF95_9E37_79B9_7F4A_7C15, 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645]
    {
        key ^= key >> 67;
        key = key.wrapping_mul(factor);
    }
    key ^ (key >> 64)
}

/// `count` keys from number `from` on, in random order.
pub(super) fn keys(from: u64, count: usize) -> Vec<u128> {
    (from..from + count as u64).map(key).collect()
}

/// A batch of `count` keys in random order: alternately one of the first `held` keys, and one far
/// after them.
pub(super) fn batch(held: usize, count: usize) -> Vec<u128> {
    let step = (2 * held / count).max(1);
    let of_place = |i: usize| match i % 2 {
        0 => key((i / 2 * step % held) as u64),
        _ => key((1 << 40) + i as u64),
    };
    (0..count).map(of_place).collect()
}

/// The number of keys of [`batch`] that are held.
pub(super) fn held_of_batch(count: usize) -> usize {
    count.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_are_different_and_spread_and_half_of_a_batch_is_held() {
        let all: HashSet<u128> = keys(0, 10_000).into_iter().collect();
        assert_eq!(all.len(), 10_000);
        for shift in [0, 60, 127] {
            let ones = all.iter().filter(|&&key| key >> shift & 1 == 1).count();
            assert!((4500..5500).contains(&ones), "bit {shift}: {ones}");
        }
        for count in [1, 2, 999, 10_000, 30_001] {
            let found = batch(10_000, count).iter().filter(|key| all.contains(key)).count();
            assert_eq!(found, held_of_batch(count));
        }
    }
}
