//! `uriscan parse`.

use uriscan::Error;
use uriscan::repair::Repairs;
use uriscan_bulk::io::Template;
use uriscan_bulk::pipeline::{self, Equivalence, LegacyQuestion, RowFormat};

use crate::args;
use crate::commands::legacy::Legacy;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::Failure;
#[cfg(feature = "full")]
use crate::job::NOT_FOR_TABLES;
use crate::job::{Done, Job, Run, Writes};
use crate::options::{report_format, without_repairs};
use crate::plan::Plan;
#[cfg(feature = "full")]
use crate::tables::{Columns, TableUse, Task};

impl args::Parse {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let format = report_format(self.to.as_deref(), &self.table)?;
        let format = row_format(format, self.template.as_deref())?;
        let job: Box<dyn Job> = match self.grammar.grammar.legacy() {
            None => Box::new(Parse { format, repairs: self.repairs.chosen() }),
            Some(legacy) => {
                without_repairs(self.grammar.grammar, &self.repairs)?;
                Box::new(Legacy { question: legacy_rows(&format)?, legacy })
            }
        };
        let strict = self.strictness.strict;
        Plan::of_job(job, None, self.common, strict, environment)?
            .reading_typed(&self.typed)?
            .reporting_on(&self.from, LinkUse::of_pages(&self.repairs))
    }
}

/// The formats of `parse` under RFC 2396.
fn legacy_rows(format: &RowFormat) -> Result<LegacyQuestion, Failure> {
    match format {
        RowFormat::Jsonl => Ok(LegacyQuestion::PartsJsonl),
        RowFormat::Tsv => Ok(LegacyQuestion::PartsTsv),
        RowFormat::Template(_) => Err(Failure::at("--template", "requires rfc3986; use --to")),
    }
}

fn row_format(typed: args::RowFormat, template: Option<&str>) -> Result<RowFormat, Failure> {
    match (typed, template) {
        (_, Some(template)) => match Template::new(template) {
            Ok(template) => Ok(RowFormat::Template(template)),
            Err(error) => Err(Failure::at("--template", error)),
        },
        (args::RowFormat::Jsonl, None) => Ok(RowFormat::Jsonl),
        (args::RowFormat::Tsv, None) => Ok(RowFormat::Tsv),
    }
}

/// Writes the components of records.
#[derive(Debug)]
struct Parse {
    format: RowFormat,
    repairs: Repairs,
}

impl Job for Parse {
    fn name(&self) -> &'static str {
        "parse"
    }

    fn writes(&self) -> Writes {
        Writes::Records
    }

    fn run(&self, Run { sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        Ok(pipeline::parse(sources, &self.format, self.repairs, settings, sinks)?.into())
    }

    fn read_as(&self) -> Equivalence {
        Equivalence::default().repairs(self.repairs)
    }

    fn repairs_mut(&mut self) -> Option<&mut Repairs> {
        Some(&mut self.repairs)
    }

    #[cfg(feature = "full")]
    fn row_job(&self, _: &TableUse) -> Result<(Task, Columns), Failure> {
        match matches!(self.format, RowFormat::Jsonl) && self.repairs.is_empty() {
            true => Ok((Task::Parse, Columns::default())),
            false => Err(Failure::at("--column", NOT_FOR_TABLES)),
        }
    }
}
