//! `uriscan check`.

use uriscan::Error;
use uriscan::repair::Repairs;
use uriscan_bulk::pipeline::{self, CheckFormat, Equivalence, LegacyQuestion};

use crate::args;
use crate::commands::legacy::Legacy;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::Failure;
#[cfg(feature = "full")]
use crate::job::NOT_FOR_TABLES;
use crate::job::{Done, Job, RowsAre, Run, Writes};
use crate::options::{report_format, without_repairs};
use crate::plan::Plan;
#[cfg(feature = "full")]
use crate::tables::{Columns, TableUse, Task};

impl args::Check {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let format: args::CheckFormat = report_format(self.to.as_deref(), &self.table)?;
        let format = match format {
            args::CheckFormat::Text => CheckFormat::Text,
            args::CheckFormat::Jsonl => CheckFormat::Jsonl,
        };
        let job: Box<dyn Job> = match (self.differ, self.grammar.grammar.legacy()) {
            (false, None) => Box::new(Check { format, repairs: self.repairs.chosen() }),
            (false, Some(legacy)) => {
                without_repairs(self.grammar.grammar, &self.repairs)?;
                Box::new(Legacy { question: LegacyQuestion::Check(format), legacy })
            }
            (true, legacy) => {
                let question = LegacyQuestion::Differ(format);
                Box::new(Legacy { question, legacy: legacy.unwrap_or_default() })
            }
        };
        // The command always reports invalid records by its exit code.
        let plan =
            Plan::of_job(job, None, self.common, true, environment)?.reading_typed(&self.typed)?;
        let mut plan = plan.reporting_on(&self.from, LinkUse::of_pages(&self.repairs))?;
        plan.settings = plan.settings.has_context(self.context);
        plan.with_report(self.page, None)
    }
}

/// Reports invalid records.
#[derive(Debug)]
struct Check {
    format: CheckFormat,
    repairs: Repairs,
}

impl Job for Check {
    fn name(&self) -> &'static str {
        "check"
    }

    fn writes(&self) -> Writes {
        Writes::Answers
    }

    fn run(&self, Run { sources, rows, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        if let Some(rows) = rows {
            return Ok(pipeline::check_rows(sources, rows, settings, sinks)?.into());
        }
        Ok(pipeline::check(sources, self.format, self.repairs, settings, sinks)?.into())
    }

    fn read_as(&self) -> Equivalence {
        Equivalence::default().repairs(self.repairs)
    }

    fn rows_are(&self) -> RowsAre {
        match self.format == CheckFormat::Text && self.repairs.is_empty() {
            true => RowsAre::Extended,
            false => RowsAre::Columns,
        }
    }

    fn repairs_mut(&mut self) -> Option<&mut Repairs> {
        Some(&mut self.repairs)
    }

    #[cfg(feature = "full")]
    fn row_job(&self, _: &TableUse) -> Result<(Task, Columns), Failure> {
        match self.format == CheckFormat::Text && self.repairs.is_empty() {
            true => Ok((Task::Check, Columns::default())),
            false => Err(Failure::at("--column", NOT_FOR_TABLES)),
        }
    }
}
