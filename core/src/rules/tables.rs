//! The tables of a rules file.

use core::fmt;
use core::ops::Range;
use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::hosts::HostPattern;
use super::param::{Named, Place, Unit, name_pattern};
use super::rule::{Rule, Rules, typed_rule};
use super::scope::Scope;
use super::site::Site;
use super::when::{self, When};
use crate::normalize::{Level, normalize_exact};
use crate::uri::split;

/// Why a rules file is invalid, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RulesFileError {
    /// The position.
    pub place: Place,
    /// The reason.
    pub message: String,
}

impl fmt::Display for RulesFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for RulesFileError {}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Table {
    hosts: Option<Vec<Spanned<String>>>,
    except: Vec<Spanned<String>>,
    keep: Vec<Spanned<String>>,
    drop: Vec<Spanned<String>>,
    allow: Vec<Spanned<String>>,
    paths: Vec<Spanned<String>>,
    given: Vec<Spanned<String>>,
    why: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SiteTable {
    hosts: Vec<Spanned<String>>,
    #[serde(default)]
    except: Vec<Spanned<String>>,
    host: Option<Spanned<String>>,
    #[serde(default)]
    rules: Vec<Spanned<String>>,
    #[serde(default)]
    without: Vec<Spanned<String>>,
    #[serde(default)]
    keep: Vec<Spanned<String>>,
    #[serde(default)]
    drop: Vec<Spanned<String>>,
    #[serde(default)]
    allow: Vec<Spanned<String>>,
    why: Option<String>,
}

/// Maps offsets in a text to lines and columns.
pub(super) struct Places {
    source: Arc<str>,
    /// Offsets at which lines begin.
    line_starts: Vec<usize>,
    len: usize,
}

impl Places {
    pub(super) fn new(source: Arc<str>, text: &str) -> Places {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        let line_starts = [0].into_iter().chain(ends.map(|end| end + 1)).collect();
        Places { source, line_starts, len: text.len() }
    }

    pub(super) fn of(&self, at: usize) -> Place {
        let at = at.min(self.len);
        let line = self.line_starts.partition_point(|&start| start <= at);
        Place {
            source: Arc::clone(&self.source),
            line: line as u32,
            column: (at - self.line_starts[line - 1]) as u32 + 1,
        }
    }

    /// What `parse` makes of `text`.
    fn parsed<T>(
        &self,
        text: &Spanned<String>,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, RulesFileError> {
        parse(text.get_ref()).map_err(|why| self.error(text.span(), why))
    }

    pub(super) fn error(&self, span: Range<usize>, message: impl Into<String>) -> RulesFileError {
        RulesFileError { place: self.of(span.start), message: message.into() }
    }
}

/// The rules of a list, which are not for parameters.
pub(super) fn scope(typed: &[Spanned<String>], places: &Places) -> Result<Scope, RulesFileError> {
    let mut scope = Scope::default();
    for text in typed {
        places
            .parsed(text, |typed| typed_rule(typed).and_then(|(rule, arg)| scope.add(rule, arg)))?;
    }
    Ok(scope)
}

/// A site, and its rules for parameters if there are any.
pub(super) fn site(
    table: Spanned<SiteTable>,
    places: &Places,
) -> Result<(Site, Option<Unit>), RulesFileError> {
    let span = table.span();
    let place = places.of(span.start);
    let SiteTable { hosts, except, host, rules, without, keep, drop, allow, why } =
        table.into_inner();
    if hosts.is_empty() {
        return Err(places.error(span, "`hosts` names no host; a [[site]] needs one or more"));
    }
    let mut on = scope(&rules, places)?;
    let mut off = Rules::default();
    for name in &without {
        let rule = Rule::from_name(name.get_ref()).ok_or_else(|| {
            places.error(name.span(), format!("unknown rule `{}`", name.get_ref()))
        })?;
        if matches!(rule, Rule::AllowParam | Rule::HostAlias) {
            return Err(places.error(name.span(), format!("`{rule}` cannot be turned off")));
        }
        off.add(rule);
    }
    let own = [(Rule::KeepParam, &keep), (Rule::DropParam, &drop)];
    let mut listed = on.rules;
    own.iter().filter(|(_, list)| !list.is_empty()).for_each(|(rule, _)| listed.add(*rule));
    if let Some(both) = listed.iter().find(|&rule| off.has(rule)) {
        return Err(places.error(span, format!("`{both}` is both on and off in this [[site]]")));
    }
    let has_params = !(keep.is_empty() && drop.is_empty() && allow.is_empty());
    if !has_params && host.is_none() && on.rules.is_empty() && off.is_empty() {
        return Err(
            places.error(span, "a [[site]] needs host, rules, without, keep, drop or allow")
        );
    }
    let main = host.as_ref().map(|text| places.parsed(text, canonical_host)).transpose()?;
    if main.is_some() {
        on.rules.add(Rule::HostAlias);
    }
    let (paths, given) = (Vec::new(), Vec::new());
    let patterns = Table { hosts: Some(hosts), except, keep, drop, allow, paths, given, why };
    let mut unit = unit_of(patterns, span, places)?;
    if let Some(main) = &main {
        let main = HostPattern::Exact(main.clone());
        if !unit.hosts.contains(&main) {
            unit.hosts.push(main);
        }
    }
    let site = Site {
        hosts: unit.hosts.clone(),
        except: unit.except.clone(),
        host: main,
        on,
        off,
        why: unit.why.clone(),
        place,
    };
    Ok((site, has_params.then_some(unit)))
}

/// The one host that `text` is, in canonical form.
fn canonical_host(text: &str) -> Result<Vec<u8>, String> {
    let HostPattern::Exact(name) = HostPattern::new(text)? else {
        return Err(format!("`{text}`: name one host"));
    };
    let uri = [&b"http://"[..], &name, b"/"].concat();
    let mut form = Vec::new();
    let is_host = normalize_exact(&uri, Level::Scheme, false, &mut form).is_ok()
        && split(&uri).authority == Some(&*name);
    if !is_host || name.contains(&b'%') {
        return Err(format!("`{text}` is not a host"));
    }
    if form != uri {
        let own = &form[b"http://".len()..form.len() - 1];
        return Err(format!(
            "`{text}`: write `{}`, as canonical URIs do",
            String::from_utf8_lossy(own)
        ));
    }
    Ok(name)
}

/// A `[[param]]`.
pub(super) fn unit(table: Spanned<Table>, places: &Places) -> Result<Unit, RulesFileError> {
    let span = table.span();
    let unit = unit_of(table.into_inner(), span.clone(), places)?;
    if unit.patterns.is_empty() {
        return Err(places.error(span, "a [[param]] needs keep, drop or allow"));
    }
    Ok(unit)
}

/// The rules for parameters of a table at `span`.
fn unit_of(table: Table, span: Range<usize>, places: &Places) -> Result<Unit, RulesFileError> {
    let hosts = |list: &[Spanned<String>]| -> Result<Vec<HostPattern>, RulesFileError> {
        list.iter().map(|text| places.parsed(text, HostPattern::new)).collect()
    };
    if table.hosts.as_ref().is_some_and(Vec::is_empty) {
        return Err(places
            .error(span, "`hosts` names no host; a [[param]] without it applies to all hosts"));
    }
    let mut patterns = Vec::new();
    for (list, texts) in [
        (Rule::KeepParam, &table.keep),
        (Rule::DropParam, &table.drop),
        (Rule::AllowParam, &table.allow),
    ] {
        for text in texts {
            let glob = places.parsed(text, name_pattern)?;
            let place = places.of(text.span().start);
            patterns.push(Named { list, text: Arc::from(text.get_ref().as_str()), glob, place });
        }
    }
    if let (Some(given), false) =
        (table.given.first(), table.keep.is_empty() && table.allow.is_empty())
    {
        let what =
            "`given` is for `drop`: what it keeps would be dropped without the given parameter";
        return Err(places.error(given.span(), what));
    }
    let list = |texts: &[Spanned<String>], parse: fn(&str) -> Result<Vec<u8>, String>| {
        let parsed = texts.iter().map(|text| places.parsed(text, parse));
        let mut list = parsed.collect::<Result<Vec<_>, _>>()?;
        list.sort_unstable();
        list.dedup();
        Ok(list)
    };
    let when =
        When { paths: list(&table.paths, when::path)?, given: list(&table.given, when::given)? };
    let unit = Unit {
        when,
        hosts: hosts(table.hosts.as_deref().unwrap_or_default())?,
        except: hosts(&table.except)?,
        patterns,
        why: table.why.map(Arc::from),
        site: None,
    };
    let except: HashSet<&HostPattern> = unit.except.iter().collect();
    if let Some(both) = unit.hosts.iter().find(|host| except.contains(host)) {
        return Err(places.error(span, format!("`{both}` is in hosts and in except")));
    }
    if let Some((again, before)) = unit.repeated() {
        let list = |named: &Named| named.list.name().trim_end_matches("-param").to_owned();
        let (text, line) = (&again.text, before.place.line);
        let message = format!(
            "`{text}` is in {} here and in {} at line {line} of the same table",
            list(again),
            list(before)
        );
        return Err(RulesFileError { place: again.place.clone(), message });
    }
    Ok(unit)
}
