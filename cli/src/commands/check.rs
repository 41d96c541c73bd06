//! `uriscan check`.

use uriscan::Error;
use uriscan_bulk::pipeline::{self, CheckFormat, Equivalence, LegacyQuestion};

use crate::args;
use crate::commands::legacy::inspection;
use crate::environment::Environment;
use crate::exit::Failure;
#[cfg(feature = "full")]
use crate::job::NOT_FOR_TABLES;
use crate::job::{Done, Job, RowsAre, Run, Runner};
use crate::options::{report_format, without_repairs};
use crate::plan::Plan;
#[cfg(feature = "full")]
use crate::tables::{Columns, TableUse, Task};

impl args::Check {
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let format = report_format(
            args::CHECK_FORMATS,
            self.to.as_deref(),
            &self.table,
            &self.common.destination,
        )?;
        let job = Job { name: "check", ..Job::default() };
        let (job, runner): (Job, Box<dyn Runner>) =
            match (self.differ, self.grammar.grammar.legacy()) {
                (false, None) => {
                    let repairs = self.repairs.chosen();
                    let is_extended = format == CheckFormat::Text && repairs.is_empty();
                    let rows_are = if is_extended { RowsAre::Extended } else { RowsAre::Columns };
                    let equivalence = Equivalence::default().repairs(repairs);
                    (Job { equivalence, rows_are, ..job }, Box::new(Check(format)))
                }
                (false, Some(legacy)) => {
                    without_repairs(self.grammar.grammar, &self.repairs)?;
                    inspection(job, LegacyQuestion::Check(format), legacy)
                }
                (true, legacy) => {
                    let legacy = legacy.unwrap_or_default();
                    inspection(job, LegacyQuestion::Differ(format), legacy)
                }
            };
        // The command always reports invalid records by its exit code.
        let plan = Plan::of_job((job, runner), None, self.common, true, environment)?
            .reading_typed(&self.typed)?;
        let mut plan =
            plan.reporting_on(&self.from, (self.repairs.iri, self.repairs.of_links()))?;
        plan.settings = plan.settings.has_context(self.context);
        plan.with_report(self.page)
    }
}

struct Check(CheckFormat);

impl Runner for Check {
    fn run(&self, run: Run<'_, '_>) -> Result<Done, Error> {
        let Run { job, sources, rows, settings, sinks, .. } = run;
        if let Some(rows) = rows {
            return Ok(pipeline::check_rows(sources, rows, settings, sinks)?.into());
        }
        Ok(pipeline::check(sources, self.0, job.equivalence.repairs, settings, sinks)?.into())
    }

    #[cfg(feature = "full")]
    fn row_job(&self, job: &Job, _: &TableUse) -> Result<(Task, Columns), Failure> {
        match self.0 == CheckFormat::Text && job.equivalence.repairs.is_empty() {
            true => Ok((Task::Check, Columns::default())),
            false => Err(Failure::at("--column", NOT_FOR_TABLES)),
        }
    }
}
