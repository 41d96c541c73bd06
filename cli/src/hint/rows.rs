//! The hint about rows that mostly lack a base or a reference.

use serde_json::Value;
use uriscan::uri::UriErrorKind;
use uriscan_bulk::io::{Fields, escaped};
use uriscan_bulk::pipeline::Report;

use super::beginning::Beginning;

/// The hint about `inputs`, whose rows have a base and a reference in `fields`, if most of them have no target.
pub(crate) fn of_rows(inputs: &[Beginning], fields: &Fields, report: &Report) -> Option<String> {
    let (invalid, records) = (report.invalid.total(), report.records);
    if 2 * invalid <= records {
        return None;
    }
    let rows = if records == 1 { "row has" } else { "rows have" };
    let missing = report.invalid.of(UriErrorKind::Field);
    if 2 * missing <= invalid {
        let most = report.invalid.iter().max_by_key(|&(_, count)| count);
        let kind = most.map_or("", |(kind, _)| kind.name());
        return Some(format!(
            "{invalid} of {records} {rows} no target: the base or the reference is not valid (mostly {kind}); \
             --rejects FILE collects such rows"
        ));
    }
    let first = inputs.iter().find_map(|input| {
        let why = |line: super::beginning::Line<'_>| {
            why(line.text, fields).map(|why| format!("{}:{}: {why}", input.name, line.number))
        };
        input.records().find_map(why)
    });
    let first = first.map_or(String::new(), |first| format!(", the first at {first}"));
    Some(format!("{missing} of {records} {rows} no base or no reference{first}"))
}

/// Why the row `line` has no base or reference in `fields`; `None` if it has.
fn why(line: &[u8], fields: &Fields) -> Option<String> {
    match fields {
        Fields::Tsv { base, reference } => {
            let count = line.split(|&byte| byte == b'\t').count();
            let most = *base.max(reference);
            let columns = if count == 1 { "column" } else { "columns" };
            (count < most).then(|| {
                format!("it has {count} {columns} separated by tabs, and column {most} is wanted; --from jsonl reads members")
            })
        }
        Fields::Jsonl { base, reference } => {
            let Ok(Value::Object(row)) = serde_json::from_slice::<Value>(line) else {
                return Some(
                    "it is not a JSON object; --from tsv reads columns separated by tabs"
                        .to_owned(),
                );
            };
            let row = Value::Object(row);
            let missing = [base, reference].into_iter().find(|name| !has_text(&row, name))?;
            let names = row.as_object().into_iter().flat_map(|row| row.keys());
            let names: Vec<String> = names.take(12).map(|name| escaped(name).to_string()).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Some(format!("no text in member {}; its members are {names}", escaped(missing)))
        }
    }
}

/// Whether `row` has a string in the member called `name`, which may be a path to one.
fn has_text(row: &Value, name: &str) -> bool {
    let along = || name.split('.').try_fold(row, |value, part| value.get(part));
    row.get(name).or_else(along).is_some_and(Value::is_string)
}
