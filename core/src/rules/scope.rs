//! Rules with their arguments, except those for parameters: of all hosts, or of a site.

use std::fmt::Write;

use super::parts::{DECODED, EXTENSIONS, INDEX_PAGES, decode, fold, is_dot_segment};
use super::rule::{Argument, Rule, Rules};
use crate::grammar::class::{HEXDIG, PCHAR, UNRESERVED};

/// The rules that apply to a URI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scope {
    pub(super) rules: Rules,
    /// What `index-page` drops, sorted.
    pub(super) index_pages: Vec<Vec<u8>>,
    /// What `extension` drops, sorted, without dots.
    pub(super) extensions: Vec<Vec<u8>>,
    /// What `path-prefix` drops, sorted.
    pub(super) prefixes: Vec<Vec<u8>>,
    /// What `path-decode` decodes, sorted.
    pub(super) decoded: Vec<u8>,
}

impl Scope {
    /// Adds a rule, written `NAME` or `NAME=ARG`, which is not one for parameters. `argument` is what follows `=`.
    pub(super) fn add(&mut self, rule: Rule, argument: Option<&str>) -> Result<(), String> {
        match (rule.argument(), argument) {
            (Argument::None, Some(_)) => return Err(format!("`{rule}` takes no argument")),
            (Argument::None, None) => {}
            (Argument::List, list) if rule == Rule::Extension => {
                list_of(list.unwrap_or(EXTENSIONS), extension, &mut self.extensions)?;
            }
            (Argument::List, list) => {
                list_of(list.unwrap_or(INDEX_PAGES), page, &mut self.index_pages)?;
            }
            (Argument::Paths, None) => {
                return Err(format!("`{rule}` needs a list of paths: {rule}=/PATH,/PATH"));
            }
            (Argument::Paths, Some(list)) => list_of(list, prefix, &mut self.prefixes)?,
            (Argument::Chars, chars) => {
                self.decoded.extend(characters(chars.unwrap_or(DECODED))?);
                self.decoded.sort_unstable();
                self.decoded.dedup();
            }
            (Argument::Host, _) => {
                return Err(format!(
                    "`{rule}` is turned on by `host = \"…\"` of a [[site]] in a rule file"
                ));
            }
            (Argument::Glob, _) => {
                return Err(format!("`{rule}` is for [[param]]: keep, drop or allow"));
            }
        }
        self.rules.add(rule);
        Ok(())
    }

    /// Removes `rules` and their arguments.
    pub(super) fn remove(&mut self, rules: Rules) {
        self.rules = self.rules.without(rules);
        for (rule, list) in [
            (Rule::IndexPage, &mut self.index_pages),
            (Rule::Extension, &mut self.extensions),
            (Rule::PathPrefix, &mut self.prefixes),
        ] {
            if rules.has(rule) {
                list.clear();
            }
        }
        if rules.has(Rule::PathDecode) {
            self.decoded.clear();
        }
    }

    /// Adds the rules and arguments of `other`.
    pub(super) fn extend(&mut self, other: &Scope) {
        self.rules = self.rules.union(other.rules);
        for (list, more) in [
            (&mut self.index_pages, &other.index_pages),
            (&mut self.extensions, &other.extensions),
            (&mut self.prefixes, &other.prefixes),
        ] {
            if !more.is_empty() {
                list.extend_from_slice(more);
                list.sort_unstable();
                list.dedup();
            }
        }
        if !other.decoded.is_empty() {
            self.decoded.extend_from_slice(&other.decoded);
            self.decoded.sort_unstable();
            self.decoded.dedup();
        }
    }

    /// Bytes of memory that it takes, about.
    pub(super) fn bytes(&self) -> usize {
        let texts = self.index_pages.iter().chain(&self.extensions).chain(&self.prefixes);
        size_of::<Scope>() + texts.map(|text| size_of::<Vec<u8>>() + text.len()).sum::<usize>()
    }

    /// Brings the arguments to the form in which the rules before theirs leave a path.
    pub(super) fn settle(&mut self) {
        for list in [&mut self.index_pages, &mut self.extensions, &mut self.prefixes] {
            for text in list.iter_mut() {
                if self.rules.has(Rule::PathDecode) {
                    *text = mapped(text, |text, out| decode(text, &self.decoded, out));
                }
                if self.rules.has(Rule::PathCase) {
                    *text = mapped(text, fold);
                }
            }
            list.sort_unstable();
            list.dedup();
        }
    }

    /// The argument of `rule`, with `between` between its parts; `None` if it has none.
    fn argument(&self, rule: Rule, between: u8) -> Option<String> {
        let text = match rule {
            Rule::IndexPage => self.index_pages.join(&between),
            Rule::Extension => self.extensions.join(&between),
            Rule::PathPrefix => self.prefixes.join(&between),
            Rule::PathDecode => self.decoded.clone(),
            _ => return None,
        };
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    /// The rules as they are typed, in the order in which they are applied.
    pub(super) fn typed(&self) -> Vec<String> {
        let typed = |rule: Rule| match rule.argument() {
            Argument::None => Some(rule.name().to_owned()),
            _ => Some(format!("{rule}={}", self.argument(rule, b',')?)),
        };
        self.rules.iter().filter_map(typed).collect()
    }

    /// Appends a description, a line for each rule that begins with `before`.
    pub(super) fn describe(&self, before: &str, out: &mut String) {
        for rule in self.rules.iter() {
            let _ = write!(out, "{before}rule {} {}", rule.name(), rule.version());
            if let Some(argument) = self.argument(rule, b' ') {
                let _ = write!(out, " {argument}");
            }
            out.push('\n');
        }
    }
}

fn mapped(text: &[u8], map: impl Fn(&[u8], &mut Vec<u8>) -> bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    map(text, &mut out);
    out
}

/// Adds the parts of a `list` separated by commas, each as `parse` returns it.
fn list_of(
    list: &str,
    parse: fn(&str) -> Result<Vec<u8>, String>,
    out: &mut Vec<Vec<u8>>,
) -> Result<(), String> {
    for text in list.split(',') {
        out.push(parse(text.trim())?);
    }
    out.sort_unstable();
    out.dedup();
    Ok(())
}

/// A page name: a segment that is not a dot segment.
fn page(text: &str) -> Result<Vec<u8>, String> {
    let name = text.as_bytes();
    let is_segment = name.iter().all(|&byte| PCHAR.has(byte) || byte == b'%');
    if name.is_empty() || !is_segment || is_dot_segment(name) {
        return Err(format!("`{text}` is not a page name"));
    }
    Ok(name.to_vec())
}

/// An extension without its dot: letters, digits, `-` and `_`.
fn extension(text: &str) -> Result<Vec<u8>, String> {
    let is_of_one = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if text.is_empty() || !text.bytes().all(is_of_one) {
        return Err(format!("`{text}` is not an extension, such as html"));
    }
    Ok(text.as_bytes().to_vec())
}

/// A path of one segment or more, as canonical URIs have it, without the `/` after it.
pub(super) fn prefix(text: &str) -> Result<Vec<u8>, String> {
    let path = text.strip_suffix('/').unwrap_or(text);
    let Some(segments) = path.strip_prefix('/').filter(|rest| !rest.is_empty()) else {
        return Err(format!("`{text}` is not a prefix of a path, such as /en/"));
    };
    for segment in segments.split('/') {
        page(segment).map_err(|_| format!("`{text}`: `{segment}` is not a segment of a path"))?;
    }
    let mut rest = path.as_bytes();
    while let Some(at) = memchr::memchr(b'%', rest) {
        let digits =
            rest.get(at + 1..at + 3).filter(|digits| digits.iter().all(|&d| HEXDIG.has(d)));
        let digits = digits.and_then(|digits| core::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (digits, byte) {
            (Some(digits), Some(byte))
                if UNRESERVED.has(byte) || digits.contains(char::is_lowercase) =>
            {
                let canonical = if UNRESERVED.has(byte) {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                };
                return Err(format!("`{text}`: write `{canonical}`, as canonical URIs do"));
            }
            (_, Some(_)) => {}
            _ => return Err(format!("`{text}`: `%` is not followed by two hexadecimal digits")),
        }
        rest = &rest[at + 3..];
    }
    Ok(path.as_bytes().to_vec())
}

/// Characters that a path holds both encoded and not.
fn characters(text: &str) -> Result<Vec<u8>, String> {
    let odd = text.chars().find(|&c| !DECODED.contains(c));
    match odd {
        None if text.is_empty() => Err("`path-decode` names no character".to_owned()),
        None => Ok(text.as_bytes().to_vec()),
        Some(c) if c.is_ascii_alphanumeric() || "-._~".contains(c) => {
            Err(format!("`{c}` is decoded without a rule, from level percent on"))
        }
        Some(c) => {
            Err(format!("{c:?} cannot stand in a segment as it is; the characters are {DECODED}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_no_canonical_path_holds_are_rejected() {
        for (rule, argument, why) in [
            (Rule::PathPrefix, "", "not a prefix"),
            (Rule::PathPrefix, "/", "not a prefix"),
            (Rule::PathPrefix, "en", "not a prefix"),
            (Rule::PathPrefix, "//en", "not a segment"),
            (Rule::PathPrefix, "/a/../b", "not a segment"),
            (Rule::PathPrefix, "/a?b", "not a segment"),
            (Rule::PathPrefix, "/%7E", "write `~`"),
            (Rule::PathPrefix, "/%c3", "write `%C3`"),
            (Rule::PathPrefix, "/%4", "hexadecimal"),
            (Rule::PathDecode, "", "no character"),
            (Rule::PathDecode, "/", "'/' cannot stand"),
            (Rule::PathDecode, "~", "without a rule"),
            (Rule::PathDecode, "é", "cannot stand"),
            (Rule::Extension, ".html", "not an extension"),
            (Rule::Extension, "a,", "not an extension"),
            (Rule::Extension, "tar.gz", "not an extension"),
            (Rule::PathCase, "x", "takes no argument"),
            (Rule::HostAlias, "h", "[[site]]"),
            (Rule::DropParam, "x", "[[param]]"),
        ] {
            let error = Scope::default().add(rule, Some(argument)).unwrap_err();
            assert!(error.contains(why), "{rule}={argument}: {error}");
        }
        assert!(Scope::default().add(Rule::PathPrefix, None).is_err());
    }

    #[test]
    fn what_is_typed_gives_the_same_scope() {
        let mut scope = Scope::default();
        for (rule, argument) in [
            (Rule::IndexPage, Some("b,a")),
            (Rule::Extension, Some("php,html")),
            (Rule::PathPrefix, Some("/en/,/de")),
            (Rule::PathDecode, Some(",:")),
            (Rule::Www, None),
        ] {
            scope.add(rule, argument).unwrap();
        }
        let typed = scope.typed();
        let expected = ["path-prefix=/de,/en", "index-page=a,b", "extension=html,php"];
        assert_eq!(typed, [&["www", "path-decode=,:"][..], &expected].concat());
        let mut again = Scope::default();
        for text in &typed {
            let (name, argument) =
                text.split_once('=').map_or((&**text, None), |(n, a)| (n, Some(a)));
            again.add(Rule::from_name(name).unwrap(), argument).unwrap();
        }
        assert_eq!(again, scope);
    }
}
