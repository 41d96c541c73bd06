//! Grammars, followed rule by rule.
//!
//! A rule maps a set of start positions to the set of positions where it may end, so that every
//! alternative is followed at once and no choice of the grammar is anticipated.

/// A text of fewer than 128 bytes and a set of positions in it, one bit each.
#[derive(Clone, Copy)]
pub(crate) struct At<'t> {
    text: &'t [u8],
    ends: u128,
    /// Whether a variant of the grammar applies, in which some rules differ.
    pub(crate) is_variant: bool,
}

pub(crate) type Rule = fn(At<'_>) -> At<'_>;

impl At<'_> {
    pub(crate) fn with(self, ends: u128) -> Self {
        At { ends, ..self }
    }

    /// Concatenation: `rule` from every position of the set.
    pub(crate) fn then(self, rule: Rule) -> Self {
        rule(self)
    }

    /// One byte that `is` accepts.
    pub(crate) fn byte(self, is: impl Fn(u8) -> bool) -> Self {
        let mut ends = 0;
        let mut starts = self.ends;
        while starts != 0 {
            let i = starts.trailing_zeros() as usize;
            starts &= starts - 1;
            if self.text.get(i).is_some_and(|&byte| is(byte)) {
                ends |= 1 << (i + 1);
            }
        }
        self.with(ends)
    }

    /// A quoted string, case-insensitive as by RFC 5234 section 2.3.
    pub(crate) fn lit(self, literal: &str) -> Self {
        literal.bytes().fold(self, |at, wanted| at.byte(|byte| byte.eq_ignore_ascii_case(&wanted)))
    }

    /// One byte of `bytes`, case-sensitive.
    pub(crate) fn one_of(self, bytes: &str) -> Self {
        self.byte(|byte| bytes.as_bytes().contains(&byte))
    }

    /// The union of both sets.
    pub(crate) fn or(self, other: Self) -> Self {
        self.with(self.ends | other.ends)
    }

    /// Any run of text that `is` accepts.
    pub(crate) fn run_of(self, is: impl Fn(&[u8]) -> bool) -> Self {
        let len = self.text.len();
        let has = |ends: u128, at: usize| ends >> at & 1 == 1;
        let starts = (0..=len).filter(|&start| has(self.ends, start));
        self.with(starts.fold(0, |ends, start| {
            let found = (start..=len).filter(|&end| is(&self.text[start..end]));
            found.fold(ends, |ends, end| ends | 1 << end)
        }))
    }

    /// `%xFF-LL`
    pub(crate) fn range(self, first: u8, last: u8) -> Self {
        self.byte(|byte| first <= byte && byte <= last)
    }

    /// `a / b / …`
    pub(crate) fn any(self, rules: &[Rule]) -> Self {
        self.with(rules.iter().fold(0, |ends, rule| ends | rule(self).ends))
    }

    /// `[ rule ]`
    pub(crate) fn opt(self, rule: Rule) -> Self {
        self.at_most(1, rule)
    }

    /// `n( rule )`
    pub(crate) fn times(self, n: usize, rule: Rule) -> Self {
        (0..n).fold(self, |at, _| at.then(rule))
    }

    /// `*n( rule )`
    ///
    /// Each iteration continues from the positions that earlier ones did not reach: from the others
    /// every continuation was already tried, with more repetitions left.
    pub(crate) fn at_most(self, n: usize, rule: Rule) -> Self {
        let mut ends = self.ends;
        let mut fresh = ends;
        for _ in 0..n {
            if fresh == 0 {
                break;
            }
            fresh = rule(self.with(fresh)).ends & !ends;
            ends |= fresh;
        }
        self.with(ends)
    }

    /// `*( rule )`
    pub(crate) fn star(self, rule: Rule) -> Self {
        self.at_most(usize::MAX, rule)
    }

    /// `1*( rule )`
    pub(crate) fn plus(self, rule: Rule) -> Self {
        self.then(rule).star(rule)
    }
}

/// Whether `rule` matches the whole of `text`, in the variant of its grammar or not.
pub(crate) fn matches_variant(is_variant: bool, rule: Rule, text: &[u8]) -> bool {
    assert!(text.len() < 128, "the set of positions has 128 bits");
    rule(At { text, ends: 1, is_variant }).ends >> text.len() & 1 == 1
}
