//! Lists and documents: their sources, and what is said of them after the run.

use std::sync::{Arc, Mutex, PoisonError};

use uriscan::uri::UriErrorKind;
use uriscan_bulk::pipeline::{self, Report, Skipped};

use crate::documents;
use crate::exit::{Failure, eprint_line};
use crate::inputs::{self, Inputs};
use crate::job::Writes;
use crate::output::{PathConflicts, StdoutFile};
use crate::plan::Plan;
use crate::session::Unread;
use crate::summary::counted;
use crate::tables;

/// What was skipped when records were filtered, or links were read from documents.
pub(crate) type SkippedSoFar = Arc<Mutex<Skipped>>;

/// The sources of `plan`: lists, links of documents, or a column of tables.
pub(crate) fn open(
    plan: &Plan,
    conflicts: &PathConflicts,
    skipped: &SkippedSoFar,
    unread: &mut Unread,
) -> Result<Inputs, Failure> {
    let is_list = plan.job.writes != Writes::Links;
    let Some(documents) = &plan.documents else {
        let inputs = match &plan.column {
            _ if plan.job.has_pairs => return tables::open_pairs(plan),
            Some(column) => tables::open_column(plan, column)?,
            None => values(inputs::open(&plan.inputs)?, plan, skipped),
        };
        return Ok(filtered(inputs, plan));
    };
    let stdout = StdoutFile::of(&plan.output);
    let outputs = (conflicts, stdout.as_ref());
    let mut note = |what: &dyn std::fmt::Display| unread.note(what);
    let found = documents::open(
        &plan.inputs,
        documents,
        is_list,
        &plan.settings,
        skipped,
        outputs,
        &mut note,
    )?;
    // Who searches for secrets has to know that some files were not.
    if plan.job.name == "audit" && found.hidden > 0 && !plan.reporting.is_quiet {
        let (one, many) =
            ("hidden file or folder was skipped", "hidden files and folders were skipped");
        let what = counted(found.hidden, one, many);
        eprint_line(format_args!("uriscan: {what}; --hidden reads them"));
    }
    Ok(found)
}

/// The URIs of the rows of `inputs`, if they are tables whose rows are read as a list.
fn values(inputs: Inputs, plan: &Plan, skipped: &SkippedSoFar) -> Inputs {
    let Some(rows) = plan.rows.as_ref().filter(|rows| rows.is_list) else { return inputs };
    let (by, read) = (&rows.options, &plan.job.equivalence);
    inputs.map(|source| pipeline::values_of(source, by, read, &plan.settings, skipped))
}

/// The records of `inputs` that are read, if not all are.
fn filtered(inputs: Inputs, plan: &Plan) -> Inputs {
    // Rows are filtered as they are read.
    let Some(filter) = plan.filter.as_ref().filter(|_| plan.rows.is_none()) else { return inputs };
    let read = &plan.job.equivalence;
    inputs.map(|source| pipeline::records_of(source, filter, read))
}

/// Adds the filtered records, and the rows that do not fit, to `report`.
pub(crate) fn add_filtered(report: &mut Report, skipped: &SkippedSoFar) {
    let skipped = skipped.lock().unwrap_or_else(PoisonError::into_inner);
    report.filtered += &skipped.filtered;
    report.filtered += &skipped.report.filtered;
    report.bad_rows += skipped.report.bad_rows;
    report.bad_lines += skipped.report.bad_lines;
}

/// Reports what was skipped in documents, and in archives that were read for evidence; returns the number of kinds of faults.
pub(crate) fn report_skipped(plan: &Plan, report: &Report, so_far: &SkippedSoFar) -> usize {
    if plan.table.is_some() {
        return 0;
    }
    if plan.documents.is_none() {
        return report_broken(report);
    }
    let so_far = so_far.lock().unwrap_or_else(PoisonError::into_inner);
    so_far.faults.iter().for_each(|error| eprint_line(format_args!("uriscan: {error}")));
    let is_extract = plan.job.writes == Writes::Links;
    report_documents(if is_extract { report } else { &so_far.report }, plan)
}

/// Reports what was skipped in documents; returns the number of kinds of faults.
fn report_documents(report: &Report, plan: &Plan) -> usize {
    let relative = report.invalid.of(UriErrorKind::Relative);
    if relative > 0 && !plan.reporting.is_quiet {
        report_relative(relative, plan);
    }
    if !plan.reporting.is_quiet {
        report_log_lines(report);
    }
    let long = report.invalid.of(UriErrorKind::TooLong);
    report_faults(report, long, plan.settings.max_record >> 20);
    let unread = [
        report.omitted.broken,
        report.omitted.partial,
        report.omitted.undecoded,
        report.omitted.miscoded,
    ];
    let odd = [report.omitted.expanded, report.omitted.bases, report.omitted.lost];
    let odd = odd.into_iter().chain([long, report.omitted.unparsed, report.omitted.malformed]);
    let faults = unread.into_iter().chain(odd);
    faults.filter(|&count| count > 0).count()
}

/// Reports parts of archives that are not records; returns 1 if there are some.
fn report_broken(report: &Report) -> usize {
    if report.omitted.broken > 0 {
        let (one, many) = BROKEN;
        eprint_line(format_args!("uriscan: {}", counted(report.omitted.broken, one, many)));
    }
    usize::from(report.omitted.broken > 0)
}

/// What is said of one part of an archive that is not a record, and of several.
const BROKEN: (&str, &str) =
    ("part of an archive is not a record", "parts of archives are not records");

fn report_relative(relative: u64, plan: &Plan) {
    let base = plan.documents.as_ref().and_then(|it| it.options.extractor.base.as_deref());
    let what = counted(relative, "relative reference", "relative references");
    let were = if relative == 1 { "was" } else { "were" };
    let why = match base {
        None => format!("without a base {were} skipped; set one with --base"),
        Some(base) if !base.windows(2).any(|two| two == b"//") => {
            format!("{were} skipped: --base has no authority, which targets of access logs need")
        }
        Some(_) => {
            format!("{were} skipped: --base does not apply to archives and headers of mail")
        }
    };
    eprint_line(format_args!("uriscan: {what} {why}"));
}

fn report_log_lines(report: &Report) {
    for (count, one, many, advice) in [
        (
            report.omitted.unnamed,
            "line of a log has no #Fields line before it, which names its fields: its target is unknown",
            "lines of logs have no #Fields line before them, which names their fields: their targets are unknown",
            "; put that line before them, as in (echo '#Fields: ...'; cat FILE)",
        ),
        (
            report.omitted.other_lines,
            "line is not an entry of a log and was skipped",
            "lines are not entries of a log and were skipped",
            "; --log-format describes other entries, and without --log-field, --status and the like the links of all lines are found",
        ),
        (
            report.omitted.unknown_entries,
            "entry of a log was skipped: its status, method or time, which decides whether it is read, is not known",
            "entries of logs were skipped: their status, method or time, which decides whether they are read, is not known",
            "",
        ),
        (
            report.omitted.other_targets,
            "entry of a log has no target that is a path or a URL",
            "entries of logs have no target that is a path or a URL",
            ", as OPTIONS * and CONNECT host:443",
        ),
    ] {
        if count > 0 {
            eprint_line(format_args!("uriscan: {}{advice}", counted(count, one, many)));
        }
    }
}

/// Reports faults of documents; lines and documents of more than `limit` MiB are too long.
fn report_faults(report: &Report, long: u64, limit: usize) {
    let long_one = format!("line or document of more than {limit} MiB was skipped");
    let long_many = format!("lines or documents of more than {limit} MiB were skipped");
    for (count, one, many) in [
        (long, &*long_one, &*long_many),
        (
            report.misjudged,
            "source paused when little of it was there, and looked like another format then: --from names the right one",
            "sources paused when little of them was there, and looked like another format then: --from names the right one",
        ),
        (
            report.not_archives,
            "source is not an archive and was searched whole: --warc-field, --warc-type and --mime select records of archives",
            "sources are not archives and were searched whole: --warc-field, --warc-type and --mime select records of archives",
        ),
        (report.omitted.broken, BROKEN.0, BROKEN.1),
        (
            report.omitted.partial,
            "body in an archive was read partially: it is truncated or larger than 64 MiB",
            "bodies in archives were read partially: they are truncated or larger than 64 MiB",
        ),
        (
            report.omitted.expanded,
            "body in an archive was read partially: it expands too much; --max-expansion raises the limit",
            "bodies in archives were read partially: they expand too much; --max-expansion raises the limit",
        ),
        (
            report.omitted.bases,
            "base was ignored: it is too long",
            "bases were ignored: they are too long",
        ),
        (
            report.omitted.lost,
            "link was skipped: those of its document have too many bytes",
            "links were skipped: those of their documents have too many bytes",
        ),
        (
            report.omitted.undecoded,
            "body in an archive was skipped: its Content-Encoding cannot be decoded",
            "bodies in archives were skipped: their Content-Encoding cannot be decoded",
        ),
        (
            report.omitted.unparsed,
            "document was not searched as a whole: it is too long, or has too many marks of Markdown",
            "documents were not searched as a whole: they are too long, or have too many marks of Markdown",
        ),
        (
            report.omitted.malformed,
            "sitemap, feed, HTTP archive or JSON was searched in part: it is not well-formed, or breaks off",
            "sitemaps, feeds, HTTP archives or JSON texts were searched in part: they are not well-formed, or break off",
        ),
        (
            report.omitted.miscoded,
            "part of a message or response is not in its encoding, nested too deep or cut off, and was searched as far as possible",
            "parts of messages or responses are not in their encoding, nested too deep or cut off, and were searched as far as possible",
        ),
    ] {
        if count > 0 {
            eprint_line(format_args!("uriscan: {}", counted(count, one, many)));
        }
    }
}
