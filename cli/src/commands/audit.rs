//! `uriscan audit`.

use uriscan::Error;
use uriscan::audit::{RuleSet, Severity};
use uriscan_bulk::pipeline::{self, AuditFormat, AuditOptions, Entities};

use crate::args;
use crate::environment::Environment;
use crate::exit::Failure;
#[cfg(feature = "full")]
use crate::job::NOT_FOR_TABLES;
use crate::job::{Done, Job, Run, Runner, Writes};
use crate::options::report_format;
use crate::plan::Plan;
use crate::table;
#[cfg(feature = "full")]
use crate::tables::{Columns, TableUse, Task};

impl args::Audit {
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let output = self.common.destination.output.as_ref();
        if let Some(path) =
            output.filter(|path| path.to_string_lossy().to_ascii_lowercase().ends_with(".sarif"))
            && (self.list_rules || self.table.column.is_some())
        {
            let what = "no SARIF is written with --list-rules or --column; choose another name";
            return Err(Failure::at(format_args!("-o {}", path.display()), what));
        }
        let rules = self.rules();
        if rules == RuleSet::none() && !self.list_rules {
            return Err(Failure::at("--ignore", "leaves no rule to apply"));
        }
        let job = Job { name: "audit", ..Job::default() };
        let (job, runner): (Job, Box<dyn Runner>) = match (self.list_rules, self.redact) {
            (true, _) => {
                let answer = Some(table::of_rules());
                (
                    Job { answer, lacks_report: true, ..job },
                    Box::new(|_: Run<'_, '_>| Ok(Done::default())),
                )
            }
            (false, true) => {
                let masking =
                    Job { is_in_place: true, is_masking: true, lacks_report: true, ..job };
                let redact = |Run { sources, settings, sinks, .. }: Run<'_, '_>| {
                    Ok(pipeline::redact(sources, settings, sinks)?.into())
                };
                (Job { writes: Writes::Records, ..masking }, Box::new(redact))
            }
            (false, false) => {
                let format = report_format(
                    args::AUDIT_FORMATS,
                    self.to.as_deref(),
                    &self.table,
                    &self.common.destination,
                )?;
                (job, Box::new(audit_job(&self, rules, format)))
            }
        };
        let plan = Plan::of_job((job, runner), None, self.common, false, environment)?
            .reading_typed(&self.typed)?;
        let mut plan = plan.reporting_on(&self.from, (self.unicode, Entities::Keep))?;
        if let Some(documents) = &mut plan.documents {
            documents.options.extractor.keeps_relative = !self.redact;
        }
        plan.settings = plan.settings.has_context(self.context);
        plan.with_report(self.page)
    }

    /// Those of --select without those of --ignore.
    fn rules(&self) -> RuleSet {
        let all_of = |sets: &[RuleSet]| sets.iter().fold(RuleSet::none(), |all, &set| all.or(set));
        let selected = if self.select.is_empty() { RuleSet::all() } else { all_of(&self.select) };
        selected.without(all_of(&self.ignore))
    }
}

fn audit_job(typed: &args::Audit, rules: RuleSet, format: AuditFormat) -> Audit {
    let fail_on = match typed.fail_on {
        args::FailOn::Note => Some(Severity::Note),
        args::FailOn::Warning => Some(Severity::Warning),
        args::FailOn::Error => Some(Severity::Error),
        args::FailOn::Never => None,
    };
    let asks_for_notes = !typed.select.is_empty() || fail_on == Some(Severity::Note);
    let least = if asks_for_notes { Severity::Note } else { Severity::Warning };
    let least = typed.severity.unwrap_or(least);
    // What fails the run is found, whether it is printed or not.
    let least_found = fail_on.map_or(least, |fail_on| least.min(fail_on));
    let rules = rules.at_least(least_found);
    let options = AuditOptions::default().rules(rules).format(format).least_written(least);
    Audit { options, fail_on }
}

struct Audit {
    options: AuditOptions,
    /// The lowest severity that makes the run fail.
    fail_on: Option<Severity>,
}

impl Runner for Audit {
    fn run(&self, Run { sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        let (report, found) = pipeline::audit(sources, &self.options, settings, sinks)?;
        // The exit code counts findings that are not written, too.
        let is_fine = self.fail_on.is_none_or(|severity| found.at_least(severity) == 0);
        let written = match self.options.least_written {
            Some(least) => found.from_severity(least),
            None => found,
        };
        Ok(Done { report, findings: Some(written), is_fine: Some(is_fine), ..Done::default() })
    }

    #[cfg(feature = "full")]
    fn row_job(&self, _: &Job, _: &TableUse) -> Result<(Task, Columns), Failure> {
        let refuse = |what| Err(Failure::at("--column", what));
        if matches!(self.fail_on, Some(Severity::Note | Severity::Error)) {
            return refuse("--fail-on works with lines: findings in tables have no exit code");
        }
        if self.options.format != AuditFormat::Text {
            return refuse(NOT_FOR_TABLES);
        }
        let least = self.options.least_written.unwrap_or(Severity::Note);
        Ok((Task::Audit(self.options.rules.at_least(least)), Columns::default()))
    }
}
