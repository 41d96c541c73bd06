use super::super::numbered::Numbered;
use super::*;

#[test]
fn a_table_agrees_with_a_tree_set_through_many_growths() {
    let mut table = Table::<KeysOnly>::new();
    let mut oracle = std::collections::BTreeSet::new();
    let mut state = 1u128;
    for round in 0..400 {
        let keys: Vec<u128> = (0..round)
            .map(|_| {
                state =
                    state.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(1);
                // Few bits, so that keys repeat, spread over both halves.
                let bits = state >> 111;
                (bits << 64 | bits << 47) | 1
            })
            .collect();
        table.reserve(keys.len(), 0, usize::MAX);
        let new: Vec<usize> = (0..keys.len()).filter(|&i| table.insert(keys[i]).1).collect();
        let expected: Vec<usize> = (0..keys.len()).filter(|&i| oracle.insert(keys[i])).collect();
        assert_eq!(new, expected);
        assert_eq!(table.len(), oracle.len());
    }
    assert!(table.len() > 10 * MIN_SLOTS);
}

#[test]
fn hits_by_low_halves_are_those_of_whole_keys() {
    // All lines of three keys with few halves, so that many are alike in one half only.
    let values: Vec<u128> = (0..9).map(|i| ((i / 3) << 64) | (i % 3)).collect();
    for number in 0..9usize.pow(3) {
        let mut line = [Key::VACANT; LINE];
        for (i, slot) in line[..3].iter_mut().enumerate() {
            *slot = values[number / 9usize.pow(i as u32) % 9];
        }
        for &key in values.iter().filter(|&&key| key != Key::VACANT) {
            let (found, exact) = (hits::<KeysOnly>(&line, key), exact_hits::<KeysOnly>(&line, key));
            assert_eq!(found.trailing_zeros(), exact.trailing_zeros(), "{key:x} in {line:x?}");
        }
    }
}

#[test]
fn every_key_is_found_after_a_table_has_grown_in_place() {
    spreading::<KeysOnly>();
    spreading::<Numbered>();
}

fn spreading<L: Layout>() {
    // Low halves: even, crowded at the beginning, crowded at the end, crowded in the middle.
    let even = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let crowds: [fn(u64) -> u64; 3] = [|i| i, |i| u64::MAX - i, |i| (1 << 63) + i];
    for old in [2usize, 3, 7, 64, 1000] {
        for count in [old + 1, old + old.div_ceil(2), 2 * old, 4 * old + 1] {
            for crowd in crowds {
                for crowded in [0, 1, 2, 5] {
                    let number = old * L::KEYS * 3 / 4;
                    let keys: Vec<u128> = (0..number as u64)
                        .map(|i| if i % 5 < crowded { crowd(i) } else { even(i) })
                        .zip(1u128..)
                        .map(|(low, high)| high << 64 | u128::from(low))
                        .collect();
                    let mut slots = vec![Key::VACANT; count * LINE];
                    let numbers: Vec<(u32, bool)> = (0..)
                        .zip(&keys)
                        .map(|(i, &key)| insert::<L>(&mut slots[..old * LINE], key, i))
                        .collect();
                    assert!(numbers.iter().all(|&(_, is_new)| is_new));
                    spread::<L>(&mut slots, old);
                    for (&key, (number, _)) in keys.iter().zip(numbers) {
                        assert_eq!(insert::<L>(&mut slots, key, u32::MAX), (number, false));
                    }
                    let lines = slots.as_chunks::<LINE>().0;
                    let held: usize = lines.iter().map(|line| entries::<L>(line).count()).sum();
                    assert_eq!(held, number);
                }
            }
        }
    }
}

#[test]
fn large_tables_grow_in_place() {
    let mut table = Table::<KeysOnly>::new();
    let keys: Vec<u128> = (1..600_000u128)
        .map(|i| i << 64 | (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) & u128::from(u64::MAX)))
        .collect();
    for part in keys.chunks(1000) {
        table.reserve(part.len(), 0, usize::MAX);
        assert!(part.iter().all(|&key| table.insert(key).1));
    }
    assert!(keys.iter().all(|&key| !table.insert(key).1));
    assert_eq!(table.len(), keys.len());
    assert!(cfg!(miri) || matches!(table.slots, Slots::Mapped(..)));
    assert!(table.memory_bytes() < 40 * keys.len());
}

#[test]
fn small_tables_grow_fourfold_and_large_ones_by_a_half() {
    assert_eq!(grown_places(1000, 800, 0), 4000);
    assert_eq!(grown_places(1000, 30_000, 0), 40_008, "what is needed");
    let large = LARGE / size_of::<u128>();
    assert_eq!(grown_places(large - 1, large, 0), 4 * (large - 1));
    assert_eq!(grown_places(large, large, 0), large + large / 2);
    assert_eq!(grown_places(large, large, 3 * large / 2), 2 * large + 8, "what is expected");
    assert_eq!(grown_places(large, large, 100 * large), MOST_GROWTH * large, "within reason");
}

#[test]
fn huge_tables_are_whole_numbers_of_huge_pages() {
    assert_eq!(whole_bytes::<u128>(10), 160);
    assert_eq!(whole_bytes::<u128>(HUGE / 16), HUGE);
    assert_eq!(whole_bytes::<u128>(HUGE / 16 + 1), HUGE + HUGE_PAGE);
    assert_eq!(places_in::<KeysOnly>(2 * 64 + 63), 2 * LINE);
    assert_eq!(places_in::<Numbered>(2 * 64), 2 * Numbered::KEYS);
    assert_eq!(places_in::<KeysOnly>(HUGE + HUGE_PAGE - 1), HUGE / 16);
}

#[test]
fn a_table_respects_its_memory_limit() {
    for most in [MIN_SLOTS * 16, 40_000, 1 << 20, 5 << 20, 9 << 20] {
        let mut table = Table::<KeysOnly>::new();
        let mut keys = (1..).map(|i: u128| i << 64 | i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        while table.fits(100, most) {
            table.reserve(100, 0, most);
            assert!(keys.by_ref().take(100).all(|key| table.insert(key).1));
            assert!(table.memory_bytes() <= most, "{most}");
        }
        // All of it is used, except for what a huge page is cut from.
        let whole = if most >= 4 << 20 { most >> 21 << 21 } else { most };
        assert!(table.len() + 200 > whole / 16 * 3 / 4, "{most} {}", table.len());
        let before: Vec<u128> = (1..)
            .map(|i: u128| i << 64 | i.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .take(table.len())
            .collect();
        assert!(before.iter().all(|&key| table.find(key).is_some()));
        assert!(keys.take(1000).all(|key| table.find(key).is_none()));
        table.clear();
        assert!(table.len() == 0 && before.iter().all(|&key| table.find(key).is_none()));
    }
}

#[test]
fn probing_wraps_around_at_the_end_of_the_table() {
    let mut table = Table::<KeysOnly>::new();
    let keys: Vec<u128> = (0..100).map(|i| u128::from(u64::MAX) | (i + 1) << 64).collect();
    table.reserve(2 * keys.len(), 0, usize::MAX);
    let new = keys.iter().chain(&keys).filter(|&&key| table.insert(key).1).count();
    assert_eq!(new, 100);
}
