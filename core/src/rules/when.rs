//! Where a table for parameters applies, besides its hosts: below some paths, or where a query has some parameters.

use std::fmt::Write;
use std::sync::Arc;

use super::query::any_param;
use super::scope::prefix;
use crate::normalize::{Level, normalize_exact};

/// What a URL must have for a table to apply.
///
/// The path is that which the rules for paths leave, and the query is that before any parameter is dropped. So a table with `given`
/// may only drop: what it keeps could be dropped when the result is mapped again, without the parameter that was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct When {
    /// It begins with one of these, whole segments; empty for any path.
    pub(super) paths: Vec<Vec<u8>>,
    /// It has one of these parameters; empty for any query. Sorted.
    pub(super) given: Vec<Vec<u8>>,
}

impl When {
    /// Whether it is so whatever the URL is.
    pub(super) fn is_always(&self) -> bool {
        self.paths.is_empty() && self.given.is_empty()
    }

    /// Whether it is so for a URL with this `path` and this `query`.
    pub(super) fn holds(&self, path: &[u8], query: &[u8]) -> bool {
        let is_below = |prefix: &Vec<u8>| {
            path.strip_prefix(&prefix[..]).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
        };
        let is_given = |start: usize, _: usize, end: usize| {
            self.given.binary_search_by(|given| given[..].cmp(&query[start..end])).is_ok()
        };
        (self.paths.is_empty() || self.paths.iter().any(is_below))
            && (self.given.is_empty() || any_param(query, is_given))
    }

    /// Appends a description, which no host has.
    pub(super) fn describe(&self, out: &mut String) {
        for (before, list) in [("below", &self.paths), ("given", &self.given)] {
            for text in list {
                let _ = write!(out, " {before} {}", String::from_utf8_lossy(text));
            }
        }
    }

    /// Paths and parameters as texts.
    pub(super) fn shown(&self) -> [Arc<[String]>; 2] {
        [&self.paths, &self.given].map(|list| {
            list.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect()
        })
    }
}

/// The path that `text` is in a list of these.
pub(super) fn path(text: &str) -> Result<Vec<u8>, String> {
    prefix(text)
}

/// The parameter that `text` is, with its value, as canonical queries have it.
pub(super) fn given(text: &str) -> Result<Vec<u8>, String> {
    let uri = [b"http://h/?", text.as_bytes()].concat();
    let mut form = Vec::new();
    let is_param = !text.is_empty() && !text.contains(['&', '#']);
    if !is_param || normalize_exact(&uri, Level::Scheme, false, &mut form).is_err() {
        return Err(format!("`{text}` is not a parameter, such as view=print"));
    }
    let canonical = &form[b"http://h/?".len()..];
    if canonical != text.as_bytes() {
        let canonical = String::from_utf8_lossy(canonical);
        return Err(format!("`{text}`: write `{canonical}`, as canonical URIs do"));
    }
    Ok(canonical.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_parameters_that_no_canonical_url_holds_are_rejected() {
        for (text, why) in
            [("", "not a parameter"), ("a&b", "not a"), ("a b", "not a"), ("%61=1", "write `a=1`")]
        {
            assert!(given(text).unwrap_err().contains(why), "{text}");
        }
        assert_eq!(given("view=print"), Ok(b"view=print".to_vec()));
        assert_eq!(path("/forum/"), Ok(b"/forum".to_vec()));
        assert!(path("forum").is_err());
    }

    #[test]
    fn a_path_is_one_of_whole_segments_and_a_parameter_has_its_value() {
        let list = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        let when = When { paths: list(&["/a/b"]), given: list(&["x", "y=1"]) };
        for (path, query, holds) in [
            ("/a/b", "y=1", true),
            ("/a/b/c", "z&x", true),
            ("/a/bc", "y=1", false),
            ("/a", "y=1", false),
            ("/a/b", "y=12", false),
            ("/a/b", "x=", false),
            ("/a/b", "", false),
        ] {
            assert_eq!(when.holds(path.as_bytes(), query.as_bytes()), holds, "{path} {query}");
        }
        assert!(When::default().holds(b"", b""));
    }
}
