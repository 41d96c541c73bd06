//! Which records of a chunk rules may change, found in one pass over all of them.

use super::fast::{BUT_DELIMITERS, MORE, MORE_DELIMITERS};
use super::rule::Rule;
use super::set::RuleSet;
use super::starts::Starts;
use crate::chunk::{Padded, Span};
use crate::index::{Bits, low_bits};
use crate::simd::{BLOCK, Isa, Task};

/// Where in a chunk rules may change something. Reusable.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// They may change anything.
    is_all: bool,
    /// For each block of the chunk, its bytes that rules look at, and blocks without any after them.
    marks: Vec<u64>,
}

impl Touched {
    /// Finds where `rules` may change the records of `text`.
    #[inline(always)]
    pub fn find<I: Isa>(&mut self, isa: I, rules: &RuleSet, text: Padded<'_>) {
        self.is_all = rules.rules.has_any(BUT_DELIMITERS);
        if !self.is_all {
            isa.call(Find { rules, text, marks: &mut self.marks });
        }
    }

    /// Whether the rules may change the canonical form of the record at `span` of the same text, which has no white space at its ends:
    /// wherever [`RuleSet::may_touch`] returns true, and for a few other records.
    #[inline(always)]
    pub fn has(&self, text: Padded<'_>, span: Span) -> bool {
        let (start, len) = (span.start as usize, span.len());
        let (block, bit) = (start / BLOCK, start % BLOCK);
        let window = |at: usize| {
            let marks = &self.marks[block + at..][..2];
            // In two shifts: a shift by all bits would overflow.
            marks[0] >> bit | marks[1] << 1 << (BLOCK - 1 - bit)
        };
        if self.is_all {
            return true;
        }
        // Few records have more than two blocks.
        let mut found = window(0) & low_bits(len) | window(1) & low_bits(len.saturating_sub(BLOCK));
        for at in 2..len.div_ceil(BLOCK) {
            found |= window(at) & low_bits(len - at * BLOCK);
        }
        // Then the record ends with an empty parameter.
        let last = text.padded()[(span.end as usize).saturating_sub(1)];
        found != 0 || last == b'?' || last == b'&'
    }
}

struct Find<'a> {
    rules: &'a RuleSet,
    text: Padded<'a>,
    marks: &'a mut Vec<u64>,
}

impl Task for Find<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Find { rules, text, marks } = self;
        let has_more = rules.rules.has_any(MORE_DELIMITERS);
        let starts = rules.starts.as_ref().filter(|_| !rules.rules.has(Rule::SortQuery));
        marks.clear();
        marks.extend(
            (0..text.len()).step_by(BLOCK).map(|at| of_block(isa, text, at, has_more, starts)),
        );
        marks.extend([0; 3]);
    }
}

/// The marks of the block at byte `at`. Not a closure, which would not be compiled for the backend.
#[inline(always)]
fn of_block<I: Isa>(
    isa: I,
    text: Padded<'_>,
    at: usize,
    has_more: bool,
    starts: Option<&Starts>,
) -> u64 {
    let block = text.block(at);
    let more = if has_more { isa.members(block, &MORE) } else { 0 };
    let questions = isa.equal(block, b'?');
    let Some(starts) = starts else { return questions | more };
    let mut rest = questions | isa.equal(block, b'&');
    let mut marks = more;
    let mark = |bit: u32| {
        let next = &text.padded()[at + bit as usize + 1..];
        u64::from(starts.has(next[0], next[1]))
    };
    // Most blocks have two parameters or fewer, and how many cannot be foreseen.
    for _ in 0..2 {
        let (bit, is_one) = (rest.trailing_zeros(), u64::from(rest != 0));
        marks |= (mark(bit) & is_one) << (bit % u64::BITS);
        rest &= rest.wrapping_sub(1);
    }
    for bit in Bits(rest) {
        marks |= mark(bit) << bit;
    }
    marks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::PaddedBuf;
    use crate::index::{Index, Record};
    use crate::rules::Preset;
    use crate::simd::Kernels;

    /// Of each line of `text`, whether [`Touched::has`] and [`RuleSet::may_touch`] say so.
    struct Both<'a>(&'a RuleSet, Padded<'a>);

    impl Task for Both<'_> {
        type Output = Vec<(bool, bool)>;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Vec<(bool, bool)> {
            let Both(rules, text) = self;
            let (mut index, mut touched) = (Index::new(), Touched::default());
            index.build_with(isa, text, b'\n');
            touched.find(isa, rules, text);
            let spans = index.spans().filter(|span| !span.is_empty());
            let both = |span| {
                let record = Record::new(text, &index, span);
                (touched.has(text, span), rules.may_touch(isa, record))
            };
            spans.map(both).collect()
        }
    }

    fn check(rules: &RuleSet, text: &[u8]) -> Vec<bool> {
        let mut padded = PaddedBuf::default();
        padded.set(text);
        let mut all: Vec<Vec<bool>> = Vec::new();
        for kernels in Kernels::available() {
            let both = kernels.run(Both(rules, padded.padded()));
            let missed = both.iter().position(|&(has, may)| may && !has);
            assert_eq!(missed, None, "{}", text.escape_ascii());
            all.push(both.into_iter().map(|(has, _)| has).collect());
        }
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{}", text.escape_ascii());
        all.swap_remove(0)
    }

    fn of_preset(preset: &Preset) -> RuleSet {
        let mut builder = RuleSet::builder();
        builder.preset(preset).unwrap();
        builder.build().unwrap()
    }

    #[test]
    fn records_with_marks_are_touched_and_others_are_not() {
        let rules = of_preset(&Preset::from_name("crawl").unwrap());
        let long = format!("http://h/{}", "a".repeat(300));
        for (uri, expected) in [
            ("http://h/", false),
            ("http://h/?a=1&b=2", false),
            ("http://h/?utm_source=1", true),
            ("http://h/?a=1&utm_source=1", true),
            ("http://h/?", true),
            ("http://h/?a&", true),
            ("http://h/#a", true),
            ("http://h/;a", true),
            (&long, false),
            (&format!("{long}?gclid=1"), true),
            (&format!("{long}#"), true),
        ] {
            // Between lines that are the other way.
            for other in ["http://other/#x", "http://other/x"] {
                for indent in [0, 1, 40, 63, 64, 100] {
                    let before = format!("{}{other}", "b".repeat(indent));
                    let found = check(&rules, format!("{before}\n{uri}\n{other}\n").as_bytes());
                    assert_eq!(found[1], expected, "{uri} {indent}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn what_may_be_touched_is_among_the_touched(
            text in "([a-c/]{0,70}|[?&#;(]|utm_|[?&]utm_|[?&](%|s|gclid)|\n){0,30}",
        ) {
            for preset in Preset::newest() {
                check(&of_preset(&preset), text.as_bytes());
            }
        }
    }
}
