//! Rules for parameters: patterns of names, for all hosts or for some.

use core::fmt;
use std::collections::HashMap;
use std::sync::Arc;

use super::glob::Glob;
use super::hosts::HostPattern;
use super::names::Verdict;
use super::rule::Rule;
use crate::grammar::class::{HEXDIG, QUERY, UNRESERVED};

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The file, or what else it was read from.
    pub source: Arc<str>,
    /// The line, from 1; 0 when there are no lines, as on a command line.
    pub line: u32,
    /// The column in bytes, from 1; 0 when there is none.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        Ok(())
    }
}

/// Patterns that were given together, with the hosts that they hold for.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// None: all hosts.
    pub(super) hosts: Vec<HostPattern>,
    pub(super) except: Vec<HostPattern>,
    pub(super) patterns: Vec<Named>,
    /// What the parameters are, in the author's words.
    pub(super) why: Option<Arc<str>>,
}

/// A pattern of a unit.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// The list that it stands in: [`Rule::KeepParam`], [`Rule::DropParam`] or [`Rule::AllowParam`].
    pub(super) list: Rule,
    pub(super) text: Arc<str>,
    pub(super) glob: Glob,
    pub(super) place: Place,
}

/// A pattern with its place among all patterns of a rule set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pattern {
    /// The rule by which it acts: `keep-param`, `drop-param` or `allow-param`.
    pub rule: Rule,
    /// What it says of parameters whose name it matches. A keep list has a pattern `*` that drops.
    pub verdict: Verdict,
    /// The pattern as it was written.
    pub text: Arc<str>,
    /// The hosts that it holds for; none for all.
    pub hosts: Arc<[String]>,
    /// The hosts that it does not hold for all the same.
    pub except: Arc<[String]>,
    /// What the parameters are, in the author's words.
    pub why: Option<Arc<str>>,
    /// Where it was written.
    pub place: Place,
}

impl Unit {
    /// The patterns from weak to strong: all that a keep list does not name, the keep list, the drop
    /// list, the allow list.
    pub(super) fn by_strength(&self) -> Vec<(Verdict, Named)> {
        let of = |list| self.patterns.iter().filter(move |named| named.list == list).cloned();
        let others = of(Rule::KeepParam).next().map(|first| {
            (Verdict::Drop, Named { text: Arc::from("*"), glob: Glob::any(), ..first })
        });
        let kept = of(Rule::KeepParam).map(|named| (Verdict::Keep, named));
        let dropped = of(Rule::DropParam).map(|named| (Verdict::Drop, named));
        let allowed = of(Rule::AllowParam).map(|named| (Verdict::Keep, named));
        others.into_iter().chain(kept).chain(dropped).chain(allowed).collect()
    }

    /// The second of two equal patterns, if there are such, and the first.
    pub(super) fn repeated(&self) -> Option<(&Named, &Named)> {
        let mut known = HashMap::new();
        self.patterns.iter().find_map(|named| Some((named, known.insert(&named.glob, named)?)))
    }
}

/// The pattern `text` for names of parameters.
///
/// Names are compared with canonical bytes, so what no canonical query holds is refused, with
/// advice on what to write.
pub(super) fn name_pattern(text: &str) -> Result<Glob, String> {
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let advice = match byte {
            b'&' => "`&` ends a parameter, so no name holds it".to_owned(),
            b'=' => "`=` ends a name; values are not looked at".to_owned(),
            b'%' => match bytes.get(at + 1..at + 3) {
                Some(&[high, low]) if HEXDIG.has(high) && HEXDIG.has(low) => {
                    let digits = &text[at + 1..at + 3];
                    let value = u8::from_str_radix(digits, 16).unwrap_or_default();
                    if UNRESERVED.has(value) {
                        format!("write `{}`, as canonical URIs do", char::from(value))
                    } else if digits.bytes().any(|digit| digit.is_ascii_lowercase()) {
                        format!("write `%{}`, as canonical URIs do", digits.to_ascii_uppercase())
                    } else {
                        continue;
                    }
                }
                _ => "`%` is not followed by two hexadecimal digits".to_owned(),
            },
            b'\\' => continue,
            byte if QUERY.has(byte) => continue,
            byte => format!("write `%{byte:02X}`: no query holds that byte as it is"),
        };
        return Err(format!("`{text}`: {advice}"));
    }
    Glob::new(bytes).map_err(|error| format!("`{text}`: {}", error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_canonical_query_holds_are_refused_with_advice() {
        for (text, advice) in [
            ("a&b", "`&` ends"),
            ("a=b", "`=` ends"),
            ("a%5fb", "write `_`"),
            ("a%5bb", "write `%5B`"),
            ("a[b]", "write `%5B`"),
            ("a%4", "hexadecimal"),
            ("é", "write `%C3`"),
            ("a#", "write `%23`"),
            ("", "empty"),
            ("a\\", "nothing behind"),
        ] {
            let error = name_pattern(text).unwrap_err();
            assert!(error.contains(advice), "{text}: {error}");
        }
        assert!(name_pattern("filter%5B*%5D").unwrap().matches(b"filter%5Bx%5D"));
        assert!(name_pattern(r"a\*?").unwrap().matches(b"a*b"));
    }
}
