//! The fast path for queries.

use core::ops::Range;

use super::names::Action;
use super::parts::{fold, folded, name_of};
use super::query::{any_param, order};
use super::rule::{Rule, Rules};
use super::scope::Scope;
use super::session;
use super::set::RuleSet;

/// Buffers for a query.
#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    text: Vec<u8>,
    /// The query with names in lower case.
    folded: Vec<u8>,
    /// The parameters that are kept, as ranges in the query.
    params: Vec<(u32, u32)>,
    groups: Vec<u32>,
}

impl RuleSet {
    /// The query under the rules. `path` is the path after its rules; `host` is called for the host
    /// after its rules, if it matters.
    pub(super) fn query<'a, 'h>(
        &self,
        scope: &Scope,
        query: &'a [u8],
        path: &[u8],
        host: impl Fn() -> &'h [u8],
        buffers: &'a mut Query,
        fired: &mut Rules,
    ) -> Option<&'a [u8]> {
        let has_sort = scope.rules.has(Rule::SortQuery);
        // Without that rule a record whose parameters are left is not even looked at.
        if has_sort && self.starts.as_ref().is_some_and(|starts| starts.leave(query)) {
            return Some(query);
        }
        let Query { text, folded: names, params, groups } = buffers;
        let query = if scope.rules.has(Rule::ParamCase) && fold_names(query, names) {
            fired.add(Rule::ParamCase);
            &names[..]
        } else {
            query
        };
        if self.params.needs_host() {
            self.params.groups(&folded(host()), path, query, groups);
        } else {
            self.params.groups(b"", path, query, groups);
        }
        let has_sessions = scope.rules.has(Rule::SessionId);
        let has_empty = scope.rules.has(Rule::EmptyParam);
        let mut is_changed = false;
        if has_sessions || has_sort || has_empty || !groups.is_empty() {
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
                match self.drops(scope, &query[start..end], name, groups, &mut is_session) {
                    Some(rule) => {
                        fired.add(rule);
                        is_changed = true;
                    }
                    None => params.push((start as u32, end as u32)),
                }
                false
            });
            if has_empty && params.len() > 1 && params.iter().any(|(start, end)| start == end) {
                params.retain(|(start, end)| start != end);
                // Of empty ones one remains: a query without parameters is empty, and not absent.
                if params.is_empty() {
                    params.push((0, 0));
                }
                fired.add(Rule::EmptyParam);
                is_changed = true;
            }
            let name = |&(start, end): &(u32, u32)| name_of(&query[start as usize..end as usize]);
            if has_sort && !params.is_sorted_by(|a, b| order(name(a), name(b)).is_le()) {
                params.sort_by(|a, b| order(name(a), name(b)));
                fired.add(Rule::SortQuery);
                is_changed = true;
            }
        }
        if is_changed && params.is_empty() {
            return None;
        }
        let query = if is_changed { join(query, params, text) } else { query };
        if query.is_empty() && scope.rules.has(Rule::EmptyQuery) {
            fired.add(Rule::EmptyQuery);
            return None;
        }
        Some(query)
    }

    /// The rule that drops the parameter `param`. An empty text is not a parameter: `?` stays `?`.
    #[inline]
    fn drops(
        &self,
        scope: &Scope,
        param: &[u8],
        name: &[u8],
        groups: &[u32],
        is_session: impl FnOnce(&[u8], &[u8]) -> bool,
    ) -> Option<Rule> {
        if param.is_empty() {
            return None;
        }
        match self.params.action(groups, name) {
            Some(entry) => (entry.action == Action::Drop)
                .then(|| self.patterns[entry.order as usize].rule)
                .filter(|&rule| scope.rules.has(rule)),
            None => {
                let value = param.get(name.len() + 1..).unwrap_or_default();
                let has_sessions = scope.rules.has(Rule::SessionId);
                (has_sessions && is_session(name, value)).then_some(Rule::SessionId)
            }
        }
    }
}

/// `param-case`: `query` in `out`, with the names of its parameters in lower case; returns whether that changes it.
fn fold_names(query: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    let mut is_changed = false;
    any_param(query, |start, name_end, end| {
        if start > 0 {
            out.push(b'&');
        }
        is_changed |= fold(&query[start..name_end], out);
        out.extend_from_slice(&query[name_end..end]);
        false
    });
    is_changed
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
