//! `uriscan parse`.

use uriscan::Error;
use uriscan_bulk::io::Template;
use uriscan_bulk::pipeline::{self, Equivalence, LegacyQuestion, RowFormat};

use crate::args;
use crate::commands::legacy::inspection;
use crate::environment::Environment;
use crate::exit::Failure;
#[cfg(feature = "full")]
use crate::job::NOT_FOR_TABLES;
use crate::job::{Done, Job, Run, Runner, Writes};
use crate::options::{report_format, without_repairs};
use crate::plan::Plan;
#[cfg(feature = "full")]
use crate::tables::{Columns, TableUse, Task};

impl args::Parse {
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let format = match &self.template {
            None => report_format(
                args::ROW_FORMATS,
                self.to.as_deref(),
                &self.table,
                &self.common.destination,
            )?,
            Some(template) => {
                let template = Template::new(template);
                RowFormat::Template(template.map_err(|error| Failure::at("--template", error))?)
            }
        };
        let skips_invalid = self.template.is_some();
        let job = Job { name: "parse", writes: Writes::Records, skips_invalid, ..Job::default() };
        let (job, runner): (Job, Box<dyn Runner>) = match self.grammar.grammar.legacy() {
            None => {
                let equivalence = Equivalence::default().repairs(self.repairs.chosen());
                (Job { equivalence, ..job }, Box::new(Parse(format)))
            }
            Some(legacy) => {
                without_repairs(self.grammar.grammar, &self.repairs)?;
                inspection(job, legacy_rows(&format)?, legacy)
            }
        };
        let strict = self.strictness.strict;
        Plan::of_job((job, runner), None, self.common, strict, environment)?
            .reading_typed(&self.typed)?
            .reporting_on(&self.from, (self.repairs.iri, self.repairs.of_links()))
    }
}

fn legacy_rows(format: &RowFormat) -> Result<LegacyQuestion, Failure> {
    match format {
        RowFormat::Jsonl => Ok(LegacyQuestion::PartsJsonl),
        RowFormat::Tsv => Ok(LegacyQuestion::PartsTsv),
        RowFormat::Template(_) => Err(Failure::at("--template", "requires rfc3986; use --to")),
    }
}

struct Parse(RowFormat);

impl Runner for Parse {
    fn run(&self, Run { job, sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        let repairs = job.equivalence.repairs;
        Ok(pipeline::parse(sources, &self.0, repairs, settings, sinks)?.into())
    }

    #[cfg(feature = "full")]
    fn row_job(&self, job: &Job, _: &TableUse) -> Result<(Task, Columns), Failure> {
        match matches!(self.0, RowFormat::Jsonl) && job.equivalence.repairs.is_empty() {
            true => Ok((Task::Parse, Columns::default())),
            false => Err(Failure::at("--column", NOT_FOR_TABLES)),
        }
    }
}
