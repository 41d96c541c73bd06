//! Rule sets as the text of one rule file.

use std::fmt::Write;

use super::hosts::HostPattern;
use super::param::Unit;
use super::rule::Rule;
use super::set::RuleSet;

impl RuleSet {
    /// Returns the rules as the text of one rule file without includes: those of presets and rules files, of options and of sites.
    /// [`RulesFile::parse`](super::RulesFile::parse) reads it; the resulting rule set does the same and has the same
    /// [`Identity`](super::Identity) under a program with the same versions of rules and public suffix list.
    ///
    /// ```
    /// use uriscan::rules::{RulesFile, RuleSet};
    /// let mut builder = RuleSet::builder();
    /// builder.rule("www").unwrap();
    /// builder.rule("drop-param=ref").unwrap();
    /// let text = builder.build().unwrap().to_toml();
    /// assert_eq!(text, "rules = [\"www\"]\n\n[[param]]\ndrop = [\"ref\"]\n");
    /// assert!(RulesFile::parse(&text, "set", &mut |_, _| Err(String::new())).is_ok());
    /// ```
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let typed = self.typed();
        if !typed.is_empty() {
            list(&mut text, "rules", typed);
        }
        let mut sites = 0;
        for unit in &self.written_units {
            match unit.site {
                None => param(&mut text, unit),
                Some(number) => {
                    while sites < number {
                        self.site(&mut text, sites, None);
                        sites += 1;
                    }
                    self.site(&mut text, number, Some(unit));
                    sites = number + 1;
                }
            }
        }
        (sites..self.written.len()).for_each(|number| self.site(&mut text, number, None));
        text
    }

    /// Appends the site of this number, and its rules for parameters.
    fn site(&self, text: &mut String, number: usize, unit: Option<&Unit>) {
        let site = &self.written[number];
        table(text, "site");
        hosts(text, &site.hosts, &site.except);
        if let Some(host) = &site.host {
            let _ = writeln!(text, "host = {}", quoted(&String::from_utf8_lossy(host)));
        }
        let typed = site.on.typed();
        if !typed.is_empty() {
            list(text, "rules", typed);
        }
        if !site.off.is_empty() {
            list(text, "without", site.off.iter().map(|rule| rule.name().to_owned()));
        }
        if let Some(unit) = unit {
            patterns(text, unit);
        }
        why(text, site.why.as_deref());
    }
}

fn param(text: &mut String, unit: &Unit) {
    table(text, "param");
    hosts(text, &unit.hosts, &unit.except);
    for (name, texts) in ["paths", "given"].iter().zip(unit.when.shown()) {
        if !texts.is_empty() {
            list(text, name, texts.iter().cloned());
        }
    }
    patterns(text, unit);
    why(text, unit.why.as_deref());
}

fn patterns(text: &mut String, unit: &Unit) {
    for (rule, name) in
        [(Rule::KeepParam, "keep"), (Rule::DropParam, "drop"), (Rule::AllowParam, "allow")]
    {
        let named = unit.patterns.iter().filter(|named| named.list == rule);
        let texts: Vec<String> = named.map(|named| named.text.to_string()).collect();
        if !texts.is_empty() {
            list(text, name, texts);
        }
    }
}

fn table(text: &mut String, name: &str) {
    let before = if text.is_empty() { "" } else { "\n" };
    let _ = writeln!(text, "{before}[[{name}]]");
}

fn hosts(text: &mut String, hosts: &[HostPattern], except: &[HostPattern]) {
    for (name, patterns) in [("hosts", hosts), ("except", except)] {
        if !patterns.is_empty() {
            list(text, name, patterns.iter().map(ToString::to_string));
        }
    }
}

fn why(text: &mut String, why: Option<&str>) {
    if let Some(why) = why {
        let _ = writeln!(text, "why = {}", quoted(why));
    }
}

fn list(text: &mut String, name: &str, values: impl IntoIterator<Item = String>) {
    let values: Vec<String> = values.into_iter().map(|value| quoted(&value)).collect();
    let _ = writeln!(text, "{name} = [{}]", values.join(", "));
}

/// A basic string of TOML.
pub fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => _ = write!(text, "\\u{:04X}", u32::from(c)),
            c => text.push(c),
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::Options;
    use crate::rules::{Identity, Preset, RulesFile};

    fn parse(text: &str) -> RulesFile {
        RulesFile::parse(text, "p", &mut |_, _| Err(String::new())).unwrap()
    }

    #[test]
    fn what_is_written_is_read_as_the_same_rules() {
        let rules_file = "rules = ['https', 'index-page=a,b', 'path-prefix=/x/']\n[[param]]\nhosts=['www.h.example','site:example.com']\n\
            except=['a.example.com']\nkeep=['i?']\ndrop=['a\\*','b']\nallow=['*']\nwhy=\"a \\\"b\\\" \\u0007\"\n\
            [[site]]\nhosts=['m.example.org']\nhost='www.example.org'\nrules=['path-case','path-decode=,:','host-dot']\n\
            without=['https','www']\ndrop=['x']\nwhy='y'\n[[site]]\nhosts=['*.example.org']\nwithout=['drop-param']\n\
            [[param]]\npaths=['/b/','/a']\ngiven=['v=1']\ndrop=['z']\n";
        for preset in Preset::all() {
            for www in [false, true] {
                let mut builder = RuleSet::builder();
                builder.preset(&preset).unwrap();
                builder.rules_file(&parse(rules_file));
                builder.rule("drop-param=own_*").unwrap();
                builder.rule("path-decode").unwrap();
                builder.rule("index-page=a%2Cb").unwrap();
                if www {
                    builder.rule("www").unwrap();
                }
                let rules = builder.build().unwrap();
                let text = rules.to_toml();
                let mut again = RuleSet::builder();
                again.rules_file(&parse(&text));
                let again = again.build().unwrap();
                assert_eq!(again.to_toml(), text);
                let identity = |rules| Identity::new(Options::default(), Some(rules));
                assert_eq!(identity(&again), identity(&rules), "{text}");
            }
        }
        assert_eq!(RuleSet::builder().build().unwrap().to_toml(), "");
    }
}
