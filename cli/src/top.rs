//! The output of `top`: a table for people, tab-separated values, JSON lines.

use std::fmt::Write;

use serde_json::json;
use uriscan::shape::{self, Endless};
use uriscan_bulk::io::escaped;
use uriscan_bulk::pipeline::{By, Top, TopRow, TopTable};

use crate::args::TopFormat;
use crate::bar::{View, bar};
use crate::summary::{grouped, plural, share};

/// Scheme and authority of the targets of logs that have none, where only what follows them is shown.
pub(crate) const NO_SITE: &str = "http://log.invalid";

/// The counts of the only table of `top`, as `view` says.
pub(crate) fn of_top(top: &Top, view: View<TopFormat>, is_distinct: bool) -> String {
    let Some(table) = top.tables.first() else { return String::new() };
    match view.format {
        TopFormat::Text => text(top, table, view.has_bars, is_distinct),
        TopFormat::Tsv => tsv(top, table),
        TopFormat::Jsonl => jsonl(top, table),
    }
}

/// A sentence about counts that are not exact; `None` if all are.
pub(crate) fn inexact(top: &Top) -> Option<String> {
    let table = top.tables.iter().find(|table| table.error > 0)?;
    Some(format!(
        "the values exceed --max-memory: counts are too high by {} at most, and values that occur more often are all known",
        grouped(table.error)
    ))
}

/// A sentence about shapes that look like traps of crawlers, as their segments repeat; `None` if none of those that are printed does.
/// Whether numbers go on without end, counts of records do not say.
pub(crate) fn repeating(top: &Top) -> Option<String> {
    /// Shapes that are named.
    const SHOWN: usize = 3;
    let table = top.tables.first().filter(|table| matches!(table.by, By::Shape { .. }))?;
    let is_repeating = |row: &&TopRow| {
        row.value.as_deref().is_some_and(|shape| shape::endless(shape) == Some(Endless::Repeats))
    };
    let traps: Vec<String> = table
        .rows
        .iter()
        .filter(is_repeating)
        .filter_map(|row| Some(escaped(&value(row)?).to_string()))
        .collect();
    let (shown, rest) = traps.split_at(SHOWN.min(traps.len()));
    if shown.is_empty() {
        return None;
    }
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let shown = shown.join(", ");
    Some(format!(
        "shapes whose segments repeat, as those of crawler traps do, are {shown}{more}; --max-repeats 2 drops such URLs"
    ))
}

/// The value of `row` as text; `None` for records without the part.
fn value(row: &TopRow) -> Option<String> {
    let value = String::from_utf8_lossy(row.value.as_deref()?);
    let rest = value.strip_prefix(NO_SITE).filter(|rest| rest.starts_with(['/', '?', '#']));
    Some(rest.unwrap_or(&value).to_owned())
}

fn fraction(row: &TopRow, top: &Top) -> f64 {
    if top.counted == 0 { 0.0 } else { row.count as f64 / top.counted as f64 }
}

fn text(top: &Top, table: &TopTable, has_bars: bool, is_distinct: bool) -> String {
    let mut text = String::new();
    let is_exact = table.error == 0;
    let longest = table.rows.first().map_or(0, |row| row.count);
    let mut line = |count: &str, error: &str, part: &str, bar: &str, value: &str| {
        let error = if is_exact { String::new() } else { format!("{error:>10}") };
        let bar = if has_bars { format!("{bar:<20}  ") } else { String::new() };
        let _ = writeln!(text, "{count:>10}{error}{part:>10}  {bar}{value}");
    };
    line("count", "error", "share", "", &table.by.to_string());
    for row in &table.rows {
        let error = format!("-{}", grouped(row.error));
        let value = match value(row) {
            Some(value) => escaped(&value).to_string(),
            None => format!("(no {})", table.by.name()),
        };
        let part = share(row.count, top.counted);
        line(&grouped(row.count), &error, &part, &bar(row.count, longest), &value);
    }
    let what = match is_distinct {
        _ if table.by.log_part().is_some() => "request",
        true => "distinct URI",
        false => "URI",
    };
    let _ = write!(text, "\n  {} {what}{}", grouped(top.counted), plural(top.counted));
    if let Some(distinct) = table.distinct {
        let values = if distinct == 1 { "value" } else { "different values" };
        let _ = write!(text, ", {} {values}", grouped(distinct));
        let shown = table.rows.iter().filter(|row| row.value.is_some()).count() as u64;
        if distinct > shown {
            let more = distinct - shown;
            let _ = write!(text, "; {} more row{} with -n 0", grouped(more), plural(more));
        }
    }
    let invalid = top.report.invalid.total();
    if invalid > 0 {
        let _ = write!(text, "; {} invalid record{}", grouped(invalid), plural(invalid));
    }
    text.push('\n');
    text
}

fn tsv(top: &Top, table: &TopTable) -> String {
    let mut text = "value\tcount\tshare\terror\n".to_owned();
    for row in &table.rows {
        let value = value(row).unwrap_or_else(|| "\\N".to_owned());
        let _ = writeln!(text, "{value}\t{}\t{:.6}\t{}", row.count, fraction(row, top), row.error);
    }
    text
}

fn jsonl(top: &Top, table: &TopTable) -> String {
    let mut text = String::new();
    let by = json!(table.by.to_string());
    for row in &table.rows {
        let (value, share) = (json!(value(row)), json!(fraction(row, top)));
        let TopRow { count, error, .. } = row;
        let _ = writeln!(
            text,
            r#"{{"by":{by},"value":{value},"count":{count},"share":{share},"error":{error}}}"#
        );
    }
    text
}
