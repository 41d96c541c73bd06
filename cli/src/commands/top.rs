//! The plan of `uriscan top`.

use uriscan::pipeline::TopOptions;

use crate::args;
use crate::config::{Config, Job, LinkUse, View};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::{equivalence, list_from, memory_limit, on_invalid};
use crate::tables::Column;

impl args::Top {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Config, Failure> {
        let (on_invalid, rejects) = on_invalid(&self.invalid)?;
        let column = match (&self.column, &self.links.find.from) {
            (Some(column), from) => Some(Column::new(column, from.as_deref())?),
            (None, Some(from)) if !self.links.extract => return Err(list_from(from)),
            (None, _) => None,
        };
        if column.is_some() && (rejects.is_some() || self.common.input.null) {
            return Err(Failure::at(
                "--column",
                "--rejects and -0 work with lines, not with tables",
            ));
        }
        let options = TopOptions::default()
            .by(vec![self.by])
            .equivalence(equivalence(&self.equivalence)?)
            .on_invalid(on_invalid)
            .most(if self.limit == 0 { usize::MAX } else { self.limit })
            .distinct(self.distinct)
            .limit(memory_limit(&self.memory, &self.common, environment));
        let limit = options.limit.clone();
        let strict = self.invalid.strictness.strict;
        let job = Job::Top(options, View::new(self.to, &self.common, environment));
        let mut config = Config::of_job(job, rejects, self.common, strict, environment)?
            .reading_typed(&self.typed)?
            .with_evidence(&self.equivalence)?
            .reading(&self.links, LinkUse::of_equivalence(&self.equivalence))?;
        if column.is_some() {
            // No value of a table has to be cut at a NUL, while a line feed may be in a value that repairs mend.
            config.settings = config.settings.record_end(b'\0');
        }
        config.column = column;
        config.with_report(self.page, limit, environment)
    }
}
