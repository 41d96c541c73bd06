//! A URI to which the reference path applies rules, split again each time.

use core::ops::Range;

use super::names::Action;
use super::param::Unit;
use super::parts::{
    fold, folded, has_dot_segment, has_needless_dot, host_in, https_port, is_dot_segment,
    is_meaningful, name_of, route_query, stem, www_len,
};
use super::rule::Rule;
use super::scope::Scope;
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

/// Where a query is.
#[derive(Clone, Copy)]
pub(super) enum Where {
    /// After the path.
    Query,
    /// In a fragment that is a route.
    Route,
}

/// A URI to which rules are applied.
#[derive(Clone)]
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    pub(super) steps: Vec<Step>,
}

impl Text {
    fn parts(&self) -> Split<'_> {
        split(&self.bytes)
    }

    pub(super) fn is_web(&self) -> bool {
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

    pub(super) fn host(&self) -> Range<usize> {
        let authority = self.authority();
        let (from, to) = host_in(&self.bytes[authority.clone()]);
        authority.start + from..authority.start + to
    }

    /// Range of the path of a web URI.
    fn path(&self) -> Range<usize> {
        let start = self.authority().end;
        start..start + self.parts().path.len()
    }

    /// Range of a query of a web URI, without its `?`.
    fn query(&self, place: Where) -> Option<Range<usize>> {
        match place {
            Where::Query => {
                let start = self.path().end + 1;
                self.parts().query.map(|query| start..start + query.len())
            }
            Where::Route => {
                let (_, query) = route_query(self.parts().fragment?)?;
                Some(self.bytes.len() - query.len()..self.bytes.len())
            }
        }
    }

    /// What precedes that query: the path, or the route.
    fn before(&self, place: Where) -> &[u8] {
        let route = || route_query(self.parts().fragment?).map(|(route, _)| route);
        match place {
            Where::Query => &self.bytes[self.path()],
            Where::Route => route().unwrap_or_default(),
        }
    }

    pub(super) fn edit(
        &mut self,
        rule: Rule,
        range: Range<usize>,
        to: &[u8],
        pattern: Option<usize>,
    ) {
        let from = self.bytes.splice(range.clone(), to.iter().copied()).collect();
        self.steps.push(Step { rule, range, from, to: to.to_vec(), pattern });
    }

    pub(super) fn drop_fragment(&mut self, scope: &Scope) {
        let Some(fragment) = self.parts().fragment else { return };
        let end = self.bytes.len();
        let range = end - fragment.len() - 1..end;
        if scope.rules.has(Rule::Fragment) {
            self.edit(Rule::Fragment, range, b"", None);
        } else if scope.rules.has(Rule::Anchor) && !is_meaningful(fragment) {
            self.edit(Rule::Anchor, range, b"", None);
        }
    }

    /// Changes the path, unless it holds dot segments. `change` appends a path to a buffer, and returns whether it differs.
    pub(super) fn change_path(&mut self, rule: Rule, change: impl Fn(&[u8], &mut Vec<u8>) -> bool) {
        let mut path = Vec::new();
        if !self.segments().is_empty() && change(&self.bytes[self.path()], &mut path) {
            self.edit(rule, self.path(), &path, None);
        }
    }

    /// Drops one of `prefixes` once; returns whether the path begins with one.
    pub(super) fn drop_prefix(&mut self, prefixes: &[Vec<u8>]) -> bool {
        let path = self.path();
        if self.segments().is_empty() {
            return false;
        }
        for prefix in prefixes {
            let Some(rest) = self.bytes[path.clone()].strip_prefix(&**prefix) else { continue };
            let (range, to): (_, &[u8]) = match rest {
                [] => (path, b"/"),
                [b'/', ..] => (path.start..path.start + prefix.len(), b""),
                _ => continue,
            };
            self.edit(Rule::PathPrefix, range, to, None);
            return true;
        }
        false
    }

    pub(super) fn drop_userinfo(&mut self) {
        let (authority, host) = (self.authority(), self.host());
        if host.start > authority.start {
            self.edit(Rule::Userinfo, authority.start..host.start, b"", None);
        }
    }

    pub(super) fn make_https(&mut self) {
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

    pub(super) fn drop_host_dot(&mut self) {
        let host = self.host();
        if has_needless_dot(&self.bytes[host.clone()]) {
            self.edit(Rule::HostDot, host.end - 1..host.end, b"", None);
        }
    }

    pub(super) fn drop_www(&mut self) {
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
        self.parts_of(path, b'/')
    }

    /// Drops the first session id of the path; returns whether there was one.
    pub(super) fn drop_path_session(&mut self) -> bool {
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

    pub(super) fn collapse_slashes(&mut self) {
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

    pub(super) fn drop_index_page(&mut self, pages: &[Vec<u8>]) -> bool {
        match self.segments().last() {
            Some(last) if pages.iter().any(|page| **page == self.bytes[last.clone()]) => {
                self.edit(Rule::IndexPage, last.clone(), b"", None);
                true
            }
            _ => false,
        }
    }

    pub(super) fn drop_extension(&mut self, extensions: &[Vec<u8>]) -> bool {
        let Some(last) = self.segments().last().cloned() else { return false };
        let Some(left) = stem(&self.bytes[last.clone()], extensions).map(<[u8]>::len) else {
            return false;
        };
        self.edit(Rule::Extension, last.start + left..last.end, b"", None);
        true
    }

    pub(super) fn drop_trailing_slash(&mut self) -> bool {
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
    fn params(&self, place: Where) -> Vec<Range<usize>> {
        self.query(place).map_or(Vec::new(), |query| self.parts_of(query, b'&'))
    }

    /// Ranges of the parts of `whole` that are between bytes `by`.
    fn parts_of(&self, whole: Range<usize>, by: u8) -> Vec<Range<usize>> {
        let mut start = whole.start;
        let part = |part: &[u8]| {
            let range = start..start + part.len();
            start = range.end + 1;
            range
        };
        self.bytes[whole].split(|&byte| byte == by).map(part).collect()
    }

    /// Brings the names of parameters to lower case, one after the other.
    pub(super) fn fold_names(&mut self, place: Where) {
        for range in self.params(place) {
            let name = name_of(&self.bytes[range.clone()]);
            let (end, mut folded) = (range.start + name.len(), Vec::new());
            if fold(name, &mut folded) {
                self.edit(Rule::ParamCase, range.start..end, &folded, None);
            }
        }
    }

    /// For each unit of `rules`, whether what it needs besides its hosts is there.
    pub(super) fn holding(&self, rules: &RuleSet, place: Where) -> Vec<bool> {
        let query = self.query(place).unwrap_or_default();
        let holds =
            |(unit, _): &(Unit, _)| unit.when.holds(self.before(place), &self.bytes[query.clone()]);
        rules.units.iter().map(holds).collect()
    }

    /// Whether both parameters of ColdFusion are present.
    pub(super) fn has_coldfusion_pair(&self, place: Where) -> bool {
        let has = |is_it: fn(&[u8], &[u8]) -> bool| {
            self.params(place).into_iter().any(|range| {
                let param = &self.bytes[range];
                let name = name_of(param);
                is_it(name, param.get(name.len() + 1..).unwrap_or_default())
            })
        };
        has(session::is_cfid) && has(session::is_cftoken)
    }

    /// Drops the first parameter to be dropped; returns whether there was one.
    ///
    /// `has_pair` is the result of [`Text::has_coldfusion_pair`] before the first one was dropped, and `holding` that of
    /// [`Text::holding`].
    pub(super) fn drop_param(
        &mut self,
        rules: &RuleSet,
        scope: &Scope,
        place: Where,
        (has_pair, holding): (bool, &[bool]),
    ) -> bool {
        let params = self.params(place);
        let before = self.before(place);
        let page = before.rsplit(|&byte| byte == b'/').next().unwrap_or_default().to_vec();
        let host = folded(&self.bytes[self.host()]).into_owned();
        for (i, range) in params.iter().enumerate() {
            if range.is_empty() {
                continue;
            }
            let param = &self.bytes[range.clone()];
            let name = name_of(param);
            let value = param.get(name.len() + 1..).unwrap_or_default();
            let (rule, pattern) = match rules.action_one_by_one(&host, holding, name) {
                Some((Action::Keep, _)) => continue,
                Some((Action::Drop, at)) => (rules.patterns[at].rule, Some(at)),
                None if session::is_param(name, value, &page, || has_pair) => {
                    (Rule::SessionId, None)
                }
                None => continue,
            };
            if scope.rules.has(rule) {
                self.drop_at(rule, &params, i, pattern);
                return true;
            }
        }
        false
    }

    /// Drops the first empty parameter of several; returns whether there was one.
    pub(super) fn drop_empty_param(&mut self, place: Where) -> bool {
        let params = self.params(place);
        let first = params.iter().position(Range::is_empty).filter(|_| params.len() > 1);
        if let Some(i) = first {
            self.drop_at(Rule::EmptyParam, &params, i, None);
        }
        first.is_some()
    }

    /// Drops the parameter `i` with the `&` after it; the last one with the `&` or `?` before it.
    fn drop_at(&mut self, rule: Rule, params: &[Range<usize>], i: usize, pattern: Option<usize>) {
        let range = params[i].clone();
        let range = if i + 1 < params.len() {
            range.start..range.end + 1
        } else {
            range.start - 1..range.end
        };
        self.edit(rule, range, b"", pattern);
    }

    pub(super) fn sort_query(&mut self, place: Where) {
        let Some(query) = self.query(place) else { return };
        let mut params: Vec<&[u8]> =
            self.bytes[query.clone()].split(|&byte| byte == b'&').collect();
        params.sort_by_key(|param| name_of(param));
        let sorted = params.join(&b'&');
        if sorted != self.bytes[query.clone()] {
            self.edit(Rule::SortQuery, query, &sorted, None);
        }
    }

    pub(super) fn drop_empty_query(&mut self, place: Where) {
        if let Some(query) = self.query(place).filter(Range::is_empty) {
            self.edit(Rule::EmptyQuery, query.start - 1..query.end, b"", None);
        }
    }
}
