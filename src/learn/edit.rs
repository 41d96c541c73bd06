//! What a rule may change: the hypotheses, each as a rule that a rules file can hold.

use crate::rules::{Builder, RuleSet};

/// A change of URLs of a host. The order is that in which they are tried, safer ones first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Edit {
    /// An empty query is dropped.
    EmptyQuery,
    /// Parameters without a byte are dropped.
    EmptyParam,
    /// Slashes in a row become one.
    Slashes,
    /// Parameters are sorted.
    Sort,
    /// The parameter of this name is dropped.
    Param(Vec<u8>),
    /// Session ids of known shapes are dropped.
    Session,
    /// The last segment is dropped if it is this one.
    Index(Vec<u8>),
    /// A slash at the end is dropped.
    Slash,
    /// `http` becomes `https`.
    Https,
    /// Encoded characters that a segment may hold are decoded.
    Decode,
    /// The path becomes lower case.
    Case,
    /// The first segment is dropped if it is this one.
    Prefix(Vec<u8>),
    /// All parameters are dropped.
    AnyParam,
}

/// Bytes of the longest name in a rule.
const LONGEST_NAME: usize = 100;

impl Edit {
    /// Dropping the parameter `name`; `None` if no rule can do that.
    pub(super) fn param(name: &[u8]) -> Option<Edit> {
        let fits = !name.is_empty() && name.len() <= LONGEST_NAME;
        fits.then(|| Edit::Param(name.to_vec())).filter(Edit::is_rule)
    }

    /// Dropping the index page `segment`; `None` if no rule can do that.
    pub(super) fn index(segment: &[u8]) -> Option<Edit> {
        let fits = !segment.is_empty() && segment.len() <= LONGEST_NAME && !segment.contains(&b',');
        fits.then(|| Edit::Index(segment.to_vec())).filter(Edit::is_rule)
    }

    /// Dropping the first segment; `None` if no rule can do that.
    pub(super) fn prefix(segment: &[u8]) -> Option<Edit> {
        let fits = !segment.is_empty() && segment.len() <= LONGEST_NAME && !segment.contains(&b',');
        fits.then(|| Edit::Prefix(segment.to_vec())).filter(Edit::is_rule)
    }

    fn is_rule(&self) -> bool {
        RuleSet::builder().rule(&self.typed()).is_ok()
    }

    /// The pattern for the names of parameters that are dropped, as `drop` of a rules file takes it.
    pub(super) fn pattern(&self) -> Option<String> {
        match self {
            Edit::Param(name) => Some(escaped(name)),
            Edit::AnyParam => Some("*".to_owned()),
            _ => None,
        }
    }

    /// The rule as it is typed.
    pub(super) fn typed(&self) -> String {
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        match self {
            Edit::EmptyQuery => "empty-query".to_owned(),
            Edit::EmptyParam => "empty-param".to_owned(),
            Edit::Slashes => "duplicate-slash".to_owned(),
            Edit::Sort => "sort-query".to_owned(),
            Edit::Param(name) => format!("drop-param={}", escaped(name)),
            Edit::Session => "session-id".to_owned(),
            Edit::Index(page) => format!("index-page={}", text(page)),
            Edit::Slash => "trailing-slash".to_owned(),
            Edit::Https => "https".to_owned(),
            Edit::Decode => "path-decode".to_owned(),
            Edit::Case => "path-case".to_owned(),
            Edit::Prefix(segment) => format!("path-prefix=/{}/", text(segment)),
            Edit::AnyParam => "drop-param=*".to_owned(),
        }
    }
}

/// The pattern that `name`, and nothing else, matches. Names of canonical URIs are ASCII.
fn escaped(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for &byte in name {
        if matches!(byte, b'*' | b'?' | b'\\' | b',') {
            text.push('\\');
        }
        text.push(char::from(byte));
    }
    text
}

/// The rules of all `edits`, for all hosts.
pub(super) fn rules_of<'e>(edits: impl IntoIterator<Item = &'e Edit>) -> RuleSet {
    let mut edits: Vec<&Edit> = edits.into_iter().collect();
    edits.sort_unstable();
    edits.dedup();
    let mut builder: Builder = RuleSet::builder();
    for edit in edits {
        builder.rule(&edit.typed()).expect("edits are rules");
    }
    builder.build().expect("no two edits have the same pattern")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Scratch;

    #[test]
    fn names_that_look_like_patterns_match_themselves_only() {
        for name in ["a*", "?", "*", "a,b", "x%5B%5D"] {
            let edit = Edit::param(name.as_bytes()).unwrap();
            let rules = rules_of([&edit]);
            let applied =
                |url: &str| rules.apply(url.as_bytes(), &mut Scratch::default()).0.to_vec();
            assert_eq!(applied(&format!("http://h/?{name}=1&b=2")), b"http://h/?b=2", "{name}");
            assert_eq!(applied("http://h/?ab=1&z=2"), b"http://h/?ab=1&z=2", "{name}");
        }
        assert_eq!(Edit::param(b""), None);
        assert_eq!(Edit::param(&[b'a'; 101]), None);
        assert_eq!(Edit::index(b"a,b"), None);
        assert_eq!(Edit::prefix(b".."), None);
    }
}
