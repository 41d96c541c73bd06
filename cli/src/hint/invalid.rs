//! The hint that most records are not URIs: where the first one is, and what reads them.

use std::fmt::Write;

use uriscan::uri::{UriErrorKind, parse};
use uriscan_bulk::pipeline::Report;

use super::beginning::{Beginning, Line};
use super::call::{Call, typed};
use super::trial;

/// What is wrong with `record`, and at which of its bytes; a relative reference may be right.
pub(super) fn fault(record: &[u8], may_be_relative: bool) -> Option<(UriErrorKind, usize)> {
    match parse(record) {
        Err(error) => Some((error.kind, error.at as usize)),
        Ok(parts) if !parts.is_uri() && !may_be_relative => Some((UriErrorKind::Relative, 0)),
        Ok(_) => None,
    }
}

/// The hint that most records of `inputs`, or of one of them, are not URIs; `None` if they are, for the commands that
/// report each invalid record, and where the user said what becomes of invalid records.
pub(super) fn of_most(
    inputs: &[Beginning],
    is_only: bool,
    report: &Report,
    (call, may_be_relative): (&Call, bool),
) -> Option<String> {
    let (invalid, records) = (report.invalid.total(), report.records);
    let are_most = 2 * invalid > records;
    if invalid == 0 || is_reported(call) {
        return None;
    }
    let is_invalid = |record: &[u8]| fault(record, may_be_relative).is_some();
    let input = inputs.iter().find(|input| input.is_mostly(is_invalid));
    let mut hint = match input {
        _ if are_most => {
            let are = if records == 1 { "record is not a URI" } else { "records are not URIs" };
            format!("{invalid} of {records} {are}")
        }
        Some(input) if !is_only => format!(
            "most records at the beginning of {} are not URIs ({invalid} of {records} in all)",
            input.name
        ),
        _ => return None,
    };
    // `check` takes relative references.
    let are_relative = report.invalid.of(UriErrorKind::Relative) == invalid;
    let relative = if call.takes("base") { "; --base URL completes them" } else { "" };
    let Some(input) = input else {
        return Some(hint + if are_relative { relative } else { "; see `uriscan check`" });
    };
    let bad: Vec<Line<'_>> = input.records().filter(|line| is_invalid(line.text)).collect();
    if let Some(first) = bad.first().and_then(|&line| place(line, may_be_relative, report, call)) {
        let _ = write!(hint, ", the first at {}:{first}", input.name);
    }
    let texts: Vec<&[u8]> = bad.iter().map(|line| line.text).collect();
    match trial::better(&texts, call) {
        Some(better) => hint + &better,
        None if are_relative => hint + relative,
        None => {
            let null = if input.end == 0 { " -0" } else { "" };
            let file =
                if input.name == "-" { String::new() } else { format!(" {}", typed(&input.name)) };
            hint + &format!("; see `uriscan check{null}{file}`")
        }
    }
    .into()
}

/// Whether the command reports each invalid record, or the user said what becomes of them.
pub(crate) fn is_reported(call: &Call) -> bool {
    const REPORTERS: [&str; 5] = ["check", "audit", "parse", "explain", "census"];
    let is_reported = call.words.first().is_some_and(|word| REPORTERS.contains(&&**word));
    // Public keys are of any text.
    is_reported || ["--on-invalid", "--rejects", "--as"].iter().any(|option| call.has(option))
}

/// The line and column of what is wrong with `line`, and its kind; `None` where the command may read it in another way.
fn place(line: Line<'_>, may_be_relative: bool, report: &Report, call: &Call) -> Option<String> {
    let (kind, at) = fault(line.text, may_be_relative)?;
    let reads_more = ["--repair", "--iri", "--grammar", "--profile", "--suffix-scheme"];
    let is_known = report.invalid.of(kind) > 0 && !reads_more.iter().any(|of_it| call.has(of_it));
    let before = String::from_utf8_lossy(line.text.get(..at)?).chars().count();
    let column = line.indent + before + 1;
    is_known.then(|| format!("{}:{column} ({kind})", line.number))
}
