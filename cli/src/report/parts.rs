//! What URIs are made of: hosts, domains, parameters, schemes, depths and lengths.

use uriscan_bulk::pipeline::{Frequency, Lengths, Overview, Top, TopRow, TopTable};

use super::chart::{Bar, chart};
use super::html::{Cell, Section, Table, shown};
use crate::plan::Plan;
use crate::summary::{grouped, plural};

/// The counts that the command itself makes.
pub(super) fn own(top: &Top, plan: &Plan) -> Option<Section> {
    let table = counts(top.masked.first()?, top.counted)?;
    let what = if plan.job.is_distinct { "distinct URI" } else { "URI" };
    let content = format!(
        "<p>Of {} {what}{}.</p>\n{}",
        grouped(top.counted),
        plural(top.counted),
        table.html()
    );
    Some(Section::new("top", "The most frequent values", content))
}

/// The counts of `table`, of which `counted` records are the whole.
fn counts(table: &TopTable, counted: u64) -> Option<Table> {
    // A table that has nothing but records without the part is none.
    table.rows.iter().find(|row| row.value.is_some())?;
    let is_exact = table.error == 0;
    let row = |row: &TopRow| {
        let head = match &row.value {
            Some(value) => Cell::Uri(shown(value)),
            None => Cell::Class("soft", format!("(no {})", table.by.name())),
        };
        let mut cells = vec![head, Cell::Number(grouped(row.count))];
        if !is_exact {
            cells.push(Cell::Number(format!("−{}", grouped(row.error))));
        }
        cells.extend(Cell::shares(row.count, counted));
        cells
    };
    let caption = match table.distinct {
        Some(distinct) => format!("{}: {} different", table.by, grouped(distinct)),
        None => format!("{}: counts may be too high by the error", table.by),
    };
    let heads = match is_exact {
        true => vec![table.by.name(), "count", "share", ""],
        false => vec![table.by.name(), "count", "error", "share", ""],
    };
    let rows = table.rows.iter().take(ROWS).map(row).collect();
    Some(Table { caption, heads, rows })
}

/// Values of a part that are shown.
const ROWS: usize = 50;

/// Hosts, domains, parameters and schemes.
pub(super) fn parts(overview: &Overview) -> Option<Section> {
    let Overview { counted, schemes, hosts, domains, params, .. } = overview;
    let tables: Vec<String> = [
        ("Hosts", "host", hosts, overview.absent_hosts),
        ("Registrable domains", "domain", domains, overview.absent_hosts + overview.absent_domains),
        ("Parameters", "parameter", params, 0),
        ("Schemes", "scheme", schemes, 0),
    ]
    .into_iter()
    .filter_map(|(name, head, of, absent)| frequency((name, head), of, *counted, absent))
    .map(|table| format!("<div>{}</div>", table.html()))
    .collect();
    if tables.is_empty() {
        return None;
    }
    let content = format!(
        "<p>Of {} URI{}, each counted as often as it occurs, by its canonical form.</p>\n<div class=\"pair\">{}</div>\n",
        grouped(*counted),
        plural(*counted),
        tables.concat()
    );
    Some(Section::new("parts", "Hosts, domains, parameters and schemes", content))
}

/// The most frequent values of a part that `absent` of `counted` URIs do not have.
fn frequency(
    (name, head): (&str, &'static str),
    found: &Frequency,
    counted: u64,
    absent: u64,
) -> Option<Table> {
    if found.rows.is_empty() {
        return None;
    }
    let at_least = if found.missed > 0 { "≥ " } else { "" };
    let row = |name: Cell, at_least: &str, count: u64| {
        let count_of_it = Cell::Number(format!("{at_least}{}", grouped(count)));
        [name, count_of_it].into_iter().chain(Cell::shares(count, counted)).collect()
    };
    let of_value = |(text, count): &(Vec<u8>, u64)| row(Cell::Uri(shown(text)), at_least, *count);
    let mut rows: Vec<Vec<Cell>> = found.rows.iter().map(of_value).collect();
    if absent > 0 {
        rows.push(row(Cell::Class("soft", format!("(no {head})")), "", absent));
    }
    let caption = match found.distinct {
        Some(distinct) => format!("{name}: {} different", grouped(distinct)),
        None => format!(
            "{name}: more than there is memory for; a number is too low by {} at most",
            grouped(found.missed)
        ),
    };
    Some(Table { caption, heads: vec![head, "count", "share", ""], rows })
}

/// Depths of paths, and lengths.
pub(super) fn shapes(overview: &Overview) -> Option<Section> {
    let charts: Vec<String> = [depths(overview), lengths(&overview.lengths)]
        .into_iter()
        .flatten()
        .map(|chart| format!("<div>{chart}</div>"))
        .collect();
    if charts.is_empty() {
        return None;
    }
    let traps = match overview.repeating {
        0 => String::new(),
        count => format!(
            "<p>{} URI{} of {} segments and more repeat{} the same segments again and again, as those of a crawler's trap do: \
             <code>--max-repeats 2</code> drops such URIs.</p>\n",
            grouped(count),
            plural(count),
            Overview::DEPTHS - 1,
            if count == 1 { "s" } else { "" },
        ),
    };
    let content = format!("{traps}<div class=\"pair\">{}</div>\n", charts.concat());
    Some(Section::new("shapes", "Depth and length", content))
}

fn depths(overview: &Overview) -> Option<String> {
    let depths = &overview.depths;
    let last = depths.iter().rposition(|&count| count > 0)?;
    let first = depths.iter().position(|&count| count > 0)?;
    let label = |depth: usize| match depth {
        1 => "1 segment".to_owned(),
        depth if depth + 1 == Overview::DEPTHS => format!("{depth} segments and more"),
        depth => format!("{depth} segments"),
    };
    let bars: Vec<Bar> =
        (first..=last).map(|depth| Bar::new(label(depth), depths[depth])).collect();
    Some(chart("depths-chart", "URIs by the depth of their path", &bars, overview.counted))
}

fn lengths(lengths: &Lengths) -> Option<String> {
    let records = lengths.records();
    let is_used = |&digits: &usize| lengths.by_digits[digits] > 0;
    let (first, last) = ((0..32).find(is_used)?, (0..32).rev().find(is_used)?);
    let bar = |digits: usize| {
        let (least, most) = (1u64 << digits >> 1, (1u64 << digits) - 1);
        let label = if digits == 31 {
            format!("{least} bytes and more")
        } else if least >= most {
            format!("{most} byte{}", plural(most))
        } else {
            format!("{least} to {most} bytes")
        };
        Bar::new(label, lengths.by_digits[digits])
    };
    let bars: Vec<Bar> = (first..=last).map(bar).collect();
    let title = format!(
        "Records by length: {:.1} bytes on average, {} at most",
        lengths.sum as f64 / records.max(1) as f64,
        grouped(lengths.longest)
    );
    Some(chart("lengths-chart", &title, &bars, records))
}
