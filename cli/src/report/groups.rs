//! What is equivalent, and why: the ladder, what merges records, the largest groups.

use uriscan::normalize::Level;
use uriscan_bulk::pipeline::{Census, Groups, Keep, LargestOf, MergeLevel, MergeStep, Trap};

use super::chart::{Bar, chart};
use super::difference::marked;
use super::html::{Cell, Escaped, Section, Table, shown, shown_until};
use crate::summary::{Summary, grouped, plural, share};

fn adds(level: Level) -> &'static str {
    match level {
        Level::String => "the same bytes (RFC 3986, 6.2.1)",
        Level::Syntax => "case, percent-encoding, dot segments (6.2.2)",
        Level::Scheme => "ports, empty paths, IP addresses, DNS names (6.2.3)",
    }
}

/// How many records are distinct at each level of `census`.
pub(super) fn ladder(census: &Census) -> Option<Section> {
    let all = census.records;
    if all == 0 {
        return None;
    }
    let of_level = census.levels.iter().map(|of| (of.level.name(), of.distinct, adds(of.level)));
    let of_rules = census.rules.map(|of| ("rules", of.distinct, "rules beyond the RFC"));
    let steps = [("records", all, "as they were read")].into_iter().chain(of_level).chain(of_rules);
    let mut before = all;
    let (mut bars, mut rows) = (Vec::new(), Vec::new());
    for (name, distinct, adds) in steps {
        let merged = before.saturating_sub(distinct);
        before = distinct;
        bars.push(Bar { part: merged, ..Bar::new(name, distinct) });
        let is_first = rows.is_empty();
        let unless_first = |text: String| if is_first { String::new() } else { text };
        rows.push(vec![
            Cell::Text(name.to_owned()),
            Cell::Number(grouped(distinct)),
            Cell::Number(unless_first(grouped(merged))),
            Cell::Number(unless_first(share(merged, all))),
            Cell::Class("wide", adds.to_owned()),
        ]);
    }
    let table = Table {
        caption: "What each level merges beyond the one before".to_owned(),
        heads: vec!["level", "distinct", "merged", "share of records", "equivalent are also"],
        rows,
    };
    let intro = "<p>Two records are equivalent at a level if their canonical forms there have the same bytes. \
                 Each level includes those before it. The lighter part of a bar is what merges at that level.</p>\n";
    let chart = chart("ladder-chart", "Distinct records at each level", &bars, all);
    Some(Section::new("ladder", "The ladder", format!("{intro}{chart}{}", table.html())))
}

/// What made duplicates of records.
pub(super) fn merges(groups: &Groups, summary: &Summary<'_>) -> Option<Section> {
    let Groups { duplicates, same, aliased, unexplained, .. } = *groups;
    if duplicates == 0 {
        return None;
    }
    let levels = groups.levels.iter().filter(|level| level.count > 0);
    let others = match summary.plan.job.equivalence.profile {
        Some(profile) => format!("the profile {profile}"),
        None => "not looked into".to_owned(),
    };
    let bars: Vec<Bar> = [Bar::new("the same bytes", same)]
        .into_iter()
        .chain(levels.map(|&MergeLevel { level, count, .. }| Bar::new(label(level), count)))
        .chain([Bar::new("aliases", aliased), Bar::new(&others, unexplained)])
        .filter(|bar| bar.count > 0)
        .collect();
    let kept = kept_of(groups.keep);
    let title =
        format!("Duplicates by what makes them equivalent to the {kept} record of their group");
    let mut content = format!("<p>{}</p>\n", looked_at(groups, summary));
    content += &chart("merges-chart", &title, &bars, duplicates);
    if !groups.steps.is_empty() {
        content += &format!(
            "<p>A duplicate may need several steps and rules. Examples show a duplicate above the {kept} record of its group.</p>\n"
        );
        content += &groups.steps.iter().map(|step| html_of(step, groups)).collect::<String>();
    }
    Some(Section::new("merges", "What merged, and why", content))
}

/// Which record of a group the others are compared with.
fn kept_of(keep: Keep) -> &'static str {
    match keep {
        Keep::First => "first",
        Keep::Last => "last",
        _ => "kept",
    }
}

/// Of what the counts are.
fn looked_at(groups: &Groups, summary: &Summary<'_>) -> String {
    let Groups { is_all, duplicates, explained, .. } = *groups;
    let some = explained.map_or(String::new(), |some| {
        format!(" What makes them equivalent is estimated by {} pairs of those.", grouped(some))
    });
    let count = format!("{} duplicate{}", grouped(duplicates), plural(duplicates));
    match is_all {
        true if duplicates == summary.report.duplicates => format!("Of all {count}.{some}"),
        true => format!("Of {count} in this input.{some}"),
        false => format!(
            "Of a sample: {count}, those of {} groups with {} records. Shares are about those of all.{some}",
            grouped(groups.groups),
            grouped(groups.records)
        ),
    }
}

fn label(level: Option<Level>) -> &'static str {
    match level {
        Some(Level::String) => "the same bytes after repair",
        Some(Level::Syntax) => "case, encoding, dot segments",
        Some(Level::Scheme) => "ports, empty paths, DNS names",
        None => "rules beyond the RFC",
    }
}

fn html_of(step: &MergeStep, groups: &Groups) -> String {
    let Groups { duplicates, explained, .. } = *groups;
    let about = if explained.is_some() { "≈ " } else { "" };
    let MergeStep { step, count, alone, examples, .. } = step;
    let meaning = step.meaning.replace('`', "");
    let meaning = meaning.trim_end_matches('.');
    let alone = match alone {
        0 => String::new(),
        alone if alone == count => "; nothing else is needed".to_owned(),
        alone => format!("; for {} of them nothing else is needed", grouped(*alone)),
    };
    let pair = |[record, kept]: &[Vec<u8>; 2]| {
        let [record, kept] = marked(&shown(record), &shown(kept));
        format!("<li><code>{}</code><br><code class=\"soft\">{}</code></li>", record.0, kept.0)
    };
    format!(
        "<div class=\"step\"><h3>{}</h3><p class=\"count\">{about}{} ({}{alone})</p>{}\
         <p class=\"soft\">{} ({})</p><ul>{}</ul></div>\n",
        Escaped(step.name),
        grouped(*count),
        share(*count, duplicates),
        Cell::Meter(*count as f64 / duplicates as f64).content(),
        Escaped(meaning),
        Escaped(step.source),
        examples.iter().map(pair).collect::<String>(),
    )
}

pub(super) fn largest(groups: &Groups, records: u64) -> Option<Section> {
    if groups.largest.is_empty() {
        return None;
    }
    let about = if groups.largest_of == LargestOf::Estimated { "≈ " } else { "" };
    let row = |(text, count): &(Vec<u8>, u64)| {
        let text = if text.is_empty() {
            Cell::Class("soft", "(a record that is too long to be shown)".to_owned())
        } else {
            Cell::Uri(match uriscan::uri::parse(text) {
                Ok(_) => shown(text),
                Err(error) => shown_until(text, error),
            })
        };
        vec![
            text,
            Cell::Number(format!("{about}{}", grouped(*count))),
            Cell::Number(share(*count, records)),
            Cell::Meter(*count as f64 / records.max(1) as f64),
        ]
    };
    let kept = kept_of(groups.keep);
    let caption = match groups.largest_of {
        LargestOf::Estimated => {
            "The groups with the most records, each by its canonical form; numbers are estimates"
                .to_owned()
        }
        LargestOf::Sample => format!(
            "No group is much larger than others; of those of the sample, the largest, each by its {kept} record"
        ),
        _ => format!("The groups with the most records, each by its {kept} record"),
    };
    let heads = vec!["group", "records", "share", ""];
    let table = Table { caption, heads, rows: groups.largest.iter().map(row).collect() };
    Some(Section::new("groups", "The largest groups", table.html()))
}

/// What may be traps of crawlers.
pub(super) fn traps(groups: &Groups) -> Option<Section> {
    if groups.traps.is_empty() {
        return None;
    }
    let about = if groups.is_all { "" } else { "≈ " };
    let row = |trap: &Trap| {
        vec![
            Cell::Uri(shown(&trap.shape)),
            Cell::Class("soft", trap.why.to_string()),
            Cell::Number(format!("{about}{}", grouped(trap.uris))),
            Cell::Uri(shown(&trap.last)),
        ]
    };
    let caption = "Calendars and numbered pages with 1,000 different numbers or more. A large site may have as many; a crawler's trap has \
                   any number of them. Those that are traps can be omitted by --not-match"
        .to_owned();
    let heads = vec!["shape", "why", "different URIs", "for example"];
    let table = Table { caption, heads, rows: groups.traps.iter().map(row).collect() };
    Some(Section::new("traps", "What may have no end", table.html()))
}
