//! Positions of survivors, for a second reading of the input.

use std::collections::BTreeMap;
use std::ops::Range;

/// Bits for a number of records; the others of 32 are for a position in its range.
const COUNT: u32 = 8;

/// Positions in a range of them that are found, on average; more only if it would be too long.
const RANGE: u64 = 32;

/// Positions, each with a number of records, in ranges that rise.
#[derive(Debug)]
pub(super) struct Positions {
    /// Each above [`COUNT`] bits of its number of records, or above zeros if that has more bits.
    all: Vec<u32>,
    /// Where the ranges begin, and the end.
    starts: Vec<u32>,
    /// A range has two to the power of this positions.
    shift: u32,
    /// The numbers of records that have more bits.
    large: BTreeMap<u64, u64>,
}

impl Positions {
    /// What `found` gives, each time it is called, without those of no record. Positions are below `end`.
    pub(super) fn new<F: Iterator<Item = (u64, u64)>>(
        end: u64,
        found: impl Fn() -> F,
    ) -> Positions {
        let counted = || found().filter(|&(_, count)| count > 0);
        let ranges = (counted().count() as u64 / RANGE).max(1);
        let shift = (end / ranges).checked_ilog2().map_or(0, |log| log + 1).min(32 - COUNT);
        let mut starts = vec![0; (end >> shift) as usize + 2];
        counted().for_each(|(position, _)| starts[(position >> shift) as usize + 1] += 1);
        for range in 1..starts.len() {
            starts[range] += starts[range - 1];
        }
        let (mut all, mut large) = (vec![0; starts[starts.len() - 1] as usize], BTreeMap::new());
        let mut next = starts.clone();
        counted().for_each(|(position, count)| {
            let at = &mut next[(position >> shift) as usize];
            let in_range = (position & ((1 << shift) - 1)) as u32;
            let small = if count >> COUNT == 0 { count as u32 } else { 0 };
            if small == 0 {
                large.insert(position, count);
            }
            all[*at as usize] = in_range << COUNT | small;
            *at += 1;
        });
        Positions { all, starts, shift, large }
    }

    /// Calls `each` with the positions in `range`, in no order, and the numbers of records.
    #[inline(always)]
    pub(super) fn within(&self, range: Range<u64>, mut each: impl FnMut(u64, u64)) {
        let ranges = self.starts.len() as u64 - 1;
        for i in range.start >> self.shift..(range.end >> self.shift).saturating_add(1).min(ranges)
        {
            let found = self.starts[i as usize] as usize..self.starts[i as usize + 1] as usize;
            for &one in &self.all[found] {
                let position = (i << self.shift) + u64::from(one >> COUNT);
                if range.contains(&position) {
                    let small = u64::from(one % (1 << COUNT));
                    let large = if small == 0 { self.large.get(&position) } else { None };
                    each(position, large.copied().unwrap_or(small));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_found_in_any_range() {
        let found: Vec<(u64, u64)> = (0..5_000u64)
            .map(|i| (i * 7_919 % 40_009, [0, 1, 2, 255, 256, 1 << 40][i as usize % 6]))
            .collect();
        for count in [0, 1, 100, 5_000] {
            let found = &found[..count];
            let positions = Positions::new(40_009, || found.iter().copied());
            for range in [0..0, 0..40_009, 0..50_000, 50_000..60_000, 1_000..1_001, 17..39_000] {
                let mut expected: Vec<(u64, u64)> = found
                    .iter()
                    .copied()
                    .filter(|(position, count)| range.contains(position) && *count > 0)
                    .collect();
                let mut within = Vec::new();
                positions.within(range.clone(), |position, count| within.push((position, count)));
                expected.sort();
                within.sort();
                assert_eq!(within, expected, "{range:?}");
            }
        }
    }
}
