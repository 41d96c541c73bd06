//! The sections of a report.

use uriscan::audit::{Rule, Severity};
use uriscan::pipeline::{FindingCounts, Invalid, Lengths, Top, TopTable};
use uriscan::uri::ErrorKind;

use super::chart::{Bar, chart};
use super::html::{Cell, Escaped, Table, shown, shown_fault};
use super::merges::{EXPLAINED, Largest, Merges};
use super::survey::Step;
use crate::summary::{grouped, plural, share};

/// A section: its name in links, its heading, its content.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) heading: String,
    pub(super) content: String,
}

impl Section {
    fn new(id: &'static str, heading: impl Into<String>, content: String) -> Section {
        Section { id, heading: heading.into(), content }
    }

    pub(super) fn html(&self) -> String {
        let Section { id, heading, content } = self;
        let heading = Escaped(heading);
        format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-h\">\n<h2 id=\"{id}-h\">{heading}</h2>\n{content}</section>\n"
        )
    }
}

/// The steps of the ladder, the first of which is that of all records.
pub(super) fn ladder(steps: &[Step]) -> Option<Section> {
    let all = steps.first().filter(|_| steps.len() > 1)?.distinct;
    let mut before = all;
    let (mut bars, mut rows) = (Vec::new(), Vec::new());
    for &Step { name, distinct, adds } in steps {
        let merged = before.saturating_sub(distinct);
        before = distinct;
        let value = match merged {
            0 => grouped(distinct),
            _ => format!("{} (−{})", grouped(distinct), grouped(merged)),
        };
        bars.push(Bar {
            label: name.to_owned(),
            value,
            count: distinct,
            part: merged,
            class: "bar",
        });
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
    let chart = chart("ladder-chart", "Distinct records at each level", &bars);
    Some(Section::new("ladder", "The ladder", format!("{intro}{chart}{}", table.html())))
}

/// What made duplicates of records.
pub(super) fn merges(merges: &Merges) -> Option<Section> {
    let Merges { same, others, by_step } = merges;
    if same + others == 0 {
        return None;
    }
    let mut steps: Vec<_> = by_step.values().collect();
    steps.sort_by_key(|(merged, step)| (std::cmp::Reverse(merged.count), step.name));
    let mut content = format!(
        "<p>{} {} the bytes of the record that is kept; {} {} written differently. A pair may need several steps.",
        grouped(*same),
        if *same == 1 { "duplicate has" } else { "duplicates have" },
        grouped(*others),
        if *others == 1 { "is" } else { "are" }
    );
    if *others > EXPLAINED {
        content += &format!(" The steps are those of the first {} pairs.", grouped(EXPLAINED));
    }
    content += "</p>\n";
    let rows: Vec<Vec<Cell>> = steps
        .iter()
        .map(|(merged, step)| {
            let pairs = merged
                .examples
                .iter()
                .map(|(_, [record, survivor])| format!("{record}\n{survivor}"));
            vec![
                Cell::Uri(step.name.to_owned()),
                Cell::Number(grouped(merged.count)),
                Cell::Class(
                    "wide",
                    format!(
                        "{} ({})",
                        step.meaning.replace('`', "").trim_end_matches('.'),
                        step.source
                    ),
                ),
                Cell::Pairs(pairs.collect()),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let caption = "Steps and rules that merge records, with up to three pairs each".to_owned();
        let heads =
            vec!["step or rule", "pairs", "meaning", "duplicate and the record that is kept"];
        content += &Table { caption, heads, rows }.html();
    }
    Some(Section::new("merges", "What merged, and why", content))
}

/// The largest classes.
pub(super) fn largest(largest: &Largest, records: u64) -> Option<Section> {
    let first = largest.0.first()?.0;
    let row = |(count, survivor): &(u64, Vec<u8>)| {
        vec![
            Cell::Uri(shown(survivor)),
            Cell::Number(grouped(*count)),
            Cell::Number(share(*count, records)),
            Cell::Meter(*count as f64 / first as f64),
        ]
    };
    let caption = "Classes with the most records; the first record of each".to_owned();
    let heads = vec!["record", "count", "share", ""];
    let table = Table { caption, heads, rows: largest.0.iter().map(row).collect() };
    Some(Section::new("classes", "The largest classes", table.html()))
}

/// The findings of an audit.
pub(super) fn findings(counts: &FindingCounts) -> Section {
    if counts.total() == 0 {
        let content = "<p>Nothing was found.</p>\n".to_owned();
        return Section::new("findings", "Findings", content);
    }
    let of = |severity| Rule::ALL.iter().map(|&rule| counts.of_severity(rule, severity)).sum();
    let mut severities = Severity::ALL;
    severities.sort();
    severities.reverse();
    let bar = |severity: Severity| {
        let (label, count): (_, u64) = (severity.name().to_owned(), of(severity));
        Bar { label, value: grouped(count), count, part: 0, class: severity.name() }
    };
    let bars: Vec<Bar> = severities.iter().map(|&severity| bar(severity)).collect();
    let of_rule = |rule| severities.map(|severity| counts.of_severity(rule, severity));
    let mut rules: Vec<Rule> =
        Rule::ALL.iter().copied().filter(|&rule| counts.of(rule) > 0).collect();
    rules.sort_by_key(|&rule| std::cmp::Reverse(of_rule(rule)));
    let row = |&rule: &Rule| {
        let number = |count| match count {
            0 => Cell::Number("–".to_owned()),
            count => Cell::Number(grouped(count)),
        };
        let mut cells = vec![Cell::Uri(rule.id().to_owned())];
        cells.extend(of_rule(rule).map(number));
        cells.push(Cell::Text(rule.section().to_owned()));
        cells.push(Cell::Class("wide", format!("{}: {}", rule.title(), rule.consequence())));
        cells
    };
    let mut heads = vec!["rule"];
    heads.extend(severities.map(Severity::name));
    heads.extend(["section", "meaning"]);
    let caption = "Findings by rule and severity; sections are those of RFC 3986".to_owned();
    let table = Table { caption, heads, rows: rules.iter().map(row).collect() };
    let chart = chart("findings-chart", "Findings by severity", &bars);
    Section::new("findings", "Findings", format!("{chart}{}", table.html()))
}

/// The counts of `table`, of which `counted` records are the whole.
pub(super) fn counts(table: &TopTable, counted: u64) -> Option<Table> {
    // Bars compare values: most records have no port, and their bar would hide all others. A table that has nothing but
    // records without the part is none.
    let first = table.rows.iter().find(|row| row.value.is_some())?.count;
    let is_exact = table.error == 0;
    let row = |row: &uriscan::pipeline::TopRow| {
        let head = match &row.value {
            Some(value) => Cell::Uri(shown(value)),
            None => Cell::Class("soft", format!("(no {})", table.by.name())),
        };
        let mut cells = vec![head, Cell::Number(grouped(row.count))];
        if !is_exact {
            cells.push(Cell::Number(format!("−{}", grouped(row.error))));
        }
        cells.push(Cell::Number(share(row.count, counted)));
        let has_bar = row.value.is_some();
        cells.push(match has_bar {
            true => Cell::Meter(row.count as f64 / first.max(1) as f64),
            false => Cell::Class("meter", String::new()),
        });
        cells
    };
    let name = plural_of(table.by.name());
    let caption = match table.distinct {
        Some(distinct) => format!("{name}: {} different", grouped(distinct)),
        None => format!("{name}: counts may be too high by the error"),
    };
    let heads = match is_exact {
        true => vec![table.by.name(), "count", "share", ""],
        false => vec![table.by.name(), "count", "error", "share", ""],
    };
    Some(Table { caption, heads, rows: table.rows.iter().map(row).collect() })
}

fn plural_of(part: &str) -> String {
    match part {
        "domain" => "Registrable domains".to_owned(),
        "suffix" => "Public suffixes".to_owned(),
        "param" => "Parameters".to_owned(),
        "path" => "First path segments".to_owned(),
        "label" => "Last labels".to_owned(),
        other => format!("{}{}s", other[..1].to_uppercase(), &other[1..]),
    }
}

/// Hosts, domains and so on.
pub(super) fn parts(top: &Top) -> Option<Section> {
    let tables: Vec<String> = top
        .tables
        .iter()
        .filter_map(|table| counts(table, top.counted))
        .map(|table| table.html())
        .collect();
    if tables.is_empty() {
        return None;
    }
    let content = format!(
        "<p>Of {} URI{}, each counted as often as it occurs, by its canonical form.</p>\n<div class=\"pair\">{}</div>\n",
        grouped(top.counted),
        plural(top.counted),
        tables.iter().map(|table| format!("<div>{table}</div>")).collect::<String>()
    );
    Some(Section::new("parts", "Hosts and other parts", content))
}

/// The lengths of records.
pub(super) fn lengths(lengths: &Lengths) -> Option<Section> {
    let records = lengths.records();
    let is_used = |&digits: &usize| lengths.by_digits[digits] > 0;
    let (first, last) = ((0..32).find(is_used)?, (0..32).rev().find(is_used)?);
    let bar = |digits: usize| {
        let (least, most) = (1u64 << digits >> 1, (1u64 << digits) - 1);
        let label = if least >= most {
            format!("{most} byte{}", plural(most))
        } else {
            format!("{least} to {most} bytes")
        };
        let count = lengths.by_digits[digits];
        let value = format!("{} ({})", grouped(count), share(count, records));
        Bar { label, value, count, part: 0, class: "bar" }
    };
    let bars: Vec<Bar> = (first..=last).map(bar).collect();
    let content = format!(
        "<p>The mean is {:.1} bytes; the longest record has {}.</p>\n{}",
        lengths.sum as f64 / records as f64,
        grouped(lengths.longest),
        chart("lengths-chart", "Records by length", &bars)
    );
    Some(Section::new("lengths", "Lengths", content))
}

/// Invalid records by kind.
pub(super) fn faults(top: &Top, invalid: &Invalid) -> Option<Section> {
    let mut kinds: Vec<(ErrorKind, u64)> = invalid.iter().collect();
    kinds.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let row = |&(kind, count): &(ErrorKind, u64)| {
        let examples = top.faults.iter().filter(|fault| fault.error.kind == kind);
        let place = |fault: &uriscan::pipeline::Fault| {
            let column = u64::from(fault.error.at) + 1;
            let record = shown_fault(fault);
            format!("{record}\n{}:{}, byte {column}", fault.source, fault.line)
        };
        vec![
            Cell::Uri(kind.name().to_owned()),
            Cell::Number(grouped(count)),
            Cell::Class("wide", kind.message().to_owned()),
            Cell::Pairs(examples.map(place).collect()),
        ]
    };
    let rows: Vec<Vec<Cell>> = kinds.iter().map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let heads = vec!["kind", "records", "meaning", "examples"];
    let caption = "Records that are not URIs, with up to three examples of each kind".to_owned();
    let content = Table { caption, heads, rows }.html();
    Some(Section::new("faults", "Invalid records", content))
}
