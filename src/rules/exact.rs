//! The reference path: one rule at a time, one change at a time, on a text that is split again each
//! time.
//!
//! It is the slow counterpart of [`fast`](super::fast) and its oracle in the tests, and it records
//! each change: `explain` and reports of merges show its steps.

use core::ops::Range;

use super::names::Action;
use super::parts::{
    folded, has_dot_segment, has_needless_dot, host_in, https_port, is_dot_segment, name_of,
    www_len,
};
use super::rule::Rule;
use super::session;
use super::set::RuleSet;
use crate::uri::{Split, split};

/// One change that a rule makes: a range of the text after the earlier steps, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The rule.
    pub rule: Rule,
    /// Range in the text before this step.
    pub range: Range<usize>,
    /// The bytes in that range.
    pub from: Vec<u8>,
    /// Their replacement.
    pub to: Vec<u8>,
    /// The pattern that decided, for parameter rules: an index into [`RuleSet::patterns`].
    pub pattern: Option<usize>,
}

impl RuleSet {
    /// Returns the changes that the rules make to `form`, a URI in canonical form, in order.
    /// Applied one after the other, they give the result of [`RuleSet::apply`].
    ///
    /// ```
    /// use uriscan::rules::RuleSet;
    /// let mut builder = RuleSet::builder();
    /// builder.rule("fragment").unwrap();
    /// let steps = builder.build().unwrap().steps(b"http://h/#top");
    /// assert_eq!((steps[0].rule.name(), steps[0].range.clone()), ("fragment", 9..13));
    /// assert_eq!((&*steps[0].from, &*steps[0].to), (&b"#top"[..], &b""[..]));
    /// ```
    pub fn steps(&self, form: &[u8]) -> Vec<Step> {
        let mut text = Text { bytes: form.to_vec(), steps: Vec::new() };
        let has = |rule| self.rules.has(rule);
        if has(Rule::Fragment) {
            text.drop_fragment();
        }
        if !text.is_web() {
            return text.steps;
        }
        if has(Rule::Userinfo) {
            text.drop_userinfo();
        }
        if has(Rule::Https) {
            text.make_https();
        }
        if has(Rule::HostDot) {
            text.drop_host_dot();
        }
        if has(Rule::Www) {
            text.drop_www();
        }
        while has(Rule::SessionId) && text.drop_path_session() {}
        if has(Rule::DuplicateSlash) {
            text.collapse_slashes();
        }
        while text.drop_index_page(&self.index_pages)
            || (has(Rule::TrailingSlash) && text.drop_trailing_slash())
        {}
        let has_pair = text.has_coldfusion_pair();
        while text.drop_param(self, has_pair) {}
        if has(Rule::SortQuery) {
            text.sort_query();
        }
        if has(Rule::EmptyQuery) {
            text.drop_empty_query();
        }
        text.steps
    }

    /// The action for the parameter `name` on `host`, and the pattern that decides: tests each
    /// pattern, from strong to weak.
    fn action_one_by_one(&self, host: &[u8], name: &[u8]) -> Option<(Action, usize)> {
        let mut place = self.patterns.len();
        for (unit, by_strength) in self.units.iter().rev() {
            let holds = (unit.hosts.is_empty() || unit.hosts.iter().any(|h| h.matches(host)))
                && !unit.except.iter().any(|h| h.matches(host));
            for (action, named) in by_strength.iter().rev() {
                place -= 1;
                if holds && named.glob.matches(name) {
                    return Some((*action, place));
                }
            }
        }
        None
    }
}

/// A URI to which rules are applied.
struct Text {
    bytes: Vec<u8>,
    steps: Vec<Step>,
}

impl Text {
    fn parts(&self) -> Split<'_> {
        split(&self.bytes)
    }

    fn is_web(&self) -> bool {
        let Split { scheme, authority, .. } = self.parts();
        let is_web = |scheme: &[u8]| {
            scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https")
        };
        authority.is_some() && scheme.is_some_and(is_web)
    }

    /// Range of the authority of a web URI.
    fn authority(&self) -> Range<usize> {
        let Split { scheme, authority, .. } = self.parts();
        let start = scheme.map_or(0, <[u8]>::len) + "://".len();
        start..start + authority.map_or(0, <[u8]>::len)
    }

    fn host(&self) -> Range<usize> {
        let authority = self.authority();
        let (from, to) = host_in(&self.bytes[authority.clone()]);
        authority.start + from..authority.start + to
    }

    /// Range of the path of a web URI.
    fn path(&self) -> Range<usize> {
        let start = self.authority().end;
        start..start + self.parts().path.len()
    }

    /// Range of the query of a web URI, without its `?`.
    fn query(&self) -> Option<Range<usize>> {
        let start = self.path().end + 1;
        self.parts().query.map(|query| start..start + query.len())
    }

    fn edit(&mut self, rule: Rule, range: Range<usize>, to: &[u8], pattern: Option<usize>) {
        let from = self.bytes.splice(range.clone(), to.iter().copied()).collect();
        self.steps.push(Step { rule, range, from, to: to.to_vec(), pattern });
    }

    fn drop_fragment(&mut self) {
        if let Some(fragment) = self.parts().fragment {
            let end = self.bytes.len();
            self.edit(Rule::Fragment, end - fragment.len() - 1..end, b"", None);
        }
    }

    fn drop_userinfo(&mut self) {
        let (authority, host) = (self.authority(), self.host());
        if host.start > authority.start {
            self.edit(Rule::Userinfo, authority.start..host.start, b"", None);
        }
    }

    fn make_https(&mut self) {
        if !self.parts().scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"http")) {
            return;
        }
        let (authority, host) = (self.authority(), self.host());
        if host.end < authority.end {
            let port = host.end + 1..authority.end;
            let digits = self.bytes[port.clone()].to_vec();
            match https_port(&digits) {
                None => return,
                Some(same) if same == digits => {}
                Some(other) => self.edit(Rule::Https, port, other, None),
            }
        }
        self.edit(Rule::Https, 0.."http".len(), b"https", None);
    }

    fn drop_host_dot(&mut self) {
        let host = self.host();
        if has_needless_dot(&self.bytes[host.clone()]) {
            self.edit(Rule::HostDot, host.end - 1..host.end, b"", None);
        }
    }

    fn drop_www(&mut self) {
        let host = self.host();
        let len = www_len(&self.bytes[host.clone()]);
        if len > 0 {
            self.edit(Rule::Www, host.start..host.start + len, b"", None);
        }
    }

    /// Ranges of the segments of the path; empty if it holds dot segments.
    fn segments(&self) -> Vec<Range<usize>> {
        let path = self.path();
        if has_dot_segment(&self.bytes[path.clone()]) {
            return Vec::new();
        }
        let mut start = path.start;
        let segments = self.bytes[path].split(|&byte| byte == b'/');
        segments
            .map(|segment| {
                let range = start..start + segment.len();
                start = range.end + 1;
                range
            })
            .collect()
    }

    /// Drops the first session id of the path; returns whether there was one.
    fn drop_path_session(&mut self) -> bool {
        let segments = self.segments();
        for (i, range) in segments.iter().enumerate() {
            let segment = &self.bytes[range.clone()];
            let mut parts = segment.split(|&byte| byte == b';');
            let mut stripped = parts.next().unwrap_or_default().to_vec();
            let mut first_id = None;
            let mut at = range.start + stripped.len();
            for part in parts {
                if session::is_path_param(part) {
                    first_id = first_id.or(Some(at..at + 1 + part.len()));
                } else {
                    stripped.push(b';');
                    stripped.extend_from_slice(part);
                }
                at += 1 + part.len();
            }
            match first_id {
                Some(_) if is_dot_segment(&stripped) => {}
                Some(id) => {
                    self.edit(Rule::SessionId, id, b"", None);
                    return true;
                }
                None if i + 1 < segments.len() && session::is_cookieless(segment) => {
                    self.edit(Rule::SessionId, range.start..range.end + 1, b"", None);
                    return true;
                }
                None => {}
            }
        }
        false
    }

    fn collapse_slashes(&mut self) {
        // Empty segments between two others, run by run.
        loop {
            let segments = self.segments();
            let inner = segments.get(1..segments.len().saturating_sub(1)).unwrap_or_default();
            let Some(first) = inner.iter().position(Range::is_empty) else { return };
            let run = inner[first..].iter().take_while(|segment| segment.is_empty()).count();
            let start = inner[first].start;
            self.edit(Rule::DuplicateSlash, start..start + run, b"", None);
        }
    }

    fn drop_index_page(&mut self, pages: &[Vec<u8>]) -> bool {
        match self.segments().last() {
            Some(last) if pages.iter().any(|page| **page == self.bytes[last.clone()]) => {
                self.edit(Rule::IndexPage, last.clone(), b"", None);
                true
            }
            _ => false,
        }
    }

    fn drop_trailing_slash(&mut self) -> bool {
        // `/a/` has two segments, `a` and an empty one.
        match &*self.segments() {
            [_, .., before, last] if last.is_empty() && !before.is_empty() => {
                self.edit(Rule::TrailingSlash, last.start - 1..last.end, b"", None);
                true
            }
            _ => false,
        }
    }

    /// Ranges of the parameters.
    fn params(&self) -> Vec<Range<usize>> {
        let Some(query) = self.query() else { return Vec::new() };
        let mut start = query.start;
        let params = self.bytes[query].split(|&byte| byte == b'&');
        params
            .map(|param| {
                let range = start..start + param.len();
                start = range.end + 1;
                range
            })
            .collect()
    }

    /// Whether both parameters of ColdFusion are present.
    fn has_coldfusion_pair(&self) -> bool {
        let has = |is_it: fn(&[u8], &[u8]) -> bool| {
            self.params().into_iter().any(|range| {
                let param = &self.bytes[range];
                let name = name_of(param);
                is_it(name, param.get(name.len() + 1..).unwrap_or_default())
            })
        };
        has(session::is_cfid) && has(session::is_cftoken)
    }

    /// Drops the first parameter to be dropped; returns whether there was one.
    ///
    /// `has_pair` is the result of [`Text::has_coldfusion_pair`] before the first one was dropped.
    fn drop_param(&mut self, rules: &RuleSet, has_pair: bool) -> bool {
        let params = self.params();
        let path = self.path();
        let page =
            self.bytes[path].rsplit(|&byte| byte == b'/').next().unwrap_or_default().to_vec();
        let host = folded(&self.bytes[self.host()]).into_owned();
        for (i, range) in params.iter().enumerate() {
            if range.is_empty() {
                continue;
            }
            let param = &self.bytes[range.clone()];
            let name = name_of(param);
            let value = param.get(name.len() + 1..).unwrap_or_default();
            let (rule, pattern) = match rules.action_one_by_one(&host, name) {
                Some((Action::Keep, _)) => continue,
                Some((Action::Drop, place)) => (rules.patterns[place].rule, Some(place)),
                None if rules.rules.has(Rule::SessionId)
                    && session::is_param(name, value, &page, || has_pair) =>
                {
                    (Rule::SessionId, None)
                }
                None => continue,
            };
            // With the `&` after it; the last one with the `&` or `?` before it.
            let range = if i + 1 < params.len() {
                range.start..range.end + 1
            } else {
                range.start - 1..range.end
            };
            self.edit(rule, range, b"", pattern);
            return true;
        }
        false
    }

    fn sort_query(&mut self) {
        let Some(query) = self.query() else { return };
        let mut params: Vec<&[u8]> =
            self.bytes[query.clone()].split(|&byte| byte == b'&').collect();
        params.sort_by_key(|param| name_of(param));
        let sorted = params.join(&b'&');
        if sorted != self.bytes[query.clone()] {
            self.edit(Rule::SortQuery, query, &sorted, None);
        }
    }

    fn drop_empty_query(&mut self) {
        if let Some(query) = self.query().filter(Range::is_empty) {
            self.edit(Rule::EmptyQuery, query.start - 1..query.end, b"", None);
        }
    }
}
