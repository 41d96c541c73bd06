//! The sentence about a run that its page begins with.

use uriscan::audit::Severity;
use uriscan::rules::Rule;
use uriscan_bulk::pipeline::{Census, FindingCounts, Groups, MergeStep, Report, Top};

use super::findings::invalid_and_skipped;
use crate::job::{Done, Writes};
use crate::summary::{Summary, grouped, plural};

/// What the run came to, in one or two sentences.
pub(super) fn verdict(done: &Done, summary: &Summary<'_>) -> String {
    let plan = summary.plan;
    let report = &summary.report;
    let records = report.records;
    let noun = match plan.job.writes {
        Writes::Links => format!("{} link{}", grouped(records), plural(records)),
        _ => format!("{} record{}", grouped(records), plural(records)),
    };
    if records == 0 {
        return match report.filtered.total() {
            0 => "Nothing was read.".to_owned(),
            1 => "One record was read, and not selected.".to_owned(),
            filtered => format!("{} records were read, none of them selected.", grouped(filtered)),
        };
    }
    let groups = done.overview.as_ref().and_then(|overview| overview.groups.as_ref());
    let text = match (&done.findings, &done.census, &done.top) {
        (Some(findings), ..) => of_audit(&noun, findings),
        (_, Some(census), _) => of_census(&noun, census),
        (.., Some(top)) => of_top(&noun, top),
        _ if plan.job.writes == Writes::Survivors => of_dedup(&noun, summary, groups),
        _ => noun,
    };
    let [invalid, skipped] = invalid_and_skipped(plan, &report.invalid);
    let is_column = plan.job.name == "audit" && plan.table.is_some();
    let text =
        if is_column { text + "; what was found is in the column of findings" } else { text };
    let text = match skipped {
        0 => text,
        _ => format!(
            "{text}, {} of them references without a base, which were skipped",
            grouped(skipped)
        ),
    };
    let text = match report.bad_rows {
        0 => text,
        1 => format!("{text}, and one row that does not fit"),
        bad => format!("{text}, and {} rows that do not fit", grouped(bad)),
    };
    let is_survivors = plan.job.writes == Writes::Survivors;
    match invalid {
        0 if plan.job.name == "check" && report.bad_rows == 0 => {
            format!("{text}, all of them valid.")
        }
        0 => format!("{text}."),
        1 if is_survivors => format!("{text}. One record is not a URI."),
        _ if is_survivors => format!("{text}. {} records are not URIs.", grouped(invalid)),
        1 => format!("{text}; 1 of them is not valid."),
        _ => format!("{text}; {} of them are not valid.", grouped(invalid)),
    }
}

/// `part` of `whole` as a percentage without decimals.
fn percent(part: u64, whole: u64) -> String {
    let share = part as f64 * 100.0 / whole.max(1) as f64;
    match share {
        _ if part == 0 => "none".to_owned(),
        _ if part == whole => "all".to_owned(),
        share if share < 1.0 => "less than 1 %".to_owned(),
        share => format!("{:.0} %", share.min(99.0)),
    }
}

fn of_dedup(noun: &str, summary: &Summary<'_>, groups: Option<&Groups>) -> String {
    let Report { records, written, withheld, duplicates, seen, .. } = summary.report;
    let distinct = written + withheld;
    if duplicates == 0 {
        let of_them = if distinct + seen < records { "of the URIs among them" } else { "of them" };
        return format!("{noun}, no two {of_them} equivalent");
    }
    let kept = match seen {
        0 => format!("{} different", grouped(distinct)),
        _ => format!("{} new", grouped(distinct)),
    };
    let repeat = match seen {
        0 => "another one",
        _ => "another one, or one that an earlier run has seen",
    };
    let verb = if duplicates == 1 { "repeats" } else { "repeat" };
    let text = format!("{noun}, {kept}: {} {verb} {repeat}", grouped(duplicates));
    match groups.and_then(|groups| why(groups, summary)) {
        Some(why) if seen > 0 => format!("{text}. Of those that repeat one of this run, {why}"),
        Some(why) => format!("{text}. Of these, {why}"),
        None => text,
    }
}

/// What makes duplicates equivalent: the same bytes, the same URI by the RFC, aliases, and the rule that merges most.
fn why(groups: &Groups, summary: &Summary<'_>) -> Option<String> {
    let Groups { duplicates, same, .. } = *groups;
    if duplicates == 0 {
        return None;
    }
    let by_level = groups.levels.iter().filter(|level| level.level.is_some());
    let spelled: u64 = by_level.map(|level| level.count).sum();
    let mut parts = Vec::new();
    let mut add = |count: u64, what: &str| {
        if count > 0 {
            parts.push(format!("{} {what}", percent(count, duplicates)));
        }
    };
    add(same, "byte for byte");
    add(spelled, "in another spelling of the same URI");
    add(groups.aliased, "only by aliases, such as redirects");
    let is_rule = |step: &&MergeStep| step.step.level.is_none() && step.step.name != "alias";
    let of_rule = groups.steps.iter().filter(is_rule);
    let alone = match of_rule.max_by_key(|step| step.alone) {
        Some(step) => {
            add(step.alone, &only(step));
            step.alone
        }
        None => 0,
    };
    let named = same + spelled + groups.aliased + alone + groups.unexplained;
    add(duplicates.saturating_sub(named), "by other rules, or by several");
    add(
        groups.unexplained,
        &match summary.plan.job.equivalence.profile {
            Some(profile) => format!("only by the profile {profile}"),
            None => "in ways that were not looked into".to_owned(),
        },
    );
    let is_estimate = !groups.is_all || groups.explained.is_some();
    let about = if is_estimate && parts.len() > 1 { "about " } else { "" };
    let list = match parts.as_slice() {
        [] => return None,
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    };
    Some(format!("{about}{list}"))
}

fn only(step: &MergeStep) -> String {
    let of = |rule: Rule| step.step.name == rule.name();
    match () {
        () if of(Rule::DropParam) => {
            "only with other parameters that the rules drop, such as those for tracking".to_owned()
        }
        () if of(Rule::KeepParam) => "only with parameters that the rules do not keep".to_owned(),
        () if step.step.name == "fragment" => "only with another fragment".to_owned(),
        () => format!("only by the rule {}", step.step.name),
    }
}

fn of_census(noun: &str, census: &Census) -> String {
    let level = census.levels.last();
    let distinct = census.rules.map(|rules| rules.distinct);
    let distinct = distinct.or(level.map(|level| level.distinct)).unwrap_or_default();
    let merged = census.records.saturating_sub(distinct);
    let by = if census.rules.is_some() { "with the rules" } else { "at the level scheme" };
    match merged {
        0 => format!("{noun}, no two of them equivalent {by}"),
        _ => format!(
            "{noun}, {} different {by}: {} can be dropped ({})",
            grouped(distinct),
            grouped(merged),
            percent(merged, census.records)
        ),
    }
}

fn of_audit(noun: &str, findings: &FindingCounts) -> String {
    let total = findings.total();
    if total == 0 {
        return format!("{noun}, nothing suspicious");
    }
    let errors = findings.at_least(Severity::Error);
    let text = format!("{noun}, {} finding{}", grouped(total), plural(total));
    match errors {
        0 => format!("{text}, no error among them"),
        _ => format!("{text}, {} of them error{}", grouped(errors), plural(errors)),
    }
}

fn of_top(noun: &str, top: &Top) -> String {
    let Some(table) = top.masked.first() else { return noun.to_owned() };
    let by = table.by;
    match table.distinct {
        Some(1) => format!("{noun}, all with the same {by}"),
        Some(distinct) => format!("{noun}, {} different values of {by}", grouped(distinct)),
        None => format!("{noun}, with more different values of {by} than there is memory for"),
    }
}
