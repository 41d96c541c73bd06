//! The fast path: one pass that finds the changes, and one that writes them.
//!
//! Rules affect few records; the others are returned unchanged. The reference is
//! [`exact`](super::exact), rule by rule.

use core::ops::Range;

use super::names::Action;
use super::parts::{
    folded, has_dot_segment, has_needless_dot, host_in, https_port, name_of, web_authority, www_len,
};
use super::query::any_param;
use super::rule::{Rule, Rules};
use super::session;
use super::set::RuleSet;
use crate::grammar::ByteClass;
use crate::index::{Record, low_bits};
use crate::simd::table::{NibbleTables, nibble_tables};
use crate::simd::{BLOCK, Isa};

/// Reusable buffers of [`RuleSet::apply`].
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) text: Vec<u8>,
    path: [Vec<u8>; 2],
    pub(super) query: Query,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    text: Vec<u8>,
    /// The parameters that are kept, as ranges in the query.
    params: Vec<(u32, u32)>,
    groups: Vec<u32>,
}

const HEAD: Rules = Rules::of(&[Rule::Userinfo, Rule::Https, Rule::HostDot, Rule::Www]);
const PATH: Rules =
    Rules::of(&[Rule::SessionId, Rule::DuplicateSlash, Rule::IndexPage, Rule::TrailingSlash]);
const PARAMS: Rules = Rules::of(&[Rule::KeepParam, Rule::DropParam, Rule::AllowParam]);
const QUERY: Rules = Rules::of(&[Rule::SessionId, Rule::SortQuery, Rule::EmptyQuery]).union(PARAMS);

/// Rules that may change a URI without `?`, `#`, `;` and `(`.
const BUT_DELIMITERS: Rules =
    HEAD.union(Rules::of(&[Rule::DuplicateSlash, Rule::IndexPage, Rule::TrailingSlash]));

/// Rules that may change a URI without `?` if it has one of the others.
const MORE_DELIMITERS: Rules = Rules::of(&[Rule::Fragment, Rule::SessionId]);

/// The delimiters besides `?` that those look at.
static MORE: NibbleTables = nibble_tables(ByteClass::of(b"#;("));

/// All rules that look at more than the names of parameters.
pub(super) const BUT_PATTERNS: Rules =
    HEAD.union(PATH).union(Rules::of(&[Rule::Fragment, Rule::SortQuery, Rule::EmptyQuery]));

/// Scheme and authority under the rules.
struct Head<'a> {
    is_https: bool,
    userinfo: Option<&'a [u8]>,
    host: &'a [u8],
    port: Option<&'a [u8]>,
}

impl RuleSet {
    /// Returns the form under the rules, and the rules that changed it. The bytes are those of
    /// `form`, or of `scratch`.
    ///
    /// If `form` is a URI in canonical form, the result is one at the same rung, and applying the
    /// rules again changes nothing. For other bytes the result is unspecified.
    pub fn apply<'a>(&self, form: &'a [u8], scratch: &'a mut Scratch) -> (&'a [u8], Rules) {
        let rules = self.rules;
        let mut fired = Rules::default();
        let Some(start) = web_authority(form) else {
            return self.drop_fragment(form);
        };
        if self.has_only_patterns() {
            return self.apply_patterns(form, start, scratch);
        }
        let path_start =
            memchr::memchr3(b'/', b'?', b'#', &form[start..]).map_or(form.len(), |at| start + at);
        let path_end = memchr::memchr2(b'?', b'#', &form[path_start..])
            .map_or(form.len(), |at| path_start + at);
        let has_query = form.get(path_end) == Some(&b'?');
        let query_end = if has_query {
            memchr::memchr(b'#', &form[path_end..]).map_or(form.len(), |at| path_end + at)
        } else {
            path_end
        };
        let Scratch { text, path: path_buffers, query: query_buffers } = scratch;

        let authority = &form[start..path_start];
        let head = if rules.has_any(HEAD) { self.head(start, authority, &mut fired) } else { None };
        let path = &form[path_start..path_end];
        let path =
            if rules.has_any(PATH) { self.path(path, path_buffers, &mut fired) } else { path };
        let is_same_path = path.len() == path_end - path_start;
        let query = has_query.then(|| &form[path_end + 1..query_end]);
        let query = match query {
            Some(query) if rules.has_any(QUERY) => {
                let host = || match &head {
                    Some(head) => head.host,
                    None => {
                        let (from, to) = host_in(authority);
                        &authority[from..to]
                    }
                };
                self.query(query, path, host, query_buffers, &mut fired)
            }
            query => query,
        };
        let mut end = form.len();
        if rules.has(Rule::Fragment) && query_end < form.len() {
            fired.add(Rule::Fragment);
            end = query_end;
        }
        if fired.is_empty() {
            return (form, fired);
        }
        if head.is_none() && is_same_path {
            // The rest may be a prefix of the form: then nothing is written.
            let is_same_query = query.map(<[u8]>::len)
                == has_query.then(|| query_end - path_end - 1)
                && !fired.has(Rule::SortQuery);
            if is_same_query {
                return (&form[..end], fired);
            }
            if query.is_none() && end == query_end {
                return (&form[..path_end], fired);
            }
        }
        text.clear();
        match head {
            None => text.extend_from_slice(&form[..path_start]),
            Some(head) => {
                let scheme: &[u8] = if head.is_https { b"https://" } else { &form[..start] };
                text.extend_from_slice(scheme);
                if let Some(userinfo) = head.userinfo {
                    text.extend_from_slice(userinfo);
                    text.push(b'@');
                }
                text.extend_from_slice(head.host);
                if let Some(port) = head.port {
                    text.push(b':');
                    text.extend_from_slice(port);
                }
            }
        }
        text.extend_from_slice(path);
        if let Some(query) = query {
            text.push(b'?');
            text.extend_from_slice(query);
        }
        text.extend_from_slice(&form[query_end..end]);
        (text, fired)
    }

    /// Whether the rules may change the canonical form of `record`, which is not empty: a quick test for the bytes without
    /// which they cannot. All of them are delimiters, of which a canonical form holds no more than its record, or
    /// [begin parameters](super::starts).
    #[inline(always)]
    pub(crate) fn may_touch<I: Isa>(&self, isa: I, record: Record<'_>) -> bool {
        if self.rules.has_any(BUT_DELIMITERS) {
            return true;
        }
        let has_more = self.rules.has_any(MORE_DELIMITERS);
        // Reads two blocks unconditionally, as few records have more.
        let (mut questions, mut more) = delimiters(isa, record, 0, has_more);
        for at in (BLOCK..record.len().max(2 * BLOCK)).step_by(BLOCK) {
            let next = delimiters(isa, record, at, has_more);
            (questions, more) = (questions | next.0, more | next.1);
        }
        let starts = self.starts.as_ref();
        more != 0 || questions != 0 && starts.is_none_or(|starts| starts.may_change(isa, record))
    }

    /// The only rule for URIs other than web URIs.
    fn drop_fragment<'a>(&self, form: &'a [u8]) -> (&'a [u8], Rules) {
        if self.rules.has(Rule::Fragment)
            && let Some(hash) = memchr::memchr(b'#', form)
        {
            return (&form[..hash], Rules::of(&[Rule::Fragment]));
        }
        (form, Rules::default())
    }

    /// Scheme and authority, if a rule changes them.
    fn head<'a>(&self, start: usize, authority: &'a [u8], fired: &mut Rules) -> Option<Head<'a>> {
        let (from, to) = host_in(authority);
        let mut host = &authority[from..to];
        let mut head = Head {
            is_https: false,
            userinfo: from.checked_sub(1).map(|end| &authority[..end]),
            host,
            port: (to < authority.len()).then(|| &authority[to + 1..]),
        };
        let mut changed = Rules::default();
        if self.rules.has(Rule::Userinfo) && head.userinfo.is_some() {
            head.userinfo = None;
            changed.add(Rule::Userinfo);
        }
        if self.rules.has(Rule::Https) && start == "http://".len() {
            let port = head.port.map(https_port);
            if port != Some(None) {
                head.is_https = true;
                head.port = port.flatten();
                changed.add(Rule::Https);
            }
        }
        if self.rules.has(Rule::HostDot) && has_needless_dot(host) {
            host = &host[..host.len() - 1];
            changed.add(Rule::HostDot);
        }
        if self.rules.has(Rule::Www) {
            let len = www_len(host);
            if len > 0 {
                host = &host[len..];
                changed.add(Rule::Www);
            }
        }
        head.host = host;
        *fired = fired.union(changed);
        (!changed.is_empty()).then_some(head)
    }

    /// The path under the rules.
    fn path<'a>(
        &self,
        whole: &'a [u8],
        buffers: &'a mut [Vec<u8>; 2],
        fired: &mut Rules,
    ) -> &'a [u8] {
        let mut path = whole;
        let mut changed = Rules::default();
        let [stripped, collapsed] = buffers;
        if self.rules.has(Rule::SessionId) && memchr::memchr2(b';', b'(', path).is_some() {
            stripped.clear();
            if session::strip_path(path, stripped) {
                path = stripped;
                changed.add(Rule::SessionId);
            }
        }
        if self.rules.has(Rule::DuplicateSlash) && path.windows(2).any(|pair| pair == b"//") {
            collapsed.clear();
            collapsed.extend_from_slice(path);
            collapsed.dedup_by(|a, b| (*a, *b) == (b'/', b'/'));
            path = collapsed;
            changed.add(Rule::DuplicateSlash);
        }
        loop {
            let slash = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
            let last = &path[slash..];
            if last.is_empty() {
                let is_single = path.len() >= 2 && path[path.len() - 2] != b'/';
                if !(is_single && self.rules.has(Rule::TrailingSlash)) {
                    break;
                }
                path = &path[..path.len() - 1];
                changed.add(Rule::TrailingSlash);
            } else {
                if !self.index_pages.iter().any(|page| page == last) {
                    break;
                }
                path = &path[..slash];
                changed.add(Rule::IndexPage);
            }
        }
        if changed.is_empty() || has_dot_segment(whole) {
            return whole;
        }
        *fired = fired.union(changed);
        path
    }

    /// The query under the rules. `path` is the path after its rules; `host` is called for the host
    /// after its rules, if it matters.
    pub(super) fn query<'a, 'h>(
        &self,
        query: &'a [u8],
        path: &[u8],
        host: impl Fn() -> &'h [u8],
        buffers: &'a mut Query,
        fired: &mut Rules,
    ) -> Option<&'a [u8]> {
        let Query { text, params, groups } = buffers;
        if self.params.needs_host() {
            self.params.groups(&folded(host()), groups);
        } else {
            self.params.groups(b"", groups);
        }
        let has_sessions = self.rules.has(Rule::SessionId);
        let has_sort = self.rules.has(Rule::SortQuery);
        let mut is_changed = false;
        if has_sessions || has_sort || !groups.is_empty() {
            params.clear();
            // Searched only if it matters, and once: a query may hold any number of candidates.
            let mut has_pair = None;
            let mut is_session = |name: &[u8], value: &[u8]| {
                let page = &path[memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1)..];
                session::is_param(name, value, page, || {
                    *has_pair.get_or_insert_with(|| session::has_coldfusion_pair(query))
                })
            };
            any_param(query, |start, name_end, end| {
                let name = &query[start..name_end];
                match self.drops(&query[start..end], name, groups, has_sessions, &mut is_session) {
                    Some(rule) => {
                        fired.add(rule);
                        is_changed = true;
                    }
                    None => params.push((start as u32, end as u32)),
                }
                false
            });
            let name = |&(start, end): &(u32, u32)| name_of(&query[start as usize..end as usize]);
            if has_sort && !params.is_sorted_by_key(name) {
                params.sort_by_key(name);
                fired.add(Rule::SortQuery);
                is_changed = true;
            }
        }
        if is_changed && params.is_empty() {
            return None;
        }
        let query = if is_changed { join(query, params, text) } else { query };
        if query.is_empty() && self.rules.has(Rule::EmptyQuery) {
            fired.add(Rule::EmptyQuery);
            return None;
        }
        Some(query)
    }

    /// The rule that drops the parameter `param`. An empty text is not a parameter: `?` stays `?`.
    #[inline]
    fn drops(
        &self,
        param: &[u8],
        name: &[u8],
        groups: &[u32],
        has_sessions: bool,
        is_session: impl FnOnce(&[u8], &[u8]) -> bool,
    ) -> Option<Rule> {
        if param.is_empty() {
            return None;
        }
        match self.params.action(groups, name) {
            Some(entry) => {
                (entry.action == Action::Drop).then(|| self.patterns[entry.order as usize].rule)
            }
            None => {
                let value = param.get(name.len() + 1..).unwrap_or_default();
                (has_sessions && is_session(name, value)).then_some(Rule::SessionId)
            }
        }
    }
}

/// The `?` in the block at byte `at` of `record`, and with `has_more` the `#`, `;` and `(`.
///
/// Not a closure, which would not be compiled for the backend.
#[inline(always)]
fn delimiters<I: Isa>(isa: I, record: Record<'_>, at: usize, has_more: bool) -> (u64, u64) {
    let inside = low_bits(record.len().saturating_sub(at));
    let more = if has_more { isa.members(record.block(at), &MORE) } else { 0 };
    (record.window(isa, at).question & inside, more & inside)
}

/// The parts `params` of `query`, with `&` between them, in `out`.
fn join<'a>(query: &[u8], params: &[(u32, u32)], out: &'a mut Vec<u8>) -> &'a [u8] {
    out.clear();
    for (i, &(start, end)) in params.iter().enumerate() {
        if i > 0 {
            out.push(b'&');
        }
        out.extend_from_slice(&query[Range { start: start as usize, end: end as usize }]);
    }
    out
}
