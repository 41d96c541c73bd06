//! Which combinations of choices are tried.

use std::collections::BTreeSet;

/// Gives combinations of so many choices of each kind, by their numbers.
pub(crate) type Combinations<const N: usize> = fn([usize; N]) -> Vec<[usize; N]>;

/// All combinations.
pub(crate) fn every<const N: usize>(counts: [usize; N]) -> Vec<[usize; N]> {
    let nth = |mut number: usize| {
        counts.map(|count| {
            let choice = number % count;
            number /= count;
            choice
        })
    };
    (0..counts.iter().product()).map(nth).collect()
}

/// Few combinations in which every two choices of different kinds meet.
pub(crate) fn by_pairs<const N: usize>(counts: [usize; N]) -> Vec<[usize; N]> {
    let all = every(counts);
    let mut left: BTreeSet<_> = all.iter().flat_map(pairs).collect();
    let mut taken = Vec::new();
    while !left.is_empty() {
        let new_pairs =
            |choices: &&[usize; N]| pairs(choices).filter(|pair| left.contains(pair)).count();
        let best = *all.iter().max_by_key(new_pairs).expect("there are choices of each kind");
        pairs(&best).for_each(|pair| _ = left.remove(&pair));
        taken.push(best);
    }
    taken
}

/// Every two choices of a combination, with their kinds.
fn pairs<const N: usize>(choices: &[usize; N]) -> impl Iterator<Item = [usize; 4]> {
    (0..N).flat_map(move |b| (0..b).map(move |a| [a, choices[a], b, choices[b]]))
}

#[test]
fn every_two_choices_meet() {
    let counts = [6, 3, 4, 2];
    let found = by_pairs(counts);
    let met: BTreeSet<_> = found.iter().flat_map(pairs).collect();
    assert_eq!(met.len(), 6 * 3 + 6 * 4 + 6 * 2 + 3 * 4 + 3 * 2 + 4 * 2);
    assert!(found.len() < 30 && every(counts).len() == 144, "{}", found.len());
}
