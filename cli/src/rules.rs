//! `uriscan rules`: all rules, or the rule set of the options.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::{Value, json};
use uriscan::rules::{Action, Pattern, Preset, Rule, RuleSet, RulesFile, SiteRules};
use uriscan_bulk::io::escaped;
use uriscan_bulk::pipeline::Equivalence;

use crate::args::{Rules, RulesCommand, RulesFormat};
use crate::exit::{Failure, Outcome, escaped_lines};
use crate::options::{answer_format, equivalence};
use crate::output::{Destination, PathConflicts, write_text, write_with};
use crate::{grammar, rule_choice};

pub(crate) fn run(typed: Rules) -> Result<Outcome, Failure> {
    if let Some(RulesCommand::Grammar(typed)) = &typed.command {
        return grammar::run(typed);
    }
    let is_choice = !typed.equivalence.rules.is_empty();
    let equivalence = equivalence(&typed.equivalence)?;
    let to = answer_format(typed.to, &typed.destination)?;
    let destination = Destination::of_option(typed.destination.output);
    let conflicts = PathConflicts::of_results(&destination, false);
    rule_choice::files(&typed.equivalence.rules.rules_files)
        .try_for_each(|path| conflicts.refuse_evidence(&path))?;
    let text = match (to, is_choice) {
        (RulesFormat::Table, false) => all_text(),
        (RulesFormat::Json, false) => all_json().to_string() + "\n",
        (RulesFormat::Table, true) => escaped_lines(&chosen_text(&equivalence)),
        (RulesFormat::Json, true) => {
            return write_with(&destination, |out| Ok(write_chosen(&equivalence, out)?));
        }
        (RulesFormat::Toml, _) => {
            equivalence.rules.as_deref().map_or(String::new(), RuleSet::to_toml)
        }
    };
    write_text(&text, &destination)
}

fn usage(rule: Rule) -> String {
    format!("{rule}{}", rule.argument().usage())
}

fn built_in_files() -> impl Iterator<Item = (RulesFile, RuleSet)> {
    RulesFile::built_in_names().filter_map(RulesFile::built_in).filter_map(|rules_file| {
        let mut builder = RuleSet::builder();
        builder.rules_file(&rules_file);
        Some((rules_file, builder.build().ok()?))
    })
}

fn all_text() -> String {
    let mut text = String::from("rules, in order of application\n");
    for rule in Rule::ALL {
        let _ = writeln!(text, "  {:<20}  {}", usage(rule), rule.meaning());
    }
    text.push_str("\npresets\n");
    for preset in Preset::all() {
        let _ = writeln!(text, "  {:<20}  {}", preset.full_name(), preset.meaning);
        let Preset { rules, rules_files, .. } = preset;
        if !rules.is_empty() {
            let _ = writeln!(text, "  {:<20}  {}", "", rules.join(", "));
        }
        if !rules_files.is_empty() {
            let _ = writeln!(text, "  {:<20}  built-in file {}", "", rules_files.join(", "));
        }
    }
    text.push_str("\nbuilt-in rules files\n");
    for (rules_file, rules) in built_in_files() {
        let (name, count) =
            (format!("{} {}", rules_file.name, rules_file.version), rules.patterns().len());
        let meaning = rules_file.meaning.as_deref().unwrap_or_default();
        let s = if count == 1 { "" } else { "s" };
        let _ = writeln!(
            text,
            "  {name:<20}  {meaning}: {count} pattern{s} (--rules {})",
            rules_file.name
        );
    }
    text
}

fn all_json() -> Value {
    let rule = |rule: Rule| {
        json!({
            "name": rule.name(),
            "version": rule.version(),
            "argument": rule.argument().name(),
            "meaning": rule.meaning(),
        })
    };
    let preset = |preset: Preset| {
        json!({
            "name": preset.name,
            "version": preset.version,
            "meaning": preset.meaning,
            "rules": preset.rules,
            "files": preset.rules_files,
        })
    };
    let rules_file = |(rules_file, rules): (RulesFile, RuleSet)| {
        json!({
            "name": &*rules_file.name,
            "version": rules_file.version,
            "meaning": rules_file.meaning,
            "patterns": rules.patterns().iter().map(pattern_json).collect::<Vec<Value>>(),
        })
    };
    json!({
        "rules": Rule::ALL.into_iter().map(rule).collect::<Vec<Value>>(),
        "presets": Preset::all().into_iter().map(preset).collect::<Vec<Value>>(),
        "files": built_in_files().map(rules_file).collect::<Vec<Value>>(),
    })
}

fn chosen_text(equivalence: &Equivalence) -> String {
    let fragment = if equivalence.normalize.drop_fragment { " ignoring fragments" } else { "" };
    let mut text = format!(
        "rule set {}: level {}{fragment}\n",
        equivalence.identity(),
        equivalence.normalize.level
    );
    let Some(rules) = equivalence.rules.as_deref() else {
        text.push_str("no rules\n");
        return text;
    };
    for rule in rules.rules().iter() {
        let _ = writeln!(text, "  {:<16}  {}", rule.name(), rule.meaning());
    }
    for typed in rules.typed().iter().filter(|typed| typed.contains('=')) {
        let _ = writeln!(text, "  {typed}");
    }
    if rules.sites().next().is_some() {
        text.push_str("\nsites, a later one overrides\n");
    }
    for site in rules.sites() {
        let _ = writeln!(text, "  {}", site_text(&site));
    }
    if !rules.patterns().is_empty() {
        text.push_str("\npatterns for parameters, from weak to strong\n");
    }
    for pattern in rules.patterns() {
        let Pattern { text: glob, place, why, .. } = pattern;
        let what = format!("{} {glob}{}", verdict(pattern), hosts(pattern));
        let why = why.as_ref().map_or(String::new(), |why| format!("  {}", escaped(why)));
        let place = escaped(&place.to_string()).to_string();
        let _ = writeln!(text, "  {what:<28}  {place:<16}{why}");
    }
    if !rules.overrides().is_empty() {
        text.push_str("\noverridden\n");
    }
    for found in rules.overrides() {
        let [by, of] = [found.by, found.of].map(|at| &rules.patterns()[at]);
        let _ = writeln!(
            text,
            "  {}: {} {}{} overrides {} at {}",
            escaped(&by.place.to_string()),
            verdict(by),
            by.text,
            hosts(by),
            verdict(of),
            escaped(&of.place.to_string())
        );
    }
    text
}

/// Writes the rule set as JSON, pattern by pattern: each repeats its hosts.
fn write_chosen(equivalence: &Equivalence, out: &mut impl Write) -> io::Result<()> {
    let rules = equivalence.rules.as_deref();
    let overrides = rules.map_or(&[][..], RuleSet::overrides).iter();
    let others = json!({
        "rule_set": equivalence.identity().to_string(),
        "level": equivalence.normalize.level.name(),
        "drop_fragment": equivalence.normalize.drop_fragment,
        "rules": rules.map_or(Vec::new(), names),
        "typed": rules.map_or(Vec::new(), RuleSet::typed),
        "sites": rules.into_iter().flat_map(RuleSet::sites).map(|site| site_json(&site)).collect::<Vec<Value>>(),
        "overrides": overrides.map(|found| json!({ "by": found.by, "of": found.of })).collect::<Vec<Value>>(),
    })
    .to_string();
    write!(out, "{},\"patterns\":[", others.strip_suffix('}').unwrap_or_default())?;
    for (i, pattern) in rules.map_or(&[][..], RuleSet::patterns).iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        write!(out, "{comma}{}", pattern_json(pattern))?;
    }
    writeln!(out, "]}}")
}

pub(crate) fn names(rules: &RuleSet) -> Vec<&'static str> {
    rules.rules().iter().map(Rule::name).collect()
}

fn site_text(site: &SiteRules) -> String {
    let mut text = format!("on {}", site.hosts.join(", "));
    if !site.except.is_empty() {
        text += &format!(" not on {}", site.except.join(", "));
    }
    if let Some(host) = &site.host {
        text += &format!(": host {host}");
    }
    let without = site.without.iter().map(|rule| format!("without {rule}"));
    for rule in site.rules.iter().cloned().chain(without) {
        text += &format!("; {rule}");
    }
    let why = site.why.as_ref().map_or(String::new(), |why| format!("  {}", escaped(why)));
    format!("{text}  {}{why}", escaped(&site.place.to_string()))
}

fn site_json(site: &SiteRules) -> Value {
    json!({
        "hosts": site.hosts,
        "except": site.except,
        "host": site.host,
        "rules": site.rules,
        "without": site.without.iter().map(Rule::name).collect::<Vec<_>>(),
        "why": site.why.as_deref(),
        "source": &*site.place.source,
        "line": site.place.line,
        "column": site.place.column,
    })
}

fn verdict(pattern: &Pattern) -> &'static str {
    match pattern.action {
        Action::Drop => "drop",
        Action::Keep => "keep",
    }
}

/// The hosts of a pattern; of many the first, since each pattern of a table has all of them.
fn hosts(pattern: &Pattern) -> String {
    const SHOWN: usize = 20;
    let mut text = String::new();
    for (before, hosts) in [("on", &pattern.hosts), ("not on", &pattern.except)] {
        let (first, rest) = hosts.split_at(SHOWN.min(hosts.len()));
        if !first.is_empty() {
            text += &format!(" {before} {}", first.join(", "));
        }
        if !rest.is_empty() {
            text += &format!(" and {} more", rest.len());
        }
    }
    for (before, list) in [("below", &pattern.paths), ("given", &pattern.given)] {
        if !list.is_empty() {
            text += &format!(" {before} {}", list.join(", "));
        }
    }
    text
}

fn pattern_json(pattern: &Pattern) -> Value {
    let place = &pattern.place;
    json!({
        "pattern": &*pattern.text,
        "verdict": verdict(pattern),
        "rule": pattern.rule.name(),
        "hosts": &*pattern.hosts,
        "except": &*pattern.except,
        "paths": &*pattern.paths,
        "given": &*pattern.given,
        "why": pattern.why.as_deref(),
        "source": &*place.source,
        "line": (place.line > 0).then_some(place.line),
        "column": (place.line > 0).then_some(place.column),
    })
}
