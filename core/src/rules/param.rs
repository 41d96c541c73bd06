//! Parameter rules: patterns for names, for all hosts or for some.

use core::fmt;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use super::glob::Glob;
use super::hosts::HostPattern;
use super::names::Action;
use super::rule::Rule;
use super::when::When;
use crate::grammar::class::{HEXDIG, QUERY, UNRESERVED};

/// Bytes of the hosts of a unit that a description repeats.
const LONGEST_HOSTS: usize = 128;

/// The position of a rule in its source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The file or other source.
    pub source: Arc<str>,
    /// The line, from 1; 0 if there are no lines, as on a command line.
    pub line: u32,
    /// The column in bytes, from 1; 0 if there is none.
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

/// Patterns that were given together, with the hosts to which they apply.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Empty for all hosts.
    pub(super) hosts: Vec<HostPattern>,
    pub(super) except: Vec<HostPattern>,
    pub(super) when: When,
    pub(super) patterns: Vec<Named>,
    /// What the parameters are, in the author's words.
    pub(super) why: Option<Arc<str>>,
    /// The number of the site that they are written in, of all sites of a rules file or a rule set.
    pub(super) site: Option<usize>,
}

/// A pattern of a unit.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// The list that it belongs to: [`Rule::KeepParam`], [`Rule::DropParam`] or
    /// [`Rule::AllowParam`].
    pub(super) list: Rule,
    pub(super) text: Arc<str>,
    pub(super) glob: Glob,
    pub(super) place: Place,
}

/// One of the patterns of a rule set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pattern {
    /// The rule that it belongs to: `keep-param`, `drop-param` or `allow-param`.
    pub rule: Rule,
    /// What it does with the parameters whose name it matches. A keep list has a pattern `*` that
    /// drops.
    pub action: Action,
    /// The pattern, as written.
    pub text: Arc<str>,
    /// The hosts to which it applies; empty for all.
    pub hosts: Arc<[String]>,
    /// The hosts that are excepted.
    pub except: Arc<[String]>,
    /// The paths below which it applies; empty for all.
    pub paths: Arc<[String]>,
    /// The parameters of which a query must have one; empty for all queries.
    pub given: Arc<[String]>,
    /// What the parameters are, in the author's words.
    pub why: Option<Arc<str>>,
    /// Where it was written.
    pub place: Place,
}

impl Unit {
    /// The patterns from weak to strong: everything that is not in a keep list, the keep list, the
    /// drop list, the allow list.
    pub(super) fn by_strength(&self) -> Vec<(Action, Named)> {
        let of = |list| self.patterns.iter().filter(move |named| named.list == list).cloned();
        let others = of(Rule::KeepParam).next().map(|first| {
            (Action::Drop, Named { text: Arc::from("*"), glob: Glob::any(), ..first })
        });
        let kept = of(Rule::KeepParam).map(|named| (Action::Keep, named));
        let dropped = of(Rule::DropParam).map(|named| (Action::Drop, named));
        let allowed = of(Rule::AllowParam).map(|named| (Action::Keep, named));
        others.into_iter().chain(kept).chain(dropped).chain(allowed).collect()
    }

    /// The hosts in a description, and where on them: as they are, or their number and digest if they are many, since each pattern repeats them.
    pub(super) fn described_hosts(&self) -> String {
        let mut text = String::new();
        self.hosts.iter().for_each(|host| _ = write!(text, " on {host}"));
        self.except.iter().for_each(|host| _ = write!(text, " not on {host}"));
        if text.len() > LONGEST_HOSTS {
            let digest = &blake3::hash(text.as_bytes()).to_hex()[..32];
            text = format!(" on {} hosts not on {}: {digest}", self.hosts.len(), self.except.len());
        }
        self.when.describe(&mut text);
        text
    }

    /// The second of two equal patterns, and the first, if there are two.
    pub(super) fn repeated(&self) -> Option<(&Named, &Named)> {
        let mut known = HashMap::new();
        self.patterns.iter().find_map(|named| Some((named, known.insert(&named.glob, named)?)))
    }
}

/// Parses the pattern `text` for names of parameters.
///
/// Names are compared with canonical bytes, so bytes that no canonical query holds are rejected,
/// with advice.
pub(super) fn name_pattern(text: &str) -> Result<Glob, String> {
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let advice = match byte {
            b'&' => "`&` ends a parameter, so no name holds it".to_owned(),
            b'=' => "`=` ends a name; values are not matched".to_owned(),
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
            byte => format!("write `%{byte:02X}`: a query holds that byte only encoded"),
        };
        return Err(format!("`{text}`: {advice}"));
    }
    Glob::new(bytes).map_err(|error| format!("`{text}`: {}", error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_canonical_query_holds_are_rejected_with_advice() {
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
            ("a\\", "without a byte"),
        ] {
            let error = name_pattern(text).unwrap_err();
            assert!(error.contains(advice), "{text}: {error}");
        }
        assert!(name_pattern("filter%5B*%5D").unwrap().matches(b"filter%5Bx%5D"));
        assert!(name_pattern(r"a\*?").unwrap().matches(b"a*b"));
    }
}
