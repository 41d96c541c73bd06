//! Parsing and checking by RFC 2396, which `parse` and `check` share.

use uriscan::rfc2396::Legacy;
use uriscan_bulk::pipeline::{self, LegacyQuestion};

use crate::job::{Done, Job, Run, Runner};

/// `job` by the grammar `legacy`: parsing or checking, or comparing it with RFC 3986.
pub(super) fn inspection(
    job: Job,
    question: LegacyQuestion,
    legacy: Legacy,
) -> (Job, Box<dyn Runner>) {
    let compares_grammars = matches!(question, LegacyQuestion::Differ(_));
    let run = move |Run { sources, settings, sinks, .. }: Run<'_, '_>| {
        let report = pipeline::inspect_rfc2396(sources, question, legacy, settings, sinks)?;
        let is_fine = compares_grammars.then_some(report.differing == 0);
        Ok(Done { report, is_fine, ..Done::default() })
    };
    (Job { compares_grammars, lacks_report: true, ..job }, Box::new(run))
}
