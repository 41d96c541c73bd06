//! The lowest level at which two records are equivalent without rules.

use super::equivalence::Canonicalizer;
use crate::pipeline::Equivalence;
use uriscan_core::normalize::{Level, Options};
use uriscan_core::simd::Kernels;

/// The equivalences of the levels up to that of `top`, lowest first, without its rules; all else is the same.
pub(crate) fn levels(top: &Equivalence) -> Vec<Equivalence> {
    let at = |level| Equivalence { normalize: Options::new(level), rules: None, ..top.clone() };
    Level::ALL.into_iter().filter(|&level| level <= top.normalize.level).map(at).collect()
}

/// Finds the lowest level at which two records are equivalent without rules.
pub(crate) struct Ladder<'e> {
    /// Lowest first.
    below: Vec<(Level, Canonicalizer<&'e Equivalence>)>,
    top: Option<(Level, Canonicalizer<&'e Equivalence>)>,
    /// Whether records that are equivalent may be so by rules only.
    has_rules: bool,
    form: Vec<u8>,
    /// Whether records are equivalent by their forms on the levels and nothing else.
    is_form_only: bool,
}

impl<'e> Ladder<'e> {
    /// A ladder of the equivalences of `levels`, for records that are equivalent at the highest, if `has_rules`
    /// with rules.
    pub(crate) fn new(levels: &'e [Equivalence], has_rules: bool, kernels: Kernels) -> Ladder<'e> {
        let canonicalizer =
            |at: &'e Equivalence| (at.normalize.level, Canonicalizer::new(at, kernels));
        let is_plain = |at: &Equivalence| at.is_form_only() && at.aliases.is_none();
        let mut below: Vec<_> = levels.iter().map(canonicalizer).collect();
        Ladder {
            is_form_only: levels.iter().all(is_plain),
            top: below.pop(),
            below,
            has_rules,
            form: Vec::new(),
        }
    }

    /// The lowest level at which `a` and `b`, which are equivalent, are so without rules; `None` if they are not.
    pub(crate) fn level(&mut self, a: &[u8], b: &[u8]) -> Option<Level> {
        if a == b {
            return Some(Level::String);
        }
        let (top, canonicalizer) = self.top.as_mut()?;
        if self.has_rules && !are_equivalent(canonicalizer, &mut self.form, a, b) {
            return None;
        }
        for (level, canonicalizer) in &mut self.below {
            // Records whose forms on the level above are equal. Forms need not be computed where it is known what they are.
            if self.is_form_only {
                match level {
                    Level::String => continue,
                    Level::Syntax if is_syntax_all(a) && is_syntax_all(b) => {
                        return Some(Level::Syntax);
                    }
                    _ => {}
                }
            }
            if are_equivalent(canonicalizer, &mut self.form, a, b) {
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

/// Whether the level `syntax` does all to `text`, which is a URI, that the level `scheme` does: its scheme is `http` or
/// `https`, its authority is a host without brackets and percent-encodings, and its path is not empty. Says no of some
/// others for which that holds.
fn is_syntax_all(text: &[u8]) -> bool {
    /// Bytes that a host may have for that.
    const HOST: [bool; 256] = {
        let mut host = [false; 256];
        let mut byte = 0;
        while byte < 128 {
            let is_mark = matches!(byte as u8, b'.' | b'-' | b'_');
            host[byte] = (byte as u8).is_ascii_alphanumeric() | is_mark;
            byte += 1;
        }
        host
    };
    let has_start =
        |start: &[u8]| text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    let authority = match () {
        () if has_start(b"http://") => 7,
        () if has_start(b"https://") => 8,
        () => return false,
    };
    text[authority..].iter().find(|&&byte| !HOST[usize::from(byte)]) == Some(&b'/')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use uriscan_core::normalize::normalize_exact;

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
                assert_eq!(ladder.level(a.as_bytes(), b.as_bytes()), Some(level), "{a} {b}");
                assert_eq!(ladder.level(b.as_bytes(), a.as_bytes()), Some(level), "{b} {a}");
            }
        }
    }

    #[test]
    fn records_that_only_a_rule_merges_are_equivalent_at_no_level() {
        let levels = levels(&Options::new(Level::Scheme).drop_fragment(true).into());
        let mut ladder = Ladder::new(&levels, true, Kernels::detect());
        assert_eq!(ladder.level(b"http://h/#a", b"http://h/#b"), None);
        assert_eq!(ladder.level(b"http://h/#a", b"http://H/"), None);
        assert_eq!(ladder.level(b"http://h/#a", b"http://H/#a"), Some(Level::Syntax));
    }

    #[test]
    fn plain_authorities_need_no_level_above_syntax() {
        for (text, expected) in [
            ("http://h/", true),
            ("HTTPS://EX-am_ple.com/%7e/../x#a", true),
            ("http:///", true),
            ("http://h", false),
            ("http://h?", false),
            ("http://h:80/", false),
            ("http://u@h/", false),
            ("http://h%41/", false),
            ("http://[::1]/", false),
            ("httpx://h/", false),
            ("ftp://h/", false),
            ("http:/h/", false),
            ("https", false),
            ("", false),
        ] {
            assert_eq!(is_syntax_all(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn uris_that_need_no_level_above_syntax_have_the_same_form_there(
            text in "(http|HTTPS|https|ftp)(:|://)[a-zA-Z0-9.%:@-]{0,6}(/|/\\.|\\.\\.|%2[eE]|%7e|[A-Za-z?#:@]){0,8}",
        ) {
            let form = |level| {
                let mut form = Vec::new();
                normalize_exact(text.as_bytes(), level, false, &mut form).map(|()| form)
            };
            if is_syntax_all(text.as_bytes()) {
                prop_assert_eq!(form(Level::Syntax), form(Level::Scheme));
            }
        }
    }
}
