//! What is printed after a run, besides its results: that the input looks like something else than what it was read as, and what
//! became of records and rows where the user did not say that.

use uriscan::row::OnBadRow;
use uriscan::uri::UriErrorKind;
use uriscan_bulk::pipeline::{Invalid, OnInvalid, Report};

use crate::exit::eprint_line;
use crate::hint;
use crate::inputs::{Input, StdinHead};
use crate::output::Content;
use crate::plan::{Plan, RowUse};
use crate::summary::{counted, grouped};
use crate::{rows, tables};

/// Prints what the inputs look like, and what else there is to know about the results.
pub(crate) fn print_all(
    plan: &Plan,
    report: &Report,
    (stdin_head, unread): (&StdinHead, usize),
    is_summarized: bool,
) {
    let mut is_reported = print_of_column(plan, report);
    if plan.table.is_none() {
        is_reported |= print(plan, report, stdin_head);
        if unread == 0 {
            print_unselected(plan, report, stdin_head);
        }
    }
    if !is_reported && !is_summarized {
        print_invalid(plan, report);
    }
    print_unruled(plan, report);
    print_bad(plan, report);
    print_as_text(plan, report);
    if !is_summarized {
        print_blank(plan, report);
    }
    // Not a hint: rows may be missing.
    tables::print_notes();
    if let Some(rate) = plan.job.approximate {
        print_approximate(rate, report);
    }
}

/// Prints what an input looks like, if it is not a list of URIs; returns whether it did.
fn print(plan: &Plan, report: &Report, stdin_head: &StdinHead) -> bool {
    // Not pairs, and not a column.
    let is_column = plan.column.is_some() || plan.rows.is_some();
    let is_list = plan.documents.is_none() && !is_column && !plan.job.has_pairs;
    if !is_list || !plan.reporting.has_hints() {
        return false;
    }
    let is_odd = report.invalid.total() > report.records / 2;
    let is_masked = plan.job.is_masking;
    let beginning = |input: &Input| beginning(plan, input, stdin_head);
    let hint = match plan.inputs.first() {
        // What is masked is not parsed, and may be the lines of a log.
        first if is_masked => first.and_then(beginning).as_ref().and_then(hint::of_masked),
        Some(Input::Remote(url)) if url.is_web() && is_odd => Some(format!(
            "most of {url} is not a list of URIs; use -e URL or `echo URL | uriscan ...` for the URL itself"
        )),
        _ => {
            let inputs = plan.inputs.iter().take(hint::MOST_INPUTS);
            let beginnings: Vec<_> = inputs.filter_map(beginning).collect();
            match &plan.job.fields {
                Some(fields) => hint::of_rows(&beginnings, fields, report),
                None => {
                    let is_only = plan.inputs.len() == 1;
                    hint::of_inputs(&beginnings, is_only, report, &hint::Call::of_process())
                }
            }
        }
    };
    hint.inspect(|hint| eprint_line(format_args!("uriscan: {hint}"))).is_some()
}

/// Prints how many records are invalid, by kind, and what became of them, where the user did not say that, and nothing else
/// reports them.
fn print_invalid(plan: &Plan, report: &Report) {
    let mut invalid = Invalid::default();
    // Relative references in documents are results, unless they are skipped.
    let are_results = plan.documents.is_some() && !plan.job.skips_invalid;
    let is_reported = |kind| are_results && kind == UriErrorKind::Relative;
    let kinds = report.invalid.iter().filter(|&(kind, _)| !is_reported(kind));
    kinds.for_each(|(kind, count)| invalid.add_many(kind, count));
    let total = invalid.total();
    let are_kept = plan.job.on_invalid == Some(OnInvalid::Pass);
    let are_skipped = plan.job.skips_invalid;
    let call = hint::Call::of_process();
    let is_said = !are_skipped && (!are_kept || hint::is_reported(&call));
    if total == 0 || !plan.reporting.has_hints() || is_said {
        return;
    }
    let records = counted(report.records, "record", "records");
    let are = if total == 1 { "is invalid and was" } else { "are invalid and were" };
    let became = if are_skipped { "skipped" } else { "kept" };
    let column = plan.rows.as_ref().map(|rows| &*rows.options.table.column);
    let column = column.or(plan.table.as_ref().map(tables::column_of));
    let of_column =
        column.map_or(String::new(), |column| format!(" --column {}", hint::typed(column)));
    let mut advice = Vec::new();
    let relative = invalid.of(UriErrorKind::Relative);
    // `check` takes relative references.
    if total > relative && plan.documents.is_some() {
        advice
            .push("`uriscan check` with the same options that choose links shows where".to_owned());
    } else if total > relative {
        advice.push(format!("`uriscan check{of_column}` shows where"));
    }
    if relative > 0 && plan.documents.is_some() {
        advice.push("--base URL completes relative ones".to_owned());
    } else if relative > 0 && call.takes("suffix-scheme") && !call.has("--suffix-scheme") {
        advice.push("--base or --suffix-scheme completes relative ones".to_owned());
    }
    if !are_skipped {
        advice.push("--on-invalid drop omits them".to_owned());
    }
    let semicolon = if advice.is_empty() { "" } else { "; " };
    let advice = advice.join(", ");
    eprint_line(format_args!(
        "uriscan: {total} of {records} {are} {became} ({invalid}){semicolon}{advice}"
    ));
}

/// Prints what reads the column of URIs of a table, if most of its values are not URIs, or its name is one; returns whether
/// it did.
fn print_of_column(plan: &Plan, report: &Report) -> bool {
    let rows = plan.rows.as_ref();
    let table = plan.table.as_ref().or(rows.and_then(|rows| rows.table.as_ref()));
    let column = rows.map(|rows| &*rows.options.table.column).or(table.map(tables::column_of));
    let Some(column) = column.filter(|_| plan.reporting.has_hints()) else { return false };
    let of_values = (report.invalid.total() > report.records / 2).then(|| {
        let other = table.and_then(|table| tables::other_column(plan, table));
        other.or_else(|| hint::of_column(column, report, &hint::Call::of_process()))
    });
    let of_values = of_values.flatten();
    let is_reported = of_values.is_some();
    for hint in of_header(plan, column).into_iter().chain(of_values) {
        eprint_line(format_args!("uriscan: {hint}"));
    }
    is_reported
}

/// The hint that the header of the first table may be a row, where `column` is the number of one.
fn of_header(plan: &Plan, column: &str) -> Option<String> {
    let number = column.parse::<usize>().ok()?;
    let path = plan.inputs.iter().find_map(Input::path)?;
    let separator = match &plan.rows {
        Some(rows) => rows::header_separator(&rows.options.table),
        None => tables::header_separator(plan.table.as_ref()?, path),
    };
    hint::of_header(&hint::Beginning::of_file(path, b'\n')?, number, separator?)
}

/// Reports that there is nothing in the columns or members that were selected of what was read, no entry of the log that was
/// named, or no link where there are hosts without a scheme.
fn print_unselected(plan: &Plan, report: &Report, stdin_head: &StdinHead) {
    let Some(options) = plan.documents.as_ref().map(|it| &it.options.extractor) else { return };
    let is_empty = report.records == 0 && report.filtered.total() == 0;
    if !is_empty || !plan.reporting.has_hints() {
        return;
    }
    let inputs = plan.inputs.iter().take(hint::MOST_INPUTS);
    let beginnings: Vec<_> =
        inputs.filter_map(|input| beginning(plan, input, stdin_head)).collect();
    let call = hint::Call::of_process();
    let what = match (&*options.fields, &options.log_format) {
        // An empty input holds no URIs; that is not a fault.
        _ if report.bytes == 0 && !beginnings.iter().any(hint::Beginning::has_text) => None,
        ([_, ..], _) => {
            Some(format!("no URI was found by --link-column {}", options.fields.join(",")))
        }
        (_, Some(_)) => {
            Some("no link was found; are the lines such as --log-format says?".to_owned())
        }
        _ => beginnings.iter().find_map(|beginning| hint::of_no_links(beginning, &call)),
    };
    if let Some(what) = what {
        eprint_line(format_args!("uriscan: {what}"));
    }
}

/// The first bytes of an input, if they can be read again.
fn beginning(plan: &Plan, input: &Input, stdin_head: &StdinHead) -> Option<hint::Beginning> {
    let end = plan.settings.record_end;
    match input {
        Input::File(path) => hint::Beginning::of_file(path, end),
        Input::Stdin => hint::Beginning::of_stdin(stdin_head.get()?, end),
        Input::Typed(_) | Input::Remote(_) => None,
    }
}

/// Prints that rules were not applied to relative references of documents, which nothing else reports.
fn print_unruled(plan: &Plan, report: &Report) {
    let has_rules = plan.job.equivalence.rules.as_ref().is_some_and(|rules| !rules.is_empty());
    let relative = report.invalid.of(UriErrorKind::Relative);
    if relative == 0 || !has_rules || plan.documents.is_none() || !plan.reporting.has_hints() {
        return;
    }
    let are = match relative {
        1 => "is a relative reference, which no rule changes",
        _ => "are relative references, which no rule changes",
    };
    let records = counted(report.records, "record", "records");
    eprint_line(format_args!("uriscan: {relative} of {records} {are}; --base URL completes them"));
}

/// Prints how many rows did not fit, unless they ended the run.
fn print_bad(plan: &Plan, report: &Report) {
    if report.bad_rows == 0 || !plan.reporting.has_hints() {
        return;
    }
    if plan.side.contains_key(&Content::Rejects) {
        let count = report.bad_rows + report.invalid.total();
        let what = match count {
            1 => "row that does not fit, or whose URI is invalid, was written",
            _ => "rows that do not fit, or whose URI is invalid, were written",
        };
        return eprint_line(format_args!("uriscan: {count} {what} to the rejects"));
    }
    let passes = |rows: &RowUse| rows.options.table.on_bad_row == OnBadRow::Pass;
    let (count, is_passed) = (report.bad_rows, plan.rows.as_ref().is_some_and(passes));
    // An open quote takes what follows with it.
    let lines = match report.bad_lines > report.bad_rows {
        true => format!(", on {} lines", grouped(report.bad_lines)),
        false => String::new(),
    };
    let what = match (count, is_passed) {
        (1, true) => "row that does not fit was written as it is",
        (1, false) => "row that does not fit was skipped",
        (_, true) => "rows that do not fit were written as they are",
        (_, false) => "rows that do not fit were skipped",
    };
    eprint_line(format_args!("uriscan: {count} {what}{lines}"));
}

/// Prints how many rows without a URI were omitted, where the user did not say what becomes of them.
fn print_blank(plan: &Plan, report: &Report) {
    let Some(advice) = plan.omits_blank else { return };
    // A filter keeps none, and is asked for.
    if report.blank == 0 || plan.filter.is_some() || !plan.reporting.has_hints() {
        return;
    }
    let count = report.blank;
    let what = if count == 1 { "row without a URI was" } else { "rows without a URI were" };
    eprint_line(format_args!("uriscan: {} {what} left out{advice}", grouped(count)));
}

/// Prints how many values that decide which row is kept were compared as text, whose order is not that of dates and numbers.
fn print_as_text(plan: &Plan, report: &Report) {
    if report.as_text == 0 || !plan.reporting.has_hints() {
        return;
    }
    let (count, are) = match report.as_text {
        1 => ("1 value".to_owned(), "is"),
        count => (format!("{} values", grouped(count)), "are"),
    };
    eprint_line(format_args!(
        "uriscan: {count} of the column that --keep names {are} compared as text, byte by byte: of numbers and of dates as \
         03/02/2026 that is another order than by value"
    ));
}

/// Prints how many new records `--approx` may have dropped at `rate`.
fn print_approximate(rate: f64, report: &Report) {
    if report.duplicates == 0 {
        return eprint_line(format_args!("uriscan: --approx {rate}: no record was dropped"));
    }
    // The rate is that of the new ones, written or lost.
    let lost = (report.written as f64 * rate / (1.0 - rate)).ceil();
    eprint_line(format_args!(
        "uriscan: --approx {rate}: up to about {} of {} dropped records may be new",
        lost.min(report.duplicates as f64),
        report.duplicates
    ));
}
