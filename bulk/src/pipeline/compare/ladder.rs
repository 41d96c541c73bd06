//! The lowest level at which two records are equivalent without rules.

use super::equivalence::Canonicalizer;
use crate::pipeline::Equivalence;
use uriscan_core::chunk::Prefix;
use uriscan_core::normalize::{Level, Options, changes_by_scheme};
use uriscan_core::simd::{Isa, Kernels, Task};

/// The equivalences of the levels up to that of `top`, lowest first, without its rules; all else is the same.
pub fn levels(top: &Equivalence) -> Vec<Equivalence> {
    let at = |level| Equivalence { normalize: Options::new(level), rules: None, ..top.clone() };
    Level::ALL.into_iter().filter(|&level| level <= top.normalize.level).map(at).collect()
}

/// Finds the lowest level at which two records are equivalent without rules; the buffers that it needs are its own.
pub struct Ladder<'e> {
    /// Lowest first.
    below: Vec<(Level, Canonicalizer<&'e Equivalence>)>,
    top: Option<(Level, Canonicalizer<&'e Equivalence>)>,
    /// Whether records that are equivalent may be so by rules only.
    has_rules: bool,
    form: Vec<u8>,
    kernels: Kernels,
    /// Whether records are equivalent by their forms on the levels and nothing else.
    is_form_only: bool,
}

impl<'e> Ladder<'e> {
    /// A ladder of the equivalences of `levels`, for records that are equivalent at the highest, if `has_rules`
    /// with rules.
    pub fn new(levels: &'e [Equivalence], has_rules: bool, kernels: Kernels) -> Ladder<'e> {
        let canonicalizer =
            |at: &'e Equivalence| (at.normalize.level, Canonicalizer::new(at, kernels));
        let is_plain =
            |at: &Equivalence| at.is_plain() && at.rules.is_none() && at.aliases.is_none();
        let mut below: Vec<_> = levels.iter().map(canonicalizer).collect();
        Ladder {
            is_form_only: levels.iter().all(is_plain),
            top: below.pop(),
            below,
            has_rules,
            form: Vec::new(),
            kernels,
        }
    }

    /// The lowest level at which `a` and `b`, which are equivalent, are so without rules; `None` if they are not.
    pub fn level(&mut self, a: Prefix<'_>, b: Prefix<'_>) -> Option<Level> {
        if a.bytes() == b.bytes() {
            return Some(Level::String);
        }
        let (top, canonicalizer) = self.top.as_mut()?;
        if self.has_rules && !are_equivalent(canonicalizer, &mut self.form, &a, &b) {
            return None;
        }
        for (level, canonicalizer) in &mut self.below {
            // Records whose forms on the level above are equal. Forms need not be computed where it is known what they are.
            if self.is_form_only {
                match level {
                    Level::String => continue,
                    Level::Syntax => match self.kernels.run(Changes([a, b])) {
                        [Some(false), Some(false)] => return Some(Level::Syntax),
                        // The form of one of them on this level is that of both on the next one; the other form is not.
                        [Some(true), Some(false)] | [Some(false), Some(true)] => continue,
                        _ => {}
                    },
                    _ => {}
                }
            }
            if are_equivalent(canonicalizer, &mut self.form, &a, &b) {
                return Some(*level);
            }
        }
        Some(*top)
    }
}

/// Whether the forms of `a` and `b` are the same; `form` is a buffer.
fn are_equivalent(
    of: &mut Canonicalizer<&Equivalence>,
    form: &mut Vec<u8>,
    a: &[u8],
    b: &[u8],
) -> bool {
    form.clear();
    form.extend_from_slice(of.form(a));
    *form == of.form(b)
}

/// [`changes_by_scheme`] of two texts.
struct Changes<'t>([Prefix<'t>; 2]);

impl Task for Changes<'_> {
    type Output = [Option<bool>; 2];
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let [a, b] = self.0;
        [changes_by_scheme(isa, a), changes_by_scheme(isa, b)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use uriscan_core::normalize::normalize_exact;

    /// [`changes_by_scheme`], the same on every backend and whatever follows the text.
    fn changes(text: &str) -> Option<bool> {
        let alone = Prefix::from(text.as_bytes());
        let mut found: Vec<Option<bool>> = Vec::new();
        for kernels in Kernels::available() {
            found.extend(kernels.run(Changes([alone; 2])));
            for after in *b"/?#%8:@a\n" {
                let mut bytes = text.as_bytes().to_vec();
                bytes.resize(text.len() + 300, after);
                found.extend(kernels.run(Changes([Prefix::new(&bytes, text.len()); 2])));
            }
        }
        assert!(found.iter().all(|changes| *changes == found[0]), "{text} {found:?}");
        found[0]
    }

    #[test]
    fn the_lowest_level_is_found() {
        let cases = [
            ("http://h/", "http://h/", Level::String),
            ("no uri", "no uri", Level::String),
            ("http://h/", "HTTP://h/", Level::Syntax),
            ("http://h/%7e", "http://h/~", Level::Syntax),
            ("http://h/", "http://h", Level::Scheme),
            ("http://H/", "http://h", Level::Scheme),
            ("http://bücher.example/", "http://xn--bcher-kva.example/", Level::Scheme),
        ];
        let levels = levels(&Equivalence::default());
        for has_rules in [false, true] {
            let mut ladder = Ladder::new(&levels, has_rules, Kernels::detect());
            for (a, b, level) in cases {
                assert_eq!(
                    ladder.level(a.as_bytes().into(), b.as_bytes().into()),
                    Some(level),
                    "{a} {b}"
                );
                assert_eq!(
                    ladder.level(b.as_bytes().into(), a.as_bytes().into()),
                    Some(level),
                    "{b} {a}"
                );
            }
        }
    }

    #[test]
    fn records_that_only_a_rule_merges_are_equivalent_at_no_level() {
        let levels = levels(&Options::new(Level::Scheme).drop_fragment(true).into());
        let mut ladder = Ladder::new(&levels, true, Kernels::detect());
        assert_eq!(ladder.level((&b"http://h/#a"[..]).into(), (&b"http://h/#b"[..]).into()), None);
        assert_eq!(ladder.level((&b"http://h/#a"[..]).into(), (&b"http://H/"[..]).into()), None);
        assert_eq!(
            ladder.level((&b"http://h/#a"[..]).into(), (&b"http://H/#a"[..]).into()),
            Some(Level::Syntax)
        );
    }

    #[test]
    fn changes_by_the_scheme_are_seen_in_plain_authorities() {
        for (text, expected) in [
            ("http://h/", Some(false)),
            ("HTTPS://EX-am_ple.com/%7e/../x#a", Some(false)),
            ("http://h:8080/", Some(false)),
            ("http://h:443/", Some(false)),
            ("http://h:0/", Some(false)),
            ("http://h", Some(true)),
            ("http://h?", Some(true)),
            // The forms decide about a fragment next to the host.
            ("http://h#a", None),
            ("http://h:80/", Some(true)),
            ("https://h:443/", Some(true)),
            ("http://h:/", Some(true)),
            ("http://h:0080/", Some(true)),
            ("http://h:08080/", None),
            ("http://h:00/", None),
            ("http://h:8080", Some(true)),
            ("http://h:8080?", Some(true)),
            ("http:///", None),
            ("http://:80/", None),
            ("http://u@h/", None),
            ("http://u:80@h/", None),
            ("http://u:@h/", None),
            ("http://h%41/", None),
            ("http://[::1]/", None),
            ("httpx://h/", None),
            ("ftp://h/", None),
            ("http:/h/", None),
            ("https", None),
            ("", None),
        ] {
            assert_eq!(changes(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_the_scheme_changes_is_seen_as_the_reference_path_does_it(
            text in "(http|HTTPS|https|ftp)(:|://)[a-zA-Z0-9.%:@-]{0,6}(:0?(80|443|8080)?)?(/|/\\.|\\.\\.|%2[eE]|%7e|[A-Za-z?#:@]){0,8}",
        ) {
            let form = |level| {
                let mut form = Vec::new();
                normalize_exact(text.as_bytes(), level, false, &mut form).map(|()| form)
            };
            let (syntax, scheme) = (form(Level::Syntax), form(Level::Scheme));
            if let (Some(changes), Ok(_)) = (changes(&text), &scheme) {
                prop_assert_eq!(changes, syntax != scheme);
            }
        }

        #[test]
        fn levels_are_those_of_the_forms(
            pair in ["(http|HTTP)://[hH](:|:80|:81|:081)?", "(http|HTTP)://[hH](:|:80|:81|:081)?"],
            ends in ["(/|\\?|/%7[eE]|/~)?", "(/|\\?|/%7[eE]|/~)?"],
        ) {
            let texts = [format!("{}{}", pair[0], ends[0]), format!("{}{}", pair[1], ends[1])];
            let form = |level| texts.each_ref().map(|text| {
                let mut form = Vec::new();
                normalize_exact(text.as_bytes(), level, false, &mut form).unwrap();
                form
            });
            let is_equal = |level: &Level| { let [a, b] = form(*level); a == b };
            let expected = Level::ALL.into_iter().find(is_equal);
            let levels = levels(&Equivalence::default());
            let mut ladder = Ladder::new(&levels, false, Kernels::detect());
            if let Some(expected) = expected {
                let found = ladder.level(texts[0].as_bytes().into(), texts[1].as_bytes().into());
                prop_assert_eq!(found, Some(expected), "{:?}", texts);
            }
        }
    }
}
