//! The path for rule sets that consist of parameter patterns: rules files without other rules.
//!
//! Whether a pattern might match a parameter is tested before the host is looked up, as most
//! parameters of most records have no pattern on any host.

use super::fast::{BUT_PATTERNS, Scratch, with_slack};
use super::parts::{host_of, route_query};
use super::query::any_param;
use super::rule::Rules;
use super::set::RuleSet;
use crate::chunk::Prefix;
use crate::uri::cuts::Cuts;

impl RuleSet {
    /// Whether there are no other rules than parameter patterns, for all hosts alike.
    #[inline]
    pub(super) fn has_only_patterns(&self) -> bool {
        !self.rules.has_any(BUT_PATTERNS) && self.sites.is_empty()
    }

    /// [`RuleSet::apply`] for the form of a web URI whose authority begins at `start`, if only
    /// parameter patterns can change it.
    pub(super) fn apply_patterns<'a>(
        &self,
        whole: Prefix<'a>,
        start: usize,
        scratch: &'a mut Scratch,
    ) -> (Prefix<'a>, Rules) {
        let unchanged = (whole, Rules::default());
        let form = whole.bytes();
        let hash = memchr::memchr(b'#', &form[start..]).map(|hash| start + hash);
        if hash.is_some_and(|hash| route_query(&form[hash + 1..]).is_some()) {
            return self.apply_all(whole, Cuts::find(form, start), scratch);
        }
        let path_end = match memchr::memchr2(b'?', b'#', &form[start..]) {
            Some(at) if form[start + at] == b'?' => start + at,
            _ => return unchanged,
        };
        // The cheaper test first.
        let path_start = || {
            let slash = memchr::memchr(b'/', &form[start..path_end]);
            slash.map_or(path_end, |slash| start + slash)
        };
        let authority = || &form[start..path_start()];
        if !self.params.is_global() && !self.params.may_hold(authority()) {
            return unchanged;
        }
        let query_start = path_end + 1;
        let query_end = hash.unwrap_or(form.len());
        let query = &form[query_start..query_end];
        if !any_param(query, |start, name_end, _| self.params.may_match(&query[start..name_end])) {
            return unchanged;
        }

        let host = || host_of(authority());
        let mut fired = Rules::default();
        let Scratch { text, query: buffers, .. } = scratch;
        let path = &form[path_start()..path_end];
        let left = self.query(&self.scope, query, path, host, buffers, &mut fired);
        if fired.is_empty() {
            return unchanged;
        }
        if left.is_none() && query_end == form.len() {
            return (Prefix::new(whole.slack(), path_end), fired);
        }
        text.clear();
        text.extend_from_slice(&form[..path_end]);
        if let Some(left) = left {
            text.push(b'?');
            text.extend_from_slice(left);
        }
        text.extend_from_slice(&form[query_end..]);
        (with_slack(text), fired)
    }
}
