//! What is printed after a run whose input looks like something else than what it was read as.

use uriscan::uri::UriErrorKind;
use uriscan_bulk::pipeline::{OnInvalid, Report};

use crate::exit::eprint_line;
use crate::hint;
use crate::inputs::{Input, StdinHead};
use crate::plan::Plan;
use crate::summary::counted;
use crate::{rows, tables};

/// Prints what an input looks like, if it is not a list of URIs; returns whether it did.
pub(crate) fn print(plan: &Plan, report: &Report, stdin_head: &StdinHead) -> bool {
    // Not pairs, and not a column.
    let is_column = plan.column.is_some() || plan.rows.is_some();
    let is_list = plan.documents.is_none() && !is_column && !plan.job.has_pairs;
    if !is_list || !plan.reporting.has_hints() {
        return false;
    }
    let is_odd = report.invalid.total() > report.records / 2;
    let is_masked = plan.job.is_masking;
    let end = plan.settings.record_end;
    let beginning = |input: &Input| match input {
        Input::File(path) => hint::Beginning::of_file(path, end),
        Input::Stdin => hint::Beginning::of_stdin(stdin_head.get()?, end),
        Input::Typed(_) | Input::Remote(_) => None,
    };
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
pub(crate) fn print_invalid(plan: &Plan, report: &Report) {
    // Relative references in documents are reported as such.
    let is_told = |kind| plan.documents.is_some() && kind == UriErrorKind::Relative;
    let kinds = report.invalid.iter().filter(|&(kind, count)| count > 0 && !is_told(kind));
    let kinds: Vec<_> = kinds.collect();
    let invalid: u64 = kinds.iter().map(|(_, count)| count).sum();
    let are_kept = plan.job.on_invalid == Some(OnInvalid::Pass);
    let call = hint::Call::of_process();
    if invalid == 0 || !plan.reporting.has_hints() || hint::is_told(&call) {
        return;
    }
    let are_skipped = plan.job.skips_invalid;
    if !are_kept && !are_skipped {
        return;
    }
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let records = counted(report.records, "record", "records");
    let are = if invalid == 1 { "is invalid and was" } else { "are invalid and were" };
    if are_skipped {
        let kinds = kinds.join(", ");
        return eprint_line(format_args!(
            "uriscan: {invalid} of {records} {are} skipped ({kinds})"
        ));
    }
    let what = format!("{invalid} of {records} {are} kept ({})", kinds.join(", "));
    let column = plan.rows.as_ref().map(|rows| &*rows.options.table.column);
    let column = column.or(plan.table.as_ref().map(tables::column_of));
    let of_column =
        column.map_or(String::new(), |column| format!(" --column {}", hint::typed(column)));
    // `check` takes relative references.
    let relative = report.invalid.of(UriErrorKind::Relative);
    let faults = format!("`uriscan check{of_column}` shows where, ");
    let shows = if invalid > relative { &*faults } else { "" };
    let completes = match relative > 0 && call.takes("suffix-scheme") {
        true => "--base or --suffix-scheme completes relative ones, ",
        false => "",
    };
    eprint_line(format_args!("uriscan: {what}; {shows}{completes}--on-invalid drop omits them"));
}

/// Prints what reads the column of URIs of a table, if most of its values are not URIs, or its name is one; returns whether
/// it did.
pub(crate) fn print_of_column(plan: &Plan, report: &Report) -> bool {
    let rows = plan.rows.as_ref();
    let table = plan.table.as_ref().or(rows.and_then(|rows| rows.table.as_ref()));
    let column = rows.map(|rows| &*rows.options.table.column).or(table.map(tables::column_of));
    let Some(column) = column.filter(|_| plan.reporting.has_hints()) else { return false };
    let of_values = (report.invalid.total() > report.records / 2).then(|| {
        let other = table.and_then(|table| tables::other_column(plan, table));
        other.or_else(|| hint::of_column(column, report, &hint::Call::of_process()))
    });
    let of_values = of_values.flatten();
    let is_told = of_values.is_some();
    for hint in of_header(plan, column).into_iter().chain(of_values) {
        eprint_line(format_args!("uriscan: {hint}"));
    }
    is_told
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

/// Reports that there is nothing in the columns or members that were selected of what was read, or no entry of the log that
/// was named.
pub(crate) fn print_unselected(plan: &Plan, report: &Report) {
    let Some(options) = plan.documents.as_ref().map(|it| &it.options.extractor) else { return };
    let what = match (&*options.fields, &options.log_format) {
        ([_, ..], _) => format!("no URI was found by --link-column {}", options.fields.join(",")),
        (_, Some(_)) => "no link was found; are the lines such as --log-format says?".to_owned(),
        _ => return,
    };
    let is_empty = report.records == 0 && report.filtered.total() == 0 && report.bytes > 0;
    if is_empty && plan.reporting.has_hints() {
        eprint_line(format_args!("uriscan: {what}"));
    }
}
