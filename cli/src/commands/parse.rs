//! The plan of `uriscan parse`.

use uriscan::io::Template;
use uriscan::pipeline::{LegacyQuestion, RowFormat};

use crate::args;
use crate::config::{Config, Job, LinkUse};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::{report_format, unmended};

impl args::Parse {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Config, Failure> {
        let format = report_format(self.to.as_deref(), &self.table)?;
        let format = row_format(format, self.template.as_deref())?;
        let job = match self.grammar.grammar.legacy() {
            None => Job::Parse(format, self.mending.repairs()),
            Some(legacy) => {
                unmended(self.grammar.grammar, &self.mending)?;
                Job::Legacy { question: legacy_rows(&format)?, legacy }
            }
        };
        let strict = self.strictness.strict;
        Config::of_job(job, None, self.common, strict, environment)?
            .reading_typed(&self.typed)?
            .reporting_on(&self.from, LinkUse::of_pages(&self.mending))
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
