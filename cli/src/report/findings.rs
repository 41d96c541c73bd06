//! What is wrong: findings of an audit, and invalid records.

use uriscan::audit::{Rule, Severity};
use uriscan::uri::UriErrorKind;
use uriscan_bulk::pipeline::{Fault, FindingCounts, FindingExample, Invalid};

use super::chart::{Bar, chart};
use super::html::{Escaped, Section, shown, shown_until};
use crate::exit::shown_name;
use crate::job::Writes;
use crate::plan::Plan;
use crate::summary::grouped;

pub(super) fn findings(
    plan: &Plan,
    counts: &FindingCounts,
    examples: &[FindingExample],
) -> Option<Section> {
    if counts.total() == 0 {
        return None;
    }
    let of = |severity| Rule::ALL.iter().map(|&rule| counts.of_severity(rule, severity)).sum();
    let mut severities = Severity::ALL;
    severities.sort();
    severities.reverse();
    let bar = |severity: Severity| Bar {
        class: severity.name(),
        ..Bar::new(severity.name(), of(severity))
    };
    let bars: Vec<Bar> =
        severities.iter().map(|&severity| bar(severity)).filter(|bar| bar.count > 0).collect();
    let of_rule = |rule| severities.map(|severity| counts.of_severity(rule, severity));
    let mut rules: Vec<Rule> =
        Rule::ALL.iter().copied().filter(|&rule| counts.of(rule) > 0).collect();
    rules.sort_by_key(|&rule| std::cmp::Reverse(of_rule(rule)));
    let mut content = chart("findings-chart", "Findings by severity", &bars, counts.total());
    for rule in rules {
        let counts: Vec<String> = severities
            .iter()
            .zip(of_rule(rule))
            .filter(|&(_, count)| count > 0)
            .map(|(severity, count)| {
                let name = severity.name();
                format!(
                    "<span class=\"{name}\">{} {name}{}</span>",
                    grouped(count),
                    if count == 1 { "" } else { "s" }
                )
            })
            .collect();
        let examples = examples.iter().filter(|example| example.rule == rule);
        let example = |FindingExample { record, source, line, .. }: &FindingExample| {
            let record = match record.is_empty() {
                true => "(a long record)".to_owned(),
                false => shown(record),
            };
            item(&record, source, unit(plan), &grouped(*line))
        };
        content += &format!(
            "<div class=\"step\"><h3>{}</h3><p class=\"count\">{}</p><p class=\"soft\">{}: {} (RFC 3986, section {})</p><ul>{}</ul></div>\n",
            Escaped(rule.name()),
            counts.join(", "),
            Escaped(rule.title()),
            Escaped(rule.consequence()),
            Escaped(rule.section()),
            examples.map(example).collect::<String>(),
        );
    }
    Some(Section::new("findings", "Findings", content))
}

/// What the records of `plan` are numbered as: lines, unless they are found in something else, or are read as columns.
fn unit(plan: &Plan) -> &'static str {
    let is_list = plan.rows.as_ref().is_some_and(|rows| rows.is_list);
    match plan.documents.is_some() && plan.job.writes != Writes::Links || is_list {
        true => "record",
        false if plan.table.is_some() || plan.column.is_some() => "row",
        false => "line",
    }
}

/// An example and where it is: the number of its `unit`.
fn item(record: &str, source: &str, unit: &str, number: &str) -> String {
    let source = shown_name(source);
    let place = match (source.as_str(), unit) {
        ("" | "-", unit) => format!("{unit} {number}"),
        (source, "line") => format!("{}:{number}", cut(source)),
        (source, unit) => format!("{}, {unit} {number}", cut(source)),
    };
    format!(
        "<li><code>{}</code><br><small class=\"soft\">{}</small></li>",
        Escaped(record),
        Escaped(&place)
    )
}

/// Characters of the name of a source that are shown.
const NAME: usize = 200;

/// The end of a long name.
pub(super) fn cut(name: &str) -> String {
    match name.char_indices().rev().nth(NAME) {
        Some((start, c)) => format!("…{}", &name[start + c.len_utf8()..]),
        None => name.to_owned(),
    }
}

/// Whether records with such a fault were only skipped: references of documents without a base.
fn is_skipped(plan: &Plan, kind: UriErrorKind) -> bool {
    plan.job.writes == Writes::Links && kind == UriErrorKind::Relative
}

/// How many records of the run are invalid, and how many references were skipped, which are not.
pub(super) fn invalid_and_skipped(plan: &Plan, invalid: &Invalid) -> [u64; 2] {
    let of = |is_wanted: bool| {
        let kinds = invalid.iter().filter(|&(kind, _)| is_skipped(plan, kind) == is_wanted);
        kinds.map(|(_, count)| count).sum()
    };
    [of(false), of(true)]
}

pub(super) fn invalid(plan: &Plan, invalid: &Invalid, faults: &[Fault]) -> Option<Section> {
    let mut kinds: Vec<(UriErrorKind, u64)> =
        invalid.iter().filter(|&(kind, _)| !is_skipped(plan, kind)).collect();
    let total = kinds.iter().map(|(_, count)| count).sum();
    if kinds.is_empty() {
        return None;
    }
    kinds.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let bars: Vec<Bar> = kinds.iter().map(|&(kind, count)| Bar::new(kind.name(), count)).collect();
    let mut content =
        chart("invalid-chart", "Records that are not URIs, by what is wrong", &bars, total);
    for (kind, _) in kinds {
        let examples = faults.iter().filter(|fault| fault.error.kind == kind);
        let example = |fault: &Fault| {
            let column = u64::from(fault.error.at) + 1;
            let line = format!("{}, byte {column}", grouped(fault.line));
            let record = match (kind, fault.record.is_empty()) {
                (UriErrorKind::TooLong, true) => "(a long record)".to_owned(),
                _ => shown_until(&fault.record, fault.error),
            };
            item(&record, &fault.source, unit(plan), &line)
        };
        let examples: String = examples.map(example).collect();
        content += &format!(
            "<div class=\"step\"><h3>{}</h3><p class=\"soft\">{}</p>{}</div>\n",
            Escaped(kind.name()),
            Escaped(kind.message()),
            if examples.is_empty() { String::new() } else { format!("<ul>{examples}</ul>") },
        );
    }
    Some(Section::new("invalid", "Invalid records", content))
}
