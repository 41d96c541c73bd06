//! Regular expressions of which one must match, however many there are.

use aho_corasick::AhoCorasick;
use regex::bytes::{RegexSet, RegexSetBuilder};

/// Expressions of a set. What a set costs to compile grows with the square of their number, and a larger one may have more
/// states than are kept.
const MOST_OF_SET: usize = 500;

/// Compiled expressions.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    /// Those without special characters.
    literals: Option<AhoCorasick>,
    sets: Vec<RegexSet>,
}

impl Patterns {
    /// Compiles `patterns`, which take at most `limit` bytes; `None` if they take more, or one of them is invalid.
    pub(super) fn new(patterns: &[String], limit: usize) -> Option<Patterns> {
        let (mut literals, mut others) = (Vec::new(), Vec::new());
        for pattern in patterns {
            match literal(pattern) {
                Some(literal) => literals.push(literal),
                None => others.push(pattern),
            }
        }
        let literals = match literals.is_empty() {
            true => None,
            false => Some(AhoCorasick::new(&literals).ok()?),
        };
        let left = limit.checked_sub(literals.as_ref().map_or(0, AhoCorasick::memory_usage))?;
        let share = left / others.len().div_ceil(MOST_OF_SET).max(1);
        let set = |some: &[&String]| RegexSetBuilder::new(some).size_limit(share).build().ok();
        let sets = others.chunks(MOST_OF_SET).map(set).collect::<Option<_>>()?;
        Some(Patterns { literals, sets })
    }

    /// Whether one of them matches somewhere in `text`.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        self.literals.as_ref().is_some_and(|literals| literals.is_match(text))
            || self.sets.iter().any(|set| set.is_match(text))
    }
}

/// The text that `pattern` stands for, if that is a single one.
fn literal(pattern: &str) -> Option<String> {
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
    fn literals_are_told_from_expressions() {
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
