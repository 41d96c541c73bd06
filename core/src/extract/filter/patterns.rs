//! Regular expressions of which one must match, however many there are.

use core::cmp::Reverse;
use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use aho_corasick::AhoCorasick;
use regex::bytes::{RegexSet, RegexSetBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// Expressions of a set. What a set costs to compile grows with the square of their number, and a larger one may have more
/// states than are kept.
const MOST_OF_SET: usize = 500;

/// Compiled expressions.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    /// Those without special characters.
    literals: Option<AhoCorasick>,
    /// Whether each byte is in one of these.
    in_literals: Box<[bool; 256]>,
    sets: Vec<RegexSet>,
    /// The number of the first sets that are searched in every text.
    unconditional: usize,
    needles: Option<Needles>,
}

/// Texts that expressions need, in each of which a match is at all.
#[derive(Clone, Debug)]
struct Needles {
    automaton: AhoCorasick,
    /// The sets with the expressions that need them.
    sets: Vec<Range<usize>>,
}

impl Patterns {
    /// Compiles `patterns`, which take at most `limit` bytes; `None` if they take more, or one of them is invalid.
    pub(super) fn new(patterns: &[String], limit: usize) -> Option<Patterns> {
        let (mut literals, mut others) = (Vec::new(), Vec::new());
        // Each once: an automaton notes at each of its states all literals that end there.
        for pattern in patterns.iter().collect::<BTreeSet<_>>() {
            match literal(pattern) {
                Some(literal) => literals.push(literal),
                None => others.push(&**pattern),
            }
        }
        let mut in_literals = Box::new([false; 256]);
        for byte in literals.iter().flat_map(|literal: &String| literal.bytes()) {
            in_literals[usize::from(byte)] = true;
        }
        let literals = match literals.is_empty() {
            true => None,
            false => Some(AhoCorasick::new(&literals).ok()?),
        };
        // One set is searched as fast as needles.
        let Groups { sets: texts, unconditional, needles } = match others.len() > MOST_OF_SET {
            true => Groups::new(&others)?,
            false if others.is_empty() => Groups::default(),
            false => Groups { sets: vec![others], unconditional: 1, needles: None },
        };
        // Needles are as long as the expressions at most, and take no part of their share.
        let taken = literals.as_ref().map_or(0, AhoCorasick::memory_usage);
        let share = limit.checked_sub(taken)? / texts.len().max(1);
        let set = |some: &Vec<&str>| RegexSetBuilder::new(some).size_limit(share).build().ok();
        let sets: Vec<RegexSet> = texts.iter().map(set).collect::<Option<_>>()?;
        Some(Patterns { literals, in_literals, sets, unconditional, needles })
    }

    /// What finds them all, if each of them is a text without the byte `end`.
    pub(super) fn texts(&self, end: u8) -> Option<&AhoCorasick> {
        let are_all = self.sets.is_empty() && !self.in_literals[usize::from(end)];
        self.literals.as_ref().filter(|_| are_all)
    }

    /// Whether one of them matches somewhere in `text`.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        self.literals.as_ref().is_some_and(|literals| literals.is_match(text))
            || self.sets[..self.unconditional].iter().any(|set| set.is_match(text))
            || self.needles.as_ref().is_some_and(|needles| needles.is_match(text, &self.sets))
    }
}

impl Needles {
    fn is_match(&self, text: &[u8], sets: &[RegexSet]) -> bool {
        // A long text may hold a needle very often, and a search reads all of it.
        let mut asked = Vec::new();
        for found in self.automaton.find_overlapping_iter(text) {
            asked.resize(sets.len(), false);
            for set in self.sets[found.pattern().as_usize()].clone() {
                if !core::mem::replace(&mut asked[set], true) && sets[set].is_match(text) {
                    return true;
                }
            }
        }
        false
    }
}

/// Expressions by set, the first of which need nothing, as many as the number says; and what the others need.
#[derive(Default)]
struct Groups<'a> {
    sets: Vec<Vec<&'a str>>,
    unconditional: usize,
    needles: Option<Needles>,
}

impl<'a> Groups<'a> {
    /// `None` if what they need is too much for an automaton.
    fn new(patterns: &[&'a str]) -> Option<Groups<'a>> {
        let runs: Vec<Vec<Vec<u8>>> = patterns.iter().map(|pattern| runs(pattern)).collect();
        let mut uses: HashMap<&[u8], usize> = HashMap::new();
        runs.iter().flatten().for_each(|run| *uses.entry(run).or_default() += 1);
        // Of the runs of an expression the longest that few others have: its set is searched wherever the run is.
        let rank = |run: &&Vec<u8>| (Reverse(uses[&***run].max(FEW)), run.len());
        let mut by_needle: BTreeMap<&[u8], Vec<&str>> = BTreeMap::new();
        for (pattern, runs) in patterns.iter().zip(&runs) {
            let needle = runs.iter().max_by_key(rank).map_or(&[][..], |run| run);
            by_needle.entry(needle).or_default().push(pattern);
        }
        let mut sets: Vec<Vec<&str>> = Vec::new();
        let first = by_needle.remove(&[][..]).unwrap_or_default();
        sets.extend(first.chunks(MOST_OF_SET).map(<[_]>::to_vec));
        let unconditional = sets.len();
        let mut ranges = Vec::with_capacity(by_needle.len());
        for patterns in by_needle.values() {
            let mut range = sets.len()..sets.len();
            for pattern in patterns {
                match sets[unconditional..].last_mut().filter(|set| set.len() < MOST_OF_SET) {
                    Some(set) => set.push(pattern),
                    None => sets.push(vec![pattern]),
                }
                range.start = range.start.min(sets.len() - 1);
            }
            ranges.push(range.start..sets.len());
        }
        if ranges.is_empty() {
            return Some(Groups { sets, unconditional, needles: None });
        }
        let automaton = AhoCorasick::new(by_needle.keys()).ok()?;
        let needles = Some(Needles { automaton, sets: ranges });
        Some(Groups { sets, unconditional, needles })
    }
}

/// So many expressions may share what they need.
const FEW: usize = 4;

/// The runs of bytes that each match of `pattern` holds.
fn runs(pattern: &str) -> Vec<Vec<u8>> {
    let mut runs = Vec::new();
    if let Ok(parsed) = ParserBuilder::new().utf8(false).build().parse(pattern) {
        add_runs(&parsed, &mut runs);
    }
    runs
}

fn add_runs(parsed: &Hir, runs: &mut Vec<Vec<u8>>) {
    match parsed.kind() {
        HirKind::Literal(literal) => runs.push(literal.0.to_vec()),
        HirKind::Capture(capture) => add_runs(&capture.sub, runs),
        HirKind::Repetition(repeated) if repeated.min > 0 => add_runs(&repeated.sub, runs),
        HirKind::Concat(parts) => parts.iter().for_each(|part| add_runs(part, runs)),
        _ => {}
    }
}

/// The text that `pattern` matches, if that is a single one.
pub(super) fn literal(pattern: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        text.push(match c {
            '\\' => chars.next().filter(|c| c.is_ascii_punctuation() && !"<>".contains(*c))?,
            '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' => {
                return None;
            }
            c => c,
        });
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_distinguished_from_expressions() {
        for (pattern, expected) in [
            ("/ads/", Some("/ads/")),
            (r"spam\.example", Some("spam.example")),
            (r"a\+b\\", Some(r"a+b\")),
            ("é#&~-", Some("é#&~-")),
            ("a.b", None),
            (r"\d", None),
            (r"\bads", None),
            (r"\pL", None),
            ("(?i)a", None),
            ("^a", None),
            ("", None),
        ] {
            assert_eq!(literal(pattern).as_deref(), expected, "{pattern}");
        }
        // `\<` and `\>` are bounds of words.
        for bound in [r"\<a", r"a\>"] {
            assert_eq!(literal(bound), None, "{bound}");
        }
    }

    #[test]
    fn patterns_that_are_repeated_take_no_more_memory() {
        let patterns: Vec<String> = (0..60_000)
            .map(|i| match i % 3 {
                0 => "x".to_owned(),
                1 => "ax".to_owned(),
                _ => format!("y{}x", i % 20_000),
            })
            .collect();
        let found = Patterns::new(&patterns, 64 << 20).unwrap();
        assert!(found.is_match(b"http://h/ax") && !found.is_match(b"http://h/y1"));
        assert!(found.literals.unwrap().memory_usage() < 8 << 20);
    }

    #[test]
    fn a_match_holds_all_runs_of_its_expression() {
        for (pattern, expected) in [
            (r"^https?://a\.b/.*\.png$", &["http", "://a.b/", ".png"][..]),
            ("(ab)+c{2}x{0,3}(d|e)f?", &["ab", "c"]),
            ("a|b", &[]),
            ("(?i)ab", &[]),
            ("[a]b", &["ab"]),
            (r"\bé(?:x(?P<n>yz))", &["éxyz"]),
            ("", &[]),
            ("(", &[]),
        ] {
            let found = runs(pattern);
            // How the parser joins literals is its matter.
            let found: Vec<_> = found.iter().map(|run| String::from_utf8_lossy(run)).collect();
            assert_eq!(found.concat(), expected.concat(), "{pattern}");
        }
    }

    #[test]
    fn sets_are_searched_where_their_needles_are() {
        let forms: [fn(usize) -> String; 5] = [
            |i| format!("^http://h{i}x/.*[.]png$"),
            |i| format!("shared/[a-z]+{i}$"),
            |i| format!("(?i)Case{i}$"),
            |i| format!("(x{i}y|z{i}y)[0-9]"),
            |i| format!("(n{i}n)+[.](gif|png)"),
        ];
        let patterns: Vec<String> = (0..700).flat_map(|i| forms.map(|form| form(i))).collect();
        let all = Patterns::new(&patterns, usize::MAX).unwrap();
        assert!(all.needles.is_some() && all.unconditional < all.sets.len());
        for i in [0, 1, 499, 500, 699] {
            for form in ["http://h#x/a.png", "shared/ab#", "cASE#", "z#y7", "n#nn#n.png"] {
                let text = form.replace('#', &i.to_string());
                assert!(all.is_match(text.as_bytes()), "{text}");
                let long = format!("{}{text}", "http://h1x/n2n".repeat(50));
                assert!(all.is_match(long.as_bytes()) || form.starts_with("http"), "{text}");
                assert!(!all.is_match(text.replace(&i.to_string(), "701").as_bytes()), "{text}");
            }
        }
    }

    #[test]
    fn as_many_as_there_are_match_as_each_alone() {
        let numbers = 0..3 * MOST_OF_SET;
        let patterns = numbers.map(|i| match i % 3 {
            0 => format!("/p{i}/"),
            1 => format!("/p{i}[/]x$"),
            _ => format!(r"/p{i}\.x"),
        });
        let patterns: Vec<String> = patterns.collect();
        let all = Patterns::new(&patterns, usize::MAX).unwrap();
        let each: Vec<_> = patterns.iter().map(|one| regex::Regex::new(one).unwrap()).collect();
        for i in (0..4 * MOST_OF_SET).step_by(37) {
            for end in ["/", "/x", ".x", "/xy", "x"] {
                let text = format!("http://h/p{i}{end}");
                let expected = each.iter().any(|one| one.is_match(&text));
                assert_eq!(all.is_match(text.as_bytes()), expected, "{text}");
            }
        }
        assert!(Patterns::new(&patterns, 1 << 10).is_none());
    }
}
