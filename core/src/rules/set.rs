//! Rule sets: rules, patterns and rules files, combined and compiled.

use core::fmt;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use super::hosts::{HostPattern, Hosts, PUBLIC_SUFFIX_VERSION};
use super::names::Action;
use super::param::{Named, Pattern, Place, Unit, name_pattern};
use super::params::{Override, Params};
use super::preset::Preset;
use super::rule::{Argument, Rule, Rules, typed_rule};
use super::rules_file::{RulesFile, extend};
use super::scope::Scope;
use super::site::{Site, SiteRules, Sites, add_www};
use super::starts::Starts;

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
    /// Those of all hosts and of all sites.
    pub(super) rules: Rules,
    /// Those of hosts without a site.
    pub(super) scope: Scope,
    pub(super) sites: Sites,
    /// The sites as they were written, for [`RuleSet::to_toml`].
    pub(super) written: Vec<Site>,
    /// The rules for parameters as they were written.
    pub(super) written_units: Vec<Unit>,
    pub(super) patterns: Vec<Pattern>,
    /// The source of [`Params`]; [`Pattern`]s in order, by unit.
    pub(super) units: Vec<(Unit, Vec<(Action, Named)>)>,
    pub(super) params: Params,
    pub(super) starts: Option<Starts>,
    overrides: Vec<Override>,
    /// The tables for parameters of all hosts, and those of single ones, by number, for [`RuleSet::only`].
    pub(super) tables: OnceLock<(Vec<usize>, Hosts<u32>)>,
    /// Smaller rule sets, made by [`RuleSet::only`]; `None` for one that cannot be built.
    pub(super) made: Arc<Mutex<Made<Parts>>>,
}

/// Smaller rule sets, and the bytes that they take, about.
pub(super) type Made<K> = (HashMap<K, Option<Arc<RuleSet>>>, usize);

/// What a smaller rule set has: some rules, and some of the sites and of the tables for parameters, by number.
pub(super) type Parts = (Rules, Vec<usize>, Vec<usize>);

/// An unknown rule or preset, or one with a wrong argument; or a site of a rule file that contradicts another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    place: Option<Place>,
    message: String,
}

impl RuleError {
    /// An error in a rule that is in no file.
    fn typed(message: String) -> RuleError {
        RuleError { place: None, message }
    }

    /// The position of the table of a rule file that is wrong; `None` for a rule that is in no file.
    ///
    /// ```
    /// use uriscan::rules::{RulesFile, RuleSet};
    /// let text = "[[site]]\nhosts = ['b.h']\nhost = 'a.h'\n[[site]]\nhosts = ['a.h']\nhost = 'b.h'\n";
    /// let mut builder = RuleSet::builder();
    /// builder.rules_file(&RulesFile::parse(text, "mine.toml", &mut |_, _| Err(String::new())).unwrap());
    /// let error = builder.build().unwrap_err();
    /// assert_eq!(error.place().unwrap().line, 1);
    /// assert!(error.to_string().starts_with("mine.toml:1:1: [[site]] "), "{error}");
    /// assert_eq!(RuleSet::builder().rule("wwww").unwrap_err().place(), None);
    /// ```
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for RuleError {}

/// Builds a [`RuleSet`]. Later patterns override earlier ones; those of [`Builder::rule`] override
/// all.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    scope: Scope,
    units: Vec<Unit>,
    sites: Vec<Site>,
    own: Vec<Named>,
}

impl Builder {
    /// Of rules, tables for parameters and sites as a rule set has them.
    pub(super) fn of_parts(scope: Scope, units: Vec<Unit>, sites: Vec<Site>) -> Builder {
        Builder { scope, units, sites, own: Vec::new() }
    }

    /// Adds the rules and rules files of `preset`.
    ///
    /// # Errors
    /// If it names an unknown rule or rules file, which no preset of [`Preset::all`] does.
    pub fn preset(&mut self, preset: &Preset) -> Result<(), RuleError> {
        for rule in &preset.rules {
            self.rule(rule)?;
        }
        for name in &preset.rules_files {
            let unknown = || RuleError::typed(format!("there is no built-in rules file `{name}`"));
            self.rules_file(&RulesFile::built_in(name).ok_or_else(unknown)?);
        }
        Ok(())
    }

    /// Adds the rules of `rules_file`.
    pub fn rules_file(&mut self, rules_file: &RulesFile) {
        self.scope.extend(&rules_file.scope);
        extend(
            &mut self.units,
            &mut self.sites,
            rules_file.units.clone(),
            rules_file.sites.clone(),
        );
    }

    /// Adds a rule, written `NAME` or `NAME=ARG`.
    ///
    /// Patterns for parameters form one table, as in a rules file: first those of `keep-param`, then
    /// `drop-param`, then `allow-param`.
    ///
    /// # Errors
    /// If there is no such rule, or its argument is missing, not allowed or invalid.
    pub fn rule(&mut self, typed: &str) -> Result<(), RuleError> {
        let (rule, argument) = typed_rule(typed).map_err(RuleError::typed)?;
        if rule.argument() != Argument::Glob {
            return self.scope.add(rule, argument).map_err(RuleError::typed);
        }
        let Some(text) = argument else {
            return Err(RuleError::typed(format!("`{rule}` needs a pattern: {rule}=GLOB")));
        };
        if has_comma(text) {
            let advice = format!("repeat `{rule}=NAME` for each name; a comma in a name is `\\,`");
            return Err(RuleError::typed(format!("`{text}`: {advice}")));
        }
        let glob = name_pattern(text).map_err(RuleError::typed)?;
        let place = Place { source: Arc::from("--rule"), line: 0, column: 0 };
        self.own.push(Named { list: rule, text: Arc::from(text), glob, place });
        Ok(())
    }

    /// Removes `rule` with all its arguments; of parameter rules only those of [`Builder::rule`],
    /// since rules files define their own exceptions. Returns whether anything was removed.
    pub fn without(&mut self, rule: Rule) -> bool {
        let was_on = self.scope.rules.has(rule) || self.own.iter().any(|named| named.list == rule);
        self.scope.remove(Rules::of(&[rule]));
        self.own.retain(|named| named.list != rule);
        was_on
    }

    /// Compiles the rules.
    ///
    /// # Errors
    /// If two parameter rules have the same pattern, or two sites replace each other's hosts.
    pub fn build(mut self) -> Result<RuleSet, RuleError> {
        if !self.own.is_empty() {
            let patterns = std::mem::take(&mut self.own);
            let (hosts, except, when) = Default::default();
            let own = Unit { hosts, except, when, patterns, why: None, site: None };
            if let Some((again, before)) = own.repeated() {
                let (a, b) = (before.list, again.list);
                return Err(RuleError::typed(format!("`{}` is in {a} and in {b}", again.text)));
            }
            self.units.push(own);
        }
        let written_units = self.units.clone();
        let mut own = self.scope;
        let named = self.units.iter().flat_map(|unit| &unit.patterns);
        named.for_each(|named| own.rules.add(named.list));
        let mut scope = own.clone();
        scope.settle();
        let written = self.sites.clone();
        let sites = Sites::new(self.sites, &own, &scope)
            .map_err(|(place, message)| RuleError { place: Some(place), message })?;
        for unit in &mut self.units {
            let lists = [&mut unit.hosts, &mut unit.except];
            match unit.site.map(|i| &written[i]) {
                Some(site) => lists.map(|it| add_www(it, scope.rules, site.on.rules, site.off)),
                // Hosts are looked up as the rules have made them.
                None => lists.map(|it| it.iter_mut().for_each(|it| sites.drop_www(&scope, it))),
            };
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
        let rules = written.iter().fold(scope.rules, |rules, site| rules.union(site.on.rules));
        let globs = units.iter().flat_map(|(_, patterns)| patterns).map(|(_, named)| &named.glob);
        let starts = Starts::new(rules, globs);
        Ok(RuleSet {
            rules,
            scope,
            sites,
            written,
            written_units,
            patterns,
            units,
            params,
            starts,
            overrides,
            tables: OnceLock::new(),
            made: Arc::default(),
        })
    }
}

impl RuleSet {
    /// Creates an empty builder.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The enabled rules, including those for parameters if there are patterns, and those of single sites.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Whether the rules change nothing.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rules of hosts without a site, as they are typed, in the order in which they are applied; without those for
    /// parameters.
    pub fn typed(&self) -> Vec<String> {
        self.sites.written.typed()
    }

    /// The rules of single sites, in order: of several for a host, a later one overrides.
    pub fn sites(&self) -> impl Iterator<Item = SiteRules> {
        self.written.iter().map(Site::shown)
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
        let units = self.units.iter().map(|(unit, _)| (&unit.hosts, &unit.except));
        let mut hosts = units.chain(self.written.iter().map(|site| (&site.hosts, &site.except)));
        let sites = hosts.any(|(hosts, except)| has_site(hosts) || has_site(except));
        if sites || self.rules.has(Rule::Www) {
            let _ = writeln!(out, "public-suffix {PUBLIC_SUFFIX_VERSION}");
        }
        self.sites.written.describe("", out);
        let mut patterns = self.patterns.iter();
        for (unit, by_strength) in &self.units {
            let place = unit.described_hosts();
            for pattern in patterns.by_ref().take(by_strength.len()) {
                let action = match pattern.action {
                    Action::Drop => "drop",
                    Action::Keep => "keep",
                };
                let _ = write!(out, "{action} {}", pattern.text);
                if (pattern.rule, pattern.action) == (Rule::KeepParam, Action::Drop) {
                    // A site may turn one of the rules off that drop.
                    let _ = write!(out, " by {}", pattern.rule);
                }
                out.push_str(&place);
                out.push('\n');
            }
        }
        for site in &self.written {
            site.describe(out);
        }
    }
}

/// Whether the pattern `text` has a comma that is not escaped.
fn has_comma(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b',' => return true,
            b'\\' => _ = bytes.next(),
            _ => {}
        }
    }
    false
}

fn patterns(units: &[(Unit, Vec<(Action, Named)>)]) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    for (unit, by_strength) in units {
        let shown = |hosts: &[HostPattern]| -> Arc<[String]> {
            hosts.iter().map(ToString::to_string).collect()
        };
        let (hosts, except) = (shown(&unit.hosts), shown(&unit.except));
        let [paths, given] = unit.when.shown();
        patterns.extend(by_strength.iter().map(|(action, named)| Pattern {
            rule: named.list,
            action: *action,
            text: Arc::clone(&named.text),
            hosts: Arc::clone(&hosts),
            except: Arc::clone(&except),
            paths: Arc::clone(&paths),
            given: Arc::clone(&given),
            why: unit.why.clone(),
            place: named.place.clone(),
        }));
    }
    patterns
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
            ("drop-param=a,b", "repeat `drop-param=NAME` for each name"),
            ("keep-param=\\\\,", "a comma in a name is `\\,`"),
            ("index-page=a/b", "not a page name"),
            ("index-page=", "not a page name"),
            ("index-page=..", "not a page name"),
        ] {
            let error = RuleSet::builder().rule(typed).unwrap_err().to_string();
            assert!(error.contains(why), "{typed}: {error}");
        }
        let mut builder = RuleSet::builder();
        builder.rule(r"drop-param=b\,c").unwrap();
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
        assert!(rules.scope.index_pages.is_empty() && rules.rules().has(Rule::DropParam));
    }

    #[test]
    fn overrides_are_named() {
        let text = "[[param]]\ndrop=['a','b']\n[[param]]\nallow=['a']\n[[param]]\nhosts=['h']\nallow=['b']\n\
            [[param]]\ndrop=['b']\n";
        let rules_file = RulesFile::parse(text, "p", &mut |_, _| Err(String::new())).unwrap();
        let mut builder = RuleSet::builder();
        builder.rules_file(&rules_file);
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
