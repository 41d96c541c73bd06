//! The reference path: one rule at a time, one change at a time, on a text that is split again each
//! time.
//!
//! It is the slow counterpart of [`fast`](super::fast) and its oracle in the tests, and it records
//! each change: `explain` and reports of merges show its steps.

use super::names::Action;
use super::parts::{decode, fold, folded};
use super::rule::Rule;
use super::scope::Scope;
use super::set::RuleSet;
use super::site::MOST_CHANGES;
use super::text::{Step, Text, Where};

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
        if !text.is_web() {
            text.drop_fragment(&self.scope);
            return text.steps;
        }
        // Those of the host as it will be.
        let scope = self.settle_one_by_one(&mut text.clone());
        let has = |rule| scope.rules.has(rule);
        text.drop_fragment(&scope);
        if has(Rule::Userinfo) {
            text.drop_userinfo();
        }
        if has(Rule::Https) {
            text.make_https();
        }
        self.settle_one_by_one(&mut text);
        if has(Rule::PathDecode) {
            text.change_path(Rule::PathDecode, |path, out| decode(path, &scope.decoded, out));
        }
        while has(Rule::SessionId) && text.drop_path_session() {}
        if has(Rule::DuplicateSlash) {
            text.collapse_slashes();
        }
        if has(Rule::PathCase) {
            text.change_path(Rule::PathCase, fold);
        }
        while text.drop_prefix(&scope.prefixes)
            || text.drop_index_page(&scope.index_pages)
            || text.drop_extension(&scope.extensions)
            || (has(Rule::TrailingSlash) && text.drop_trailing_slash())
        {}
        for place in [Where::Query, Where::Route] {
            if has(Rule::ParamCase) {
                text.fold_names(place);
            }
            let has_pair = text.has_coldfusion_pair(place);
            let holding = text.holding(self, place);
            while text.drop_param(self, &scope, place, (has_pair, &holding)) {}
            while has(Rule::EmptyParam) && text.drop_empty_param(place) {}
            if has(Rule::SortQuery) {
                text.sort_query(place);
            }
            if has(Rule::EmptyQuery) {
                text.drop_empty_query(place);
            }
        }
        text.steps
    }

    /// Changes the host by the rules of the sites that match it, until they leave it as it is; returns the rules for the rest.
    fn settle_one_by_one(&self, text: &mut Text) -> Scope {
        for _ in 0..MOST_CHANGES {
            let before = text.bytes.len();
            let host = folded(&text.bytes[text.host()]).into_owned();
            let mut scope = self.sites.written.clone();
            let mut main = None;
            for site in self.sites.list.iter().filter(|site| site.matches(&host)) {
                site.apply_to(&mut scope);
                main = site.host.as_deref().or(main);
            }
            scope.settle();
            if scope.rules.has(Rule::HostDot) {
                text.drop_host_dot();
            }
            if scope.rules.has(Rule::Www) {
                text.drop_www();
            }
            let range = text.host();
            let main = main.filter(|&main| main != &*folded(&text.bytes[range.clone()]));
            if let Some(main) = main {
                text.edit(Rule::HostAlias, range, main, None);
            } else if text.bytes.len() == before {
                return scope;
            }
        }
        unreachable!("no rule set is built with sites that change a host for ever")
    }

    /// The action for the parameter `name` on `host`, and the pattern that decides: tests each
    /// pattern, from strong to weak.
    pub(super) fn action_one_by_one(
        &self,
        host: &[u8],
        holding: &[bool],
        name: &[u8],
    ) -> Option<(Action, usize)> {
        let mut place = self.patterns.len();
        for ((unit, by_strength), &holds) in self.units.iter().zip(holding).rev() {
            let holds = holds
                && (unit.hosts.is_empty() || unit.hosts.iter().any(|h| h.matches(host)))
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
