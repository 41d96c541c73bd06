//! A set of small numbers that knows how many of them are before each.

use super::limit::grown;
use uriscan_core::simd::prefetch;

const WORD: usize = 32;

/// A set of the numbers below a length, each of which is added or passed over in its turn.
///
/// The lower half of a word has a bit for each number, the upper half says how many are in the set before them: one access
/// answers both questions.
#[derive(Debug, Default)]
pub(super) struct Ranked {
    words: Vec<u64>,
    len: usize,
    count: u32,
}

impl Ranked {
    /// The next number is in the set, or not.
    #[inline(always)]
    pub(super) fn push(&mut self, is_member: bool) {
        let bit = self.len % WORD;
        if bit == 0 {
            self.words.push(u64::from(self.count) << WORD);
        }
        if let Some(last) = self.words.last_mut() {
            *last |= u64::from(is_member) << bit;
        }
        self.len += 1;
        self.count += u32::from(is_member);
    }

    /// How many of the numbers before `number` are in the set, if it is in it itself.
    #[inline(always)]
    pub(super) fn rank(&self, number: usize) -> Option<usize> {
        let (word, bit) = (self.words[number / WORD], number % WORD);
        let before = word as u32 & ((1 << bit) - 1);
        (word >> bit & 1 == 1).then(|| (word >> WORD) as usize + before.count_ones() as usize)
    }

    /// Asks for what [`Ranked::rank`] reads.
    #[inline(always)]
    pub(super) fn prefetch(&self, number: usize) {
        prefetch(&self.words, number / WORD);
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of memory held, as they will be when `more` numbers have come.
    pub(super) fn memory_bytes(&self, more: usize) -> usize {
        grown(&self.words, more / WORD + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_counts_of_what_is_before() {
        let is_member = |number: usize| number * number % 7 < 3 || (90..200).contains(&number);
        let mut set = Ranked::default();
        (0..1_000).for_each(|number| set.push(is_member(number)));
        assert_eq!(set.len(), 1_000);
        for number in 0..1_000 {
            let before = (0..number).filter(|&before| is_member(before)).count();
            assert_eq!(set.rank(number), is_member(number).then_some(before), "{number}");
        }
    }
}
