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
                    Level::Syntax => match [a, b].map(changes_by_scheme) {
                        [Some(false), Some(false)] => return Some(Level::Syntax),
                        // The form of one of them on this level is that of both on the next one; the other form is not.
                        [Some(true), Some(false)] | [Some(false), Some(true)] => continue,
                        _ => {}
                    },
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

/// Whether the level `scheme` changes the form that `text`, which is a URI, has on level `syntax`, if that can be seen at once: its
/// scheme is `http` or `https`, and its authority is a host without brackets and percent-encodings, and perhaps a port.
fn changes_by_scheme(text: &[u8]) -> Option<bool> {
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
    let (authority, default_port) = match () {
        () if has_start(b"http://") => (&text[7..], &b"80"[..]),
        () if has_start(b"https://") => (&text[8..], &b"443"[..]),
        () => return None,
    };
    let host = authority.iter().position(|&byte| !HOST[usize::from(byte)]);
    let (host, rest) = authority.split_at(host.unwrap_or(authority.len()));
    // What an empty host means is left to the reference path.
    match rest {
        _ if host.is_empty() => None,
        [b'/', ..] => Some(false),
        [] | [b'?' | b'#', ..] => Some(true),
        [b':', rest @ ..] => {
            let digits = rest.iter().position(|byte| !byte.is_ascii_digit());
            let (port, rest) = rest.split_at(digits.unwrap_or(rest.len()));
            let is_dropped = port.is_empty() || port == default_port;
            match rest {
                [b'/', ..] => Some(is_dropped || port.len() > 1 && port.starts_with(b"0")),
                [] | [b'?' | b'#', ..] => Some(true),
                // Not a port, but the end of a name or a password.
                _ => None,
            }
        }
        _ => None,
    }
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
    fn changes_by_the_scheme_are_seen_in_plain_authorities() {
        for (text, expected) in [
            ("http://h/", Some(false)),
            ("HTTPS://EX-am_ple.com/%7e/../x#a", Some(false)),
            ("http://h:8080/", Some(false)),
            ("http://h:443/", Some(false)),
            ("http://h:0/", Some(false)),
            ("http://h", Some(true)),
            ("http://h?", Some(true)),
            ("http://h#a", Some(true)),
            ("http://h:80/", Some(true)),
            ("https://h:443/", Some(true)),
            ("http://h:/", Some(true)),
            ("http://h:08080/", Some(true)),
            ("http://h:00/", Some(true)),
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
            assert_eq!(changes_by_scheme(text.as_bytes()), expected, "{text}");
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
            if let (Some(changes), Ok(_)) = (changes_by_scheme(text.as_bytes()), &scheme) {
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
                let found = ladder.level(texts[0].as_bytes(), texts[1].as_bytes());
                prop_assert_eq!(found, Some(expected), "{:?}", texts);
            }
        }
    }
}
