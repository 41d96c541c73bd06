//! How the parameters begin that rules may drop: a quick test that spares most queries a closer look.

use super::glob::Glob;
use super::query::{any_param, order};
use super::rule::{Rule, Rules};
use super::session;
use crate::index::{Bits, Record, low_bits};
use crate::simd::{BLOCK, Isa};

/// The first two bytes of all parameters that may be dropped, one bit for each pair.
#[derive(Clone, Debug)]
pub(super) struct Starts(Box<[u64; 1 << 10]>);

impl Starts {
    /// Those of `patterns`, and of session ids if `rules` has them; `None` if they may be any.
    pub(super) fn new<'a>(
        rules: Rules,
        patterns: impl IntoIterator<Item = &'a Glob>,
    ) -> Option<Starts> {
        if rules.has(Rule::ParamCase) {
            return None;
        }
        let mut starts = Starts(Box::new([0; _]));
        for byte in 0..=255 {
            // A triplet may represent any byte. A fragment ends an empty query.
            starts.add(b'%', Some(byte));
            starts.add(byte, Some(b'%'));
            starts.add(b'#', Some(byte));
        }
        if rules.has(Rule::EmptyParam) {
            starts.add(b'&', None);
        }
        for glob in patterns {
            let start = glob.literal().or_else(|| glob.prefix())?;
            starts.add(*start.first()?, start.get(1).copied());
        }
        if rules.has(Rule::SessionId) {
            for [first, second] in session::PARAM_STARTS {
                for first in [first, first.to_ascii_uppercase()] {
                    starts.add(first, Some(second));
                    starts.add(first, Some(second.to_ascii_uppercase()));
                }
            }
        }
        Some(starts)
    }

    /// Adds a pair, or all pairs that begin with `first`.
    fn add(&mut self, first: u8, second: Option<u8>) {
        for second in second.map_or(0..=255, |second| second..=second) {
            let bit = usize::from(u16::from_be_bytes([first, second]));
            self.0[bit / 64] |= 1 << (bit % 64);
        }
    }

    #[inline(always)]
    pub(super) fn has(&self, first: u8, second: u8) -> bool {
        let bit = usize::from(u16::from_be_bytes([first, second]));
        self.0[bit / 64] >> (bit % 64) & 1 != 0
    }

    /// Whether the parameters of `query` are in the order of their names, and none is empty or begins as one that may be dropped.
    #[inline]
    pub(super) fn leave(&self, query: &[u8]) -> bool {
        let mut last = &b""[..];
        !any_param(query, |start, name_end, end| {
            let name = &query[start..name_end];
            let is_after = order(std::mem::replace(&mut last, name), name).is_le();
            // A name of one byte has all pairs.
            let second = query.get(start + 1).copied().unwrap_or_default();
            start == end || !is_after || self.has(query[start], second)
        })
    }

    /// Whether a parameter of `record`, which may have a query, begins as one that may be dropped, or its query is empty.
    /// Each `?` counts as the start of a query, since a route in a fragment may have one, too.
    #[inline(always)]
    pub(super) fn may_change<I: Isa>(&self, isa: I, record: Record<'_>) -> bool {
        let len = record.len();
        let mut is_query = false;
        for at in (0..len).step_by(BLOCK) {
            let inside = low_bits(len - at);
            let mut before = isa.equal(record.block(at), b'&') & inside;
            if !is_query {
                let questions = record.window(isa, at).question & inside;
                if questions == 0 {
                    continue;
                }
                is_query = true;
                let first = questions & questions.wrapping_neg();
                before &= !(first - 1);
            }
            before |= record.window(isa, at).question & inside;
            for bit in Bits(before) {
                let start = at + bit as usize + 1;
                // What follows the record does not matter: a name of one byte has all pairs.
                if start >= len || self.has(record.byte(start), record.byte(start + 1)) {
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::chunk::PaddedBuf;
    use crate::index::{Index, Record};
    use crate::normalize::{Level, normalize_exact};
    use crate::rules::{RuleSet, Scratch};
    use crate::simd::{Isa, Kernels, Task};

    struct MayTouch<'a>(&'a RuleSet, Record<'a>);

    impl Task for MayTouch<'_> {
        type Output = bool;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> bool {
            self.0.may_touch(isa, self.1)
        }
    }

    fn may_touch(rules: &RuleSet, uri: &[u8]) -> bool {
        let text = PaddedBuf::from_content(uri);
        let mut found = None;
        for kernels in Kernels::available() {
            let mut index = Index::new();
            let record = index.only_record(kernels, text.padded());
            let one = kernels.run(MayTouch(rules, record));
            assert_eq!(*found.get_or_insert(one), one, "{kernels:?}");
        }
        found.unwrap_or_default()
    }

    fn rules(list: &[&str]) -> RuleSet {
        let mut builder = RuleSet::builder();
        list.iter().for_each(|rule| builder.rule(rule).unwrap());
        builder.build().unwrap()
    }

    #[test]
    fn most_queries_are_left_alone() {
        let few = rules(&["drop-param=utm_*", "drop-param=x", "drop-param=id", "session-id"]);
        for (uri, expected) in [
            ("http://h/?page=1&q=a", false),
            ("http://h/?ut", true),
            ("http://h/?u", false),
            ("http://h/?x", true),
            ("http://h/?a&x", true),
            ("http://h/?a=x&b=id", false),
            ("http://h/?a&%69d", true),
            ("http://h/?a&i%64", true),
            ("http://h/?", true),
            ("http://h/?a&", true),
            ("http://h/&id", false),
            ("http://h/&id?a", false),
            ("http://h/?a?id", true),
            ("http://h/#/a?id", true),
            ("http://h/#/a?x=1&b&id", true),
            ("http://h/?PHpsessid=1", true),
            ("http://h/?cfid=1", true),
            ("http://h/;a", true),
        ] {
            assert_eq!(may_touch(&few, uri.as_bytes()), expected, "{uri}");
        }
        let patterns = rules(&["drop-param=id"]);
        assert!(!may_touch(&patterns, b"http://h/#/a?b&c"));
        assert!(may_touch(&patterns, b"http://h/#/a?b&id"));
        for all in ["sort-query", "param-case", "drop-param=*id", "keep-param=a"] {
            assert!(may_touch(&rules(&[all]), b"http://h/?page=1"), "{all}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_not_touched_is_not_changed(
            chosen in prop::sample::subsequence(
                vec!["drop-param=utm_*", "drop-param=a", "drop-param=ab", "drop-param=b*c", "keep-param=abc", "allow-param=b",
                    "session-id", "empty-query", "fragment", "sort-query", "param-case"],
                0..5,
            ),
            path in "[a-z/]{0,70}",
            query in "([?&]((a|b|ab|abc|ut|utm_x|utm|cfid|cftoken|zenid|%61|%62|A|sid|PHPSESSID)(=[a-z0-9?]{0,3})?)?){0,12}(#[a-z]{0,3})?",
        ) {
            let rules = rules(&chosen);
            let uri = format!("http://h/{path}{query}").into_bytes();
            if !may_touch(&rules, &uri) {
                let (mut form, mut scratch) = (Vec::new(), Scratch::default());
                normalize_exact(&uri, Level::Scheme, false, &mut form).unwrap();
                prop_assert_eq!(rules.apply(&form, &mut scratch).0, &form[..], "{:?}", chosen);
            }
        }
    }
}
