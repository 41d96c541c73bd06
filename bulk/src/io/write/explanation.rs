//! Explanations and comparisons, for people and as JSON lines.

use serde::Serialize;

use super::diagnostic::excerpt;
use super::paint::{CYAN, GREEN, PLAIN, Paint, RED, YELLOW, push_escaped};
use uriscan_core::explain::{Change, Comparison, Difference, Explanation, Merger, Reason, Step};
use uriscan_core::normalize::Level;
use uriscan_core::uri::UriError;

/// A URI and its explanation, or why it is invalid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Explained<'a> {
    /// The record without the white space around it.
    pub(crate) record: &'a [u8],
    /// The same as it is read: repaired, and resolved.
    pub(crate) uri: &'a [u8],
    pub(crate) result: &'a Result<Explanation, UriError>,
}

fn push_line(texts: &[&str], out: &mut Vec<u8>) {
    texts.iter().for_each(|text| out.extend_from_slice(text.as_bytes()));
    out.push(b'\n');
}

/// Appends the explanation of one URI as text.
pub(crate) fn text(explained: Explained<'_>, paint: Paint, out: &mut Vec<u8>) {
    push_escaped(explained.record, usize::MAX, out);
    out.push(b'\n');
    if explained.record != explained.uri {
        out.extend_from_slice(b"  read as ");
        push_escaped(explained.uri, usize::MAX, out);
        out.push(b'\n');
    }
    match explained.result {
        Ok(explanation) => {
            explanation.changes.iter().for_each(|change| push_change(change, paint, out));
            out.extend_from_slice(b"  = ");
            paint.push(GREEN, &explanation.canonical, out);
            out.push(b'\n');
        }
        Err(error) => {
            out.extend_from_slice(b"  ");
            paint.push(RED, b"invalid", out);
            push_line(&[": ", error.kind.name(), ": ", error.kind.message()], out);
            excerpt(explained.uri, error.at as usize, false, ("  ", paint), out);
        }
    }
}

fn push_change(change: &Change, paint: Paint, out: &mut Vec<u8>) {
    let Change { step, start, end, before, after, .. } = change;
    out.extend_from_slice(b"  ");
    paint.push_padded(CYAN, step.level.map_or("rule", Level::name), 6, out);
    paint.push_padded(YELLOW, step.name, 14, out);
    paint.push_padded(PLAIN, &format!("{start}..{end}"), 8, out);
    for (colour, text, end) in [(RED, before, " -> "), (GREEN, after, "\n")] {
        paint.push(colour, if text.is_empty() { b"\"\"" } else { text }, out);
        out.extend_from_slice(end.as_bytes());
    }
}

/// Replaces the name of a level where no level is enough to make two URIs equivalent: rules are necessary.
pub(crate) const RULES: &str = "rules";

/// The name of the lowest level at which two URIs are equivalent, by `steps`, or [`RULES`].
fn merged_at(level: Level, steps: &[&Step]) -> &'static str {
    if steps.iter().any(|step| step.level.is_none()) { RULES } else { level.name() }
}

/// What makes two URIs equivalent, as text: the rules that are necessary, then the level with its steps. `are_same` is whether
/// the records have the same bytes.
fn means(level: Level, steps: &[&Step], are_same: bool) -> String {
    let named = |is_of_level| {
        let steps = steps.iter().filter(|step| step.level.is_some() == is_of_level);
        steps.map(|step| step.name).collect::<Vec<_>>().join(", ")
    };
    let (of_level, rules) = (named(true), named(false));
    match (rules.is_empty(), of_level.is_empty()) {
        (true, true) if are_same => format!("at level {level}: the same bytes"),
        (true, true) => format!("at level {level}: the same bytes as they are read"),
        (true, false) => format!("at level {level}: {of_level}"),
        (false, true) => format!("by rules: {rules}"),
        (false, false) => format!("by rules: {rules}, at level {level}: {of_level}"),
    }
}

/// A comparison of two URIs, and what would merge them if they differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared<'a> {
    pub(crate) a: Explained<'a>,
    pub(crate) b: Explained<'a>,
    pub(crate) comparison: &'a Comparison,
    pub(crate) mergers: &'a [Merger],
}

/// Appends the comparison of two URIs as text.
pub(crate) fn pair_text(compared: Compared<'_>, paint: Paint, out: &mut Vec<u8>) {
    let Compared { a, b, comparison, mergers } = compared;
    text(a, paint, out);
    text(b, paint, out);
    match comparison {
        Comparison::Equivalent { level, steps } => {
            paint.push(GREEN, b"equivalent", out);
            push_line(&[" ", &means(*level, steps, a.record == b.record)], out);
        }
        Comparison::Different { differences } => {
            let is_never =
                differences.iter().any(|difference| difference.reason != Reason::HigherLevel);
            let result: &[u8] = if is_never {
                b"not equivalent by RFC 3986"
            } else {
                b"not equivalent at this level"
            };
            paint.push(RED, result, out);
            out.push(b'\n');
            for Difference { reason, at, .. } in differences {
                out.extend_from_slice(b"  ");
                paint.push(YELLOW, reason.name().as_bytes(), out);
                push_line(&[": ", reason.message()], out);
                for (side, at) in [a, b].iter().zip(at) {
                    excerpt(side.uri, *at, false, ("    ", paint), out);
                }
            }
            if mergers.is_empty() {
                push_line(&["no level, rule or preset merges them"], out);
            }
            for merger in mergers {
                paint.push(GREEN, b"merged", out);
                push_line(&[" by ", &merger.to_string()], out);
            }
        }
    }
}

/// A URI: its text, or null and hexadecimal digits.
#[derive(Serialize)]
struct UriRow<'a> {
    /// The record, if it is read as something else and is UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'a str>,
    uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<ChangeRow<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorRow>,
}

#[derive(Serialize)]
struct ChangeRow<'a> {
    level: Option<&'static str>,
    rule: &'static str,
    component: &'static str,
    start: usize,
    end: usize,
    before: &'a str,
    after: &'a str,
}

#[derive(Serialize)]
struct ErrorRow {
    kind: &'static str,
    at: u32,
}

#[derive(Serialize)]
struct LineRow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(flatten)]
    explained: UriRow<'a>,
}

#[derive(Serialize)]
struct PairRow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    a: UriRow<'a>,
    b: UriRow<'a>,
    /// The lowest level at which they are equivalent, or null.
    level: Option<&'static str>,
    rules: Vec<&'static str>,
    /// The name in JSON is stable.
    #[serde(rename = "partings")]
    differences: Vec<DifferenceRow>,
    /// Options that would merge them, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    merged_by: Option<Vec<String>>,
}

#[derive(Serialize)]
struct DifferenceRow {
    component: Option<&'static str>,
    reason: &'static str,
    a: usize,
    b: usize,
    message: &'static str,
}

/// A text known to be UTF-8: a URI, or a validated host.
fn utf8(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_default()
}

fn uri_row(explained: Explained<'_>) -> UriRow<'_> {
    let Explained { record, uri, result } = explained;
    let text = str::from_utf8(uri).ok();
    UriRow {
        record: str::from_utf8(record).ok().filter(|_| record != uri),
        uri: text,
        hex: text.is_none().then(|| uri.iter().map(|byte| format!("{byte:02x}")).collect()),
        changes: result
            .as_ref()
            .ok()
            .map(|explained| explained.changes.iter().map(change_row).collect()),
        canonical: result.as_ref().ok().map(|explained| utf8(&explained.canonical)),
        error: result
            .as_ref()
            .err()
            .map(|error| ErrorRow { kind: error.kind.name(), at: error.at }),
    }
}

fn change_row(change: &Change) -> ChangeRow<'_> {
    ChangeRow {
        level: change.step.level.map(Level::name),
        rule: change.step.name,
        component: change.component.name(),
        start: change.start,
        end: change.end,
        before: utf8(&change.before),
        after: utf8(&change.after),
    }
}

/// Appends a row and a line feed.
fn push_row(row: &impl Serialize, out: &mut Vec<u8>) {
    // Writing to a vector does not fail, and the rows hold only texts and numbers.
    let _ = serde_json::to_writer(&mut *out, row);
    out.push(b'\n');
}

/// Appends the explanation of one URI as a JSON object, with its line if it has one.
pub(crate) fn json(line: Option<u64>, explained: Explained<'_>, out: &mut Vec<u8>) {
    push_row(&LineRow { line, explained: uri_row(explained) }, out);
}

/// Appends the comparison of two URIs as a JSON object.
pub(crate) fn pair_json(line: Option<u64>, compared: Compared<'_>, out: &mut Vec<u8>) {
    let Compared { a, b, comparison, mergers } = compared;
    let (level, rules, differences) = match comparison {
        Comparison::Equivalent { level, steps } => (
            Some(merged_at(*level, steps)),
            steps.iter().map(|step| step.name).collect(),
            Vec::new(),
        ),
        Comparison::Different { differences } => {
            let row = |difference: &Difference| DifferenceRow {
                component: difference.component.map(uriscan_core::explain::Component::name),
                reason: difference.reason.name(),
                a: difference.at[0],
                b: difference.at[1],
                message: difference.reason.message(),
            };
            (None, Vec::new(), differences.iter().map(row).collect())
        }
    };
    let merged_by = level.is_none().then(|| mergers.iter().map(Merger::to_string).collect());
    let row = PairRow { line, a: uri_row(a), b: uri_row(b), level, rules, differences, merged_by };
    push_row(&row, out);
}
