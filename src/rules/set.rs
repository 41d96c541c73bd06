//! Rule sets: rules, patterns and packs, combined and compiled.

use core::fmt;
use std::sync::Arc;

use super::hosts::{HostPattern, PUBLIC_SUFFIX_VERSION};
use super::names::Action;
use super::pack::Pack;
use super::param::{Named, Pattern, Place, Unit, name_pattern};
use super::params::{Override, Params};
use super::parts::{INDEX_PAGES, is_dot_segment, www_len};
use super::preset::Preset;
use super::rule::{Argument, Rule, Rules};
use super::starts::Starts;
use crate::grammar::class::PCHAR;

/// Compiled rules beyond the RFC: a function from canonical URIs to canonical URIs.
///
/// ```
/// use uriscan::rules::{RuleSet, Scratch};
/// let mut builder = RuleSet::builder();
/// builder.rule("drop-param=utm_*").unwrap();
/// builder.rule("www").unwrap();
/// let rules = builder.build().unwrap();
/// let mut scratch = Scratch::default();
/// let (form, fired) = rules.apply(b"http://www.example.com/?utm_source=x&id=1", &mut scratch);
/// assert_eq!(form, b"http://example.com/?id=1");
/// assert_eq!(fired.iter().map(|rule| rule.name()).collect::<Vec<_>>(), ["www", "drop-param"]);
/// ```
#[derive(Clone, Debug)]
pub struct RuleSet {
    pub(super) rules: Rules,
    pub(super) index_pages: Vec<Vec<u8>>,
    pub(super) patterns: Vec<Pattern>,
    /// The source of [`Params`]; [`Pattern`]s in order, by unit.
    pub(super) units: Vec<(Unit, Vec<(Action, Named)>)>,
    pub(super) params: Params,
    pub(super) starts: Option<Starts>,
    overrides: Vec<Override>,
}

/// An unknown rule or preset, or one with a wrong argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError(String);

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RuleError {}

/// Builds a [`RuleSet`]. Later patterns override earlier ones; those of [`Builder::rule`] override
/// all.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    rules: Rules,
    index_pages: Vec<Vec<u8>>,
    units: Vec<Unit>,
    own: Vec<Named>,
}

impl Builder {
    /// Adds the rules and packs of `preset`.
    ///
    /// # Errors
    /// If it names an unknown rule or pack, which no preset of [`Preset::all`] does.
    pub fn preset(&mut self, preset: &Preset) -> Result<(), RuleError> {
        for rule in &preset.rules {
            self.rule(rule)?;
        }
        for name in &preset.packs {
            let unknown = || RuleError(format!("unknown pack `{name}`"));
            self.pack(&Pack::built_in(name).ok_or_else(unknown)?);
        }
        Ok(())
    }

    /// Adds the rules of `pack`.
    pub fn pack(&mut self, pack: &Pack) {
        self.units.extend(pack.units.iter().cloned());
    }

    /// Adds a rule, written `NAME` or `NAME=ARG`.
    ///
    /// Patterns for parameters form one table, as in a pack: first those of `keep-param`, then
    /// `drop-param`, then `allow-param`.
    ///
    /// # Errors
    /// If there is no such rule, or its argument is missing, not allowed or invalid.
    pub fn rule(&mut self, typed: &str) -> Result<(), RuleError> {
        let (name, argument) = match typed.split_once('=') {
            Some((name, argument)) => (name, Some(argument)),
            None => (typed, None),
        };
        let rule = Rule::from_name(name).ok_or_else(|| unknown_rule(name))?;
        match (rule.argument(), argument) {
            (Argument::None, Some(_)) => {
                return Err(RuleError(format!("`{name}` takes no argument")));
            }
            (Argument::None, None) => self.rules.add(rule),
            (Argument::List, list) => {
                let pages = index_pages(list.unwrap_or(INDEX_PAGES)).map_err(RuleError)?;
                self.index_pages.extend(pages);
                self.rules.add(rule);
            }
            (Argument::Glob, None) => {
                return Err(RuleError(format!("`{name}` needs a pattern: {name}=GLOB")));
            }
            (Argument::Glob, Some(text)) => {
                let glob = name_pattern(text).map_err(RuleError)?;
                let place = Place { source: Arc::from("--rule"), line: 0, column: 0 };
                self.own.push(Named { list: rule, text: Arc::from(text), glob, place });
            }
        }
        Ok(())
    }

    /// Removes `rule` with all its arguments; of parameter rules only those of [`Builder::rule`],
    /// since packs define their own exceptions. Returns whether anything was removed.
    pub fn without(&mut self, rule: Rule) -> bool {
        let was_on = self.rules.has(rule) || self.own.iter().any(|named| named.list == rule);
        self.rules = self.rules.without(rule);
        if rule == Rule::IndexPage {
            self.index_pages.clear();
        }
        self.own.retain(|named| named.list != rule);
        was_on
    }

    /// Compiles the rules.
    ///
    /// # Errors
    /// If two parameter rules have the same pattern.
    pub fn build(mut self) -> Result<RuleSet, RuleError> {
        if !self.own.is_empty() {
            let patterns = std::mem::take(&mut self.own);
            let own = Unit { hosts: Vec::new(), except: Vec::new(), patterns, why: None };
            if let Some((again, before)) = own.repeated() {
                let (a, b) = (before.list, again.list);
                return Err(RuleError(format!("`{}` is in {a} and in {b}", again.text)));
            }
            self.units.push(own);
        }
        self.index_pages.sort_unstable();
        self.index_pages.dedup();
        let has_www = self.rules.has(Rule::Www);
        for unit in &mut self.units {
            for host in unit.hosts.iter_mut().chain(&mut unit.except) {
                // Hosts are then looked up without `www.`.
                if let (true, HostPattern::Exact(name)) = (has_www, host) {
                    name.drain(..www_len(name));
                }
            }
        }
        let units: Vec<(Unit, Vec<(Action, Named)>)> = self
            .units
            .into_iter()
            .map(|unit| {
                let by_strength = unit.by_strength();
                (unit, by_strength)
            })
            .collect();
        let (params, overrides) = Params::new(&units);
        let patterns = patterns(&units);
        let mut rules = self.rules;
        patterns.iter().for_each(|pattern| rules.add(pattern.rule));
        let globs = units.iter().flat_map(|(_, patterns)| patterns).map(|(_, named)| &named.glob);
        let starts = Starts::new(rules, globs);
        let index_pages = self.index_pages;
        Ok(RuleSet { rules, index_pages, patterns, units, params, starts, overrides })
    }
}

impl RuleSet {
    /// Creates an empty builder.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The enabled rules, including those for parameters if there are patterns.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Whether the rules change nothing.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The pages that `index-page` drops, sorted.
    pub fn index_pages(&self) -> &[Vec<u8>] {
        &self.index_pages
    }

    /// All patterns for parameters; each is stronger than those before it.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Patterns that contradict an earlier one for the same names and hosts.
    pub fn overrides(&self) -> &[Override] {
        &self.overrides
    }

    /// Appends a description of the rules, line by line: rule sets with the same description do the
    /// same.
    pub(super) fn describe(&self, out: &mut String) {
        use fmt::Write;
        let has_site =
            |hosts: &[HostPattern]| hosts.iter().any(|h| matches!(h, HostPattern::Site(_)));
        let sites =
            self.units.iter().any(|(unit, _)| has_site(&unit.hosts) || has_site(&unit.except));
        if sites || self.rules.has(Rule::Www) {
            let _ = writeln!(out, "public-suffix {PUBLIC_SUFFIX_VERSION}");
        }
        for rule in self.rules.iter() {
            let _ = write!(out, "rule {} {}", rule.name(), rule.version());
            if rule == Rule::IndexPage {
                for page in &self.index_pages {
                    let _ = write!(out, " {}", String::from_utf8_lossy(page));
                }
            }
            out.push('\n');
        }
        for pattern in &self.patterns {
            let action = match pattern.action {
                Action::Drop => "drop",
                Action::Keep => "keep",
            };
            let _ = write!(out, "{action} {}", pattern.text);
            for host in &*pattern.hosts {
                let _ = write!(out, " on {host}");
            }
            for host in &*pattern.except {
                let _ = write!(out, " not on {host}");
            }
            out.push('\n');
        }
    }
}

fn patterns(units: &[(Unit, Vec<(Action, Named)>)]) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    for (unit, by_strength) in units {
        let shown = |hosts: &[HostPattern]| -> Arc<[String]> {
            hosts.iter().map(ToString::to_string).collect()
        };
        let (hosts, except) = (shown(&unit.hosts), shown(&unit.except));
        patterns.extend(by_strength.iter().map(|(action, named)| Pattern {
            rule: named.list,
            action: *action,
            text: Arc::clone(&named.text),
            hosts: Arc::clone(&hosts),
            except: Arc::clone(&except),
            why: unit.why.clone(),
            place: named.place.clone(),
        }));
    }
    patterns
}

fn unknown_rule(name: &str) -> RuleError {
    let names: Vec<&str> = Rule::ALL.into_iter().map(Rule::name).collect();
    RuleError(format!("unknown rule `{name}`; the rules are {}", names.join(", ")))
}

/// Parses a list of page names separated by commas.
fn index_pages(list: &str) -> Result<Vec<Vec<u8>>, String> {
    let page = |text: &str| {
        let name = text.trim().as_bytes();
        let is_segment = name.iter().all(|&byte| PCHAR.has(byte) || byte == b'%');
        if name.is_empty() || !is_segment || is_dot_segment(name) {
            return Err(format!("`{text}` is not a page name"));
        }
        Ok(name.to_vec())
    };
    list.split(',').map(page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_rules_are_rejected_with_advice() {
        for (typed, why) in [
            ("wwww", "unknown rule `wwww`; the rules are fragment, "),
            ("www=1", "takes no argument"),
            ("drop-param", "drop-param=GLOB"),
            ("drop-param=a&b", "`&` ends"),
            ("index-page=a/b", "not a page name"),
            ("index-page=", "not a page name"),
            ("index-page=..", "not a page name"),
        ] {
            let error = RuleSet::builder().rule(typed).unwrap_err().to_string();
            assert!(error.contains(why), "{typed}: {error}");
        }
        let mut builder = RuleSet::builder();
        builder.rule("drop-param=a").unwrap();
        builder.rule("allow-param=a").unwrap();
        let error = builder.build().unwrap_err().to_string();
        assert_eq!(error, "`a` is in drop-param and in allow-param");
    }

    #[test]
    fn a_rule_can_be_removed_from_a_preset() {
        let mut builder = RuleSet::builder();
        builder.preset(&Preset::from_name("log").unwrap()).unwrap();
        assert!(builder.without(Rule::IndexPage) && builder.without(Rule::Https));
        assert!(!builder.without(Rule::Https) && !builder.without(Rule::DropParam));
        let rules = builder.build().unwrap();
        assert!(!rules.rules().has(Rule::IndexPage) && !rules.rules().has(Rule::Https));
        assert!(rules.index_pages().is_empty() && rules.rules().has(Rule::DropParam));
    }

    #[test]
    fn overrides_are_named() {
        let text = "[[param]]\ndrop=['a','b']\n[[param]]\nallow=['a']\n[[param]]\nhosts=['h']\nallow=['b']\n\
            [[param]]\ndrop=['b']\n";
        let pack = Pack::parse(text, "p", &mut |_, _| Err(String::new())).unwrap();
        let mut builder = RuleSet::builder();
        builder.pack(&pack);
        builder.rule("drop-param=a").unwrap();
        let rules = builder.build().unwrap();
        let named: Vec<String> = rules
            .overrides()
            .iter()
            .map(|found| {
                let [by, of] =
                    [found.by, found.of].map(|at| rules.patterns()[at].place.to_string());
                format!("{by} over {of}")
            })
            .collect();
        assert_eq!(named, ["p:4:8 over p:2:7", "--rule over p:4:8"]);
    }
}
