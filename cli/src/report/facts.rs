//! The main figures of a run: those of its summary.

use serde_json::Value;

use super::findings::invalid_and_skipped;
use super::html::Escaped;
use crate::job::Writes;
use crate::summary::{Summary, grouped, share};

/// The figures of `summary` that are shown, each called as in the summary in JSON.
pub(super) fn facts(summary: &Summary<'_>) -> String {
    let plan = summary.plan;
    let fields = summary.fields();
    let count = |name: &str| fields.get(name).and_then(Value::as_u64);
    let records = summary.report.records;
    let of_records = |count| share(count, records);
    let is_survivors = plan.job.writes == Writes::Survivors;
    let is_links = plan.job.writes == Writes::Links;
    let mut html = "<dl class=\"facts\">".to_owned();
    let mut add = |name: &str, label: &str, note: String, is_wanted: bool| {
        let Some(count) = count(name).filter(|&count| is_wanted || count > 0) else { return };
        html += &item(name, label, &grouped(count), &note);
    };
    add("records", if is_links { "links" } else { "records" }, String::new(), true);
    if is_survivors {
        let withheld = summary.report.withheld;
        let note = match withheld {
            0 => String::new(),
            _ => format!("{} written", grouped(summary.report.written)),
        };
        // What an earlier run has seen is distinct, but not new.
        add("distinct", if plan.set.is_some() { "new" } else { "distinct" }, note, true);
        add("seen", "already seen", "distinct, in the set".to_owned(), true);
        add("duplicates", "duplicates", of_records(summary.report.duplicates), true);
        add("dropped", "dropped", "not URIs".to_owned(), false);
    }
    add("findings", "findings", String::new(), true);
    let [invalid, skipped] = invalid_and_skipped(plan, &summary.report.invalid);
    if skipped == 0 {
        add("invalid", "invalid", of_records(invalid), true);
    }
    add("repaired", "repaired", String::new(), false);
    add("filtered", "filtered", "not selected".to_owned(), false);
    add("bad_rows", "bad rows", "do not fit the table".to_owned(), false);
    if skipped > 0 {
        html += &item("invalid", "invalid", &grouped(invalid), &of_records(invalid));
        let note = "without a base; --base sets one";
        html += &item("skipped", "references skipped", &grouped(skipped), note);
    }
    let seconds = summary.elapsed.as_secs_f64();
    html += &item("time", "time", &format!("{seconds:.2} s"), &summary.rate());
    html + "</dl>\n"
}

fn item(name: &str, label: &str, value: &str, note: &str) -> String {
    let note = match note.is_empty() {
        true => String::new(),
        false => format!("<small>{}</small>", Escaped(note)),
    };
    format!(
        "<div><dt>{}</dt><dd id=\"fact-{name}\">{}{note}</dd></div>",
        Escaped(label),
        Escaped(value)
    )
}
