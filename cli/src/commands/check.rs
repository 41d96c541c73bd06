//! The plan of `uriscan check`.

use uriscan::pipeline::{CheckFormat, LegacyQuestion};

use crate::args;
use crate::config::{Config, Job, LinkUse};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::{report_format, unmended};

impl args::Check {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Config, Failure> {
        let format: args::CheckFormat = report_format(self.to.as_deref(), &self.table)?;
        let format = match format {
            args::CheckFormat::Text => CheckFormat::Text,
            args::CheckFormat::Jsonl => CheckFormat::Jsonl,
        };
        let job = match (self.differ, self.grammar.grammar.legacy()) {
            (false, None) => Job::Check(format, self.mending.repairs()),
            (false, Some(legacy)) => {
                unmended(self.grammar.grammar, &self.mending)?;
                Job::Legacy { question: LegacyQuestion::Check(format), legacy }
            }
            (true, legacy) => {
                let question = LegacyQuestion::Differ(format);
                Job::Legacy { question, legacy: legacy.unwrap_or_default() }
            }
        };
        // The command always reports invalid records by its exit code.
        let config = Config::of_job(job, None, self.common, true, environment)?
            .reading_typed(&self.typed)?;
        let mut config = config.reporting_on(&self.from, LinkUse::of_pages(&self.mending))?;
        config.settings = config.settings.has_context(self.context);
        config.with_report(self.page, None, environment)
    }
}
