//! The fast path: one pass that finds the changes, and one that writes them.
//!
//! Rules affect few records; the others are returned unchanged. The reference is
//! [`exact`](super::exact), rule by rule.

use super::fast_query::Query;
use super::parts::{has_needless_dot, https_port, plain_www_len, route_query, www_len};
use super::rule::{Rule, Rules};
use super::scope::Scope;
use super::set::RuleSet;
use super::site::{Buffers, Settled};
use crate::chunk::{Prefix, SHORT_PREFIX};
use crate::grammar::ByteClass;
use crate::index::{Record, low_bits};
use crate::simd::table::{NibbleTables, nibble_tables};
use crate::simd::{BLOCK, Isa, Kernels, Task};
use crate::uri::cuts::{Cuts, web_authority};

/// Reusable buffers of [`RuleSet::apply`].
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) text: Vec<u8>,
    path: [Vec<u8>; 4],
    pub(super) query: Query,
    /// For the query of a route.
    route: Query,
    site: Buffers,
}

pub(super) const HEAD: Rules =
    Rules::of(&[Rule::Userinfo, Rule::Https, Rule::HostDot, Rule::Www, Rule::HostAlias]);
pub(super) const PATH: Rules = Rules::of(&[
    Rule::PathDecode,
    Rule::SessionId,
    Rule::DuplicateSlash,
    Rule::PathCase,
    Rule::PathPrefix,
    Rule::IndexPage,
    Rule::Extension,
    Rule::TrailingSlash,
]);
pub(super) const FRAGMENT: Rules = Rules::of(&[Rule::Fragment, Rule::Anchor]);
const PARAMS: Rules = Rules::of(&[Rule::KeepParam, Rule::DropParam, Rule::AllowParam]);
pub(super) const QUERY: Rules = Rules::of(&[
    Rule::SessionId,
    Rule::ParamCase,
    Rule::EmptyParam,
    Rule::SortQuery,
    Rule::EmptyQuery,
])
.union(PARAMS);

/// Rules that may change a URI without `?`, `#`, `;` and `(`.
pub(super) const BUT_DELIMITERS: Rules = HEAD.union(PATH).without(Rules::of(&[Rule::SessionId]));

/// Rules that may change a URI without `?` if it has one of the others.
pub(super) const MORE_DELIMITERS: Rules = FRAGMENT.union(Rules::of(&[Rule::SessionId]));

/// The delimiters besides `?` that those look at.
pub(super) static MORE: NibbleTables = nibble_tables(ByteClass::of(b"#;("));

/// All rules that look at more than the names of parameters.
pub(super) const BUT_PATTERNS: Rules =
    HEAD.union(PATH).union(FRAGMENT).union(QUERY).without(PARAMS);

/// Scheme and authority under the rules.
struct Head<'a> {
    is_https: bool,
    userinfo: Option<&'a [u8]>,
    host: &'a [u8],
    port: Option<&'a [u8]>,
}

impl Head<'_> {
    /// Appends it to `out`; `scheme` is the one of the form, with `://`.
    fn write(&self, scheme: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(if self.is_https { b"https://" } else { scheme });
        if let Some(userinfo) = self.userinfo {
            out.extend_from_slice(userinfo);
            out.push(b'@');
        }
        out.extend_from_slice(self.host);
        if let Some(port) = self.port {
            out.push(b':');
            out.extend_from_slice(port);
        }
    }
}

/// What follows the query under the rules.
struct Tail<'a> {
    /// A prefix of it: all of it, nothing, or up to the `?` of a route.
    kept: &'a [u8],
    /// What follows that `?`, if it was changed.
    query: Option<&'a [u8]>,
}

/// Applies rules.
struct Apply<'r, 'a> {
    rules: &'r RuleSet,
    form: Prefix<'a>,
    scratch: &'a mut Scratch,
}

impl<'a> Task for Apply<'_, 'a> {
    type Output = (Prefix<'a>, Rules);
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        self.rules.apply_by(isa, self.form, self.scratch)
    }
}

impl RuleSet {
    /// Returns the form under the rules, and the rules that changed it. The bytes are those of
    /// `form`, or of `scratch`.
    ///
    /// If `form` is a URI in canonical form, the result is one at the same level, and applying the
    /// rules again changes nothing. For other bytes the result is unspecified.
    pub fn apply<'a>(&self, form: &'a [u8], scratch: &'a mut Scratch) -> (&'a [u8], Rules) {
        let (form, fired) = match web_authority(form) {
            None => self.drop_fragment(form.into()),
            Some(start) if self.has_only_patterns() => {
                self.apply_patterns(form.into(), start, scratch)
            }
            Some(start) => self.apply_all(form.into(), Cuts::find(form, start), scratch),
        };
        (form.bytes(), fired)
    }

    /// [`RuleSet::apply`] inside a [`Task`].
    #[inline(always)]
    pub fn apply_by<'a, I: Isa>(
        &self,
        isa: I,
        form: Prefix<'a>,
        scratch: &'a mut Scratch,
    ) -> (Prefix<'a>, Rules) {
        match web_authority(form.bytes()) {
            None => self.drop_fragment(form),
            Some(start) if self.has_only_patterns() => self.apply_patterns(form, start, scratch),
            Some(start) => self.apply_all(form, Cuts::find_by(isa, form, start), scratch),
        }
    }

    /// [`RuleSet::apply`] for a `form` after which more may be read.
    pub(crate) fn apply_with<'a>(
        &self,
        kernels: Kernels,
        form: Prefix<'a>,
        scratch: &'a mut Scratch,
    ) -> (&'a [u8], Rules) {
        let (form, fired) = kernels.run(Apply { rules: self, form, scratch });
        (form.bytes(), fired)
    }

    /// [`RuleSet::apply`] for the form of a web URI with these `cuts`.
    pub(super) fn apply_all<'a>(
        &self,
        form: Prefix<'a>,
        cuts: Cuts,
        scratch: &'a mut Scratch,
    ) -> (Prefix<'a>, Rules) {
        let mut fired = Rules::default();
        let bytes = form.bytes();
        let Cuts { path_start, path_end, query_end, .. } = cuts;
        let has_query = path_end < query_end;
        let Scratch { text, path: path_buffers, query: query_buffers, route, site } = scratch;

        let authority = &bytes[cuts.start..path_start];
        let settled = if self.sites.is_empty() || !self.sites.may_match(authority) {
            None
        } else {
            Some(self.sites.settle(&self.scope, cuts.host(bytes), site))
        };
        let scope = settled.as_ref().map_or(&self.scope, |settled| settled.scope);
        let rules = scope.rules;
        let is_head = rules.has_any(HEAD) || settled.as_ref().is_some_and(|s| !s.fired.is_empty());
        let head = if is_head { head(scope, bytes, cuts, settled, &mut fired) } else { None };
        let path = &bytes[path_start..path_end];
        // Rules leave an empty path and `/` as they are.
        let path = match rules.has_any(PATH) && path.len() > 1 {
            true => scope.path(path, cuts.lacks, path_buffers, &mut fired),
            false => path,
        };
        let is_same_path =
            path.len() == path_end - path_start && !fired.has_any(Rules::of(&[Rule::PathCase]));
        let host = || head.as_ref().map_or_else(|| cuts.host(bytes), |head| head.host);
        let query = has_query.then(|| &bytes[path_end + 1..query_end]);
        let query = match query {
            Some(query) if rules.has_any(QUERY) => {
                self.query(scope, query, path, host, query_buffers, &mut fired)
            }
            query => query,
        };
        let is_same_query = query.map(<[u8]>::len) == has_query.then(|| query_end - path_end - 1)
            && !fired.has_any(Rules::of(&[Rule::ParamCase, Rule::SortQuery]));
        let tail = self.tail(scope, &bytes[query_end..], host, route, &mut fired);
        if fired.is_empty() {
            return (form, fired);
        }
        let is_same_rest = is_same_path && tail.query.is_none();
        // The rest may be a prefix of that of the form.
        let rest_end = match (is_same_rest, query) {
            (true, _) if is_same_query => Some(query_end + tail.kept.len()),
            (true, None) if tail.kept.is_empty() => Some(path_end),
            _ => None,
        };
        text.clear();
        match (head, rest_end) {
            // Then nothing is written.
            (None, Some(end)) => return (Prefix::new(form.slack(), end), fired),
            (None, None) => text.extend_from_slice(&bytes[..path_start]),
            (Some(head), _) => head.write(&bytes[..cuts.start], text),
        }
        if let Some(end) = rest_end {
            Prefix::new(&form.slack()[path_start..], end - path_start).append_to(text);
            return (with_slack(text), fired);
        }
        for (before, query) in [(path, query), (tail.kept, tail.query)] {
            text.extend_from_slice(before);
            if let Some(query) = query {
                text.push(b'?');
                text.extend_from_slice(query);
            }
        }
        (with_slack(text), fired)
    }

    /// Whether the rules may change the canonical form of `record`, which is not empty: a quick test for the bytes without
    /// which they cannot. All of them are delimiters, of which a canonical form holds no more than its record, or
    /// begin parameters (`starts`).
    #[inline(always)]
    pub fn may_touch<I: Isa>(&self, isa: I, record: Record<'_>) -> bool {
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
        let starts = self.starts.as_ref().filter(|_| !self.rules.has(Rule::SortQuery));
        more != 0 || questions != 0 && starts.is_none_or(|starts| starts.may_change(isa, record))
    }

    /// The rules for URIs other than web URIs.
    fn drop_fragment<'a>(&self, form: Prefix<'a>) -> (Prefix<'a>, Rules) {
        let mut fired = Rules::default();
        let has_rules = self.scope.rules.has_any(FRAGMENT);
        let hash = if has_rules { memchr::memchr(b'#', form.bytes()) } else { None };
        let Some(hash) = hash else { return (form, fired) };
        if let Some(rule) = self.scope.drops_fragment(&form.bytes()[hash + 1..]) {
            fired.add(rule);
            return (Prefix::new(form.slack(), hash), fired);
        }
        (form, fired)
    }

    /// What follows the query: `whole`, which is empty or begins with `#`, under the rules.
    fn tail<'a, 'h>(
        &self,
        scope: &Scope,
        whole: &'a [u8],
        host: impl Fn() -> &'h [u8],
        buffers: &'a mut Query,
        fired: &mut Rules,
    ) -> Tail<'a> {
        let Some(fragment) = whole.get(1..) else { return Tail { kept: whole, query: None } };
        if let Some(rule) = scope.drops_fragment(fragment) {
            fired.add(rule);
            return Tail { kept: b"", query: None };
        }
        let parts = if scope.rules.has_any(QUERY) { route_query(fragment) } else { None };
        let Some((route, query)) = parts else { return Tail { kept: whole, query: None } };
        let mut changed = Rules::default();
        let query = self.query(scope, query, route, host, buffers, &mut changed);
        if changed.is_empty() {
            return Tail { kept: whole, query: None };
        }
        *fired = fired.union(changed);
        Tail { kept: &whole[..1 + route.len()], query }
    }
}

/// `text`, with bytes after it that may be read: the form is looked at again, faster so.
pub(super) fn with_slack(text: &mut Vec<u8>) -> Prefix<'_> {
    let len = text.len();
    text.extend_from_slice(&[0; SHORT_PREFIX]);
    Prefix::new(text, len)
}

/// Scheme and authority of `form`, if a rule changes them. `settled` is the host under the rules of sites.
fn head<'a>(
    scope: &Scope,
    form: &'a [u8],
    cuts: Cuts,
    settled: Option<Settled<'a>>,
    fired: &mut Rules,
) -> Option<Head<'a>> {
    let Cuts { start, host_start, host_end, path_start, .. } = cuts;
    let mut head = Head {
        is_https: false,
        userinfo: (start < host_start).then(|| &form[start..host_start - 1]),
        host: cuts.host(form),
        port: (host_end < path_start).then(|| &form[host_end + 1..path_start]),
    };
    let mut changed = Rules::default();
    if scope.rules.has(Rule::Userinfo) && head.userinfo.is_some() {
        head.userinfo = None;
        changed.add(Rule::Userinfo);
    }
    if scope.rules.has(Rule::Https) && start == "http://".len() {
        let port = head.port.map(https_port);
        if port != Some(None) {
            head.is_https = true;
            head.port = port.flatten();
            changed.add(Rule::Https);
        }
    }
    if let Some(settled) = settled {
        head.host = settled.host;
        changed = changed.union(settled.fired);
    } else {
        if scope.rules.has(Rule::HostDot) && has_needless_dot(head.host) {
            head.host = &head.host[..head.host.len() - 1];
            changed.add(Rule::HostDot);
        }
        if scope.rules.has(Rule::Www) {
            let len = match cuts.lacks.odd_host {
                true => plain_www_len(head.host),
                false => www_len(head.host),
            };
            if len > 0 {
                head.host = &head.host[len..];
                changed.add(Rule::Www);
            }
        }
    }
    *fired = fired.union(changed);
    (!changed.is_empty()).then_some(head)
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
