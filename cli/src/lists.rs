//! Lists and documents: their sources, and what is said of them after the run.

use std::sync::{Arc, Mutex, PoisonError};

use uriscan_bulk::pipeline::{self, Report, Skipped};

use crate::documents;
use crate::exit::{Failure, eprint_line};
use crate::inputs::{self, Inputs};
use crate::job::Writes;
use crate::output::{PathConflicts, StdoutFile};
use crate::plan::Plan;
use crate::session::Unread;
use crate::skipped;
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
        return Ok(filtered(inputs, plan, skipped));
    };
    let stdout = StdoutFile::of(&plan.output);
    let outputs = (conflicts, stdout.as_ref());
    let mut note = |what: &dyn std::fmt::Display| unread.note(what);
    documents::open(&plan.inputs, documents, is_list, &plan.settings, skipped, outputs, &mut note)
}

/// The URIs of the rows of `inputs`, if they are tables whose rows are read as a list.
fn values(inputs: Inputs, plan: &Plan, skipped: &SkippedSoFar) -> Inputs {
    let Some(rows) = plan.rows.as_ref().filter(|rows| rows.is_list) else { return inputs };
    let (by, read) = (&rows.options, &plan.job.equivalence);
    inputs.map(|source| pipeline::values_of(source, by, read, &plan.settings, skipped))
}

/// The records of `inputs` that are read, if not all are.
fn filtered(inputs: Inputs, plan: &Plan, skipped: &SkippedSoFar) -> Inputs {
    // Rows are filtered as they are read.
    let Some(filter) = plan.filter.as_ref().filter(|_| plan.rows.is_none()) else { return inputs };
    let read = &plan.job.equivalence;
    inputs.map(|source| pipeline::records_of(source, filter, read, &plan.settings, skipped))
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
        return skipped::report_broken(report);
    }
    let so_far = so_far.lock().unwrap_or_else(PoisonError::into_inner);
    so_far.faults.iter().for_each(|error| eprint_line(format_args!("uriscan: {error}")));
    let is_extract = plan.job.writes == Writes::Links;
    skipped::report(if is_extract { report } else { &so_far.report }, plan)
}
